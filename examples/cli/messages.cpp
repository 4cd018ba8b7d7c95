// SPDX-License-Identifier: MIT
#include "messages.hpp"

#include <fmt/format.h>

namespace headrace::cli {

int status_of(const error& e) {
    return e.kind == error_kind::malformed ? status_malformed : status_unsupported;
}

std::string error_text(std::string_view message) { return fmt::format("error: {}\n", message); }

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
        text += error_text(fmt::format("{} ({}): {}", d.node, d.op, d.reason));
    }
    const std::size_t count = refusals.size();
    text += fmt::format("{}: {} node{} cannot be lowered\n", model, count, count == 1 ? "" : "s");
    return text;
}

int report_diagnostics(std::span<const diagnostic> refusals, const std::string& model) {
    fmt::print(stderr, "{}", diagnostics_text(refusals, model));
    return status_unsupported;
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
