// SPDX-License-Identifier: MIT
// Defines the annotations of a graph's states, which are inputs and outputs.
#ifndef HEADRACE_IR_STATE_HPP
#define HEADRACE_IR_STATE_HPP

#include <string_view>

#include <headrace/base/lists.hpp>
#include <headrace/op/fields.hpp>

namespace headrace {

/// Annotation of a placeholder that takes the old value of a state: the state's name.
struct input_state {
    static constexpr bool inherited = false;
    std::string_view name;
};

/// Annotation of a placeholder that takes the old value of a state: the value before the first execution.
struct first_value {
    static constexpr bool inherited = false;
    tensor_data data;
};

/// Annotation of the output node: the state that each of its values updates, or an empty name.
struct output_states {
    static constexpr bool inherited = false;
    list<std::string_view> names;
};

}  // namespace headrace

#endif
