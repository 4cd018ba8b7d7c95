// SPDX-License-Identifier: MIT
// Defines headrace::text::value_names, the names of values in a graph's text.
#ifndef HEADRACE_IO_TEXT_NAMES_HPP
#define HEADRACE_IO_TEXT_NAMES_HPP

#include <cctype>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/op/op.hpp>
#include <headrace/op/value.hpp>

namespace headrace::text {

/// The names of the values of one graph: `%conv`; `%conv#1` for the next value of that name; `%#relu`,
/// `%#relu_1` for values without a name.
class value_names {
public:
    /// Names the values of a node; nodes must be added in the order in which they are printed.
    void add(const node& n);
    [[nodiscard]] const std::pmr::string* find(value v) const;

private:
    // Returns a new label for an op: "conv2d" for "aten.conv2d.default".
    std::pmr::string label(const op_info& op);

    std::unordered_map<const node*, pmr_vector<std::pmr::string>> names_;
    std::unordered_map<std::string_view, int> counts_;
    std::unordered_set<std::pmr::string> labels_;
    std::unordered_map<std::pmr::string, int> numbers_;
};

}  // namespace headrace::text

#endif
