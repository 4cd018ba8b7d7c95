// SPDX-License-Identifier: MIT
// Defines headrace::nearest_named, which finds a named node by which a message can identify an unnamed one.
#ifndef HEADRACE_IR_NEAREST_NAMED_HPP
#define HEADRACE_IR_NEAREST_NAMED_HPP

#include <algorithm>
#include <cstddef>
#include <memory_resource>
#include <string>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/printable.hpp>
#include <headrace/base/text.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/ir/node.hpp>
#include <headrace/ir/opaque_text.hpp>

namespace headrace {

/// Returns the node itself if it has a name for messages; else the nearest named node among its users, or
/// else among its operands. Constants and copies that readers and passes create have no names of their own.
[[nodiscard]] inline const node& nearest_named(const node& n) {
    constexpr std::size_t most = 64;
    const auto search = [&](auto&& add_neighbours) -> const node* {
        pmr_vector<const node*> seen{&n};
        for (std::size_t i = 0; i != seen.size() && i != most; ++i) {
            if (!origin_name(*seen[i]).empty()) return seen[i];
            add_neighbours(*seen[i], [&](const node* next) {
                if (std::find(seen.begin(), seen.end(), next) == seen.end()) seen.push_back(next);
            });
        }
        return nullptr;
    };
    const node* found = search([](const node& at, const auto& add) {
        for (const edge& e : at.uses()) add(e.target);
    });
    if (found == nullptr) {
        found = search([](const node& at, const auto& add) {
            for (const edge& e : at.operand_edges()) add(e.source);
        });
    }
    return found != nullptr ? *found : n;
}

/// Returns the relation between `n` and the node that a message names, for that message.
[[nodiscard]] inline std::pmr::string relation_text(const node& n, const node& named) {
    if (&n == &named) return {};
    if (is<builtin::constant>(n)) return "one of its constants: ";
    return text_of({"an operator without a name beside it, ", printable(op_name(n)), ": "});
}

}  // namespace headrace

#endif
