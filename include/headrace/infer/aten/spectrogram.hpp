// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of stft and istft, and headrace::frames_of, how they cut a signal.
#ifndef HEADRACE_INFER_ATEN_SPECTROGRAM_HPP
#define HEADRACE_INFER_ATEN_SPECTROGRAM_HPP

#include <cstdint>
#include <type_traits>

#include <headrace/base/text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten/elementwise.hpp>
#include <headrace/infer/preconditions.hpp>
#include <headrace/infer/promotion.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {

/// How stft cuts a signal into frames, or istft puts them together.
struct signal_frames {
    std::int64_t size = 0;    ///< of a frame: the length of a transform
    std::int64_t hop = 0;     ///< from one frame to the next
    std::int64_t window = 0;  ///< the length of the window, in the middle of a frame
    std::int64_t count = 0;
    std::int64_t signal = 0;   ///< the number of samples that the frames cover or are cut from, with padding
    std::int64_t padding = 0;  ///< samples before and after the signal
    bool onesided = true;      ///< spectra are halved
    bool gives_complex = true;

    [[nodiscard]] std::int64_t frequencies() const { return onesided ? size / 2 + 1 : size; }
};

namespace detail {

template <class Args>
[[nodiscard]] result<signal_frames> frame_sizes(const Args& a, dtype self) {
    signal_frames f;
    f.size = a.n_fft;
    HEADRACE_TRY(require_at_least("n_fft", f.size, 1));
    f.hop = a.hop_length.value_or(f.size / 4);
    HEADRACE_TRY(require_at_least("hop_length", f.hop, 1));
    f.window = a.win_length.value_or(f.size);
    HEADRACE_TRY(require_between("win_length", f.window, 1, f.size));
    if (a.window) {
        const tensor_meta& window = inference::of(*a.window);
        HEADRACE_TRY(require_shape("window", window.shape, shape_builder{f.window}));
        HEADRACE_TRY(require_dtype("window", window.dtype, magnitude_of(self)));
    }
    if constexpr (requires { a.center; }) f.padding = a.center ? f.size / 2 : 0;
    return f;
}

}  // namespace detail

template <one_of<ops<aten::stft, aten::stft_center>> Op>
[[nodiscard]] result<signal_frames> frames_of(const args<Op>& a) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_rank("self", self.shape, 1, 2));
    HEADRACE_TRY(require_floating("self", self.dtype));
    HEADRACE_TRY(f, detail::frame_sizes(a, self.dtype));
    if (a.align_to_window.value_or(false)) return invalid("align_to_window is not supported");
    const bool complex = is_complex(self.dtype);
    f.onesided = a.onesided.value_or(!complex);
    if (f.onesided && complex) return invalid("spectra of complex numbers have two sides: onesided=False");
    f.gives_complex = a.return_complex.value_or(complex);
    f.signal = saturating_add(self.shape.back(), saturating_mul(2, f.padding));
    HEADRACE_TRY(require_between("n_fft", f.size, 1, f.signal));
    f.count = (f.signal - f.size) / f.hop + 1;
    if (f.count == 1) f.hop = f.size;  // no other frame follows, however far away
    return f;
}

template <one_of<ops<aten::istft>> Op>
[[nodiscard]] result<signal_frames> frames_of(const args<Op>& a) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_rank("self", self.shape, 2, 3));
    if (!is_complex(self.dtype)) return detail::other_dtype("self", self.dtype, "a type of complex numbers");
    HEADRACE_TRY(f, detail::frame_sizes(a, self.dtype));
    const std::int64_t given = self.shape[self.rank() - 2];
    f.onesided = a.onesided.value_or(given != f.size);
    f.gives_complex = a.return_complex;
    if (f.onesided && f.gives_complex) return invalid("complex signals have spectra of two sides");
    HEADRACE_TRY(require_equal("the number of frequencies", given, f.frequencies()));
    f.count = self.shape.back();
    HEADRACE_TRY(require_at_least("the number of frames", f.count, 1));
    if (f.count == 1) f.hop = f.size;
    f.signal = saturating_add(f.size, saturating_mul(f.hop, f.count - 1));
    return f;
}

/// Returns the number of samples that istft gives.
[[nodiscard]] inline std::int64_t istft_length(const args<aten::istft>& a, const signal_frames& f) {
    return a.length.value_or(f.signal - 2 * f.padding);
}

template <one_of<ops<aten::stft, aten::stft_center>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(f, frames_of<Op>(a));
    shape_builder shape(sizes(self.shape).first(self.rank() - 1));
    shape.append(shape_builder{f.frequencies(), f.count});
    if (!f.gives_complex) shape.push_back(2);
    const dtype type = complex_of(self.dtype);
    return add_result(out, f.gives_complex ? type : magnitude_of(type), shape);
}
template <one_of<ops<aten::istft>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(f, frames_of<Op>(a));
    const std::int64_t length = istft_length(a, f);
    HEADRACE_TRY(require_at_least("the number of samples", length, 1));
    shape_builder shape(sizes(self.shape).first(self.rank() - 2));
    shape.push_back(length);
    return add_result(out, f.gives_complex ? self.dtype : magnitude_of(self.dtype), shape);
}

}  // namespace headrace

#endif
