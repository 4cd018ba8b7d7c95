// SPDX-License-Identifier: MIT
// Defines headrace::meta_table, the metadata of a graph's values, each kept once.
#ifndef HEADRACE_IR_META_TABLE_HPP
#define HEADRACE_IR_META_TABLE_HPP

#include <cstdint>
#include <memory_resource>

#include <headrace/base/flat_map.hpp>
#include <headrace/ir/tensor_meta.hpp>

namespace headrace {

/// Returns a hash of the members that same_val compares.
[[nodiscard]] std::uint64_t hash_of_val(const tensor_meta& meta);

/// The metadata of a graph's values. A network has many values but few types; each type is stored once, so
/// that iteration finds it in the processor's caches even if the graph does not fit.
class meta_table {
public:
    /// The table never deallocates: `memory` must free everything at once, like an arena.
    explicit meta_table(std::pmr::memory_resource* memory) : memory_(memory), metas_(memory) {}
    meta_table(const meta_table&) = delete;
    meta_table& operator=(const meta_table&) = delete;

    /// Returns the stored metadata of that dtype, shape and dim order; its address is stable.
    [[nodiscard]] const tensor_meta* find_or_add(const tensor_meta& meta);

private:
    std::pmr::memory_resource* memory_;
    const tensor_meta* last_ = nullptr;  // the last result: nodes created in a row are often alike
    flat_map<const tensor_meta*> metas_;
};

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/ir/meta_table_definition.hpp>
#endif

#endif
