// SPDX-License-Identifier: MIT
// Defines headrace::lowering_observer, callbacks that observe a lowering.
#ifndef HEADRACE_LOWERING_LOWERING_OBSERVER_HPP
#define HEADRACE_LOWERING_LOWERING_OBSERVER_HPP

#include <functional>
#include <span>

#include <headrace/base/result.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/lowering/report.hpp>
#include <headrace/pass/pipeline.hpp>
#include <headrace/pass/statistics.hpp>
#include <headrace/rewrite/pass_context.hpp>

namespace headrace {

/// Callbacks that observe a lowering; each may be empty. An error that one returns ends the lowering.
/// Lowering to a package or a `.pte` file involves several graphs: first the host graph of each method
/// begins, then each delegate's graph runs from begin to end, and the host graphs end last.
struct lowering_observer {
    std::function<result<void>(graph& exported)> before_passes{};
    std::function<result<void>(const pass_record& pass, graph& g)> after_pass{};
    /// `refusals` are the nodes that cannot be lowered.
    std::function<result<void>(graph& g, std::span<const diagnostic> refusals)> after_passes{};

    [[nodiscard]] result<void> begin(graph& g) const {
        return before_passes ? before_passes(g) : result<void>();
    }
    [[nodiscard]] result<void> see(const pass_record& pass, graph& g) const {
        return after_pass ? after_pass(pass, g) : result<void>();
    }
    [[nodiscard]] result<void> end(graph& g, std::span<const diagnostic> refusals) const {
        return after_passes ? after_passes(g, refusals) : result<void>();
    }

    /// Returns the options of an observed and timed run. They refer to this observer.
    [[nodiscard]] run_options watched_run() {
        return {.clock = &steady_nanoseconds,
            .observer = this,
            .after_pass = [](void* self, const pass_record& pass, graph& g) {
                return static_cast<lowering_observer*>(self)->see(pass, g);
            }};
    }
};

}  // namespace headrace

#endif
