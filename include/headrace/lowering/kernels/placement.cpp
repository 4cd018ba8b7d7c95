// SPDX-License-Identifier: MIT
// Defines the functions of headrace/lowering/kernels/placement.hpp.

#include <headrace/lowering/kernels/placement.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <headrace/dialect/cortex_m.hpp>
#include <headrace/dialect/executorch.hpp>
#include <headrace/infer/multiply_accumulates.hpp>
#include <headrace/ir/opaque_text.hpp>
#include <headrace/ir/origins.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/ir/source_location.hpp>
#include <headrace/lowering/kernels/quantized_nodes.hpp>

namespace headrace {

namespace {

// A node's own origin, not one that it was joined with.
const provenance& origin_of(node& n) {
    if (const auto* known = n.find_annotation<provenance>()) return *known;
    n.owner->annotate(n, provenance{n.name(), n.op->name});
    return *n.find_annotation<provenance>();
}

// The kernels of a lowered graph, by origin.
struct kernel_list {
    std::unordered_map<const provenance*, std::vector<const op_info*>> by_origin{};
    std::size_t cortex_m = 0;
    std::size_t portable = 0;
};

kernel_list kernels_in(const graph& lowered) {
    kernel_list found;
    for_each_graph(lowered, [&](const graph& g) {
        for (const node& n : g.nodes()) {
            const bool is_portable = is_of_dialect<executorch::dialect>(n) && !is<executorch::reshape>(n) &&
                !is<executorch::call_delegate>(n);
            if (!is_portable && !is_of_dialect<cortex_m::dialect>(n)) continue;
            ++(is_portable ? found.portable : found.cortex_m);
            for_each_origin(n, [&](const annotation* origin) {
                auto& kernels = found.by_origin[find_in<provenance>(origin)];
                if (std::ranges::find(kernels, n.op) == kernels.end()) kernels.push_back(n.op);
            });
        }
    });
    return found;
}

bool computes_in_reals(const node& n) {
    const auto is_real = [](const edge& operand) {
        const tensor_meta* meta = meta_of(*operand.slot);
        return meta != nullptr && is_floating(meta->dtype);
    };
    return std::ranges::any_of(n.operand_edges(), is_real);
}

mac_counts sum_of(std::span<const node_placement> nodes) {
    mac_counts sum;
    for (const node_placement& n : nodes) {
        sum.total += n.macs;
        if (n.in_integers) sum.in_integers += n.macs;
        switch (n.place) {
            case node_place::delegate:
                sum.delegated += n.macs;
                break;
            case node_place::cortex_m:
                sum.cortex_m += n.macs;
                break;
            case node_place::portable:
                sum.portable += n.macs;
                break;
        }
    }
    return sum;
}

}  // namespace

void placement_log::begin(graph& exported) {
    for_each_graph(exported, [&](graph& g) {
        for (node& n : g.nodes()) {
            if (is_of_dialect<builtin::dialect>(n) && !is<builtin::opaque>(n)) continue;
            const provenance& origin = origin_of(n);
            const tensor_meta* meta = n.result_count != 0 ? n.results[0].meta : nullptr;
            node_placement placed{.node = std::string(origin.node_name),
                .op = std::string(origin.op_name),
                .in_integers = meta != nullptr && !is_floating(meta->dtype),
                .source = std::string(source_line(n)),
                .macs = multiply_accumulates(n)};
            nodes_.push_back(
                {&origin, std::move(placed), n.op->has(trait::quantizing), n.op->has(trait::dequantizing)});
        }
    });
}

void placement_log::note_delegates(const graph& host, std::span<const graph* const> delegates) {
    std::unordered_set<const provenance*> left;
    for_each_graph(host, [&](const graph& g) {
        for (const node& n : g.nodes()) left.insert(n.find_annotation<provenance>());
    });
    std::unordered_set<const provenance*> real;
    for (const graph* delegate : delegates)
        for_each_graph(*delegate, [&](const graph& g) {
            for (const node& n : g.nodes()) {
                if (computes_in_reals(n))
                    for_each_origin(n, [&](const annotation* a) { real.insert(find_in<provenance>(a)); });
            }
        });
    for (listed& n : nodes_) {
        if (left.contains(n.origin)) continue;
        n.is_delegated = true;
        n.node.place = node_place::delegate;
        n.node.in_integers = !real.contains(n.origin);
    }
}

void placement_log::end(const graph& lowered, method_report& report) const {
    const kernel_list kernels = kernels_in(lowered);
    report.cortex_m_kernels = kernels.cortex_m;
    report.portable_kernels = kernels.portable;
    std::unordered_map<std::string_view, std::string_view> notes;
    for (const host_note& note : report.host_nodes) notes.emplace(note.node, note.reason);
    for (const listed& from : nodes_) {
        node_placement& n = report.nodes.emplace_back(from.node);
        if (from.is_delegated) continue;
        bool is_of_cortex_m = false;
        if (const auto made = kernels.by_origin.find(from.origin); made != kernels.by_origin.end()) {
            for (const op_info* op : made->second) {
                n.kernels.emplace_back(op->name);
                is_of_cortex_m = is_of_cortex_m || op->dialect == &info_of_dialect<cortex_m::dialect>;
            }
        }
        const bool is_inside = parts_.inside.contains(from.origin);
        n.in_integers = n.in_integers || is_inside;
        if (is_inside && (is_of_cortex_m || n.kernels.empty())) n.place = node_place::cortex_m;
        if (const auto why = parts_.outside.find(from.origin); !is_inside && why != parts_.outside.end())
            n.reason = why->second;
        n.is_border = from.is_dequantizing ||
            (from.is_quantizing && (n.reason == border_reason || n.reason == width_reason));
        if (const auto note = notes.find(n.node); note != notes.end()) {
            if (!n.reason.empty()) n.reason += "; ";
            n.reason.append("not delegated to TOSA: ").append(note->second);
        }
    }
    report.macs = sum_of(report.nodes);
}

}  // namespace headrace
