// SPDX-License-Identifier: MIT
// Defines headrace::clamp_in_kernels, which gives a CLAMP to the kernel before it.
#ifndef HEADRACE_PASSES_CORTEX_M_BOUNDS_HPP
#define HEADRACE_PASSES_CORTEX_M_BOUNDS_HPP

#include <algorithm>
#include <optional>

#include <headrace/infer/aten.hpp>
#include <headrace/infer/cortex_m.hpp>
#include <headrace/match/node_pattern.hpp>

namespace headrace {

/// Makes the bounds of a CLAMP those of the kernel whose result it alone reads, directly or as a view.
struct clamp_in_kernels : pass {
    static constexpr std::string_view summary = "a CLAMP as the bounds of the kernel before it";

    static auto rewrites() { return rules(on<tosa::clamp> = code<clamped>()); }

private:
    using bounded = ops<cortex_m::quantized_conv2d_nhwc, cortex_m::quantized_depthwise_conv2d_nhwc,
        cortex_m::quantized_transpose_conv2d_nhwc, cortex_m::quantized_linear, cortex_m::quantized_add,
        cortex_m::quantized_max_pool2d_nhwc>;
    using made = joined<bounded, ops<aten::view>>;

    static bool is_read_alone(value v) {
        return v.producer->first_use != nullptr && v.producer->first_use->next_use == nullptr;
    }
    static std::optional<value> clamped(emit<made> e, const args<tosa::clamp>& a) {
        if (e.dtype(a.input) != dtype::int8 || !is_read_alone(a.input)) return std::nullopt;
        const auto* const shown = match<aten::view>(a.input);
        const value result = shown != nullptr ? shown->self : a.input;
        if (!is_read_alone(result)) return std::nullopt;
        std::optional<value> v;
        visit_args(bounded{}, *result.producer, [&]<class Op>(Op, args<Op> kernel) {
            const std::int64_t lowest = a.min_val.to_int(), highest = a.max_val.to_int();
            kernel.activation_min = std::clamp(kernel.activation_min, lowest, highest);
            kernel.activation_max = std::clamp(kernel.activation_max, lowest, highest);
            v = e.make<Op>(kernel);
        });
        if (!v || shown == nullptr) return v;
        return e.make<aten::view>({.self = *v, .size = e.result_meta().shape});
    }
};

}  // namespace headrace

#endif
