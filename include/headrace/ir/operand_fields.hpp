// SPDX-License-Identifier: MIT
// Defines headrace::operand_fields, the argument names of a node's operands.
#ifndef HEADRACE_IR_OPERAND_FIELDS_HPP
#define HEADRACE_IR_OPERAND_FIELDS_HPP

#include <optional>
#include <string_view>
#include <type_traits>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/ir/node.hpp>
#include <headrace/op/visit_field.hpp>

namespace headrace {

/// Returns the name of the field of each operand, in order.
[[nodiscard]] inline pmr_vector<std::string_view> operand_fields(const node& n) {
    pmr_vector<std::string_view> names;
    for (const field_info& f : *n.op) {
        detail::visit_field(f, n.arguments, [&]<class T>(const T& member) {
            if constexpr (std::is_same_v<T, value>) {
                if (member) names.push_back(f.name);
            } else if constexpr (std::is_same_v<T, std::optional<value>>) {
                if (member && *member) names.push_back(f.name);
            } else if constexpr (std::is_same_v<T, list<value>>) {
                for (const value v : member) {
                    if (v) names.push_back(f.name);
                }
            } else if constexpr (std::is_same_v<T, list<std::optional<value>>>) {
                for (const std::optional<value>& v : member) {
                    if (v && *v) names.push_back(f.name);
                }
            }
        });
    }
    if (names.size() != n.operand_count) names.assign(n.operand_count, {});
    return names;
}

}  // namespace headrace

#endif
