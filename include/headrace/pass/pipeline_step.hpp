// SPDX-License-Identifier: MIT
// Defines headrace::pipeline_step, a pass of a pipeline as data, and headrace::pipeline_steps, a list of
// them.
#ifndef HEADRACE_PASS_PIPELINE_STEP_HPP
#define HEADRACE_PASS_PIPELINE_STEP_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include <headrace/ir/graph.hpp>
#include <headrace/pass/pass_code.hpp>
#include <headrace/pass/statistics.hpp>
#include <headrace/rewrite/pass_context.hpp>

namespace headrace {

/// Options of a run. `clock` returns nanoseconds; `after_pass` is called after each pass that ran, and may
/// stop.
struct run_options {
    driver_kind driver = driver_kind::in_place;
    std::uint64_t (*clock)() = nullptr;
    void* observer = nullptr;
    result<void> (*after_pass)(void* observer, const pass_record& record, graph& g) = nullptr;
    bool skip = true;  ///< if false, run every pass, for measurements, like pass_context::force_passes

    /// Runs a pass by `run()`, and records its counts and time.
    template <class Run>
    result<void> measure(pass_record& record, Run&& run) const {
        const std::uint64_t begin = clock == nullptr ? 0 : clock();
        HEADRACE_TRY(counts, run());
        record.nodes = counts;
        if (clock != nullptr) record.nanoseconds = clock() - begin;
        return {};
    }
    result<void> tell_observer(const pass_record& record, graph& g) const {
        return after_pass == nullptr ? result<void>() : after_pass(observer, record, g);
    }
};

namespace detail {

template <class Dialects>
struct infos_of_dialects;
template <class... Ds>
struct infos_of_dialects<dialects<Ds...>> {
    static constexpr std::array<const dialect_info*, sizeof...(Ds)> value{&info_of_dialect<Ds>...};
};

/// True if a graph or one of its regions has an op of a set: its bits, by dialect.
inline bool has_any_of(
    const graph& g, std::span<const std::uint64_t> words, std::span<const dialect_info* const> dialects) {
    for (const dialect_info* d : dialects) {
        if (words.empty()) break;
        const std::size_t count = words_for(d->op_count);
        std::uint64_t wanted = 0;
        for (const std::uint64_t w : words.first(count)) wanted |= w;
        if (wanted != 0) {
            const std::span<const std::uint64_t> present = g.census().present(*d);
            for (std::size_t w = 0; w != present.size(); ++w) {
                if ((words[w] & present[w]) != 0) return true;
            }
        }
        words = words.subspan(count);
    }
    return false;
}

}  // namespace detail

/// A pass of a pipeline: the data and functions that a run needs.
struct pipeline_step {
    std::string_view name;
    std::span<const std::uint64_t> targets;  ///< by the pipeline's dialects; empty if it has none
    bool replaces_skip_test = false;         ///< should_run is called even without targets
    bool (*should_run)(const graph& g, bool has_targets) = nullptr;  ///< null: it runs if it has targets
    /// Null for a pass that can never fire.
    result<node_counts> (*run)(graph& g, pass_context& context, driver_kind driver) = nullptr;
};

/// The passes of a pipeline, and the dialects of their targets.
struct pipeline_steps {
    std::span<const pipeline_step> steps;
    std::span<const dialect_info* const> dialects;

    /// The generated skip test: true if the graph, including nested regions, has a target of the pass.
    [[nodiscard]] bool has_targets(const pipeline_step& step, const graph& g) const {
        return detail::has_any_of(g, step.targets, dialects);
    }
    /// Decides whether a pass runs. Call it just before that: earlier passes may make its targets.
    [[nodiscard]] pass_status decide(const pipeline_step& step, const graph& g, const pass_context& context,
        const run_options& options) const {
        if (!options.skip || context.forces_passes()) return pass_status::ran;
        const bool present = step.targets.empty() || has_targets(step, g);
        if (!present && !step.replaces_skip_test) return pass_status::no_target;
        if (step.should_run == nullptr || step.should_run(g, present)) return pass_status::ran;
        return pass_status::declined;
    }

    [[nodiscard]] result<run_statistics> run(
        graph& g, pass_context& context, const run_options& options) const {
        run_statistics statistics(steps.size());
        for (std::size_t i = 0; i != steps.size(); ++i) {
            pass_record& record = statistics[i];
            record.name = steps[i].name;
            if (steps[i].run == nullptr) continue;
            record.status = decide(steps[i], g, context, options);
            if (record.status != pass_status::ran) continue;
            HEADRACE_TRY(options.measure(record, [&] { return steps[i].run(g, context, options.driver); }));
            HEADRACE_TRY(options.tell_observer(record, g));
        }
        return statistics;
    }
};

}  // namespace headrace

#endif
