// SPDX-License-Identifier: MIT
// Defines headrace::value_ranges, the interval of numbers of each value of a graph.
#ifndef HEADRACE_INFER_RANGES_VALUE_RANGES_HPP
#define HEADRACE_INFER_RANGES_VALUE_RANGES_HPP

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include <headrace/infer/ranges/interval.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// Whether a value reaches both ends of its interval. An interval is often too wide: `x - x` is 0, but its
/// interval is twice as wide as that of x.
enum class attainment : std::uint8_t {
    unknown,
    by_some,  ///< some element takes each end, as in a constant
    by_any    ///< any element may take them, as in the result of argmax
};

struct value_bounds {
    interval computed{};  ///< before the dtype wraps the op's results around
    interval held{};      ///< the stored elements
    attainment attained = attainment::unknown;
    bool varies = true;  ///< depends on an input, not only on constants
};

/// The intervals of a graph's values, by interval arithmetic on the facts known before the program runs:
/// constants, shapes, dtypes, positions and limits. infer/ranges/range_rules.hpp has the rule of each op. The
/// graph must be functional. A branch is evaluated for its node's operands, a loop until its bounds
/// settle. For example, relu(x) of a float32 tensor is in [0, infinity], and argmax over an axis of
/// size 10 in [0, 9].
///
/// Casts of floats that an integer dtype cannot hold are undefined in PyTorch; they are assumed not to occur.
/// NaN is in no interval, and may be an element of any floating-point value.
class value_ranges {
public:
    /// Returns the bounds of a value, given the computed ones; the caller may know or assume tighter bounds.
    /// Values in a loop are passed once the loop's bounds have settled.
    using assumption = std::function<value_bounds(value, const value_bounds&)>;

    explicit value_ranges(const graph& g, assumption assume = {});

    [[nodiscard]] value_bounds of(value v) const;
    [[nodiscard]] interval held_by(value v) const { return of(v).held; }

private:
    using bounds_list = std::vector<value_bounds>;

    void walk(const graph& g, std::span<const value_bounds> inputs);
    void visit(const node& n);
    void keep(const node& n, std::uint32_t result, value_bounds bounds);
    [[nodiscard]] bounds_list outputs_of(const graph& g) const;
    void visit_branches(const node& n);
    void visit_loop(const node& n);
    void limit_by_condition(const graph& condition, bounds_list& carried) const;

    static constexpr int deepest_loop = 2;

    assumption assume_;
    bool settled_ = true;  // false in the first rounds of a loop
    int nesting_ = 0;      // depth of nested loops
    std::unordered_map<const node*, bounds_list> known_;
};

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/infer/ranges/value_ranges_definition.hpp>
#endif

#endif
