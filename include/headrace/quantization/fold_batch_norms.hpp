// SPDX-License-Identifier: MIT
// Defines headrace::fold_batch_norms.
#ifndef HEADRACE_QUANTIZATION_FOLD_BATCH_NORMS_HPP
#define HEADRACE_QUANTIZATION_FOLD_BATCH_NORMS_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/op/op_query.hpp>
#include <headrace/pass/pass.hpp>

namespace headrace {

/// W' = W · (γ · r) and b' = (b - mean) · r · γ + β with r = rsqrt(var + ε), in float32 and in this order,
/// which determines the last bits (torchao, fold_conv_bn_weights). A layer with other readers keeps its norm:
/// they need the layer's own values.
struct fold_batch_norms : pass {
    static constexpr std::string_view summary =
        "folds batch norms into the weights of the convolutions and linear layers before them";

    using targeted_ops = ops<aten::batch_norm, aten::_native_batch_norm_legit_no_training>;
    using layers = joined<ops_where<aten::dialect, trait::convolving, trait::spatial>, ops<aten::linear>>;
    using produces = layers;

    std::optional<value> operator()(const args<aten::batch_norm>& a, emit<produces>& e) const;
    std::optional<std::tuple<value, value, value>> operator()(
        const args<aten::_native_batch_norm_legit_no_training>& a, emit<produces>& e) const;
};
HEADRACE_COMPILED_PASS(fold_batch_norms);

}  // namespace headrace

#endif
