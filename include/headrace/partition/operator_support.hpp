// SPDX-License-Identifier: MIT
// Defines headrace::operator_support, which tells a partitioner the nodes that a backend takes, and
// combinations of several.
#ifndef HEADRACE_PARTITION_OPERATOR_SUPPORT_HPP
#define HEADRACE_PARTITION_OPERATOR_SUPPORT_HPP

#include <algorithm>
#include <concepts>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <headrace/ir/graph.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/op/op_set.hpp>

namespace headrace {

/// Matches types that tell whether a node is supported: `bool is_node_supported(const node&) const`.
template <class T>
concept supports_nodes = requires(const T& support, const node& n) {
    { support.is_node_supported(n) } -> std::convertible_to<bool>;
};

/// Any type that tells whether a node is supported, by value:
///
///     struct add_mul_support {
///         bool is_node_supported(const node& n) const { return is<aten::add_tensor>(n) ||
///         is<aten::mul_tensor>(n); }
///     };
///     const operator_support support = chain(add_mul_support{}, of_rank_at_most(4));
class operator_support {
public:
    template <supports_nodes T>
        requires(!std::same_as<T, operator_support>)
    operator_support(T support)
        : ask_([held = std::make_shared<const T>(std::move(support))](
                   const node& n) { return static_cast<bool>(held->is_node_supported(n)); }) {}

    [[nodiscard]] bool is_node_supported(const node& n) const { return ask_(n); }

private:
    std::function<bool(const node&)> ask_;
};

/// Support from a function.
template <std::predicate<const node&> Predicate>
[[nodiscard]] operator_support create_op_support(Predicate supported) {
    struct by_function {
        Predicate ask;
        bool is_node_supported(const node& n) const { return ask(n); }
    };
    return by_function{std::move(supported)};
}

/// Support for ops: `create_op_support<aten::add_tensor, aten::mul_tensor>()`.
template <op_tag... Ops>
    requires(sizeof...(Ops) != 0)
[[nodiscard]] operator_support create_op_support() {
    return create_op_support([](const node& n) { return (is<Ops>(n) || ...); });
}

/// Supports the nodes that all of them support.
template <std::convertible_to<operator_support>... Supports>
[[nodiscard]] operator_support chain(Supports... supports) {
    return create_op_support([all = std::vector<operator_support>{std::move(supports)...}](const node& n) {
        return std::all_of(all.begin(), all.end(), [&](const auto& s) { return s.is_node_supported(n); });
    });
}

/// Supports the nodes that any of them supports.
template <std::convertible_to<operator_support>... Supports>
[[nodiscard]] operator_support any_chain(Supports... supports) {
    return create_op_support([all = std::vector<operator_support>{std::move(supports)...}](const node& n) {
        return std::any_of(all.begin(), all.end(), [&](const auto& s) { return s.is_node_supported(n); });
    });
}

// --- derived from a static pipeline ------------------------------------------------------

namespace detail {

/// True if the op of a node is in the set, and all ops in the graphs that it holds are, too.
template <class Set>
[[nodiscard]] bool all_ops_in(const Set& set, const node& n) {
    if (!set.contains(*n.op)) return false;
    bool all = true;
    for_each_region(n, [&](const field_info&, const graph* region) {
        if (region == nullptr) return;
        for (const node& inner : region->nodes()) {
            const bool always = is_of_dialect<builtin::dialect>(inner);
            all = all && (always ? !is<builtin::opaque>(inner) : all_ops_in(set, inner));
        }
    });
    return all;
}

}  // namespace detail

/// Supports the nodes whose op the pipeline provably lowers: its `supported` set, derived from its passes.
template <class Pipeline>
[[nodiscard]] operator_support supported_by() {
    return create_op_support([](const node& n) { return detail::all_ops_in(Pipeline::supported, n); });
}

// --- run-time predicates: beyond a set of ops ----------------------------------------------

/// Supports nodes for which `legal(const tensor_meta&)` is true for each operand and each result. A value
/// without metadata is not legal.
template <std::predicate<const tensor_meta&> Predicate>
[[nodiscard]] operator_support of_types(Predicate legal) {
    return create_op_support([legal = std::move(legal)](const node& n) {
        const auto takes = [&](const tensor_meta* meta) { return meta != nullptr && legal(*meta); };
        const auto edges = n.operand_edges();
        return std::all_of(
                   edges.begin(), edges.end(), [&](const edge& e) { return takes(meta_of(*e.slot)); }) &&
            std::all_of(
                n.results, n.results + n.result_count, [&](const result_slot& r) { return takes(r.meta); });
    });
}

/// Supports nodes whose operands and results all have one of these dtypes.
[[nodiscard]] inline operator_support of_dtypes(std::initializer_list<dtype> types) {
    return of_types([types = std::vector<dtype>(types)](const tensor_meta& meta) {
        return std::find(types.begin(), types.end(), meta.dtype) != types.end();
    });
}

/// Supports nodes whose operands and results all have at most that rank.
[[nodiscard]] inline operator_support of_rank_at_most(std::size_t rank) {
    return of_types([rank](const tensor_meta& meta) { return meta.rank() <= rank; });
}

}  // namespace headrace

#endif
