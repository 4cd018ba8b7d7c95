// SPDX-License-Identifier: MIT
// Defines headrace::legalize_convolution.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_CONVOLUTION_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_CONVOLUTION_HPP

#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/convolution.hpp>

namespace headrace {

struct decompose_grouped_convolution;
struct decompose_transposed_volumes;
/// Lowers a convolution of one group, or depthwise, to CONV2D, DEPTHWISE_CONV2D, CONV3D or TRANSPOSE_CONV2D
/// (TOSA 1.0, 2.2.3 to 2.2.5 and 2.2.10) between transposes to and from channels-last. One spatial dimension
/// becomes two, the first of size 1.
struct legalize_convolution : pass {
    using phase = legalization;
    using runs_after =
        pass_list<canonical_convolutions, decompose_grouped_convolution, decompose_transposed_volumes>;
    static constexpr std::string_view summary = "convolution to TOSA's four, with channels last";
    using targeted_ops = ops<aten::convolution>;
    using produces = build::convolution_ops;

    value operator()(const args<aten::convolution>& a, emit<produces>& e) const {
        const int_list result = e.result_meta().shape;
        return build::channels_first(e, build::convolution(e, a).channels_last(result), result);
    }
};
HEADRACE_COMPILED_PASS(legalize_convolution);

}  // namespace headrace

#endif
