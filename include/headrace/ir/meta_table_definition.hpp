// SPDX-License-Identifier: MIT
// Defines the functions of ir/meta_table.hpp.
#ifndef HEADRACE_IR_META_TABLE_DEFINITION_HPP
#define HEADRACE_IR_META_TABLE_DEFINITION_HPP

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include <headrace/base/compiled.hpp>
#include <headrace/base/slots.hpp>
#include <headrace/ir/arena.hpp>
#include <headrace/ir/meta_table.hpp>

namespace headrace {

HEADRACE_INLINE std::uint64_t hash_of_val(const tensor_meta& meta) {
    std::uint64_t hash = static_cast<std::uint64_t>(meta.dtype);
    const auto add = [&](std::int64_t number) {
        hash = (hash ^ static_cast<std::uint64_t>(number)) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 32U;
    };
    for (const std::int64_t size : meta.shape) add(size);
    add(-1);
    for (const std::int64_t axis : meta.dim_order) add(axis);
    return hash;
}

namespace detail {

[[nodiscard]] inline std::span<const std::int64_t> copy_of(
    std::pmr::memory_resource& memory, std::span<const std::int64_t> items) {
    return {copy_array(memory, items.data(), items.size()), items.size()};
}

}  // namespace detail

HEADRACE_INLINE const tensor_meta* meta_table::find_or_add(const tensor_meta& meta) {
    if (last_ != nullptr && same_val(*last_, meta)) return last_;
    if (2 * (size_ + 1) > capacity_) grow();
    const std::uint64_t hash = hash_of_val(meta);
    slot& s = slot_of(hash, meta);
    if (s.meta == nullptr) {
        tensor_meta owned = meta;
        if (meta.shape.is_view()) owned.shape = detail::copy_of(*memory_, meta.shape);
        owned.dim_order = detail::copy_of(*memory_, meta.dim_order);
        s = {hash, new (memory_->allocate(sizeof owned, alignof(tensor_meta))) tensor_meta(owned)};
        ++size_;
    }
    return last_ = s.meta;
}

HEADRACE_INLINE meta_table::slot& meta_table::slot_of(std::uint64_t hash, const tensor_meta& meta) {
    return slots_[find_slot(capacity_, hash, [&](std::size_t at) {
        const slot& s = slots_[at];
        return s.meta == nullptr || (s.hash == hash && same_val(*s.meta, meta));
    })];
}

HEADRACE_INLINE void meta_table::grow() {
    const std::span<const slot> before(slots_, capacity_);
    capacity_ = capacity_ == 0 ? 16 : 4 * capacity_;
    slots_ = make_array<slot>(*memory_, capacity_);
    for (const slot& s : before) {
        if (s.meta != nullptr) slot_of(s.hash, *s.meta) = s;
    }
}

}  // namespace headrace

#endif
