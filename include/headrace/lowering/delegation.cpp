// SPDX-License-Identifier: MIT
// Defines the functions of headrace/lowering/delegation.hpp.

#include <headrace/lowering/delegation.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <headrace/base/target_text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/infer/ranges/integer_width.hpp>
#include <headrace/io/tosa/backend.hpp>
#include <headrace/io/tosa/emitter.hpp>
#include <headrace/ir/opaque_text.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/ir/source_location.hpp>
#include <headrace/lowering/lower.hpp>
#include <headrace/lowering/standard_pipeline.hpp>
#include <headrace/lowering/target_choice.hpp>
#include <headrace/partition/trial_partitioner.hpp>
#include <headrace/run/execution.hpp>

namespace headrace {

namespace {

// Ops that move or quantize elements without computing: a delegate of these alone is not worth a call.
op_list moving_ops() {
    constexpr trait moving = trait::forwarding | trait::copying | trait::reshaping | trait::permuting |
        trait::broadcasting | trait::quantizing | trait::dequantizing;
    op_list found;
    const auto collect = [&](std::span<const op_info* const> ops) {
        std::ranges::copy_if(ops, std::back_inserter(found), [](auto* op) { return op->has(moving); });
    };
    collect(op_table<aten::dialect>);
    collect(op_table<quantized_decomposed::dialect>);
    return found;
}

// Lowers a part as the backend will, without writing bytes, so that parts that the backend could not write
// are not proposed.
result<void> lower_part(graph& g, pass_context& context) {
    HEADRACE_TRY(run_standard_pipeline(g, context));
    if (!context.diagnostics().empty()) return {};
    HEADRACE_TRY(tosa_size_bound(g));
    return {};
}

// The state of a delegation: methods on their way to delegates.
class delegation {
public:
    delegation(const std::map<std::string, graph*, std::less<>>& methods, const delegation_options& options)
        : graphs_(methods), options_(options) {
        for (const auto& [name, g] : methods) methods_[name].host = g;
    }

    [[nodiscard]] result<delegated_methods> run() {
        for (auto& [name, m] : methods_) {
            HEADRACE_TRY(options_.partition ? find_partitions(m) : choose_target(m));
        }
        HEADRACE_TRY(lowered, lower_all());
        made_.lowered = std::move(lowered);
        for (const auto& [name, m] : made_.lowered.methods) report(name, m);
        return std::move(made_);
    }

private:
    struct method {
        graph* host = nullptr;
        trial_result found{};            // if it is partitioned
        std::vector<host_note> notes{};  // nodes that stay on the host
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
        std::map<std::string, partitioner, std::less<>> partitioners;
        for (auto& [name, m] : methods_) {
            if (options_.partition) {
                partitioners.emplace(name, found_partitions{&m});
            } else {
                partitioners.emplace(name, whole_program_partitioner{{.backend = "tosa"}});
            }
        }
        backend_registry backends;
        backends.add(tosa_backend(
            [&](graph& g, pass_context& context) { return lower_delegate(g, context); }, standard_functions));
        auto lowered = to_backend(graphs_, partitioners, backends);
        if (!made_.refusals.empty()) return lowered_methods{};
        return lowered;
    }

    result<void> lower_delegate(graph& g, pass_context& context) {
        HEADRACE_TRY(options_.observer.begin(g));
        const auto done = run_standard_pipeline(g, context, options_.observer.watched_run());
        made_.refusals = context.diagnostics();
        if (!done) return done.error();
        return options_.observer.end(g, made_.refusals);
    }

    [[nodiscard]] std::vector<target_spec> targets_for(const graph& g) const {
        return options_.target ? std::vector{*options_.target} : default_targets(g);
    }

    // Chooses the target that lower_to_tosa would choose for the method alone.
    result<void> choose_target(method& m) const {
        graph& g = *m.host;
        const auto targets = targets_for(g);
        for (const target_spec& target : targets) {
            g.set_target(target);
            if (&target == &targets.back()) break;
            graph trial;
            trial.set_target(target);
            copy_graph(g, trial);
            pass_context context(standard_functions);
            HEADRACE_TRY(lower_part(trial, context));
            if (context.diagnostics().empty()) break;
        }
        return {};
    }

    // Chooses the target that leaves the fewest nodes on the host, and its partitions.
    static result<void> find_partitions_for(
        method& m, const std::vector<target_spec>& targets, const trial_partitioner& partitioner) {
        graph& g = *m.host;
        std::optional<target_spec> best;
        for (const target_spec& target : targets) {
            g.set_target(target);
            HEADRACE_TRY(found, partitioner.propose_partitions(g));
            if (best && found.host.size() >= m.found.host.size()) continue;
            best = target;
            m.found = std::move(found);
            if (m.found.host.empty()) return {};
        }
        g.set_target(*best);
        if (*best == targets.back()) return {};
        // The other proposals have copied nodes of the graph since then.
        HEADRACE_TRY(found, partitioner.propose_partitions(g));
        m.found = std::move(found);
        return {};
    }

    [[nodiscard]] operator_support delegable() const {
        if (!options_.may_delegate) return standard_pipeline_support();
        return create_op_support([lowered = standard_pipeline_support(), &options = options_](const node& n) {
            return lowered.is_node_supported(n) && options.may_delegate(n);
        });
    }

    result<void> find_partitions(method& m) const {
        graph& g = *m.host;
        HEADRACE_TRY(make_functional(g));
        const trial_partitioner partitioner(delegable(), &lower_part,
            {.allows_single_node_partition = true, .non_compute_ops = moving_ops()}, standard_functions,
            &find_host_integers);
        HEADRACE_TRY(find_partitions_for(m, targets_for(g), partitioner));
        HEADRACE_TRY(find_in_regions(m, g, 0, partitioner));
        m.notes = notes_of(m.found);  // before the host graph changes
        return {};
    }

    // Finds partitions for the target in the branches and bodies of nodes that stay on the host, nested ones
    // included. The partitions of graph `g` itself are those from `first` on.
    static result<void> find_in_regions(
        method& m, const graph& g, std::size_t first, const trial_partitioner& partitioner) {
        std::unordered_set<const node*> taken;
        for (std::size_t i = first; i != m.found.partitions.size(); ++i)
            taken.insert(m.found.partitions[i].begin(), m.found.partitions[i].end());
        for (const node& n : g.nodes()) {
            if (taken.contains(&n)) continue;
            result<void> done;
            for_each_region(n, [&](const field_info&, graph* region) {
                if (done && region != nullptr) done = find_in_region(m, *region, partitioner);
            });
            HEADRACE_TRY(std::move(done));
        }
        return {};
    }
    static result<void> find_in_region(method& m, graph& region, const trial_partitioner& partitioner) {
        HEADRACE_TRY(found, partitioner.propose_partitions(region));
        const std::size_t first = m.found.partitions.size();
        std::ranges::move(found.partitions, std::back_inserter(m.found.partitions));
        std::ranges::move(found.host, std::back_inserter(m.found.host));
        return find_in_regions(m, region, first, partitioner);
    }

    [[nodiscard]] static std::vector<host_note> notes_of(const trial_result& found) {
        std::vector<host_note> notes;
        for (const host_node& h : found.host) {
            const auto* origin = h.which->find_annotation<provenance>();
            notes.push_back({std::string(origin_name(*h.which)),
                std::string(origin != nullptr ? origin->op_name : op_name(*h.which)), h.reason,
                std::string(source_line(*h.which))});
        }
        return notes;
    }

    void report(const std::string& name, const lowered_method& m) {
        const method& known = methods_[name];
        method_report& told = made_.reports[name];
        told.target = target_text(m.host->target());
        told.host_nodes = known.notes;
        for (const lowered_delegate& d : m.delegates) {
            const std::size_t i = told.delegates.size();
            told.delegates.push_back({d.delegation.backend, d.program->size()});
            if (!m.is_whole) told.delegates.back().nodes_in = known.found.partitions[i].size();
        }
    }

    const std::map<std::string, graph*, std::less<>>& graphs_;
    delegation_options options_;
    std::map<std::string, method, std::less<>> methods_;
    delegated_methods made_;
};

}  // namespace

result<delegated_methods> delegate_to_tosa(
    const std::map<std::string, graph*, std::less<>>& methods, const delegation_options& options) {
    return delegation(methods, options).run();
}

}  // namespace headrace
