// SPDX-License-Identifier: MIT
// Defines headrace::maps::linear_map, a value as a linear function of another, and the list of those of a
// graph.
#ifndef HEADRACE_PASSES_MERGE_LINEAR_MAPS_HPP
#define HEADRACE_PASSES_MERGE_LINEAR_MAPS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/ir/linear_merges.hpp>
#include <headrace/passes/merge/linear_steps.hpp>

namespace headrace::maps {

/// The position of a map in the list.
using map_id = std::uint32_t;
inline constexpr map_id no_map = UINT32_MAX;

enum class map_kind : std::uint8_t { step, chain, sum };

/// The group of maps that may be merged with those of every group.
inline constexpr std::uint32_t any_group = UINT32_MAX;

/// A value as a linear function of its root. Only the list that made it says which value that is.
struct linear_map {
    map_kind kind = map_kind::step;
    const node* of = nullptr;          ///< of a step; null for the root itself
    map_id first = no_map;             ///< of a chain, and of a sum
    map_id second = no_map;            ///< applied to the result of `first`, or added to it
    double sign = 1, second_sign = 1;  ///< of the two parts of a sum
    value root{};
    channel_axes channels{};
    map_shape shape{};                ///< if it has a layer
    bool has_layer = false;           ///< a convolution, a linear layer or a pooling; else factors alone
    bool shifts = false;              ///< it may add a constant
    bool has_sum = false;             ///< of several maps
    std::size_t root_uses = 1;        ///< the readers of the root that compute it
    std::uint32_t weighted = 0;       ///< convolutions and linear layers
    std::uint32_t steps = 0;          ///< nodes that compute something
    std::uint32_t depth = 1;          ///< of its parts
    double positions = 0;             ///< elements of a channel of the result
    double stored = 0;                ///< weights in memory for this map alone
    std::uint32_t group = any_group;  ///< of the merge_group of its nodes; the root itself has any
    bool is_norm = false;             ///< a batch norm and nothing else
    bool is_single = false;           ///< a convolution and nothing else

    /// The multiplications of the map, computed as one layer.
    [[nodiscard]] double products() const { return has_layer ? positions * shape.weights() : 0; }
};

/// Maps of the values of a graph, and how two of them become one. A map that would multiply more often than
/// its parts, or have more weights, is not made.
class map_list {
public:
    [[nodiscard]] const linear_map& operator[](map_id i) const { return maps_[i]; }

    /// Adds a value as itself.
    map_id add_identity(value root) {
        linear_map m;
        m.root = root;
        m.channels.second = meta_of(root)->rank() >= 2;
        m.channels.last = meta_of(root)->rank() >= 1;
        return add(m);
    }
    /// Adds a step other than a sum, as a function of its operand.
    map_id add_step(const node& n, const linear_step& s) {
        linear_map m;
        m.of = &n;
        m.group = merge_group_of(n);
        m.root = s.input;
        m.channels = s.channels;
        m.shape = s.shape;
        m.has_layer = s.kind == step_kind::layer || s.kind == step_kind::pool;
        m.shifts = s.shifts;
        m.weighted = s.kind == step_kind::layer ? 1 : 0;
        m.steps = s.kind == step_kind::same || s.kind == step_kind::view ? 0 : 1;
        m.is_norm = is<aten::batch_norm>(n) || is<aten::_native_batch_norm_legit_no_training>(n);
        m.is_single = m.weighted == 1 && s.channels.second;
        if (m.has_layer) {
            m.positions = static_cast<double>(n.results[0].meta->elements() / s.shape.out);
            m.stored = s.is_shared ? 0 : s.shape.weights();
        }
        return add(m);
    }

    /// Adds `second` applied to the result of `first`, which must be its root and have no other reader.
    std::optional<map_id> add_chain(map_id first, map_id second, const tensor_meta& result) {
        const linear_map& a = maps_[first];
        const linear_map& b = maps_[second];
        if (!share_group(a, b)) return std::nullopt;
        linear_map m = both(a, b);
        m.kind = map_kind::chain;
        m.first = first;
        m.second = second;
        m.root_uses = a.root_uses;
        m.steps = a.steps + b.steps;
        m.positions = b.has_layer ? b.positions : a.positions;
        if (!m.channels.any()) return std::nullopt;
        const std::size_t axes = a.has_layer ? a.shape.axes : b.shape.axes;
        if (m.has_layer) {
            const map_shape inner = shape_of(a, channels_at(a.root, m.channels), axes);
            const map_shape outer = shape_of(b, inner.out, axes);
            if (inner.out != outer.in || !keeps_zeros(inner, a.shifts, outer)) return std::nullopt;
            m.shape = chain_shape(inner, outer);
        }
        return fits(m, a, b, result) ? std::optional(add(m)) : std::nullopt;
    }
    /// Adds the sum of two maps of one root.
    std::optional<map_id> add_sum(
        map_id first, double sign, map_id second, double second_sign, const tensor_meta& result) {
        const linear_map& a = maps_[first];
        const linear_map& b = maps_[second];
        if (a.root != b.root || !share_group(a, b)) return std::nullopt;
        linear_map m = both(a, b);
        m.kind = map_kind::sum;
        m.has_sum = true;
        m.first = first;
        m.second = second;
        m.sign = sign;
        m.second_sign = second_sign;
        m.root_uses = a.root_uses + b.root_uses;
        m.steps = a.steps + b.steps + 1;
        m.positions = std::max(a.positions, b.positions);
        if (!m.channels.any()) return std::nullopt;
        if (m.has_layer) {
            const std::size_t axes = a.has_layer ? a.shape.axes : b.shape.axes;
            const std::int64_t channels = channels_at(a.root, m.channels);
            const map_shape one = shape_of(a, channels, axes);
            const map_shape other = shape_of(b, channels, axes);
            if (one.in != other.in || one.out != other.out || one.axes != other.axes) return std::nullopt;
            for (std::size_t i = 0; i != axes; ++i) {
                if (one.windows[i].stride != other.windows[i].stride) return std::nullopt;
            }
            m.shape = sum_shape(one, other);
        }
        return fits(m, a, b, result) ? std::optional(add(m)) : std::nullopt;
    }

    /// Returns the shape of a map, also if it has no layer, whose input has so many channels.
    [[nodiscard]] static map_shape shape_of(const linear_map& m, std::int64_t channels, std::size_t axes) {
        return m.has_layer ? m.shape : diagonal_shape(channels, axes);
    }

private:
    static constexpr std::uint32_t most_depth = 64;

    map_id add(const linear_map& m) {
        maps_.push_back(m);
        return static_cast<map_id>(maps_.size() - 1);
    }
    static bool share_group(const linear_map& a, const linear_map& b) {
        return a.group == b.group || a.group == any_group || b.group == any_group;
    }
    // Returns what chains and sums have in common.
    static linear_map both(const linear_map& a, const linear_map& b) {
        linear_map m;
        m.root = a.root;
        m.group = std::min(a.group, b.group);
        m.channels = a.channels & b.channels;
        m.has_layer = a.has_layer || b.has_layer;
        m.shifts = a.shifts || b.shifts;
        m.has_sum = a.has_sum || b.has_sum;
        m.weighted = a.weighted + b.weighted;
        m.depth = std::max(a.depth, b.depth) + 1;
        m.stored = a.stored + b.stored;
        return m;
    }
    static std::int64_t channels_at(value root, channel_axes channels) {
        const int_list& shape = meta_of(root)->shape;
        return channels.last ? shape.back() : shape[1];
    }
    // True if a merged map fits its result and is not dearer than its parts. What is stored is then as much.
    static bool fits(linear_map& m, const linear_map& a, const linear_map& b, const tensor_meta& result) {
        if (m.depth > most_depth) return false;
        if (!m.has_layer) return true;
        if (m.shape.axes != 0 && !fit_windows(m.shape, meta_of(m.root)->shape, result.shape)) return false;
        const double weights = m.shape.weights();
        if (weights > static_cast<double>(most_weights) || weights > m.stored) return false;
        if (m.products() > a.products() + b.products()) return false;
        m.stored = weights;
        return true;
    }

    pmr_vector<linear_map> maps_;
};

}  // namespace headrace::maps

#endif
