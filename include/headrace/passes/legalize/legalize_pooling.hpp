// SPDX-License-Identifier: MIT
// Defines headrace::legalize_pooling.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_POOLING_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_POOLING_HPP

#include <headrace/passes/legalize/pooling.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

struct decompose_dilated_pooling;
/// Lowers pooling over [N, C, H, W] to AVG_POOL2D and MAX_POOL2D (TOSA 1.0, 2.2.2 and 2.2.8) between
/// transposes to and from channels-last. A divisor given by the caller becomes a factor.
struct legalize_pooling : pass {
    using phase = legalization;
    using runs_after = pass_list<canonical_pooling, decompose_dilated_pooling>;
    static constexpr std::string_view summary = "avg_pool2d and max_pool2d to AVG_POOL2D and MAX_POOL2D";
    using targeted_ops = ops<aten::avg_pool2d, aten::max_pool2d>;
    using produces = joined<build::average_pool_ops, ops<tosa::max_pool2d, tosa::mul>>;

    value operator()(const args<aten::avg_pool2d>& a, emit<produces>& e) const {
        if (!is_floating(e.dtype(a.self))) {
            return e.unsupported(
                "TOSA has no average of integers that rounds toward zero, as PyTorch's does; average floats");
        }
        value pooled = build::average_pool(e, a);
        if (a.divisor_override) {
            const std::int64_t area = a.kernel_size[0] * a.kernel_size[a.kernel_size.size() - 1];
            const double factor = static_cast<double>(area) / static_cast<double>(*a.divisor_override);
            pooled = build::multiply(e, pooled, e.splat(factor, e.dtype(a.self), 4));
        }
        return build::transpose(e, pooled, build::to_channels_first(4));
    }

    value operator()(const args<aten::max_pool2d>& a, emit<produces>& e) const {
        const value input = build::transpose(e, a.self, build::to_channels_last(4));
        auto windows = windows_of({a.kernel_size, a.stride, a.padding, a.dilation}, 2);
        if (!windows) return e.fail(std::move(windows).error());
        const auto fitted = build::fit_windows(
            e.shape(input), std::span(windows.value()).first(2), sizes(e.result_meta().shape).subspan(2));
        const value pooled = e.make<tosa::max_pool2d>({.input = build::crop(e, input, fitted.used),
            .kernel = int_list(fitted.kernel),
            .stride = int_list(fitted.stride),
            .pad = int_list(fitted.pad)});
        return build::transpose(e, pooled, build::to_channels_first(4));
    }
};
HEADRACE_COMPILED_PASS(legalize_pooling);

}  // namespace headrace

#endif
