// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include <headrace/infer/inference.hpp>
#include <headrace/io/atomic_file.hpp>
#include <headrace/io/package.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/memory/memory_plan.hpp>

#include "commands.hpp"
#include "evaluation.hpp"
#include "files.hpp"

namespace headrace::cli {

namespace {

using json = nlohmann::ordered_json;

planning_options options_of(const plan_options& options) {
    planning_options planning;
    planning.algorithm =
        options.algorithm == "greedy" ? planning_algorithm::greedy : planning_algorithm::best_fit;
    planning.alignment = options.alignment;
    return planning;
}

double ratio_of(const planned_memory& m) {
    return m.lower_bound == 0 ? 1 : static_cast<double>(m.bytes) / static_cast<double>(m.lower_bound);
}

// Which memory it is: the model's own, or that of the delegate a host graph calls.
std::string title_of(const memory_plan& plan, std::size_t memory) {
    return memory == 0 ? plan.memories.size() == 1 ? "memory" : "host memory"
                       : fmt::format("memory of delegate {}", memory - 1);
}

void print_plan(const graph& g, const memory_plan& plan) {
    const printed_names names(g);
    for (std::size_t k = 0; k != plan.memories.size(); ++k) {
        const planned_memory& m = plan.memories[k];
        fmt::print("{}: peak {} bytes, lower bound {} bytes at step {}, ratio {:.3f}\n", title_of(plan, k),
                   m.bytes, m.lower_bound, m.fullest_step, ratio_of(m));
        fmt::print("{:>12} {:>12} {:>7} {:>7}  tensor\n", "offset", "bytes", "first", "last");
        for (const planned_tensor& t : plan.tensors) {
            if (t.memory != k) continue;
            fmt::print("{:>12} {:>12} {:>7} {:>7}  %{}: {}{}{}\n", t.offset, t.bytes, t.first, t.last,
                       names[t.tensor], meta_text(meta_of(t.tensor)), t.is_input ? ", input" : "",
                       t.is_output ? ", output" : "");
        }
    }
}

json plan_json(const graph& g, const memory_plan& plan) {
    const printed_names names(g);
    json memories = json::array();
    for (std::size_t k = 0; k != plan.memories.size(); ++k) {
        const planned_memory& m = plan.memories[k];
        json tensors = json::array();
        for (const planned_tensor& t : plan.tensors) {
            if (t.memory != k) continue;
            const tensor_meta& meta = *meta_of(t.tensor);
            json one{{"name", names[t.tensor]},
                     {"dtype", name_of(meta.dtype)},
                     {"shape", std::vector<std::int64_t>(meta.shape.begin(), meta.shape.end())},
                     {"offset", t.offset},
                     {"bytes", t.bytes},
                     {"first", t.first},
                     {"last", t.last}};
            if (t.is_input) one["input"] = true;
            if (t.is_output) one["output"] = true;
            tensors.push_back(std::move(one));
        }
        memories.push_back({{"memory", title_of(plan, k)},
                            {"peak", m.bytes},
                            {"lower_bound", m.lower_bound},
                            {"fullest_step", m.fullest_step},
                            {"tensors", std::move(tensors)}});
    }
    return {{"algorithm", name_of(plan.options.algorithm)},
            {"alignment", plan.options.alignment},
            {"steps", plan.lifetimes.step_count()},
            {"memories", std::move(memories)}};
}

// Kernels have wider elements than files for a few types, so what is executed is a plan of its own.
result<void> compare_execution(const graph& g, planning_options planning) {
    planning.bytes_of = &executed_bytes;
    planning.alignment = std::max<std::uint64_t>(planning.alignment, 8);
    BOOST_OUTCOME_TRY(plan, make_memory_plan(g, planning));
    BOOST_OUTCOME_TRYV(verify_plan(g, plan));
    BOOST_OUTCOME_TRY(inputs, read_inputs(g, {}));
    BOOST_OUTCOME_TRY(expected, execute(g, inputs));
    BOOST_OUTCOME_TRY(got, execute_planned(g, plan, inputs));
    for (std::size_t i = 0; i != expected.size(); ++i) {
        if (!std::ranges::equal(expected[i].bytes(), got[i].bytes()))
            return invalid(fmt::format("output {} is not the same when the model runs by the plan", i));
    }
    return boost::outcome_v2::success();
}

result<json> plan_model(const plan_options& options, const std::string& method, const std::string& title) {
    BOOST_OUTCOME_TRY(loaded, load_model(options.model, method));
    const graph& g = *loaded.model.graph;
    BOOST_OUTCOME_TRY(made, make_memory_plan(g, options_of(options)));
    BOOST_OUTCOME_TRYV(verify_plan(g, made));
    if (options.verify) {
        BOOST_OUTCOME_TRYV(compare_execution(g, options_of(options)));
    }
    if (!options.output.empty()) return plan_json(g, made);
    if (!title.empty()) fmt::print("method {}\n", title);
    print_plan(g, made);
    return json{};
}

result<json> plan_all(const plan_options& options) {
    if (!package::is_package(options.model)) return plan_model(options, "", "");
    BOOST_OUTCOME_TRY(opened, package::open(options.model));
    if (!options.method.empty()) {
        BOOST_OUTCOME_TRYV(opened.method(options.method));
    }
    json methods = json::object();
    for (const auto& [name, method] : opened.methods()) {
        if (!options.method.empty() && options.method != name) continue;
        BOOST_OUTCOME_TRY(planned, plan_model(options, name, name));
        methods[name] = std::move(planned);
    }
    return json{{"methods", std::move(methods)}};
}

}  // namespace

int plan(const plan_options& options) {
    if (options.alignment == 0 || (options.alignment & (options.alignment - 1)) != 0)
        return report_usage("--alignment must be a power of two");
    const result<json> planned = plan_all(options);
    if (!planned) return report_error(planned.error());
    if (options.output.empty()) return status_ok;
    const auto written = write_atomically(options.output, planned.value().dump(1) + "\n");
    return written ? status_ok : report_usage(written.error().message);
}

}  // namespace headrace::cli
