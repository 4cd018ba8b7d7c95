// SPDX-License-Identifier: MIT
// Defines headrace::memory_map, the banks of memory of a board.
#ifndef HEADRACE_BANKS_MEMORY_MAP_HPP
#define HEADRACE_BANKS_MEMORY_MAP_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/base/memory_use.hpp>

namespace headrace {

/// A bank of memory: bytes at consecutive addresses with the same speed.
struct memory_bank {
    std::string name;
    std::uint64_t bytes = 0;
    std::uint64_t alignment = 16;  ///< of each tensor's offset, a power of two
    double bytes_per_cycle = 1;    ///< of the processor that executes the model
    std::uint32_t latency = 0;     ///< cycles until the first byte of a burst; only Vela reads it
    std::uint8_t holds = 0;        ///< a bit for each memory_use

    [[nodiscard]] bool may_hold(memory_use use) const { return (holds & bit_of(use)) != 0; }
    void allow(memory_use use) { holds = static_cast<std::uint8_t>(holds | bit_of(use)); }
    [[nodiscard]] std::uint64_t aligned(std::uint64_t size) const {
        return (size + alignment - 1) & ~(alignment - 1);
    }
    /// Returns the bytes that tensors can take: whole multiples of the alignment.
    [[nodiscard]] std::uint64_t capacity() const { return bytes & ~(alignment - 1); }

private:
    static std::uint8_t bit_of(memory_use use) {
        return static_cast<std::uint8_t>(1U << static_cast<std::uint8_t>(use));
    }
};

struct memory_map {
    std::string name{};
    std::vector<memory_bank> banks{};
    std::uint64_t stack_bytes = 0;

    /// Returns a bank's index, or the number of banks if none has that name.
    [[nodiscard]] std::size_t find(std::string_view bank) const {
        std::size_t i = 0;
        while (i != banks.size() && banks[i].name != bank) ++i;
        return i;
    }
};

}  // namespace headrace

#endif
