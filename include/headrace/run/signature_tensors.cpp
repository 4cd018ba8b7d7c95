// SPDX-License-Identifier: MIT
// Defines the functions of headrace/run/signature_tensors.hpp.

#include <headrace/run/signature_tensors.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <range/v3/range/conversion.hpp>
#include <range/v3/view/indices.hpp>
#include <range/v3/view/transform.hpp>

#include <headrace/eval/complex_pairs.hpp>
#include <headrace/eval/iterate.hpp>
#include <headrace/io/signature/graph_signature.hpp>
#include <headrace/ir/exported_types.hpp>
#include <headrace/passes/quantize/quantization.hpp>

namespace headrace {

tensor quantized(const tensor& real, const signature_quantization& by, dtype type) {
    const auto parameters = quantization::per_tensor(by.scale, by.zero_point, by.lowest, by.highest);
    const auto integers = ranges::views::indices(real.size()) |
        ranges::views::transform([&](std::int64_t i) { return parameters.quantized(real.real(i)); }) |
        ranges::to<std::vector>();
    return tensor::of(type, real.shape(), integers);
}

namespace {

constexpr std::array<std::size_t, 4> to_channels_first{0, 3, 1, 2};

tensor reals_of(const tensor& integers, const signature_quantization& by) {
    std::vector<double> reals;
    for (std::int64_t i = 0; i != integers.size(); ++i)
        reals.push_back((integers.real(i) - static_cast<double>(by.zero_point)) * by.scale);
    return tensor::of(dtype::float32, integers.shape(), reals);
}

// Returns the difference of two elements beyond `granted`, relative to 1 + |x|; NaN equals NaN.
double element_difference(double x, double y, double granted) {
    if (x == y || (std::isnan(x) && std::isnan(y))) return 0;
    const double d = std::max(std::abs(x - y) - granted, 0.0) / (1 + std::abs(x));
    return std::isnan(d) ? std::numeric_limits<double>::infinity() : d;
}

}  // namespace

std::vector<tensor> inputs_for(const graph& g, std::span<const tensor> exported) {
    std::vector<tensor> inputs;
    for (const node& n : g.inputs()) {
        const tensor& exported_tensor = exported[inputs.size()];
        const tensor_meta& meta = *n.results[0].meta;
        const bool in_pairs = is_complex(exported_tensor.type()) && !is_complex(meta.dtype);
        const tensor given = in_pairs ? as_pairs(exported_tensor) : exported_tensor;
        const tensor real =
            is_channels_last(n, meta.rank()) ? eval::permuted(given, to_channels_last) : given;
        const auto* q = n.find_annotation<signature_quantization>();
        inputs.push_back(q == nullptr ? real.cast(meta.dtype) : quantized(real, *q, meta.dtype));
    }
    return inputs;
}

std::optional<std::vector<tensor>> rounded_inputs(const graph& g, std::span<const tensor> exported) {
    std::vector<tensor> rounded;
    bool changes = false;
    for (const node& n : g.inputs()) {
        const tensor& given = exported[rounded.size()];
        const auto* q = n.find_annotation<signature_quantization>();
        changes = changes || q != nullptr;
        const auto in_steps = [&] { return reals_of(quantized(given, *q, n.results[0].meta->dtype), *q); };
        rounded.push_back(q == nullptr ? given : in_steps().cast(given.type()));
    }
    if (!changes) return std::nullopt;
    return rounded;
}

std::vector<tensor> outputs_of(const graph& g, std::vector<tensor> given) {
    const node* out = g.output();
    if (out == nullptr) return given;
    for (tensor& t : given) {
        if (is_channels_last(*out, t.shape().size())) t = eval::permuted(t, to_channels_first);
    }
    for (std::size_t k = 0; k != given.size(); ++k) {
        if (is_unsigned_output(*out, k)) given[k] = given[k].cast(dtype::uint8);
    }
    const auto* annotation = out->find_annotation<output_quantizations>();
    const std::size_t count = annotation == nullptr ? 0 : std::min(annotation->values.size(), given.size());
    for (std::size_t k = 0; k != count; ++k) {
        const signature_quantization& q = annotation->values[k];
        if (q.scale != 0) given[k] = reals_of(given[k], q);
    }
    const auto* exported = out->find_annotation<exported_output_types>();
    if (exported == nullptr || exported->types.size() != given.size()) return given;
    for (std::size_t k = 0; k != given.size(); ++k) {
        const dtype type = exported->types[k];
        if (type == dtype::unknown || type == given[k].type()) continue;
        const bool in_pairs = is_complex(type) && given[k].rank() != 0 && given[k].shape().back() == 2;
        given[k] = in_pairs ? from_pairs(given[k], type) : given[k].cast(type);
    }
    return given;
}

std::vector<double> output_steps(const graph& g) {
    std::vector<double> steps;
    for (const value v : g.outputs()) {
        const auto read = match_dequantize(v);
        steps.push_back(
            read ? *std::max_element(read->parameters.scales.begin(), read->parameters.scales.end()) : 0);
    }
    return steps;
}

double largest_difference(
    std::span<const tensor> a, std::span<const tensor> b, std::span<const double> granted) {
    double largest = 0;
    for (std::size_t i = 0; i != std::min(a.size(), b.size()); ++i) {
        if (a[i].shape() != b[i].shape()) return std::numeric_limits<double>::infinity();
        const double grant = i < granted.size() ? granted[i] : 0;
        const auto numbers = [](const tensor& t) { return is_complex(t.type()) ? as_pairs(t) : t; };
        const tensor x = numbers(a[i]);
        const tensor y = numbers(b[i]);
        for (std::int64_t k = 0; k != std::min(x.size(), y.size()); ++k) {
            largest = std::max(largest, element_difference(x.real(k), y.real(k), grant));
        }
    }
    return largest;
}

}  // namespace headrace
