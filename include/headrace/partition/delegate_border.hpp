// SPDX-License-Identifier: MIT
// Defines the conversions of values between a host graph and its delegates, for headrace::to_backend.
#ifndef HEADRACE_PARTITION_DELEGATE_BORDER_HPP
#define HEADRACE_PARTITION_DELEGATE_BORDER_HPP

#include <cstddef>
#include <cstdint>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/delegate.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/signature.hpp>

namespace headrace::detail {

/// Adds the conversions between host and delegate to the host graph: quantize, dequantize, cast.
class delegate_border {
public:
    delegate_border(graph& host, node& call) : host_(host), call_(call) {}

    void write() {
        graph& program = *args_of<delegate::call_delegate>(call_).lowered_graph;
        std::size_t i = 0;
        for (node& input : program.inputs()) {
            if (i != call_.operand_count) write_input(input, call_.operands[i++]);
        }
        node* const out = program.output();
        const auto* quantized = out->find_annotation<output_quantizations>();
        for (std::uint32_t k = 0; k != call_.result_count; ++k) {
            const signature_quantization* q =
                quantized != nullptr && k < quantized->values.size() ? &quantized->values[k] : nullptr;
            write_output(k, meta_of(program.outputs()[k]), q != nullptr && q->scale != 0 ? q : nullptr);
        }
        if (quantized != nullptr) program.annotate(*out, output_quantizations{});
    }

private:
    void write_input(node& input, edge& operand) {
        const tensor_meta* wanted = meta_of(input.result());
        const value given = *operand.slot;
        if (wanted == nullptr || meta_of(given) == nullptr) return;
        const auto* q = input.find_annotation<signature_quantization>();
        node* made = nullptr;
        if (q != nullptr && q->scale != 0) {
            made = &host_.create<quantized_decomposed::quantize_per_tensor>(
                {given, q->scale, q->zero_point, q->lowest, q->highest, wanted->dtype}, &call_);
            input.owner->annotate(input, signature_quantization{});
        } else if (wanted->dtype != meta_of(given)->dtype) {
            made = &host_.create<aten::to_dtype>({.self = given, .dtype = wanted->dtype}, &call_);
        }
        if (made == nullptr) return;
        host_.set_meta(made->result(), *wanted);
        host_.set_operand(operand, made->result());
    }
    void write_output(std::uint32_t k, const tensor_meta* given, const signature_quantization* q) {
        const value before = call_.result(k);
        const tensor_meta* said = meta_of(before);
        if (given == nullptr || said == nullptr || (q == nullptr && given->dtype == said->dtype)) return;
        const tensor_meta wanted = *said;
        node& made = q != nullptr
            ? host_.create<quantized_decomposed::dequantize_per_tensor>(
                  {before, q->scale, q->zero_point, q->lowest, q->highest, given->dtype}, call_.next)
            : host_.create<aten::to_dtype>({.self = before, .dtype = wanted.dtype}, call_.next);
        host_.set_meta(before, *given);
        host_.set_meta(made.result(), wanted);
        host_.set_name(made.result(), before.producer->results[k].name);
        host_.set_name(before, {});
        host_.replace_all_uses(before, made.result(), &made);
    }

    graph& host_;
    node& call_;
};

}  // namespace headrace::detail

#endif
