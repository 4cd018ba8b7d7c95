// SPDX-License-Identifier: MIT
// Defines headrace::spectrogram_builder, the transforms of the frames of a signal, and their inverse.
#ifndef HEADRACE_PASSES_DECOMPOSE_SPECTROGRAM_HPP
#define HEADRACE_PASSES_DECOMPOSE_SPECTROGRAM_HPP

#include <numeric>
#include <optional>

#include <headrace/infer/aten/spectrogram.hpp>
#include <headrace/passes/decompose/fourier.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace {

/// The window of a frame: its numbers if they are known, else a tensor.
struct frame_window {
    pmr_vector<double> numbers;
    value computed{};

    [[nodiscard]] double operator()(std::int64_t i) const {
        return numbers.empty() ? 1 : numbers[static_cast<std::size_t>(i)];
    }
};

/// Builds the spectra of frames, [batch, frequencies, frames], from signals [batch, samples], and back. A
/// frame, its window and its transform are one convolution. A signal is viewed as blocks of g samples, where
/// g divides both the size of a frame and the hop: g channels, which are contiguous, in windows of size / g
/// blocks.
class spectrogram_builder {
public:
    using half = fourier_transform::half;
    using made = joined<fourier_builder::made, ops<aten::convolution, aten::slice_tensor, aten::unfold>>;

    spectrogram_builder(emit<made> e, const signal_frames& f, double scale, transform_form form)
        : e_(e), f_(f), scale_(scale), form_(form), block_(std::gcd(f.size, f.hop)) {}

    complex_parts spectra(const complex_parts& signal, const frame_window& window) {
        if (!fits(signal.re)) return {};
        if (signal.im || f_.onesided) return direct_spectra(signal, window);
        signal_frames first = f_;
        first.onesided = true;
        const complex_parts found = spectrogram_builder(e_, first, scale_, form_).spectra(signal, window);
        return fourier_builder(e_).with_mirror(found, f_.size, 1);
    }

    /// Returns the sum of the windowed frames, each at its place.
    complex_parts signal(const complex_parts& spectra, const frame_window& window) {
        if (!fits(spectra.re)) return {};
        const axis_transform t{f_.size, f_.gives_complex ? half::none : half::of_operand, false, scale_};
        const unit_roots w(f_.size, false);
        const auto cos = [&](std::int64_t k, std::int64_t i) {
            return t.weight(k) * window(i) * w.cos(k * i);
        };
        const auto sin = [&](std::int64_t k, std::int64_t i) {
            return t.weight(k) * window(i) * w.sin(k * i);
        };
        const auto minus_sin = [&](std::int64_t k, std::int64_t i) { return -sin(k, i); };
        const complex_parts z =
            for_parts(spectra, [&](value v) { return resized(e_, v, 1, t.operand_size()); });
        const value both = channels(z);
        if (form_ == transform_form::products) {
            const auto of = [](const auto& root) {
                return [&root](std::int64_t i, std::int64_t k) { return root(k, i); };
            };
            const value re = overlapped(both, t.operand_size(), of(cos), of(minus_sin), window);
            if (!f_.gives_complex) return {re};
            return {re, overlapped(both, t.operand_size(), of(sin), of(cos), window)};
        }
        const value re = spread(both, synthesis(t.operand_size(), cos, minus_sin, window));
        if (!f_.gives_complex) return {re};
        return {re, spread(both, synthesis(t.operand_size(), sin, cos, window))};
    }

    /// Returns the sum of the squares of a window, in each place where a frame has it: [1, samples].
    value squared_windows(value window) {
        type_ = e_.dtype(window);
        if (!e_.may_compute(f_.count, type_)) return {};
        const value squares = e_.make<aten::mul_tensor>(window, window);
        const value rows = reshaped(e_, squares, {1, f_.size / block_, block_});
        return spread(e_.splat(1.0, type_, shape_builder{1, 1, f_.count}), swapped(e_, rows, 1, 2));
    }

private:
    // Frames of more blocks are not sliced one by one.
    static constexpr std::int64_t max_slices = 32;

    bool fits(value v) {
        type_ = e_.dtype(v);
        return e_.may_compute(saturating_mul(saturating_mul(2, f_.size), f_.size), type_) &&
            e_.may_compute(f_.signal, type_);
    }
    complex_parts direct_spectra(const complex_parts& signal, const frame_window& window) {
        const complex_parts whole =
            for_parts(signal, [&](value v) { return resized(e_, v, 1, f_.size + (f_.count - 1) * f_.hop); });
        if (form_ == transform_form::products && !signal.im) return by_products(whole.re, window);
        const half halved = f_.onesided ? half::of_result : half::none;
        const axis_transform t{f_.size, halved, true, scale_};
        const transform_plan plan = plan_of(t, true, 2 * f_.size, e_.target());
        const bool is_short = f_.size / block_ <= max_slices;
        if (plan.rows != 1 && is_short && !signal.im) return of_frames(t, whole.re, window);
        const unit_roots w(f_.size, true);
        const auto cos = [&](std::int64_t k, std::int64_t i) { return scale_ * window(i) * w.cos(k * i); };
        const auto sin = [&](std::int64_t k, std::int64_t i) { return scale_ * window(i) * w.sin(k * i); };
        const auto minus_sin = [&](std::int64_t k, std::int64_t i) { return -sin(k, i); };
        const complex_parts x = for_parts(whole, [&](value v) { return blocks(v); });
        if (!x.im) {
            const value re = convolved(x.re, weight(1, cos, cos, window));
            return {re, convolved(x.re, weight(1, sin, sin, window))};
        }
        const value both = channels(x);
        const value re = convolved(both, weight(2, cos, minus_sin, window));
        return {re, convolved(both, weight(2, sin, cos, window))};
    }

    // [batch, samples] as [batch, block, blocks].
    value blocks(value v) {
        if (e_.failed()) return {};
        const int_list shape = e_.shape(v);
        return swapped(e_, reshaped(e_, v, {shape[0], shape[1] / block_, block_}), 1, 2);
    }
    value channels(const complex_parts& z) {
        const value parts[] = {z.re, z.im};
        return cat(e_, parts, 1);
    }
    // The weight of each sample of a frame: [frequencies, parts · block, blocks of a frame].
    template <class First, class Second>
    value weight(std::int64_t parts, const First& first, const Second& second, const frame_window& window) {
        const std::int64_t taps = f_.size / block_;
        const std::int64_t width = parts * block_;
        const shape_builder shape{f_.frequencies(), width, taps};
        const value numbers = real_constant(e_, type_, shape, [&](std::int64_t at) {
            const std::int64_t channel = at / taps % width;
            const std::int64_t i = at % taps * block_ + channel % block_;
            return channel < block_ ? first(at / taps / width, i) : second(at / taps / width, i);
        });
        return times_window(numbers, window, parts);
    }
    // Likewise [parts · frequencies, block, blocks of a frame], for a transposed convolution.
    template <class First, class Second>
    value synthesis(
        std::int64_t frequencies, const First& first, const Second& second, const frame_window& window) {
        const std::int64_t taps = f_.size / block_;
        const shape_builder shape{2 * frequencies, block_, taps};
        const value numbers = real_constant(e_, type_, shape, [&](std::int64_t at) {
            const std::int64_t k = at / taps / block_;
            const std::int64_t i = at % taps * block_ + at / taps % block_;
            return k < frequencies ? first(k, i) : second(k - frequencies, i);
        });
        return times_window(numbers, window, 1);
    }
    value times_window(value weight, const frame_window& window, std::int64_t parts) {
        if (!window.computed || e_.failed()) return weight;
        const value rows = reshaped(e_, window.computed, {1, f_.size / block_, block_});
        const value turned = swapped(e_, rows, 1, 2);
        const value both[] = {turned, turned};
        return e_.make<aten::mul_tensor>(weight, parts == 1 ? turned : cat(e_, both, 1));
    }
    value convolved(value blocks, value weight) { return convolution(blocks, weight, false); }
    value spread(value spectra, value weight) {
        const value blocks = convolution(spectra, weight, true);
        if (e_.failed()) return {};
        const int_list shape = e_.shape(blocks);
        return reshaped(e_, swapped(e_, blocks, 1, 2), {shape[0], shape[1] * shape[2]});
    }
    value convolution(value input, value weight, bool transposed) {
        if (e_.failed()) return {};
        return e_.make<aten::convolution>({.input = input,
            .weight = weight,
            .bias = std::nullopt,
            .stride = {f_.hop / block_},
            .padding = {0},
            .dilation = {1},
            .transposed = transposed,
            .output_padding = {0},
            .groups = 1});
    }

    // The frames themselves, and their transforms in two steps.
    complex_parts of_frames(const axis_transform& t, value signal, const frame_window& window) {
        const value factors = window.computed
            ? window.computed
            : real_constant(e_, type_, {f_.size}, [&](std::int64_t i) { return window(i); });
        const value cut = frames(signal);
        const value faded = e_.make<aten::mul_tensor>(cut, factors);
        const complex_parts spectra = fourier_builder(e_).last_axis(t, {faded});
        return for_parts(spectra, [&](value v) { return swapped(e_, v, 1, 2); });
    }
    // The frames themselves, and their products with the window and the transform.
    complex_parts by_products(value signal, const frame_window& window) {
        value cut = frames(signal);
        if (window.computed) cut = e_.make<aten::mul_tensor>(cut, window.computed);
        const unit_roots w(f_.size, true);
        fourier_builder builder(e_, form_);
        const auto part = [&](const auto& root) {
            const value spectra = builder.layer(cut, f_.frequencies(), f_.size, root, root);
            return e_.failed() ? value{} : swapped(e_, spectra, 1, 2);
        };
        const value re =
            part([&](std::int64_t k, std::int64_t i) { return scale_ * window(i) * w.cos(k * i); });
        return {re, part([&](std::int64_t k, std::int64_t i) { return scale_ * window(i) * w.sin(k * i); })};
    }
    // The sum of frames that are products of spectra with a matrix, each at its place.
    template <class First, class Second>
    value overlapped(value spectra, std::int64_t frequencies, const First& first, const Second& second,
        const frame_window& window) {
        if (e_.failed()) return {};
        const value rows = swapped(e_, spectra, 1, 2);
        value cut = fourier_builder(e_, form_).layer(rows, f_.size, frequencies, first, second);
        if (window.computed) cut = e_.make<aten::mul_tensor>(cut, window.computed);
        if (e_.failed()) return {};
        const std::int64_t taps = f_.size / block_;
        const value places = real_constant(e_, type_, {f_.size, block_, taps}, [&](std::int64_t at) {
            const std::int64_t i = at % taps * block_ + at / taps % block_;
            return at / taps / block_ == i ? 1.0 : 0.0;
        });
        return spread(swapped(e_, cut, 1, 2), places);
    }
    // [batch, frames, samples of a frame]: frames side by side.
    value frames(value signal) {
        if (e_.failed()) return {};
        if (f_.size / block_ > max_slices)
            return e_.make<aten::unfold>({.self = signal, .dimension = 1, .size = f_.size, .step = f_.hop});
        const int_list shape = e_.shape(signal);
        const value rows = reshaped(e_, signal, {shape[0], shape[1] / block_, block_});
        value_list parts;
        const std::int64_t step = f_.hop / block_;
        for (std::int64_t i = 0; i != f_.size / block_; ++i) {
            parts.push_back(e_.make<aten::slice_tensor>(
                {.self = rows, .dim = 1, .start = i, .end = i + (f_.count - 1) * step + 1, .step = step}));
        }
        return parts.size() == 1 ? parts[0] : e_.make<aten::cat>({.tensors = parts, .dim = 2});
    }

    emit<made> e_;
    const signal_frames& f_;
    double scale_;
    transform_form form_;
    std::int64_t block_;
    dtype type_ = dtype::float32;
};

}  // namespace headrace

#endif
