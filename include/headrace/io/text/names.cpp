// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/text/names.hpp.

#include <headrace/io/text/names.hpp>

#include <cctype>
#include <cstdint>
#include <string>
#include <string_view>

#include <headrace/base/text.hpp>
#include <headrace/io/text/cursor.hpp>
#include <headrace/ir/node.hpp>

namespace headrace::text {

void value_names::add(const node& n) {
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

const std::pmr::string* value_names::find(value v) const {
    const auto known = v ? names_.find(v.producer) : names_.end();
    return known == names_.end() || v.result >= known->second.size() ? nullptr : &known->second[v.result];
}

std::pmr::string value_names::label(const op_info& op) {
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

}  // namespace headrace::text
