// SPDX-License-Identifier: MIT
// Defines the functions of headrace/quantization/masks/mask_scores.hpp.

#include <headrace/quantization/masks/mask_scores.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <headrace/ir/edits.hpp>
#include <headrace/passes/decompose/expressions.hpp>
#include <headrace/quantization/masks/score_splitter.hpp>
#include <headrace/quantization/masks/seen_numbers.hpp>
#include <headrace/rewrite/arithmetic.hpp>

namespace headrace {

namespace {

using softmax_ops = ops<aten::softmax_int, aten::_softmax, aten::_safe_softmax>;
using log_softmax_ops = ops<aten::log_softmax_int, aten::_log_softmax>;
// Functions that are 0 at minus infinity.
using vanishing_functions = ops<aten::exp, aten::sigmoid, aten::relu, aten::silu, aten::gelu, aten::softplus>;
using largest_ops = ops<aten::amax, aten::max_dim, aten::argmax, aten::max>;
using smallest_ops = ops<aten::amin, aten::min_dim, aten::argmin, aten::min>;

mask_facts::end end_of_mask(const node& n) {
    using end = mask_facts::end;
    if (n.operand_count == 0 || meta_of(n.operand(0)) == nullptr) return end::none;
    if (meta_of(n.operand(0))->dtype != dtype::float32) return end::none;
    if (n.op->has(trait::comparing) && n.op->has(trait::binary)) return end::of_constants;
    if (set_of<joined<softmax_ops, log_softmax_ops, ops<aten::logsumexp, aten::exp>>>.contains(*n.op))
        return end::of_samples;
    const bool may_end =
        set_of<joined<vanishing_functions, ops<aten::tanh>, largest_ops, smallest_ops>>.contains(*n.op);
    return may_end ? end::of_constants : end::none;
}

// Returns the axis of a softmax.
std::optional<std::int64_t> softmax_axis(const node& n) {
    std::optional<std::int64_t> axis;
    const auto look = [&]<class... Ops>(
                          ops<Ops...>) { ((is<Ops>(n) ? void(axis = args_of<Ops>(n).dim) : void()), ...); };
    look(joined<softmax_ops, log_softmax_ops>{});
    return axis;
}

class score_masker {
public:
    score_masker(graph& g, pass_context& context, const mask_facts& facts)
        : graph_(g), facts_(facts), splitter_(facts), emission_(g, context) {}

    void mask(node& n) {
        const value v = n.operand(0);
        if (facts_.constant(v) != nullptr || !facts_.may_mask(v)) return;
        emission_.begin(graph_, &n, &n);
        const emitter e{emission_};
        const bool low = !set_of<smallest_ops>.contains(*n.op);
        const split_scores parts = splitter_.split(e, v, low);
        if (!parts.is_changed || e.failed()) return;
        if (n.op->has(trait::comparing)) return replace(n, compared(e, n, parts));
        if (parts.excludes_all) return;
        if (!parts.masks() || set_of<joined<largest_ops, smallest_ops>>.contains(*n.op)) {
            graph_.set_operand(n.operands[0], score_splitter::filled(e, parts, v, filling(v, low)));
        } else {
            replace(n, masked(e, n, parts));
        }
    }
    [[nodiscard]] const std::vector<value>& bounded() const { return splitter_.bounded(); }

private:
    using made = joined<score_splitter::made,
        ops<aten::amax, aten::exp, aten::sum_dim_intlist, aten::reciprocal, aten::log, aten::any_dim,
            aten::view>>;
    using emitter = emit<made>;

    // Dead nodes are removed later.
    void replace(node& n, value with) {
        if (!with || emitter(emission_).failed()) return;
        graph_.replace_all_uses(n.result(), with);
        hand_over_name(n.results[0], with);
    }

    // Returns the comparison, with excluded elements taken as minus infinity.
    value compared(emitter e, const node& n, const split_scores& parts) {
        const value v = n.operand(0);
        const value other = n.operand(1);
        const int_list& shape = e.shape({const_cast<node*>(&n), 0});
        const tensor* number = facts_.constant(other);
        if (number == nullptr && facts_.may_mask(other)) return {};
        const auto holds = [&](int order) {
            if (is<aten::eq_tensor>(n)) return order == 0;
            if (is<aten::ne_tensor>(n)) return order != 0;
            if (is<aten::lt_tensor>(n)) return order < 0;
            if (is<aten::le_tensor>(n)) return order <= 0;
            return is<aten::gt_tensor>(n) ? order > 0 : order >= 0;
        };
        const auto always = [&](bool holds_always) {
            return score_splitter::fitted(e, e.splat(holds_always, dtype::boolean, shape.size()), shape);
        };
        const bool with_infinity = number != nullptr && number->size() == 1 && excludes(number->real(0));
        const bool of_excluded = holds(with_infinity ? 0 : -1);
        if (parts.excludes_all) return always(of_excluded);
        if (with_infinity) {
            if (of_excluded == holds(1) || !parts.excluded) return always(holds(1));
            const value excluded = score_splitter::fitted(e, parts.excluded, shape);
            return of_excluded ? excluded : e.make<aten::logical_not>(excluded);
        }
        const value finite = parts.finite
            ? score_splitter::fitted(e, parts.finite, e.shape(v))
            : score_splitter::fitted(e, e.splat(0.0, dtype::float32, e.rank(v)), e.shape(v));
        const value operands[] = {finite, other};
        node* copy = e.clone(n, operands, [](tensor_meta&) {});
        if (copy == nullptr || !parts.excluded) return copy == nullptr ? value{} : copy->result();
        if (of_excluded) return e.make<aten::logical_or>(parts.excluded, copy->result());
        return e.make<aten::logical_and>(e.make<aten::logical_not>(parts.excluded), copy->result());
    }

    // Returns a number for excluded elements: one that occurs among the scores, so that their range is kept.
    [[nodiscard]] float filling(value v, bool low) const {
        const value_range& kept = facts_.seen(v).ordinary;
        if (kept.empty()) return low ? -INFINITY : INFINITY;
        return low ? kept.lowest : kept.highest;
    }

    value masked(emitter e, const node& n, const split_scores& parts) {
        const value v = n.operand(0);
        if (const auto axis = softmax_axis(n)) {
            return set_of<softmax_ops>.contains(*n.op) ? softmax(e, parts, v, *axis)
                                                       : log_softmax(e, parts, v, *axis);
        }
        const value scores = score_splitter::filled(e, parts, v, filling(v, true));
        if (const auto* a = args_if<aten::logsumexp>(n)) {
            const auto logarithm = [&](auto x, auto excluded) {
                const auto m = largest(x, a->dim);
                return log(sum(where(excluded, 0, exp(x - m)), a->dim)) + m;
            };
            const value kept = e.build(logarithm, scores, parts.excluded);
            const int_list& shape = e.shape({const_cast<node*>(&n), 0});
            return a->keepdim ? kept : e.make<aten::view>({.self = kept, .size = shape});
        }
        node* copy = e.clone(n, std::span(&scores, 1), [](tensor_meta&) {});
        if (copy == nullptr) return {};
        const double limit = is<aten::tanh>(n) ? -1 : 0;
        const auto limited = [&](auto y, auto excluded) { return where(excluded, limit, y); };
        return e.build(limited, copy->result(), parts.excluded);
    }

    // A row that is entirely excluded gets equal shares, or the shares of its finite scores if the numbers
    // added to them are small enough to preserve their differences; with -infinity, it gets none.
    value softmax(emitter e, const split_scores& parts, value v, std::int64_t axis) {
        constexpr float absorbing = -1e7F;
        const seen_numbers& seen = facts_.seen(v);
        value weightless = parts.excluded;
        split_scores filled = parts;
        if (seen.has_excluded_row) {
            const value all = score_splitter::fitted(e, parts.excluded, e.shape(v));
            const value kept = e.make<aten::logical_not>(all);
            weightless = e.make<aten::logical_and>(
                all, e.make<aten::any_dim>({.self = kept, .dim = axis, .keepdim = true}));
            if (seen.low.highest > absorbing) filled.excluded = weightless;
        }
        const value scores = score_splitter::filled(e, filled, v, filling(v, true));
        const auto shares = [&](auto x, auto excluded) {
            const auto largest_score = largest(x, int_list{axis});
            const auto powers = exp(x - largest_score);
            const auto kept = where(excluded, 0, powers);
            return kept * reciprocal(sum(kept, int_list{axis}));
        };
        return e.build(shares, scores, weightless);
    }

    value log_softmax(emitter e, const split_scores& parts, value v, std::int64_t axis) {
        const value scores = score_splitter::filled(e, parts, v, filling(v, true));
        const auto logarithms = [&](auto x, auto excluded) {
            const auto shifted = x - largest(x, int_list{axis});
            return shifted - log(sum(where(excluded, 0, exp(shifted)), int_list{axis}));
        };
        return e.build(logarithms, scores, parts.excluded);
    }

    graph& graph_;
    const mask_facts& facts_;
    score_splitter splitter_;
    emission emission_;
};

}  // namespace

result<std::vector<value>> mask_scores(
    graph& g, pass_context& context, const sample_source& samples, const parallel_for& in_parallel) {
    std::vector<node*> ends;
    for (node& n : g.nodes()) {
        if (end_of_mask(n) != mask_facts::end::none) ends.push_back(&n);
    }
    if (ends.empty()) return std::vector<value>();
    mask_facts facts(g, &end_of_mask);
    std::vector<seen_value> values = facts.values_to_see();
    if (samples.count != 0 && !values.empty()) {
        for (seen_value& v : values) {
            for (const edge& e : v.source.producer->uses()) {
                if (*e.slot == v.source && softmax_axis(*e.target)) v.axis = softmax_axis(*e.target);
            }
        }
        HEADRACE_TRY(seen, see_numbers(g, values, samples, in_parallel));
        for (std::size_t i = 0; i != values.size(); ++i) facts.set_seen(values[i].source, std::move(seen[i]));
    }
    score_masker masker(g, context, facts);
    for (node* n : ends) masker.mask(*n);
    return masker.bounded();
}

}  // namespace headrace
