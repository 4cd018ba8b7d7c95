// SPDX-License-Identifier: MIT
// Defines kernels for cases in which ExecuTorch's kernels differ from the ATen ops that they implement.
#include <headrace/eval/executorch.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <headrace/base/text.hpp>
#include <headrace/dialect/executorch.hpp>
#include <headrace/eval/aten/pool.hpp>
#include <headrace/eval/map.hpp>
#include <headrace/infer/executorch.hpp>

namespace headrace::eval {

namespace {

// Measured with ExecuTorch 1.5.1; infer/executorch.hpp lists the differences, which lowering avoids. These
// kernels serve files of other compilers, and the nodes that lowering puts around a kernel.

/// Division by 0 is infinite for every dividend.
struct runtime_quotient_floor {
    double operator()(double a, double b) const {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        if (b == 0) return std::signbit(a) ? -infinity : infinity;
        return quotient_floor()(a, b);
    }
    std::int64_t operator()(std::int64_t a, std::int64_t b) const { return quotient_floor()(a, b); }
};
/// The sign is that of the dividend for integers, of the divisor for floats.
struct runtime_remainder {
    double operator()(double a, double b) const { return remainder_of_divisor()(a, b); }
    std::int64_t operator()(std::int64_t a, std::int64_t b) const { return remainder_of_dividend()(a, b); }
};

template <class Op>
void evaluate_in_runtime(Op, const args<Op>& a, evaluation& e) {
    if constexpr (one_of<Op, ops<aten::floor_divide, aten::div_tensor_mode, aten::div_scalar_mode>>) {
        map_division(e, a.self, a.other, runtime_quotient_floor());
    } else if constexpr (one_of<Op, ops<aten::remainder_tensor, aten::remainder_scalar>>) {
        map_division(e, a.self, a.other, runtime_remainder());
    } else if constexpr (__is_same(Op, aten::sign)) {
        map_unary(e, a.self, []<class T>(T x) { return x == x ? static_cast<T>((T{} < x) - (x < T{})) : x; });
    } else if constexpr (__is_same(Op, aten::leaky_relu)) {
        const auto slope = number_as<double>(a.negative_slope, e.output_type());
        map_real(e, a.self, [=](double x) { return x >= 0 ? x : x * slope; });
    } else if constexpr (__is_same(Op, aten::max_pool2d_with_indices)) {
        const triple in = pooled_sizes(e.input(a.self).shape(), 2);
        const pool_arguments p{2, a.kernel_size, a.stride, a.padding, a.dilation, false};
        max_pool(e, a.self, in, pool_ranges_of(in, pooled_sizes(e.output_shape(), 2), p), false);
    } else {  // a variance without degrees of freedom
        for (std::size_t i = 0; i != e.output_count(); ++i) {
            tensor& made = e.output(i);
            made.assign(std::vector<double>(
                static_cast<std::size_t>(made.size()), std::numeric_limits<double>::quiet_NaN()));
        }
    }
}

template <class Op>
void evaluate_in_runtime_erased(const void* arguments, evaluation& e) {
    evaluate_in_runtime(Op{}, *static_cast<const args<Op>*>(arguments), e);
}
template <class... Ops>
[[nodiscard]] evaluation_kernel kernel_among(ops<Ops...>, const op_info& functional) {
    evaluation_kernel found = nullptr;
    ((&functional == &info_of<Ops> ? void(found = &evaluate_in_runtime_erased<Ops>) : void()), ...);
    return found;
}

}  // namespace

evaluation_kernel deviating_kernel(const node& n) {
    using deviating = ops<aten::floor_divide, aten::div_tensor_mode, aten::div_scalar_mode,
        aten::remainder_tensor, aten::remainder_scalar, aten::sign, aten::leaky_relu,
        aten::max_pool2d_with_indices, aten::var_correction, aten::var_mean_correction, aten::var_dim>;
    if (!is_of_dialect<executorch::dialect>(n) || executorch::kernel_deviation(n).empty()) return nullptr;
    const op_info& op = executorch::functional_of(*n.op);
    return kernel_among(deviating{}, op);
}

result<void> check_runtime_takes(const node& n) {
    if (!is_of_dialect<executorch::dialect>(n)) return {};
    const std::pmr::string why = executorch::kernel_refusal(n);
    if (why.empty()) return {};
    return unsupported({message_prefix(n), why});
}

}  // namespace headrace::eval
