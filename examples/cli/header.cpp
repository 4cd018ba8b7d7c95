// SPDX-License-Identifier: MIT
#include "header.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include <headrace/base/printable.hpp>
#include <headrace/firmware/c_interface.hpp>
#include <headrace/firmware/header.hpp>
#include <headrace/io/atomic_file.hpp>
#include <headrace/io/c_text.hpp>
#include <headrace/lowering/execution.hpp>
#include <headrace/lowering/lower.hpp>

#include "lower.hpp"
#include "messages.hpp"
#include "notes.hpp"
#include "quantize.hpp"

namespace headrace::cli {

bool is_header_path(const std::string& path) {
    const std::string extension = std::filesystem::path(path).extension().string();
    return extension == ".hpp" || extension == ".cpp";
}

namespace {

result<firmware::model_header> write_model(const lower_options& options, program& model,
                                           const firmware::core_description& core, const std::string& name) {
    firmware::header_options wanted{.name = name, .model = options.model, .core = core};
    if (options.arena != 0) wanted.largest_arena = options.arena;
    if (options.flash != 0) wanted.largest_flash = options.flash;
    wanted.execute = [&](std::span<const tensor> inputs) { return execute(*model.graph, inputs); };
    HEADRACE_TRY(header, firmware::write_header(*model.graph, wanted));
    HEADRACE_TRY(model.file.check());
    std::filesystem::path beside = options.output;
    if (beside.extension() == ".cpp") {
        beside.replace_extension(".h");
        HEADRACE_TRY(files, firmware::write_c_interface(header, wanted, beside.filename().string()));
        HEADRACE_TRY(write_atomically(beside.string(), files.header));
        HEADRACE_TRY(write_atomically(options.output, files.source));
        return std::move(header);
    }
    HEADRACE_TRY(write_atomically(options.output, header.text));
    return std::move(header);
}

// Extensions that the portable kernels compute.
constexpr target_spec features_of_cores = target_spec{}
                                              .with(target_feature::core)
                                              .with(target_feature::control_flow)
                                              .with(target_feature::variable)
                                              .with(target_feature::fft);

void say_written(const lower_options& options, const firmware::model_header& header) {
    say(fmt::format("{} -> {}: {} layers, {} MACs, an arena of {} bytes (at least {}), {} bytes of constants",
                    options.model, options.output, header.layers.calls.size(), header.macs,
                    header.arena.bytes, header.arena.lower_bound, header.constant_bytes));
}

}  // namespace

int lower_to_header(const lower_options& options) {
    if (!is_header_path(options.output))
        return report_usage("--core is for a C++ type: give -o a name that ends in .hpp, or in .cpp for C");
    if (options.core.empty())
        return report_usage("a header is for a core: give --core cortex-m4, for example; host is for tests");
    const auto core = firmware::find_core(options.core);
    if (!core) {
        std::string known;
        for (const firmware::core_description& c : firmware::all_cores())
            known += fmt::format("{}{}", known.empty() ? "" : ", ", c.name);
        return report_usage(
            fmt::format("--core: there is no {}; the cores are {}", printable(options.core), known));
    }
    const std::string name =
        options.name.empty() ? std::filesystem::path(options.output).stem().string() : options.name;
    if (!is_c_identifier(name))
        return report_usage(
            fmt::format("{} is no C++ identifier: give the model's namespace by --name", printable(name)));
    std::optional<target_spec> target;
    if (const int status = parse_target_option(options.target, target); status != status_ok) return status;
    lowering_outcome done =
        try_lowering([&] { return read_and_quantize(options.model, options.sizes, options.calibration); },
                     {.target = target ? std::optional(target->with(target_feature::core)) : std::nullopt,
                      .beside = features_of_cores,
                      .verify = options.verify,
                      .inputs = options.inputs,
                      .state = state_of(options),
                      .streams = true,
                      .strict = options.strict});
    if (done.failure) return report_error(*done.failure);
    say_notes(options.model, *done.model.graph);
    if (!done.refusals.empty()) {
        fmt::print(stderr, "{}", diagnostics_text(done.refusals, options.model));
        return status_unsupported;
    }
    for (const std::string& w : done.warnings)
        fmt::print(stderr, "warning: {}: {}\n", printable(options.model), printable(w, max_printed_message));
    const auto written = write_model(options, done.model, *core, name);
    if (!written) return report_error(written.error());
    say_written(options, written.value());
    return status_ok;
}

}  // namespace headrace::cli
