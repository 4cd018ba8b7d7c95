// SPDX-License-Identifier: MIT
// Defines the functions of headrace/quantization/search_quantization.hpp.

#include <headrace/quantization/search_quantization.hpp>

#include <functional>
#include <limits>
#include <utility>

#include <headrace/quantization/quantization_judge.hpp>

namespace headrace {

namespace {

// A change to try on a configuration; returns false if the configuration already has it.
struct quantization_change {
    const char* name;
    std::function<bool(quantization_config&)> apply;
    double least_gain = 0.05;  // in dB; smaller gains are noise
};

std::vector<quantization_change> changes_to_try() {
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
    // Branches take several times as long as the layer that they are together.
    const auto branches = [&] {
        quantization_change kept = flag("branches kept", &quantization_config::keep_branches);
        kept.least_gain = 1;
        return kept;
    };
    const auto few = [&] { return headroom("5 % of headroom", 1.05); };
    const auto some = [&] { return headroom("10 % of headroom", 1.1); };
    return {branches(), flag("equalization", &quantization_config::equalize),
        flag("smoothing", &quantization_config::smooth), few(), some(), headroom("20 % of headroom", 1.2),
        observer("ranges by least square error", observer_kind::mean_square),
        observer("ranges by the extremes", observer_kind::min_max),
        observer("ranges by percentiles", observer_kind::percentile),
        flag("bias correction", &quantization_config::correct_biases), headroom("no headroom", 1), few(),
        some()};
}

}  // namespace

result<quantization_search> search_quantization(const graph& g, const quantization_config& base,
    const sample_source& samples, pass_context::node_inference infer, const parallel_for& in_parallel,
    const std::function<bool()>& goes_on) {
    quantization_judge judge(g, samples, infer, in_parallel);
    HEADRACE_TRY(judge.prepare());
    HEADRACE_TRY(first, judge.judge(base));
    quantization_search search{base, {{"as given", first, true}}};
    double best = first;
    for (const quantization_change& change : changes_to_try()) {
        if (!goes_on()) {
            search.is_complete = false;
            break;
        }
        quantization_config config = search.best;
        if (!change.apply(config)) continue;
        const result<double> sqnr = judge.judge(config);
        if (!sqnr) continue;  // a change that fails on this model is not kept
        const bool gains = sqnr.value() > best + change.least_gain;
        search.trials.push_back({change.name, sqnr.value(), gains});
        if (!gains) continue;
        best = sqnr.value();
        search.best = config;
    }
    return search;
}

}  // namespace headrace
