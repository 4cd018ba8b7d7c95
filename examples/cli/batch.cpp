// SPDX-License-Identifier: MIT
#include "batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <headrace/base/printable.hpp>
#include <headrace/io/file/atomic_file.hpp>
#include <headrace/io/file/json_writer.hpp>
#include <headrace/io/file/os.hpp>
#include <headrace/io/text/node_reasons.hpp>

#include "lower.hpp"
#include "page.hpp"
#include "threads.hpp"

namespace headrace::cli {

namespace {

namespace fs = std::filesystem;

/// A model of the batch, or a folder that cannot be searched. There may be tens of thousands, so only the
/// text of an outcome is kept.
struct entry {
    std::string path;  // below the batch's folder
    int status = status_ok;
    std::string text = {};  // the error message
    std::string row = {};   // of the report, if there is one
};

// Links to folders are not followed: they may form cycles.
void find_models(const fs::path& root, const fs::path& folder, std::vector<entry>& found) {
    std::error_code failure;
    fs::directory_iterator at(root / folder, failure);
    for (; !failure && at != fs::directory_iterator(); at.increment(failure)) {
        const fs::path path = folder / at->path().filename();
        std::error_code unknown;  // then it counts as a file, and reading it reports the error
        if (at->is_directory(unknown)) {
            if (!at->is_symlink(unknown)) find_models(root, path, found);
        } else if (path.extension() == ".pt2") {
            found.push_back({path.string()});
        }
    }
    if (failure) found.push_back({folder.string(), status_malformed, failure.message()});
}

std::vector<entry> find_models(const fs::path& root) {
    std::vector<entry> found;
    find_models(root, {}, found);
    std::ranges::sort(found, {}, &entry::path);
    return found;
}

// Returns the row of a model in the report, which links to the model's page by its path from there.
std::string described(
    const file_outcome& outcome, const lower_options& options, const std::string& report_path) {
    const lowering_report& report = outcome.report;
    json_writer w(json_style::compact);
    w.begin_object();
    w.member("model", options.model);
    w.key("output");
    outcome.status == status_ok ? w.value(options.output) : w.value(nullptr);
    w.member("status", outcome.status);
    w.member("target", report.target);
    w.begin_object("nodes");
    w.member("in", report.nodes_in);
    w.member("out", report.nodes_out);
    w.end_object();
    if (outcome.status == status_ok) {
        w.member("bytes", outcome.bytes);
        w.member("macs", outcome.macs);
    }
    if (outcome.has_page) {
        std::error_code unknown;
        const fs::path folder = fs::absolute(report_path, unknown).parent_path();
        w.member("page", fs::proximate(options.report, folder, unknown).generic_string());
    }
    if (report.memory) w.member("peak", report.memory->peak);
    w.begin_object("nanoseconds");
    for (const stage_time& s : report.stages) w.member(s.name, s.nanoseconds);
    w.end_object();
    if (!outcome.error.empty()) w.member("error", outcome.error);
    if (!outcome.refusals.empty()) write_node_reasons(w, "refused", outcome.refusals);
    if (!outcome.warnings.empty()) {
        w.begin_array("warnings");
        for (const std::string& warning : outcome.warnings) w.value(warning);
        w.end_array();
    }
    w.end_object();
    return std::move(w).text();
}

/// Shows how far the batch is: on a terminal, in one line that is rewritten.
class progress {
public:
    explicit progress(std::size_t all) : all_(all) {}

    void add(int status) {
        ++done_;
        ++with_status_[static_cast<std::size_t>(status)];
        constexpr std::uint64_t tenth_of_a_second = 100'000'000;
        if (!terminal_ || steady_nanoseconds() - shown_ < tenth_of_a_second) return;
        shown_ = steady_nanoseconds();
        fmt::print(stderr, "\r\033[K{}/{}, {} failed, {:.0f} files/s", done_, all_, failed(), rate());
    }
    void clear() const {
        if (terminal_) fmt::print(stderr, "\r\033[K");
    }

    [[nodiscard]] std::size_t with(int status) const {
        return with_status_[static_cast<std::size_t>(status)];
    }
    [[nodiscard]] std::size_t failed() const { return done_ - with(status_ok); }
    [[nodiscard]] std::uint64_t nanoseconds() const { return steady_nanoseconds() - began_; }
    [[nodiscard]] double rate() const {
        return static_cast<double>(done_) / (static_cast<double>(nanoseconds()) / 1e9);
    }

private:
    std::size_t all_;
    std::size_t done_ = 0;
    std::array<std::size_t, 4> with_status_{};
    bool terminal_ = os::is_terminal(2) && !is_quiet();
    std::uint64_t began_ = steady_nanoseconds();
    std::uint64_t shown_ = began_;
};

class batch {
public:
    batch(const lower_options& options, const std::optional<target_spec>& target, std::vector<entry> entries)
        : options_(options), target_(target), entries_(std::move(entries)), progress_(entries_.size()) {}

    int run() {
        lower_all();
        const std::uint64_t nanoseconds = progress_.nanoseconds();
        progress_.clear();
        print_failures();
        say(fmt::format("{} in {:.2f} s: {} lowered, {} failed", counted(entries_.size(), "model"),
            static_cast<double>(nanoseconds) / 1e9, progress_.with(status_ok), progress_.failed()));
        if (!options_.report.empty()) {
            const auto written = write_report(report(nanoseconds));
            if (!written) return report_error(written.error());
        }
        return worst();
    }

private:
    void lower_all() {
        std::mutex counting;
        on_threads(options_.jobs)(entries_.size(), [&](std::size_t i) {
            lower_one(entries_[i]);
            const std::scoped_lock lock(counting);
            progress_.add(entries_[i].status);
        });
    }

    void lower_one(entry& e) const {
        lower_options one = options_;
        one.model = (fs::path(options_.batch) / e.path).string();
        const fs::path output = fs::path(options_.output) / e.path;
        one.output = fs::path(output).replace_extension(".tosa").string();
        if (options_.io_files) one.io = fs::path(output).replace_extension(".io.json").string();
        one.report = options_.page_files ? fs::path(output).replace_extension(".html").string() : "";
        if (options_.page_files) {
            std::error_code ignored;  // writing into the folder will fail and report why
            fs::create_directories(output.parent_path(), ignored);
        }
        file_outcome outcome;
        if (e.status == status_ok) {
            outcome = lower_to_files(one, target_);
        } else {
            outcome = {.status = e.status, .error = one.model + ": " + e.text};
        }
        e.status = outcome.status;
        e.text = text_of(outcome, one.model);
        if (!options_.report.empty()) e.row = described(outcome, one, options_.report);
        e.row.shrink_to_fit();  // there may be tens of thousands
    }

    // Prints errors as for a single model, below its name, since not all of them name it.
    void print_failures() const {
        for (const entry& e : entries_) {
            if (e.text.empty()) continue;
            fmt::print(stderr, "{}:\n",
                printable((fs::path(options_.batch) / e.path).string(), max_printed_message));
            for (std::size_t at = 0; at < e.text.size();) {
                const std::size_t end = e.text.find('\n', at) + 1;
                fmt::print(stderr, "  {}", std::string_view(e.text).substr(at, end - at));
                at = end;
            }
        }
    }

    // One row per line.
    [[nodiscard]] std::string report(std::uint64_t nanoseconds) {
        json_writer counts(json_style::compact);
        counts.begin_object();
        counts.member("models", entries_.size());
        counts.member("lowered", progress_.with(status_ok));
        counts.member("cannot_be_lowered", progress_.with(status_unsupported));
        counts.member("cannot_be_read", progress_.with(status_malformed));
        counts.member("cannot_be_written", progress_.with(status_usage));
        counts.end_object();
        std::string text = fmt::format("{{\"counts\": {},\n\"jobs\": {}, \"nanoseconds\": {},\n\"models\": [",
            counts.text(), count_threads(options_.jobs), nanoseconds);
        std::size_t size = text.size();
        for (const entry& e : entries_) size += e.row.size() + 2;
        text.reserve(size + 4);  // growing would double it
        const char* before = "\n";
        for (entry& e : entries_) {
            text += before + std::exchange(e.row, {});
            before = ",\n";
        }
        return text + "\n]}\n";
    }

    [[nodiscard]] result<void> write_report(const std::string& text) const {
        if (!is_page_path(options_.report)) return write_atomically(options_.report, text);
        return write_book(options_.report, {.title = options_.batch, .batch = text});
    }

    [[nodiscard]] int worst() const {
        for (const int status : {status_usage, status_malformed, status_unsupported}) {
            if (progress_.with(status) != 0) return status;
        }
        return status_ok;
    }

    const lower_options& options_;
    const std::optional<target_spec>& target_;
    std::vector<entry> entries_;
    progress progress_;
};

}  // namespace

int lower_batch(const lower_options& options, const std::optional<target_spec>& target) {
    std::error_code failure;
    if (!fs::is_directory(options.batch, failure)) {
        return report_error(
            malformed(options.batch + ": " + (failure ? failure.message() : "is not a directory")));
    }
    std::vector<entry> models = find_models(options.batch);
    if (models.empty()) return report_usage("no .pt2 file in " + options.batch);
    fs::create_directories(options.output, failure);
    if (!fs::is_directory(options.output)) {
        return report_usage("cannot write to " + options.output + ": " +
            (failure ? failure.message() : "is not a directory"));
    }
    return batch(options, target, std::move(models)).run();
}

}  // namespace headrace::cli
