// SPDX-License-Identifier: MIT
// Defines headrace::firmware::result_names, the names that results of layers have in a TOSA flatbuffer.
#ifndef HEADRACE_FIRMWARE_RESULT_NAMES_HPP
#define HEADRACE_FIRMWARE_RESULT_NAMES_HPP

#include <string_view>
#include <unordered_set>

#include <headrace/ir/graph.hpp>

namespace headrace::firmware {

/// Notes the names of a graph's values before its operators are fused into layers.
class result_names {
public:
    result_names() = default;
    /// Annotates the nodes.
    explicit result_names(graph& g);
    /// Returns the name of what a layer or an operator computes; empty if the flatbuffer has no such value,
    /// as for a part of a split operator.
    [[nodiscard]] std::string_view find(const node& n) const;

private:
    std::unordered_set<const node*> named_;
};

}  // namespace headrace::firmware

#endif
