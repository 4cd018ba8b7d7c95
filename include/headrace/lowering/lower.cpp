// SPDX-License-Identifier: MIT
// Defines the functions of headrace/lowering/lower.hpp.

#include <headrace/lowering/lower.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/printable.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/base/target_text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/io/signature/graph_signature.hpp>
#include <headrace/io/tosa/emitter.hpp>
#include <headrace/io/tosa/size.hpp>
#include <headrace/io/tosa/stream.hpp>
#include <headrace/io/unread_nodes.hpp>
#include <headrace/ir/dead_code.hpp>
#include <headrace/ir/exported_types.hpp>
#include <headrace/lowering/constant_bytes.hpp>
#include <headrace/lowering/device/kept_device_numbers.hpp>
#include <headrace/lowering/device/take_device_integers.hpp>
#include <headrace/lowering/integer_check.hpp>
#include <headrace/lowering/result_check.hpp>
#include <headrace/lowering/standard_pipeline.hpp>
#include <headrace/lowering/target_choice.hpp>
#include <headrace/partition/extract.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/finish/finish.hpp>
#include <headrace/prove/lost_constants.hpp>
#include <headrace/run/execution.hpp>
#include <headrace/run/models.hpp>

namespace headrace {

namespace {

std::size_t count_transposes(const graph& g) {
    const census& c = g.census();
    return c.count(info_of<tosa::transpose>) + c.count(info_of<aten::permute>) +
        c.count(info_of<aten::transpose_int>) + c.count(info_of<aten::t>);
}

// The state of a lowering of one model to TOSA.
class model_lowering {
public:
    model_lowering(const program_source& source, const lowering_options& options)
        : source_(source), options_(options) {}

    [[nodiscard]] lowering_outcome run() {
        result<void> done = lower_and_emit();
        if (const result<void> whole = outcome_.model.file.check(); !whole) {
            done = whole.error();  // other findings may result from that failure
            outcome_.refusals.clear();
        }
        if (!done) outcome_.failure = done.error();
        outcome_.report.stages = clock_.stages();
        return std::move(outcome_);
    }

private:
    // Tries targets in order until one refuses no node.
    result<void> lower_and_emit() {
        std::size_t count = 0;
        do {
            outcome_.model = {};  // before the next one is read: memory may not hold both
            outcome_.refusals.clear();
            HEADRACE_TRY(lower_once(count));
        } while (!outcome_.refusals.empty() && ++count < targets_.size());
        return outcome_.refusals.empty() ? emit() : result<void>();
    }

    result<void> lower_once(std::size_t attempt) {
        HEADRACE_TRY(model, source_());
        outcome_.model = std::move(model);
        graph& g = *outcome_.model.graph;
        eliminate_dead_code(g);
        HEADRACE_TRY(refuse_unread(g));
        states_.clear();
        if (options_.state != state_kind::refused) {
            HEADRACE_TRY(check_states(outcome_.model));
            states_ = expose_states(outcome_.model);
        }
        leave_inputs_unwritten(outcome_.model);
        HEADRACE_TRY(refuse_mutations(outcome_.model));
        if (const std::uint64_t bytes = least_constant_bytes(g); bytes > tosa_file::largest_tosa_file)
            return unsupported(tosa_file::too_large_text("the weights alone would take ", bytes));
        targets_ = options_.target ? std::vector{*options_.target} : default_targets(g);
        if (!options_.target) {
            for (target_spec& t : targets_) t = t.with(options_.beside);
            const bool has_integers = std::ranges::any_of(states_, [](const initial_state& s) {
                return traits_of(s.meta.dtype).category == dtype_category::integral;
            });
            if (has_integers && options_.state == state_kind::variable)
                std::erase_if(targets_, [](target_spec t) { return !t.has(target_feature::profile_int); });
        }
        g.set_target(targets_[std::min(attempt, targets_.size() - 1)]);
        if (options_.channels_last) ask_for_channels_last(g);
        if (options_.any_order) g.annotate(*g.output(), any_memory_order{});
        add_origins(g);
        restore_device_numbers(g);
        note_output_types(g);
        clock_.end("read");

        lowering_report& report = outcome_.report;
        report.target = target_text(g.target());
        report.nodes_in = g.size();
        report.transposes_in = count_transposes(g);
        in_layout_passes_ = false;
        report.verified.clear();
        not_executed_.reset();
        HEADRACE_TRY(begin_check(g));
        fold_quantized_normalization(g);
        HEADRACE_TRY(integers, check_integers(g, options_.strict));
        outcome_.warnings.clear();
        if (!integers.warning.empty()) outcome_.warnings.push_back(std::move(integers.warning));
        for (std::string& lost : prove::lost_constants(g)) outcome_.warnings.push_back(std::move(lost));
        pass_context context(standard_functions);
        HEADRACE_TRY(statistics,
            run_standard_pipeline(g, context,
                {.clock = &steady_nanoseconds, .observer = this, .after_pass = &model_lowering::after_pass}));
        report.passes = std::move(statistics);
        report.merges = merged_in(g);
        outcome_.refusals = integers.refusals;
        for (const diagnostic& d : context.diagnostics()) {
            // A constant or cast that does not fit may be a consequence of what was refused.
            const auto same = [&](const diagnostic& refused) {
                return d.node.empty() || refused.node == d.node;
            };
            if (std::ranges::none_of(integers.refusals, same)) outcome_.refusals.push_back(d);
        }
        clock_.end("lower");
        if (not_executed_ && outcome_.refusals.empty()) return *not_executed_;
        if (options_.state == state_kind::variable && outcome_.refusals.empty()) {
            HEADRACE_TRY(make_variables(g, states_));
        }
        return options_.observer.end(g, outcome_.refusals);
    }

    // A text need not say where its nodes come from: messages then use the names in the text.
    static void add_origins(graph& g) {
        for_each_graph(g, [](graph& sub) {
            for (node& n : sub.nodes()) {
                if (is_of_dialect<builtin::dialect>(n) || n.name().empty()) continue;
                if (n.find_annotation<provenance>() == nullptr)
                    sub.annotate(n, provenance{n.name(), n.op->name});
            }
        });
    }

    static void note_output_types(graph& g) {
        pmr_vector<dtype> types;
        for (const value v : g.outputs())
            types.push_back(meta_of(v) == nullptr ? dtype::unknown : meta_of(v)->dtype);
        g.annotate(*g.output(), exported_output_types{g.own(list<dtype>(types))});
    }

    result<void> begin_check(graph& g) {
        std::vector<tensor> inputs;
        if (options_.verify) {
            HEADRACE_TRY(given, model_inputs(g, options_.inputs));
            inputs = std::move(given);
        }
        HEADRACE_TRY(options_.observer.begin(g));
        if (!options_.verify) return {};
        check_.emplace(std::move(inputs));
        result<void> begun = check_->begin(g);
        if (begun) return {};
        check_.reset();
        // A model with ops that cannot be executed is lowered all the same, so that all its refusals are named.
        if (begun.error().kind == error_kind::unsupported) {
            not_executed_ = begun.error();
            return {};
        }
        return options_.inputs.empty() ? unfit_random_inputs(begun.error()) : begun.error();
    }

    static result<void> after_pass(void* self, const pass_record& record, graph& g) {
        return static_cast<model_lowering*>(self)->observe(record, g);
    }
    // The first pass of layout_passes only reorders nodes, and always runs; the last passes sort again.
    void see_layout_passes(const pass_record& record, const graph& g) {
        if (in_layout_passes_ || record.name != pass_name<sort_topologically>()) return;
        in_layout_passes_ = true;
        outcome_.report.transposes_before_layout = count_transposes(g);
    }
    result<void> observe(const pass_record& record, graph& g) {
        see_layout_passes(record, g);
        HEADRACE_TRY(options_.observer.see(record, g));
        if (!check_ || record.nodes.rewritten == 0) return {};
        HEADRACE_TRY(difference, check_->check(record.name, g));
        outcome_.report.verified.push_back({std::string(record.name), difference});
        outcome_.report.steps_off = check_->steps();
        return {};
    }

    result<void> emit() {
        const graph& g = *outcome_.model.graph;
        if (options_.streams) {
            HEADRACE_TRY(stream, stream_tosa(g));
            outcome_.stream = std::make_shared<const streamed_tosa>(std::move(stream));
        } else {
            HEADRACE_TRY(emitted, emit_tosa(g));
            const auto kept = std::make_shared<const emitted_tosa>(std::move(emitted));
            outcome_.flatbuffer = {kept, kept->bytes()};
        }
        HEADRACE_TRY(outcome_.model.file.check());
        clock_.end("emit");
        outcome_.report.nodes_out = g.size();
        outcome_.report.transposes_left = remaining_transposes(g);
        outcome_.report.steps = unrolled_steps(g);
        if (const auto* need = g.output()->find_annotation<memory_need>()) outcome_.report.memory = *need;
        return {};
    }

    const program_source& source_;
    const lowering_options& options_;
    std::vector<target_spec> targets_;
    bool in_layout_passes_ = false;
    std::optional<result_check> check_;
    std::optional<error> not_executed_{};  // why --verify cannot execute the exported program
    std::vector<initial_state> states_;
    stage_clock clock_;
    lowering_outcome outcome_;
};

error error_of(const pmr_vector<diagnostic>& refusals) {
    std::string text =
        join_text(refusals.size(), refusals.size() == 1 ? " node" : " nodes", " cannot be lowered");
    for (const diagnostic& d : refusals)
        text += join_text(&d == refusals.data() ? ": " : "; ", diagnostic_text(d));
    return unsupported(text);
}

// Returns a copy of the graph whose constants view those of the original.
program copied(const program& p) {
    program copy{.file = {},
        .graph = std::make_unique<graph>(),
        .user_outputs = p.user_outputs,
        .mutations = p.mutations,
        .torch_version = p.torch_version,
        .sizes = p.sizes};
    copy_graph(*p.graph, *copy.graph);
    return copy;
}

}  // namespace

lowering_outcome try_lowering(const program_source& source, const lowering_options& options) {
    return model_lowering(source, options).run();
}

result<lowered_model> lower_to_tosa(program model, const lowering_options& options) {
    const bool one_target = options.target || default_targets(*model.graph).size() == 1;
    const program_source source = [&]() -> result<program> {
        return one_target ? std::move(model) : copied(model);
    };
    lowering_options whole = options;
    whole.streams = false;  // the graph is destroyed on return
    lowering_outcome done = try_lowering(source, whole);
    if (done.failure) return *std::move(done.failure);
    if (!done.refusals.empty()) return error_of(done.refusals);
    return lowered_model{std::move(done.flatbuffer), describe_io(*done.model.graph), std::move(done.report),
        std::move(done.warnings)};
}

result<void> refuse_mutations(const program& p) {
    for (const auto& [buffer, write] : buffer_writes(*p.graph)) {
        return unsupported(join_text(message_prefix(*write), "it writes to the buffer ", buffer->name(),
            " in place, and a TOSA graph without variables would lose that; return "
            "the new value as an output, or lower with --state io, or with --state variable and a "
            "target that has +var"));
    }
    if (p.mutations.empty()) return {};
    return unsupported(join_text(p.mutations.front().name,
        ": the program writes it back when it ends, which a TOSA graph without "
        "variables cannot; return the new value as an output, or lower with --state io, or with "
        "--state variable and a target that has +var"));
}

}  // namespace headrace
