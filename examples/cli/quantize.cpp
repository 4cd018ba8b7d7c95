// SPDX-License-Identifier: MIT
#include "quantize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <headrace/base/printable.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/io/file/mapped_file.hpp>
#include <headrace/io/file/os.hpp>
#include <headrace/io/pt2/writer.hpp>
#include <headrace/io/text/quantization_config_reader.hpp>
#include <headrace/ir/linear_merges.hpp>
#include <headrace/lowering/device/take_device_integers.hpp>
#include <headrace/run/models.hpp>

#include "messages.hpp"
#include "notes.hpp"
#include "threads.hpp"

namespace headrace::cli {

namespace {

result<std::vector<device_input>> device_inputs_of(const calibration_options& options) {
    std::vector<device_input> inputs;
    for (const std::string& text : options.inputs) {
        HEADRACE_TRY(input, parse_device_input(text));
        inputs.push_back(std::move(input));
    }
    return inputs;
}

/// Shows on a terminal how many samples have begun, once a calibration takes long.
class sample_line {
public:
    sample_line() = default;
    sample_line(const sample_line&) = delete;
    sample_line& operator=(const sample_line&) = delete;
    ~sample_line() {
        if (is_shown_) fmt::print(stderr, "\r\033[K");
    }

    void show(std::size_t i, std::size_t count) {
        constexpr std::uint64_t half_a_second = 500'000'000;
        if (!is_terminal_) return;
        const std::lock_guard lock(mutex_);
        const std::uint64_t now = steady_nanoseconds();
        if (now - shown_ < half_a_second) return;
        fmt::print(stderr, "\r\033[Ksample {}", i + 1);
        if (count != 0) fmt::print(stderr, " of {}", count);
        shown_ = now;
        is_shown_ = true;
    }

private:
    bool is_terminal_ = os::is_terminal(2) && !is_quiet();
    bool is_shown_ = false;
    std::uint64_t shown_ = steady_nanoseconds();
    std::mutex mutex_;
};

/// Converts the options; samples and observers run on all processors.
result<quantization_options> options_of(const calibration_options& options) {
    quantization_options chosen{.samples = options.samples};
    HEADRACE_TRY(devices, device_inputs_of(options));
    chosen.device_inputs = std::move(devices);
    op_scheme& all = chosen.config.all;
    if (!options.config.empty()) {
        HEADRACE_TRY(file, open_mapped(options.config));
        auto config = read_quantization_config(file.bytes());
        if (!config) return config.error().in(options.config);
        chosen.config = std::move(config).value();
    }
    if (!options.activations.empty()) {
        HEADRACE_TRY(set_activations(all, options.activations));
    }
    if (!options.weights.empty()) {
        HEADRACE_TRY(set_weights(all, options.weights));
    }
    if (!options.observer.empty()) {
        HEADRACE_TRY(set_observer(all, options.observer));
    }
    if (options.per_tensor) all.weight.per_channel = false;
    chosen.config.equalize = chosen.config.equalize || options.equalize;
    if (options.headroom != 1) all.activation.headroom = options.headroom;
    if (options.best > 0) chosen.search_for = options.best;
    chosen.int16_share = options.int16_share;
    chosen.config.smooth = chosen.config.smooth || options.smooth;
    chosen.config.keep_branches = chosen.config.keep_branches || options.keep_branches;
    chosen.config.merge_branches = chosen.config.merge_branches || options.merge_branches;
    chosen.config.correct_biases = chosen.config.correct_biases || options.correct_biases;
    chosen.observe = options.observe;
    chosen.statistics = options.statistics;
    chosen.in_parallel = on_threads(options.jobs);
    chosen.progress = [line = std::make_shared<sample_line>()](
                          std::size_t i, std::size_t count) { line->show(i, count); };
    return chosen;
}

// Makes inputs integers where the options ask for it.
result<void> take_integers(program& model, const calibration_options& options) {
    HEADRACE_TRY(inputs, device_inputs_of(options));
    const bool is_quantized = model.graph->census().contains(info_of_dialect<quantized_decomposed::dialect>);
    return take_device_integers(model, inputs, is_quantized);
}

result<model_quantization> quantize_by(program& model, quantization_options chosen) {
    auto done = quantize_model(model, chosen);
    chosen.progress = nullptr;         // clears its line before warnings
    HEADRACE_TRY(model.file.check());  // the failure may be due to a file that has changed
    if (!done) return done.error();
    for (const std::string& w : done.value().warnings) fmt::print(stderr, "warning: {}\n", printable(w));
    return done;
}

void print_search(std::FILE* stream, const quantization_search& search) {
    for (const quantization_trial& t : search.trials)
        fmt::print(stream, "{:<28} {:6.2f} dB{}\n", t.change, t.sqnr, t.is_taken ? ", taken" : "");
    std::size_t wide = 0;
    for (const quantization_rule& r : search.best.rules)
        wide += r.scheme && r.scheme->activation.type == dtype::int16 ? 1 : 0;
    if (wide != 0) fmt::print(stream, "{} {} 16 bits\n", wide, wide == 1 ? "rule gives" : "rules give");
    if (!search.is_complete) fmt::print(stream, "time ran out before everything was tried\n");
}

result<void> quantize_to_file(const quantize_options& options) {
    HEADRACE_TRY(chosen, options_of(options.calibration));
    HEADRACE_TRY(model, read_model(options.model, options.sizes));
    say_notes(options.model, *model.graph);
    HEADRACE_TRY(summary, quantize_by(model, std::move(chosen)));
    if (!options.output.empty()) {
        HEADRACE_TRY(write_pt2(options.output, model));
    }
    HEADRACE_TRY(model.file.check());
    if (is_quiet()) return {};
    std::FILE* const stream = report_stream(options.output);
    if (options.output.empty()) {
        fmt::print(stream, "{}: {} of {} observed\n", options.calibration.observe,
            counted(summary.points, "tensor"), options.model);
        return {};
    }
    print_search(stream, summary.search);
    const std::string merges = merges_text(merged_in(*model.graph));
    if (!merges.empty()) fmt::print(stream, "{}\n", merges);
    fmt::print(
        stream, "{} quantized, {} of them constants\n", counted(summary.points, "tensor"), summary.constants);
    return {};
}

}  // namespace

result<program> read_and_quantize(
    const std::string& path, const size_choices& choices, const calibration_options& options) {
    HEADRACE_TRY(model, read_model(path, choices));
    if (options.keep_branches) keep_branches(*model.graph);
    if (options.samples.empty()) {
        HEADRACE_TRY(take_integers(model, options));
        return model;
    }
    HEADRACE_TRY(chosen, options_of(options));
    HEADRACE_TRY(quantize_by(model, std::move(chosen)));
    return model;
}

std::string merges_text(const std::vector<merged_nodes>& merges) {
    if (merges.empty()) return {};
    std::size_t nodes = 0;
    double error = 0;
    for (const merged_nodes& m : merges) {
        nodes += m.merged.size();
        error = std::max(error, m.error);
    }
    return fmt::format("{} became {}, whose weights are rounded by at most {:.1g} of their size",
        counted(nodes, "linear node"), counted(merges.size(), "layer"), error);
}

int quantize(const quantize_options& options) {
    const calibration_options& given = options.calibration;
    if (given.samples.empty() && given.statistics.empty())
        return report_usage("quantize needs --samples, or --statistics of quantize --observe");
    if (options.output.empty() && given.observe.empty())
        return report_usage("quantize needs -o MODEL.pt2, or --observe FILE.stats");
    if (const int status = check_distinct_files(std::vector{options.output, given.observe}, options.model);
        status != status_ok)
        return status;
    if (const int status = check_extension(options.output, {".pt2"});
        !options.output.empty() && status != status_ok)
        return status;
    const result<void> done = quantize_to_file(options);
    return done ? status_ok : report_error(done.error());
}

}  // namespace headrace::cli
