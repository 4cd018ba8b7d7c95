// SPDX-License-Identifier: MIT
// Defines headrace::check_stream.

#include <headrace/stream/check_stream.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <memory>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include <headrace/base/printable.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/eval/tensor.hpp>
#include <headrace/io/file/npy.hpp>
#include <headrace/ir/state.hpp>
#include <headrace/lowering/state.hpp>
#include <headrace/partition/extract.hpp>
#include <headrace/run/execution.hpp>
#include <headrace/run/models.hpp>

namespace headrace {

namespace {

using streams::flow_kind;

tensor random_tensor(const tensor_meta& m, std::int64_t axis, std::int64_t length, std::mt19937& random) {
    eval::extents shape(m.shape.begin(), m.shape.end());
    shape[static_cast<std::size_t>(axis)] = length;
    std::vector<double> numbers(static_cast<std::size_t>(eval::elements_in(shape)));
    std::normal_distribution<double> normal;
    std::uniform_int_distribution<int> integer(is_boolean(m.dtype) ? 0 : -100, is_boolean(m.dtype) ? 1 : 100);
    for (double& x : numbers) x = is_floating(m.dtype) ? normal(random) : integer(random);
    return tensor::of(m.dtype, shape, numbers);
}

// Returns some elements of an axis.
tensor part_of(const tensor& t, std::size_t axis, std::int64_t begin, std::int64_t count) {
    eval::extents shape = t.shape();
    const std::span<const std::int64_t> sizes(shape);
    const auto inner =
        static_cast<std::size_t>(eval::elements_in(sizes.subspan(axis + 1))) * eval::element_bytes(t.type());
    const auto outer = static_cast<std::size_t>(eval::elements_in(sizes.first(axis)));
    const std::size_t row = static_cast<std::size_t>(shape[axis]) * inner;
    shape[axis] = count;
    tensor part(t.type(), shape);
    const std::size_t bytes = static_cast<std::size_t>(count) * inner;
    for (std::size_t i = 0; i != outer; ++i) {
        const auto from = t.bytes().subspan(i * row + static_cast<std::size_t>(begin) * inner, bytes);
        std::ranges::copy(from, part.mutable_bytes().subspan(i * bytes).begin());
    }
    return part;
}

// Executes steps, and keeps the states between them.
class step_runner {
public:
    step_runner(const program& p, std::span<const tensor> others) {
        steps_.graph = std::make_unique<graph>();
        steps_.user_outputs = p.user_outputs;
        steps_.mutations = p.mutations;
        copy_graph(*p.graph, *steps_.graph);
        const std::vector<initial_state> states = expose_states(steps_);
        std::size_t other = 0;
        for (const node& n : steps_.graph->inputs()) {
            const auto* annotated = n.find_annotation<input_state>();
            const auto of_state = annotated == nullptr
                ? states.end()
                : std::ranges::find(states, annotated->name, &initial_state::name);
            inputs_.push_back(of_state != states.end()
                    ? eval::tensor_of_constant(of_state->data, of_state->meta)
                    : others[other++]);
            names_.push_back(annotated == nullptr ? std::string_view() : annotated->name);
        }
    }

    void set_input(std::size_t place, const tensor& x) { inputs_[place] = x; }

    result<std::vector<tensor>> run() {
        HEADRACE_TRY(made, execute(*steps_.graph, inputs_));
        const auto* of_outputs = steps_.graph->output()->find_annotation<output_states>();
        for (std::size_t i = 0; of_outputs != nullptr && i != made.size(); ++i) {
            const std::string_view name = of_outputs->names[i];
            if (name.empty()) continue;
            if (const auto at = std::ranges::find(names_, name); at != names_.end())
                inputs_[static_cast<std::size_t>(at - names_.begin())] = made[i];
        }
        return made;
    }

private:
    program steps_{};
    std::vector<tensor> inputs_;
    std::vector<std::string_view> names_;
};

// Compares some elements of an axis of the whole model's output with those that steps made.
class comparison {
public:
    comparison(const stream_output& output, const tensor& whole, stream_check& check)
        : output_(output), whole_(whole), check_(check) {
        for (const double x : whole.to<double>())
            scale_ = std::max(scale_, std::isfinite(x) ? std::abs(x) : 0);
    }

    void compare(std::int64_t element, const tensor& step, std::int64_t in_step, std::int64_t number) {
        const std::size_t axis = output_.flow.axis;
        const tensor a = output_.elements == 0 ? whole_ : part_of(whole_, axis, element, 1);
        const tensor b = output_.elements == 0 ? step : part_of(step, axis, in_step, 1);
        const std::vector<double> expected = a.to<double>();
        const std::vector<double> found = b.to<double>();
        for (std::size_t i = 0; i != std::min(expected.size(), found.size()); ++i) {
            ++check_.compared;
            if (expected[i] == found[i] || (std::isnan(expected[i]) && std::isnan(found[i]))) continue;
            ++check_.different;
            double difference = std::abs(expected[i] - found[i]);
            if (is_floating(whole_.type())) difference /= std::max(scale_, 1e-3);
            if (std::isnan(difference)) difference = INFINITY;
            if (difference <= check_.largest) continue;
            check_.largest = difference;
            check_.where = join_text(printable(output_.name), ", element ", number);
        }
    }

private:
    const stream_output& output_;
    const tensor& whole_;
    stream_check& check_;
    double scale_ = 0;  ///< the largest magnitude of the whole output
};

class stream_comparison {
public:
    stream_comparison(const graph& whole, const program& steps, const stream_summary& summary)
        : whole_(whole), steps_(steps), summary_(summary) {}

    result<stream_check> run(const stream_samples& samples) {
        const stream_input& first = summary_.inputs.front();
        const std::int64_t steps = (first.window + first.step - 1) / first.step;  // of a window
        HEADRACE_TRY(inputs, read(samples, steps));
        std::int64_t count = INT64_MAX;
        for (const stream_input& i : summary_.inputs)
            count = std::min(count, inputs[place_of(i)].dim(i.axis) / i.step);
        step_runner runner(steps_, inputs);
        for (std::int64_t k = 0; k != count; ++k) {
            for (const stream_input& i : summary_.inputs)
                runner.set_input(place_of(i), part_of(inputs[place_of(i)], i.axis, k * i.step, i.step));
            HEADRACE_TRY(made, runner.run());
            made_.push_back(std::move(made));
        }
        const auto is_there = [&](std::int64_t w) {
            return std::ranges::all_of(summary_.inputs, [&](const stream_input& i) {
                return w * steps * i.step + i.window <= inputs[place_of(i)].dim(i.axis);
            });
        };
        for (std::int64_t w = 0; is_there(w); ++w) {
            std::vector<tensor> window = inputs;
            for (const stream_input& i : summary_.inputs)
                window[place_of(i)] = part_of(window[place_of(i)], i.axis, w * steps * i.step, i.window);
            HEADRACE_TRY(expected, execute(whole_, window));
            for (std::size_t o = 0; o != summary_.outputs.size(); ++o) compare(o, expected[o], w, steps);
        }
        for (const stream_output& o : summary_.outputs) check_.skipped += is_compared(o) ? 0 : 1;
        return std::move(check_);
    }

private:
    // Returns the position of a stream among the inputs.
    [[nodiscard]] std::size_t place_of(const stream_input& input) const {
        const auto inputs = whole_.inputs();
        const auto found =
            std::ranges::find_if(inputs, [&](const node& n) { return n.name() == input.name; });
        return static_cast<std::size_t>(std::ranges::distance(inputs.begin(), found));
    }

    // Returns all inputs, with all elements of the streams.
    result<std::vector<tensor>> read(const stream_samples& samples, std::int64_t steps) const {
        if (!samples.files.empty()) return read_files(samples.files);
        HEADRACE_TRY(inputs, model_inputs(whole_, {}));
        std::mt19937 random(samples.seed);
        for (const stream_input& i : summary_.inputs) {
            tensor& x = inputs[place_of(i)];
            x = random_tensor({x.type(), int_list(x.shape()), {}}, static_cast<std::int64_t>(i.axis),
                samples.windows * steps * i.step, random);
        }
        return inputs;
    }

    // A stream's input takes the shape that its file has.
    result<std::vector<tensor>> read_files(const std::vector<std::string>& files) const {
        graph as_long;
        copy_graph(whole_, as_long);
        for (const stream_input& i : summary_.inputs) {
            const std::size_t place = place_of(i);
            if (place >= files.size()) break;  // model_inputs says it
            HEADRACE_TRY(array, read_npy(files[place]));
            node& n = *std::ranges::next(as_long.inputs().begin(), static_cast<std::ptrdiff_t>(place));
            const tensor_meta meta = *n.results[0].meta;
            if (array.meta.shape.size() != meta.rank()) continue;
            const std::int64_t length = array.meta.shape[i.axis];
            if (length < std::max(i.window, i.step)) {
                return malformed(join_text(printable(files[place]), ": it has ", length, " elements of axis ",
                    i.axis, "; at least a window of ", std::max(i.window, i.step), " is needed"));
            }
            std::vector<std::int64_t> shape(meta.shape.begin(), meta.shape.end());
            shape[i.axis] = length;
            as_long.set_meta(n.result(), {meta.dtype, as_long.own(int_list(shape)), {}});
        }
        return model_inputs(as_long, files);
    }

    [[nodiscard]] bool is_compared(const stream_output& o) const {
        if (o.flow.kind == flow_kind::independent) return true;
        return o.flow.comparable &&
            (o.elements != 0 || summary_.inputs[0].window % summary_.inputs[0].step == 0);
    }

    void compare(std::size_t o, const tensor& expected, std::int64_t window, std::int64_t steps) {
        const stream_output& output = summary_.outputs[o];
        comparison compared(output, expected, check_);
        if (output.elements == 0) {
            if (window == 0 && is_compared(output))
                compared.compare(0, made_[static_cast<std::size_t>(steps - 1)][o], 0, steps - 1);
            return;
        }
        if (!output.flow.comparable || (window != 0 && output.flow.remembers)) return;
        const std::int64_t first = window * steps * output.elements;
        const std::int64_t begin = window == 0 ? output.flow.exact : output.flow.interior;
        for (std::int64_t j = std::max(std::int64_t{0}, begin - output.flow.delay); j < output.flow.size;
             ++j) {
            const std::int64_t n = first + j + output.flow.delay;
            const std::int64_t step = n / output.elements;
            if (n < 0 || step >= static_cast<std::int64_t>(made_.size())) continue;
            // The last elements may be computed from the window's end, which the stream does not have.
            if (n >= first + output.flow.end) break;
            compared.compare(j, made_[static_cast<std::size_t>(step)][o], n % output.elements, n);
        }
    }

    const graph& whole_;
    const program& steps_;
    const stream_summary& summary_;
    std::vector<std::vector<tensor>> made_;
    stream_check check_;
};

}  // namespace

result<stream_check> check_stream(
    const graph& whole, const program& steps, const stream_summary& summary, const stream_samples& samples) {
    return stream_comparison(whole, steps, summary).run(samples);
}

}  // namespace headrace
