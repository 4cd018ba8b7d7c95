// SPDX-License-Identifier: MIT
// Defines the functions of headrace/opt/opt_main.hpp.

#include <headrace/opt/opt_main.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory_resource>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/printable.hpp>
#include <headrace/base/text.hpp>
#include <headrace/eval/fold.hpp>
#include <headrace/io/file/npy.hpp>
#include <headrace/io/text/memory_plan_text.hpp>
#include <headrace/io/text/opaque.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/ir/opaque_text.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/memory/memory_plan.hpp>
#include <headrace/opt/opt_command_line.hpp>
#include <headrace/opt/partition_by_pipeline.hpp>
#include <headrace/opt/pass_watcher.hpp>
#include <headrace/opt/reproducer.hpp>
#include <headrace/run/planned_check.hpp>
#include <headrace/show/refusal_lines.hpp>

namespace headrace {

namespace {

int opt_failure(const error& e) {
    std::fprintf(stderr, "error: %s\n", printable(e.message, max_printed_message).c_str());
    return e.kind == error_kind::unwritable ? 2 : e.kind == error_kind::unsupported ? 1 : 3;
}

// Infers the metadata that nodes lack, including those of user-defined dialects.
result<void> complete_types(graph& g, pass_context::node_inference infer) {
    for (node& n : g.nodes()) {
        result<void> regions;
        for_each_region(n, [&](const field_info&, graph* region) {
            if (regions && region != nullptr) regions = complete_types(*region, infer);
        });
        HEADRACE_TRY(std::move(regions));
        const std::span<result_slot> results(n.results, n.result_count);
        const auto is_known = [](const result_slot& r) { return r.meta != nullptr; };
        if (std::all_of(results.begin(), results.end(), is_known)) continue;
        std::pmr::monotonic_buffer_resource memory;
        inference inferred(&memory);
        if (const auto done = infer(n, inferred); !done)
            return malformed({message_prefix(n), "its type is not given: ", done.error().message});
        for (std::uint32_t i = 0; i != n.result_count && i != inferred.results().size(); ++i) {
            const bool open = inferred.results()[i].dtype == dtype::unknown;  // the rule leaves it open
            if (!is_known(results[i]) && !open) g.set_meta(n.result(i), inferred.results()[i]);
        }
    }
    return {};
}

result<void> verify_all(const opt_program& own, const graph& g) {
    HEADRACE_TRY(verify(g, verify_options{.rule_of = own.operators.rule_of, .check_node = own.verify_node}));
    return verify_metadata(g);
}

// Prints a line that is no result.
void say(std::string_view line) {
    std::fprintf(stderr, "%s\n", printable(line, max_printed_message).c_str());
}

result<program> read_own(const opt_program& own, const std::string& path) {
    const bool is_text = path.ends_with(".hr");
    HEADRACE_TRY(p, is_text ? read_graph_text(path, own.find_op) : read_model(path));
    result<void> sound = resolve_opaque(*p.graph, own.find_op);
    if (sound) sound = complete_types(*p.graph, own.infer);
    if (sound) sound = verify_all(own, *p.graph);
    if (!sound) return malformed(sound.error().in(path).message);
    return std::move(p);
}

using refused_nodes = pmr_vector<diagnostic>;

// Returns a manager that accepts the properties of --assume.
pass_manager manager_of(
    const opt_request& asked, pmr_vector<any_pass> passes, const pass_manager_options& options = {}) {
    pass_manager manager(std::move(passes), options);
    manager.assume(asked.assumed);
    return manager;
}

driver_kind driver_of(const opt_request& asked) {
    return asked.retrace ? driver_kind::retracing : driver_kind::in_place;
}

result<void> print_or_write(const opt_request& asked, const program& p) {
    if (!asked.output.empty()) return write_graph_text(asked.output, p);
    std::printf("%s", listing(*p.graph).c_str());
    return {};
}

result<run_statistics> run_watched(const opt_program& own, const opt_request& asked,
    const pmr_vector<any_pass>& passes, graph& g, pass_context& context, pass_watcher& watcher) {
    pass_manager manager = manager_of(asked, passes,
        {.run_checks_after_each_pass = true,
            .run = {
                .driver = driver_of(asked), .observer = &watcher, .after_pass = &pass_watcher::after_pass}});
    manager.add_checks([&](const graph& now) { return verify_all(own, now); });
    return manager(g, context);
}

// Runs the passes before the failed one again, and writes the graph. Runs fewer of them if the remaining
// passes require one that would have run.
result<void> reproduce(const opt_program& own, const opt_request& asked, const pmr_vector<any_pass>& passes,
    const pass_watcher& failed) {
    for (std::size_t count = failed.progress.count();; --count) {
        HEADRACE_TRY(p, read_own(own, asked.file));
        pass_watcher again(names_of(passes), count);
        pass_context context({own.infer, &eval::folding});
        if (count != 0) static_cast<void>(run_watched(own, asked, passes, *p.graph, context, again));
        HEADRACE_TRY(left, own.passes.select(again.progress.left()));
        if (count != 0 && !manager_of(asked, std::move(left)).solve_constraints()) continue;
        return write_reproducer(
            asked.reproducer, *p.graph, {again.progress.left(), asked.verify, asked.inputs, asked.assumed});
    }
}

// Runs passes with all checks. Returns the nodes that they refuse.
result<refused_nodes> transform(
    const opt_program& own, const opt_request& asked, const pmr_vector<any_pass>& chosen, graph& g) {
    pass_manager ordered = manager_of(asked, chosen);
    HEADRACE_TRY(ordered.solve_constraints());
    const pmr_vector<any_pass> passes(ordered.passes().begin(), ordered.passes().end());
    pass_watcher watcher(names_of(passes));
    watcher.executes_unchanged = true;  // user-defined passes may claim it wrongly
    if (asked.verify) {
        HEADRACE_TRY(inputs, model_inputs(g, asked.inputs));
        watcher.executed.emplace(std::move(inputs), own.operators);
        HEADRACE_TRY(watcher.executed->begin(g));
    }
    if (!asked.ir.empty()) {
        std::set<std::string, std::less<>> around;
        if (!asked.ir_around.empty()) {
            HEADRACE_TRY(named, own.passes.select(asked.ir_around));
            for (const any_pass& p : named) around.emplace(p.name());
        }
        watcher.texts.emplace(asked.ir, std::move(around));
        HEADRACE_TRY(watcher.texts->write(g, "input"));
    }
    pass_context context({own.infer, &eval::folding});
    if (const auto done = run_watched(own, asked, passes, g, context, watcher); !done) {
        return with_reproducer(
            done.error(), asked.reproducer, [&] { return reproduce(own, asked, passes, watcher); });
    }
    if (watcher.texts) watcher.texts->end();
    if (asked.verify && context.diagnostics().empty()) say(verified_text(watcher.verified));
    return refused_nodes(context.diagnostics().begin(), context.diagnostics().end());
}

result<refused_nodes> optimize(const opt_program& own, const opt_request& asked, graph& g) {
    if (!asked.all_passes) {
        HEADRACE_TRY(named, own.passes.select(asked.passes));
        return transform(own, asked, named, g);
    }
    return transform(own, asked, {own.passes.passes().begin(), own.passes.passes().end()}, g);
}

const opt_pipeline* pipeline_for(const opt_program& own, const opt_request& asked) {
    for (const opt_pipeline& p : own.pipelines) {
        if (asked.pipeline.empty() || p.name == asked.pipeline) return &p;
    }
    return nullptr;
}

// Nodes that no pass has refused but that may not be left are refused as well.
result<refused_nodes> lower_by_pipeline(const opt_program& own, const opt_request& asked, graph& g) {
    const opt_pipeline& pipeline = *pipeline_for(own, asked);
    HEADRACE_TRY(refused, transform(own, asked, pipeline.passes, g));
    std::set<std::string_view> told;
    for (const diagnostic& d : refused) told.insert(d.node);
    refused_nodes all = refused;
    for (const node* n : pipeline.illegal_nodes(g)) {
        if (told.contains(n->name())) continue;
        all.push_back({std::pmr::string(n->name()), std::pmr::string(op_name(*n)),
            "no pass of " + std::pmr::string(pipeline.name) + " takes it"});
    }
    return all;
}

// Lowers what the pipeline takes; says what stays.
result<refused_nodes> lower_in_parts(const opt_program& own, const opt_request& asked, graph& g) {
    std::optional<result_check> executed;
    if (asked.verify) {
        HEADRACE_TRY(inputs, model_inputs(g, asked.inputs));
        HEADRACE_TRY(executed.emplace(std::move(inputs), own.operators).begin(g));
    }
    HEADRACE_TRY(
        host, partition_by_pipeline(own, *pipeline_for(own, asked), g, {.driver = driver_of(asked)}));
    HEADRACE_TRY(verify_all(own, g));
    if (executed) {
        HEADRACE_TRY(difference, executed->check("partition", g));
        const verified_pass found{"partition", difference};
        say(verified_text(std::span(&found, 1)));
    }
    for (const host_node& stays : host) {
        say(join_text("note: ", message_prefix(*stays.which), "stays: ", stays.reason));
    }
    return refused_nodes();
}

result<void> write_results(const std::vector<std::string>& files, const std::vector<tensor>& outputs) {
    if (files.size() != outputs.size())
        return unwritable(
            {"the graph has ", counted_text(outputs.size(), "output"), ", but --out names ", files.size()});
    for (std::size_t i = 0; i != files.size(); ++i) {
        const tensor_meta meta{outputs[i].type(), int_list(outputs[i].shape()), {}};
        HEADRACE_TRY(write_npy(files[i], meta, outputs[i].bytes()));
    }
    return {};
}

result<void> execute_and_print(const opt_program& own, const opt_request& asked, const graph& g) {
    HEADRACE_TRY(inputs, model_inputs(g, asked.inputs));
    HEADRACE_TRY(outputs, execute(g, inputs, own.operators));
    if (!asked.results.empty()) return write_results(asked.results, outputs);
    for (std::size_t i = 0; i != outputs.size(); ++i) {
        std::printf("output %zu: %s%s", i, std::string(name_of(outputs[i].type())).c_str(),
            shape_text(outputs[i].shape()).c_str());
        constexpr std::int64_t shown = 8;
        for (std::int64_t k = 0; k != std::min(outputs[i].size(), shown); ++k)
            std::printf("%s%.6g", k == 0 ? " = " : ", ", outputs[i].real(k));
        std::printf("\n");
    }
    return {};
}

result<void> print_plan(const opt_program& own, const opt_request& asked, const graph& g) {
    HEADRACE_TRY(plan, make_memory_plan(g));
    if (asked.verify) {
        HEADRACE_TRY(inputs, model_inputs(g, asked.inputs));
        HEADRACE_TRY(check_planned_execution(g, {}, inputs, own.operators));
        say(verified_plan);
    }
    std::printf("%s", memory_plan_text(g, plan).c_str());
    return {};
}

// Runs `opt` or `lower`: the graph is not written if a node is refused.
result<int> transform_and_write(const opt_program& own, const opt_request& asked, program& p) {
    HEADRACE_TRY(refused,
        asked.command == "opt" ? optimize(own, asked, *p.graph)
            : asked.partition  ? lower_in_parts(own, asked, *p.graph)
                               : lower_by_pipeline(own, asked, *p.graph));
    for (const std::string& line : refusal_lines(refused))
        std::fprintf(stderr, "error: %s\n", printable(line, max_printed_message).c_str());
    if (!refused.empty()) return 1;
    HEADRACE_TRY(print_or_write(asked, p));
    return 0;
}

// Takes the passes from the first line of a reproducer if the command line names none.
result<opt_request> completed(opt_request asked) {
    if (asked.command != "opt" || asked.all_passes || !asked.passes.empty()) return asked;
    const reproducer said = read_reproducer(asked.file);
    if (said.passes.empty())
        return error{error_kind::unwritable, "opt needs --passes or --all, or a reproducer, which has them"};
    take_from(said, asked);
    return asked;
}

result<int> answer(const opt_program& own, const opt_request& given) {
    HEADRACE_TRY(asked, completed(given));
    HEADRACE_TRY(p, read_own(own, asked.file));
    if (asked.command == "opt" || asked.command == "lower") return transform_and_write(own, asked, p);
    if (asked.command == "run") {
        HEADRACE_TRY(execute_and_print(own, asked, *p.graph));
    } else if (asked.command == "plan") {
        HEADRACE_TRY(print_plan(own, asked, *p.graph));
    } else {
        HEADRACE_TRY(print_or_write(asked, p));
    }
    return 0;
}

// Reports names that the program does not have.
result<void> check_names(const opt_program& own, const opt_request& asked) {
    if (!asked.passes.empty()) {
        HEADRACE_TRY(own.passes.select(asked.passes));
    }
    if (!asked.ir_around.empty()) {
        HEADRACE_TRY(own.passes.select(asked.ir_around));
    }
    if (asked.command != "lower" || pipeline_for(own, asked) != nullptr) return {};
    if (own.pipelines.empty()) return invalid("the program has no pipeline to lower with");
    std::pmr::string text = "no pipeline is called '" + std::pmr::string(asked.pipeline) + "', but";
    for (const opt_pipeline& p : own.pipelines) text += " " + std::pmr::string(p.name);
    return invalid(std::move(text));
}

}  // namespace

int run_opt_program(const opt_program& program, int argc, char** argv) {
    const std::string name = argc == 0 ? "program" : argv[0];
    const auto parsed = parse_opt_command({argv, static_cast<std::size_t>(argc)});
    if (!parsed) {
        std::fprintf(stderr, "error: %s\n%s --help lists all commands and options\n",
            printable(parsed.error().message, max_printed_message).c_str(), name.c_str());
        return 2;
    }
    const opt_request& asked = parsed.value();
    if (asked.help) {
        std::printf("%s", opt_usage(program, name).c_str());
        return 0;
    }
    if (const auto known = check_names(program, asked); !known) {
        std::fprintf(stderr, "error: %s\n", known.error().message.c_str());
        return 2;
    }
    try {
        const result<int> status = answer(program, asked);
        return status ? status.value() : opt_failure(status.error());
    } catch (const std::exception& e) {  // lack of memory, mostly
        return opt_failure(malformed({asked.file, ": ", e.what()}));
    }
}

}  // namespace headrace
