// SPDX-License-Identifier: MIT
// Declares headrace::pt2::evaluate_expression, which evaluates a formula over an export's symbols.
#ifndef HEADRACE_IO_PT2_EXPRESSION_HPP
#define HEADRACE_IO_PT2_EXPRESSION_HPP

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <headrace/op/value.hpp>

namespace headrace::pt2 {

/// Returns the value of a symbol, or nullopt if it has none.
using symbol_lookup = std::function<std::optional<std::int64_t>(std::string_view symbol)>;

using numbers = std::span<const scalar>;

[[nodiscard]] std::int64_t add(std::int64_t a, std::int64_t b);
[[nodiscard]] std::int64_t subtract(std::int64_t a, std::int64_t b);
[[nodiscard]] std::int64_t floor_quotient(std::int64_t a, std::int64_t b);

/// A function of sympy or of torch.utils._sympy.functions. If `operands` is 0, it takes one or more.
struct function {
    std::string_view name;
    std::size_t operands;
    scalar (*apply)(numbers x);
};

/// Returns the value of a formula in the form that exports have: sympy.srepr's, or, until torch 2.5, str's.
/// Throws failure if it is broken, if a symbol has no value, or if a function is not known.
[[nodiscard]] scalar evaluate_expression(std::string_view text, const symbol_lookup& symbols);

/// More symbols than any export has.
inline constexpr std::size_t most_symbols = 1000;

/// Returns the symbols of a formula, each once, in order of appearance.
[[nodiscard]] std::vector<std::string_view> symbols_of(std::string_view expression);

}  // namespace headrace::pt2

#endif
