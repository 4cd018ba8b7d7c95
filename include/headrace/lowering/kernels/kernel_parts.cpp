// SPDX-License-Identifier: MIT
// Defines the functions of headrace/lowering/kernels/kernel_parts.hpp.

#include <headrace/lowering/kernels/kernel_parts.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/infer/ranges/integer_width.hpp>
#include <headrace/ir/edits.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/lowering/cortex_m_pipeline.hpp>
#include <headrace/lowering/kernels/quantized_borders.hpp>
#include <headrace/lowering/kernels/quantized_nodes.hpp>
#include <headrace/lowering/standard_pipeline.hpp>
#include <headrace/partition/capability_partitioner.hpp>
#include <headrace/partition/delegate_border.hpp>
#include <headrace/partition/fuse_partitions.hpp>
#include <headrace/partition/refusals.hpp>
#include <headrace/passes/passes.hpp>
#include <headrace/passes/quantize/quantized_storage.hpp>
#include <headrace/passes/support/inlining.hpp>
#include <headrace/run/execution.hpp>

namespace headrace {

namespace {

// Ops that only move elements: a part of these alone is as well computed by the host.
op_list element_moves() {
    op_list found;
    for (const op_info* op : op_table<aten::dialect>) {
        if (op->has(trait::moving | trait::copying)) found.push_back(op);
    }
    return found;
}

// The advice to choose a target with floating point is for lowerings to TOSA.
std::string without_advice(std::string reason) {
    for (const std::string_view advice :
        {", which the target does not have", ", and the target does not have floating point"}) {
        if (const std::size_t at = reason.find(advice); at != std::string::npos) reason.resize(at);
    }
    return reason;
}

// A delegate's outputs are tensors of their own; a kernel's may be any value.
void remove_copies(graph& program) {
    for (node& n : program.nodes()) {
        if (const auto* copy = args_if<tosa::identity>(n)) program.replace_all_uses(n.result(), copy->input1);
    }
}

result<void> lower_to_kernels(graph& program, pass_context& context) {
    HEADRACE_TRY(run_standard_pipeline(program, context));
    if (!context.diagnostics().empty()) return {};
    remove_copies(program);
    HEADRACE_TRY(run_cortex_m_pipeline(program, context));
    return {};
}

// The lowering of the parts of one program.
class kernel_lowering {
public:
    explicit kernel_lowering(const target_spec& core) : core_(core) {}

    [[nodiscard]] result<kernel_parts> run(graph& g) {
        const target_spec target = g.target();
        HEADRACE_TRY(canonicalize(g));
        g.set_target(core_);
        result<void> done = lower_nested(g);
        g.set_target(target);
        HEADRACE_TRY(std::move(done));
        remove_requantization(g);
        for (const provenance* origin : choose_integers(g)) made_.inside.insert(origin);
        merge_quantizers(g);
        merge_dequantizers(g);
        return std::move(made_);
    }

private:
    struct part {
        node_group nodes{};
        graph* program = nullptr;
    };

    // Makes quantized bytes signed, and parameters numbers, at the borders of parts as well as in them.
    static result<void> canonicalize(graph& g) {
        g.set_target(target_spec{}.with(target_feature::profile_fp));  // no RESCALE beside the host's kernels
        pass_context context(standard_functions);
        HEADRACE_TRY(apply_pass(canonicalize_quantization{}, g, context));
        remove_requantization(g);
        merge_quantizers(g);
        return {};
    }

    result<void> lower_nested(graph& g) {
        HEADRACE_TRY(lower_parts_of(g));
        for (graph* region : live_regions(g)) {
            HEADRACE_TRY(lower_nested(*region));
        }
        return {};
    }

    result<void> lower_parts_of(graph& g) {
        const operator_support lowered = standard_pipeline_support();
        refusal_reasons refused = find_host_integers(g);
        std::vector<part> parts;
        for (;;) {
            const quantized_nodes found = find_quantized_nodes(g, lowered, refused);
            separate_dequantizers(g, found.inside);
            const std::size_t known = refused.size();
            parts = lowered_parts(g, found.inside, std::move(parts), refused);
            if (refused.size() != known) continue;
            note(found, parts);
            return inline_parts(g, parts);
        }
    }

    // Returns the parts of a graph, lowered. Those among `before` are not lowered again.
    static std::vector<part> lowered_parts(
        graph& g, const std::vector<bool>& inside, std::vector<part> before, refusal_reasons& refused) {
        const operator_support support =
            create_op_support([&](const node& n) { return n.id < inside.size() && inside[n.id]; });
        capability_based_partitioner partitioner(
            g, support, {.allows_single_node_partition = true, .non_compute_ops = element_moves()});
        std::vector<part> parts;
        for (node_group& nodes : partitioner.propose_partitions()) {
            const auto same = std::ranges::find_if(before, [&](const part& p) { return p.nodes == nodes; });
            if (same != before.end()) {
                parts.push_back(std::exchange(*same, {}));
                continue;
            }
            graph& program = g.create_region();
            extract_nodes(nodes, program);
            pass_context context(standard_functions);
            add_refusals(nodes, lower_to_kernels(program, context), context, refused);
            parts.push_back({std::move(nodes), &program});
        }
        for (const part& p : before) {
            if (p.program != nullptr) erase_nodes(*p.program);
        }
        return parts;
    }

    void note(const quantized_nodes& found, std::span<const part> parts) {
        for (const part& p : parts) {
            for (const node* n : p.nodes) {
                if (const auto* origin = n->find_annotation<provenance>()) made_.inside.insert(origin);
            }
        }
        for (const auto& [n, reason] : found.reasons) {
            if (const auto* origin = n->find_annotation<provenance>())
                made_.outside.emplace(origin, without_advice(reason));
        }
        made_.parts += parts.size();
    }

    static result<void> inline_parts(graph& g, std::span<const part> parts) {
        std::vector<node_group> partitions;
        std::vector<graph*> programs;
        for (const part& p : parts) {
            partitions.push_back(p.nodes);
            programs.push_back(p.program);
        }
        HEADRACE_TRY(calls, replace_partitions(g, partitions, programs));
        for (node* call : calls) {
            detail::delegate_border(g, *call).write();
            graph& program = *args_of<delegate::call_delegate>(*call).lowered_graph;
            const list<value> operands = args_of<delegate::call_delegate>(*call).operands;
            const auto results =
                inline_region(program, *call, std::span<const value>(operands.begin(), operands.size()));
            for (std::uint32_t i = 0; i != call->result_count; ++i) {
                hand_over_name(call->results[i], results[i]);
                g.replace_all_uses(call->result(i), results[i]);
            }
            g.erase(*call);
            erase_nodes(program);
        }
        return {};
    }

    target_spec core_;
    kernel_parts made_;
};

}  // namespace

result<kernel_parts> lower_quantized_parts(graph& g, const target_spec& core) {
    return kernel_lowering(core).run(g);
}

}  // namespace headrace
