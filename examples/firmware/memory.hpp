// SPDX-License-Identifier: MIT
// Defines static_memory, a memory resource over an array: the firmware has no heap.
#ifndef HEADRACE_EXAMPLES_FIRMWARE_MEMORY_HPP
#define HEADRACE_EXAMPLES_FIRMWARE_MEMORY_HPP

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <memory_resource>

namespace firmware {

/// Hands out the array from its beginning, and begins again when everything has been given back.
template <std::size_t Bytes>
class static_memory final : public std::pmr::memory_resource {
public:
    [[nodiscard]] std::size_t max_used() const { return max_; }

private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        void* at = room_ + used_;
        std::size_t left = Bytes - used_;
        if (std::align(alignment, bytes, at, left) == nullptr) std::abort();
        used_ = Bytes - left + bytes;
        max_ = std::max(max_, used_);
        ++live_;
        return at;
    }
    void do_deallocate(void*, std::size_t, std::size_t) override {
        if (--live_ == 0) used_ = 0;
    }
    [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
        return this == &other;
    }

    alignas(std::max_align_t) std::byte room_[Bytes];
    std::size_t used_ = 0;
    std::size_t max_ = 0;
    std::size_t live_ = 0;
};

}  // namespace firmware

#endif
