// SPDX-License-Identifier: MIT
// Defines headrace::quantization_config, which says which parts of a model are quantized, and how.
#ifndef HEADRACE_QUANTIZATION_QUANTIZATION_CONFIG_HPP
#define HEADRACE_QUANTIZATION_QUANTIZATION_CONFIG_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/base/text.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/quantization/tensor_scheme.hpp>

namespace headrace {

/// How the tensors of an op are quantized. The scheme of biases follows from the other two.
struct op_scheme {
    tensor_scheme activation{};
    tensor_scheme weight{.lowest = -127,
        .highest = 127,
        .symmetric = true,
        .per_channel = true,
        .observer = observer_kind::min_max};
};

/// An exception for some nodes.
struct quantization_rule {
    enum class subject_type : std::uint8_t { op, name, module };
    subject_type subject = subject_type::name;
    std::string pattern;              ///< matches the whole text; * stands for any characters
    std::optional<op_scheme> scheme;  ///< none: the nodes stay float
};

struct quantization_config {
    op_scheme all{};
    std::vector<quantization_rule> rules{};  ///< the last rule that matches a node applies
    bool equalize = false;                   ///< run equalize_layers before
    bool smooth = false;                     ///< run smooth_layers before
    bool correct_biases = false;             ///< run correct_biases after
};

/// True if `text` matches a pattern in which * stands for any characters.
[[nodiscard]] inline bool fits_pattern(std::string_view text, std::string_view pattern) {
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

/// Returns how a node is quantized; nothing if it is to stay float. A module pattern is matched against the
/// paths of the modules that the node comes from.
[[nodiscard]] inline std::optional<op_scheme> scheme_of(const node& n, const quantization_config& config) {
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

#endif
