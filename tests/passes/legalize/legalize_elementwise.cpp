// SPDX-License-Identifier: MIT
// Tests the lowerings of elementwise ops, for targets with and without the integer profile.
#include <limits>

#include <catch2/catch.hpp>

#include <headrace/passes/legalize/elementwise.hpp>
#include <headrace/passes/legalize/shape.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

template <class... Passes>
constexpr bool remove_their_targets =
    ((effects_of<Passes>::removed_set == effects_of<Passes>::target_set) && ...);
static_assert(remove_their_targets<legalize_binary, legalize_bitwise, legalize_cast, legalize_clamp,
    legalize_comparison, legalize_creation, legalize_logical, legalize_unary, legalize_where>);

constexpr target_spec float_only = *parse_target("TOSA-1.0+FP");
constexpr target_spec everything = *parse_target("TOSA-1.0+FP+INT");
const std::vector<double> whole{0, 1, -1, 5, -7, 100, -128, 127, 3, 64};
const std::vector<double> amounts{0, 1, 7, 3, 4, 2, 1, 7, 5, 6};

template <class Pass, op_tag Op, class... More>
std::pmr::string compare(dtype type, const More&... more) {
    for (const target_spec& target : {float_only, everything}) {
        const auto build = [&](program& p) {
            p.g.set_target(target);
            const value x = p.input(type, {10});
            if constexpr (requires { args<Op>{x, x}; } && sizeof...(More) == 0) {
                p.output(p.make<Op>({x, p.input(type, {10})}));
            } else {
                p.output(p.make<Op>({x, more...}));
            }
        };
        program shape;
        build(shape);
        std::vector<tensor> inputs{tensor::of(type, {10}, whole)};
        if (shape.g.nodes_of(info_of<builtin::placeholder>).begin()->next->op ==
            &info_of<builtin::placeholder>) {
            inputs.push_back(tensor::of(type, {10}, amounts));
        }
        std::pmr::string fault = compare_runs<Pass>(build, inputs, 1e-6);
        if (!fault.empty()) return fault;
    }
    return {};
}

}  // namespace

TEST_CASE("arithmetic and comparisons of every type") {
    for (const dtype type : {dtype::int8, dtype::int16, dtype::int32, dtype::float16, dtype::float32}) {
        INFO(name_of(type));
        CHECK(compare<legalize_binary, aten::add_tensor>(type) == "");
        CHECK(compare<legalize_binary, aten::sub_tensor>(type) == "");
        CHECK(compare<legalize_binary, aten::maximum>(type) == "");
        CHECK(compare<legalize_binary, aten::minimum>(type) == "");
        CHECK(compare<legalize_comparison, aten::eq_tensor>(type) == "");
        CHECK(compare<legalize_comparison, aten::gt_tensor>(type) == "");
        CHECK(compare<legalize_comparison, aten::ge_tensor>(type) == "");
        CHECK(compare<legalize_logical, aten::logical_xor>(type) == "");
        CHECK(compare<legalize_unary, aten::neg>(type) == "");
        CHECK(compare<legalize_unary, aten::abs>(type) == "");
        CHECK(compare<legalize_clamp, aten::clamp>(type, scalar(-3), scalar(70)) == "");
    }
    for (const dtype type : {dtype::int8, dtype::int16, dtype::int32}) {
        INFO(name_of(type));
        CHECK(compare<legalize_bitwise, aten::bitwise_not>(type) == "");
        CHECK(compare<legalize_bitwise, aten::bitwise_left_shift_tensor>(type) == "");
        CHECK(compare<legalize_bitwise, aten::bitwise_right_shift_tensor>(type) == "");
    }
    CHECK(compare<legalize_binary, aten::add_tensor>(dtype::boolean) == "");
    CHECK(compare<legalize_binary, aten::mul_tensor>(dtype::boolean) == "");
    CHECK(compare<legalize_comparison, aten::gt_tensor>(dtype::boolean) == "");
    CHECK(compare<legalize_bitwise, aten::bitwise_xor_tensor>(dtype::boolean) == "");
}

TEST_CASE("INT32 comparisons are exact without the integer profile") {
    const std::vector<double> x{16777217, 16777216, 2147483647, -2147483648.0, 5, -1};
    const std::vector<double> y{16777216, 16777217, 2147483646, 2147483647, 5, 65535};
    CHECK_THAT(
        [](program& p) {
            p.g.set_target(float_only);
            p.output(p.make<aten::gt_tensor>({p.input(dtype::int32, {6}), p.input(dtype::int32, {6})}));
        },
        computes_the_same<legalize_comparison>().for_inputs(
            {tensor::of(dtype::int32, {6}, x), tensor::of(dtype::int32, {6}, y)}));
}

TEST_CASE("casts between all types") {
    const dtype types[] = {
        dtype::boolean, dtype::int8, dtype::int16, dtype::int32, dtype::float16, dtype::float32};
    for (const dtype from : types) {
        for (const dtype to : types) {
            INFO(name_of(from) << " to " << name_of(to));
            CHECK(compare<legalize_cast, aten::_to_copy>(from, std::optional(to)) == "");
        }
    }
    const std::vector<double> fractions{1.5, -1.5, 2.5, -0.5};
    CHECK_THAT(
        [](program& p) {
            p.output(p.make<aten::_to_copy>({.self = p.input(dtype::float32, {4}), .dtype = dtype::int32}));
        },
        computes_the_same<legalize_cast>().for_inputs({tensor::of(dtype::float32, {4}, fractions)}));
}

TEST_CASE("mixed types are promoted, shapes broadcast, and values selected") {
    CHECK_THAT(
        [](program& p) {
            p.output(p.make<aten::mul_tensor>(
                {p.input(dtype::float32, {2, 1, 3}), p.input(dtype::int32, {4, 1})}));
        },
        computes_the_same<legalize_binary>());
    for (const dtype type : {dtype::float32, dtype::int8, dtype::int32, dtype::boolean}) {
        CHECK_THAT(
            [&](program& p) {
                p.g.set_target(float_only);
                const value mask = p.input(dtype::boolean, {3});
                p.output(p.make<aten::where_self>({mask, p.input(type, {2, 3}), p.input(type, {})}));
            },
            computes_the_same<legalize_where>());
    }
    CHECK_THAT(
        [](program& p) {
            p.g.set_target(float_only);
            const value x = p.input(dtype::float32, {2});
            p.output(p.make<aten::where_self>({p.input(dtype::uint8, {2}), x, x}));
        },
        is_refused_by<legalize_where>("conditions of bool alone"));
    CHECK_THAT(
        [](program& p) {
            p.g.set_target(float_only);
            const value x = p.input(dtype::int32, {2});
            p.output(p.make<aten::bitwise_and_tensor>({x, x}));
        },
        is_refused_by<legalize_bitwise>("profile INT"));
}

TEST_CASE("created tensors are constants") {
    CHECK_THAT(
        [](program& p) {
            p.output(p.make<aten::full>({.size = {2, 3}, .fill_value = 2.5}));
            p.output(p.make<aten::arange_start_step>({.start = 5, .end = -3, .step = -2}));
            p.output(p.make<aten::arange_start>({.start = 0.5, .end = 3.5}));
            p.output(p.make<aten::eye_m>({.n = 2, .m = 4}));
            p.output(p.make<aten::linspace>({.start = -1, .end = 1, .steps = 7}));
        },
        computes_the_same<legalize_creation>());
    CHECK_THAT(
        [](program& p) { p.output(p.make<aten::full>({.size = {2}, .fill_value = std::int64_t{1} << 40})); },
        is_refused_by<legalize_creation>("does not fit"));
}
