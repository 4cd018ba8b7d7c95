// SPDX-License-Identifier: MIT
// The pages that `show --html`, `compare --html` and `lower --report FILE.html` write.
#ifndef HEADRACE_EXAMPLES_CLI_PAGE_HPP
#define HEADRACE_EXAMPLES_CLI_PAGE_HPP

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/lowering/lowering_observer.hpp>
#include <headrace/show/graph_history.hpp>
#include <headrace/show/page_data.hpp>

namespace headrace::cli {

[[nodiscard]] inline bool is_page_path(std::string_view path) { return path.ends_with(".html"); }

/// An error if the program was built without the libraries that draw the page, or if there is no such file of
/// Vela's figures; empty for none.
[[nodiscard]] result<void> check_page(const std::string& vela_csv);

/// Writes the page whole or not at all. `vela_csv` is a file; empty for none.
[[nodiscard]] result<void> write_page(
    const std::string& path, page_source source, const std::string& vela_csv);

/// A page of several graphs or of a batch, as `write_page`.
[[nodiscard]] result<void> write_book(const std::string& path, page_book book);

/// Watches a lowering that makes several graphs, and collects the page of each.
class page_collector {
public:
    /// Functions that refer to this collector; none if it is not wanted.
    [[nodiscard]] lowering_observer observer(bool is_wanted);
    /// The pages in the order in which the graphs began. Those without a title are called by their numbers.
    [[nodiscard]] std::vector<page_book::chapter> chapters(const std::vector<std::string>& titles) &&;

private:
    struct entry {
        const graph* watched;
        graph_history history{};
        std::string json{};
    };
    entry& entry_of(const graph& g);
    result<void> end(graph& g, std::span<const diagnostic> refusals);

    std::vector<std::unique_ptr<entry>> entries_;
};

}  // namespace headrace::cli

#endif
