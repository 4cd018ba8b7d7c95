// SPDX-License-Identifier: MIT
// Defines headrace::pass_watcher, which executes the graph after passes and can stop before one.
#ifndef HEADRACE_OPT_PASS_WATCHER_HPP
#define HEADRACE_OPT_PASS_WATCHER_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/lowering/report.hpp>
#include <headrace/lowering/result_check.hpp>
#include <headrace/opt/reproducer.hpp>
#include <headrace/opt/stage_texts.hpp>
#include <headrace/pass/pipeline.hpp>

namespace headrace {

/// The observer of a run of passes, for --verify and --ir; it also counts the passes that have run.
struct pass_watcher {
    explicit pass_watcher(std::vector<std::string> names, std::size_t stop = 0)
        : progress(std::move(names)), stop_after(stop) {}

    static result<void> after_pass(void* self, const pass_record& record, graph& g);

    pass_progress progress;
    std::optional<result_check> executed{};
    std::vector<verified_pass> verified{};
    std::optional<stage_texts> texts{};
    std::size_t stop_after;           ///< 0: when all have run
    bool executes_unchanged = false;  ///< also after passes that report no changes
};

}  // namespace headrace

#endif
