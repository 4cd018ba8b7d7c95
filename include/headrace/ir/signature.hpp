// SPDX-License-Identifier: MIT
// Defines the annotations of what lies at the border of a graph: how the exported program names its outputs,
// what integers stand for, whether they have a sign, and in which order the axes of images are.
#ifndef HEADRACE_IR_SIGNATURE_HPP
#define HEADRACE_IR_SIGNATURE_HPP

#include <cstdint>
#include <string_view>

#include <headrace/base/lists.hpp>

namespace headrace {

/// Annotation of the output node: the exported name of each of its values, in order. Passes replace what
/// computes an output, and with it the name of the value; this one stays.
struct output_names {
    static constexpr bool inherited = false;
    list<std::string_view> names;
};

/// Annotation of a placeholder whose user gives real numbers: they are clamped to [lowest, highest] after
/// real / scale, rounded half to even, plus zero_point. A scale of 0 means that nothing is quantized.
struct interface_quantization {
    static constexpr bool inherited = false;
    double scale = 0;
    std::int64_t zero_point = 0;
    std::int64_t lowest = 0;
    std::int64_t highest = 0;
};

/// Annotation of the output node: the same for each of its values, in order.
struct output_quantizations {
    static constexpr bool inherited = false;
    list<interface_quantization> values;
};

/// Annotation of a placeholder whose elements are int8 to the graph and uint8, of the same bits, to its user.
struct unsigned_interface {
    static constexpr bool inherited = false;
};

/// Annotation of the output node: the positions of its values of which the same holds.
struct unsigned_outputs {
    static constexpr bool inherited = false;
    list<std::int64_t> positions;
};

/// Annotation of a placeholder, and of the output node for all its values: tensors of four axes are NHWC to
/// their user, not NCHW as they were exported.
struct channels_last_interface {
    static constexpr bool inherited = false;
    bool applied = false;  ///< the shapes say so already
};

}  // namespace headrace

#endif
