// SPDX-License-Identifier: MIT
// Defines the functions of passes/layout/binary_choice.hpp.
#ifndef HEADRACE_PASSES_LAYOUT_BINARY_CHOICE_DEFINITION_HPP
#define HEADRACE_PASSES_LAYOUT_BINARY_CHOICE_DEFINITION_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

#include <headrace/base/compiled.hpp>
#include <headrace/base/pmr_vector.hpp>
#include <headrace/passes/layout/minimum_cut.hpp>

namespace headrace {

HEADRACE_INLINE pmr_vector<bool> binary_choice::cheapest() && {
    const pmr_vector<std::size_t> replaced = replace_all();
    pmr_vector<bool> chosen = minimum_cut();
    for (std::size_t k = replaced.size(); k-- != 0;) {
        const std::size_t i = replaced[k];
        std::int64_t of_one = of_one_[i];
        for (const link& l : links_[i]) of_one += chosen[l.other] ? -l.to_other : l.from_other;
        chosen[i] = of_one < 0;
    }
    return chosen;
}

HEADRACE_INLINE pmr_vector<std::size_t> binary_choice::replace_all() {
    pmr_vector<std::size_t> order;
    pmr_vector<std::size_t> pending(of_one_.size());
    std::iota(pending.rbegin(), pending.rend(), std::size_t{0});
    is_replaced_.assign(of_one_.size(), false);
    while (!pending.empty()) {
        const std::size_t i = pending.back();
        pending.pop_back();
        if (is_replaced_[i] || !has_few_others(i)) continue;
        is_replaced_[i] = true;
        order.push_back(i);
        replace(i);
        for (const link& l : links_[i]) {
            arcs_[l.other] -= l.arcs;
            pending.push_back(l.other);
        }
    }
    return order;
}

HEADRACE_INLINE bool binary_choice::has_few_others(std::size_t i) {
    if (arcs_[i] > max_joined) return false;
    pmr_vector<link>& links = links_[i];
    erase_if(links, [&](const link& l) { return is_replaced_[l.other]; });
    for (std::size_t k = 0; k < links.size(); ++k) {
        for (std::size_t m = links.size(); --m > k;) {
            if (links[m].other != links[k].other) continue;
            links[k].to_other += links[m].to_other;
            links[k].from_other += links[m].from_other;
            links[k].arcs += links[m].arcs;
            links.erase(links.begin() + static_cast<std::ptrdiff_t>(m));
        }
    }
    return links.size() <= max_others;
}

HEADRACE_INLINE void binary_choice::replace(std::size_t i) {
    const pmr_vector<link>& links = links_[i];
    const auto least = [&](bool first, bool second) {
        const bool taken[max_others] = {first, second};
        std::int64_t of_zero = 0, of_one = of_one_[i];
        for (std::size_t k = 0; k != links.size(); ++k)
            (taken[k] ? of_zero : of_one) += taken[k] ? links[k].to_other : links[k].from_other;
        return std::min(of_zero, of_one);
    };
    if (links.size() == 1) {
        add(links[0].other, least(true, false) - least(false, false));
    } else if (links.size() == 2) {
        add(links[0].other, links[1].other,
            {{least(false, false), least(false, true)}, {least(true, false), least(true, true)}});
    }
}

HEADRACE_INLINE pmr_vector<bool> binary_choice::minimum_cut() const {
    pmr_vector<bool> chosen(of_one_.size());
    pmr_vector<std::size_t> left;
    pmr_vector<std::size_t> vertex_of(of_one_.size());
    for (std::size_t i = 0; i != of_one_.size(); ++i) {
        if (is_replaced_[i]) continue;
        vertex_of[i] = left.size();
        left.push_back(i);
    }
    if (left.empty()) return chosen;
    flow_network network(left.size() + 2);
    const std::size_t zero = left.size();  // the source
    const std::size_t one = zero + 1;
    for (const std::size_t i : left) {
        if (of_one_[i] > 0) network.add_arc(zero, vertex_of[i], of_one_[i]);
        if (of_one_[i] < 0) network.add_arc(vertex_of[i], one, -of_one_[i]);
        for (const link& l : links_[i]) {
            if (l.to_other > 0 && !is_replaced_[l.other])
                network.add_arc(vertex_of[i], vertex_of[l.other], l.to_other);
        }
    }
    const pmr_vector<bool> side = network.sink_side(zero, one);
    for (const std::size_t i : left) chosen[i] = side[vertex_of[i]];
    return chosen;
}

}  // namespace headrace

#endif
