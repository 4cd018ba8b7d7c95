// SPDX-License-Identifier: MIT
// Defines headrace::tosa_only, the property of a graph that is lowered, and the phase of the passes for
// Ethos-U55.
#ifndef HEADRACE_PASSES_TOSA_ONLY_HPP
#define HEADRACE_PASSES_TOSA_ONLY_HPP

#include <headrace/dialect/tosa.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Every op is TOSA's. Nobody ensures it: it is proven from the effects of the passes before.
struct tosa_only : property {
    static constexpr auto only = every_op<tosa::dialect>;
};

/// From TOSA's integer profile to what Ethos-U55 has of it. What is known decides what has to be computed,
/// and in which layout, so constants are folded and layouts chosen before.
struct expansion {
    using runs_after = pass_list<tosa_only, constants_folded, layouts_chosen>;
    using invalidates = pass_list<no_dead_code, duplicates_merged, nodes_sorted>;
};

}  // namespace headrace

#endif
