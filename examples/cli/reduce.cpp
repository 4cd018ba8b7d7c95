// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <headrace/base/printable.hpp>
#include <headrace/io/file/os.hpp>
#include <headrace/lowering/report.hpp>
#include <headrace/reduce/reduce.hpp>
#include <headrace/run/models.hpp>

#include "child.hpp"
#include "commands.hpp"
#include "graph_files.hpp"
#include "messages.hpp"
#include "notes.hpp"
#include "process.hpp"

namespace headrace::cli {

namespace {

constexpr std::size_t inlined_elements = 32;
constexpr std::string_view changes_result = " changes the result";

// Writes a program in the format of the file's extension, without a data file from before.
result<void> write_reduced(const std::string& path, const program& p) {
    HEADRACE_TRY(write_graph(path, p, inlined_elements));
    if (!path.ends_with(".hr")) return {};
    for (const node& n : p.graph->nodes_of(info_of<builtin::constant>)) {
        if (n.results[0].meta->elements() > static_cast<std::int64_t>(inlined_elements)) return {};
    }
    std::error_code ignored;
    std::filesystem::remove(path + ".data", ignored);
    return {};
}

std::string in_shell_quotes(std::string_view text) {
    std::string quoted = "'";
    for (const char c : text) {
        if (c == '\'') quoted += "'\\'";
        quoted += c;
    }
    return quoted + '\'';
}

std::string command_for(std::string command, const std::string& file) {
    const std::string quoted = in_shell_quotes(file);
    std::size_t at = command.find("{}");
    if (at == std::string::npos) return command + ' ' + quoted;
    for (; at != std::string::npos; at = command.find("{}", at + quoted.size()))
        command.replace(at, 2, quoted);
    return command;
}

// Returns the error that a lowering printed, without what differs from one model to another: numbers, and the
// name of the node before its op.
std::string cause_in(std::string_view said) {
    constexpr std::string_view label = "error: ";
    const std::size_t begin = said.starts_with(label) ? 0 : said.find("\nerror: ");
    if (begin == std::string_view::npos) return "no message";
    said.remove_prefix(said.find(label, begin) + label.size());
    std::string_view line = said.substr(0, said.find('\n'));
    line = line.substr(0, line.find(changes_result));
    const bool is_difference =
        line.size() < said.size() && said.substr(line.size()).starts_with(changes_result);
    if (const std::size_t end = line.find("): "); end != std::string_view::npos) {
        if (const std::size_t op = line.rfind(" (", end); op != std::string_view::npos)
            line.remove_prefix(op + 1);
    }
    std::string cause;
    for (const char c : line) {
        const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
        if (!is_digit) {
            cause += c;
        } else if (cause.empty() || cause.back() != '#') {
            cause += '#';
        }
    }
    return is_difference ? cause + std::string(changes_result) : cause;
}

/// The test of the options, as a function of programs.
class candidate_test {
public:
    explicit candidate_test(const reduce_command_options& options)
        : options_(options),
          file_(folder_.file(options.output.ends_with(".hr") ? "model.hr" : "model.pt2")),
          log_(folder_.file("log")) {}

    [[nodiscard]] result<bool> operator()(const program& p) {
        if (!folder_.is_made()) return unwritable("cannot make a temporary directory for the models to test");
        const bool is_first = std::exchange(is_first_, false);
        if (const result<void> written = write_reduced(file_, p); !written) {
            if (written.error().kind == error_kind::unwritable) return written.error();
            if (is_first) return with_advice(written.error());
            return false;  // the format has no such program
        }
        return options_.test.empty() ? lowers_as_before(is_first) : run_command(is_first);
    }

    /// Returns how the lowering of the model fails; empty for a command.
    [[nodiscard]] const std::string& cause() const { return cause_; }

private:
    [[nodiscard]] error with_advice(const error& e) const {
        error told = e;
        if (file_.ends_with(".pt2"))
            told.message += "; with -o NAME.hr, the models are text, which holds every op";
        return told;
    }

    [[nodiscard]] result<bool> run_command(bool is_first) {
        const child_end end =
            run_child({"/bin/sh", "-c", command_for(options_.test, file_)}, log_, options_.timeout);
        if (!end.is_run) return unsupported("cannot run /bin/sh for --test");
        const bool holds = end.status == 0;
        if (holds || !is_first) return holds;
        const std::string how = end.timed_out ? fmt::format("takes more than {} s", options_.timeout)
            : end.signal != 0                 ? fmt::format("ends by signal {}", end.signal)
                                              : fmt::format("exits with status {}", end.status);
        const std::string said = text_of_file(log_);
        return unsupported(
            fmt::format("--test {} for the model itself, where it must exit with 0: that means "
                        "that a model still fails{}{}",
                how, said.empty() ? "" : "; it says: ", printable(said, 300)));
    }

    // A lowering that takes too long is no failure.
    [[nodiscard]] result<bool> lowers_as_before(bool is_first) {
        std::vector<std::string> words{program_path(), "lower", file_, "-o", folder_.file("model.tosa")};
        if (options_.differs) words.emplace_back("--verify");
        if (!options_.target.empty()) words.insert(words.end(), {"--target", options_.target});
        const child_end end = run_child(std::move(words), log_, options_.timeout);
        if (!end.is_run) return unsupported("cannot run this program again, to lower a model");
        const bool fails = end.signal != 0 || (!end.timed_out && end.status != 0);
        const std::string said = text_of_file(log_);
        std::string cause = end.signal != 0 ? fmt::format("signal {}", end.signal) : cause_in(said);
        if (!is_first) return fails && cause == cause_;
        if (!fails) return unsupported("lowering the model does not fail: there is nothing to look for");
        if (options_.differs && cause.find(changes_result) == std::string::npos)
            return unsupported(
                fmt::format("--differs is for a lowering that changes the result; that of the model "
                            "fails otherwise, which --crash is for: {}",
                    printable(said, 300)));
        cause_ = std::move(cause);
        return true;
    }

    const reduce_command_options& options_;
    scratch_directory folder_{"reduce"};
    std::string file_;
    std::string log_;
    std::string cause_;
    bool is_first_ = true;
};

/// Shows on a terminal how far the reduction has come.
class reduction_line {
public:
    void show(const reduction_progress& now) {
        if (terminal_)
            fmt::print(stderr, "\r\033[K{} left, {}", counted(now.nodes, "node"), counted(now.tests, "test"));
    }
    void clear() const {
        if (terminal_) fmt::print(stderr, "\r\033[K");
    }

private:
    bool terminal_ = os::is_terminal(2) && !is_quiet();
};

result<void> reduce_to_file(const reduce_command_options& options) {
    const std::uint64_t began = steady_nanoseconds();
    HEADRACE_TRY(model, read_model(options.model, options.sizes));
    HEADRACE_TRY(refuse_lowered(options.model, model));
    const std::size_t nodes = count_computed(*model.graph);
    candidate_test test(options);
    reduction_line line;
    // Each smaller program replaces the file, so that a signal leaves the smallest so far.
    const auto after_test = [&](const reduction_progress& now, const program& smallest) -> result<void> {
        line.show(now);
        return now.is_smaller ? write_reduced(options.output, smallest) : result<void>();
    };
    const auto made = reduce_program(model, test,
        {.keeps_sizes = options.keep_sizes,
            .keeps_constants = options.keep_constants,
            .after_test = after_test});
    line.clear();
    HEADRACE_TRY(model.file.check());  // the failure may be due to a file that has changed
    if (!made) return made.error();
    HEADRACE_TRY(write_reduced(options.output, made.value().smallest));
    if (!test.cause().empty()) say("fails by: " + test.cause());
    say(fmt::format("{} -> {}: {} became {} in {}, {:.1f} s", options.model, options.output,
        counted(nodes, "node"), made.value().done.nodes, counted(made.value().done.tests, "test"),
        static_cast<double>(steady_nanoseconds() - began) / 1e9));
    return {};
}

}  // namespace

int reduce(const reduce_command_options& options) {
    const int tests = static_cast<int>(!options.test.empty()) + static_cast<int>(options.crash) +
        static_cast<int>(options.differs);
    if (tests != 1) return report_usage("reduce needs one of --test COMMAND, --crash and --differs");
    if (!options.target.empty() && !options.test.empty())
        return report_usage("--target is for --crash and --differs; --test has its own command");
    if (const int status = check_distinct_files(std::vector{options.output}, options.model);
        status != status_ok)
        return status;
    if (const int status = check_extension(options.output, {".pt2", ".hr"}); status != status_ok)
        return status;
    std::optional<target_spec> target;
    if (const int status = parse_target_option(options.target, target); status != status_ok) return status;
    const result<void> done = reduce_to_file(options);
    return done ? status_ok : report_error(done.error());
}

}  // namespace headrace::cli
