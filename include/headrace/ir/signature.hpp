// SPDX-License-Identifier: MIT
// Defines annotations of a graph's inputs and outputs: exported names of outputs, quantization, signedness,
// and the layout of images.
#ifndef HEADRACE_IR_SIGNATURE_HPP
#define HEADRACE_IR_SIGNATURE_HPP

#include <cstdint>
#include <string_view>

#include <headrace/base/lists.hpp>

namespace headrace {

/// Annotation of the output node: the exported name of each of its values, in order. It stays when passes
/// replace the node that computes an output, and with it the name of the value.
struct output_names {
    static constexpr bool inherited = false;
    list<std::string_view> names;
};

/// Annotation of a placeholder whose user provides real numbers: the input is real / scale, rounded half to
/// even, plus zero_point, clamped to [lowest, highest]. A scale of 0 means that it is not quantized.
struct signature_quantization {
    static constexpr bool inherited = false;
    double scale = 0;
    std::int64_t zero_point = 0;
    std::int64_t lowest = 0;
    std::int64_t highest = 0;
};

/// Annotation of the output node: the quantization of each of its values, in order.
struct output_quantizations {
    static constexpr bool inherited = false;
    list<signature_quantization> values;
};

/// Annotation of a placeholder: its elements are int8 in the graph and uint8, of the same bits, for its user.
struct unsigned_input {
    static constexpr bool inherited = false;
};

/// Annotation of the output node: the indices of values that are int8 in the graph and uint8 for their user.
struct unsigned_outputs {
    static constexpr bool inherited = false;
    list<std::int64_t> positions;
};

/// Annotation of a placeholder, or of the output node for all its values: tensors of rank 4 are NHWC for
/// their user, not NCHW as exported.
struct channels_last_signature {
    static constexpr bool inherited = false;
    bool applied = false;  ///< the shapes are NHWC already
};

}  // namespace headrace

#endif
