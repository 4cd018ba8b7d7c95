// SPDX-License-Identifier: MIT
// Defines the functions of headrace/quantization/device/keep_device_integers.hpp.

#include <headrace/quantization/device/keep_device_integers.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/quantization/quantization_points.hpp>

namespace headrace {

namespace {

using dequantize = quantized_decomposed::dequantize_per_tensor;

// Returns the scheme of a group that holds the integers as they are, but for the zero point.
std::optional<tensor_scheme> kept(tensor_scheme scheme, const args<dequantize>& device) {
    const bool wide = device.dtype == dtype::int16;
    if (scheme.fixed || scheme.per_channel || wide != (scheme.type == dtype::int16)) return std::nullopt;
    // A scheme of 16 bits leaves out -32768, which a device may deliver.
    if (wide) scheme.lowest = device.quant_min;
    if (scheme.highest - scheme.lowest != device.quant_max - device.quant_min) return std::nullopt;
    const std::int64_t zero_point = device.zero_point + (scheme.lowest - device.quant_min);
    if (scheme.symmetric && zero_point != 0) return std::nullopt;
    scheme.fixed = qparams{device.scale, zero_point};
    return scheme;
}

// True if a value is computed only from others of the group, which it shares parameters with.
bool is_rearranged(const node& n, quantization_groups::key group, const quantization_groups& groups) {
    const auto edges = n.operand_edges();
    return !edges.empty() && std::ranges::all_of(edges, [&](const edge& e) { return groups.of(e) == group; });
}

}  // namespace

void keep_device_integers(const graph& g, quantization_groups& groups) {
    constexpr const args<dequantize>* unknown = nullptr;
    std::vector<const args<dequantize>*> device(groups.size(), unknown);
    std::vector<bool> is_mixed(groups.size());
    for (const quantization_point& p : quantization_points_of(g, groups)) {
        const node& source = *p.source.producer;
        if (source.find_annotation<device_integers>() != nullptr) {
            const auto* read = args_if<dequantize>(source);
            if (device[p.group] != unknown && device[p.group] != read) is_mixed[p.group] = true;
            device[p.group] = read;
        } else if (!is_rearranged(source, p.group, groups)) {
            is_mixed[p.group] = true;
        }
    }
    for (std::size_t k = 0; k != groups.size(); ++k) {
        if (device[k] == unknown || is_mixed[k]) continue;
        const auto group = static_cast<quantization_groups::key>(k);
        if (const auto scheme = kept(groups.scheme(group), *device[k])) groups.set_scheme(group, *scheme);
    }
}

}  // namespace headrace
