// SPDX-License-Identifier: MIT
// Writes convolutions, with their weights in the order that suits the core.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include <headrace/firmware/layer_writer.hpp>
#include <headrace/firmware/scaled_result.hpp>
#include <headrace/ir/meta_text.hpp>
#include <headrace/on_device/choice.hpp>
#include <headrace/on_device/convolution.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace::firmware {

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

std::string convolution_text(const on_device::convolution& s) {
    static constexpr std::string_view packings[] = {"rows", "c4", "c2k4", "c4k16"};
    std::string text = fmt::format("hr::convolution{{.input = {}, .output = {}", tensor_text(s.input),
                                   tensor_text(s.output));
    if (s.is_depthwise) text += ", .is_depthwise = true";
    const auto add = [&](std::string_view name, const on_device::extent& e) {
        if (!(e == on_device::extent{})) text += fmt::format(", .{} = {{{}, {}}}", name, e.height, e.width);
    };
    add("kernel", s.kernel), add("stride", s.stride), add("dilation", s.dilation);
    if (!(s.pad == on_device::border{}))
        text += fmt::format(", .pad = {{{}, {}, {}, {}}}", s.pad.top, s.pad.bottom, s.pad.left, s.pad.right);
    text += fmt::format(", .weights = hr::packing::{}", packings[static_cast<std::size_t>(s.weights)]);
    if (s.input_zero != 0) text += fmt::format(", .input_zero = {}", s.input_zero);
    text += fmt::format(", .scale = hr::scaling::{}, .minimum = {}, .maximum = {}", scaling_text(s.scale),
                        s.minimum, s.maximum);
    if (s.is_in_place) text += ", .is_in_place = true";
    return text + '}';
}

}  // namespace

result<void> layer_writer::write(device::convolution, const args<device::convolution>& layer, const node& n) {
    const layer_body body({layer.inputs, layer.body});
    const auto convolves = [](const node* m) {
        return is<tosa::conv2d>(*m) || is<tosa::depthwise_conv2d>(*m);
    };
    const node& anchor = **std::ranges::find_if(body.nodes, convolves);
    const auto* const depthwise = args_if<tosa::depthwise_conv2d>(anchor);
    const window_attributes a =
        depthwise != nullptr ? attributes_of(*depthwise) : attributes_of(args_of<tosa::conv2d>(anchor));

    HEADRACE_TRY(input, operand_of(body.outside(a.input)));
    const auto dense_output = dense_tensor(*n.results[0].meta);
    if (!dense_output) return refuse(n, "kernels of microcontrollers do not compute with this type");
    const value weight = body.outside(a.weight);
    const int_list& shape = meta_of(weight)->shape;
    const auto size = [](std::int64_t number) { return static_cast<std::int32_t>(number); };
    on_device::convolution s{.input = input.type,
                             .output = *dense_output,
                             .is_depthwise = depthwise != nullptr,
                             .kernel = depthwise != nullptr
                                           ? on_device::extent{size(shape[0]), size(shape[1])}
                                           : on_device::extent{size(shape[1]), size(shape[2])},
                             .stride = {size(a.stride[0]), size(a.stride[1])},
                             .dilation = {size(a.dilation[0]), size(a.dilation[1])},
                             .pad = {size(a.pad[0]), size(a.pad[1]), size(a.pad[2]), size(a.pad[3])}};
    HEADRACE_TRY(to, add_image(n, s, body.outside(a.input)));
    s.output = to.type;
    s.is_in_place = input.buffer == to.buffer;
    const bool is_float = s.input.type == on_device::element::float32;
    const auto weight_zero =
        is_float ? std::optional<std::int64_t>(0) : constant_integer(body.outside(a.weight_zp));
    const auto input_zero =
        is_float ? std::optional<std::int64_t>(0) : constant_integer(body.outside(a.input_zp));
    if (match<builtin::constant>(weight) == nullptr ||
        match<builtin::constant>(body.outside(a.bias)) == nullptr)
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
            packed[static_cast<std::size_t>(weight_at(s, size(static_cast<std::int64_t>(i / depth)),
                                                      size(static_cast<std::int64_t>(i % depth))))] =
                static_cast<float>(numbers[order[i]]);
        weights = done_.constants.add_floats(name + "_weight", packed);
        const auto biases = *constant_reals(body.outside(a.bias));
        std::vector<float> all;
        for (std::int64_t c = 0; c != channels; ++c)
            all.push_back(static_cast<float>(biases[biases.size() == 1 ? 0 : static_cast<std::size_t>(c)]));
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
            s.scale = is_narrow ? choose_scaling(id_of(core_), scale->multipliers, scale->shifts,
                                                 scale->output_zero, largest, scale->type)
                                : on_device::scaling::wide;
        }
        s.weights = best_packing(s, id_of(core_));
        std::vector<std::int64_t> packed(static_cast<std::size_t>(packed_elements(s)));
        for (std::size_t i = 0; i != order.size(); ++i)
            packed[static_cast<std::size_t>(weight_at(s, size(static_cast<std::int64_t>(i / depth)),
                                                      size(static_cast<std::int64_t>(i % depth))))] =
                (*numbers)[order[i]];
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
                rows.push_back(
                    is_narrow ? channel_text(on_device::make_channel(static_cast<std::int32_t>(biases[c]), m,
                                                                     shift, scale->output_zero, s.scale))
                              : channel_text(
                                    on_device::make_wide_channel(biases[c], m, shift, scale->output_zero)));
            }
            per_channel =
                done_.constants.add(name + "_channels", is_narrow ? "hr::channel" : "hr::wide_channel", rows,
                                    rows.size() * (is_narrow ? 16 : 24));
        } else {
            for (auto& b : biases)
                if (is_narrow) b = static_cast<std::int32_t>(static_cast<std::uint32_t>(b));
            biases.resize(static_cast<std::size_t>(packed_channels(s)));
            per_channel = done_.constants.add(
                name + "_bias", is_narrow ? on_device::element::int32 : on_device::element::int48, biases);
        }
    }
    std::vector<operand> extras;
    HEADRACE_TRY(function,
                 finish(body, behind(body.nodes, last), {const_cast<node*>(last), 0}, extras, to.type));
    std::string text = fmt::format("hr::conv2d<{}, {}", convolution_text(s), function);
    for (const operand& e : extras) text += ", " + tensor_text(e.type);
    std::vector<operand> operands{input};
    operands.insert(operands.end(), extras.begin(), extras.end());
    operands.insert(operands.end(), {flash(weights), flash(per_channel), at(to)});
    call& made = call_kernel(n, text + '>', operands);
    made.macs = s.macs();
    const on_device::choice chosen = choose(s, id_of(core_));
    made.origin = chosen.because[0] == '\0' ? std::string(chosen.kernel)
                                            : fmt::format("{}: {}", chosen.kernel, chosen.because);
    made.instructions = chosen.instructions;
    add_scratch(made, chosen.scratch);
    return {};
}

}  // namespace headrace::firmware
