// SPDX-License-Identifier: MIT
// Defines headrace::lower_quantized_control_flow.
#ifndef HEADRACE_PASSES_QUANTIZE_LOWER_QUANTIZED_CONTROL_FLOW_HPP
#define HEADRACE_PASSES_QUANTIZE_LOWER_QUANTIZED_CONTROL_FLOW_HPP

#include <algorithm>
#include <initializer_list>
#include <memory_resource>
#include <optional>
#include <utility>
#include <vector>

#include <headrace/infer/higher_order.hpp>
#include <headrace/passes/quantize/fixed_point.hpp>

namespace headrace {

/// Regions take and give codes in place of dequantized values; they dequantize what they take and quantize
/// what they give themselves. The results of a cond get the quantization in which they are read, or that of
/// both branches. What a loop carries keeps one quantization: that of its first value, where the body gives
/// the same. Else it is one of 32 bits that holds both.
struct lower_quantized_control_flow : pass {
    using targets = ops<higher_order::cond, higher_order::while_loop>;
    using produces =
        joined<targets, fixed_point_ops, dequantize_ops, ops<quantized_decomposed::quantize_per_tensor>>;

    std::optional<value_list> operator()(const args<higher_order::cond>& a, auto& e) const {
        value_list operands;
        bool changed = false;
        for (std::size_t i = 0; i != a.operands.size(); ++i) {
            const auto read = as_dequantized(e, a.operands[i]);
            const bool takes_codes = read && read->parameters.is_per_tensor();
            operands.push_back(takes_codes ? read->codes : a.operands[i]);
            if (!takes_codes) continue;
            changed = true;
            for (graph* region : {a.true_graph, a.false_graph})
                take_codes(*region, i, read->parameters, e.dtype(read->codes));
        }
        std::pmr::vector<std::optional<coded>> results;
        for (std::uint32_t i = 0; i != e.current().result_count; ++i) {
            results.push_back(coding_of_result(e, i, *a.true_graph, *a.false_graph));
            if (!results.back()) continue;
            changed = true;
            for (graph* region : {a.true_graph, a.false_graph}) give_codes(*region, i, *results.back());
        }
        if (!changed) return std::nullopt;
        node* made = e.template make_node<higher_order::cond>(
            {.pred = a.pred, .true_graph = a.true_graph, .false_graph = a.false_graph, .operands = operands});
        return dequantized_results(e, made, results);
    }

    std::optional<value_list> operator()(const args<higher_order::while_loop>& a, auto& e) const {
        value_list carried;
        std::pmr::vector<std::optional<coded>> results;
        bool changed = false;
        const list<value> given = a.body_graph->outputs();
        for (std::size_t i = 0; i != a.carried_inputs.size(); ++i) {
            const value first = a.carried_inputs[i];
            const auto x = as_fixed_point(e, first);
            results.emplace_back();
            carried.push_back(first);
            if (!x || !detail::is_real(first) || (!x->read && !read_per_tensor(given[i]))) continue;
            const auto [coding, codes] = carried_as(e, *x, given[i], input_at(*a.body_graph, i));
            changed = true;
            carried = with_last(carried, codes);
            results.back() = coding;
            for (graph* region : {a.cond_graph, a.body_graph})
                take_codes(*region, i, coding.parameters, coding.type);
            give_codes(*a.body_graph, i, coding);
        }
        value_list additional;
        for (std::size_t i = 0; i != a.additional_inputs.size(); ++i) {
            const auto read = as_dequantized(e, a.additional_inputs[i]);
            const bool takes_codes = read && read->parameters.is_per_tensor();
            additional.push_back(takes_codes ? read->codes : a.additional_inputs[i]);
            if (!takes_codes) continue;
            changed = true;
            for (graph* region : {a.cond_graph, a.body_graph})
                take_codes(*region, a.carried_inputs.size() + i, read->parameters, e.dtype(read->codes));
        }
        if (!changed) return std::nullopt;
        node* made = e.template make_node<higher_order::while_loop>({.cond_graph = a.cond_graph,
                                                                     .body_graph = a.body_graph,
                                                                     .carried_inputs = carried,
                                                                     .additional_inputs = additional});
        return dequantized_results(e, made, results);
    }

private:
    struct coded {
        quantization parameters;
        dtype type;
    };

    static value_list with_last(const value_list& items, value last) {
        value_list changed;
        for (std::size_t i = 0; i + 1 < items.size(); ++i) changed.push_back(items[i]);
        changed.push_back(last);
        return changed;
    }

    static node* input_at(graph& region, std::size_t position) {
        for (node& n : region.inputs()) {
            if (position-- == 0) return &n;
        }
        return nullptr;
    }

    static void take_codes(graph& region, std::size_t position, const quantization& q, dtype type) {
        node* input = input_at(region, position);
        if (input == nullptr) return;
        const tensor_meta real = *input->results[0].meta;
        node& read = region.create<quantized_decomposed::dequantize_per_tensor>({.input = input->result(),
                                                                                 .scale = q.scale(),
                                                                                 .zero_point = q.zero_point(),
                                                                                 .quant_min = q.lowest,
                                                                                 .quant_max = q.highest,
                                                                                 .dtype = type},
                                                                                first_after_inputs(region));
        region.set_meta(read.result(), real);
        region.inherit_annotations(read, *input);
        region.replace_all_uses(input->result(), read.result(), &read);
        region.set_meta(input->result(), {type, real.shape, {}});
    }
    static node* first_after_inputs(graph& region) {
        node* n = region.first();
        while (n != nullptr && is<builtin::placeholder>(*n)) n = n->next;
        return n;
    }

    static void give_codes(graph& region, std::size_t position, const coded& c) {
        node* out = region.output();
        if (out == nullptr || position >= out->operand_count) return;
        const value real = out->operand(position);
        node& quantize =
            region.create<quantized_decomposed::quantize_per_tensor>({.input = real,
                                                                      .scale = c.parameters.scale(),
                                                                      .zero_point = c.parameters.zero_point(),
                                                                      .quant_min = c.parameters.lowest,
                                                                      .quant_max = c.parameters.highest,
                                                                      .dtype = c.type},
                                                                     out);
        region.set_meta(quantize.result(), {c.type, meta_of(real)->shape, {}});
        region.inherit_annotations(quantize, *real.producer);
        region.set_operand(out->operands[position], quantize.result());
    }

    static std::optional<dequantized> read_per_tensor(value v) {
        auto read = match_dequantize(v);
        return read && read->parameters.is_per_tensor() ? read : std::nullopt;
    }

    // Codes of 32 bits with room for all of those, and for what is computed from them.
    template <class E>
    static coded of_32_bits(E& e, std::initializer_list<const fixed_point*> operands) {
        constexpr std::int64_t most = 1 << 30;
        return {quantization::per_tensor(working_scale(e, operands), 0, -most, most), dtype::int32};
    }

    // In which all readers quantize it, or in which both branches dequantize it; else one for both.
    template <class E>
    static std::optional<coded> coding_of_result(E& e, std::uint32_t i, const graph& yes, const graph& no) {
        std::optional<coded> common;
        bool same = true;
        for (const edge& use : e.current().uses()) {
            if (use.slot->result != i) continue;
            const auto* q = args_if<quantized_decomposed::quantize_per_tensor>(*use.target);
            if (q == nullptr) {
                same = false;
                continue;
            }
            const auto parameters =
                quantization::per_tensor(q->scale, q->zero_point, q->quant_min, q->quant_max);
            same = same && (!common || common->parameters == parameters);
            common = coded{parameters, q->dtype};
        }
        if (common && same) return common;
        std::pmr::vector<fixed_point> given;
        for (const graph* branch : {&yes, &no}) {
            if (auto read = read_per_tensor(branch->outputs()[i])) given.push_back({std::move(read)});
        }
        if (given.empty()) return std::nullopt;
        const dequantized& first = *given.front().read;
        if (given.size() == 2 && first.parameters == given.back().read->parameters)
            return coded{first.parameters, meta_of(first.codes)->dtype};
        return of_32_bits(e, {&given.front(), &given.back()});
    }

    template <class E>
    static std::pair<coded, value> carried_as(E& e, const fixed_point& first, value next, const node* input) {
        if (first.read && has_codes(next, input, first.read->parameters))
            return {coded{first.read->parameters, e.dtype(first.read->codes)}, first.read->codes};
        fixed_point other = first;
        if (auto read = read_per_tensor(next)) other = fixed_point{std::move(read)};
        const coded coding = of_32_bits(e, {&first, &other});
        return {coding, at_scale(e, first, coding.parameters.scale())};
    }

    // Is a value of the body what it was given, or dequantized alike, or selected from such?
    static bool has_codes(value v, const node* input, const quantization& q, int depth = 0) {
        if (v.producer == input) return true;
        if (const auto read = match_dequantize(v)) return read->parameters == q;
        if (!detail::is_selecting(*v.producer) || depth == most_nested) return false;
        const auto operands = v.producer->operand_edges();
        return std::all_of(operands.begin(), operands.end(), [&](const edge& operand) {
            return !detail::is_real(*operand.slot) || has_codes(*operand.slot, input, q, depth + 1);
        });
    }

    template <class E>
    static value_list dequantized_results(E& e, node* made,
                                          const std::pmr::vector<std::optional<coded>>& codings) {
        value_list results;
        for (std::uint32_t i = 0; made != nullptr && i != made->result_count; ++i) {
            const value v = made->result(i);
            results.push_back(codings[i] ? dequantize(e, {v, codings[i]->parameters}) : v);
        }
        return results;
    }
};

}  // namespace headrace

#endif
