// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/unread_nodes.hpp.

#include <headrace/io/unread_nodes.hpp>

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include <headrace/infer/inference.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/unread.hpp>

namespace headrace {

namespace {

struct unread_summary {
    std::pmr::string text{};
    std::set<std::string_view> reasons{};
    std::size_t repeated = 0;  // nodes with a reason that another one has
    std::size_t followers = 0;
};

void add_unread(const graph& g, unread_summary& found) {
    for (const node& n : g.nodes_of(info_of<builtin::opaque>)) {
        const auto* why = n.find_annotation<unread_reason>();
        if (why == nullptr) continue;
        if (why->follows) {
            ++found.followers;
        } else if (!found.reasons.insert(why->text).second) {
            ++found.repeated;
        } else {
            found.text += found.text.empty() ? "" : "; ";
            found.text += message_prefix(n);
            found.text += why->text;
        }
    }
    for (const graph& region : g.regions()) add_unread(region, found);
}

}  // namespace

result<void> refuse_unread(const graph& g) {
    unread_summary found;
    add_unread(g, found);
    if (found.text.empty()) return {};
    if (found.repeated != 0)
        found.text += text_of(
            {", and ", found.repeated, found.repeated == 1 ? " other node" : " other nodes", " like it"});
    if (found.followers != 0)
        found.text += text_of({" (and ", found.followers, found.followers == 1 ? " node" : " nodes",
            " that it is needed for)"});
    return unsupported(found.text);
}

}  // namespace headrace
