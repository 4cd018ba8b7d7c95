// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/contract/contract_text.hpp>
#include <headrace/io/file/atomic_file.hpp>
#include <headrace/io/file/c_text.hpp>
#include <headrace/io/file/json.hpp>
#include <headrace/io/file/mapped_file.hpp>
#include <headrace/io/signature/graph_signature.hpp>
#include <headrace/io/tosa/stream.hpp>
#include <headrace/lowering/lower.hpp>
#include <headrace/prove/certificate.hpp>
#include <headrace/run/models.hpp>

#include "commands.hpp"
#include "header.hpp"
#include "messages.hpp"

namespace headrace::cli {

namespace {

/// The model that a contract is written from.
struct contract_model {
    program model{};
    exported_ops exported{};
    bool lowered = false;
    std::uint64_t flatbuffer_bytes = 0;
    pmr_vector<diagnostic> refusals{};
};

result<contract_model> read_exported(const contract_options& options) {
    contract_model made;
    HEADRACE_TRY(model, read_model(options.model, options.sizes));
    made.exported = exported_ops_of(*model.graph);
    if (options.io_layout == "nhwc") ask_for_channels_last(*model.graph);
    made.model = std::move(model);
    return made;
}

result<contract_model> lower_for_contract(
    const contract_options& options, const std::optional<target_spec>& target) {
    contract_model made;
    const auto note_ops = [&](graph& g) -> result<void> {
        made.exported = exported_ops_of(g);
        return {};
    };
    lowering_outcome done = try_lowering([&] { return read_model(options.model, options.sizes); },
        {.target = target,
            .channels_last = options.io_layout == "nhwc",
            .observer = {.before_passes = note_ops},
            .streams = true});
    if (done.failure) return *std::move(done.failure);
    made.model = std::move(done.model);
    made.refusals = std::move(done.refusals);
    made.lowered = true;
    if (done.stream) made.flatbuffer_bytes = done.stream->size();
    return made;
}

// The figures that only an execution gives, from what tests/on_device/run.py printed. They must be of this
// model on this core, so that the other figures are the same.
result<void> add_measured(const std::string& path, core_figures& figures) {
    HEADRACE_TRY(file, open_mapped(path));
    try {
        std::pmr::monotonic_buffer_resource arena;
        json_parser parser(&arena);
        const std::span<const std::byte> bytes = std::as_bytes(std::span(file.text()));
        const padded_text text(bytes, bytes);
        const simdjson::dom::element all = parser.parse(text.view());
        const auto is_same = [&](std::string_view key, std::uint64_t number) {
            return json_get<std::uint64_t>(all, key) == number;
        };
        if (json_get<std::string_view>(all, "core") != figures.core ||
            !is_same("arena", figures.arena_bytes) || !is_same("constants", figures.constant_bytes))
            fail_malformed(
                "these are figures of another model or core, or of another version: measure again");
        if (!json_get<bool>(all, "equal")) fail_malformed("the board computed something else than it should");
        figures.code_bytes = json_get<std::uint64_t>(all, "code");
        figures.stack_bytes = json_get<std::uint64_t>(all, "stack");
        figures.instructions = json_get<std::uint64_t>(all, "instructions");
    } catch (const failure& f) {
        return malformed(fmt::format("{}: {}", path, f.what.message));
    }
    return file.check();
}

// Returns a status that is not that of success if the reason was printed.
result<int> add_core(const contract_options& options, std::optional<core_figures>& figures) {
    if (options.core.empty()) return status_ok;
    lower_options lowering;
    lowering.model = options.model;
    lowering.sizes = options.sizes;
    lowering.core = options.core;
    const core_model made = lower_for_core(lowering, "model", false);
    if (made.status != status_ok) return made.status;
    const firmware::model_report& report = made.header->report;
    const auto bytes = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
    figures = core_figures{.core = report.core,
        .arena_bytes = bytes(report.arena.bytes),
        .arena_lower_bound = bytes(report.arena.lower_bound),
        .state_bytes = bytes(report.arena.state_bytes),
        .constant_bytes = bytes(report.constant_bytes)};
    if (!options.measured.empty()) {
        HEADRACE_TRY(add_measured(options.measured, *figures));
    }
    return status_ok;
}

// Nothing if the lowered model has ops of other dialects, of which nothing is proven.
std::optional<certificate_figures> certified(const contract_model& made) {
    if (!made.lowered) return std::nullopt;
    const auto proven = prove::certify(*made.model.graph, {.search_seconds = 0});
    if (!proven) return std::nullopt;
    certificate_figures figures{
        .no_overflow = proven.value().no_overflow(), .needs_valid_indices = !proven.value().assumed.empty()};
    for (const prove::kind_summary& k : proven.value().kinds) {
        if (k.kind != prove::claim_kind::accumulator) continue;
        figures.accumulator_bits = static_cast<std::uint64_t>(prove::bits_for(k.fullest.computed));
        figures.accumulator_capacity = static_cast<std::uint64_t>(prove::bits_for(k.fullest.allowed));
    }
    return figures;
}

// Returns the output's name as a path whose name is that of the struct, also if it is `model`.
std::string output_name(const std::string& output) {
    const std::string stem = std::filesystem::path(output).stem().string();
    return stem == "model" ? "model/model.hpp" : stem + ".hpp";
}

result<int> write_contract(const contract_options& options, const std::optional<target_spec>& target) {
    HEADRACE_TRY(made, options.exported_only ? read_exported(options) : lower_for_contract(options, target));
    if (!made.refusals.empty()) return report_diagnostics(made.refusals, options.model);
    std::optional<core_figures> figures;
    HEADRACE_TRY(status, add_core(options, figures));
    if (status != status_ok) return status;
    const std::optional<certificate_figures> certificate = certified(made);
    const std::string named_after =
        options.output == standard_output ? options.model : output_name(options.output);
    const std::string name = options.name.empty() ? contract_name(named_after) : options.name;
    const std::string file_name = std::filesystem::path(options.model).filename().string();
    HEADRACE_TRY(text,
        contract_text({.name = name,
            .file_name = file_name,
            .exported = made.exported,
            .model = *made.model.graph,
            .user_outputs = made.model.user_outputs,
            .lowered = made.lowered,
            .flatbuffer_bytes = made.flatbuffer_bytes,
            .on_device = figures ? &*figures : nullptr,
            .certificate = certificate ? &*certificate : nullptr}));
    const auto written = write_atomically(options.output, text);
    return written ? status_ok : report_error(written.error());
}

}  // namespace

int contract(const contract_options& options) {
    if (!options.name.empty() && !is_c_identifier(options.name))
        return report_usage(fmt::format("--name {}: a struct cannot have that name", options.name));
    if (const int status = check_extension(options.output, {".hpp", ".h", ".hh", ".hxx"});
        status != status_ok)
        return status;
    if (options.exported_only && !options.target.empty())
        return report_usage("--exported-only does not lower the model: leave out --target");
    if (!options.core.empty() && options.exported_only)
        return report_usage("--exported-only does not lower the model: leave out --core");
    if (!options.core.empty() && options.io_layout != "nchw")
        return report_usage("--core: the C++ type takes images as they were exported: leave out --io-layout");
    std::optional<target_spec> target;
    if (const int status = parse_target_option(options.target, target); status != status_ok) return status;
    const result<int> status = write_contract(options, target);
    return status ? status.value() : report_error(status.error());
}

}  // namespace headrace::cli
