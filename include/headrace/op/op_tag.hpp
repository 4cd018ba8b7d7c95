// SPDX-License-Identifier: MIT
// Defines headrace::op, the base of op tags, the concept op_tag, and what an op's declaration says about it.
#ifndef HEADRACE_OP_OP_TAG_HPP
#define HEADRACE_OP_OP_TAG_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <headrace/base/fixed_string.hpp>
#include <headrace/op/fields.hpp>
#include <headrace/op/traits.hpp>

namespace headrace {

namespace detail {

// The facts of an op's declaration; shared by all ops with the same facts.
template <auto... Facts>
struct stated_facts {
    static constexpr int results = results_in(Facts...);
    static constexpr std::uint64_t trait_bits = trait_bits_in(results, Facts...);
    /// The name of its out-variant, if that does not follow from its own name.
    static constexpr std::string_view out_name = out_name_in(Facts...);
    /// Returns the op of which this one is a variant; void if there is none.
    static constexpr auto variant_base() { return first_related<std::remove_cv_t<decltype(Facts)>...>{}; }
};

}  // namespace detail

/// Base of every op tag. `Fields` names the members of the tag's nested struct `args`, in order and as in the
/// op's schema; types and defaults are the struct's own:
///
///     struct softmax_int : op<dialect, "aten.softmax.int", "self, dim, dtype"> {
///         struct args { value self; std::int64_t dim; std::optional<headrace::dtype> dtype{}; };
///     };
///
/// The number of results, if it is not one, and the traits (op/traits.hpp) follow in any order:
///
///     struct max_dim : op<dialect, "aten.max.dim", "self, dim, keepdim", 2, trait::reduction> { … };
///     struct relu_inplace : op<dialect, "aten.relu_.default", "self", in_place_of<relu>> { … };
template <class Dialect, fixed_string Name, fixed_string Fields, auto... Facts>
struct op : detail::stated_facts<Facts...> {
    using dialect_type = Dialect;
    static constexpr std::string_view name = Name.view();
    static constexpr std::string_view field_list = Fields.view();
};

/// Matches op tags: satisfied by a struct derived from headrace::op that has a nested `args`.
template <class T>
concept op_tag = requires {
    typename T::dialect_type;
    typename T::args;
    { T::name } -> std::convertible_to<std::string_view>;
};

/// The argument struct of an op.
template <op_tag Op>
using args = typename Op::args;

/// The names of an op's fields, in order.
template <class Op>
inline constexpr auto field_names = split_names<count_names(Op::field_list)>(Op::field_list);

/// True if the op has any of the traits in `any_of`.
template <op_tag Op>
[[nodiscard]] constexpr bool has_trait(trait any_of) {
    return has_any(Op::trait_bits, any_of);
}

/// The number of spatial axes of an op that has a fixed number of them: 2 for aten::conv2d; 0 for others.
template <op_tag Op>
inline constexpr std::size_t spatial_rank = spatial_rank_in(Op::trait_bits);

/// The op of which `Op` is a variant: aten::relu for aten::relu_inplace. Void if there is none.
template <op_tag Op>
using base_of = typename decltype(Op::variant_base())::type;

/// Matches variants of other ops, as declared by in_place_of, view_copy_of and synonym_of.
template <class Op>
concept op_variant = op_tag<Op> && has_trait<Op>(trait::variant);

/// Matches the ops of a dialect that have all of the traits; `a | b` stands for either.
template <class Op, class Dialect, trait... Traits>
concept op_where =
    op_tag<Op> && __is_same(typename Op::dialect_type, Dialect) && (has_trait<Op>(Traits) && ...);

}  // namespace headrace

#endif
