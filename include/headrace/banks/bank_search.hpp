// SPDX-License-Identifier: MIT
// Defines headrace::bank_search, which chooses the bank of each item.
#ifndef HEADRACE_BANKS_BANK_SEARCH_HPP
#define HEADRACE_BANKS_BANK_SEARCH_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include <headrace/banks/bank_assignment.hpp>
#include <headrace/banks/bank_plan.hpp>

namespace headrace {

/// Searches for an assignment of items to banks whose accesses take few cycles. Several orders fill the
/// banks, the fastest first, and the best result is improved by moves and exchanges. For few items a search
/// over all assignments follows.
class bank_search {
public:
    enum class outcome : unsigned char { none, found, fastest };

    bank_search(const banked_models& models, bank_assignment& assigned)
        : models_(models), assigned_(assigned) {}

    /// Leaves the assignment that takes the fewest cycles. `none`: no order found room for all items;
    /// `fastest`: every other assignment takes as many cycles, or more.
    outcome run();

private:
    using order_type = std::vector<std::uint32_t>;

    [[nodiscard]] std::vector<order_type> orders() const;
    // Puts each item into the fastest bank that has room. Returns false if one has none.
    bool fill(const order_type& order);
    bool fill_slow(const order_type& by_size);
    void take(const std::vector<std::uint32_t>& banks);
    void keep_if_better();
    void move_to_faster(const order_type& by_accesses);
    void exchange(const order_type& by_accesses);
    bool try_exchange(std::uint32_t hot, std::uint32_t cold);
    // Tries all banks for the items from `at` on, where `cycles` is what the others take.
    void search_all(const order_type& order, std::size_t at, double cycles, std::size_t& visits);

    const banked_models& models_;
    bank_assignment& assigned_;
    std::vector<std::uint32_t> best_{};
    double best_cycles_ = 0;
    std::vector<double> least_of_rest_{};  // cycles of the items from that position on, in their best banks
};

}  // namespace headrace

#endif
