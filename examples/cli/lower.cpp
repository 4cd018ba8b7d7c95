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
#include "interface.hpp"
#include "lowering.hpp"
#include "package.hpp"
#include "report.hpp"
#include "targets.hpp"

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
            for (const double step : output_steps(g)) granted_.push_back(granted_steps * step);
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
    // One flipped rounding grows on its way through a deep network.
    static constexpr double granted_steps = 16;

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
        auto got = execute(g, inputs_for(g, inputs_));
        if (!got) return invalid(fmt::format("after {}: {}", record.name, got.error().message));
        const double off = difference(expected_, outputs_of(g, std::move(got).value()), granted_);
        if (off <= tolerance) return boost::outcome_v2::success();
        return invalid(
            fmt::format("{} changes the result: the largest relative difference is {:.3g}, {:g} is tolerated",
                        record.name, off, tolerance));
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
    std::vector<double> granted_;  // differences from them
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

struct lowering {
    program model;
    std::vector<target_spec> targets;  // that the user means
    lowering_report report;
    pass_context context{&infer_node};
};

// Reads the model and lowers it to one of its targets; what that cannot hold is in the context's diagnostics.
result<void> lower_once(const lower_options& options, const std::optional<target_spec>& target,
                        std::size_t attempt, lowering& l, stopwatch& watch) {
    BOOST_OUTCOME_TRY(model, read_model(options.model));
    l.model = std::move(model);
    graph& g = *l.model.graph;
    BOOST_OUTCOME_TRY(refuse_mutations(l.model));
    l.targets = target ? std::vector{*target} : default_targets(g);
    g.set_target(l.targets[std::min(attempt, l.targets.size() - 1)]);
    if (options.io_layout == "nhwc") ask_for_channels_last(g);
    watch.stage("read");

    l.report = {options.model, target_text(g.target()), g.size(), 0, count_transposes(g), {}, {}, {}};
    std::vector<tensor> inputs;
    if (options.verify) {
        BOOST_OUTCOME_TRY(given, read_inputs(g, options.inputs));
        inputs = std::move(given);
    }
    observer watcher(options, std::move(inputs));
    BOOST_OUTCOME_TRY(watcher.begin(g));
    auto statistics =
        lower_graph(g, l.context, {.clock = &now, .observer = &watcher, .after_pass = &observer::after_pass});
    watcher.end();
    if (!statistics) return std::move(statistics).error();
    l.report.passes = std::move(statistics).value();
    watch.stage("lower");
    return boost::outcome_v2::success();
}

result<int> lower_model(const lower_options& options, const std::optional<target_spec>& target) {
    stopwatch watch;
    std::unique_ptr<lowering> l;
    std::size_t attempt = 0;
    do {
        l = std::make_unique<lowering>();
        BOOST_OUTCOME_TRY(lower_once(options, target, attempt, *l, watch));
    } while (!l->context.diagnostics().empty() && ++attempt < l->targets.size());
    if (!l->context.diagnostics().empty()) return report_diagnostics(l->context.diagnostics(), options.model);

    graph& g = *l->model.graph;
    BOOST_OUTCOME_TRY(emitted, emit_tosa(g));
    watch.stage("emit");
    l->report.nodes_out = g.size();
    l->report.transposes_left = remaining_transposes(g);
    l->report.stages = watch.stages();
    if (auto written = write_files(options, g, l->report, emitted.bytes()); !written) {
        return report_usage(written.error().message);
    }
    return status_ok;
}

}  // namespace

int lower(const lower_options& options) {
    const bool packaged = options.partition || options.plan_memory || !options.methods.empty();
    if (packaged && options.io_layout != "nchw")
        return report_usage("--io-layout is for one flatbuffer, not for a package");
    if (packaged) return lower_package(options);
    if (options.model.empty()) return report_usage("lower needs a model, or --method");
    std::optional<target_spec> target;
    if (const int status = parse_target_option(options.target, target); status != status_ok) return status;
    const result<int> status = lower_model(options, target);
    return status ? status.value() : report_error(status.error());
}

}  // namespace headrace::cli
