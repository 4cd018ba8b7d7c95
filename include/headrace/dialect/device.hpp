// SPDX-License-Identifier: MIT
// Defines the device dialect: layers, each computed by one kernel of a microcontroller.
#ifndef HEADRACE_DIALECT_DEVICE_HPP
#define HEADRACE_DIALECT_DEVICE_HPP

#include <headrace/op/op.hpp>

namespace headrace::device {

/// A layer holds a graph of TOSA operators, which says what it computes: a kernel reads `inputs`, keeps what
/// lies between the operators in registers, and stores the graph's one result. The graph has an operator that
/// names the layer, and element-wise ones after it; a reduction has them before it, too. Constants stay
/// outside and are inputs.
struct dialect;

// clang-format off: one line for an op wherever it fits

struct convolution : op<dialect, "device.convolution", "inputs, body"> {
    struct args {
        list<value> inputs;
        graph* body;
    };
};
struct product : op<dialect, "device.product", "inputs, body"> {
    struct args {
        list<value> inputs;
        graph* body;
    };
};
struct pooling : op<dialect, "device.pooling", "inputs, body"> {
    struct args {
        list<value> inputs;
        graph* body;
    };
};
struct reduction : op<dialect, "device.reduction", "inputs, body"> {
    struct args {
        list<value> inputs;
        graph* body;
    };
};
/// Element-wise operators alone: one loop.
struct elementwise : op<dialect, "device.elementwise", "inputs, body"> {
    struct args {
        list<value> inputs;
        graph* body;
    };
};

struct dialect : dialect_of<"device", convolution, product, pooling, reduction, elementwise> {
    static constexpr bool is_pure = true;
};

// clang-format on

}  // namespace headrace::device

#endif
