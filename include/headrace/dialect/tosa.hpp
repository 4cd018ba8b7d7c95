// SPDX-License-Identifier: MIT
// Defines the tosa dialect: the operators of TOSA 1.0, numbered as its flatbuffer numbers them.
#ifndef HEADRACE_DIALECT_TOSA_HPP
#define HEADRACE_DIALECT_TOSA_HPP

#include <cstdint>
#include <string_view>

#include <headrace/op/op.hpp>

namespace headrace::tosa {

/// A tag is the operator's name in the TOSA 1.0 specification (chapter 2) in lower case; CONST is const_.
/// Members are the tensor and shape operands in the order of the specification, then the attributes in the
/// order of the flatbuffer, with its names.
///
/// Some members are not in the flatbuffer's attribute table, because it stores them elsewhere (see
/// is_attribute). `output_type` is the type of the output tensor if the operands do not determine it. A
/// CONST's `data` is in its tensor, a CONST_SHAPE's `values` are in its shape, and a VARIABLE's members are
/// in the tensors of its name.
///
/// Shape operands are values like others: results of const_shape. A variable starts undefined if its
/// initial_value has no bytes.
struct dialect;
using enum trait;

// One line for an op wherever it fits.
// clang-format off

// Tensor operators (spec section 2.2).

struct argmax : op<dialect, "tosa.ARGMAX", "input, axis, nan_mode", reduction, locating, has_out> {
    struct args {
        value input; std::int64_t axis; headrace::nan_mode nan_mode = headrace::nan_mode::propagate;
    };
};
struct avg_pool2d : op<dialect, "tosa.AVG_POOL2D",
         "input, input_zp, output_zp, kernel, stride, pad, acc_type", pooling, has_out> {
    struct args { value input, input_zp, output_zp; int_list kernel, stride, pad; headrace::dtype acc_type; };
};
struct conv2d : op<dialect, "tosa.CONV2D",
         "input, weight, bias, input_zp, weight_zp, pad, stride, dilation, local_bound, acc_type", convolving,
         has_out> {
    struct args {
        value input, weight, bias, input_zp, weight_zp; int_list pad, stride, dilation;
        bool local_bound = false; headrace::dtype acc_type;
    };
};
struct conv3d : op<dialect, "tosa.CONV3D",
         "input, weight, bias, input_zp, weight_zp, pad, stride, dilation, local_bound, acc_type", convolving,
         has_out> {
    struct args {
        value input, weight, bias, input_zp, weight_zp; int_list pad, stride, dilation;
        bool local_bound = false; headrace::dtype acc_type;
    };
};
struct depthwise_conv2d : op<dialect, "tosa.DEPTHWISE_CONV2D",
         "input, weight, bias, input_zp, weight_zp, pad, stride, dilation, local_bound, acc_type", convolving,
         has_out> {
    struct args {
        value input, weight, bias, input_zp, weight_zp; int_list pad, stride, dilation;
        bool local_bound = false; headrace::dtype acc_type;
    };
};
struct fft2d : op<dialect, "tosa.FFT2D", "input_real, input_imag, inverse, local_bound", 2, has_out> {
    struct args { value input_real, input_imag; bool inverse = false, local_bound = false; };
};
struct matmul : op<dialect, "tosa.MATMUL", "a, b, a_zp, b_zp, output_type", matrix_product, has_out> {
    struct args { value a, b, a_zp, b_zp; headrace::dtype output_type; };
};
struct max_pool2d : op<dialect, "tosa.MAX_POOL2D", "input, kernel, stride, pad, nan_mode", pooling, has_out> {
    struct args {
        value input; int_list kernel, stride, pad;
        headrace::nan_mode nan_mode = headrace::nan_mode::propagate;
    };
};
struct rfft2d : op<dialect, "tosa.RFFT2D", "input_real, local_bound", 2, has_out> {
    struct args { value input_real; bool local_bound = false; };
};
struct transpose_conv2d : op<dialect, "tosa.TRANSPOSE_CONV2D",
         "input, weight, bias, input_zp, weight_zp, out_pad, stride, local_bound, acc_type",
         convolving, transposed, has_out> {
    struct args {
        value input, weight, bias, input_zp, weight_zp; int_list out_pad, stride; bool local_bound = false;
        headrace::dtype acc_type;
    };
};

// Activation functions (2.3).

struct clamp : op<dialect, "tosa.CLAMP", "input, min_val, max_val, nan_mode", unary, has_out> {
    struct args {
        value input; scalar min_val, max_val; headrace::nan_mode nan_mode = headrace::nan_mode::propagate;
    };
};
struct erf : op<dialect, "tosa.ERF", "input", unary, has_out> { struct args { value input; }; };
struct sigmoid : op<dialect, "tosa.SIGMOID", "input", unary, has_out> { struct args { value input; }; };
struct tanh : op<dialect, "tosa.TANH", "input", unary, has_out> { struct args { value input; }; };

// Elementwise operators of two and three operands (2.4, 2.6).

struct add : op<dialect, "tosa.ADD", "input1, input2", binary, commutative, has_out> {
    struct args { value input1, input2; };
};
struct arithmetic_right_shift : op<dialect, "tosa.ARITHMETIC_RIGHT_SHIFT",
         "input1, input2, round", binary, has_out> {
    struct args { value input1, input2; bool round = false; };
};
struct bitwise_and : op<dialect, "tosa.BITWISE_AND", "input1, input2", binary, commutative, has_out> {
    struct args { value input1, input2; };
};
struct bitwise_or : op<dialect, "tosa.BITWISE_OR", "input1, input2", binary, commutative, has_out> {
    struct args { value input1, input2; };
};
struct bitwise_xor : op<dialect, "tosa.BITWISE_XOR", "input1, input2", binary, commutative, has_out> {
    struct args { value input1, input2; };
};
struct intdiv : op<dialect, "tosa.INTDIV", "input1, input2", binary, has_out> {
    struct args { value input1, input2; };
};
struct logical_and : op<dialect, "tosa.LOGICAL_AND",
         "input1, input2", binary, predicate, commutative, has_out> {
    struct args { value input1, input2; };
};
struct logical_left_shift : op<dialect, "tosa.LOGICAL_LEFT_SHIFT", "input1, input2", binary, has_out> {
    struct args { value input1, input2; };
};
struct logical_right_shift : op<dialect, "tosa.LOGICAL_RIGHT_SHIFT", "input1, input2", binary, has_out> {
    struct args { value input1, input2; };
};
struct logical_or : op<dialect, "tosa.LOGICAL_OR",
         "input1, input2", binary, predicate, commutative, has_out> {
    struct args { value input1, input2; };
};
struct logical_xor : op<dialect, "tosa.LOGICAL_XOR",
         "input1, input2", binary, predicate, commutative, has_out> {
    struct args { value input1, input2; };
};
struct maximum : op<dialect, "tosa.MAXIMUM", "input1, input2, nan_mode", binary, commutative, has_out> {
    struct args { value input1, input2; headrace::nan_mode nan_mode = headrace::nan_mode::propagate; };
};
struct minimum : op<dialect, "tosa.MINIMUM", "input1, input2, nan_mode", binary, commutative, has_out> {
    struct args { value input1, input2; headrace::nan_mode nan_mode = headrace::nan_mode::propagate; };
};
struct mul : op<dialect, "tosa.MUL", "input1, input2, shift", binary, commutative, has_out> {
    struct args { value input1, input2, shift; };
};
struct pow : op<dialect, "tosa.POW", "input1, input2", binary, has_out> {
    struct args { value input1, input2; };
};
struct sub : op<dialect, "tosa.SUB", "input1, input2", binary, has_out> {
    struct args { value input1, input2; };
};
struct table : op<dialect, "tosa.TABLE", "input1, table", unary, has_out> {
    struct args { value input1, table; };
};

// Elementwise operators of one operand (2.5).

struct abs : op<dialect, "tosa.ABS", "input1", unary, has_out> { struct args { value input1; }; };
struct bitwise_not : op<dialect, "tosa.BITWISE_NOT", "input1", unary, has_out> {
    struct args { value input1; };
};
struct ceil : op<dialect, "tosa.CEIL", "input1", unary, has_out> { struct args { value input1; }; };
struct clz : op<dialect, "tosa.CLZ", "input1", unary, has_out> { struct args { value input1; }; };
struct cos : op<dialect, "tosa.COS", "input1", unary, has_out> { struct args { value input1; }; };
struct exp : op<dialect, "tosa.EXP", "input1", unary, has_out> { struct args { value input1; }; };
struct floor : op<dialect, "tosa.FLOOR", "input1", unary, has_out> { struct args { value input1; }; };
struct log : op<dialect, "tosa.LOG", "input1", unary, has_out> { struct args { value input1; }; };
struct logical_not : op<dialect, "tosa.LOGICAL_NOT", "input1", unary, predicate, has_out> {
    struct args { value input1; };
};
struct negate : op<dialect, "tosa.NEGATE", "input1, input1_zp, output_zp", unary, has_out> {
    struct args { value input1, input1_zp, output_zp; };
};
struct reciprocal : op<dialect, "tosa.RECIPROCAL", "input1", unary, has_out> {
    struct args { value input1; };
};
struct rsqrt : op<dialect, "tosa.RSQRT", "input1", unary, has_out> { struct args { value input1; }; };
struct sin : op<dialect, "tosa.SIN", "input1", unary, has_out> { struct args { value input1; }; };

// Selection and comparison (2.6, 2.7).

struct select : op<dialect, "tosa.SELECT", "input1, input2, input3", ternary, has_out> {
    struct args { value input1, input2, input3; };
};
struct equal : op<dialect, "tosa.EQUAL",
         "input1, input2", comparing, binary, predicate, commutative, has_out> {
    struct args { value input1, input2; };
};
struct greater : op<dialect, "tosa.GREATER", "input1, input2", comparing, binary, predicate, has_out> {
    struct args { value input1, input2; };
};
struct greater_equal : op<dialect, "tosa.GREATER_EQUAL",
         "input1, input2", comparing, binary, predicate, has_out> {
    struct args { value input1, input2; };
};

// Reductions (2.8).

struct reduce_all : op<dialect, "tosa.REDUCE_ALL", "input, axis", reduction, has_out> {
    struct args { value input; std::int64_t axis; };
};
struct reduce_any : op<dialect, "tosa.REDUCE_ANY", "input, axis", reduction, has_out> {
    struct args { value input; std::int64_t axis; };
};
struct reduce_max : op<dialect, "tosa.REDUCE_MAX", "input, axis, nan_mode", reduction, has_out> {
    struct args {
        value input; std::int64_t axis; headrace::nan_mode nan_mode = headrace::nan_mode::propagate;
    };
};
struct reduce_min : op<dialect, "tosa.REDUCE_MIN", "input, axis, nan_mode", reduction, has_out> {
    struct args {
        value input; std::int64_t axis; headrace::nan_mode nan_mode = headrace::nan_mode::propagate;
    };
};
struct reduce_product : op<dialect, "tosa.REDUCE_PRODUCT", "input, axis", reduction, has_out> {
    struct args { value input; std::int64_t axis; };
};
struct reduce_sum : op<dialect, "tosa.REDUCE_SUM", "input, axis", reduction, has_out> {
    struct args { value input; std::int64_t axis; };
};

// Data layout (2.9).

struct concat : op<dialect, "tosa.CONCAT", "input1, axis", joining, has_out> {
    struct args { list<value> input1; std::int64_t axis; };
};
struct pad : op<dialect, "tosa.PAD", "input1, padding, pad_const", padding, has_out> {
    struct args { value input1, padding, pad_const; };
};
struct reshape : op<dialect, "tosa.RESHAPE", "input1, shape", reshaping, aliasing> {
    struct args { value input1, shape; };
};
struct reverse : op<dialect, "tosa.REVERSE", "input1, axis", reversing, has_out> {
    struct args { value input1; std::int64_t axis; };
};
struct slice : op<dialect, "tosa.SLICE", "input1, start, size", slicing, has_out> {
    struct args { value input1, start, size; };
};
struct tile : op<dialect, "tosa.TILE", "input1, multiples", repeating, has_out> {
    struct args { value input1, multiples; };
};
struct transpose : op<dialect, "tosa.TRANSPOSE", "input1, perms", permuting, has_out> {
    struct args { value input1; int_list perms; };
};

// Scatter, gather and image operators (2.10, 2.11).

struct gather : op<dialect, "tosa.GATHER", "values, indices", gathering, has_out> {
    struct args { value values, indices; };
};
struct scatter : op<dialect, "tosa.SCATTER", "values_in, indices, input", has_out> {
    struct args { value values_in, indices, input; };
};
struct resize : op<dialect, "tosa.RESIZE", "input, scale, offset, border, mode", resampling, has_out> {
    struct args { value input, scale, offset, border; resize_mode mode; };
};

// Type conversion (2.12).

struct cast : op<dialect, "tosa.CAST", "input, output_type", unary, casting, has_out> {
    struct args { value input; headrace::dtype output_type; };
};
struct rescale : op<dialect, "tosa.RESCALE",
         "input, multiplier, shift, input_zp, output_zp, scale32, rounding_mode, per_channel, "
         "input_unsigned, output_unsigned", unary, per_reader, has_out> {
    struct args {
        value input, multiplier, shift, input_zp, output_zp; bool scale32 = true;
        headrace::rounding_mode rounding_mode = headrace::rounding_mode::single_round;
        bool per_channel = false, input_unsigned = false, output_unsigned = false;
    };
};

// Data nodes and custom operators (2.13, 2.14).

struct const_ : op<dialect, "tosa.CONST", "data"> { struct args { tensor_data data; }; };
struct identity : op<dialect, "tosa.IDENTITY", "input1", unary, impure, has_out> {
    struct args { value input1; };
};
struct custom : op<dialect, "tosa.CUSTOM",
         "inputs, operator_name, domain_name, implementation_attrs", variadic_results, impure> {
    struct args { list<value> inputs; std::string_view operator_name, domain_name, implementation_attrs{}; };
};

// Control flow and variables (2.15, 2.16).

struct cond_if : op<dialect, "tosa.COND_IF", "condition, inputs, then_graph, else_graph", variadic_results> {
    struct args { value condition; list<value> inputs; graph* then_graph; graph* else_graph; };
};
struct while_loop : op<dialect, "tosa.WHILE_LOOP", "inputs, cond_graph, body_graph", variadic_results> {
    struct args { list<value> inputs; graph* cond_graph; graph* body_graph; };
};
struct variable : op<dialect, "tosa.VARIABLE", "variable_name, shape, type, initial_value", 0> {
    struct args {
        std::string_view variable_name; int_list shape; headrace::dtype type;
        tensor_data initial_value{};
    };
};
struct variable_write : op<dialect, "tosa.VARIABLE_WRITE", "input1, variable_name", 0> {
    struct args { value input1; std::string_view variable_name; };
};
struct variable_read : op<dialect, "tosa.VARIABLE_READ", "variable_name, shape, output_type", impure> {
    struct args { std::string_view variable_name; int_list shape; headrace::dtype output_type; };
};

// Shape operators (2.17).

struct const_shape : op<dialect, "tosa.CONST_SHAPE", "values"> { struct args { int_list values; }; };

struct dialect : dialect_of<"tosa",
      argmax, avg_pool2d, conv2d, conv3d, depthwise_conv2d, fft2d, matmul, max_pool2d, rfft2d,
      transpose_conv2d, clamp, erf, sigmoid, tanh, add, arithmetic_right_shift, bitwise_and, bitwise_or,
      bitwise_xor, intdiv, logical_and, logical_left_shift, logical_right_shift, logical_or,
      logical_xor, maximum, minimum, mul, pow, sub, table, abs, bitwise_not, ceil, clz, cos, exp, floor,
      log, logical_not, negate, reciprocal, rsqrt, sin, select, equal, greater, greater_equal,
      reduce_all, reduce_any, reduce_max, reduce_min, reduce_product, reduce_sum, concat, pad, reshape,
      reverse, slice, tile, transpose, gather, scatter, resize, cast, rescale, const_, identity, custom,
      cond_if, while_loop, variable, variable_write, variable_read, const_shape> {
    static constexpr bool is_pure = true;
};

// clang-format on

/// Returns an operator's number in the flatbuffer: that of its Op, and of its attribute table in the union.
[[nodiscard]] constexpr std::uint32_t number_of(const op_info& op) { return op.index + 1U; }

/// True if a member of an argument struct is in the flatbuffer's attribute table of that op. Its slot is its
/// index among the members that are.
[[nodiscard]] constexpr bool is_attribute(const op_info& op, const field_info& field) {
    switch (field.kind) {
        case field_kind::tensor:
        case field_kind::tensors:
        case field_kind::data:
            return false;
        default:
            break;
    }
    if (field.name == "output_type") return false;
    const auto is_any = [&]<class... Ops>(ops<Ops...>) { return ((op.index == index_of<Ops>) || ...); };
    return !is_any(ops<const_shape, variable, variable_read, variable_write>{});  // these have empty tables
}

/// All operators of TOSA 1.0. target/tosa_legality.hpp lists those that a target takes.
namespace v1_0 {
using ops = dialect::all_ops;
}

}  // namespace headrace::tosa

#endif
