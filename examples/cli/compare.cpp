// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include <headrace/base/printable.hpp>
#include <headrace/compare/comparison_report.hpp>
#include <headrace/compare/layer_values.hpp>
#include <headrace/io/file/atomic_file.hpp>
#include <headrace/io/package/package.hpp>
#include <headrace/lowering/quantize_model.hpp>
#include <headrace/run/models.hpp>

#include "commands.hpp"
#include "graph_files.hpp"
#include "messages.hpp"
#include "package.hpp"
#include "page.hpp"
#include "threads.hpp"

namespace headrace::cli {

namespace {

std::string decibels(double number) {
    if (std::isinf(number)) return number > 0 ? "equal" : "-inf";
    return fmt::format("{:.1f}", number);
}

// Shortens a long name in the middle to that many characters, so that its column keeps its width.
std::string shortened(const std::string& name, std::size_t width) {
    constexpr std::size_t dots = 3;
    return std::string(name.size() <= width ? printable(name, width) : printable(name, width - dots));
}

// The figures of a time step with several layers are those of the first.
void print_line(const model_comparison& c, const comparison_line& line) {
    constexpr std::size_t name_width = 32;
    constexpr std::size_t op_width = 28;
    const layer_comparison& l = c.layers[line.layers.front()];
    const std::size_t count = line.layers.size();
    const std::string op = count == 1 ? l.op : fmt::format("{} and {} others", l.op, count - 1);
    fmt::print("{:<32} {:<28} {:>7} {:>7} {:>11.4g} {:>9.6f} {:>8.2f} % {}{}{}{}\n",
        shortened(line.name, name_width), shortened(op, op_width), decibels(l.sqnr), decibels(l.own_sqnr),
        l.largest_difference, l.cosine, 100 * l.saturated, l.other, l.fitted ? " (fitted)" : "",
        l.source.empty() ? "" : "  ", l.source);
}

void print_summary(const model_comparison& c, comparison_order by) {
    const std::size_t pairs = c.layers.size();
    fmt::print(
        "{} layers compared over {} samples; {} of the first model and {} of the second have no "
        "counterpart\n",
        pairs, c.samples, c.reference_layers - pairs, c.other_layers - pairs);
    if (!c.machine.empty()) fmt::print("the second model has the arithmetic of {}\n", c.machine);
    for (const layer_comparison& l : c.layers) {
        if (l.is_output) fmt::print("output {}: {} dB\n", l.name, decibels(l.sqnr));
    }
    const layer_comparison& worst =
        c.layers[sorted_layers(c, by == comparison_order::model ? comparison_order::own : by).front()];
    if (!std::isinf(worst.sqnr) || worst.sqnr < 0)
        fmt::print("{}{}{} loses most: SQNR {} dB, own {} dB\n", worst.source,
            worst.source.empty() ? "" : ": ", worst.name, decibels(worst.sqnr), decibels(worst.own_sqnr));
}

void print_table(const model_comparison& c, comparison_order by, std::size_t top) {
    fmt::print("{:<32} {:<28} {:>7} {:>7} {:>11} {:>9} {:>10} {}\n", "layer", "op", "SQNR", "own", "largest",
        "cosine", "saturated", "other");
    const std::vector<comparison_line> lines = comparison_lines(c, by);
    const std::size_t shown = top == 0 ? lines.size() : std::min(top, lines.size());
    for (std::size_t i = 0; i != shown; ++i) print_line(c, lines[i]);
    print_summary(c, by);
}

result<void> write_file(const std::string& path, const std::string& text) {
    if (path.empty()) return {};
    return write_atomically(path, std::string_view(text));
}

/// Reads the quantized program between the two models, if one is given.
result<std::optional<program>> read_between(const std::string& path, const size_choices& choices) {
    if (path.empty()) return std::nullopt;
    HEADRACE_TRY(read, read_model(path, choices));
    if (!is_quantized_program(*read.graph))
        return unsupported(path + ": is not a quantized program; give the .pt2 that was lowered");
    return std::optional<program>(std::move(read));
}

page_book::chapter chapter_of(const std::string& title, const graph& g, std::string_view comparison) {
    graph_history history;
    history.begin(g);
    return {title, page_json({.title = title, .last = &g, .history = &history, .comparison = comparison})};
}

/// Writes a page with both graphs, the second annotated with its losses.
result<void> write_comparison_page(
    const compare_options& options, const graph& reference, const graph& other, const std::string& layers) {
    if (options.html.empty()) return {};
    return write_book(options.html,
        {.title = "comparison",
            .chapters = {
                chapter_of(options.reference, reference, {}), chapter_of(options.other, other, layers)}});
}

result<void> compare_files(const compare_options& options) {
    HEADRACE_TRY(by, parse_comparison_order(options.sort));
    HEADRACE_TRY(reference, load_model(options.reference, {}, options.sizes));
    HEADRACE_TRY(other, load_model(options.other, options.method, options.sizes));
    HEADRACE_TRY(between, read_between(options.through, options.sizes));
    if (!options.io.empty()) {
        HEADRACE_TRY(describe_signature(*other.model.graph, options.io, options.method));
    }
    HEADRACE_TRY(samples, read_samples(*reference.model.graph, options.samples));
    const comparison_options chosen{.samples = samples,
        .through = between ? between->graph.get() : nullptr,
        .in_parallel = on_threads(options.jobs)};
    auto compared = compare_models(*reference.model.graph, *other.model.graph, chosen);
    HEADRACE_TRY(reference.check());  // the failure may be due to a file that has changed
    HEADRACE_TRY(other.check());
    if (between) {
        HEADRACE_TRY(between->file.check());
    }
    HEADRACE_TRY(c, std::move(compared));
    HEADRACE_TRY(write_file(options.json, comparison_json(c, by)));
    HEADRACE_TRY(write_file(options.dot, comparison_dot(c)));
    HEADRACE_TRY(
        write_comparison_page(options, *reference.model.graph, *other.model.graph, comparison_json(c, by)));
    print_table(c, by, options.top);
    return {};
}

}  // namespace

int compare(const compare_options& options) {
    if (!options.board.empty() || !options.cycles.empty()) return compare_board(options);
    if (options.other.empty())
        return report_usage(
            "give a second model, or the dump of a board by --board, or its times by --cycles");
    if (options.samples.empty()) return report_usage("give samples of the inputs by --in");
    if (const int status = check_method_option(options.other, options.method); status != status_ok)
        return status;
    const std::vector outputs{options.json, options.dot, options.html};
    for (const std::string& read : {options.reference, options.other, options.through, options.io}) {
        if (const int status = check_distinct_files(outputs, read); status != status_ok) return status;
    }
    if (!options.html.empty()) {
        if (const auto possible = check_page({}); !possible) return report_error(possible.error());
    }
    const result<void> done = compare_files(options);
    return done ? status_ok : report_error(done.error());
}

}  // namespace headrace::cli
