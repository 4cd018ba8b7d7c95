// SPDX-License-Identifier: MIT
// Tests which transposes the choice of layouts removes, rule by rule.
#include <catch2/catch.hpp>

#include <headrace/passes/fold/fold_constants.hpp>
#include <headrace/passes/layout/choose_layouts.hpp>
#include <headrace/passes/layout/moving_ops.hpp>

#include "../../support/quantized_test.hpp"

using namespace headrace;

namespace {

constexpr dtype i8 = dtype::int8;
constexpr dtype fp32 = dtype::float32;

value transposed(program& p, value v, std::initializer_list<std::int64_t> perms) {
    return p.make<tosa::transpose>({.input1 = v, .perms = perms});
}
value image(program& p, dtype type) { return transposed(p, p.input(type, {2, 5, 6, 3}), {0, 3, 1, 2}); }

using fold = fold_constants;

/// Empty if the program computes the same, and has the given number of transposes left.
template <class Build>
std::pmr::string compare(const Build& build, std::size_t left) {
    const std::size_t count = count_after<tosa::transpose, fuse_transposes, choose_layouts, fold>(build);
    if (count != left) return number_text(count) + " transposes are left";
    return compare_runs<may_rewrite<fuse_transposes>, may_rewrite<choose_layouts>, may_rewrite<fold>>(build);
}
/// `op(program&, value)` between a transpose to channels-first and one back.
template <class Op>
auto between(dtype type, const Op& op) {
    return [=](program& p) { p.output(transposed(p, op(p, image(p, type)), {0, 2, 3, 1})); };
}
value shape_operand(program& p, const shape_builder& values) {
    return p.make<tosa::const_shape>({.values = int_list(values)});
}
value reshaped(program& p, value v, const shape_builder& shape) {
    return p.make<tosa::reshape>({.input1 = v, .shape = shape_operand(p, shape)});
}
/// A constant with a different number at each position, or the same number at all.
value numbers(program& p, const shape_builder& shape, std::optional<float> all = std::nullopt) {
    return create_constant(p.g, {fp32, int_list(shape), {}}, nullptr, [&](std::span<std::byte> data) {
        for (std::size_t i = 0; i != data.size() / sizeof(float); ++i) {
            const float number = all.value_or(static_cast<float>(i % 17) / 4 - 2);
            std::memcpy(data.data() + i * sizeof number, &number, sizeof number);
        }
    });
}
/// A convolution that keeps the size of an NHWC image.
value convolved(program& p, value v, std::int64_t channels, std::int64_t kernel) {
    const std::int64_t pad = kernel / 2;
    return p.make<tosa::conv2d>({.input = v,
        .weight = numbers(p, {channels, kernel, kernel, meta_of(v)->shape[3]}),
        .bias = numbers(p, {channels}),
        .input_zp = numbers(p, {1}, 0),
        .weight_zp = numbers(p, {1}, 0),
        .pad = {pad, pad, pad, pad},
        .stride = {1, 1},
        .dilation = {1, 1},
        .acc_type = fp32});
}
/// A pointwise convolution of quantized values.
value convolved_codes(program& p, value v, std::int64_t channels) {
    const std::int64_t in = meta_of(v)->shape[3];
    std::vector<std::int64_t> weights;
    for (std::int64_t i = 0; i != channels * in; ++i) weights.push_back(i * 7 % 23 - 11);
    std::vector<std::int64_t> bias;
    for (std::int64_t i = 0; i != channels; ++i) bias.push_back(100 * i);
    return p.make<tosa::conv2d>({.input = v,
        .weight = integer_constant(p, i8, {channels, 1, 1, in}, weights),
        .bias = integer_constant(p, dtype::int32, {channels}, bias),
        .input_zp = integer_constant(p, i8, {1}, {2}),
        .weight_zp = integer_constant(p, i8, {1}, {0}),
        .pad = {0, 0, 0, 0},
        .stride = {1, 1},
        .dilation = {1, 1},
        .acc_type = dtype::int32});
}
/// A rescale by a factor of 1/2, or by one factor for each of 6 indices of the last axis.
value rescaled(program& p, value v, bool per_channel) {
    const dtype type = meta_of(v)->dtype;
    const std::vector<std::int64_t> multipliers{1 << 30, 1 << 29, 3 << 28, 1 << 30, 1 << 29, 3 << 28};
    const std::int64_t count = per_channel ? 6 : 1;
    const std::vector<std::int64_t> used(multipliers.begin(), multipliers.begin() + count);
    return p.make<tosa::rescale>({.input = v,
        .multiplier = integer_constant(p, dtype::int32, {count}, used),
        .shift = integer_constant(p, i8, {count}, std::vector<std::int64_t>(used.size(), 31)),
        .input_zp = integer_constant(p, type, {1}, {type == i8 ? 3 : 0}),
        .output_zp = integer_constant(p, i8, {1}, {-5}),
        .scale32 = true,
        .per_channel = per_channel});
}

}  // namespace

TEST_CASE("past a RESCALE of the whole tensor, not past one of its last axis") {
    CHECK(compare(between(i8, [](program& p, value v) { return rescaled(p, v, false); }), 0) == "");
    CHECK(compare(between(i8, [](program& p, value v) { return rescaled(p, v, true); }), 2) == "");
}

TEST_CASE("past a RESCALE of the only channel, which need not be the last axis then") {
    const auto of_one = [](program& p) {
        const value v = p.make<tosa::rescale>({.input = transposed(p, p.input(i8, {4, 6, 1}), {1, 0, 2}),
            .multiplier = integer_constant(p, dtype::int32, {1}, {1 << 30}),
            .shift = integer_constant(p, i8, {1}, {31}),
            .input_zp = integer_constant(p, i8, {1}, {3}),
            .output_zp = integer_constant(p, i8, {1}, {-5}),
            .scale32 = true,
            .per_channel = true});
        p.output(transposed(p, v, {1, 0, 2}));
    };
    CHECK(compare(of_one, 0) == "");
}

TEST_CASE("past a TABLE") {
    const auto squares = [](program& p, value v) {
        std::vector<std::int64_t> codes;
        for (int c = -128; c != 128; ++c) codes.push_back(c * c / 130);
        return p.make<tosa::table>({.input1 = v, .table = integer_constant(p, i8, {256}, codes)});
    };
    CHECK(compare(between(i8, squares), 0) == "");
}

TEST_CASE("past CONCAT, along any axis") {
    for (const std::int64_t axis : {0, 1, 2, 3}) {
        CAPTURE(axis);
        for (const dtype type : {i8, fp32}) {
            const auto join = [=](program& p) {
                const value v =
                    p.make<tosa::concat>({.input1 = {image(p, type), image(p, type)}, .axis = axis});
                p.output(transposed(p, v, {0, 2, 3, 1}));
            };
            CHECK(compare(join, 0) == "");
        }
    }
    const auto apart = [](program& p) {
        const value other = transposed(p, p.input(i8, {2, 5, 3, 6}), {0, 2, 1, 3});
        p.output(
            transposed(p, p.make<tosa::concat>({.input1 = {image(p, i8), other}, .axis = 0}), {0, 2, 3, 1}));
    };
    CHECK(compare(apart, 1) == "");
    const auto plain = [](program& p) {
        const value other = p.input(i8, {2, 3, 5, 6});
        p.output(
            transposed(p, p.make<tosa::concat>({.input1 = {image(p, i8), other}, .axis = 1}), {0, 2, 3, 1}));
    };
    CHECK(compare(plain, 1) == "");
    const auto twice = [](program& p) {
        const value v = image(p, i8);
        p.output(transposed(p, p.make<tosa::concat>({.input1 = {v, v}, .axis = 2}), {0, 2, 3, 1}));
    };
    CHECK(compare(twice, 0) == "");
}

TEMPLATE_TEST_CASE("past reductions and REVERSE, along any axis", "", tosa::reduce_sum, tosa::reduce_max,
    tosa::reduce_min, tosa::reduce_product) {
    for (const std::int64_t axis : {0, 1, 2, 3}) {
        CAPTURE(axis);
        CHECK(compare(between(fp32,
                          [=](program& p, value v) {
                              v = p.make<tosa::reverse>({.input1 = v, .axis = axis});
                              return p.make<TestType>({.input = v, .axis = axis});
                          }),
                  0) == "");
    }
}

TEMPLATE_TEST_CASE("past reductions of booleans", "", tosa::reduce_any, tosa::reduce_all) {
    for (const std::int64_t axis : {1, 3}) {
        CHECK(compare(between(dtype::boolean,
                          [=](program& p, value v) { return p.make<TestType>({.input = v, .axis = axis}); }),
                  0) == "");
    }
}

TEST_CASE("an axis is reduced in pieces, wherever they are, and repeated in pieces") {
    // An image of 6 x 4 pixels by the places in patches of 2 x 2, and back.
    const auto unfolded = [](program& p, value v) {
        v = reshaped(p, transposed(p, v, {0, 3, 1, 2}), {5, 3, 2, 2, 2});
        return reshaped(p, transposed(p, v, {0, 2, 4, 1, 3}), {1, 5, 4, 6});
    };
    const auto folded = [](program& p, value v) {
        v = transposed(p, reshaped(p, v, {5, 2, 2, 3, 2}), {0, 3, 1, 4, 2});
        return transposed(p, reshaped(p, v, {1, 5, 6, 4}), {0, 2, 3, 1});
    };
    const auto softmax = [&](program& p) {
        const value v = unfolded(p, p.input(fp32, {1, 6, 4, 5}));
        const value largest = p.make<tosa::reduce_max>({.input = v, .axis = 3});
        const value powers =
            p.make<tosa::exp>({.input1 = p.make<tosa::sub>({.input1 = v, .input2 = largest})});
        const value sum = p.make<tosa::reduce_sum>({.input = powers, .axis = 3});
        const value repeated =
            p.make<tosa::tile>({.input1 = sum, .multiples = shape_operand(p, {1, 1, 1, 6})});
        p.output(folded(p, p.make<tosa::sub>({.input1 = powers, .input2 = repeated})));
    };
    CHECK(compare(softmax, 0) == "");
    // All elements: they may be reduced in any order at once.
    const auto norm = [&](program& p) {
        const value v = unfolded(p, p.input(fp32, {1, 6, 4, 5}));
        const value sum = p.make<tosa::reduce_sum>({.input = reshaped(p, v, {1, 1, 1, 120}), .axis = 3});
        p.output(folded(p, p.make<tosa::sub>({.input1 = v, .input2 = sum})));
    };
    CHECK(compare(norm, 0) == "");
    CHECK(count_after<tosa::reduce_sum, choose_layouts>(norm) == 1);
    // Positions depend on the order.
    const auto position = [&](program& p) {
        const value v = unfolded(p, p.input(fp32, {1, 6, 4, 5}));
        p.output(p.make<tosa::argmax>({.input = v, .axis = 3}));
    };
    CHECK(compare(position, 1) == "");
}

TEST_CASE("past all of them in a row") {
    const auto chain = [](program& p) {
        const value table = integer_constant(p, i8, {256}, std::vector<std::int64_t>(256, 7));
        value v = rescaled(p, image(p, i8), false);
        v = p.make<tosa::concat>({.input1 = {v, rescaled(p, image(p, i8), false)}, .axis = 1});
        v = p.make<tosa::reverse>({.input1 = p.make<tosa::table>({.input1 = v, .table = table}), .axis = 2});
        v = p.make<tosa::reduce_max>({.input = v, .axis = 3});
        p.output(transposed(p, v, {0, 2, 3, 1}));
    };
    CHECK(compare(chain, 0) == "");
}

TEST_CASE("a transpose that somebody else reads is made for that reader alone") {
    const auto build = [](program& p) {
        const value v = image(p, i8);
        p.output(v);
        p.output(transposed(p, rescaled(p, v, false), {0, 2, 3, 1}));
        p.output(transposed(p, p.make<tosa::reverse>({.input1 = v, .axis = 1}), {0, 2, 3, 1}));
    };
    CHECK(compare(build, 1) == "");
}

TEST_CASE("transposes undo each other, past reshapes as well") {
    const auto pair = [](program& p) {
        p.output(transposed(p, transposed(p, p.input(fp32, {2, 3, 4, 5}), {0, 2, 3, 1}), {0, 3, 1, 2}));
    };
    CHECK(compare(pair, 0) == "");
    // (n, h, w, c) to (1, h, w, (n, c)): one transpose instead of two.
    const auto batch_into_channels = [](program& p) {
        const value v = reshaped(p, image(p, fp32), {1, 6, 5, 6});
        p.output(transposed(p, v, {0, 2, 3, 1}));
    };
    CHECK(compare(batch_into_channels, 1) == "");
    // Pixels move to rows of another length; the channels stay last.
    const auto safe = [](program& p) {
        const value v = reshaped(p, transposed(p, p.input(fp32, {1, 4, 6, 3}), {0, 3, 1, 2}), {1, 3, 8, 3});
        p.output(transposed(p, v, {0, 2, 3, 1}));
    };
    CHECK(compare(safe, 0) == "");
}

TEST_CASE("a reshape between transposes, of rank 3 to 6") {
    // Axes are split and reordered at once: exactly one transpose must stay.
    const auto reordering = [](program& p) {
        const value v =
            reshaped(p, transposed(p, p.input(fp32, {1, 14, 72, 2}), {0, 3, 1, 2}), {1, 1, 72, 28});
        p.output(transposed(p, v, {0, 2, 3, 1}));
    };
    CHECK(compare(reordering, 1) == "");
    // The pair around a reshape cancels.
    const auto of_rank_3 = [](program& p) {
        const value v = reshaped(p, transposed(p, p.input(fp32, {2, 6, 5}), {0, 2, 1}), {2, 5, 3, 2});
        p.output(transposed(p, v, {0, 2, 3, 1}));
    };
    CHECK(compare(of_rank_3, 0) == "");
    const auto of_rank_5 = [](program& p) {
        const value v =
            reshaped(p, transposed(p, p.input(fp32, {1, 2, 3, 4, 5}), {0, 4, 1, 2, 3}), {1, 5, 6, 4});
        p.output(transposed(p, v, {0, 2, 3, 1}));
    };
    CHECK(compare(of_rank_5, 0) == "");
    const auto of_rank_6 = [](program& p) {
        const value v =
            reshaped(p, transposed(p, p.input(fp32, {2, 3, 2, 2, 3, 2}), {0, 5, 1, 2, 3, 4}), {2, 2, 36});
        p.output(transposed(p, v, {0, 2, 1}));
    };
    CHECK(compare(of_rank_6, 0) == "");
}

TEST_CASE("axes of size 1 move for nothing") {
    const auto build = [](program& p) {
        const value v = transposed(p, p.input(fp32, {1, 4, 1, 3}), {0, 2, 1, 3});
        p.output(p.make<tosa::exp>({.input1 = v}));
        p.output(transposed(p, p.input(fp32, {2, 1, 3}), {1, 0, 2}));
        p.output(transposed(p, p.input(fp32, {1, 2, 1, 3, 1, 4}), {1, 0, 3, 2, 5, 4}));
    };
    CHECK(compare(build, 0) == "");
}

TEST_CASE("past slices, paddings, tiles and ARGMAX, along any axis") {
    for (const std::size_t axis : {0U, 1U, 2U, 3U}) {
        CAPTURE(axis);
        const auto each = [axis](std::int64_t here, std::int64_t elsewhere) {
            shape_builder values = shape_builder::filled(4, elsewhere);
            values[axis] = here;
            return values;
        };
        const auto cut = [&](program& p, value v) {
            shape_builder size(meta_of(v)->shape);
            size[axis] -= 1;
            return p.make<tosa::slice>(
                {.input1 = v, .start = shape_operand(p, each(1, 0)), .size = shape_operand(p, size)});
        };
        CHECK(compare(between(fp32, cut), 0) == "");
        const auto padded = [&](program& p, value v) {
            shape_builder amounts = shape_builder::filled(8, 0);
            amounts[2 * axis + 1] = 2;
            return p.make<tosa::pad>({.input1 = v,
                .padding = shape_operand(p, amounts),
                .pad_const = p.constant<float>(fp32, {1}, {5})});
        };
        CHECK(compare(between(fp32, padded), 0) == "");
        const auto tiled = [&](program& p, value v) {
            return p.make<tosa::tile>({.input1 = v, .multiples = shape_operand(p, each(3, 1))});
        };
        CHECK(compare(between(fp32, tiled), 0) == "");
        const auto largest = [&](program& p) {
            const auto at = static_cast<std::int64_t>(axis);
            value v = p.make<tosa::argmax>({.input = image(p, fp32), .axis = at});
            shape_builder shape(meta_of(v)->shape);
            shape.insert(axis, 1);
            p.output(transposed(p, reshaped(p, v, shape), {0, 2, 3, 1}));
        };
        CHECK(compare(largest, 0) == "");
    }
}

TEST_CASE("past operands that broadcast, constant or not") {
    const auto build = [](program& p) {
        const value gate = transposed(p, p.input(fp32, {2, 1, 1, 3}), {0, 3, 1, 2});
        const value bias = p.constant<float>(fp32, {1, 3, 1, 1}, {1, 2, 3});
        value v = p.make<tosa::add>({.input1 = image(p, fp32), .input2 = bias});
        v = p.make<tosa::maximum>({.input1 = v, .input2 = gate});
        p.output(transposed(p, v, {0, 2, 3, 1}));
    };
    CHECK(compare(build, 0) == "");
}

TEST_CASE("into the weights of what multiplies with constants") {
    // The flattened image of a linear layer.
    const auto flattened = [](program& p) {
        const value flat =
            reshaped(p, transposed(p, p.input(fp32, {2, 4, 5, 3}), {0, 3, 1, 2}), {2, 1, 1, 60});
        p.output(convolved(p, flat, 7, 1));
    };
    CHECK(compare(flattened, 0) == "");
    const auto matrix = [](program& p) {
        const value v = reshaped(p, transposed(p, p.input(fp32, {2, 5, 6, 3}), {0, 3, 1, 2}), {2, 3, 30});
        p.output(p.make<tosa::matmul>({.a = v,
            .b = numbers(p, {2, 30, 4}),
            .a_zp = numbers(p, {1}, 0),
            .b_zp = numbers(p, {1}, 0),
            .output_type = fp32}));
    };
    CHECK(compare(matrix, 1) == "");  // (c, h·w) is not (h·w, c) with columns in another order
    // Channel shuffle between two convolutions, the second after an activation.
    for (const std::int64_t kernel : {1, 3}) {
        const auto shuffled = [kernel](program& p) {
            value v = convolved(p, p.input(fp32, {1, 4, 4, 3}), 6, kernel);
            v = reshaped(p, transposed(p, reshaped(p, v, {16, 2, 3}), {0, 2, 1}), {1, 4, 4, 6});
            p.output(convolved(p, p.make<tosa::tanh>({.input = v}), 5, kernel));
        };
        CHECK(compare(shuffled, 0) == "");
    }
    const auto depthwise = [](program& p) {
        value v = convolved(p, p.input(fp32, {1, 4, 4, 3}), 6, 1);
        v = reshaped(p, transposed(p, reshaped(p, v, {16, 2, 3}), {0, 2, 1}), {1, 4, 4, 6});
        v = p.make<tosa::depthwise_conv2d>({.input = v,
            .weight = numbers(p, {3, 3, 6, 1}),
            .bias = numbers(p, {6}),
            .input_zp = numbers(p, {1}, 0),
            .weight_zp = numbers(p, {1}, 0),
            .pad = {1, 1, 1, 1},
            .stride = {1, 1},
            .dilation = {1, 1},
            .acc_type = fp32});
        p.output(convolved(p, v, 4, 1));
    };
    CHECK(compare(depthwise, 0) == "");
}

TEST_CASE("multipliers go with the channels that they are for") {
    const auto build = [](program& p) {
        value v = convolved_codes(p, p.input(i8, {1, 4, 4, 3}), 6);
        v = rescaled(p, v, true);
        v = reshaped(p, transposed(p, reshaped(p, v, {16, 2, 3}), {0, 2, 1}), {1, 4, 4, 6});
        p.output(convolved_codes(p, v, 4));
    };
    CHECK(compare(build, 0) == "");
}

TEST_CASE("MATMUL of transposed matrices is the product in the other order") {
    const auto build = [](program& p) {
        const value zero = numbers(p, {1}, 0);
        const value a = transposed(p, p.input(fp32, {2, 5, 3}), {0, 2, 1});
        const value b = transposed(p, p.input(fp32, {2, 4, 5}), {0, 2, 1});
        const value product =
            p.make<tosa::matmul>({.a = a, .b = b, .a_zp = zero, .b_zp = zero, .output_type = fp32});
        p.output(transposed(p, product, {0, 2, 1}));
    };
    CHECK(compare(build, 0) == "");
}

namespace {

value zero_of(program& p) { return numbers(p, {1}, 0); }
/// A pointwise convolution of an image as a matrix of pixels for each head: [heads, pixels, channels / heads].
value by_heads(program& p, value image, std::int64_t heads, std::int64_t channels) {
    const int_list s = meta_of(image)->shape;
    const value v = convolved(p, image, heads * channels, 1);
    return transposed(p, reshaped(p, v, {s[1] * s[2], heads, channels}), {1, 0, 2});
}
value multiplied(program& p, value a, value b) {
    return p.make<tosa::matmul>(
        {.a = a, .b = b, .a_zp = zero_of(p), .b_zp = zero_of(p), .output_type = fp32});
}
/// The convolution after an attention, of the heads' results side by side.
value joined_heads(program& p, value v, const int_list& image) {
    const int_list s = meta_of(v)->shape;
    v = reshaped(p, transposed(p, v, {1, 0, 2}), {image[0], image[1], image[2], s[0] * s[2]});
    return convolved(p, v, 8, 1);
}

}  // namespace

TEST_CASE("linear attention among channels needs one transpose, that of the keys") {
    const auto build = [](program& p) {
        const int_list image{1, 12, 12, 8};
        const value x = p.make<tosa::tanh>({.input = p.input(fp32, image)});
        const value queries = by_heads(p, x, 4, 8), keys = by_heads(p, x, 4, 8),
                    values = by_heads(p, x, 4, 8);
        const value gathered = multiplied(p, transposed(p, keys, {0, 2, 1}), values);
        p.output(joined_heads(p, multiplied(p, queries, gathered), image));
    };
    CHECK(compare(build, 1) == "");
}

TEST_CASE("targets that move matrices faster than they multiply them one by one do so") {
    const auto build = [](program& p) {
        p.g.set_target(*parse_target("TOSA-1.0+INT+u55"));
        const int_list image{1, 12, 12, 8};
        const value x = p.input(fp32, image);
        const value queries = by_heads(p, x, 4, 8), keys = by_heads(p, x, 4, 8);
        p.output(multiplied(p, queries, transposed(p, keys, {0, 2, 1})));
    };
    CHECK(count_after<tosa::matmul, fuse_transposes, choose_layouts, fold>(build) == 1);
}

TEST_CASE("a residual network in channels first needs no transpose inside") {
    const auto build = [](program& p) {
        value v = p.input(fp32, {1, 3, 8, 8});
        const auto layer = [&](value from, std::int64_t channels) {
            return transposed(p, convolved(p, transposed(p, from, {0, 2, 3, 1}), channels, 3), {0, 3, 1, 2});
        };
        v = layer(v, 4);
        for (int block = 0; block != 3; ++block) {
            const value inner = layer(p.make<tosa::tanh>({.input = layer(v, 4)}), 4);
            v = p.make<tosa::add>({.input1 = inner, .input2 = v});
            const value joined = p.make<tosa::concat>({.input1 = {v, inner}, .axis = 1});
            v = layer(p.make<tosa::abs>({.input1 = joined}), 4);
        }
        p.output(p.make<tosa::reduce_max>(
            {.input = p.make<tosa::reduce_max>({.input = v, .axis = 3}), .axis = 2}));
    };
    CHECK(compare(build, 1) == "");
}
