// SPDX-License-Identifier: MIT
// Defines the functions of headrace/lowering/image_layout.hpp.

#include <headrace/lowering/image_layout.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/ir/edits.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/signature.hpp>

namespace headrace {

namespace {

using quantize = quantized_decomposed::quantize_per_tensor;
using dequantize = quantized_decomposed::dequantize_per_tensor;

bool is_image(value v) {
    const tensor_meta* meta = meta_of(v);
    return meta != nullptr && meta->rank() == 4;
}
tensor_meta with_channels_last(const tensor_meta& t) {
    return {t.dtype, {t.shape[0], t.shape[2], t.shape[3], t.shape[1]}, {}};
}

// Returns the permuted value, which is computed before that node.
value permuted(graph& g, value v, const int_list& dims, const tensor_meta& meta, node* before) {
    const value made = g.create<aten::permute>({.self = v, .dims = dims}, before).result();
    g.set_meta(made, meta);
    g.set_name(made, join_text(v.producer->name(), "_permuted"));
    return made;
}
value channels_first(graph& g, node& image, const tensor_meta& exported) {
    return permuted(g, image.result(), {0, 3, 1, 2}, exported, image.next);
}
value channels_last(graph& g, value exported, node& before) {
    return permuted(g, exported, {0, 2, 3, 1}, with_channels_last(*meta_of(exported)), &before);
}

void take_channels_last(graph& g, node& input) {
    if (!is_image(input.result())) return;
    g.annotate(input, channels_last_signature{true});
    pmr_vector<node*> readers;
    for (const edge& use : input.uses()) {
        if (is<quantize>(*use.target)) readers.push_back(use.target);
    }
    const tensor_meta exported = *meta_of(input.result());
    const bool are_all = std::ranges::distance(input.uses()) == std::ssize(readers);
    g.set_meta(input.result(), with_channels_last(exported));
    if (!are_all) {
        const value first = channels_first(g, input, exported);
        g.replace_all_uses(input.result(), first, first.producer);
    }
    for (node* q : readers) {
        const tensor_meta integers = *meta_of(q->result());
        g.set_operand(q->operands[0], input.result());
        g.set_meta(q->result(), with_channels_last(integers));
        const value first = channels_first(g, *q, integers);
        g.replace_all_uses(q->result(), first, first.producer);
    }
}

// True if nothing can write to the value in place.
bool is_only_read(value v) {
    return std::ranges::none_of(v.producer->uses(),
        [](const edge& use) { return use.target->op->has(trait::in_place | trait::aliasing); });
}

value channels_last_output(graph& g, value v, node& output) {
    const auto* real = match<dequantize>(v);
    if (real == nullptr || !is_only_read(v)) return channels_last(g, v, output);
    args<dequantize> a = *real;
    a.input = channels_last(g, a.input, output);
    node& made = g.create<dequantize>(a, &output);
    made.annotations = v.producer->annotations;
    g.set_meta(made.result(), with_channels_last(*meta_of(v)));
    g.set_name(made.result(), v.producer->name());
    return made.result();
}

// Keeps the exported names when other nodes compute the outputs.
void name_outputs(graph& g, node& output) {
    if (output.find_annotation<output_names>() != nullptr) return;
    pmr_vector<std::string_view> names;
    for (const value v : g.outputs()) names.push_back(v.producer->results[v.result].name);
    g.annotate(output, output_names{g.own(list<std::string_view>(names))});
}

void give_channels_last(graph& g, node& output, std::size_t count) {
    const list<value> given = g.outputs();
    const std::vector<value> exported(given.begin(), given.end());
    for (std::size_t i = 0; i != count; ++i) {
        if (!is_image(exported[i])) continue;
        name_outputs(g, output);
        g.annotate(output, channels_last_signature{true});
        // A value that is returned twice stays one, as outputs of one name have to be.
        const auto first =
            static_cast<std::size_t>(std::ranges::find(exported, exported[i]) - exported.begin());
        g.set_operand(output.operands[i],
            first == i ? channels_last_output(g, exported[i], output) : output.operand(first));
    }
    for (const value v : exported) erase_dead(g, *v.producer);
}

}  // namespace

void take_channels_last(program& p) {
    graph& g = *p.graph;
    for (node& input : g.inputs()) take_channels_last(g, input);
    node& output = *g.output();
    give_channels_last(g, output, std::min<std::size_t>(p.user_outputs, output.operand_count));
}

}  // namespace headrace
