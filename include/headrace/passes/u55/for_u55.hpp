// SPDX-License-Identifier: MIT
// Defines headrace::for_u55, the base of the passes of this folder.
#ifndef HEADRACE_PASSES_U55_FOR_U55_HPP
#define HEADRACE_PASSES_U55_FOR_U55_HPP

#include <headrace/ir/graph.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Base of passes that run only if the graph's target is Ethos-U55: they express TOSA operators that it lacks
/// (target/u55_verify.hpp) by those that it has.
struct for_u55 : pass {
    using phase = u55_legalization;

    [[nodiscard]] bool should_run(const graph& g) const { return g.target().has(target_feature::u55); }
};

}  // namespace headrace

#endif
