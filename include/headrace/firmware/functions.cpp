// SPDX-License-Identifier: MIT
// Writes element-wise operators as C++ functions.
#include <headrace/firmware/functions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include <headrace/firmware/constant_floats.hpp>
#include <headrace/ir/meta_text.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace::firmware {

std::optional<on_device::element> element_of(dtype t) {
    switch (t) {
        case dtype::boolean:
            return on_device::element::boolean;
        case dtype::int4:
        case dtype::int8:
            return on_device::element::int8;
        case dtype::uint8:
            return on_device::element::uint8;
        case dtype::int16:
            return on_device::element::int16;
        case dtype::uint16:
            return on_device::element::uint16;
        case dtype::int32:
            return on_device::element::int32;
        case dtype::int48:
            return on_device::element::int48;
        case dtype::float32:
            return on_device::element::float32;
        case dtype::float16:
            return on_device::element::float16;
        case dtype::bfloat16:
            return on_device::element::bfloat16;
        default:
            return std::nullopt;
    }
}

/// Writes the body of one function.
class function_writer {
public:
    function_writer(constant_arrays& constants, element_functions::outside_function outside)
        : constants_(constants), outside_(outside) {}

    result<void> write(std::span<const node* const> nodes, value first) {
        if (first) {
            const std::string x = add_parameter(), result = rounded(x, meta_of(first)->dtype);
            name(first, result == x ? x : add_line(result));
        }
        for (const node* n : nodes) {
            HEADRACE_TRY(text, format_call(*n));
            if (n == nodes.back()) {
                body_ += fmt::format("        return {};\n", text);
                break;
            }
            const std::string line = is_exact(*n) ? text : rounded(text, n->results[0].meta->dtype);
            name({const_cast<node*>(n), 0}, add_line(line));
        }
        return {};
    }

    [[nodiscard]] std::string body() const {
        std::string list;
        for (std::size_t i = 0; i != count_; ++i)
            list += fmt::format("{}[[maybe_unused]] auto x{}", i == 0 ? "" : ", ", i);
        return fmt::format("    HEADRACE_INLINE static constexpr auto of({}) {{\n{}    }}\n", list, body_);
    }
    [[nodiscard]] const std::vector<value>& parameters() const { return parameters_; }

private:
    std::string add_parameter() { return fmt::format("x{}", count_++); }
    std::string add_line(std::string_view text) {
        const std::string made = fmt::format("v{}", lines_++);
        body_ += fmt::format("        const auto {} = {};\n", made, text);
        return made;
    }
    void name(value v, std::string text) { texts_.emplace_back(v, std::move(text)); }

    // True if a result is a number of the operands' type without rounding. A CAST has rounded.
    static bool is_exact(const node& n) {
        return is<tosa::abs>(n) || is<tosa::cast>(n) || is<tosa::ceil>(n) || is<tosa::clamp>(n) ||
            is<tosa::floor>(n) || is<tosa::maximum>(n) || is<tosa::minimum>(n) || is<tosa::negate>(n) ||
            is<tosa::select>(n);
    }
    // A result that goes on in the function has the type that TOSA gives it: a float of 16 bits is rounded.
    // The last one is rounded where it is stored, and not before it is added up.
    static std::string rounded(std::string text, dtype type) {
        if (type != dtype::float16 && type != dtype::bfloat16) return text;
        return fmt::format("hr::cast<{}>({})", format_element(*element_of(type)), text);
    }

    // An operand in the function: what it was called before, a literal, or a new parameter.
    std::string format_operand(value v) {
        const auto known = std::ranges::find(texts_, v, &std::pair<value, std::string>::first);
        if (known != texts_.end()) return known->second;
        const value outside = outside_(v);
        std::string text;
        if (const auto* meta = meta_of(v);
            match<builtin::constant>(outside) != nullptr && meta->elements() == 1) {
            text = literal(outside);
        } else {
            text = add_parameter();
            parameters_.push_back(v);
        }
        name(v, text);
        return text;
    }
    static std::string literal(value v) {
        if (const auto floats = constant_floats(v)) return float_literal((*floats)[0]);
        return fmt::format("hr::constant<{}>", (*constant_integers(v))[0]);
    }
    [[nodiscard]] std::optional<std::int64_t> number(value v) const { return constant_integer(outside_(v)); }

    // --- operators -----------------------------------------------------------------------

    result<std::string> format_call(const node& n) {
        std::optional<result<std::string>> text;
        visit_args(tosa::dialect::all_ops{}, n, [&](auto op, const auto& a) { text = write(op, a, n); });
        return text ? *std::move(text)
                    : result<std::string>(invalid({message_prefix(n), "no operator of TOSA"}));
    }

    template <class Op>
    static std::string lower_name() {
        std::string name(Op::name.substr(Op::name.find('.') + 1));
        std::ranges::transform(name, name.begin(),
            [](char c) { return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
        return name;
    }
    static bool is_float(value v) { return is_floating(meta_of(v)->dtype); }
    static std::string element_of_result(const node& n) {
        const auto e = element_of(n.results[0].meta->dtype);
        return format_element(e.value_or(on_device::element::int8));
    }

    template <class Op>
    result<std::string> write(Op, const args<Op>&, const node& n) {
        std::string list;
        for (std::size_t i = 0; i != n.operand_count; ++i)
            list += (i == 0 ? "" : ", ") + format_operand(n.operand(i));
        return fmt::format("hr::{}({})", lower_name<Op>(), list);
    }
    static std::string format_nan_mode(nan_mode mode) {
        return fmt::format("<hr::nan_mode::{}>", mode == nan_mode::ignore ? "ignore" : "propagate");
    }
    static std::string format_bound(const scalar& bound, dtype type) {
        const auto number = static_cast<float>(bound.to_double());
        if (type == dtype::float16) return float_literal(on_device::half_float(number));
        if (type == dtype::bfloat16) return float_literal(on_device::brain_float(number));
        return float_literal(number);
    }
    result<std::string> write(tosa::clamp, const args<tosa::clamp>& a, const node&) {
        const std::string x = format_operand(a.input);
        if (is_float(a.input))
            return fmt::format("hr::clamp{}({}, {}, {})", format_nan_mode(a.nan_mode), x,
                format_bound(a.min_val, meta_of(a.input)->dtype),
                format_bound(a.max_val, meta_of(a.input)->dtype));
        return fmt::format("hr::clamp<{}, {}>({})", a.min_val.to_int(), a.max_val.to_int(), x);
    }
    template <one_of<ops<tosa::maximum, tosa::minimum>> Op>
    result<std::string> write(Op, const args<Op>& a, const node&) {
        const std::string x = format_operand(a.input1), y = format_operand(a.input2);
        const std::string mode = is_float(a.input1) ? format_nan_mode(a.nan_mode) : "";
        return fmt::format("hr::{}{}({}, {})", lower_name<Op>(), mode, x, y);
    }
    result<std::string> write(
        tosa::arithmetic_right_shift, const args<tosa::arithmetic_right_shift>& a, const node&) {
        const std::string x = format_operand(a.input1), y = format_operand(a.input2);
        return fmt::format("hr::arithmetic_right_shift<{}>({}, {})", a.round, x, y);
    }
    /// The element's width counts.
    template <one_of<ops<tosa::logical_left_shift, tosa::logical_right_shift>> Op>
    result<std::string> write(Op, const args<Op>& a, const node& n) {
        const std::string x = format_operand(a.input1), y = format_operand(a.input2);
        return fmt::format("hr::{}<{}>({}, {})", lower_name<Op>(), element_of_result(n), x, y);
    }
    result<std::string> write(tosa::bitwise_not, const args<tosa::bitwise_not>& a, const node& n) {
        return fmt::format("hr::bitwise_not<{}>({})", element_of_result(n), format_operand(a.input1));
    }
    result<std::string> write(tosa::mul, const args<tosa::mul>& a, const node&) {
        const std::string x = format_operand(a.input1), y = format_operand(a.input2);
        if (is_float(a.input1)) return fmt::format("hr::mul({}, {})", x, y);
        return fmt::format("hr::mul<{}>({}, {})", number(a.shift).value_or(0), x, y);
    }
    result<std::string> write(tosa::negate, const args<tosa::negate>& a, const node& n) {
        const std::string x = format_operand(a.input1);
        if (is_float(a.input1)) return fmt::format("hr::negate({})", x);
        return fmt::format("hr::negate<{}, {}, {}>({})", number(a.input1_zp).value_or(0),
            number(a.output_zp).value_or(0), element_of_result(n), x);
    }
    result<std::string> write(tosa::cast, const args<tosa::cast>& a, const node& n) {
        return fmt::format("hr::cast<{}>({})", element_of_result(n), format_operand(a.input));
    }
    result<std::string> write(tosa::table, const args<tosa::table>& a, const node& n) {
        const auto entries = constant_integers(outside_(a.table));
        if (!entries)
            return unsupported({message_prefix(n), "its table is computed: a board needs a constant one"});
        const bool is_wide = meta_of(a.input1)->dtype == dtype::int16;
        const std::string name =
            constants_.add("table", is_wide ? on_device::element::int16 : on_device::element::int8, *entries);
        return fmt::format("hr::table({}, constants::{})", format_operand(a.input1), name);
    }
    result<std::string> write(tosa::rescale, const args<tosa::rescale>& a, const node& n) {
        const auto multipliers = constant_integers(outside_(a.multiplier));
        const auto shifts = constant_integers(outside_(a.shift));
        const auto in_zero = number(a.input_zp), out_zero = number(a.output_zp);
        if (!multipliers || !shifts || !in_zero || !out_zero)
            return unsupported({message_prefix(n), "its scale is computed: a board needs a constant one"});
        const bool is_single = multipliers->size() == 1 && shifts->size() == 1;
        const auto type = [](value v) {
            return element_of(meta_of(v)->dtype).value_or(on_device::element::int32);
        };
        std::string scale =
            fmt::format(".input = {}, .output = {}", format_element(type(a.input)), element_of_result(n));
        if (is_single)
            scale += fmt::format(", .multiplier = {}, .shift = {}", (*multipliers)[0], (*shifts)[0]);
        if (*in_zero != 0) scale += fmt::format(", .input_zero = {}", *in_zero);
        if (*out_zero != 0) scale += fmt::format(", .output_zero = {}", *out_zero);
        if (a.rounding_mode == rounding_mode::double_round) scale += ", .rounds = hr::rounding::double_round";
        if (!a.scale32) scale += ", .scale32 = false";
        if (a.input_unsigned) scale += ", .input_unsigned = true";
        if (a.output_unsigned) scale += ", .output_unsigned = true";
        const std::string x = format_operand(a.input);
        if (is_single) return fmt::format("hr::rescale<hr::rescaling{{{}}}>({})", scale, x);
        const std::string m = format_operand(a.multiplier), s = format_operand(a.shift);
        return fmt::format("hr::rescale<hr::rescaling{{{}}}>({}, {}, {})", scale, x, m, s);
    }

    constant_arrays& constants_;
    element_functions::outside_function outside_;
    std::vector<std::pair<value, std::string>> texts_;
    std::vector<value> parameters_;
    std::string body_;
    std::size_t count_ = 0, lines_ = 0;
};

result<element_function> element_functions::write(std::string_view wanted, std::span<const node* const> nodes,
    value first, constant_arrays& constants, outside_function outside) {
    function_writer writer(constants, outside);
    HEADRACE_TRY(writer.write(nodes, first));
    const auto [known, is_new] = known_.try_emplace(writer.body());
    if (is_new) {
        known->second = names_.make(wanted);
        text_ += fmt::format("struct {} {{\n{}}};\n", known->second, known->first);
    }
    return element_function{known->second, writer.parameters()};
}

}  // namespace headrace::firmware
