// SPDX-License-Identifier: MIT
// Tests arithmetic of dequantized operands in INT32, with any scales, dtypes and shapes.
#include <catch2/catch.hpp>

#include <headrace/passes/quantize/lower_quantized.hpp>

#include "../../support/quantized_test.hpp"

using namespace headrace;

namespace {

using shape_list = int_list;  // an initializer_list would dangle in the closures
using arithmetic = lower_quantized_arithmetic;
static_assert(effects_of<arithmetic>::sound && effects_of<arithmetic>::removed_set.empty());

constexpr coding a = int8_codes(0.05, 3);
constexpr coding b = int8_codes(0.031, -7);
constexpr coding half_a = int8_codes(0.025, -128);
constexpr coding wide = int16_codes(3e-4);

template <class Build>
std::pmr::string compare(const Build& build, const allowance& allowed = nearly) {
    return integers_from<arithmetic, may_rewrite<fold_quantization>>(build, allowed);
}
template <class Op>
auto of_two(coding x, coding y, coding to, shape_list first = {12, 30}, shape_list second = {12, 30}) {
    return [=](program& p) {
        const value u = real_input(p, x, first);
        output_in(p, p.make<Op>({u, real_input(p, y, second)}), to);
    };
}
/// Comparisons return booleans.
template <class Op>
auto truth_of(coding x, coding y, shape_list second = {12, 30}) {
    return [=](program& p) {
        const value u = real_input(p, x, {12, 30});
        p.output(p.make<Op>({u, real_input(p, y, second)}));
    };
}
template <class Op>
auto with_constant(coding x, shape_list shape, std::vector<double> numbers, bool constant_first = false,
    coding to = int8_codes(0.09713, 5)) {
    return [=](program& p) {
        const value u = real_input(p, x, {12, 30});
        const value c = float_constant(p, shape, numbers);
        const value v = constant_first ? p.make<Op>({c, u}) : p.make<Op>({u, c});
        if (is_floating(meta_of(v)->dtype))
            output_in(p, v, to);
        else
            p.output(v);
    };
}

}  // namespace

TEMPLATE_TEST_CASE(
    "sums and extremes of two scales", "", aten::add_tensor, aten::sub_tensor, aten::maximum, aten::minimum) {
    const coding codings[] = {a, b, half_a, wide, int32_codes(2e-7)};
    for (const coding& x : codings) {
        for (const coding& y : codings) {
            for (const coding& to : {a, int8_codes(0.12, 9), int16_codes(5e-4)}) {
                CAPTURE(x.scale, y.scale, to.scale);
                CHECK(compare(of_two<TestType>(x, y, to), nearly_with_ties) == "");
            }
        }
    }
    CHECK(compare(of_two<TestType>(a, b, int8_codes(0.097, 9))) == "");
    CHECK(compare(of_two<TestType>(a, a, a), exactly) == "");
    CHECK(compare(of_two<TestType>(a, half_a, half_a), exactly) == "");
    CHECK(compare(of_two<TestType>(wide, wide, wide), exactly) == "");
    CHECK(compare(of_two<TestType>(a, b, b, {1, 30}, {12, 1})) == "");
    CHECK(compare(of_two<TestType>(a, b, b, {3, 1, 5}, {4, 1})) == "");
    CHECK(compare(of_two<TestType>(a, b, b, {7}, {})) == "");
}

TEMPLATE_TEST_CASE("comparisons of two scales", "", aten::eq_tensor, aten::gt_tensor, aten::ge_tensor) {
    CHECK(compare(truth_of<TestType>(a, a), exactly) == "");
    CHECK(compare(truth_of<TestType>(a, half_a), exactly) == "");
    CHECK(compare(truth_of<TestType>(a, b, {30})) == "");
    CHECK(compare(truth_of<TestType>(wide, a, {1, 30})) == "");
    CHECK(compare(with_constant<TestType>(a, {}, {0}), exactly) == "");
    CHECK(compare(with_constant<TestType>(a, {1}, {0.333}, true), exactly) == "");
}

TEMPLATE_TEST_CASE("constants have no scale of their own", "", aten::add_tensor, aten::sub_tensor,
    aten::maximum, aten::minimum, aten::mul_tensor) {
    for (const bool first : {false, true}) {
        for (const double number : {0.0, 1.0, -1.0, 0.3, -2.71828, 100.0}) {
            CAPTURE(first, number);
            CHECK(compare(with_constant<TestType>(a, {}, {number}, first), nearly_with_ties) == "");
            CHECK(compare(with_constant<TestType>(wide, {1, 1}, {number}, first), nearly_with_ties) == "");
        }
        std::vector<double> row;
        for (int i = 0; i != 30; ++i) row.push_back(0.37 * i - 4);
        CHECK(compare(with_constant<TestType>(a, {30}, row, first)) == "");
        CHECK(compare(with_constant<TestType>(wide, {1, 30}, row, first)) == "");
    }
    const auto of_codes = [](program& p) {
        const value x = real_input(p, a, {12, 30});
        output_in(p, p.make<TestType>({x, real_constant(p, b, {12, 1})}), int8_codes(0.07));
    };
    CHECK(compare(of_codes) == "");
}

TEST_CASE("products of two scales") {
    const coding to = int8_codes(0.21, -4);
    for (const coding& x : {a, b, wide}) {
        for (const coding& y : {a, half_a, wide}) {
            CAPTURE(x.scale, y.scale);
            CHECK(compare(of_two<aten::mul_tensor>(x, y, to)) == "");
            CHECK(compare(of_two<aten::mul_tensor>(x, y, int16_codes(3.1713e-3), {3, 1, 30}, {12, 1})) == "");
        }
    }
    // Factors of more than 16 bits lose bits for which a product of 32 bits has no room.
    CHECK(compare(of_two<aten::mul_tensor>(int32_codes(1e-6), a, int8_codes(0.7, 2))) == "");
    CHECK(compare([](program& p) {
        const value x = real_input(p, a, {12, 30});
        output_in(p, p.make<aten::mul_tensor>({x, x}), int8_codes(0.33, -128));
    }) == "");
}

TEST_CASE("a positive factor goes into the scale") {
    constexpr coding x = int8_codes(0.2, 5);
    const auto half = [=](coding to) { return with_constant<aten::mul_tensor>(x, {1, 1}, {0.5}, false, to); };
    CHECK(compare(half(int8_codes(0.1, 5)), exactly) == "");
    CHECK(count_after<tosa::mul, arithmetic, fold_quantization>(half(int8_codes(0.1, 5))) == 0);
    CHECK(count_after<tosa::rescale, arithmetic, fold_quantization>(half(int8_codes(0.1, 5))) == 0);
    CHECK(compare(half(int8_codes(0.0713, 5))) == "");
    CHECK(count_after<tosa::rescale, arithmetic, fold_quantization>(half(int8_codes(0.0713, 5))) == 1);
    const auto number_first = with_constant<aten::mul_tensor>(x, {1, 1}, {0.5}, true);
    CHECK(count_after<tosa::mul, arithmetic, fold_quantization>(number_first) == 0);
    const auto negative = with_constant<aten::mul_tensor>(a, {}, {-0.5});
    CHECK(count_after<tosa::mul, arithmetic, fold_quantization>(negative) == 1);
    CHECK(compare([=](program& p) {  // it must keep the rank that the number adds
        const value half_of =
            p.make<aten::mul_tensor>({float_constant(p, {1, 1, 1}, {0.5}), real_input(p, x, {4})});
        output_in(p, half_of, int8_codes(0.1, 5));
    }) == "");
}

TEST_CASE("a product whose scale is beyond float32 is refused") {
    const auto build = [](program& p) {
        const value x = real_input(p, int8_codes(1e30), {40});
        output_in(p, p.make<aten::mul_tensor>({x, x}), int8_codes(1));
    };
    CHECK_THAT(build, is_refused_by<lower_quantized_arithmetic>("beyond float32"));
}

TEMPLATE_TEST_CASE("magnitudes and negatives", "", aten::abs, aten::neg) {
    for (const coding& x : {a, half_a, wide, int8_codes(0.05, 127), int32_codes(1e-6)}) {
        CAPTURE(x.scale);
        const auto build = [=](coding to) {
            return [=](program& p) { output_in(p, p.make<TestType>({real_input(p, x, {12, 30})}), to); };
        };
        CHECK(compare(build(int8_codes(0.1013, -3)), nearly) == "");
        if (x.type != dtype::int32) CHECK(compare(build({x.scale, 0, x.type}), exactly) == "");
    }
}

TEST_CASE("a scale for each channel") {
    for (const std::int64_t axis : {0, 1, 2}) {
        CAPTURE(axis);
        const auto build = [=](auto operation) {
            return [=](program& p) {
                const value codes = p.input(dtype::int8, {5, 5, 5});
                const value x = real_per_channel(p, codes, scales_around(0.043, 5), axis);
                output_in(p, operation(p, x), int8_codes(0.0917, -3));
            };
        };
        CHECK(compare(build([](program& p, value x) {
            return p.make<aten::add_tensor>({x, real_input(p, b, {5, 1})});
        })) == "");
        CHECK(compare(build([](program& p, value x) {
            return p.make<aten::mul_tensor>({real_input(p, b, {5, 1}), x});
        })) == "");
        CHECK(compare(build([](program& p, value x) { return p.make<aten::abs>({x}); })) == "");
    }
}

TEST_CASE("operands that are not codes stay as they are") {
    const auto reals = [](program& p) {
        const value x = p.input(dtype::float32, {3, 4});
        const value y = real_input(p, a, {3, 4});
        p.output(p.make<aten::add_tensor>({x, y}));
        p.output(p.make<aten::mul_tensor>({x, float_constant(p, {}, {2})}));
        p.output(p.make<aten::add_tensor>({p.input(dtype::int32, {3}), p.input(dtype::int32, {3})}));
    };
    CHECK_THAT(reals, is_left_alone_by<arithmetic>());
    CHECK(count_after<aten::add_tensor, arithmetic>(reals) == 2);
    CHECK(count_after<aten::mul_tensor, arithmetic>(reals) == 1);
}

TEST_CASE("sums of what is padded and clamped") {
    const auto build = [](program& p) {
        const value x = padded_and_clamped_input(p, a, {12, 30});
        output_in(p, p.make<aten::add_tensor>({x, real_input(p, b, {12, 30})}), half_a);
    };
    CHECK(compare(build) == "");
}
