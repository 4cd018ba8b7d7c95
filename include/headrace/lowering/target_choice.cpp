// SPDX-License-Identifier: MIT
// Defines the functions of headrace/lowering/target_choice.hpp.

#include <headrace/lowering/target_choice.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/ir/regions.hpp>

namespace headrace {

namespace {

// True if an op of the graph, or of a graph nested in it, has an operand or result of such a dtype.
template <class Predicate>
bool computes_with(const graph& g, const Predicate& is_such) {
    const auto is_one = [&](const tensor_meta* meta) { return meta != nullptr && is_such(meta->dtype); };
    for (node& n : g.nodes()) {
        if (is_of_dialect<builtin::dialect>(n)) continue;
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            if (is_one(meta_of(n.result(i)))) return true;
        }
        if (std::ranges::any_of(n.operand_edges(), [&](const edge& e) { return is_one(meta_of(*e.slot)); }))
            return true;
        bool found = false;
        for_each_region(n, [&](const field_info&, const graph* region) {
            found = found || (region != nullptr && computes_with(*region, is_such));
        });
        if (found) return true;
    }
    return false;
}

// True if the graph computes with integers, such as positions or a loop's count.
bool computes_integers(const graph& g) {
    return computes_with(g, [](dtype t) { return !is_floating(t) && !is_complex(t) && !is_boolean(t); });
}

// True if an op reads or gives uint8, which only the integer profile reads as numbers.
bool computes_bytes(const graph& g) {
    return computes_with(g, [](dtype t) { return t == dtype::uint8; });
}

}  // namespace

std::vector<target_spec> default_targets(const graph& g) {
    const bool is_brain = computes_with(g, [](dtype t) { return t == dtype::bfloat16; });
    const target_spec plain = target_spec{}.with(target_feature::profile_fp);
    const target_spec floats = is_brain ? plain.with(target_feature::bf16) : plain;
    const target_spec integers = target_spec{}.with(target_feature::profile_int);
    const target_spec both = floats.with(target_feature::profile_int);
    const bool quantized = g.census().contains(info_of_dialect<quantized_decomposed::dialect>);
    if (!quantized && !computes_integers(g)) return {floats};
    const bool bytes = !quantized && computes_bytes(g);
    const bool without_floats = quantized || (bytes && !computes_with(g, &is_floating));
    std::vector targets{without_floats ? integers : floats, both};
    if (bytes && !without_floats) targets.erase(targets.begin());
    if (computes_with(g, [](dtype t) { return t == dtype::int16; })) {
        if (quantized) targets.push_back(integers.with(target_feature::int16));
        targets.push_back(both.with(target_feature::int16));
    }
    return targets;
}

target_spec widest_default_target(const graph& g) { return default_targets(g).back(); }

}  // namespace headrace
