// SPDX-License-Identifier: MIT
// Defines headrace::fourier_builder, Fourier transforms as products with constant matrices.
#ifndef HEADRACE_PASSES_DECOMPOSE_FOURIER_HPP
#define HEADRACE_PASSES_DECOMPOSE_FOURIER_HPP

#include <cmath>
#include <numbers>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/infer/aten/fourier.hpp>
#include <headrace/passes/decompose/complex_parts.hpp>
#include <headrace/target/preferences.hpp>

namespace headrace {

/// The numbers w^j = cos(2πj/n) ± i·sin(2πj/n): + in an inverse transform, - in a forward one. Quarters of a
/// turn are exact.
class unit_roots {
public:
    unit_roots(std::int64_t n, bool forward) : n_(n) {
        const double step = 2 * std::numbers::pi / static_cast<double>(n);
        for (std::int64_t j = 0; j != n; ++j) {
            const bool exact = 4 * j % n == 0;
            const double angle = step * static_cast<double>(j);
            const double s = exact ? sine_of_quarters(4 * j / n) : std::sin(angle);
            cos_.push_back(exact ? sine_of_quarters(4 * j / n + 1) : std::cos(angle));
            sin_.push_back(forward ? -s : s);
        }
    }
    [[nodiscard]] double cos(std::int64_t j) const { return cos_[static_cast<std::size_t>(j % n_)]; }
    [[nodiscard]] double sin(std::int64_t j) const { return sin_[static_cast<std::size_t>(j % n_)]; }

private:
    [[nodiscard]] static double sine_of_quarters(std::int64_t k) {
        return k % 2 == 0 ? 0 : k % 4 == 1 ? 1 : -1;
    }

    std::int64_t n_;
    pmr_vector<double> cos_, sin_;
};

/// How products with constants are written: as layers with weights, or as products of two matrices.
enum class transform_form : std::uint8_t { layers, products };

/// Annotation of a node that is to be quantized with activations of int16. Its transforms become products
/// of matrices, whose constants have the type of activations, where weights of layers have 8 bits.
struct transforms_as_products {
    static constexpr bool inherited = false;
};

/// A transform along one axis.
struct axis_transform {
    using half = fourier_transform::half;

    std::int64_t length = 1;
    half halved = half::none;
    bool forward = true;
    double scale = 1;

    [[nodiscard]] std::int64_t operand_size() const {
        return halved == half::of_operand ? length / 2 + 1 : length;
    }
    [[nodiscard]] std::int64_t result_size() const {
        return halved == half::of_result ? length / 2 + 1 : length;
    }
    /// Returns the factor of operand i. In a half spectrum, frequencies that have a mirror count twice.
    [[nodiscard]] double weight(std::int64_t i) const {
        const bool is_mirrored = halved == half::of_operand && i != 0 && 2 * i != length;
        return is_mirrored ? 2 * scale : scale;
    }
};

/// How a transform of n = rows · columns elements is computed. With t = columns · t1 + t2 and k = k1 + rows ·
/// k2, it is one over t1, a product with w^(k1·t2), and one over t2 (Cooley and Tukey). With one row, it is a
/// single product with a matrix.
struct transform_plan {
    std::int64_t rows = 1;
    double cost = 0;  ///< products, and moved elements in units of products
};

/// Returns the cheapest plan. Two steps move more elements, so they only pay on targets that compute floats
/// one by one.
[[nodiscard]] inline transform_plan plan_of(
    const axis_transform& t, bool of_reals, std::int64_t more_moves, const target_spec& target) {
    constexpr double moves = 16;  // per element: transposes, and the product between the steps
    constexpr double products_per_move = 4;
    const auto n = static_cast<double>(t.length);
    const bool is_half = t.halved != fourier_transform::half::none;
    const auto used = [&](std::int64_t size) { return static_cast<double>(is_half ? size / 2 + 1 : size); };
    const double parts = is_half ? 2 : 4;
    transform_plan best{1, parts * n * used(t.length)};
    const bool is_whole = of_reals == (t.halved == fourier_transform::half::of_result);
    const bool computes_floats = target.has(target_feature::profile_fp);
    if (!is_whole || !computes_floats || preferences_of(target).products_per_move != 0) return best;
    const double moved = products_per_move * (moves * n + static_cast<double>(more_moves));
    const auto consider = [&](std::int64_t rows) {
        const double cost = parts * n * static_cast<double>(rows) +
            4 * static_cast<double>(rows) * static_cast<double>(t.length / rows) * used(t.length / rows) +
            moved;
        if (cost < best.cost) best = {rows, cost};
    };
    for (std::int64_t factor = 2; factor <= t.length / factor; ++factor) {
        if (t.length % factor != 0) continue;
        consider(factor);
        consider(t.length / factor);
    }
    return best;
}

/// Builds discrete Fourier transforms of tensors: X[k] = scale · Σ x[t] · w^(k·t). A sum of products with
/// constants is a linear layer; of a complex tensor, one layer takes both parts side by side.
class fourier_builder {
public:
    using half = fourier_transform::half;
    using made =
        ops<aten::linear, aten::mm, aten::cat, aten::flip, aten::neg, aten::add_tensor, aten::sub_tensor,
            aten::mul_tensor, aten::narrow, aten::reshape, aten::transpose_int, aten::constant_pad_nd>;

    explicit fourier_builder(emit<made> e, transform_form form = transform_form::layers)
        : e_(e), form_(form) {}

    /// Transforms all axes. The last one is halved first, or made whole at the end.
    complex_parts transform(const fourier_transform& t, complex_parts z) {
        const std::size_t count = t.axes.size();
        const std::size_t last = e_.rank(z.re) - 1;
        for (std::size_t step = 0; step != count && !e_.failed(); ++step) {
            const std::size_t i = t.halved == half::of_operand ? step : count - 1 - step;
            const auto axis = static_cast<std::size_t>(t.axes[i]);
            const axis_transform one{
                t.lengths[i], i + 1 == count ? t.halved : half::none, t.forward, step == 0 ? t.scale : 1.0};
            z = for_parts(
                z, [&](value v) { return swapped(e_, resized(e_, v, axis, t.operand_size(i)), axis, last); });
            z = last_axis(one, z);
            z = for_parts(z, [&](value v) { return swapped(e_, v, axis, last); });
        }
        return z;
    }

    /// Transforms the last axis, whose size is that of the operand.
    complex_parts last_axis(const axis_transform& t, const complex_parts& z) {
        if (e_.failed() || !e_.may_compute(t.length, e_.dtype(z.re))) return {};
        if (!z.im && t.halved == half::none) {
            const axis_transform first{t.length, half::of_result, t.forward, t.scale};
            return with_mirror(last_axis(first, z), t.length, e_.rank(z.re) - 1);
        }
        const transform_plan plan = plan_of(t, !z.im, 0, e_.target());
        return plan.rows == 1 ? directly(t, z) : in_two_steps(t, plan.rows, z);
    }

    /// Returns the whole spectrum of a real signal of n samples from its first half: frequency n - k is the
    /// conjugate of frequency k.
    complex_parts with_mirror(const complex_parts& first, std::int64_t n, std::size_t axis) {
        const std::int64_t mirrored = (n - 1) / 2;
        if (mirrored < 1) return first;
        const auto mirror = [&](value v) {
            const value inner = narrow(e_, v, axis, 1, mirrored);
            return e_.make<aten::flip>({.self = inner, .dims = {static_cast<std::int64_t>(axis)}});
        };
        const value re[] = {first.re, mirror(first.re)};
        const value turned = mirror(first.im);
        const value im[] = {first.im, e_.make<aten::neg>({.self = turned})};
        const value whole = cat(e_, re, axis);
        return {whole, cat(e_, im, axis)};
    }

    /// Returns a linear layer over the last axis. Weight i of result r is `first(r, i)` for the first
    /// `operands` ones, and `second(r, i - operands)` for the others.
    template <class First, class Second>
    value layer(
        value v, std::int64_t results, std::int64_t operands, const First& first, const Second& second) {
        if (e_.failed()) return {};
        const std::int64_t width = e_.shape(v).back();
        if (!e_.may_compute(saturating_mul(results, width), e_.dtype(v))) return {};
        const auto number = [&](std::int64_t r, std::int64_t i) {
            return i < operands ? first(r, i) : second(r, i - operands);
        };
        if (form_ == transform_form::layers) {
            const value weight = real_constant(e_, e_.dtype(v), {results, width},
                [&](std::int64_t at) { return number(at / width, at % width); });
            return e_.make<aten::linear>({.input = v, .weight = weight});
        }
        const value matrix = real_constant(e_, e_.dtype(v), {width, results},
            [&](std::int64_t at) { return number(at % results, at / results); });
        shape_builder shape(e_.shape(v));
        const value rows = reshaped(e_, v, {e_.meta(v).elements() / width, width});
        shape.back() = results;
        return reshaped(e_, e_.make<aten::mm>(rows, matrix), int_list(shape));
    }

private:
    // A product with the matrix of w^(r·i), with `results` rows and `operands` columns of a weight each.
    template <class Weight>
    complex_parts product(const complex_parts& z, std::int64_t results, std::int64_t operands,
        const unit_roots& w, bool to_reals, const Weight& weight) {
        const auto cos = [&](std::int64_t r, std::int64_t i) { return weight(i) * w.cos(r * i); };
        const auto sin = [&](std::int64_t r, std::int64_t i) { return weight(i) * w.sin(r * i); };
        const auto minus_sin = [&](std::int64_t r, std::int64_t i) { return -sin(r, i); };
        if (!z.im) {
            const value re = layer(z.re, results, operands, cos, cos);
            return {re, to_reals ? value{} : layer(z.re, results, operands, sin, sin)};
        }
        const value parts[] = {z.re, z.im};
        const value both = cat(e_, parts, e_.rank(z.re) - 1);
        const value re = layer(both, results, operands, cos, minus_sin);
        return {re, to_reals ? value{} : layer(both, results, operands, sin, cos)};
    }

    complex_parts directly(const axis_transform& t, const complex_parts& z) {
        if (!e_.may_compute(saturating_mul(t.operand_size(), t.result_size()), e_.dtype(z.re))) return {};
        return product(z, t.result_size(), t.operand_size(), unit_roots(t.length, t.forward),
            t.halved == half::of_operand, [&](std::int64_t i) { return t.weight(i); });
    }

    complex_parts in_two_steps(const axis_transform& t, std::int64_t rows, const complex_parts& z) {
        if (!e_.may_compute(t.length, e_.dtype(z.re))) return {};
        const std::int64_t columns = t.length / rows;
        const std::int64_t used = t.halved == half::none ? columns : columns / 2 + 1;
        const unit_roots of_rows(rows, t.forward);
        const unit_roots of_columns(columns, t.forward);
        const bool to_reals = t.halved == half::of_operand;
        const auto plain = [](std::int64_t) { return 1.0; };
        const auto scaled = [&](std::int64_t) { return t.scale; };
        if (to_reals) {
            // The other order: frequencies k2 first, then k1, which gives the samples of each column.
            const complex_parts y = for_parts(weighted(t, z),
                [&](value v) { return grid(resized(e_, v, e_.rank(v) - 1, rows * used), used, rows); });
            const complex_parts a = product(y, columns, used, of_columns, false, plain);
            return for_parts(product(turned(t, a), rows, rows, of_rows, true, plain),
                [&](value v) { return line(v, t.length); });
        }
        const complex_parts x = for_parts(z, [&](value v) { return grid(v, rows, columns); });
        const complex_parts a = product(x, rows, rows, of_rows, false, scaled);
        return for_parts(product(turned(t, a), used, columns, of_columns, false, plain),
            [&](value v) { return line(v, t.result_size()); });
    }
    // Views the last axis as a matrix of that size, transposed.
    value grid(value v, std::int64_t rows, std::int64_t columns) {
        if (e_.failed()) return {};
        shape_builder shape(e_.shape(v));
        shape.back() = rows;
        shape.push_back(columns);
        return swapped(e_, reshaped(e_, v, int_list(shape)), shape.size() - 2, shape.size() - 1);
    }
    // Makes the last axis of the transposed matrix again, and cuts it to a size.
    value line(value v, std::int64_t size) {
        if (e_.failed()) return {};
        shape_builder shape(sizes(e_.shape(v)).first(e_.rank(v) - 2));
        const sizes matrix = sizes(e_.shape(v)).last(2);
        shape.push_back(matrix[0] * matrix[1]);
        const std::size_t last = e_.rank(v) - 1;
        const value all = reshaped(e_, swapped(e_, v, last - 1, last), int_list(shape));
        return resized(e_, all, last - 1, size);
    }
    // Multiplies element (i, j) by w^(i·j), and transposes the matrix.
    complex_parts turned(const axis_transform& t, const complex_parts& z) {
        if (e_.failed()) return {};
        const sizes matrix = sizes(e_.shape(z.re)).last(2);
        const shape_builder shape(matrix);
        const unit_roots w(t.length, t.forward);
        const dtype type = e_.dtype(z.re);
        const auto at = [&](std::int64_t i) { return i / shape[1] * (i % shape[1]); };
        const value cos = real_constant(e_, type, shape, [&](std::int64_t i) { return w.cos(at(i)); });
        const value sin = real_constant(e_, type, shape, [&](std::int64_t i) { return w.sin(at(i)); });
        const auto times = [&](value a, value b) { return e_.make<aten::mul_tensor>(a, b); };
        const value re_cos = times(z.re, cos);
        const value im_sin = times(z.im, sin);
        const value re_sin = times(z.re, sin);
        const value im_cos = times(z.im, cos);
        const value re = e_.make<aten::sub_tensor>({.self = re_cos, .other = im_sin});
        const value im = e_.make<aten::add_tensor>({.self = re_sin, .other = im_cos});
        const std::size_t last = e_.rank(z.re) - 1;
        const value first = swapped(e_, re, last - 1, last);
        return {first, swapped(e_, im, last - 1, last)};
    }
    // A half spectrum with each frequency as often as it counts.
    complex_parts weighted(const axis_transform& t, const complex_parts& z) {
        const value weights = real_constant(
            e_, e_.dtype(z.re), {t.operand_size()}, [&](std::int64_t i) { return t.weight(i); });
        return for_parts(z, [&](value v) { return e_.make<aten::mul_tensor>(v, weights); });
    }

    emit<made> e_;
    transform_form form_;
};

}  // namespace headrace

#endif
