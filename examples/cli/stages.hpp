// SPDX-License-Identifier: MIT
// Snapshots of the graph that `lower` writes: --dot draws it after each pass that changed it;
// headrace::stage_texts writes it as text for --ir.
#ifndef HEADRACE_EXAMPLES_CLI_STAGES_HPP
#define HEADRACE_EXAMPLES_CLI_STAGES_HPP

#include <filesystem>
#include <string_view>
#include <utility>

#include <headrace/base/result.hpp>
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

}  // namespace headrace::cli

#endif
