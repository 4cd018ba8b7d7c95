// SPDX-License-Identifier: MIT
// Defines the members of headrace::mask_facts.

#include <headrace/quantization/masks/mask_facts.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace headrace {

mask_facts::mask_facts(const graph& g, end (*end_of)(const node&))
    : graph_(g), facts_(g.id_bound()), constants_(g.id_bound()), seen_(g.id_bound()) {
    for (const node& n : g.nodes()) facts_[n.id].is_derived = is_derived(n);
    walk_back(&fact::is_wanted, [&](const node& n) { return end_of(n) != end::none; });
    for (const node& n : g.nodes()) {
        if (!facts_[n.id].is_wanted) continue;
        if (facts_[n.id].is_derived) compute(n);
        facts_[n.id].may_mask = may_mask(n);
    }
    walk_back(&fact::is_asked, [&](const node& n) {
        const end own = end_of(n);
        return own == end::of_samples || (own == end::of_constants && may_mask(n.operand(0)));
    });
}

std::vector<seen_value> mask_facts::values_to_see() const {
    std::vector<seen_value> values;
    bool is_open = false;
    for (const node& n : graph_.nodes()) {
        const fact& own = facts_[n.id];
        if (!own.is_asked || own.is_derived) continue;
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            const tensor_meta* meta = n.results[i].meta;
            if (meta == nullptr || !is_number(meta->dtype)) continue;
            values.push_back({{const_cast<node*>(&n), i}});
            const bool is_real_input = meta->dtype == dtype::float32 && is<builtin::placeholder>(n);
            is_open = is_open || own.may_mask || is_real_input || set_of<unbounded_ops>.contains(*n.op);
        }
    }
    if (!is_open) values.clear();
    return values;
}

void mask_facts::set_seen(value v, seen_numbers numbers) {
    fact& own = facts_[v.producer->id];
    own.may_mask = own.may_mask || numbers.excludes_some(true) || numbers.excludes_some(false);
    std::vector<seen_numbers>& of_node = seen_[v.producer->id];
    of_node.resize(v.producer->result_count);
    of_node[v.result] = std::move(numbers);
}

const seen_numbers& mask_facts::seen(value v) const {
    static const seen_numbers nothing;
    const std::uint32_t id = v.producer->id;
    return id < seen_.size() && v.result < seen_[id].size() ? seen_[id][v.result] : nothing;
}

const tensor* mask_facts::constant(value v) const {
    const std::uint32_t id = v.producer->id;
    const bool is_known = id < constants_.size() && v.result < constants_[id].size();
    return is_known ? &constants_[id][v.result] : nullptr;
}

bool mask_facts::is_derived(const node& n) const {
    if (is<builtin::constant>(n)) return true;
    if (is<builtin::placeholder>(n) || !is_pure(n)) return false;
    const auto edges = n.operand_edges();
    return std::all_of(
        edges.begin(), edges.end(), [&](const edge& e) { return facts_[e.source->id].is_derived; });
}

void mask_facts::compute(const node& n) {
    constexpr std::int64_t max_elements = std::int64_t{1} << 26;
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        const tensor_meta* meta = n.results[i].meta;
        if (meta == nullptr || !is_number(meta->dtype) || meta->elements() > max_elements) return;
    }
    if (const auto* c = args_if<builtin::constant>(n)) {
        constants_[n.id] = {tensor_of_constant(c->data, *n.results[0].meta)};
        return;
    }
    std::vector<tensor> operands;
    for (const edge& e : n.operand_edges()) {
        const std::vector<tensor>& given = constants_[e.source->id];
        if (given.empty()) return;
        operands.push_back(given[e.slot->result]);
    }
    if (auto computed = evaluate_node(n, operands)) constants_[n.id] = std::move(computed).value();
}

bool mask_facts::may_mask(const node& n) const {
    if (facts_[n.id].is_derived) {
        return std::ranges::any_of(constants_[n.id], [](const tensor& t) {
            return t.type() == dtype::float32 && std::ranges::any_of(t.data<float>(), [](float x) {
                return excludes(static_cast<double>(-std::abs(x)));
            });
        });
    }
    const auto edges = n.operand_edges();
    return is_followed(n) &&
        std::any_of(edges.begin(), edges.end(), [&](const edge& e) { return facts_[e.source->id].may_mask; });
}

}  // namespace headrace
