// SPDX-License-Identifier: MIT
// Defines the functions of headrace/lowering/quantize_model.hpp.

#include <headrace/lowering/quantize_model.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
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
#include <headrace/lowering/shard_statistics.hpp>
#include <headrace/prove/lost_constants.hpp>
#include <headrace/quantization/mix_precision.hpp>
#include <headrace/run/execution.hpp>
#include <headrace/run/make_real.hpp>

namespace headrace {

namespace {

// The samples of one input. Files stay in memory, and samples view them.
class input_samples {
public:
    explicit input_samples(const node& input) : meta_(*input.results[0].meta), name_(input.name()) {}

    [[nodiscard]] result<void> read(const std::string& path) {
        std::error_code failed;
        if (!std::filesystem::is_directory(path, failed)) return read_file(path);
        std::vector<std::string> files;
        for (std::filesystem::directory_iterator at(path, failed), end; !failed && at != end;
             at.increment(failed)) {
            if (at->path().extension() == ".npy") files.push_back(at->path().string());
        }
        if (failed) return malformed({path, ": ", failed.message()});
        if (files.empty()) return malformed({path, ": there is no .npy file in this directory"});
        std::ranges::sort(files);
        for (const std::string& file : files) {
            HEADRACE_TRY(read_file(file));
        }
        return {};
    }

    [[nodiscard]] std::size_t size() const { return samples_.size(); }
    [[nodiscard]] const tensor& operator[](std::size_t i) const { return samples_[i]; }
    /// Returns why the input can only be a mask: the first infinite number in its samples.
    [[nodiscard]] const std::optional<error>& infinite() const { return infinite_; }
    [[nodiscard]] std::string_view name() const { return name_; }

private:
    [[nodiscard]] error unfit(const std::string& file, std::string_view what) const {
        return malformed(
            join_text(file, ": ", what, " for input ", printable(name_), ", which has ", name_of(meta_.dtype),
                shape_text(meta_.shape), "; give one sample of this shape, or several along axis 0"));
    }

    // Returns the number of samples in an array; 0 if it does not fit the input.
    [[nodiscard]] std::int64_t samples_in(const int_list& shape) const {
        const sizes given = shape;
        const sizes wanted = meta_.shape;
        if (std::ranges::equal(given, wanted)) return 1;
        if (given.size() == wanted.size() + 1 && std::ranges::equal(given.subspan(1), wanted))
            return given[0];
        const bool batches = given.size() == wanted.size() && !wanted.empty() && wanted[0] > 0 &&
            given[0] % wanted[0] == 0 && std::ranges::equal(given.subspan(1), wanted.subspan(1));
        return batches ? given[0] / wanted[0] : 0;
    }

    [[nodiscard]] result<void> read_file(const std::string& file) {
        HEADRACE_TRY(array, read_npy(file));
        const bool same_kind = is_floating(array.meta.dtype) == is_floating(meta_.dtype) &&
            is_boolean(array.meta.dtype) == is_boolean(meta_.dtype);
        if (!same_kind) return unfit(file, join_text("numbers of type ", name_of(array.meta.dtype)));
        const std::int64_t count = samples_in(array.meta.shape);
        if (count == 0 || meta_.elements() == 0)
            return unfit(file, join_text("shape ", shape_text(array.meta.shape)));
        const auto bytes = std::make_shared<const std::vector<std::byte>>(std::move(array.data));
        files_.push_back(bytes);
        const std::size_t size = bytes->size() / static_cast<std::size_t>(count);
        for (std::size_t i = 0; i != static_cast<std::size_t>(count); ++i) {
            const tensor given = tensor::view(
                array.meta.dtype, {meta_.shape.begin(), meta_.shape.end()}, bytes->data() + i * size);
            samples_.push_back(given.cast(meta_.dtype));
            HEADRACE_TRY(check_integers(file, i, given));
            HEADRACE_TRY(check_numbers(file, i, samples_.back()));
        }
        return {};
    }

    // Refuses integers of another type that the input's type does not hold: the cast wraps them.
    [[nodiscard]] result<void> check_integers(const std::string& file, std::size_t i, const tensor& t) const {
        if (t.type() == meta_.dtype || is_floating(meta_.dtype)) return {};
        for (std::int64_t k = 0; k != t.size(); ++k) {
            if (t.real(k) != samples_.back().real(k))
                return malformed(join_text(file, ": sample ", i, " for input ", printable(name_), " has ",
                    static_cast<std::int64_t>(t.real(k)), " as element ", k, ", which is no ",
                    name_of(meta_.dtype), "; give integers as the device delivers them"));
        }
        return {};
    }

    // Refuses NaN. Infinities are recorded: masks may have them, and whether the input is a mask is known
    // later.
    [[nodiscard]] result<void> check_numbers(const std::string& file, std::size_t i, const tensor& t) {
        if (t.type() != dtype::float32) return {};
        const auto numbers = t.data<float>();
        const auto refused = [&](auto at, std::string_view what) {
            return malformed(join_text(file, ": sample ", i, " for input ", printable(name_), " has ", what,
                " as element ", at - numbers.begin(), "; ranges need finite numbers"));
        };
        const auto undefined = std::ranges::find_if(numbers, [](float x) { return std::isnan(x); });
        if (undefined != numbers.end()) return refused(undefined, "NaN");
        const auto infinite = std::ranges::find_if(numbers, [](float x) { return std::isinf(x); });
        if (infinite != numbers.end() && !infinite_) infinite_ = refused(infinite, "an infinite number");
        return {};
    }

    const tensor_meta& meta_;
    std::string_view name_;
    std::vector<std::shared_ptr<const std::vector<std::byte>>> files_;
    std::vector<tensor> samples_;
    std::optional<error> infinite_;
};

using samples_of_inputs = std::shared_ptr<std::vector<input_samples>>;

result<samples_of_inputs> read_input_samples(const graph& g, const std::vector<std::string>& files) {
    auto inputs = std::make_shared<std::vector<input_samples>>();
    for (const node& n : g.inputs()) {
        if (inputs->size() == files.size()) {
            return malformed(join_text("no samples are given for input ", printable(n.name()),
                "; give a file or a directory for each input, in order"));
        }
        inputs->emplace_back(n);
        HEADRACE_TRY(inputs->back().read(files[inputs->size() - 1]));
        if (inputs->back().size() != inputs->front().size()) {
            return malformed(join_text(files[inputs->size() - 1], ": it has ",
                counted_text(inputs->back().size(), "sample"), ", ", files[0], " has ",
                inputs->front().size(), "; each input needs the same number"));
        }
    }
    if (inputs->size() != files.size())
        return malformed(join_text("the model has ", counted_text(inputs->size(), "input"),
            ", samples are given for ", files.size()));
    if (inputs->empty()) return unsupported("the model has no inputs to give samples of");
    return inputs;
}

sample_source source_of(const samples_of_inputs& inputs) {
    return {inputs->front().size(), [inputs](std::size_t i) -> result<std::vector<tensor>> {
                std::vector<tensor> sample;
                for (const input_samples& input : *inputs) sample.push_back(input[i]);
                return sample;
            }};
}

// Refuses infinities in inputs that are not masks.
result<void> check_infinities(
    const std::vector<input_samples>& inputs, const std::vector<std::string>& masks) {
    for (const input_samples& input : inputs) {
        const bool is_mask = std::ranges::find(masks, input.name()) != masks.end();
        if (input.infinite() && !is_mask) return *input.infinite();
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
    HEADRACE_TRY(inputs, read_input_samples(g, files));
    HEADRACE_TRY(check_infinities(*inputs, {}));
    return source_of(inputs);
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
        return unsupported("--best and --int16-share execute the model on all samples; quantize with --samples");
    if (!states.empty())
        return unsupported("the model keeps a state, whose values depend on all samples before; quantize with "
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
    samples_of_inputs inputs = std::make_shared<std::vector<input_samples>>();
    if (options.statistics.empty()) {
        HEADRACE_TRY(read, read_input_samples(g, options.samples));
        inputs = std::move(read);
    } else {
        HEADRACE_TRY(opened, statistics_reader::open(options.statistics));
        reader.emplace(std::move(opened));
    }
    const std::uint64_t program_key = reader || writer != nullptr ? fingerprint_of(g) : 0;
    quantized_states states(p);
    sample_source samples;
    if (!reader) {
        HEADRACE_TRY(with_states, states.samples(source_of(inputs)));
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
