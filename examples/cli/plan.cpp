// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <headrace/base/printable.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/io/file/atomic_file.hpp>
#include <headrace/io/package/package.hpp>
#include <headrace/io/text/memory_plan_json.hpp>
#include <headrace/io/text/memory_plan_text.hpp>
#include <headrace/memory/memory_plan.hpp>
#include <headrace/run/models.hpp>
#include <headrace/run/planned_check.hpp>

#include "commands.hpp"
#include "messages.hpp"
#include "package.hpp"
#include "pte.hpp"

namespace headrace::cli {

namespace {

planning_options options_of(const plan_options& options) {
    planning_options planning;
    planning.algorithm =
        options.algorithm == "greedy" ? planning_algorithm::greedy : planning_algorithm::best_fit;
    planning.alignment = options.alignment;
    return planning;
}

// Prints the plan of a model or a method, or writes it to `out`.
result<void> plan_model(const plan_options& options, const std::string& method, json_writer& out) {
    HEADRACE_TRY(loaded, load_model_with_data(options.models[0], method, options.data, options.sizes));
    const graph& g = *loaded.model.graph;
    HEADRACE_TRY(made, make_memory_plan(g, options_of(options)));
    HEADRACE_TRY(verify_plan(g, made));
    if (options.verify) {
        HEADRACE_TRY(inputs, model_inputs(g, {}));
        HEADRACE_TRY(check_planned_execution(g, options_of(options), inputs));
    }
    HEADRACE_TRY(loaded.check());
    if (options.verify)
        say(method.empty() ? verified_plan : fmt::format("{}: {}", printable(method), verified_plan));
    if (!options.output.empty()) {
        if (!method.empty()) out.key(method);
        write_memory_plan(out, g, made);
    } else {
        if (!method.empty()) fmt::print("method {}\n", method);
        fmt::print("{}", memory_plan_text(g, made));
    }
    return {};
}

result<void> plan_all(const plan_options& options, json_writer& out) {
    std::vector<std::string> names = pte_methods(options.models[0]);
    if (package::is_package(options.models[0])) {
        HEADRACE_TRY(opened, package::open(options.models[0]));
        if (!options.method.empty()) {
            HEADRACE_TRY(opened.method(options.method));
        }
        for (const auto& [name, method] : opened.methods()) names.push_back(name);
    }
    if (names.empty() || (names.size() == 1 && !package::is_package(options.models[0])))
        return plan_model(options, "", out);
    out.begin_object();
    out.begin_object("methods");
    for (const std::string& name : names) {
        if (!options.method.empty() && options.method != name) continue;
        HEADRACE_TRY(plan_model(options, name, out));
    }
    out.end_object();
    out.end_object();
    return {};
}

}  // namespace

int plan(const plan_options& options) {
    if (!options.memory.empty()) return plan_banks(options);
    if (options.models.size() != 1) return report_usage("several models share memory only by --memory");
    if (options.alignment == 0 || (options.alignment & (options.alignment - 1)) != 0)
        return report_usage("--alignment must be a power of two");
    if (!options.method.empty()) {
        if (const int status = check_method_option(options.models[0], options.method); status != status_ok)
            return status;
    }
    if (const int status = check_extension(options.output, {".json"}); status != status_ok) return status;
    json_writer out;
    const result<void> planned = plan_all(options, out);
    if (!planned) return report_error(planned.error());
    if (options.output.empty()) return status_ok;
    const auto written = write_atomically(options.output, out.text() + '\n');
    return written ? status_ok : report_error(written.error());
}

}  // namespace headrace::cli
