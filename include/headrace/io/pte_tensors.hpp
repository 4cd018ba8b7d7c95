// SPDX-License-Identifier: MIT
// Defines what the reader of .pte files makes of a tensor's table.
#ifndef HEADRACE_IO_PTE_TENSORS_HPP
#define HEADRACE_IO_PTE_TENSORS_HPP

#include <cstdint>
#include <utility>
#include <vector>

#include <headrace/base/error.hpp>
#include <headrace/base/text.hpp>
#include <headrace/io/pte_format.hpp>
#include <headrace/io/pte_generated.hpp>
#include <headrace/ir/tensor_meta.hpp>

namespace headrace::detail::pte {

/// A memory, and an offset in it.
using place = std::pair<std::uint32_t, std::uint64_t>;

/// Its type and sizes, which stay in the vector.
[[nodiscard]] inline result<tensor_meta> meta_of_table(const pte_fb::Tensor& t,
                                                       std::vector<std::int64_t>& sizes) {
    if (t.sizes() == nullptr || t.dim_order() == nullptr || t.sizes()->size() != t.dim_order()->size() ||
        t.sizes()->size() > max_rank || t.storage_offset() != 0)
        return malformed("a tensor lacks its sizes or their order, or begins inside its storage");
    for (flatbuffers::uoffset_t i = 0; i != t.sizes()->size(); ++i) {
        if (t.sizes()->Get(i) < 0) return malformed("a tensor has a negative size");
        sizes.push_back(t.sizes()->Get(i));
        if (t.dim_order()->Get(i) != i)
            return unsupported("a tensor that does not lie row by row; export the model contiguous");
    }
    if (t.extra() != nullptr && t.extra()->location() != pte_fb::TensorLocation::SEGMENT)
        return unsupported("constants in another file (.ptd)");
    const tensor_meta meta{dtype_of(t.scalar_type()), int_list(sizes), {}};
    if (meta.dtype == dtype::unknown)
        return unsupported("a tensor of ScalarType " + number_text(int{t.scalar_type()}));
    if (meta.checked_elements().value_or(INT64_MAX) > INT64_MAX / 8)
        return malformed("a tensor is too large");
    return meta;
}
/// Where it is planned to lie.
[[nodiscard]] inline place place_of(const pte_fb::Allocation& a) {
    return {a.memory(), std::uint64_t{a.offset_high()} << 32 | a.offset_low()};
}

}  // namespace headrace::detail::pte

#endif
