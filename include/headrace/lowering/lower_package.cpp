// SPDX-License-Identifier: MIT
// Defines the functions of headrace/lowering/lower_package.hpp.

#include <headrace/lowering/lower_package.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <headrace/base/strings.hpp>
#include <headrace/dialect/delegate.hpp>
#include <headrace/io/file/json_writer.hpp>
#include <headrace/io/signature/io_description.hpp>
#include <headrace/io/text/graph_text.hpp>
#include <headrace/io/text/node_reasons.hpp>
#include <headrace/io/unread_nodes.hpp>
#include <headrace/ir/dead_code.hpp>
#include <headrace/lowering/delegation.hpp>
#include <headrace/lowering/lower.hpp>
#include <headrace/lowering/state.hpp>
#include <headrace/memory/plan_memory.hpp>
#include <headrace/memory/to_out_variants.hpp>
#include <headrace/run/execution.hpp>
#include <headrace/run/make_real.hpp>

namespace headrace {

namespace {

// The state of a lowering of methods to one package.
class package_lowering {
public:
    package_lowering(std::map<std::string, program, std::less<>> programs, const package_options& options)
        : options_(options), programs_(std::move(programs)) {}

    [[nodiscard]] result<lowered_package> run() {
        std::map<std::string, graph*, std::less<>> graphs;
        for (auto& [name, p] : programs_) {
            eliminate_dead_code(*p.graph);
            HEADRACE_TRY(refuse_unread(*p.graph));
            leave_inputs_unwritten(p);
            HEADRACE_TRY(refuse_mutations(p));
            graphs.emplace(name, p.graph.get());
            if (options_.partition) {
                HEADRACE_TRY(make_real(*p.graph));
                HEADRACE_TRY(options_.observer.begin(*p.graph));
            }
        }
        HEADRACE_TRY(
            delegated, delegate_to_tosa(graphs, {options_.target, options_.partition, options_.observer}));
        made_.refusals = std::move(delegated.refusals);
        if (!made_.refusals.empty()) return std::move(made_);
        made_.methods = std::move(delegated.reports);
        made_.files.add_data(delegated.lowered.data);
        for (const auto& [name, m] : delegated.lowered.methods) {
            if (!m.is_whole) {
                HEADRACE_TRY(options_.observer.see(delegation_record(m.delegates.size()), *m.host));
            }
            HEADRACE_TRY(add_method(name, m));
            if (!m.is_whole) {
                HEADRACE_TRY(options_.observer.end(*m.host, {}));
            }
        }
        for (const auto& [name, p] : programs_) {
            HEADRACE_TRY(p.file.check());
        }
        return std::move(made_);
    }

private:
    result<void> add_method(const std::string& name, const lowered_method& m) {
        package_method entry;
        entry.io = io_json(describe_io(*m.host), json_style::compact);
        std::map<const graph*, std::size_t> numbers;
        for (const lowered_delegate& d : m.delegates) {
            const std::size_t i = entry.calls.size();
            HEADRACE_TRY(number,
                made_.files.add_delegate(m.is_whole ? name : join_text(name, '_', i), d.delegation.backend,
                    d.processed.processed_bytes, d.processed.data_keys));
            if (m.is_whole) entry.delegate = number;
            entry.calls.push_back(number);
            if (!m.is_whole) numbers[args_of<delegate::call_delegate>(*d.call).lowered_graph] = number;
        }
        if (!m.is_whole) {
            entry.notes = made_.methods[name].host_nodes;
            HEADRACE_TRY(add_host(name, *m.host, numbers, entry));
        }
        made_.files.add_method(name, std::move(entry));
        return {};
    }

    result<void> add_host(const std::string& name, graph& host,
        const std::map<const graph*, std::size_t>& numbers, package_method& entry) {
        if (options_.plan_memory) {
            pass_context context(standard_functions);
            to_out_variants convert;
            convert.ignore_missing = true;  // the host has kernels that allocate
            HEADRACE_TRY(convert(host, context));
            const plan_memory plan{};
            HEADRACE_TRY(plan(host, context));
        }
        const graph_text_stores stores{.constant =
                                           [&](std::span<const std::byte> bytes) {
                                               return std::to_string(made_.files.add_constant(bytes));
                                           },
            .nested =
                [&](const graph& nested) {
                    const auto known = numbers.find(&nested);
                    return known == numbers.end() ? std::string() : std::to_string(known->second);
                }};
        HEADRACE_TRY(text, graph_text(host, stores));
        entry.host = name + ".hr";
        entry.user_outputs = programs_.find(name)->second.user_outputs;
        made_.files.add_file(entry.host, text);
        return {};
    }

    package_options options_;
    std::map<std::string, program, std::less<>> programs_;
    lowered_package made_;
};

void write_method_report(json_writer& w, const std::string& model, const method_report& m) {
    w.begin_object();
    w.member("model", model);
    w.member("target", m.target);
    w.begin_array("delegates");
    for (const delegate_report& d : m.delegates) {
        w.begin_object();
        w.member("backend", d.backend);
        w.member("nodes_out", d.nodes_out);
        if (d.nodes_in) w.member("nodes_in", *d.nodes_in);
        w.end_object();
    }
    w.end_array();
    write_node_reasons(w, "host_nodes", m.host_nodes);
    w.end_object();
}

}  // namespace

result<lowered_package> lower_to_package(
    std::map<std::string, program, std::less<>> methods, const package_options& options) {
    return package_lowering(std::move(methods), options).run();
}

std::string package_report_json(
    const lowered_package& package, const std::map<std::string, std::string, std::less<>>& models) {
    json_writer w;
    w.begin_object();
    w.begin_object("methods");
    for (const auto& [name, m] : package.methods) {
        const auto model = models.find(name);
        w.key(name);
        write_method_report(w, model == models.end() ? std::string() : model->second, m);
    }
    w.end_object();
    w.begin_object("constants");
    w.member("count", package.files.data_count());
    w.member("bytes", package.files.data_bytes());
    w.end_object();
    w.end_object();
    return std::move(w).text();
}

const pass_registry& host_passes() {
    static const pass_registry registry = [] {
        pass_registry all;
        all.add(any_pass("to_out_variants", to_out_variants{}));
        all.add(any_pass("plan_memory", plan_memory{}));
        return all;
    }();
    return registry;
}

}  // namespace headrace
