// SPDX-License-Identifier: MIT
// Defines headrace::clamp_in_kernels, which gives a CLAMP to the kernel before it.
#ifndef HEADRACE_PASSES_CORTEX_M_BOUNDS_HPP
#define HEADRACE_PASSES_CORTEX_M_BOUNDS_HPP

#include <algorithm>
#include <optional>
#include <utility>

#include <headrace/dialect/tosa.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/infer/cortex_m.hpp>
#include <headrace/pass/pass.hpp>

namespace headrace {

namespace cortex_m {

/// The kernels that clamp their results to bounds of their own.
using bounded_ops = ops<quantized_conv2d_nhwc, quantized_depthwise_conv2d_nhwc,
    quantized_transpose_conv2d_nhwc, quantized_linear, quantized_add, quantized_max_pool2d_nhwc>;

/// Returns the value that a chain of views shows, if each of them, and the value, is read by one node only.
[[nodiscard]] inline std::optional<value> shown_alone(value v) {
    for (;;) {
        if (!has_one_use(v)) return std::nullopt;
        const auto* const shown = match<aten::view>(v);
        if (shown == nullptr) return v;
        v = shown->self;
    }
}

/// Returns the least and the largest integer that the kernel of a value gives.
[[nodiscard]] inline std::pair<std::int64_t, std::int64_t> bounds_of(value v) {
    std::pair<std::int64_t, std::int64_t> bounds{-128, 127};
    visit_args(bounded_ops{}, *v.producer, [&](auto, const auto& kernel) {
        bounds = {kernel.activation_min, kernel.activation_max};
    });
    return bounds;
}
/// Makes the kernel of a value again, which clamps to these bounds, too; nothing if it has none.
inline std::optional<value> clamped_kernel(
    emit<bounded_ops> e, value v, std::int64_t lowest, std::int64_t highest) {
    std::optional<value> made;
    visit_args(bounded_ops{}, *v.producer, [&]<class Op>(Op, args<Op> kernel) {
        kernel.activation_min = std::clamp(kernel.activation_min, lowest, highest);
        kernel.activation_max = std::clamp(kernel.activation_max, lowest, highest);
        made = e.make<Op>(kernel);
    });
    return made;
}

}  // namespace cortex_m

/// Makes the bounds of a CLAMP those of the kernel whose result it alone reads, directly or as a view.
struct clamp_in_kernels : pass {
    static constexpr std::string_view summary = "a CLAMP as the bounds of the kernel before it";

    static auto rewrites() { return rules(on<tosa::clamp> = code<clamped>()); }

private:
    using made = joined<cortex_m::bounded_ops, ops<aten::view>>;

    static std::optional<value> clamped(emit<made> e, const args<tosa::clamp>& a) {
        const auto of = e.dtype(a.input) == dtype::int8 ? cortex_m::shown_alone(a.input) : std::nullopt;
        const auto v =
            of ? cortex_m::clamped_kernel(e, *of, a.min_val.to_int(), a.max_val.to_int()) : std::nullopt;
        if (!v || e.shape(*v) == e.result_meta().shape) return v;
        return e.make<aten::view>({.self = *v, .size = e.result_meta().shape});
    }
};

}  // namespace headrace

#endif
