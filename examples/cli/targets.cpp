// SPDX-License-Identifier: MIT
#include "targets.hpp"

#include <fmt/format.h>

#include "files.hpp"

namespace headrace::cli {

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

std::string target_text(const target_spec& target) {
    std::string text = "TOSA-1.0";
    for (const target_feature_name& n : target_feature_names) {
        if (target.has(n.feature)) text += "+" + std::string(n.spelling);
    }
    return text;
}

std::vector<target_spec> default_targets(const graph& g) {
    bool quantized = false;
    g.census().for_each([&](const op_info& op, std::size_t) {
        quantized = quantized || op.dialect->name == "quantized_decomposed";
    });
    if (!quantized) return {target_spec{}.with(target_feature::profile_fp)};
    const target_spec integers = target_spec{}.with(target_feature::profile_int);
    return {integers,
            integers.with(target_feature::profile_fp)};  // the other for what has float parts as well
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

result<void> refuse_mutations(const program& p) {
    if (p.mutations.empty()) return boost::outcome_v2::success();
    const mutation& m = p.mutations.front();
    return unsupported(
        fmt::format("{}: the program writes it back when it ends, which a TOSA graph without "
                    "variables cannot; return the new value as an output instead",
                    m.name));
}

}  // namespace headrace::cli
