// SPDX-License-Identifier: MIT
// Defines headrace::u55::restriction, the reason why Ethos-U55 cannot execute a node.
#ifndef HEADRACE_TARGET_U55_VERIFY_HPP
#define HEADRACE_TARGET_U55_VERIFY_HPP

#include <memory_resource>
#include <string>

#include <headrace/base/text.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/target/node_facts.hpp>
#include <headrace/target/u55_rules.hpp>

namespace headrace::u55 {

namespace detail {

// Returns the text that follows "Ethos-U55 has no CONV2D".
[[nodiscard]] inline std::pmr::string clause_of(u55_limit limit, const op_facts& f) {
    const op_attributes& a = f.attributes;
    switch (limit) {
        case u55_limit::none:
        case u55_limit::op:
            return {};
        case u55_limit::booleans:
            return "of booleans";
        case u55_limit::floats:
            return "of floating-point numbers";
        case u55_limit::other_than_int8:
            return "of types other than INT8";
        case u55_limit::other_than_int32:
            return "of types other than INT32";
        case u55_limit::int32:
            return "of INT32";
        case u55_limit::fewer_bits:
            return "to fewer bits";
        case u55_limit::int48_source:
            return "of INT48 except after a convolution";
        case u55_limit::int16_without_rescale:
            return "of INT16 that no RESCALE follows";
        case u55_limit::computed_weight:
            return "with a computed weight or bias";
        case u55_limit::channels:
            return "of more than 65536 channels";
        case u55_limit::kernel_window:
            return text_of({"with a window of ", kernel_of(f)[0], " x ", kernel_of(f)[1],
                " (at most 64 rows and 4096 elements)"});
        case u55_limit::kernel_depth:
            return "with a window of more than one element in depth";
        case u55_limit::weight_sum:
            return "whose absolute weights add up to more than 127 * 65536";
        case u55_limit::bias_bits:
            return "with a bias of more than 40 bits";
        case u55_limit::stride:
            return f.is<tosa::depthwise_conv2d>() ? "with a stride above 3"
                                                  : "with a stride above 3 together with padding or dilation";
        case u55_limit::transposed_stride:
            return "with strides other than 1 and 2, equal on both axes";
        case u55_limit::pool_window:
            return text_of({"with a window of ", shape_text(a.kernel), ", stride ", shape_text(a.stride),
                " and padding ", shape_text(a.pad)});
        case u55_limit::axis_size:
            return "of an axis of more than 65536 elements";
        case u55_limit::argmax:
            return "except of up to 127 channels of one image";
        case u55_limit::resize:
            return "except to the nearest element of one image, by 2, 4 or 8";
        case u55_limit::transpose:
            return text_of({"of ", shape_text(f.operand(0).shape), ", which it cannot address"});
        case u55_limit::reverse_axis:
            return "except along an image's height or width";
        case u55_limit::sum_extent:
            return "with more than 65536 elements before or after the axis";
        case u55_limit::shift_without_rounding:
            return "that does not round";
    }
    return {};
}

}  // namespace detail

/// Returns why Ethos-U55 cannot execute an operator of the tosa dialect; empty if it can.
[[nodiscard]] inline std::pmr::string restriction(const op_facts& facts) {
    const u55_limit limit = violated(facts);
    if (limit == u55_limit::none) return {};
    const std::pmr::string clause = detail::clause_of(limit, facts);
    return text_of({"Ethos-U55 has no ", facts.op->name.substr(5), clause.empty() ? "" : " ", clause});
}
/// Returns why Ethos-U55 cannot execute a node whose metadata is complete; empty if it can.
[[nodiscard]] inline std::pmr::string restriction(const node& n) { return restriction(facts_of(n)); }

}  // namespace headrace::u55

#endif
