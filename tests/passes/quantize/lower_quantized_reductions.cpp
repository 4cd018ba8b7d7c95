// SPDX-License-Identifier: MIT
// Tests sums, running sums and positions of extrema of dequantized operands.
#include <catch2/catch.hpp>

#include <headrace/passes/quantize/lower_quantized.hpp>

#include "../../support/quantized_test.hpp"

using namespace headrace;

namespace {

using shape_list = int_list;  // an initializer_list would dangle in the closures
using reductions = lower_quantized_reductions;
static_assert(effects_of<reductions>::sound && effects_of<reductions>::removed_set.empty());

constexpr coding a = int8_codes(0.05, 3);
constexpr coding wide = int16_codes(3e-4);
constexpr coding to = int8_codes(0.737, 5);

template <class Op, class Set>
auto reduced(coding x, shape_list shape, const Set& set, coding result = to) {
    return [=](program& p) {
        args<Op> r{};
        set(r);
        r.self = real_input(p, x, shape);
        const value v = p.make<Op>(r);
        if (is_floating(meta_of(v)->dtype))
            output_in(p, v, result);
        else
            p.output(v);
    };
}
template <class Op, class Set>
std::pmr::string compare(
    coding x, shape_list shape, const Set& set, const allowance& allowed = nearly, coding result = to) {
    return integers_from<reductions, may_rewrite<fold_quantization>>(
        reduced<Op>(x, shape, set, result), allowed);
}
constexpr auto as_is = [](auto&) {};

}  // namespace

TEST_CASE("sums along axes, kept or not") {
    for (const coding& x :
        {a, int8_codes(0.02, -128), int8_codes(0.02, 127), wide, off_center_int16, int32_codes(1e-7)}) {
        for (const bool keepdim : {false, true}) {
            CAPTURE(x.scale, x.zero_point, keepdim);
            const auto along = [=](shape_list axes) {
                return [=](args<aten::sum_dim_intlist>& r) {
                    r.dim = axes;
                    r.keepdim = keepdim;
                };
            };
            CHECK(compare<aten::sum_dim_intlist>(x, {5, 6, 7}, along({1})) == "");
            CHECK(compare<aten::sum_dim_intlist>(x, {5, 6, 7}, along({0, -1})) == "");
            CHECK(compare<aten::sum_dim_intlist>(x, {5, 6, 7}, along({0, 1, 2})) == "");
            CHECK(compare<aten::sum_dim_intlist>(x, {5, 6, 7}, along({})) == "");
        }
        CHECK(compare<aten::sum>(x, {5, 6, 7}, as_is) == "");
        CHECK(compare<aten::sum>(x, {}, as_is) == "");
    }
    const auto rows = [](args<aten::sum_dim_intlist>& r) { r.dim = int_list{1}; };
    CHECK(compare<aten::sum_dim_intlist>(a, {30, 8}, rows, exactly, int16_codes(a.scale)) == "");
    CHECK(count_after<tosa::rescale, reductions, fold_quantization>(
              reduced<aten::sum_dim_intlist>(a, {30, 8}, rows)) == 2);
}

TEST_CASE("sums beyond 32 bits are of coarser codes") {
    CHECK(compare<aten::sum>(wide, {300, 300}, as_is, nearly, int16_codes(0.9)) == "");
    const std::vector<std::int16_t> least(90000, -32768);
    CHECK_THAT(reduced<aten::sum>(wide, {300, 300}, as_is, int16_codes(28)),
        (becomes_integers<reductions, may_rewrite<fold_quantization>>(nearly).for_inputs(
            {tensor::of(dtype::int16, {300, 300}, least)})));
    const auto sums_of_sums = [](std::int64_t count, bool running) {
        return [=](program& p) {
            const value x = real_input(p, int32_codes(1e-7), {3, count});
            const value v =
                running ? p.make<aten::cumsum>({x, 1}) : p.make<aten::sum_dim_intlist>({x, int_list{1}});
            output_in(p, v, int8_codes(13.7));
        };
    };
    for (const std::int64_t count : {1, 30, 100, 1000}) {
        CAPTURE(count);
        const std::vector<std::int32_t> largest(3 * static_cast<std::size_t>(count), 1 << 24);
        const std::vector<tensor> inputs{tensor::of(dtype::int32, {3, count}, largest)};
        CHECK_THAT(sums_of_sums(count, false),
            (becomes_integers<reductions, may_rewrite<fold_quantization>>(nearly).for_inputs(inputs)));
        CHECK_THAT(sums_of_sums(count, true),
            (becomes_integers<reductions, may_rewrite<fold_quantization>>(nearly).for_inputs(inputs)));
    }
}

TEST_CASE("running sums") {
    for (const coding& x : {a, wide}) {
        for (const std::int64_t axis : {0, 1, -1}) {
            CAPTURE(x.scale, axis);
            CHECK(compare<aten::cumsum>(x, {5, 6, 9}, [=](auto& r) { r.dim = axis; }) == "");
        }
        CHECK(compare<aten::cumsum>(x, {1}, [](auto& r) { r.dim = 0; }) == "");
        CHECK(compare<aten::cumsum>(x, {17}, [](auto& r) { r.dim = 0; }) == "");
        CHECK(compare<aten::cumsum>(x, {}, [](auto& r) { r.dim = 0; }) == "");
    }
    const auto along = [](auto& r) { r.dim = 1; };
    CHECK(compare<aten::cumsum>(a, {30, 8}, along, exactly, int16_codes(a.scale)) == "");
}

TEMPLATE_TEST_CASE("positions of extremes", "", aten::argmax, aten::argmin) {
    for (const coding& x : {a, wide}) {
        CHECK(compare<TestType>(
                  x, {5, 40, 3}, [](auto& r) { r.dim = 1; }, exactly) == "");
        CHECK(compare<TestType>(x, {5, 40, 3}, [](auto& r) {
            r.dim = -1;
            r.keepdim = true;
        }) == "");
        CHECK(compare<TestType>(x, {5, 40, 3}, as_is, exactly) == "");
    }
}

TEST_CASE("what is not quantized is summed as it is") {
    const auto reals = [](program& p) {
        p.output(p.make<aten::sum>({p.input(dtype::float32, {3, 4})}));
        p.output(p.make<aten::argmax>({p.input(dtype::float32, {3, 4})}));
        p.output(p.make<aten::sum>({p.input(dtype::int32, {3, 4})}));
    };
    CHECK_THAT(reals, is_left_alone_by<reductions>());
    CHECK(count_after<aten::sum, reductions>(reals) == 2);
}

TEST_CASE("sums of what is padded, clamped, or has scales for its rows") {
    const auto cut = [](program& p) {
        output_in(p, p.make<aten::sum_dim_intlist>({padded_and_clamped_input(p, a, {12, 30}), int_list{1}}),
            int8_codes(0.737, 5));
    };
    CHECK_THAT(cut, (becomes_integers<reductions, may_rewrite<fold_quantization>>(nearly)));
    const auto rows = [](program& p) {
        const value x = real_per_channel(p, p.input(dtype::int8, {5, 30}), scales_around(0.04, 5), 0);
        output_in(p, p.make<aten::sum_dim_intlist>({x, int_list{0}}), int8_codes(0.737, 5));
    };
    CHECK_THAT(rows, (becomes_integers<reductions, may_rewrite<fold_quantization>>(nearly)));
}
