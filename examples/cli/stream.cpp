// SPDX-License-Identifier: MIT
#include "stream.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/printable.hpp>
#include <headrace/base/text.hpp>
#include <headrace/io/file/atomic_file.hpp>
#include <headrace/io/file/json_writer.hpp>
#include <headrace/io/pt2/writer.hpp>
#include <headrace/partition/extract.hpp>
#include <headrace/run/models.hpp>
#include <headrace/stream/check_stream.hpp>

#include "messages.hpp"
#include "notes.hpp"
#include "quantize.hpp"

namespace headrace::cli {

namespace {

using streams::flow_kind;

constexpr std::string_view axis_form =
    "give the input's name and the number of its axis, such as x:2; of several inputs, x:2,y:2";

std::string text_of(const stream_output& o) {
    if (o.flow.kind == flow_kind::latest) return fmt::format("{}: one for each step", printable(o.name));
    if (o.flow.kind == flow_kind::independent) return fmt::format("{}: not of the stream", printable(o.name));
    return fmt::format("{}: {} of axis {} for each step, delayed by {}", printable(o.name),
        counted_text(static_cast<std::size_t>(o.elements), "element"), o.flow.axis, o.flow.delay);
}

void print_summary(std::FILE* out, const stream_summary& s) {
    for (const stream_input& i : s.inputs)
        fmt::print(out, "input {}: {} of axis {} for each step; the whole model takes {}\n",
            printable(i.name), counted_text(static_cast<std::size_t>(i.step), "element"), i.axis, i.window);
    for (const stream_output& o : s.outputs) fmt::print(out, "output {}\n", text_of(o));
    fmt::print(out, "equal to the whole model from step {} on\n", s.first_exact_step());
    fmt::print(out, "{} in {}\n", format_size(s.state_bytes), counted_text(s.states.size(), "state"));
    fmt::print(out, "{} multiply-accumulates for each step, at least {} are needed; {} for a window\n",
        s.step_macs, s.least_macs, s.window_macs);
}

std::string json_of(const stream_summary& s) {
    json_writer w;
    w.begin_object();
    w.begin_array("inputs");
    for (const stream_input& i : s.inputs) {
        w.begin_object();
        w.member("name", i.name);
        w.member("axis", i.axis);
        w.member("step", i.step);
        w.member("window", i.window);
        w.end_object();
    }
    w.end_array();
    w.begin_array("outputs");
    for (const stream_output& o : s.outputs) {
        w.begin_object();
        w.member("name", o.name);
        w.member("elements", o.elements);
        w.member("axis", o.flow.axis);
        w.member("delay", o.flow.delay);
        w.member("exact_from", o.flow.exact);
        w.end_object();
    }
    w.end_array();
    w.member("first_exact_step", s.first_exact_step());
    w.begin_array("states");
    for (const streams::state& state : s.states) {
        w.begin_object();
        w.member("name", state.name);
        w.member("of", state.of);
        w.member("bytes", packed_bytes(state.meta));
        w.member("first_value", state.fill);
        w.end_object();
    }
    w.end_array();
    w.member("state_bytes", s.state_bytes);
    w.member("step_macs", s.step_macs);
    w.member("least_macs", s.least_macs);
    w.member("window_macs", s.window_macs);
    w.end_object();
    return std::move(w).text() + '\n';
}

result<stream_check> check_steps(const graph& whole, const program& steps, const stream_summary& summary,
    const std::vector<std::string>& inputs) {
    HEADRACE_TRY(check, check_stream(whole, steps, summary, {.files = inputs}));
    if (check.agrees()) return std::move(check);
    return error{error_kind::invalid,
        std::pmr::string(fmt::format("{} of {} elements differ from the whole model's, most by {} ({})",
            check.different, check.compared, check.largest, check.where))};
}

void print_check(std::FILE* out, const stream_check& check) {
    fmt::print(out, "verified: {} compared, {} not equal to the last bit, most by {:.2g}\n",
        counted_text(check.compared, "element"), check.different, check.largest);
    if (check.skipped != 0)
        fmt::print(out, "not verified: {}, as the whole model pads its window's edges\n",
            counted_text(check.skipped, "output"));
}

result<void> stream_to_file(const stream_command_options& options, const stream_options& chosen) {
    HEADRACE_TRY(model, read_model(options.model, options.sizes));
    say_notes(options.model, *model.graph);
    graph whole;
    if (options.verify) copy_graph(*model.graph, whole);
    auto made = make_stream(model, chosen);
    HEADRACE_TRY(model.file.check());
    if (!made) return made.error();
    const stream_summary& summary = made.value();
    std::optional<stream_check> check;
    if (options.verify) {
        HEADRACE_TRY(done, check_steps(whole, model, summary, options.inputs));
        check = std::move(done);
    }
    HEADRACE_TRY(write_pt2(options.output, model));
    HEADRACE_TRY(model.file.check());
    std::FILE* const out = report_stream(options.output);
    if (!is_quiet()) print_summary(out, summary);
    if (check) print_check(out, *check);
    if (options.report.empty()) return {};
    return write_atomically(options.report, json_of(summary));
}

}  // namespace

bool parse_stream_axes(const std::vector<std::string>& texts, stream_options& options) {
    options.axes.clear();
    for (const std::string& text : texts) {
        const std::size_t colon = text.rfind(':');
        const std::size_t at = colon == std::string::npos ? 0 : colon + 1;
        stream_axis& made = options.axes.emplace_back();
        made.input = colon == std::string::npos ? "" : text.substr(0, colon);
        const char* const end = text.data() + text.size();
        if (at == text.size() || std::from_chars(text.data() + at, end, made.axis).ptr != end) return false;
    }
    return true;
}

int check_stream_option(const lower_options& options) {
    stream_options chosen;
    if (options.stream.empty() || parse_stream_axes(options.stream, chosen)) return status_ok;
    return report_usage("--stream: " + std::string(axis_form));
}

result<program> read_for_lowering(const std::string& path, const lower_options& options) {
    HEADRACE_TRY(model, read_and_quantize(path, options.sizes, options.calibration));
    HEADRACE_TRY(refuse_lowered(path, model));
    if (options.stream.empty()) return std::move(model);
    stream_options chosen{.step = options.step, .window = options.window};
    if (!parse_stream_axes(options.stream, chosen)) return malformed("--stream: " + std::string(axis_form));
    auto made = make_stream(model, chosen);
    HEADRACE_TRY(model.file.check());  // the failure may be due to a file that has changed
    if (!made) return made.error();
    return std::move(model);
}

int stream(const stream_command_options& options) {
    stream_options chosen{.step = options.step, .window = options.window};
    if (!parse_stream_axes(options.axes, chosen)) return report_usage("--axis: " + std::string(axis_form));
    if (!options.inputs.empty() && !options.verify)
        return report_usage("--in is for --verify, which feeds it to both models");
    if (const int status = check_distinct_files(std::vector{options.output, options.report}, options.model);
        status != status_ok)
        return status;
    if (const int status = check_extension(options.output, {".pt2"}); status != status_ok) return status;
    const result<void> done = stream_to_file(options, chosen);
    return done ? status_ok : report_error(done.error());
}

}  // namespace headrace::cli
