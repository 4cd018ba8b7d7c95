// SPDX-License-Identifier: MIT
// Defines rules whose rewrite is code: `on<Op> = code<List>(f)`.
#ifndef HEADRACE_REWRITE_CODE_RULE_HPP
#define HEADRACE_REWRITE_CODE_RULE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <boost/mp11/list.hpp>
#include <boost/mp11/set.hpp>

#include <headrace/op/op_set.hpp>
#include <headrace/rewrite/code.hpp>
#include <headrace/rewrite/rules.hpp>

namespace headrace::detail {

// The number of values in what code returns: 0 if it is something else, any_number if it is a value_list.
inline constexpr std::size_t any_number = SIZE_MAX;
template <class T>
inline constexpr std::size_t values_in = 0;
template <>
inline constexpr std::size_t values_in<value> = 1;
template <>
inline constexpr std::size_t values_in<value_list> = any_number;
template <class... Ts>
    requires(std::is_same_v<Ts, value> && ...)
inline constexpr std::size_t values_in<std::tuple<Ts...>> = sizeof...(Ts);
template <class T>
inline constexpr std::size_t values_in<std::optional<T>> = values_in<T>;

template <class Op, class Returned>
auto diagnose_values() {
    constexpr std::size_t count = values_in<Returned>;
    if constexpr (count == 0) {
        return not_values<Returned>{};
    } else if constexpr (Op::results == variadic_results || count == any_number ||
        count == static_cast<std::size_t>(Op::results)) {
        return no_fault{};
    } else {
        return wrong_result_count<Op, count, static_cast<std::size_t>(Op::results)>{};
    }
}

// The parameters of code beside the emitter.
enum class code_parameters : std::uint8_t { none, arguments, tag_and_arguments, operands };
template <class Op, class List, class F, std::size_t... I>
constexpr code_parameters find_parameters(std::index_sequence<I...>) {
    if constexpr (requires(const F& f, emit<List>& e, const args<Op>& a) { f(e, a); }) {
        return code_parameters::arguments;
    } else if constexpr (requires(const F& f, emit<List>& e, const args<Op>& a) { f(Op{}, e, a); }) {
        return code_parameters::tag_and_arguments;
    } else if constexpr (requires(const F& f, emit<List>& e, reading_at<value, I>... v) { f(e, v...); }) {
        return code_parameters::operands;
    } else {
        return code_parameters::none;
    }
}
template <class Op, class List, class F>
inline constexpr code_parameters parameters_of_code =
    find_parameters<Op, List, F>(std::make_index_sequence<plain_operands<Op>>{});

template <class Op>
value& operand_at(std::size_t i, args<Op>& a) {
    return *reinterpret_cast<value*>(reinterpret_cast<std::byte*>(&a) + operand_offsets<Op>[i]);
}
template <class Op, class List, class F>
auto call_code(emit<List>& e, const args<Op>& a) {
    constexpr code_parameters takes = parameters_of_code<Op, List, F>;
    if constexpr (takes == code_parameters::arguments) {
        return F{}(e, a);
    } else if constexpr (takes == code_parameters::tag_and_arguments) {
        return F{}(Op{}, e, a);
    } else if constexpr (takes == code_parameters::operands) {
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            return F{}(e, operand_at<Op>(I, const_cast<args<Op>&>(a))...);
        }(std::make_index_sequence<plain_operands<Op>>{});
    } else {
        return value();  // pipelines report the fault
    }
}
// The return type of code. Naming the call would convert the emitter, and report a fault of its list here.
template <class Op, class List, class F, std::size_t... I>
auto find_result(std::index_sequence<I...>) {
    constexpr code_parameters takes = parameters_of_code<Op, List, F>;
    using emitter_type = emit<List>&;
    if constexpr (takes == code_parameters::arguments) {
        return std::type_identity<std::invoke_result_t<F, emitter_type, const args<Op>&>>{};
    } else if constexpr (takes == code_parameters::tag_and_arguments) {
        return std::type_identity<std::invoke_result_t<F, Op, emitter_type, const args<Op>&>>{};
    } else if constexpr (takes == code_parameters::operands) {
        return std::type_identity<std::invoke_result_t<F, emitter_type, reading_at<value, I>...>>{};
    } else {
        return std::type_identity<value>{};
    }
}
template <class Op, class List, class F>
using code_result =
    typename decltype(find_result<Op, List, F>(std::make_index_sequence<plain_operands<Op>>{}))::type;

// The list of the emitter that a lambda names, or `List` if it takes any. `Parameters` are the types of its
// generic parameters.
template <class Result, class F, class List, class... Parameters>
List ops_named_by(Result (F::*)(emit<List>, Parameters...) const);
template <class Result, class F, class List, class... Parameters>
List ops_named_by(Result (F::*)(emit<List>&, Parameters...) const);
template <class F, class List, class... Parameters>
auto find_named_list() {
    if constexpr (requires { ops_named_by(&F::operator()); }) {
        return decltype(ops_named_by(&F::operator())){};
    } else if constexpr (requires { ops_named_by(&F::template operator()<Parameters...>); }) {
        return decltype(ops_named_by(&F::template operator()<Parameters...>)){};
    } else {
        return List{};
    }
}
template <class F, class List, class... Parameters>
using list_fault = typename first_not_listed<decltype(find_named_list<F, List, Parameters...>()), List>::type;

template <class Op, class List, class F>
auto diagnose_code() {
    if constexpr (!std::is_same_v<declaration_fault<Op>, no_fault>) {
        return declaration_fault<Op>{};
    } else if constexpr (parameters_of_code<Op, List, F> == code_parameters::none) {
        return not_code_for<Op, List>{};
    } else if constexpr (!std::is_void_v<list_fault<F, List, args<Op>>>) {
        return list_fault<F, List, args<Op>>{};
    } else {
        return diagnose_values<Op, code_result<Op, List, F>>();
    }
}

// See rules_read.
template <class Op, class List, class F, class Policy>
struct operands_of_rule<rule<Op, coded<List, F>, Policy>> {
    using indices = std::index_sequence<>;
};
template <class Op, class List, class F, class Policy>
inline constexpr bool reads_alone<rule<Op, coded<List, F>, Policy>, std::index_sequence<>> =
    requires(const F& f, emit<List>& e, const args<Op>& a) { f(e, a); };
template <class Op, class List, class F, class Policy>
struct reads_with_arguments<rule<Op, coded<List, F>, Policy>, std::index_sequence<>> : std::false_type {};

template <class Op, class List, class F, class Policy>
struct rule_facts<rule<Op, coded<List, F>, Policy>> {
    using targets = ops<Op>;
    static bool run(emitter any, const node& n, value_list& out) {
        emit<List> e(any);
        if constexpr (std::is_same_v<Policy, identity_policy>) {
            return take_result<Policy>(any, call_code<Op, List, F>(e, args_of<Op>(n)), out);
        } else {
            args<Op> a = args_of<Op>(n);
            for (std::size_t i = 0; i != plain_operands<Op>; ++i) {
                value& operand = operand_at<Op>(i, a);
                operand = Policy::operand(term(any, operand)).value();
            }
            return take_result<Policy>(any, call_code<Op, List, F>(e, a), out);
        }
    }
};
template <class Op, class List, class F, class Policy>
struct rule_effects<rule<Op, coded<List, F>, Policy>> {
    using op_type = Op;
    using fault = decltype(diagnose_code<Op, List, F>());
    static constexpr bool may_decline = is_optional<code_result<Op, List, F>>;
    static constexpr auto made = Policy::made | set_of<List>;
};

// The ops that the code of a list of rules may emit. Unlike those of expressions, the compiler cannot see
// whether it does.
template <class Rule>
struct ops_of_code : std::type_identity<ops<>> {};
template <class Op, class List, class F, class Policy>
struct ops_of_code<rule<Op, coded<List, F>, Policy>> : std::type_identity<List> {};
template <class List>
struct ops_of_codes;
// Rules of a family have the same list, which is joined once: joining takes time by the square.
template <class... Rules>
struct ops_of_codes<rule_list<Rules...>> {
    using lists = boost::mp11::mp_set_push_back<boost::mp11::mp_list<>, typename ops_of_code<Rules>::type...>;
    using type = boost::mp11::mp_apply<joined, lists>;
};

}  // namespace headrace::detail

#endif
