// SPDX-License-Identifier: MIT
// Defines how the writer of .pte files stores each distinct constant once.
#ifndef HEADRACE_IO_PTE_CONSTANTS_HPP
#define HEADRACE_IO_PTE_CONSTANTS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <headrace/dialect/builtin.hpp>
#include <headrace/io/file/element_copier.hpp>
#include <headrace/io/pte/format.hpp>
#include <headrace/io/pte/method.hpp>
#include <headrace/ir/node.hpp>
#include <headrace/ir/tensor_meta.hpp>
#include <headrace/op/fields.hpp>

namespace headrace::detail::pte {

/// True if a constant has only zero bits, and so many that a kernel should write it instead of the file
/// storing it.
[[nodiscard]] inline bool is_of_zeros(value v) {
    constexpr std::size_t least_bytes = 64;
    const auto* const constant = match<builtin::constant>(v);
    if (constant == nullptr || meta_of(v)->dtype == dtype::boolean) return false;
    const std::span bytes(constant->data.bytes, bytes_in_memory(*meta_of(v)));
    return bytes.size() >= least_bytes && is_row_major(constant->data, meta_of(v)->shape) &&
        std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{}; });
}

/// The constants of a file. Equal bytes are one constant, whatever their shape and type.
class constant_pool {
public:
    /// Returns the number of a constant, from 1.
    [[nodiscard]] std::uint32_t add(const tensor_data& data, const tensor_meta& meta) {
        const std::size_t size = bytes_in_memory(meta);
        if (is_row_major(data, meta.shape)) return add({data.bytes, size});
        std::vector<std::byte> copy(size);
        element_copier(data, meta, reinterpret_cast<std::uint8_t*>(copy.data())).copy();
        copies_.push_back(std::move(copy));
        const std::uint32_t number = add(copies_.back());
        if (parts_[number - 1].bytes.data() != copies_.back().data()) copies_.pop_back();
        return number;
    }

    /// Returns the offset in the segment of bytes that no tensor of the host has.
    [[nodiscard]] std::uint64_t place_of(std::span<const std::byte> bytes) {
        return parts_[add(bytes) - 1].offset;
    }

    /// Returns the offset of each constant in the segment; the first entry is reserved.
    [[nodiscard]] std::vector<std::uint64_t> offsets() const {
        std::vector<std::uint64_t> all{0};
        for (const segment_part& p : parts_) all.push_back(p.offset);
        return all;
    }
    [[nodiscard]] std::uint64_t bytes() const { return end_; }

    [[nodiscard]] std::vector<segment_part> take_parts() { return std::move(parts_); }
    [[nodiscard]] std::deque<std::vector<std::byte>> take_copies() { return std::move(copies_); }

private:
    std::uint32_t add(std::span<const std::byte> bytes) {
        const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        const auto [known, is_new] =
            numbers_.try_emplace(text, static_cast<std::uint32_t>(parts_.size() + 1));
        if (!is_new) return known->second;
        const std::uint64_t at = (end_ + constant_alignment - 1) / constant_alignment * constant_alignment;
        parts_.push_back({at, bytes});
        end_ = at + bytes.size();
        return known->second;
    }

    std::unordered_map<std::string_view, std::uint32_t> numbers_;  // by their bytes
    std::vector<segment_part> parts_;
    std::deque<std::vector<std::byte>> copies_;
    std::uint64_t end_ = 0;
};

}  // namespace headrace::detail::pte

#endif
