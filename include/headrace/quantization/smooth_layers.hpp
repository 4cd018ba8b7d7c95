// SPDX-License-Identifier: MIT
// Declares headrace::smooth_layers.
#ifndef HEADRACE_QUANTIZATION_SMOOTH_LAYERS_HPP
#define HEADRACE_QUANTIZATION_SMOOTH_LAYERS_HPP

#include <cstddef>

#include <headrace/base/result.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/quantization/observers/observe.hpp>

namespace headrace {

/// SmoothQuant (Xiao et al., arXiv:2211.10438, equations 3 and 4, with α = 1/2): channel j of a tensor that
/// linear layers read is divided by s = √(max|x_j| / max|w_j|), taken over all samples and all of these
/// layers, and the layers' weights are multiplied by s. Outliers in a few channels then do not use up the
/// range of the others. The division is folded into the factor and the summand of a norm (x = y·γ + β), or
/// into the weight and bias of a preceding linear layer. Takes a prepared graph. Returns the number of
/// tensors smoothed.
[[nodiscard]] result<std::size_t> smooth_layers(
    graph& g, const sample_source& samples, const parallel_for& in_parallel = run_serially);

}  // namespace headrace

#endif
