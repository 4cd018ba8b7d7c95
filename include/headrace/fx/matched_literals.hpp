// SPDX-License-Identifier: MIT
// Defines comparisons of constants and literals, for headrace::subgraph_matcher.
#ifndef HEADRACE_FX_MATCHED_LITERALS_HPP
#define HEADRACE_FX_MATCHED_LITERALS_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <headrace/fx/subgraph_match.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/strided_walk.hpp>
#include <headrace/op/reflect.hpp>
#include <headrace/rewrite/emit.hpp>

namespace headrace::detail {

/// True if each element of a constant is that number, as stored in its dtype.
[[nodiscard]] inline bool is_filled_with(const node& constant, scalar number) {
    const auto& meta = constant.results[0].meta;
    std::byte wanted[8]{};
    if (!meta || traits_of(meta->dtype).bits > 64 || !store_element(number, meta->dtype, wanted))
        return false;
    const tensor_data& data = args_of<builtin::constant>(constant).data;
    const std::size_t size = traits_of(meta->dtype).bits / 8U;
    for (std::int64_t i = 0; i != meta->elements(); ++i) {
        if (std::memcmp(element_at(data, *meta, i), wanted, size) != 0) return false;
    }
    return true;
}

/// True if two constants have the same type, shape and elements.
[[nodiscard]] inline bool same_elements(const node& a, const node& b) {
    const auto& meta = a.results[0].meta;
    if (meta == nullptr || !same_meta(meta, b.results[0].meta)) return false;
    const tensor_data& da = args_of<builtin::constant>(a).data;
    const tensor_data& db = args_of<builtin::constant>(b).data;
    if (da.strides.empty() && db.strides.empty()) {
        return std::memcmp(da.bytes, db.bytes, bytes_in_memory(*meta)) == 0;
    }
    const std::size_t size = traits_of(meta->dtype).bits / 8U;
    for (std::int64_t i = 0; i != meta->elements(); ++i) {
        if (std::memcmp(element_at(da, *meta, i), element_at(db, *meta, i), size) != 0) return false;
    }
    return true;
}

/// True if two literals are equal, even of different ops.
[[nodiscard]] inline bool equal_literals(const literal& a, const literal& b) {
    if (a.field->kind != b.field->kind || a.field->optional != b.field->optional) return false;
    // equal_field reads both at the offset of its field.
    const field_info at_start{a.field->name, a.field->kind, a.field->optional, 0};
    return equal_field(at_start, static_cast<const std::byte*>(a.arguments) + a.field->offset,
        static_cast<const std::byte*>(b.arguments) + b.field->offset);
}

}  // namespace headrace::detail

#endif
