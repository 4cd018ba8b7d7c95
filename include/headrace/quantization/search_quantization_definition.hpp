// SPDX-License-Identifier: MIT
// Defines headrace::search_quantization.
#ifndef HEADRACE_QUANTIZATION_SEARCH_QUANTIZATION_DEFINITION_HPP
#define HEADRACE_QUANTIZATION_SEARCH_QUANTIZATION_DEFINITION_HPP

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include <headrace/base/compiled.hpp>
#include <headrace/eval/evaluator.hpp>
#include <headrace/partition/extract.hpp>
#include <headrace/quantization/search_quantization.hpp>

namespace headrace {

namespace detail {

/// Returns every fourth sample, or all the others.
[[nodiscard]] inline sample_source part_of(const sample_source& all, bool judging) {
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

struct power {
    double signal = 0;
    double noise = 0;
};

/// Returns the outputs of a graph for all samples.
[[nodiscard]] inline result<std::vector<std::vector<tensor>>> outputs_for(
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
[[nodiscard]] inline double sqnr_of(
    const std::vector<std::vector<tensor>>& expected, const std::vector<std::vector<tensor>>& got) {
    constexpr double exact = 200;
    std::vector<power> powers(expected.empty() ? 0 : expected.front().size());
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
    for (const power& p : powers) {
        const double decibels = 10 * std::log10(p.signal / p.noise);
        sum += p.noise == 0 ? exact : std::isnan(decibels) ? -exact : std::clamp(decibels, -exact, exact);
    }
    return powers.empty() ? 0 : sum / static_cast<double>(powers.size());
}

/// A change to try on a configuration; returns false if the configuration already has it.
struct quantization_change {
    const char* name;
    std::function<bool(quantization_config&)> apply;
};

[[nodiscard]] inline std::vector<quantization_change> changes_to_try() {
    const auto flag = [](const char* name, bool quantization_config::*on) {
        return quantization_change{
            name, [on](quantization_config& c) { return !std::exchange(c.*on, true); }};
    };
    const auto observer = [](const char* name, observer_kind kind) {
        return quantization_change{name, [kind](quantization_config& c) {
                                       return std::exchange(c.all.activation.observer, kind) != kind;
                                   }};
    };
    const auto headroom = [](const char* name, double factor) {
        return quantization_change{name, [factor](quantization_config& c) {
                                       return std::exchange(c.all.activation.headroom, factor) != factor;
                                   }};
    };
    const auto few = [&] { return headroom("5 % of headroom", 1.05); };
    const auto some = [&] { return headroom("10 % of headroom", 1.1); };
    return {flag("equalization", &quantization_config::equalize),
        flag("smoothing", &quantization_config::smooth), few(), some(), headroom("20 % of headroom", 1.2),
        observer("ranges by least square error", observer_kind::mean_square),
        observer("ranges by the extremes", observer_kind::min_max),
        observer("ranges by percentiles", observer_kind::percentile),
        flag("bias correction", &quantization_config::correct_biases), headroom("no headroom", 1), few(),
        some()};
}

/// Quantizes copies of a graph, and judges each by its outputs.
class quantization_judge {
public:
    quantization_judge(const graph& g, const sample_source& samples, pass_context::node_inference infer,
        const parallel_for& in_parallel)
        : graph_(g),
          infer_(infer),
          for_ranges_(part_of(samples, false)),
          judging_(part_of(samples, true)),
          in_parallel_(in_parallel) {}

    [[nodiscard]] result<void> prepare() {
        HEADRACE_TRY(outputs, outputs_for(graph_, judging_, in_parallel_));
        expected_ = std::move(outputs);
        return {};
    }
    [[nodiscard]] result<double> judge(const quantization_config& config) const {
        graph trial;
        copy_graph(graph_, trial);
        pass_context context(infer_);
        HEADRACE_TRY(quantize_graph(trial, context, config, for_ranges_, in_parallel_));
        if (!context.diagnostics().empty())
            return error{context.diagnostics().front().kind, context.diagnostics().front().reason};
        HEADRACE_TRY(got, outputs_for(trial, judging_, in_parallel_));
        return sqnr_of(expected_, got);
    }

private:
    const graph& graph_;
    pass_context::node_inference infer_;
    sample_source for_ranges_;
    sample_source judging_;
    const parallel_for& in_parallel_;
    std::vector<std::vector<tensor>> expected_;
};

}  // namespace detail

HEADRACE_INLINE result<quantization_search> search_quantization(const graph& g,
    const quantization_config& base, const sample_source& samples, pass_context::node_inference infer,
    const parallel_for& in_parallel, const std::function<bool()>& goes_on) {
    constexpr double least_gain = 0.05;  // dB; smaller gains are noise
    detail::quantization_judge judge(g, samples, infer, in_parallel);
    HEADRACE_TRY(judge.prepare());
    HEADRACE_TRY(first, judge.judge(base));
    quantization_search search{base, {{"as given", first, true}}};
    double best = first;
    for (const detail::quantization_change& change : detail::changes_to_try()) {
        if (!goes_on()) {
            search.is_complete = false;
            break;
        }
        quantization_config config = search.best;
        if (!change.apply(config)) continue;
        const result<double> sqnr = judge.judge(config);
        if (!sqnr) continue;  // a change that fails on this model is not kept
        const bool gains = sqnr.value() > best + least_gain;
        search.trials.push_back({change.name, sqnr.value(), gains});
        if (!gains) continue;
        best = sqnr.value();
        search.best = config;
    }
    return search;
}

}  // namespace headrace

#endif
