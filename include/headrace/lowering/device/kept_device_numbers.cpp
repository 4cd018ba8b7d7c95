// SPDX-License-Identifier: MIT
// Defines the functions of headrace/lowering/device/kept_device_numbers.hpp.

#include <headrace/lowering/device/kept_device_numbers.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <headrace/base/strings.hpp>
#include <headrace/io/file/json.hpp>
#include <headrace/io/signature/device_numbers.hpp>
#include <headrace/ir/annotation.hpp>

namespace headrace {

namespace {

// The member of `custom` metadata that has the SPEC of an input.
constexpr std::string_view spec_key = "headrace_input";

std::size_t axis_of(const device_input& device, std::size_t rank) {
    const std::int64_t axis = device.axis.value_or(1);
    return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

void annotate_numbers(graph& g, node& input, const device_input& device) {
    const std::size_t axis = axis_of(device, meta_of(input.result())->rank());
    g.annotate(input,
        device_numbers{g.own(list<double>(device.factors)), g.own(list<double>(device.offsets)),
            static_cast<std::int64_t>(axis)});
}

// Returns the SPEC in metadata of a node; nothing if there is none.
std::optional<device_input> device_in(const custom_metadata& custom, std::string_view name) {
    std::string spec;
    try {
        json_cursor json(custom.json);
        json.members([&](std::string_view key) {
            const std::string_view text = json.skip();
            if (key == spec_key && text.size() > 2) spec = text.substr(1, text.size() - 2);
        });
    } catch (const failure&) {
        return std::nullopt;
    }
    auto device = parse_device_input(join_text("x=", spec));
    if (!device) return std::nullopt;
    device.value().name = name;
    return std::move(device).value();
}

}  // namespace

void keep_device_numbers(graph& g, node& input, node& reader, const device_input& device) {
    g.annotate(reader, custom_metadata{g.own(join_text("{\"", spec_key, "\":\"", device.spec, "\"}"))});
    annotate_numbers(g, input, device);
}

void restore_device_numbers(graph& g) {
    for (node& input : g.inputs()) {
        const tensor_meta& meta = *meta_of(input.result());
        for (const edge& use : input.uses()) {
            const auto* custom = use.target->find_annotation<custom_metadata>();
            if (custom == nullptr) continue;
            const auto device = device_in(*custom, input.name());
            if (!device || device->type != meta.dtype) continue;
            const std::size_t axis = axis_of(*device, meta.rank());
            const std::size_t channels = device->factors.size();
            const bool fits = channels == 1 ||
                (axis < meta.rank() && meta.shape[axis] == static_cast<std::int64_t>(channels));
            if (fits) annotate_numbers(g, input, *device);
        }
    }
}

}  // namespace headrace
