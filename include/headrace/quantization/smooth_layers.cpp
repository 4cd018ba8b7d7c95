// SPDX-License-Identifier: MIT
// Defines the functions of headrace/quantization/smooth_layers.hpp.

#include <headrace/quantization/smooth_layers.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/ir/views.hpp>
#include <headrace/passes/support/constants.hpp>
#include <headrace/quantization/observers/observe.hpp>
#include <headrace/quantization/observers/point_runner.hpp>
#include <headrace/quantization/replacements.hpp>

namespace headrace {

namespace {

// Returns the constant that an operand is, past views.
edge* constant_edge(edge& operand) {
    edge* e = &operand;
    while (is_view(*e->source) && has_one_use(*e->slot)) e = &e->source->operands[0];
    return is<builtin::constant>(*e->source) && meta_of(*e->slot)->dtype == dtype::float32 ? e : nullptr;
}

// A tensor that linear layers read, and the constants that scale its channels.
struct smoothed_tensor {
    value source;
    std::vector<edge*> before;   ///< constants whose rows, or elements, are the channels
    std::vector<edge*> weights;  ///< weights of the layers that read it, whose columns are the channels
    std::size_t channels;
};

std::vector<edge*> scaling_constants(const node& n, std::size_t channels) {
    std::vector<edge*> found;
    const auto take = [&](edge& operand) {
        edge* e = constant_edge(operand);
        if (e == nullptr || meta_of(*e->slot)->elements() % static_cast<std::int64_t>(channels) != 0)
            return false;
        found.push_back(e);
        return true;
    };
    const auto is_vector = [&](const edge& operand) {
        return meta_of(*operand.slot)->elements() == static_cast<std::int64_t>(channels);
    };
    if (is<aten::linear>(n)) {
        for (std::uint32_t i = 1; i != n.operand_count; ++i) {
            if (!take(n.operands[i])) return {};
        }
        return found;
    }
    if (!is<aten::add_tensor>(n) || !is_vector(n.operands[1]) || !take(n.operands[1])) return {};
    const node& scaled = *n.operands[0].source;
    if (!is<aten::mul_tensor>(scaled) || !has_one_use(*n.operands[0].slot)) return {};
    if (!is_vector(scaled.operands[1]) || !take(scaled.operands[1])) return {};
    return found;
}

// Returns a node's result if all its readers are linear layers and constants can scale it.
std::optional<smoothed_tensor> smoothed_tensor_of(node& n) {
    if (n.result_count != 1 || n.first_use == nullptr) return std::nullopt;
    const tensor_meta* meta = meta_of(n.result());
    if (meta == nullptr || meta->dtype != dtype::float32 || meta->rank() == 0) return std::nullopt;
    smoothed_tensor t{n.result(), {}, {}, static_cast<std::size_t>(meta->shape[meta->rank() - 1])};
    for (edge& e : n.uses()) {
        if (!is<aten::linear>(*e.target) || e.operand != 0) return std::nullopt;
        edge* weight = constant_edge(e.target->operands[1]);
        if (weight == nullptr) return std::nullopt;
        t.weights.push_back(weight);
    }
    if (t.channels == 0) return std::nullopt;
    t.before = scaling_constants(n, t.channels);
    if (t.before.empty()) return std::nullopt;
    return t;
}

// Returns max|x_j| of each channel of each tensor over all samples.
result<std::vector<std::vector<float>>> channel_maxima(const graph& g,
    std::span<const smoothed_tensor> tensors, const sample_source& samples, const parallel_for& in_parallel) {
    std::vector<quantization_point> points;
    for (const smoothed_tensor& t : tensors) points.push_back(observed_point(t.source));
    std::vector<std::vector<std::vector<float>>> of_sample(samples.count);
    const point_runner runner(g, points);
    const auto take_largest = [&](std::size_t s, std::span<const tensor> found) {
        for (std::size_t i = 0; i != tensors.size(); ++i) {
            std::vector<float>& largest = of_sample[s].emplace_back(tensors[i].channels, 0.0F);
            const auto numbers = found[i].data<float>();
            for (std::size_t k = 0; k != numbers.size(); ++k)
                largest[k % largest.size()] = std::max(largest[k % largest.size()], std::fabs(numbers[k]));
        }
    };
    HEADRACE_TRY(runner.run_samples(samples, samples.count, in_parallel, take_largest));
    std::vector<std::vector<float>> maxima;
    for (const smoothed_tensor& t : tensors) maxima.emplace_back(t.channels, 0.0F);
    for (const std::vector<std::vector<float>>& own : of_sample) {
        for (std::size_t i = 0; i != maxima.size(); ++i) {
            for (std::size_t j = 0; j != maxima[i].size(); ++j)
                maxima[i][j] = std::max(maxima[i][j], own[i][j]);
        }
    }
    return maxima;
}

// Replaces a constant with one whose element k is `change(k, number)`.
template <class Change>
void change_constant(graph& g, edge& e, const Change& change) {
    const auto numbers = constant_reals(*e.slot);
    replace_with_constant(g, e, [&](std::span<std::byte> data) {
        for (std::size_t k = 0; k != numbers->size(); ++k) {
            const auto number = static_cast<float>(change(k, (*numbers)[k]));
            std::memcpy(&data[k * sizeof number], &number, sizeof number);
        }
    });
}

void smooth(graph& g, const smoothed_tensor& t, std::span<const float> largest) {
    std::vector<double> weights(t.channels, 0);
    for (edge* e : t.weights) {
        const auto numbers = constant_reals(*e->slot);
        for (std::size_t k = 0; k != numbers->size(); ++k)
            weights[k % t.channels] = std::max(weights[k % t.channels], std::fabs((*numbers)[k]));
    }
    std::vector<double> scales(t.channels, 1);
    for (std::size_t j = 0; j != t.channels; ++j) {
        const double s = std::sqrt(static_cast<double>(largest[j]) / weights[j]);
        if (std::isfinite(s) && s > 0) scales[j] = s;
    }
    for (edge* e : t.before) {
        const auto size = static_cast<std::size_t>(meta_of(*e->slot)->elements());
        const std::size_t row = size / t.channels;
        change_constant(g, *e, [&](std::size_t k, double number) { return number / scales[k / row]; });
    }
    for (edge* e : t.weights)
        change_constant(g, *e, [&](std::size_t k, double number) { return number * scales[k % t.channels]; });
}

}  // namespace

result<std::size_t> smooth_layers(graph& g, const sample_source& samples, const parallel_for& in_parallel) {
    std::vector<smoothed_tensor> tensors;
    for (node& n : g.nodes()) {
        if (auto t = smoothed_tensor_of(n)) tensors.push_back(*std::move(t));
    }
    if (tensors.empty()) return std::size_t{0};
    HEADRACE_TRY(maxima, channel_maxima(g, tensors, samples, in_parallel));
    for (std::size_t i = 0; i != tensors.size(); ++i) smooth(g, tensors[i], maxima[i]);
    return tensors.size();
}

}  // namespace headrace
