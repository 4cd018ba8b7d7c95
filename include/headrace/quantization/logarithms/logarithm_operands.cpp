// SPDX-License-Identifier: MIT
// Defines the functions of headrace/quantization/logarithms/logarithm_operands.hpp.

#include <headrace/quantization/logarithms/logarithm_operands.hpp>

#include <algorithm>
#include <cstdint>
#include <ranges>

#include <headrace/dialect/aten.hpp>
#include <headrace/op/op_query.hpp>

namespace headrace {

namespace {

using logarithm_ops = ops<aten::log, aten::log2, aten::log10>;
// Ops that are computed exactly, or nearly so, in 32 bits.
using exact_ops = ops<aten::add_tensor, aten::sub_tensor, aten::mul_tensor, aten::clamp, aten::sum,
    aten::sum_dim_intlist, aten::mm, aten::pow_tensor_scalar>;
using affine_ops = ops<aten::add_tensor, aten::sub_tensor, aten::mul_tensor>;

class logarithm_reader {
public:
    logarithm_reader(const graph& g, const quantization_config& config)
        : graph_(g), config_(config), exact_(g.id_bound(), false) {}

    [[nodiscard]] std::vector<bool> run() {
        std::vector<const node*> nodes;
        for (const node& n : graph_.nodes()) nodes.push_back(&n);
        for (const node* n : std::views::reverse(nodes)) exact_[n->id] = leads_to_logarithm(*n);
        for (const node* n : nodes) {
            if (is_scaled_logarithm(*n)) exact_[n->id] = true;
        }
        return std::move(exact_);
    }

private:
    [[nodiscard]] static bool is_real(value v) {
        const tensor_meta* meta = meta_of(v);
        return meta != nullptr && meta->dtype == dtype::float32;
    }
    [[nodiscard]] static bool is_constant(const node& n, std::size_t operand) {
        return is<builtin::constant>(*n.operand(operand).producer);
    }
    [[nodiscard]] bool has_16_bits(const node& n) const {
        const auto scheme = scheme_of(n, config_);
        return scheme && scheme->activation.type == dtype::int16;
    }

    [[nodiscard]] static bool is_exact_op(const node& n) {
        if (is<aten::mm>(n)) return is_constant(n, 1) && !is_constant(n, 0);
        if (const auto* a = args_if<aten::pow_tensor_scalar>(n)) return a->exponent.to_double() == 2;
        return set_of<exact_ops>.contains(*n.op) || (n.op->has(trait::moving) && n.operand_count == 1);
    }
    [[nodiscard]] bool leads_to_logarithm(const node& n) const {
        if (n.result_count != 1 || n.first_use == nullptr || !is_exact_op(n) || !has_16_bits(n)) return false;
        const auto is_of_logarithm = [&](const edge& use) {
            const node& reader = *use.target;
            if (set_of<logarithm_ops>.contains(*reader.op)) return has_16_bits(reader);
            return exact_[reader.id] && !(is<aten::mm>(reader) && use.operand != 0);
        };
        return is_real({const_cast<node*>(&n), 0}) &&
            std::ranges::all_of(n.operand_edges(), [](const edge& e) { return is_real(*e.slot); }) &&
            std::ranges::all_of(n.uses(), is_of_logarithm);
    }

    // True for a logarithm, or one that numbers were added to or multiplied by, that is read likewise.
    [[nodiscard]] bool is_scaled_logarithm(const node& n) const {
        const bool is_logarithm = set_of<logarithm_ops>.contains(*n.op) && has_16_bits(n);
        if (!is_logarithm && !(is_affine(n) && reads_logarithm(n))) return false;
        const auto is_read_likewise = [&](const edge& use) { return is_affine(*use.target); };
        return n.first_use != nullptr && std::ranges::all_of(n.uses(), is_read_likewise);
    }
    [[nodiscard]] bool is_affine(const node& n) const {
        return set_of<affine_ops>.contains(*n.op) && has_16_bits(n) &&
            (is_constant(n, 0) || is_constant(n, 1)) && !(is_constant(n, 0) && is_constant(n, 1));
    }
    [[nodiscard]] bool reads_logarithm(const node& n) const {
        return std::ranges::any_of(n.operand_edges(), [&](const edge& e) {
            return exact_[e.source->id] &&
                (set_of<logarithm_ops>.contains(*e.source->op) || is_affine(*e.source));
        });
    }

    const graph& graph_;
    const quantization_config& config_;
    std::vector<bool> exact_;
};

}  // namespace

std::vector<bool> values_of_logarithms(const graph& g, const quantization_config& config) {
    return logarithm_reader(g, config).run();
}

tensor_scheme scheme_of_32_bits(const tensor_scheme& activation) {
    constexpr std::int64_t most = (std::int64_t{1} << 30) - 1;
    constexpr double above_samples = 2;  // RESCALE may saturate from 2^29 on
    return {.type = dtype::int32,
        .lowest = -most,
        .highest = most,
        .symmetric = true,
        .smallest_scale = 0x1p-46,  // RESCALE brings products of int16 to no smaller one
        .observer = observer_kind::min_max,
        .headroom = above_samples * activation.headroom};
}

void widen_logarithms(const graph& g, quantization_groups& groups) {
    using keeping_ops = ops<aten::add_tensor, aten::sub_tensor, aten::mul_tensor, aten::maximum,
        aten::minimum, aten::amax, aten::amin, aten::clamp>;
    std::vector<bool> is_level(g.id_bound(), false);
    std::vector<bool> is_widened(groups.size(), false);
    for (const node& n : g.nodes()) {
        const auto is_of_level = [&](const edge& e) { return is_level[e.source->id]; };
        const bool keeps = n.op->has(trait::moving) || set_of<keeping_ops>.contains(*n.op);
        is_level[n.id] = set_of<logarithm_ops>.contains(*n.op) ||
            (keeps && std::ranges::any_of(n.operand_edges(), is_of_level));
        const auto group =
            is_level[n.id] ? groups.of(value{const_cast<node*>(&n), 0}) : quantization_groups::none;
        if (group == quantization_groups::none || is_widened[group]) continue;
        is_widened[group] = true;
        tensor_scheme scheme = groups.scheme(group);
        if (scheme.type != dtype::int16) continue;
        scheme.observer = observer_kind::min_max;
        scheme.headroom *= 2;
        groups.set_scheme(group, scheme);
    }
}

}  // namespace headrace
