// SPDX-License-Identifier: MIT
// Defines the text of the members of a contract's struct, for headrace::contract_text.
#ifndef HEADRACE_CONTRACT_MEMBER_TEXT_HPP
#define HEADRACE_CONTRACT_MEMBER_TEXT_HPP

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/base/dtype.hpp>
#include <headrace/base/sizes.hpp>
#include <headrace/base/strings.hpp>

namespace headrace::detail {

/// Returns a C++ integer constant; INT64_MIN has no literal.
[[nodiscard]] inline std::string format_integer(std::int64_t n) {
    return n == INT64_MIN ? "INT64_MIN" : join_text(n);
}

/// Returns "{1, 2, 3}".
[[nodiscard]] inline std::string format_list(sizes items) {
    std::string all = "{";
    for (const std::int64_t item : items) {
        if (all.size() != 1) all += ", ";
        all += format_integer(item);
    }
    return all += '}';
}

[[nodiscard]] inline std::string format_dtype(dtype type) {
    return join_text("headrace::dtype::", type == dtype::boolean ? "boolean" : name_of(type));
}

/// Joins items with commas, on lines of at most 110 columns.
template <class Items>
[[nodiscard]] std::string wrapped(const Items& items, std::string_view indent) {
    constexpr std::size_t width = 110;
    std::string all;
    std::string line(indent);
    std::size_t left = std::size(items);
    for (const std::string& item : items) {
        const std::string piece = item + (--left == 0 ? "" : ",");
        if (line.size() > indent.size() && line.size() + 1 + piece.size() > width) {
            all += line + '\n';
            line = indent;
        }
        line += (line.size() == indent.size() ? "" : " ") + piece;
    }
    return all + line;
}

/// `using NAME = headrace::ops<…>;`
[[nodiscard]] inline std::string ops_alias(std::string_view name, const std::set<std::string>& types) {
    const std::string head = join_text("    using ", name, " = headrace::ops<");
    return types.empty() ? head + ">;\n" : join_text(head, '\n', wrapped(types, "        "), ">;\n");
}

/// `static constexpr std::array<TYPE, …> NAME{{ row, … }};`
[[nodiscard]] inline std::string format_array(
    std::string_view type, std::string_view name, const std::vector<std::string>& rows) {
    std::string all = join_text("    static constexpr std::array<", type, ", ", rows.size(), "> ", name);
    if (rows.empty()) return all + "{};\n";
    all += "{{\n";
    for (const std::string& row : rows) all += join_text("        ", row, ",\n");
    return all + "    }};\n";
}

/// `static constexpr std::uint64_t NAME = number;`
[[nodiscard]] inline std::string number_member(std::string_view name, std::uint64_t number) {
    return join_text("    static constexpr std::uint64_t ", name, " = ", number, ";\n");
}

}  // namespace headrace::detail

#endif
