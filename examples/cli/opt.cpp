// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <optional>

#include <headrace/infer/verify.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/lowering/execution.hpp>
#include <headrace/lowering/lower_package.hpp>
#include <headrace/lowering/models.hpp>
#include <headrace/lowering/refusal_text.hpp>
#include <headrace/lowering/standard_pipeline.hpp>
#include <headrace/lowering/target_choice.hpp>

#include "commands.hpp"
#include "graph_files.hpp"
#include "messages.hpp"

namespace headrace::cli {

namespace {

// The passes of the standard pipeline, and two that prepare graphs for the host.
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

result<int> run_passes(const opt_options& options, std::pmr::vector<any_pass> passes,
                       const std::optional<target_spec>& target) {
    BOOST_OUTCOME_TRY(model, read_model(options.model, options.sizes));
    graph& g = *model.graph;
    const std::size_t nodes_before = g.size();
    const std::size_t pass_count = passes.size();
    if (target || g.target() == target_spec{}) g.set_target(target ? *target : widest_default_target(g));
    pass_manager manager(std::move(passes), {.run_checks_after_each_pass = true,
                                             .run = {.driver = options.retrace ? driver_kind::retracing
                                                                               : driver_kind::in_place}});
    if (options.check) manager.add_checks([](const graph& now) { return verify(now); });
    pass_context context(&infer_node);
    BOOST_OUTCOME_TRY(manager(g, context));
    BOOST_OUTCOME_TRY(model.file.check());
    for (const std::string& line : refusal_lines(context.diagnostics()))
        fmt::print(stderr, "{}", error_text(line));
    if (!context.diagnostics().empty()) return status_unsupported;
    if (options.output.empty()) {
        fmt::print("{}", listing(g));
    } else {
        BOOST_OUTCOME_TRY(write_graph(options.output, model, options.inlined));
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
    auto passes = all_passes().select(options.passes);
    if (!passes) return report_usage(passes.error().message + "; --passes help lists all");
    if (options.model.empty()) return report_usage("opt needs a model");
    if (const int status = check_distinct_files(std::vector{options.output}, options.model);
        status != status_ok)
        return status;
    if (const int status = check_graph_extension(options.output); status != status_ok) return status;
    std::optional<target_spec> target;
    if (const int status = parse_target_option(options.target, target); status != status_ok) return status;
    const result<int> status = run_passes(options, std::move(passes).value(), target);
    return status ? status.value() : report_error(status.error());
}

}  // namespace headrace::cli
