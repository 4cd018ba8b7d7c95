// SPDX-License-Identifier: MIT
// Declares headrace::relax_clamps.
#ifndef HEADRACE_QUANTIZATION_RELAX_CLAMPS_HPP
#define HEADRACE_QUANTIZATION_RELAX_CLAMPS_HPP

#include <cstddef>

#include <headrace/base/result.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/quantization/observers/observe.hpp>

namespace headrace {

/// Replaces each clamp from 0 upwards (relu6, hardtanh) whose upper bound no sample reaches with a relu,
/// which lets equalize_layers scale its channels (Nagel et al., arXiv:1906.04721, section 5.1.1, replaces all
/// of them). Nothing is lost, since the quantized range ends below the bound. Returns the number of clamps
/// replaced.
[[nodiscard]] result<std::size_t> relax_clamps(
    graph& g, const sample_source& samples, const parallel_for& in_parallel = run_serially);

}  // namespace headrace

#endif
