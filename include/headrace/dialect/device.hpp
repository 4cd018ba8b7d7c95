// SPDX-License-Identifier: MIT
// Defines the device dialect: layers, each computed by one kernel of a microcontroller.
#ifndef HEADRACE_DIALECT_DEVICE_HPP
#define HEADRACE_DIALECT_DEVICE_HPP

#include <headrace/op/op.hpp>

namespace headrace::device {

/// A layer holds a graph of TOSA operators that defines its result. The kernel reads `inputs`, keeps
/// intermediate values in registers, and stores the graph's one result. The graph has one operator that names
/// the layer, and elementwise operators after it; a reduction may have them before it, too. Constants are
/// inputs.
struct dialect;

// One line for an op wherever it fits.
// clang-format off

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
/// Only elementwise operators: one loop.
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
