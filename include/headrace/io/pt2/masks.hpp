// SPDX-License-Identifier: MIT
// Defines headrace::pt2::mask_reader, which turns constant masks into the indices that they select.
#ifndef HEADRACE_IO_PT2_MASKS_HPP
#define HEADRACE_IO_PT2_MASKS_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/io/pt2/constant_truth.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::pt2 {

/// The positions at which a mask is true: for each position, one index into each axis.
struct mask_positions {
    std::size_t count = 0;
    std::vector<std::vector<std::int64_t>> along;  ///< for each axis, `count` indices
};

/// Replaces constant masks with the indices that they select.
class mask_reader {
public:
    mask_reader(graph& g, constant_truth truth) : graph_(g), truth_(truth) {}

    [[nodiscard]] static bool is_mask(value v);

    /// Returns the positions that a mask selects; nullopt if it is not a constant.
    [[nodiscard]] std::optional<mask_positions> positions(value mask) const;

    /// Replaces the masks among `indices` with indices. Returns the number of elements that the first mask
    /// selects; nullopt if there is no mask, or if one is not a constant.
    std::optional<std::size_t> replace(pmr_vector<std::optional<value>>& indices) const;

    /// Returns a constant of those indices, of shape [count].
    [[nodiscard]] value constant(std::span<const std::int64_t> indices) const {
        return constant_of({static_cast<std::int64_t>(indices.size())}, indices);
    }
    /// Returns the result of aten.nonzero, of shape [count, rank].
    [[nodiscard]] value table(const mask_positions& found) const;

private:
    [[nodiscard]] value constant_of(const int_list& shape, std::span<const std::int64_t> numbers) const;

    graph& graph_;
    constant_truth truth_;
};

}  // namespace headrace::pt2

#endif
