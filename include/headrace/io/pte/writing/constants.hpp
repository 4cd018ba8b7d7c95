// SPDX-License-Identifier: MIT
// Defines how the writer of .pte files stores each distinct constant once.
#ifndef HEADRACE_IO_PTE_WRITING_CONSTANTS_HPP
#define HEADRACE_IO_PTE_WRITING_CONSTANTS_HPP

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <headrace/io/pte/method.hpp>
#include <headrace/ir/tensor_meta.hpp>
#include <headrace/op/fields.hpp>

namespace headrace::pte {

/// True if a constant has only zero bits, and so many that a kernel should write it instead of the file
/// storing it.
[[nodiscard]] bool is_of_zeros(value v);

/// The constants of a file. Equal bytes are one constant, whatever their shape and type.
class constant_pool {
public:
    /// Returns the number of a constant, from 1.
    [[nodiscard]] std::uint32_t add(const tensor_data& data, const tensor_meta& meta);

    /// Returns the offset in the segment of bytes that no tensor of the host has.
    [[nodiscard]] std::uint64_t place_of(std::span<const std::byte> bytes) {
        return parts_[add(bytes) - 1].offset;
    }

    /// Returns the offset of each constant in the segment; the first entry is reserved.
    [[nodiscard]] std::vector<std::uint64_t> offsets() const;
    [[nodiscard]] std::uint64_t bytes() const { return end_; }

    [[nodiscard]] std::vector<segment_part> take_parts() { return std::move(parts_); }
    [[nodiscard]] std::deque<std::vector<std::byte>> take_copies() { return std::move(copies_); }

private:
    std::uint32_t add(std::span<const std::byte> bytes);

    std::unordered_map<std::string_view, std::uint32_t> numbers_;  // by their bytes
    std::vector<segment_part> parts_;
    std::deque<std::vector<std::byte>> copies_;
    std::uint64_t end_ = 0;
};

}  // namespace headrace::pte

#endif
