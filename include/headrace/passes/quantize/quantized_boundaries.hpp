// SPDX-License-Identifier: MIT
// Defines the passes that make integers of the values that regions and programs take and return:
// headrace::lower_quantized_control_flow and headrace::quantize_interface.
#ifndef HEADRACE_PASSES_QUANTIZE_QUANTIZED_BOUNDARIES_HPP
#define HEADRACE_PASSES_QUANTIZE_QUANTIZED_BOUNDARIES_HPP

#include <algorithm>

#include <headrace/infer/higher_order.hpp>
#include <headrace/ir/edits.hpp>
#include <headrace/ir/signature.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/passes/quantize/fixed_point.hpp>

namespace headrace {

/// Makes regions take and return integers in place of dequantized values: they dequantize their inputs and
/// quantize their outputs. The results of a cond get the quantization in which they are read, or the common
/// one of both branches. A value that a loop carries keeps the quantization of its first value if the body
/// returns that one; otherwise it gets one of 32 bits that covers both.
struct lower_quantized_control_flow : pass {
    static constexpr std::string_view summary = "cond and while_loop take, carry and give integers";

    static auto rewrites() {
        return rules(on<higher_order::cond> = code<branches>(), on<higher_order::while_loop> = code<loop>());
    }

private:
    using made = joined<ops<higher_order::cond, higher_order::while_loop>, fixed_point_ops, dequantize_ops,
        ops<quantized_decomposed::quantize_per_tensor>>;  // the last one in regions only
    using regions = std::initializer_list<graph*>;

    /// How a value is quantized, and the dtype of its integers.
    struct coding {
        quantization parameters;
        dtype type;
    };
    using codings = pmr_vector<std::optional<coding>>;  // nothing for values that are left unchanged

    static std::optional<value_list> branches(emit<made> e, const args<higher_order::cond>& a) {
        const regions both{a.true_graph, a.false_graph};
        const value_list operands = take_integers(e, both, a.operands, 0);
        codings results;
        for (std::uint32_t i = 0; i != e.current().result_count; ++i) {
            results.push_back(coding_of_result(e, i, *a.true_graph, *a.false_graph));
            if (!results.back()) continue;
            for (graph* region : both) quantize_output(*region, i, *results.back());
        }
        if (are_same(operands, a.operands) && is_empty(results)) return std::nullopt;
        node* n = e.make_node<higher_order::cond>(
            {.pred = a.pred, .true_graph = a.true_graph, .false_graph = a.false_graph, .operands = operands});
        return dequantized_results(e, n, results);
    }

    static std::optional<value_list> loop(emit<made> e, const args<higher_order::while_loop>& a) {
        const regions both{a.cond_graph, a.body_graph};
        const list<value> given = a.body_graph->outputs();
        value_list carried;
        codings results;
        for (std::size_t i = 0; i != a.carried_inputs.size(); ++i) {
            const value first = a.carried_inputs[i];
            const auto integers = carry_integers(e, first, given[i], input_at(*a.body_graph, i));
            carried.push_back(integers ? integers->second : first);
            results.push_back(integers ? std::optional(integers->first) : std::nullopt);
            if (!integers) continue;
            for (graph* region : both) dequantize_input(*region, i, *results.back());
            quantize_output(*a.body_graph, i, *results.back());
        }
        const value_list additional = take_integers(e, both, a.additional_inputs, carried.size());
        if (is_empty(results) && are_same(additional, a.additional_inputs)) return std::nullopt;
        node* n = e.make_node<higher_order::while_loop>({.cond_graph = a.cond_graph,
            .body_graph = a.body_graph,
            .carried_inputs = carried,
            .additional_inputs = additional});
        return dequantized_results(e, n, results);
    }

    static bool is_empty(const codings& all) {
        return std::ranges::none_of(all, [](const auto& c) { return c.has_value(); });
    }
    static bool are_same(const value_list& a, list<value> b) { return std::ranges::equal(a, b); }

    // --- the boundaries of regions ---------------------------------------------------------------------

    static node* input_at(graph& region, std::size_t position) {
        for (node& n : region.inputs()) {
            if (position-- == 0) return &n;
        }
        return nullptr;
    }

    // Returns the integers of operands that are dequantized; the regions dequantize them instead.
    static value_list take_integers(
        emit<reading_ops> e, const regions& takers, list<value> operands, std::size_t first_input) {
        value_list taken;
        for (std::size_t i = 0; i != operands.size(); ++i) {
            const auto read = as_dequantized_per_tensor(e, operands[i]);
            taken.push_back(read ? read->integers : operands[i]);
            if (!read) continue;
            for (graph* region : takers)
                dequantize_input(*region, first_input + i, {read->parameters, e.dtype(read->integers)});
        }
        return taken;
    }

    static void dequantize_input(graph& region, std::size_t position, const coding& c) {
        node* input = input_at(region, position);
        if (input == nullptr) return;
        const tensor_meta real = *input->results[0].meta;
        node* after_inputs = region.first();
        while (after_inputs != nullptr && is<builtin::placeholder>(*after_inputs))
            after_inputs = after_inputs->next;
        node& read = region.create<quantized_decomposed::dequantize_per_tensor>(
            dequantize_args(input->result(), c.parameters, c.type), after_inputs);
        region.set_meta(read.result(), real);
        region.inherit_annotations(read, *input);
        region.replace_all_uses(input->result(), read.result(), &read);
        region.set_meta(input->result(), {c.type, real.shape, {}});
    }

    static void quantize_output(graph& region, std::size_t position, const coding& c) {
        node* out = region.output();
        if (out == nullptr || position >= out->operand_count) return;
        const value real = out->operand(position);
        node& quantize = region.create<quantized_decomposed::quantize_per_tensor>(
            quantize_args(real, c.parameters, c.type), out);
        region.set_meta(quantize.result(), {c.type, meta_of(real)->shape, {}});
        region.inherit_annotations(quantize, *real.producer);
        region.set_operand(out->operands[position], quantize.result());
    }

    static value_list dequantized_results(emit<dequantize_ops> e, node* n, const codings& results) {
        value_list values;
        for (std::uint32_t i = 0; n != nullptr && i != n->result_count; ++i) {
            const value v = n->result(i);
            values.push_back(results[i] ? dequantize(e, {v, results[i]->parameters}) : v);
        }
        return values;
    }

    // --- the quantization of regions' results -------------------------------------------------------------

    // Returns INT32 with room for all operands, and for values computed from them.
    static coding of_32_bits(const emitter& e, std::initializer_list<const fixed_point*> operands) {
        return {quantization::symmetric(working_scale(e, operands), 1 << 30), dtype::int32};
    }

    // Returns the quantization that all readers give the result; nothing if they differ or one does not.
    static std::optional<coding> coding_of_readers(const node& n, std::uint32_t result) {
        std::optional<coding> common;
        for (const edge& use : n.uses()) {
            if (use.slot->result != result) continue;
            const auto* q = args_if<quantized_decomposed::quantize_per_tensor>(*use.target);
            if (q == nullptr || (common && !(common->parameters == quantization_of(*q)))) return std::nullopt;
            common = coding{quantization_of(*q), q->dtype};
        }
        return common;
    }

    // Returns the readers' quantization, or the one both branches dequantize from; else a new one for both.
    static std::optional<coding> coding_of_result(
        const emitter& e, std::uint32_t i, const graph& on_true, const graph& on_false) {
        if (auto common = coding_of_readers(e.current(), i)) return common;
        pmr_vector<fixed_point> given;
        for (const graph* branch : {&on_true, &on_false}) {
            if (auto read = if_per_tensor(match_dequantize(branch->outputs()[i])))
                given.push_back({std::move(read)});
        }
        if (given.empty()) return std::nullopt;
        const dequantized& first = *given.front().read;
        if (given.size() == 2 && first.parameters == given.back().read->parameters)
            return coding{first.parameters, meta_of(first.integers)->dtype};
        return of_32_bits(e, {&given.front(), &given.back()});
    }

    // Returns how a loop carries a value that is `first`, then `next`, and `first` in that form.
    static std::optional<std::pair<coding, value>> carry_integers(
        emit<fixed_point_ops> e, value first, value next, const node* input) {
        const auto x = is_real(first) ? as_fixed_point(e, first) : std::nullopt;
        auto given = if_per_tensor(match_dequantize(next));
        if (!x || (!x->read && !given)) return std::nullopt;
        if (x->read && is_quantized_alike(next, input, x->read->parameters))
            return std::pair(coding{x->read->parameters, e.dtype(x->read->integers)}, x->read->integers);
        const fixed_point other = given ? fixed_point{std::move(given)} : *x;
        const coding both = of_32_bits(e, {&*x, &other});
        return std::pair(both, at_scale(e, *x, both.parameters.scale()));
    }

    // True if a value of the body is the carried input, is dequantized alike, or is selected from these.
    static bool is_quantized_alike(value v, const node* input, const quantization& q, int depth = 0) {
        if (v.producer == input) return true;
        if (const auto read = match_dequantize(v)) return read->parameters == q;
        if (!is_selecting(*v.producer) || depth == max_nested) return false;
        const auto operands = v.producer->operand_edges();
        return std::ranges::all_of(operands, [&](const edge& operand) {
            return !is_real(*operand.slot) || is_quantized_alike(*operand.slot, input, q, depth + 1);
        });
    }
};

/// Leaves the quantize after a program's input, and the dequantize before its output, to the caller: the
/// graph takes and returns integers, and its annotations describe their quantization (ir/signature.hpp). An
/// input that is quantized in several ways uses the quantization with the most bits, and among these the one
/// with the widest range.
struct quantize_interface : pass {
    using runs_after = pass_list<quantized_ops_lowered>;
    using runs_before = pass_list<narrow_types>;
    using ensures = pass_list<interface_quantized>;
    static constexpr std::string_view summary = "inputs and outputs as integers: the caller quantizes";
    using targeted_ops =
        ops<quantized_decomposed::quantize_per_tensor, quantized_decomposed::dequantize_per_tensor>;
    using produces = joined<requantize_ops, reading_ops>;

    result<std::size_t> operator()(graph& g, pass_context& context) const {
        std::size_t changed = 0;
        for (node& n : g.inputs()) changed += take_integers(g, n, context);
        if (g.output() != nullptr) changed += give_integers(g, *g.output(), context);
        return changed;
    }

private:
    using quantize = quantized_decomposed::quantize_per_tensor;

    static signature_quantization described(const quantization& q) {
        return {q.scale(), q.zero_point(), q.lowest, q.highest};
    }

    // Returns the precision and the range of the numbers that a quantize preserves.
    static std::pair<unsigned, double> extent(const node* quantizing) {
        const args<quantize>& a = args_of<quantize>(*quantizing);
        return {traits_of(a.dtype).bits, a.scale * static_cast<double>(a.quant_max - a.quant_min)};
    }

    static std::size_t take_integers(graph& g, node& input, pass_context& context) {
        pmr_vector<node*> readers;
        for (const edge& use : input.uses()) {
            if (!is<quantize>(*use.target)) return 0;
            readers.push_back(use.target);
        }
        if (readers.empty()) return 0;
        const args<quantize>& widest = args_of<quantize>(**std::ranges::max_element(
            readers, [](const node* a, const node* b) { return extent(a) < extent(b); }));
        const dequantized taken{input.result(), quantization_of(widest)};
        g.set_meta(input.result(), {widest.dtype, meta_of(input.result())->shape, {}});
        g.annotate(input, described(taken.parameters));
        for (node* reader : readers) {
            emission made(g, reader, reader, context);
            emit<produces> e(made);
            const args<quantize>& a = args_of<quantize>(*reader);
            const value integers = requantize(e, taken, quantization_of(a), a.dtype);
            if (!integers) continue;
            g.replace_all_uses(reader->result(), integers);
            g.erase(*reader);
        }
        return 1;
    }

    static std::size_t give_integers(graph& g, node& output, pass_context& context) {
        pmr_vector<signature_quantization> given(output.operand_count);
        std::size_t changed = 0;
        for (edge& operand : std::span(output.operands, output.operand_count)) {
            emission made(g, &output, &output, context);
            const auto read = as_dequantized_per_tensor(emit<produces>(made), *operand.slot);
            if (!read) continue;
            node* last = operand.source;
            g.set_operand(operand, read->integers);
            erase_dead(g, *last);
            given[operand.operand] = described(read->parameters);
            ++changed;
        }
        if (changed != 0) {
            g.annotate(output, output_quantizations{g.own(list<signature_quantization>(given))});
        }
        return changed;
    }
};
HEADRACE_COMPILED_PASS(quantize_interface);

}  // namespace headrace

#endif
