// SPDX-License-Identifier: MIT
#include "package.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>

#include <headrace/base/printable.hpp>
#include <headrace/io/file/atomic_file.hpp>
#include <headrace/io/package/package.hpp>
#include <headrace/io/tosa/reader.hpp>
#include <headrace/lowering/lower.hpp>
#include <headrace/lowering/lower_package.hpp>
#include <headrace/run/models.hpp>
#include <headrace/show/refusal_lines.hpp>

#include "messages.hpp"
#include "notes.hpp"
#include "pte.hpp"
#include "stream.hpp"

namespace headrace::cli {

namespace {

// Parses "NAME=MODEL"; false if the text has another form, or the name is taken.
bool add_method(const std::string& text, file_map& models) {
    const std::size_t at = text.find('=');
    if (at == std::string::npos || at + 1 == text.size()) return false;
    const std::string name = text.substr(0, at);
    return is_plain_name(name) && models.emplace(name, text.substr(at + 1)).second;
}

result<int> write_package(
    const lower_options& options, const std::optional<target_spec>& target, const file_map& models) {
    std::map<std::string, program, std::less<>> programs;
    for (const auto& [name, path] : models) {
        HEADRACE_TRY(model, read_for_lowering(path, options));
        warn_of_written_inputs(path, model);
        programs.emplace(name, std::move(model));
    }
    page_collector pages;
    HEADRACE_TRY(package,
        lower_to_package(std::move(programs),
            {.target = target,
                .partition = options.partition,
                .plan_memory = options.plan_memory,
                .observer = pages.observer(is_page_path(options.report))}));
    HEADRACE_TRY(write_method_pages(options, models, package.methods, std::move(pages)));
    if (!package.refusals.empty()) return report_diagnostics(package.refusals, names_of(models));
    if (!options.report.empty() && !is_page_path(options.report)) {
        const auto written = write_atomically(options.report, package_report_json(package, models) + '\n');
        if (!written) return written.error();
    }
    HEADRACE_TRY(package.files.write(options.output));
    say(fmt::format("{} -> {}: {}", names_of(models), options.output, counted(models.size(), "method")));
    if (options.partition) print_reports(package.methods, options.output);
    return status_ok;
}

result<void> unpack_delegate(const unpack_options& options) {
    HEADRACE_TRY(opened, package::open(options.package));
    HEADRACE_TRY(method, opened.method(options.method));
    std::size_t number = 0;
    if (method->delegate) {
        if (options.delegate > 0) return invalid("the method has one delegate, number 0");
        number = *method->delegate;
    } else if (options.delegate < 0 && method->calls.size() != 1) {
        return invalid(fmt::format("the method is a host graph with {} delegates; choose one with --delegate",
            method->calls.size()));
    } else {
        const auto chosen = static_cast<std::size_t>(std::max(options.delegate, 0));
        if (chosen >= method->calls.size())
            return invalid(fmt::format("the method has {} delegates, the first is 0", method->calls.size()));
        number = method->calls[chosen];
    }
    HEADRACE_TRY(flatbuffer, opened.flatbuffer(number));
    HEADRACE_TRY(read_tosa(flatbuffer));
    if (auto written = write_atomically(options.output, flatbuffer); !written) return written.error();
    return {};
}

// Returns `encode, host`, `encode, delegate 0`, in the order in which the observer of a lowering meets them.
std::vector<std::string> titles_of(const file_map& models,
    const std::map<std::string, method_report, std::less<>>& methods, bool has_hosts) {
    std::vector<std::string> titles;
    for (const auto& [name, path] : models) {
        if (has_hosts) titles.push_back(name + ", host");
    }
    for (const auto& [name, m] : methods) {
        const std::size_t count = m.delegates.size();
        titles.reserve(titles.size() + count);
        for (std::size_t i = 0; i != count; ++i)
            titles.push_back(has_hosts ? fmt::format("{}, delegate {}", name, i) : name);
    }
    return titles;
}

}  // namespace

result<void> write_method_pages(const lower_options& options, const file_map& models,
    const std::map<std::string, method_report, std::less<>>& methods, page_collector&& pages) {
    if (!is_page_path(options.report)) return {};
    const bool has_hosts = options.partition || is_pte_path(options.output);
    return write_book(options.report,
        {.title = names_of(models),
            .chapters = std::move(pages).chapters(titles_of(models, methods, has_hosts))});
}

void print_reports(
    const std::map<std::string, method_report, std::less<>>& methods, const std::string& output) {
    if (is_quiet()) return;
    std::FILE* const stream = report_stream(output);
    for (const auto& [name, m] : methods) {
        fmt::print(stream, "{}: {}, {} on the host\n", printable(name),
            counted(m.delegates.size(), "delegate"), counted(m.host_nodes.size(), "node"));
        std::vector<diagnostic> kept;
        for (const host_note& n : m.host_nodes)
            kept.push_back({std::pmr::string(n.node), std::pmr::string(n.op), std::pmr::string(n.reason),
                error_kind::unsupported, std::pmr::string(n.source)});
        for (const std::string& line : refusal_lines(kept))
            fmt::print(stream, "  {}\n", printable(line, max_printed_message));
    }
}

int methods_of(const lower_options& options, file_map& models) {
    if (!options.model.empty()) {
        if (!options.methods.empty()) return report_usage("give a model or --method, not both");
        models.emplace("forward", options.model);
    } else if (options.methods.empty()) {
        return report_usage("lower needs a model, or --method");
    }
    for (const std::string& text : options.methods) {
        if (!add_method(text, models)) {
            return report_usage(
                fmt::format("--method {}: write NAME=MODEL.pt2, each name once; a name consists of "
                            "letters, digits, '_', '-' and '.'",
                    text));
        }
    }
    return status_ok;
}

std::string names_of(const file_map& models) {
    std::string text;
    for (const auto& [name, path] : models) (text += text.empty() ? "" : ", ") += path;
    return text;
}

int lower_package(const lower_options& options) {
    std::optional<target_spec> target;
    if (const int status = parse_target_option(options.target, target); status != status_ok) return status;
    if (!options.io.empty() || !options.dot_directory.empty() || !options.ir_directory.empty() ||
        options.verify)
        return report_usage(
            "--io, --dot, --ir and --verify are for a single flatbuffer; a package's manifest has its io");
    if (options.plan_memory && !options.partition)
        return report_usage("--plan-memory is for the host graph of --partition");
    file_map models;  // by method
    if (const int status = methods_of(options, models); status != status_ok) return status;
    const result<int> status = write_package(options, target, models);
    return status ? status.value() : report_error(status.error());
}

int check_method_option(const std::string& model, const std::string& method) {
    if (!package::is_package(model)) {
        if (const auto methods = pte_methods(model); !methods.empty())
            return check_pte_method(methods, method);
        if (method.empty() || !std::filesystem::exists(model)) return status_ok;
        return report_usage(fmt::format("--method {}: {} is not a package or a .pte file", method, model));
    }
    const auto opened = package::open(model);
    // Errors in the package are reported by its next reader.
    if (!opened || (method.empty() && opened.value().methods().size() == 1)) return status_ok;
    const auto known = opened.value().method(method);
    return known ? status_ok : report_usage(known.error().message);
}

int unpack(const unpack_options& options) {
    if (const int status = check_method_option(options.package, options.method); status != status_ok)
        return status;
    if (const int status = check_extension(options.output, {".tosa"}); status != status_ok) return status;
    const bool is_pte = !pte_methods(options.package).empty();
    const result<void> done = is_pte ? unpack_pte(options) : unpack_delegate(options);
    if (done) return status_ok;
    return done.error().kind == error_kind::invalid ? report_usage(done.error().message)
                                                    : report_error(done.error());
}

}  // namespace headrace::cli
