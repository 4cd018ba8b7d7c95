// SPDX-License-Identifier: MIT
// Defines headrace::remove_whole_clamps.
#ifndef HEADRACE_PASSES_NPU_REMOVE_WHOLE_CLAMPS_HPP
#define HEADRACE_PASSES_NPU_REMOVE_WHOLE_CLAMPS_HPP

#include <optional>

#include <headrace/passes/npu/halve_windows.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/target/preferences.hpp>

namespace headrace {

/// Removes CLAMPs to the whole range, as after a quantized relu, whose result is quantized from 0 on. Targets
/// that use such a CLAMP as a hint keep it.
struct remove_whole_clamps : pass {
    using phase = tuning;
    using runs_after = pass_list<tosa_only, layouts_chosen, halve_windows>;
    static constexpr std::string_view summary = "removes CLAMPs to the whole range of an integer type";

    using targeted_ops = ops<tosa::clamp>;
    using produces = ops<>;

    [[nodiscard]] bool should_run(const graph& g) const { return is_wanted(g.target()); }

    std::optional<value> operator()(const args<tosa::clamp>& a, emit<produces>& e) const {
        const dtype type = e.dtype(a.input);
        if (is_floating(type) || !is_wanted(e.target())) return std::nullopt;
        const auto [lowest, highest] = build::bounds_of(type);
        const bool is_whole =
            a.min_val.to_double() <= lowest.to_double() && a.max_val.to_double() >= highest.to_double();
        return is_whole ? std::optional(a.input) : std::nullopt;
    }

private:
    // Also checked for each CLAMP: a run that skips no pass must not remove CLAMPs that the target wants.
    static bool is_wanted(const target_spec& target) { return !preferences_of(target).whole_clamps; }
};
HEADRACE_COMPILED_PASS(remove_whole_clamps);

}  // namespace headrace

#endif
