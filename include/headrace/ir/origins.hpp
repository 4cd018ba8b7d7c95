// SPDX-License-Identifier: MIT
// Defines headrace::for_each_origin, which visits the exported nodes that a node descends from.
#ifndef HEADRACE_IR_ORIGINS_HPP
#define HEADRACE_IR_ORIGINS_HPP

#include <memory_resource>
#include <unordered_set>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/ir/node.hpp>

namespace headrace {

/// Calls `f(annotations)` once for each exported node that a node descends from: first the one that messages
/// name, then those that rewrites of several nodes into one have joined. `annotations` are those of the
/// origin: read them with find_in<provenance>, find_in<source_location> or find_in<traced_call>.
template <class F>
void for_each_origin(const node& n, F&& f) {
    std::pmr::unordered_set<const provenance*> seen;
    std::pmr::unordered_set<const annotation*> visited;
    pmr_vector<const annotation*> pending{n.annotations};
    while (!pending.empty()) {
        const annotation* const origin = pending.back();
        pending.pop_back();
        if (!visited.insert(origin).second) continue;
        const auto* name = find_in<provenance>(origin);
        if (name == nullptr) continue;
        if (seen.insert(name).second) f(origin);
        for (const auto* j = find_in<joined_origin>(origin); j != nullptr; j = j->next)
            pending.push_back(j->annotations);
    }
}

}  // namespace headrace

#endif
