// SPDX-License-Identifier: MIT
// Defines headrace::remaining_transposes, which explains why a lowered graph still has transposes.
#ifndef HEADRACE_PASSES_LAYOUT_REMAINING_TRANSPOSES_HPP
#define HEADRACE_PASSES_LAYOUT_REMAINING_TRANSPOSES_HPP

#include <cstdint>
#include <memory_resource>
#include <string>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/ir/signature.hpp>
#include <headrace/passes/layout/layout_rules.hpp>

namespace headrace {

/// A TRANSPOSE that the layout passes could not remove.
struct remaining_transpose {
    std::pmr::string node;  ///< the exported node that it comes from
    pmr_vector<std::int64_t> shape;
    pmr_vector<std::int64_t> perms;
    std::int64_t bytes = 0;
    std::pmr::string reason;  ///< the ops before and after it that require different layouts
};

namespace detail {

/// Explains why an op's layout is fixed; empty if a transpose could move past it.
[[nodiscard]] inline std::pmr::string settled_layout(const node& n) {
    const std::pmr::string name(origin_name(n));
    if (is<builtin::placeholder>(n)) {
        const auto* asked = n.find_annotation<channels_last_signature>();
        return text_of(
            {"input ", name, asked != nullptr ? " comes channels-last" : " comes as it was exported"});
    }
    if (is<builtin::output>(n)) return "the output is wanted as it was exported";
    const std::pmr::string op = text_of({n.op->name, " ", name});
    switch (layout_rules::kind_of(n)) {
        case layout_rules::kind::window:
        case layout_rules::kind::pointwise:
        case layout_rules::kind::channels:
            return text_of({op, " has its channels last"});
        case layout_rules::kind::matmul:
        case layout_rules::kind::matrices:
            return text_of({op, " multiplies rows by columns"});
        case layout_rules::kind::fixed:
            return text_of({op, " takes tensors as they are"});
        case layout_rules::kind::axes:
            return layout_rules::data_operands(n) > 1 ? text_of({op, " has operands in another layout"}) : "";
        case layout_rules::kind::move:
            return "";
    }
    return "";
}

/// Returns the first explanation along a chain of nodes; `next` returns the next node, or null at the end.
template <class Next>
[[nodiscard]] std::pmr::string first_settled(const node& transpose, Next&& next) {
    std::pmr::string words;
    for (const node* n = next(transpose); words.empty() && n != nullptr; n = next(*n))
        words = settled_layout(*n);
    return words;
}

}  // namespace detail

/// Returns the transposes of a graph of TOSA ops, in execution order, without those of nested graphs.
[[nodiscard]] inline pmr_vector<remaining_transpose> remaining_transposes(const graph& g) {
    pmr_vector<remaining_transpose> found;
    const auto before = [](const node& n) { return n.operand_count == 0 ? nullptr : n.operand(0).producer; };
    const auto after = [](const node& n) { return n.first_use == nullptr ? nullptr : n.first_use->target; };
    for (const node& n : g.nodes()) {
        const auto* t = args_if<tosa::transpose>(n);
        if (t == nullptr || !n.results[0].meta) continue;
        const tensor_meta& meta = *n.results[0].meta;
        const int_list& shape = meta_of(t->input1)->shape;
        found.push_back({std::pmr::string(origin_name(n)), {shape.begin(), shape.end()},
            {t->perms.begin(), t->perms.end()}, static_cast<std::int64_t>(packed_bytes(meta)),
            text_of({detail::first_settled(n, before), ", and ", detail::first_settled(n, after)})});
    }
    return found;
}

}  // namespace headrace

#endif
