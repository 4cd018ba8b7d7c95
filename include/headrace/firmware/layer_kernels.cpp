// SPDX-License-Identifier: MIT
// Writes layers: an operator with element-wise ones around it.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include <headrace/firmware/layer_writer.hpp>
#include <headrace/firmware/scaled_result.hpp>
#include <headrace/ir/meta_text.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace::firmware {

namespace {

// A tensor as it is read where the result has these sizes: its last axes are the result's last ones, and an
// axis of size 1 is read again and again.
on_device::tensor broadcast(const on_device::tensor& t, const on_device::tensor& to) {
    on_device::tensor read = t;
    read.rank = to.rank;
    for (int d = 0, from = t.rank - to.rank; d != to.rank; ++d, ++from) {
        const bool is_there = from >= 0 && t.size[from] == to.size[d];
        read.size[d] = to.size[d];
        read.stride[d] = is_there ? t.stride[from] : 0;
    }
    return read;
}

}  // namespace

// Writes the function of the operators after an operator's own result `first`, and the operands that it
// reads.
result<std::string> layer_writer::finish(const layer_body& body, std::span<const node* const> nodes,
    value first, std::vector<operand>& extras, const on_device::tensor& out) {
    if (nodes.empty()) return std::string("hr::as_it_is");
    const auto outside = [&](value v) { return body.outside(v); };
    HEADRACE_TRY(function,
        done_.functions.add(nodes.back()->op->name.substr(5), nodes, first, done_.constants, outside));
    for (const value v : function.parameters) {
        HEADRACE_TRY(extra, operand_of(body.outside(v)));
        extra.type = broadcast(extra.type, out);
        extras.push_back(std::move(extra));
    }
    return "functions::" + function.name;
}

result<void> layer_writer::write(device::elementwise, const args<device::elementwise>& a, const node& n) {
    const layer_body body({a.inputs, a.body});
    HEADRACE_TRY(to, add_result(n));
    std::vector<operand> operands;
    HEADRACE_TRY(function, finish(body, body.nodes, {}, operands, to.type));
    std::string types = fmt::format("hr::elementwise<{}, {}", function, format_tensor(to.type));
    for (const operand& o : operands) types += ", " + format_tensor(o.type);
    operands.push_back(at(to));
    call_kernel(n, types + '>', operands);
    return {};
}

result<void> layer_writer::write(device::reduction, const args<device::reduction>& a, const node& n) {
    const layer_body body({a.inputs, a.body});
    const auto reduces = [](const node* m) { return m->op->has(trait::reduction); };
    const auto anchor = std::ranges::find_if(body.nodes, reduces);
    const node& reduction = **anchor;
    const std::span before(body.nodes.begin(), anchor);
    const value reduced = reduction.operand(0);
    std::vector<operand> operands;
    std::string start = "hr::as_it_is";
    if (before.empty()) {
        HEADRACE_TRY(from, operand_of(body.outside(reduced)));
        operands.push_back(from);
    } else {
        const auto shape = dense_tensor(*meta_of(reduced));
        if (!shape) return refuse(n, "kernels of microcontrollers do not compute with this type");
        HEADRACE_TRY(function, finish(body, before, {}, operands, *shape));
        start = function;
    }
    HEADRACE_TRY(to, add_result(n));
    std::vector<operand> extras;
    HEADRACE_TRY(end,
        finish(body, std::span(std::next(anchor), body.nodes.end()), {const_cast<node*>(&reduction), 0},
            extras, to.type));
    if (operands.size() != 1 || !extras.empty()) return refuse(n, "a reduction reads one tensor");
    std::string kind(reduction.op->name.substr(std::string_view("tosa.REDUCE_").size()));
    std::ranges::transform(kind, kind.begin(), [](char c) { return static_cast<char>(c - 'A' + 'a'); });
    std::int64_t axis = 0;
    nan_mode mode = nan_mode::propagate;
    using reductions = ops<tosa::reduce_all, tosa::reduce_any, tosa::reduce_max, tosa::reduce_min,
        tosa::reduce_product, tosa::reduce_sum>;
    visit_args(reductions{}, reduction, [&](auto, const auto& of) {
        axis = of.axis;
        if constexpr (requires { of.nan_mode; }) mode = of.nan_mode;
    });
    std::string text = fmt::format(
        "hr::reduce<hr::reduction{{.input = {}, .output = {}, .axis = {}, .kind = "
        "hr::reduction_kind::{}{}}}, {}, {}>",
        format_tensor(operands[0].type), format_tensor(to.type), axis, kind,
        mode == nan_mode::ignore ? ", .nan = hr::nan_mode::ignore" : "", start, end);
    call_kernel(n, text, {operands[0], at(to)});
    return {};
}

result<void> layer_writer::write(device::pooling, const args<device::pooling>& layer, const node& n) {
    const layer_body body({layer.inputs, layer.body});
    const node& anchor = *body.nodes.front();
    const auto* const average = args_if<tosa::avg_pool2d>(anchor);
    const auto* const maximum = args_if<tosa::max_pool2d>(anchor);
    HEADRACE_TRY(from, operand_of(body.outside(anchor.operand(0))));
    HEADRACE_TRY(to, add_result(n));
    std::vector<operand> extras;
    HEADRACE_TRY(
        function, finish(body, others(body, anchor), {const_cast<node*>(&anchor), 0}, extras, to.type));
    if (!extras.empty()) return refuse(n, "a pool reads one tensor");
    const auto window = [](const auto& a) {
        return fmt::format(".kernel = {{{}, {}}}, .stride = {{{}, {}}}, .pad = {{{}, {}, {}, {}}}",
            a.kernel[0], a.kernel[1], a.stride[0], a.stride[1], a.pad[0], a.pad[1], a.pad[2], a.pad[3]);
    };
    std::string text = fmt::format("hr::{}<hr::pooling{{.input = {}, .output = {}, {}",
        average != nullptr ? "avg_pool2d" : "max_pool2d", format_tensor(from.type), format_tensor(to.type),
        average != nullptr ? window(*average) : window(*maximum));
    if (average != nullptr && !is_floating(from.type.type)) {
        const auto zero = constant_integer(body.outside(average->input_zp)),
                   out = constant_integer(body.outside(average->output_zp));
        if (!zero || !out) return refuse(n, "its zero point is computed");
        text += fmt::format(", .input_zero = {}, .output_zero = {}", *zero, *out);
    }
    if (maximum != nullptr && maximum->nan_mode == nan_mode::ignore) text += ", .nan = hr::nan_mode::ignore";
    call& made = call_kernel(n, fmt::format("{}}}, {}>", text, function), {from, at(to)});
    if (average == nullptr) return {};
    made.kernel = "windows";
    if (core_.set == on_device::core_id::portable) return {};
    if (from.type.type != on_device::element::int8)
        made.because = "the input is not int8";
    else if (from.type.stride[2] != 1)
        made.because = "the channels are not planes";
    return {};
}

}  // namespace headrace::firmware
