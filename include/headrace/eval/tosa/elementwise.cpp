// SPDX-License-Identifier: MIT
// Defines the kernels of TOSA's elementwise operators, comparisons and reductions.
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include <headrace/dialect/tosa.hpp>
#include <headrace/eval/aten/logic.hpp>
#include <headrace/eval/element.hpp>
#include <headrace/eval/exponential.hpp>
#include <headrace/eval/kernels.hpp>
#include <headrace/eval/map.hpp>
#include <headrace/eval/reduce.hpp>

namespace headrace::eval {

namespace {

/// Functions of real numbers, by tag.
[[nodiscard]] inline double apply(tosa::ceil, double x) { return std::ceil(x); }
[[nodiscard]] inline double apply(tosa::cos, double x) { return std::cos(x); }
[[nodiscard]] inline double apply(tosa::exp, double x) { return std::exp(x); }
[[nodiscard]] inline double apply(tosa::floor, double x) { return std::floor(x); }
[[nodiscard]] inline double apply(tosa::log, double x) { return std::log(x); }
[[nodiscard]] inline double apply(tosa::sin, double x) { return std::sin(x); }
[[nodiscard]] inline double apply(tosa::reciprocal, double x) { return 1 / x; }
[[nodiscard]] inline double apply(tosa::rsqrt, double x) { return 1 / std::sqrt(x); }
template <class Op>
    requires requires(Op op, double x) { apply(op, x); } && op_where<Op, tosa::dialect, trait::unary>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    map_real(e, a.input1, [](double x) { return apply(Op{}, x); });
}
void evaluate(tosa::erf, const args<tosa::erf>& a, evaluation& e) {
    map_real(e, a.input, [](double x) { return std::erf(x); });
}
void evaluate(tosa::sigmoid, const args<tosa::sigmoid>& a, evaluation& e) {
    map_real(e, a.input, sigmoid_of);
}
void evaluate(tosa::tanh, const args<tosa::tanh>& a, evaluation& e) {
    map_real(e, a.input, [](double x) { return std::tanh(x); });
}

void evaluate(tosa::add, const args<tosa::add>& a, evaluation& e) {
    map_binary(e, a.input1, a.input2, plus());
}
void evaluate(tosa::sub, const args<tosa::sub>& a, evaluation& e) {
    map_binary(e, a.input1, a.input2, minus());
}
void evaluate(tosa::pow, const args<tosa::pow>& a, evaluation& e) {
    map_binary(e, a.input1, a.input2, power());
}
void evaluate(tosa::intdiv, const args<tosa::intdiv>& a, evaluation& e) {
    map_binary(e, a.input1, a.input2, quotient_toward_zero());
}
void evaluate(tosa::equal, const args<tosa::equal>& a, evaluation& e) {
    map_compare(e, a.input1, a.input2, std::equal_to<>());
}
void evaluate(tosa::greater, const args<tosa::greater>& a, evaluation& e) {
    map_compare(e, a.input1, a.input2, std::greater<>());
}
void evaluate(tosa::greater_equal, const args<tosa::greater_equal>& a, evaluation& e) {
    map_compare(e, a.input1, a.input2, std::greater_equal<>());
}
template <one_of<ops<tosa::bitwise_and, tosa::logical_and>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    map_bits(e, a.input1, a.input2, std::bit_and<>());
}
template <one_of<ops<tosa::bitwise_or, tosa::logical_or>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    map_bits(e, a.input1, a.input2, std::bit_or<>());
}
template <one_of<ops<tosa::bitwise_xor, tosa::logical_xor>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    map_bits(e, a.input1, a.input2, std::bit_xor<>());
}

void evaluate(tosa::abs, const args<tosa::abs>& a, evaluation& e) {
    map_unary(e, a.input1, []<class T>(T x) { return x < T{} ? minus()(T{}, x) : x == T{} ? T{} : x; });
}
void evaluate(tosa::bitwise_not, const args<tosa::bitwise_not>& a, evaluation& e) {
    map_bits(e, a.input1, scalar(-1), std::bit_xor<>());
}
void evaluate(tosa::logical_not, const args<tosa::logical_not>& a, evaluation& e) {
    map_bits(e, a.input1, scalar(1), std::bit_xor<>());
}
void evaluate(tosa::clz, const args<tosa::clz>& a, evaluation& e) {
    map_unary(e, a.input1,
        []<class T>(T x) { return static_cast<T>(std::countl_zero(element_cast<std::uint32_t>(x))); });
}
/// Returns the lowest `bits` bits of a number.
[[nodiscard]] inline std::uint64_t low_bits(std::int64_t x, unsigned bits) {
    return bits >= 64 ? static_cast<std::uint64_t>(x)
                      : static_cast<std::uint64_t>(x) & ((std::uint64_t{1} << bits) - 1);
}
void evaluate(tosa::arithmetic_right_shift, const args<tosa::arithmetic_right_shift>& a, evaluation& e) {
    map_bits(e, a.input1, a.input2, [round = a.round](std::int64_t x, std::int64_t by) {
        const std::int64_t s = by & 63;
        return (x >> s) + (round && s > 0 ? (x >> (s - 1)) & 1 : 0);
    });
}
void evaluate(tosa::logical_left_shift, const args<tosa::logical_left_shift>& a, evaluation& e) {
    map_bits(e, a.input1, a.input2,
        [](std::int64_t x, std::int64_t by) { return wrapping(static_cast<std::uint64_t>(x) << (by & 63)); });
}
void evaluate(tosa::logical_right_shift, const args<tosa::logical_right_shift>& a, evaluation& e) {
    const unsigned bits = traits_of(e.output_type()).bits;
    map_bits(e, a.input1, a.input2,
        [=](std::int64_t x, std::int64_t by) { return wrapping(low_bits(x, bits) >> (by & 63)); });
}

/// Maximum and minimum by NaN mode: NaN wins over, or loses to, any number.
template <class Better>
struct best_of {
    nan_mode mode;
    template <class T>
    T operator()(T a, T b) const {
        if (mode == nan_mode::ignore && a != a) return b;
        if (mode == nan_mode::ignore && b != b) return a;
        return Better()(a, b);
    }
};
void evaluate(tosa::maximum, const args<tosa::maximum>& a, evaluation& e) {
    map_binary(e, a.input1, a.input2, best_of<larger>{a.nan_mode});
}
void evaluate(tosa::minimum, const args<tosa::minimum>& a, evaluation& e) {
    map_binary(e, a.input1, a.input2, best_of<smaller>{a.nan_mode});
}
void evaluate(tosa::clamp, const args<tosa::clamp>& a, evaluation& e) {
    map_unary(e, a.input, [&]<class T>(T x) {
        const T raised = best_of<larger>{a.nan_mode}(x, number_as<T>(a.min_val, e.output_type()));
        return best_of<smaller>{a.nan_mode}(raised, number_as<T>(a.max_val, e.output_type()));
    });
}
/// The shift rounds half up, and exists only for int32.
void evaluate(tosa::mul, const args<tosa::mul>& a, evaluation& e) {
    const tensor& shift = e.input(a.shift);
    const std::int64_t by = shift.size() == 0 ? 0 : shift.integer(0) & 63;
    map_binary(e, a.input1, a.input2, [by]<class T>(T x, T y) -> T {
        if constexpr (std::is_same_v<T, std::int64_t>) {
            return by == 0 ? times()(x, y) : plus()(times()(x, y), std::int64_t{1} << (by - 1)) >> by;
        } else {
            return x * y;
        }
    });
}
void evaluate(tosa::negate, const args<tosa::negate>& a, evaluation& e) {
    const std::int64_t in_zp = is_floating(e.output_type()) ? 0 : e.input(a.input1_zp).integer(0);
    const std::int64_t out_zp = is_floating(e.output_type()) ? 0 : e.input(a.output_zp).integer(0);
    const unsigned bits = traits_of(e.output_type()).bits;
    const std::int64_t highest = static_cast<std::int64_t>(low_bits(-1, bits - 1));
    map_unary(e, a.input1, [=]<class T>(T x) -> T {
        if constexpr (std::is_same_v<T, std::int64_t>) {
            return limited(in_zp - x + out_zp, -highest - 1, highest);
        } else {
            return -x;
        }
    });
}
/// INT8 is looked up; INT16 is interpolated between 513 entries, with seven more bits in the result.
void evaluate(tosa::table, const args<tosa::table>& a, evaluation& e) {
    const bool wide = e.input(a.input1).type() == dtype::int16;
    const std::vector<std::int64_t> table = e.input(a.table).to<std::int64_t>();
    if (table.size() != (wide ? 513 : 256)) return e.fail("the table has the wrong size");
    map_unary(e, a.input1, [&]<class T>(T number) {
        const auto x = element_cast<std::int64_t>(number);
        if (!wide) return static_cast<T>(table[idx(x + 128)]);
        const std::size_t at = idx((x >> 7) + 256);
        return static_cast<T>(table[at] * 128 + (table[at + 1] - table[at]) * (x & 127));
    });
}
void evaluate(tosa::select, const args<tosa::select>& a, evaluation& e) {
    select_where(e, e.input(a.input1), e.input(a.input2), e.input(a.input3));
}

// --- reductions ------------------------------------------------------------------------

template <class F, class First>
void reduce_axis(evaluation& e, value in, std::int64_t axis, First first, F f) {
    visit_compute(e.output_type(), [&]<class T>(T) {
        const reduction r(e.input(in).shape(), axes_list(axis));
        e.output().assign(r.fold(e.input(in).to<T>(), first(T{}), f));
    });
}
void evaluate(tosa::reduce_all, const args<tosa::reduce_all>& a, evaluation& e) {
    reduce_axis(
        e, a.input, a.axis, []<class T>(T) { return T{1}; }, smaller());
}
void evaluate(tosa::reduce_any, const args<tosa::reduce_any>& a, evaluation& e) {
    reduce_axis(
        e, a.input, a.axis, []<class T>(T) { return T{0}; }, larger());
}
void evaluate(tosa::reduce_max, const args<tosa::reduce_max>& a, evaluation& e) {
    reduce_axis(
        e, a.input, a.axis, []<class T>(T) { return lowest_number<T>(); }, best_of<larger>{a.nan_mode});
}
void evaluate(tosa::reduce_min, const args<tosa::reduce_min>& a, evaluation& e) {
    reduce_axis(
        e, a.input, a.axis, []<class T>(T) { return highest_number<T>(); }, best_of<smaller>{a.nan_mode});
}
void evaluate(tosa::reduce_product, const args<tosa::reduce_product>& a, evaluation& e) {
    reduce_axis(
        e, a.input, a.axis, []<class T>(T) { return T{1}; }, times());
}
void evaluate(tosa::reduce_sum, const args<tosa::reduce_sum>& a, evaluation& e) {
    reduce_axis(
        e, a.input, a.axis, []<class T>(T) { return T{0}; }, plus());
}
void evaluate(tosa::argmax, const args<tosa::argmax>& a, evaluation& e) {
    const tensor& in = e.input(a.input);
    const axis_view view(in.shape(), a.axis);
    if (a.nan_mode != nan_mode::ignore || !is_floating(in.type())) {
        e.output().assign(positions_of_best(in, view, std::greater<>()));
        return;
    }
    std::vector<double> numbers = in.to<double>();
    for (double& x : numbers) x = std::isnan(x) ? lowest_number<double>() : x;
    const tensor without_nan = tensor::of(dtype::float64, in.shape(), numbers);
    e.output().assign(positions_of_best(without_nan, view, std::greater<>()));
}

constexpr auto kernel = [](auto op, const auto& a, evaluation& e) -> decltype(evaluate(op, a, e)) {
    evaluate(op, a, e);
};

}  // namespace

const kernel_list tosa_elementwise_kernels = kernels_of<tosa::dialect>(kernel);

}  // namespace headrace::eval
