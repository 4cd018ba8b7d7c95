// SPDX-License-Identifier: MIT
// Writes layers: an operator with element-wise ones around it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include <headrace/firmware/layer_writer.hpp>
#include <headrace/ir/meta_text.hpp>
#include <headrace/on_device/choice.hpp>
#include <headrace/on_device/convolution.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace::firmware {

namespace {

using on_device::tensor;

// A tensor as it is read where the result has these sizes: its last axes are the result's last ones, and an axis of
// size 1 is read again and again.
tensor broadcast(const tensor& t, const tensor& to) {
    tensor read = t;
    read.rank = to.rank;
    for (int d = 0, from = t.rank - to.rank; d != to.rank; ++d, ++from) {
        const bool is_there = from >= 0 && t.size[from] == to.size[d];
        read.size[d] = to.size[d];
        read.stride[d] = is_there ? t.stride[from] : 0;
    }
    return read;
}

on_device::core_id id_of(const core_description& core) {
    return core.set == "mve" ? on_device::core_id::mve : core.set == "dsp" ? on_device::core_id::dsp : on_device::core_id::portable;
}

std::span<const node* const> behind(const std::vector<const node*>& nodes, const node* last) {
    const auto found = std::ranges::find(nodes, last);
    return std::span(nodes).subspan(static_cast<std::size_t>(found - nodes.begin()) + (found != nodes.end()));
}

}  // namespace

// What is computed behind an operator's own result `first`: the type of a function, with the operands that it reads.
result<std::string> layer_writer::finish(const layer_body& body, std::span<const node* const> nodes, value first,
                                         std::vector<operand>& extras, const tensor& out) {
    if (nodes.empty()) return std::string("hr::as_it_is");
    const auto outside = [&](value v) { return body.outside(v); };
    HEADRACE_TRY(function, done_.functions.add(nodes.back()->op->name.substr(5), nodes, first, done_.constants, outside));
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
    std::string types = fmt::format("hr::elementwise<{}, {}", function, tensor_text(to.type));
    for (const operand& o : operands) types += ", " + tensor_text(o.type);
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
    HEADRACE_TRY(end, finish(body, behind(body.nodes, &reduction), {const_cast<node*>(&reduction), 0}, extras, to.type));
    if (operands.size() != 1 || !extras.empty()) return refuse(n, "a reduction reads one tensor");
    std::string kind(reduction.op->name.substr(std::string_view("tosa.REDUCE_").size()));
    std::ranges::transform(kind, kind.begin(), [](char c) { return static_cast<char>(c - 'A' + 'a'); });
    std::int64_t axis = 0;
    nan_mode mode = nan_mode::propagate;
    const auto look = [&]<class... Ops>(ops<Ops...>) {
        const auto take = [&](const auto* r) {
            if (r == nullptr) return;
            axis = r->axis;
            if constexpr (requires { r->nan_mode; }) mode = r->nan_mode;
        };
        (take(args_if<Ops>(reduction)), ...);
    };
    look(ops<tosa::reduce_all, tosa::reduce_any, tosa::reduce_max, tosa::reduce_min, tosa::reduce_product, tosa::reduce_sum>{});
    std::string text = fmt::format("hr::reduce<hr::reduction{{.input = {}, .output = {}, .axis = {}, .kind = hr::reduction_kind::{}{}}}, {}, {}>",
        tensor_text(operands[0].type), tensor_text(to.type), axis, kind, mode == nan_mode::ignore ? ", .nan = hr::nan_mode::ignore" : "", start, end);
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
    HEADRACE_TRY(function, finish(body, behind(body.nodes, &anchor), {const_cast<node*>(&anchor), 0}, extras, to.type));
    if (!extras.empty()) return refuse(n, "a pool reads one tensor");
    const auto window = [](const auto& a) {
        return fmt::format(".kernel = {{{}, {}}}, .stride = {{{}, {}}}, .pad = {{{}, {}, {}, {}}}", a.kernel[0], a.kernel[1],
                           a.stride[0], a.stride[1], a.pad[0], a.pad[1], a.pad[2], a.pad[3]);
    };
    std::string text = fmt::format("hr::{}<hr::pooling{{.input = {}, .output = {}, {}", average != nullptr ? "avg_pool2d" : "max_pool2d",
                                   tensor_text(from.type), tensor_text(to.type), average != nullptr ? window(*average) : window(*maximum));
    if (average != nullptr && from.type.type != on_device::element::float32) {
        const auto zero = constant_integer(body.outside(average->input_zp)), out = constant_integer(body.outside(average->output_zp));
        if (!zero || !out) return refuse(n, "its zero point is computed");
        text += fmt::format(", .input_zero = {}, .output_zero = {}", *zero, *out);
    }
    if (maximum != nullptr && maximum->nan_mode == nan_mode::ignore) text += ", .nan = hr::nan_mode::ignore";
    call_kernel(n, fmt::format("{}}}, {}>", text, function), {from, at(to)});
    return {};
}

// --- convolutions ------------------------------------------------------------------------

namespace {

struct window_attributes {
    value input, weight, bias, input_zp, weight_zp;
    int_list pad, stride, dilation;
};
template <class Args>
window_attributes attributes_of(const Args& a) {
    return {a.input, a.weight, a.bias, a.input_zp, a.weight_zp, a.pad, a.stride, a.dilation};
}

// Weights, one channel of the output after the other, each in the order in which a window is read.
std::vector<std::size_t> window_order(bool is_depthwise, const int_list& shape, std::int64_t channels) {
    std::vector<std::size_t> order;
    const auto count = static_cast<std::size_t>(shape[0] * shape[1] * shape[2] * shape[3]);
    order.reserve(count);
    const auto depth = count / static_cast<std::size_t>(channels);
    for (std::size_t c = 0; c != static_cast<std::size_t>(channels); ++c)
        for (std::size_t k = 0; k != depth; ++k)
            order.push_back(is_depthwise ? k * static_cast<std::size_t>(channels) + c : c * depth + k);
    return order;
}

std::string_view scaling_text(on_device::scaling how) {
    static constexpr std::string_view names[] = {"none", "high_word", "doubled", "wide"};
    return names[static_cast<std::size_t>(how)];
}
std::string channel_text(const auto& q) {
    return fmt::format("{{{}, {}, {}, {}}}", number_literal(q.bias, on_device::element::int32), q.multiplier, q.addend, q.shift);
}

std::string convolution_text(const on_device::convolution& s) {
    static constexpr std::string_view packings[] = {"rows", "c4", "c2k4", "c4k16"};
    std::string text = fmt::format("hr::convolution{{.input = {}, .output = {}", tensor_text(s.input), tensor_text(s.output));
    if (s.is_depthwise) text += ", .is_depthwise = true";
    const auto add = [&](std::string_view name, const on_device::extent& e) {
        if (!(e == on_device::extent{})) text += fmt::format(", .{} = {{{}, {}}}", name, e.height, e.width);
    };
    add("kernel", s.kernel), add("stride", s.stride), add("dilation", s.dilation);
    if (!(s.pad == on_device::border{}))
        text += fmt::format(", .pad = {{{}, {}, {}, {}}}", s.pad.top, s.pad.bottom, s.pad.left, s.pad.right);
    text += fmt::format(", .weights = hr::packing::{}", packings[static_cast<std::size_t>(s.weights)]);
    if (s.input_zero != 0) text += fmt::format(", .input_zero = {}", s.input_zero);
    text += fmt::format(", .scale = hr::scaling::{}, .minimum = {}, .maximum = {}", scaling_text(s.scale), s.minimum, s.maximum);
    if (s.is_in_place) text += ", .is_in_place = true";
    return text + '}';
}

// The RESCALE and the CLAMP right behind a convolution, as far as its kernel takes them.
struct scaled_result {
    const node* last;
    std::vector<std::int32_t> multipliers;
    std::vector<std::int8_t> shifts;
    on_device::element type = on_device::element::int8;
    std::int32_t output_zero = 0, minimum = -128, maximum = 127;
};
std::optional<scaled_result> find_scale(const layer_body& body, const node& anchor) {
    const node* const reader = body.only_reader({const_cast<node*>(&anchor), 0});
    const auto* const a = reader == nullptr ? nullptr : args_if<tosa::rescale>(*reader);
    if (a == nullptr || a->rounding_mode == rounding_mode::double_round || a->input_unsigned) return std::nullopt;
    const auto multipliers = constant_integers(body.outside(a->multiplier));
    const auto shifts = constant_integers(body.outside(a->shift));
    const auto input_zero = constant_integer(body.outside(a->input_zp));
    const auto output_zero = constant_integer(body.outside(a->output_zp));
    const dtype sum = meta_of(a->input)->dtype;
    if (!multipliers || !shifts || !output_zero || input_zero != 0 || a->scale32 != (sum == dtype::int32)) return std::nullopt;
    scaled_result found{reader, {}, {}};
    for (const std::int64_t m : *multipliers) found.multipliers.push_back(static_cast<std::int32_t>(m));
    for (const std::int64_t s : *shifts) found.shifts.push_back(static_cast<std::int8_t>(s));
    const auto out = element_of(reader->results[0].meta->dtype);
    if (out != on_device::element::int8 && out != on_device::element::uint8 && out != on_device::element::int16) return std::nullopt;
    if (a->output_unsigned && out != on_device::element::uint8) return std::nullopt;
    found.type = *out;
    found.output_zero = static_cast<std::int32_t>(*output_zero);
    const bool is_wide = out == on_device::element::int16, is_unsigned = out == on_device::element::uint8;
    found.minimum = is_wide ? -32768 : is_unsigned ? 0 : -128;
    found.maximum = is_wide ? 32767 : is_unsigned ? 255 : 127;
    const node* const next = body.only_reader({const_cast<node*>(reader), 0});
    if (const auto* const clamp = next == nullptr ? nullptr : args_if<tosa::clamp>(*next)) {
        found.last = next;
        found.minimum = std::max(found.minimum, static_cast<std::int32_t>(clamp->min_val.to_int()));
        found.maximum = std::min(found.maximum, static_cast<std::int32_t>(clamp->max_val.to_int()));
    }
    return found;
}

}  // namespace

result<void> layer_writer::write(device::convolution, const args<device::convolution>& layer, const node& n) {
    const layer_body body({layer.inputs, layer.body});
    const auto convolves = [](const node* m) { return is<tosa::conv2d>(*m) || is<tosa::depthwise_conv2d>(*m); };
    const node& anchor = **std::ranges::find_if(body.nodes, convolves);
    const auto* const depthwise = args_if<tosa::depthwise_conv2d>(anchor);
    const window_attributes a = depthwise != nullptr ? attributes_of(*depthwise) : attributes_of(args_of<tosa::conv2d>(anchor));

    HEADRACE_TRY(input, operand_of(body.outside(a.input)));
    const auto dense_output = dense_tensor(*n.results[0].meta);
    if (!dense_output) return refuse(n, "kernels of microcontrollers do not compute with this type");
    const value weight = body.outside(a.weight);
    const int_list& shape = meta_of(weight)->shape;
    const auto size = [](std::int64_t number) { return static_cast<std::int32_t>(number); };
    on_device::convolution s{.input = input.type, .output = *dense_output, .is_depthwise = depthwise != nullptr,
        .kernel = depthwise != nullptr ? on_device::extent{size(shape[0]), size(shape[1])} : on_device::extent{size(shape[1]), size(shape[2])},
        .stride = {size(a.stride[0]), size(a.stride[1])}, .dilation = {size(a.dilation[0]), size(a.dilation[1])},
        .pad = {size(a.pad[0]), size(a.pad[1]), size(a.pad[2]), size(a.pad[3])}};
    HEADRACE_TRY(to, add_image(n, s, body.outside(a.input)));
    s.output = to.type;
    s.is_in_place = input.buffer == to.buffer;
    const bool is_float = s.input.type == on_device::element::float32;
    const auto weight_zero = is_float ? std::optional<std::int64_t>(0) : constant_integer(body.outside(a.weight_zp));
    const auto input_zero = is_float ? std::optional<std::int64_t>(0) : constant_integer(body.outside(a.input_zp));
    if (match<builtin::constant>(weight) == nullptr || match<builtin::constant>(body.outside(a.bias)) == nullptr)
        return refuse(n, "its weights are computed: kernels of microcontrollers have them in flash");
    if (weight_zero != 0 || !input_zero) return refuse(n, "its weights have a zero point other than 0");
    s.input_zero = static_cast<std::int32_t>(*input_zero);

    const std::int64_t channels = s.out_channels();
    const std::vector<std::size_t> order = window_order(s.is_depthwise, shape, channels);
    const auto depth = static_cast<std::size_t>(s.depth());
    const node* last = &anchor;
    const std::string name = name_of_node(n);
    std::string weights, per_channel;
    if (is_float) {
        const auto numbers = *constant_reals(weight);
        std::vector<float> packed(static_cast<std::size_t>(packed_elements(s)));
        for (std::size_t i = 0; i != order.size(); ++i)
            packed[static_cast<std::size_t>(weight_at(s, size(static_cast<std::int64_t>(i / depth)), size(static_cast<std::int64_t>(i % depth))))] = static_cast<float>(numbers[order[i]]);
        weights = done_.constants.add_floats(name + "_weight", packed);
        const auto biases = *constant_reals(body.outside(a.bias));
        std::vector<float> all;
        for (std::int64_t c = 0; c != channels; ++c) all.push_back(static_cast<float>(biases[biases.size() == 1 ? 0 : static_cast<std::size_t>(c)]));
        per_channel = done_.constants.add_floats(name + "_bias", all);
    } else {
        const auto numbers = constant_integers(weight);
        if (!numbers) return refuse(n, "its packed weights cannot be read");
        const auto given = *constant_integers(body.outside(a.bias));
        std::vector<std::int64_t> biases;
        std::int64_t largest = 0;
        for (std::size_t c = 0; c != static_cast<std::size_t>(channels); ++c) {
            std::int64_t sum = 0, magnitudes = 0;
            for (std::size_t k = 0; k != depth; ++k) {
                sum += (*numbers)[order[c * depth + k]];
                magnitudes += std::abs((*numbers)[order[c * depth + k]]);
            }
            biases.push_back(given[given.size() == 1 ? 0 : c] - s.input_zero * sum);
            largest = std::max(largest, std::abs(biases.back()) + 128 * magnitudes);
        }
        const bool is_narrow = s.input.type == on_device::element::int8;
        const auto scale = find_scale(body, anchor);
        if (scale) {
            last = scale->last;
            s.minimum = scale->minimum;
            s.maximum = scale->maximum;
            s.scale = is_narrow ? choose_scaling(id_of(core_), scale->multipliers, scale->shifts, scale->output_zero, largest, scale->type) : on_device::scaling::wide;
        }
        s.weights = best_packing(s, id_of(core_));
        std::vector<std::int64_t> packed(static_cast<std::size_t>(packed_elements(s)));
        for (std::size_t i = 0; i != order.size(); ++i)
            packed[static_cast<std::size_t>(weight_at(s, size(static_cast<std::int64_t>(i / depth)), size(static_cast<std::int64_t>(i % depth))))] = (*numbers)[order[i]];
        weights = done_.constants.add(name + "_weight", on_device::element::int8, packed);
        if (scale) {
            std::vector<std::string> rows;
            for (std::size_t c = 0; c != static_cast<std::size_t>(packed_channels(s)); ++c) {
                if (c >= biases.size()) {
                    rows.emplace_back("{}");
                    continue;
                }
                const std::int32_t m = scale->multipliers[scale->multipliers.size() == 1 ? 0 : c];
                const std::int8_t shift = scale->shifts[scale->shifts.size() == 1 ? 0 : c];
                rows.push_back(is_narrow ? channel_text(on_device::make_channel(static_cast<std::int32_t>(biases[c]), m, shift, scale->output_zero, s.scale))
                                         : channel_text(on_device::make_wide_channel(biases[c], m, shift, scale->output_zero)));
            }
            per_channel = done_.constants.add(name + "_channels", is_narrow ? "hr::channel" : "hr::wide_channel", rows, rows.size() * (is_narrow ? 16 : 24));
        } else {
            for (auto& b : biases) if (is_narrow) b = static_cast<std::int32_t>(static_cast<std::uint32_t>(b));
            biases.resize(static_cast<std::size_t>(packed_channels(s)));
            per_channel = done_.constants.add(name + "_bias", is_narrow ? on_device::element::int32 : on_device::element::int48, biases);
        }
    }
    std::vector<operand> extras;
    HEADRACE_TRY(function, finish(body, behind(body.nodes, last), {const_cast<node*>(last), 0}, extras, to.type));
    std::string text = fmt::format("hr::conv2d<{}, {}", convolution_text(s), function);
    for (const operand& e : extras) text += ", " + tensor_text(e.type);
    std::vector<operand> operands{input};
    operands.insert(operands.end(), extras.begin(), extras.end());
    operands.insert(operands.end(), {flash(weights), flash(per_channel), at(to)});
    call& made = call_kernel(n, text + '>', operands);
    made.macs = s.macs();
    const on_device::choice chosen = choose(s, id_of(core_));
    made.origin = chosen.because[0] == '\0' ? std::string(chosen.kernel) : fmt::format("{}: {}", chosen.kernel, chosen.because);
    made.instructions = chosen.instructions;
    add_scratch(made, chosen.scratch);
    return {};
}

/// One scale holds for all of a product.
result<void> layer_writer::write(device::product, const args<device::product>& layer, const node& n) {
    const layer_body body({layer.inputs, layer.body});
    const node& anchor = **std::ranges::find_if(body.nodes, [](const node* m) { return is<tosa::matmul>(*m); });
    const args<tosa::matmul>& a = args_of<tosa::matmul>(anchor);
    HEADRACE_TRY(left, operand_of(body.outside(a.a)));
    HEADRACE_TRY(right, operand_of(body.outside(a.b)));
    HEADRACE_TRY(to, add_result(n));
    const bool is_float = left.type.type == on_device::element::float32;
    const auto left_zero = is_float ? 0 : constant_integer(body.outside(a.a_zp));
    const auto right_zero = is_float ? 0 : constant_integer(body.outside(a.b_zp));
    if (!left_zero || !right_zero) return refuse(n, "its zero point is computed");
    const bool is_narrow = left.type.type == on_device::element::int8;
    auto scale = is_float ? std::nullopt : find_scale(body, anchor);
    if (scale && scale->multipliers.size() != 1) scale.reset();
    const node* const last = scale ? scale->last : &anchor;
    std::string text = fmt::format("hr::matmul<hr::matrix_product{{.a = {}, .b = {}, .output = {}", tensor_text(left.type),
                                   tensor_text(right.type), tensor_text(to.type));
    if (*left_zero != 0) text += fmt::format(", .a_zero = {}", *left_zero);
    if (*right_zero != 0) text += fmt::format(", .b_zero = {}", *right_zero);
    operand scaled{"hr::nothing"};
    if (scale) {
        const std::int32_t m = scale->multipliers[0];
        const std::int8_t shift = scale->shifts[0];
        const std::int64_t largest = std::int64_t{left.type.size[2]} * 255 * 255;
        const auto how = is_narrow ? choose_scaling(id_of(core_), scale->multipliers, scale->shifts, scale->output_zero, largest, scale->type)
                                   : on_device::scaling::wide;
        text += fmt::format(", .scale = hr::scaling::{}, .minimum = {}, .maximum = {}", scaling_text(how), scale->minimum, scale->maximum);
        const std::string row = is_narrow ? channel_text(make_channel(0, m, shift, scale->output_zero, how))
                                          : channel_text(on_device::make_wide_channel(0, m, shift, scale->output_zero));
        scaled = flash(done_.constants.add(name_of_node(n) + "_scale", is_narrow ? "hr::channel" : "hr::wide_channel", std::span(&row, 1), is_narrow ? 16 : 24));
    }
    std::vector<operand> extras;
    HEADRACE_TRY(function, finish(body, behind(body.nodes, last), {const_cast<node*>(last), 0}, extras, to.type));
    text += "}, " + function;
    for (const operand& e : extras) text += ", " + tensor_text(e.type);
    std::vector<operand> operands{left, right};
    operands.insert(operands.end(), extras.begin(), extras.end());
    operands.insert(operands.end(), {scaled, at(to)});
    call& made = call_kernel(n, text + '>', operands);
    made.macs = std::int64_t{to.type.elements()} * left.type.size[2];
    return {};
}

}  // namespace headrace::firmware
