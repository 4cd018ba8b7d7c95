// SPDX-License-Identifier: MIT
// Defines the functions of headrace/quantization/quantization_config.hpp.

#include <headrace/quantization/quantization_config.hpp>

#include <algorithm>
#include <optional>
#include <string_view>

#include <headrace/ir/graph.hpp>
#include <headrace/partition/source_partitions.hpp>

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

bool fits_rule(const node& n, const quantization_rule& rule) {
    switch (rule.subject) {
        case quantization_rule::subject_type::op:
            return fits_pattern(n.op->name, rule.pattern);
        case quantization_rule::subject_type::name:
            return fits_pattern(origin_name(n), rule.pattern);
        case quantization_rule::subject_type::module:
            break;
    }
    const auto* stack = n.find_annotation<module_stack>();
    return stack != nullptr && std::ranges::any_of(module_frames(stack->text), [&](const module_frame& f) {
        return fits_pattern(f.path, rule.pattern);
    });
}

std::optional<op_scheme> scheme_of(const node& n, const quantization_config& config) {
    const auto last = std::find_if(config.rules.rbegin(), config.rules.rend(),
        [&](const quantization_rule& rule) { return fits_rule(n, rule); });
    return last == config.rules.rend() ? config.all : last->scheme;
}

}  // namespace headrace
