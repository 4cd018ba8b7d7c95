// SPDX-License-Identifier: MIT
#include "messages.hpp"

#include <fmt/color.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <new>
#include <stdexcept>
#include <system_error>

#include <headrace/base/printable.hpp>
#include <headrace/io/file/os.hpp>
#include <headrace/show/refusal_lines.hpp>

#include "process.hpp"
#include "suggestions.hpp"

namespace headrace::cli {

namespace {

std::atomic<bool> quiet{false};

// True on a terminal, unless the user has disabled colours (no-color.org).
bool has_colours() {
    static const bool on = [] {
        const char* refused = std::getenv("NO_COLOR");
        const char* terminal = std::getenv("TERM");
        return (refused == nullptr || *refused == '\0') && os::is_terminal(2) &&
            (terminal == nullptr || std::string_view(terminal) != "dumb");
    }();
    return on;
}

std::string with_label(std::string_view label, fmt::terminal_color colour, std::string_view message) {
    const std::string shown = has_colours() ? fmt::format(fmt::emphasis::bold | fmt::fg(colour), "{}:", label)
                                            : fmt::format("{}:", label);
    return fmt::format("{} {}\n", shown, printable(message, max_printed_message));
}

// Handlers of exceptions print with this: standard error may be what cannot be written.
void print_error(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

}  // namespace

void be_quiet() { quiet = true; }
bool is_quiet() { return quiet; }
void say(std::string_view line) {
    if (!quiet) fmt::print(stderr, "{}\n", printable(line, max_printed_message));
}

std::FILE* report_stream(const std::string& output) { return output == standard_output ? stderr : stdout; }

std::string counted(std::size_t count, std::string_view one) {
    return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string format_size(std::uint64_t bytes) {
    if (bytes < 1000) return counted(bytes, "byte");
    double size = static_cast<double>(bytes);
    const char* unit = "";
    for (const char* next : {"kB", "MB", "GB", "TB"}) {
        if (size < 999.5) break;
        size /= 1000;
        unit = next;
    }
    return fmt::format("{:.3g} {}", size, unit);
}

int status_of(const error& e) {
    if (e.kind == error_kind::unwritable) return status_usage;
    return e.kind == error_kind::malformed ? status_malformed : status_unsupported;
}

std::string format_error(std::string_view message) {
    return with_label("error", fmt::terminal_color::red, message);
}

int report_error(const error& e) {
    print_error(format_error(e.message));
    return status_of(e);
}

int report_usage(std::string_view message) {
    print_error(format_error(message));
    return status_usage;
}

std::string format_diagnostics(std::span<const diagnostic> refusals, const std::string& model) {
    std::string text;
    for (const std::string& line : refusal_lines(refusals)) text += format_error(line);
    return text +
        fmt::format("{}: {} cannot be lowered\n", printable(model, max_printed_message),
            counted(refusals.size(), "node"));
}

int report_diagnostics(std::span<const diagnostic> refusals, const std::string& model) {
    print_error(format_diagnostics(refusals, model));
    return status_unsupported;
}

int guarded(const std::string& file, const std::function<int()>& command) {
    const std::string where = file.empty() ? std::string() : file + ": ";
    try {
        return command();
    } catch (const std::bad_alloc&) {
        return report_error(malformed(where + "not enough memory"));
    } catch (const std::length_error&) {
        return report_error(malformed(where + "not enough memory"));
    } catch (const std::system_error& e) {  // from fmt::print to a standard stream
        if (e.code() == std::errc::broken_pipe) end_without_reader();
        return report_error(unwritable(e.what()));
    } catch (const std::exception& e) {
        return report_error(malformed(where + e.what()));
    }
}

int check_distinct_files(std::span<const std::string> outputs, const std::string& model) {
    namespace fs = std::filesystem;
    const auto is_same = [](const std::string& a, const std::string& b) {
        if (a.empty() || b.empty()) return false;
        if (a == standard_output && b == standard_output) return true;
        std::error_code unknown;
        const fs::file_status status = fs::status(a, unknown);
        if (fs::exists(status)) return fs::is_regular_file(status) && fs::equivalent(a, b, unknown);
        return fs::absolute(a, unknown).lexically_normal() == fs::absolute(b, unknown).lexically_normal();
    };
    for (std::size_t i = 0; i != outputs.size(); ++i) {
        if (is_same(outputs[i], model))
            return report_usage(outputs[i] + " is the model itself; write to another file");
        for (std::size_t k = 0; k != i; ++k) {
            if (is_same(outputs[i], outputs[k]))
                return report_usage(
                    outputs[i] + " would be written twice; give each output a name of its own");
        }
    }
    return status_ok;
}

int check_extension(const std::string& path, std::initializer_list<std::string_view> fitting) {
    namespace fs = std::filesystem;
    const std::string extension = fs::path(path).extension().string();
    const bool is_number = std::ranges::all_of(std::string_view(extension).substr(extension.empty() ? 0 : 1),
        [](unsigned char c) { return std::isdigit(c) != 0; });
    if (is_number || std::ranges::find(fitting, extension) != fitting.end()) return status_ok;
    std::error_code unknown;
    const fs::file_status status = fs::symlink_status(path, unknown);
    if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status)) return status_ok;
    std::string known;
    std::size_t left = fitting.size();
    for (const std::string_view one : fitting) {
        --left;
        (known += one) += left > 1 ? ", " : left == 1 ? " or " : "";
    }
    return report_usage(fmt::format(
        "{}: this command does not write {} files; use a name that ends in {}", path, extension, known));
}

namespace {

// Returns "INT" for "int": features are identified by their letters, in any case.
std::string with_usual_case(std::string_view text) {
    std::string spelled;
    for (;;) {
        const std::string_view part = text.substr(0, text.find('+'));
        const auto* known = std::ranges::find_if(target_feature_names, [&](const target_feature_name& n) {
            return std::ranges::equal(
                part, n.spelling, {}, [](unsigned char c) { return std::tolower(c); },
                [](unsigned char c) { return std::tolower(c); });
        });
        spelled += known == std::end(target_feature_names) ? part : known->spelling;
        if (part.size() == text.size()) return spelled;
        spelled += '+';
        text.remove_prefix(part.size() + 1);
    }
}

}  // namespace

int parse_target_option(const std::string& text, std::optional<target_spec>& target) {
    if (text.empty()) return status_ok;
    const bool is_short = !text.starts_with("TOSA");
    const std::string whole =
        with_usual_case((is_short ? text.front() == '+' ? "TOSA-1.0" : "TOSA-1.0+" : "") + text);
    std::string_view wrong;
    target = parse_target(whole, &wrong);
    if (target) return status_ok;
    std::vector<std::string_view> features;
    for (const target_feature_name& n : target_feature_names) features.push_back(n.spelling);
    const std::string meant = did_you_mean(wrong, features);
    return report_usage(
        fmt::format("--target {}: '{}' is not understood{}", text, is_short && wrong == whole ? text : wrong,
            meant.empty() ? "; write FP, INT or INT+FP, and extensions such as +bf16 or "
                            "+int16: TOSA-1.0+INT+int16"
                          : meant));
}

}  // namespace headrace::cli
