// SPDX-License-Identifier: MIT
// Defines headrace::term and headrace::symbol, the readings of the values in an expression, and
// headrace::unchanged.
#ifndef HEADRACE_REWRITE_TERM_HPP
#define HEADRACE_REWRITE_TERM_HPP

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>

#include <headrace/base/sizes.hpp>
#include <headrace/base/text.hpp>
#include <headrace/op/op_set.hpp>
#include <headrace/rewrite/emitter.hpp>
#include <headrace/rewrite/messages.hpp>

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

/// The return value of a rewrite that leaves its node unchanged. It and symbols convert to each other, so
/// that a callable that returns both, without `choose`, is one compile error.
struct unchanged_type {
    constexpr unchanged_type() = default;
    template <auto Made>
    constexpr unchanged_type(symbol<Made>) {}
};
inline constexpr unchanged_type unchanged{};

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
    constexpr join_with_choose(unchanged_type) {}
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
/// The compiler has already reported an error in a callable.
struct unreadable {};
HEADRACE_FAULT(results, rule_gives_results);
/// Diagnosis: a type that is not an expression where one is expected.
template <class T>
struct not_an_expression : faults::results {};

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

}  // namespace headrace

#endif
