// SPDX-License-Identifier: MIT
// Declares headrace::read_quantization_config, and the words that name quantization schemes in options.
#ifndef HEADRACE_IO_TEXT_QUANTIZATION_CONFIG_READER_HPP
#define HEADRACE_IO_TEXT_QUANTIZATION_CONFIG_READER_HPP

#include <cstddef>
#include <span>
#include <string_view>

#include <headrace/base/result.hpp>
#include <headrace/quantization/quantization_config.hpp>

namespace headrace {

/// Sets the observer: "histogram", "min-max", "moving-average", "percentile", "mse". The ranges of weights do
/// not change.
[[nodiscard]] result<void> set_observer(op_scheme& scheme, std::string_view word);

/// Sets the type of activations: "int8" is affine; "int8-symmetric"; "int16" is symmetric, with the smallest
/// scale of PyTorch's quantizer.
[[nodiscard]] result<void> set_activations(op_scheme& scheme, std::string_view word);

/// Sets the range of weights: "int8" is -127 to 127; "int4" is -7 to 7, in bytes.
[[nodiscard]] result<void> set_weights(op_scheme& scheme, std::string_view word);

/// Reads the configuration of a quantization (JSON), on top of `config`:
///
///     {"activations": "int8", "weights": "int8", "observer": "histogram", "per_channel": true,
///      "rules": [{"module": "head.*", "activations": "int16"}, {"op": "aten.softmax.int", "float": true}]}
///
/// Errors do not name the file.
[[nodiscard]] result<quantization_config> read_quantization_config(
    std::span<const std::byte> json, quantization_config config = {});

}  // namespace headrace

#endif
