// SPDX-License-Identifier: MIT
// `compare --board` and `compare --cycles`: a model against what a board computed, and how long it took.
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <optional>

#include <headrace/base/printable.hpp>
#include <headrace/compare/board_comparison.hpp>
#include <headrace/compare/measured_times.hpp>
#include <headrace/io/etdump/reader.hpp>
#include <headrace/io/file/atomic_file.hpp>
#include <headrace/io/file/mapped_file.hpp>
#include <headrace/io/package/package.hpp>
#include <headrace/io/vela/figures.hpp>
#include <headrace/ir/source_location.hpp>
#include <headrace/run/models.hpp>

#include "board_text.hpp"
#include "commands.hpp"
#include "graph_files.hpp"
#include "header.hpp"
#include "messages.hpp"
#include "page.hpp"

namespace headrace::cli {

namespace {

// A model as the board has it: TOSA operators, or the instructions of a .pte file.
struct board_model {
    std::optional<loaded_model> loaded{};
    std::optional<lowering_outcome> lowered{};  ///< here, from a .pt2 file
    [[nodiscard]] graph& g() { return lowered ? *lowered->model.graph : *loaded->model.graph; }
    [[nodiscard]] result<void> check() const {
        return lowered ? lowered->model.file.check() : loaded->check();
    }
};

lower_options options_of_lowering(const compare_options& options) {
    lower_options lowering;
    lowering.model = options.reference;
    lowering.sizes = options.sizes;
    lowering.core = options.core;
    return lowering;
}

result<board_model> model_of_board(const compare_options& options) {
    board_model model;
    if (is_header_path(options.reference))
        return invalid(options.reference +
            ": a header has no graph that can be executed; give the model that it was lowered from, which its "
            "first line names");
    if (std::filesystem::path(options.reference).extension() == ".pt2") {
        model.lowered = lower_to_kernels(options_of_lowering(options), std::nullopt);
        if (model.lowered->failure) return std::move(*model.lowered->failure);
        if (!model.lowered->refusals.empty())
            return unsupported(format_diagnostics(model.lowered->refusals, options.reference));
        return model;
    }
    HEADRACE_TRY(loaded, load_model(options.reference, options.method, options.sizes));
    model.loaded.emplace(std::move(loaded));
    if (!options.io.empty()) {
        HEADRACE_TRY(describe_signature(model.g(), options.io, options.method));
    }
    return model;
}

// Lines of source by the names of exported nodes, which values of a flatbuffer inherit.
class source_lines {
public:
    [[nodiscard]] result<void> read(const std::string& path, const size_choices& sizes) {
        if (path.empty()) return {};
        HEADRACE_TRY(exported, read_model(path, sizes));
        for (const node& n : exported.graph->nodes())
            if (std::string line(source_line(n)); !line.empty()) lines_.emplace(n.name(), std::move(line));
        return {};
    }
    [[nodiscard]] std::string operator()(std::string_view name, const node& n) const {
        if (std::string own(source_line(n)); !own.empty()) return own;
        for (const std::string_view key : {name, name.substr(0, name.find('.'))})
            if (const auto found = lines_.find(key); found != lines_.end()) return found->second;
        return {};
    }

private:
    std::map<std::string, std::string, std::less<>> lines_;
};

result<std::optional<std::vector<tensor>>> inputs_of(
    const compare_options& options, const graph& g, bool is_exported) {
    if (options.samples.empty()) return std::nullopt;
    HEADRACE_TRY(given,
        read_inputs(g, options.samples, is_exported ? signature_side::exported : signature_side::graph));
    return std::optional(std::move(given.tensors));
}

// The debug buffer of an etdump: the file that is given, or the one of its name that ends in .bin.
result<mapped_file> buffer_of(const compare_options& options) {
    if (!options.debug_buffer.empty()) return open_mapped(options.debug_buffer);
    return open_mapped(std::filesystem::path(options.board).replace_extension(".bin"));
}

// A file of a board: records, which view the files.
struct opened_dump {
    mapped_file file{}, buffer{};
    std::vector<board_record> records{};

    [[nodiscard]] result<void> read(const compare_options& options) {
        HEADRACE_TRY(opened, open_mapped(options.board));
        file = std::move(opened);
        if (!is_etdump(file.bytes())) {
            auto read = read_board_dump(file.bytes());
            if (!read) return std::move(read).error().in(options.board);
            records = std::move(read).value();
            return {};
        }
        HEADRACE_TRY(beside, buffer_of(options));
        buffer = std::move(beside);
        auto recorded = read_etdump(file.bytes(), buffer.bytes());
        if (!recorded) return std::move(recorded).error().in(options.board);
        for (const etdump_tensor& t : recorded.value().tensors)
            records.push_back({instruction_text(t.instruction, t.result), t.bytes, t.offset});
        return {};
    }
    [[nodiscard]] result<void> check() const {
        HEADRACE_TRY(file.check());
        return buffer.bytes().empty() ? result<void>() : buffer.check();
    }
};

result<bool> compare_tensors(const compare_options& options, board_model& model) {
    opened_dump dump;
    HEADRACE_TRY(dump.read(options));
    source_lines sources;
    HEADRACE_TRY(sources.read(options.through, options.sizes));
    HEADRACE_TRY(inputs, inputs_of(options, model.g(), model.lowered || !options.io.empty()));
    auto compared = compare_with_board(model.g(), dump.records, inputs, std::ref(sources));
    HEADRACE_TRY(model.check());
    HEADRACE_TRY(dump.check());
    if (!compared) return std::move(compared).error().in(options.board);
    const board_comparison& c = compared.value();
    if (!options.json.empty()) {
        HEADRACE_TRY(write_atomically(options.json, std::string_view(board_json(c))));
    }
    fmt::print("{}", board_report(c, options.top));
    return c.first() == nullptr;
}

// --- times -------------------------------------------------------------------------------

// Estimates by the names of layers, and by those of their results in the flatbuffer.
predicted_times estimates_of(const firmware::model_header& header, const std::string& core) {
    predicted_times all{.of = fmt::format("instructions on {}", core), .unit = "instructions", .layers = {}};
    std::map<std::string, std::size_t> counts;
    for (const firmware::call& c : header.layers.calls) ++counts[c.name];
    for (const firmware::call& c : header.layers.calls)
        if (c.instructions && counts[c.name] == 1) all.layers[c.name] = static_cast<double>(*c.instructions);
    for (const firmware::traced_result& t : header.layers.traces)
        if (const auto estimate = header.layers.calls[t.call].instructions)
            all.layers[t.name] = static_cast<double>(*estimate);
    return all;
}

result<predicted_times> times_of_vela(const std::string& path) {
    HEADRACE_TRY(csv, open_mapped(path));
    auto figures = read_vela_figures({}, csv.text(), "cycles_total\n0\n");
    HEADRACE_TRY(csv.check());
    if (!figures) return std::move(figures).error().in(path);
    predicted_times all{.of = "cycles by the estimate of Vela", .unit = "cycles", .layers = {}};
    for (const vela_layer& l : figures.value().layers) all.layers[l.name] += static_cast<double>(l.cycles);
    return all;
}

result<measured_times> times_of_etdump(std::span<const std::byte> file) {
    HEADRACE_TRY(recorded, read_etdump(file, {}));
    measured_times all{.unit = "ticks", .layers = {}};
    for (const etdump_time& t : recorded.times)
        all.layers.emplace_back(instruction_text(t.instruction, 0), static_cast<double>(t.ticks));
    return all;
}

struct times {
    measured_times measured{};
    std::string core_json{};  ///< of the estimates, for a page
};

result<times> compare_times(const compare_options& options, const core_model* estimates) {
    times done;
    HEADRACE_TRY(file, open_mapped(options.cycles));
    auto measured =
        is_etdump(file.bytes()) ? times_of_etdump(file.bytes()) : read_measured_times(file.text());
    HEADRACE_TRY(file.check());
    if (!measured) return std::move(measured).error().in(options.cycles);
    done.measured = std::move(measured).value();
    predicted_times predicted;
    if (estimates != nullptr) {
        predicted = estimates_of(*estimates->header, options.core);
        json_writer w(json_style::compact);
        firmware::write_report(w, estimates->header->report);
        done.core_json = std::move(w).text();
    } else if (!options.vela_csv.empty()) {
        HEADRACE_TRY(of_vela, times_of_vela(options.vela_csv));
        predicted = std::move(of_vela);
    }
    fmt::print("{}", format_times(pair_times(done.measured, predicted), done.measured, predicted));
    return done;
}

result<void> write_board_page(const compare_options& options, board_model& model, const times& told) {
    if (options.html.empty()) return {};
    graph_history history;
    history.begin(model.g());
    const std::string measured = options.cycles.empty() ? "" : measured_json(told.measured);
    return write_page(options.html,
        {.title = options.reference,
            .last = &model.g(),
            .history = &history,
            .report = model.lowered ? &model.lowered->report : nullptr,
            .core = told.core_json,
            .measured = measured},
        options.vela_csv);
}

int check_options(const compare_options& options) {
    if (!options.other.empty())
        return report_usage("--board and --cycles are for one model: leave out " + options.other);
    if (!options.dot.empty()) return report_usage("--dot is for two models");
    if (!options.core.empty() && (options.cycles.empty() || !options.vela_csv.empty()))
        return report_usage("--core is for --cycles, without --vela-csv");
    const std::vector outputs{options.json, options.html};
    for (const std::string& read :
        {options.reference, options.board, options.debug_buffer, options.cycles, options.through}) {
        if (const int status = check_distinct_files(outputs, read); status != status_ok) return status;
    }
    return status_ok;
}

result<int> compare_all(const compare_options& options, const core_model* estimates) {
    bool is_equal = true;
    times told;
    HEADRACE_TRY(model, model_of_board(options));
    if (!options.board.empty()) {
        HEADRACE_TRY(equal, compare_tensors(options, model));
        is_equal = equal;
    }
    if (!options.cycles.empty()) {
        HEADRACE_TRY(done, compare_times(options, estimates));
        told = std::move(done);
    }
    HEADRACE_TRY(write_board_page(options, model, told));
    return is_equal ? status_ok : status_unsupported;
}

}  // namespace

int compare_board(const compare_options& options) {
    if (const int status = check_options(options); status != status_ok) return status;
    if (!options.html.empty()) {
        if (const auto possible = check_page(options.vela_csv); !possible)
            return report_error(possible.error());
    }
    core_model estimates;
    if (!options.core.empty()) {
        estimates = lower_for_core(options_of_lowering(options), "model", false);
        if (estimates.status != status_ok) return estimates.status;
    }
    const result<int> status = compare_all(options, estimates.header ? &estimates : nullptr);
    if (status) return status.value();
    // A status of 1 says that the board computes something else.
    return status.error().kind == error_kind::invalid ? report_usage(status.error().message)
                                                      : report_error(status.error());
}

}  // namespace headrace::cli
