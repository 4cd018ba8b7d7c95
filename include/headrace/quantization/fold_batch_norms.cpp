// SPDX-License-Identifier: MIT
// Defines the members of headrace::fold_batch_norms.

#include <headrace/quantization/fold_batch_norms.hpp>

#include <cmath>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace {

namespace {

struct norm {
    std::optional<value> weight, bias;
    value mean, variance;
    double eps;
};

template <class... Ops>
std::optional<value> folded(emit<fold_batch_norms::produces>& e, value input, const norm& n, ops<Ops...>) {
    std::optional<value> found;
    if (!input || !has_one_use(input)) return found;
    const auto fold_into = [&]<class Op>() {
        if (const auto* layer = match<Op>(input); layer != nullptr && !found)
            found = folded_into<Op>(e, *layer, n);
    };
    (fold_into.template operator()<Ops>(), ...);
    return found;
}

bool is_weight(const emitter& e, value v) {
    return is<builtin::constant>(*v.producer) && e.dtype(v) == dtype::float32;
}

template <class Op>
std::optional<value> folded_into(emit<fold_batch_norms::produces>& e, args<Op> layer, const norm& n) {
    constexpr bool transposed = requires { layer.output_padding; };
    if (!is_weight(e, layer.weight) || (layer.bias && !is_weight(e, *layer.bias))) return std::nullopt;
    if (e.rank(layer.weight) < 2) return std::nullopt;
    if constexpr (std::is_same_v<Op, aten::linear>) {
        if (e.rank(layer.input) != 2) return std::nullopt;  // its channels are not axis 1
    }
    if constexpr (transposed) {
        if (layer.groups != 1) return std::nullopt;  // a channel's weights are not a single slice
    }
    const std::size_t axis = transposed ? 1 : 0;
    const auto channels = static_cast<std::size_t>(e.shape(layer.weight)[axis]);
    const auto read = [&](const std::optional<value>& v, double otherwise) {
        auto all = v ? constant_reals(*v) : pmr_vector<double>(channels, otherwise);
        return all && all->size() == channels ? all : std::nullopt;
    };
    const auto gamma = read(n.weight, 1);
    const auto beta = read(n.bias, 0);
    const auto mean = read(n.mean, 0);
    const auto variance = read(n.variance, 0);
    const auto bias = read(layer.bias, 0);
    const auto weight = constant_reals(layer.weight);
    if (!gamma || !beta || !mean || !variance || !bias || !weight) return std::nullopt;
    pmr_vector<float> factor(channels);
    pmr_vector<float> shift(channels);
    for (std::size_t c = 0; c != channels; ++c) {
        const float root = 1 / std::sqrt(static_cast<float>((*variance)[c]) + static_cast<float>(n.eps));
        const auto scale = static_cast<float>((*gamma)[c]);
        factor[c] = scale * root;
        shift[c] = (static_cast<float>((*bias)[c]) - static_cast<float>((*mean)[c])) * root * scale +
            static_cast<float>((*beta)[c]);
    }
    pmr_vector<float> scaled(weight->size());
    const int_list shape = e.shape(layer.weight);
    std::size_t inner = 1;
    for (std::size_t d = axis + 1; d < shape.size(); ++d) inner *= static_cast<std::size_t>(shape[d]);
    for (std::size_t i = 0; i != scaled.size(); ++i)
        scaled[i] = static_cast<float>((*weight)[i]) * factor[i / inner % channels];
    layer.weight = e.constant(dtype::float32, sizes(shape), std::span<const float>(scaled));
    const std::int64_t count[] = {static_cast<std::int64_t>(channels)};
    layer.bias = e.constant(dtype::float32, sizes(count), std::span<const float>(shift));
    return e.make<Op>(layer);
}

}  // namespace

std::optional<value> fold_batch_norms::operator()(const args<aten::batch_norm>& a, emit<produces>& e) const {
    if (a.training || !a.running_mean || !a.running_var) return std::nullopt;
    return folded(e, a.input, {a.weight, a.bias, *a.running_mean, *a.running_var, a.eps}, layers{});
}
std::optional<std::tuple<value, value, value>> fold_batch_norms::operator()(
    const args<aten::_native_batch_norm_legit_no_training>& a, emit<produces>& e) const {
    const auto y = folded(e, a.input, {a.weight, a.bias, a.running_mean, a.running_var, a.eps}, layers{});
    return y ? std::optional(std::tuple(*y, value{}, value{})) : std::nullopt;
}

}  // namespace headrace
