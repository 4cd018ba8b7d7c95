// SPDX-License-Identifier: MIT
// Declares headrace::placement_log, which tells where each node of an exported graph is computed.
#ifndef HEADRACE_LOWERING_KERNELS_PLACEMENT_HPP
#define HEADRACE_LOWERING_KERNELS_PLACEMENT_HPP

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <headrace/ir/graph.hpp>
#include <headrace/lowering/kernels/kernel_parts.hpp>
#include <headrace/lowering/method_report.hpp>

namespace headrace {

/// Follows the nodes of one method by the annotation of their origin, from the exported graph to its kernels.
class placement_log {
public:
    /// Lists the nodes of a functional graph and of those nested in it. Nodes without an origin get one.
    void begin(graph& exported);
    /// Notes that the nodes that are no longer in the graph are in delegates, whose lowered graphs are given.
    void note_delegates(const graph& host, std::span<const graph* const> delegates);
    void note_kernels(kernel_parts parts) { parts_ = std::move(parts); }
    /// Completes a report, whose notes have the reasons of nodes that are not delegated, by the kernels of
    /// the lowered graph.
    void end(const graph& lowered, method_report& report) const;

private:
    struct listed {
        const provenance* origin = nullptr;
        node_placement node{};
        bool is_quantizing = false;
        bool is_dequantizing = false;
        bool is_delegated = false;
    };
    std::vector<listed> nodes_;
    kernel_parts parts_;
};

}  // namespace headrace

#endif
