// SPDX-License-Identifier: MIT
// Writes convolutions, with their weights in the order that suits the core.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include <headrace/firmware/constant_floats.hpp>
#include <headrace/firmware/layer_writer.hpp>
#include <headrace/firmware/scaled_result.hpp>
#include <headrace/ir/meta_text.hpp>
#include <headrace/on_device/choice.hpp>
#include <headrace/on_device/convolution.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace::firmware {

namespace {

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

std::string format_convolution(const on_device::convolution& s) {
    static constexpr std::string_view packings[] = {"rows", "c4", "c2k4", "c4k16"};
    std::string text = fmt::format(
        "hr::convolution{{.input = {}, .output = {}", format_tensor(s.input), format_tensor(s.output));
    if (s.is_depthwise) text += ", .is_depthwise = true";
    const auto add = [&](std::string_view name, const on_device::extent& e) {
        if (!(e == on_device::extent{})) text += fmt::format(", .{} = {{{}, {}}}", name, e.height, e.width);
    };
    add("kernel", s.kernel), add("stride", s.stride), add("dilation", s.dilation);
    if (!(s.pad == on_device::border{}))
        text += fmt::format(", .pad = {{{}, {}, {}, {}}}", s.pad.top, s.pad.bottom, s.pad.left, s.pad.right);
    text += fmt::format(", .weights = hr::packing::{}", packings[static_cast<std::size_t>(s.weights)]);
    if (s.input_zero != 0) text += fmt::format(", .input_zero = {}", s.input_zero);
    if (s.weight_zero != 0) text += fmt::format(", .weight_zero = {}", s.weight_zero);
    text += fmt::format(", .scale = hr::scaling::{}, .minimum = {}, .maximum = {}", format_scaling(s.scale),
        s.minimum, s.maximum);
    if (s.is_in_place) text += ", .is_in_place = true";
    if (s.is_over_extra) text += ", .is_over_extra = true";
    return text + '}';
}

std::size_t index_of(std::int64_t n) { return static_cast<std::size_t>(n); }
std::int32_t size_of(std::int64_t n) { return static_cast<std::int32_t>(n); }
// The element for a channel, of an array that has one for each or one for all.
const auto& for_channel(const auto& all, std::size_t c) { return all[all.size() == 1 ? 0 : c]; }

// Weights in the order that the core's kernel reads; `order` is that of their channels and windows.
template <class T>
std::vector<T> packed(
    const on_device::convolution& s, const auto& numbers, const std::vector<std::size_t>& order) {
    std::vector<T> all(index_of(packed_elements(s)));
    const std::size_t depth = index_of(s.depth());
    for (std::size_t i = 0; i != order.size(); ++i) {
        const auto c = static_cast<std::int32_t>(i / depth), k = static_cast<std::int32_t>(i % depth);
        all[index_of(weight_at(s, c, k))] = static_cast<T>(numbers[order[i]]);
    }
    return all;
}

// Biases with what the input's zero point adds to the sums, and the largest magnitude of a sum.
struct folded_biases {
    std::vector<std::int64_t> all;
    std::int64_t largest_sum = 0;
};
folded_biases fold_zero_point(const on_device::convolution& s, const auto& weights, const auto& biases,
    const std::vector<std::size_t>& order) {
    folded_biases folded;
    const std::size_t depth = index_of(s.depth());
    for (std::size_t c = 0; c != index_of(s.out_channels()); ++c) {
        std::int64_t sum = 0, magnitudes = 0;
        for (std::size_t k = 0; k != depth; ++k) {
            const std::int64_t weight = weights[order[c * depth + k]] - s.weight_zero;
            sum += weight;
            magnitudes += std::abs(weight);
        }
        folded.all.push_back(for_channel(biases, c) - s.input_zero * sum);
        folded.largest_sum = std::max(folded.largest_sum, std::abs(folded.all.back()) + 128 * magnitudes);
    }
    return folded;
}

// The channels' constants as C++, filled up with default values.
std::vector<std::string> channel_rows(
    const on_device::convolution& s, const scaled_result& scale, const std::vector<std::int64_t>& biases) {
    std::vector<std::string> rows(index_of(packed_channels(s)), "{}");
    for (std::size_t c = 0; c != biases.size(); ++c) {
        const std::int32_t m = for_channel(scale.multipliers, c);
        const std::int8_t shift = for_channel(scale.shifts, c);
        rows[c] = s.input.type == on_device::element::int8
            ? format_channel(
                  on_device::make_channel(size_of(biases[c]), m, shift, scale.output_zero, s.scale))
            : format_channel(on_device::make_wide_channel(biases[c], m, shift, scale.output_zero));
    }
    return rows;
}

// Describes the window and the tensors; packing and scale follow.
on_device::convolution describe(const window_attributes& a, const tensor_meta& weight,
    const on_device::tensor& input, const on_device::tensor& output, bool is_depthwise) {
    const std::size_t first =
        is_depthwise ? 0 : 1;  // [height, width, channels, multiplier], or [channels, height, …]
    return {.input = input,
        .output = output,
        .is_depthwise = is_depthwise,
        .kernel = {size_of(weight.shape[first]), size_of(weight.shape[first + 1])},
        .stride = {size_of(a.stride[0]), size_of(a.stride[1])},
        .dilation = {size_of(a.dilation[0]), size_of(a.dilation[1])},
        .pad = {size_of(a.pad[0]), size_of(a.pad[1]), size_of(a.pad[2]), size_of(a.pad[3])}};
}

}  // namespace

const node& convolution_in(const layer_body& body) {
    const auto convolves = [](const node* m) {
        return is<tosa::conv2d>(*m) || is<tosa::depthwise_conv2d>(*m);
    };
    return **std::ranges::find_if(body.nodes, convolves);
}

result<void> layer_writer::write(device::convolution, const args<device::convolution>& layer, const node& n) {
    const layer_body body({layer.inputs, layer.body});
    const node& anchor = convolution_in(body);
    const auto* const depthwise = args_if<tosa::depthwise_conv2d>(anchor);
    window_attributes a =
        depthwise != nullptr ? attributes_of(*depthwise) : attributes_of(args_of<tosa::conv2d>(anchor));
    for (value* const v : {&a.input, &a.weight, &a.bias, &a.input_zp, &a.weight_zp}) *v = body.outside(*v);
    const bool is_constant =
        match<builtin::constant>(a.weight) != nullptr && match<builtin::constant>(a.bias) != nullptr;
    if (!is_constant) return write_computed(body, anchor, a, n);

    HEADRACE_TRY(input, operand_of(a.input));
    HEADRACE_TRY(zero, zero_points_of(a.input_zp, a.weight_zp, n));
    const auto output = dense_tensor(*n.results[0].meta);
    if (!output) return refuse(n, "kernels of microcontrollers do not compute with this type");
    on_device::convolution s = describe(a, *meta_of(a.weight), input.type, *output, depthwise != nullptr);
    s.input_zero = size_of(zero.input);
    s.weight_zero = size_of(zero.weight);
    const auto scale = find_scale(body, anchor);
    HEADRACE_TRY(constants, pack(s, scale, a, n));
    const node* const last = scale ? scale->nodes.back() : &anchor;
    std::vector<operand> operands{input}, extras;
    HEADRACE_TRY(
        function, finish(body, others(body, anchor, scale), {const_cast<node*>(last), 0}, extras, *output));
    HEADRACE_TRY(to, add_image(n, s, a.input, extras));
    s.output = to.type;
    s.is_in_place = input.buffer == to.buffer;
    s.is_over_extra = extras.size() == 1 && extras[0].buffer == to.buffer;
    std::string text = fmt::format("hr::conv2d<{}, {}", format_convolution(s), function);
    for (const operand& e : extras) text += ", " + format_tensor(e.type);
    operands.insert(operands.end(), extras.begin(), extras.end());
    operands.insert(operands.end(), {constants.weights, constants.channels, at(to)});
    call& made = call_kernel(n, text + '>', operands);
    made.macs = s.macs();
    const on_device::choice chosen = choose(s, core_.set);
    made.kernel = chosen.kernel;
    made.because = chosen.because;
    made.instructions = chosen.instructions;
    add_scratch(made, chosen.scratch);
    return {};
}

// Chooses the form of the scale and the order of the weights, and writes them.
result<packed_constants> layer_writer::pack(on_device::convolution& s,
    const std::optional<scaled_result>& scale, const window_attributes& a, const node& n) {
    const std::string name = name_of_node(n);
    const std::vector<std::size_t> order =
        window_order(s.is_depthwise, meta_of(a.weight)->shape, s.out_channels());
    if (!s.is_integer()) {
        const auto given = *constant_floats(a.bias);
        std::vector<float> biases;
        for (std::size_t c = 0; c != index_of(s.out_channels()); ++c) biases.push_back(for_channel(given, c));
        const std::vector<float> weights = packed<float>(s, *constant_floats(a.weight), order);
        return packed_constants{flash(done_.constants.add_floats(name + "_weight", s.input.type, weights)),
            flash(done_.constants.add_floats(name + "_bias", on_device::element::float32, biases))};
    }
    const auto weights = constant_integers(a.weight);
    if (!weights) return refuse(n, "its packed weights cannot be read");
    folded_biases biases = fold_zero_point(s, *weights, *constant_integers(a.bias), order);
    const bool is_narrow = s.input.type == on_device::element::int8;
    if (scale) {
        s.minimum = scale->minimum;
        s.maximum = scale->maximum;
        s.scale = is_narrow ? choose_scaling(core_.set, scale->multipliers, scale->shifts, scale->output_zero,
                                  biases.largest_sum, scale->type)
                            : on_device::scaling::wide;
    }
    s.weights = best_packing(s, core_.set);
    packed_constants made{flash(done_.constants.add(name + "_weight", on_device::element::int8,
                              packed<std::int64_t>(s, *weights, order))),
        {}};
    if (scale) {
        const std::vector<std::string> rows = channel_rows(s, *scale, biases.all);
        made.channels = flash(done_.constants.add(name + "_channels",
            is_narrow ? "hr::channel" : "hr::wide_channel", rows, rows.size() * (is_narrow ? 16 : 24)));
        return made;
    }
    for (std::int64_t& b : biases.all)
        if (is_narrow) b = size_of(b);  // it wraps, as sums do
    biases.all.resize(index_of(packed_channels(s)));
    made.channels = flash(done_.constants.add(
        name + "_bias", is_narrow ? on_device::element::int32 : on_device::element::int48, biases.all));
    return made;
}

// Computed weights are in memory in TOSA's order, which the kernel for volumes reads: the depth is 1. The
// element-wise operators after the convolution are a loop of their own.
result<void> layer_writer::write_computed(
    const layer_body& body, const node& anchor, const window_attributes& a, const node& n) {
    HEADRACE_TRY(input, operand_of(a.input));
    HEADRACE_TRY(weights, operand_of(a.weight));
    HEADRACE_TRY(zero, zero_points_of(a.input_zp, a.weight_zp, n));
    const auto sums = dense_tensor(*anchor.results[0].meta);
    if (!sums) return refuse(n, "kernels of microcontrollers do not compute with this type");
    HEADRACE_TRY(bias, biases_of(a.bias, sums->size[3]));
    place to{add_buffer(sums->type, sums->span), *sums};
    const auto volume = [](on_device::tensor t) {
        for (int d = 4; d != 1; --d) {
            t.size[d] = t.size[d - 1];
            t.stride[d] = t.stride[d - 1];
        }
        t.size[1] = 1;
        t.stride[1] = 0;
        t.rank = 5;
        return t;
    };
    const bool is_depthwise = is<tosa::depthwise_conv2d>(anchor);
    const std::int32_t* const kernel = weights.type.size + (is_depthwise ? 0 : 1);
    std::string text = fmt::format(
        "hr::conv3d<hr::convolution3d{{.input = {}, .output = {}, .kernel = {{1, {}, {}}}, "
        ".stride = {{1, {}, {}}}, .dilation = {{1, {}, {}}}, .pad = {{0, {}, {}}}, .input_zero = {}, "
        ".weight_zero = {}",
        format_tensor(volume(input.type)), format_tensor(volume(to.type)), kernel[0], kernel[1], a.stride[0],
        a.stride[1], a.dilation[0], a.dilation[1], a.pad[0], a.pad[2], zero.input, zero.weight);
    if (is_depthwise) text += ", .is_depthwise = true";
    call& made = call_kernel(n, text + "}>", {input, weights, bias, at(to)});
    made.macs =
        std::int64_t{sums->elements()} * kernel[0] * kernel[1] * (is_depthwise ? 1 : weights.type.size[3]);
    const auto rest = others(body, anchor);
    if (rest.empty()) {
        put_new(n, 0, to);
        return {};
    }
    HEADRACE_TRY(result, add_result(n));
    std::vector<operand> operands{at(to)}, extras;
    HEADRACE_TRY(function, finish(body, rest, {const_cast<node*>(&anchor), 0}, extras, result.type));
    text = fmt::format(
        "hr::elementwise<{}, {}, {}", function, format_tensor(result.type), format_tensor(to.type));
    for (const operand& e : extras) text += ", " + format_tensor(e.type);
    operands.insert(operands.end(), extras.begin(), extras.end());
    operands.push_back(at(result));
    call_kernel(n, text + '>', operands);
    return {};
}

}  // namespace headrace::firmware
