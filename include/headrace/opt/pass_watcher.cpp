// SPDX-License-Identifier: MIT
// Defines the members of headrace::pass_watcher.

#include <headrace/opt/pass_watcher.hpp>

namespace headrace {

result<void> pass_watcher::after_pass(void* self, const pass_record& record, graph& g) {
    auto& watcher = *static_cast<pass_watcher*>(self);
    const bool is_changed = record.nodes.rewritten != 0 || watcher.executes_unchanged;
    if (watcher.executed && is_changed) {
        HEADRACE_TRY(difference, watcher.executed->check(record.name, g));
        watcher.verified.push_back({std::string(record.name), difference});
    }
    watcher.progress.ended(record.name);
    if (watcher.texts && record.nodes.rewritten != 0) {
        HEADRACE_TRY(watcher.texts->write(g, record.name));
    }
    if (watcher.stop_after == watcher.progress.count()) return invalid("stopped");
    return {};
}

}  // namespace headrace
