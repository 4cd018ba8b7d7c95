// SPDX-License-Identifier: MIT
#include "interface.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <headrace/eval/iterate.hpp>
#include <headrace/passes/quantize/quantization.hpp>

namespace headrace::cli {

namespace {

quantization parameters_of(const interface_quantization& q) {
    return quantization::per_tensor(q.scale, q.zero_point, q.lowest, q.highest);
}

// A scale of 0 says that a tensor's integers are the user's own.
const interface_quantization* if_quantized(const interface_quantization* q) {
    return q == nullptr || q->scale == 0 ? nullptr : q;
}

constexpr std::array<std::size_t, 4> to_channels_last{0, 2, 3, 1};
constexpr std::array<std::size_t, 4> to_channels_first{0, 3, 1, 2};

}  // namespace

void ask_for_channels_last(graph& g) {
    for (node& n : g.inputs()) g.annotate(n, channels_last_interface{});
    if (g.output() != nullptr) g.annotate(*g.output(), channels_last_interface{});
}

bool is_channels_last(const node& n, std::size_t rank) {
    const auto* layout = n.find_annotation<channels_last_interface>();
    return layout != nullptr && layout->applied && rank == 4;
}

std::vector<interface_tensor> interface_inputs(const graph& g) {
    std::vector<interface_tensor> all;
    for (const node& n : g.inputs()) {
        const tensor_meta& meta = *n.results[0].meta;
        const auto* q = n.find_annotation<interface_quantization>();
        all.push_back({n.name(), meta, if_quantized(q), is_channels_last(n, meta.rank())});
    }
    return all;
}

std::vector<interface_tensor> interface_outputs(const graph& g) {
    std::vector<interface_tensor> all;
    const node& out = *g.output();
    const auto* exported = out.find_annotation<output_names>();
    const auto* quantized = out.find_annotation<output_quantizations>();
    for (const value v : g.outputs()) {
        const std::size_t i = all.size();
        const bool named = exported != nullptr && i < exported->names.size();
        const auto* q = quantized == nullptr ? nullptr : &quantized->values[i];
        all.push_back({named ? exported->names[i] : v.producer->name(), *meta_of(v), if_quantized(q),
                       is_channels_last(out, meta_of(v)->rank())});
    }
    return all;
}

std::vector<tensor> inputs_for(const graph& g, std::span<const tensor> exported) {
    std::vector<tensor> inputs;
    for (const node& n : g.inputs()) {
        const tensor& given = exported[inputs.size()];
        const bool turned = is_channels_last(n, n.results[0].meta->rank());
        const tensor real = turned ? eval::permuted(given, to_channels_last) : given;
        const dtype type = n.results[0].meta->dtype;
        const auto* q = n.find_annotation<interface_quantization>();
        if (q == nullptr) {
            inputs.push_back(real.cast(type));
            continue;
        }
        std::vector<std::int64_t> codes;
        for (std::int64_t i = 0; i != real.size(); ++i)
            codes.push_back(parameters_of(*q).quantized(real.real(i)));
        inputs.push_back(tensor::of(type, real.shape(), codes));
    }
    return inputs;
}

std::vector<tensor> outputs_of(const graph& g, std::vector<tensor> given) {
    const node* out = g.output();
    for (tensor& t : given) {
        if (out != nullptr && is_channels_last(*out, t.shape().size()))
            t = eval::permuted(t, to_channels_first);
    }
    const auto* annotation = out == nullptr ? nullptr : out->find_annotation<output_quantizations>();
    for (std::size_t k = 0; annotation != nullptr && k != given.size(); ++k) {
        const interface_quantization& q = annotation->values[k];
        if (q.scale == 0) continue;
        std::vector<double> reals;
        for (std::int64_t i = 0; i != given[k].size(); ++i)
            reals.push_back((given[k].real(i) - static_cast<double>(q.zero_point)) * q.scale);
        given[k] = tensor::of(dtype::float32, given[k].shape(), reals);
    }
    return given;
}

std::vector<double> output_steps(const graph& g) {
    std::vector<double> steps;
    for (const value v : g.outputs()) {
        const auto read = match_dequantize(v);
        steps.push_back(
            read ? *std::max_element(read->parameters.scales.begin(), read->parameters.scales.end()) : 0);
    }
    return steps;
}

}  // namespace headrace::cli
