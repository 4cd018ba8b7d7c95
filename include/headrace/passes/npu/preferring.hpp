// SPDX-License-Identifier: MIT
// Defines headrace::preferring, the base of passes that make what a target prefers.
#ifndef HEADRACE_PASSES_NPU_PREFERRING_HPP
#define HEADRACE_PASSES_NPU_PREFERRING_HPP

#include <headrace/ir/graph.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/target/preferences.hpp>

namespace headrace {

/// Base of a pass that runs only if the graph's target has a preference: a
/// `preferring<&target_preferences::stride>` runs if a target prefers short strides.
template <auto Preference>
struct preferring : pass {
    [[nodiscard]] bool should_run(const graph& g) const {
        return preferences_of(g.target()).*Preference != target_preferences{}.*Preference;
    }
};

/// Base of such a pass that rewrites TOSA after layouts are chosen.
template <auto Preference>
struct tuned_for : preferring<Preference> {
    using phase = target_optimization;
};

}  // namespace headrace

#endif
