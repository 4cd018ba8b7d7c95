// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of Fourier transforms and of complex numbers, and headrace::transform_of,
// the one form that all transforms have.
#ifndef HEADRACE_INFER_ATEN_FOURIER_HPP
#define HEADRACE_INFER_ATEN_FOURIER_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <headrace/infer/aten/elementwise.hpp>
#include <headrace/infer/aten/spectrogram.hpp>

namespace headrace {

namespace aten {

using transforms_to_half = ops<fft_rfft, fft_ihfft, fft_rfft2, fft_rfftn, _fft_r2c>;
using transforms_to_reals = ops<fft_irfft, fft_hfft, fft_irfft2, fft_irfftn, _fft_c2r>;
using inverse_transforms = ops<fft_ifft, fft_irfft, fft_ihfft, fft_ifft2, fft_irfft2, fft_ifftn, fft_irfftn>;
using transforms = ops<fft_fft, fft_ifft, fft_rfft, fft_irfft, fft_hfft, fft_ihfft, fft_fft2, fft_ifft2,
    fft_rfft2, fft_irfft2, fft_fftn, fft_ifftn, fft_rfftn, fft_irfftn, _fft_r2c, _fft_c2r, _fft_c2c>;

}  // namespace aten

/// A discrete Fourier transform along one axis or several. Operands are cut or padded with zeros to the
/// lengths. Of a real signal's last axis, the half spectrum has the frequencies 0 … n/2; the others mirror
/// them.
struct fourier_transform {
    enum class half : unsigned char { none, of_result, of_operand };

    shape_builder axes;     ///< non-negative, each once
    shape_builder lengths;  ///< the length of the signal along each
    half halved = half::none;
    bool forward = true;
    double scale = 1;

    /// Returns the size of the operand, and of the result, along axis number i.
    [[nodiscard]] std::int64_t operand_size(std::size_t i) const {
        return is_halved(i, half::of_operand) ? lengths[i] / 2 + 1 : lengths[i];
    }
    [[nodiscard]] std::int64_t result_size(std::size_t i) const {
        return is_halved(i, half::of_result) ? lengths[i] / 2 + 1 : lengths[i];
    }

private:
    [[nodiscard]] bool is_halved(std::size_t i, half which) const {
        return halved == which && i + 1 == axes.size();
    }
};

namespace detail {

// The axes that the arguments name, as they name them.
template <class Args>
[[nodiscard]] shape_builder transformed_axes(const Args& a, std::size_t rank) {
    shape_builder axes;
    if constexpr (std::is_same_v<decltype(a.dim), std::int64_t>) {
        axes.push_back(a.dim);
    } else if constexpr (std::is_same_v<decltype(a.dim), int_list>) {
        axes.append(a.dim);
    } else if (a.dim) {
        axes.append(*a.dim);
    } else {
        const std::size_t count = a.s ? std::min(a.s->size(), rank) : rank;
        for (std::size_t i = rank - count; i != rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
    }
    return axes;
}

// The length of axis number i that the arguments ask for; nothing if it is the operand's.
template <class Args>
[[nodiscard]] std::optional<std::int64_t> asked_length(const Args& a, std::size_t i, bool is_last) {
    if constexpr (requires { a.n; }) {
        return a.n;
    } else if constexpr (requires { a.s; }) {
        if (!a.s || i >= a.s->size() || (*a.s)[i] == -1) return std::nullopt;
        return (*a.s)[i];
    } else if constexpr (requires { a.last_dim_size; }) {
        return is_last ? std::optional(a.last_dim_size) : std::nullopt;
    } else {
        return std::nullopt;
    }
}

// The factor of a transform of n elements: `norm` says which of the two directions is divided by n.
[[nodiscard]] inline result<double> scale_of(std::string_view norm, bool forward, double n) {
    if (norm == "ortho") return 1 / std::sqrt(n);
    if (norm != "backward" && norm != "forward") return invalid({"norm is unknown: ", norm});
    return forward == (norm == "forward") ? 1 / n : 1.0;
}
[[nodiscard]] inline result<double> scale_of(std::int64_t normalization, double n) {
    HEADRACE_TRY(require_between("normalization", normalization, 0, 2));
    return normalization == 0 ? 1.0 : normalization == 1 ? 1 / std::sqrt(n) : 1 / n;
}

}  // namespace detail

/// Returns the transform that an op computes of an operand of this type and shape.
template <one_of<aten::transforms> Op>
[[nodiscard]] result<fourier_transform> transform_of(const args<Op>& a, const tensor_meta& self) {
    using half = fourier_transform::half;
    fourier_transform t;
    constexpr bool to_half = one_of<Op, aten::transforms_to_half>;
    constexpr bool to_reals = one_of<Op, aten::transforms_to_reals>;
    if constexpr (to_half) {
        HEADRACE_TRY(require_real("self", self.dtype));
        t.halved = half::of_result;
    }
    if constexpr (to_reals) t.halved = half::of_operand;
    t.forward = !one_of<Op, aten::inverse_transforms> && !std::is_same_v<Op, aten::_fft_c2r>;
    if constexpr (requires { a.forward; }) t.forward = a.forward;
    if constexpr (requires { a.onesided; }) t.halved = a.onesided ? half::of_result : half::none;
    const shape_builder named = detail::transformed_axes(a, self.rank());
    HEADRACE_TRY(axes_of(named, self.rank(), no_axes::none));
    if (self.rank() == 0 || (named.empty() && (to_half || to_reals)))
        return invalid("there is no axis to transform");
    if constexpr (requires { a.s; }) {
        if (a.s) {
            HEADRACE_TRY(require_count("s", a.s->size(), named.size()));
        }
    }
    double elements = 1;
    for (std::size_t i = 0; i != named.size(); ++i) {
        const bool is_last = i + 1 == named.size();
        const std::size_t axis = *normalized_axis(named[i], self.rank());
        const std::int64_t size = self.shape[axis];
        const std::int64_t whole = to_reals && is_last ? saturating_mul(2, size - 1) : size;
        const std::int64_t length = detail::asked_length(a, i, is_last).value_or(whole);
        HEADRACE_TRY(require_at_least("the length of a transform", length, 1));
        HEADRACE_TRY(require_at_least("the size of a transformed axis", size, 1));
        t.axes.push_back(static_cast<std::int64_t>(axis));
        t.lengths.push_back(length);
        elements *= static_cast<double>(length);
    }
    if constexpr (requires { a.norm; }) {
        HEADRACE_TRY(scale, detail::scale_of(a.norm.value_or("backward"), t.forward, elements));
        t.scale = scale;
    } else {
        HEADRACE_TRY(scale, detail::scale_of(a.normalization, elements));
        t.scale = scale;
    }
    return t;
}

template <one_of<aten::transforms> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(t, transform_of<Op>(a, self));
    shape_builder shape(self.shape);
    for (std::size_t i = 0; i != t.axes.size(); ++i)
        shape[static_cast<std::size_t>(t.axes[i])] = t.result_size(i);
    const dtype type = complex_of(self.dtype);
    return add_result(out, one_of<Op, aten::transforms_to_reals> ? magnitude_of(type) : type, shape);
}

template <one_of<ops<aten::fft_fftfreq, aten::fft_rfftfreq>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_at_least("n", a.n, 1));
    const dtype type = a.dtype.value_or(default_float);
    HEADRACE_TRY(require_real("dtype", type));
    return add_result(out, type, {std::is_same_v<Op, aten::fft_rfftfreq> ? a.n / 2 + 1 : a.n});
}

// Complex numbers.

template <one_of<ops<aten::complex, aten::polar>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const auto [first, second] = [&] {
        if constexpr (std::is_same_v<Op, aten::complex>) {
            return std::pair(inference::of(a.real), inference::of(a.imag));
        } else {
            return std::pair(inference::of(a.abs), inference::of(a.angle));
        }
    }();
    HEADRACE_TRY(require_floating("the first operand", first.dtype));
    HEADRACE_TRY(require_real("the first operand", first.dtype));
    HEADRACE_TRY(require_dtype("the second operand", second.dtype, first.dtype));
    HEADRACE_TRY(shape, broadcast(first.shape, second.shape));
    return add_result(out, complex_of(first.dtype), shape);
}
template <one_of<ops<aten::imag>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    if (!is_complex(self.dtype)) return detail::other_dtype("self", self.dtype, "a type of complex numbers");
    return add_result(out, magnitude_of(self.dtype), self);
}
template <one_of<ops<aten::view_as_real>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    if (!is_complex(self.dtype)) return detail::other_dtype("self", self.dtype, "a type of complex numbers");
    shape_builder shape(self.shape);
    shape.push_back(2);
    return add_result(out, magnitude_of(self.dtype), shape);
}
template <one_of<ops<aten::view_as_complex>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_floating("self", self.dtype));
    HEADRACE_TRY(require_real("self", self.dtype));
    HEADRACE_TRY(require_rank("self", self.shape, 1, SIZE_MAX));
    HEADRACE_TRY(require_equal("the last size of self", self.shape.back(), 2));
    return add_result(out, complex_of(self.dtype), shape_builder(sizes(self.shape).first(self.rank() - 1)));
}

}  // namespace headrace

#endif
