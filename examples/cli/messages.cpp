// SPDX-License-Identifier: MIT
#include "messages.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>

#include <headrace/base/printable.hpp>

namespace headrace::cli {

int status_of(const error& e) {
    if (e.kind == error_kind::unwritable) return status_usage;
    return e.kind == error_kind::malformed ? status_malformed : status_unsupported;
}

std::string error_text(std::string_view message) {
    return fmt::format("error: {}\n", printable(message, max_printed_message));
}

int report_error(const error& e) {
    fmt::print(stderr, "{}", error_text(e.message));
    return status_of(e);
}

int report_usage(std::string_view message) {
    fmt::print(stderr, "{}", error_text(message));
    return status_usage;
}

std::string diagnostics_text(std::span<const diagnostic> refusals, const std::string& model) {
    std::string text;
    for (const diagnostic& d : refusals) {
        text += error_text(fmt::format("{} ({}): {}", printable(d.node), printable(d.op), d.reason));
    }
    const std::size_t count = refusals.size();
    text += fmt::format("{}: {} node{} cannot be lowered\n", printable(model, max_printed_message), count,
                        count == 1 ? "" : "s");
    return text;
}

int report_diagnostics(std::span<const diagnostic> refusals, const std::string& model) {
    fmt::print(stderr, "{}", diagnostics_text(refusals, model));
    return status_unsupported;
}

int guarded(const std::string& file, const std::function<int()>& command) {
    const std::string where = file.empty() ? std::string() : file + ": ";
    try {
        return command();
    } catch (const std::bad_alloc&) {
        return report_error(malformed(where + "it takes more memory than there is"));
    } catch (const std::length_error&) {
        return report_error(malformed(where + "it takes more memory than there is"));
    } catch (const std::system_error& e) {  // of fmt::print: standard output
        return report_error(unwritable(e.what()));
    } catch (const std::exception& e) {
        return report_error(malformed(where + e.what()));
    }
}

int check_distinct_files(std::span<const std::string> outputs, const std::string& model) {
    namespace fs = std::filesystem;
    const auto is_same = [](const std::string& a, const std::string& b) {
        if (a.empty() || b.empty()) return false;
        std::error_code unknown;
        const fs::file_status status = fs::status(a, unknown);
        if (fs::exists(status)) return fs::is_regular_file(status) && fs::equivalent(a, b, unknown);
        return fs::absolute(a, unknown).lexically_normal() == fs::absolute(b, unknown).lexically_normal();
    };
    for (std::size_t i = 0; i != outputs.size(); ++i) {
        if (is_same(outputs[i], model))
            return report_usage(outputs[i] + " is the model itself; write to another file");
        for (std::size_t k = 0; k != i; ++k) {
            if (is_same(outputs[i], outputs[k])) return report_usage(outputs[i] + " is to be written twice");
        }
    }
    return status_ok;
}

int parse_target_option(const std::string& text, std::optional<target_spec>& target) {
    if (text.empty()) return status_ok;
    std::string_view wrong;
    target = parse_target(text, &wrong);
    if (target) return status_ok;
    return report_usage(
        fmt::format("--target {}: '{}' is not understood; write TOSA-1.0+FP, +INT or +INT+FP, "
                    "and extensions such as +bf16 or +int16",
                    text, wrong));
}

}  // namespace headrace::cli
