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
/// and is part of the model itself. On a board with several banks of memory there is an arena in each, of
/// which `bank` is the number.
struct buffer {
    element type = element::int8;
    std::int32_t count = 0;
    std::int32_t offset = 0;
    std::int32_t first = 0, last = 0;
    bool is_state = false;
    std::int32_t bank = 0;

    constexpr std::int32_t bytes() const { return count * bytes_of(type); }
};

template <buffer... Buffers>
class memory_plan {
public:
    static constexpr std::size_t size = sizeof...(Buffers);
    static constexpr std::array<buffer, sizeof...(Buffers)> all{Buffers...};

private:
    // The members that are compared for each pair of buffers, read once: compilers pay for each call in such
    // loops.
    struct ranges {
        std::int32_t start[size + 1]{}, end[size + 1]{}, first[size + 1]{}, last[size + 1]{};
        bool is_state[size + 1]{};
        std::int32_t bank[size + 1]{};

        constexpr ranges() {
            for (std::size_t i = 0; i != size; ++i) {
                start[i] = all[i].offset, end[i] = start[i] + all[i].bytes();
                first[i] = all[i].first, last[i] = all[i].last, is_state[i] = all[i].is_state;
                bank[i] = all[i].bank;
            }
        }
    };

public:
    /// The number of arenas.
    static constexpr std::int32_t banks = [] {
        std::int32_t last = 0;
        for (const buffer& b : all) last = b.bank > last ? b.bank : last;
        return last + 1;
    }();
    static constexpr std::int32_t end_of(bool is_state, std::int32_t bank) {
        std::int32_t end = 0;
        for (const buffer& b : all)
            if (b.is_state == is_state && b.bank == bank && b.offset + b.bytes() > end)
                end = b.offset + b.bytes();
        return end;
    }
    static constexpr std::int32_t bytes = end_of(false, 0), state_bytes = end_of(true, 0);
    /// The least that any plan needs of one arena: what lives at the fullest layer.
    static constexpr std::int32_t lower_bound_of(std::int32_t bank) {
        const ranges r;
        std::int32_t most = 0;
        for (std::size_t i = 0; i != size; ++i) {
            std::int32_t sum = 0;
            for (std::size_t k = 0; k != size; ++k)
                if (!r.is_state[k] && r.bank[k] == bank && r.first[k] <= r.first[i] &&
                    r.first[i] <= r.last[k])
                    sum += r.end[k] - r.start[k];
            most = sum > most ? sum : most;
        }
        return most;
    }
    static constexpr std::int32_t lower_bound = lower_bound_of(0);
    /// True if no two buffers that live at once share a byte, and each lies where its elements may.
    static constexpr bool is_sound = [] {
        for (const buffer& b : all)
            if (b.offset % bytes_of(b.type) != 0) return false;
        const ranges r;
        for (std::size_t i = 0; i != size; ++i)
            for (std::size_t k = 0; k != i; ++k)
                if (r.first[i] <= r.last[k] && r.first[k] <= r.last[i] && r.start[i] < r.end[k] &&
                    r.start[k] < r.end[i] && r.is_state[i] == r.is_state[k] && r.bank[i] == r.bank[k])
                    return false;
        return true;
    }();
};

}  // namespace headrace::on_device

#endif
