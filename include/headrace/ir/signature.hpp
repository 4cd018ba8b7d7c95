// SPDX-License-Identifier: MIT
// Defines headrace::output_names, how the exported program names its outputs.
#ifndef HEADRACE_IR_SIGNATURE_HPP
#define HEADRACE_IR_SIGNATURE_HPP

#include <string_view>

#include <headrace/op/lists.hpp>

namespace headrace {

/// Annotation of the output node: the exported name of each of its values, in order. Passes replace what
/// computes an output, and with it the name of the value; this one stays.
struct output_names {
    static constexpr bool inherited = false;
    list<std::string_view> names;
};

}  // namespace headrace

#endif
