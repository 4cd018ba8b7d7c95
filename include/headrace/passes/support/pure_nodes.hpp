// SPDX-License-Identifier: MIT
// Defines headrace::is_pure and headrace::same_computation: which nodes only compute, and which the same.
#ifndef HEADRACE_PASSES_SUPPORT_PURE_NODES_HPP
#define HEADRACE_PASSES_SUPPORT_PURE_NODES_HPP

#include <cstdint>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/ir/dead_code.hpp>
#include <headrace/op/reflect.hpp>

namespace headrace {

/// Is the node a function of its operands and arguments alone, which no one can observe running?
[[nodiscard]] inline bool is_pure(const node& n) {
    if (n.result_count == 0 || has_effects(*n.op)) return false;
    if (n.op->dialect != &info_of_dialect<aten::dialect> &&
        n.op->dialect != &info_of_dialect<tosa::dialect> &&
        n.op->dialect != &info_of_dialect<quantized_decomposed::dialect>)
        return false;
    if (is<tosa::custom>(n) || is<tosa::variable_read>(n) || is<tosa::identity>(n)) return false;
    for (const field_info& f : *n.op) {
        if (f.kind == field_kind::region) return false;
    }
    return true;
}

/// NPUs fuse a RESCALE with the operator before or after it, if it has one reader. So each
/// reader keeps its own, also of a constant, which is smaller before it than after it.
[[nodiscard]] inline bool belongs_to_reader(const node& n) { return is<tosa::rescale>(n); }

/// Do two nodes compute the same: the same op on the same operands with equal arguments and results?
[[nodiscard]] inline bool same_computation(const node& a, const node& b) {
    if (a.op != b.op || a.result_count != b.result_count) return false;
    for (std::uint32_t i = 0; i != a.result_count; ++i) {
        if (a.results[i].meta != b.results[i].meta) return false;
    }
    return equal_arguments(*a.op, a.arguments, b.arguments);
}

/// Equal for nodes that compute the same.
[[nodiscard]] inline std::uint64_t computation_hash(const node& n) {
    return hash_arguments(*n.op, n.arguments);
}

}  // namespace headrace

#endif
