// SPDX-License-Identifier: MIT
// Defines headrace::decompose_special and decompose_gradients: functions that PyTorch defines by others.
#ifndef HEADRACE_PASSES_DECOMPOSE_SPECIAL_HPP
#define HEADRACE_PASSES_DECOMPOSE_SPECIAL_HPP

#include <cmath>
#include <numbers>

#include <headrace/infer/aten/quantile.hpp>
#include <headrace/ir/unknown_op.hpp>
#include <headrace/passes/decompose/expressions.hpp>

namespace headrace {

struct decompose_special : pass_in<decomposition> {
    static constexpr std::string_view summary =
        "sinc, ndtr, heaviside, float_power as arithmetic; nanmean, trapezoid as sums; fftshift";

    static auto rewrites() {
        return rules(
            real_rules(
                on<aten::sinc> =
                    [](auto x) {
                        const auto angle = x * std::numbers::pi;
                        return where(x == 0, 1, sin(angle) / where(x == 0, 1, angle));
                    },
                on<aten::angle> =
                    [](auto x) {
                        return unless_complex(x, x.dtype(),
                            [&] { return where(x == x, where(x < 0, std::numbers::pi, x.constant(0)), x); });
                    },
                on<aten::special_ndtr> =
                    [](auto x) { return call<aten::erfc>(x * (-std::numbers::sqrt2 / 2)) * 0.5; },
                on<aten::special_entr> =
                    [](auto x) {
                        const auto below = where(x < 0, -HUGE_VAL, -(x * log(x)));
                        return where(x == 0, 0, below);
                    },
                on<aten::special_xlog1py> =
                    [](auto x, auto y) { return where(logical_and(x == 0, y == y), 0, x * log1p(y)); },
                // The difference of equal infinities would be NaN.
                on<aten::logaddexp2> =
                    [](auto x, auto y) {
                        const auto most = max(x, y);
                        const auto apart = where(x == y, 0, -abs(x - y));
                        return most + log1p(exp(apart * std::numbers::ln2)) * std::numbers::log2e;
                    },
                on<aten::std_mean> =
                    [](auto x, const auto& a) {
                        return std::tuple(call<aten::std_>(x, a.unbiased), call<aten::mean>(x));
                    },
                on<aten::var_mean> =
                    [](auto x, const auto& a) {
                        return std::tuple(call<aten::var>(x, a.unbiased), call<aten::mean>(x));
                    },
                on<aten::nanmean> =
                    [](auto x, const auto& a) {
                        const int_list axes = a.dim.value_or(int_list());
                        const auto total = sum(where(x == x, x, 0), axes);
                        const auto count = sum(where(x == x, x.constant(1), 0), axes);
                        return viewed(total / count, x.result_meta().shape);
                    },
                on<aten::trapezoid_dx> =
                    [](auto y, const auto& a) {
                        return summed_areas(
                            y, a.dim, [&](const auto& pairs) { return pairs * (a.dx.to_double() / 2); });
                    },
                on<aten::trapezoid_x> =
                    [](auto y, auto x, const auto& a) {
                        return summed_areas(y, a.dim, [&](const auto& pairs) {
                            return pairs * (part(x, a.dim, true) - part(x, a.dim, false)) * 0.5;
                        });
                    },
                on<aten::cumulative_trapezoid_dx> =
                    [](auto y, const auto& a) {
                        return refuse_if(
                            y.size(a.dim) < 2, y, "areas of nothing: TOSA has no empty tensors", [&] {
                                return call<aten::cumsum>(pairs_of(y, a.dim) * (a.dx.to_double() / 2), a.dim);
                            });
                    }),
            on<aten::heaviside> =
                [](auto x, auto values) {
                    const auto wide = in_wide_type(x);
                    const auto at_zero = as(values, wide.dtype());
                    const auto step = where(wide > 0, wide.constant(1), wide.constant(0));
                    const auto whole = where(wide == 0, at_zero, step);
                    return in_result_type(choose(!is_floating(x.dtype()), whole,
                        [&] { return where(wide == wide, whole, wide.constant(0)); }));
                },
            on<aten::float_power_tensor_tensor> =
                [](auto x, auto y) {
                    return unless_complex(x, x.result_meta().dtype,
                        [&] { return call<aten::pow_tensor_tensor>(in_result_type(x), in_result_type(y)); });
                },
            on<aten::float_power_tensor_scalar> =
                [](auto x, const auto& a) {
                    const scalar exponent(a.exponent.to_double());
                    return unless_complex(x, x.dtype(),
                        [&] { return call<aten::pow_tensor_scalar>(in_result_type(x), exponent); });
                },
            on<aten::float_power_scalar> =
                [](auto y, const auto& a) {
                    const scalar base(a.self.to_double());
                    return unless_complex(
                        y, y.dtype(), [&] { return call<aten::pow_scalar>(base, in_result_type(y)); });
                },
            on<aten::fft_fftshift> = [](auto x, const auto& a) { return shifted(x, a.dim, 0); },
            on<aten::fft_ifftshift> = [](auto x, const auto& a) { return shifted(x, a.dim, 1); },
            on<aten::isposinf> = [](auto x) { return of_real(x, false, [&] { return x == HUGE_VAL; }); },
            on<aten::isneginf> = [](auto x) { return of_real(x, false, [&] { return x == -HUGE_VAL; }); },
            on<aten::isreal> =
                [](auto x) {
                    return unless_complex(x, x.dtype(), [&] { return x.filled(true, dtype::boolean); });
                },
            on<aten::real, aten::conj> = [](auto x) { return unless_complex(x, x.dtype(), x); },
            on<aten::special_round> =
                [](auto x, const auto& a) { return call<aten::round_decimals>(x, a.decimals); },
            on<aten::count_nonzero> =
                [](auto x, const auto& a) { return counted(x, a.dim ? int_list{*a.dim} : int_list()); },
            on<aten::count_nonzero_dim_intlist> = [](auto x, const auto& a) { return counted(x, a.dim); });
    }

private:
    static auto unless_complex(const auto& x, dtype type, const auto& make) {
        return refuse_if(is_complex(type), x, no_complex_numbers, make);
    }
    static auto counted(const auto& x, const int_list& axes) {
        const dtype type = counting_type(x.dtype());
        const auto is_zero = choose(
            is_boolean(x.dtype()), [&] { return !x; }, [&] { return x == x.constant(0); });
        const auto ones = where(is_zero, x.constant(0, type), x.constant(1, type));
        return as_result(sum(ones, axes));
    }
    // Shifts by half of each of these axes, or of all of them; odd sizes are rounded down, or up.
    static auto shifted(const auto& x, const std::optional<int_list>& dims, std::int64_t rounding) {
        shape_builder axes(dims ? sizes(*dims) : sizes());
        for (std::size_t i = 0; !dims && i != x.rank(); ++i) axes.push_back(static_cast<std::int64_t>(i));
        shape_builder by;
        for (const std::int64_t axis : axes) by.push_back((x.size(axis) + rounding) / 2);
        return choose(axes.empty(), x, [&] { return call<aten::roll>(x, int_list(by), int_list(axes)); });
    }
    // Returns all elements except the first along an axis, or all except the last.
    static auto part(const auto& x, std::int64_t dim, bool later) {
        return call<aten::narrow>(x, dim, std::int64_t{later ? 1 : 0}, x.size(dim) - 1);
    }
    static auto pairs_of(const auto& y, std::int64_t dim) { return part(y, dim, true) + part(y, dim, false); }
    static auto summed_areas(const auto& y, std::int64_t dim, const auto& areas) {
        return choose(
            y.size(dim) < 2, [&] { return sum_along(y * 0, dim); },
            [&] { return sum_along(areas(pairs_of(y, dim)), dim); });
    }
};
HEADRACE_COMPILED_PASS(decompose_special);

/// torch.gradient is the slope of the parabola through an element and its neighbours: for slopes s₁ and s₂
/// over distances d₁ and d₂, it is s₁ + (s₂ - s₁) · d₁ / (d₁ + d₂). At the ends it is the slope to the only
/// neighbour, or that of the parabola through the last three elements.
struct decompose_gradients : pass_in<decomposition> {
    static constexpr std::string_view summary = "gradient by the slopes between neighbours";
    using by_number = ops<aten::gradient_scalarint, aten::gradient_scalararray, aten::gradient_array,
        aten::gradient_scalarrayint, aten::gradient_scalarrayarray>;
    using by_coordinates = ops<aten::gradient_tensorarrayint, aten::gradient_tensorarray>;

    static auto rewrites() {
        return rules(on_each<joined<by_number, by_coordinates>> = code<made>(
                         []<class Op>(Op, emit<made> e, const args<Op>& a) { return slopes_of<Op>(e, a); }));
    }

private:
    using made = ops<aten::add_tensor, aten::cat, aten::mul_tensor, aten::narrow, aten::reciprocal,
        aten::sub_tensor, aten::view, aten::_to_copy>;
    template <class Op>
    static value_list slopes_of(emit<made> e, const args<Op>& a) {
        const shape_builder axes = gradient_axes(a, e.rank(a.self));
        value_list results;
        for (std::uint32_t i = 0; i != e.current().result_count && !e.failed(); ++i) {
            const std::int64_t axis = axes[i];
            const auto slopes_over = [&](const auto& x, const auto& distances) {
                return in_result_type(slopes(x, distances, axis, a.edge_order), i);
            };
            if constexpr (one_of<Op, by_coordinates>) {
                const auto along = [&](auto x, auto coordinates) {
                    const auto d = differences(real(coordinates), 0);
                    const shape_builder line = line_shape(x.rank(), axis, d.meta().elements());
                    return slopes_over(x, viewed(d, int_list(line)));
                };
                results.push_back(e.build(along, a.self, a.spacing[i]));
            } else {
                const auto along = [&](auto x) {
                    return slopes_over(x, x.constant(distance(a, i), dtype::float32));
                };
                results.push_back(e.build(along, a.self));
            }
        }
        return results;
    }
    static double distance(const auto& a, std::size_t i) {
        if constexpr (requires { a.spacing.size(); }) {
            return a.spacing[i];
        } else if constexpr (requires { a.spacing.has_value(); }) {
            return a.spacing ? a.spacing->to_double() : 1;
        } else if constexpr (requires { a.spacing; }) {
            return a.spacing.to_double();
        } else {
            return 1;
        }
    }
    // A distance that is the same everywhere has size 1.
    static auto part(const auto& v, std::int64_t axis, std::int64_t start, std::int64_t count) {
        return choose(v.size(axis) == 1, v, [&] { return call<aten::narrow>(v, axis, start, count); });
    }
    static auto differences(const auto& v, std::int64_t axis) {
        const std::int64_t count = v.size(axis) - 1;
        return call<aten::narrow>(v, axis, 1, count) - call<aten::narrow>(v, axis, 0, count);
    }
    static auto slopes(const auto& x, const auto& distances, std::int64_t axis, std::int64_t edge_order) {
        const auto s = differences(real(x), axis) / distances;
        const std::int64_t count = s.size(axis) - 1;  // number of pairs of neighbouring slopes
        const auto first = part(s, axis, 0, 1);
        const auto last = part(s, axis, count, 1);
        const auto all = [&] {
            const auto before = part(distances, axis, 0, count);
            const auto share = before / (before + part(distances, axis, 1, count));
            const auto s1 = call<aten::narrow>(s, axis, 0, count);
            const auto turn = call<aten::narrow>(s, axis, 1, count) - s1;
            const auto inside = s1 + turn * share;
            const auto curved = [&] {
                const auto begin = first - part(turn, axis, 0, 1) * part(share, axis, 0, 1);
                const auto end =
                    last + part(turn, axis, count - 1, 1) * (1 - part(share, axis, count - 1, 1));
                return call<aten::cat>(tensors(begin, inside, end), axis);
            };
            return choose(
                edge_order == 2, curved, [&] { return call<aten::cat>(tensors(first, inside, last), axis); });
        };
        return choose(count != 0, all, [&] { return call<aten::cat>(tensors(first, last), axis); });
    }
};
HEADRACE_COMPILED_PASS(decompose_gradients);

}  // namespace headrace

#endif
