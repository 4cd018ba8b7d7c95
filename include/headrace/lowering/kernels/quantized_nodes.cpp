// SPDX-License-Identifier: MIT
// Defines the functions of headrace/lowering/kernels/quantized_nodes.hpp.

#include <headrace/lowering/kernels/quantized_nodes.hpp>

#include <algorithm>
#include <string>

#include <headrace/dialect/builtin.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/ir/unknown_op.hpp>

namespace headrace {

namespace {

bool is_real(value v) {
    const tensor_meta* meta = meta_of(v);
    return meta == nullptr || is_floating(meta->dtype);
}
bool is_byte(const tensor_meta* meta) {
    return meta != nullptr && (meta->dtype == dtype::int8 || meta->dtype == dtype::uint8);
}
constexpr std::string_view reading = "integers end in ";

// The search in one graph.
class quantized_search {
public:
    quantized_search(const graph& g, const operator_support& support, const refusal_reasons& refused)
        : graph_(g),
          support_(support),
          refused_(refused),
          varies_(g.id_bound()),
          dequantized_(g.id_bound()),
          quantized_(g.id_bound()),
          needed_(g.id_bound()) {}

    [[nodiscard]] quantized_nodes run() {
        quantized_nodes found;
        for (const node& n : graph_.nodes()) {
            varies_[n.id] = is<builtin::placeholder>(n) || holds_regions(*n.op) || n.op->has(trait::impure) ||
                std::ranges::any_of(n.operand_edges(), [&](const edge& e) { return varies_[e.source->id]; });
            if (is_of_dialect<builtin::dialect>(n) && !is<builtin::opaque>(n)) continue;
            std::string reason = reason_to_stay_real(n, found.reasons);
            dequantized_[n.id] = reason.empty();
            quantized_[n.id] = reason.empty() && (n.op->has(trait::dequantizing) || reads_quantized(n));
            if (!reason.empty()) found.reasons.emplace(&n, std::move(reason));
        }
        for (const node* n = graph_.last(); n != nullptr; n = n->previous) needed_[n->id] = is_needed(*n);
        found.inside = needed_;
        for (const node* n = graph_.last(); n != nullptr; n = n->previous) {
            if (dequantized_[n->id] && !needed_[n->id])
                found.reasons.emplace(n, reason_of_end(*n, found.reasons));
        }
        return found;
    }

private:
    // Returns why a node cannot be computed from quantized integers; empty if it can.
    [[nodiscard]] std::string reason_to_stay_real(const node& n, const refusal_reasons& reasons) const {
        if (const auto known = refused_.find(&n); known != refused_.end()) return known->second;
        if (is<builtin::opaque>(n)) return std::string(unknown_op_reason(n, "lowering"));
        if (holds_regions(*n.op)) return "it decides which nodes run";
        if (!support_.is_node_supported(n)) return "no pass lowers this op to integers";
        if (!varies_[n.id]) return {};
        if (n.op->has(trait::dequantizing)) {
            if (!is_byte(meta_of(n.operand(0)))) return std::string(width_reason);
            const auto parameters = n.operand_edges();
            const auto is_computed = [&](const edge& e) { return e.operand != 0 && varies_[e.source->id]; };
            return std::ranges::any_of(parameters, is_computed) ? "its scale and zero point are computed"
                                                                : "";
        }
        for (const edge& e : n.operand_edges()) {
            if (!is_real(*e.slot) || !varies_[e.source->id] || dequantized_[e.source->id]) continue;
            if (n.op->has(trait::quantizing)) return std::string(border_reason);
            if (e.source->op->has(trait::dequantizing)) return reasons.at(e.source);
            return std::string("it reads ").append(origin_name(*e.source)) + ", which is not dequantized";
        }
        if (n.op->has(trait::quantizing) && !is_byte(n.results[0].meta)) return std::string(width_reason);
        return reads_quantized(n) ? "" : "it computes no quantized values";
    }
    [[nodiscard]] bool reads_quantized(const node& n) const {
        return moves_integers(n) ||
            std::ranges::any_of(n.operand_edges(), [&](const edge& e) { return quantized_[e.source->id]; });
    }
    static bool moves_integers(const node& n) {
        return n.op->has(trait::moving) && n.operand_count != 0 && is_byte(meta_of(n.operand(0)));
    }

    // True if a node is inside: integers come of what it computes.
    [[nodiscard]] bool is_needed(const node& n) const {
        if (!dequantized_[n.id]) return false;
        const bool is_used_inside =
            std::ranges::any_of(n.uses(), [&](const edge& e) { return needed_[e.target->id]; });
        if (is_used_inside || !varies_[n.id]) return is_used_inside;
        if (n.op->has(trait::quantizing)) return true;
        if (!n.op->has(trait::locating) && !moves_integers(n)) return false;
        return std::ranges::any_of(
            n.operand_edges(), [&](const edge& e) { return quantized_[e.source->id]; });
    }
    // Nodes come after the nodes that read them.
    [[nodiscard]] std::string reason_of_end(const node& n, const refusal_reasons& reasons) const {
        if (n.op->has(trait::dequantizing)) return std::string(border_reason);
        if (!varies_[n.id]) return "what reads it is computed in real numbers";
        for (const edge& e : n.uses()) {
            const auto known = reasons.find(e.target);
            if (known == reasons.end()) continue;
            if (known->second.starts_with(reading)) return known->second;
            if (refused_.contains(e.target))
                return std::string(reading).append(origin_name(*e.target)) + ": " + known->second;
        }
        return "its result is not quantized";
    }

    const graph& graph_;
    const operator_support& support_;
    const refusal_reasons& refused_;
    std::vector<bool> varies_;       // by id: depends on an input
    std::vector<bool> dequantized_;  // by id: its real operands are dequantized, or it is constant
    std::vector<bool> quantized_;    // by id: also computed from quantized values
    std::vector<bool> needed_;       // by id
};

}  // namespace

quantized_nodes find_quantized_nodes(
    const graph& g, const operator_support& support, const refusal_reasons& refused) {
    return quantized_search(g, support, refused).run();
}

}  // namespace headrace
