// SPDX-License-Identifier: MIT
// Defines headrace::store_empty_results.
#ifndef HEADRACE_PASSES_EXECUTORCH_STORE_EMPTY_RESULTS_HPP
#define HEADRACE_PASSES_EXECUTORCH_STORE_EMPTY_RESULTS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <headrace/dialect/builtin.hpp>
#include <headrace/ir/purity.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Makes constants of results without elements: there is nothing to compute, and some kernels refuse them.
struct store_empty_results : pass {
    using runs_after = pass_list<functional>;
    using invalidates = pass_list<no_dead_code, duplicates_merged>;
    static constexpr std::string_view summary = "results without elements as constants";
    static constexpr bool repeatable = true;
    using targeted_ops = ops<>;
    using produces = ops<builtin::constant>;

    result<std::size_t> operator()(graph& g, pass_context&) const {
        std::size_t count = 0;
        for_each_graph(g, [&](graph& sub) {
            for (node* n = sub.first(); n != nullptr;) {
                node& current = *n;
                n = n->next;
                if (is_of_dialect<builtin::dialect>(current) || !is_pure(current) || !gives_nothing(current))
                    continue;
                for (std::uint32_t i = 0; i != current.result_count; ++i) {
                    const value v = current.result(i);
                    const auto nothing = [](std::span<std::byte>) {};
                    sub.replace_all_uses(v, create_constant(sub, *meta_of(v), &current, nothing));
                }
                sub.erase(current);
                ++count;
            }
        });
        return count;
    }

private:
    static bool gives_nothing(const node& n) {
        const auto is_empty = [](const auto& result) {
            return result.meta && element_count(result.meta->shape) == 0;
        };
        return n.result_count != 0 && std::ranges::all_of(std::span(n.results, n.result_count), is_empty);
    }
};
HEADRACE_COMPILED_PASS(store_empty_results);

}  // namespace headrace

#endif
