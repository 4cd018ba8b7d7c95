// SPDX-License-Identifier: MIT
// Defines the functions of headrace/quantization/quantization_config.hpp.

#include <headrace/quantization/quantization_config.hpp>

#include <optional>
#include <string_view>

#include <headrace/base/text.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

bool fits_pattern(std::string_view text, std::string_view pattern) {
    std::size_t at = 0;
    std::size_t next = 0;
    std::size_t star = std::string_view::npos;
    std::size_t resume = 0;
    while (at != text.size()) {
        if (next != pattern.size() && pattern[next] == '*') {
            star = next++;
            resume = at;
        } else if (next != pattern.size() && pattern[next] == text[at]) {
            ++next;
            ++at;
        } else if (star != std::string_view::npos) {
            next = star + 1;
            at = ++resume;
        } else {
            return false;
        }
    }
    while (next != pattern.size() && pattern[next] == '*') ++next;
    return next == pattern.size();
}

std::optional<op_scheme> scheme_of(const node& n, const quantization_config& config) {
    const auto* stack = n.find_annotation<module_stack>();
    for (std::size_t i = config.rules.size(); i-- != 0;) {
        const quantization_rule& rule = config.rules[i];
        bool fits = false;
        switch (rule.subject) {
            case quantization_rule::subject_type::op:
                fits = fits_pattern(n.op->name, rule.pattern);
                break;
            case quantization_rule::subject_type::name:
                fits = fits_pattern(origin_name(n), rule.pattern);
                break;
            case quantization_rule::subject_type::module:
                fits = stack != nullptr && fits_pattern(stack->text, text_of({"*", rule.pattern, "*"}));
                break;
        }
        if (fits) return rule.scheme;
    }
    return config.all;
}
}  // namespace headrace
