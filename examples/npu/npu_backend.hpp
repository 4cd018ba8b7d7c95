// SPDX-License-Identifier: MIT
// Divides a model between the NPU and the host, and makes bytes for the NPU's runtime of each part.
#ifndef HEADRACE_EXAMPLES_NPU_BACKEND_HPP
#define HEADRACE_EXAMPLES_NPU_BACKEND_HPP

//! [parts]
#include <headrace/partition/partitioner.hpp>
#include <headrace/partition/trial_partitioner.hpp>

#include "npu_lowering.hpp"

//! [parts]
//! [bytes]
#include <span>

#include <headrace/io/text/graph_text.hpp>
#include <headrace/partition/to_backend.hpp>

//! [bytes]
//! [parts]
//! [bytes]
namespace npu {

//! [bytes]
/// Lowers a part on its own; an error names what the NPU refuses, and the context has each such node.
inline result<void> lower_part(graph& part, pass_context& context) {
    HEADRACE_TRY(lowering::run(part, context));
    return {};
}

/// The parts of a model that the NPU computes: ops that `lowering` provably lowers, but for nodes that a trial
/// of it refuses, such as a large kernel. These stay on the host, and `report` is told why.
struct partitioner {
    void (*report)(const host_node& n) = nullptr;

    result<partition_result> partition(graph& g) const {
        const trial_partitioner trial(supported_by<lowering>(), &lower_part);
        HEADRACE_TRY(found, trial.propose_partitions(g));
        for (const host_node& n : found.host) {
            if (report != nullptr) report(n);
        }
        partition_result parts;
        for (node_group& nodes : found.partitions)
            parts.partitions.push_back({std::move(nodes), {.backend = "npu"}});
        return parts;
    }
};

//! [parts]
//! [bytes]
/// Lowers each part, and makes of it what the NPU's runtime is given. Here that is the text of the graph, with
/// all weights; a real machine has commands instead.
struct backend {
    static constexpr std::string_view name() { return "npu"; }

    result<preprocess_result> preprocess(graph& part, std::span<const compile_spec>) const {
        pass_context context;
        HEADRACE_TRY(lowering::run(part, context));
        HEADRACE_TRY(text, graph_text(part));
        const auto bytes = std::as_bytes(std::span(text));
        preprocess_result made;
        made.processed_bytes.assign(bytes.begin(), bytes.end());
        return made;
    }
};

//! [parts]
}  // namespace npu
//! [parts]
//! [bytes]

#endif
