// SPDX-License-Identifier: MIT
// Defines headrace::merge_duplicates.
#ifndef HEADRACE_PASSES_FOLD_MERGE_DUPLICATES_HPP
#define HEADRACE_PASSES_FOLD_MERGE_DUPLICATES_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <headrace/base/flat_map.hpp>
#include <headrace/base/pmr_vector.hpp>
#include <headrace/ir/purity.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/op/reflect.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// True if two nodes compute the same: they have the same op and operands, and equal arguments and results.
[[nodiscard]] inline bool same_computation(const node& a, const node& b) {
    if (a.op != b.op || a.result_count != b.result_count) return false;
    for (std::uint32_t i = 0; i != a.result_count; ++i) {
        if (!same_meta(a.results[i].meta, b.results[i].meta)) return false;
    }
    return equal_arguments(*a.op, a.arguments, b.arguments);
}

/// Common subexpression elimination; the first node is kept.
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
    // Nodes by what they compute.
    class computed_nodes {
    public:
        explicit computed_nodes(std::size_t count) { nodes_.reserve(count); }

        /// Returns an earlier node that computes the same; otherwise adds this one and returns null.
        node* find_or_add(node& n) {
            node*& known = nodes_.find_or_add(hash_arguments(*n.op, n.arguments),
                [&](const node* other) { return same_computation(*other, n); });
            if (known != nullptr) return known;
            known = &n;
            return nullptr;
        }

    private:
        flat_map<node*> nodes_;
    };

    // True if the node is the only user of one of its operands: no other node can then compute the same.
    static bool is_sole_user(const node& n) {
        return std::ranges::any_of(
            n.operand_edges(), [](const edge& e) { return e.source->first_use == e.source->last_use; });
    }

    static std::size_t merge(graph& g) {
        computed_nodes seen(g.size());
        pmr_vector<bool> sole_users(g.id_bound());  // by id: nodes that were not looked up
        std::size_t merged = 0;
        for (auto at = g.nodes().begin(); at != g.nodes().end();) {
            node& current = *at++;
            if (!is_pure(current) || current.op->has(trait::per_reader)) continue;
            sole_users[current.id] = is_sole_user(current);
            if (sole_users[current.id]) continue;
            node* const same = seen.find_or_add(current);
            if (same == nullptr) continue;
            const edge* const sole_use = same->first_use == same->last_use ? same->first_use : nullptr;
            for (std::uint32_t i = 0; i != current.result_count; ++i) {
                g.replace_all_uses(current.result(i), same->result(i));
            }
            g.erase(current);
            ++merged;
            // Its user is no longer a sole user: a later node may compute the same.
            node* const user = sole_use == nullptr ? nullptr : sole_use->target;
            if (user == nullptr || !sole_users[user->id] || is_sole_user(*user)) continue;
            sole_users[user->id] = false;
            seen.find_or_add(*user);
        }
        return merged;
    }
};
HEADRACE_COMPILED_PASS(merge_duplicates);

}  // namespace headrace

#endif
