// SPDX-License-Identifier: MIT
// Defines the functions of headrace/lowering/quantize_model.hpp.

#include <headrace/lowering/quantize_model.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include <headrace/base/printable.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/base/text.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/io/file/npy.hpp>
#include <headrace/io/unread_nodes.hpp>
#include <headrace/ir/dead_code.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/ir/time_step.hpp>
#include <headrace/lowering/device/take_device_integers.hpp>
#include <headrace/lowering/quantized_states.hpp>
#include <headrace/lowering/samples/input_samples.hpp>
#include <headrace/lowering/samples/read_input_samples.hpp>
#include <headrace/lowering/samples/shard_statistics.hpp>
#include <headrace/prove/lost_constants.hpp>
#include <headrace/quantization/mix_precision.hpp>
#include <headrace/run/execution.hpp>
#include <headrace/run/make_real.hpp>

namespace headrace {

namespace {

sample_source source_of(const samples_of_inputs& inputs, bool may_be_infinite) {
    return {inputs->front().size(), [inputs, may_be_infinite](std::size_t i) -> result<std::vector<tensor>> {
                std::vector<tensor> sample;
                for (const input_samples& input : *inputs) {
                    HEADRACE_TRY(one, input.at(i));
                    if (!may_be_infinite && input.infinite()) return *input.infinite();
                    sample.push_back(std::move(one));
                }
                return sample;
            }};
}

// Tells the progress of the samples, which may be executed more than once.
sample_source watched(sample_source samples, const quantization_options& options) {
    if (!options.progress) return samples;
    samples.inputs = [inputs = std::move(samples.inputs), count = samples.count, tell = options.progress](
                         std::size_t i) {
        tell(i, count);
        return inputs(i);
    };
    return samples;
}

// Refuses infinities in inputs that are not masks.
result<void> check_infinities(
    const std::deque<input_samples>& inputs, const std::vector<std::string>& masks) {
    for (const input_samples& input : inputs) {
        const bool is_mask = std::ranges::find(masks, input.name()) != masks.end();
        if (const auto found = input.infinite(); found && !is_mask) return *found;
    }
    return {};
}

// Refuses infinities, and constants far beyond the range of what they are quantized with: they would become
// other numbers.
result<void> refuse_lost_numbers(const graph& g, const quantization_summary& summary) {
    std::vector<std::string> lost = summary.lost;
    for (std::string& constant : prove::lost_constants(g))
        if (std::ranges::find(lost, constant) == lost.end()) lost.push_back(std::move(constant));
    if (lost.empty()) return {};
    std::string all;
    for (const std::string& one : lost) all += (all.empty() ? "" : "; ") + one;
    return unsupported(all +
        ": let the model use a number near the others, or keep the node in float by a rule of --config");
}

}  // namespace

result<sample_source> read_samples(const graph& g, const std::vector<std::string>& files) {
    HEADRACE_TRY(inputs, read_input_samples(g, files, {}));
    return source_of(inputs, false);
}

namespace {

// Returns the files of statistics as samples, or observes samples for such a file.
result<void> use_statistics(const quantization_options& options, const quantized_states& states,
    const statistics_reader* reader, std::uint64_t program, sample_source& samples) {
    if (reader != nullptr) {
        samples.count = reader->samples();
        samples.statistics = reader->statistics(program);
    }
    if (!samples.statistics.begin) return {};
    if (options.search_for || options.int16_share > 0)
        return unsupported(
            "--best and --int16-share execute the model on all samples; quantize with --samples");
    if (!states.empty())
        return unsupported(
            "the model keeps a state, whose values depend on all samples before; quantize with "
            "--samples");
    return {};
}

result<model_quantization> quantize_with(
    program& p, const quantization_options& options, statistics_writer* writer) {
    graph& g = *p.graph;
    eliminate_dead_code(g);
    HEADRACE_TRY(refuse_unread(g));
    if (g.census().contains(info_of_dialect<quantized_decomposed::dialect>))
        return unsupported("the model is quantized already; give the float model that it was made from");
    HEADRACE_TRY(make_real(g, [&](const node& n) {
        const auto scheme = scheme_of(n, options.config);
        return scheme && scheme->activation.type == dtype::int16;
    }));
    HEADRACE_TRY(take_device_integers(p, options.device_inputs, true));
    fold_normalization(g);
    std::optional<statistics_reader> reader;
    samples_of_inputs inputs = std::make_shared<std::deque<input_samples>>();
    if (options.statistics.empty()) {
        HEADRACE_TRY(read, read_input_samples(g, options.samples, options.progress));
        inputs = std::move(read);
    } else {
        HEADRACE_TRY(opened, statistics_reader::open(options.statistics));
        reader.emplace(std::move(opened));
    }
    const std::uint64_t program_key = reader || writer != nullptr ? fingerprint_of(g) : 0;
    quantized_states states(p);
    sample_source samples;
    if (!reader) {
        HEADRACE_TRY(with_states, states.samples(watched(source_of(inputs, true), options)));
        samples = std::move(with_states);
    }
    if (writer != nullptr) samples.statistics = writer->statistics(program_key, samples.count);
    HEADRACE_TRY(use_statistics(options, states, reader ? &*reader : nullptr, program_key, samples));
    quantization_search search{options.config, {}};
    const auto since = std::chrono::steady_clock::now();
    const auto goes_on = [since, within = options.search_for] {
        return !within || std::chrono::steady_clock::now() - since < std::chrono::duration<double>(*within);
    };
    if (options.search_for) {
        HEADRACE_TRY(found,
            search_quantization(g, options.config, samples, &infer_node, options.in_parallel, goes_on));
        search = std::move(found);
    }
    if (options.int16_share > 0) {
        HEADRACE_TRY(mixed,
            mix_precision(
                g, search.best, options.int16_share, samples, &infer_node, options.in_parallel, goes_on));
        search.best = std::move(mixed);
    }
    pass_context context(standard_functions);
    HEADRACE_TRY(summary, quantize_graph(g, context, search.best, samples, options.in_parallel));
    if (!context.diagnostics().empty()) {
        std::pmr::string all;
        for (const diagnostic& d : context.diagnostics())
            all += join_text(all.empty() ? "" : "; ", diagnostic_text(d));
        return error{context.diagnostics().front().kind, std::move(all)};
    }
    states.restore();
    HEADRACE_TRY(check_infinities(*inputs, summary.mask_inputs));
    HEADRACE_TRY(refuse_lost_numbers(g, summary));
    if (summary.points == 0)
        return unsupported("nothing in the model can be quantized: it has no float32 tensors");
    return model_quantization{std::move(summary), std::move(search)};
}

}  // namespace

result<model_quantization> quantize_model(program& p, const quantization_options& options) {
    if (options.observe.empty()) return quantize_with(p, options, nullptr);
    std::optional<result<model_quantization>> done;
    const auto observe = [&](const byte_sink& sink) -> result<void> {
        statistics_writer writer(sink);
        done.emplace(quantize_with(p, options, &writer));
        if (!*done) return done->error();
        return writer.end();
    };
    HEADRACE_TRY(write_atomically(options.observe, byte_source(observe)));
    return *std::move(done);
}

void name_as_written(graph& g) {
    const printed_names names(g);
    for_each_node(g, [&](node& n) {
        const bool is_written = !is_of_dialect<builtin::dialect>(n) || is<builtin::opaque>(n);
        if (!is_written || n.result_count == 0) return;
        graph& owner = *n.owner;
        for (std::uint32_t i = 0; i != n.result_count; ++i) owner.set_name({&n, i}, names[{&n, i}]);
        const std::string_view target =
            is<builtin::opaque>(n) ? args_of<builtin::opaque>(n).target : n.op->name;
        owner.annotate(n, provenance{n.results[0].name, target});
        if (const auto* step = n.find_annotation<time_step>())
            owner.annotate(n, time_step{step->network, n.results[0].name, step->place});
    });
}

}  // namespace headrace
