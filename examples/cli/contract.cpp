// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/contract/contract_text.hpp>
#include <headrace/io/atomic_file.hpp>
#include <headrace/io/c_text.hpp>
#include <headrace/io/tosa_stream.hpp>
#include <headrace/lowering/lower.hpp>
#include <headrace/lowering/models.hpp>

#include "commands.hpp"
#include "messages.hpp"

namespace headrace::cli {

namespace {

/// What a contract is written from.
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

result<contract_model> lower_for_contract(const contract_options& options,
                                          const std::optional<target_spec>& target) {
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

result<int> write_contract(const contract_options& options, const std::optional<target_spec>& target) {
    HEADRACE_TRY(made, options.exported_only ? read_exported(options) : lower_for_contract(options, target));
    if (!made.refusals.empty()) return report_diagnostics(made.refusals, options.model);
    const std::string name = options.name.empty() ? contract_name(options.model) : options.name;
    const std::string file_name = std::filesystem::path(options.model).filename().string();
    HEADRACE_TRY(text, contract_text({.name = name,
                                      .file_name = file_name,
                                      .exported = made.exported,
                                      .model = *made.model.graph,
                                      .user_outputs = made.model.user_outputs,
                                      .lowered = made.lowered,
                                      .flatbuffer_bytes = made.flatbuffer_bytes}));
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
    std::optional<target_spec> target;
    if (const int status = parse_target_option(options.target, target); status != status_ok) return status;
    const result<int> status = write_contract(options, target);
    return status ? status.value() : report_error(status.error());
}

}  // namespace headrace::cli
