// SPDX-License-Identifier: MIT
// Defines headrace::firmware::scaled_result, the RESCALE and the CLAMP right after a sum of products, which
// its kernel computes.
#ifndef HEADRACE_FIRMWARE_SCALED_RESULT_HPP
#define HEADRACE_FIRMWARE_SCALED_RESULT_HPP

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/firmware/layer_writer.hpp>
#include <headrace/on_device/core.hpp>
#include <headrace/on_device/scale.hpp>

namespace headrace::firmware {

struct scaled_result {
    std::vector<const node*> nodes;  ///< the RESCALE, and the CLAMP if there is one
    std::vector<std::int32_t> multipliers;
    std::vector<std::int8_t> shifts;
    on_device::element type = on_device::element::int8;
    std::int32_t output_zero = 0, minimum = -128, maximum = 127;
};

/// Nothing if there is no such RESCALE, if it rounds twice or reads unsigned numbers, or if its type is not
/// int8, uint8 or int16.
[[nodiscard]] std::optional<scaled_result> find_scale(const layer_body& body, const node& anchor);

/// The layer's other operators: neither `anchor` nor part of its scale.
[[nodiscard]] std::vector<const node*> others(
    const layer_body& body, const node& anchor, const std::optional<scaled_result>& scale = {});
[[nodiscard]] std::string_view format_scaling(on_device::scaling how);
[[nodiscard]] std::string format_channel(const on_device::channel& q);
[[nodiscard]] std::string format_channel(const on_device::wide_channel& q);

}  // namespace headrace::firmware

#endif
