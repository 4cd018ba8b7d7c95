// SPDX-License-Identifier: MIT
// Defines the kernels that create and fill tensors, and of ATen's sizes and assertions.
#include <algorithm>
#include <cmath>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/eval/element.hpp>
#include <headrace/eval/kernels.hpp>
#include <headrace/eval/map.hpp>
#include <headrace/passes/support/linspace.hpp>

namespace headrace::eval {

namespace {

inline void fill_output(evaluation& e, const scalar& number) {
    visit_compute(e.output_type(), [&]<class T>(T) {
        const T x = number_as<T>(number, e.output_type());
        e.output().assign(std::vector<T>(idx(e.output().size()), x));
    });
}
template <one_of<ops<aten::full, aten::full_like, aten::new_full>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    fill_output(e, a.fill_value);
}
template <op_where<aten::dialect, trait::gives_ones> Op>
void evaluate(Op, const args<Op>&, evaluation& e) {
    fill_output(e, 1);
}
/// Results of zeros; for ops whose results PyTorch leaves uninitialized, too.
template <op_where<aten::dialect, trait::gives_zeros> Op>
void evaluate(Op, const args<Op>&, evaluation& e) {
    static_cast<void>(e.output());
}
void evaluate(aten::scalar_tensor, const args<aten::scalar_tensor>& a, evaluation& e) { fill_output(e, a.s); }
void evaluate(aten::fill_scalar, const args<aten::fill_scalar>& a, evaluation& e) { fill_output(e, a.value); }
void evaluate(aten::fill_tensor, const args<aten::fill_tensor>& a, evaluation& e) {
    e.set_output(broadcast_to(e.input(a.value), e.output_shape()));
}
void evaluate(aten::copy, const args<aten::copy>& a, evaluation& e) {
    e.set_output(broadcast_to(e.input(a.src), e.output_shape()));
}

/// Writes start + i * step.
void count_up(evaluation& e, const scalar& start, const scalar& step) {
    visit_compute(e.output_type(), [&]<class T>(T) {
        std::vector<T> out(idx(e.output().size()));
        const bool integral = !start.is_floating() && !step.is_floating();
        for (std::size_t i = 0; i != out.size(); ++i) {
            const double real = start.to_double() + static_cast<double>(i) * step.to_double();
            const std::int64_t whole =
                plus()(start.to_int(), times()(static_cast<std::int64_t>(i), step.to_int()));
            out[i] = integral ? element_cast<T>(whole) : element_cast<T>(real);
        }
        e.output().assign(out);
    });
}
void evaluate(aten::arange, const args<aten::arange>&, evaluation& e) { count_up(e, 0, 1); }
void evaluate(aten::arange_start, const args<aten::arange_start>& a, evaluation& e) {
    count_up(e, a.start, 1);
}
void evaluate(aten::arange_start_step, const args<aten::arange_start_step>& a, evaluation& e) {
    count_up(e, a.start, a.step);
}
void evaluate(aten::linspace, const args<aten::linspace>& a, evaluation& e) {
    std::vector<double> out;
    for (std::int64_t i = 0; i != e.output().size(); ++i) out.push_back(linspace_element(a, i));
    e.output().assign(out);
}
template <one_of<ops<aten::eye, aten::eye_m>> Op>
void evaluate(Op, const args<Op>&, evaluation& e) {
    const std::int64_t columns = e.output_shape().back();
    std::vector<std::int64_t> out(idx(e.output().size()), 0);
    for (std::int64_t i = 0; i != std::min(e.output().dim(0), columns); ++i) out[idx(i * columns + i)] = 1;
    e.output().assign(out);
}

// --- sizes and assertions --------------------------------------------------------------

template <one_of<ops<aten::item, aten::_local_scalar_dense>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    e.set_output(e.input(a.self));
}
void evaluate(aten::sym_numel, const args<aten::sym_numel>& a, evaluation& e) {
    fill_output(e, e.input(a.self).size());
}
void evaluate(aten::sym_size_int, const args<aten::sym_size_int>& a, evaluation& e) {
    fill_output(e, e.input(a.self).dim(wrap_axis(a.dim, e.input(a.self).rank())));
}
void evaluate(aten::_assert_async, const args<aten::_assert_async>& a, evaluation& e) {
    const tensor& condition = e.input(a.self);
    if (condition.size() == 1 && condition.real(0) == 0) e.fail("assertion failed");
}
void evaluate(aten::_assert_scalar, const args<aten::_assert_scalar>& a, evaluation& e) {
    if (a.self.to_double() == 0) e.fail("assertion failed: " + std::string(a.assert_msg));
}
/// Does nothing: sizes and dtypes are static, and were asserted on export.
template <
    one_of<ops<aten::_assert_tensor_metadata, aten::sym_constrain_range, aten::sym_constrain_range_for_size>>
        Op>
void evaluate(Op, const args<Op>&, evaluation&) {}

constexpr auto kernel = [](auto op, const auto& a, evaluation& e) -> decltype(evaluate(op, a, e)) {
    evaluate(op, a, e);
};

}  // namespace

const kernel_list aten_create_kernels = kernels_of<aten::dialect>(kernel);

}  // namespace headrace::eval
