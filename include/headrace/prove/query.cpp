// SPDX-License-Identifier: MIT
// Defines the functions of headrace/prove/query.hpp.

#include <headrace/prove/query.hpp>

#include <algorithm>
#include <array>

#include <headrace/dialect/tosa.hpp>

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
