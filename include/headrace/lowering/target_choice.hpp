// SPDX-License-Identifier: MIT
// Declares headrace::default_targets, the targets for a model whose user names none.
#ifndef HEADRACE_LOWERING_TARGET_CHOICE_HPP
#define HEADRACE_LOWERING_TARGET_CHOICE_HPP

#include <vector>

#include <headrace/base/target_spec.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// Returns the targets to try, in order; the first that can hold the graph is used. A float model gets FP,
/// then FP+INT in case it computes with integers that FP lacks. A quantized model, or one of uint8 without
/// floats, gets INT, then INT+FP in case it also has float parts. A model that converts uint8 images to
/// floats gets INT+FP. For a model that computes with int16, these follow again with +int16; one that
/// computes with bfloat16 has +bf16.
[[nodiscard]] std::vector<target_spec> default_targets(const graph& g);

/// Returns a target that can hold all ops of a graph before any is lowered: the last of default_targets().
[[nodiscard]] target_spec widest_default_target(const graph& g);

}  // namespace headrace

#endif
