// SPDX-License-Identifier: MIT
// Defines the functions of headrace/quantization/unite_groups.hpp.

#include <headrace/quantization/unite_groups.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include <headrace/ir/state.hpp>
#include <headrace/ir/time_step.hpp>

namespace headrace {

namespace {

using key = quantization_groups::key;
constexpr key none = quantization_groups::none;

void unite_if_alike(quantization_groups& groups, key a, key b) {
    if (a == none || b == none) return;
    if (groups.scheme(a).same_numbers(groups.scheme(b))) groups.unite(a, b);
}

void unite_readers_of(value v, quantization_groups& groups) {
    std::vector<key> keys;
    if (const key own = groups.of(v); own != none) keys.push_back(own);
    for (const edge& e : v.producer->uses()) {
        if (e.slot->result != v.result) continue;
        const key k = groups.of(e);
        if (k == none || groups.is_bias(k)) continue;
        for (const key other : keys) unite_if_alike(groups, other, k);
        keys.push_back(k);
    }
}

}  // namespace

void unite_readers(const graph& g, quantization_groups& groups) {
    for (const node& n : g.nodes()) {
        for (std::uint32_t i = 0; i != n.result_count; ++i)
            unite_readers_of({const_cast<node*>(&n), i}, groups);
    }
}

void unite_states(const graph& g, quantization_groups& groups) {
    const auto* next = g.output() == nullptr ? nullptr : g.output()->find_annotation<output_states>();
    if (next == nullptr) return;
    for (const node& input : g.inputs()) {
        const auto* state = input.find_annotation<input_state>();
        if (state == nullptr) continue;
        const auto at = std::ranges::find(next->names, state->name);
        if (at == next->names.end()) continue;
        unite_if_alike(groups, groups.of(value{const_cast<node*>(&input), 0}),
            groups.of(g.output()->operands[at - next->names.begin()]));
    }
}

void unite_steps(const graph& g, quantization_groups& groups) {
    // An op is part of the place, since a rewrite of a node may have left several nodes in its place.
    using part = std::tuple<std::string_view, std::uint32_t, const op_info*, std::uint32_t>;
    std::map<part, key> first;
    for (const node& n : g.nodes()) {
        const auto* const step = n.find_annotation<time_step>();
        for (std::uint32_t i = 0; step != nullptr && i != n.result_count; ++i) {
            const key own = groups.of(value{const_cast<node*>(&n), i});
            if (own == none) continue;
            const auto [at, is_new] = first.try_emplace({step->network, step->place, n.op, i}, own);
            if (!is_new) unite_if_alike(groups, at->second, own);
        }
    }
}

}  // namespace headrace
