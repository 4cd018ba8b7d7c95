// SPDX-License-Identifier: MIT
// Defines headrace::fold_padding.
#ifndef HEADRACE_PASSES_DEVICE_FOLD_PADDING_HPP
#define HEADRACE_PASSES_DEVICE_FOLD_PADDING_HPP

#include <optional>

#include <headrace/dialect/tosa.hpp>
#include <headrace/ir/node.hpp>
#include <headrace/op/op_list.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace {

/// Folds the PAD of an image with its zero point into the convolution: kernels need no padded copy.
struct fold_padding : pass {
    static constexpr std::string_view summary = "PAD of an image with its zero point as a convolution's pad";
    using targeted_ops = ops<tosa::conv2d, tosa::depthwise_conv2d>;
    using produces = targeted_ops;

    template <one_of<targeted_ops> Op>
    std::optional<value> operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const auto* const pad = match<tosa::pad>(a.input);
        const auto* const border = pad == nullptr ? nullptr : match<tosa::const_shape>(pad->padding);
        if (border == nullptr || border->values.size() != 8) return std::nullopt;
        const auto& around = border->values;  // before and after, for each axis
        const bool is_of_image = around[0] == 0 && around[1] == 0 && around[6] == 0 && around[7] == 0;
        if (!is_of_image || !is_zero_point(pad->pad_const, a.input_zp)) return std::nullopt;
        args<Op> folded = a;
        folded.input = pad->input1;
        folded.pad = {a.pad[0] + around[2], a.pad[1] + around[3], a.pad[2] + around[4], a.pad[3] + around[5]};
        return e.make<Op>(folded);
    }

private:
    static bool is_zero_point(value number, value zero) {
        const auto real = constant_reals(number), zero_point = constant_reals(zero);
        return real && zero_point && !real->empty() && !zero_point->empty() && (*real)[0] == (*zero_point)[0];
    }
};

}  // namespace headrace

#endif
