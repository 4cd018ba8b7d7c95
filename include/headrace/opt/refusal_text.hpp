// SPDX-License-Identifier: MIT
// Defines headrace::refusal_lines, which tells users which nodes are refused.
#ifndef HEADRACE_OPT_REFUSAL_TEXT_HPP
#define HEADRACE_OPT_REFUSAL_TEXT_HPP

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/printable.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/pass/pass_context.hpp>

namespace headrace {

namespace detail {

/// Nodes of one op that are refused for the same reason.
struct refusal_group {
    std::string_view op;
    std::string_view reason;
    std::vector<std::string> nodes{};  ///< with their source lines
};

[[nodiscard]] inline std::vector<refusal_group> groups_of(std::span<const diagnostic> refusals) {
    std::vector<refusal_group> groups;
    std::map<std::pair<std::string_view, std::string_view>, std::size_t> places;
    for (const diagnostic& d : refusals) {
        const auto [place, is_new] = places.try_emplace({d.op, d.reason}, groups.size());
        if (is_new) groups.push_back({d.op, d.reason});
        groups[place->second].nodes.push_back(
            join_text(d.source, d.source.empty() ? "" : ": ", printable(d.node)));
    }
    return groups;
}

}  // namespace detail

/// Returns "net.py:42: conv (aten.conv2d.default): reason", one line for each refused node. More than three
/// nodes of one op that are refused for the same reason share a line: "a, b, c and 5 more (…): reason". Names
/// cannot forge other lines.
[[nodiscard]] inline std::vector<std::string> refusal_lines(std::span<const diagnostic> refusals) {
    constexpr std::size_t listed = 3;
    std::vector<std::string> lines;
    for (const detail::refusal_group& group : detail::groups_of(refusals)) {
        const std::string why = join_text(" (", printable(group.op), "): ", group.reason);
        if (group.nodes.size() <= listed) {
            for (const std::string& n : group.nodes) lines.push_back(join_text(n, why));
            continue;
        }
        std::string nodes;
        for (std::size_t i = 0; i != listed; ++i) (nodes += i == 0 ? "" : ", ") += group.nodes[i];
        lines.push_back(join_text(nodes, " and ", group.nodes.size() - listed, " more", why));
    }
    return lines;
}

}  // namespace headrace

#endif
