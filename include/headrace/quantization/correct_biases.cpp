// SPDX-License-Identifier: MIT
// Defines the functions of headrace/quantization/correct_biases.hpp.

#include <headrace/quantization/correct_biases.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/quantization/annotate.hpp>
#include <headrace/quantization/observers/observe.hpp>
#include <headrace/quantization/observers/point_runner.hpp>

namespace headrace {

namespace {

// The writable integers of a quantized bias, and the scale of each.
struct quantized_bias {
    std::span<std::int32_t> numbers;
    std::vector<double> scales;
};

std::optional<quantized_bias> bias_of(const node& layer) {
    namespace qd = quantized_decomposed;
    if (layer.operand_count < 3) return std::nullopt;
    value stored;
    quantized_bias bias;
    if (const auto* a = match<qd::dequantize_per_channel>(layer.operand(2))) {
        stored = a->input;
        const node& scales = *a->scales.producer;
        bias.scales =
            tensor_of_constant(args_of<builtin::constant>(scales).data, *meta_of(a->scales)).to<double>();
    } else if (const auto* b = match<qd::dequantize_per_tensor>(layer.operand(2))) {
        stored = b->input;
    } else {
        return std::nullopt;
    }
    const auto* constant = match<builtin::constant>(stored);
    if (constant == nullptr || meta_of(stored)->dtype != dtype::int32) return std::nullopt;
    const auto count = static_cast<std::size_t>(meta_of(stored)->elements());
    if (const auto* b = match<qd::dequantize_per_tensor>(layer.operand(2)))
        bias.scales.assign(count, b->scale);
    // The inserter made these bytes, in the graph's arena, for this layer only.
    auto* bytes = const_cast<std::byte*>(constant->data.bytes);
    bias.numbers = {reinterpret_cast<std::int32_t*>(bytes), count};
    return bias.scales.size() == count ? std::optional(bias) : std::nullopt;
}

// Returns the mean of each channel of a layer's result.
std::vector<double> channel_means(const tensor& t, const node& layer) {
    const std::size_t window = is<aten::linear>(layer) ? 0 : meta_of(layer.operand(1))->rank() - 2;
    const std::size_t axis = t.rank() - window - 1;
    const auto channels = static_cast<std::size_t>(t.dim(axis));
    std::size_t inner = 1;
    for (std::size_t d = axis + 1; d < t.rank(); ++d) inner *= static_cast<std::size_t>(t.dim(d));
    std::vector<double> sums(channels, 0);
    const auto numbers = t.data<float>();
    for (std::size_t i = 0; i != numbers.size(); ++i)
        sums[i / inner % channels] += static_cast<double>(numbers[i]);
    for (double& s : sums) s /= static_cast<double>(numbers.size() / channels);
    return sums;
}

std::vector<node*> layers_in(const graph& g) {
    std::vector<node*> layers;
    for (node& n : g.nodes()) {
        if (is_weighted_layer(n)) layers.push_back(&n);
    }
    return layers;
}

// Returns the channel means of a layer for each sample, in order.
result<std::vector<std::vector<double>>> means_of(const graph& g, node& layer, const sample_source& samples,
    std::size_t count, const parallel_for& in_parallel) {
    const quantization_point point = observed_point(layer.result());
    std::vector<std::vector<double>> means(count);
    const point_runner runner(g, std::span(&point, 1));
    HEADRACE_TRY(runner.run_samples(samples, count, in_parallel,
        [&](std::size_t i, std::span<const tensor> found) { means[i] = channel_means(found[0], layer); }));
    return means;
}

}  // namespace

result<std::size_t> correct_biases(const graph& real, graph& quantized, const sample_source& samples,
    const parallel_for& in_parallel, const std::function<bool(const node&)>& is_chosen) {
    constexpr std::size_t max_samples = 32;
    const std::size_t count = std::min(samples.count, max_samples);
    const std::vector<node*> of_real = layers_in(real);
    const std::vector<node*> of_quantized = layers_in(quantized);
    if (of_real.size() != of_quantized.size()) return invalid("the graphs do not have the same layers");
    std::size_t corrected = 0;
    for (std::size_t k = 0; k != of_real.size(); ++k) {
        if (!is_chosen(*of_real[k])) continue;
        const auto bias = bias_of(*of_quantized[k]);
        if (!bias) continue;
        HEADRACE_TRY(expected, means_of(real, *of_real[k], samples, count, in_parallel));
        HEADRACE_TRY(got, means_of(quantized, *of_quantized[k], samples, count, in_parallel));
        for (std::size_t c = 0; c != bias->numbers.size(); ++c) {
            double missing = 0;
            for (std::size_t i = 0; i != count; ++i) missing += expected[i][c] - got[i][c];
            missing /= static_cast<double>(count) * bias->scales[c];
            const double wanted = static_cast<double>(bias->numbers[c]) + std::nearbyint(missing);
            constexpr double largest = std::numeric_limits<std::int32_t>::max();
            if (std::isfinite(wanted))
                bias->numbers[c] = static_cast<std::int32_t>(std::clamp(wanted, -largest, largest));
        }
        ++corrected;
    }
    return corrected;
}

}  // namespace headrace
