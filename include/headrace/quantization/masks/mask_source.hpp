// SPDX-License-Identifier: MIT
// Defines headrace::mask_source, a value that shows which elements of another value are excluded.
#ifndef HEADRACE_QUANTIZATION_MASKS_MASK_SOURCE_HPP
#define HEADRACE_QUANTIZATION_MASKS_MASK_SOURCE_HPP

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <headrace/quantization/masks/mask_facts.hpp>

namespace headrace {

/// The smallest and the largest of a set of numbers.
struct number_span {
    double lowest = INFINITY;
    double highest = -INFINITY;

    void add(double x) {
        lowest = std::min(lowest, x);
        highest = std::max(highest, x);
    }
    [[nodiscard]] bool empty() const { return lowest > highest; }
};

/// A value `from` of which another value is an elementwise function that is constant wherever it excludes no
/// element: m in (1 - m) · -1e9.
struct mask_source {
    value from{};
    number_span excluding{};  ///< numbers of `from` that exclude their element
    number_span keeping{};    ///< numbers of `from` that keep it
    float otherwise = 0;      ///< the function's constant where the element is kept
};

/// Finds the source of a value by computing the value for 0 and 1, which masks consist of, or for the numbers
/// that the source has in the samples if these are few and some stand for infinity.
class mask_source_finder {
public:
    explicit mask_source_finder(const mask_facts& facts) : facts_(facts) {}

    [[nodiscard]] std::optional<mask_source> find(value v, bool low) const;

private:
    using numbers = std::vector<double>;
    static constexpr std::size_t max_nodes = 64;  // between a source and the value

    [[nodiscard]] static bool is_computed_by_element(const node& n) {
        return n.result_count == 1 && (n.op->has(trait::elementwise) || mask_facts::is_cast(n));
    }
    [[nodiscard]] bool is_number(value v) const {
        return facts_.constant(v) != nullptr && facts_.constant(v)->size() == 1;
    }

    // Returns the only value that `v` is computed from element by element, as far back as possible.
    [[nodiscard]] std::optional<value> deepest_source(value v) const;
    [[nodiscard]] std::optional<value> nearest_source(value v) const;

    [[nodiscard]] numbers numbers_to_try(value source) const;

    [[nodiscard]] std::optional<mask_source> judge(value source, value v, bool low) const;

    // Returns the value's number where its source is x.
    [[nodiscard]] std::optional<double> computed(value source, double x, value v) const;

    const mask_facts& facts_;
};

}  // namespace headrace

#endif
