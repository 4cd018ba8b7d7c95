// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pt2/writing/keyword_arguments.hpp.

#include <headrace/io/pt2/writing/keyword_arguments.hpp>

#include <string>
#include <string_view>

namespace headrace::pt2 {

namespace {

/// All overloads of ATen and quantized_decomposed except those that take `out`, in torch 2.15.
constexpr keyword_arguments keyword_arguments_of_schemas[] = {
    // Written by tests/fixtures/keyword_arguments.py.
    {" N ", " linalg_vander.default "},
    {" alpha ",
        " _add_relu.Tensor _add_relu_.Tensor _foreach_add.List _foreach_add.Tensor _foreach_add_.List "
        "_foreach_add_.Tensor _foreach_sub.List _foreach_sub_.List add.Tensor add_.Tensor "
        "index_add.default index_add_.default rsub.Tensor sub.Tensor sub_.Tensor subtract.Tensor "
        "subtract_.Tensor "},
    {" alpha beta out_dtype ", " _sparse_semi_structured_addmm.default "},
    {" approximate ", " gelu.default gelu_.default gelu_backward.default "},
    {" arg3 ", " _foobar.default "},
    {" assume_unique invert ", " isin.Scalar_Tensor isin.Tensor_Scalar isin.Tensor_Tensor "},
    {" atol rtol hermitian ",
        " linalg_matrix_rank.atol_rtol_float linalg_matrix_rank.atol_rtol_tensor "
        "linalg_pinv.atol_rtol_float linalg_pinv.atol_rtol_tensor "},
    {" attn_mask scale ",
        " _scaled_dot_product_flash_attention_for_cpu.default "
        "_scaled_dot_product_flash_attention_for_cpu_backward.default "},
    {" beta alpha ",
        " _sparse_addmm.default addbmm.default addbmm_.default addmm.default addmm.dtype "
        "addmm_.default addmv.default addmv_.default addr.default addr_.default baddbmm.default "
        "baddbmm.dtype baddbmm_.default sparse_sampled_addmm.default sspaddmm.default "},
    {" beta alpha use_fast_accum ", " _scaled_addmm.default _scaled_addmm_.default "},
    {" beta alpha use_gelu ", " _addmm_activation.default "},
    {" bias activation ", " _mixed_dtypes_linear.default "},
    {" bias activation out_dtype ", " _sparse_semi_structured_linear.default "},
    {" check_errors ", " linalg_inv_ex.default "},
    {" correction fweights aweights ", " cov.default "},
    {" correction keepdim ", " std.correction std_mean.correction var.correction var_mean.correction "},
    {" decimals ", " round.decimals round_.decimals special_round.default "},
    {" device layout ", " _assert_tensor_metadata.default "},
    {" device seed ", " Generator.default "},
    {" dim ", " cumulative_trapezoid.x linalg_cross.default linalg_vecdot.default trapezoid.x trapz.x "},
    {" dim edge_order ", " gradient.array "},
    {" dim keepdim ", " aminmax.default "},
    {" driver ", " _linalg_svd.default linalg_lstsq.default linalg_svd.default linalg_svdvals.default "},
    {" dtype ",
        " _sparse_csr_prod.dim_dtype _sparse_csr_sum.dim_dtype _sparse_sum.dim_dtype "
        "_sparse_sum.dtype cumprod.default cumprod_.default cumsum.default cumsum_.default "
        "linalg__powsum.default linalg_matrix_norm.default linalg_matrix_norm.str_ord "
        "linalg_norm.default linalg_norm.ord_str linalg_vector_norm.default mean.default mean.dim "
        "nanmean.default nansum.default norm.ScalarOpt_dim_dtype norm.ScalarOpt_dtype prod.default "
        "prod.dim_int special_log_softmax.default sum.default sum.dim_IntList "},
    {" dtype device ",
        " as_tensor.bool as_tensor.complex as_tensor.default as_tensor.float as_tensor.int "
        "as_tensor.list "},
    {" dtype device requires_grad ", " tensor.bool tensor.complex tensor.default tensor.float tensor.int "},
    {" dtype layout device pin_memory ",
        " _cudnn_init_dropout_state.default _efficientzerotensor.default "
        "_sparse_bsc_tensor_unsafe.default _sparse_bsr_tensor_unsafe.default "
        "_sparse_compressed_tensor_unsafe.default _sparse_compressed_tensor_with_dims.default "
        "_sparse_coo_tensor_with_dims.default _sparse_csc_tensor_unsafe.default "
        "_sparse_csr_tensor_unsafe.default arange.default arange.start arange.start_step "
        "bartlett_window.default bartlett_window.periodic blackman_window.default "
        "blackman_window.periodic empty_permuted.default empty_strided.default eye.default eye.m "
        "fft_fftfreq.default fft_rfftfreq.default from_file.default full.default "
        "hamming_window.default hamming_window.periodic hamming_window.periodic_alpha "
        "hamming_window.periodic_alpha_beta hann_window.default hann_window.periodic "
        "kaiser_window.beta kaiser_window.default kaiser_window.periodic linspace.Scalar_Tensor "
        "linspace.Tensor_Scalar linspace.Tensor_Tensor linspace.default logspace.Scalar_Tensor "
        "logspace.Tensor_Scalar logspace.Tensor_Tensor logspace.default new_empty.default "
        "new_empty_strided.default new_full.default new_ones.default new_zeros.default ones.default "
        "rand.default randint.default randint.low randn.default randperm.default range.default "
        "range.step scalar_tensor.default sparse_bsc_tensor.ccol_row_value "
        "sparse_bsc_tensor.ccol_row_value_size sparse_bsr_tensor.crow_col_value "
        "sparse_bsr_tensor.crow_col_value_size sparse_compressed_tensor.comp_plain_value "
        "sparse_compressed_tensor.comp_plain_value_size sparse_coo_tensor.size "
        "sparse_csc_tensor.ccol_row_value sparse_csc_tensor.ccol_row_value_size "
        "sparse_csr_tensor.crow_col_value sparse_csr_tensor.crow_col_value_size tril_indices.default "
        "triu_indices.default zeros.default "},
    {" dtype layout device pin_memory is_coalesced ",
        " _sparse_coo_tensor_unsafe.default _sparse_coo_tensor_with_dims_and_tensors.default "
        "sparse_coo_tensor.indices sparse_coo_tensor.indices_size "},
    {" dtype layout device pin_memory memory_format ",
        " _make_dep_token.default empty.memory_format empty_like.default empty_quantized.default "
        "full_like.default ones_like.default rand_like.default randint_like.Tensor "
        "randint_like.default randint_like.low_dtype randn_like.default zeros_like.default "},
    {" dtype layout device pin_memory non_blocking copy memory_format ", " to.dtype_layout "},
    {" dtype layout device pin_memory non_blocking memory_format ", " _to_copy.default "},
    {" dtype layout device pin_memory scale zero_point memory_format ", " _empty_affine_quantized.default "},
    {" dtype use_dynamic ",
        " quantized_lstm.data quantized_lstm.data_legacy quantized_lstm.input "
        "quantized_lstm.input_legacy "},
    {" dx dim ", " cumulative_trapezoid.dx trapezoid.dx trapz.dx "},
    {" generator ",
        " bernoulli.Tensor bernoulli.default bernoulli.p bernoulli_.Tensor bernoulli_.float "
        "cauchy.default cauchy_.default exponential.default exponential_.default geometric.default "
        "geometric_.default log_normal.default log_normal_.default multinomial.default "
        "normal.Tensor_Tensor normal.Tensor_float normal.float_Tensor normal_.default "
        "normal_functional.default random.default random.from random.to random_.default random_.from "
        "random_.to uniform.default uniform_.default "},
    {" generator dtype layout device pin_memory ",
        " normal.float_float rand.generator randint.generator randint.low_generator randn.generator "
        "randperm.generator "},
    {" generator dtype layout device pin_memory memory_format ",
        " rand_like.generator randint_like.Tensor_generator randint_like.generator "
        "randint_like.low_generator_dtype randn_like.generator "},
    {" hermitian ", " linalg_ldl_factor.default linalg_ldl_solve.default "},
    {" hermitian check_errors ", " linalg_ldl_factor_ex.default "},
    {" implicit ", " expand.default expand_copy.default "},
    {" include_self ", " index_reduce.default index_reduce_.default scatter_reduce.two scatter_reduce_.two "},
    {" indexing ", " meshgrid.indexing "},
    {" interpolation ", " nanquantile.default nanquantile.scalar quantile.default quantile.scalar "},
    {" is_matrix ", " _linalg_check_errors.default "},
    {" keepdim mode ", " hash_tensor.default "},
    {" layout blocksize dense_dim ", " _to_sparse.default to_sparse.default "},
    {" left ", " _spsolve.default linalg_solve.default "},
    {" left adjoint ", " linalg_lu_solve.default "},
    {" left check_errors ", " _linalg_solve_ex.default linalg_solve_ex.default "},
    {" lengths indices offsets axis unsafe initial ", " segment_reduce.default "},
    {" lengths offsets axis initial ", " _segment_reduce_backward.default "},
    {" log_target ", " kl_div.default "},
    {" lr beta1 beta2 weight_decay eps amsgrad maximize grad_scale found_inf ",
        " _fused_adam.default _fused_adam.tensor_lr _fused_adam_.default _fused_adam_.tensor_lr "
        "_fused_adamw.default _fused_adamw.tensor_lr _fused_adamw_.default _fused_adamw_.tensor_lr "},
    {" lr lr_decay weight_decay eps maximize grad_scale found_inf ",
        " _fused_adagrad.default _fused_adagrad.tensor_lr _fused_adagrad_.default "
        "_fused_adagrad_.tensor_lr "},
    {" masked_grad ", " to_dense.default "},
    {" memory_format ",
        " _foreach_clone.default chalf.default clone.default contiguous.default resize.default "
        "resize_.default resize_as.default resize_as_.default "},
    {" min max ", " sym_constrain_range.default sym_constrain_range_for_size.default "},
    {" offset dim1 dim2 ", " linalg_diagonal.default "},
    {" out_dtype ",
        " _sparse_semi_structured_mm.default quantized_decomposed.dequantize_per_channel.default "
        "quantized_decomposed.dequantize_per_tensor.default "
        "quantized_decomposed.dequantize_per_tensor.tensor "
        "quantized_decomposed.dequantize_per_tensor.tensor2 "},
    {" out_int32 ", " _convert_indices_from_coo_to_csr.default "},
    {" out_int32 right ", " bucketize.Scalar bucketize.Tensor "},
    {" out_int32 right side sorter ", " searchsorted.Scalar searchsorted.Tensor "},
    {" out_int32 transpose ", " _convert_indices_from_csr_to_coo.default "},
    {" output_size ", " repeat_interleave.Tensor repeat_interleave.self_Tensor repeat_interleave.self_int "},
    {" path ", " einsum.default "},
    {" pivot ", " linalg_lu.default linalg_lu_factor.default "},
    {" pivot check_errors ", " linalg_lu_factor_ex.default "},
    {" range weight density ",
        " _histogramdd_bin_edges.default _histogramdd_from_bin_cts.default histogram.bin_ct "},
    {" reduce ", " scatter.reduce scatter.value_reduce scatter_.reduce scatter_.value_reduce "},
    {" rounding_mode ",
        " div.Scalar_mode div.Tensor_mode div_.Scalar_mode div_.Tensor_mode divide.Scalar_mode "
        "divide.Tensor_mode divide_.Scalar_mode divide_.Tensor_mode "},
    {" scale ",
        " _cudnn_attention_backward.default _scaled_dot_product_cudnn_attention.default "
        "_scaled_dot_product_cudnn_attention_backward.default "
        "_scaled_dot_product_efficient_attention.default "
        "_scaled_dot_product_efficient_attention_backward.default "
        "_scaled_dot_product_flash_attention.default _scaled_dot_product_flash_attention.quantized "
        "_scaled_dot_product_flash_attention_backward.default "
        "_scaled_dot_product_fused_attention_overrideable.default "
        "_scaled_dot_product_fused_attention_overrideable_backward.default "},
    {" scale enable_gqa ",
        " _fused_sdp_choice.default _scaled_dot_product_attention_math.default "
        "_scaled_dot_product_attention_math_for_mps.default scaled_dot_product_attention.default "},
    {" scale num_splits_key window_size shared_storage_dqdkdv ", " _efficient_attention_backward.default "},
    {" scale seqlen_k window_size ", " _efficient_attention_forward.default "},
    {" scale seqused_k block_table ",
        " _cudnn_attention_forward.default _cudnn_attention_forward_no_dropout_inplace.default "},
    {" scale window_size_left window_size_right ", " _flash_attention_backward.default "},
    {" scale window_size_left window_size_right seqused_k alibi_slopes ",
        " _flash_attention_forward.quantized "},
    {" scale window_size_left window_size_right seqused_k alibi_slopes block_table num_splits ",
        " _flash_attention_forward.default _flash_attention_forward_no_dropout_inplace.default "},
    {" scales zero_points axis dtype layout device pin_memory memory_format ",
        " _empty_per_channel_affine_quantized.default "},
    {" self_num_batch_dims ", " _new_zeros_with_same_feature_meta.default "},
    {" size fill_value ", " nonzero_static.default "},
    {" spacing dim edge_order ",
        " gradient.scalararray gradient.scalarint gradient.scalarrayarray gradient.scalarrayint "
        "gradient.tensorarray gradient.tensorarrayint "},
    {" sparse_grad ", " gather.default "},
    {" stable dim descending ", " argsort.stable sort.stable "},
    {" upper ", " linalg_cholesky.default "},
    {" upper check_errors ", " linalg_cholesky_ex.default "},
    {" upper left unitriangular ", " linalg_solve_triangular.default "},
    {" value ", " addcdiv.default addcdiv_.default addcmul.default addcmul_.default "},
    {" weight density ", " _histogramdd_from_bin_tensors.default histogram.bins_tensor "},
    {" weight_decay momentum lr dampening nesterov maximize is_first_step grad_scale found_inf ",
        " _fused_sgd.default _fused_sgd.tensor_lr _fused_sgd_.default _fused_sgd_.tensor_lr "},
};

}  // namespace

std::string_view keyword_only_arguments(std::string_view op) {
    constexpr std::string_view aten = "aten.";
    const std::string_view name = op.starts_with(aten) ? op.substr(aten.size()) : op;
    const std::string word = " " + std::string(name) + " ";
    for (const keyword_arguments& row : keyword_arguments_of_schemas) {
        if (row.ops.find(word) != std::string_view::npos) return row.names;
    }
    return {};
}

}  // namespace headrace::pt2
