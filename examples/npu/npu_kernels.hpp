// SPDX-License-Identifier: MIT
// What the NPU's ops compute, for the evaluator: found beside the tags, as inference is.
#ifndef HEADRACE_EXAMPLES_NPU_KERNELS_HPP
#define HEADRACE_EXAMPLES_NPU_KERNELS_HPP

//! [kernels]
#include <algorithm>
#include <vector>

#include <headrace/eval/evaluation.hpp>

#include "npu.hpp"

namespace npu {

template <one_of<twins::keys> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    evaluate_as<twins::at<Op>>(as_aten(a), e);
    if constexpr (requires { a.relu; }) {
        if (a.relu) {
            std::vector<double> numbers = e.output().to<double>();
            for (double& x : numbers) x = std::max(x, 0.0);
            e.output().assign(numbers);
        }
    }
}

inline void evaluate(add, const args<add>& a, evaluation& e) {
    std::vector<double> sum = e.input(a.a).to<double>();
    const std::vector<double> other = e.input(a.b).to<double>();
    for (std::size_t i = 0; i != sum.size(); ++i)
        sum[i] = a.relu ? std::max(sum[i] + other[i], 0.0) : sum[i] + other[i];
    e.output().assign(sum);
}
//! [kernels]
inline void evaluate(affine, const args<affine>& a, evaluation& e) {
    std::vector<double> numbers = e.input(a.input).to<double>();
    const std::vector<double> scale = e.input(a.scale).to<double>();
    const std::vector<double> shift = e.input(a.shift).to<double>();
    const tensor& input = e.input(a.input);
    const auto area = static_cast<std::size_t>(input.dim(2) * input.dim(3));
    for (std::size_t i = 0; i != numbers.size(); ++i) {
        const std::size_t channel = i / area % scale.size();
        numbers[i] = numbers[i] * scale[channel] + shift[channel];
    }
    e.output().assign(numbers);
}
inline void evaluate(table, const args<table>& a, evaluation& e) {
    switch (a.function) {
        case function::relu:
            return evaluate_as<aten::relu>({a.input}, e);
        case function::sigmoid:
            return evaluate_as<aten::sigmoid>({a.input}, e);
        case function::tanh:
            return evaluate_as<aten::tanh>({a.input}, e);
        case function::hardswish:
            return evaluate_as<aten::hardswish>({a.input}, e);
    }
}

//! [kernels]
}  // namespace npu
//! [kernels]

#endif
