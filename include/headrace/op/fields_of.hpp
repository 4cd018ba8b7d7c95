// SPDX-License-Identifier: MIT
// Defines headrace::fields_of, the field table of an op, with the checks of its declaration.
#ifndef HEADRACE_OP_FIELDS_OF_HPP
#define HEADRACE_OP_FIELDS_OF_HPP

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <headrace/base/fixed_string.hpp>
#include <headrace/op/fields.hpp>
#include <headrace/op/members.hpp>
#include <headrace/op/no_fault.hpp>
#include <headrace/op/op_tag.hpp>

namespace headrace {

/// The default arguments of an op: the schema's defaults, and zero or empty for arguments without one.
template <op_tag Op>
inline constexpr args<Op> default_args{};

HEADRACE_FAULT(fields, fields_are_members);
HEADRACE_FAULT(member, members_are_arguments);
HEADRACE_FAULT(enumeration, enumerations_are_named);

/// Names an op whose field list does not have as many names as its args has members, in the compile error.
template <class Op, std::size_t Names>
struct not_as_many_names : faults::fields {};
/// Names the last field of an op whose name is not that of the member at its position, in the compile error.
template <class Op, fixed_string Field>
struct other_name : faults::fields {};

/// Names an op and a member of its args whose type is not an argument type, in the compile error.
template <class Op, class Member>
struct no_argument_type : faults::member {};
/// Names an op and an enumeration in its args without `enumerator_names`, or used without op/custom.hpp.
template <class Op, class Enumeration>
struct unnamed_enumeration : faults::enumeration {};

namespace detail {

template <std::size_t N, class... Ts>
constexpr addresses<N> addresses_in(const members<Ts...>& all) {
    addresses<N> found{};
    for (std::size_t i = 0; i != N; ++i) found.at[i] = all.at[i];
    return found;
}
template <class Op, std::size_t Count>
constexpr auto diagnose_names() {
    if constexpr (!takes<args<Op>, Count>() || takes<args<Op>, Count + 1>()) {
        return not_as_many_names<Op, Count>{};
    } else if constexpr (Count == 0) {
        return no_fault{};
    } else {
        constexpr std::string_view members =
            spelled<addresses_in<Count>(members_of<Count>(default_args<Op>))>();
        constexpr std::size_t other = last_other_name(members, field_names<Op>.data(), Count);
        if constexpr (other == Count) {
            return no_fault{};
        } else {
            constexpr std::string_view field = field_names<Op>[other];
            return other_name<Op, fixed_string<field.size() + 1>(field)>{};
        }
    }
}

template <class Op>
constexpr auto diagnose_fields() {
    if constexpr (requires { Op::field_list; }) {
        return diagnose_names<Op, field_names<Op>.size()>();
    } else {
        return no_fault{};  // fields_of is specialized for it
    }
}

template <class Op, class T, class... Ts>
constexpr auto diagnose_types(const members<T, Ts...>*) {
    if constexpr (argument_type<T>) {
        return diagnose_types<Op>(static_cast<const members<Ts...>*>(nullptr));
    } else if constexpr (std::is_enum_v<T>) {
        return unnamed_enumeration<Op, T>{};
    } else {
        return no_argument_type<Op, T>{};
    }
}
template <class... Ts>
constexpr bool are_arguments(const members<Ts...>*) {
    return (argument_type<Ts> && ...);
}
template <class Op>
constexpr auto diagnose_members() {
    if constexpr (requires { Op::field_list; } && fields_are_members<decltype(diagnose_fields<Op>())>) {
        using list = decltype(members_of<field_names<Op>.size()>(default_args<Op>));
        constexpr const list* all = nullptr;
        if constexpr (are_arguments(all)) {
            return no_fault{};
        } else {
            return diagnose_types<Op>(all);
        }
    } else {
        return no_fault{};
    }
}

}  // namespace detail

/// The fault in the field names of an op, or no_fault.
template <op_tag Op>
using field_fault = decltype(detail::diagnose_fields<Op>());
/// The fault in the member types of an op, or no_fault.
template <op_tag Op>
using member_fault = decltype(detail::diagnose_members<Op>());
/// The fault in the declaration of an op, or no_fault.
template <op_tag Op>
using declaration_fault =
    std::conditional_t<std::is_same_v<field_fault<Op>, no_fault>, member_fault<Op>, field_fault<Op>>;

template <op_tag Op>
inline constexpr auto fields_of = [] {
    if constexpr (std::is_same_v<declaration_fault<Op>, no_fault>) {
        return make_fields<args<Op>>(field_names<Op>);
    } else {
        return std::array<field_info, 0>{};  // info_of reports the fault
    }
}();

}  // namespace headrace

#endif
