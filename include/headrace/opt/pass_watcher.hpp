// SPDX-License-Identifier: MIT
// Defines headrace::pass_watcher, which executes the graph after passes and can stop before one.
#ifndef HEADRACE_OPT_PASS_WATCHER_HPP
#define HEADRACE_OPT_PASS_WATCHER_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <headrace/lowering/result_check.hpp>
#include <headrace/opt/reproducer.hpp>
#include <headrace/opt/stage_texts.hpp>
#include <headrace/pass/pipeline.hpp>

namespace headrace {

/// The observer of a run of passes, for --verify and --ir; it also counts the passes that have run.
struct pass_watcher {
    explicit pass_watcher(std::vector<std::string> names, std::size_t stop = 0)
        : progress(std::move(names)), stop_after(stop) {}

    static result<void> after_pass(void* self, const pass_record& record, graph& g) {
        auto& watcher = *static_cast<pass_watcher*>(self);
        const bool is_changed = record.nodes.rewritten != 0 || watcher.executes_unchanged;
        if (watcher.executed && is_changed) {
            HEADRACE_TRY(watcher.executed->check(record.name, g));
        }
        watcher.progress.ended(record.name);
        if (watcher.texts && record.nodes.rewritten != 0) {
            HEADRACE_TRY(watcher.texts->write(g, record.name));
        }
        if (watcher.stop_after == watcher.progress.count()) return invalid("stopped");
        return {};
    }

    pass_progress progress;
    std::optional<result_check> executed{};
    std::optional<stage_texts> texts{};
    std::size_t stop_after;           ///< 0: when all have run
    bool executes_unchanged = false;  ///< also after passes that report no changes
};

}  // namespace headrace

#endif
