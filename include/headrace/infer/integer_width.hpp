// SPDX-License-Identifier: MIT
// Defines headrace::find_wide_integers and headrace::find_host_integers: which integers of a graph 32 bits do
// not hold, or may not.
#ifndef HEADRACE_INFER_INTEGER_WIDTH_HPP
#define HEADRACE_INFER_INTEGER_WIDTH_HPP

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include <headrace/infer/value_ranges.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

namespace detail {

inline constexpr interval narrow_integers = interval_of(dtype::int32);

[[nodiscard]] inline bool may_be_wide(const tensor_meta* meta) {
    return meta != nullptr && (meta->dtype == dtype::int64 || meta->dtype == dtype::int32);
}

}  // namespace detail

/// How exact an integer has to be for its readers, in ascending order.
enum class integer_need : std::uint8_t {
    none,
    /// Modulo 2^32. It is so for what selects elements: an index that PyTorch accepts is small, and sums and
    /// products that lead to a small number are right however often they wrap around on the way.
    modular,
    /// It is compared, or becomes a float or a boolean: a mask.
    test,
    /// Its number is an output, or selects among other numbers.
    number,
    /// It takes part in arithmetic whose result need not be small.
    arithmetic
};

/// The needs of each integer's readers; see headrace::integer_need. The graph must be functional.
class integer_needs {
public:
    integer_needs(const graph& g, const value_ranges& ranges);

    [[nodiscard]] integer_need of(value v) const;
    /// The need for one operand, given the needs for the node's results.
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

/// An integer that may not fit in 32 bits although its number matters.
struct wide_integer {
    value which{};
    dtype type = dtype::int64;
    interval computed{};
    bool certain = false;  ///< some input makes it so wide, whatever the others are
};
/// An input that holds no more than these numbers, or is assumed to.
struct assumed_input {
    const node* which = nullptr;
    interval held{};
    bool computed_with = false;  ///< int64 that takes part in arithmetic: the author should know
};
struct integer_widths {
    std::vector<wide_integer> values{};
    std::vector<assumed_input> inputs{};
};

/// The integers of int32 and int64 that 32 bits may not hold, in execution order, if the inputs hold what
/// 32 bits do. Inputs that are indices hold no more than these may be; those that only tests read, a quarter
/// of the range of int32. A reported value counts as one that fits for what follows from it. The graph must
/// be functional; what neither its outputs nor an effect needs is left out.
[[nodiscard]] integer_widths find_wide_integers(const graph& g);

/// The nodes that have to compute with 64 bits, where inputs may hold any int64: each reads or gives an
/// integer whose number matters and that is not known to fit in 32 bits. Each has its reason.
[[nodiscard]] std::unordered_map<const node*, std::string> find_host_integers(const graph& g);

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/infer/integer_width_definition.hpp>
#endif

#endif
