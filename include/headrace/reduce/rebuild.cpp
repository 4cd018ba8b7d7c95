// SPDX-License-Identifier: MIT
// Defines headrace::reducing::rebuild and optional_operands.

#include <headrace/reduce/rebuild.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <memory_resource>
#include <utility>

#include <headrace/ir/dead_code.hpp>
#include <headrace/ir/edits.hpp>
#include <headrace/partition/extract.hpp>
#include <headrace/reduce/splat.hpp>
#include <headrace/run/execution.hpp>

namespace headrace::reducing {

namespace {

class rebuilder {
public:
    rebuilder(const program& from, const rebuild_plan& plan)
        : from_(from), plan_(plan), graph_(std::make_unique<graph>()), copier_(*graph_) {}

    [[nodiscard]] std::optional<program> run() {
        graph_->set_target(from_.graph->target());
        for (node& n : from_.graph->inputs()) copy(n);
        for (node& n : from_.graph->nodes()) {
            if (!is<builtin::placeholder>(n) && !is<builtin::output>(n)) copy(n);
        }
        made_.torch_version = from_.torch_version;
        if (!add_output() || !drop_operands()) return std::nullopt;
        eliminate_dead_code(*graph_);
        drop_unread_inputs();
        made_.graph = std::move(graph_);
        return std::move(made_);
    }

private:
    [[nodiscard]] stand_in fate(const node& n) const {
        return n.id < plan_.stand_ins.size() ? plan_.stand_ins[n.id] : stand_in::none;
    }

    void copy(node& n) {
        const stand_in chosen = fate(n);
        if (chosen == stand_in::none) {
            copier_.copy(n);
            return;
        }
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            if (meta_of(n.result(i)) != nullptr) copier_.define(n.result(i), stand_in_for(n, i, chosen));
        }
    }

    [[nodiscard]] value stand_in_for(node& n, std::uint32_t i, stand_in chosen) {
        const tensor_meta& meta = *meta_of(n.result(i));
        if (chosen == stand_in::operand) {
            if (const std::optional<value> same = operand_like(n, meta)) return copier_.at(*same);
        }
        if (chosen == stand_in::same_type) {
            for (const node& other : from_.graph->inputs()) {
                const value v{const_cast<node*>(&other), 0};
                if (fate(other) == stand_in::none && copier_.knows(v) && same_meta(meta_of(v), &meta))
                    return copier_.at(v);
            }
        }
        if (chosen == stand_in::ones || chosen == stand_in::zeros) {
            if (const auto data = splat(meta, chosen == stand_in::ones))
                return named(graph_->create<builtin::constant>({.data = *data}), n, i);
        }
        return named(graph_->create<builtin::placeholder>({}), n, i);
    }
    [[nodiscard]] value named(node& made, const node& n, std::uint32_t i) {
        graph_->set_meta(made.result(), *n.results[i].meta);
        graph_->set_name(made.result(), n.results[i].name);
        return made.result();
    }

    // Prefers values that are computed to constants.
    [[nodiscard]] std::optional<value> operand_like(const node& n, const tensor_meta& meta) const {
        std::optional<value> found;
        for (const edge& e : n.operand_edges()) {
            const tensor_meta* other = meta_of(*e.slot);
            if (other == nullptr || !same_val(*other, meta) || !copier_.knows(*e.slot)) continue;
            const bool is_constant = is<builtin::constant>(*e.source);
            if (!is_constant) return *e.slot;
            if (!found) found = *e.slot;
        }
        return found;
    }

    // A value that nothing computes is no output.
    [[nodiscard]] bool is_output(std::size_t position, value v) const {
        if (!plan_.outputs.empty() && !plan_.outputs[position]) return false;
        if (!copier_.knows(v)) return false;
        const node& now = *copier_.at(v).producer;
        const bool is_computed = !is<builtin::placeholder>(now) && !is<builtin::constant>(now);
        return is_computed || fate(*v.producer) == stand_in::none;
    }

    // The user's outputs come first, then the values that are written back.
    [[nodiscard]] bool add_output() {
        const list<value> old = from_.graph->outputs();
        const bool forgets = plan_.forgets_write_backs;
        std::vector<value> values;
        std::vector<mutation> kept;
        std::vector<value> written;
        for (std::size_t i = 0; i != old.size(); ++i) {
            if (!is_output(i, old[i])) continue;
            const auto found = std::ranges::find(from_.mutations, i, &mutation::position);
            if (found == from_.mutations.end() || forgets) {
                values.push_back(copier_.at(old[i]));
            } else {
                kept.push_back(*found);
                written.push_back(copier_.at(old[i]));
            }
        }
        const bool is_unchanged = values.size() + written.size() == old.size() && !forgets;
        const std::size_t from_old = values.size();
        if (plan_.adds_outputs) add_unread(values, written);
        if (values.empty() && written.empty()) return false;
        if (!from_.mutations.empty() && !forgets) made_.user_outputs = values.size();
        for (std::size_t i = 0; i != kept.size(); ++i) kept[i].position = values.size() + i;
        made_.mutations = std::move(kept);
        if (made_.mutations.empty()) made_.user_outputs = values.size();
        const bool keeps_annotations = is_unchanged && values.size() == from_old;
        values.insert(values.end(), written.begin(), written.end());
        node& made = graph_->create<builtin::output>({.values = values});
        if (keeps_annotations) made.annotations = from_.graph->output()->annotations;
        return true;
    }

    void add_unread(std::vector<value>& values, const std::vector<value>& written) {
        const auto is_listed = [&](value v) {
            return std::ranges::find(values, v) != values.end() ||
                std::ranges::find(written, v) != written.end();
        };
        for (node& n : graph_->nodes()) {
            if (is<builtin::placeholder>(n) || is<builtin::constant>(n) || n.first_use != nullptr) continue;
            bool any = false;
            for (std::uint32_t i = 0; i != n.result_count; ++i) any = any || is_listed(n.result(i));
            if (!any && n.result_count != 0 && n.results[0].meta != nullptr) values.push_back(n.result());
        }
    }

    [[nodiscard]] bool drop_operands() {
        std::map<std::uint32_t, std::vector<const field_info*>> fields;
        for (const optional_operand& o : plan_.without) fields[o.node].push_back(o.field);
        if (fields.empty()) return true;
        for (node& n : from_.graph->nodes()) {
            const auto found = fields.find(n.id);
            if (found == fields.end()) continue;
            node& made = *copier_.at(n.result()).producer;
            std::vector<std::max_align_t> copy(made.op->args_size / sizeof(std::max_align_t) + 1);
            std::memcpy(copy.data(), made.arguments, made.op->args_size);
            for (const field_info* f : found->second)
                headrace::detail::member_at<std::optional<value>>(copy.data(), *f).reset();
            node* const before = made.next;
            replace_node(made, *made.op, copy.data());
            // Those that replace_node joins are in the memory of this copy, which may end before the next.
            before->previous->annotations = n.annotations;
            if (!has_same_types(*before->previous)) return false;
        }
        return true;
    }

    [[nodiscard]] static bool has_same_types(const node& n) {
        std::pmr::monotonic_buffer_resource arena;
        inference inferred(&arena);
        if (!infer_node(n, inferred) || inferred.results().size() != n.result_count) return false;
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            if (n.results[i].meta != nullptr && !(inferred.results()[i] == *n.results[i].meta)) return false;
        }
        return true;
    }

    void drop_unread_inputs() {
        std::vector<node*> unread;
        for (node& n : graph_->inputs()) {
            const bool is_written = std::ranges::any_of(made_.mutations, [&](const mutation& m) {
                return m.kind == mutation::kind_type::user_input &&
                    (m.name == n.name() || m.tensor == n.name());
            });
            if (n.first_use == nullptr && !is_written) unread.push_back(&n);
        }
        for (node* n : unread) graph_->erase(*n);
    }

    const program& from_;
    const rebuild_plan& plan_;
    std::unique_ptr<graph> graph_;
    headrace::detail::node_copier copier_;
    program made_{};
};

}  // namespace

std::vector<optional_operand> optional_operands(const graph& g) {
    std::vector<optional_operand> all;
    for (const node& n : g.nodes()) {
        if (n.result_count == 0) continue;
        for (const field_info& f : *n.op) {
            const bool is_there =
                f.kind == field_kind::tensor && f.optional && f.item_in(n.arguments) != nullptr;
            if (is_there) all.push_back({n.id, &f});
        }
    }
    return all;
}

std::optional<program> rebuild(const program& from, const rebuild_plan& plan) {
    return rebuilder(from, plan).run();
}

}  // namespace headrace::reducing
