// SPDX-License-Identifier: MIT
// Defines headrace::prove::counterexample_search, which looks for inputs that make a number overflow.
#ifndef HEADRACE_PROVE_COUNTEREXAMPLE_HPP
#define HEADRACE_PROVE_COUNTEREXAMPLE_HPP

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <unordered_map>
#include <vector>

#include <headrace/eval/tensor.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/prove/certificate.hpp>

namespace headrace::prove {

/// Looks for inputs that refute a claim: from inputs at the ends of their ranges and random ones, by pushing
/// the sign that each element should have back from the number to the inputs, along the gradient. Each
/// candidate is executed, and only one that overflows is returned.
class counterexample_search {
public:
    using clock = std::chrono::steady_clock;

    counterexample_search(const graph& g, clock::time_point end);

    [[nodiscard]] std::optional<counterexample> find(const claim& c);

private:
    using values = std::unordered_map<const node*, std::vector<eval::tensor>>;

    [[nodiscard]] std::vector<const node*> ancestors(const node& n) const;
    [[nodiscard]] std::vector<eval::tensor> filled(int attempt, double hint);
    // Executes the nodes; false if one of them fails.
    [[nodiscard]] bool run(
        const std::vector<const node*>& nodes, const std::vector<eval::tensor>& inputs, values& known) const;
    [[nodiscard]] static std::vector<eval::tensor> operands_of(const node& n, const values& known);
    // Returns inputs that should bring an element of the node nearer to, or past, one end of its range.
    [[nodiscard]] std::vector<eval::tensor> pushed(const std::vector<const node*>& nodes, const claim& c,
        std::int64_t element, bool upward, const std::vector<eval::tensor>& inputs,
        const values& known) const;
    [[nodiscard]] std::optional<counterexample> check(
        const claim& c, const std::vector<eval::tensor>& inputs, const values& known) const;

    const graph& graph_;
    clock::time_point end_;
    std::vector<const node*> inputs_;
    values constants_;
    std::mt19937_64 random_{1};
};

}  // namespace headrace::prove

#endif
