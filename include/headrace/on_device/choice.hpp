// SPDX-License-Identifier: MIT
// Defines headrace::on_device::choose, which says by what kernel a core computes a convolution, at what cost,
// and why by no faster one.
#ifndef HEADRACE_ON_DEVICE_CHOICE_HPP
#define HEADRACE_ON_DEVICE_CHOICE_HPP

#include <cstdint>

#include <headrace/on_device/convolution.hpp>
#include <headrace/on_device/core.hpp>
#include <headrace/on_device/packing.hpp>
#include <headrace/on_device/patches.hpp>
#include <headrace/on_device/planes.hpp>
#include <headrace/on_device/scale.hpp>
#include <headrace/on_device/tensor.hpp>

namespace headrace::on_device {

/// `instructions` is an estimate by a formula fitted to counts in QEMU (g++ 12, -O3); what `Finish` costs is
/// not in it.
struct choice {
    const char* kernel;         ///< its name
    std::int32_t scratch;       ///< bytes, 0 if it takes none
    std::int64_t instructions;  ///< executed for one call
    const char* because;        ///< why the core's faster kernels were not taken; empty if there is none
};

namespace detail {

/// The ways to compute a convolution. All but the first take int8 and have a kernel of their own on each
/// core.
enum class method : std::uint8_t { by_index, by_patches, by_planes };

/// True if the scaled value and the stored one have the same range, so that `Finish` can follow in a pass of
/// its own.
constexpr bool fits_result(const convolution& s) {
    if (s.scale == scaling::none) return s.output.type == element::int32;
    switch (s.output.type) {
        case element::int8:
            return s.minimum >= -128 && s.maximum <= 127;
        case element::uint8:
            return s.minimum >= 0 && s.maximum <= 255;
        case element::int16:
            return s.minimum >= -32768 && s.maximum <= 32767;
        default:
            return false;
    }
}

/// Why a core does not compute a convolution by blocks of its own; empty if it does.
constexpr const char* refusal(const convolution& s, core_id core) {
    if (s.input.type != element::int8) return "the input is not int8";
    if (s.weight_zero != 0) return "the weights have a zero point other than 0";
    if (!fits_result(s)) return "the scaled values do not fit the output's elements";
    const packing wanted = s.is_depthwise ? packing::rows
        : core == core_id::mve            ? packing::c4k16
        : core == core_id::dsp            ? packing::c2k4
                                          : packing::c4;
    if (s.weights != wanted) return "the weights are packed for another core";
    if (core == core_id::portable) return "";
    if (s.output.type != element::int8) return "the output is not int8";
    // The DSP extension's planes take Helium's form of the scale, too: it is converted for each plane.
    const bool has_scale = core == core_id::mve
        ? s.scale == scaling::doubled
        : s.scale == scaling::high_word || (s.is_depthwise && s.scale == scaling::doubled);
    if (!has_scale) return "the scale needs a product of 64 bits";
    if (s.is_depthwise && s.dilation != extent{}) return "the depthwise window is dilated";
    if (core == core_id::mve && s.is_depthwise) {
        const plane_plan p = planes_of(s);
        if (!is_narrow(p) && !is_wide(p) && !has_strips(s))
            return "the depthwise window is neither in 16 bytes of the image nor 3 x 3 with rows";
    }
    return "";
}
constexpr bool has_blocks(const convolution& s, core_id core) { return *refusal(s, core) == 0; }

// Scratch memory up to these sizes is taken from the stack.
inline constexpr std::int32_t patch_on_stack = 1376, image_on_stack = 768;

struct extents {
    std::int32_t height, width;
};
/// The extents of the image that windows read.
constexpr extents read_extents(const convolution& s) {
    return {(s.output.size[1] - 1) * s.stride.height + (s.kernel.height - 1) * s.dilation.height + 1,
        (s.output.size[2] - 1) * s.stride.width + (s.kernel.width - 1) * s.dilation.width + 1};
}

/// Bytes of a copy of a small image with what windows read outside of it, so that no window is tested; 0 if
/// windows are read from the image itself.
constexpr std::int32_t image_copy_bytes(const convolution& s) {
    const auto [height, width] = read_extents(s);
    const std::int64_t bytes = std::int64_t{s.input.size[0]} * height * width * s.in_channels();
    const bool has_border = s.pad.top > 0 || s.pad.left > 0 || height - s.pad.top > s.input.size[1] ||
        width - s.pad.left > s.input.size[2];
    return has_border && bytes <= image_on_stack ? static_cast<std::int32_t>(bytes) : 0;
}

/// The convolution on such a copy.
constexpr convolution on_copy(convolution s) {
    const auto [height, width] = read_extents(s);
    s.input = dense(element::int8, s.input.size[0], height, width, s.in_channels());
    s.pad = {};
    return s;
}

/// Bytes of one element of a plane's copy, and to what its rows are rounded up.
constexpr std::int32_t plane_element_bytes(core_id core) { return core == core_id::dsp ? 2 : 1; }
constexpr std::int32_t pitch_multiple(core_id core) { return core == core_id::dsp ? 2 : 1; }
constexpr plane_plan planes_on(const convolution& s, core_id core) {
    if (core == core_id::mve && has_strips(s)) return in_strips(planes_of(s), s.pad.top, s.pad.left);
    return planes_of(s, pitch_multiple(core));
}
constexpr plane_key key_of(const convolution& s, core_id core) { return key_of(s, pitch_multiple(core)); }

/// Bytes that the blocks of a core need while they compute.
constexpr std::int32_t work_bytes(const convolution& s, core_id core) {
    if (s.is_depthwise) return round_up(planes_on(s, core).elements * plane_element_bytes(core) + 16, 16);
    // A block's patches and a window, and its results if they are finished afterwards: DSP has four pixels of
    // int16, Helium up to 16, and C++ two.
    const std::int32_t depth = s.depth(), results = s.is_over_extra ? s.out_channels() : 0;
    if (core == core_id::dsp) return round_up(depth, 4) * 9 + results * 4;
    const std::int32_t pixels = core == core_id::mve ? patch_pixels(s, 16, 16, 2) : 2;
    return round_up(depth, core == core_id::mve ? 16 : 4) * (pixels + 1) + results * pixels;
}
constexpr std::int32_t scratch_bytes(const convolution& s, core_id core) {
    const std::int32_t bytes = round_up(work_bytes(s, core), 16);
    return bytes <= patch_on_stack ? 0 : bytes;
}

/// The core whose blocks compute the convolution on `core`, if any does.
constexpr core_id core_of_blocks(const convolution& s, core_id core) {
    if (core == core_id::mve && has_blocks(s, core)) return core_id::mve;
    if (core != core_id::portable && has_blocks(s, core_id::dsp)) return core_id::dsp;
    return core_id::portable;
}
}  // namespace detail

/// The order of weights that the core's fastest kernel for the convolution reads.
constexpr packing best_packing(const convolution& s, core_id core) {
    if (s.is_depthwise || s.input.type != element::int8) return packing::rows;
    convolution packed = s;
    packed.weights = packing::c4k16;
    if (core == core_id::mve && detail::has_blocks(packed, core_id::mve)) return packing::c4k16;
    packed.weights = packing::c2k4;
    if (core != core_id::portable && detail::has_blocks(packed, core_id::dsp)) return packing::c2k4;
    return packing::c4;
}

namespace detail {
/// Instructions of a block of patches: what a result costs beside its products, and what gathering an element
/// costs.
constexpr std::int64_t patch_instructions(const convolution& s, core_id core) {
    const patch_plan p = plan_of(s, core == core_id::mve ? 16 : 4, 16, 2, false);
    const std::int64_t channels = s.out_channels(), pixels = s.output.elements() / channels;
    const std::int64_t gathered = pixels * s.depth();
    // Elements are gathered by runs, by rows of planes, or one by one.
    const int speed = p.has_planes || (p.has_runs && p.run >= 16) ? 2 : p.has_runs ? 1 : 0;
    if (core == core_id::mve) {
        const std::int64_t chunks = round_up(s.depth(), 16) / 16, groups = round_up(s.out_channels(), 4) / 4;
        constexpr std::int64_t sixteenths[] = {112, 40, 6, 3};
        const int gathers = p.row_chunks != 0 && !p.has_planes ? 3 : p.has_planes ? 2 : p.has_runs ? 1 : 0;
        const std::int64_t blocks = (pixels + p.pixels - 1) / p.pixels;
        return pixels * groups * (chunks * 29 + 42) / 4 + blocks * (groups * 20 + 55) +
            gathered * sixteenths[gathers] / 16 + pixels * (p.has_planes ? 25 : 65);
    }
    if (core == core_id::dsp) {
        const std::int64_t steps = round_up(s.depth(), 4) / 2, pairs = round_up(s.out_channels(), 2) / 2;
        constexpr std::int64_t sixteenths[] = {128, 112, 25};
        // One or two pixels that fill no block go one by one; three are filled up.
        const std::int64_t single = pixels % 4 == 3 ? 0 : pixels % 4, blocks = (pixels - single + 3) / 4;
        return blocks * pairs * (steps * 13 + steps / 5 + 57) +
            single * pairs * (steps * 5 + steps / 6 + 26) + gathered * sixteenths[speed] / 16 + pixels * 60;
    }
    const std::int64_t chunks = round_up(s.depth(), 4) / 4, groups = round_up(s.out_channels(), 4) / 4;
    constexpr std::int64_t sixteenths[] = {112, 96, 16};
    return pixels * groups * (chunks * 57 + 88) / 2 + gathered * sixteenths[speed] / 16 + pixels * 50;
}

constexpr std::int64_t plane_instructions(const convolution& s, core_id core) {
    const std::int64_t outputs = s.output.elements(), inputs = s.input.elements(), taps = s.depth();
    const bool has_rows = s.input.stride[2] == 1, is_3x3 = s.kernel == extent{3, 3} && s.dilation == extent{};
    const std::int64_t channels = s.out_channels();
    if (core == core_id::mve) {
        const std::int64_t copied = (has_rows ? inputs / 2 : inputs * 8) + inputs / s.input.size[2] * 16;
        if (is_narrow(planes_of(s)))
            return outputs * 6 + inputs / s.input.size[2] * (has_rows ? 6 : 100) + channels * 50;
        const std::int64_t rows = channels * s.output.size[0] * s.output.size[1];
        if (has_strips(s)) {
            const std::int64_t width = s.output.size[2], in_rows = inputs / s.input.size[2];
            const std::int64_t all = s.stride.width == 1 ? (rows + 1) / 2 * ((width + 1) / 2 * 16 + 19)
                                                         : rows * ((width + 3) / 4 * 19 + 19);
            return all + in_rows * (9 + (s.input.size[2] + 15) / 16 * 6) + channels * 70;
        }
        return outputs * (s.stride.width == 1 ? 25 : 28) / 4 + rows * 65 + copied + channels * 60;
    }
    if (core == core_id::dsp) {
        const std::int64_t copied = inputs * (has_rows ? 2 : 4);
        const int each = s.stride.width == 1 ? 17 : s.stride.width == 2 && s.output.size[2] > 4 ? 19 : 22;
        if (is_3x3) return outputs * each + copied + channels * 120;
        return outputs * (taps * 5 / 2 + 20) + copied + channels * 120;
    }
    return outputs * (is_3x3 ? 31 : taps * 4 + 18) + inputs * (has_rows ? 2 : 4) + channels * 120;
}
}  // namespace detail

/// The kernel that `kernel<conv2d<s>, core>` is; for `s.weights` packed as `best_packing` says, the fastest.
/// The generator of a model compares the estimates of candidate layouts.
constexpr choice choose(const convolution& s, core_id core) {
    const std::int64_t outputs = s.output.elements();
    const core_id by = detail::core_of_blocks(s, core);
    const char* because = by == core ? "" : detail::refusal(s, core);
    if (!detail::has_blocks(s, by))
        return {"by index", 0, s.macs() * 12 + outputs * 20, detail::refusal(s, by)};
    const std::int32_t scratch = detail::scratch_bytes(s, by);
    if (s.is_depthwise) return {"planes", scratch, detail::plane_instructions(s, by), because};
    return {"patches", scratch, detail::patch_instructions(s, by), because};
}

}  // namespace headrace::on_device

#endif
