// SPDX-License-Identifier: MIT
// Defines the argument types that a dialect can add: enumerations, small structs, and integers of any size.
#ifndef HEADRACE_OP_CUSTOM_HPP
#define HEADRACE_OP_CUSTOM_HPP

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include <headrace/op/fields.hpp>
#include <headrace/op/members.hpp>

namespace headrace {

/// Matches a dialect's own enumerations. A function next to the enumeration, found by argument-dependent
/// lookup, names the enumerators, which count from 0.
///
///     enum class activation : std::uint8_t { none, relu, relu6 };
///     constexpr std::string_view enumerator_names(activation) { return "none, relu, relu6"; }
template <class T>
concept own_enumeration = std::is_enum_v<T> && requires(T e) {
    { enumerator_names(e) } -> std::convertible_to<std::string_view>;
};

/// Matches aggregates whose members are integers, floating-point numbers, booleans, own enumerations, or such
/// structs:
///
///     struct window { std::int32_t height = 1, width = 1; activation then{}; };
///     constexpr std::string_view member_names(const window&) { return "height, width, then"; }
template <class T>
concept own_struct = std::is_class_v<T> && std::is_trivially_copyable_v<T> && requires(const T& s) {
    { member_names(s) } -> std::convertible_to<std::string_view>;
};

/// Matches integers other than std::int64_t, the type used by Headrace's own dialects.
template <class T>
concept sized_integer = std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, char> &&
    !std::is_same_v<T, std::int64_t>;

/// Matches argument types that a dialect adds.
template <class T>
concept custom_argument = own_enumeration<T> || own_struct<T> || sized_integer<T>;

namespace detail::custom {

inline std::string_view skip_space(std::string_view text) {
    while (!text.empty() && (text[0] == ' ' || text[0] == '\n' || text[0] == '\t' || text[0] == '\r'))
        text.remove_prefix(1);
    return text;
}
inline bool accept(std::string_view& text, char c) {
    text = skip_space(text);
    if (text.empty() || text[0] != c) return false;
    text.remove_prefix(1);
    return true;
}
/// Takes a name or a number, or nothing, from the front of the text.
inline std::string_view take_word(std::string_view& text) {
    text = skip_space(text);
    std::size_t end = 0;
    const auto is_in_word = [](char c) { return is_identifier(c) || c == '+' || c == '-' || c == '.'; };
    while (end != text.size() && is_in_word(text[end])) ++end;
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end);
    return word;
}

template <own_enumeration T>
inline constexpr auto names_in = split_names<count_names(enumerator_names(T{}))>(enumerator_names(T{}));
template <own_struct T>
inline constexpr auto members_in = split_names<count_names(member_names(T{}))>(member_names(T{}));

template <class T, class... Ts, class F>
void for_each_member(const members<Ts...>& all, F&& f) {
    std::size_t i = 0;
    static_cast<void>(((f(i, *static_cast<Ts*>(const_cast<void*>(all.at[i]))), ++i), ...));
}
/// Calls `f(i, member)` for each member of an own struct.
template <class T, class F>
void visit_members(const T& s, F&& f) {
    constexpr std::size_t count = members_in<T>.size();
    static_assert(takes<T, count>() && !takes<T, count + 1>(),
        "op: member_names lacks a member of the struct; name all, in their order");
    for_each_member<T>(members_of<count>(s), f);
}

template <class T>
inline constexpr bool is_plain = custom_argument<T> || std::is_same_v<T, bool> ||
    std::is_same_v<T, std::int64_t> || std::is_same_v<T, double>;

template <class Number>
void print_number(Number number, text_sink out) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, number).ptr;
    out.append(out.to, {text, static_cast<std::size_t>(end - text)});
}
template <class Number>
bool parse_number(std::string_view word, Number& number) {
    const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), number);
    return failed == std::errc() && end == word.data() + word.size() && !word.empty();
}

template <class T>
void print(const T& v, text_sink out) {
    static_assert(is_plain<T>,
        "op: a member of an own struct is of no type for them; use integers, double, bool, "
        "own enumerations and own structs");
    if constexpr (own_enumeration<T>) {
        const auto i = static_cast<std::uint64_t>(v);
        if (i >= names_in<T>.size()) return custom::print_number(i, out);
        out.append(out.to, names_in<T>[i]);
    } else if constexpr (own_struct<T>) {
        out.append(out.to, "[");
        visit_members(v, [&](std::size_t i, const auto& member) {
            if (i != 0) out.append(out.to, ", ");
            out.append(out.to, members_in<T>[i]);
            out.append(out.to, "=");
            custom::print(member, out);
        });
        out.append(out.to, "]");
    } else if constexpr (std::is_same_v<T, bool>) {
        out.append(out.to, v ? "true" : "false");
    } else {
        print_number(v, out);
    }
}

template <class T>
bool parse(std::string_view& text, T& v);

template <own_struct T>
bool parse_struct(std::string_view& text, T& s) {
    bool given[members_in<T>.size()]{};
    if (!accept(text, '[')) return false;
    if (accept(text, ']')) return true;
    std::size_t next = 0;
    do {
        std::size_t index = next++;
        std::string_view rest = text;
        const std::string_view name = take_word(rest);
        if (accept(rest, '=')) {
            text = rest;
            for (index = 0; index != members_in<T>.size() && members_in<T>[index] != name;) ++index;
        }
        if (index >= members_in<T>.size() || std::exchange(given[index], true)) return false;
        bool sound = false;
        visit_members(s, [&](std::size_t i, auto& member) {
            if (i == index) sound = custom::parse(text, member);
        });
        if (!sound) return false;
    } while (accept(text, ','));
    return accept(text, ']');
}

template <class T>
bool parse(std::string_view& text, T& v) {
    if constexpr (own_struct<T>) {
        return parse_struct(text, v);
    } else {
        const std::string_view word = take_word(text);
        if constexpr (own_enumeration<T>) {
            for (std::size_t i = 0; i != names_in<T>.size(); ++i) {
                if (names_in<T>[i] == word) return v = static_cast<T>(i), true;
            }
            return false;
        } else if constexpr (std::is_same_v<T, bool>) {
            v = word == "true";
            return v || word == "false";
        } else {
            return parse_number(word, v);
        }
    }
}

template <class T>
bool equal(const T& a, const T& b) {
    if constexpr (own_struct<T>) {
        bool same = true;
        constexpr std::size_t count = members_in<T>.size();
        const auto others = members_of<count>(b);
        visit_members(a, [&]<class Member>(std::size_t i, const Member& member) {
            same = same && custom::equal(member, *static_cast<const Member*>(others.at[i]));
        });
        return same;
    } else {
        return std::memcmp(&a, &b, sizeof a) == 0;  // NaN equals NaN, and -0.0 differs from 0.0
    }
}

template <class T>
void expect(text_sink out) {
    if constexpr (own_enumeration<T>) {
        out.append(out.to, "one of ");
        out.append(out.to, enumerator_names(T{}));
    } else if constexpr (own_struct<T>) {
        out.append(out.to, "members such as ");
        custom::print(T{}, out);
    } else {
        out.append(out.to, "an integer from ");
        print_number(std::numeric_limits<T>::min(), out);
        out.append(out.to, " to ");
        print_number(std::numeric_limits<T>::max(), out);
    }
}

template <custom_argument T>
inline constexpr custom_type functions_of{
    sizeof(T),
    [](const void* member, text_sink out) { custom::print(*static_cast<const T*>(member), out); },
    [](std::string_view text, void* member) {
        return custom::parse(text, *static_cast<T*>(member)) && skip_space(text).empty();
    },
    [](const void* a, const void* b) {
        return custom::equal(*static_cast<const T*>(a), *static_cast<const T*>(b));
    },
    [](text_sink out) { expect<T>(out); },
};

}  // namespace detail::custom

template <custom_argument T>
inline constexpr field_kind kind_of<T> = field_kind::custom;
template <custom_argument T>
inline constexpr const custom_type* custom_type_of<T> = &detail::custom::functions_of<T>;

}  // namespace headrace

#endif
