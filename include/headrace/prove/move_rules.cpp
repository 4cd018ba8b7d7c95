// SPDX-License-Identifier: MIT
// Defines the rules of TOSA's ops that move elements or select among them.
#include <algorithm>
#include <array>

#include <headrace/dialect/tosa.hpp>
#include <headrace/prove/query.hpp>

namespace headrace::prove {

namespace {

std::vector<interval> parts_along(const spread& s, std::size_t axis, std::int64_t count) {
    if (s.axis == axis) return s.parts;
    return std::vector<interval>(static_cast<std::size_t>(count), s.all());
}
std::int64_t size_at(value v, std::size_t axis) { return meta_of(v)->shape[axis]; }

void reshape(query& q, const args<tosa::reshape>& a) {
    q.give(reshaped(q(a.input1), meta_of(a.input1)->shape, q.result_meta().shape));
}
void transpose(query& q, const args<tosa::transpose>& a) {
    spread s = q(a.input1);
    const auto* const at = std::ranges::find(a.perms, static_cast<std::int64_t>(s.axis));
    if (!s.is_uniform()) s.axis = static_cast<std::size_t>(at - a.perms.begin());
    q.give(s);
}
void reverse(query& q, const args<tosa::reverse>& a) {
    spread s = q(a.input1);
    if (s.axis == static_cast<std::size_t>(a.axis)) std::ranges::reverse(s.parts);
    q.give(s);
}
void slice(query& q, const args<tosa::slice>& a) {
    const spread& s = q(a.input1);
    const auto* const start = match<tosa::const_shape>(a.start);
    if (s.is_uniform()) return q.give(s);
    if (start == nullptr) return q.give(s.all());
    const auto first = s.parts.begin() + start->values[s.axis];
    q.give({s.axis, {first, first + q.result_meta().shape[s.axis]}});
}
void tile(query& q, const args<tosa::tile>& a) {
    const spread& s = q(a.input1);
    if (s.is_uniform()) return q.give(s);
    std::vector<interval> parts(static_cast<std::size_t>(q.result_meta().shape[s.axis]));
    for (std::size_t i = 0; i != parts.size(); ++i) parts[i] = s.parts[i % s.parts.size()];
    q.give({s.axis, std::move(parts)});
}
void pad(query& q, const args<tosa::pad>& a) {
    const spread& s = q(a.input1);
    const interval filled = q.all_of(a.pad_const);
    const auto* const padding = match<tosa::const_shape>(a.padding);
    if (padding == nullptr || s.is_uniform()) return q.give(s.all() | filled);
    std::vector<interval> parts = s.parts;
    bool elsewhere = false;
    for (std::size_t i = 0; i != padding->values.size(); ++i)
        elsewhere = elsewhere || (i / 2 != s.axis && padding->values[i] != 0);
    if (elsewhere)
        for (interval& part : parts) part = part | filled;
    const auto count = [&](std::size_t side) {
        return static_cast<std::size_t>(padding->values[2 * s.axis + side]);
    };
    parts.insert(parts.begin(), count(0), filled);
    parts.insert(parts.end(), count(1), filled);
    q.give({s.axis, std::move(parts)});
}
void concat(query& q, const args<tosa::concat>& a) {
    const auto axis = static_cast<std::size_t>(a.axis);
    const auto is_across = [&](value v) { return q(v).axis != axis && !q(v).is_uniform(); };
    if (std::ranges::any_of(a.input1, is_across)) {
        spread all = q(a.input1[0]);
        for (const value v : a.input1) all = joined(all, q(v));
        return q.give(all.axis == axis ? spread(all.all()) : all);
    }
    std::vector<interval> parts;
    for (const value v : a.input1) {
        const std::vector<interval> own = parts_along(q(v), axis, size_at(v, axis));
        parts.insert(parts.end(), own.begin(), own.end());
    }
    q.give({axis, std::move(parts)});
}
void identity(query& q, const args<tosa::identity>& a) { q.give(q(a.input1)); }
void select(query& q, const args<tosa::select>& a) {
    const interval chosen = q.all_of(a.input1);
    if (chosen.is_number()) return q.give(q(chosen.low == 0 ? a.input3 : a.input2));
    q.give(joined(q(a.input2), q(a.input3)));
}

// [N, K, C] at indices [N, W].
void gather(query& q, const args<tosa::gather>& a) {
    q.claim_within(claim_kind::index, q(a.indices),
        {0, static_cast<bound>(std::max<std::int64_t>(0, size_at(a.values, 1) - 1))});
    const spread& s = q(a.values);
    q.give(s.axis == 1 ? spread(s.all()) : s);
}
void scatter(query& q, const args<tosa::scatter>& a) {
    q.claim_within(claim_kind::index, q(a.indices),
        {0, static_cast<bound>(std::max<std::int64_t>(0, size_at(a.values_in, 1) - 1))});
    const spread s = joined(q(a.values_in).along(2), q(a.input).along(2));
    q.give(s);
}
void max_pool2d(query& q, const args<tosa::max_pool2d>& a) { q.give(q(a.input).along(3)); }
template <class Args>
void reduce_best(query& q, const Args& a) {
    const bool is_max = q.of().op == &info_of<tosa::reduce_max>;
    q.give(reduced(
        q(a.input), static_cast<std::size_t>(a.axis), 1, [](const interval& i, std::int64_t) { return i; },
        [is_max](const interval& x, const interval& y) { return is_max ? maximum(x, y) : minimum(x, y); }));
}
void argmax(query& q, const args<tosa::argmax>& a) {
    const std::int64_t count = size_at(a.input, static_cast<std::size_t>(a.axis));
    q.give(interval{0, static_cast<bound>(std::max<std::int64_t>(0, count - 1))});
}

}  // namespace

std::span<const rule> move_rules() {
    static constexpr std::array rules{rule_of<tosa::reshape, reshape>, rule_of<tosa::transpose, transpose>,
        rule_of<tosa::reverse, reverse>, rule_of<tosa::slice, slice>, rule_of<tosa::tile, tile>,
        rule_of<tosa::pad, pad>, rule_of<tosa::concat, concat>, rule_of<tosa::identity, identity>,
        rule_of<tosa::select, select>, rule_of<tosa::gather, gather>, rule_of<tosa::scatter, scatter>,
        rule_of<tosa::max_pool2d, max_pool2d>, rule_of<tosa::reduce_max, reduce_best<args<tosa::reduce_max>>>,
        rule_of<tosa::reduce_min, reduce_best<args<tosa::reduce_min>>>, rule_of<tosa::argmax, argmax>};
    return rules;
}

}  // namespace headrace::prove
