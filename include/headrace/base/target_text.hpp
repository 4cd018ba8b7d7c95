// SPDX-License-Identifier: MIT
// Defines headrace::target_text, which writes the form that headrace::parse_target reads.
#ifndef HEADRACE_BASE_TARGET_TEXT_HPP
#define HEADRACE_BASE_TARGET_TEXT_HPP

#include <string>

#include <headrace/base/target_spec.hpp>

namespace headrace {

/// Returns `TOSA-1.0+INT+int16`, with the features in the order of target_feature_names.
[[nodiscard]] inline std::string target_text(const target_spec& target) {
    std::string text = "TOSA-1.0";
    for (const target_feature_name& n : target_feature_names) {
        if (target.has(n.feature)) (text += '+') += n.spelling;
    }
    return text;
}

}  // namespace headrace

#endif
