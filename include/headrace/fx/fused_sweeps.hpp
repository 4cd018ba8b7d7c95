// SPDX-License-Identifier: MIT
// Defines headrace::fused_sweeps, which runs several passes in one sweep of the retracing driver.
#ifndef HEADRACE_FX_FUSED_SWEEPS_HPP
#define HEADRACE_FX_FUSED_SWEEPS_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/pass/pipeline.hpp>

namespace headrace {

namespace detail {

// True if each rewrite of a pass is an expression of one op, which reads only arguments and operand types.
template <class Rule>
inline constexpr bool is_expression_of_one_op = is_of_one_op<Rule>;
template <class Op, class List, class F, class Policy>
inline constexpr bool is_expression_of_one_op<rule<Op, coded<List, F>, Policy>> = false;
template <class List>
inline constexpr bool only_rules_of_one_op = false;
template <class... Rules>
inline constexpr bool only_rules_of_one_op<rule_list<Rules...>> =
    sizeof...(Rules) != 0 && (is_expression_of_one_op<Rules> && ...);

template <class P>
inline constexpr bool looks_at_its_node_alone = [] {
    if constexpr (requires { P::looks_at_its_node_alone; }) {
        return P::looks_at_its_node_alone;
    } else {
        return only_rules_of_one_op<rules_of<P>> &&
            listed_targets<P>::type::size == list_facts<rules_of<P>>::targets::size;
    }
}();

}  // namespace detail

/// Matches passes that can share a sweep: their effect on a node depends only on that node and the types of
/// its operands. This is assumed for expressions. `static constexpr bool looks_at_its_node_alone` overrides
/// it: false for an expression that reads the producer of an operand, true for code that reads only its
/// node.
template <class P>
concept shares_sweeps = pass_type<P> && effects_of<P>::sound && !graph_pass<P> && !decides_itself<P> &&
    !has_requirement<P> && !has_guarantee<P> && std::is_empty_v<P> && targets_of<P>::size != 0 &&
    detail::looks_at_its_node_alone<P> &&
    !effects_of<P>::target_set.template contains<builtin::placeholder>();

/// The statistics of a run. The record of a pass that shared an earlier pass's sweep has no node counts.
struct fused_statistics {
    run_statistics passes{};
    std::size_t sweeps = 0;  ///< of handlers over the graph
};

/// Runs a static pipeline with the retracing driver, with several passes in one sweep if the compiler has
/// found that they do not interact: no pass makes or targets an op that a later one targets, and all of them
/// satisfy shares_sweeps. Nodes that none of them targets are copied once. The result is the same graph as
/// that of Pipeline::run_unchecked.
///
/// For example, passes that rewrite silu and addmm share a sweep unless the first makes an op that the second
/// targets. This is for interpreters, whose sweeps dispatch every node, as without fast copies. Here a copied
/// node costs a few nanoseconds, and all sweeps of a pipeline a few percent of its time.
template <class Pipeline>
class fused_sweeps {
    static constexpr std::size_t size = Pipeline::size;
    static constexpr std::size_t words = (size + 63) / 64;
    using mask = std::array<std::uint64_t, words == 0 ? 1 : words>;
    using set_type = std::remove_cvref_t<decltype(Pipeline::ops_before(0))>;

    // Plain words, because the compiler evaluates every operation on ten thousand pairs.
    struct pass_effects {
        std::uint64_t targets[set_type::word_count] = {};
        std::uint64_t made_or_targeted[set_type::word_count] = {};
    };
    template <class P>
    static constexpr pass_effects effects_of_pass() {
        const detail::effect_sets<set_type> sets = detail::effects_over<set_type, P>();
        pass_effects found;
        for (std::size_t w = 0; w != set_type::word_count; ++w) {
            found.targets[w] = sets.targets.words()[w];
            found.made_or_targeted[w] = sets.targets.words()[w] | sets.produced.words()[w];
        }
        return found;
    }
    template <class... Ps>
    static constexpr std::array<pass_effects, sizeof...(Ps)> effects_of_all(pass_list<Ps...>) {
        return {effects_of_pass<Ps>()...};
    }
    static constexpr bool has(const mask& m, std::size_t i) { return (m[i / 64] >> i % 64 & 1) != 0; }

public:
    /// For each pass, the earlier passes with which it interacts.
    static constexpr std::array<mask, size> conflicts = [] {
        std::array<mask, size> found{};
        const auto all = effects_of_all(typename Pipeline::passes{});
        for (std::size_t k = 0; k != size; ++k) {
            const pass_effects& later = all[k];
            for (std::size_t i = 0; i != k; ++i) {
                const pass_effects& earlier = all[i];
                std::uint64_t common = 0;
                for (std::size_t w = 0; w != set_type::word_count; ++w)
                    common |= later.targets[w] & earlier.made_or_targeted[w];
                if (common != 0) found[k][i / 64] |= std::uint64_t{1} << i % 64;
            }
        }
        return found;
    }();
    [[nodiscard]] static constexpr bool interact(std::size_t earlier, std::size_t later) {
        return has(conflicts[later], earlier);
    }

    /// Runs the passes like Pipeline::run_unchecked with the retracing driver. `options.driver` and
    /// `after_pass` have no effect.
    [[nodiscard]] static result<fused_statistics> run(
        graph& g, pass_context& context, const run_options& options = {}) {
        fused_sweeps sweeps(g, context, options);
        return sweeps.run_all(typename Pipeline::passes{}, std::make_index_sequence<size>{});
    }

private:
    fused_sweeps(graph& g, pass_context& context, const run_options& options)
        : g_(g), context_(context), options_(options) {
        done_.passes.resize(size);
    }

    template <class... Ps, std::size_t... I>
    result<fused_statistics> run_all(pass_list<Ps...>, std::index_sequence<I...>) {
        result<void> status;
        static_cast<void>((((status = step<I, Ps>()), status.has_value()) && ...));
        if (status) status = flush();
        if (!status) return std::move(status).error();
        return std::move(done_);
    }

    template <std::size_t I, class P>
    result<void> step() {
        pass_record& record = done_.passes[I];
        record.name = Pipeline::pass_names[I];
        if constexpr (Pipeline::can_fire(I)) {
            // Whether the pass has work is known only after the passes that it interacts with.
            if (effects_of<P>::always_runs || decides_itself<P> || meets_pending<I>()) {
                HEADRACE_TRY(flush());
            }
            constexpr pipeline_steps all = Pipeline::steps();
            record.status = all.decide(all.steps[I], g_, context_, options_);
            if (record.status != pass_status::ran) return {};
            if constexpr (shares_sweeps<P>) {
                join<I, P>();
            } else {
                HEADRACE_TRY(flush());
                HEADRACE_TRY(counts, pass_code<P>::run(P{}, g_, context_, driver_kind::retracing));
                record.nodes = counts;
                if constexpr (!graph_pass<P>) ++done_.sweeps;
            }
        }
        return {};
    }
    template <std::size_t I>
    [[nodiscard]] bool meets_pending() const {
        for (std::size_t w = 0; w != pending_.size(); ++w) {
            if ((pending_[w] & conflicts[I][w]) != 0) return true;
        }
        return false;
    }
    template <std::size_t I, class P>
    void join() {
        if (handlers_.empty()) first_ = I;
        pending_[I / 64] |= std::uint64_t{1} << I % 64;
        const auto& own = detail::handlers_in<P, targets_of<P>>::value;
        handlers_.insert(handlers_.end(), own.begin(), own.end());
    }

    // Runs one sweep for all pending passes.
    result<void> flush() {
        if (handlers_.empty()) return {};
        // Passes without members need no object.
        const detail::erased_pass all{this, Pipeline::pass_names[first_], handlers_, true};
        HEADRACE_TRY(counts, detail::run_handlers(all, g_, context_, driver_kind::retracing));
        done_.passes[first_].nodes = counts;
        ++done_.sweeps;
        handlers_.clear();
        pending_ = {};
        return {};
    }

    graph& g_;
    pass_context& context_;
    const run_options& options_;
    fused_statistics done_;
    pmr_vector<detail::handler> handlers_;
    mask pending_{};
    std::size_t first_ = 0;
};

}  // namespace headrace

#endif
