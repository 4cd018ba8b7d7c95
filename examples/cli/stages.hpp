// SPDX-License-Identifier: MIT
// What `lower` leaves of the graph on its way: --dot draws it, --ir writes it as text, after each pass that
// changed it.
#ifndef HEADRACE_EXAMPLES_CLI_STAGES_HPP
#define HEADRACE_EXAMPLES_CLI_STAGES_HPP

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <headrace/base/error.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::cli {

/// Pictures, for Graphviz: 000_input.dot, 001_decompose_gelu.dot…
class picture_folder {
public:
    explicit picture_folder(std::filesystem::path folder) : folder_(std::move(folder)) {}
    [[nodiscard]] bool is_wanted() const { return !folder_.empty(); }
    [[nodiscard]] result<void> draw(const graph& g, std::string_view name);

private:
    std::filesystem::path folder_;
    int drawn_ = 0;
};

/// Texts that `opt`, `run`, `show`, `compare` and `lower` read: 000_input.hr, 001_decompose_gelu.hr…
class text_folder {
public:
    /// Of `passes`, if there are any, only what lies before and after each is kept.
    text_folder(std::filesystem::path folder, std::set<std::string, std::less<>> passes)
        : folder_(std::move(folder)), passes_(std::move(passes)) {}
    [[nodiscard]] bool is_wanted() const { return !folder_.empty(); }
    [[nodiscard]] result<void> write(const graph& g, std::string_view name);
    /// The text of the graph as it was last, or an empty path: what a pass that failed was given.
    [[nodiscard]] const std::filesystem::path& last() const { return last_; }
    /// Removes the last text if no chosen pass made it.
    void end();

private:
    void forget_last();

    std::filesystem::path folder_;
    std::set<std::string, std::less<>> passes_;
    std::filesystem::path last_;
    bool last_is_kept_ = false;
    int written_ = 0;
};

}  // namespace headrace::cli

#endif
