// SPDX-License-Identifier: MIT
// Defines headrace::call and the readings of expressions, the form of rewrites, patterns and replacements.
#ifndef HEADRACE_PASS_EXPRESSION_HPP
#define HEADRACE_PASS_EXPRESSION_HPP

#include <array>
#include <concepts>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <headrace/base/sizes.hpp>
#include <headrace/base/text.hpp>
#include <headrace/op/op_set.hpp>
#include <headrace/pass/call_checks.hpp>
#include <headrace/pass/emit.hpp>

namespace headrace {

/// An expression is written once, as a generic function, and read several times:
///
///     [](auto x) { return call<aten::mul_tensor>(x, call<aten::sigmoid>(x)); }
///
/// - called with symbols, its type lists the ops that it makes;
/// - called with terms, it makes the nodes;
/// - called with wildcards, it is a pattern (match/pattern_expression.hpp).
///
/// Symbols exist only at compile time: functions over them are declared but never called. So the effects of a
/// rewrite are those of all branches of its expression, whichever runs.

template <auto Made>
struct join_with_choose;
/// The value of an expression that makes the ops `Made`, an op_set. Compilers print the name of this type if
/// a callable returns expressions of several types, so the name states the fix.
template <auto Made>
using symbol = join_with_choose<Made>;
/// The symbol of a value that no op of the expression makes.
using operand_symbol = symbol<op_set<>{}>;

/// The queries of a term at run time, declared so that an expression can use them in either reading.
struct symbol_answers {
    [[nodiscard]] headrace::value value() const;
    [[nodiscard]] headrace::dtype dtype() const;
    [[nodiscard]] const int_list& shape() const;
    [[nodiscard]] std::size_t rank() const;
    [[nodiscard]] std::int64_t size(std::int64_t axis) const;
    [[nodiscard]] std::size_t axis(std::int64_t named) const;
    [[nodiscard]] const tensor_meta& meta() const;
    [[nodiscard]] const tensor_meta& result_meta(std::uint32_t i = 0) const;
    [[nodiscard]] const target_spec& target() const;
    [[nodiscard]] operand_symbol unsupported(std::string_view reason) const;
    [[nodiscard]] operand_symbol unsupported(std::initializer_list<text_part> reason) const;
    [[nodiscard]] bool may_compute(std::int64_t elements, headrace::dtype type) const;
    [[nodiscard]] operand_symbol constant(scalar number) const;
    [[nodiscard]] operand_symbol constant(scalar number, headrace::dtype type) const;
    [[nodiscard]] operand_symbol filled(scalar number) const;
    [[nodiscard]] operand_symbol filled(scalar number, headrace::dtype type) const;
    template <class Range>
    [[nodiscard]] operand_symbol tensor(headrace::dtype type, sizes shape, const Range& elements) const;
    [[nodiscard]] operand_symbol of(headrace::value v) const;
};

template <auto Made>
struct join_with_choose : symbol_answers {
    static constexpr auto made = Made;
    constexpr join_with_choose() = default;
    /// A branch of a choice converts to the symbol of the whole choice.
    template <auto Fewer>
    constexpr join_with_choose(symbol<Fewer>) {}
};

/// The symbol of an ill-formed expression. An expression that contains one is ill-formed, too, and the
/// pipeline that reads the rule reports the diagnosis.
template <class Diagnosis>
struct ill_formed : symbol_answers {
    constexpr ill_formed() = default;
    /// Any branch of a choice converts to it.
    template <class T>
    constexpr ill_formed(const T&) {}
};
/// Diagnosis: a type that is not an expression where one is expected.
template <class T>
struct not_an_expression {};

/// A value of the graph, with the emitter that creates the nodes of an expression.
class term {
public:
    term(emitter e, headrace::value v) : emitter_(e), value_(v) {}

    [[nodiscard]] headrace::value value() const { return value_; }
    [[nodiscard]] emitter owner() const { return emitter_; }

    [[nodiscard]] headrace::dtype dtype() const { return emitter_.dtype(value_); }
    [[nodiscard]] const int_list& shape() const { return emitter_.shape(value_); }
    [[nodiscard]] std::size_t rank() const { return emitter_.rank(value_); }
    /// Returns the size along an axis, which may count from the end; 0 if there is no such axis.
    [[nodiscard]] std::int64_t size(std::int64_t axis) const {
        const auto i = normalized_axis(axis, rank());
        return i ? shape()[*i] : 0;
    }
    [[nodiscard]] const tensor_meta& meta() const { return emitter_.meta(value_); }
    /// Returns the metadata of the results that the rewrite replaces.
    [[nodiscard]] const tensor_meta& result_meta(std::uint32_t i = 0) const {
        return emitter_.result_meta(i);
    }
    [[nodiscard]] const target_spec& target() const { return emitter_.target(); }
    /// Refuses the node being rewritten: `reason` is the rule that it breaks.
    [[nodiscard]] term unsupported(std::string_view reason) const {
        return {emitter_, owner().unsupported(reason)};
    }
    [[nodiscard]] term unsupported(std::initializer_list<text_part> reason) const {
        return {emitter_, owner().unsupported(reason)};
    }
    /// True if the rewrite may compute a constant of that many elements; else refuses the node.
    [[nodiscard]] bool may_compute(std::int64_t elements, headrace::dtype type) const {
        return owner().may_compute(elements, type);
    }
    /// Returns a non-negative axis; `named` may count from the end. Refuses the node if it is out of range.
    [[nodiscard]] std::size_t axis(std::int64_t named) const {
        if (const auto found = normalized_axis(named, rank())) return *found;
        owner().unsupported({"axis ", named, " is out of range for rank ", rank()});
        return 0;
    }
    /// Returns a constant of this term's dtype, with a shape (1, …, 1) that broadcasts with it. The number is
    /// truncated for integer dtypes.
    [[nodiscard]] term constant(scalar number) const { return constant(number, dtype()); }
    /// Returns such a constant of another dtype.
    [[nodiscard]] term constant(scalar number, headrace::dtype type) const {
        return {emitter_, owner().splat(number, type, rank())};
    }
    /// Returns a constant of this term's shape, in its dtype or another one.
    [[nodiscard]] term filled(scalar number) const { return filled(number, dtype()); }
    [[nodiscard]] term filled(scalar number, headrace::dtype type) const {
        return {emitter_, owner().splat(number, type, shape())};
    }
    /// Returns a constant of that type and shape, from elements in the dtype's storage type.
    template <class Range>
    [[nodiscard]] term tensor(headrace::dtype type, sizes shape, const Range& elements) const {
        return {emitter_, owner().constant(type, shape, std::span(std::data(elements), std::size(elements)))};
    }
    /// Returns a term of another value of the graph, such as an optional operand.
    [[nodiscard]] term of(headrace::value v) const { return {emitter_, v}; }

private:
    emitter emitter_;
    headrace::value value_;
};

template <class T>
inline constexpr bool is_symbol = false;
template <auto Made>
inline constexpr bool is_symbol<symbol<Made>> = true;
template <class Diagnosis>
inline constexpr bool is_symbol<ill_formed<Diagnosis>> = true;

/// Matches the readings of a value in an expression; patterns add wildcards.
template <class T>
inline constexpr bool is_reading = is_symbol<T> || std::is_same_v<T, term>;
template <class T>
concept reading = is_reading<std::remove_cvref_t<T>>;

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
        return symbol<(Made | ... | made_in<Operands>::value)>{};
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
            static_assert(results_are_inferred<rule>,
                "emit: an op has no infer_results; see no_inference<Op>, declare it beside the op");
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

/// The return value of a rewrite that leaves its node unchanged.
struct unchanged_type {};
inline constexpr unchanged_type unchanged{};

namespace detail {

template <class F>
constexpr decltype(auto) branch(const F& f) {
    if constexpr (requires { f(); }) {
        return f();
    } else {
        return f;
    }
}
template <class F>
using branch_type = std::remove_cvref_t<decltype(branch(std::declval<const F&>()))>;

// A branch: its expression, void if there is none, and whether it may leave the node unchanged.
template <class T>
struct branch_of {
    using expression = T;
    static constexpr bool declines = false;
};
template <>
struct branch_of<void> {
    using expression = ill_formed<not_an_expression<void>>;
    static constexpr bool declines = false;
};
template <class T>
struct branch_of<std::optional<T>> {
    using expression = T;
    static constexpr bool declines = true;
};
template <>
struct branch_of<unchanged_type> {
    using expression = void;
    static constexpr bool declines = true;
};

template <class T>
inline constexpr bool is_ill_formed = !std::is_same_v<typename fault_in<T>::type, no_fault>;

// The common type of two expressions, in either reading. With symbols, a fault becomes a diagnosis.
template <class A, class B>
struct joined_expressions {
    static_assert(holds_symbol<A> || holds_symbol<B>,
        "choose: a branch is not an expression; return one from it, or `unchanged`");
    using other = std::conditional_t<holds_symbol<A>, B, A>;
    using type = ill_formed<not_an_expression<other>>;
};
template <class A, class B>
    requires((is_ill_formed<A> || is_ill_formed<B>) && !std::is_same_v<A, B> && !std::is_void_v<A> &&
        !std::is_void_v<B>)
struct joined_expressions<A, B> {
    using type = ill_formed<typename fault_in<std::tuple<A, B>>::type>;
};
template <class A>
struct joined_expressions<A, A> : std::type_identity<A> {};
template <class A>
struct joined_expressions<A, void> : std::type_identity<A> {};
template <class B>
struct joined_expressions<void, B> : std::type_identity<B> {};
template <auto A, auto B>
    requires(!std::is_same_v<symbol<A>, symbol<B>>)
struct joined_expressions<symbol<A>, symbol<B>> : std::type_identity<symbol<A | B>> {};
template <class... As, class... Bs>
    requires(sizeof...(As) == sizeof...(Bs) && !std::is_same_v<std::tuple<As...>, std::tuple<Bs...>>)
struct joined_expressions<std::tuple<As...>, std::tuple<Bs...>>
    : std::type_identity<std::tuple<typename joined_expressions<As, Bs>::type...>> {};

// The type of a choice between two branches.
template <class A, class B>
struct joined_branches {
    using expression = typename joined_expressions<typename branch_of<A>::expression,
        typename branch_of<B>::expression>::type;
    using type = std::conditional_t<branch_of<A>::declines || branch_of<B>::declines,
        std::optional<expression>, expression>;
};

template <class To, class F>
constexpr To take_branch(const F& f) {
    if constexpr (is_ill_formed<To>) {
        return To();
    } else if constexpr (std::is_same_v<branch_type<F>, unchanged_type>) {
        return std::nullopt;
    } else {
        return branch(f);
    }
}

}  // namespace detail

/// Alternatives, one of which is chosen at run time. Each is an expression, or a callable without parameters
/// that returns one and is called only if chosen. The ops of all of them count as made by the rewrite.
///
///     choose(a.approximate == "tanh", [&] { return … tanh(…); }, [&] { return … erf(…); })
///     choose(is_floating(x.dtype()), [&] { return …; }, unchanged)
template <class Then, class Else>
constexpr auto choose(bool condition, const Then& then, const Else& otherwise) {
    using chosen =
        typename detail::joined_branches<detail::branch_type<Then>, detail::branch_type<Else>>::type;
    return condition ? detail::take_branch<chosen>(then) : detail::take_branch<chosen>(otherwise);
}
/// Chooses the first alternative whose condition is true, else the last.
template <class Then, class... Rest>
constexpr auto choose(bool condition, const Then& then, bool next, const Rest&... rest) {
    return choose(condition, then, [&] { return choose(next, rest...); });
}

/// Returns f(x, operand) if an optional operand is given, else x: `with_operand(y, a.bias, [](auto v, auto
/// bias) { return v + bias; })`.
template <reading X, class F>
constexpr auto with_operand(const X& x, const std::optional<value>& operand, const F& f) {
    return choose(
        operand.has_value(), [&] { return f(x, x.of(*operand)); }, x);
}

}  // namespace headrace

#endif
