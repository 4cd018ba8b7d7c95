// SPDX-License-Identifier: MIT
// Defines headrace::quantize_interface.
#ifndef HEADRACE_PASSES_QUANTIZE_QUANTIZE_INTERFACE_HPP
#define HEADRACE_PASSES_QUANTIZE_QUANTIZE_INTERFACE_HPP

#include <algorithm>
#include <string_view>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/ir/edits.hpp>
#include <headrace/ir/signature.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/quantize/quantizer.hpp>

namespace headrace {

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
        const args<quantize>& widest = args_of<quantize>(**std::max_element(readers.begin(), readers.end(),
            [](const node* a, const node* b) { return extent(a) < extent(b); }));
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
