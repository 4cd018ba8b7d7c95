// SPDX-License-Identifier: MIT
// Defines headrace::meta_table, the metadata of a graph's values, each kept once.
#ifndef HEADRACE_IR_META_TABLE_HPP
#define HEADRACE_IR_META_TABLE_HPP

#include <cstddef>
#include <cstdint>
#include <memory_resource>

#include <headrace/ir/tensor_meta.hpp>

namespace headrace {

/// A hash of what same_val compares.
[[nodiscard]] std::uint64_t hash_of_val(const tensor_meta& meta);

/// The metadata of a graph's values. A network has many values and few types: each is kept once, so that
/// those that a walk reads stay in the processor's caches even if the graph does not.
class meta_table {
public:
    /// `memory` gives nothing back.
    explicit meta_table(std::pmr::memory_resource* memory) : memory_(memory) {}
    meta_table(const meta_table&) = delete;
    meta_table& operator=(const meta_table&) = delete;

    /// The one of that dtype, shape and dim order. It stays where it is.
    [[nodiscard]] const tensor_meta* find_or_add(const tensor_meta& meta);

private:
    struct slot {
        std::uint64_t hash;
        const tensor_meta* meta;
    };

    [[nodiscard]] slot& slot_of(std::uint64_t hash, const tensor_meta& meta);
    void grow();

    std::pmr::memory_resource* memory_;
    const tensor_meta* last_ = nullptr;  // what was asked for before: nodes that are made together are alike
    slot* slots_ = nullptr;              // a power of two of them, at most half in use
    std::size_t capacity_ = 0;
    std::size_t size_ = 0;
};

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/ir/meta_table_definition.hpp>
#endif

#endif
