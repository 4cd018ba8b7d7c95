// SPDX-License-Identifier: MIT
// Defines headrace::same_graph, which compares two graphs by what they compute, not by the order of nodes.
#ifndef HEADRACE_TESTS_SUPPORT_SAME_GRAPH_HPP
#define HEADRACE_TESTS_SUPPORT_SAME_GRAPH_HPP

#include <cstring>
#include <string>
#include <unordered_map>

#include <headrace/ir/graph.hpp>
#include <headrace/op/reflect.hpp>

namespace headrace {

/// Pairs nodes, starting from inputs and outputs. Execution order, ids and names do not matter.
class graph_comparison {
public:
    /// Empty if the graphs are the same, else the first difference.
    [[nodiscard]] std::pmr::string operator()(const graph& a, const graph& b) {
        if (a.size() != b.size()) {
            return "sizes differ: " + number_text(a.size()) + " and " + number_text(b.size());
        }
        auto other = b.inputs().begin();
        for (node& input : a.inputs()) {
            if (other == b.inputs().end()) return "inputs differ";
            pairs_[&input] = &*other++;
        }
        if (other != b.inputs().end()) return "inputs differ";
        // Nodes without users cannot be reached from outputs: they are compared in order.
        auto b_roots = b.nodes().begin();
        for (node& root : a.nodes()) {
            if (root.first_use != nullptr || is<builtin::placeholder>(root)) continue;
            while (b_roots != b.nodes().end() &&
                (b_roots->first_use != nullptr || is<builtin::placeholder>(*b_roots)))
                ++b_roots;
            if (b_roots == b.nodes().end()) return "numbers of unused nodes differ";
            if (std::pmr::string difference = compare(root, *b_roots++); !difference.empty())
                return difference;
        }
        return {};
    }

private:
    std::pmr::string compare(const node& a, const node& b) {
        if (const auto known = pairs_.find(&a); known != pairs_.end()) {
            return known->second == &b ? std::pmr::string()
                                       : "a node of " + std::pmr::string(a.op->name) + " is shared in one";
        }
        pairs_[&a] = &b;
        const std::pmr::string op(a.op->name);
        if (a.op != b.op) return op + " is " + std::pmr::string(b.op->name);
        if (a.operand_count != b.operand_count) return op + ": numbers of operands differ";
        if (a.result_count != b.result_count) return op + ": numbers of results differ";
        for (std::size_t i = 0; i != a.operand_count; ++i) {
            if (a.operand(i).result != b.operand(i).result) return op + ": operand is another result";
            if (std::pmr::string d = compare(*a.operand(i).producer, *b.operand(i).producer); !d.empty())
                return d;
        }
        for (std::uint32_t i = 0; i != a.result_count; ++i) {
            if (!same_meta(a.results[i].meta, b.results[i].meta)) return op + ": metadata differs";
        }
        return compare_attributes(a, b);
    }
    std::pmr::string compare_attributes(const node& a, const node& b) {
        for (const field_info& f : *a.op) {
            const auto* at = static_cast<const std::byte*>(a.arguments) + f.offset;
            const auto* bt = static_cast<const std::byte*>(b.arguments) + f.offset;
            if (f.kind == field_kind::region) {
                if (std::pmr::string d = graph_comparison()(
                        **reinterpret_cast<graph* const*>(at), **reinterpret_cast<graph* const*>(bt));
                    !d.empty())
                    return "region: " + d;
            } else if (f.kind == field_kind::data) {
                const auto& meta = a.results[0].meta;
                const auto& da = *reinterpret_cast<const tensor_data*>(at);
                const auto& db = *reinterpret_cast<const tensor_data*>(bt);
                const bool row_major = da.strides.empty() && db.strides.empty();
                if (meta && row_major &&
                    std::memcmp(da.bytes, db.bytes,
                        storage_bytes(meta->dtype, static_cast<std::uint64_t>(meta->elements()))) != 0)
                    return "constants differ";
            } else if (!holds_tensors(f.kind) && !equal_field(f, a.arguments, b.arguments)) {
                return std::pmr::string(a.op->name) + ": " + std::pmr::string(f.name) + " differs";
            }
        }
        return {};
    }

    std::unordered_map<const node*, const node*> pairs_;
};

/// Empty if two graphs are the same, else the first difference.
[[nodiscard]] inline std::pmr::string difference(const graph& a, const graph& b) {
    return graph_comparison()(a, b);
}

}  // namespace headrace

#endif
