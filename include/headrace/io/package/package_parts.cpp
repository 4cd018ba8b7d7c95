// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/package/package_parts.hpp.

#include <headrace/io/package/package_parts.hpp>

#include <algorithm>
#include <string_view>

namespace headrace {

bool is_plain_name(std::string_view name) {
    if (name.empty() || name.size() > 200 || name.front() == '.') return false;
    return std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
            c == '-' || c == '.';
    });
}

}  // namespace headrace
