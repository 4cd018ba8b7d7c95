// SPDX-License-Identifier: MIT
// Defines the properties that passes use to state their order, and the phases whose passes share them.
#ifndef HEADRACE_PASSES_PROPERTIES_HPP
#define HEADRACE_PASSES_PROPERTIES_HPP

#include <headrace/dialect/tosa.hpp>
#include <headrace/pass/order.hpp>

namespace headrace {

struct fuse_reshapes;
struct fuse_transposes;

// Properties of exported programs.

/// Regions that only record whether gradients are enabled are inlined into their caller.
struct regions_inlined : property {};
/// Constants that branches and loops read are constants of the regions themselves.
struct constants_in_regions : property {};
/// Every operand is the value it is meant to be: no write in place changes a tensor that another node reads.
struct functional : property {};
/// Each op has one name: there is no in-place form, no `_copy` form of a view and no synonym.
struct canonical_variants : property {};
/// Reversed subtraction, squares and remainders of numbers are written as sub, pow and remainder.
struct canonical_arithmetic : property {};
/// Every cast is `aten._to_copy` with a dtype and nothing else.
struct canonical_casts : property {};
/// Every tensor whose elements are all equal is `aten.full` with a shape and a dtype.
struct canonical_fills : property {};
/// No op returns its operand unchanged: there is no copy, no dropout, no cast to the same dtype.
struct noops_removed : property {};
/// Arithmetic with numbers takes constant tensors: no `.Scalar` form is left.
struct tensor_operands : property {};
/// No op computes with uint8: uint8 elements are only moved, masked or cast.
struct unsigned_widened : property {};
/// `aten.add` and `aten.sub` add and subtract once: their `alpha` is 1, and later passes do not read it.
struct unit_alpha : property {};
/// A convolution is `aten.convolution` over a batch, with all its lists at full length.
struct canonical_convolutions : property {};
/// Pooling has a batch and two spatial axes: [N, C, H, W].
struct canonical_pooling : property {};

// Properties of quantized programs.

/// Quantization parameters are numbers, and quantized values of 8 bits are signed.
struct canonical_quantization : property {};
/// Quantize nodes that the quantizer repeats for each reader are merged into one.
struct quantizers_merged : property {};
/// An elementwise function between two quantized tensors is a TABLE.
struct functions_tabulated : property {};
/// Quantized values computed from constants are constants.
struct quantized_constants_folded : property {};
/// Quantized ops are computed with integers, wherever possible.
struct quantized_ops_lowered : property {};
/// Inputs and outputs that the caller quantizes are integers.
struct interface_quantized : property {};
/// No quantize and no dequantize node is left.
struct quantization_lowered : property {};

// Properties on the way to TOSA.

/// Every op is TOSA's. No pass claims to ensure this: it is proven from the effects of the passes before.
struct tosa_only : property {
    static constexpr auto only = every_op<tosa::dialect>;
};
/// No value is int64 or float64. Before that, dtypes are PyTorch's, and promotion depends on them.
struct narrow_types : property {};
/// No value is uint8: its bits are those of int8.
struct signed_types : property {};
/// Values computed from constants are constants, unless that would take more memory than it saves.
struct constants_folded : property {};
/// Each op is computed in the layout for which the whole graph moves the fewest bytes.
struct layouts_chosen : property {};
/// An output or an effect depends on every node.
struct no_dead_code : property {};
/// Equal computations are one node, except RESCALEs.
struct duplicates_merged : property {};
/// Each output is a tensor of its own: not an input, not a constant and no other output.
struct distinct_outputs : property {};
/// The order of nodes depends on the edges only, not on the compiler that built the passes.
struct nodes_sorted : property {};

/// The base of passes in a phase, whose lists are added to their own.
template <class Phase>
struct pass_in : pass {
    using phase = Phase;
};

/// From compound ATen ops to simple ones. Dtypes are still PyTorch's; quantized ops are matched afterwards.
struct decomposition {
    using runs_after = pass_list<functional, canonical_variants>;
    using runs_before = pass_list<quantized_ops_lowered, narrow_types>;
    using invalidates = pass_list<quantized_constants_folded, constants_folded, no_dead_code,
        duplicates_merged, nodes_sorted>;
};
/// Decomposes elementwise functions, after quantized ones have become tables: these are matched while they
/// still consist of the model's own ops.
struct function_decomposition {
    using runs_after = pass_list<functional, canonical_variants, functions_tabulated>;
    using runs_before = decomposition::runs_before;
    using invalidates = decomposition::invalidates;
};
/// From simple ATen ops to TOSA: an op that is still quantized would be computed in floats.
struct legalization {
    using runs_after = pass_list<functional, canonical_variants, quantization_lowered, narrow_types>;
    using invalidates = pass_list<constants_folded, no_dead_code, duplicates_merged, nodes_sorted>;
};

/// From TOSA to equivalent operators that have fewer axes to move.
struct layout_preparation {
    using runs_after = pass_list<tosa_only, fuse_reshapes, fuse_transposes>;
    using runs_before = pass_list<layouts_chosen>;
};
/// From TOSA to equivalent operators that the target runs faster. Layouts are chosen before, since they
/// determine which axis is the channels; weights rearranged here are folded afterwards.
struct target_optimization {
    using runs_after = pass_list<tosa_only, layouts_chosen>;
    using runs_before = pass_list<fuse_reshapes, constants_folded>;
    using invalidates = pass_list<constants_folded, no_dead_code, duplicates_merged, nodes_sorted>;
};
/// From TOSA's integer profile to the subset that Ethos-U55 supports. Constants are folded and layouts chosen
/// before, since known values and layouts determine what must be computed.
struct u55_legalization {
    using runs_after = pass_list<tosa_only, constants_folded, layouts_chosen>;
    using invalidates = pass_list<no_dead_code, duplicates_merged, nodes_sorted>;
};

using tuning [[deprecated("say target_optimization")]] = target_optimization;
using expansion [[deprecated("say u55_legalization")]] = u55_legalization;

}  // namespace headrace

// Programs that link headrace::compiled read the facts of passes from declarations, in all of their files.
#ifdef HEADRACE_COMPILED
#include <headrace/passes/declared_passes.hpp>  // written by the build of headrace::compiled: see install.md
#endif

#endif
