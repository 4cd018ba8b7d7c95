// SPDX-License-Identifier: MIT
// Defines the functions of headrace/prove/analysis.hpp.

#include <headrace/prove/analysis.hpp>

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/eval/evaluator.hpp>
#include <headrace/ir/signature.hpp>
#include <headrace/prove/query.hpp>
#include <headrace/prove/refine.hpp>

namespace headrace::prove {

namespace {

class analyst final : public knowledge {
public:
    void run(const graph& g) { walk(g, {}); }
    [[nodiscard]] findings take() {
        found_.spreads = std::move(known_);
        return std::move(found_);
    }

    [[nodiscard]] const spread& of(value v) override {
        const auto at = known_.find(v.producer);
        if (at != known_.end()) return at->second[v.result];
        const eval::tensor* const elements = constant(v);
        const spread s = elements == nullptr ? spread(interval_of(meta_of(v)->dtype)) : spread_of(*elements);
        return known_.emplace(v.producer, std::vector<spread>{s}).first->second[0];
    }
    [[nodiscard]] const eval::tensor* constant(value v) override {
        if (!is_constant(*v.producer) || has_no_bytes(v)) return nullptr;
        auto at = constants_.find(v.producer);
        if (at == constants_.end()) {
            std::optional<eval::tensor> elements;
            if (auto made = evaluate_node(*v.producer, {})) elements = std::move(made.value()[0]);
            at = constants_.emplace(v.producer, std::move(elements)).first;
        }
        return at->second ? &*at->second : nullptr;
    }
    void claimed(const claim& c) override { of_node_.push_back(c); }

private:
    static bool has_no_bytes(value v) {
        const auto* const exported = match<builtin::constant>(v);
        const auto* const lowered = match<tosa::const_>(v);
        return (exported != nullptr ? exported->data : lowered->data).bytes == nullptr;
    }
    static bool may_be_valid(const claim& c) {
        return c.computed.low <= c.allowed.high && c.allowed.low <= c.computed.high;
    }
    // True if indices are inputs' numbers, moved, or made positive or flat by integer arithmetic.
    static bool comes_from_inputs(value v) {
        using enum trait;
        std::unordered_set<const node*> met;
        std::vector<const node*> pending{v.producer};
        while (!pending.empty()) {
            const node& n = *pending.back();
            pending.pop_back();
            if (is_constant(n) || is<tosa::const_shape>(n) || !met.insert(&n).second) continue;
            if (is<builtin::placeholder>(n) && n.owner->parent() == nullptr) continue;
            const bool passes = n.op->has(rearranging | binary | unary | reshaping | joining | slicing) &&
                is_integral(n.results[0].meta->dtype) && !is<tosa::rescale>(n) && !is<tosa::table>(n);
            if (!passes) return false;
            for (const edge& e : n.operand_edges()) pending.push_back(e.source);
        }
        return true;
    }

    void walk(const graph& g, const std::vector<spread>& inputs) {
        std::size_t i = 0;
        for (const node& n : g.inputs()) {
            const bool given = i < inputs.size();
            known_[&n] = {given ? inputs[i] : spread(declared_range(n))};
            ++i;
        }
        for (const node& n : g.nodes()) visit(n);
    }
    std::vector<spread> outputs_of(const graph& g) {
        std::vector<spread> all;
        for (const value v : g.outputs()) all.push_back(of(v));
        return all;
    }
    std::vector<spread> of_all(const list<value>& values) {
        std::vector<spread> all;
        for (const value v : values) all.push_back(of(v));
        return all;
    }
    void visit(const node& n) {
        if (is_constant(n) || is_of_dialect<builtin::dialect>(n)) return;
        if (const auto* branches = args_if<tosa::cond_if>(n)) return visit_branches(n, *branches);
        if (const auto* loop = args_if<tosa::while_loop>(n)) return visit_loop(n, *loop);
        query q(n, *this);
        of_node_.clear();
        if (const rule* r = find_rule(*n.op)) r->apply(q);
        known_[&n].assign(q.results().begin(), q.results().end());
        if (!std::ranges::all_of(of_node_, &claim::holds)) {
            std::vector<claim> loose = std::move(of_node_);
            auto tight = refine(n, *this);
            of_node_ = tight ? std::move(tight->claims) : std::move(loose);
            if (tight) known_[&n] = {tight->result};
        }
        for (const claim& c : of_node_) keep(c);
    }
    // Keeps the claim of a node and kind that is nearest to its limits, in the final round of a loop.
    void keep(claim c) {
        if (rounds_before_last_ != 0) return;
        if (c.kind == claim_kind::index)
            c.assumed = may_be_valid(c) && comes_from_inputs(c.where->operand(1));
        const auto [at, is_new] = places_.try_emplace({c.where, c.kind}, found_.claims.size());
        if (is_new) return found_.claims.push_back(c);
        claim& kept = found_.claims[at->second];
        if (is_fuller(c, kept)) kept = c;
    }
    void visit_branches(const node& n, const args<tosa::cond_if>& a) {
        const std::vector<spread> inputs = of_all(a.inputs);
        walk(*a.then_graph, inputs);
        std::vector<spread> results = outputs_of(*a.then_graph);
        walk(*a.else_graph, inputs);
        const std::vector<spread> other = outputs_of(*a.else_graph);
        for (std::size_t i = 0; i != results.size() && i != other.size(); ++i)
            results[i] = joined(results[i], other[i]);
        known_[&n] = std::move(results);
    }
    // A value that an iteration changes may be any number of its type: a few rounds find which do not change.
    void visit_loop(const node& n, const args<tosa::while_loop>& a) {
        std::vector<spread> carried = of_all(a.inputs);
        ++rounds_before_last_;
        for (int round = 0; round != 8; ++round) {
            walk(*a.cond_graph, carried);
            walk(*a.body_graph, limited(*a.cond_graph, carried));
            const std::vector<spread> next = outputs_of(*a.body_graph);
            bool changed = false;
            for (std::size_t i = 0; i != carried.size() && i != next.size(); ++i) {
                if (carried[i].all().contains(next[i].all())) continue;
                changed = true;
                carried[i] = round < 4
                    ? spread(carried[i].all() | next[i].all())
                    : widened(carried[i].all(), next[i].all(), meta_of(a.inputs[i])->dtype);
            }
            if (!changed) break;
            if (round == 7)
                for (std::size_t i = 0; i != carried.size(); ++i)
                    carried[i] = interval_of(meta_of(a.inputs[i])->dtype);
        }
        --rounds_before_last_;
        walk(*a.cond_graph, carried);
        walk(*a.body_graph, limited(*a.cond_graph, carried));
        known_[&n] = carried;
    }
    static spread widened(const interval& old, const interval& next, dtype t) {
        const interval all = interval_of(t);
        return interval{next.low < old.low ? all.low : old.low, next.high > old.high ? all.high : old.high};
    }
    // A loop that goes on while `limit > carried value`, as loops over a count do, bounds that value.
    std::vector<spread> limited(const graph& condition, std::vector<spread> carried) {
        const list<value> outputs = condition.outputs();
        if (outputs.empty()) return carried;
        const auto* const greater = match<tosa::greater>(outputs[0]);
        if (greater == nullptr) return carried;
        std::size_t i = 0;
        for (const node& n : condition.inputs()) {
            if (greater->input2.producer == &n && i < carried.size() &&
                is_integral(n.results[0].meta->dtype)) {
                const bound most = of(greater->input1).all().high - 1;
                carried[i] = carried[i].all() & interval{-interval::unlimited, most};
            }
            ++i;
        }
        return carried;
    }

    findings found_;
    std::unordered_map<const node*, std::vector<spread>> known_;
    std::unordered_map<const node*, std::optional<eval::tensor>> constants_;
    std::map<std::pair<const node*, claim_kind>, std::size_t> places_;
    std::vector<claim> of_node_;
    int rounds_before_last_ = 0;
};

}  // namespace

interval declared_range(const node& placeholder) {
    const tensor_meta* const meta = placeholder.results[0].meta;
    const interval all = interval_of(meta->dtype);
    if (const auto* const user = placeholder.find_annotation<said_range>())
        return all & interval{static_cast<bound>(user->lowest), static_cast<bound>(user->highest)};
    const auto* const q = placeholder.find_annotation<signature_quantization>();
    if (q == nullptr || q->lowest >= q->highest || !is_integral(meta->dtype)) return all;
    const interval said{static_cast<bound>(q->lowest), static_cast<bound>(q->highest)};
    return all.contains(said) ? said : all;
}

findings analyze(const graph& g) {
    analyst a;
    a.run(g);
    return a.take();
}

}  // namespace headrace::prove
