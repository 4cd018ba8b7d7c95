// SPDX-License-Identifier: MIT
// Defines the rules of stft and istft, and of transforms of frames that are cut before.
#ifndef HEADRACE_PASSES_DECOMPOSE_SIGNAL_RULES_HPP
#define HEADRACE_PASSES_DECOMPOSE_SIGNAL_RULES_HPP

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string_view>

#include <headrace/passes/decompose/spectrogram.hpp>

namespace headrace {

/// Rewrites ops of signals by a spectrogram_builder, after padding and before trimming.
class signal_rules {
public:
    using made = joined<spectrogram_builder::made,
        ops<aten::pad, aten::full, aten::div_tensor, aten::constant_pad_nd, aten::reshape>>;

    signal_rules(emit<made> e, transform_form form) : e_(e), form_(form) {}

    /// Returns the spectra that stft gives of a signal with these parts.
    template <one_of<ops<aten::stft, aten::stft_center>> Op>
    complex_parts spectra(const args<Op>& a, const complex_parts& signal) {
        const auto f = frames_of<Op>(a);
        if (!f) return refused(f.error());
        const int_list given = e_.shape(a.self);
        const int_list batches{given.size() == 1 ? 1 : given[0], given.back()};
        const complex_parts padded = for_parts(signal, [&](value v) {
            std::string_view mode = "constant";
            if constexpr (requires { a.pad_mode; }) mode = a.pad_mode;
            return padded_ends(reshaped(e_, v, batches), f.value(), mode);
        });
        const frame_window window = window_of(a.window, f.value());
        spectrogram_builder builder(e_, f.value(), scale_of(a, f.value()), form_);
        const int_list shape = with_batch(given, 1, {f.value().frequencies(), f.value().count});
        return for_parts(builder.spectra(padded, window), [&](value v) { return reshaped(e_, v, shape); });
    }

    /// Returns the signal that istft gives of these spectra: the sum of all frames, divided by that of all
    /// squared windows.
    complex_parts signal(const args<aten::istft>& a, const complex_parts& spectra) {
        const auto found = frames_of<aten::istft>(a);
        if (!found) return refused(found.error());
        const signal_frames& f = found.value();
        const int_list given = e_.shape(spectra.re);
        const int_list batches{
            given.size() == 2 ? 1 : given[0], given[given.size() - 2], given[given.size() - 1]};
        const complex_parts z = for_parts(spectra, [&](value v) { return reshaped(e_, v, batches); });
        const complex_parts whole = z.im ? z : complex_parts{z.re, zeros(e_, z.re)};
        const frame_window window = window_of(a.window, f);
        spectrogram_builder builder(
            e_, f, scale_of(a, f) / (a.normalized ? 1.0 : static_cast<double>(f.size)), form_);
        const complex_parts sum = builder.signal(whole, window);
        const std::int64_t length = istft_length(a, f);
        const std::int64_t covered = std::min(length, f.signal - f.padding);
        const value share = share_of_windows(builder, window, f, covered);
        const int_list shape = with_batch(given, 2, {length});
        return for_parts(sum, [&](value v) {
            const value even = e_.make<aten::mul_tensor>(narrow(e_, v, 1, f.padding, covered), share);
            return reshaped(e_, resized(e_, even, 1, length), shape);
        });
    }

    /// Returns the spectra of frames that `unfold` has cut of a signal, and a window was multiplied with;
    /// nothing for other operands.
    std::optional<complex_parts> of_frames(value frames, const fourier_transform& t) {
        if (t.axes.size() != 1 || static_cast<std::size_t>(t.axes[0]) + 1 != e_.rank(frames) || !t.forward)
            return std::nullopt;
        const auto* product = match<aten::mul_tensor>(frames);
        value factor{};
        value cut = frames;
        if (product != nullptr) {
            const bool is_first = match<aten::unfold>(product->self) != nullptr;
            cut = is_first ? product->self : product->other;
            factor = is_first ? product->other : product->self;
        }
        const auto* a = match<aten::unfold>(cut);
        if (a == nullptr || e_.rank(a->self) == 0) return std::nullopt;
        const int_list from = e_.shape(a->self);
        const bool is_last = normalized_axis(a->dimension, from.size()) == from.size() - 1;
        if (!is_last || a->size != t.lengths[0] || !is_floating(e_.dtype(a->self))) return std::nullopt;
        if (factor && (e_.meta(factor).elements() != a->size || e_.shape(factor).back() != a->size))
            return std::nullopt;
        signal_frames f;
        f.size = f.window = a->size;
        f.hop = a->step;
        f.signal = from.back();
        f.count = (f.signal - f.size) / f.hop + 1;
        if (f.count == 1) f.hop = f.size;
        f.onesided = t.halved == fourier_transform::half::of_result;
        const int_list batches{e_.meta(a->self).elements() / std::max<std::int64_t>(f.signal, 1), f.signal};
        const frame_window window = window_of(factor ? std::optional(factor) : std::nullopt, f);
        const complex_parts spectra =
            spectrogram_builder(e_, f, t.scale, form_).spectra({reshaped(e_, a->self, batches)}, window);
        return for_parts(
            spectra, [&](value v) { return reshaped(e_, swapped(e_, v, 1, 2), e_.result_meta().shape); });
    }

private:
    complex_parts refused(const error& why) {
        e_.fail(why);
        return {};
    }
    // 1/√n where spectra are normalized.
    static double scale_of(const auto& a, const signal_frames& f) {
        return a.normalized ? 1 / std::sqrt(static_cast<double>(f.size)) : 1.0;
    }
    static int_list with_batch(const int_list& given, std::size_t without, const shape_builder& rest) {
        shape_builder shape;
        if (given.size() != without) shape.push_back(given[0]);
        shape.append(rest);
        return int_list(shape);
    }
    value padded_ends(value v, const signal_frames& f, std::string_view mode) {
        if (f.padding == 0 || e_.failed()) return v;
        const int_list shape = e_.shape(v);
        constexpr std::string_view modes[] = {"constant", "reflect", "replicate", "circular"};
        if (std::ranges::find(modes, mode) == std::end(modes))
            return e_.unsupported("pad_mode must be constant, reflect, replicate or circular");
        const bool reaches = mode == "constant" || f.padding < shape[1] ||
            (f.padding == shape[1] && mode == "circular") || mode == "replicate";
        if (!reaches || (shape[1] == 0 && mode != "constant"))
            return e_.unsupported(
                "a signal shorter than its padding of n_fft / 2; use pad_mode=\"constant\" or center=False");
        const value planes = reshaped(e_, v, {shape[0], 1, shape[1]});
        const value padded =
            e_.make<aten::pad>({.self = planes, .pad = {f.padding, f.padding}, .mode = mode});
        return reshaped(e_, padded, {shape[0], f.signal});
    }

    // A window in the middle of a frame.
    frame_window window_of(const std::optional<value>& given, const signal_frames& f) {
        if (!e_.may_compute(f.size, dtype::float64)) return {};
        const std::int64_t before = (f.size - f.window) / 2;
        const auto known = given ? constant_reals(*given)
                                 : std::optional(pmr_vector<double>(static_cast<std::size_t>(f.window), 1.0));
        if (known) {
            pmr_vector<double> numbers(static_cast<std::size_t>(f.size), 0.0);
            std::copy(known->begin(), known->end(), numbers.begin() + before);
            return {std::move(numbers)};
        }
        const value line = reshaped(e_, *given, {f.window});
        const value whole = f.window == f.size
            ? line
            : e_.make<aten::constant_pad_nd>({.self = line, .pad = {before, f.size - f.window - before}});
        return {{}, whole};
    }
    // 1 over the sum of all squared windows, of the samples that istft gives.
    value share_of_windows(spectrogram_builder& builder, const frame_window& window, const signal_frames& f,
        std::int64_t covered) {
        constexpr double least = 1e-11;  // PyTorch's limit
        if (e_.failed()) return {};
        if (window.computed) {
            const value sum = narrow(e_, builder.squared_windows(window.computed), 1, f.padding, covered);
            const value one = e_.splat(1.0, e_.dtype(sum), e_.rank(sum));
            return e_.make<aten::div_tensor>(one, sum);
        }
        if (!e_.may_compute(saturating_mul(f.count, f.size), dtype::float32)) return {};
        pmr_vector<double> sums(static_cast<std::size_t>(f.signal), 0.0);
        for (std::int64_t i = 0; i != f.count; ++i) {
            for (std::int64_t k = 0; k != f.size; ++k)
                sums[static_cast<std::size_t>(i * f.hop + k)] += window(k) * window(k);
        }
        const auto used =
            std::span(sums).subspan(static_cast<std::size_t>(f.padding), static_cast<std::size_t>(covered));
        if (std::ranges::any_of(used, [](double sum) { return !(sum > least); }))
            return e_.unsupported("a sample that no window covers; use center=True or a shorter hop_length");
        return real_constant(e_, magnitude_of(e_.result_meta().dtype), {1, covered},
            [&](std::int64_t i) { return 1 / used[static_cast<std::size_t>(i)]; });
    }

    emit<made> e_;
    transform_form form_;
};

}  // namespace headrace

#endif
