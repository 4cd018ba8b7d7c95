// SPDX-License-Identifier: MIT
// Defines headrace::on_device::detail::copy_image, which copies a small image with its border, so that no
// window of it has to be tested for elements outside of the image.
#ifndef HEADRACE_ON_DEVICE_IMAGE_COPY_HPP
#define HEADRACE_ON_DEVICE_IMAGE_COPY_HPP

#include <cstdint>
#include <cstring>

#include <headrace/on_device/convolution.hpp>
#include <headrace/on_device/copy.hpp>
#include <headrace/on_device/core.hpp>
#include <headrace/on_device/patches.hpp>

namespace headrace::on_device::detail {

/// Bytes that are read after a copy by copy_image, which `s` describes: the last chunk of short rows goes on
/// to further rows.
template <class Patches>
constexpr std::int32_t behind_copy(const convolution& s) {
    if (Patches::reads_no_more || !plan_of<Patches>(s, true).has_short_rows) return 0;
    const std::int32_t row = s.kernel.width * s.input.size[3];
    return (patch_chunks(s, Patches::chunk) * Patches::chunk / row - s.kernel.height) * s.input.stride[1];
}

/// Copies the image, with what its windows read outside of it, to a dense one.
HEADRACE_SHARED inline void copy_image(const patch_plan& p, const std::int8_t* x, std::int8_t* to) {
    const std::int32_t height =
        (p.out_height - 1) * p.stride_height + (p.kernel_height - 1) * p.dilation_height + 1;
    const std::int32_t width =
        (p.out_width - 1) * p.stride_width + (p.kernel_width - 1) * p.dilation_width + 1;
    std::memset(to, p.input_zero, static_cast<std::size_t>(p.batches * height * width * p.in_channels));
    const std::int32_t rows = height - p.top < p.in_height ? height - p.top : p.in_height;
    const std::int32_t columns = width - p.left < p.in_width ? width - p.left : p.in_width;
    const bool has_rows = p.run != 1 && p.in_pixel == p.in_channels;
    x += p.in_offset;
    for (std::int32_t n = 0; n != p.batches; ++n, x += p.in_batch, to += height * width * p.in_channels) {
        const std::int8_t* row = x;
        std::int8_t* to_row = to + (p.top * width + p.left) * p.in_channels;
        for (std::int32_t y = 0; y < rows; ++y, row += p.in_row, to_row += width * p.in_channels) {
            std::int8_t* element = to_row;
            if (has_rows) {
                copy_bytes(to_row, row, columns * p.in_channels);
                continue;
            }
            for (std::int32_t i = 0; i < columns; ++i)
                for (std::int32_t c = 0; c != p.in_channels; ++c)
                    *element++ = row[i * p.in_pixel + c * p.in_channel];
        }
    }
}

}  // namespace headrace::on_device::detail

#endif
