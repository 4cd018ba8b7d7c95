// SPDX-License-Identifier: MIT
// Defines the properties by which the passes state their order, and the phases whose passes share them.
#ifndef HEADRACE_PASSES_PROPERTIES_HPP
#define HEADRACE_PASSES_PROPERTIES_HPP

#include <headrace/pass/order.hpp>

namespace headrace {

// Of exported programs.

/// Regions that only say whether gradients are recorded are part of the graph that calls them.
struct regions_inlined : property {};
/// Constants that branches and loops read are constants of the regions themselves.
struct constants_in_regions : property {};
/// Each node reads the value that it means: writes in place change nothing that another node reads.
struct functional : property {};
/// Each op has one name: no in-place form, no `_copy` form of a view and no synonym is left.
struct canonical_variants : property {};
/// Reversed subtraction, squares and remainders of numbers are spelled as sub, pow and remainder.
struct canonical_arithmetic : property {};
/// Every cast is `aten._to_copy` with a dtype and nothing else.
struct canonical_casts : property {};
/// Every tensor of equal elements is `aten.full` with a shape and a dtype.
struct canonical_fills : property {};
/// No op gives its operand back as it is: no copy, no dropout, no cast to the same type.
struct noops_removed : property {};
/// Arithmetic with numbers takes constant tensors: no `.Scalar` form of it is left.
struct tensor_operands : property {};
/// Nothing computes with uint8: its elements are moved, masked or cast alone.
struct unsigned_widened : property {};
/// `aten.add` and `aten.sub` add and subtract once: their `alpha` is 1, and later passes do not read it.
struct unit_alpha : property {};
/// A convolution is `aten.convolution` over a batch, with all its lists at full length.
struct canonical_convolutions : property {};
/// A pooling has a batch and two spatial axes: [N, C, H, W].
struct canonical_pooling : property {};

// Of quantized programs.

/// Quantization parameters are numbers, and quantized values of 8 bits are signed.
struct canonical_quantization : property {};
/// What a quantizer repeats for each reader is one node.
struct quantizers_merged : property {};
/// An elementwise function between two quantized tensors is a TABLE.
struct functions_tabulated : property {};
/// Quantized values that follow from constants are constants.
struct quantized_constants_folded : property {};
/// What quantized ops compute is computed with integers, as far as it can be.
struct quantized_ops_lowered : property {};
/// Inputs and outputs that the caller quantizes are integers.
struct interface_quantized : property {};
/// No quantize and no dequantize is left.
struct quantization_lowered : property {};

// On the way to TOSA.

/// No value is int64 or float64. Before, types are PyTorch's, and promotion depends on them.
struct narrow_types : property {};
/// No value is uint8: its bits are those of int8.
struct signed_types : property {};
/// What follows from constants is a constant, unless that would take more memory than it saves.
struct constants_folded : property {};
/// Each op is computed in the layout with which the whole graph moves the fewest bytes.
struct layouts_chosen : property {};
/// An output or an effect depends on every node.
struct no_dead_code : property {};
/// Equal computations are one node, RESCALEs aside.
struct duplicates_merged : property {};
/// Each output is a tensor of its own: no input, no constant and no other output.
struct distinct_outputs : property {};
/// The order of nodes follows from the edges alone, whatever compiler built the passes.
struct nodes_sorted : property {};

/// From compound ATen ops to simple ones. Types are still PyTorch's, and quantized ops are found in what this
/// leaves.
struct decomposition {
    using runs_after = pass_list<functional, canonical_variants>;
    using runs_before = pass_list<quantized_ops_lowered, narrow_types>;
    using invalidates = pass_list<quantized_constants_folded, constants_folded, no_dead_code,
                                  duplicates_merged, nodes_sorted>;
};
/// Decomposition of elementwise functions, after tables have been made of those that are quantized: they are
/// found while they consist of the model's own ops.
struct function_decomposition {
    using runs_after = pass_list<functional, canonical_variants, functions_tabulated>;
    using runs_before = decomposition::runs_before;
    using invalidates = decomposition::invalidates;
};
/// From simple ATen ops to TOSA: whatever is still quantized would be computed in floats.
struct legalization {
    using runs_after = pass_list<functional, canonical_variants, quantization_lowered, narrow_types>;
    using invalidates = pass_list<constants_folded, no_dead_code, duplicates_merged, nodes_sorted>;
};

}  // namespace headrace

// Each pass includes this header, so that each file of a program sees the same of it, with all that it names.
#include <headrace/passes/declared_passes.hpp>
#include <headrace/passes/npu/tuning.hpp>
#include <headrace/passes/tosa_only.hpp>

#endif
