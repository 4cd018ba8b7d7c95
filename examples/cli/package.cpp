// SPDX-License-Identifier: MIT
#include "package.hpp"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/io/package.hpp>
#include <headrace/io/tosa_backend.hpp>
#include <headrace/io/tosa_reader.hpp>
#include <headrace/memory/plan_memory.hpp>
#include <headrace/memory/to_out_variants.hpp>
#include <headrace/partition/trial_partitioner.hpp>

#include "constant_evaluator.hpp"
#include "files.hpp"
#include "lowering.hpp"
#include "report.hpp"
#include "targets.hpp"

namespace headrace::cli {

namespace {

using json = nlohmann::ordered_json;

// Alone they are not worth a call: they move or code elements, and compute none.
op_list moving_ops() {
    return op_list_of<aten::alias, aten::clone, aten::contiguous, aten::detach, aten::expand,
                      aten::flatten_using_ints, aten::permute, aten::reshape, aten::squeeze,
                      aten::squeeze_dim, aten::squeeze_dims, aten::t, aten::transpose_int, aten::unsqueeze,
                      aten::view, quantized_decomposed::quantize_per_tensor,
                      quantized_decomposed::dequantize_per_tensor, quantized_decomposed::quantize_per_channel,
                      quantized_decomposed::dequantize_per_channel>();
}

result<void> lower_program(graph& g, pass_context& context) {
    BOOST_OUTCOME_TRYV(lower_graph(g, context, {}));
    return boost::outcome_v2::success();
}

// One method on its way into the package.
struct method_lowering {
    std::string name;
    std::string path;
    program model;
    trial_result found{};  // of a partitioned method
    std::vector<host_note> notes{};
};

class packaging {
public:
    packaging(const lower_options& options, std::optional<target_spec> target)
        : options_(options), target_(target) {}

    result<int> run() {
        for (const auto& [name, path] : methods_) {
            auto m = std::make_unique<method_lowering>(method_lowering{name, path, {}});
            BOOST_OUTCOME_TRY(model, read_model(path));
            m->model = std::move(model);
            BOOST_OUTCOME_TRY(refuse_mutations(m->model));
            lowerings_.emplace(name, std::move(m));
        }
        for (auto& [name, m] : lowerings_) {
            BOOST_OUTCOME_TRY(options_.partition ? find_partitions(*m) : choose_target(*m));
        }
        std::map<std::string, graph*, std::less<>> graphs;
        std::map<std::string, partitioner, std::less<>> partitioners;
        for (auto& [name, m] : lowerings_) {
            graphs.emplace(name, m->model.graph.get());
            if (options_.partition) {
                partitioners.emplace(name, found_partitions{m.get()});
            } else {
                partitioners.emplace(name, whole_program_partitioner{{.backend = "tosa"}});
            }
        }
        backend_registry backends;
        std::pmr::vector<diagnostic> refusals;
        backends.add(tosa_backend(
            [&](graph& g, pass_context& context) {
                result<void> done = lower_program(g, context);
                refusals = context.diagnostics();
                return done;
            },
            &infer_node));
        auto lowered = to_backend(graphs, partitioners, backends);
        if (!refusals.empty()) return report_diagnostics(refusals, models_text());
        if (!lowered) return std::move(lowered).error();
        return write(lowered.value());
    }

    // "NAME=MODEL"; false if it is something else, or the name is taken.
    [[nodiscard]] bool add_method(const std::string& text) {
        const std::size_t at = text.find('=');
        if (at == std::string::npos || at + 1 == text.size()) return false;
        return add_method(text.substr(0, at), text.substr(at + 1));
    }
    [[nodiscard]] bool add_method(const std::string& name, const std::string& path) {
        return headrace::detail::is_plain_name(name) && methods_.emplace(name, path).second;
    }

private:
    struct found_partitions {
        const method_lowering* m;
        [[nodiscard]] result<partition_result> partition(graph&) const {
            partition_result result;
            for (const node_group& nodes : m->found.partitions)
                result.partitions.push_back({nodes, {.backend = "tosa"}});
            return result;
        }
    };

    [[nodiscard]] std::vector<target_spec> targets_for(const graph& g) const {
        return target_ ? std::vector{*target_} : default_targets(g);
    }

    // The same that `lower` chooses for the method alone.
    result<void> choose_target(method_lowering& m) const {
        graph& g = *m.model.graph;
        const auto targets = targets_for(g);
        for (const target_spec& target : targets) {
            g.set_target(target);
            if (&target == &targets.back()) break;
            graph trial;
            trial.set_target(target);
            copy_graph(g, trial);
            pass_context context(&infer_node);
            BOOST_OUTCOME_TRY(lower_program(trial, context));
            if (context.diagnostics().empty()) break;
        }
        return boost::outcome_v2::success();
    }

    // With the target that leaves the fewest nodes on the host.
    result<void> find_partitions(method_lowering& m) const {
        graph& g = *m.model.graph;
        pass_context context(&infer_node);
        BOOST_OUTCOME_TRY(prepare_partition(g, context));
        if (!context.diagnostics().empty()) {
            const diagnostic& d = context.diagnostics()[0];
            return error{d.kind, d.node + " (" + d.op + "): " + d.reason};
        }
        const trial_partitioner partitioner(
            lowering_support(), &lower_program,
            {.allows_single_node_partition = true, .non_compute_ops = moving_ops()}, &infer_node);
        const std::vector<target_spec> targets = targets_for(g);
        std::optional<target_spec> best;
        for (const target_spec& target : targets) {
            g.set_target(target);
            BOOST_OUTCOME_TRY(found, partitioner.propose_partitions(g));
            if (best && found.host.size() >= m.found.host.size()) continue;
            best = target;
            m.found = std::move(found);
        }
        g.set_target(*best);
        if (*best != targets.back()) {  // later proposals have copied nodes of the graph
            BOOST_OUTCOME_TRY(found, partitioner.propose_partitions(g));
            m.found = std::move(found);
        }
        for (const host_node& h : m.found.host) {
            const auto* origin = h.which->find_annotation<provenance>();
            m.notes.push_back({std::string(origin_name(*h.which)),
                               std::string(origin != nullptr ? origin->op_name : h.which->op->name),
                               h.reason});
        }
        return boost::outcome_v2::success();
    }

    [[nodiscard]] std::string models_text() const {
        std::string text;
        for (const auto& [name, path] : methods_) (text += text.empty() ? "" : ", ") += path;
        return text;
    }

    result<int> write(const lowered_methods& lowered) {
        package_writer writer;
        writer.add_data(lowered.data);
        for (const auto& [name, m] : lowered.methods) {
            BOOST_OUTCOME_TRY(add_to(writer, name, m));
        }
        if (!options_.report.empty()) {
            const auto written = write_atomically(options_.report, report(lowered, writer));
            if (!written) return report_usage(written.error().message);
        }
        if (auto written = writer.write(options_.output); !written)
            return report_usage(written.error().message);
        print_notes(lowered);
        return status_ok;
    }

    result<void> add_to(package_writer& writer, const std::string& name, const lowered_method& m) const {
        const method_lowering& from = *lowerings_.find(name)->second;
        package_method method;
        method.io = json::parse(io_json(*m.host)).dump();
        std::map<const node*, std::size_t> numbers;
        for (const lowered_delegate& d : m.delegates) {
            const std::string file = m.is_whole ? name : fmt::format("{}_{}", name, method.calls.size());
            BOOST_OUTCOME_TRY(number,
                              writer.add_delegate(file, d.delegation.backend, d.processed.processed_bytes,
                                                  d.processed.data_keys));
            if (m.is_whole) method.delegate = number;
            method.calls.push_back(number);
            numbers[d.call] = number;
        }
        if (!m.is_whole) {
            if (options_.plan_memory) {
                pass_context context(&infer_node);
                to_out_variants convert;
                convert.ignore_missing = true;  // the host has kernels that allocate
                BOOST_OUTCOME_TRYV(convert(*m.host, context));
                BOOST_OUTCOME_TRYV(plan_memory{}(*m.host, context));
            }
            const graph_json_stores stores{
                .add_data = [&](std::span<const std::byte> bytes) { return writer.add_constant(bytes); },
                .delegate_of = [&](const node& n) -> std::optional<std::size_t> {
                    const auto known = numbers.find(&n);
                    return known == numbers.end() ? std::nullopt : std::optional(known->second);
                }};
            BOOST_OUTCOME_TRY(text, graph_json(*m.host, stores));
            method.host = name + ".host.json";
            method.user_outputs = from.model.user_outputs;
            method.notes = from.notes;
            writer.add_file(method.host, text);
        }
        writer.add_method(name, std::move(method));
        return boost::outcome_v2::success();
    }

    [[nodiscard]] std::string report(const lowered_methods& lowered, const package_writer& writer) const {
        json methods;
        for (const auto& [name, m] : lowered.methods) {
            const method_lowering& from = *lowerings_.find(name)->second;
            json nodes = json::array();
            for (const host_note& n : from.notes)
                nodes.push_back({{"node", n.node}, {"op", n.op}, {"reason", n.reason}});
            json delegates = json::array();
            for (std::size_t i = 0; i != m.delegates.size(); ++i) {
                const lowered_delegate& d = m.delegates[i];
                json entry{{"backend", d.delegation.backend}, {"nodes_out", d.program->size()}};
                if (!m.is_whole) entry["nodes_in"] = from.found.partitions[i].size();
                delegates.push_back(std::move(entry));
            }
            methods[name] = {{"model", from.path},
                             {"target", target_text(m.host->target())},
                             {"delegates", std::move(delegates)},
                             {"host_nodes", std::move(nodes)}};
        }
        const json j{{"methods", std::move(methods)},
                     {"constants", {{"count", writer.data_count()}, {"bytes", writer.data_bytes()}}}};
        return j.dump(1) + "\n";
    }

    void print_notes(const lowered_methods& lowered) const {
        if (!options_.partition) return;
        for (const auto& [name, m] : lowered.methods) {
            const method_lowering& from = *lowerings_.find(name)->second;
            fmt::print("{}: {} delegate{}, {} node{} on the host\n", name, m.delegates.size(),
                       m.delegates.size() == 1 ? "" : "s", from.notes.size(),
                       from.notes.size() == 1 ? "" : "s");
            for (const host_note& n : from.notes) fmt::print("  {} ({}): {}\n", n.node, n.op, n.reason);
        }
    }

    const lower_options& options_;
    std::optional<target_spec> target_;
    std::map<std::string, std::string, std::less<>> methods_;
    std::map<std::string, std::unique_ptr<method_lowering>, std::less<>> lowerings_;
};

result<void> unpack_delegate(const unpack_options& options) {
    BOOST_OUTCOME_TRY(opened, package::open(options.package));
    BOOST_OUTCOME_TRY(method, opened.method(options.method));
    std::size_t number = 0;
    if (method->delegate) {
        if (options.delegate > 0) return unsupported("the method is one delegate, 0");
        number = *method->delegate;
    } else if (options.delegate < 0 && method->calls.size() != 1) {
        return unsupported(fmt::format(
            "the method is a host graph with {} delegates; choose one by --delegate", method->calls.size()));
    } else {
        const auto chosen = static_cast<std::size_t>(std::max(options.delegate, 0));
        if (chosen >= method->calls.size())
            return unsupported(fmt::format("the method has {} delegates", method->calls.size()));
        number = method->calls[chosen];
    }
    BOOST_OUTCOME_TRY(flatbuffer, opened.flatbuffer(number));
    BOOST_OUTCOME_TRYV(read_tosa(flatbuffer));
    if (auto written = write_atomically(options.output, flatbuffer); !written) return written.error();
    return boost::outcome_v2::success();
}

}  // namespace

int lower_package(const lower_options& options) {
    std::optional<target_spec> target;
    if (const int status = parse_target_option(options.target, target); status != status_ok) return status;
    if (!options.io.empty() || !options.dot_directory.empty() || options.verify)
        return report_usage(
            "--io, --dot and --verify are for a single flatbuffer; a package's manifest has its io");
    if (options.plan_memory && !options.partition)
        return report_usage("--plan-memory is for the host graph of --partition");
    packaging p(options, target);
    if (!options.model.empty()) {
        if (!options.methods.empty()) return report_usage("give a model or --method, not both");
        static_cast<void>(p.add_method("forward", options.model));
    } else if (options.methods.empty()) {
        return report_usage("lower --partition needs a model, or --method");
    }
    for (const std::string& text : options.methods) {
        if (!p.add_method(text)) {
            return report_usage(
                fmt::format("--method {}: write NAME=MODEL.pt2, each name once; a name has "
                            "letters, digits, '_', '-' and '.'",
                            text));
        }
    }
    const result<int> status = p.run();
    return status ? status.value() : report_error(status.error());
}

int unpack(const unpack_options& options) {
    const result<void> done = unpack_delegate(options);
    if (done) return status_ok;
    return done.error().kind == error_kind::invalid ? report_usage(done.error().message)
                                                    : report_error(done.error());
}

}  // namespace headrace::cli
