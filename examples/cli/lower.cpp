// SPDX-License-Identifier: MIT
#include "lower.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <functional>
#include <new>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/printable.hpp>
#include <headrace/infer/multiply_accumulates.hpp>
#include <headrace/io/banks/memory_map_reader.hpp>
#include <headrace/io/file/atomic_file.hpp>
#include <headrace/io/file/os.hpp>
#include <headrace/io/tosa/stream.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/lowering/standard_pipeline.hpp>
#include <headrace/opt/reproducer.hpp>
#include <headrace/opt/stage_texts.hpp>
#include <headrace/prove/certificate.hpp>
#include <headrace/run/models.hpp>

#include "batch.hpp"
#include "header.hpp"
#include "notes.hpp"
#include "package.hpp"
#include "page.hpp"
#include "pte.hpp"
#include "quantize.hpp"
#include "stages.hpp"
#include "stream.hpp"
#include "vela.hpp"
#include "vgf.hpp"

namespace headrace::cli {

namespace {

/// The observers of a lowering: pictures, texts, and the history that a page shows.
struct watchers {
    picture_folder pictures;
    stage_texts texts;
    graph_history history{};
    std::vector<std::pair<std::string, bool>> ran{};  ///< passes, and whether they changed anything

    result<void> see(const graph& g, std::string_view stage) {
        if (pictures.is_wanted()) {
            HEADRACE_TRY(pictures.draw(g, stage));
        }
        return texts.is_wanted() ? texts.write(g, stage) : result<void>();
    }
};

// Returns the names in "decompose_gelu,fold_constants", which `lower` has checked. The registry is made only
// if there are any.
std::set<std::string, std::less<>> names_in(std::string_view list) {
    std::set<std::string, std::less<>> names;
    if (list.empty()) return names;
    if (const auto chosen = standard_passes().select(list)) {
        for (const any_pass& p : chosen.value()) names.emplace(p.name());
    }
    return names;
}

/// Lowers again, up to the failing pass, and writes the graph that the pass got.
result<void> write_lower_reproducer(const lower_options& options, const std::optional<target_spec>& target,
    const std::vector<std::string>& names, std::size_t ran) {
    pass_progress progress(names);
    bool written = false;
    result<void> done;
    const auto keep = [&](const graph& g) -> result<void> {
        if (progress.count() == ran && !std::exchange(written, true))
            done = write_reproducer(options.reproducer, g, {progress.left(), options.verify, options.inputs});
        if (!done) return done.error();
        return {};
    };
    lowering_observer observer;
    observer.before_passes = [&](graph& g) { return keep(g); };
    observer.after_pass = [&](const pass_record& pass, graph& g) -> result<void> {
        progress.ended(pass.name);
        return keep(g);
    };
    static_cast<void>(try_lowering([&] { return read_for_lowering(options.model, options); },
        {.target = target,
            .channels_last = options.io_layout == "nhwc",
            .observer = std::move(observer),
            .state = state_of(options),
            .streams = true}));
    return done;
}

/// Returns text for the message of a failure: a pass is at fault, not the model.
std::string reproduce(const lower_options& options, const std::optional<target_spec>& target,
    const lowering_outcome& done, const std::vector<std::pair<std::string, bool>>& ran) {
    if (ran.empty()) return {};
    if (options.reproducer.empty()) return reproducer_hint();
    // --verify executes after a pass was observed: if that found the fault, the last pass is to blame.
    const auto rewriting = std::ranges::count(ran, true, &std::pair<std::string, bool>::second);
    const bool found_by_execution = options.verify && ran.back().second &&
        done.report.verified.size() < static_cast<std::size_t>(rewriting);
    std::vector<std::string> names;
    for (const pass_description& p : describe_standard_pipeline().passes) names.emplace_back(p.name);
    const auto written =
        write_lower_reproducer(options, target, names, ran.size() - (found_by_execution ? 1 : 0));
    return written ? format_reproducer(options.reproducer) : "; " + std::string(written.error().message);
}

lowering_observer observer_of(const lower_options& options, watchers& to, const show_function& show) {
    const bool records = is_page_path(options.report);
    lowering_observer observer;
    observer.after_pass = [&to, &show, records](const pass_record& pass, graph& g) -> result<void> {
        to.ran.emplace_back(pass.name, pass.nodes.rewritten != 0);
        if (show) show(pass.name);
        if (records) to.history.add(pass, g);
        if (pass.nodes.rewritten != 0) return to.see(g, pass.name);
        return {};
    };
    observer.before_passes = [&to, records](graph& g) -> result<void> {
        to.ran.clear();
        if (records) to.history.begin(g);
        return to.see(g, "input");
    };
    return observer;
}

// A refused model has a page as well: it shows the refused nodes.
result<void> write_report_page(const lower_options& options, const lowering_outcome& done,
    const graph_history& history, std::string_view per_layer) {
    if (!is_page_path(options.report)) return {};
    return write_page(options.report,
        {.title = options.model,
            .last = done.model.graph.get(),
            .history = &history,
            .report = &done.report,
            .refusals = done.refusals,
            .vela_csv = per_layer},
        options.vela_csv);
}

byte_source flatbuffer_of(const lowering_outcome& done) {
    return [&done](const byte_sink& sink) -> result<void> {
        if (!done.stream->write_to(sink)) return {};  // the sink has the reason
        return done.model.file.check();
    };
}

// Adds Vela's estimates to the report; its figures by layer are for the page.
std::string add_cost(const lower_options& options, lowering_outcome& done) {
    if (options.cost.empty() || done.failure || !done.refusals.empty()) return {};
    std::optional<memory_map> memory;
    if (!options.memory.empty()) {
        auto map = load_memory_map(options.memory);
        if (!map) {
            done.failure = map.error();
            return {};
        }
        memory = std::move(map).value();
    }
    auto estimate = estimate_by_vela(
        options.vela.empty() ? "vela" : options.vela, options.cost, flatbuffer_of(done), memory);
    if (!estimate) {
        done.failure = estimate.error();
        return {};
    }
    done.report.cost = std::move(estimate.value().figures);
    return std::move(estimate.value().per_layer);
}

// Adds a warning if a lowered model is not certified.
void add_certificate(const lower_options& options, lowering_outcome& done) {
    if (!options.certify || done.failure || !done.refusals.empty()) return;
    const auto proven = prove::certify(*done.model.graph);
    if (!proven) {
        done.warnings.push_back("not certified: " + std::string(proven.error().message));
    } else if (!proven.value().no_overflow()) {
        done.warnings.push_back(
            prove::certificate_conclusion(proven.value()) + "; `headrace prove` lists them");
    }
}

// The flatbuffer is written last: if it exists, so do the files that explain it.
result<void> write_files(
    const lower_options& options, const lowering_outcome& done, std::uint64_t& bytes_written) {
    if (!options.batch.empty()) {
        std::error_code ignored;  // writing into the folder will fail and report why
        std::filesystem::create_directories(std::filesystem::path(options.output).parent_path(), ignored);
    }
    std::vector<std::byte> vgf;
    if (is_vgf_path(options.output)) {
        HEADRACE_TRY(converted, convert_to_vgf(options.converter, flatbuffer_of(done)));
        vgf = std::move(converted);
        bytes_written = vgf.size();
    }
    if (!options.io.empty()) {
        HEADRACE_TRY(write_atomically(options.io, io_json(describe_io(*done.model.graph)) + '\n'));
    }
    if (!options.report.empty() && !is_page_path(options.report)) {
        HEADRACE_TRY(write_atomically(options.report, report_json(done.report) + '\n'));
    }
    if (is_vgf_path(options.output)) return write_atomically(options.output, std::span<const std::byte>(vgf));
    return write_atomically(options.output, flatbuffer_of(done));
}

std::uint64_t macs_of(const graph& g) {
    std::uint64_t macs = 0;
    for_each_graph(g, [&](const graph& part) {
        for (const node& n : part.nodes()) macs += multiply_accumulates(n);
    });
    return macs;
}

file_outcome lower_and_write(
    const lower_options& options, const std::optional<target_spec>& target, const show_function& show) {
    watchers watching{.pictures = picture_folder(options.dot_directory),
        .texts = stage_texts(options.ir_directory, names_in(options.ir_around))};
    bool has_warned = false;
    const auto source = [&]() -> result<program> {
        HEADRACE_TRY(model, read_for_lowering(options.model, options));
        if (options.state.empty() && !std::exchange(has_warned, true))
            warn_of_written_inputs(options.model, model);
        return std::move(model);
    };
    lowering_outcome done = try_lowering(source,
        {.target = target,
            .channels_last = options.io_layout == "nhwc",
            .verify = options.verify,
            .inputs = options.inputs,
            .observer = observer_of(options, watching, show),
            .state = state_of(options),
            .streams = true,
            .strict = options.strict});
    done.report.model = options.model;
    if (!done.failure) say_notes(options.model, *done.model.graph);
    add_certificate(options, done);
    const std::string per_layer = add_cost(options, done);
    file_outcome outcome;
    if (done.failure) {
        outcome.status = status_of(*done.failure);
        outcome.error = done.failure->message;
        const auto& last = watching.texts.last();
        if (done.failure->kind == error_kind::invalid && !last.empty() && options.reproducer.empty()) {
            outcome.error += fmt::format("; {} is the graph before that", last.string());
        } else if (done.failure->kind == error_kind::invalid) {
            outcome.error += reproduce(options, target, done, watching.ran);
        }
    } else if (auto page = write_report_page(options, done, watching.history, per_layer); !page) {
        outcome.status = status_of(page.error());
        outcome.error = page.error().message;
    } else if (outcome.has_page = is_page_path(options.report); !done.refusals.empty()) {
        outcome.status = status_unsupported;
    } else {
        const std::uint64_t began = steady_nanoseconds();
        outcome.bytes = done.stream->size();
        outcome.macs = macs_of(*done.model.graph);
        if (auto written = write_files(options, done, outcome.bytes); !written) {
            outcome.status = status_of(written.error());
            outcome.error = written.error().message;
        }
        done.report.stages.push_back({"write", steady_nanoseconds() - began});
    }
    if (!done.failure) watching.texts.end();
    outcome.refusals = std::move(done.refusals);
    outcome.warnings = std::move(done.warnings);
    outcome.report = std::move(done.report);
    return outcome;
}

std::string format_transposes(const lowering_report& report) {
    const std::size_t count = report.transposes_left.size();
    if (count == 0) return "no transposes";
    std::uint64_t bytes = 0;
    for (const remaining_transpose& t : report.transposes_left) bytes += static_cast<std::uint64_t>(t.bytes);
    return fmt::format("{} ({})", counted(count, "transpose"), format_size(bytes));
}

/// Prints Vela's estimate: the sum, and the operators by cycles.
void say_cost(const vela_figures& cost) {
    const std::string vela = cost.version.empty() ? "" : " by Vela " + cost.version;
    const std::string dram = cost.dram_kib == 0 ? "" : fmt::format(", {:.1f} KiB DRAM", cost.dram_kib);
    const std::string place =
        cost.constants_in.empty() ? "" : fmt::format(" in {}", printable(cost.constants_in));
    say(fmt::format(
        "{}: {} cycles{}, {} on the NPU, {} on the CPU, {:.1f} KiB SRAM{}, {:.1f} KiB of constants{}",
        cost.accelerator, cost.cycles, vela, counted(cost.on_npu(), "operator"), cost.on_cpu(), cost.sram_kib,
        dram, cost.flash_kib, place));
    const auto operators = cost.by_operator();
    std::uint64_t sum = 0;  // work in parallel counts once in the total
    for (const vela_operator& o : operators) sum += o.cycles;
    for (const vela_operator& o : operators)
        say(fmt::format("{:>12} {:>4.0f} %  {} x {}", o.cycles,
            100.0 * static_cast<double>(o.cycles) / static_cast<double>(sum), o.count, printable(o.op)));
}

/// Prints what was done, in one line.
void say_done(const lower_options& options, const file_outcome& done, std::uint64_t nanoseconds) {
    const lowering_report& report = done.report;
    if (options.verify) say_verified(report);
    say(fmt::format("{} -> {}: {}, {} became {}, {}, {} in {:.2f} s", options.model, options.output,
        report.target, counted(report.nodes_in, "node"), report.nodes_out, format_transposes(report),
        format_size(done.bytes), static_cast<double>(nanoseconds) / 1e9));
    if (const std::string merges = merges_text(report.merges); !merges.empty()) say(merges);
    if (report.cost) say_cost(*report.cost);
}

/// Shows on a terminal the name of the pass that has just ended, once a lowering takes long.
class pass_line {
public:
    void show(std::string_view pass) {
        constexpr std::uint64_t half_a_second = 500'000'000;
        if (!terminal_ || steady_nanoseconds() - began_ < half_a_second) return;
        fmt::print(stderr, "\r\033[K{}", pass);
        shown_ = true;
    }
    void clear() const {
        if (shown_) fmt::print(stderr, "\r\033[K");
    }

private:
    bool terminal_ = os::is_terminal(2) && !is_quiet();
    bool shown_ = false;
    std::uint64_t began_ = steady_nanoseconds();
};

}  // namespace

void say_verified(const lowering_report& report, std::string_view method) {
    constexpr double rounded_otherwise = 1.01;  // a number near a tie may round the other way
    const std::string before = method.empty() ? "" : fmt::format("{}: ", printable(method));
    say(before + verified_text(report.verified));
    if (report.steps_off > rounded_otherwise)
        say(fmt::format("{}an output is up to {:.1f} of its quantization steps off what floats give", before,
            report.steps_off));
}

state_kind state_of(const lower_options& options) {
    return options.state.empty() ? state_kind::refused
        : options.state == "io"  ? state_kind::io
                                 : state_kind::variable;
}

file_outcome lower_to_files(
    const lower_options& options, const std::optional<target_spec>& target, const show_function& show_pass) {
    try {
        return lower_and_write(options, target, show_pass);
    } catch (const std::bad_alloc&) {
        return {.status = status_malformed, .error = options.model + ": not enough memory"};
    } catch (const std::exception& e) {
        return {.status = status_malformed, .error = options.model + ": " + e.what()};
    }
}

std::string text_of(const file_outcome& outcome, const std::string& model) {
    if (outcome.status == status_ok) {
        std::string text;
        for (const std::string& w : outcome.warnings)
            text += fmt::format("warning: {}: {}\n", printable(model), printable(w, max_printed_message));
        return text;
    }
    return outcome.refusals.empty() ? format_error(outcome.error)
                                    : format_diagnostics(outcome.refusals, model);
}

namespace {

int check_report_page(const lower_options& options) {
    if (!is_page_path(options.report))
        return options.vela_csv.empty()
            ? status_ok
            : report_usage("--vela-csv is for a page: give --report a name that ends in .html");
    const bool is_one_flatbuffer = options.batch.empty() && !is_pte_path(options.output) &&
        !options.partition && options.methods.empty();
    if (!is_one_flatbuffer && !options.vela_csv.empty())
        return report_usage("--vela-csv is for the page of one flatbuffer");
    const auto possible = check_page(options.vela_csv);
    return possible ? status_ok : report_error(possible.error());
}

bool is_dtype_name(std::string_view word) {
    return word == "float" ||
        std::ranges::any_of(dtype_table, [&](const auto& traits) { return traits.name == word; });
}

// Reports options that mean something for .pte files only.
int check_without_pte(const lower_options& options) {
    if (!options.kernels.empty())
        return report_usage("--kernels is for .pte files: give -o a name that ends in .pte");
    if (!options.io_type.empty())
        return report_usage(
            "--io-type is for .pte files: a quantized model takes and gives integers in other outputs, whose "
            "scales --io writes");
    if (!options.converter.empty() && !is_vgf_path(options.output))
        return report_usage("--model-converter is for --delegate vgf, or -o with a name that ends in .vgf");
    if (is_vgf_path(options.output) && (options.partition || options.plan_memory || !options.methods.empty()))
        return report_usage(
            "a .vgf file is one model that runs as a whole: give -o a name that ends in .pte");
    if (is_dtype_name(options.io) && options.batch.empty())
        say(fmt::format(
            "note: --io {0} writes the description of inputs and outputs to a file called {0}; their "
            "types are those of the model, and --io-type is for .pte files",
            options.io));
    return status_ok;
}

}  // namespace

int lower(const lower_options& options) {
    if (const int status = check_stream_option(options); status != status_ok) return status;
    if (const int status = check_report_page(options); status != status_ok) return status;
    const bool is_flatbuffer = !is_pte_path(options.output) && !is_header_path(options.output) &&
        options.core.empty() && !options.partition && options.methods.empty();
    if (options.certify && !is_flatbuffer)
        return report_usage("--certify is for flatbuffers; `headrace prove` takes any .pt2 file");
    if (is_pte_path(options.output) && options.batch.empty()) return lower_pte(options);
    if (const int status = check_without_pte(options); status != status_ok) return status;
    if (!options.delegate.empty())
        return report_usage("--delegate is for .pte files: give -o a name that ends in .pte");
    if (is_header_path(options.output) || !options.core.empty()) return lower_to_header(options);
    if (!options.vela.empty() && options.cost.empty())
        return report_usage("--vela is for --cost, or for --delegate of a .pte file");
    if (!options.memory.empty() && options.cost.empty())
        return report_usage(
            "--memory is for a C++ header, for a .pte file, or for --cost; `headrace plan` plans a flatbuffer's");
    const bool packaged = options.partition || options.plan_memory || !options.methods.empty();
    if (!options.methods.empty() && std::filesystem::path(options.output).extension() == ".tosa")
        return report_usage(
            "a flatbuffer has one method: give -o a name that ends in .pte, or a directory for a package");
    if (packaged && !options.state.empty())
        return report_usage(
            "--state is for flatbuffers, not for a package; a .pte file keeps states by itself");
    if (packaged && options.io_layout != "nchw")
        return report_usage("--io-layout is for one flatbuffer, not for a package");
    if (packaged && !options.calibration.samples.empty())
        return report_usage("--quantize is for one flatbuffer or .pte file, not for a package");
    if (!options.cost.empty() && (packaged || !options.batch.empty()))
        return report_usage("--cost is for one flatbuffer, not for a package or --batch");
    if (packaged) return lower_package(options);
    if (options.model.empty() && options.batch.empty())
        return report_usage("lower needs a model, --method or --batch");
    std::optional<target_spec> target;
    if (const int status = parse_target_option(options.target, target); status != status_ok) return status;
    if (!options.cost.empty()) {
        hint_at_accelerator(options.cost, target);
        if (!target) target = target_of_accelerator(options.cost);
    }
    if (const int status =
            check_distinct_files(std::vector{options.output, options.io, options.report}, options.model);
        status != status_ok)
        return status;
    if (!options.batch.empty()) return lower_batch(options, target);
    if (!options.ir_around.empty()) {
        if (const auto known = standard_passes().select(options.ir_around); !known)
            return report_usage("--ir-around: " + std::string(known.error().message));
    }
    if (const int status = check_extension(options.output, {".tosa", ".pte", ".hpp", ".vgf"});
        status != status_ok)
        return status;
    const std::uint64_t began = steady_nanoseconds();
    pass_line line;
    const file_outcome outcome =
        lower_to_files(options, target, [&](std::string_view pass) { line.show(pass); });
    line.clear();
    fmt::print(stderr, "{}", text_of(outcome, options.model));
    if (outcome.status == status_ok) say_done(options, outcome, steady_nanoseconds() - began);
    return outcome.status;
}

}  // namespace headrace::cli
