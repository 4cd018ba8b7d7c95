// SPDX-License-Identifier: MIT
// `show --core`, and `show` of a header that `lower --core` wrote.
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <headrace/base/printable.hpp>
#include <headrace/firmware/report.hpp>
#include <headrace/io/file/atomic_file.hpp>
#include <headrace/io/file/mapped_file.hpp>

#include "commands.hpp"
#include "header.hpp"
#include "messages.hpp"
#include "page.hpp"

namespace headrace::cli {

namespace {

core_model describe_on_core(const show_options& options) {
    const std::string extension = std::filesystem::path(options.model).extension().string();
    std::error_code unknown;
    if (extension == ".tosa" || extension == ".pte" || std::filesystem::is_directory(options.model, unknown))
        return {.status = report_usage(
                    fmt::format("{}: --core is for a model before it is lowered: give the .pt2 file",
                        printable(options.model)))};
    lower_options lowering;
    lowering.model = options.model;
    lowering.sizes = options.sizes;
    lowering.core = options.core;
    lowering.state = options.state;
    return lower_for_core(lowering, "model", false);
}

std::string json_of(const firmware::model_report& report, json_style style) {
    json_writer w(style);
    firmware::write_report(w, report);
    return std::move(w).text();
}

// Lines of a file go to the terminal: each is made harmless.
std::string printable_lines(std::string_view text) {
    std::string all;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        all += fmt::format("{}\n", printable(text.substr(0, end), max_printed_message));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return all;
}

result<std::string> report_of_file(const std::string& path) {
    HEADRACE_TRY(file, open_mapped(path));
    const auto report = firmware::report_in(file.text());
    if (!report)
        return malformed(fmt::format(
            "{}: has no report of layers at its top, as `headrace lower MODEL -o NAME.hpp --core CORE` "
            "writes it; `headrace show MODEL --core CORE` prints that of a model",
            path));
    std::string text = printable_lines(*report);
    HEADRACE_TRY(file.check());
    return text;
}

bool wants_graph(const show_options& o) {
    return o.dot || o.summary || o.full || !o.around.empty() || !o.html.empty() || !o.output.empty() ||
        !o.core.empty() || !o.method.empty();
}

}  // namespace

bool is_generated_path(const std::string& path) {
    return is_header_path(path) || std::filesystem::path(path).extension() == ".h";
}

int show_generated(const show_options& options) {
    if (wants_graph(options))
        return report_usage(
            fmt::format("{}: of a header, show prints its report alone; give other options with the model "
                        "that the header was made of",
                printable(options.model)));
    const auto text = report_of_file(options.model);
    if (!text) return report_error(text.error());
    fmt::print("{}", text.value());
    return status_ok;
}

int core_json(const show_options& options, std::string& json) {
    const core_model made = describe_on_core(options);
    if (made.status == status_ok) json = json_of(made.header->report, json_style::compact);
    return made.status;
}

int show_core(const show_options& options) {
    if (const int status = check_extension(options.output, {".json"}); status != status_ok) return status;
    const core_model made = describe_on_core(options);
    if (made.status != status_ok) return made.status;
    const firmware::model_report& report = made.header->report;
    if (!options.output.empty()) {
        const auto written = write_atomically(options.output, json_of(report, json_style::indented) + '\n');
        return written ? status_ok : report_error(written.error());
    }
    fmt::print("{}code and stack depend on the compiler: tests/on_device/run.py measures them\n",
        firmware::format_report(report));
    return status_ok;
}

}  // namespace headrace::cli
