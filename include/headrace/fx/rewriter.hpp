// SPDX-License-Identifier: MIT
// Defines headrace::rewrite_to_fixed_point, which replaces the matches of several patterns until none is
// left.
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
#include <headrace/fx/replace_pattern.hpp>
#include <headrace/fx/replacement.hpp>
#include <headrace/fx/subgraph_matcher.hpp>
#include <headrace/pass/pass_context.hpp>

namespace headrace {

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
