// SPDX-License-Identifier: MIT
// Tests folding: nodes that depend only on constants are computed, and equal constants are stored once.
#include <algorithm>
#include <set>

#include <catch2/catch.hpp>

#include <headrace/eval/fold.hpp>
#include <headrace/passes/fold/fold.hpp>
#include <headrace/passes/fold/fold_constants.hpp>
#include <headrace/passes/fold/redundancies.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;
using fold = fold_constants;
static_assert(graph_pass<fold> && graph_pass<merge_equal_constants> && graph_pass<merge_duplicates>);
static_assert(effects_of<fold>::always_runs && effects_of<remove_dead_code>::always_runs);

value shape_of(program& p, std::initializer_list<std::int64_t> values) {
    return p.make<tosa::const_shape>({.values = values});
}

}  // namespace

TEST_CASE("a chain of constants becomes one constant") {
    const auto build = [](program& p) {
        const value c = p.constant<float>(fp32, {2, 2}, {1, 2, 3, 4});
        const value t = p.make<tosa::transpose>({.input1 = c, .perms = {1, 0}});
        const value r =
            p.make<tosa::reshape>({.input1 = p.make<tosa::exp>({.input1 = t}), .shape = shape_of(p, {1, 4})});
        p.output(p.make<tosa::add>({.input1 = p.input(fp32, {3, 4}), .input2 = r}));
    };
    CHECK_THAT(build, computes_the_same<fold>());
    program p;
    build(p);
    p.finish();
    pass_context context({.evaluator = &eval::folding});
    const auto folded = fold{}(p.g, context);
    REQUIRE(folded);
    CHECK(folded.value() == 1);
    CHECK(p.g.size() == 4);  // input, constant, ADD, output
}

TEST_CASE("dequantized numbers are computed where integers come of them") {
    const auto build = [](program& p) {
        const value codes = p.constant<std::int8_t>(dtype::int8, {4}, {1, -2, 3, 127});
        const value real =
            p.make<quantized_decomposed::dequantize_per_tensor>({codes, 0.5, 1, -128, 127, dtype::int8});
        const value twice = p.make<aten::add_tensor>({real, real});
        p.output(p.make<quantized_decomposed::quantize_per_tensor>({twice, 0.25, 0, -128, 127, dtype::int8}));
        p.output(p.make<aten::mul_tensor>({p.input(fp32, {4}), real}));
    };
    CHECK_THAT(build, computes_the_same<fold>());
    program p;
    build(p);
    p.finish();
    pass_context context({.evaluator = &eval::folding});
    REQUIRE(fold{}(p.g, context));
    CHECK(count_of<quantized_decomposed::quantize_per_tensor>(p.g) == 0);
    CHECK(count_of<quantized_decomposed::dequantize_per_tensor>(p.g) == 1);
    CHECK(count_of<aten::add_tensor>(p.g) == 0);
}

TEST_CASE("numbers from which a decision was computed are stored where the target has floats") {
    const auto build = [](program& p) {
        const value codes = p.constant<std::int8_t>(dtype::int8, {4}, {1, -2, 3, 127});
        const value real =
            p.make<quantized_decomposed::dequantize_per_tensor>({codes, 0.5, 1, -128, 127, dtype::int8});
        const value tenfold = p.make<aten::mul_scalar>({.self = real, .other = 10});
        const value large = p.make<aten::gt_scalar>({.self = tenfold, .other = 3});
        p.output(p.make<aten::where_self>({large, tenfold, p.input(fp32, {4})}));
        p.output(p.make<aten::mul_tensor>({p.input(fp32, {4}), real}));
    };
    CHECK_THAT(build, computes_the_same<fold>());
    for (const auto& [target, kept] : {std::pair("TOSA-1.0+INT", 1U), std::pair("TOSA-1.0+INT+FP", 0U)}) {
        program p;
        build(p);
        p.finish();
        p.g.set_target(*parse_target(target));
        pass_context context({.evaluator = &eval::folding});
        REQUIRE(fold{}(p.g, context));
        CHECK(count_of<aten::gt_scalar>(p.g) == 0);
        CHECK(count_of<aten::mul_scalar>(p.g) == kept);
        CHECK(count_of<quantized_decomposed::dequantize_per_tensor>(p.g) == 1);
    }
}

TEST_CASE("without an evaluator, constants in another shape are views, and nothing is computed") {
    program p;
    const value c = p.constant<float>(fp32, {2, 3}, {1, 2, 3, 4, 5, 6});
    const value flat = p.make<tosa::reshape>({.input1 = c, .shape = shape_of(p, {3, 2})});
    p.output(p.make<tosa::exp>({.input1 = flat}));
    p.finish();
    pass_context context;
    const auto folded = fold{}(p.g, context);
    REQUIRE(folded);
    CHECK(folded.value() == 1);
    CHECK(count_of<tosa::reshape>(p.g) == 0);
    CHECK(count_of<tosa::exp>(p.g) == 1);
}

TEST_CASE("a broadcast of a number is not stored, but what is computed from it is") {
    program p;
    const value c = p.constant<float>(fp32, {1, 1}, {2});
    const value wide = p.make<tosa::tile>({.input1 = c, .multiples = shape_of(p, {300, 300})});
    p.output(p.make<tosa::add>({.input1 = p.input(fp32, {300, 300}), .input2 = wide}));
    p.output(p.make<tosa::reduce_sum>({.input = wide, .axis = 0}));
    p.finish();
    pass_context context({.evaluator = &eval::folding});
    REQUIRE(fold{}(p.g, context));
    CHECK(count_of<tosa::tile>(p.g) == 1);
    CHECK(count_of<tosa::reduce_sum>(p.g) == 0);
}

TEST_CASE("what is computed from constants grows within a limit for all of them") {
    program p;
    const value c = p.constant<float>(fp32, {1, 1}, {2});
    for (int i = 0; i != 3; ++i) {  // 25 MB each
        const value wide = p.make<tosa::tile>({.input1 = c, .multiples = shape_of(p, {2500 + i, 2500})});
        p.output(p.make<tosa::reduce_max>(
            {.input = p.make<tosa::reduce_max>({.input = wide, .axis = 0}), .axis = 1}));
    }
    p.finish();
    pass_context context({.evaluator = &eval::folding});
    REQUIRE(fold{}(p.g, context));
    CHECK(count_of<tosa::tile>(p.g) == 1);
    CHECK(count_of<tosa::reduce_max>(p.g) == 2);
}

TEST_CASE("what all nodes read, write and multiply is limited by the size of the constants") {
    const auto zeros = [](program& p, const int_list& shape) {
        return create_constant(p.g, {fp32, shape, {}}, nullptr,
            [](std::span<std::byte> data) { std::ranges::fill(data, std::byte{}); });
    };
    pass_context context({.evaluator = &eval::folding});
    program chain;
    value v = zeros(chain, {1 << 18});  // 1 MB: it allows 8 in addition to the 512, and each node takes 2
    for (int i = 0; i != 300; ++i) v = chain.make<tosa::exp>({.input1 = v});
    chain.output(v);
    chain.finish();
    REQUIRE(fold{}(chain.g, context));
    CHECK(count_of<tosa::exp>(chain.g) == 300 - 260);

    program product;
    const value square = zeros(product, {1, 3000, 3000});
    const value zero = zeros(product, {1});
    product.output(product.make<tosa::matmul>({square, square, zero, zero, fp32}));
    product.finish();
    REQUIRE(fold{}(product.g, context));
    CHECK(count_of<tosa::matmul>(product.g) == 1);
}

TEST_CASE("large constants in another shape or order are views of the same bytes") {
    const auto build = [](program& p) {
        const value c =
            create_constant(p.g, {fp32, {130, 40, 2, 2}, {}}, nullptr, [](std::span<std::byte> data) {
                for (std::size_t i = 0; 4 * i != data.size(); ++i)
                    detail::store_element(static_cast<double>(i % 977), fp32, &data[4 * i]);
            });
        const value turned = p.make<tosa::transpose>({.input1 = c, .perms = {0, 2, 3, 1}});
        const value again = p.make<tosa::transpose>({.input1 = turned, .perms = {3, 0, 1, 2}});
        p.output(p.make<tosa::add>({.input1 = p.input(fp32, {1, 1, 1, 40}), .input2 = turned}));
        p.output(p.make<tosa::add>({.input1 = p.input(fp32, {1, 1, 1, 1}), .input2 = again}));
        const value row = p.make<tosa::reshape>({.input1 = c, .shape = shape_of(p, {130 * 160})});
        p.output(p.make<tosa::add>({.input1 = p.input(fp32, {1}), .input2 = row}));
    };
    CHECK_THAT(build, computes_the_same<fold>());
    program p;
    build(p);
    p.finish();
    pass_context context({.evaluator = &eval::folding});
    REQUIRE(fold{}(p.g, context));
    CHECK(count_of<tosa::transpose>(p.g) == 0);
    CHECK(count_of<tosa::reshape>(p.g) == 0);
    std::set<const std::byte*> places;
    for (const node& n : p.g.nodes_of(info_of<builtin::constant>))
        places.insert(args_of<builtin::constant>(n).data.bytes);
    CHECK(places.size() == 1);
}

TEST_CASE("small constants in another shape are views as well, those in another order are not") {
    program p;
    const value c = p.constant<float>(fp32, {2, 3}, {1, 2, 3, 4, 5, 6});
    const value x = p.input(fp32, {3, 2});
    const value flat = p.make<tosa::reshape>({.input1 = c, .shape = shape_of(p, {3, 2})});
    const value turned = p.make<tosa::transpose>({.input1 = c, .perms = {1, 0}});
    p.output(p.make<tosa::add>({.input1 = x, .input2 = flat}));
    p.output(p.make<tosa::add>({.input1 = x, .input2 = turned}));
    p.finish();
    pass_context context({.evaluator = &eval::folding});
    const auto folded = fold{}(p.g, context);
    REQUIRE(folded);
    CHECK(folded.value() == 2);
    const std::byte* const bytes = args_of<builtin::constant>(*c.producer).data.bytes;
    const auto data_of = [&](std::size_t output) {
        return args_of<builtin::constant>(*p.g.outputs()[output].producer->operand(1).producer).data;
    };
    CHECK(data_of(0).bytes == bytes);
    CHECK(data_of(1).bytes != bytes);
    CHECK(data_of(1).strides.empty());
}

TEST_CASE("a node whose metadata does not fit its constant is no view of it") {
    for (const auto& [type, shape] : {std::pair(dtype::float64, int_list{2, 1}), {fp32, int_list{4, 1}}}) {
        program p;
        const value c = p.constant<float>(fp32, {2}, {1, 2});
        const value moved = p.make<tosa::reshape>({.input1 = c, .shape = shape_of(p, {2, 1})});
        p.g.set_meta(moved, {type, shape, {}});
        p.output(moved);
        p.finish();
        const std::byte* const bytes = args_of<builtin::constant>(*c.producer).data.bytes;
        pass_context context({.evaluator = &eval::folding});
        static_cast<void>(fold{}(p.g, context));
        const auto* const made = match<builtin::constant>(p.g.outputs()[0]);
        CHECK((made == nullptr || made->data.bytes != bytes));
    }
}

TEST_CASE("equal constants are merged, whatever their strides") {
    program p;
    const value a = p.constant<float>(fp32, {2, 2}, {1, 2, 3, 4});
    const value b = p.constant<float>(fp32, {2, 2}, {1, 2, 3, 4});
    const value c = p.constant<float>(fp32, {4}, {1, 2, 3, 4});
    const value other = p.constant<float>(fp32, {2, 2}, {1, 2, 3, 5});
    static constexpr float transposed[] = {1, 3, 2, 4};
    const value d =
        p.g.create<builtin::constant>({.data = {reinterpret_cast<const std::byte*>(transposed), {1, 2}}})
            .result();
    p.g.set_meta(d, {fp32, {2, 2}, {}});
    for (const value v : {b, a, c, d, other}) p.output(v);
    p.finish();
    pass_context context;
    const auto merged = merge_equal_constants{}(p.g, context);
    REQUIRE(merged);
    CHECK(merged.value() == 2);
    CHECK(p.g.outputs()[0] == a);
    CHECK(p.g.outputs()[3] == a);
    CHECK(p.g.outputs()[4] == other);
}

TEST_CASE("nodes that compute the same are merged") {
    const auto build = [](program& p) {
        const value x = p.input(fp32, {2, 3});
        const value a = p.make<tosa::reshape>({.input1 = x, .shape = shape_of(p, {3, 2})});
        const value b = p.make<tosa::reshape>({.input1 = x, .shape = shape_of(p, {3, 2})});
        const value c = p.make<tosa::transpose>({.input1 = x, .perms = {1, 0}});
        p.output(p.make<tosa::add>({.input1 = p.make<tosa::add>({.input1 = a, .input2 = b}), .input2 = c}));
    };
    CHECK_THAT(build, computes_the_same<merge_duplicates>());
    program p;
    build(p);
    p.finish();
    pass_context context;
    const auto merged = merge_duplicates{}(p.g, context);
    REQUIRE(merged);
    CHECK(merged.value() == 2);
    CHECK(count_of<tosa::reshape>(p.g) == 1);
    CHECK(count_of<tosa::transpose>(p.g) == 1);
}

TEST_CASE("dead code goes") {
    program p;
    const value x = p.input(fp32, {2});
    p.make<tosa::exp>({.input1 = p.make<tosa::abs>({.input1 = x})});
    p.output(x);
    p.finish();
    pass_context context;
    REQUIRE(remove_dead_code{}(p.g, context));
    CHECK(p.g.size() == 2);
}
