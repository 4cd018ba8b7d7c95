// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pt2/expression.hpp.

#include <headrace/io/pt2/expression.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ranges>
#include <string_view>
#include <vector>

#include <headrace/io/file/json.hpp>
#include <headrace/op/value.hpp>

namespace headrace::pt2 {

namespace {

[[nodiscard]] bool any_floating(numbers x) {
    return std::any_of(x.begin(), x.end(), [](const scalar& s) { return s.is_floating(); });
}

[[noreturn]] inline void fail_too_large() {
    fail_malformed("the formula of a size gives a number that is too large");
}

}  // namespace

std::int64_t add(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) fail_too_large();
    return sum;
}

std::int64_t subtract(std::int64_t a, std::int64_t b) {
    std::int64_t difference = 0;
    if (__builtin_sub_overflow(a, b, &difference)) fail_too_large();
    return difference;
}

namespace {

[[nodiscard]] std::int64_t multiply(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product)) fail_too_large();
    return product;
}

}  // namespace

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
    if (b == 0) fail_malformed("the formula of a size divides by 0");
    if (b == -1) return subtract(0, a);
    return a / b - static_cast<std::int64_t>(a % b != 0 && (a < 0) != (b < 0));
}

namespace {

[[nodiscard]] std::int64_t floor_remainder(std::int64_t a, std::int64_t b) {
    if (b == 0) fail_malformed("the formula of a size divides by 0");
    if (b == -1) return 0;
    const std::int64_t rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// Folds all operands from left to right, as floats if one of them is a float.
template <class Whole, class Real>
[[nodiscard]] scalar fold(numbers x, Whole whole, Real real) {
    scalar all = x[0];
    const bool floats = any_floating(x);
    for (const scalar& s : x.subspan(1)) {
        all = floats ? scalar(real(all.to_double(), s.to_double())) : scalar(whole(all.to_int(), s.to_int()));
    }
    return all;
}

[[nodiscard]] scalar sum(numbers x) { return fold(x, add, std::plus<double>()); }

[[nodiscard]] scalar product(numbers x) { return fold(x, multiply, std::multiplies<double>()); }

[[nodiscard]] scalar power(numbers x) {
    constexpr std::int64_t largest_exponent = 64;
    const std::int64_t exponent = x[1].to_int();
    if (any_floating(x) || exponent < 0 || exponent > largest_exponent)
        return std::pow(x[0].to_double(), x[1].to_double());
    std::int64_t all = 1;
    for (std::int64_t i = 0; i != exponent; ++i) all = multiply(all, x[0].to_int());
    return all;
}

[[nodiscard]] scalar quotient(numbers x) { return floor_quotient(x[0].to_int(), x[1].to_int()); }

[[nodiscard]] scalar remainder(numbers x) { return floor_remainder(x[0].to_int(), x[1].to_int()); }

[[nodiscard]] scalar true_quotient(numbers x) { return x[0].to_double() / x[1].to_double(); }

[[nodiscard]] bool is_less(const scalar& a, const scalar& b) { return a.to_double() < b.to_double(); }

[[nodiscard]] scalar rounded(double x) { return scalar(x).to_int(); }

constexpr std::array functions{
    function{"Add", 0, sum},
    function{"Mul", 0, product},
    function{"Pow", 2, power},
    function{"PowByNatural", 2, power},
    function{"Max", 0, [](numbers x) { return *std::max_element(x.begin(), x.end(), is_less); }},
    function{"Min", 0, [](numbers x) { return *std::min_element(x.begin(), x.end(), is_less); }},
    function{"FloorDiv", 2, quotient},
    function{"CleanDiv", 2, quotient},
    function{"Mod", 2, remainder},
    function{"PythonMod", 2, remainder},
    function{"ModularIndexing", 3,
        [](numbers x) {
            return scalar(floor_remainder(floor_quotient(x[0].to_int(), x[1].to_int()), x[2].to_int()));
        }},
    function{"Rational", 2, true_quotient},
    function{"IntTrueDiv", 2, true_quotient},
    function{"FloatTrueDiv", 2, true_quotient},
    function{"ToFloat", 1, [](numbers x) { return scalar(x[0].to_double()); }},
    function{"OpaqueUnaryFn_sqrt", 1, [](numbers x) { return scalar(std::sqrt(x[0].to_double())); }},
    function{"TruncToInt", 1, [](numbers x) { return rounded(std::trunc(x[0].to_double())); }},
    function{"FloorToInt", 1, [](numbers x) { return rounded(std::floor(x[0].to_double())); }},
    function{"CeilToInt", 1, [](numbers x) { return rounded(std::ceil(x[0].to_double())); }},
    function{"RoundToInt", 1, [](numbers x) { return rounded(std::nearbyint(x[0].to_double())); }},
    function{"Where", 3, [](numbers x) { return x[0].to_int() != 0 ? x[1] : x[2]; }},
    function{"Equality", 2, [](numbers x) { return scalar(x[0].to_double() == x[1].to_double()); }},
    function{"Unequality", 2, [](numbers x) { return scalar(x[0].to_double() != x[1].to_double()); }},
    function{"StrictLessThan", 2, [](numbers x) { return scalar(is_less(x[0], x[1])); }},
    function{"StrictGreaterThan", 2, [](numbers x) { return scalar(is_less(x[1], x[0])); }},
    function{"LessThan", 2, [](numbers x) { return scalar(!is_less(x[1], x[0])); }},
    function{"GreaterThan", 2, [](numbers x) { return scalar(!is_less(x[0], x[1])); }},
    function{"And", 0,
        [](numbers x) {
            return scalar(std::all_of(x.begin(), x.end(), [](const scalar& s) { return s.to_int() != 0; }));
        }},
    function{"Or", 0,
        [](numbers x) {
            return scalar(std::any_of(x.begin(), x.end(), [](const scalar& s) { return s.to_int() != 0; }));
        }},
    function{"Not", 1, [](numbers x) { return scalar(x[0].to_int() == 0); }},
};

/// A recursive-descent parser for the output of sympy.srepr: Add(Integer(2), Symbol('s77', positive=True)).
class expression_parser {
public:
    expression_parser(std::string_view text, const symbol_lookup& symbols) : rest_(text), symbols_(symbols) {}

    [[nodiscard]] scalar whole() {
        const scalar s = term(0);
        if (!rest_.empty()) fail();
        return s;
    }

protected:
    static constexpr int deepest = 64;

    [[noreturn]] static void fail() { fail_malformed("the formula of a size is broken"); }
    void space() {
        while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
    }
    bool take(char c) {
        space();
        if (rest_.empty() || rest_.front() != c) return false;
        rest_.remove_prefix(1);
        return true;
    }
    std::string_view take_while(bool (*belongs)(char c)) {
        space();
        std::size_t end = 0;
        while (end != rest_.size() && belongs(rest_[end])) ++end;
        const std::string_view word = rest_.substr(0, end);
        rest_.remove_prefix(end);
        return word;
    }
    std::string_view name() {
        return take_while([](char c) {
            return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        });
    }
    std::string_view quoted() {
        if (!take('\'')) fail();
        const std::string_view text = rest_.substr(0, rest_.find('\''));
        rest_.remove_prefix(text.size());
        if (!take('\'')) fail();
        return text;
    }
    std::int64_t integer() {
        const std::string_view digits = take_while([](char c) { return c == '-' || (c >= '0' && c <= '9'); });
        std::int64_t number = 0;
        const char* const end = digits.data() + digits.size();
        if (digits.empty() || std::from_chars(digits.data(), end, number).ptr != end) fail();
        return number;
    }
    // Skips the assumptions of a symbol, or the precision of a float.
    void keywords() {
        while (take(',')) {
            if (name().empty() || !take('=') || name().empty()) fail();
        }
        if (!take(')')) fail();
    }

    [[nodiscard]] scalar term(int depth) {
        if (depth == deepest) fail_malformed("the formula of a size is nested too deeply");
        const std::string_view word = name();
        if (word == "true" || word == "false") return word == "true";
        if (!take('(')) fail();
        if (word == "Symbol") {
            const std::string_view symbol = quoted();
            keywords();
            return value_of(symbol);
        }
        if (word == "Integer") {
            const scalar number = integer();
            keywords();
            return number;
        }
        if (word == "Float") {
            const std::string_view digits = quoted();
            keywords();
            double number = 0;
            const char* const end = digits.data() + digits.size();
            if (std::from_chars(digits.data(), end, number).ptr != end) fail();
            return number;
        }
        return call(word, depth);
    }

    [[nodiscard]] scalar value_of(std::string_view symbol) const {
        if (const auto found = symbols_(symbol)) return *found;
        fail_unsupported(
            "it depends on the size " + in_quotes(symbol) + ", which is known only when the program runs");
    }

    [[nodiscard]] scalar call(std::string_view word, int depth) {
        return call_with(word, [&] { return word == "Rational" ? scalar(integer()) : term(depth + 1); });
    }
    // Evaluates a call, from after its opening parenthesis.
    template <class Operand>
    [[nodiscard]] scalar call_with(std::string_view word, Operand&& operand) {
        const auto* const found = std::ranges::find(functions, word, &function::name);
        if (found == functions.end())
            fail_unsupported(
                "the formula of a size has the function " + in_quotes(word) + ", which is not known here");
        std::vector<scalar> operands;
        do operands.push_back(operand());
        while (take(','));
        if (!take(')') || (found->operands != 0 && operands.size() != found->operands)) fail();
        return found->apply(operands);
    }

    std::string_view rest_;
    const symbol_lookup& symbols_;
};

/// A recursive-descent parser for the output of sympy's str, as written by torch 2.5: 2*s0 + Max(1, (s1//2)).
class infix_parser : expression_parser {
public:
    using expression_parser::expression_parser;

    [[nodiscard]] scalar whole() {
        const scalar s = infix_sum(0);
        space();
        if (!rest_.empty()) fail();
        return s;
    }

private:
    static scalar apply(scalar (*f)(numbers x), const scalar& a, const scalar& b) {
        const std::array operands{a, b};
        return f(operands);
    }
    [[nodiscard]] scalar infix_sum(int depth) {
        if (depth == deepest) fail_malformed("the formula of a size is nested too deeply");
        scalar all = infix_product(depth);
        for (;;) {
            if (take('+')) {
                all = apply(sum, all, infix_product(depth));
            } else if (take('-')) {
                all = apply(sum, all, apply(product, scalar(-1), infix_product(depth)));
            } else {
                return all;
            }
        }
    }
    [[nodiscard]] scalar infix_product(int depth) {
        scalar all = infix_power(depth);
        for (;;) {
            if (take('*')) {
                all = apply(product, all, infix_power(depth));
            } else if (take('/')) {
                scalar (*const f)(numbers x) = take('/') ? quotient : true_quotient;
                all = apply(f, all, infix_power(depth));
            } else {
                return all;
            }
        }
    }
    [[nodiscard]] scalar infix_power(int depth) {
        if (depth == deepest) fail_malformed("the formula of a size is nested too deeply");
        if (take('-')) return apply(product, scalar(-1), infix_power(depth + 1));
        const scalar base = primary(depth);
        space();
        if (!rest_.starts_with("**")) return base;
        rest_.remove_prefix(2);
        return apply(power, base, infix_power(depth + 1));
    }
    [[nodiscard]] scalar primary(int depth) {
        if (take('(')) {
            const scalar inner = infix_sum(depth + 1);
            if (!take(')')) fail();
            return inner;
        }
        space();
        const bool is_number = !rest_.empty() && (rest_[0] == '.' || (rest_[0] >= '0' && rest_[0] <= '9'));
        if (is_number) return number();
        const std::string_view word = name();
        if (word.empty()) fail();
        if (take('(')) return call_with(word, [&] { return infix_sum(depth + 1); });
        return value_of(word);
    }
    [[nodiscard]] scalar number() {
        const std::string_view digits =
            take_while([](char c) { return c == '.' || c == 'e' || (c >= '0' && c <= '9'); });
        const char* const end = digits.data() + digits.size();
        std::int64_t whole = 0;
        if (std::from_chars(digits.data(), end, whole).ptr == end) return whole;
        double real = 0;
        if (std::from_chars(digits.data(), end, real).ptr != end) fail();
        return real;
    }
};

/// True unless sympy.srepr printed the formula: there, every symbol and number is a call.
[[nodiscard]] bool is_infix(std::string_view text) {
    return text.find("Symbol(") == std::string_view::npos &&
        text.find("Integer(") == std::string_view::npos && text.find("Float(") == std::string_view::npos &&
        text != "true" && text != "false";
}

}  // namespace

scalar evaluate_expression(std::string_view text, const symbol_lookup& symbols) {
    if (is_infix(text)) return infix_parser(text, symbols).whole();
    return expression_parser(text, symbols).whole();
}

std::vector<std::string_view> symbols_of(std::string_view expression) {
    constexpr std::string_view before = "Symbol('";
    std::vector<std::string_view> found;
    if (is_infix(expression)) {
        // Symbols are the names that are not called.
        for (std::size_t at = 0; at != expression.size();) {
            std::size_t end = at;
            const auto belongs = [&](std::size_t i) {
                return i < expression.size() &&
                    (std::isalnum(static_cast<unsigned char>(expression[i])) != 0 || expression[i] == '_' ||
                        expression[i] == '.');
            };
            while (belongs(end)) ++end;
            const std::string_view word = expression.substr(at, end - at);
            const bool is_name = !word.empty() && std::isalpha(static_cast<unsigned char>(word[0])) != 0;
            const bool is_called = end < expression.size() && expression[end] == '(';
            if (is_name && !is_called && std::ranges::find(found, word) == found.end()) found.push_back(word);
            if (found.size() > most_symbols) fail_malformed("the formula of a size has too many symbols");
            at = end == at ? end + 1 : end;
        }
        return found;
    }
    for (std::size_t at = 0; (at = expression.find(before, at)) != std::string_view::npos;) {
        at += before.size();
        const std::string_view symbol = expression.substr(at, expression.find('\'', at) - at);
        if (std::ranges::find(found, symbol) == found.end()) found.push_back(symbol);
        if (found.size() > most_symbols) fail_malformed("the formula of a size has too many symbols");
    }
    return found;
}

}  // namespace headrace::pt2
