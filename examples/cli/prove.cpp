// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <tuple>

#include <headrace/base/printable.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/io/file/atomic_file.hpp>
#include <headrace/io/file/npy.hpp>
#include <headrace/ir/signature.hpp>
#include <headrace/lowering/lower.hpp>
#include <headrace/prove/analysis.hpp>
#include <headrace/prove/certificate.hpp>
#include <headrace/prove/error_bound.hpp>
#include <headrace/run/models.hpp>

#include "commands.hpp"
#include "messages.hpp"

namespace headrace::cli {

namespace {

bool is_in_tosa(const graph& g) {
    for (const node& n : g.nodes()) {
        if (!is_of_dialect<tosa::dialect>(n) && !is_of_dialect<builtin::dialect>(n)) return false;
    }
    return true;
}

struct lowered_program {
    program model{};
    int status = status_ok;  ///< another one if the reason was printed
};
result<lowered_program> read_lowered(const prove_options& options, const std::optional<target_spec>& target) {
    HEADRACE_TRY(model, read_model(options.model, options.sizes));
    if (is_in_tosa(*model.graph)) return lowered_program{std::move(model)};
    lowering_outcome done = try_lowering([&] { return read_model(options.model, options.sizes); },
        {.target = target, .state = state_kind::variable, .streams = true});
    if (done.failure) return *std::move(done.failure);
    lowered_program lowered{std::move(done.model)};
    if (!done.refusals.empty()) lowered.status = report_diagnostics(done.refusals, options.model);
    return lowered;
}

struct parsed_range {
    std::string input;
    double lowest = 0, highest = 0;
};

result<parsed_range> parse_range(const std::string& text) {
    const auto fault = [&] {
        return invalid(fmt::format("--range {}: give NAME=LOWEST:HIGHEST, such as x=-1:1", printable(text)));
    };
    const std::size_t colon = text.rfind(':'), equals = text.rfind('=', colon);
    if (colon == std::string::npos || equals == std::string::npos) return fault();
    parsed_range made{.input = text.substr(0, equals)};
    for (const auto& [begin, end, number] :
        {std::tuple(equals + 1, colon, &made.lowest), std::tuple(colon + 1, text.size(), &made.highest)}) {
        const auto [stop, failure] = std::from_chars(text.data() + begin, text.data() + end, *number);
        if (failure != std::errc() || stop != text.data() + end || !std::isfinite(*number)) return fault();
    }
    if (made.lowest > made.highest) return fault();
    return made;
}

// Real numbers of a quantized input become those of its integers.
result<void> apply_range(graph& g, const parsed_range& range) {
    for (node& n : g.inputs()) {
        if (n.results[0].name != range.input) continue;
        const tensor_meta& meta = *n.results[0].meta;
        if (!is_integral(meta.dtype))
            return invalid(fmt::format("--range: input {} holds {}, and only integers are bounded",
                printable(range.input), name_of(meta.dtype)));
        double lowest = range.lowest, highest = range.highest;
        if (const auto* const q = n.find_annotation<signature_quantization>(); q != nullptr && q->scale > 0) {
            const auto in_range = [&](double x) {
                return std::clamp(x / q->scale + static_cast<double>(q->zero_point),
                    static_cast<double>(q->lowest), static_cast<double>(q->highest));
            };
            lowest = std::nearbyint(in_range(lowest));
            highest = std::nearbyint(in_range(highest));
        }
        const auto integer = [](double x) {
            constexpr double farthest = 0x1p53;  // an integer that is exact as a double
            return static_cast<std::int64_t>(std::clamp(x, -farthest, farthest));
        };
        const prove::said_range said{integer(std::ceil(lowest)), integer(std::floor(highest))};
        const interval held = interval_of(meta.dtype);
        if (said.lowest > said.highest || static_cast<bound>(said.lowest) > held.high ||
            static_cast<bound>(said.highest) < held.low)
            return invalid(fmt::format("--range: no {} of input {} is in [{}, {}]", name_of(meta.dtype),
                printable(range.input), range.lowest, range.highest));
        g.annotate(n, said);
        return {};
    }
    return invalid(fmt::format("--range: the model has no input {}", printable(range.input)));
}

result<void> apply_ranges(graph& g, const prove_options& options) {
    for (const std::string& text : options.ranges) {
        HEADRACE_TRY(range, parse_range(text));
        HEADRACE_TRY(apply_range(g, range));
    }
    return {};
}

// Input k of finding i is DIR/i_ink.npy.
result<void> write_counterexamples(const std::string& directory, const prove::certificate& c) {
    std::error_code failure;
    std::filesystem::create_directories(directory, failure);
    std::size_t i = 0;
    for (const prove::unproven_claim& u : c.unproven) {
        if (!u.refuted) continue;
        std::size_t k = 0;
        for (const tensor& t : u.refuted->inputs) {
            const auto file = std::filesystem::path(directory) / fmt::format("{}_in{}.npy", i, k++);
            HEADRACE_TRY(write_npy(file, {t.type(), int_list(t.shape()), {}}, t.bytes()));
        }
        ++i;
    }
    return {};
}

// The bounds of rounding errors, of the model as exported.
result<std::string> format_errors(const prove_options& options) {
    if (!options.error) return std::string();
    HEADRACE_TRY(exported, read_model(options.model, options.sizes));
    HEADRACE_TRY(bounds, prove::rounding_errors(*exported.graph));
    return prove::error_text(bounds);
}

result<int> prove_model(const prove_options& options, const std::optional<target_spec>& target) {
    HEADRACE_TRY(errors, format_errors(options));
    HEADRACE_TRY(lowered, read_lowered(options, target));
    if (lowered.status != status_ok) return lowered.status;
    graph& g = *lowered.model.graph;
    HEADRACE_TRY(apply_ranges(g, options));
    HEADRACE_TRY(proven, prove::certify(g, {.search_seconds = options.search_seconds}));
    HEADRACE_TRY(lowered.model.file.check());
    if (!options.json.empty()) {
        HEADRACE_TRY(write_atomically(options.json, prove::certificate_json(proven) + '\n'));
    }
    if (!options.counterexamples.empty()) {
        HEADRACE_TRY(write_counterexamples(options.counterexamples, proven));
    }
    fmt::print("{}{}", prove::certificate_text(proven), errors);
    for (const std::string& range : options.ranges) fmt::print("this holds for {} alone\n", printable(range));
    return proven.no_overflow() ? status_ok : status_unsupported;
}

}  // namespace

int prove(const prove_options& options) {
    if (const int status = check_extension(options.json, {".json"}); status != status_ok) return status;
    std::optional<target_spec> target;
    if (const int status = parse_target_option(options.target, target); status != status_ok) return status;
    for (const std::string& text : options.ranges)
        if (const auto range = parse_range(text); !range) return report_usage(range.error().message);
    const result<int> status = prove_model(options, target);
    return status ? status.value() : report_error(status.error());
}

}  // namespace headrace::cli
