// SPDX-License-Identifier: MIT
#include "lower.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <fstream>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/infer/verify.hpp>
#include <headrace/io/atomic_file.hpp>
#include <headrace/io/dot.hpp>
#include <headrace/io/tosa_emitter.hpp>

#include "batch.hpp"
#include "constant_evaluator.hpp"
#include "evaluation.hpp"
#include "interface.hpp"
#include "lowering.hpp"
#include "package.hpp"
#include "targets.hpp"

namespace headrace::cli {

std::uint64_t now() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

namespace {

std::size_t count_transposes(const graph& g) {
    const census& c = g.census();
    return c.count(info_of<tosa::transpose>) + c.count(info_of<aten::permute>) +
           c.count(info_of<aten::transpose_int>) + c.count(info_of<aten::t>);
}

/// What is asked of a run between its passes: --verify, --dot, and a sign of life.
class observer {
public:
    observer(const lower_options& options, std::vector<tensor> inputs, const show_function& show)
        : options_(options), inputs_(std::move(inputs)), show_(show) {}

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

private:
    // float16 rounds at every op, and passes change how many there are.
    static constexpr double tolerance = 1e-3;
    // One flipped rounding grows on its way through a deep network.
    static constexpr double granted_steps = 16;

    result<void> observe(const pass_record& record, const graph& g) {
        if (show_) show_(record.name);
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
    const show_function& show_;
    int drawn_ = 0;
};

/// The stages of one lowering, each timed; those of a second attempt are added.
class stopwatch {
public:
    void stage(std::string_view name) {
        const std::uint64_t at = now();
        const auto known = std::ranges::find(stages_, name, &stage_time::name);
        if (known == stages_.end()) {
            stages_.push_back({std::string(name), at - last_});
        } else {
            known->nanoseconds += at - last_;
        }
        last_ = at;
    }
    [[nodiscard]] const std::vector<stage_time>& stages() const { return stages_; }

private:
    std::vector<stage_time> stages_;
    std::uint64_t last_ = now();
};

// The flatbuffer last: where it is, the files that explain it are, too.
result<void> write_files(const lower_options& options, const graph& g, const lowering_report& report,
                         std::span<const std::byte> flatbuffer) {
    if (!options.batch.empty()) {
        std::error_code ignored;  // who writes into the folder says what is wrong with it
        std::filesystem::create_directories(std::filesystem::path(options.output).parent_path(), ignored);
    }
    if (!options.io.empty()) {
        BOOST_OUTCOME_TRY(write_atomically(options.io, io_json(g)));
    }
    if (!options.report.empty()) {
        BOOST_OUTCOME_TRY(write_atomically(options.report, report_json(report)));
    }
    return write_atomically(options.output, flatbuffer);
}

/// One model on its way to its files.
class lowering {
public:
    lowering(const lower_options& options, const std::optional<target_spec>& target,
             const show_function& show)
        : options_(options), target_(target), show_(show) {
        outcome_.report.model = options.model;
    }

    lower_outcome run() {
        if (const result<void> done = lower_and_write(); !done) {
            fail(status_of(done.error()), std::string(done.error().message));
        }
        outcome_.report.stages = watch_.stages();
        return std::move(outcome_);
    }

private:
    struct attempt {
        program model;
        std::vector<target_spec> targets;  // that the user means
        pass_context context{&infer_node};
    };

    result<void> lower_and_write() {
        std::unique_ptr<attempt> last;
        std::size_t count = 0;
        do {
            last = std::make_unique<attempt>();
            BOOST_OUTCOME_TRY(lower_once(*last, count));
        } while (!last->context.diagnostics().empty() && ++count < last->targets.size());
        outcome_.refusals = last->context.diagnostics();
        if (!outcome_.refusals.empty()) {
            outcome_.status = status_unsupported;
            return boost::outcome_v2::success();
        }
        return write(*last->model.graph);
    }

    // Reads the model and lowers it to one of its targets; what that cannot hold is in the context's
    // diagnostics.
    result<void> lower_once(attempt& a, std::size_t count) {
        BOOST_OUTCOME_TRY(model, read_model(options_.model));
        a.model = std::move(model);
        graph& g = *a.model.graph;
        BOOST_OUTCOME_TRY(refuse_mutations(a.model));
        a.targets = target_ ? std::vector{*target_} : default_targets(g);
        g.set_target(a.targets[std::min(count, a.targets.size() - 1)]);
        if (options_.io_layout == "nhwc") ask_for_channels_last(g);
        watch_.stage("read");

        lowering_report& report = outcome_.report;
        report.target = target_text(g.target());
        report.nodes_in = g.size();
        report.transposes_in = count_transposes(g);
        std::vector<tensor> inputs;
        if (options_.verify) {
            BOOST_OUTCOME_TRY(given, read_inputs(g, options_.inputs));
            inputs = std::move(given);
        }
        observer watcher(options_, std::move(inputs), show_);
        BOOST_OUTCOME_TRY(watcher.begin(g));
        BOOST_OUTCOME_TRY(
            statistics,
            lower_graph(g, a.context,
                        {.clock = &now, .observer = &watcher, .after_pass = &observer::after_pass}));
        report.passes = std::move(statistics);
        watch_.stage("lower");
        return boost::outcome_v2::success();
    }

    result<void> write(const graph& g) {
        BOOST_OUTCOME_TRY(emitted, emit_tosa(g));
        watch_.stage("emit");
        lowering_report& report = outcome_.report;
        report.nodes_out = g.size();
        report.transposes_left = remaining_transposes(g);
        report.stages = watch_.stages();
        if (auto written = write_files(options_, g, report, emitted.bytes()); !written) {
            fail(status_usage, std::string(written.error().message));
        }
        watch_.stage("write");
        return boost::outcome_v2::success();
    }

    void fail(int status, std::string why) {
        outcome_.status = status;
        outcome_.error = std::move(why);
    }

    const lower_options& options_;
    const std::optional<target_spec>& target_;
    const show_function& show_;
    stopwatch watch_;
    lower_outcome outcome_;
};

/// On a terminal, the name of the pass that has ended, once a lowering takes long.
class pass_line {
public:
    void show(std::string_view pass) {
        constexpr std::uint64_t half_a_second = 500'000'000;
        if (!terminal_ || now() - began_ < half_a_second) return;
        fmt::print(stderr, "\r\033[K{}", pass);
        shown_ = true;
    }
    void clear() const {
        if (shown_) fmt::print(stderr, "\r\033[K");
    }

private:
    bool terminal_ = isatty(STDERR_FILENO) != 0;
    bool shown_ = false;
    std::uint64_t began_ = now();
};

}  // namespace

lower_outcome lower_to_files(const lower_options& options, const std::optional<target_spec>& target,
                             const show_function& show_pass) {
    try {
        return lowering(options, target, show_pass).run();
    } catch (const std::exception& e) {
        return {.status = status_malformed, .error = e.what(), .refusals = {}, .report = {}};
    }
}

std::string text_of(const lower_outcome& outcome, const std::string& model) {
    if (outcome.status == status_ok) return {};
    return outcome.refusals.empty() ? error_text(outcome.error) : diagnostics_text(outcome.refusals, model);
}

int lower(const lower_options& options) {
    const bool packaged = options.partition || options.plan_memory || !options.methods.empty();
    if (packaged && options.io_layout != "nchw")
        return report_usage("--io-layout is for one flatbuffer, not for a package");
    if (packaged) return lower_package(options);
    if (options.model.empty() && options.batch.empty())
        return report_usage("lower needs a model, --method or --batch");
    std::optional<target_spec> target;
    if (const int status = parse_target_option(options.target, target); status != status_ok) return status;
    if (!options.batch.empty()) return lower_batch(options, target);
    pass_line line;
    const lower_outcome outcome =
        lower_to_files(options, target, [&](std::string_view pass) { line.show(pass); });
    line.clear();
    fmt::print(stderr, "{}", text_of(outcome, options.model));
    return outcome.status;
}

}  // namespace headrace::cli
