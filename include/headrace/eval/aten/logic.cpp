// SPDX-License-Identifier: MIT
// Defines the kernels of ATen's comparisons, logic, bits, and selection by condition.
#include <headrace/eval/aten/logic.hpp>

#include <functional>

#include <headrace/dialect/aten.hpp>
#include <headrace/eval/kernels.hpp>
#include <headrace/eval/map.hpp>

namespace headrace::eval {

void select_where(evaluation& e, const tensor& condition, const tensor& yes, const tensor& no) {
    tensor& out = e.output();
    const tensor a = yes.cast(out.type());
    const tensor b = no.cast(out.type());
    const std::vector<std::int64_t> flags = condition.to<std::int64_t>();
    const auto strides_of = [&](const tensor& t) { return broadcast_strides(t.shape(), out.shape()); };
    visit_width(out.type(), [&]<class U>(U) {
        U* to = out.mutable_data<U>().data();
        for_each_index<3>(
            out.shape(), {strides_of(condition), strides_of(a), strides_of(b)}, [&](const auto& at) {
                *to++ = flags[idx(at[0])] != 0 ? a.data<U>()[idx(at[1])] : b.data<U>()[idx(at[2])];
            });
    });
}

namespace {

template <one_of<ops<aten::eq_tensor, aten::eq_scalar>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    map_compare(e, a.self, a.other, std::equal_to<>());
}
/// In-place forms have the dtype of self.
template <one_of<ops<aten::ne_tensor, aten::ne_scalar>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    map_compare(e, a.self, a.other, std::not_equal_to<>());
}
template <one_of<ops<aten::ge_tensor, aten::ge_scalar>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    map_compare(e, a.self, a.other, std::greater_equal<>());
}
template <one_of<ops<aten::gt_tensor, aten::gt_scalar>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    map_compare(e, a.self, a.other, std::greater<>());
}
template <one_of<ops<aten::le_tensor, aten::le_scalar>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    map_compare(e, a.self, a.other, std::less_equal<>());
}
template <one_of<ops<aten::lt_tensor, aten::lt_scalar>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    map_compare(e, a.self, a.other, std::less<>());
}

void evaluate(aten::logical_and, const args<aten::logical_and>& a, evaluation& e) {
    map_compare(e, a.self, a.other, []<class T>(T x, T y) { return x != T{} && y != T{}; });
}
void evaluate(aten::logical_or, const args<aten::logical_or>& a, evaluation& e) {
    map_compare(e, a.self, a.other, []<class T>(T x, T y) { return x != T{} || y != T{}; });
}
void evaluate(aten::logical_xor, const args<aten::logical_xor>& a, evaluation& e) {
    map_compare(e, a.self, a.other, []<class T>(T x, T y) { return (x != T{}) != (y != T{}); });
}

template <one_of<ops<aten::bitwise_and_tensor, aten::bitwise_and_scalar>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    map_bits(e, a.self, a.other, std::bit_and<>());
}
template <one_of<ops<aten::bitwise_or_tensor, aten::bitwise_or_scalar>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    map_bits(e, a.self, a.other, std::bit_or<>());
}
template <one_of<ops<aten::bitwise_xor_tensor, aten::bitwise_xor_scalar>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    map_bits(e, a.self, a.other, std::bit_xor<>());
}
/// A shift by a negative number, or by at least the width, shifts all bits out, as in PyTorch.
template <one_of<ops<aten::bitwise_left_shift_tensor, aten::bitwise_left_shift_tensor_scalar>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    const std::int64_t width = traits_of(e.output_type()).bits;
    map_bits(e, a.self, a.other, [=](std::int64_t x, std::int64_t by) {
        return by < 0 || by >= width ? 0 : wrapping(static_cast<std::uint64_t>(x) << by);
    });
}
template <one_of<ops<aten::bitwise_right_shift_tensor, aten::bitwise_right_shift_tensor_scalar>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    const std::int64_t width = traits_of(e.output_type()).bits;
    map_bits(e, a.self, a.other,
        [=](std::int64_t x, std::int64_t by) { return x >> (by < 0 || by >= width ? width - 1 : by); });
}

// --- selection -------------------------------------------------------------------------

template <
    one_of<ops<aten::where_self, aten::where_scalar, aten::where_scalarother, aten::where_scalarself>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    select_where(e, e.input(a.condition), operand(e, a.self), operand(e, a.other));
}
template <one_of<ops<aten::masked_fill_scalar, aten::masked_fill_tensor>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    select_where(e, e.input(a.mask), operand(e, a.value), e.input(a.self));
}

constexpr auto kernel = [](auto op, const auto& a, evaluation& e) -> decltype(evaluate(op, a, e)) {
    evaluate(op, a, e);
};

}  // namespace

const kernel_list aten_logic_kernels = kernels_of<aten::dialect>(kernel);

}  // namespace headrace::eval
