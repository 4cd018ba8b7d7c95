// SPDX-License-Identifier: MIT
// Defines the functions of headrace/prove/query.hpp.

#include <headrace/prove/query.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <headrace/dialect/tosa.hpp>
#include <headrace/infer/ranges/held_interval.hpp>

namespace headrace::prove {

query::query(const node& n, knowledge& known) : node_(n), known_(known) {
    for (std::uint32_t i = 0; i != n.result_count; ++i)
        results_.emplace_back(interval_of(result_meta(i).dtype));
}

void query::claim_within(
    claim_kind kind, const interval& computed, const interval& allowed, std::size_t channel) {
    known_.claimed({&node_, kind, computed, allowed, channel});
}
void query::claim_within(claim_kind kind, const spread& computed, const interval& allowed) {
    for (std::size_t i = 0; i != computed.parts.size(); ++i)
        claim_within(kind, computed.parts[i], allowed, i);
}

void query::give(const spread& s, std::size_t i) {
    const interval limits = interval_of(type(i));
    results_[i] = s.mapped([&](const interval& part) { return part & limits; });
}

interval rounded_to(dtype t, const interval& computed) {
    if (t != dtype::float32) return headrace::detail::widened(computed, t);
    const auto to_float = [](bound x, float away) {
        const auto nearest = static_cast<float>(x);
        return static_cast<bound>(static_cast<bound>(nearest) == x ? nearest : std::nextafter(nearest, away));
    };
    constexpr float infinity = std::numeric_limits<float>::infinity();
    return {to_float(computed.low, -infinity), to_float(computed.high, infinity)};
}

const rule* find_rule(const op_info& op) {
    static const auto rules = [] {
        std::array<const rule*, tosa::dialect::size> all{};
        for (const auto& group : {move_rules(), elementwise_rules(), conversion_rules(), product_rules()}) {
            for (const rule& r : group) all[r.op->index] = &r;
        }
        return all;
    }();
    return op.dialect == &info_of_dialect<tosa::dialect> ? rules[op.index] : nullptr;
}

}  // namespace headrace::prove
