// SPDX-License-Identifier: MIT
// Defines the functions of headrace/compare/layer_values.hpp.

#include <headrace/compare/layer_values.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <utility>

#include <headrace/compare/computed_values.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/delegate.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/ir/views.hpp>
#include <headrace/memory/liveness.hpp>

namespace headrace {

namespace {

// Returns, by id, whether a node computes something from the graph's inputs.
std::vector<bool> depends_on_inputs(const graph& g) {
    std::vector<bool> depends(g.id_bound(), false);
    for (const node& n : g.nodes()) {
        depends[n.id] = is<builtin::placeholder>(n) ||
            std::ranges::any_of(n.operand_edges(), [&](const edge& e) { return depends[e.source->id]; });
    }
    return depends;
}

bool only_moves(const node& n) {
    constexpr trait moving = trait::reshaping | trait::permuting | trait::forwarding | trait::broadcasting |
        trait::slicing | trait::splitting;
    return n.op->functional().has(moving);
}

bool is_layer(const node& n) {
    return !is<builtin::output>(n) && !is<builtin::constant>(n) && !is<delegate::call_delegate>(n) &&
        !is_of_dialect<quantized_decomposed::dialect>(n) && !only_moves(n) && out_buffers(n).empty();
}

bool is_numeric(const tensor_meta* meta) {
    if (meta == nullptr || meta->elements() == 0) return false;
    return is_floating(meta->dtype) || is_boolean(meta->dtype) || meta->dtype == dtype::int8 ||
        meta->dtype == dtype::uint8 || meta->dtype == dtype::int16 || meta->dtype == dtype::int32 ||
        meta->dtype == dtype::int64;
}

// Collects the layers of a graph and of the delegates that it calls.
class layer_collector {
public:
    explicit layer_collector(const graph& g) : names_(g) { collect(g, true); }

    std::vector<layer_value> layers;

private:
    void collect(const graph& g, bool is_model) {
        const std::vector<bool> depends = depends_on_inputs(g);
        std::map<detail::result_key, std::size_t> outputs;
        if (is_model) {
            const detail::computed_values computed(g);
            for (const value v : g.outputs()) outputs.emplace(detail::key_of(computed[v]), outputs.size());
        }
        for (const node& n : g.nodes()) {
            const auto* call = args_if<delegate::call_delegate>(n);
            if (call != nullptr && call->lowered_graph != nullptr) collect(*call->lowered_graph, false);
            if (!depends[n.id]) continue;
            if (is<builtin::placeholder>(n) && !is_model) continue;
            for (std::uint32_t i = 0; i != n.result_count; ++i) {
                const auto output = outputs.find({&n, i});
                if (output == outputs.end() && !is_layer(n)) continue;
                const value v{const_cast<node*>(&n), i};
                if (!is_numeric(meta_of(v))) continue;
                add(g, v, output == outputs.end() ? nullptr : &output->second);
            }
        }
    }

    void add(const graph& g, value v, const std::size_t* output) {
        layer_value made{.name = std::string(names_[v]), .real = v, .stored = v};
        made.is_output = output != nullptr;
        for (const edge& e : v.producer->uses()) {
            const auto* q = args_if<quantized_decomposed::quantize_per_tensor>(*e.target);
            if (q == nullptr || e.slot->result != v.result) continue;
            made.stored = e.target->result();
            made.numbers = {q->scale, q->zero_point, q->quant_min, q->quant_max};
            break;
        }
        if (const auto* said = v.producer->find_annotation<signature_quantization>()) made.numbers = *said;
        const node* out = g.output();
        const auto* all = out == nullptr ? nullptr : out->find_annotation<output_quantizations>();
        if (output != nullptr && all != nullptr && *output < all->values.size() &&
            all->values[*output].scale != 0)
            made.numbers = all->values[*output];
        layers.push_back(std::move(made));
    }

    printed_names names_;
};

}  // namespace

bool is_quantized_program(const graph& g) {
    return g.census().contains(info_of_dialect<quantized_decomposed::dialect>);
}

bool is_lowered(const graph& g) { return g.census().contains(info_of_dialect<tosa::dialect>); }

std::vector<layer_value> layer_values_of(const graph& g) { return layer_collector(g).layers; }

}  // namespace headrace
