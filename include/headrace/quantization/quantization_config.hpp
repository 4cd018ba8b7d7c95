// SPDX-License-Identifier: MIT
// Defines headrace::quantization_config, which says which parts of a model are quantized, and how.
#ifndef HEADRACE_QUANTIZATION_QUANTIZATION_CONFIG_HPP
#define HEADRACE_QUANTIZATION_QUANTIZATION_CONFIG_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/ir/node.hpp>
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
    std::string pattern;              ///< matches the whole name or path; * stands for any characters
    std::optional<op_scheme> scheme;  ///< none: the nodes stay float
};

struct quantization_config {
    op_scheme all{};
    std::vector<quantization_rule> rules{};  ///< the last rule that matches a node applies
    bool keep_branches = false;              ///< leave out merge_linear_maps
    bool merge_branches = false;             ///< merge also sums that lose accuracy by that
    bool equalize = false;                   ///< run equalize_layers before
    bool smooth = false;                     ///< run smooth_layers before
    bool correct_biases = false;             ///< run correct_biases after
};

/// True if `text` matches a pattern in which * stands for any characters.
[[nodiscard]] bool fits_pattern(std::string_view text, std::string_view pattern);

/// True if a rule applies to a node. The pattern of a module is matched against the path of each module that
/// the node is in, as in named_modules: `head` is all that is in that module, `head.0` one part of it.
[[nodiscard]] bool fits_rule(const node& n, const quantization_rule& rule);

/// Returns how a node is quantized; nothing if it is to stay float.
[[nodiscard]] std::optional<op_scheme> scheme_of(const node& n, const quantization_config& config);

}  // namespace headrace

#endif
