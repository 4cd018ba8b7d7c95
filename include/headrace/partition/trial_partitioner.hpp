// SPDX-License-Identifier: MIT
// Defines headrace::trial_partitioner, which finds the partitions that a backend lowers by trying.
#ifndef HEADRACE_PARTITION_TRIAL_PARTITIONER_HPP
#define HEADRACE_PARTITION_TRIAL_PARTITIONER_HPP

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <headrace/ir/regions.hpp>
#include <headrace/ir/unknown_op.hpp>
#include <headrace/partition/capability_partitioner.hpp>
#include <headrace/partition/refusals.hpp>
#include <headrace/rewrite/pass_context.hpp>

namespace headrace {

/// A node that stays on the host, and the reason.
struct host_node {
    const node* which = nullptr;
    std::string reason;
};

struct trial_result {
    std::vector<node_group> partitions{};
    std::vector<host_node> host{};  ///< in execution order
};

/// Finds partitions that can really be lowered. A set of ops does not decide that: types, sizes and
/// attributes count, too, and only a lowering shows it. So each partition is lowered on trial, as a copy; the
/// nodes named by its diagnostics move to the host, and new partitions are tried until all pass. For example,
/// if the backend has CONV2D but refuses one with a large stride, only that node moves, and the partition is
/// split around it. Each failed trial refuses at least one node, and reports all nodes that it refuses.
class trial_partitioner {
public:
    /// Lowers a graph; refusals are reported to the context.
    using trial_function = std::function<result<void>(graph& program, pass_context& context)>;

    /// Returns the nodes of a functional graph that must stay on the host in any case, each with its reason.
    using host_function = std::function<refusal_reasons(const graph&)>;

    trial_partitioner(operator_support support, trial_function trial, partitioner_options options = {},
        node_functions functions = {}, host_function stays_on_host = {})
        : support_(std::move(support)),
          trial_(std::move(trial)),
          options_(std::move(options)),
          functions_(functions),
          stays_on_host_(std::move(stays_on_host)) {}

    [[nodiscard]] result<trial_result> propose_partitions(graph& g) const {
        refusal_reasons refused = stays_on_host_ ? stays_on_host_(g) : refusal_reasons();
        const operator_support support = create_op_support(
            [&](const node& n) { return support_.is_node_supported(n) && !refused.contains(&n); });
        for (;;) {
            trial_result found;
            found.partitions = capability_based_partitioner(g, support, options_).propose_partitions();
            const std::size_t known = refused.size();
            for (const node_group& nodes : found.partitions) {
                try_partition(g, nodes, refused);
            }
            if (refused.size() != known) continue;
            explain(g, found, refused);
            return found;
        }
    }

private:
    [[nodiscard]] refusal_reasons refusals_of(const graph& g, const node_group& nodes) const {
        graph program;
        program.set_target(g.target());
        extract_nodes(nodes, program);
        pass_context context(functions_);
        refusal_reasons refused;
        add_refusals(nodes, trial_(program, context), context, refused);
        return refused;
    }

    void try_partition(const graph& g, const node_group& nodes, refusal_reasons& refused) const {
        const refusal_reasons found = refusals_of(g, nodes);
        for (node* n : nodes) {
            const auto at = found.find(n);
            if (at == found.end()) continue;
            const node* culprit = found.size() == nodes.size() ? n : culprit_of(g, nodes, *n, at->second);
            if (culprit == n || !found.contains(culprit)) refused.emplace(culprit, at->second);
        }
    }

    // Returns the node that is at fault if `n` is refused. A pass that makes one node of several names it
    // after the last, so if `n` alone is not refused, a node before it may be, for the same reason.
    [[nodiscard]] const node* culprit_of(
        const graph& g, const node_group& nodes, node& n, const std::string& reason) const {
        constexpr std::size_t most = 16;  // no pass fuses more
        if (!refusals_of(g, {&n}).empty()) return &n;
        node_group before{&n};
        for (std::size_t i = 0; i != before.size() && i != most; ++i) {
            const node& next = *before[i];
            if (i != 0) {
                const refusal_reasons alone = refusals_of(g, {before[i]});
                if (const auto at = alone.find(&next); at != alone.end() && at->second == reason)
                    return &next;
            }
            for (const edge& e : next.operand_edges()) {
                const bool is_known = std::find(before.begin(), before.end(), e.source) != before.end();
                if (!is_known && std::find(nodes.begin(), nodes.end(), e.source) != nodes.end())
                    before.push_back(e.source);
            }
        }
        return &n;
    }

    void explain(const graph& g, trial_result& found, const refusal_reasons& refused) const {
        std::vector<bool> taken(g.id_bound());
        std::vector<bool> varies(g.id_bound());
        for (const node_group& nodes : found.partitions) {
            for (const node* n : nodes) taken[n->id] = true;
        }
        for (const node& n : g.nodes()) {
            varies[n.id] = is<builtin::placeholder>(n);
            for (const edge& e : n.operand_edges()) varies[n.id] = varies[n.id] || varies[e.source->id];
            if (taken[n.id] || is<builtin::placeholder>(n) || is<builtin::constant>(n) ||
                is<builtin::output>(n))
                continue;
            const auto known = refused.find(&n);
            std::string reason = varies[n.id] ? "too little to be worth a call"
                                              : "it depends on no input, and the host uses it";
            if (known != refused.end()) {
                reason = known->second;
            } else if (is<builtin::opaque>(n) || is_of_dynamic_quantization(n)) {
                reason = unknown_op_reason(n, "lowering");
            } else if (!support_.is_node_supported(n)) {
                const node* inner = first_unsupported_in(n);
                reason = inner == nullptr ? "no pass lowers this op"
                                          : text_of({"it holds ", origin_name(*inner), " (", inner->op->name,
                                                "), which no pass lowers"});
            }
            found.host.push_back({&n, std::move(reason)});
        }
    }

    // Returns the first unsupported node in the graphs that a node holds, or null.
    [[nodiscard]] const node* first_unsupported_in(const node& n) const {
        const node* found = nullptr;
        for_each_region(n, [&](const field_info&, const graph* region) {
            if (region == nullptr) return;
            for (const node& inner : region->nodes()) {
                if (found != nullptr || is<builtin::placeholder>(inner) || is<builtin::constant>(inner) ||
                    is<builtin::output>(inner) || support_.is_node_supported(inner))
                    continue;
                const node* deeper = first_unsupported_in(inner);
                found = deeper != nullptr ? deeper : &inner;
            }
        });
        return found;
    }

    operator_support support_;
    trial_function trial_;
    partitioner_options options_;
    node_functions functions_;
    host_function stays_on_host_;
};

}  // namespace headrace

#endif
