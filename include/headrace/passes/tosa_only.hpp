// SPDX-License-Identifier: MIT
// Defines headrace::tosa_only, the property of a lowered graph, and the phase of the passes for Ethos-U55.
#ifndef HEADRACE_PASSES_TOSA_ONLY_HPP
#define HEADRACE_PASSES_TOSA_ONLY_HPP

#include <headrace/dialect/tosa.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Every op is TOSA's. No pass claims to ensure this: it is proven from the effects of the passes before.
struct tosa_only : property {
    static constexpr auto only = every_op<tosa::dialect>;
};

/// From TOSA's integer profile to the subset that Ethos-U55 supports. Constants are folded and layouts chosen
/// before, since known values and layouts determine what must be computed.
struct expansion {
    using runs_after = pass_list<tosa_only, constants_folded, layouts_chosen>;
    using invalidates = pass_list<no_dead_code, duplicates_merged, nodes_sorted>;
};

}  // namespace headrace

#endif
