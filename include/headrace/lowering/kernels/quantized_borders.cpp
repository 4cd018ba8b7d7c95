// SPDX-License-Identifier: MIT
// Defines the functions of headrace/lowering/kernels/quantized_borders.hpp.

#include <headrace/lowering/kernels/quantized_borders.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/delegate.hpp>
#include <headrace/dialect/executorch.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/ir/edits.hpp>
#include <headrace/ir/regions.hpp>

namespace headrace {

namespace {

using quantize = quantized_decomposed::quantize_per_tensor;
using dequantize = quantized_decomposed::dequantize_per_tensor;

template <class A, class B>
bool are_alike(const A& a, const B& b) {
    return a.scale == b.scale && a.zero_point == b.zero_point && a.quant_min == b.quant_min &&
        a.quant_max == b.quant_max && a.dtype == b.dtype;
}

// True if no integer of a value is outside of the range to which the quantize clamps.
bool is_in_range(value integers, const args<quantize>& a) {
    const std::int64_t half = std::int64_t{1} << (traits_of(a.dtype).bits - 1);
    const bool is_unsigned = a.dtype == dtype::uint8;
    if (a.quant_min <= (is_unsigned ? 0 : -half) && a.quant_max >= (is_unsigned ? 2 * half : half) - 1)
        return true;
    const auto* made = match<quantize>(integers);
    // A delegate clamps its results to the range of the quantize that it replaces.
    return (made != nullptr && are_alike(*made, a)) || is<executorch::call_delegate>(*integers.producer);
}

// Returns the integers if a value is dequantized from them and the quantize gives the same ones. Products of
// more than 16 bits would be rounded in float32.
value integers_of(const args<quantize>& a) {
    const auto* read = match<dequantize>(a.input);
    if (read == nullptr || !are_alike(*read, a) || traits_of(a.dtype).bits > 16) return {};
    const tensor_meta* real = meta_of(a.input);
    const tensor_meta* integers = meta_of(read->input);
    const bool fits = real != nullptr && real->dtype == dtype::float32 && integers != nullptr &&
        integers->dtype == a.dtype && is_in_range(read->input, a);
    return fits ? read->input : value{};
}

template <class Op>
bool is_equal(const node& a, const node& b) {
    const args<Op>& x = args_of<Op>(a);
    const args<Op>& y = args_of<Op>(b);
    if constexpr (requires { x.out_dtype; }) {
        if (x.out_dtype != y.out_dtype) return false;
    }
    return are_alike(x, y);
}

template <class Op>
void merge(graph& g) {
    for_each_graph(g, [](graph& sub) {
        for (node& n : sub.nodes()) {
            std::vector<node*> kept;
            std::vector<node*> readers;
            for (const edge& use : n.uses()) {
                if (is<Op>(*use.target)) readers.push_back(use.target);
            }
            for (node* reader : readers) {
                node* same = nullptr;
                for (node* k : kept) {
                    if (k->operand(0) == reader->operand(0) && is_equal<Op>(*k, *reader)) same = k;
                }
                if (same == nullptr) {
                    kept.push_back(reader);
                    continue;
                }
                if (graph::is_before(*reader, *same)) sub.move_before(*same, reader);
                sub.join_origins(*same, *reader);
                sub.replace_all_uses(reader->result(), same->result());
                sub.erase(*reader);
            }
        }
    });
}

// True if each element of the results is an element of an operand, whatever these are.
bool is_choice(const node& n) {
    constexpr trait choosing = trait::rearranging | trait::splitting | trait::joining | trait::gathering;
    if (holds_regions(*n.op) || n.result_count == 0) return false;
    const auto* put = args_if<aten::index_put>(n);
    return n.op->has(choosing) || (put != nullptr && !put->accumulate);
}
// Returns how all real operands are dequantized; null if they are not, or differ.
const args<dequantize>* alike_operands_of(const node& n) {
    const args<dequantize>* first = nullptr;
    for (const edge& operand : n.operand_edges()) {
        const tensor_meta* meta = meta_of(*operand.slot);
        if (meta == nullptr) return nullptr;
        if (!is_floating(meta->dtype)) continue;
        const auto* read = match<dequantize>(*operand.slot);
        const tensor_meta* integers = read != nullptr ? meta_of(read->input) : nullptr;
        if (integers == nullptr || integers->dtype != read->dtype || meta->dtype != dtype::float32 ||
            (first != nullptr && !are_alike(*first, *read)))
            return nullptr;
        first = read;
    }
    return first;
}
bool is_quantized_so(const node& n, const args<dequantize>& read) {
    const auto gives_same = [&](const edge& use) {
        const auto* a = args_if<quantize>(*use.target);
        return a != nullptr && are_alike(*a, read) &&
            std::ranges::all_of(n.operand_edges(), [&](const edge& operand) {
                const auto* each = match<dequantize>(*operand.slot);
                return each == nullptr || is_in_range(each->input, *a);
            });
    };
    const auto is_real = [](const result_slot& r) { return r.meta && r.meta->dtype == dtype::float32; };
    return traits_of(read.dtype).bits <= 16 && n.first_use != nullptr &&
        std::ranges::all_of(n.uses(), gives_same) &&
        std::all_of(n.results, n.results + n.result_count, is_real);
}
void choose_among_integers(node& n, const args<dequantize>& how) {
    graph& g = *n.owner;
    const dtype type = how.dtype;
    for (edge& operand : std::span(n.operands, n.operand_count)) {
        const auto* read = match<dequantize>(*operand.slot);
        if (read == nullptr) continue;
        node& before = *operand.source;
        g.set_operand(operand, read->input);
        erase_dead(g, before);
    }
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        tensor_meta meta = *n.results[i].meta;
        meta.dtype = type;
        g.set_meta(n.result(i), meta);
    }
    std::vector<node*> readers;
    for (const edge& use : n.uses()) readers.push_back(use.target);
    for (node* const reader : readers) {
        g.replace_all_uses(reader->result(), reader->operand(0));
        g.erase(*reader);
    }
}

}  // namespace

void remove_requantization(graph& g) {
    for_each_node(g, [](node& n) {
        const auto* a = args_if<quantize>(n);
        const value integers = a != nullptr ? integers_of(*a) : value{};
        if (!integers) return;
        node& read = *a->input.producer;
        n.owner->replace_all_uses(n.result(), integers);
        n.owner->erase(n);
        erase_dead(*read.owner, read);
    });
}

void merge_quantizers(graph& g) { merge<quantize>(g); }
void merge_dequantizers(graph& g) { merge<dequantize>(g); }

std::vector<const provenance*> choose_integers(graph& g) {
    std::vector<const provenance*> chosen;
    std::vector<node*> choices;  // first, as readers are erased
    for_each_node(g, [&](node& n) {
        if (is_choice(n)) choices.push_back(&n);
    });
    for (node* n : choices) {
        const args<dequantize>* const read = alike_operands_of(*n);
        if (read == nullptr || !is_quantized_so(*n, *read)) continue;
        if (const auto* origin = n->find_annotation<provenance>()) chosen.push_back(origin);
        choose_among_integers(*n, *read);
    }
    return chosen;
}

void separate_dequantizers(graph& g, const std::vector<bool>& inside) {
    std::vector<node*> shared;
    for (node& n : g.nodes()) {
        if (n.id < inside.size() && inside[n.id] && n.op->has(trait::dequantizing)) shared.push_back(&n);
    }
    for (node* n : shared) {
        std::vector<edge*> outside;
        for (edge& e : n->uses()) {
            if (e.target->id >= inside.size() || !inside[e.target->id]) outside.push_back(&e);
        }
        if (outside.empty()) continue;
        node& own = g.create(*n->op, n->arguments, n->result_count, n->next);
        own.annotations = n->annotations;
        if (const tensor_meta* meta = meta_of(n->result())) g.set_meta(own.result(), *meta);
        for (edge* e : outside) g.set_operand(*e, own.result());
    }
}

}  // namespace headrace
