// SPDX-License-Identifier: MIT
// Defines headrace::run_opt_program.
#ifndef HEADRACE_LOWERING_OPT_MAIN_DEFINITION_HPP
#define HEADRACE_LOWERING_OPT_MAIN_DEFINITION_HPP

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/compiled.hpp>
#include <headrace/base/printable.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/lowering/opt_main.hpp>

namespace headrace {

namespace detail {

/// What a command line asks for.
struct opt_request {
    std::string command;
    std::string file;
    std::string passes;
    std::string output;
    bool all_passes = false;
};

[[nodiscard]] inline std::optional<opt_request> parse_opt_request(std::span<char*> arguments) {
    opt_request asked;
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        const std::string_view word = arguments[i];
        const bool has_value = i + 1 != arguments.size();
        if (word == "--all") {
            asked.all_passes = true;
        } else if (word == "--passes" && has_value) {
            asked.passes = arguments[++i];
        } else if (word == "-o" && has_value) {
            asked.output = arguments[++i];
        } else if (word.starts_with("-") || !asked.file.empty()) {
            return std::nullopt;
        } else {
            (asked.command.empty() ? asked.command : asked.file) = word;
        }
    }
    const bool is_opt = asked.command == "opt";
    const bool sound =
        is_opt ? asked.all_passes != !asked.passes.empty()
               : !asked.all_passes && asked.passes.empty() &&
                     (asked.command == "show" || (asked.command == "run" && asked.output.empty()));
    return sound && !asked.file.empty() ? std::optional(asked) : std::nullopt;
}

inline int opt_failure(const error& e) {
    std::fprintf(stderr, "error: %s\n", printable(e.message, max_printed_message).c_str());
    return e.kind == error_kind::unwritable ? 2 : e.kind == error_kind::unsupported ? 1 : 3;
}

inline void print_opt_usage(const opt_program& own, const char* name) {
    std::fprintf(
        stderr,
        "error: usage: %s show FILE [-o FILE.hr] | opt FILE --passes a,b|--all [-o FILE.hr] | run FILE\n"
        "passes:\n",
        name);
    for (const any_pass& p : own.passes.passes())
        std::fprintf(stderr, "  %-30s %s\n", std::string(p.name()).c_str(),
                     std::string(p.info().summary).c_str());
}

/// Infers the metadata that nodes lack, those of the own dialects as well.
[[nodiscard]] inline result<void> complete_types(graph& g, pass_context::node_inference infer) {
    for (node& n : g.nodes()) {
        result<void> regions = boost::outcome_v2::success();
        for_each_region(n, [&](const field_info&, graph* region) {
            if (regions && region != nullptr) regions = complete_types(*region, infer);
        });
        BOOST_OUTCOME_TRY(regions);
        const std::span<result_slot> results(n.results, n.result_count);
        const auto is_known = [](const result_slot& r) { return r.meta.has_value(); };
        if (std::all_of(results.begin(), results.end(), is_known)) continue;
        std::pmr::monotonic_buffer_resource memory;
        inference inferred(&memory);
        if (const auto done = infer(n, inferred); !done)
            return malformed(message_prefix(n) + "its type is not given: " + done.error().message);
        for (std::uint32_t i = 0; i != n.result_count && i != inferred.results().size(); ++i) {
            if (!is_known(results[i])) g.set_meta(n.result(i), inferred.results()[i]);
        }
    }
    return boost::outcome_v2::success();
}

[[nodiscard]] inline result<void> verify_all(const opt_program& own, const graph& g) {
    BOOST_OUTCOME_TRY(verify(g, verify_options{.rule_of = own.rule_of}));
    return verify_metadata(g);
}

[[nodiscard]] inline result<program> read_own(const opt_program& own, const std::string& path) {
    if (!path.ends_with(".hr")) return read_model(path);
    BOOST_OUTCOME_TRY(p, read_graph_text(path, own.find_op));
    result<void> sound = complete_types(*p.graph, own.infer);
    if (sound) sound = verify_all(own, *p.graph);
    if (!sound) return malformed(sound.error().in(path).message);
    return std::move(p);
}

[[nodiscard]] inline result<int> transform(const opt_program& own, const opt_request& asked, program& p) {
    std::pmr::vector<any_pass> chosen(own.passes.passes().begin(), own.passes.passes().end());
    if (!asked.all_passes) {
        BOOST_OUTCOME_TRY(named, own.passes.select(asked.passes));
        chosen = std::move(named);
    }
    pass_manager manager(std::move(chosen), {.run_checks_after_each_pass = true});
    manager.add_checks([&](const graph& now) { return verify_all(own, now); });
    pass_context context(own.infer);
    BOOST_OUTCOME_TRY(manager(*p.graph, context));
    for (const diagnostic& d : context.diagnostics()) {
        const std::pmr::string line = d.node + " (" + d.op + "): " + d.reason;
        std::fprintf(stderr, "error: %s\n", printable(line, max_printed_message).c_str());
    }
    return context.diagnostics().empty() ? 0 : 1;
}

[[nodiscard]] inline result<int> execute_and_print(const program& p) {
    BOOST_OUTCOME_TRY(inputs, model_inputs(*p.graph, {}));
    BOOST_OUTCOME_TRY(outputs, execute(*p.graph, inputs));
    for (std::size_t i = 0; i != outputs.size(); ++i) {
        std::printf("output %zu: %s%s", i, std::string(name_of(outputs[i].type())).c_str(),
                    shape_text(outputs[i].shape()).c_str());
        constexpr std::int64_t shown = 8;
        for (std::int64_t k = 0; k != std::min(outputs[i].size(), shown); ++k)
            std::printf("%s%.6g", k == 0 ? " = " : ", ", outputs[i].real(k));
        std::printf("\n");
    }
    return 0;
}

[[nodiscard]] inline result<int> answer(const opt_program& own, const opt_request& asked) {
    BOOST_OUTCOME_TRY(p, read_own(own, asked.file));
    if (asked.command == "run") return execute_and_print(p);
    if (asked.command == "opt") {
        BOOST_OUTCOME_TRY(status, transform(own, asked, p));
        if (status != 0) return status;
    }
    if (asked.output.empty()) {
        std::printf("%s", listing(*p.graph).c_str());
    } else {
        BOOST_OUTCOME_TRY(write_graph_text(asked.output, p));
    }
    return 0;
}

}  // namespace detail

HEADRACE_INLINE int run_opt_program(const opt_program& program, int argc, char** argv) {
    const auto asked = detail::parse_opt_request({argv, static_cast<std::size_t>(argc)});
    if (!asked) {
        detail::print_opt_usage(program, argc == 0 ? "program" : argv[0]);
        return 2;
    }
    if (!asked->passes.empty()) {
        if (const auto known = program.passes.select(asked->passes); !known) {
            std::fprintf(stderr, "error: %s\n", known.error().message.c_str());
            return 2;
        }
    }
    try {
        const result<int> status = detail::answer(program, *asked);
        return status ? status.value() : detail::opt_failure(status.error());
    } catch (const std::exception& e) {  // memory, mostly
        return detail::opt_failure(malformed(asked->file + ": " + e.what()));
    }
}

}  // namespace headrace

#endif
