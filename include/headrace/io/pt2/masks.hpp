// SPDX-License-Identifier: MIT
// Defines headrace::pt2::mask_reader, which turns constant masks into the indices that they select.
#ifndef HEADRACE_IO_PT2_MASKS_HPP
#define HEADRACE_IO_PT2_MASKS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/io/pt2/constant_truth.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::pt2 {

/// The positions at which a mask is true: for each position, one index into each axis.
struct mask_positions {
    std::size_t count = 0;
    std::vector<std::vector<std::int64_t>> along;  ///< for each axis, `count` indices
};

[[nodiscard]] inline mask_positions positions_of(const std::vector<bool>& truths, const int_list& shape) {
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

/// Replaces constant masks with the indices that they select.
class mask_reader {
public:
    mask_reader(graph& g, constant_truth truth) : graph_(g), truth_(truth) {}

    [[nodiscard]] static bool is_mask(value v) {
        const tensor_meta* meta = meta_of(v);
        return meta != nullptr && meta->dtype == dtype::boolean;
    }

    /// Returns the positions that a mask selects; nullopt if it is not a constant.
    [[nodiscard]] std::optional<mask_positions> positions(value mask) const {
        if (truth_ == nullptr || meta_of(mask) == nullptr) return std::nullopt;
        const auto truths = truth_(mask);
        if (!truths) return std::nullopt;
        return positions_of(*truths, meta_of(mask)->shape);
    }

    /// Replaces the masks among `indices` with indices. Returns the number of elements that the first mask
    /// selects; nullopt if there is no mask, or if one is not a constant.
    std::optional<std::size_t> replace(pmr_vector<std::optional<value>>& indices) const {
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

    /// Returns a constant of those indices, of shape [count].
    [[nodiscard]] value constant(std::span<const std::int64_t> indices) const {
        return constant_of({static_cast<std::int64_t>(indices.size())}, indices);
    }
    /// Returns the result of aten.nonzero, of shape [count, rank].
    [[nodiscard]] value table(const mask_positions& found) const {
        std::vector<std::int64_t> rows;
        for (std::size_t i = 0; i != found.count; ++i) {
            for (const auto& along : found.along) rows.push_back(along[i]);
        }
        return constant_of(
            {static_cast<std::int64_t>(found.count), static_cast<std::int64_t>(found.along.size())}, rows);
    }

private:
    [[nodiscard]] value constant_of(const int_list& shape, std::span<const std::int64_t> numbers) const {
        return create_constant(
            graph_, tensor_meta{dtype::int64, shape, {}}, nullptr, [&](std::span<std::byte> data) {
                if (!data.empty()) std::memcpy(data.data(), numbers.data(), data.size());
            });
    }

    graph& graph_;
    constant_truth truth_;
};

}  // namespace headrace::pt2

#endif
