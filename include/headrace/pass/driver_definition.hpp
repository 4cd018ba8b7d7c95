// SPDX-License-Identifier: MIT
// Defines the functions of pass/driver.hpp.
#ifndef HEADRACE_PASS_DRIVER_DEFINITION_HPP
#define HEADRACE_PASS_DRIVER_DEFINITION_HPP

#include <algorithm>
#include <cstdint>
#include <span>

#include <headrace/base/compiled.hpp>
#include <headrace/pass/in_place_run.hpp>
#include <headrace/pass/retracing_run.hpp>

namespace headrace::detail {

HEADRACE_INLINE bool has_any_of(const graph& g, std::span<const op_info* const> ops) {
    return std::any_of(ops.begin(), ops.end(), [&](const op_info* op) {
        const std::span<const std::uint64_t> present = g.census().present(*op->dialect);
        return !present.empty() && (present[op->index / 64] >> op->index % 64 & 1) != 0;
    });
}

HEADRACE_INLINE result<node_counts> run_handlers(
    const erased_pass& p, graph& g, pass_context& context, driver_kind driver) {
    if (driver == driver_kind::in_place) return in_place_run(p, g, context).run();
    return retracing_run(p, g, context).run();
}

HEADRACE_INLINE result<void> retrace_region(retracing_run& run, graph& region) { return run.retrace(region); }

}  // namespace headrace::detail

#endif
