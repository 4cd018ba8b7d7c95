// SPDX-License-Identifier: MIT
// Defines the check of a pipeline's order, which finds the first violated constraint.
#ifndef HEADRACE_PASS_ORDER_CHECK_HPP
#define HEADRACE_PASS_ORDER_CHECK_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <headrace/pass/order.hpp>

namespace headrace::detail {

enum class order_fault_kind : std::uint8_t { none, unmet, misordered, invalidated };

/// The fault of an order: entry `entry` in the `list` of the pass at `pass` is violated.
struct order_fault {
    order_fault_kind kind = order_fault_kind::none;
    std::size_t pass = 0;
    order_list list = order_list::requires_before;
    std::size_t entry = 0;
    std::size_t by = 0;  ///< the pass that invalidates a property
};

inline constexpr order_list wanting_lists[] = {
    order_list::requires_before, order_list::runs_after, order_list::requires_after, order_list::runs_before};

// Calls `f(id)` for each pass or property that the passes need. Lists of a phase are visited once for
// adjacent passes.
template <class F>
constexpr void for_each_wanted(std::span<const order_facts* const> passes, F&& f) {
    const order_facts* phase = nullptr;
    for (const order_facts* p : passes) {
        for (const order_list l : wanting_lists) {
            for (const order_id id : p->list(l)) f(id);
            if (p->phase == nullptr || p->phase == phase) continue;
            for (const order_id id : p->phase->list(l)) f(id);
        }
        phase = p->phase;
    }
}
/// Returns an upper bound of the number of passes and properties that are needed.
constexpr std::size_t count_wanted(std::span<const order_facts* const> passes) {
    std::size_t count = 0;
    for_each_wanted(passes, [&](order_id) { ++count; });
    return count;
}

/// Numbers identities in the order in which they are added. Lookup is by the length of their names: comparing
/// each with all others would be most of the proof's cost.
template <std::size_t Capacity>
class order_index {
public:
    [[nodiscard]] constexpr std::size_t size() const { return size_; }
    /// Returns the number of an identity, or size().
    [[nodiscard]] constexpr std::size_t find(order_id id) const {
        std::size_t k = buckets_[bucket_of(id)];
        while (k != 0 && ids_[k - 1] != id) k = next_[k - 1];
        return k == 0 ? size_ : k - 1;
    }
    /// Returns false if it was already present.
    constexpr bool add(order_id id) {
        if (find(id) != size_) return false;
        std::size_t& bucket = buckets_[bucket_of(id)];
        ids_[size_] = id;
        next_[size_] = bucket;
        bucket = ++size_;
        return true;
    }

private:
    static constexpr std::size_t buckets = 64;
    static constexpr std::size_t bucket_of(order_id id) { return *id % buckets; }

    std::array<order_id, Capacity + 1> ids_{};
    std::array<std::size_t, Capacity + 1> next_{};  ///< next entry in the bucket, counted from 1; 0 for none
    std::array<std::size_t, buckets> buckets_{};
    std::size_t size_ = 0;
};

/// Finds the first fault of an order; missing passes come before misplaced ones.
template <std::size_t Capacity>
class order_check {
public:
    constexpr explicit order_check(std::span<const order_facts* const> passes) : passes_(passes) {
        for_each_wanted(passes, [&](order_id id) { wanted_.add(id); });
        for (std::size_t i = 0; i != passes.size(); ++i) {
            for_provided(*passes[i], [&](state& s) { s.last_provider = i + 1; });
        }
    }

    [[nodiscard]] constexpr order_fault first() {
        for (std::size_t i = 0; i != passes_.size(); ++i) {
            const order_facts& p = *passes_[i];
            look_back(i, order_list::requires_before);
            look_back(i, order_list::runs_after);
            look_ahead(i, order_list::requires_after);
            look_ahead(i, order_list::runs_before);
            for_each(p, order_list::invalidates, [&](order_id id, std::size_t) {
                if (const std::size_t k = wanted_.find(id); k != wanted_.size() && states_[k].holds) {
                    states_[k].holds = false;
                    states_[k].invalidated_by = i + 1;
                }
            });
            for_provided(p, [&](state& s) { s.holds = true; });
        }
        return unmet_.kind != order_fault_kind::none ? unmet_ : misplaced_;
    }

private:
    // Positions count from 1; 0 means none.
    struct state {
        std::size_t last_provider = 0, invalidated_by = 0;
        bool holds = false;
    };
    // Calls `f(id, entry)` for the entries of a pass's list, then those of its phase.
    template <class F>
    static constexpr void for_each(const order_facts& p, order_list l, F&& f) {
        std::size_t entry = 0;
        for (const order_id id : p.list(l)) f(id, entry++);
        if (p.phase == nullptr) return;
        for (const order_id id : p.phase->list(l)) f(id, entry++);
    }
    template <class F>
    constexpr void for_provided(const order_facts& p, F&& f) {
        const auto provide = [&](order_id id, std::size_t) {
            if (const std::size_t k = wanted_.find(id); k != wanted_.size()) f(states_[k]);
        };
        provide(p.self, 0);
        for_each(p, order_list::ensures, provide);
    }

    constexpr void look_back(std::size_t i, order_list l) {
        for_each(*passes_[i], l, [&](order_id id, std::size_t entry) {
            const state& s = states_[wanted_.find(id)];
            if (s.holds) return;
            if (s.last_provider == 0) {
                if (l == order_list::requires_before) report(order_fault_kind::unmet, i, l, entry, 0);
            } else if (s.invalidated_by != 0) {
                report(order_fault_kind::invalidated, i, l, entry, s.invalidated_by - 1);
            } else {
                report(order_fault_kind::misordered, i, l, entry, 0);
            }
        });
    }
    constexpr void look_ahead(std::size_t i, order_list l) {
        for_each(*passes_[i], l, [&](order_id id, std::size_t entry) {
            const state& s = states_[wanted_.find(id)];
            if (s.last_provider > i + 1) return;
            if (s.last_provider != 0) {
                report(order_fault_kind::misordered, i, l, entry, 0);
            } else if (l == order_list::requires_after) {
                report(order_fault_kind::unmet, i, l, entry, 0);
            }
        });
    }
    constexpr void report(
        order_fault_kind kind, std::size_t i, order_list l, std::size_t entry, std::size_t by) {
        order_fault& f = kind == order_fault_kind::unmet ? unmet_ : misplaced_;
        if (f.kind == order_fault_kind::none) f = {kind, i, l, entry, by};
    }

    std::span<const order_facts* const> passes_;
    order_index<Capacity> wanted_;
    std::array<state, Capacity + 1> states_{};  ///< of each needed pass or property
    order_fault unmet_{}, misplaced_{};
};

}  // namespace headrace::detail

#endif
