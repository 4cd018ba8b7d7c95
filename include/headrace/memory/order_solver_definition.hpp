// SPDX-License-Identifier: MIT
// Defines the functions of memory/order_solver.hpp.
#ifndef HEADRACE_MEMORY_ORDER_SOLVER_DEFINITION_HPP
#define HEADRACE_MEMORY_ORDER_SOLVER_DEFINITION_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <headrace/base/compiled.hpp>
#include <headrace/memory/exact_order_search.hpp>
#include <headrace/memory/order_problem.hpp>

namespace headrace::detail {

HEADRACE_INLINE const order_solver::solution& order_solver::solve(order_problem p, std::uint64_t below) {
    constexpr std::size_t max_kept = 8;
    const auto known = std::find_if(solved_.begin(), solved_.end(),
        [&](const solution& s) { return s.below == below && s.problem == p; });
    if (known != solved_.end()) return *known;
    if (solved_.size() == max_kept) solved_.erase(solved_.begin());
    solved_.push_back(search(std::move(p), below));
    return solved_.back();
}

HEADRACE_INLINE order_solver::solution order_solver::search(order_problem p, std::uint64_t below) {
    if (p.size() <= exact_order_search::max_size && states_left_ != 0) {
        if (auto found = exact_order_search(p).run(below, states_left_)) {
            const bool is_exact = states_left_ != 0;
            return {std::move(p), below, std::move(found), is_exact};
        }
    }
    std::optional<order_problem::numbers> best;
    std::uint64_t peak = below;
    for (order_problem::numbers order : {p.deepest_first(), p.smallest_first()}) {
        const std::uint64_t reached = p.peak_of(order);
        if (reached >= peak) continue;
        peak = reached;
        best = std::move(order);
    }
    return {std::move(p), below, std::move(best), false};
}

}  // namespace headrace::detail

#endif
