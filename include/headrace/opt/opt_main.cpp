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
#include <headrace/io/file/npy.hpp>
#include <headrace/io/text/memory_plan_text.hpp>
#include <headrace/io/text/opaque.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/ir/opaque_text.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/memory/memory_plan.hpp>
#include <headrace/opt/pass_watcher.hpp>
#include <headrace/opt/reproducer.hpp>
#include <headrace/run/planned_check.hpp>
#include <headrace/show/refusal_lines.hpp>

namespace headrace {

namespace {

// The parsed command line.
struct opt_request {
    std::string command;
    std::string file;
    std::string passes;
    std::string pipeline;
    std::string output;
    std::string reproducer;
    std::string ir;         ///< a folder
    std::string ir_around;  ///< passes, separated by commas
    std::vector<std::string> inputs;
    std::vector<std::string> results;
    bool all_passes = false;
    bool verify = false;
};

// Returns the options that a command takes.
std::span<const std::string_view> opt_options_of(std::string_view command) {
    static constexpr std::string_view show[] = {"-o"};
    static constexpr std::string_view opt[] = {
        "-o", "--passes", "--all", "--verify", "--in", "--reproducer", "--ir", "--ir-around"};
    static constexpr std::string_view lower[] = {
        "-o", "--pipeline", "--verify", "--in", "--reproducer", "--ir", "--ir-around"};
    static constexpr std::string_view run[] = {"--in", "--out"};
    static constexpr std::string_view plan[] = {"--verify", "--in"};
    return command == "show" ? std::span<const std::string_view>(show)
        : command == "opt"   ? std::span<const std::string_view>(opt)
        : command == "lower" ? std::span<const std::string_view>(lower)
        : command == "run"   ? std::span<const std::string_view>(run)
        : command == "plan"  ? std::span<const std::string_view>(plan)
                             : std::span<const std::string_view>();
}

// Parses a command line; the result is empty if it is not what run_opt_program takes.
class opt_parser {
public:
    explicit opt_parser(std::span<char*> arguments)
        : words_(arguments.begin(), arguments.end()), at_(std::min<std::size_t>(words_.size(), 1)) {}

    [[nodiscard]] std::optional<opt_request> parse() {
        if (at_ != words_.size()) asked_.command = words_[at_++];
        const auto known = opt_options_of(asked_.command);
        while (at_ != words_.size()) {
            const std::string_view word = words_[at_++];
            if (!word.starts_with("-")) {
                if (!std::exchange(asked_.file, word).empty()) return std::nullopt;
            } else if (std::find(known.begin(), known.end(), word) == known.end() || !take(word)) {
                return std::nullopt;
            }
        }
        // `opt` of a reproducer finds its passes in the file.
        const bool chosen = asked_.command != "opt" || !asked_.all_passes || asked_.passes.empty();
        const bool complete = asked_.ir_around.empty() || !asked_.ir.empty();
        return !known.empty() && chosen && complete && !asked_.file.empty() ? std::optional(asked_)
                                                                            : std::nullopt;
    }

private:
    // Takes an option with its argument; false if that is missing.
    bool take(std::string_view option) {
        if (option == "--all") return asked_.all_passes = true;
        if (option == "--verify") return asked_.verify = true;
        std::vector<std::string> files;
        while (at_ != words_.size() && !words_[at_].starts_with("-")) {
            files.emplace_back(words_[at_++]);
            if (option != "--in" && option != "--out") break;
        }
        if (files.empty()) return false;
        if (option == "--in") return asked_.inputs = files, true;
        if (option == "--out") return asked_.results = files, true;
        if (option == "--reproducer") return asked_.reproducer = files[0], true;
        if (option == "--ir") return asked_.ir = files[0], true;
        if (option == "--ir-around") return asked_.ir_around = files[0], true;
        (option == "-o" ? asked_.output : option == "--passes" ? asked_.passes : asked_.pipeline) = files[0];
        return true;
    }

    std::vector<std::string_view> words_;
    std::size_t at_;
    opt_request asked_;
};

int opt_failure(const error& e) {
    std::fprintf(stderr, "error: %s\n", printable(e.message, max_printed_message).c_str());
    return e.kind == error_kind::unwritable ? 2 : e.kind == error_kind::unsupported ? 1 : 3;
}

void print_opt_usage(const opt_program& own, const char* name) {
    std::fprintf(stderr,
        "error: usage: %s COMMAND FILE\n"
        "  show FILE [-o FILE.hr]                     prints a graph, or writes it as text\n"
        "  opt FILE [--passes a,b|--all] [-o FILE.hr] the graph after passes\n"
        "  lower FILE [--pipeline NAME] [-o FILE.hr]  the graph after a pipeline\n"
        "  run FILE [--in FILE.npy…] [--out FILE.npy…]\n"
        "  plan FILE                                  places in memory\n"
        "opt, lower and plan take --verify [--in FILE.npy…]: they execute before and after\n"
        "opt and lower take --ir FOLDER: the graph after each pass, as text; --ir-around a,b for some\n"
        "opt and lower take --reproducer FILE.hr: if a pass fails, the graph before it, for `opt`\n",
        name);
    for (const opt_pipeline& p : own.pipelines)
        std::fprintf(stderr, "pipeline %s: %zu passes\n", std::string(p.name).c_str(), p.passes.size());
    std::fprintf(stderr, "passes:\n");
    for (const any_pass& p : own.passes.passes())
        std::fprintf(
            stderr, "  %-30s %s\n", std::string(p.name()).c_str(), std::string(p.info().summary).c_str());
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

result<void> print_or_write(const opt_request& asked, const program& p) {
    if (!asked.output.empty()) return write_graph_text(asked.output, p);
    std::printf("%s", listing(*p.graph).c_str());
    return {};
}

result<run_statistics> run_watched(const opt_program& own, const pmr_vector<any_pass>& passes, graph& g,
    pass_context& context, pass_watcher& watcher) {
    pass_manager manager(passes,
        {.run_checks_after_each_pass = true,
            .run = {.observer = &watcher, .after_pass = &pass_watcher::after_pass}});
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
        pass_context context(own.infer);
        if (count != 0) static_cast<void>(run_watched(own, passes, *p.graph, context, again));
        HEADRACE_TRY(left, own.passes.select(again.progress.left()));
        if (count != 0 && !pass_manager(std::move(left)).solve_constraints()) continue;
        return write_reproducer(
            asked.reproducer, *p.graph, {again.progress.left(), asked.verify, asked.inputs});
    }
}

// Runs passes with all checks. Returns the nodes that they refuse.
result<refused_nodes> transform(
    const opt_program& own, const opt_request& asked, const pmr_vector<any_pass>& chosen, graph& g) {
    pass_manager ordered(chosen);
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
    pass_context context(own.infer);
    if (const auto done = run_watched(own, passes, g, context, watcher); !done) {
        return with_reproducer(
            done.error(), asked.reproducer, [&] { return reproduce(own, asked, passes, watcher); });
    }
    if (watcher.texts) watcher.texts->end();
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
    }
    std::printf("%s", memory_plan_text(g, plan).c_str());
    return {};
}

// Runs `opt` or `lower`: the graph is not written if a node is refused.
result<int> transform_and_write(const opt_program& own, const opt_request& asked, program& p) {
    HEADRACE_TRY(refused,
        asked.command == "opt" ? optimize(own, asked, *p.graph) : lower_by_pipeline(own, asked, *p.graph));
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
    const auto asked = opt_parser({argv, static_cast<std::size_t>(argc)}).parse();
    if (!asked) {
        print_opt_usage(program, argc == 0 ? "program" : argv[0]);
        return 2;
    }
    if (const auto known = check_names(program, *asked); !known) {
        std::fprintf(stderr, "error: %s\n", known.error().message.c_str());
        return 2;
    }
    try {
        const result<int> status = answer(program, *asked);
        return status ? status.value() : opt_failure(status.error());
    } catch (const std::exception& e) {  // lack of memory, mostly
        return opt_failure(malformed({asked->file, ": ", e.what()}));
    }
}

}  // namespace headrace
