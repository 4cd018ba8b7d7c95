// SPDX-License-Identifier: MIT
// Defines headrace::pattern_pass, a rewrite of a pattern as a pass of a static pipeline, and
// headrace::to_fixed_point, which repeats such passes.
#ifndef HEADRACE_FX_PATTERN_PASS_HPP
#define HEADRACE_FX_PATTERN_PASS_HPP

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/type_name.hpp>
#include <headrace/fx/pattern.hpp>
#include <headrace/fx/replacement.hpp>
#include <headrace/fx/rewriter.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/pass/pass.hpp>

namespace headrace {

/// Names a type that cannot be a replacement: neither an expression nor a callable that emits.
template <class T>
struct not_a_replacement {};
template <class Diagnosis>
inline constexpr bool can_replace = true;
template <class T>
inline constexpr bool can_replace<not_a_replacement<T>> = false;
template <class Diagnosis>
inline constexpr bool sound_replacement =
    sound_expression<Diagnosis> || !can_replace<Diagnosis> || !replacement_fits<Diagnosis>;

namespace detail {

template <class T>
inline constexpr bool matches_anything = std::is_same_v<T, any_literal_type> || is_wildcard<T>;

template <class... Ts>
constexpr bool wildcards_differ() {
    // There are as many placeholders as wildcards, so none occurs twice.
    constexpr std::size_t wildcards = (std::size_t{is_wildcard<argument_type<Ts>>} + ... + 0);
    placeholder_uses uses{};
    (expression_facts<expression_side::pattern, argument_type<Ts>>::note(uses), ...);
    std::size_t used = 0;
    for (const placeholder_use& u : uses) used += u.used();
    return used == wildcards;
}

/// True if a pattern matches every node of its op: it is one call of an op with one result, whose arguments
/// are distinct wildcards, none of them optional or a list.
template <class E>
inline constexpr bool matches_every_node = false;
template <class Op, bool C, bool AnyLiterals, class L, class... Ts>
inline constexpr bool matches_every_node<call_expression<Op, call_modifiers<C, AnyLiterals, L>, Ts...>> = [] {
    if constexpr (Op::results != 1 || !(matches_anything<argument_type<Ts>> && ...)) {
        return false;
    } else {
        constexpr auto places = place_arguments<Op, Ts...>();
        for (std::size_t k = 0; k != field_names<Op>.size(); ++k) {
            const field_info& f = fields_of<Op>[k];
            bool given = AnyLiterals && !holds_tensors(f.kind);
            for (std::size_t i = 0; i != sizeof...(Ts); ++i) given |= places[i] == k;
            if (!given || (holds_tensors(f.kind) && (f.optional || f.kind != field_kind::tensor)))
                return false;
        }
        return wildcards_differ<Ts...>();
    }
}();

// The facts of a replacement that a pass needs.
template <class R, class Pattern>
struct replacement_traits {
    using produces = ops<>;
    using made_by_expressions = ops<>;
    using fault = not_a_replacement<R>;
    static constexpr bool sound = false;
    static constexpr bool may_decline = true;
};
template <pattern_function R, class Pattern>
struct replacement_traits<R, Pattern> : replacement_facts<R, Pattern> {
    using produces = typename replacement_facts<R, Pattern>::called;
    using made_by_expressions = produces;
    static constexpr bool may_decline = false;
};
template <emitting_function R, class Pattern>
struct replacement_traits<R, Pattern> {
    using produces = typename emitting_signature_of<R>::produces;
    using made_by_expressions = ops<>;
    using fault = no_fault;
    static constexpr bool sound = true;
    static constexpr bool may_decline = is_optional<typename emitting_signature_of<R>::returned>;
};

}  // namespace detail

/// A rewrite of a pattern as a pass. It replaces each match of `Pattern`, a stateless callable that returns
/// an expression, by `Replacement`, another such callable or one that emits, if all `Filters` agree.
///
///     struct fuse_to_sub : pattern_pass<add_then_mul, just_sub> {};
///
/// It processes the whole graph including nested regions, because a match must see all users of its nodes, so
/// its result is the same for both drivers. It targets the op of the first returned value, without which
/// there is no match. It removes that op if the pattern is one call that matches every node of it, and
/// nothing otherwise. Unlike replace_pattern, it lets two placeholders match the same value.
///
/// Messages use `static constexpr std::string_view name` of `Pattern` as its name.
template <pattern_function Pattern, class Replacement, class... Filters>
struct pattern_pass : pass {
private:
    using facts = detail::pattern_facts<Pattern>;
    using traits = detail::replacement_traits<Replacement, Pattern>;
    static_assert(sound_expression<typename facts::fault>,
        "pattern: its expression is ill-formed; see the diagnosis, which pattern<F> explains");
    static_assert(can_replace<typename traits::fault>,
        "replacement: it is not an expression and emits nothing; see not_a_replacement<T>, make it callable");
    static_assert(replacement_fits<typename traits::fault>,
        "replacement: its inputs or outputs differ from the pattern's; give it the same signature");
    static_assert(sound_replacement<typename traits::fault>,
        "replacement: its expression is ill-formed; see the diagnosis, fix that call");
    static constexpr bool sound = facts::sound && traits::sound;
    static constexpr bool always = [] {
        if constexpr (sound) {
            return sizeof...(Filters) == 0 && !traits::may_decline &&
                detail::matches_every_node<typename facts::expression>;
        } else {
            return false;
        }
    }();
    template <bool Sound, class Root>
    struct root_list {
        using type = ops<>;
    };
    template <class Root>
    struct root_list<true, Root> {
        using type = ops<Root>;
    };

public:
    using targets = typename root_list<sound, typename facts::root>::type;
    using produces = std::conditional_t<sound, typename traits::produces, ops<>>;
    using removes = std::conditional_t<always, targets, ops<>>;
    /// The ops that must have inference when the pass runs.
    using made_by_expressions = std::conditional_t<sound, typename traits::made_by_expressions, ops<>>;

    /// Returns the pattern's name for messages.
    static constexpr std::string_view pattern_name() {
        if constexpr (requires {
                          { Pattern::name } -> std::convertible_to<std::string_view>;
                      }) {
            return Pattern::name;
        } else {
            return type_name<Pattern>;
        }
    }

    result<std::size_t> operator()(graph& g, pass_context& context) const {
        std::size_t count = 0;
        constexpr bool is_inferred =
            std::is_same_v<decltype(detail::find_not_inferred(made_by_expressions{})), no_fault>;
        if constexpr (sound && is_inferred) {
            const replacement with(Replacement{});
            const pmr_vector<match_filter> filters{match_filter(Filters{})...};
            rewrite_options options;
            options.matching.distinct_placeholders = false;
            options.name = pattern_name();
            error fault;
            bool failed = false;
            for_each_graph(g, [&](graph& sub) {
                if (failed) return;
                auto replaced = replace_pattern_with_filters(
                    sub, detail::graph_of<Pattern>(), with, filters, context, options);
                failed = !replaced;
                if (failed) {
                    fault = std::move(replaced).error();
                } else {
                    count += replaced.value().size();
                }
            });
            if (failed) return fault;
        }
        return count;
    }
};

/// A pass that repeats pattern passes in turn until none of them matches. If they match their own results
/// without end, the run stops with an error that names the patterns.
///
///     struct fold_negations : to_fixed_point<fuse_double_negation, sink_negation> {};
template <pass_type... Passes>
struct to_fixed_point : pass {
    using targets = joined<targets_of<Passes>...>;
    using produces = joined<produces_of<Passes>...>;
    using made_by_expressions = joined<typename Passes::made_by_expressions...>;

    result<std::size_t> operator()(graph& g, pass_context& context) const {
        using run_function = result<std::size_t> (*)(graph&, pass_context&);
        static constexpr std::array<run_function, sizeof...(Passes)> run{
            [](graph& to, pass_context& c) { return Passes{}(to, c); }...};
        static constexpr std::array<std::string_view, sizeof...(Passes)> names{Passes::pattern_name()...};
        return detail::repeat_to_fixed_point(
            g, run.size(), [&](std::size_t i) { return run[i](g, context); },
            [&](std::size_t i) { return names[i]; }, 0);
    }
};

}  // namespace headrace

#endif
