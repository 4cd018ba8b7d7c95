// SPDX-License-Identifier: MIT
#include "header.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <headrace/base/printable.hpp>
#include <headrace/firmware/c_interface.hpp>
#include <headrace/firmware/header.hpp>
#include <headrace/io/banks/memory_map_reader.hpp>
#include <headrace/io/file/atomic_file.hpp>
#include <headrace/io/file/c_text.hpp>
#include <headrace/lowering/lower.hpp>
#include <headrace/run/execution.hpp>

#include "lower.hpp"
#include "messages.hpp"
#include "notes.hpp"
#include "package.hpp"
#include "stream.hpp"

namespace headrace::cli {

bool is_header_path(const std::string& path) {
    const std::string extension = std::filesystem::path(path).extension().string();
    return extension == ".hpp" || extension == ".cpp";
}

namespace {

// Writes both files or none: the header gets its name when the source's bytes are on the disk.
result<void> write_both(const std::string& source_path, std::string_view source,
    const std::string& header_path, std::string_view header) {
    std::error_code unknown;
    if (std::filesystem::is_directory(source_path, unknown))
        return unwritable(fmt::format("cannot write {}: it is a directory", source_path));
    const bool is_new = !std::filesystem::exists(header_path, unknown);
    result<void> written = write_atomically(source_path, [&](const byte_sink& sink) -> result<void> {
        if (!sink(std::as_bytes(std::span(source)))) return {};
        return write_atomically(header_path, header);
    });
    if (!written && is_new) std::filesystem::remove(header_path, unknown);
    return written;
}

result<void> write_files(const lower_options& options, const core_model& made) {
    std::filesystem::path beside = options.output;
    if (beside.extension() != ".cpp") return write_atomically(options.output, made.header->text);
    beside.replace_extension(".h");
    HEADRACE_TRY(files, firmware::write_c_interface(*made.header, made.options, beside.filename().string()));
    return write_both(options.output, files.source, beside.string(), files.header);
}

// Extensions that the portable kernels compute.
constexpr target_spec features_of_cores = target_spec{}
                                              .with(target_feature::core)
                                              .with(target_feature::control_flow)
                                              .with(target_feature::variable)
                                              .with(target_feature::fft);

void say_written(const std::string& model, const std::string& output, const firmware::model_report& report) {
    say(fmt::format("{} -> {}: {} layers, {} MACs, an arena of {} bytes (at least {}), {} bytes of constants",
        model, output, report.layers.size(), report.macs, report.arena.bytes, report.arena.lower_bound,
        report.constant_bytes));
}

int report_core(const std::string& name) {
    std::string known;
    for (const firmware::core_description& c : firmware::all_cores())
        known += fmt::format("{}{}", known.empty() ? "" : ", ", c.name);
    return report_usage(fmt::format("--core: there is no {}; the cores are {}", printable(name), known));
}

// Kernels read weights of int8: without the extension int4, smaller ones are stored as such.
std::optional<target_spec> target_of_core(std::optional<target_spec> asked) {
    if (asked) *asked = asked->with(target_feature::core).without(target_feature::int4);
    return asked;
}

// Describes the lowered model as layers. The file of its constants has been read to its end then.
result<core_model> describe(const lower_options& options, program& model,
    const firmware::core_description& core, const std::string& name, bool has_sample) {
    core_model made{.header = {}, .options = {.name = name, .model = options.model, .core = core}};
    made.options.infer = &infer_node;
    if (options.arena != 0) made.options.largest_arena = options.arena;
    if (options.flash != 0) made.options.largest_flash = options.flash;
    made.options.stream = model.stream;
    if (!options.memory.empty()) {
        HEADRACE_TRY(map, load_memory_map(options.memory));
        made.options.memory = std::move(map);
    }
    firmware::header_options wanted = made.options;
    if (has_sample)
        wanted.execute = [&](std::span<const tensor> inputs) { return execute(*model.graph, inputs); };
    HEADRACE_TRY(header, firmware::write_header(*model.graph, wanted));
    HEADRACE_TRY(model.file.check());
    made.header = std::move(header);
    return made;
}

}  // namespace

lowering_outcome lower_to_kernels(const lower_options& options, const std::optional<target_spec>& target) {
    return try_lowering([&] { return read_for_lowering(options.model, options); },
        {.target = target_of_core(target),
            .beside = features_of_cores,
            .verify = options.verify,
            .inputs = options.inputs,
            .state = state_of(options),
            .streams = true,
            .strict = options.strict});
}

core_model lower_for_core(const lower_options& options, const std::string& name, bool has_sample) {
    const auto core = firmware::find_core(options.core);
    if (!core) return {.status = report_core(options.core)};
    std::optional<target_spec> target;
    if (const int status = parse_target_option(options.target, target); status != status_ok)
        return {.status = status};
    lowering_outcome done = lower_to_kernels(options, target);
    if (done.failure) return {.status = report_error(*done.failure)};
    say_notes(options.model, *done.model.graph);
    if (!done.refusals.empty()) {
        fmt::print(stderr, "{}", format_diagnostics(done.refusals, options.model));
        return {.status = status_unsupported};
    }
    for (const std::string& w : done.warnings)
        fmt::print(stderr, "warning: {}: {}\n", printable(options.model), printable(w, max_printed_message));
    if (options.verify) say_verified(done.report, options.methods.empty() ? "" : name);
    auto made = describe(options, done.model, *core, name, has_sample);
    if (!made) return {.status = report_error(made.error())};
    return std::move(made).value();
}

namespace {

int report_name(const std::string& name) {
    return report_usage(
        fmt::format("{} is no C++ identifier: give the model's namespace by --name", printable(name)));
}

// Writes the types of all methods into one header, each into a namespace of its own.
int lower_methods(const lower_options& options, const std::string& name) {
    if (std::filesystem::path(options.output).extension() == ".cpp")
        return report_usage("a C function is of one model: lower each method by itself, or to a .hpp");
    file_map models;
    if (const int status = methods_of(options, models); status != status_ok) return status;
    for (const auto& [method, path] : models)
        if (!is_c_identifier(method))
            return report_usage(
                fmt::format("--method {}: a namespace cannot have that name", printable(method)));
    std::string text;
    std::vector<firmware::model_report> reports;
    lower_options one = options;
    for (const auto& [method, path] : models) {
        one.model = path;
        core_model made = lower_for_core(one, name + "::" + method, true);
        if (made.status != status_ok) return made.status;
        text += made.header->text;
        reports.push_back(std::move(made.header->report));
    }
    if (const auto written = write_atomically(options.output, text); !written)
        return report_error(written.error());
    auto report = reports.begin();
    for (const auto& [method, path] : models) say_written(path, options.output, *report++);
    return status_ok;
}

}  // namespace

int lower_to_header(const lower_options& options) {
    if (!is_header_path(options.output))
        return report_usage(
            "--core is for a C++ type or a .pte file: give -o a name that ends in .hpp, .cpp or .pte");
    if (options.core.empty())
        return report_usage("a header is for a core: give --core cortex-m4, for example; host is for tests");
    if (!options.report.empty() || !options.io.empty())
        return report_usage(
            "--report and --io are not for a header, which has both in it: `headrace show MODEL --core CORE` "
            "prints its report, with -o as JSON, and --html writes a page");
    const std::string name =
        options.name.empty() ? std::filesystem::path(options.output).stem().string() : options.name;
    if (!is_c_identifier(name)) return report_name(name);
    if (!options.methods.empty()) return lower_methods(options, name);
    const core_model made = lower_for_core(options, name, true);
    if (made.status != status_ok) return made.status;
    if (const auto written = write_files(options, made); !written) return report_error(written.error());
    say_written(options.model, options.output, made.header->report);
    return status_ok;
}

}  // namespace headrace::cli
