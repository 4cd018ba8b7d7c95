// SPDX-License-Identifier: MIT
// Defines the kernels of ATen's arithmetic: operands broadcast and are computed in the dtype of the result.
#include <cmath>
#include <optional>
#include <string_view>

#include <headrace/dialect/aten.hpp>
#include <headrace/eval/kernels.hpp>
#include <headrace/eval/map.hpp>

namespace headrace::eval {

namespace {

/// Multiplies by alpha in the dtype of the result, as PyTorch does. Exact if alpha is 1.
struct scaled {
    const scalar& alpha;
    dtype type;
    template <class T>
    T operator()(T x) const {
        return alpha == scalar(1) ? x : times()(x, number_as<T>(alpha, type));
    }
};

template <one_of<ops<aten::add_tensor, aten::add_scalar>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    const scaled by_alpha{a.alpha, e.output_type()};
    map_binary(e, a.self, a.other, [=](auto x, auto y) { return plus()(x, by_alpha(y)); });
}
template <one_of<ops<aten::sub_tensor, aten::sub_scalar>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    const scaled by_alpha{a.alpha, e.output_type()};
    map_binary(e, a.self, a.other, [=](auto x, auto y) { return minus()(x, by_alpha(y)); });
}
template <one_of<ops<aten::rsub_tensor, aten::rsub_scalar>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    const scaled by_alpha{a.alpha, e.output_type()};
    map_binary(e, a.self, a.other, [=](auto x, auto y) { return minus()(y, by_alpha(x)); });
}
template <one_of<ops<aten::mul_tensor, aten::mul_scalar>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    map_binary(e, a.self, a.other, times());
}
template <one_of<ops<aten::div_tensor, aten::div_scalar>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    map_binary_real(e, a.self, a.other, [](double x, double y) { return x / y; });
}
template <one_of<ops<aten::div_tensor_mode, aten::div_scalar_mode>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    if (a.rounding_mode == "floor") {
        map_division(e, a.self, a.other, quotient_floor());
    } else if (a.rounding_mode == "trunc") {
        map_division(e, a.self, a.other, quotient_toward_zero());
    } else {
        map_binary_real(e, a.self, a.other, [](double x, double y) { return x / y; });
    }
}
template <one_of<ops<aten::floor_divide, aten::floor_divide_scalar>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    map_division(e, a.self, a.other, quotient_floor());
}
template <one_of<ops<aten::fmod_tensor, aten::fmod_scalar>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    map_division(e, a.self, a.other, remainder_of_dividend());
}
template <one_of<ops<aten::remainder_tensor, aten::remainder_scalar, aten::remainder_scalar_tensor>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    map_division(e, a.self, a.other, remainder_of_divisor());
}
template <one_of<ops<aten::pow_tensor_tensor, aten::pow_tensor_scalar, aten::pow_scalar>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    map_binary(e, a.self, a.exponent, power());
}
void evaluate(aten::maximum, const args<aten::maximum>& a, evaluation& e) {
    map_binary(e, a.self, a.other, larger());
}
void evaluate(aten::minimum, const args<aten::minimum>& a, evaluation& e) {
    map_binary(e, a.self, a.other, smaller());
}
void evaluate(aten::atan2, const args<aten::atan2>& a, evaluation& e) {
    map_binary_real(e, a.self, a.other, [](double y, double x) { return std::atan2(y, x); });
}

/// NaN only if both operands are NaN.
void evaluate(aten::fmax, const args<aten::fmax>& a, evaluation& e) {
    map_binary(e, a.self, a.other, [](auto x, auto y) { return x != x ? y : y != y || x > y ? x : y; });
}
void evaluate(aten::fmin, const args<aten::fmin>& a, evaluation& e) {
    map_binary(e, a.self, a.other, [](auto x, auto y) { return x != x ? y : y != y || x < y ? x : y; });
}
void evaluate(aten::hypot, const args<aten::hypot>& a, evaluation& e) {
    map_binary_real(e, a.self, a.other, [](double x, double y) { return std::hypot(x, y); });
}
void evaluate(aten::copysign_tensor, const args<aten::copysign_tensor>& a, evaluation& e) {
    map_binary_real(e, a.self, a.other, [](double x, double y) { return std::copysign(x, y); });
}
void evaluate(aten::logaddexp, const args<aten::logaddexp>& a, evaluation& e) {
    map_binary_real(e, a.self, a.other, [](double x, double y) {
        if (std::isinf(x) && x == y) return x;
        return std::fmax(x, y) + std::log1p(std::exp(-std::fabs(x - y)));
    });
}
/// 0 if x is 0, whatever its logarithm, unless y is NaN.
void evaluate(aten::xlogy_tensor, const args<aten::xlogy_tensor>& a, evaluation& e) {
    map_binary_real(e, a.self, a.other,
        [](double x, double y) { return x == 0 && !std::isnan(y) ? 0 : x * std::log(y); });
}

/// Computes `f(a, b, c)` with broadcasting.
template <class T, class A, class B, class C, class F>
void broadcast_ternary(evaluation& e, const A& a, const B& b, const C& c, F f) {
    const std::array<tensor, 3> in{operand(e, a), operand(e, b), operand(e, c)};
    std::array<std::vector<T>, 3> numbers;
    std::array<extents, 3> strides;
    for (std::size_t k = 0; k != 3; ++k) {
        numbers[k] = to_numbers<T>(in[k], e.output_type());
        strides[k] = broadcast_strides(in[k].shape(), e.output().shape());
    }
    std::vector<T> out;
    out.reserve(idx(e.output().size()));
    for_each_index<3>(e.output().shape(), strides, [&](const auto& at) {
        out.push_back(f(numbers[0][idx(at[0])], numbers[1][idx(at[1])], numbers[2][idx(at[2])]));
    });
    e.output().assign(out);
}

void evaluate(aten::addcmul, const args<aten::addcmul>& a, evaluation& e) {
    const scaled by_value{a.value, e.output_type()};
    visit_compute(e.output_type(), [&]<class T>(T) {
        broadcast_ternary<T>(e, a.self, a.tensor1, a.tensor2,
            [&](T x, T y, T z) { return plus()(x, times()(by_value(y), z)); });
    });
}
void evaluate(aten::addcdiv, const args<aten::addcdiv>& a, evaluation& e) {
    const scaled by_value{a.value, e.output_type()};
    broadcast_ternary<double>(
        e, a.self, a.tensor1, a.tensor2, [&](double x, double y, double z) { return x + by_value(y) / z; });
}
template <one_of<ops<aten::lerp_tensor, aten::lerp_scalar>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    broadcast_ternary<double>(e, a.self, a.end, a.weight, [](double x, double y, double w) {
        return std::fabs(w) < 0.5 ? x + w * (y - x) : y - (y - x) * (1 - w);
    });
}

// --- limits ----------------------------------------------------------------------------

/// Both limits are optional; if they cross, the upper one wins.
void evaluate(aten::clamp, const args<aten::clamp>& a, evaluation& e) {
    map_unary(e, a.self, [&]<class T>(T x) {
        const T raised = a.min ? larger()(x, number_as<T>(*a.min, e.output_type())) : x;
        return a.max ? smaller()(raised, number_as<T>(*a.max, e.output_type())) : raised;
    });
}
template <one_of<ops<aten::clamp_min, aten::clamp_min_tensor>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    map_binary(e, a.self, a.min, larger());
}
template <one_of<ops<aten::clamp_max, aten::clamp_max_tensor>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    map_binary(e, a.self, a.max, smaller());
}
void evaluate(aten::clamp_tensor, const args<aten::clamp_tensor>& a, evaluation& e) {
    visit_compute(e.output_type(), [&]<class T>(T) {
        tensor raised = broadcast_to(e.input(a.self).cast(e.output_type()), e.output_shape());
        if (a.min) {
            tensor low(e.output_type(), e.output_shape());
            broadcast_binary<T>(low, raised, e.input(*a.min), e.output_type(), larger());
            raised = low;
        }
        if (a.max) {
            broadcast_binary<T>(e.output(), raised, e.input(*a.max), e.output_type(), smaller());
        } else {
            e.set_output(raised);
        }
    });
}

constexpr auto kernel = [](auto op, const auto& a, evaluation& e) -> decltype(evaluate(op, a, e)) {
    evaluate(op, a, e);
};

}  // namespace

const kernel_list aten_binary_kernels = kernels_of<aten::dialect>(kernel);

}  // namespace headrace::eval
