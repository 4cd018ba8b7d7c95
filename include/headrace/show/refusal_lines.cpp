// SPDX-License-Identifier: MIT
// Defines the functions of headrace/show/refusal_lines.hpp.

#include <headrace/show/refusal_lines.hpp>

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <range/v3/range/conversion.hpp>
#include <range/v3/view/join.hpp>
#include <range/v3/view/take_exactly.hpp>

#include <headrace/base/printable.hpp>

namespace headrace {

namespace {

// Nodes of one op that are refused for the same reason.
struct refusal_group {
    std::string_view op;
    std::string_view reason;
    std::vector<std::string> nodes{};  ///< with their source lines
};

std::vector<refusal_group> groups_of(std::span<const diagnostic> refusals) {
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

}  // namespace

std::vector<std::string> refusal_lines(std::span<const diagnostic> refusals) {
    constexpr std::size_t listed = 3;
    std::vector<std::string> lines;
    for (const refusal_group& group : groups_of(refusals)) {
        const std::string why = join_text(" (", printable(group.op), "): ", group.reason);
        if (group.nodes.size() <= listed) {
            for (const std::string& n : group.nodes) lines.push_back(join_text(n, why));
            continue;
        }
        const auto nodes = group.nodes | ranges::views::take_exactly(listed) |
            ranges::views::join(std::string_view(", ")) | ranges::to<std::string>();
        lines.push_back(join_text(nodes, " and ", group.nodes.size() - listed, " more", why));
    }
    return lines;
}

}  // namespace headrace
