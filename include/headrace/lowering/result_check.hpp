// SPDX-License-Identifier: MIT
// Defines headrace::result_check, which finds the pass that changes what a model computes.
#ifndef HEADRACE_LOWERING_RESULT_CHECK_HPP
#define HEADRACE_LOWERING_RESULT_CHECK_HPP

#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/run/execution.hpp>
#include <headrace/run/signature_tensors.hpp>

namespace headrace {

/// Executes a model before its lowering and after passes, and compares the outputs.
class result_check {
public:
    /// The largest tolerated relative difference: float16 rounds at every op, and passes change the number of
    /// ops.
    static constexpr double tolerance = 1e-3;
    /// The tolerance for models that compute with bfloat16, which has three bits less.
    static constexpr double brain_tolerance = 8 * tolerance;
    /// The tolerated difference of an output in quantization steps: a value that is rounded the other way has
    /// larger effects deep in a network.
    static constexpr double granted_steps = 16;

    explicit result_check(std::vector<tensor> inputs, const own_operators& own = {})
        : inputs_(std::move(inputs)), own_(own) {}

    /// Executes the exported program, whose outputs are the reference. Checks view the constants of
    /// `exported`.
    [[nodiscard]] result<void> begin(const graph& exported);

    /// Executes the graph as the pass has left it. Returns the largest relative difference beyond the granted
    /// quantization steps; an error names the pass.
    [[nodiscard]] result<double> check(std::string_view pass, const graph& g);

    /// Returns the largest distance of an output in the last check, in its quantization steps, from the
    /// exported program's float results.
    [[nodiscard]] double steps() const { return steps_; }

private:
    [[nodiscard]] double largest_steps(std::span<const tensor> outputs) const;

    // Callers that pass integers round first: an input that was quantized in several ways is then quantized
    // in one.
    [[nodiscard]] result<void> expect_for_signature(const graph& g);

    std::vector<tensor> inputs_;
    own_operators own_;
    std::unique_ptr<graph> exported_;  // until the signature is quantized
    std::vector<tensor> expected_;
    std::vector<double> granted_;  // tolerated differences from these
    double tolerance_ = tolerance;
    double steps_ = 0;
};

}  // namespace headrace

#endif
