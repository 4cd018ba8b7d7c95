// SPDX-License-Identifier: MIT
// Defines the functions of infer/verify.hpp.
#ifndef HEADRACE_INFER_VERIFY_DEFINITION_HPP
#define HEADRACE_INFER_VERIFY_DEFINITION_HPP

#include <cstddef>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <headrace/base/compiled.hpp>
#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/result.hpp>
#include <headrace/base/text.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/meta_text.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/ir/signature.hpp>
#include <headrace/ir/topological_order.hpp>

namespace headrace {

namespace detail {

class verifier {
public:
    verifier(const graph& g, const verify_options& options) : graph_(&g), options_(&options) {}

    result<void> run() {
        HEADRACE_TRY(check_links());
        HEADRACE_TRY(check_census());
        HEADRACE_TRY(check_output());
        HEADRACE_TRY(check_edges());
        HEADRACE_TRY(check_names());
        for (const node& n : graph_->nodes()) {
            HEADRACE_TRY(check_metadata(n));
            if (options_->check_node != nullptr) {
                HEADRACE_TRY(options_->check_node(*graph_, n));
            }
            HEADRACE_TRY(check_regions(n));
        }
        return {};
    }

private:
    static error broken(const node& n, std::pmr::string what) {
        return invalid(
            (n.name().empty() ? text_of({node_label(n), ": "}) : message_prefix(n)) + std::move(what));
    }

    // Checks the list of nodes: its length, and the links in both directions.
    result<void> check_links() {
        std::size_t count = 0;
        const node* previous = nullptr;
        present_.assign(graph_->id_bound(), false);
        for (const node& n : graph_->nodes()) {
            if (++count > graph_->size()) return invalid("the graph lists more nodes than it has");
            if (n.owner != graph_) return broken(n, "lies in a graph that is not its own");
            const bool own_id = n.id < graph_->id_bound() && !present_[n.id];
            if (!own_id) return broken(n, "has an id that is not its own");
            if (n.previous != previous) return broken(n, "is not linked to the node before it");
            if (n.op->results != variadic_results &&
                n.result_count != static_cast<std::uint32_t>(n.op->results)) {
                return broken(
                    n, text_of({"has ", counted_text(n.result_count, "result"), ", its op ", n.op->results}));
            }
            present_[n.id] = true;
            previous = &n;
            ++counts_[n.op];
        }
        if (count != graph_->size() || graph_->last() != previous) {
            return invalid({"the graph lists ", counted_text(count, "node"), " but has ", graph_->size()});
        }
        return {};
    }

    result<void> check_census() const {
        std::optional<error> failure;
        const auto disagree = [&](const op_info& op, std::size_t counted, std::size_t found) {
            failure = invalid({"the census counts ", counted_text(counted, "node"), " of ", op.name,
                ", the graph has ", found});
        };
        graph_->census().for_each([&](const op_info& op, std::size_t counted) {
            const auto found = counts_.find(&op);
            const std::size_t expected = found == counts_.end() ? 0 : found->second;
            if (counted != expected) disagree(op, counted, expected);
        });
        for (const auto& [op, expected] : counts_) {
            std::size_t listed = 0;
            for (const node& n : graph_->nodes_of(*op)) {
                if (n.op != op || ++listed > expected) break;
            }
            const bool agrees = listed == expected && graph_->census().count(*op) == expected;
            if (!agrees) disagree(*op, listed, expected);
        }
        if (failure) return *failure;
        return {};
    }

    result<void> check_output() const {
        const std::size_t outputs = graph_->census().count(info_of<builtin::output>);
        if (outputs != 1) {
            return invalid({"the graph has ", outputs, " output nodes instead of one"});
        }
        if (graph_->output() != graph_->last()) return broken(*graph_->last(), "comes after the output node");
        return {};
    }

    result<void> check_operands(const node& n) const {
        std::size_t i = 0;
        for (const edge& e : n.operand_edges()) {
            const auto which = [i] { return text_of({"operand ", i}); };
            if (e.slot->producer == nullptr) return broken(n, text_of({which(), " is empty"}));
            const node& producer = *e.slot->producer;
            if (producer.owner == nullptr) {
                return broken(
                    n, text_of({which(), " comes from ", node_label(producer), ", which has been erased"}));
            }
            if (producer.owner != graph_) return broken(n, text_of({which(), " comes from another graph"}));
            if (producer.id >= present_.size() || !present_[producer.id]) {
                return broken(
                    n, text_of({which(), " comes from ", node_label(producer), ", which has been erased"}));
            }
            if (e.slot->result >= producer.result_count) {
                return broken(n,
                    text_of({which(), " is result ", e.slot->result, " of ", node_label(producer),
                        ", which has ", producer.result_count}));
            }
            if (e.source != &producer || e.target != &n || e.operand != i) {
                return broken(n, text_of({which(), " was changed without graph::set_operand"}));
            }
            ++i;
        }
        return {};
    }

    // Checks that the uses of a producer are exactly its operands.
    result<void> check_edges() const {
        std::size_t used = 0;
        std::size_t operands = 0;
        const edge* too_early = nullptr;
        pmr_vector<bool> seen(graph_->id_bound());
        for (const node& n : graph_->nodes()) {
            HEADRACE_TRY(check_operands(n));
            HEADRACE_TRY(check_uses(n, used));
            operands += n.operand_count;
            for (const edge& e : n.operand_edges()) {
                if (too_early == nullptr && !seen[e.source->id]) too_early = &e;
            }
            seen[n.id] = true;
        }
        if (used != operands) {
            return invalid({"the graph has ", counted_text(operands, "operand"), " but lists ",
                counted_text(used, "use")});
        }
        if (too_early == nullptr) return {};
        // A cycle deserves a better message than the order that it makes impossible.
        if (auto order = topological_order(*graph_); !order) return order.error();
        return broken(
            *too_early->target, text_of({"comes before its operand ", node_label(*too_early->source)}));
    }

    result<void> check_uses(const node& n, std::size_t& used) const {
        for (const edge& e : n.uses()) {
            ++used;
            if (e.source != &n || e.target->id >= present_.size() || !present_[e.target->id])
                return broken(
                    n, text_of({"is listed as used by ", node_label(*e.target), ", which does not use it"}));
        }
        return {};
    }

    // Inputs and outputs are identified by name. A value that is returned twice may repeat its name.
    result<void> check_names() const {
        std::pmr::unordered_map<std::string_view, const node*> inputs;
        for (const node& n : graph_->inputs()) {
            if (!n.name().empty() && !inputs.emplace(n.name(), &n).second) {
                return broken(n, "another input has the same name");
            }
        }
        const node& out = *graph_->output();
        const auto* exported = out.find_annotation<output_names>();
        if (exported != nullptr && exported->names.size() != out.operand_count) {
            return invalid({"the graph has ", counted_text(out.operand_count, "output"), " but names for ",
                exported->names.size()});
        }
        std::pmr::unordered_map<std::string_view, value> outputs;
        for (std::size_t i = 0; i != out.operand_count; ++i) {
            const value v = out.operand(i);
            const std::string_view own = v.producer->results[v.result].name;
            const std::string_view name = exported != nullptr ? exported->names[i] : own;
            if (name.empty()) continue;
            const auto [found, added] = outputs.emplace(name, v);
            if (!added && found->second != v) {
                return broken(*v.producer, text_of({"another output has the same name, ", name}));
            }
        }
        return {};
    }

    result<void> check_metadata(const node& n) const {
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            const auto& meta = n.results[i].meta;
            if (!meta && (options_->metadata_required || is<builtin::constant>(n))) {
                return broken(n, text_of({"result ", i, " has no metadata"}));
            }
            if (meta && !meta->checked_elements()) {
                return broken(n, text_of({"result ", i, " has the impossible shape ", meta_text(*meta)}));
            }
        }
        // The metadata of inputs and constants comes from the program, not from a rule.
        if (options_->rule_of == nullptr || is_of_dialect<builtin::dialect>(n)) {
            return {};
        }
        const inference_rule rule = options_->rule_of(*n.op);
        if (rule == nullptr) return {};
        for (const edge& e : n.operand_edges()) {
            if (meta_of(*e.slot) == nullptr) return {};
        }
        std::pmr::monotonic_buffer_resource arena;
        inference inferred(&arena);
        if (auto done = rule(n.arguments, inferred); !done) {
            return broken(n, text_of({"breaks the op's own rule: ", done.error().message}));
        }
        if (inferred.results().size() != n.result_count) {
            return broken(n,
                text_of({"has ", counted_text(n.result_count, "result"), ", inference gives ",
                    inferred.results().size()}));
        }
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            const auto& meta = n.results[i].meta;
            const tensor_meta& expected = inferred.results()[i];
            const bool open = expected.dtype == dtype::unknown;  // the rule leaves it open
            if (meta && !open && !(*meta == expected)) {
                return broken(n,
                    text_of(
                        {"result ", i, " is ", meta_text(*meta), ", inference gives ", meta_text(expected)}));
            }
        }
        return {};
    }

    result<void> check_regions(const node& n) const {
        result<void> sound;
        for_each_region(n, [&](const field_info& f, const graph* region) {
            if (!sound) return;
            if (region == nullptr || region->parent() != graph_) {
                sound = broken(n, text_of({f.name, " is not a region of its graph"}));
            } else if (auto done = verifier(*region, *options_).run(); !done) {
                error outer = broken(n, text_of({"in ", f.name, ": ", done.error().message}));
                outer.kind = done.error().kind;
                sound = std::move(outer);
            }
        });
        return sound;
    }

    const graph* graph_;
    const verify_options* options_;
    pmr_vector<bool> present_;  // by id
    std::pmr::unordered_map<const op_info*, std::size_t> counts_;
};

}  // namespace detail

HEADRACE_INLINE result<void> verify(const graph& g, const verify_options& options) {
    return detail::verifier(g, options).run();
}

}  // namespace headrace

#endif
