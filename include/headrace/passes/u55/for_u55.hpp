// SPDX-License-Identifier: MIT
// Defines headrace::for_u55, which says when the passes of this folder run.
#ifndef HEADRACE_PASSES_U55_FOR_U55_HPP
#define HEADRACE_PASSES_U55_FOR_U55_HPP

#include <headrace/ir/graph.hpp>

namespace headrace {

/// A base for passes that run only if the graph's target is Ethos-U55: they express what it lacks of TOSA
/// (target/u55_verify.hpp) by what it supports.
struct for_u55 {
    [[nodiscard]] bool should_run(const graph& g) const { return g.target().has(target_feature::u55); }
};

}  // namespace headrace

#endif
