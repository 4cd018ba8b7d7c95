// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pte/writing/constants.hpp.

#include <headrace/io/pte/writing/constants.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/dialect/builtin.hpp>
#include <headrace/io/file/element_copier.hpp>
#include <headrace/io/pte/format.hpp>
#include <headrace/io/pte/method.hpp>
#include <headrace/ir/node.hpp>
#include <headrace/ir/tensor_meta.hpp>
#include <headrace/op/fields.hpp>

namespace headrace::pte {

bool is_of_zeros(value v) {
    constexpr std::size_t least_bytes = 64;
    const auto* const constant = match<builtin::constant>(v);
    if (constant == nullptr || meta_of(v)->dtype == dtype::boolean) return false;
    const std::span bytes(constant->data.bytes, bytes_in_memory(*meta_of(v)));
    return bytes.size() >= least_bytes && detail::is_row_major(constant->data, meta_of(v)->shape) &&
        std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{}; });
}

std::uint32_t constant_pool::add(const tensor_data& data, const tensor_meta& meta) {
    const std::size_t size = bytes_in_memory(meta);
    if (detail::is_row_major(data, meta.shape)) return add({data.bytes, size});
    std::vector<std::byte> copy(size);
    detail::element_copier(data, meta, reinterpret_cast<std::uint8_t*>(copy.data())).copy();
    copies_.push_back(std::move(copy));
    const std::uint32_t number = add(copies_.back());
    if (parts_[number - 1].bytes.data() != copies_.back().data()) copies_.pop_back();
    return number;
}

std::vector<std::uint64_t> constant_pool::offsets() const {
    std::vector<std::uint64_t> all{0};
    for (const segment_part& p : parts_) all.push_back(p.offset);
    return all;
}

std::uint32_t constant_pool::add(std::span<const std::byte> bytes) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const auto [known, is_new] = numbers_.try_emplace(text, static_cast<std::uint32_t>(parts_.size() + 1));
    if (!is_new) return known->second;
    const std::uint64_t at = (end_ + constant_alignment - 1) / constant_alignment * constant_alignment;
    parts_.push_back({at, bytes});
    end_ = at + bytes.size();
    return known->second;
}

}  // namespace headrace::pte
