// SPDX-License-Identifier: MIT
// Defines the functions of headrace/quantization/annotate.hpp.

#include <headrace/quantization/annotate.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/op/op_query.hpp>
#include <headrace/quantization/logarithms/logarithm_operands.hpp>
#include <headrace/quantization/unite_groups.hpp>

namespace headrace {

bool is_weighted_layer(const node& n) { return n.op->has(trait::convolving) || is<aten::linear>(n); }

namespace {

// Quantizable in addition to functions of one tensor, which have trait::unary.
using quantizable_functions = ops<aten::add_tensor, aten::sub_tensor, aten::mul_tensor, aten::div_tensor,
    aten::maximum, aten::minimum, aten::bmm, aten::mm, aten::cumsum, aten::sum, aten::sum_dim_intlist,
    aten::full, aten::zeros, aten::ones, aten::full_like, aten::zeros_like, aten::arange_start_step,
    aten::linspace, aten::eye, aten::pow_tensor_scalar>;
// Ops whose result has the parameters of their input.
using quantizable_windows =
    ops<aten::avg_pool1d, aten::avg_pool2d, aten::max_pool1d, aten::max_pool2d, aten::adaptive_avg_pool1d,
        aten::adaptive_avg_pool2d, aten::adaptive_max_pool2d, aten::upsample_bilinear2d,
        aten::upsample_bilinear2d_vec, aten::upsample_nearest2d, aten::upsample_nearest2d_vec>;
// Sharing ops besides those whose traits say that they only move or gather elements.
using sharing_ops = ops<aten::amax, aten::amin, aten::clamp, aten::clamp_tensor, aten::dropout,
    aten::feature_dropout, aten::alpha_dropout, aten::feature_alpha_dropout, aten::hardtanh, aten::relu,
    aten::relu6, aten::index_copy, aten::index_put, aten::max_dim, aten::min_dim, aten::where_self,
    aten::roll, aten::copy, aten::slice_scatter, aten::select_scatter, aten::pixel_shuffle,
    aten::pixel_unshuffle, aten::channel_shuffle>;

class quantization_annotator {
public:
    quantization_annotator(const graph& g, const quantization_config& config)
        : graph_(g),
          config_(config),
          groups_(g),
          claimed_(g.id_bound(), false),
          exact_(values_of_logarithms(g, config)) {}

    [[nodiscard]] quantization_groups run() {
        for (const node& n : graph_.nodes()) annotate(n);
        for (const node& n : graph_.nodes()) {
            if (!claimed_[n.id] && shares(n)) annotate_cluster(n);
        }
        unite_readers(graph_, groups_);
        unite_states(graph_, groups_);
        unite_steps(graph_, groups_);
        widen_logarithms(graph_, groups_);
        return std::move(groups_);
    }

private:
    using key = quantization_groups::key;
    static constexpr key none = quantization_groups::none;

    [[nodiscard]] static bool is_real(value v) {
        const tensor_meta* meta = meta_of(v);
        return meta != nullptr && meta->dtype == dtype::float32;
    }
    [[nodiscard]] static value result_of(const node& n, std::uint32_t i = 0) {
        return {const_cast<node*>(&n), i};
    }
    [[nodiscard]] static bool all_real(const node& n) {
        for (const edge& e : n.operand_edges()) {
            if (!is_real(*e.slot)) return false;
        }
        return true;
    }
    void mark_operands(const node& n, const tensor_scheme& scheme) {
        for (const edge& e : n.operand_edges()) {
            if (is_real(*e.slot)) groups_.add(e, scheme);
        }
    }
    void mark_results(const node& n, const tensor_scheme& scheme) {
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            if (is_real(result_of(n, i))) groups_.add(result_of(n, i), scheme);
        }
    }

    void annotate(const node& n) {
        if (claimed_[n.id] || is<builtin::constant>(n)) return;
        const std::optional<op_scheme> scheme = scheme_of(n, config_);
        if (!scheme) {
            claimed_[n.id] = true;
            return;
        }
        const tensor_scheme& act = scheme->activation;
        if (is<builtin::placeholder>(n)) {
            mark_results(n, act);
        } else if (is<builtin::output>(n)) {
            mark_operands(n, act);
        } else if (is_exact(n) || reads_exact(n)) {
            annotate_exact(n, act);
        } else if (is_weighted_layer(n)) {
            annotate_layer(n, *scheme);
            return;
        } else if (set_of<quantizable_windows>.contains(*n.op)) {
            annotate_window(n, act);
        } else if (n.op->has(trait::comparing) && n.op->has(trait::binary)) {
            annotate_comparison(n, act);
        } else if (is_function(n)) {
            mark_operands(n, domain_scheme(n, act));
            mark_results(n, act);
        } else {
            return;
        }
        claimed_[n.id] = true;
    }

    [[nodiscard]] static bool is_function(const node& n) {
        if (shares(n) || n.result_count != 1 || !is_real(result_of(n)) || !all_real(n)) return false;
        if (n.op->has(trait::unary) && n.operand_count == 1) return !n.op->has(trait::casting);
        return set_of<quantizable_functions>.contains(*n.op);
    }

    [[nodiscard]] bool is_exact(const node& n) const { return exact_[n.id]; }
    [[nodiscard]] bool reads_exact(const node& n) const {
        return std::ranges::any_of(n.operand_edges(), [&](const edge& e) { return is_exact(*e.source); });
    }
    // Products of matrices round to 32 bits what a logarithm reads; what else leads to it is not rounded.
    void annotate_exact(const node& n, const tensor_scheme& act) {
        for (const edge& e : n.operand_edges()) {
            const bool is_number = is<builtin::constant>(*e.source) && !is<aten::mm>(n);
            if (is_real(*e.slot) && !is_exact(*e.source) && !is_number) groups_.add(e, act);
        }
        if (!is_exact(n)) {
            mark_results(n, act);
        } else if (is<aten::mm>(n)) {
            mark_results(n, scheme_of_32_bits(act));
        }
    }

    // Functions defined only on [-1, 1] read their operand with fixed parameters (ExecuTorch's quantizer):
    // asin and acos with ±1 at both ends of the integer range, atanh with slightly less.
    [[nodiscard]] static tensor_scheme domain_scheme(const node& n, const tensor_scheme& act) {
        const bool wide = act.type == dtype::int16;
        tensor_scheme scheme = act;
        if (is<aten::asin>(n) || is<aten::acos>(n)) {
            scheme.fixed = qparams{wide ? 0x1p-15 : 0x1p-7, 0};
        } else if (is<aten::atanh>(n)) {
            scheme.fixed = qparams{wide ? 1.99998F / 65536 : 1.998F / 256, 0};
        }
        return scheme;
    }

    void annotate_window(const node& n, const tensor_scheme& act) {
        if (n.operand_count == 0 || !is_real(n.operand(0))) return;
        const key input = groups_.add(n.operands[0], act);
        groups_.unite(input, groups_.add(result_of(n), act));
    }
    void annotate_comparison(const node& n, const tensor_scheme& act) {
        if (!all_real(n)) return;
        groups_.unite(groups_.add(n.operands[0], act), groups_.add(n.operands[1], act));
    }

    // Returns the last node of a layer: the activation fused into it, or the layer itself.
    [[nodiscard]] const node& last_of(const node& layer, const tensor_scheme& act) const {
        const node* next = layer.next;
        while (next != nullptr && is<builtin::constant>(*next)) next = next->next;
        if (next == nullptr || act.symmetric || !has_one_use(result_of(layer))) return layer;
        const auto* clamp = args_if<aten::hardtanh>(*next);
        const bool rectifies = is<aten::relu>(*next) || (clamp != nullptr && clamp->min_val.to_double() == 0);
        return rectifies && next->operand(0) == result_of(layer) ? *next : layer;
    }

    void annotate_layer(const node& n, const op_scheme& scheme) {
        const bool constant_bias = n.operand_count < 3 || is<builtin::constant>(*n.operand(2).producer);
        if (!all_real(n) || !constant_bias) return;
        const node& last = last_of(n, scheme.activation);
        claimed_[n.id] = claimed_[last.id] = true;
        groups_.add(n.operands[0], scheme.activation);
        const tensor_scheme weight = weight_scheme(n, scheme);
        groups_.add(n.operands[1], weight);
        if (n.operand_count == 3) {
            groups_.add_bias(n.operands[2],
                {.type = dtype::int32,
                    .lowest = -std::int64_t{INT32_MAX},
                    .highest = INT32_MAX,
                    .symmetric = true,
                    .per_channel = weight.per_channel});
        }
        groups_.add(result_of(last), scheme.activation);
    }

    [[nodiscard]] static tensor_scheme weight_scheme(const node& n, const op_scheme& scheme) {
        tensor_scheme weight = scheme.weight;
        bool transposed = n.op->has(trait::transposed);
        std::int64_t groups = 1;
        const auto look = [&]<class... Ops>(ops<Ops...>) {
            ((is<Ops>(n) ? void(groups = args_of<Ops>(n).groups) : void()), ...);
        };
        look(ops_where<aten::dialect, trait::transposed>{});
        if (const auto* a = args_if<aten::convolution>(n)) {
            transposed = a->transposed;
            groups = a->groups;
        }
        // Axis 0 of a transposed convolution's weight is its input channels.
        const bool by_channel = is<builtin::constant>(*n.operand(1).producer) && !(transposed && groups != 1);
        weight.per_channel = weight.per_channel && by_channel;
        weight.axis = weight.per_channel && transposed ? 1 : 0;
        return weight;
    }

    // True if the node only moves or selects elements.
    [[nodiscard]] static bool shares(const node& n) {
        const bool listed =
            n.op->has(trait::moving | trait::gathering) || set_of<sharing_ops>.contains(*n.op);
        return listed ||
            (n.op->has(trait::casting) && n.operand_count != 0 && is_real(n.operand(0)) &&
                is_real(result_of(n)));
    }

    // Returns all sharing nodes connected to `first` by float tensors, in order of discovery.
    [[nodiscard]] std::vector<const node*> cluster_of(const node& first) {
        std::vector<const node*> cluster{&first};
        claimed_[first.id] = true;
        const auto join = [&](const node& other) {
            if (claimed_[other.id] || !shares(other)) return;
            claimed_[other.id] = true;
            cluster.push_back(&other);
        };
        for (std::size_t i = 0; i != cluster.size(); ++i) {
            const node& n = *cluster[i];
            for (const edge& e : n.operand_edges()) {
                if (is_real(*e.slot)) join(*e.source);
            }
            for (const edge& e : n.uses()) {
                if (is_real(*e.slot)) join(*e.target);
            }
        }
        return cluster;
    }

    // Returns the scheme that a neighbour outside the cluster requires.
    [[nodiscard]] std::optional<tensor_scheme> scheme_beside(std::span<const node* const> cluster) const {
        for (const node* n : cluster) {
            for (const edge& e : n->operand_edges()) {
                const key k = groups_.of(*e.slot);
                if (k != none && !groups_.scheme(k).fixed) return groups_.scheme(k);
            }
            for (const edge& e : n->uses()) {
                const key k = groups_.of(e);
                if (k != none && !groups_.is_bias(k) && !groups_.scheme(k).per_channel)
                    return groups_.scheme(k);
            }
        }
        return std::nullopt;
    }

    void annotate_cluster(const node& first) {
        if (!scheme_of(first, config_)) {
            claimed_[first.id] = true;
            return;
        }
        const std::vector<const node*> cluster = cluster_of(first);
        const std::optional<tensor_scheme> scheme = scheme_beside(cluster);
        if (!scheme) return;
        key group = none;
        const auto join = [&](key k) {
            if (group == none) group = k;
            groups_.unite(group, k);
        };
        for (const node* n : cluster) {
            for (const edge& e : n->operand_edges()) {
                if (is_real(*e.slot)) join(groups_.add(e, *scheme));
            }
            for (std::uint32_t i = 0; i != n->result_count; ++i) {
                if (is_real(result_of(*n, i))) join(groups_.add(result_of(*n, i), *scheme));
            }
        }
    }

    const graph& graph_;
    const quantization_config& config_;
    quantization_groups groups_;
    std::vector<bool> claimed_;  // by node id: annotated, or to stay float
    std::vector<bool> exact_;    // by node id: see values_of_logarithms
};

}  // namespace

quantization_groups annotate_quantization(const graph& g, const quantization_config& config) {
    return quantization_annotator(g, config).run();
}

}  // namespace headrace
