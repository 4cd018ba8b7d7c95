// SPDX-License-Identifier: MIT
// Tests that programs of uint8 compute the same with signed integers only.
#include <catch2/catch.hpp>

#include <headrace/passes/normalize/narrow_types.hpp>
#include <headrace/passes/normalize/widen_unsigned.hpp>
#include <headrace/run/signature_tensors.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

static_assert(graph_pass<widen_unsigned> && graph_pass<store_unsigned>);

constexpr dtype bytes = dtype::uint8;

/// Returns all bytes, in a permuted order.
tensor all_bytes(std::int64_t step) {
    std::vector<std::int64_t> numbers(256);
    for (std::size_t i = 0; i != numbers.size(); ++i)
        numbers[i] = (static_cast<std::int64_t>(i) * step + 3) % 256;
    return tensor::of(bytes, {2, 2, 8, 8}, numbers);
}
std::vector<tensor> two_images() { return {all_bytes(1), all_bytes(77)}; }

value first(program& p) { return p.input(bytes, {2, 2, 8, 8}); }

/// Returns the results of a program whose interface the annotations of store_unsigned describe.
template <class Build>
void compare_stored(const Build& build, std::vector<tensor> inputs, std::string_view target = "") {
    program before;
    build(before);
    before.finish();
    const auto expected = run_graph(before.g, inputs);
    REQUIRE(expected);
    program after;
    graph& g = lowered<store_unsigned>(after, [&](program& p) {
        if (!target.empty()) p.g.set_target(*parse_target(target));
        build(p);
    });
    for (const node& n : g.nodes()) {
        for (std::uint32_t i = 0; i != n.result_count; ++i) CHECK(n.results[i].meta->dtype != bytes);
    }
    const auto given = run_graph(g, inputs_for(g, inputs));
    REQUIRE(given);
    const std::vector<tensor> results = outputs_of(g, given.value());
    for (std::size_t r = 0; r != results.size(); ++r) {
        CHECK(results[r].type() == expected.value()[r].type());
        CHECK(tensor_difference(expected.value()[r], results[r], 1e-6) == "");
    }
}

}  // namespace

TEST_CASE("arithmetic of bytes wraps around, as that of 32 bits cut to eight does") {
    const auto build = [](program& p) {
        const value x = first(p);
        const value y = first(p);
        p.output(p.make<aten::add_tensor>({.self = x, .other = y}));
        p.output(p.make<aten::sub_tensor>({.self = x, .other = y}));
        p.output(p.make<aten::mul_tensor>({x, y}));
        p.output(p.make<aten::neg>({x}));
        p.output(p.make<aten::bitwise_left_shift_tensor>({x, p.constant<std::uint8_t>(bytes, {1}, {3})}));
    };
    CHECK(compare_runs<widen_unsigned>(build, two_images()) == "");
}

TEST_CASE("bytes are compared as what they are, and the largest is found") {
    const auto build = [](program& p) {
        const value x = first(p);
        const value y = first(p);
        p.output(p.make<aten::gt_tensor>({x, y}));
        p.output(p.make<aten::maximum>({x, y}));
        p.output(p.make<aten::minimum>({x, y}));
        p.output(p.make<aten::amax>({.self = x, .dim = {1}, .keepdim = false}));
        p.output(p.make<aten::argmax>({.self = x, .dim = 3, .keepdim = true}));
        args<aten::max_pool2d> w{};
        w.self = x;
        w.kernel_size = {3, 2};
        w.stride = {2, 2};
        w.padding = {1, 1};
        w.dilation = {1, 1};
        p.output(p.make<aten::max_pool2d>(w));
    };
    CHECK(compare_runs<widen_unsigned>(build, two_images()) == "");
    program p;
    const graph& g = lowered<widen_unsigned>(p, build);
    for (const node& n : g.nodes()) {
        if (is<aten::max_pool2d>(n)) CHECK(n.results[0].meta->dtype == dtype::int8);
        if (is<aten::gt_tensor>(n)) CHECK(meta_of(n.operand(0))->dtype == dtype::int32);
    }
}

TEST_CASE("bytes beside other types, and masks of bytes") {
    const auto build = [](program& p) {
        const value x = first(p);
        const value shorts = p.input(dtype::int16, {2, 2, 8, 8});
        p.output(p.make<aten::add_tensor>({.self = x, .other = shorts}));
        const value wide = p.make<aten::_to_copy>({.self = shorts, .dtype = dtype::int32});
        p.output(p.make<aten::cat>({.tensors = {x, wide}, .dim = 0}));
        p.output(p.make<aten::where_self>({x, shorts, shorts}));
    };
    const std::vector<std::int64_t> numbers(256, -77);
    const tensor shorts = tensor::of(dtype::int16, {2, 2, 8, 8}, numbers);
    CHECK(compare_runs<widen_unsigned>(build, {all_bytes(5), shorts}) == "");
}

TEST_CASE("what moves bytes, or works on their bits, stays") {
    const auto build = [](program& p) {
        const value x = first(p);
        p.output(p.make<aten::permute>({.self = x, .dims = {0, 2, 3, 1}}));
        p.output(p.make<aten::constant_pad_nd>({x, {1, 2}, scalar(200)}));
        p.output(p.make<aten::cat>({.tensors = {x, x}, .dim = 1}));
        p.output(p.make<aten::bitwise_and_tensor>({x, x}));
        p.output(p.make<aten::bitwise_not>({x}));
        p.output(p.make<aten::_to_copy>({.self = x, .dtype = dtype::float32}));
    };
    CHECK_THAT(build, is_left_alone_by<widen_unsigned>());
    compare_stored(build, {all_bytes(3)});
}

TEST_CASE("casts from bytes and to them, with the integer profile and without") {
    const auto from = [](program& p) {
        const value x = first(p);
        for (const dtype to : {dtype::int8, dtype::int16, dtype::int32, dtype::float32, dtype::boolean})
            p.output(p.make<aten::_to_copy>({.self = x, .dtype = to}));
    };
    for (const std::string_view target : {"", "TOSA-1.0+INT+FP", "TOSA-1.0+FP"})
        compare_stored(from, {all_bytes(9)}, target);
    program p;
    const graph& g = lowered<store_unsigned>(p, from);
    CHECK(count_of<tosa::rescale>(g) == 3);

    const auto inside = [](program& q) {
        const value x = q.make<aten::_to_copy>({.self = q.input(dtype::int32, {40}), .dtype = bytes});
        q.output(q.make<aten::_to_copy>({.self = x, .dtype = dtype::int32}));
    };
    CHECK_THAT(inside, computes_the_same<store_unsigned>());

    const auto to = [](program& q) {
        q.output(q.make<aten::_to_copy>({.self = q.input(dtype::float32, {4}), .dtype = bytes}));
        q.output(q.make<aten::_to_copy>({.self = q.input(dtype::int32, {4}), .dtype = bytes}));
        q.output(q.make<aten::_to_copy>({.self = q.input(dtype::boolean, {4}), .dtype = bytes}));
        q.output(q.make<aten::full>({.size = {3}, .fill_value = 250, .dtype = bytes}));
    };
    const std::vector<double> reals{0.9, 127.99, 200.5, 255.0};
    const std::vector<std::int64_t> integers{-1, 256, 1000, -300};
    const std::vector<std::int64_t> truths{0, 1, 1, 0};
    compare_stored(to,
        {tensor::of(dtype::float32, {4}, reals), tensor::of(dtype::int32, {4}, integers),
            tensor::of(dtype::boolean, {4}, truths)});
}
