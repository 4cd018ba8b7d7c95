// SPDX-License-Identifier: MIT
#include "pte.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/printable.hpp>
#include <headrace/compare/pte_check.hpp>
#include <headrace/firmware/layers.hpp>
#include <headrace/io/banks/memory_map_reader.hpp>
#include <headrace/io/file/atomic_file.hpp>
#include <headrace/io/file/json_writer.hpp>
#include <headrace/io/file/mapped_file.hpp>
#include <headrace/io/pte/file.hpp>
#include <headrace/io/pte/tosa_delegates.hpp>
#include <headrace/io/text/node_reasons.hpp>
#include <headrace/io/tosa/reader.hpp>
#include <headrace/lowering/lower_pte.hpp>
#include <headrace/lowering/quantize_model.hpp>
#include <headrace/run/models.hpp>

#include "messages.hpp"
#include "notes.hpp"
#include "package.hpp"
#include "placements.hpp"
#include "stream.hpp"
#include "vela.hpp"
#include "vgf.hpp"

namespace headrace::cli {

namespace {

void write_delegates(json_writer& w, const method_report& m) {
    w.member("target", m.target);
    w.begin_array("delegates");
    for (const delegate_report& d : m.delegates) {
        w.begin_object();
        w.member("backend", d.backend);
        w.member("nodes_out", d.nodes_out);
        w.member("nodes_in", d.nodes_in.value_or(0));
        w.end_object();
    }
    w.end_array();
    write_node_reasons(w, "host_nodes", m.host_nodes);
}

// The findings of --verify, as the report of a flatbuffer has them.
void write_verified(json_writer& w, const checked_method& m) {
    w.begin_array("verified");
    for (const verified_pass& pass : m.passes) {
        w.begin_object();
        w.member("pass", pass.pass);
        w.member("difference", pass.difference);
        w.end_object();
    }
    w.end_array();
    w.member("steps_off", m.output_steps);
    w.member("layer_steps_off", m.layer_steps);
}

std::string_view name_of_delegate(const lower_options& options) {
    const bool is_other = is_accelerator(options.delegate) || options.delegate == vgf_delegate;
    return is_other ? std::string_view(options.delegate) : "tosa";
}

// Returns the program that compiles for an Ethos-U: the one in the path unless the user names another.
std::string vela_of(const lower_options& options) { return options.vela.empty() ? "vela" : options.vela; }

std::string report_of(
    const lowered_pte& made, const lower_options& options, std::span<const checked_method> checked) {
    std::size_t next = 0;
    const std::string_view delegate = name_of_delegate(options);
    const std::string vela =
        is_accelerator(options.delegate) ? version_of_vela(vela_of(options)) : std::string();
    json_writer w;
    w.begin_object();
    w.member("bytes", made.file.size());
    w.member("constant_bytes", made.file.constant_bytes());
    w.member("delegate_bytes", made.file.delegate_bytes());
    w.begin_object("methods");
    for (const pte_method_size& m : made.file.methods()) {
        w.begin_object(m.name);
        w.member("planned_bytes", m.planned_bytes);
        w.member("lower_bound", m.lower_bound);
        if (m.memories.size() > 1) w.member("memories", m.memories);
        w.member("values", m.values);
        w.member("instructions", m.instructions);
        if (const auto told = made.reports.find(m.name); told != made.reports.end()) {
            write_delegates(w, told->second);
            if (!vela.empty()) w.member("vela", vela);
            write_placements(w, told->second, delegate);
        }
        if (!checked.empty()) write_verified(w, checked[next++]);
        w.end_object();
    }
    w.end_object();
    w.begin_object("nanoseconds");
    for (const stage_time& s : made.stages) w.member(s.name, s.nanoseconds);
    w.end_object();
    w.end_object();
    return std::move(w).text();
}

bool delegates(const lower_options& options) { return options.partition || !options.delegate.empty(); }

/// The options of a .pte file, read and checked.
struct pte_choices {
    std::optional<target_spec> target{};   // of the delegates
    std::optional<target_spec> kernels{};  // none: the portable ones
    bool integers = false;                 // at the signature
    std::string io{};                      // file for its description; empty: none
};

// Returns what the caller has to know; by the methods' names if the options name methods.
std::string io_text(const lower_options& options, const method_descriptions& io) {
    return (options.methods.empty() ? io_json(io.begin()->second) : io_json(io)) + '\n';
}

// Says what --verify has found, and which machine it has executed.
void say_verified(const file_map& models, const std::vector<checked_method>& findings) {
    std::size_t next = 0;
    for (const auto& [name, path] : models) {
        const checked_method& m = findings[next++];
        std::string text = models.size() == 1 ? "verified" : fmt::format("{}: verified", printable(name));
        text += m.has_delegates ? ", delegates as TOSA defines them, the rest as" : ", as";
        text += m.has_kernels ? " ExecuTorch's runtime with CMSIS-NN's kernels computes it"
                              : " ExecuTorch's portable kernels compute it";
        if (m.layers != 0) {
            const std::string steps = fmt::format("{:.3g}", m.layer_steps);
            text += fmt::format(
                "; {} at most {} quantization step{} off what floats give for equal inputs, the "
                "outputs {:.2g} in all",
                m.layers == 1 ? "1 layer is" : fmt::format("{} layers are", m.layers), steps,
                steps == "1" ? "" : "s", m.output_steps);
        }
        double worst = 0;
        for (const verified_pass& pass : m.passes) worst = std::max(worst, pass.difference);
        say(fmt::format("{}; {} changed the graph, the largest relative difference is {:.2g}", text,
            counted(m.passes.size(), "stage"), worst));
    }
}

result<int> write_pte(const lower_options& options, const pte_choices& choices, const file_map& models) {
    std::map<std::string, program, std::less<>> programs;
    for (const auto& [name, path] : models) {
        HEADRACE_TRY(model, read_for_lowering(path, options));
        // Delegates hold the names, and keep those that they had in earlier versions.
        if (!options.calibration.samples.empty() && !delegates(options)) name_as_written(*model.graph);
        say_notes(path, *model.graph);
        warn_of_written_inputs(path, model);
        programs.emplace(name, std::move(model));
    }
    page_collector pages;
    pte_check check(programs.size(), options.inputs);
    lowering_observer observer = pages.observer(is_page_path(options.report));
    if (options.verify) observer = check.observer(std::move(observer));
    pte_options lowering{.delegate = delegates(options),
        .integer_signature = choices.integers,
        .channels_last = options.io_layout == "nhwc",
        .target = choices.target,
        .kernels = choices.kernels,
        .observer = std::move(observer)};
    if (!options.memory.empty()) {
        HEADRACE_TRY(map, load_memory_map(options.memory));
        lowering.memory = std::move(map);
    }
    if (is_accelerator(options.delegate)) {
        lowering.compile = compile_by_vela(vela_of(options), options.delegate, lowering.memory);
        hint_at_accelerator(options.delegate, choices.target);
        if (!choices.target) lowering.target = target_of_accelerator(options.delegate);
    }
    if (options.delegate == vgf_delegate) lowering.compile = compile_to_vgf(options.converter);
    HEADRACE_TRY(made, lower_to_pte(std::move(programs), lowering));
    HEADRACE_TRY(write_method_pages(options, models, made.reports, std::move(pages)));
    if (!made.refusals.empty()) {
        const int status = report_diagnostics(made.refusals, names_of(models));
        if (options.partition)
            fmt::print(stderr,
                "note: a package can hold nodes that ExecuTorch has no kernel for: give -o a directory\n");
        return status;
    }
    const std::vector<checked_method> findings =
        options.verify ? check.findings() : std::vector<checked_method>();
    if (!choices.io.empty()) {
        HEADRACE_TRY(write_atomically(choices.io, io_text(options, made.io)));
    }
    if (!options.report.empty() && !is_page_path(options.report)) {
        HEADRACE_TRY(write_atomically(options.report, report_of(made, options, findings) + '\n'));
    }
    const byte_source file = [&](const byte_sink& sink) -> result<void> {
        if (!made.file.write_to(sink)) return {};  // the sink has the reason
        for (const auto& [name, p] : made.methods) {
            if (auto whole = p.file.check(); !whole) return whole;
        }
        return {};
    };
    const auto written = write_atomically(options.output, file);
    if (!written) return written.error();
    if (options.verify) say_verified(models, findings);
    if (lowering.kernels) {
        print_placements(made, options.output);
    } else {
        print_reports(made.reports, options.output);
    }
    say(fmt::format("{} -> {}: {}, {}, {} of them constants", names_of(models), options.output,
        counted(models.size(), "method"), format_size(made.file.size()),
        format_size(made.file.constant_bytes())));
    return status_ok;
}

// Returns the number of the delegate that the options name, among those that a method calls.
result<std::uint32_t> chosen_delegate(const pte_fb::Method& method, int number) {
    const std::size_t count = method.delegates() == nullptr ? 0 : method.delegates()->size();
    if (count == 0) return unsupported("the method has no delegate; lower it with --delegate tosa");
    if (number < 0 && count != 1)
        return invalid(fmt::format("the method has {} delegates; choose one with --delegate", count));
    const auto chosen = static_cast<std::size_t>(std::max(number, 0));
    if (chosen >= count) return invalid(fmt::format("the method has {} delegates, the first is 0", count));
    return static_cast<std::uint32_t>(chosen);
}

result<std::vector<std::byte>> restore_delegate(const pte_file& file, const unpack_options& options) {
    HEADRACE_TRY(method, file.method(options.method));
    HEADRACE_TRY(number, chosen_delegate(*method, options.delegate));
    const pte_fb::Delegate& d = *method->delegates()->Get(number);
    const std::string_view id = d.id() == nullptr ? std::string_view() : d.id()->string_view();
    if (id != tosa_backend_id)
        return unsupported("the delegate is for the backend '" + printable(id) + "', not for TOSA");
    HEADRACE_TRY(blob, file.delegate(d));
    HEADRACE_TRY(constants, file.named_data(pte::shared_constants_key));
    return restore_tosa(blob, constants, largest_restored(file.size()));
}

}  // namespace

bool is_pte_path(const std::string& path) { return std::filesystem::path(path).extension() == ".pte"; }

std::vector<std::string> pte_methods(const std::string& path) {
    const auto file = open_mapped(path);
    if (!file || !pte_file::is_pte(file.value().bytes())) return {};
    const auto opened = pte_file::open(file.value().bytes());
    return opened ? opened.value().method_names() : std::vector<std::string>();
}

int check_pte_method(const std::vector<std::string>& methods, const std::string& method) {
    if (method.empty() && methods.size() == 1) return status_ok;
    if (std::ranges::find(methods, method) != methods.end()) return status_ok;
    std::string known;
    for (const std::string& name : methods) known += (known.empty() ? "" : ", ") + printable(name);
    return report_usage("--method: name one of the file's methods: " + known);
}

result<void> unpack_pte(const unpack_options& options) {
    HEADRACE_TRY(mapped, open_mapped(options.package));
    const auto file = pte_file::open(mapped.bytes());
    auto flatbuffer = file ? restore_delegate(file.value(), options) : file.error();
    HEADRACE_TRY(mapped.check());
    if (!flatbuffer) return flatbuffer.error().in(options.package);
    HEADRACE_TRY(read_tosa(flatbuffer.value()));
    if (auto written = write_atomically(options.output, flatbuffer.value()); !written) return written.error();
    return {};
}

namespace {

// Reports options that mean nothing for a .pte file, or not together.
int check_pte_options(const lower_options& options, const pte_choices& choices) {
    if (!options.dot_directory.empty() || !options.ir_directory.empty() || options.plan_memory)
        return report_usage(
            "--dot, --ir and --plan-memory are not for .pte files, whose memory is always planned");
    if (!options.name.empty())
        return report_usage("--name is for a C++ type: give -o a name that ends in .hpp");
    if (!options.state.empty())
        return report_usage("--state is for flatbuffers and C++ types; a .pte file keeps states by itself");
    if (!options.inputs.empty() && !options.verify)
        return report_usage("--in is for --verify, which executes the model with these inputs");
    if (options.methods.size() > 1 && !options.inputs.empty())
        return report_usage("--in is for one method; --verify executes several with random inputs");
    if (options.arena != 0 || options.flash != 0)
        return report_usage(
            "--arena and --flash are for a C++ type: give -o a name that ends in .hpp; --report says how much "
            "memory a .pte file plans");
    if (!options.cost.empty())
        return report_usage("--cost is for one flatbuffer: give -o a name that ends in .tosa");
    if (!options.vela.empty() && !is_accelerator(options.delegate))
        return report_usage("--vela is for Ethos-U delegates: give --delegate, such as ethos-u55-128");
    if (!options.converter.empty() && options.delegate != vgf_delegate)
        return report_usage("--model-converter is for --delegate vgf, or -o with a name that ends in .vgf");
    if (choices.target && !delegates(options))
        return report_usage("--target is for the delegates of a .pte file: add --delegate tosa");
    if (!options.methods.empty() && !options.calibration.samples.empty())
        return report_usage("--quantize is for one model, not for several methods");
    return status_ok;
}

// Reads --kernels and --core. A core alone asks for its kernels; the portable ones run on any.
int choose_kernels(const lower_options& options, std::optional<target_spec>& kernels) {
    constexpr const char* default_core = "cortex-m55";  // as of ExecuTorch's own backend
    if (options.core.empty() && options.kernels != "cortex_m") return status_ok;
    const auto core = firmware::find_core(options.core.empty() ? default_core : options.core);
    if (!core || core->name == "host") {
        std::string known;
        for (const firmware::core_description& c : firmware::all_cores())
            if (c.name != "host") known += fmt::format("{}{}", known.empty() ? "" : ", ", c.name);
        return report_usage(fmt::format(
            "--core: a .pte file has no kernels for {}; the cores are {}", printable(options.core), known));
    }
    if (options.kernels == "portable") return status_ok;
    kernels = target_spec{}.with(target_feature::profile_int).with(target_feature::core);
    if (core->set == on_device::core_id::dsp) kernels->add(target_feature::dsp);
    if (core->set == on_device::core_id::mve) kernels->add(target_feature::mve);
    return status_ok;
}

// Reads --io-type, and --io, which meant it in earlier versions: `warning` says so then.
int choose_signature(const lower_options& options, pte_choices& choices, std::string& warning) {
    const bool is_type = options.io == "int8" || options.io == "float";
    choices.integers = options.io_type == "int8";
    if (!is_type) {
        choices.io = options.io;
    } else if (!options.io_type.empty()) {
        return report_usage(fmt::format(
            "--io {0} is the former spelling of --io-type; name a file of that name ./{0}", options.io));
    } else {
        choices.integers = options.io == "int8";
        warning = fmt::format(
            "warning: --io {0}: write --io-type {0}; --io is for the file that describes inputs and outputs\n",
            options.io);
    }
    return status_ok;
}

}  // namespace

int lower_pte(const lower_options& options) {
    pte_choices choices;
    std::string warning;
    file_map models;  // by method
    if (const int status = parse_target_option(options.target, choices.target); status != status_ok)
        return status;
    if (const int status = check_pte_options(options, choices); status != status_ok) return status;
    if (const int status = choose_kernels(options, choices.kernels); status != status_ok) return status;
    if (const int status = choose_signature(options, choices, warning); status != status_ok) return status;
    if (const int status = methods_of(options, models); status != status_ok) return status;
    if (const int status =
            check_distinct_files(std::vector{options.output, choices.io, options.report}, options.model);
        status != status_ok)
        return status;
    fmt::print(stderr, "{}", warning);
    const result<int> status = write_pte(options, choices, models);
    return status ? status.value() : report_error(status.error());
}

}  // namespace headrace::cli
