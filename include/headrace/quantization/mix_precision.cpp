// SPDX-License-Identifier: MIT
// Defines the functions of headrace/quantization/mix_precision.hpp.

#include <headrace/quantization/mix_precision.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <headrace/partition/extract.hpp>
#include <headrace/quantization/quantization_judge.hpp>

namespace headrace {

namespace {

// An exported node with the number of float32 elements it computes, in all the steps that it is expanded to.
struct sized_name {
    std::string name;
    double elements = 0;
    double cost = 0;  ///< of 8 bits: added noise-to-signal ratio per element
};

std::vector<sized_name> quantizable_names(const graph& g) {
    std::vector<sized_name> names;
    std::map<std::string_view, std::size_t> places;
    for (const node& n : g.nodes()) {
        const std::string_view name = origin_name(n);
        if (is<builtin::constant>(n) || name.empty() || name.find('*') != std::string_view::npos) continue;
        double elements = 0;
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            const auto& meta = n.results[i].meta;
            if (meta && meta->dtype == dtype::float32) elements += static_cast<double>(meta->elements());
        }
        if (elements == 0) continue;
        const auto [at, is_new] = places.emplace(name, names.size());
        if (is_new) names.push_back({std::string(name)});
        names[at->second].elements += elements;
    }
    return names;
}

op_scheme with_int16(op_scheme scheme) {
    tensor_scheme& a = scheme.activation;
    a.type = dtype::int16;
    a.lowest = -32767;
    a.highest = 32767;
    a.symmetric = true;
    a.smallest_scale = 0x1p-12;
    return scheme;
}

// Returns the configuration with a rule for each of these names put before its own.
quantization_config with_rules(
    const quantization_config& base, std::span<const sized_name> names, const op_scheme& scheme) {
    quantization_config config = base;
    std::vector<quantization_rule> rules;
    for (const sized_name& n : names)
        rules.push_back({quantization_rule::subject_type::name, n.name, scheme});
    config.rules.insert(config.rules.begin(), rules.begin(), rules.end());
    return config;
}

double noise_ratio_of(double decibels) { return std::pow(10, -decibels / 10); }

}  // namespace

result<quantization_config> mix_precision(const graph& g, const quantization_config& base, double share,
    const sample_source& samples, pass_context::node_inference infer, const parallel_for& in_parallel,
    const std::function<bool()>& goes_on) {
    graph prepared;
    copy_graph(g, prepared);
    plan_merges(prepared, base);
    pass_context context(infer);
    HEADRACE_TRY(prepare_quantization(prepared, context));
    std::vector<sized_name> names = quantizable_names(prepared);
    quantization_judge judge(g, samples, infer, in_parallel);
    HEADRACE_TRY(judge.prepare());
    HEADRACE_TRY(narrow, judge.judge(base));
    quantization_config wide = base;
    wide.all = with_int16(base.all);
    HEADRACE_TRY(best, judge.judge(wide));
    double total = 0;
    for (sized_name& n : names) {
        total += n.elements;
        if (!goes_on()) continue;  // without a cost, it stays in 8 bits
        const auto alone = judge.judge(with_rules(wide, std::span(&n, 1), base.all));
        if (!alone) continue;
        const double noise = noise_ratio_of(alone.value()) - noise_ratio_of(best);
        n.cost = std::max(noise, 0.0) / n.elements;
    }
    std::ranges::stable_sort(names, std::ranges::greater(), &sized_name::cost);
    std::vector<sized_name> chosen;
    double left = share * total;
    for (const sized_name& n : names) {
        if (n.cost == 0 || n.elements > left) continue;
        left -= n.elements;
        chosen.push_back(n);
    }
    quantization_config mixed = with_rules(base, chosen, with_int16(base.all));
    HEADRACE_TRY(got, judge.judge(mixed));
    return got > narrow ? mixed : base;
}

}  // namespace headrace
