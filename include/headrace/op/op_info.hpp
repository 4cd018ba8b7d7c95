// SPDX-License-Identifier: MIT
// Defines headrace::op_info and headrace::dialect_info, the run-time descriptions of an op and of a dialect.
#ifndef HEADRACE_OP_OP_INFO_HPP
#define HEADRACE_OP_OP_INFO_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <headrace/op/fields.hpp>
#include <headrace/op/traits.hpp>

namespace headrace {

/// A dialect at run time; the census of a graph counts ops by it.
struct dialect_info {
    std::string_view name;
    std::size_t op_count;
    bool is_pure;  ///< its ops depend only on their operands, except those with trait::impure
};

/// An op at run time. There is one object per op in the whole program: its address is the op's identity.
struct op_info {
    std::string_view name;  ///< as PyTorch spells it, without "torch.ops.": "aten.conv2d.default"
    const dialect_info* dialect;
    std::uint16_t index;   ///< index in the dialect
    std::int16_t results;  ///< number of results, or variadic_results
    std::uint32_t args_size;
    std::uint32_t args_alignment;
    const field_info* fields;
    std::size_t field_count;
    const void* default_args;  ///< an args object with the schema's defaults
    std::uint64_t traits;
    const op_info* base;  ///< the op that this one is a variant of, with equal arguments; or null

    /// True if it has any of the traits in `any_of`.
    [[nodiscard]] constexpr bool has(trait any_of) const { return has_any(traits, any_of); }
    /// Returns the op of which this one is a variant, or else this op: the computation, regardless of the
    /// name and of the memory that it writes to.
    [[nodiscard]] constexpr const op_info& functional() const { return base != nullptr ? *base : *this; }

    [[nodiscard]] constexpr const field_info* begin() const { return fields; }
    [[nodiscard]] constexpr const field_info* end() const { return fields + field_count; }
    [[nodiscard]] constexpr const field_info* find(std::string_view field) const {
        for (const field_info& f : *this) {
            if (f.name == field) return &f;
        }
        return nullptr;
    }
};

/// For ops whose result is a Tensor[]: split, chunk, unbind.
inline constexpr int variadic_results = -1;

}  // namespace headrace

#endif
