// SPDX-License-Identifier: MIT
// Defines headrace::replace_pattern and headrace::rewrite_to_fixed_point, which replace the matches of
// patterns.
#ifndef HEADRACE_FX_REWRITER_HPP
#define HEADRACE_FX_REWRITER_HPP

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/fx/pattern.hpp>
#include <headrace/fx/pattern_rewrite.hpp>
#include <headrace/fx/replacement.hpp>
#include <headrace/fx/subgraph_matcher.hpp>
#include <headrace/rewrite/pass_context.hpp>

namespace headrace {

/// Replaces each match of the pattern, of overlapping ones the first, and returns the results. Nested regions
/// are skipped. New nodes get inferred metadata and the annotations of the nodes that they replace. A match
/// whose replacement fails or declines is kept; the context's diagnostics give the reason. An error, prefixed
/// by the options' name, is a fault of the pattern or of the replacement: too few outputs, or another shape.
[[nodiscard]] inline result<pmr_vector<replaced_pattern>> replace_pattern_with_filters(graph& g,
    const graph& pattern, const replacement& with, std::span<const match_filter> filters,
    pass_context& context, const rewrite_options& options = {}) {
    return detail::pattern_rewrite(g, pattern, with, filters, context, options).run();
}
[[nodiscard]] inline result<pmr_vector<replaced_pattern>> replace_pattern(graph& g, const graph& pattern,
    const replacement& with, pass_context& context, const rewrite_options& options = {}) {
    return replace_pattern_with_filters(g, pattern, with, {}, context, options);
}

namespace detail {

template <pattern_function F>
result<pmr_vector<replaced_pattern>> replace_written(graph& g, const F& f, const replacement& with,
    std::span<const match_filter> filters, pass_context& context, const rewrite_options& options) {
    const auto written = std::make_shared<graph>();
    write_expression(*written, f);
    auto replaced = replace_pattern_with_filters(g, *written, with, filters, context, options);
    if (replaced) {
        for (replaced_pattern& r : replaced.value()) r.pattern = written;
    }
    return replaced;
}

}  // namespace detail

/// Replaces matches of a pattern that is given as an expression.
template <pattern_function F>
[[nodiscard]] result<pmr_vector<replaced_pattern>> replace_pattern_with_filters(graph& g, const F& f,
    const replacement& with, std::span<const match_filter> filters, pass_context& context,
    const rewrite_options& options = {}) {
    static_assert(sound_expression<typename detail::pattern_facts<F>::fault>,
        "pattern: its expression is ill-formed; see the diagnosis, which pattern<F> explains");
    if constexpr (detail::pattern_facts<F>::sound) {
        return detail::replace_written(g, f, with, filters, context, options);
    } else {
        return invalid("ill-formed");
    }
}
template <pattern_function F>
[[nodiscard]] result<pmr_vector<replaced_pattern>> replace_pattern(graph& g, const F& f,
    const replacement& with, pass_context& context, const rewrite_options& options = {}) {
    static_assert(sound_expression<typename detail::pattern_facts<F>::fault>,
        "pattern: its expression is ill-formed; see the diagnosis, which pattern<F> explains");
    if constexpr (detail::pattern_facts<F>::sound) {
        return detail::replace_written(g, f, with, {}, context, options);
    } else {
        return invalid("ill-formed");
    }
}

/// A named rewrite, for rewrite_to_fixed_point.
struct rewrite_rule {
    std::pmr::string name;
    std::shared_ptr<const graph> pattern;
    replacement with;
    pmr_vector<match_filter> filters{};
    matcher_options matching{};
};
template <pattern_function F>
[[nodiscard]] rewrite_rule make_rule(std::pmr::string name, const F& f, replacement with,
    pmr_vector<match_filter> filters = {}, matcher_options matching = {}) {
    static_assert(sound_expression<typename detail::pattern_facts<F>::fault>,
        "pattern: its expression is ill-formed; see the diagnosis, which pattern<F> explains");
    auto written = std::make_shared<graph>();
    if constexpr (detail::pattern_facts<F>::sound) detail::write_expression(*written, f);
    return {std::move(name), std::move(written), std::move(with), std::move(filters), std::move(matching)};
}

/// Returns the number of rewrites after which a run on a graph of that size is considered endless.
[[nodiscard]] constexpr std::size_t default_rewrite_limit(std::size_t nodes) { return 16 * nodes + 256; }

namespace detail {

/// Runs steps in turn, each `result<std::size_t>(graph&)`, until none rewrites anything.
template <class Step, class Name>
result<std::size_t> repeat_to_fixed_point(
    graph& g, std::size_t steps, Step&& step, Name&& name, std::size_t limit) {
    if (limit == 0) limit = default_rewrite_limit(g.size());
    std::size_t total = 0;
    for (bool changed = true; changed;) {
        changed = false;
        std::pmr::string active;
        for (std::size_t i = 0; i != steps; ++i) {
            const result<std::size_t> rewritten = step(i);
            if (!rewritten) return rewritten.error();
            if (rewritten.value() == 0) continue;
            changed = true;
            total += rewritten.value();
            active += (active.empty() ? "" : ", ") + std::pmr::string(name(i));
            if (total > limit) {
                return invalid({active, ": no fixed point after ", total,
                    " rewrites; the patterns match what they made"});
            }
        }
    }
    return total;
}

}  // namespace detail

/// Applies the rules in turn until none matches, and returns the number of replaced matches. After more than
/// `limit` rewrites (0: in proportion to the graph's size) it fails; the error names the patterns that still
/// match.
[[nodiscard]] inline result<std::size_t> rewrite_to_fixed_point(
    graph& g, std::span<const rewrite_rule> rules, pass_context& context, std::size_t limit = 0) {
    const auto step = [&](std::size_t i) -> result<std::size_t> {
        const rewrite_rule& r = rules[i];
        HEADRACE_TRY(replaced,
            replace_pattern_with_filters(
                g, *r.pattern, r.with, r.filters, context, {.matching = r.matching, .name = r.name}));
        return replaced.size();
    };
    const auto name = [&](std::size_t i) { return std::string_view(rules[i].name); };
    return detail::repeat_to_fixed_point(g, rules.size(), step, name, limit);
}

}  // namespace headrace

#endif
