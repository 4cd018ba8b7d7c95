// SPDX-License-Identifier: MIT
// Defines the diagnoses of calls of ops in expressions, which name the culprit in compile errors.
#ifndef HEADRACE_REWRITE_CALL_CHECKS_HPP
#define HEADRACE_REWRITE_CALL_CHECKS_HPP

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <headrace/base/fixed_string.hpp>
#include <headrace/op/op.hpp>
#include <headrace/rewrite/messages.hpp>

namespace headrace {

HEADRACE_FAULT(op, calls_known_ops);
HEADRACE_FAULT(arity, arity_fits);
HEADRACE_FAULT(argument_kind, arguments_fit);

/// Diagnoses of calls, for compile errors; see no_fault.
template <class T>
struct unknown_op : faults::op {};
template <class Op, std::size_t Given, std::size_t Takes>
struct wrong_arity : faults::arity {};
/// The call has a `Given` for the op's field of that name, which is a `Takes`.
template <class Op, fixed_string Field, class Given, class Takes>
struct wrong_argument : faults::argument_kind {};
template <class Op, fixed_string Field>
struct no_such_field : faults::argument_kind {};

/// True if none of these diagnoses applies.
template <class Diagnosis>
inline constexpr bool calls_fit =
    calls_known_ops<Diagnosis> && arity_fits<Diagnosis> && arguments_fit<Diagnosis>;

namespace detail {

template <class Op>
constexpr bool is_known_op() {
    if constexpr (op_tag<Op>) {
        return listed_in_its_dialect<Op>;
    } else {
        return false;
    }
}

template <class Op, std::size_t I>
inline constexpr auto field_label = [] {
    constexpr std::string_view name = field_names<Op>[I];
    return fixed_string<name.size() + 1>(name);
}();

// Diagnoses the member of args at a position.
template <class Op, std::size_t I, class Given, class... Members>
auto diagnose_argument(const members<Members...>*) {
    return wrong_argument<Op, field_label<Op, I>, Given, typename type_at<I, ops<Members...>>::type>{};
}
template <class Op>
using members_of_op = decltype(members_of<field_names<Op>.size()>(default_args<Op>));
template <class Op, std::size_t I, class Given>
using argument_fault = decltype(diagnose_argument<Op, I, Given>(static_cast<members_of_op<Op>*>(nullptr)));

template <class Member>
struct one_member {
    Member item;
};
template <class Member, class Given>
concept initializes = requires(const Given& given) { one_member<Member>{given}; };

// Returns the index of the first argument that does not convert to its member, or the number of arguments.
template <class Members, class Given, std::size_t... I>
constexpr std::size_t first_other(std::index_sequence<I...>) {
    constexpr bool fits[] = {
        initializes<typename type_at<I, Members>::type, typename type_at<I, Given>::type>..., false};
    std::size_t at = 0;
    while (fits[at]) ++at;
    return at;
}
// True if a member from position `Given` on is a required operand.
template <std::size_t Given, class... Members>
constexpr bool lacks_operands(const members<Members...>*) {
    constexpr bool is_operand_type[] = {
        (std::is_same_v<Members, value> || std::is_same_v<Members, list<value>>)..., false};
    for (std::size_t i = Given; i < sizeof...(Members); ++i) {
        if (is_operand_type[i]) return true;
    }
    return false;
}

template <class Op, class... Given, class... Members>
auto diagnose_arguments(const members<Members...>*) {
    constexpr std::size_t at =
        first_other<ops<Members...>, ops<Given...>>(std::make_index_sequence<sizeof...(Given)>{});
    if constexpr (at == sizeof...(Given)) {
        return wrong_arity<Op, sizeof...(Given), sizeof...(Members)>{};
    } else {
        return argument_fault<Op, at, typename type_at<at, ops<Given...>>::type>{};
    }
}

// Compares a call's arguments with the op's struct `args`: first all at once, then one by one if that fails.
template <class Op, class... Given>
auto diagnose_call() {
    if constexpr (!is_known_op<Op>()) {
        return unknown_op<Op>{};
    } else if constexpr (!requires { Op::field_list; }) {
        return no_fault{};
    } else if constexpr (!fields_are_members<field_fault<Op>>) {
        return field_fault<Op>{};
    } else {
        constexpr std::size_t takes = count_names(Op::field_list);
        if constexpr (sizeof...(Given) > takes) {
            return wrong_arity<Op, sizeof...(Given), takes>{};
        } else if constexpr (!requires(const Given&... given) { args<Op>{given...}; }) {
            return diagnose_arguments<Op, Given...>(static_cast<members_of_op<Op>*>(nullptr));
        } else if constexpr (lacks_operands<sizeof...(Given)>(static_cast<members_of_op<Op>*>(nullptr))) {
            return wrong_arity<Op, sizeof...(Given), takes>{};
        } else {
            return no_fault{};
        }
    }
}

}  // namespace detail

/// The fault of a call of `Op` with arguments of these types, or no_fault.
template <class Op, class... Given>
using call_fault = decltype(detail::diagnose_call<Op, Given...>());

}  // namespace headrace

#endif
