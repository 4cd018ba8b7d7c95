// SPDX-License-Identifier: MIT
// Writes operators that are layers by themselves.
#include <fmt/format.h>

#include <vector>

#include <headrace/firmware/layer_writer.hpp>
#include <headrace/ir/meta_text.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace::firmware {

result<void> layer_writer::write(tosa::argmax, const args<tosa::argmax>& a, const node& n) {
    HEADRACE_TRY(from, operand_of(a.input));
    HEADRACE_TRY(to, add_result(n));
    call_kernel(n,
        fmt::format("hr::argmax<{}, {}, {}{}>", format_tensor(from.type), format_tensor(to.type), a.axis,
            a.nan_mode == nan_mode::ignore ? ", hr::nan_mode::ignore" : ""),
        {from, at(to)});
    return {};
}

// A bias for each channel of the output, as kernels read them; TOSA has one for all, too.
result<operand> layer_writer::biases_of(value bias, std::int32_t channels) {
    HEADRACE_TRY(given, operand_of(bias));
    if (given.type.elements() == channels) return given;
    place all{0, on_device::dense(given.type.type, channels)};
    all.buffer = add_buffer(given.type.type, channels);
    given.type = all.type;
    given.type.stride[0] = 0;
    given.type.span = 1;
    HEADRACE_TRY(copy(*bias.producer, given, at(all)));
    return at(all);
}

result<void> layer_writer::write(tosa::conv3d, const args<tosa::conv3d>& a, const node& n) {
    HEADRACE_TRY(input, operand_of(a.input));
    HEADRACE_TRY(weights, operand_of(a.weight));
    HEADRACE_TRY(zero, zero_points_of(a.input_zp, a.weight_zp, n));
    HEADRACE_TRY(to, add_result(n));
    HEADRACE_TRY(bias, biases_of(a.bias, to.type.size[4]));
    const auto axes = [](const auto& numbers) {
        return fmt::format("{{{}, {}, {}}}", numbers[0], numbers[1], numbers[2]);
    };
    const std::array before{a.pad[0], a.pad[2], a.pad[4]};
    call& made = call_kernel(n,
        fmt::format("hr::conv3d<hr::convolution3d{{.input = {}, .output = {}, .kernel = {}, .stride = {}, "
                    ".dilation = {}, .pad = {}, .input_zero = {}, .weight_zero = {}}}>",
            format_tensor(input.type), format_tensor(to.type), axes(&weights.type.size[1]), axes(a.stride),
            axes(a.dilation), axes(before), zero.input, zero.weight),
        {input, weights, bias, at(to)});
    made.macs = std::int64_t{to.type.elements()} * (weights.type.elements() / weights.type.size[0]);
    return {};
}

result<void> layer_writer::write(
    tosa::transpose_conv2d, const args<tosa::transpose_conv2d>& a, const node& n) {
    HEADRACE_TRY(input, operand_of(a.input));
    HEADRACE_TRY(weights, operand_of(a.weight));
    HEADRACE_TRY(zero, zero_points_of(a.input_zp, a.weight_zp, n));
    HEADRACE_TRY(to, add_result(n));
    HEADRACE_TRY(bias, biases_of(a.bias, to.type.size[3]));
    call& made = call_kernel(n,
        fmt::format("hr::transpose_conv2d<hr::transposed_convolution{{.input = {}, .output = {}, .kernel = "
                    "{{{}, {}}}, "
                    ".stride = {{{}, {}}}, .out_pad = {{{}, {}, {}, {}}}, .input_zero = {}, "
                    ".weight_zero = {}}}>",
            format_tensor(input.type), format_tensor(to.type), weights.type.size[1], weights.type.size[2],
            a.stride[0], a.stride[1], a.out_pad[0], a.out_pad[1], a.out_pad[2], a.out_pad[3], zero.input,
            zero.weight),
        {input, weights, bias, at(to)});
    made.macs = std::int64_t{input.type.elements()} * (weights.type.elements() / weights.type.size[3]);
    return {};
}

result<zero_points> layer_writer::zero_points_of(value input_zp, value weight_zp, const node& n) {
    if (is_floating(meta_of(input_zp)->dtype)) return zero_points{};
    const auto of_input = constant_integer(input_zp), of_weights = constant_integer(weight_zp);
    if (!of_input || !of_weights) return refuse(n, "its zero points are computed");
    return zero_points{*of_input, *of_weights};
}

result<void> layer_writer::write(tosa::resize, const args<tosa::resize>& a, const node& n) {
    const auto* const scale = match<tosa::const_shape>(a.scale);
    const auto* const offset = match<tosa::const_shape>(a.offset);
    if (scale == nullptr || offset == nullptr) return refuse(n, "its scale is computed");
    HEADRACE_TRY(from, operand_of(a.input));
    HEADRACE_TRY(to, add_result(n));
    const int_list &s = scale->values, &o = offset->values;
    call_kernel(n,
        fmt::format(
            "hr::resize<hr::resizing{{.input = {}, .output = {}, .y = {{{}, {}, {}}}, .x = {{{}, {}, {}}}, "
            ".mode = hr::resize_mode::{}}}>",
            format_tensor(from.type), format_tensor(to.type), s[0], s[1], o[0], s[2], s[3], o[1],
            a.mode == resize_mode::nearest ? "nearest" : "bilinear"),
        {from, at(to)});
    return {};
}

result<void> layer_writer::write(tosa::fft2d, const args<tosa::fft2d>& a, const node& n) {
    HEADRACE_TRY(real, operand_of(a.input_real));
    HEADRACE_TRY(imaginary, operand_of(a.input_imag));
    HEADRACE_TRY(to, add_results(n));
    call_kernel(n,
        fmt::format("hr::fft2d<{}, {}, {}>", format_tensor(real.type), format_tensor(to[0].type), a.inverse),
        {real, imaginary, at(to[0]), at(to[1])});
    return {};
}

result<void> layer_writer::write(tosa::rfft2d, const args<tosa::rfft2d>& a, const node& n) {
    HEADRACE_TRY(real, operand_of(a.input_real));
    HEADRACE_TRY(to, add_results(n));
    call& made =
        call_kernel(n, fmt::format("hr::rfft2d<{}, {}>", format_tensor(real.type), format_tensor(to[0].type)),
            {real, at(to[0]), at(to[1])});
    add_scratch(made, 8 * real.type.size[2]);
    return {};
}

}  // namespace headrace::firmware
