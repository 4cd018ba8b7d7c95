// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/io/file/atomic_file.hpp>
#include <headrace/io/file/npy.hpp>
#include <headrace/lowering/lower.hpp>
#include <headrace/prove/certificate.hpp>
#include <headrace/prove/error_bound.hpp>
#include <headrace/run/models.hpp>

#include "commands.hpp"
#include "messages.hpp"

namespace headrace::cli {

namespace {

bool has_tosa_alone(const graph& g) {
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
    if (has_tosa_alone(*model.graph)) return lowered_program{std::move(model)};
    lowering_outcome done = try_lowering([&] { return read_model(options.model, options.sizes); },
        {.target = target, .state = state_kind::variable, .streams = true});
    if (done.failure) return *std::move(done.failure);
    lowered_program lowered{std::move(done.model)};
    if (!done.refusals.empty()) lowered.status = report_diagnostics(done.refusals, options.model);
    return lowered;
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
    const graph& g = *lowered.model.graph;
    HEADRACE_TRY(proven, prove::certify(g, {.search_seconds = options.search_seconds}));
    HEADRACE_TRY(lowered.model.file.check());
    if (!options.json.empty()) {
        HEADRACE_TRY(write_atomically(options.json, prove::certificate_json(proven) + '\n'));
    }
    if (!options.counterexamples.empty()) {
        HEADRACE_TRY(write_counterexamples(options.counterexamples, proven));
    }
    fmt::print("{}{}", prove::certificate_text(proven), errors);
    return proven.no_overflow() ? status_ok : status_unsupported;
}

}  // namespace

int prove(const prove_options& options) {
    if (const int status = check_extension(options.json, {".json"}); status != status_ok) return status;
    std::optional<target_spec> target;
    if (const int status = parse_target_option(options.target, target); status != status_ok) return status;
    const result<int> status = prove_model(options, target);
    return status ? status.value() : report_error(status.error());
}

}  // namespace headrace::cli
