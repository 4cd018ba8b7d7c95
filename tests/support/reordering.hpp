// SPDX-License-Identifier: MIT
// Defines headrace::reordering, which checks any order of a pipeline's passes as the compiler would.
#ifndef HEADRACE_TESTS_SUPPORT_REORDERING_HPP
#define HEADRACE_TESTS_SUPPORT_REORDERING_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <headrace/pass/pipeline.hpp>

namespace headrace {

/// The reason why a pipeline in another order would not compile.
enum class reordering_fault : std::uint8_t { none, unmet, misordered, invalidated, too_early, survives };

/// The passes of a pipeline as data that can be reordered. It runs the functions that prove the pipeline's
/// own order, so a test can try every swap in one program.
template <class Pipeline>
class reordering {
    using set_type = std::remove_cvref_t<decltype(Pipeline::ops_after())>;

public:
    static constexpr std::size_t size = Pipeline::size;
    using order_type = std::array<std::size_t, size>;

    [[nodiscard]] static constexpr order_type as_listed() {
        order_type order{};
        for (std::size_t i = 0; i != size; ++i) order[i] = i;
        return order;
    }
    [[nodiscard]] static constexpr order_type with_swapped(std::size_t a, std::size_t b) {
        order_type order = as_listed();
        std::swap(order[a], order[b]);
        return order;
    }

    /// Returns the first fault of an order of the passes, given by their positions in the pipeline.
    [[nodiscard]] static constexpr reordering_fault check(const order_type& order) {
        return check(order, size);
    }
    /// Returns the first fault of the pipeline without the pass at a position.
    [[nodiscard]] static constexpr reordering_fault check_without(std::size_t i) {
        return check(as_listed(), i);
    }

    /// Returns the order constraints of the pass at a position.
    [[nodiscard]] static constexpr const order_facts& facts_of(std::size_t i) { return *facts_[i + 1]; }
    /// True if the pass at `a` can emit an op that the pass at `b` targets.
    [[nodiscard]] static constexpr bool feeds(std::size_t a, std::size_t b) {
        return !(effects_[a].produced & effects_[b].targets).empty();
    }
    /// True if the pass at `a` can emit an op that the pass at `b` always removes.
    [[nodiscard]] static constexpr bool feeds_removal(std::size_t a, std::size_t b) {
        return !(effects_[a].produced & effects_[b].removed).empty();
    }

private:
    static constexpr reordering_fault check(const order_type& order, std::size_t left_out) {
        std::array<const order_facts*, size + 2> facts = facts_;
        std::array<detail::effect_sets<set_type>, size> effects{};
        for (std::size_t i = 0; i != size; ++i) {
            facts[i + 1] = i == left_out ? &nothing_ : facts_[order[i] + 1];
            if (i != left_out) effects[i] = effects_[order[i]];
        }
        switch (detail::order_check<detail::count_wanted(facts_)>(facts).first().kind) {
            case detail::order_fault_kind::unmet:
                return reordering_fault::unmet;
            case detail::order_fault_kind::misordered:
                return reordering_fault::misordered;
            case detail::order_fault_kind::invalidated:
                return reordering_fault::invalidated;
            case detail::order_fault_kind::none:
                break;
        }
        const auto flow = detail::fold_effects<set_type, size>(effects, Pipeline::ops_before(0), legal_);
        if (detail::find_too_early(effects, flow) != size) return reordering_fault::too_early;
        return flow.ops[size] <= legal_ ? reordering_fault::none : reordering_fault::survives;
    }

    static constexpr order_facts nothing_{&detail::identity_of<no_pass>};  // of an omitted pass
    static constexpr set_type legal_ =
        detail::boundary<typename Pipeline::legal>::set.over(typename set_type::dialect_list{});

    template <class... Ps>
    static constexpr auto collect_effects(pass_list<Ps...>) {
        return std::array<detail::effect_sets<set_type>, size>{detail::effects_over<set_type, Ps>()...};
    }
    template <class... Ps>
    static constexpr auto collect_facts(pass_list<Ps...>) {
        using start = detail::start_facts<typename detail::properties_in<typename Pipeline::source>::type>;
        using end = detail::end_facts<typename detail::properties_in<typename Pipeline::legal>::type>;
        return std::array<const order_facts*, size + 2>{
            &order_facts_of<start>, &order_facts_of<Ps>..., &order_facts_of<end>};
    }
    static constexpr auto effects_ = collect_effects(typename Pipeline::passes{});
    static constexpr auto facts_ = collect_facts(typename Pipeline::passes{});
};

}  // namespace headrace

#endif
