// SPDX-License-Identifier: MIT
// Declares headrace::firmware::format_header, which formats the header of a model.
#ifndef HEADRACE_FIRMWARE_HEADER_TEXT_HPP
#define HEADRACE_FIRMWARE_HEADER_TEXT_HPP

#include <span>
#include <string>
#include <string_view>

#include <headrace/firmware/header.hpp>

namespace headrace::firmware {

/// Returns the header's text. `sample` defines the arrays of a self-test, `sample_outputs` names those of its
/// outputs; both are empty without one.
[[nodiscard]] std::string format_header(const header_options& options, const model_header& model,
    std::string_view sample, std::span<const std::string> sample_outputs);

}  // namespace headrace::firmware

#endif
