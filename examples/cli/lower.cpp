// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include <headrace/infer/verify.hpp>
#include <headrace/io/atomic_file.hpp>
#include <headrace/io/tosa_emitter.hpp>
#include <headrace/ir/dot.hpp>
#include <headrace/op/aten.hpp>
#include <headrace/op/tosa.hpp>

#include "commands.hpp"
#include "constant_evaluator.hpp"
#include "evaluation.hpp"
#include "files.hpp"
#include "lowering.hpp"
#include "report.hpp"

namespace headrace::cli {

namespace {

std::uint64_t now() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

std::size_t count_transposes(const graph& g) {
    const census& c = g.census();
    return c.count(info_of<tosa::transpose>) + c.count(info_of<aten::permute>) +
           c.count(info_of<aten::transpose_int>) + c.count(info_of<aten::t>);
}

/// What is asked of a run between its passes: --verify, --dot, and a sign of life on a terminal.
class observer {
public:
    observer(const lower_options& options, std::vector<tensor> inputs)
        : options_(options),
          inputs_(std::move(inputs)),
          began_(now()),
          terminal_(isatty(STDERR_FILENO) != 0) {}

    result<void> begin(const graph& g) {
        if (!options_.dot_directory.empty()) {
            BOOST_OUTCOME_TRY(draw(g, "input"));
        }
        if (options_.verify) {
            BOOST_OUTCOME_TRY(expected, execute(g, inputs_));
            expected_ = std::move(expected);
        }
        return boost::outcome_v2::success();
    }

    static result<void> after_pass(void* self, const pass_record& record, graph& g) {
        return static_cast<observer*>(self)->observe(record, g);
    }

    void end() const {
        if (shown_) fmt::print(stderr, "\r\033[K");
    }

private:
    // float16 rounds at every op, and passes change how many there are.
    static constexpr double tolerance = 1e-3;

    result<void> observe(const pass_record& record, const graph& g) {
        constexpr std::uint64_t half_a_second = 500'000'000;
        if (terminal_ && now() - began_ > half_a_second) {
            fmt::print(stderr, "\r\033[K{}", record.name);
            shown_ = true;
        }
        if (record.nodes.rewritten == 0) return boost::outcome_v2::success();
        if (!options_.dot_directory.empty()) {
            BOOST_OUTCOME_TRY(draw(g, record.name));
        }
        return options_.verify ? check(record, g) : boost::outcome_v2::success();
    }

    result<void> check(const pass_record& record, const graph& g) {
        if (auto sound = verify(g); !sound) {
            return invalid(fmt::format("{} breaks the graph: {}", record.name, sound.error().message));
        }
        auto got = execute(g, inputs_as(g));
        if (!got) return invalid(fmt::format("after {}: {}", record.name, got.error().message));
        const double off = difference(expected_, got.value());
        if (off <= tolerance) return boost::outcome_v2::success();
        return invalid(
            fmt::format("{} changes the result: the largest relative difference is {:.3g}, {:g} is tolerated",
                        record.name, off, tolerance));
    }

    // A lowering narrows int64: the inputs in the types that the graph has now.
    [[nodiscard]] std::vector<tensor> inputs_as(const graph& g) const {
        std::vector<tensor> narrowed;
        for (const node& n : g.inputs()) {
            narrowed.push_back(inputs_[narrowed.size()].cast(n.results[0].meta->dtype));
        }
        return narrowed;
    }

    result<void> draw(const graph& g, std::string_view name) {
        std::error_code failure;
        std::filesystem::create_directories(options_.dot_directory, failure);
        const auto path =
            std::filesystem::path(options_.dot_directory) / fmt::format("{:03}_{}.dot", drawn_++, name);
        std::ofstream file(path);
        write_dot(file, g);
        if (!file) return invalid("cannot write " + path.string());
        return boost::outcome_v2::success();
    }

    const lower_options& options_;
    std::vector<tensor> inputs_;
    std::vector<tensor> expected_;
    std::uint64_t began_;
    bool terminal_;
    bool shown_ = false;
    int drawn_ = 0;
};

/// The stages of one lowering, each timed.
class stopwatch {
public:
    void stage(std::string name) {
        const std::uint64_t at = now();
        stages_.push_back({std::move(name), at - last_});
        last_ = at;
    }
    [[nodiscard]] const std::vector<stage_time>& stages() const { return stages_; }

private:
    std::vector<stage_time> stages_;
    std::uint64_t last_ = now();
};

std::string target_text(const target_spec& target) {
    std::string text = "TOSA-1.0";
    for (const target_feature_name& n : target_feature_names) {
        if (target.has(n.feature)) text += "+" + std::string(n.spelling);
    }
    return text;
}

// Without --target: what the graph holds decides.
target_spec default_target(const graph& g) {
    bool quantized = false;
    g.census().for_each([&](const op_info& op, std::size_t) {
        quantized = quantized || op.dialect->name == "quantized_decomposed";
    });
    return target_spec{}.with(quantized ? target_feature::profile_int : target_feature::profile_fp);
}

int report_diagnostics(const pass_context& context, const std::string& model) {
    for (const diagnostic& d : context.diagnostics()) {
        fmt::print(stderr, "error: {} ({}): {}\n", d.node, d.op, d.reason);
    }
    const std::size_t count = context.diagnostics().size();
    fmt::print(stderr, "{}: {} node{} cannot be lowered\n", model, count, count == 1 ? "" : "s");
    return status_unsupported;
}

result<void> refuse_mutations(const program& p) {
    if (p.mutations.empty()) return boost::outcome_v2::success();
    const mutation& m = p.mutations.front();
    return unsupported(
        fmt::format("{}: the program writes it back when it ends, which a TOSA graph without "
                    "variables cannot; return the new value as an output instead",
                    m.name));
}

std::span<const std::byte> bytes_of(const std::string& text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

// The flatbuffer last: where it is, the files that explain it are, too.
result<void> write_files(const lower_options& options, const graph& g, const lowering_report& report,
                         std::span<const std::byte> flatbuffer) {
    if (!options.io.empty()) {
        BOOST_OUTCOME_TRY(write_atomically(options.io, bytes_of(io_json(g))));
    }
    if (!options.report.empty()) {
        BOOST_OUTCOME_TRY(write_atomically(options.report, bytes_of(report_json(report))));
    }
    return write_atomically(options.output, flatbuffer);
}

result<int> lower_model(const lower_options& options, const std::optional<target_spec>& target) {
    stopwatch watch;
    BOOST_OUTCOME_TRY(p, read_model(options.model));
    graph& g = *p.graph;
    BOOST_OUTCOME_TRY(refuse_mutations(p));
    g.set_target(target ? *target : default_target(g));
    watch.stage("read");

    lowering_report report{
        options.model, target_text(g.target()), g.size(), 0, count_transposes(g), 0, {}, {}};
    std::vector<tensor> inputs;
    if (options.verify) {
        BOOST_OUTCOME_TRY(given, read_inputs(g, options.inputs));
        inputs = std::move(given);
    }
    observer watcher(options, std::move(inputs));
    BOOST_OUTCOME_TRY(watcher.begin(g));
    pass_context context(&infer_node);
    auto statistics =
        lower_graph(g, context, {.clock = &now, .observer = &watcher, .after_pass = &observer::after_pass});
    watcher.end();
    if (!statistics) return std::move(statistics).error();
    if (!context.diagnostics().empty()) return report_diagnostics(context, options.model);
    watch.stage("lower");

    BOOST_OUTCOME_TRY(emitted, emit_tosa(g));
    watch.stage("emit");
    report.nodes_out = g.size();
    report.transposes_out = count_transposes(g);
    report.passes = std::move(statistics).value();
    report.stages = watch.stages();
    if (auto written = write_files(options, g, report, emitted.bytes()); !written) {
        return report_usage(written.error().message);
    }
    return status_ok;
}

}  // namespace

int lower(const lower_options& options) {
    std::optional<target_spec> target;
    if (!options.target.empty()) {
        std::string_view wrong;
        target = parse_target(options.target, &wrong);
        if (!target) {
            return report_usage(
                fmt::format("--target {}: '{}' is not understood; write TOSA-1.0+FP, +INT or +INT+FP, "
                            "and extensions such as +bf16 or +int16",
                            options.target, wrong));
        }
    }
    const result<int> status = lower_model(options, target);
    return status ? status.value() : report_error(status.error());
}

}  // namespace headrace::cli
