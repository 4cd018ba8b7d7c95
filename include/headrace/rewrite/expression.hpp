// SPDX-License-Identifier: MIT
// Defines headrace::call, calls of ops in expressions: the form of rewrites, patterns and replacements.
#ifndef HEADRACE_REWRITE_EXPRESSION_HPP
#define HEADRACE_REWRITE_EXPRESSION_HPP

#include <array>
#include <optional>
#include <tuple>
#include <type_traits>

#include <headrace/op/op_set.hpp>
#include <headrace/rewrite/call_checks.hpp>
#include <headrace/rewrite/emit.hpp>
#include <headrace/rewrite/messages.hpp>
#include <headrace/rewrite/term.hpp>

namespace headrace {

/// Several operands that form one argument: `call<aten::cat>(tensors(x, y), 1)`.
template <class... Items>
struct tensors_expression {
    std::tuple<Items...> items;
};
template <class... Items>
[[nodiscard]] constexpr tensors_expression<Items...> tensors(const Items&... items) {
    return {{items...}};
}

namespace detail {

template <class T>
struct made_in {
    static constexpr op_set<> value{};
};
template <auto Made>
struct made_in<symbol<Made>> {
    static constexpr auto value = Made;
};
template <class... Ts>
struct made_in<std::tuple<Ts...>> {
    static constexpr auto value = (op_set<>{} | ... | made_in<Ts>::value);
};
template <class... Ts>
struct made_in<tensors_expression<Ts...>> : made_in<std::tuple<Ts...>> {};
template <class T>
struct made_in<std::optional<T>> : made_in<T> {};

// The first fault of an expression, in the order of its text, or no_fault.
template <class T>
struct fault_in {
    using type = no_fault;
};
template <class Diagnosis>
struct fault_in<ill_formed<Diagnosis>> {
    using type = Diagnosis;
};
template <class... Faults>
struct first_of_faults {
    using type = no_fault;
};
template <class Fault, class... Faults>
struct first_of_faults<Fault, Faults...> {
    using type = Fault;
};
template <class... Faults>
struct first_of_faults<no_fault, Faults...> : first_of_faults<Faults...> {};
template <class... Ts>
struct fault_in<std::tuple<Ts...>> : first_of_faults<typename fault_in<Ts>::type...> {};
template <class... Ts>
struct fault_in<tensors_expression<Ts...>> : fault_in<std::tuple<Ts...>> {};
template <class T>
struct fault_in<std::optional<T>> : fault_in<T> {};

// The symbol of a result made from these operands, unless one of them is ill-formed.
template <auto Made, class... Operands>
constexpr auto symbol_of() {
    using fault = typename fault_in<std::tuple<Operands...>>::type;
    if constexpr (std::is_same_v<fault, no_fault>) {
        constexpr auto made = (Made | ... | made_in<Operands>::value);
        return join_with_choose<made>{};
    } else {
        return ill_formed<fault>{};
    }
}

template <class T>
inline constexpr bool holds_term = std::is_same_v<T, term>;
template <class... Ts>
inline constexpr bool holds_term<tensors_expression<Ts...>> = (holds_term<Ts> || ...);
template <class T>
inline constexpr bool holds_symbol = is_symbol<T>;
template <class... Ts>
inline constexpr bool holds_symbol<tensors_expression<Ts...>> = (holds_symbol<Ts> || ...);

// Converts an argument of a call to a member of the op's argument struct.
template <class T>
const T& as_argument(const T& argument) {
    return argument;
}
inline value as_argument(const term& argument) { return argument.value(); }
template <class... Ts>
auto as_argument(const std::tuple<Ts...>& arguments) {
    return std::apply([](const Ts&... each) { return std::tuple(as_argument(each)...); }, arguments);
}
template <class... Ts>
auto as_argument(const tensors_expression<Ts...>& argument) {
    struct held {
        std::array<value, sizeof...(Ts)> values;
        operator list<value>() const { return list<value>(values); }
    };
    return std::apply([](const Ts&... items) { return held{{as_argument(items)...}}; }, argument.items);
}

// The type of an argument as a member of that struct, in the reading with symbols.
template <class T>
struct given_as {
    using type = T;
};
template <class T>
    requires is_symbol<T>
struct given_as<T> {
    using type = value;
};
template <>
struct given_as<term> {
    using type = value;
};
template <class... Ts>
struct given_as<tensors_expression<Ts...>> {
    using type = list<value>;
};

template <class T, class... Ts>
const term& first_term(const T& first, const Ts&... rest) {
    if constexpr (std::is_same_v<T, term>) {
        return first;
    } else if constexpr (holds_term<T>) {
        return std::apply(
            [](const auto&... items) -> const term& { return first_term(items...); }, first.items);
    } else {
        return first_term(rest...);
    }
}

// Gives expressions access to an emitter's unchecked functions: their type lists the ops that they make.
struct expression_access {
    template <op_tag Op>
    static value make(emitter e, const args<Op>& a) {
        node* made = e.template add<Op>(a);
        return made == nullptr ? value{} : made->result();
    }
};

// A call with wildcards, defined by match/pattern_expression.hpp.
template <class Op>
struct pattern_call;

}  // namespace detail

/// A node of `Op` with these arguments, in the order of its schema: operands are expressions, other arguments
/// are C++ values, and std::nullopt is None. Omitted arguments at the end have the schema's defaults. It is a
/// function object, so it can be the whole rewrite of an op that only changes its name: `on<aten::exp> =
/// call<tosa::exp>`.
template <class Op>
struct call_t {
    template <class... Arguments>
    constexpr auto operator()(Arguments... arguments) const {
        if constexpr ((detail::holds_symbol<Arguments> || ...)) {
            using fault = call_fault<Op, typename detail::given_as<Arguments>::type...>;
            if constexpr (std::is_same_v<fault, no_fault>) {
                return detail::symbol_of<ops_in<Op>, Arguments...>();
            } else {
                return detail::symbol_of<op_set<>{}, Arguments..., ill_formed<fault>>();
            }
        } else if constexpr ((detail::holds_term<Arguments> || ...)) {
            using rule = std::conditional_t<inferable<Op>, no_fault, no_inference<Op>>;
            static_assert(results_are_inferred<rule>, HEADRACE_NO_INFERENCE);
            const emitter e = detail::first_term(arguments...).owner();
            return term(
                e, detail::expression_access::make<Op>(e, args<Op>{detail::as_argument(arguments)...}));
        } else {
            return detail::pattern_call<Op>::read(arguments...);
        }
    }
};
template <class Op>
inline constexpr call_t<Op> call{};

}  // namespace headrace

#endif
