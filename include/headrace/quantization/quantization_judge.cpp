// SPDX-License-Identifier: MIT
// Defines the members of headrace::quantization_judge.

#include <headrace/quantization/quantization_judge.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include <headrace/eval/evaluator.hpp>
#include <headrace/partition/extract.hpp>

namespace headrace {

namespace {

/// Returns every fourth sample, or all the others.
[[nodiscard]] sample_source part_of(const sample_source& all, bool judging) {
    constexpr std::size_t step = 4;
    if (all.count < 2 * step) return all;
    const std::size_t judges = all.count / step;
    if (judging) return {judges, [&all](std::size_t i) { return all.inputs(i * step + step - 1); }};
    return {all.count - judges, [&all, judges](std::size_t i) {
                const std::size_t at =
                    i < judges * (step - 1) ? i / (step - 1) * step + i % (step - 1) : i + judges;
                return all.inputs(at);
            }};
}

struct signal_power {
    double signal = 0;
    double noise = 0;
};

/// Returns the outputs of a graph for all samples.
[[nodiscard]] result<std::vector<std::vector<tensor>>> outputs_for(
    const graph& g, const sample_source& samples, const parallel_for& in_parallel) {
    std::vector<std::vector<tensor>> outputs(samples.count);
    HEADRACE_TRY(try_each(samples.count, in_parallel, [&](std::size_t s) -> result<void> {
        HEADRACE_TRY(inputs, samples.inputs(s));
        HEADRACE_TRY(found, run_graph(g, inputs));
        outputs[s] = std::move(found);
        return {};
    }));
    return outputs;
}

/// Returns the mean of the outputs' SQNR in decibels; each counts for at most 200, as if it were exact.
[[nodiscard]] double sqnr_of(
    const std::vector<std::vector<tensor>>& expected, const std::vector<std::vector<tensor>>& got) {
    constexpr double exact = 200;
    std::vector<signal_power> powers(expected.empty() ? 0 : expected.front().size());
    for (std::size_t s = 0; s != expected.size(); ++s) {
        for (std::size_t k = 0; k != powers.size(); ++k) {
            const std::vector<double> x = expected[s][k].to<double>();
            const std::vector<double> y = got[s][k].to<double>();
            for (std::size_t i = 0; i != x.size(); ++i) {
                if (x[i] == y[i]) {
                    powers[k].signal += std::isfinite(x[i]) ? x[i] * x[i] : 0;
                    continue;
                }
                powers[k].signal += x[i] * x[i];
                powers[k].noise += (x[i] - y[i]) * (x[i] - y[i]);
            }
        }
    }
    double sum = 0;
    for (const signal_power& p : powers) {
        const double decibels = 10 * std::log10(p.signal / p.noise);
        sum += p.noise == 0 ? exact : std::isnan(decibels) ? -exact : std::clamp(decibels, -exact, exact);
    }
    return powers.empty() ? 0 : sum / static_cast<double>(powers.size());
}

}  // namespace

quantization_judge::quantization_judge(const graph& g, const sample_source& samples,
    pass_context::node_inference infer, const parallel_for& in_parallel)
    : graph_(g),
      infer_(infer),
      for_ranges_(part_of(samples, false)),
      judging_(part_of(samples, true)),
      in_parallel_(in_parallel) {}

result<void> quantization_judge::prepare() {
    HEADRACE_TRY(outputs, outputs_for(graph_, judging_, in_parallel_));
    expected_ = std::move(outputs);
    return {};
}

result<double> quantization_judge::judge(const quantization_config& config) const {
    graph trial;
    copy_graph(graph_, trial);
    pass_context context(infer_);
    HEADRACE_TRY(quantize_graph(trial, context, config, for_ranges_, in_parallel_));
    if (!context.diagnostics().empty())
        return error{context.diagnostics().front().kind, context.diagnostics().front().reason};
    HEADRACE_TRY(got, outputs_for(trial, judging_, in_parallel_));
    return sqnr_of(expected_, got);
}

}  // namespace headrace
