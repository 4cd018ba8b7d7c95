// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <optional>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/fx/pass_manager.hpp>
#include <headrace/infer/verify.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/lowering/lower_package.hpp>
#include <headrace/lowering/standard_pipeline.hpp>
#include <headrace/lowering/target_choice.hpp>
#include <headrace/opt/pass_watcher.hpp>
#include <headrace/opt/reproducer.hpp>
#include <headrace/run/execution.hpp>
#include <headrace/run/models.hpp>
#include <headrace/show/refusal_lines.hpp>

#include "commands.hpp"
#include "graph_files.hpp"
#include "messages.hpp"
#include "notes.hpp"

namespace headrace::cli {

namespace {

// Returns the passes of the standard pipeline, and two that prepare graphs for the host.
const pass_registry& all_passes() {
    static const pass_registry registry = [] {
        pass_registry all = standard_passes();
        for (const any_pass& p : host_passes().passes()) all.add(p);
        return all;
    }();
    return registry;
}

void print_passes() {
    for (const any_pass& p : all_passes().passes()) fmt::print("{:32} {}\n", p.name(), p.info().summary);
}

/// Reads the model and sets the target that its passes lower to.
result<program> read_for_passes(const opt_options& options, const std::optional<target_spec>& target) {
    HEADRACE_TRY(model, read_model(options.model, options.sizes));
    HEADRACE_TRY(refuse_lowered(options.model, model));
    graph& g = *model.graph;
    if (target || g.target() == target_spec{}) g.set_target(target ? *target : widest_default_target(g));
    return std::move(model);
}

result<run_statistics> run_watched(const opt_options& options, pmr_vector<any_pass> passes, graph& g,
    pass_context& context, pass_watcher& watcher) {
    pass_manager manager(std::move(passes),
        {.run_checks_after_each_pass = true,
            .run = {.driver = options.retrace ? driver_kind::retracing : driver_kind::in_place,
                .observer = &watcher,
                .after_pass = &pass_watcher::after_pass}});
    manager.assume(options.assumed);
    if (options.check) manager.add_checks([](const graph& now) { return verify(now); });
    return manager(g, context);
}

/// Runs the passes before the failing one again, and writes the graph.
result<void> reproduce(const opt_options& options, const pmr_vector<any_pass>& passes,
    const std::optional<target_spec>& target, const pass_watcher& failed) {
    HEADRACE_TRY(model, read_for_passes(options, target));
    pass_watcher again(names_of(passes), failed.progress.count());
    pass_context context(standard_functions);
    if (again.stop_after != 0) static_cast<void>(run_watched(options, passes, *model.graph, context, again));
    return write_reproducer(options.reproducer, *model.graph,
        {again.progress.left(), options.verify, options.inputs, options.assumed});
}

result<int> run_passes(const opt_options& options, const pmr_vector<any_pass>& passes,
    const std::optional<target_spec>& target) {
    HEADRACE_TRY(model, read_for_passes(options, target));
    graph& g = *model.graph;
    const std::size_t nodes_before = g.size();
    const std::size_t pass_count = passes.size();
    pass_watcher watcher(names_of(passes));
    if (options.verify) {
        HEADRACE_TRY(inputs, model_inputs(g, options.inputs));
        watcher.executed.emplace(std::move(inputs));
        HEADRACE_TRY(watcher.executed->begin(g));
    }
    pass_context context(standard_functions);
    if (const auto done = run_watched(options, passes, g, context, watcher); !done) {
        return with_reproducer(
            done.error(), options.reproducer, [&] { return reproduce(options, passes, target, watcher); });
    }
    HEADRACE_TRY(model.file.check());
    for (const std::string& line : refusal_lines(context.diagnostics()))
        fmt::print(stderr, "{}", format_error(line));
    if (!context.diagnostics().empty()) return status_unsupported;
    if (options.verify) say(verified_text(watcher.verified));
    if (options.output.empty()) {
        fmt::print("{}", listing(g));
    } else {
        HEADRACE_TRY(write_graph(options.output, model, options.inlined));
        say(fmt::format("{} -> {}: {} became {} in {}", options.model, options.output,
            counted(nodes_before, "node"), g.size(),
            pass_count == 1 ? "1 pass" : fmt::format("{} passes", pass_count)));
    }
    return status_ok;
}

}  // namespace

int opt(const opt_options& options) {
    if (options.passes == "help") {
        print_passes();
        return status_ok;
    }
    if (options.passes.empty() && !options.model.empty()) {
        opt_options found = options;
        take_from(read_reproducer(options.model), found);
        if (!found.passes.empty()) return opt(found);
    }
    auto passes = all_passes().select(options.passes);
    if (!passes) return report_usage(passes.error().message + "; --passes help lists all");
    if (options.passes.empty()) return report_usage("--passes is required; --passes help lists all");
    if (options.model.empty()) return report_usage("opt needs a model");
    if (const int status = check_distinct_files(std::vector{options.output}, options.model);
        status != status_ok)
        return status;
    if (const int status = check_graph_extension(options.output); status != status_ok) return status;
    std::optional<target_spec> target;
    if (const int status = parse_target_option(options.target, target); status != status_ok) return status;
    const result<int> status = run_passes(options, passes.value(), target);
    return status ? status.value() : report_error(status.error());
}

}  // namespace headrace::cli
