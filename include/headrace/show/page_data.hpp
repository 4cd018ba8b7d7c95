// SPDX-License-Identifier: MIT
// Declares headrace::page_json, what a page shows of a model and of its lowering, or of several.
#ifndef HEADRACE_SHOW_PAGE_DATA_HPP
#define HEADRACE_SHOW_PAGE_DATA_HPP

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/ir/graph.hpp>
#include <headrace/lowering/report.hpp>
#include <headrace/rewrite/pass_context.hpp>
#include <headrace/show/graph_history.hpp>

namespace headrace {

/// The version of the JSON; it grows when members change their meaning.
inline constexpr int page_version = 2;

struct page_source {
    std::string title{};          ///< the model, for the page's heading
    const graph* last = nullptr;  ///< the graph of the history's last step, whose memory is planned
    const graph_history* history = nullptr;
    const lowering_report* report = nullptr;  ///< of a lowering
    std::span<const diagnostic> refusals{};
    std::string_view comparison{};  ///< comparison_json of this model with another; empty: none
    std::string_view vela_csv{};    ///< Vela's per-layer figures, as it wrote them
    std::string_view core{};        ///< JSON of the model's layers on a microcontroller; empty: none
    std::string_view banks{};       ///< JSON of a plan over banks of memory (bank_page_json); empty: none
    std::string_view measured{};    ///< measured_json: times of layers on a board; empty: none
};

/// A JSON object for the page of examples/page. `<` is escaped, so that it can be in a `<script>`.
[[nodiscard]] std::string page_json(const page_source& source);

/// The chapters of a page about several graphs, or about many models. The second graph may have a comparison
/// with the first.
struct page_book {
    struct chapter {
        std::string title{};  ///< `forward, delegate 2`
        std::string json{};   ///< page_json
    };
    std::string title{};
    std::vector<chapter> chapters{};
    std::string_view batch{};      ///< the report of `lower --batch`; empty: none
    std::string_view page_head{};  ///< the page of one graph before its data, and behind it
    std::string_view page_tail{};
};

/// A JSON object for the page of examples/page/book.html.
[[nodiscard]] std::string page_json(const page_book& book);

}  // namespace headrace

#endif
