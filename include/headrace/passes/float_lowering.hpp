// SPDX-License-Identifier: MIT
// Defines headrace::float_lowering, the standard pipeline from exported float programs to TOSA.
#ifndef HEADRACE_PASSES_FLOAT_LOWERING_HPP
#define HEADRACE_PASSES_FLOAT_LOWERING_HPP

#include <headrace/op/dim_order_ops.hpp>
#include <headrace/op/higher_order.hpp>
#include <headrace/pass/algebra.hpp>
#include <headrace/passes/decompose/decompose.hpp>
#include <headrace/passes/fold/fold.hpp>
#include <headrace/passes/layout/layout.hpp>
#include <headrace/passes/legalize/legalize.hpp>
#include <headrace/passes/normalize/narrow_int64.hpp>
#include <headrace/passes/normalize/normalize.hpp>

namespace headrace {

/// What a float program may consist of: ATen as torch.export leaves it, in training or core form, without the
/// ops that no pass lowers. An op that is added to a dialect must be lowered or named here, or the pipeline
/// does not compile.
struct float_source {
    using not_lowered =
        ops<aten::_adaptive_avg_pool3d, aten::adaptive_avg_pool3d, aten::avg_pool3d, aten::max_pool3d,
            aten::upsample_nearest3d, aten::upsample_nearest3d_vec, aten::upsample_trilinear3d,
            aten::upsample_trilinear3d_vec, aten::upsample_bicubic2d, aten::upsample_bicubic2d_vec,
            aten::grid_sampler, aten::grid_sampler_2d, aten::fft_rfft2,
            aten::_scaled_dot_product_flash_attention_for_cpu,  // gives statistics beside its result
            aten::item, aten::_local_scalar_dense, aten::sym_numel,
            aten::sym_size_int,  // numbers of the host
            higher_order::map_impl, higher_order::scan>;
    static constexpr auto set =
        every_op<aten::dialect, dim_order_ops::dialect, higher_order::dialect> - set_of<not_lowered>;
};

/// From ATen to TOSA 1.0. `Evaluator` computes constants; see headrace::fold_constants.
template <class Evaluator>
struct float_lowering
    : pipeline_of<from<float_source>, to<tosa::dialect>, normalize_passes, decompose_passes,
                  pass_list<narrow_int64>, legalize_passes, layout_passes, fold_passes<Evaluator>,
                  pass_list<ensure_distinct_outputs, sort_topologically>> {};

}  // namespace headrace

#endif
