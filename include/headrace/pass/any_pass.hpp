// SPDX-License-Identifier: MIT
// Defines headrace::any_pass, any pass as a value, and headrace::pass_info, the facts of its type as data.
#ifndef HEADRACE_PASS_ANY_PASS_HPP
#define HEADRACE_PASS_ANY_PASS_HPP

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <headrace/pass/order.hpp>
#include <headrace/pass/pipeline_step.hpp>
#include <headrace/pass/run_pass.hpp>
#include <headrace/rewrite/messages.hpp>

namespace headrace {

namespace detail {

template <class List>
struct names_of_passes;
template <class... Ps>
struct names_of_passes<pass_list<Ps...>> {
    static constexpr std::array<std::string_view, sizeof...(Ps)> value{pass_name<Ps>()...};
};
// True if a pass has no members: it needs no object, and is created where it runs.
template <class P>
inline constexpr bool has_no_state =
    std::is_empty_v<pass_facts<P>> && std::is_default_constructible_v<pass_facts<P>>;
template <class P>
inline constexpr bool can_be_made = [] {
    if constexpr (has_no_state<P>) {
        return true;
    } else {
        return std::is_default_constructible_v<P>;
    }
}();

template <class P>
result<node_counts> run_erased(const void* object, graph& g, pass_context& context, driver_kind driver) {
    if constexpr (has_no_state<P>) {
        return pass_code<P>::run_default(g, context, driver);
    } else {
        return pass_code<P>::run(*static_cast<const P*>(object), g, context, driver);
    }
}
template <class P>
bool should_run_erased(const void* object, const graph& g, bool has_targets) {
    if constexpr (has_no_state<P>) {
        return pass_code<P>::should_run(g, has_targets);
    } else {
        return wants_to_run(*static_cast<const P*>(object), g, has_targets);
    }
}
template <class P>
constexpr auto should_run_or_null() -> bool (*)(const void*, const graph&, bool) {
    if constexpr (decides_itself<P>) {
        return &should_run_erased<P>;
    } else {
        return nullptr;
    }
}

}  // namespace detail

/// A pass at run time: the facts of its type, as data. `object` is null for passes without state.
struct pass_info {
    std::string_view name;
    std::string_view summary;
    bool replaces_skip_test;
    bool whole_graph;
    bool stateless;
    std::span<const std::uint64_t> targets;  ///< a set of ops, by the dialects; empty if it has none
    std::span<const dialect_info* const> dialects;
    std::span<const std::string_view> requires_before;
    std::span<const std::string_view> requires_after;
    std::span<const std::string_view> ensures;
    result<node_counts> (*run)(const void* object, graph& g, pass_context& context, driver_kind driver);
    /// Null if only its targets decide.
    bool (*should_run)(const void* object, const graph& g, bool has_targets);
};

template <pass_type P>
inline constexpr pass_info info_of_pass = [] {
    static_assert(is_a_pass<pass_fault<P>>, HEADRACE_NOT_A_PASS);
    static_assert(lists_are_lists<pass_fault<P>>, HEADRACE_NOT_A_LIST);
    static_assert(rewrites_are_rules<pass_fault<P>>, HEADRACE_NO_RULES);
    static_assert(fields_are_members<pass_fault<P>>, HEADRACE_WRONG_FIELDS);
    static_assert(enumerations_are_named<pass_fault<P>>, HEADRACE_UNNAMED_ENUMERATION);
    static_assert(members_are_arguments<pass_fault<P>>, HEADRACE_WRONG_MEMBER);
    static_assert(rule_takes_operands<pass_fault<P>>, HEADRACE_NOT_CALLABLE);
    static_assert(code_takes_arguments<pass_fault<P>>, HEADRACE_NOT_CODE);
    static_assert(code_lists_all<pass_fault<P>>, HEADRACE_CODE_NOT_PRODUCED);
    static_assert(calls_fit<pass_fault<P>>, HEADRACE_CALL_DOES_NOT_FIT);
    static_assert(node_is_in_pattern<pass_fault<P>>, HEADRACE_NOT_IN_PATTERN);
    static_assert(rule_gives_results<pass_fault<P>>, HEADRACE_NO_RESULTS);
    static_assert(handlers_complete<pass_fault<P>>, HEADRACE_NO_HANDLER);
    static_assert(handlers_are_const<pass_fault<P>>, HEADRACE_HANDLER_NOT_CONST);
    static_assert(handlers_fit<pass_fault<P>>, HEADRACE_WRONG_HANDLER);
    static_assert(handlers_have_targets<pass_fault<P>>, HEADRACE_NO_TARGETS);
    static_assert(results_are_values<faulty_handler_of<P>>, HEADRACE_WRONG_RESULT);
    static_assert(results_are_inferred<inference_fault_of<P>>, HEADRACE_NO_INFERENCE);
    constexpr const auto& targets = effects_of<P>::target_set;
    using words = std::span<const std::uint64_t>;
    return pass_info{pass_name<P>(), pass_summary<P>(), replaces_skip_test<P>, graph_pass<P>,
        detail::has_no_state<P>, targets_of<P>::size == 0 ? words() : words(targets.words()),
        detail::infos_of_dialects<typename std::remove_cvref_t<decltype(targets)>::dialect_list>::value,
        detail::names_of_passes<detail::order_list_of<P, detail::order_list::requires_before>>::value,
        detail::names_of_passes<detail::order_list_of<P, detail::order_list::requires_after>>::value,
        detail::names_of_passes<detail::order_list_of<P, detail::order_list::ensures>>::value,
        &detail::run_erased<P>, detail::should_run_or_null<P>()};
}();

/// Matches functions that can be used as a pass: `result<std::size_t>(graph&, pass_context&)`.
template <class F>
concept graph_function =
    !pass_type<F> && std::is_invocable_r_v<result<std::size_t>, const F&, graph&, pass_context&>;

/// Any pass of a static pipeline, or a named function over a graph, as a value. Copies share the pass.
class any_pass {
public:
    template <pass_type P>
    any_pass(P p) : any_pass(info_of_pass<P>) {  // implicit, so that passes convert
        if constexpr (!detail::has_no_state<P>) object_ = std::make_shared<const P>(std::move(p));
    }
    /// For a pass without state.
    explicit any_pass(const pass_info& info) : info_(&info), name_(info.name) {}
    /// With a name other than its type's, needed for two passes of one type.
    template <pass_type P>
    any_pass(std::pmr::string name, P p) : any_pass(std::move(p)) {
        name_ = std::move(name);
    }
    /// `f` returns the number of rewritten nodes.
    template <graph_function F>
    any_pass(std::pmr::string name, F f) : any_pass(function_pass{std::move(f)}) {
        name_ = std::move(name);
    }

    [[nodiscard]] std::string_view name() const { return name_; }
    [[nodiscard]] const pass_info& info() const { return *info_; }

    /// True if it has the wanted name or ensures the wanted property.
    [[nodiscard]] bool provides(std::string_view wanted) const {
        return name_ == wanted ||
            std::find(info_->ensures.begin(), info_->ensures.end(), wanted) != info_->ensures.end();
    }

    /// The skip test: true if the graph, including nested regions, has a target of the pass.
    [[nodiscard]] bool has_targets(const graph& g) const {
        return detail::has_any_of(g, info_->targets, info_->dialects);
    }
    [[nodiscard]] pass_status decide(const graph& g) const {
        const bool present = info_->targets.empty() || has_targets(g);
        if (!present && !info_->replaces_skip_test) return pass_status::no_target;
        if (info_->should_run == nullptr || info_->should_run(object_.get(), g, present))
            return pass_status::ran;
        return pass_status::declined;
    }
    [[nodiscard]] result<node_counts> run(
        graph& g, pass_context& context, driver_kind driver = driver_kind::in_place) const {
        return info_->run(object_.get(), g, context, driver);
    }

private:
    struct function_pass : pass {
        explicit function_pass(std::function<result<std::size_t>(graph&, pass_context&)> f)
            : function(std::move(f)) {}
        result<std::size_t> operator()(graph& g, pass_context& c) const { return function(g, c); }
        std::function<result<std::size_t>(graph&, pass_context&)> function;
    };

    const pass_info* info_;
    std::shared_ptr<const void> object_;
    std::pmr::string name_;
};

}  // namespace headrace

#endif
