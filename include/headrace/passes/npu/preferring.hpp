// SPDX-License-Identifier: MIT
// Defines headrace::preferring and headrace::for_u55, the bases of passes that run for some targets.
#ifndef HEADRACE_PASSES_NPU_PREFERRING_HPP
#define HEADRACE_PASSES_NPU_PREFERRING_HPP

#include <headrace/dialect/tosa.hpp>
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

/// Base of such a pass that rewrites TOSA before layouts are chosen.
template <auto Preference>
struct prepared_for : preferring<Preference> {
    using phase = layout_preparation;
};

/// Base of such a pass that rewrites TOSA after layouts are chosen.
template <auto Preference>
struct tuned_for : preferring<Preference> {
    using phase = target_optimization;
};

/// The ops that Vela fuses into the convolution before them.
inline constexpr auto fused_into_convolutions = ops_in<tosa::rescale, tosa::clamp, tosa::table>;

/// Base of passes that run only if the graph's target is Ethos-U55: they express TOSA operators that it lacks
/// (target/u55_verify.hpp) by those that it has.
struct for_u55 : pass {
    using phase = u55_legalization;

    [[nodiscard]] bool should_run(const graph& g) const { return g.target().has(target_feature::u55); }
};

}  // namespace headrace

#endif
