// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pt2/masks.hpp.

#include <headrace/io/pt2/masks.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::pt2 {

namespace {

[[nodiscard]] mask_positions positions_of(const std::vector<bool>& truths, const int_list& shape) {
    mask_positions found;
    found.along.resize(shape.size());
    for (std::size_t i = 0; i != truths.size(); ++i) {
        if (!truths[i]) continue;
        auto rest = static_cast<std::int64_t>(i);
        for (std::size_t d = shape.size(); d-- != 0;) {
            found.along[d].push_back(rest % shape[d]);
            rest /= shape[d];
        }
        ++found.count;
    }
    return found;
}

}  // namespace

bool mask_reader::is_mask(value v) {
    const tensor_meta* meta = meta_of(v);
    return meta != nullptr && meta->dtype == dtype::boolean;
}

std::optional<mask_positions> mask_reader::positions(value mask) const {
    if (truth_ == nullptr || meta_of(mask) == nullptr) return std::nullopt;
    const auto truths = truth_(mask);
    if (!truths) return std::nullopt;
    return positions_of(*truths, meta_of(mask)->shape);
}

std::optional<std::size_t> mask_reader::replace(pmr_vector<std::optional<value>>& indices) const {
    pmr_vector<std::optional<value>> replaced;
    std::optional<std::size_t> first;
    for (const std::optional<value>& index : indices) {
        if (!index || !is_mask(*index)) {
            replaced.push_back(index);
            continue;
        }
        const auto found = positions(*index);
        if (!found || found->along.empty()) return std::nullopt;
        for (const auto& along : found->along) replaced.push_back(constant(along));
        if (!first) first = found->count;
    }
    indices.assign(replaced.begin(), replaced.end());
    return first;
}

value mask_reader::table(const mask_positions& found) const {
    std::vector<std::int64_t> rows;
    for (std::size_t i = 0; i != found.count; ++i) {
        for (const auto& along : found.along) rows.push_back(along[i]);
    }
    return constant_of(
        {static_cast<std::int64_t>(found.count), static_cast<std::int64_t>(found.along.size())}, rows);
}

value mask_reader::constant_of(const int_list& shape, std::span<const std::int64_t> elements) const {
    return create_constant(
        graph_, tensor_meta{dtype::int64, shape, {}}, nullptr, [&](std::span<std::byte> data) {
            if (!data.empty()) std::memcpy(data.data(), elements.data(), data.size());
        });
}

}  // namespace headrace::pt2
