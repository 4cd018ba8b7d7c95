// SPDX-License-Identifier: MIT
// Defines headrace::image_on_chip, which copies an image that the caller passes to the chip.
#ifndef HEADRACE_PASSES_NPU_IMAGE_ON_CHIP_HPP
#define HEADRACE_PASSES_NPU_IMAGE_ON_CHIP_HPP

#include <optional>

#include <headrace/dialect/builtin.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Returns a computed image unchanged, since it may stay on the chip; for an image that the caller passes, a
/// copy that reads it in bursts of many channels; nothing if it cannot be copied that way.
inline std::optional<value> image_on_chip(
    emit<joined<build::reshape_ops, build::slice_ops, ops<tosa::max_pool2d>>> e, value v) {
    const auto* part = match<tosa::slice>(v);
    const value whole = part == nullptr ? v : part->input1;
    if (!is<builtin::placeholder>(*whole.producer)) return v;
    constexpr std::int64_t burst = 16;
    const shape_builder image(e.shape(whole));
    const std::int64_t pixels = image[1] * image[2];
    if (pixels % burst != 0) return std::nullopt;
    const value copied = e.make<tosa::max_pool2d>(
        {.input = build::reshape(e, whole, shape_builder{1, 1, pixels / burst, burst * image[3]}),
            .kernel = {1, 1},
            .stride = {1, 1},
            .pad = {0, 0, 0, 0}});
    const value copy = build::reshape(e, copied, image);
    if (part == nullptr) return copy;
    args<tosa::slice> same_part = *part;
    same_part.input1 = copy;
    return e.make<tosa::slice>(same_part);
}

}  // namespace headrace

#endif
