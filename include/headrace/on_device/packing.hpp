// SPDX-License-Identifier: MIT
// Defines headrace::on_device::packing, the orders in which weights lie in flash.
#ifndef HEADRACE_ON_DEVICE_PACKING_HPP
#define HEADRACE_ON_DEVICE_PACKING_HPP

#include <cstdint>

namespace headrace::on_device {

/// What writes a model packs its weights once; kernels for a core read them in the order that suits it, and the
/// portable kernel reads any order through `weight_at`, so a header made for one core runs on each.
enum class packing : std::uint8_t {
    rows,  ///< a row for each output channel: its window, then its input channels
};

}  // namespace headrace::on_device

#endif
