// SPDX-License-Identifier: MIT
// Defines headrace::stage_texts, the graph as text after each pass that changed it, and headrace::stage_path.
#ifndef HEADRACE_OPT_STAGE_TEXTS_HPP
#define HEADRACE_OPT_STAGE_TEXTS_HPP

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <headrace/base/result.hpp>
#include <headrace/io/text/graph_text.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// Returns the file of a stage, such as `folder/007_decompose_gelu.hr`; makes the folder.
[[nodiscard]] std::filesystem::path stage_path(
    const std::filesystem::path& folder, int number, std::string_view name, std::string_view extension);

/// A folder of texts for read_graph_text, numbered in order: 000_input.hr, 001_select_ops.hr… Large constants
/// are in files next to each.
class stage_texts {
public:
    /// If `passes` is not empty, only the texts before and after each of them are kept.
    explicit stage_texts(std::filesystem::path folder, std::set<std::string, std::less<>> passes = {})
        : folder_(std::move(folder)), passes_(std::move(passes)) {}

    [[nodiscard]] bool is_wanted() const { return !folder_.empty(); }

    /// Writes the graph after pass `name`, or, first, as "input"; makes the folder.
    [[nodiscard]] result<void> write(const graph& g, std::string_view name);
    /// Returns the path of the last text, which is the input of a failing pass; may be empty.
    [[nodiscard]] const std::filesystem::path& last() const { return last_; }
    /// Removes the last text if no chosen pass made it.
    void end() {
        if (!last_is_kept_) forget_last();
    }

private:
    void forget_last();

    std::filesystem::path folder_;
    std::set<std::string, std::less<>> passes_;
    std::filesystem::path last_;
    bool last_is_kept_ = false;
    int written_ = 0;
};

}  // namespace headrace

#endif
