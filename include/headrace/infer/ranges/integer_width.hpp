// SPDX-License-Identifier: MIT
// Defines headrace::find_wide_integers and headrace::find_host_integers, which find the integers of a graph
// that may not fit in 32 bits.
#ifndef HEADRACE_INFER_RANGES_INTEGER_WIDTH_HPP
#define HEADRACE_INFER_RANGES_INTEGER_WIDTH_HPP

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include <headrace/infer/ranges/value_ranges.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

namespace detail {

inline constexpr interval narrow_integers = interval_of(dtype::int32);

[[nodiscard]] inline bool may_be_wide(const tensor_meta* meta) {
    return meta != nullptr && (meta->dtype == dtype::int64 || meta->dtype == dtype::int32);
}

}  // namespace detail

/// How exact an integer has to be for its users, in ascending order.
enum class integer_need : std::uint8_t {
    none,
    /// Exact modulo 2^32 suffices for an integer that selects elements: an index that PyTorch accepts is
    /// small, so sums and products that lead to it are right even if they wrap around on the way.
    modular,
    /// It is compared or cast to a float or a boolean, as in a mask.
    test,
    /// Its value is an output, or selects among other numbers.
    number,
    /// It is used in arithmetic whose result may be large.
    arithmetic
};

/// The need for each integer of a graph; see headrace::integer_need. The graph must be functional.
class integer_needs {
public:
    integer_needs(const graph& g, const value_ranges& ranges);

    [[nodiscard]] integer_need of(value v) const;
    /// Returns the need for one operand, given the needs for the node's results.
    [[nodiscard]] integer_need of_operand(const node& n, const edge& e) const;

private:
    void walk(const graph& g, integer_need of_outputs);
    void visit(const node& n);
    void visit_regions(const node& n);
    void raise(value v, integer_need to);
    [[nodiscard]] integer_need of_results(const node& n) const;

    const value_ranges& ranges_;
    std::unordered_map<const node*, std::vector<integer_need>> known_;
};

/// An integer whose value matters and may not fit in 32 bits.
struct wide_integer {
    value which{};
    dtype type = dtype::int64;
    interval computed{};
    bool certain = false;  ///< some input makes it too wide, whatever the other inputs are
};
/// An input and the interval that it holds or is assumed to hold.
struct assumed_input {
    const node* which = nullptr;
    interval held{};
    bool computed_with = false;  ///< used in arithmetic as int64: the author should know
};
struct integer_widths {
    std::vector<wide_integer> values{};
    std::vector<assumed_input> inputs{};
};

/// Returns the int32 and int64 values that may not fit in 32 bits, in execution order, assuming that the
/// inputs do. Inputs that are indices are assumed to be valid indices; inputs that are only tested are
/// assumed to hold a quarter of int32's range. A reported value counts as fitting for the values computed
/// from it. The graph must be functional; values that neither an output nor an effect needs are left out.
[[nodiscard]] integer_widths find_wide_integers(const graph& g);

/// Returns the nodes that must compute with 64 bits if inputs may hold any int64, each with a reason: the
/// node reads or computes an integer whose value matters and is not known to fit in 32 bits.
[[nodiscard]] std::unordered_map<const node*, std::string> find_host_integers(const graph& g);

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/infer/ranges/integer_width_definition.hpp>
#endif

#endif
