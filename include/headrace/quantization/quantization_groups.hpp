// SPDX-License-Identifier: MIT
// Defines headrace::quantization_groups: which operands and results of a graph are quantized, and which of
// them share parameters.
#ifndef HEADRACE_QUANTIZATION_QUANTIZATION_GROUPS_HPP
#define HEADRACE_QUANTIZATION_QUANTIZATION_GROUPS_HPP

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include <headrace/ir/graph.hpp>
#include <headrace/quantization/tensor_scheme.hpp>

namespace headrace {

/// Each operand and each result of a node may have a key, which selects its scheme. Keys are united into
/// groups; all tensors of a group have the same parameters.
class quantization_groups {
public:
    using key = std::uint32_t;
    static constexpr key none = std::numeric_limits<key>::max();

    explicit quantization_groups(const graph& g);

    key add(const edge& e, const tensor_scheme& scheme) {
        key& k = of_edge_[first_edge_[e.target->id] + e.operand];
        return k != none ? k : k = make(scheme);
    }
    key add(value result, const tensor_scheme& scheme) {
        key& k = of_result_[first_result_[result.producer->id] + result.result];
        return k != none ? k : k = make(scheme);
    }
    void unite(key a, key b) {
        a = root(a);
        b = root(b);
        if (a != b) parents_[std::max(a, b)] = std::min(a, b);
    }
    /// Adds the bias of a layer; its scale is the product of the scales of the layer's input and weight.
    key add_bias(const edge& bias, const tensor_scheme& scheme) {
        const key k = add(bias, scheme);
        is_bias_[k] = true;
        return k;
    }

    [[nodiscard]] key of(const edge& e) const {
        return group_of(of_edge_[first_edge_[e.target->id] + e.operand]);
    }
    [[nodiscard]] key of(value result) const {
        return group_of(of_result_[first_result_[result.producer->id] + result.result]);
    }
    /// A group is named by one of its keys.
    [[nodiscard]] const tensor_scheme& scheme(key group) const { return schemes_[group]; }
    [[nodiscard]] bool is_bias(key group) const { return is_bias_[group]; }
    /// All group keys are below this.
    [[nodiscard]] std::size_t size() const { return parents_.size(); }
    void set_scheme(key group, const tensor_scheme& scheme) { schemes_[group] = scheme; }

private:
    key make(const tensor_scheme& scheme);
    [[nodiscard]] key root(key k) const {
        while (parents_[k] != k) k = parents_[k] = parents_[parents_[k]];
        return k;
    }
    [[nodiscard]] key group_of(key k) const { return k == none ? none : root(k); }

    std::vector<std::uint32_t> first_edge_, first_result_;  // by node id
    std::vector<key> of_edge_, of_result_;
    mutable std::vector<key> parents_;
    std::vector<tensor_scheme> schemes_;
    std::vector<bool> is_bias_;
};

}  // namespace headrace

#endif
