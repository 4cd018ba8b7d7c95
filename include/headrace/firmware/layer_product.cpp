// SPDX-License-Identifier: MIT
// Writes matrix products.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include <headrace/firmware/layer_writer.hpp>
#include <headrace/firmware/scaled_result.hpp>
#include <headrace/ir/meta_text.hpp>
#include <headrace/on_device/matmul.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace::firmware {

/// One scale holds for all of a product.
result<void> layer_writer::write(device::product, const args<device::product>& layer, const node& n) {
    const layer_body body({layer.inputs, layer.body});
    const node& anchor =
        **std::ranges::find_if(body.nodes, [](const node* m) { return is<tosa::matmul>(*m); });
    const args<tosa::matmul>& a = args_of<tosa::matmul>(anchor);
    HEADRACE_TRY(left, operand_of(body.outside(a.a)));
    HEADRACE_TRY(right, operand_of(body.outside(a.b)));
    HEADRACE_TRY(to, add_result(n));
    const bool is_float = is_floating(left.type.type);
    const auto left_zero = is_float ? 0 : constant_integer(body.outside(a.a_zp));
    const auto right_zero = is_float ? 0 : constant_integer(body.outside(a.b_zp));
    if (!left_zero || !right_zero) return refuse(n, "its zero point is computed");
    const bool is_narrow = left.type.type == on_device::element::int8;
    auto scale = is_float ? std::nullopt : find_scale(body, anchor);
    if (scale && scale->multipliers.size() != 1) scale.reset();
    const node* const last = scale ? scale->nodes.back() : &anchor;
    std::string text = fmt::format("hr::matmul<hr::matrix_product{{.a = {}, .b = {}, .output = {}",
        format_tensor(left.type), format_tensor(right.type), format_tensor(to.type));
    if (*left_zero != 0) text += fmt::format(", .a_zero = {}", *left_zero);
    if (*right_zero != 0) text += fmt::format(", .b_zero = {}", *right_zero);
    operand scaled{"hr::nothing"};
    if (scale) {
        const std::int32_t m = scale->multipliers[0];
        const std::int8_t shift = scale->shifts[0];
        const std::int64_t largest = std::int64_t{left.type.size[2]} * 255 * 255;
        const auto how = is_narrow ? choose_scaling(core_.set, scale->multipliers, scale->shifts,
                                         scale->output_zero, largest, scale->type)
                                   : on_device::scaling::wide;
        text += fmt::format(", .scale = hr::scaling::{}, .minimum = {}, .maximum = {}", format_scaling(how),
            scale->minimum, scale->maximum);
        const std::string row = is_narrow
            ? format_channel(make_channel(0, m, shift, scale->output_zero, how))
            : format_channel(on_device::make_wide_channel(0, m, shift, scale->output_zero));
        scaled = flash(done_.constants.add(name_of_node(n) + "_scale",
            is_narrow ? "hr::channel" : "hr::wide_channel", std::span(&row, 1), is_narrow ? 16 : 24));
    }
    std::vector<operand> extras;
    HEADRACE_TRY(
        function, finish(body, others(body, anchor, scale), {const_cast<node*>(last), 0}, extras, to.type));
    text += "}, " + function;
    for (const operand& e : extras) text += ", " + format_tensor(e.type);
    std::vector<operand> operands{left, right};
    operands.insert(operands.end(), extras.begin(), extras.end());
    operands.insert(operands.end(), {scaled, at(to)});
    call& made = call_kernel(n, text + '>', operands);
    made.macs = std::int64_t{to.type.elements()} * left.type.size[2];
    made.kernel = "rows";
    if (!is_narrow && core_.set != on_device::core_id::portable) made.because = "the input is not int8";
    add_scratch(made, scratch_of({.a = left.type, .b = right.type, .output = to.type}, core_.set));
    return {};
}

}  // namespace headrace::firmware
