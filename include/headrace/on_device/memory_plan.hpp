// SPDX-License-Identifier: MIT
// Defines headrace::on_device::memory_plan, the places of a model's tensors in its arena.
#ifndef HEADRACE_ON_DEVICE_MEMORY_PLAN_HPP
#define HEADRACE_ON_DEVICE_MEMORY_PLAN_HPP

#include <array>
#include <cstddef>
#include <cstdint>

#include <headrace/on_device/tensor.hpp>

namespace headrace::on_device {

/// Memory for a tensor, or for several that never live at once: `count` elements from byte `offset` of the
/// arena on, in use from the layer `first` to the layer `last`. A state lives from one inference to the next,
/// and is part of the model itself.
struct buffer {
    element type = element::int8;
    std::int32_t count = 0;
    std::int32_t offset = 0;
    std::int32_t first = 0, last = 0;
    bool is_state = false;

    constexpr std::int32_t bytes() const { return count * bytes_of(type); }
    constexpr bool overlaps(const buffer& other) const {
        return offset < other.offset + other.bytes() && other.offset < offset + bytes();
    }
    constexpr bool lives_with(const buffer& other) const {
        return is_state == other.is_state && first <= other.last && other.first <= last;
    }
};

template <buffer... Buffers>
struct memory_plan {
    static constexpr std::size_t size = sizeof...(Buffers);
    static constexpr std::array<buffer, sizeof...(Buffers)> all{Buffers...};

    static constexpr std::int32_t end_of(bool is_state) {
        std::int32_t end = 0;
        for (const buffer& b : all)
            if (b.is_state == is_state && b.offset + b.bytes() > end) end = b.offset + b.bytes();
        return end;
    }
    static constexpr std::int32_t bytes = end_of(false), state_bytes = end_of(true);
    /// The least that any plan needs: what lives at the fullest layer.
    static constexpr std::int32_t lower_bound = [] {
        std::int32_t most = 0;
        for (const buffer& at : all) {
            std::int32_t sum = 0;
            for (const buffer& b : all)
                sum += !b.is_state && b.first <= at.first && at.first <= b.last ? b.bytes() : 0;
            most = sum > most ? sum : most;
        }
        return most;
    }();
    /// True if no two buffers that live at once share a byte, and each lies where its elements may.
    static constexpr bool is_sound = [] {
        for (std::size_t i = 0; i != size; ++i) {
            if (all[i].offset % bytes_of(all[i].type) != 0) return false;
            for (std::size_t k = 0; k != i; ++k)
                if (all[i].lives_with(all[k]) && all[i].overlaps(all[k])) return false;
        }
        return true;
    }();
};

}  // namespace headrace::on_device

#endif
