// SPDX-License-Identifier: MIT
// Defines headrace::refuse_unread, which checks that every node of a program could be read.
#ifndef HEADRACE_IO_UNREAD_NODES_HPP
#define HEADRACE_IO_UNREAD_NODES_HPP

#include <cstddef>
#include <memory_resource>
#include <string>

#include <headrace/base/result.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/unread.hpp>

namespace headrace {

namespace detail {

struct unread_summary {
    std::pmr::string text{};
    std::size_t followers = 0;
};

inline void add_unread(const graph& g, unread_summary& found) {
    for (const node& n : g.nodes_of(info_of<builtin::opaque>)) {
        const auto* why = n.find_annotation<unread_reason>();
        if (why == nullptr) continue;
        if (why->follows) {
            ++found.followers;
        } else {
            found.text += found.text.empty() ? "" : "; ";
            found.text += message_prefix(n);
            found.text += why->text;
        }
    }
    for (const graph& region : g.regions()) add_unread(region, found);
}

}  // namespace detail

/// Fails if a node could not be read. The error names each of these nodes with its reason, and counts those
/// that only take their results. Passes and evaluators do not take graphs with such nodes.
[[nodiscard]] inline result<void> refuse_unread(const graph& g) {
    detail::unread_summary found;
    detail::add_unread(g, found);
    if (found.text.empty()) return {};
    if (found.followers != 0)
        found.text += text_of({" (and ", found.followers, found.followers == 1 ? " node" : " nodes",
            " that it is needed for)"});
    return unsupported(found.text);
}

}  // namespace headrace

#endif
