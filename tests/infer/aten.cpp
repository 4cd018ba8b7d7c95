// SPDX-License-Identifier: MIT
// Tests the shape and dtype rules of PyTorch's dialects.
#include <cmath>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <headrace/infer/aten.hpp>
#include <headrace/infer/builtin.hpp>
#include <headrace/infer/cortex_m.hpp>
#include <headrace/infer/dim_order_ops.hpp>
#include <headrace/infer/higher_order.hpp>
#include <headrace/infer/quantized_decomposed.hpp>
#include <headrace/ir/graph.hpp>

using namespace headrace;

namespace {

template <class List>
constexpr bool all_inferable = false;
template <class... Ops>
constexpr bool all_inferable<ops<Ops...>> = [] {
    for (const bool one : {inferable<Ops>...}) {  // not a fold expression: Clang limits their nesting to 256
        if (!one) return false;
    }
    return true;
}();

static_assert(all_inferable<aten::dialect::all_ops>);
static_assert(all_inferable<builtin::dialect::all_ops>);
static_assert(all_inferable<cortex_m::dialect::all_ops>);
static_assert(all_inferable<dim_order_ops::dialect::all_ops>);
static_assert(all_inferable<higher_order::dialect::all_ops>);
static_assert(all_inferable<quantized_decomposed::dialect::all_ops>);

// Facts that rules use are part of the ops' declarations.
static_assert(spatial_rank<aten::conv_transpose1d> == 1 &&
    spatial_rank<aten::_upsample_nearest_exact2d> == 2 && spatial_rank<aten::replication_pad3d> == 3);

/// Tensors to infer from.
struct fixture {
    graph g;

    value tensor(dtype type, int_list shape) {
        const value v = g.create<builtin::placeholder>({}).result();
        g.set_meta(v, {type, shape, {}});
        return v;
    }
    value real(int_list shape) { return tensor(dtype::float32, shape); }

    /// Returns "float32[2, 3] int64[2]", or the error.
    template <class Op>
    std::pmr::string infer(const args<Op>& a) {
        inference out(g.arena());
        const auto done = infer_op<Op>(a, out);
        if (!done) return done.error().message;
        std::pmr::string text;
        for (const tensor_meta& meta : out.results()) {
            if (!text.empty()) text += ' ';
            text += std::pmr::string(name_of(meta.dtype)) + shape_text(meta.shape);
        }
        return text;
    }
};

}  // namespace

TEST_CASE_METHOD(fixture, "elementwise ops broadcast and promote") {
    CHECK(infer<aten::relu>({real({2, 3})}) == "float32[2, 3]");
    CHECK(infer<aten::sigmoid>({tensor(dtype::int32, {2})}) == "float32[2]");
    CHECK(infer<aten::add_tensor>({real({2, 1}), tensor(dtype::int64, {3})}) == "float32[2, 3]");
    CHECK(infer<aten::add_tensor>({real({2, 3}), real({4})}) == "cannot broadcast [2, 3] with [4]");
    CHECK(infer<aten::add_scalar>({tensor(dtype::int8, {2}), 1.5}) == "float32[2]");
    CHECK(infer<aten::add_inplace_tensor>({real({2, 3}), tensor(dtype::float64, {3})}) == "float32[2, 3]");
    CHECK(infer<aten::add_inplace_tensor>({real({3}), real({2, 3})}) == "cannot expand [2, 3] to [3]");
    CHECK(infer<aten::div_tensor>({tensor(dtype::int32, {2}), tensor(dtype::int32, {})}) == "float32[2]");
    CHECK(infer<aten::div_tensor_mode>({tensor(dtype::int32, {2}), tensor(dtype::int8, {2}), "floor"}) ==
        "int32[2]");
    CHECK(infer<aten::pow_scalar>({2.0, tensor(dtype::int8, {2})}) == "float32[2]");
    CHECK(infer<aten::square>({tensor(dtype::boolean, {2})}) == "int64[2]");
    CHECK(infer<aten::eq_scalar>({real({2}), 1}) == "bool[2]");
    CHECK(infer<aten::clamp>({tensor(dtype::int8, {2}), scalar(0.5)}) == "float32[2]");
    CHECK(infer<aten::clamp>({real({2})}) == "neither min nor max is given");
    CHECK(infer<aten::where_scalar>({tensor(dtype::boolean, {2}), 1, 2.0}) == "float32[2]");
    CHECK(infer<aten::glu>({real({2, 6})}) == "float32[2, 3]");
    CHECK(infer<aten::glu>({real({2, 5})}) == "axis 1 of [2, 5] must be even");
}

TEST_CASE_METHOD(fixture, "reductions") {
    const value x = tensor(dtype::uint8, {2, 3, 4});
    CHECK(infer<aten::sum>({x}) == "int64[]");
    CHECK(infer<aten::sum_dim_intlist>({x, int_list{0, -1}, true}) == "int64[1, 3, 1]");
    CHECK(infer<aten::sum_dim_intlist>({x, int_list{}}) == "int64[]");
    CHECK(infer<aten::mean_dim>({x, int_list{1}, false, dtype::float32}) == "float32[2, 4]");
    CHECK(infer<aten::amax>({x}) == "uint8[]");
    CHECK(infer<aten::argmax>({x, 1, true}) == "int64[2, 1, 4]");
    CHECK(infer<aten::argmax>({x, std::nullopt, true}) == "int64[1, 1, 1]");
    CHECK(infer<aten::max_dim>({x, -1}) == "uint8[2, 3] int64[2, 3]");
    CHECK(infer<aten::any_dim>({x, 0}) == "uint8[3, 4]");
    CHECK(infer<aten::any_dims>({x, int_list{}}) == "uint8[2, 3, 4]");
    CHECK(infer<aten::cumsum>({tensor(dtype::int32, {2}), 0}) == "int64[2]");
    CHECK(infer<aten::cumprod>({x, 1, dtype::float32}) == "float32[2, 3, 4]");
    CHECK(infer<aten::sort>({x, 1}) == "uint8[2, 3, 4] int64[2, 3, 4]");
    CHECK(infer<aten::sort_stable>({x, true, 3}) == "axis 3 is out of range for rank 3");
    CHECK(infer<aten::argsort>({x}) == "int64[2, 3, 4]");
    CHECK(infer<aten::argsort_stable>({x, true, -4}) == "axis -4 is out of range for rank 3");
    CHECK(infer<aten::msort>({x}) == "uint8[2, 3, 4]");
    CHECK(infer<aten::topk>({x, 2, 1}) == "uint8[2, 2, 4] int64[2, 2, 4]");
    CHECK(infer<aten::topk>({x, 5}) == "k is 5, but must be from 0 to 4");
    CHECK(
        infer<aten::topk>({tensor(dtype::boolean, {2}), 1}) == "self is bool, but must be a type of numbers");
    CHECK(infer<aten::sum_dim_intlist>({x, int_list{3}}) == "axis 3 is out of range for rank 3");
    CHECK(infer<aten::softmax_int>({real({2}), 0, dtype::float64}) == "float64[2]");
}

TEST_CASE_METHOD(fixture, "views") {
    const value x = real({2, 3, 4});
    CHECK(infer<aten::view>({x, {4, -1}}) == "float32[4, 6]");
    CHECK(infer<aten::flatten_using_ints>({x, 1}) == "float32[2, 12]");
    CHECK(infer<aten::flatten_using_ints>({real({})}) == "float32[1]");
    CHECK(infer<aten::unflatten_int>({x, 2, {2, -1}}) == "float32[2, 3, 2, 2]");
    CHECK(infer<aten::permute>({x, {2, 0, 1}}) == "float32[4, 2, 3]");
    CHECK(infer<aten::permute>({x, {2, 0, 0}}) == "axis 0 is named twice");
    CHECK(infer<aten::movedim_int>({x, 0, -1}) == "float32[3, 4, 2]");
    CHECK(infer<aten::movedim_intlist>({x, {2, 0}, {0, 1}}) == "float32[4, 2, 3]");
    CHECK(infer<aten::slice_tensor>({x, 2, 1, INT64_MAX, 2}) == "float32[2, 3, 2]");
    CHECK(infer<aten::select_int>({x, 1, -3}) == "float32[2, 4]");
    CHECK(infer<aten::select_int>({x, 1, 3}) == "index 3 is out of range for axis 1 of [2, 3, 4]");
    CHECK(infer<aten::squeeze>({real({1, 2, 1})}) == "float32[2]");
    CHECK(infer<aten::squeeze_dim>({real({1, 2, 1}), -1}) == "float32[1, 2]");
    CHECK(infer<aten::unsqueeze>({x, -1}) == "float32[2, 3, 4, 1]");
    CHECK(infer<aten::unfold>({x, 2, 2, 1}) == "float32[2, 3, 3, 2]");
    CHECK(infer<aten::diagonal>({x, -1, 1, 2}) == "float32[2, 2]");
    CHECK(infer<aten::diagonal>({x, 9, 0, 2}) == "float32[3, 0]");
    CHECK(infer<aten::diagonal>({x, 0, 1, -2}) == "a diagonal runs along two different axes");
    CHECK(infer<aten::t>({x}) == "self [2, 3, 4] must have rank 0 to 2");
    CHECK(infer<aten::expand>({real({3, 1}), {2, -1, 4}}) == "float32[2, 3, 4]");
}

TEST_CASE_METHOD(fixture, "blocks of images") {
    const value x = real({2, 3, 6, 8});
    CHECK(infer<aten::im2col>({x, {2, 3}, {1, 2}, {1, 0}, {2, 1}}) == "float32[2, 18, 16]");
    CHECK(infer<aten::im2col>({real({3, 6, 8}), {2, 2}, {1, 1}, {0, 0}, {2, 2}}) == "float32[12, 12]");
    CHECK(infer<aten::im2col>({x, {9, 1}, {1, 1}, {0, 0}, {1, 1}}) ==
        "blocks that span 9 do not fit in an axis of 6");
    CHECK(infer<aten::im2col>({x, {2, 2}, {1, 1}, {0, 0}, {0, 1}}) == "stride is 0, but must be at least 1");
    const value columns = real({2, 18, 16});
    CHECK(infer<aten::col2im>({columns, {6, 8}, {2, 3}, {1, 2}, {1, 0}, {2, 1}}) == "float32[2, 3, 6, 8]");
    CHECK(infer<aten::col2im>({columns, {6, 8}, {2, 2}, {1, 1}, {0, 0}, {2, 2}}) ==
        "the number of columns is 16, but must be 12");
    CHECK(infer<aten::col2im>({real({17, 16}), {6, 8}, {2, 3}, {1, 2}, {1, 0}, {2, 1}}) ==
        "columns of 17 elements are not blocks of 6");
}

TEST_CASE_METHOD(fixture, "convolutions and poolings") {
    const value x = real({1, 4, 8, 8});
    CHECK(infer<aten::conv2d>({x, real({6, 4, 3, 3}), {}, {2}, {1}}) == "float32[1, 6, 4, 4]");
    CHECK(infer<aten::conv2d>({real({4, 8, 8}), real({6, 4, 3, 3})}) == "float32[6, 6, 6]");
    CHECK(infer<aten::conv2d>({x, real({6, 3, 3, 3})}) ==
        "input [1, 4, 8, 8], weight [6, 3, 3, 3] and groups 1 do not match");
    CHECK(infer<aten::conv2d_padding>({x, real({4, 1, 3, 4}), {}, {1}, "same", {2}, 4}) ==
        "float32[1, 4, 8, 8]");
    CHECK(infer<aten::conv_transpose2d_input>({x, real({4, 3, 3, 3}), {}, {2}, {1}, {1}, 2}) ==
        "float32[1, 6, 16, 16]");
    CHECK(infer<aten::max_pool2d>({x, {3}, {2}, {0}, {1}, true}) == "float32[1, 4, 4, 4]");
    CHECK(infer<aten::avg_pool2d>({x, {3, 2}}) == "float32[1, 4, 2, 4]");
    CHECK(infer<aten::adaptive_avg_pool2d>({x, {1, 1}}) == "float32[1, 4, 1, 1]");
    CHECK(infer<aten::max_pool2d_with_indices>({x, {2}}) == "float32[1, 4, 4, 4] int64[1, 4, 4, 4]");
    CHECK(infer<aten::max_pool2d>({x, {1}, {1}, {0}, {INT64_MAX}}) ==
        "kernel, stride, dilation or padding are too large");
    CHECK(infer<aten::max_pool2d>({x, {9}}) == "a window of 9 does not fit in an axis of 8 padded to 8");
    CHECK(infer<aten::upsample_nearest2d_vec>({x, {}, list<double>{2.0, 1.5}}) == "float32[1, 4, 16, 12]");
}

TEST_CASE_METHOD(fixture, "matrix products, attention and recurrent networks") {
    CHECK(infer<aten::matmul>({real({5, 1, 2, 3}), real({4, 3, 6})}) == "float32[5, 4, 2, 6]");
    CHECK(infer<aten::matmul>({real({3}), real({4, 3, 6})}) == "float32[4, 6]");
    CHECK(infer<aten::matmul>({real({3}), real({3})}) == "float32[]");
    CHECK(infer<aten::mm>({real({2, 3}), real({4, 3})}) == "cannot multiply [2, 3] by [4, 3]");
    CHECK(infer<aten::linear>({real({2, 5, 3}), real({4, 3})}) == "float32[2, 5, 4]");
    const value a = real({2, 3, 4});
    const value b = real({2, 4, 5});
    const std::vector<value> pair{a, b};
    CHECK(infer<aten::einsum>({"bij, bjk -> bik", pair}) == "float32[2, 3, 5]");
    CHECK(infer<aten::einsum>({"...ij,...jk", pair}) == "float32[2, 3, 5]");
    CHECK(infer<aten::einsum>({"bij,bjk->bz", pair}) == "einsum label 'z' has no size");
    CHECK(infer<aten::einsum>({"bij,bik", pair}) == "einsum label 'i' has sizes 3 and 4");
    CHECK(infer<aten::einsum>({"bij", pair}) == "einsum equation 'bij' does not have 2 operands");
    CHECK(infer<aten::scaled_dot_product_attention>(
              {real({2, 4, 5, 8}), real({2, 4, 6, 8}), real({2, 4, 6, 7})}) == "float32[2, 4, 5, 7]");
    const value mask = tensor(dtype::boolean, {2, 3});
    CHECK(infer<aten::scaled_dot_product_attention>({mask, mask, mask}) ==
        "query is bool, but must be a floating-point type");
    // Nine hidden elements are projected to eight, in both directions.
    const std::vector<value> state{real({2, 1, 8}), real({2, 1, 9})};
    const std::vector<value> cell{real({36, 3}), real({36, 8}), real({36}), real({36}), real({8, 9})};
    std::vector<value> params = cell;
    CHECK(infer<aten::lstm_input>({real({5, 1, 3}), state, params, true, 1, 0.0, false, true, false}) ==
        "the number of params is 5, but must be 10");
    params.insert(params.end(), cell.begin(), cell.end());
    CHECK(infer<aten::lstm_input>({real({5, 1, 3}), state, params, true, 1, 0.0, false, true, false}) ==
        "float32[5, 1, 16] float32[2, 1, 8] float32[2, 1, 9]");
    CHECK(infer<aten::lstm_input>({real({5, 1, 4}), state, params, true, 1, 0.0, false, true, false}) ==
        "w_ih [36, 3] must have shape [36, 4]");
}

TEST_CASE_METHOD(fixture, "splitting, joining and indexing") {
    const value x = real({2, 5});
    CHECK(infer<aten::chunk>({x, 2, 1}) == "float32[2, 3] float32[2, 2]");
    CHECK(infer<aten::split_tensor>({x, 2, 1}) == "float32[2, 2] float32[2, 2] float32[2, 1]");
    CHECK(infer<aten::split_with_sizes>({x, {2, 2}, 1}) == "parts [2, 2] do not add up to 5");
    CHECK(infer<aten::tensor_split_sections>({x, 3, 1}) == "float32[2, 2] float32[2, 2] float32[2, 1]");
    CHECK(infer<aten::tensor_split_indices>({x, {1, 3}, 1}) == "float32[2, 1] float32[2, 2] float32[2, 2]");
    CHECK(infer<aten::unbind_int>({x}) == "float32[5] float32[5]");
    const std::vector<value> parts{x, tensor(dtype::float64, {2, 1}), real({0})};
    CHECK(infer<aten::cat>({parts, 1}) == "float64[2, 6]");
    CHECK(infer<aten::cat>({parts, 0}) == "cannot join [2, 5] and [2, 1] along axis 0");
    CHECK(infer<aten::constant_pad_nd>({x, {1, 2}}) == "float32[2, 8]");
    CHECK(infer<aten::reflection_pad1d>({x, {5, 0}}) == "padding [5, 0] reflects more than [2, 5]");
    CHECK(infer<aten::pad>({x, {3, -2}, "circular"}) == "float32[2, 6]");
    CHECK(infer<aten::pad>({x, {4, -2}, "circular"}) == "padding [4, -2] goes around more than [2, 5]");
    CHECK(infer<aten::pad>({x, {1, 1, 1}, "circular"}) == "padding [1, 1, 1] does not fit [2, 5]");
    CHECK(infer<aten::repeat>({x, {3, 1, 2}}) == "float32[3, 2, 10]");
    CHECK(infer<aten::pixel_shuffle>({real({1, 8, 2, 2}), 2}) == "float32[1, 2, 4, 4]");
    const value index = tensor(dtype::int64, {3, 1});
    const std::vector<std::optional<value>> apart{index, std::nullopt, index};
    const std::vector<std::optional<value>> together{std::nullopt, index, index};
    CHECK(infer<aten::index_tensor>({real({4, 5, 6}), apart}) == "float32[3, 1, 5]");
    CHECK(infer<aten::index_tensor>({real({4, 5, 6}), together}) == "float32[4, 3, 1]");
    const std::vector<std::optional<value>> mask{tensor(dtype::boolean, {2})};
    CHECK(infer<aten::index_tensor>({x, mask}) == "the shape that a mask selects depends on its data");
    CHECK(infer<aten::embedding>({real({10, 4}), index}) == "float32[3, 1, 4]");
}

TEST_CASE_METHOD(fixture, "what is joined is promoted, as tensors with axes") {
    const value whole = tensor(dtype::int64, {2, 6});
    CHECK(infer<aten::diff>({whole, 1, 0, {}, real({2, 6})}) == "float32[3, 6]");
    const std::vector<value> number_first{tensor(dtype::float64, {}), real({2})};
    CHECK(infer<aten::hstack>({number_first}) == "float64[3]");
}

TEST_CASE_METHOD(fixture, "creation and casts") {
    CHECK(infer<aten::arange>({7}) == "int64[7]");
    CHECK(infer<aten::arange_start_step>({0, 1.0, 0.3}) == "float32[4]");
    CHECK(infer<aten::arange_start_step>({5, 0, -2}) == "int64[3]");
    CHECK(infer<aten::arange_start_step>({5, 0, 0}) == "the range has no end");
    CHECK(infer<aten::arange>({7, dtype::boolean}) == "the range is bool, but must be a type of numbers");
    CHECK(infer<aten::full>({{2}, true}) == "bool[2]");
    CHECK(infer<aten::zeros>({{2}}) == "float32[2]");
    CHECK(infer<aten::to_dtype>({real({2}), dtype::int8}) == "int8[2]");
    CHECK(infer<aten::fft_rfft2>({real({2, 6, 6})}) == "complex64[2, 6, 4]");
    CHECK(infer<aten::_assert_async>({real({1})}).empty());
}

TEST_CASE_METHOD(fixture, "other dialects") {
    CHECK(infer<quantized_decomposed::quantize_per_tensor>({real({2}), 0.1, 0, -128, 127, dtype::int8}) ==
        "int8[2]");
    args<cortex_m::quantized_conv2d_nhwc> conv{};
    conv.input = tensor(dtype::int8, {1, 8, 8, 4});
    conv.weight = tensor(dtype::int8, {6, 3, 3, 4});
    conv.stride = {2, 2};
    conv.padding = {1, 1};
    conv.dilation = {1, 1};
    conv.requantize_multipliers = conv.requantize_shifts = tensor(dtype::int32, {6});
    CHECK(infer<cortex_m::quantized_conv2d_nhwc>(conv) == "int8[1, 4, 4, 6]");
    CHECK(infer<builtin::opaque>({"custom.op", {}}) == "the shapes that custom.op gives are not known");
    graph& region = g.create_region();
    const value inner = region.create<builtin::placeholder>({}).result();
    region.set_meta(inner, {dtype::float32, {3}, {}});
    region.create<builtin::output>({list<value>(&inner, 1)});
    const std::vector<value> xs{real({5, 3})};
    CHECK(infer<higher_order::map_impl>({&region, xs, {}}) == "float32[5, 3]");
    const std::vector<value> row{real({3})};
    CHECK(infer<higher_order::cond>({real({}), &region, &region, row}) == "float32[3]");
    CHECK(infer<higher_order::cond>({real({2}), &region, &region, row}) == "pred [2] must have 1 element");
    CHECK(infer<higher_order::cond>({real({}), &region, &region, {}}) ==
        "a region takes 1 input, but is given 0");
    CHECK(infer<higher_order::cond>({real({}), &region, &region, xs}) ==
        "input 0 of a region is float32[3], but is given float32[5, 3]");
    graph& other = g.create_region();
    const value same = other.create<builtin::placeholder>({}).result();
    other.set_meta(same, {dtype::float32, {3}, {}});
    const value flags = other.create<aten::isnan>({same}).result();
    other.set_meta(flags, {dtype::boolean, {3}, {}});
    other.create<builtin::output>({list<value>(&flags, 1)});
    CHECK(infer<higher_order::cond>({real({}), &region, &other, row}) ==
        "the second branch: result 0 is bool[3], but must be float32[3]");
    CHECK(infer<higher_order::while_loop>({nullptr, &other, {}, {}}) == "a region is missing");
    CHECK(infer<higher_order::while_loop>({&other, &other, row, {}}) ==
        "the body: result 0 is bool[3], but must be float32[3]");
    region.create<builtin::placeholder>({});
    CHECK(infer<higher_order::scan>({&region, row, xs, {}}) == "float32[3]");
}

TEST_CASE_METHOD(fixture, "rules name the argument that does not fit") {
    const value x = real({2, 6});
    const value image = real({1, 4, 8, 8});
    const value index = tensor(dtype::int64, {3});
    const value whole = tensor(dtype::int64, {2, 6});
    CHECK(infer<aten::prelu>({x, real({5})}) == "weight [5] must have 6 elements");
    CHECK(infer<aten::tril>({real({3})}) == "self [3] must have rank 2 or more");
    CHECK(infer<aten::fliplr>({real({3})}) == "self [3] must have rank 2 or more");
    CHECK(infer<aten::roll>({x, {1, 2}, {0}}) == "shifts has 2 elements, but must have 1");
    CHECK(infer<aten::gelu>({x, "erf"}) == "approximate must be none or tanh");
    CHECK(infer<aten::bitwise_and_tensor>({x, x}) ==
        "the common type of the operands is float32, but must be bool or an integer type");
    const value mask_of_x = tensor(dtype::boolean, {2, 6});
    CHECK(infer<aten::sub_tensor>({mask_of_x, mask_of_x}) ==
        "the common type of the operands is bool, but must be a type of numbers");
    CHECK(infer<aten::bitwise_left_shift_tensor>({mask_of_x, mask_of_x}) ==
        "the common type of the operands is bool, but must be a type of numbers");
    CHECK(
        infer<aten::add_tensor>({whole, whole, 0.5}) == "alpha must be an integer where the result is int64");
    CHECK(infer<aten::silu>({whole}) == "self is int64, but must be a floating-point type");
    CHECK(infer<aten::addcdiv>({whole, whole, whole}) ==
        "the common type of the operands is int64, but must be a floating-point type");
    CHECK(infer<aten::softmax_int>({x, 1, dtype::int64}) ==
        "dtype is int64, but must be a floating-point type");
    CHECK(infer<aten::index_add>({whole, 1, index, tensor(dtype::int64, {2, 3}), 0.5}) ==
        "alpha must be an integer where the result is int64");
    CHECK(infer<aten::_softmax>({whole, 1, false}) == "self is int64, but must be a floating-point type");
    CHECK(infer<aten::layer_norm>({whole, {6}}) == "input is int64, but must be a floating-point type");
    CHECK(infer<aten::mean>({whole}) == "self is int64, but must be a floating-point type");
    CHECK(infer<aten::amax>({real({2, 0}), {1}}) == "axis 1 of [2, 0] must not be empty");
    CHECK(infer<aten::conv2d>({image, real({6, 4, 3, 3}), real({5})}) == "bias [5] must have shape [6]");
    CHECK(infer<aten::conv1d>({image, real({6, 4, 3, 3})}) == "weight [6, 4, 3, 3] must have rank 3");
    CHECK(infer<aten::max_pool2d>({image, {3}, {1}, {2}}) == "padding 2 is more than half of a window of 3");
    CHECK(infer<aten::max_pool2d>({image, {3}, {1}, {2}, {2}}) ==
        "padding 2 is more than half of a window of 3");
    CHECK(infer<aten::avg_pool2d>({image, {2}, {}, {0}, false, true, 0}) == "divisor_override must not be 0");
    CHECK(infer<aten::adaptive_avg_pool2d>({real({4, 0, 3}), {1}}) == "self [0, 3] must not be empty");
    CHECK(infer<aten::group_norm>({image, 3}) == "4 channels are not divisible into 3 groups");
    CHECK(infer<aten::batch_norm>({image, {}, {}, {}, {}, false, 0.1, 1e-5, true}) ==
        "running_mean and running_var must be given");
    CHECK(infer<aten::instance_norm>({image, real({1, 4, 1}), {}, {}, {}, true, 0.1, 1e-5, true}) ==
        "weight, bias, running_mean and running_var must have one axis");
    CHECK(infer<aten::layer_norm>({x, {6}, real({2})}) == "weight [2] must have shape [6]");
    CHECK(infer<aten::_weight_norm>({x, real({2, 1})}) == "float32[2, 6]");
    CHECK(infer<aten::_weight_norm>({x, real({3, 1})}) == "g [3, 1] must broadcast to [2, 1]");
    CHECK(infer<aten::gru_cell>({x, real({2, 4}), real({12, 6}), real({8, 4})}) ==
        "w_hh [8, 4] must have shape [12, 4]");
    CHECK(infer<aten::linear>({x, real({4, 6}), real({3})}) == "bias [3] must have shape [4]");
    CHECK(infer<aten::lstm_cell>({x, std::vector<value>{real({2, 4}), whole}, real({16, 6}),
              real({16, 4})}) == "hx is int64, but must be float32");
    CHECK(infer<aten::mm>({x, tensor(dtype::int64, {6, 2})}) ==
        "the second factor is int64, but must be float32");
    const value truths = tensor(dtype::boolean, {6, 6});
    CHECK(infer<aten::matmul>({truths, truths}) == "the first factor is bool, but must be a type of numbers");
    CHECK(infer<aten::gather>({x, 0, index}) == "index [3] does not fit self [2, 6]");
    CHECK(infer<aten::gather>({x, 0, x}) == "index is float32, but must be int64 or int32");
    CHECK(infer<aten::scatter_src>({x, 1, whole, real({2, 5})}) == "index [2, 6] does not fit src [2, 5]");
    CHECK(infer<aten::index_add>({x, 1, index, real({2, 2})}) == "source [2, 2] must have shape [2, 3]");
    CHECK(infer<aten::select_scatter>({x, real({6}), 1, 0}) == "src [6] must have shape [2]");
    CHECK(infer<aten::slice_scatter>({x, real({3}), 1, 0, 2}) == "src [3] must have shape [2, 2]");
    const std::vector<std::optional<value>> indices{index};
    CHECK(infer<aten::index_put>({x, indices, real({5})}) == "values [5] must broadcast to [3, 6]");
    const std::vector<std::optional<value>> mask{tensor(dtype::boolean, {3})};
    CHECK(infer<aten::index_put>({x, mask, real({})}) == "mask [3] must have shape [2]");
    const std::vector<std::optional<value>> clashing{index, whole};
    CHECK(infer<aten::index_put>({x, clashing, real({})}) == "cannot broadcast [2, 6] with [3]");
    const std::vector<std::optional<value>> mask_of_rows{tensor(dtype::boolean, {2})};
    CHECK(infer<aten::index_put>({x, mask_of_rows, real({2})}) ==
        "the end of values [2] must broadcast to [6]");
    CHECK(infer<aten::index_put>({x, mask_of_rows, real({2, 1})}) == "float32[2, 6]");
    const std::vector<std::optional<value>> all_of_x{mask_of_x};
    CHECK(infer<aten::index_put>({x, all_of_x, real({1, 1})}) == "values [1, 1] must have rank 0 to 1");
    CHECK(infer<aten::prelu>({x, whole}) == "weight is int64, but must be float32");
    CHECK(infer<aten::conv2d>({image, real({6, 4, 3, 3}), {}, int_list{}}) == "stride must not be empty");
    CHECK(infer<aten::as_strided>({x, {2}, {1, 1}}) == "stride has 2 elements, but must have 1");
    CHECK(infer<aten::constant_pad_nd>({x, {-7, 0}}) == "padding is -7, but must be at least -6");
    CHECK(infer<aten::upsample_nearest2d>({image, {0, 1}}) == "output_size [0, 1] must not be empty");
    CHECK(infer<aten::upsample_bilinear2d>({tensor(dtype::int64, {1, 4, 8, 8}), {4, 4}, false}) ==
        "self is int64, but must be a floating-point type");
    CHECK(infer<aten::upsample_bilinear2d>({tensor(dtype::uint8, {1, 4, 8, 8}), {4, 4}, false}) ==
        "uint8[1, 4, 4, 4]");
    CHECK(infer<aten::sym_size_int>({real({}), 0}) == "self [] must have rank 1 or more");
    const value codes = tensor(dtype::int8, {2, 6});
    CHECK(infer<quantized_decomposed::dequantize_per_channel>(
              {codes, real({5}), {}, 1, -128, 127, dtype::int8}) == "scales [5] must have 6 elements");
    CHECK(infer<quantized_decomposed::dequantize_per_tensor>({codes, 0.1, 0, -128, 127, dtype::uint8}) ==
        "input is int8, but must be uint8");
    for (const double scale : {0.0, -0.1, std::nan(""), 1e300}) {
        CHECK(infer<quantized_decomposed::dequantize_per_tensor>({codes, scale, 0, -128, 127, dtype::int8}) ==
            "scale must be above 0 and finite in float32");
    }
    CHECK(infer<quantized_decomposed::quantize_per_tensor>({x, 0.1, 0, 0, 256, dtype::uint8}) ==
        "quant_max is 256, but must be from 0 to 255");
}

TEST_CASE_METHOD(fixture, "rules refuse complex numbers where an op compares or orders") {
    const value z = tensor(dtype::complex64, {1, 4, 8, 8});
    const std::pmr::string self = "self is complex64, but must be a type of real numbers";
    const std::pmr::string common =
        "the common type of the operands is complex64, but must be a type of real numbers";
    CHECK(infer<aten::max>({z}) == self);
    CHECK(infer<aten::amin>({z, {1}}) == self);
    CHECK(infer<aten::aminmax>({z}) == self);
    CHECK(infer<aten::argmax>({z}) == self);
    CHECK(infer<aten::min_dim>({z, 0}) == self);
    CHECK(infer<aten::sort>({z}) == self);
    CHECK(infer<aten::argsort_stable>({z, true}) == self);
    CHECK(infer<aten::msort>({z}) == self);
    CHECK(infer<aten::topk>({z, 1}) == self);
    CHECK(infer<aten::relu>({z}) == self);
    CHECK(infer<aten::erf>({z}) == self);
    CHECK(infer<aten::signbit>({z}) == self);
    CHECK(infer<aten::softmax_int>({z, 1}) == self);
    CHECK(infer<aten::_log_softmax>({z, 1, false}) == self);
    CHECK(infer<aten::max_pool2d>({z, {2}}) == self);
    CHECK(infer<aten::avg_pool2d>({z, {2}}) == self);
    CHECK(infer<aten::adaptive_max_pool2d>({z, {2}}) == self);
    CHECK(infer<aten::maximum>({z, real({8})}) == common);
    CHECK(infer<aten::le_tensor>({real({8}), z}) == common);
    CHECK(infer<aten::gt_scalar>({z, 1}) == common);
    CHECK(infer<aten::clamp>({z, scalar(0)}) == common);
    CHECK(infer<aten::clamp_tensor>({real({8}), z}) == common);
    CHECK(infer<aten::remainder_scalar>({z, 2}) == common);
    CHECK(infer<aten::div_scalar_mode>({z, 2, "trunc"}) == common);
    CHECK(infer<aten::group_norm>({z, 2}) == "input is complex64, but must be a type of real numbers");
    CHECK(infer<aten::eq_tensor>({z, z}) == "bool[1, 4, 8, 8]");
    CHECK(infer<aten::add_tensor>({z, real({8})}) == "complex64[1, 4, 8, 8]");
}

TEST_CASE_METHOD(fixture, "rules ask for operands and parameters of one type") {
    const value image = real({1, 4, 8, 8});
    const value wide = tensor(dtype::float64, {4});
    const value half = tensor(dtype::float16, {1, 4, 8, 8});
    const std::pmr::string weight = "weight is float64, but must be float32";
    CHECK(infer<aten::batch_norm>({image, {}, {}, wide, real({4}), false, 0.1, 1e-5, true}) ==
        "running_mean is float64, but must be float32");
    CHECK(infer<aten::native_group_norm>({image, wide, {}, 1, 4, 64, 2, 1e-5}) == weight);
    CHECK(infer<aten::instance_norm>({image, wide, {}, {}, {}, true, 0.1, 1e-5, true}) == weight);
    CHECK(infer<aten::layer_norm>({real({2, 4}), {4}, wide}) == weight);
    CHECK(infer<aten::group_norm>({half, 2, real({4})}) == "float16[1, 4, 8, 8]");
    CHECK(infer<aten::rms_norm>({real({2, 4}), {4}, wide}) == "float32[2, 4]");
    CHECK(infer<aten::rms_norm>({real({2, 4}), {4}, tensor(dtype::float8_e5m2, {4})}) ==
        "these dtypes do not promote to a common one");
    CHECK(infer<aten::linear>({real({2, 4}), real({4, 4}), wide}) == "bias is float64, but must be float32");
    CHECK(infer<aten::conv2d>({image, tensor(dtype::float64, {6, 4, 3, 3})}) == weight);
    CHECK(infer<aten::conv2d>({image, real({4, 4, 3, 3}), wide}) == "bias is float64, but must be float32");
    const value row = real({2, 4});
    CHECK(infer<aten::scaled_dot_product_attention>({row, row, row, tensor(dtype::float16, {2})}) ==
        "attn_mask is float16, but must be float32");
    const value z = tensor(dtype::complex64, {2, 4});
    CHECK(infer<aten::scaled_dot_product_attention>({z, z, z}) ==
        "query is complex64, but must be a type of real numbers");
    const std::vector<value> factors{real({2}), wide};
    CHECK(infer<aten::einsum>({"i,j->ij", factors}) == "the second factor is float64, but must be float32");
    const value bytes = tensor(dtype::uint8, {8});
    CHECK(infer<aten::masked_fill_scalar>({image, bytes, 0}) == "mask is uint8, but must be bool");
    CHECK(infer<aten::where_scalar>({bytes, 1, 2}) == "int64[8]");
    const value truths = tensor(dtype::boolean, {8});
    CHECK(infer<aten::div_tensor_mode>({truths, truths, "floor"}) ==
        "the common type of the operands is bool, but must be a type of numbers");
    CHECK(infer<aten::div_tensor_mode>({truths, truths, std::nullopt}) == "float32[8]");
}

TEST_CASE_METHOD(fixture, "aten.convolution takes batches, and no negative padding of its result") {
    const value weight = real({6, 4, 3, 3});
    CHECK(infer<aten::convolution>({real({4, 8, 8}), weight, {}, {1}, {0}, {1}, false, {0}, 1}) ==
        "input [4, 8, 8] must have rank 4");
    CHECK(infer<aten::convolution>({real({1, 4, 8, 8}), weight, {}, {1}, {0}, {1}, false, {-1}, 1}) ==
        "output_padding is -1, but must be at least 0");
    CHECK(infer<aten::convolution>({real({1, 4, 8, 8}), weight, {}, {1}, {0}, {1}, false, {0}, 1}) ==
        "float32[1, 6, 6, 6]");
}

TEST_CASE_METHOD(fixture, "a result that no lowering holds is not the program's fault") {
    const std::vector<std::int64_t> many(20, 1);
    inference out(g.arena());
    const auto ranks = infer_op<aten::tile>({real({2}), int_list(many)}, out);
    REQUIRE(!ranks);
    CHECK(ranks.error().message == "rank is above 16");
    CHECK(ranks.error().kind == error_kind::unsupported);
    const std::int64_t huge = std::int64_t{1} << 40;
    const auto sizes = infer_op<aten::repeat>({real({2}), {huge, huge}}, out);
    REQUIRE(!sizes);
    CHECK(sizes.error().kind == error_kind::unsupported);
    CHECK(infer<aten::full>({{2}, 1, dtype::shape}) == "no tensor has the type shape");
}

TEST_CASE_METHOD(fixture, "rules are found at run time") {
    node& n = g.create<aten::relu>({real({2})});
    const inference_rule rule = find_rule<aten::dialect>(*n.op);
    REQUIRE(rule != nullptr);
    inference out(g.arena());
    REQUIRE(rule(n.arguments, out).has_value());
    CHECK(out.results()[0] == tensor_meta{dtype::float32, {2}, {}});
}
