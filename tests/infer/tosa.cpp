// SPDX-License-Identifier: MIT
// Tests infer/tosa.hpp and target/tosa_verify.hpp: shapes, the checks of the specification, and refusals by
// targets.
#include <headrace/infer/tosa.hpp>
#include <headrace/target/tosa_verify.hpp>

#include <memory_resource>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <headrace/ir/graph.hpp>

using namespace headrace;

namespace {

constexpr target_spec fp = *parse_target("TOSA-1.0+FP");
constexpr target_spec integer = *parse_target("TOSA-1.0+INT");

struct fixture {
    graph g;

    value input(dtype type, int_list shape) {
        const value v = g.create<builtin::placeholder>({}).result();
        g.set_meta(v, {type, shape, {}});
        return v;
    }
    value floats(int_list shape) { return input(dtype::float32, shape); }
    value constant(dtype type, int_list shape = {1}) {
        return create_constant(g, {type, shape, {}}, nullptr, [](std::span<std::byte> data) {
            for (std::byte& b : data) b = std::byte{0};
        });
    }
    value shape(int_list values) {
        const value v = g.create<tosa::const_shape>({.values = values}).result();
        g.set_meta(v, {dtype::shape, {static_cast<std::int64_t>(values.size())}, {}});
        return v;
    }
    args<tosa::conv2d> conv(value x, value w, int_list pad, int_list stride, int_list dilation = {1, 1}) {
        const tensor_meta& meta = *meta_of(w);
        const value bias = constant(dtype::float32, {meta.shape[0]});
        return {.input = x,
            .weight = w,
            .bias = bias,
            .input_zp = constant(dtype::float32),
            .weight_zp = constant(dtype::float32),
            .pad = pad,
            .stride = stride,
            .dilation = dilation,
            .acc_type = dtype::float32};
    }
};

// Returns "float32 [1, 2]" for each result, or the error.
template <op_tag Op>
std::pmr::string infer(const args<Op>& a) {
    std::pmr::monotonic_buffer_resource arena;
    inference out(&arena);
    if (auto inferred = infer_op<Op>(a, out); !inferred) return "error: " + inferred.error().message;
    std::pmr::string text;
    for (const tensor_meta& m : out.results()) {
        text += (text.empty() ? "" : ", ") + std::pmr::string(name_of(m.dtype)) + ' ' + shape_text(m.shape);
    }
    return text;
}

template <class Result>
std::pmr::string message(const Result& r) {
    return r ? std::pmr::string("fine") : r.error().message;
}

}  // namespace

TEST_CASE("tosa convolutions", "[tosa][infer]") {
    fixture f;
    const value x = f.floats({1, 7, 9, 2});
    const value w = f.floats({4, 3, 3, 2});
    CHECK(infer<tosa::conv2d>(f.conv(x, w, {1, 1, 1, 1}, {1, 1})) == "float32 [1, 7, 9, 4]");
    CHECK(infer<tosa::conv2d>(f.conv(x, w, {1, 1, 1, 1}, {2, 2})) == "float32 [1, 4, 5, 4]");
    CHECK(infer<tosa::conv2d>(f.conv(x, w, {1, 0, 1, 1}, {2, 2})) ==
        "error: conv2d: (height 7 + pad 1 - kernel 3) is not divisible by stride 2");
    CHECK(infer<tosa::conv2d>(f.conv(x, w, {0, 0, 0, 0}, {1, 1}, {4, 1})) ==
        "error: conv2d: (height 7 + pad 0 - kernel 9) is negative");
    CHECK(infer<tosa::conv2d>(f.conv(x, w, {0, 0}, {1, 1})) == "error: conv2d: pad [0, 0] must have 4 items");
    CHECK(infer<tosa::conv2d>(f.conv(x, f.floats({4, 3, 3, 1}), {1, 1, 1, 1}, {1, 1})) ==
        "error: conv2d: the input has 2 channels, the weight 1");

    const value zp = f.constant(dtype::float32);
    CHECK(infer<tosa::depthwise_conv2d>({.input = x,
              .weight = f.floats({3, 3, 2, 5}),
              .bias = f.floats({10}),
              .input_zp = zp,
              .weight_zp = zp,
              .pad = {1, 1, 1, 1},
              .stride = {1, 1},
              .dilation = {1, 1},
              .acc_type = dtype::float32}) == "float32 [1, 7, 9, 10]");
    CHECK(infer<tosa::transpose_conv2d>({.input = x,
              .weight = w,
              .bias = f.floats({1}),
              .input_zp = zp,
              .weight_zp = zp,
              .out_pad = {-1, -1, 0, 1},
              .stride = {2, 2},
              .acc_type = dtype::float32}) == "float32 [1, 13, 20, 4]");
    CHECK(infer<tosa::max_pool2d>({.input = x, .kernel = {3, 3}, .stride = {2, 2}, .pad = {0, 0, 0, 0}}) ==
        "float32 [1, 3, 4, 2]");
    CHECK(infer<tosa::max_pool2d>({.input = x, .kernel = {2, 2}, .stride = {1, 1}, .pad = {2, 0, 0, 0}}) ==
        "error: max_pool2d: pad [2, 0, 0, 0] must be smaller than kernel [2, 2]");
}

TEST_CASE("tosa elementwise ops", "[tosa][infer]") {
    fixture f;
    const value a = f.floats({2, 1, 3});
    const value b = f.floats({1, 4, 3});
    CHECK(infer<tosa::add>({a, b}) == "float32 [2, 4, 3]");
    CHECK(infer<tosa::greater>({a, b}) == "bool [2, 4, 3]");
    CHECK(infer<tosa::add>({a, f.floats({3})}) == "error: ADD: ranks of [2, 1, 3] and [3] differ");
    CHECK(infer<tosa::add>({a, f.floats({3, 1, 3})}) ==
        "error: ADD: cannot broadcast [2, 1, 3] with [3, 1, 3]");
    CHECK(infer<tosa::add>({a, f.input(dtype::int32, {2, 1, 3})}) ==
        "error: ADD: its operands are of float32 and int32");
    CHECK(infer<tosa::mul>({f.input(dtype::int8, {2}), f.input(dtype::int8, {1}), f.constant(dtype::int8)}) ==
        "int32 [2]");
    CHECK(infer<tosa::select>({f.input(dtype::boolean, {1, 1, 1}), a, b}) == "float32 [2, 4, 3]");
    CHECK(infer<tosa::clamp>({.input = a, .min_val = 1.0, .max_val = 0.0}) ==
        "error: clamp: min_val is above max_val, or one is not a number");
    CHECK(infer<tosa::table>({f.input(dtype::int16, {5}), f.constant(dtype::int16, {513})}) == "int32 [5]");
    CHECK(infer<tosa::cast>({.input = a, .output_type = dtype::int8}) == "int8 [2, 1, 3]");
}

TEST_CASE("tosa layout ops", "[tosa][infer]") {
    fixture f;
    const value x = f.floats({2, 3, 4});
    CHECK(infer<tosa::reshape>({x, f.shape({6, 4})}) == "float32 [6, 4]");
    CHECK(infer<tosa::reshape>({x, f.shape({5, 4})}) == "error: reshape: cannot make [5, 4] of [2, 3, 4]");
    CHECK(infer<tosa::reshape>({x, x}) == "error: reshape: shape is not a CONST_SHAPE");
    CHECK(infer<tosa::transpose>({x, {2, 0, 1}}) == "float32 [4, 2, 3]");
    CHECK(infer<tosa::transpose>({x, {0, 0, 1}}) == "error: transpose: perms [0, 0, 1] is not a permutation");
    CHECK(infer<tosa::concat>({.input1 = {x, f.floats({2, 1, 4})}, .axis = 1}) == "float32 [2, 4, 4]");
    CHECK(infer<tosa::concat>({.input1 = {x, f.floats({2, 1, 4})}, .axis = 0}) ==
        "error: concat: [2, 1, 4] of float32 does not fit [2, 3, 4] of float32 on axis 0");
    CHECK(infer<tosa::pad>({x, f.shape({0, 1, 2, 0, 0, 0}), f.constant(dtype::float32)}) ==
        "float32 [3, 5, 4]");
    CHECK(infer<tosa::slice>({x, f.shape({0, 1, 0}), f.shape({2, 2, 1})}) == "float32 [2, 2, 1]");
    CHECK(infer<tosa::slice>({x, f.shape({0, 2, 0}), f.shape({2, 2, 1})}) ==
        "error: slice: start [0, 2, 0] with size [2, 2, 1] exceeds [2, 3, 4]");
    CHECK(infer<tosa::tile>({x, f.shape({1, 2, 3})}) == "float32 [2, 6, 12]");
    CHECK(infer<tosa::reduce_sum>({.input = x, .axis = 1}) == "float32 [2, 1, 4]");
    CHECK(infer<tosa::reduce_sum>({.input = x, .axis = -1}) ==
        "error: REDUCE_SUM: axis -1 is not an axis of [2, 3, 4]");
    CHECK(infer<tosa::argmax>({.input = x, .axis = 0}) == "int32 [3, 4]");
    CHECK(infer<tosa::gather>({x, f.input(dtype::int32, {2, 7})}) == "float32 [2, 7, 4]");
    CHECK(
        infer<tosa::rfft2d>({.input_real = f.floats({1, 8, 16})}) == "float32 [1, 8, 9], float32 [1, 8, 9]");
    CHECK(infer<tosa::resize>({f.floats({1, 4, 4, 2}), f.shape({2, 1, 2, 1}), f.shape({0, 0}),
              f.shape({1, 1}), resize_mode::nearest}) == "float32 [1, 8, 8, 2]");
    CHECK(infer<tosa::resize>({f.input(dtype::int8, {1, 4, 4, 2}), f.shape({16, 7, 16, 1}), f.shape({0, 0}),
              f.shape({0, 0}), resize_mode::bilinear}) ==
        "error: resize: ((height 4 - 1) * 16 - offset 0 + border 0) is not divisible by stride 7");
}

TEST_CASE("tosa rescale", "[tosa][infer]") {
    fixture f;
    const value x = f.input(dtype::int32, {2, 5});
    args<tosa::rescale> a{.input = x,
        .multiplier = f.constant(dtype::int32),
        .shift = f.constant(dtype::int8),
        .input_zp = f.constant(dtype::int32),
        .output_zp = f.constant(dtype::int8)};
    CHECK(infer<tosa::rescale>(a) == "int8 [2, 5]");
    a.per_channel = true;
    CHECK(infer<tosa::rescale>(a) == "error: rescale: multiplier and shift must have shape [5], not [1]");
    a.per_channel = false;
    a.scale32 = false;
    CHECK(infer<tosa::rescale>(a) ==
        "error: rescale: multiplier must be int32 with scale32, and int16 without it");
}

TEST_CASE("verify_tosa tells what a target lacks", "[tosa][infer]") {
    fixture f;
    const value x = f.floats({2, 3});
    node& sum = f.g.create<tosa::add>({x, x});
    CHECK(message(verify_tosa(sum, fp)) == " (tosa.ADD): a result has no metadata");
    f.g.set_meta(sum.result(), {dtype::float32, {2, 3}, {}});
    f.g.set_name(sum.result(), "sum");
    CHECK(message(verify_tosa(sum, fp)) == "fine");
    CHECK(message(verify_tosa(sum, integer)) ==
        "sum (tosa.ADD): (float32, float32, float32) needs the target to have FP");
    f.g.set_meta(sum.result(), {dtype::float32, {3, 2}, {}});
    CHECK(message(verify_tosa(sum, fp)) ==
        "sum (tosa.ADD): its metadata says float32 [3, 2], but it gives float32 [2, 3]");

    const value half = f.input(dtype::bfloat16, {4});
    node& e = f.g.create<tosa::exp>({half});
    f.g.set_meta(e.result(), {dtype::bfloat16, {4}, {}});
    f.g.set_name(e.result(), "e");
    CHECK(message(verify_tosa(e, fp)) ==
        "e (tosa.EXP): (bfloat16, bfloat16) needs the target to have FP and bf16; add +bf16 to "
        "it");
    CHECK(message(verify_tosa(e, fp.with(target_feature::bf16))) == "fine");

    const value long_integers = f.input(dtype::int64, {4});
    node& n = f.g.create<tosa::abs>({long_integers});
    f.g.set_meta(n.result(), {dtype::int64, {4}, {}});
    f.g.set_name(n.result(), "n");
    CHECK(message(verify_tosa(n, integer)) == "n (tosa.ABS): TOSA 1.0 has no ABS of (int64, int64)");
}

TEST_CASE("verify_tosa holds to level 8K and to constant operands", "[tosa][infer]") {
    fixture f;
    const value wide = f.floats({1, 20000, 1, 1});
    node& pool = f.g.create<tosa::max_pool2d>(
        {.input = wide, .kernel = {9000, 1}, .stride = {1, 1}, .pad = {0, 0, 0, 0}});
    f.g.set_meta(pool.result(), {dtype::float32, {1, 11001, 1, 1}, {}});
    f.g.set_name(pool.result(), "pool");
    CHECK(message(verify_tosa(pool, fp)) ==
        "pool (tosa.MAX_POOL2D): kernel 9000 is above level 8K's limit of 8192");

    const value x = f.floats({1, 1});
    node& product = f.g.create<tosa::mul>({x, x, f.input(dtype::int8, {1})});
    f.g.set_meta(product.result(), {dtype::float32, {1, 1}, {}});
    f.g.set_name(product.result(), "product");
    CHECK(message(verify_tosa(product, fp)) == "product (tosa.MUL): shift must be a constant");
}
