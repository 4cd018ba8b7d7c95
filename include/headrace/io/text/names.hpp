// SPDX-License-Identifier: MIT
// Defines headrace::detail::graph_text::value_names, the names of values in a graph's text.
#ifndef HEADRACE_IO_TEXT_NAMES_HPP
#define HEADRACE_IO_TEXT_NAMES_HPP

#include <cctype>
#include <cstdint>
#include <memory_resource>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/text.hpp>
#include <headrace/io/text/cursor.hpp>
#include <headrace/ir/node.hpp>

namespace headrace::detail::graph_text {

/// The names of the values of one graph: `%conv`; `%conv#1` for the next value of that name; `%#relu`,
/// `%#relu_1` for values without a name.
class value_names {
public:
    /// Names the values of a node; nodes must be added in the order in which they are printed.
    void add(const node& n) {
        auto& names = names_[&n];
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            std::pmr::string& name = names.emplace_back("%");
            const std::string_view own = n.results[i].name;
            if (own.empty()) {
                (name += '#') += label(*n.op);
                continue;
            }
            if (is_plain_name(own)) {
                name += own;
            } else {
                append_quoted(name, own);
            }
            if (const int others = counts_[own]++; others != 0) (name += '#') += number_text(others);
        }
    }
    [[nodiscard]] const std::pmr::string* find(value v) const {
        const auto known = v ? names_.find(v.producer) : names_.end();
        return known == names_.end() || v.result >= known->second.size() ? nullptr : &known->second[v.result];
    }

private:
    // Returns a new label for an op: "conv2d" for "aten.conv2d.default".
    std::pmr::string label(const op_info& op) {
        std::string_view text = op.name.substr(op.name.find('.') + 1);
        std::pmr::string base(text.substr(0, text.find('.')));
        for (char& c : base) {
            c = is_letter(c) || is_digit(c) ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
                                            : '_';
        }
        int& number = numbers_[base];
        std::pmr::string made = base;
        while (!labels_.insert(made).second) made = base + "_" + number_text(++number);
        return made;
    }

    std::unordered_map<const node*, pmr_vector<std::pmr::string>> names_;
    std::unordered_map<std::string_view, int> counts_;
    std::unordered_set<std::pmr::string> labels_;
    std::unordered_map<std::pmr::string, int> numbers_;
};

}  // namespace headrace::detail::graph_text

#endif
