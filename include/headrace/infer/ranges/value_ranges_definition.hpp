// SPDX-License-Identifier: MIT
// Defines the functions of infer/ranges/value_ranges.hpp.
#ifndef HEADRACE_INFER_RANGES_VALUE_RANGES_DEFINITION_HPP
#define HEADRACE_INFER_RANGES_VALUE_RANGES_DEFINITION_HPP

#include <span>
#include <utility>

#include <headrace/base/compiled.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/infer/ranges/held_interval.hpp>
#include <headrace/infer/ranges/range_rules.hpp>
#include <headrace/ir/regions.hpp>

namespace headrace {

namespace detail {

// True for ops whose result takes the ends of its interval if one operand takes the ends of its own and the
// others are numbers.
inline bool keeps_ends(const op_info& op) {
    using namespace aten;  // NOLINT: a list of its ops
    static constexpr auto exact = ops_in<add_tensor, add_scalar, sub_tensor, sub_scalar, rsub_tensor,
        rsub_scalar, mul_tensor, mul_scalar, neg, bitwise_left_shift_tensor, bitwise_left_shift_tensor_scalar,
        full, full_like, _to_copy, new_full, fill_scalar, scalar_tensor>;
    using enum trait;
    return exact.contains(op) ||
        op.has(reshaping | permuting | broadcasting | repeating | reversing | forwarding | copying | casting |
            gives_zeros | gives_ones);
}
inline bool selects(const op_info& op) { return op.has(trait::slicing | trait::splitting); }

inline bool gives_positions(const node& n, std::uint32_t result) {
    return n.op->has(trait::locating) ||
        (result == 1 &&
            set_of<ops<aten::max_dim, aten::min_dim, aten::topk, aten::sort, aten::sort_stable>>.contains(
                *n.op));
}

}  // namespace detail

HEADRACE_INLINE value_ranges::value_ranges(const graph& g, assumption assume) : assume_(std::move(assume)) {
    walk(g, {});
}

HEADRACE_INLINE value_bounds value_ranges::of(value v) const {
    const auto at = known_.find(v.producer);
    if (at != known_.end()) return at->second[v.result];
    const tensor_meta* const meta = meta_of(v);
    const interval all = meta == nullptr ? interval() : interval_of(meta->dtype);
    return {.computed = all, .held = all};
}

HEADRACE_INLINE void value_ranges::keep(const node& n, std::uint32_t result, value_bounds bounds) {
    bounds_list& all = known_[&n];
    all.resize(n.result_count);
    const value v{const_cast<node*>(&n), result};
    value_bounds& kept = all[result];
    kept = assume_ && settled_ ? assume_(v, bounds) : bounds;
    if (kept.held != kept.computed) kept.attained = attainment::unknown;
}

HEADRACE_INLINE void value_ranges::walk(const graph& g, std::span<const value_bounds> inputs) {
    std::size_t position = 0;
    for (const node& n : g.nodes()) {
        if (!is<builtin::placeholder>(n)) {
            visit(n);
        } else if (n.results[0].meta != nullptr) {
            const interval all = interval_of(n.results[0].meta->dtype);
            keep(n, 0, position < inputs.size() ? inputs[position] : value_bounds{all, all});
            ++position;
        }
    }
}

HEADRACE_INLINE void value_ranges::visit(const node& n) {
    if (is<builtin::output>(n) || n.result_count == 0) return;
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        if (n.results[i].meta == nullptr) return;
    }
    if (const auto* constant = args_if<builtin::constant>(n)) {
        const interval all = detail::interval_of_constant(constant->data, *n.results[0].meta);
        const auto attained = all.is_number() ? attainment::by_any : attainment::by_some;
        return keep(n, 0, {all, all, attained, false});
    }
    if (is<higher_order::while_loop>(n)) return visit_loop(n);
    if (holds_regions(*n.op)) return visit_branches(n);
    bool varies = n.op->has(trait::impure) || is<builtin::opaque>(n);
    attainment given = attainment::by_any;
    bool related = false;  // two operands may depend on each other
    const value_bounds* other = nullptr;
    bounds_list operands;
    operands.reserve(n.operand_count);
    for (const edge& e : n.operand_edges()) {
        const value_bounds& operand = operands.emplace_back(of(*e.slot));
        varies = varies || operand.varies;
        if (operand.held.is_number()) continue;
        related = related || (other != nullptr && operand.varies == other->varies);
        given = std::min(given, operand.attained);
        if (other != nullptr) given = std::min(given, attainment::by_some);
        // The elements of a constant combine with all values of the other operand only if each of its
        // elements can take all of them.
        if (other != nullptr && (operand.varies ? operand : *other).attained != attainment::by_any)
            related = true;
        other = &operand;
    }
    if (related) given = attainment::unknown;
    const op_info& op = n.op->functional();
    const bool known_op = !is<builtin::opaque>(n) && op.dialect == &info_of_dialect<aten::dialect>;
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        const dtype type = n.results[i].meta->dtype;
        value_bounds made{.varies = varies};
        const auto look = [](const void* self, value v) {
            return static_cast<const value_ranges*>(self)->of(v).held;
        };
        made.computed = detail::in_category(type, detail::computed_range({n, i, look, this}));
        made.held = detail::held_in(type, made.computed);
        if (detail::gives_positions(n, i) || op.has(trait::predicate)) {
            made.attained = attainment::by_any;
        } else if (known_op &&
            (detail::keeps_ends(op) || (detail::selects(op) && given == attainment::by_any))) {
            made.attained = given;
        }
        keep(n, i, made);
    }
}

HEADRACE_INLINE value_ranges::bounds_list value_ranges::outputs_of(const graph& g) const {
    bounds_list all;
    for (const value v : g.outputs()) all.push_back(of(v));
    return all;
}

namespace detail {

inline value_bounds either_of(const value_bounds& a, const value_bounds& b) {
    return {a.computed | b.computed, a.held | b.held, attainment::unknown, a.varies || b.varies};
}

}  // namespace detail

// A node's results are those of one of its regions, run on the node's operands. If an op runs a graph more
// than once, the inputs are unknown.
HEADRACE_INLINE void value_ranges::visit_branches(const node& n) {
    const bool calls = is<higher_order::cond>(n) || is<higher_order::wrap_with_autocast>(n) ||
        is<higher_order::wrap_with_set_grad_enabled>(n);
    bounds_list inputs;
    const std::size_t first = is<higher_order::cond>(n) ? 1 : 0;  // skips the condition
    for (std::size_t i = first; calls && i < n.operand_count; ++i) inputs.push_back(of(n.operand(i)));
    bounds_list results;
    for_each_region(n, [&](const field_info&, const graph* region) {
        if (region == nullptr) return;
        walk(*region, inputs);
        const bounds_list given = outputs_of(*region);
        if (results.empty()) results = given;
        for (std::size_t i = 0; i < std::min(results.size(), given.size()); ++i)
            results[i] = detail::either_of(results[i], given[i]);
    });
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        const interval all = interval_of(n.results[i].meta->dtype);
        keep(n, i, calls && i < results.size() ? results[i] : value_bounds{all, all});
    }
}

// Bounds grow from round to round. Bounds that still grow after a few rounds are widened to their dtype's
// range; then they are narrowed again by further rounds, so that limits from the condition hold.
HEADRACE_INLINE void value_ranges::visit_loop(const node& n) {
    const auto& loop = args_of<higher_order::while_loop>(n);
    if (loop.cond_graph == nullptr || loop.body_graph == nullptr) return;
    const std::size_t carried = loop.carried_inputs.size();
    bounds_list start;
    for (const edge& e : n.operand_edges()) {
        start.push_back(of(*e.slot));
        start.back().varies = true;
        start.back().attained = attainment::unknown;
    }
    const bool outer = std::exchange(settled_, false);
    ++nesting_;
    const auto round = [&](const bounds_list& from, bool last) {
        settled_ = outer && last;
        walk(*loop.cond_graph, from);
        bounds_list limited = from;
        limit_by_condition(*loop.cond_graph, limited);
        walk(*loop.body_graph, limited);
        bounds_list next = from;
        const bounds_list given = outputs_of(*loop.body_graph);
        for (std::size_t i = 0; i < std::min(carried, given.size()); ++i)
            next[i] = detail::either_of(start[i], given[i]);
        return next;
    };
    constexpr int rounds = 3;
    bounds_list bounds = start;
    const bool unknown = nesting_ > deepest_loop;  // rounds multiply with nesting
    for (int i = unknown ? rounds : 0;; ++i) {
        const bounds_list next = round(bounds, false);
        bool grows = false;
        for (std::size_t c = 0; c != carried; ++c) {
            const interval joined = bounds[c].held | next[c].held;
            if (joined == bounds[c].held) continue;
            grows = true;
            const tensor_meta* const meta = meta_of(n.operand(c));
            const interval all = meta == nullptr ? interval() : interval_of(meta->dtype);
            if (i >= rounds && joined.low < bounds[c].held.low) bounds[c].held.low = all.low;
            if (i >= rounds && joined.high > bounds[c].held.high) bounds[c].held.high = all.high;
            bounds[c].held = bounds[c].held | joined;
        }
        if (!grows) break;
    }
    for (int i = 0; i != rounds && !unknown; ++i) {  // narrows wide bounds: each round is sound
        const bounds_list next = round(bounds, false);
        for (std::size_t c = 0; c != carried; ++c) bounds[c].held = bounds[c].held & next[c].held;
    }
    const bounds_list last = round(bounds, true);
    settled_ = outer;
    --nesting_;
    for (std::uint32_t i = 0; i != n.result_count; ++i) keep(n, i, last[i]);
}

// In the body of `while (x < limit)`, x is less than the limit.
HEADRACE_INLINE void value_ranges::limit_by_condition(const graph& condition, bounds_list& carried) const {
    const auto outputs = condition.outputs();
    if (outputs.size() != 1) return;
    const auto place_of = [&](value v) {
        while (v.producer->op->has(trait::reshaping | trait::forwarding | trait::copying))
            v = v.producer->operand(0);
        std::size_t at = 0;
        for (const node& input : condition.inputs()) {
            if (&input == v.producer) return at;
            ++at;
        }
        return carried.size();
    };
    const auto limit = [&](value v, bound low, bound high) {
        const std::size_t at = place_of(v);
        if (at >= carried.size()) return;
        interval& held = carried[at].held;
        held = held & interval{low, high};
        carried[at].computed = held;
    };
    const auto below = [&](value small, const interval& by, bool equal) {
        const tensor_meta* const meta = meta_of(small);
        const bound step = !equal && meta != nullptr && is_integral(meta->dtype) ? 1 : 0;
        limit(small, -interval::unlimited, by.high - step);
    };
    const auto above = [&](value large, const interval& by, bool equal) {
        const tensor_meta* const meta = meta_of(large);
        const bound step = !equal && meta != nullptr && is_integral(meta->dtype) ? 1 : 0;
        limit(large, by.low + step, interval::unlimited);
    };
    std::vector<value> holds{outputs[0]};
    while (!holds.empty()) {
        const value v = holds.back();
        holds.pop_back();
        const node& n = *v.producer;
        if (n.op->has(trait::reshaping | trait::forwarding | trait::copying) || is<aten::logical_and>(n) ||
            is<aten::bitwise_and_tensor>(n)) {
            for (const edge& e : n.operand_edges()) holds.push_back(*e.slot);
        } else if (is<aten::lt_tensor>(n) || is<aten::le_tensor>(n)) {
            below(n.operand(0), held_by(n.operand(1)), is<aten::le_tensor>(n));
            above(n.operand(1), held_by(n.operand(0)), is<aten::le_tensor>(n));
        } else if (is<aten::gt_tensor>(n) || is<aten::ge_tensor>(n)) {
            above(n.operand(0), held_by(n.operand(1)), is<aten::ge_tensor>(n));
            below(n.operand(1), held_by(n.operand(0)), is<aten::ge_tensor>(n));
        } else if (const auto* lt = args_if<aten::lt_scalar>(n)) {
            below(lt->self, number(static_cast<bound>(lt->other.to_double())), false);
        } else if (const auto* le = args_if<aten::le_scalar>(n)) {
            below(le->self, number(static_cast<bound>(le->other.to_double())), true);
        } else if (const auto* gt = args_if<aten::gt_scalar>(n)) {
            above(gt->self, number(static_cast<bound>(gt->other.to_double())), false);
        } else if (const auto* ge = args_if<aten::ge_scalar>(n)) {
            above(ge->self, number(static_cast<bound>(ge->other.to_double())), true);
        }
    }
}

}  // namespace headrace

#endif
