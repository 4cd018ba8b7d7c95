// SPDX-License-Identifier: MIT
// Defines reproducers: the graph before a failing pass, as text, with the remaining passes.
#ifndef HEADRACE_OPT_REPRODUCER_HPP
#define HEADRACE_OPT_REPRODUCER_HPP

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/io/file/mapped_file.hpp>
#include <headrace/io/text/graph_text.hpp>

namespace headrace {

/// The description of a failed run in a reproducer.
struct reproducer {
    std::string passes{};               ///< the remaining ones, the failed one first: "a,b,c"
    bool verify = false;                ///< execute the graph before and after them
    std::vector<std::string> inputs{};  ///< for `verify`: .npy files; none: random numbers of a fixed seed
    std::string assumed{};              ///< properties that the passes may require: "a,b"
};

/// Joins names with commas, from the one at `first` on.
template <class Names>
[[nodiscard]] std::string passes_from(const Names& names, std::size_t first) {
    std::string list;
    for (std::size_t i = first; i < names.size(); ++i) (list += list.empty() ? "" : ",") += names[i];
    return list;
}

/// Returns the names of passes, in order.
template <class Passes>
[[nodiscard]] std::vector<std::string> names_of(const Passes& passes) {
    std::vector<std::string> names;
    for (const auto& p : passes) names.emplace_back(p.name());
    return names;
}

/// Tracks the progress of a list of passes by the names of the passes that have run.
class pass_progress {
public:
    explicit pass_progress(std::vector<std::string> names) : names_(std::move(names)) {}

    void ended(std::string_view name);
    /// Returns how many have run; skipped passes do not count.
    [[nodiscard]] std::size_t count() const { return count_; }
    /// Returns the passes that have not run, the failed one first.
    [[nodiscard]] std::string left() const { return passes_from(names_, next_); }

private:
    std::vector<std::string> names_;
    std::size_t next_ = 0;
    std::size_t count_ = 0;
};

/// Writes a graph as text to `path`, whose name ends in .hr, with large constants in files next to it. The
/// first line says what to run; `PROGRAM opt FILE` runs it.
[[nodiscard]] result<void> write_reproducer(const std::string& path, const graph& g, const reproducer& r);

/// Parses the first line of a reproducer or of a test of passes. The passes are empty if the line has none,
/// or if there is no such file.
[[nodiscard]] reproducer read_reproducer(const std::string& path);

/// Takes passes, and how to execute them, from a reproducer, for a command that names none.
template <class Options>
void take_from(const reproducer& said, Options& options) {
    options.passes = said.passes;
    options.verify = options.verify || said.verify;
    if (options.inputs.empty()) options.inputs = said.inputs;
    if (options.assumed.empty()) options.assumed = said.assumed;
}

/// Returns the text about the written reproducer in an error.
[[nodiscard]] inline std::string format_reproducer(const std::string& path) {
    return "; `opt " + path + "` runs it again, with the graph before that pass";
}

/// Returns the hint in an error when no reproducer was requested.
[[nodiscard]] inline std::string reproducer_hint() {
    return "; with --reproducer FILE.hr, the graph before that pass and the passes from there on are kept";
}

/// Returns the error of passes that failed. If the pass is at fault, not the model, the error names the
/// reproducer that `write()` has written to `path` or, without a path, says how to get one.
template <class Write>
[[nodiscard]] error with_reproducer(const error& e, const std::string& path, Write write) {
    if (e.kind != error_kind::invalid) return e;
    error told = e;
    if (path.empty()) {
        told.message += reproducer_hint();
    } else if (const result<void> written = write(); written) {
        told.message += format_reproducer(path);
    } else {
        return written.error();
    }
    return told;
}

}  // namespace headrace

#endif
