// SPDX-License-Identifier: MIT
// Defines the functions of headrace/lowering/integer_signature.hpp.

#include <headrace/lowering/integer_signature.hpp>

#include <span>
#include <tuple>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/ir/edits.hpp>
#include <headrace/ir/signature.hpp>

namespace headrace {

namespace {

bool is_float(value v) {
    const tensor_meta* meta = meta_of(v);
    return meta != nullptr && is_floating(meta->dtype);
}

using quantize_args = args<quantized_decomposed::quantize_per_tensor>;

// Returns the quantization that all users of the input apply to it; null if they differ.
const quantize_args* sole_quantization(const node& input) {
    const auto parameters = [](const quantize_args& a) {
        return std::tuple(a.scale, a.zero_point, a.quant_min, a.quant_max, a.dtype);
    };
    const quantize_args* first = nullptr;
    for (const edge& use : input.uses()) {
        const auto* a = args_if<quantized_decomposed::quantize_per_tensor>(*use.target);
        if (a == nullptr || (first != nullptr && parameters(*a) != parameters(*first))) return nullptr;
        first = a;
    }
    return first;
}

result<void> take_integers(graph& g, node& input) {
    if (!is_float(input.result()) || input.first_use == nullptr) return {};
    const auto* how = sole_quantization(input);
    if (how == nullptr)
        return unsupported({message_prefix(input),
            "this input is not quantized, or in several ways; only a model that begins with a "
            "quantize can take integers"});
    pmr_vector<node*> readers;
    for (const edge& use : input.uses()) readers.push_back(use.target);
    g.set_meta(input.result(), {how->dtype, meta_of(input.result())->shape, {}});
    g.annotate(input, signature_quantization{how->scale, how->zero_point, how->quant_min, how->quant_max});
    for (node* reader : readers) {
        g.replace_all_uses(reader->result(), input.result());
        g.erase(*reader);
    }
    return {};
}

result<void> give_integers(graph& g, node& output, std::size_t count) {
    pmr_vector<signature_quantization> given(output.operand_count);
    for (edge& operand : std::span(output.operands, count)) {
        if (!is_float(*operand.slot)) continue;
        const auto* how = match<quantized_decomposed::dequantize_per_tensor>(*operand.slot);
        if (how == nullptr)
            return unsupported({message_prefix(*operand.source),
                "this output is not dequantized: the model computes it in floating point"});
        given[operand.operand] = {how->scale, how->zero_point, how->quant_min, how->quant_max};
        node& last = *operand.source;
        g.set_operand(operand, how->input);
        erase_dead(g, last);
    }
    g.annotate(output, output_quantizations{g.own(list<signature_quantization>(given))});
    return {};
}

}  // namespace

result<void> take_integers(program& p) {
    graph& g = *p.graph;
    for (node& input : g.inputs()) {
        HEADRACE_TRY(take_integers(g, input));
    }
    return give_integers(g, *g.output(), p.user_outputs);
}

}  // namespace headrace
