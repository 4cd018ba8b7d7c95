// SPDX-License-Identifier: MIT
// Defines headrace::page_json, what a page shows of a model and of its lowering.
#ifndef HEADRACE_LOWERING_PAGE_DATA_HPP
#define HEADRACE_LOWERING_PAGE_DATA_HPP

#include <span>
#include <string>
#include <string_view>

#include <headrace/ir/graph.hpp>
#include <headrace/lowering/graph_history.hpp>
#include <headrace/lowering/report.hpp>
#include <headrace/pass/pass_context.hpp>

namespace headrace {

/// The version of the JSON; it grows when members change their meaning.
inline constexpr int page_version = 1;

struct page_source {
    std::string title{};          ///< the model, for the page's heading
    const graph* last = nullptr;  ///< the graph of the history's last step, whose memory is planned
    const graph_history* history = nullptr;
    const lowering_report* report = nullptr;  ///< of a lowering
    std::span<const diagnostic> refusals{};
    std::string_view comparison{};  ///< comparison_json of this model with another; empty: none
    std::string_view vela_csv{};    ///< Vela's per-layer figures, as it wrote them
};

/// A JSON object for the page of examples/page. `<` is escaped, so that it can stand in a `<script>`.
[[nodiscard]] std::string page_json(const page_source& source);

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/lowering/page_data_definition.hpp>
#endif

#endif
