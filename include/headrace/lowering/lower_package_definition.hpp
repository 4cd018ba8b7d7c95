// SPDX-License-Identifier: MIT
// Defines the functions of lowering/lower_package.hpp. Include it in exactly one translation unit of a
// program.
#ifndef HEADRACE_LOWERING_LOWER_PACKAGE_DEFINITION_HPP
#define HEADRACE_LOWERING_LOWER_PACKAGE_DEFINITION_HPP

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <headrace/base/strings.hpp>
#include <headrace/base/target_text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/io/graph_json_writer.hpp>
#include <headrace/io/io_description.hpp>
#include <headrace/io/json_writer.hpp>
#include <headrace/io/tosa_backend.hpp>
#include <headrace/lowering/execution.hpp>
#include <headrace/lowering/lower.hpp>
#include <headrace/lowering/lower_package.hpp>
#include <headrace/lowering/standard_pipeline.hpp>
#include <headrace/lowering/target_choice.hpp>
#include <headrace/memory/plan_memory.hpp>
#include <headrace/memory/to_out_variants.hpp>
#include <headrace/partition/trial_partitioner.hpp>

namespace headrace {

namespace detail {

// Ops that move or quantize elements and compute none: a delegate of these alone is not worth a call.
[[nodiscard]] inline op_list moving_ops() {
    return op_list_of<aten::alias, aten::clone, aten::contiguous, aten::detach, aten::expand,
                      aten::flatten_using_ints, aten::permute, aten::reshape, aten::squeeze,
                      aten::squeeze_dim, aten::squeeze_dims, aten::t, aten::transpose_int, aten::unsqueeze,
                      aten::view, quantized_decomposed::quantize_per_tensor,
                      quantized_decomposed::dequantize_per_tensor, quantized_decomposed::quantize_per_channel,
                      quantized_decomposed::dequantize_per_channel>();
}

inline result<void> lower_part(graph& g, pass_context& context) {
    BOOST_OUTCOME_TRYV(run_standard_pipeline(g, context));
    return boost::outcome_v2::success();
}

/// The methods of one package on their way into it.
class package_lowering {
public:
    package_lowering(std::map<std::string, program, std::less<>> programs, const package_options& options)
        : options_(options) {
        for (auto& [name, p] : programs) methods_[name].model = std::move(p);
    }

    [[nodiscard]] result<lowered_package> run() {
        for (auto& [name, m] : methods_) {
            BOOST_OUTCOME_TRY(refuse_mutations(m.model));
        }
        for (auto& [name, m] : methods_) {
            BOOST_OUTCOME_TRY(options_.partition ? find_partitions(m) : choose_target(m));
        }
        BOOST_OUTCOME_TRY(lowered, lower_all());
        if (!made_.refusals.empty()) return std::move(made_);
        made_.files.add_data(lowered.data);
        for (const auto& [name, m] : lowered.methods) {
            BOOST_OUTCOME_TRY(add_method(name, m));
        }
        for (const auto& [name, m] : methods_) {
            BOOST_OUTCOME_TRY(m.model.file.check());
        }
        return std::move(made_);
    }

private:
    struct method {
        program model{};
        trial_result found{};            // if it is partitioned
        std::vector<host_note> notes{};  // what then stays on the host
    };
    struct found_partitions {
        const method* m;
        [[nodiscard]] result<partition_result> partition(graph&) const {
            partition_result parts;
            for (const node_group& nodes : m->found.partitions)
                parts.partitions.push_back({nodes, {.backend = "tosa"}});
            return parts;
        }
    };

    // If nodes are refused, they are in `made_`, and the result is empty.
    result<lowered_methods> lower_all() {
        std::map<std::string, graph*, std::less<>> graphs;
        std::map<std::string, partitioner, std::less<>> partitioners;
        for (auto& [name, m] : methods_) {
            graphs.emplace(name, m.model.graph.get());
            if (options_.partition) {
                partitioners.emplace(name, found_partitions{&m});
            } else {
                partitioners.emplace(name, whole_program_partitioner{{.backend = "tosa"}});
            }
        }
        backend_registry backends;
        backends.add(tosa_backend(
            [&](graph& g, pass_context& context) {
                result<void> done = lower_part(g, context);
                made_.refusals = context.diagnostics();
                return done;
            },
            &infer_node));
        auto lowered = to_backend(graphs, partitioners, backends);
        if (!made_.refusals.empty()) return lowered_methods{};
        return lowered;
    }

    [[nodiscard]] std::vector<target_spec> targets_for(const graph& g) const {
        return options_.target ? std::vector{*options_.target} : default_targets(g);
    }

    // The target that lower_to_tosa chooses for the method alone.
    result<void> choose_target(method& m) const {
        graph& g = *m.model.graph;
        const auto targets = targets_for(g);
        for (const target_spec& target : targets) {
            g.set_target(target);
            if (&target == &targets.back()) break;
            graph trial;
            trial.set_target(target);
            copy_graph(g, trial);
            pass_context context(&infer_node);
            BOOST_OUTCOME_TRY(lower_part(trial, context));
            if (context.diagnostics().empty()) break;
        }
        return boost::outcome_v2::success();
    }

    // The target that leaves the fewest nodes on the host, and its partitions.
    static result<void> find_partitions_for(method& m, const std::vector<target_spec>& targets) {
        graph& g = *m.model.graph;
        const trial_partitioner partitioner(
            standard_pipeline_support(), &lower_part,
            {.allows_single_node_partition = true, .non_compute_ops = moving_ops()}, &infer_node);
        std::optional<target_spec> best;
        for (const target_spec& target : targets) {
            g.set_target(target);
            BOOST_OUTCOME_TRY(found, partitioner.propose_partitions(g));
            if (best && found.host.size() >= m.found.host.size()) continue;
            best = target;
            m.found = std::move(found);
        }
        g.set_target(*best);
        if (*best == targets.back()) return boost::outcome_v2::success();
        // The other proposals have copied nodes of the graph since.
        BOOST_OUTCOME_TRY(found, partitioner.propose_partitions(g));
        m.found = std::move(found);
        return boost::outcome_v2::success();
    }

    result<void> find_partitions(method& m) const {
        graph& g = *m.model.graph;
        pass_context context(&infer_node);
        BOOST_OUTCOME_TRY(prepare_partition(g, context));
        if (!context.diagnostics().empty()) {
            const diagnostic& d = context.diagnostics()[0];
            return error{d.kind, d.node + " (" + d.op + "): " + d.reason};
        }
        BOOST_OUTCOME_TRY(find_partitions_for(m, targets_for(g)));
        m.notes = notes_of(m.found);  // before the host graph changes
        return boost::outcome_v2::success();
    }

    [[nodiscard]] static std::vector<host_note> notes_of(const trial_result& found) {
        std::vector<host_note> notes;
        for (const host_node& h : found.host) {
            const auto* origin = h.which->find_annotation<provenance>();
            notes.push_back({std::string(origin_name(*h.which)),
                             std::string(origin != nullptr ? origin->op_name : h.which->op->name), h.reason});
        }
        return notes;
    }

    result<void> add_method(const std::string& name, const lowered_method& m) {
        package_method entry;
        entry.io = io_json(describe_io(*m.host), json_style::compact);
        std::map<const node*, std::size_t> numbers;
        method_report& report = made_.methods[name];
        report.target = target_text(m.host->target());
        for (const lowered_delegate& d : m.delegates) {
            const std::size_t i = entry.calls.size();
            BOOST_OUTCOME_TRY(number, made_.files.add_delegate(
                                          m.is_whole ? name : join_text(name, '_', i), d.delegation.backend,
                                          d.processed.processed_bytes, d.processed.data_keys));
            if (m.is_whole) entry.delegate = number;
            entry.calls.push_back(number);
            numbers[d.call] = number;
            report.delegates.push_back({d.delegation.backend, d.program->size()});
            if (!m.is_whole) report.delegates.back().nodes_in = methods_[name].found.partitions[i].size();
        }
        report.host_nodes = methods_[name].notes;
        if (!m.is_whole) {
            entry.notes = report.host_nodes;
            BOOST_OUTCOME_TRY(add_host(name, *m.host, numbers, entry));
        }
        made_.files.add_method(name, std::move(entry));
        return boost::outcome_v2::success();
    }

    result<void> add_host(const std::string& name, graph& host,
                          const std::map<const node*, std::size_t>& numbers, package_method& entry) {
        if (options_.plan_memory) {
            pass_context context(&infer_node);
            to_out_variants convert;
            convert.ignore_missing = true;  // the host has kernels that allocate
            BOOST_OUTCOME_TRYV(convert(host, context));
            const plan_memory plan{};
            BOOST_OUTCOME_TRYV(plan(host, context));
        }
        const graph_json_stores stores{
            .add_data = [&](std::span<const std::byte> bytes) { return made_.files.add_constant(bytes); },
            .delegate_of = [&](const node& n) -> std::optional<std::size_t> {
                const auto known = numbers.find(&n);
                return known == numbers.end() ? std::nullopt : std::optional(known->second);
            }};
        BOOST_OUTCOME_TRY(text, headrace::graph_json(host, stores));
        entry.host = name + ".host.json";
        entry.user_outputs = methods_[name].model.user_outputs;
        made_.files.add_file(entry.host, text);
        return boost::outcome_v2::success();
    }

    package_options options_;
    std::map<std::string, method, std::less<>> methods_;
    lowered_package made_;
};

inline void write_method_report(json_writer& w, const std::string& model, const method_report& m) {
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
    w.begin_array("host_nodes");
    for (const host_note& n : m.host_nodes) {
        w.begin_object();
        w.member("node", n.node);
        w.member("op", n.op);
        w.member("reason", n.reason);
        w.end_object();
    }
    w.end_array();
    w.end_object();
}

}  // namespace detail

result<lowered_package> lower_to_package(std::map<std::string, program, std::less<>> methods,
                                         const package_options& options) {
    return detail::package_lowering(std::move(methods), options).run();
}

std::string package_report_json(const lowered_package& package,
                                const std::map<std::string, std::string, std::less<>>& models) {
    json_writer w;
    w.begin_object();
    w.begin_object("methods");
    for (const auto& [name, m] : package.methods) {
        const auto model = models.find(name);
        w.key(name);
        detail::write_method_report(w, model == models.end() ? std::string() : model->second, m);
    }
    w.end_object();
    w.begin_object("constants");
    w.member("count", package.files.data_count());
    w.member("bytes", package.files.data_bytes());
    w.end_object();
    w.end_object();
    return std::move(w).text();
}

}  // namespace headrace

#endif
