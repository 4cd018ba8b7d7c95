// SPDX-License-Identifier: MIT
// Defines headrace::trait, facts stated in an op's declaration, and the relations of an op to the op of which
// it is a variant.
#ifndef HEADRACE_OP_TRAITS_HPP
#define HEADRACE_OP_TRAITS_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <headrace/base/fixed_string.hpp>

namespace headrace {

/// A fact about an op, as a bit. An op states its traits in its declaration; passes, inference and kernels
/// query them, at compile time with headrace::has_trait and headrace::ops_where, at run time with
/// op_info::has. Several traits joined by | mean any of them, as in trait::elementwise.
enum class trait : std::uint64_t {
    // The computation.
    unary = 1ULL << 0,    ///< each result element is computed from one element of the first operand
    binary = 1ULL << 1,   ///< from one element of each of the first two, which broadcast
    ternary = 1ULL << 2,  ///< from one element of each of the first three
    elementwise = unary | binary | ternary,
    commutative = 1ULL << 3,         ///< the first two operands may be swapped
    int_to_float = 1ULL << 4,        ///< elementwise: integers become floats, as PyTorch promotes them
    predicate = 1ULL << 5,           ///< elementwise: the result is boolean
    like_self = 1ULL << 6,           ///< the result has the shape and the dtype of `self`
    reduction = 1ULL << 7,           ///< many elements along one axis or several become one
    locating = 1ULL << 8,            ///< the result has indices of the operand's elements along an axis
    comparing = 1ULL << 9,           ///< predicate: compares two numbers
    matrix_product = 1ULL << 10,     ///< sums of products of rows and columns
    convolving = 1ULL << 11,         ///< sums of products of a window and a weight, with a bias
    transposed = 1ULL << 12,         ///< convolving: each element of the operand is spread over a window
    pooling = 1ULL << 13,            ///< one result element per window
    recurrent_cell = 1ULL << 14,     ///< one step of a recurrent network
    recurrent_network = 1ULL << 15,  ///< all steps, in all layers
    recurrent = recurrent_cell | recurrent_network,
    attention = 1ULL << 16,     ///< the third operand, weighted by the softmax of products of the others
    casting = 1ULL << 17,       ///< the same elements in another dtype
    quantizing = 1ULL << 18,    ///< integers that represent the operand's real numbers
    dequantizing = 1ULL << 19,  ///< the real numbers that integers represent
    gives_zeros = 1ULL << 20,   ///< all elements are 0, or undefined
    gives_ones = 1ULL << 21,    ///< all elements are 1
    gives_number = 1ULL << 22,  ///< all elements are one number from its arguments
    host_number = 1ULL << 23,   ///< the result is a number of the host program, not a tensor
    on_floats = 1ULL << 24,     ///< takes only floating-point numbers
    on_numbers = 1ULL << 25,    ///< takes no booleans
    on_bits = 1ULL << 26,       ///< takes only integers and booleans
    on_reals = 1ULL << 55,      ///< takes no complex numbers, since it compares or orders
    composite = 1ULL << 56,     ///< defined by other ops, into which passes decompose it first

    // The number of spatial (last) axes, if it is fixed.
    spatial_1d = 1ULL << 27,
    spatial_2d = 1ULL << 28,
    spatial_3d = 1ULL << 29,
    spatial = spatial_1d | spatial_2d | spatial_3d,

    // Data movement: which elements of the operand the result has, and where.
    forwarding = 1ULL << 30,    ///< all of them, unchanged
    reshaping = 1ULL << 31,     ///< all of them, in the same order, in a different shape
    permuting = 1ULL << 32,     ///< all of them, with axes permuted
    broadcasting = 1ULL << 33,  ///< all of them, repeated along axes of size 1
    slicing = 1ULL << 34,       ///< those at some indices of an axis
    splitting = 1ULL << 35,     ///< all of them, in several results
    joining = 1ULL << 36,       ///< the elements of several operands
    repeating = 1ULL << 37,     ///< all of them, several times
    reversing = 1ULL << 38,     ///< all of them, reversed along axes
    padding = 1ULL << 39,       ///< all of them, with others around them
    gathering = 1ULL << 40,     ///< those at the indices in another operand
    resampling = 1ULL << 41,    ///< those near the positions of a grid of another size
    nearest = 1ULL << 42,       ///< resampling: the element nearest to each position
    /// Moves the elements of one operand to one result.
    rearranging = forwarding | reshaping | permuting | broadcasting | slicing | repeating | reversing,
    moving = rearranging | splitting | joining | padding,

    // Effects on memory and on the outside world.
    aliasing = 1ULL << 43,    ///< the result may share its first operand's memory: PyTorch's views
    may_copy = 1ULL << 44,    ///< aliasing only if the operand's elements are contiguous, else a copy
    copying = 1ULL << 45,     ///< the unchanged operand, in new memory
    impure = 1ULL << 46,      ///< the result depends on more than the operands, or the node must not move
    per_reader = 1ULL << 47,  ///< targets fuse it with its user, so each user has its own
    has_out = 1ULL << 48,     ///< a variant writes its results into given buffers; see out_named
    writes_out = 1ULL << 49,  ///< its last argument has the buffers that it writes its results into

    // Set by the relations below, and by the number of results.
    in_place = 1ULL << 50,
    copied_view = 1ULL << 51,
    synonym = 1ULL << 52,
    variant = 1ULL << 53,  ///< of another op: base_of
    no_results = 1ULL << 54,
};

[[nodiscard]] constexpr trait operator|(trait a, trait b) {
    return static_cast<trait>(static_cast<std::uint64_t>(a) | static_cast<std::uint64_t>(b));
}

/// True if `bits` has any of these traits.
[[nodiscard]] constexpr bool has_any(std::uint64_t bits, trait any_of) {
    return (bits & static_cast<std::uint64_t>(any_of)) != 0;
}

/// See headrace::spatial_rank.
[[nodiscard]] constexpr std::size_t spatial_rank_in(std::uint64_t bits) {
    if (has_any(bits, trait::spatial_1d)) return 1;
    if (has_any(bits, trait::spatial_2d)) return 2;
    return has_any(bits, trait::spatial_3d) ? 3 : 0;
}

/// States that an op is a variant of another op, which computes the same results from the same arguments.
template <trait Relation, class Op>
struct variant_fact {};

/// The op writes its result into its first operand: PyTorch's names with a trailing underscore. The result
/// has the type of that operand.
template <class Functional>
inline constexpr variant_fact<trait::in_place, Functional> in_place_of{};

/// The op copies the elements that `View` refers to.
template <class View>
inline constexpr variant_fact<trait::copied_view, View> view_copy_of{};

/// The op is another name of `Op`.
template <class Op>
inline constexpr variant_fact<trait::synonym, Op> synonym_of{};

/// The op has an out-variant whose name does not follow from the op's own name.
template <fixed_string Name>
struct out_name_fact {
    static constexpr auto text = Name;  // on clang 16, a template argument itself has no address
};
template <fixed_string Name>
inline constexpr out_name_fact<Name> out_named{};

namespace detail {

// The facts of an op's declaration. A number is the number of results.
constexpr int results_in() { return 1; }
template <class... Facts>
constexpr int results_in(Facts... facts) {
    int results = 1;
    const auto look = [&]<class Fact>(Fact fact) {
        if constexpr (__is_same(Fact, int)) results = fact;
    };
    (look(facts), ...);
    return results;
}

constexpr std::uint64_t bits_of(int) { return 0; }
constexpr std::uint64_t bits_of(trait t) { return static_cast<std::uint64_t>(t); }
template <trait Relation, class Op>
constexpr std::uint64_t bits_of(variant_fact<Relation, Op>) {
    return bits_of(Relation | trait::variant);
}
template <fixed_string Name>
constexpr std::uint64_t bits_of(out_name_fact<Name>) {
    return bits_of(trait::has_out);
}
template <class... Facts>
constexpr std::uint64_t trait_bits_in(int results, Facts... facts) {
    return ((results == 0 ? bits_of(trait::no_results) : 0) | ... | bits_of(facts));
}

constexpr std::string_view out_name_in() { return {}; }
template <fixed_string Name>
constexpr std::string_view out_name_of(out_name_fact<Name>) {
    return out_name_fact<Name>::text.view();
}
template <class Fact>
constexpr std::string_view out_name_of(Fact) {
    return {};
}
template <class First, class... Rest>
constexpr std::string_view out_name_in(First first, Rest... rest) {
    const std::string_view name = out_name_of(first);
    return name.empty() ? out_name_in(rest...) : name;
}

// The op of which the facts make this one a variant, or void.
template <class... Facts>
struct first_related {
    using type = void;
};
template <class First, class... Rest>
struct first_related<First, Rest...> : first_related<Rest...> {};
template <trait Relation, class Op, class... Rest>
struct first_related<variant_fact<Relation, Op>, Rest...> {
    using type = Op;
};

}  // namespace detail

}  // namespace headrace

#endif
