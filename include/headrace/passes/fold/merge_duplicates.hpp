// SPDX-License-Identifier: MIT
// Defines headrace::merge_duplicates.
#ifndef HEADRACE_PASSES_FOLD_MERGE_DUPLICATES_HPP
#define HEADRACE_PASSES_FOLD_MERGE_DUPLICATES_HPP

#include <algorithm>
#include <cstdint>
#include <memory_resource>
#include <unordered_map>

#include <headrace/ir/purity.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/op/reflect.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Do two nodes compute the same: the same op on the same operands with equal arguments and results?
[[nodiscard]] inline bool same_computation(const node& a, const node& b) {
    if (a.op != b.op || a.result_count != b.result_count) return false;
    for (std::uint32_t i = 0; i != a.result_count; ++i) {
        if (a.results[i].meta != b.results[i].meta) return false;
    }
    return equal_arguments(*a.op, a.arguments, b.arguments);
}

/// Common subexpression elimination; the first node stays.
struct merge_duplicates : pass {
    using runs_after = pass_list<functional, canonical_quantization>;
    using ensures = pass_list<quantizers_merged, duplicates_merged>;
    using invalidates = pass_list<distinct_outputs>;
    static constexpr std::string_view summary = "merges nodes that compute the same from the same operands";

    using produces = ops<>;
    static constexpr bool repeatable = true;

    result<std::size_t> operator()(graph& g, pass_context&) const {
        std::size_t merged = 0;
        for_each_graph(g, [&](graph& sub) { merged += merge(sub); });
        return merged;
    }

private:
    static std::size_t merge(graph& g) {
        std::pmr::unordered_multimap<std::uint64_t, node*> seen(g.size());
        std::size_t merged = 0;
        for (node* n = g.first(); n != nullptr;) {
            node& current = *n;
            n = n->next;
            if (!is_pure(current) || current.op->has(trait::per_reader)) continue;
            const std::uint64_t hash = hash_arguments(*current.op, current.arguments);
            const auto [from, to] = seen.equal_range(hash);
            const auto same =
                std::find_if(from, to, [&](const auto& s) { return same_computation(*s.second, current); });
            if (same == to) {
                seen.emplace(hash, &current);
                continue;
            }
            for (std::uint32_t i = 0; i != current.result_count; ++i) {
                g.replace_all_uses(current.result(i), same->second->result(i));
            }
            g.erase(current);
            ++merged;
        }
        return merged;
    }
};
HEADRACE_COMPILED_PASS(merge_duplicates);

}  // namespace headrace

#endif
