// SPDX-License-Identifier: MIT
// Defines headrace::emitted_tosa, the bytes of a flatbuffer, and the memory that it is written to.
#ifndef HEADRACE_IO_TOSA_BUFFER_HPP
#define HEADRACE_IO_TOSA_BUFFER_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <utility>

#include <flatbuffers/flatbuffers.h>

namespace headrace {

/// A flatbuffer that owns its bytes.
class emitted_tosa {
public:
    explicit emitted_tosa(flatbuffers::DetachedBuffer buffer) : buffer_(std::move(buffer)) {}
    [[nodiscard]] std::span<const std::byte> bytes() const {
        return {reinterpret_cast<const std::byte*>(buffer_.data()), buffer_.size()};
    }

private:
    flatbuffers::DetachedBuffer buffer_;
};

namespace tosa_file {

/// The caller's buffer as an allocator for FlatBuffers.
class given_memory final : public flatbuffers::Allocator {
public:
    explicit given_memory(std::span<std::byte> buffer) {
        void* at = buffer.data();
        std::size_t room = buffer.size();
        if (std::align(alignment, 1, at, room) == nullptr) return;
        free_ = static_cast<std::uint8_t*>(at);
        size_ = room / alignment * alignment;
    }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool overflowed() const { return overflowed_; }

    // Falls back to other memory if the buffer is too small: the builder cannot be told that there is none.
    std::uint8_t* allocate(std::size_t bytes) override {
        if (bytes <= size_ && !taken_) {
            taken_ = true;
            return free_;
        }
        overflowed_ = true;
        return static_cast<std::uint8_t*>(elsewhere_->allocate(bytes));
    }
    void deallocate(std::uint8_t* at, std::size_t bytes) override {
        if (at != free_) elsewhere_->deallocate(at, bytes);
    }

private:
    static constexpr std::size_t alignment = 16;

    std::pmr::memory_resource* elsewhere_ = std::pmr::get_default_resource();
    std::uint8_t* free_ = nullptr;
    std::size_t size_ = 0;
    bool taken_ = false;
    bool overflowed_ = false;
};

}  // namespace tosa_file

}  // namespace headrace

#endif
