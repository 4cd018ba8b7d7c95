// SPDX-License-Identifier: MIT
// Defines the adaptation of argument structs to Boost.Hana's concept Struct: hana::members, hana::keys,
// hana::at_key.
#ifndef HEADRACE_OP_HANA_HPP
#define HEADRACE_OP_HANA_HPP

#include <cstddef>
#include <type_traits>
#include <utility>

#include <boost/hana.hpp>

#include <headrace/op/op_set.hpp>

namespace headrace {

/// The dialects whose argument structs are Hana Structs. A struct nested in an op does not know the op, so
/// the program specializes this once, after including the dialects:
///
///     template <>
///     struct headrace::hana_dialects<headrace::adapted> { using type =
///     headrace::dialects<headrace::aten::dialect>; };
///
/// Adapting hundreds of structs takes seconds to compile, so include this only in source files that need it.
struct adapted {};
template <class>
struct hana_dialects {
    using type = dialects<>;
};

namespace detail {

template <class Args, class Op>
struct args_entry {};
template <class Ops>
struct args_entries;
template <class... Ops>
struct args_entries<ops<Ops...>> : args_entry<args<Ops>, Ops>... {};
template <class Dialects>
struct args_index;
template <class... Ds>
struct args_index<dialects<Ds...>> : args_entries<typename Ds::all_ops>... {};

template <class Args, class Op>
Op op_in(const args_entry<Args, Op>&);

template <class Args>
using index_for = args_index<typename hana_dialects<std::conditional_t<false, Args, adapted>>::type>;

template <class Args>
concept listed_args = std::is_class_v<Args> && requires(const index_for<Args>& index) { op_in<Args>(index); };

template <class Args>
using op_holding = decltype(op_in<Args>(std::declval<const index_for<Args>&>()));

template <class Types, std::size_t I>
struct member_type;
template <class... Ts, std::size_t I>
struct member_type<members<Ts...>, I> {
    using type = std::remove_cvref_t<typename type_at<I, ops<Ts...>>::type>;
};

/// Reads one member by the field table.
template <class Op, std::size_t I>
struct member_reader {
    using member_types_list = decltype(members_of<field_names<Op>.size()>(std::declval<const args<Op>&>()));
    using type = typename member_type<member_types_list, I>::type;

    const type& operator()(const args<Op>& a) const {
        return *reinterpret_cast<const type*>(
            reinterpret_cast<const std::byte*>(&a) + fields_of<Op>[I].offset);
    }
    type& operator()(args<Op>& a) const {
        return *reinterpret_cast<type*>(reinterpret_cast<std::byte*>(&a) + fields_of<Op>[I].offset);
    }
    type operator()(args<Op>&& a) const { return (*this)(a); }
};

template <class Op, std::size_t I, std::size_t... C>
constexpr auto name_as_hana_string(std::index_sequence<C...>) {
    return boost::hana::string_c<field_names<Op>[I][C]...>;
}

template <class Op, std::size_t... I>
constexpr auto make_accessors(std::index_sequence<I...>) {
    return boost::hana::make_tuple(boost::hana::make_pair(
        name_as_hana_string<Op, I>(std::make_index_sequence<field_names<Op>[I].size()>{}),
        member_reader<Op, I>{})...);
}

}  // namespace detail

}  // namespace headrace

namespace boost::hana {

template <class Args>
struct accessors_impl<Args, when<::headrace::detail::listed_args<Args>>> {
    static constexpr auto apply() {
        using op = ::headrace::detail::op_holding<Args>;
        return ::headrace::detail::make_accessors<op>(
            std::make_index_sequence<::headrace::field_names<op>.size()>{});
    }
};

}  // namespace boost::hana

#endif
