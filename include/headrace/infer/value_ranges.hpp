// SPDX-License-Identifier: MIT
// Defines headrace::value_ranges, which numbers each value of a graph can hold.
#ifndef HEADRACE_INFER_VALUE_RANGES_HPP
#define HEADRACE_INFER_VALUE_RANGES_HPP

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include <headrace/infer/interval.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// Tells whether a value takes both ends of its interval. An interval is often wider than need be:
/// `x - x` is 0, and its interval is twice as wide as that of x.
enum class attainment : std::uint8_t {
    unknown,
    by_some,  ///< some element takes each end, as in a constant
    by_any    ///< any element may, as in the result of argmax
};

struct value_bounds {
    interval computed{};  ///< of the op's results before the dtype wraps them around
    interval held{};      ///< of the elements
    attainment attained = attainment::unknown;
    bool varies = true;  ///< depends on an input, not on constants alone
};

/// The numbers that values can hold, by interval arithmetic from what is known before the program runs:
/// constants, shapes, dtypes, positions and limits. infer/range_rules.hpp has the rule of each op. The graph
/// must be functional. A branch is computed from what its node is given, a loop until its bounds settle.
///
/// PyTorch's casts of floats that an integer dtype does not hold give no number in particular; they are taken
/// not to occur. NaN is in no interval, and may be an element of any float value.
class value_ranges {
public:
    /// Gives the bounds of a value once they are known: those that were computed, or others that the caller
    /// knows or assumes. A value in a loop is asked for when the loop's bounds have settled.
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
    bool settled_ = true;  // not while a loop is walked for the first times
    int nesting_ = 0;      // of loops
    std::unordered_map<const node*, bounds_list> known_;
};

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/infer/value_ranges_definition.hpp>
#endif

#endif
