// SPDX-License-Identifier: MIT
// Defines the functions of ir/meta_table.hpp.
#ifndef HEADRACE_IR_META_TABLE_DEFINITION_HPP
#define HEADRACE_IR_META_TABLE_DEFINITION_HPP

#include <cstdint>
#include <new>
#include <span>

#include <headrace/base/compiled.hpp>
#include <headrace/base/mix.hpp>
#include <headrace/ir/arena.hpp>

namespace headrace {

HEADRACE_INLINE std::uint64_t hash_of_val(const tensor_meta& meta) {
    std::uint64_t hash = static_cast<std::uint64_t>(meta.dtype);
    const auto add = [&](std::int64_t number) { hash = mix(hash, static_cast<std::uint64_t>(number)); };
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
    const tensor_meta*& known =
        metas_.find_or_add(hash_of_val(meta), [&](const tensor_meta* m) { return same_val(*m, meta); });
    if (known == nullptr) {
        tensor_meta owned = meta;
        if (meta.shape.is_view()) owned.shape = detail::copy_of(*memory_, meta.shape);
        owned.dim_order = detail::copy_of(*memory_, meta.dim_order);
        known = new (memory_->allocate(sizeof owned, alignof(tensor_meta))) tensor_meta(owned);
    }
    return last_ = known;
}

}  // namespace headrace

#endif
