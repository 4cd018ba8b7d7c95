// SPDX-License-Identifier: MIT
// Defines the members of headrace::equalize_layers.

#include <headrace/quantization/equalize_layers.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/passes/support/constants.hpp>
#include <headrace/quantization/replacements.hpp>

namespace headrace {

namespace {

struct layer {
    node* of;
    std::vector<float> weight;  // [outputs, inputs of a group, window…]
    std::vector<float> bias;    // empty if there is none
    std::int64_t outputs;
    std::int64_t inputs;
    std::size_t window;  // elements of a channel pair
    bool depthwise;      // output i depends on input i only
    bool changed = false;
};

std::optional<layer> layer_of(node& n) {
    std::int64_t groups = 1;
    const auto look = [&]<class Op>() {
        const auto* a = args_if<Op>(n);
        if (a == nullptr) return false;
        if constexpr (requires { a->groups; }) groups = a->groups;
        return true;
    };
    const bool known = look.template operator()<aten::conv1d>() || look.template operator()<aten::conv2d>() ||
        look.template operator()<aten::conv2d_padding>() || look.template operator()<aten::linear>();
    if (!known || !meta_of(n.operand(1))) return std::nullopt;
    const int_list& shape = meta_of(n.operand(1))->shape;
    if (shape.size() < 2 || meta_of(n.operand(1))->dtype != dtype::float32) return std::nullopt;
    const auto weight = constant_reals(n.operand(1));
    const auto bias =
        n.operand_count == 3 ? constant_reals(n.operand(2)) : std::optional<pmr_vector<double>>();
    if (!weight || weight->empty() || (n.operand_count == 3 && !bias)) return std::nullopt;
    layer l{&n, {weight->begin(), weight->end()}, {}, shape[0], shape[1] * groups,
        weight->size() / static_cast<std::size_t>(shape[0] * shape[1]),
        groups != 1 && groups == shape[0] && shape[1] == 1};
    if (groups != 1 && !l.depthwise) return std::nullopt;
    if (bias) l.bias.assign(bias->begin(), bias->end());
    return l;
}

bool positive(value v) {
    const auto numbers = constant_reals(v);
    return numbers && numbers->front() > 0;
}

bool keeps_channels(const node& n, value v) {
    if (n.result_count != 1 || !(n.operand(0) == v) || meta_of(v)->rank() < 2) return false;
    const tensor_meta& from = *meta_of(v);
    const tensor_meta& to = *n.results[0].meta;
    const bool same_channels = to.rank() >= 2 && from.shape[0] == to.shape[0] && from.shape[1] == to.shape[1];
    if (!same_channels) return false;
    if (is<aten::mul_tensor>(n)) return meta_of(n.operand(1))->elements() == 1 && positive(n.operand(1));
    if (is<aten::reshape>(n) || is<aten::view>(n) || is<aten::flatten_using_ints>(n))
        return from.elements() == from.shape[0] * from.shape[1];  // only channels
    if (const auto* sum = args_if<aten::sum_dim_intlist>(n)) {
        return sum->keepdim && sum->dim && std::ranges::all_of(*sum->dim, [](auto d) { return d >= 2; });
    }
    const bool activation = is<aten::relu>(n) || is<aten::leaky_relu>(n) || is<aten::dropout>(n);
    return activation || is<aten::avg_pool2d>(n) || is<aten::max_pool2d>(n) ||
        (is<aten::slice_tensor>(n) && args_of<aten::slice_tensor>(n).dim >= 2);
}

// Returns the layer that reads this layer's result, after ops that keep channels apart, on axis 1.
const node* reader_behind(const node& layer) {
    value v{const_cast<node*>(&layer), 0};
    while (has_one_use(v)) {
        const node& reader = *v.producer->first_use->target;
        if (is<aten::conv1d>(reader) || is<aten::conv2d>(reader) || is<aten::conv2d_padding>(reader) ||
            is<aten::linear>(reader))
            return reader.operand(0) == v ? &reader : nullptr;
        if (!keeps_channels(reader, v)) return nullptr;
        v = {const_cast<node*>(&reader), 0};
    }
    return nullptr;
}

// Calls f(weight) for each weight of output channel i; of_input does so for input channel i.
template <class F>
void of_output(layer& l, std::size_t i, F&& f) {
    const std::size_t count = l.weight.size() / static_cast<std::size_t>(l.outputs);
    for (std::size_t k = 0; k != count; ++k) f(l.weight[i * count + k]);
}
template <class F>
void of_input(layer& l, std::size_t i, F&& f) {
    if (l.depthwise) return of_output(l, i, f);
    const std::size_t row = static_cast<std::size_t>(l.inputs) * l.window;
    for (std::size_t o = 0; o != static_cast<std::size_t>(l.outputs); ++o) {
        for (std::size_t k = 0; k != l.window; ++k) f(l.weight[o * row + i * l.window + k]);
    }
}

// Returns the largest change of a channel, as a logarithm.
double equalize(layer& first, layer& second) {
    double change = 0;
    for (std::size_t i = 0; i != static_cast<std::size_t>(first.outputs); ++i) {
        double r1 = 0;
        double r2 = 0;
        of_output(first, i, [&](float& w) { r1 = std::max(r1, std::fabs(static_cast<double>(w))); });
        of_input(second, i, [&](float& w) { r2 = std::max(r2, std::fabs(static_cast<double>(w))); });
        if (r1 == 0 || r2 == 0 || !std::isfinite(r1 / r2)) continue;
        const double s = std::sqrt(r1 / r2);
        change = std::max(change, std::fabs(std::log(s)));
        of_output(first, i, [&](float& w) { w = static_cast<float>(static_cast<double>(w) / s); });
        if (!first.bias.empty()) first.bias[i] = static_cast<float>(static_cast<double>(first.bias[i]) / s);
        of_input(second, i, [&](float& w) { w = static_cast<float>(static_cast<double>(w) * s); });
    }
    first.changed = second.changed = true;
    return change;
}

void store(graph& g, layer& l) {
    const auto replace = [&](std::size_t operand, const std::vector<float>& numbers) {
        replace_with_constant(g, l.of->operands[operand],
            [&](std::span<std::byte> data) { std::memcpy(data.data(), numbers.data(), data.size()); });
    };
    replace(1, l.weight);
    if (!l.bias.empty()) replace(2, l.bias);
}

}  // namespace

result<std::size_t> equalize_layers::operator()(graph& g, pass_context&) const {
    std::vector<layer> layers;
    for (node& n : g.nodes()) {
        if (auto found = layer_of(n)) layers.push_back(std::move(*found));
    }
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    for (std::size_t i = 0; i != layers.size(); ++i) {
        const node* next = reader_behind(*layers[i].of);
        const auto at = std::ranges::find(layers, next, &layer::of);
        if (at != layers.end() && at->inputs == layers[i].outputs)
            pairs.emplace_back(i, static_cast<std::size_t>(at - layers.begin()));
    }
    constexpr int max_rounds = 50;
    constexpr double settled = 1e-3;
    for (int round = 0; round != max_rounds; ++round) {
        double change = 0;
        for (const auto& [first, second] : pairs)
            change = std::max(change, equalize(layers[first], layers[second]));
        if (change < settled) break;
    }
    for (layer& l : layers) {
        if (l.changed) store(g, l);
    }
    return pairs.size();
}

}  // namespace headrace
