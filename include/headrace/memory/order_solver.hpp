// SPDX-License-Identifier: MIT
// Defines headrace::detail::order_solver, which solves problems of order, by search or by heuristics.
#ifndef HEADRACE_MEMORY_ORDER_SOLVER_HPP
#define HEADRACE_MEMORY_ORDER_SOLVER_HPP

#include <cstddef>
#include <cstdint>
#include <optional>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/memory/order_problem.hpp>

namespace headrace::detail {

/// Finds orders with little memory for the parts of one graph. Networks repeat their blocks: the order found
/// for one of the last few parts is reused for an equal part.
class order_solver {
public:
    struct solution {
        order_problem problem;
        std::uint64_t below;
        std::optional<order_problem::numbers> order;  // none or empty: no order with a lower peak is known
        bool is_exact;                                // no better order exists
    };

    /// Searches for an order whose peak is below `below`. The result is valid until the next call.
    const solution& solve(order_problem p, std::uint64_t below);

private:
    [[nodiscard]] solution search(order_problem p, std::uint64_t below);

    pmr_vector<solution> solved_;
    std::size_t states_left_ = 16384;
};

}  // namespace headrace::detail

#ifndef HEADRACE_COMPILED
#include <headrace/memory/order_solver_definition.hpp>
#endif

#endif
