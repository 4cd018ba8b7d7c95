// SPDX-License-Identifier: MIT
// Defines how constants and quantization parameters are written on one line.
#ifndef HEADRACE_SHOW_LITERALS_HPP
#define HEADRACE_SHOW_LITERALS_HPP

#include <optional>
#include <string>

#include <headrace/base/strings.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/passes/quantize/quantization.hpp>

namespace headrace::detail {

[[nodiscard]] inline bool is_constant_node(const node& n) {
    return is<builtin::constant>(n) || is<tosa::const_>(n) || is<tosa::const_shape>(n);
}

/// Returns "[1, 16]", or "0.5" for a tensor of rank 0; nothing for tensors with many elements, or with
/// several axes of more than one.
[[nodiscard]] std::optional<std::string> literal_of(const node& n);

/// Returns "<0.05, -3>" or "<0.001..0.02, axis 0>".
[[nodiscard]] std::string format_parameters(const quantization& q);

}  // namespace headrace::detail

#endif
