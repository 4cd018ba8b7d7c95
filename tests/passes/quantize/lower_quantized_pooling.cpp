// SPDX-License-Identifier: MIT
// Tests averages and interpolations of dequantized images.
#include <catch2/catch.hpp>

#include <headrace/passes/quantize/lower_quantized.hpp>
#include <headrace/passes/quantize/lower_quantized_pooling.hpp>
#include <headrace/target/node_facts.hpp>
#include <headrace/target/tosa_rules.hpp>

#include "../../support/quantized_test.hpp"

using namespace headrace;

namespace {

using shape_list = int_list;  // an initializer_list would dangle in the closures
using pooling = lower_quantized_pooling;
using resizing = lower_quantized_resize;
static_assert(effects_of<pooling>::sound && effects_of<resizing>::sound);
static_assert(effects_of<pooling>::removed_set.empty() && effects_of<resizing>::removed_set.empty());

constexpr coding a = int8_codes(0.05, 3);
constexpr coding finer = int8_codes(0.01713, -40);
constexpr coding coarser = int8_codes(0.0717, 9);
constexpr coding off_center = off_center_int16;
constexpr coding lowest_zero{1e-4, -32768, dtype::int16, -32768, 32767};
/// RESCALE of INT48 has factors of 15 bits.
constexpr allowance nearly_in_48_bits{1, 0.15};

template <class Set>
auto pooled(coding x, coding to, shape_list shape, const Set& set) {
    return [=](program& p) {
        args<aten::avg_pool2d> w{};
        set(w);
        w.self = real_input(p, x, shape);
        output_in(p, p.make<aten::avg_pool2d>(w), to);
    };
}
template <class Set>
std::pmr::string pool(coding x, coding to, const Set& set, const allowance& allowed = nearly) {
    return integers_from<pooling, may_rewrite<fold_quantization>>(
        pooled(x, to, {2, 3, 14, 13}, set), allowed);
}
template <class Op, class Set>
std::pmr::string resize(
    coding x, coding to, shape_list shape, const Set& set, const allowance& allowed = nearly) {
    const auto build = [=](program& p) {
        args<Op> r{};
        set(r);
        const value image = real_input(p, x, shape);
        if constexpr (requires { r.input; }) {
            r.input = image;
        } else {
            r.self = image;
        }
        output_in(p, p.make<Op>(r), to);
    };
    return integers_from<resizing, may_rewrite<fold_quantization>>(build, allowed);
}

}  // namespace

TEST_CASE("averages in another coding are rounded once") {
    for (const coding& x : {a, int8_codes(0.05, -128), int16_codes(2e-4)}) {
        for (const coding& to : {finer, coarser, int16_codes(1.713e-4)}) {
            for (const std::int64_t stride : {1, 2, 3}) {
                CAPTURE(x.scale, x.zero_point, to.scale, stride);
                const auto plain = [=](auto& w) {
                    w.kernel_size = {3, 2};
                    w.stride = {stride, stride};
                };
                const auto padded = [=](auto& w) {
                    plain(w);
                    w.padding = {1, 1};
                };
                const bool is_long = x.type == dtype::int16 && to.type == dtype::int16;
                CHECK(pool(x, to, plain, is_long ? nearly_in_48_bits : nearly) == "");
                CHECK(pool(x, to, padded, is_long ? nearly_in_48_bits : nearly) == "");
            }
        }
    }
    const auto global = [](auto& w) { w.kernel_size = {14, 13}; };
    CHECK(pool(a, finer, global) == "");
    const auto large = pooled(a, finer, {1, 2, 60, 70}, [](auto& w) { w.kernel_size = {60, 70}; });
    CHECK_THAT(large, (becomes_integers<pooling, may_rewrite<fold_quantization>>(nearly)));
}

TEST_CASE("averages in the same coding are averages of codes") {
    for (const coding& x : {a, int8_codes(0.05, -128), int16_codes(2e-4)}) {
        for (const bool ceil_mode : {false, true}) {
            for (const std::int64_t padding : {0, 1}) {
                for (const bool counted : {false, true}) {
                    CAPTURE(x.scale, x.zero_point, ceil_mode, padding, counted);
                    const auto windows = [=](auto& w) {
                        w.kernel_size = {3, 2};
                        w.stride = {2, 3};
                        w.padding = {padding, padding};
                        w.ceil_mode = ceil_mode;
                        w.count_include_pad = counted;
                    };
                    CHECK(pool(x, x, windows, nearly_with_ties) == "");
                    const auto build = pooled(x, x, {2, 3, 14, 13}, windows);
                    CHECK(count_after<tosa::avg_pool2d, pooling, fold_quantization>(build) == 1);
                    CHECK(count_after<tosa::rescale, pooling, fold_quantization>(build) == 0);
                }
            }
        }
    }
    const auto thirds = [](auto& w) { w.kernel_size = {3, 3}; };
    CHECK(pool(a, a, thirds, exactly) == "");
}

TEST_CASE("windows of different sizes are rounded once, too") {
    const auto uncounted = [](auto& w) {
        w.kernel_size = {3, 2};
        w.padding = {1, 1};
        w.count_include_pad = false;
    };
    const auto overhanging = [](auto& w) {
        w.kernel_size = {3, 2};
        w.stride = {2, 3};
        w.ceil_mode = true;
    };
    const auto large = [](auto& w) {  // no common multiple of the divisors fits
        w.kernel_size = {13, 11};
        w.padding = {6, 5};
        w.count_include_pad = false;
    };
    for (const coding& x : {a, int16_codes(2e-4), off_center}) {
        for (const coding& to : {coarser, finer, int8_codes(0.003, 7)}) {
            CAPTURE(x.scale, x.zero_point, to.scale);
            CHECK(pool(x, to, uncounted) == "");
            CHECK(pool(x, to, overhanging) == "");
        }
    }
    CHECK(pool(a, finer, large) == "");
    const auto build = pooled(a, finer, {2, 3, 14, 13}, uncounted);
    CHECK(count_after<tosa::avg_pool2d, pooling, fold_quantization>(build) == 0);
    CHECK(count_after<tosa::depthwise_conv2d, pooling, fold_quantization>(build) == 1);
}

TEST_CASE("what is quantized as the input is after a clamp is one AVG_POOL2D") {
    const auto build = [](program& p) {
        args<aten::avg_pool2d> w{};
        w.self = real_input(p, a, {1, 3, 8, 8});
        w.kernel_size = {3, 3};
        w.padding = {1, 1};
        w.count_include_pad = false;
        const value flat = p.make<aten::view>({.self = p.make<aten::avg_pool2d>(w), .size = {1, -1}});
        output_in(p, p.make<aten::relu>({flat}), a);
    };
    CHECK(count_after<tosa::avg_pool2d, pooling>(build) == 1);
}

TEST_CASE("averages of averages, as those of volumes are, are sums of slices") {
    for (const bool counted : {true, false}) {
        const auto build = [=](program& p) {
            args<aten::avg_pool2d> w{};
            w.self = real_input(p, a, {1, 6, 9, 8});
            w.kernel_size = {3, 2};
            w.padding = {1, 1};
            w.count_include_pad = counted;
            const value first = p.make<aten::avg_pool2d>(w);
            args<aten::avg_pool2d> v{};
            v.self = first;
            v.kernel_size = {2, 1};
            v.stride = {2, 1};
            v.padding = {1, 0};
            v.count_include_pad = counted;
            output_in(p, p.make<aten::avg_pool2d>(v), finer);
        };
        CAPTURE(counted);
        CHECK_THAT(build, (becomes_integers<pooling, may_rewrite<fold_quantization>>(nearly)));
    }
    const auto long_windows = [](program& p) {  // not worth so many slices
        args<aten::avg_pool2d> v{};
        v.self = real_of(p, p.input(dtype::int32, {1, 1, 70, 2}), int32_codes(1e-6));
        v.kernel_size = {66, 1};
        output_in(p, p.make<aten::avg_pool2d>(v), finer);
    };
    CHECK_THAT(long_windows, is_left_alone_by<pooling>());
}

TEST_CASE("averages of 32 bits with a zero point, of which RESCALE takes no more than some") {
    constexpr coding x{1e-9, 77, dtype::int32, -(1 << 30), (1 << 30) - 1};
    const auto windows = [](auto& w) { w.kernel_size = {3, 2}; };
    CHECK(pool(x, int8_codes(0.01, 3), windows) == "");
}

TEST_CASE("averages of 16 bits with a zero point") {
    for (const coding& x : {off_center, lowest_zero}) {
        for (const coding& to : {x, a, int16_codes(1.7e-4)}) {
            for (const bool counted : {true, false}) {
                const auto windows = [=](auto& w) {
                    w.kernel_size = {3, 2};
                    w.stride = {2, 1};
                    w.padding = {1, 1};
                    w.count_include_pad = counted;
                };
                CAPTURE(x.zero_point, to.scale, counted);
                CHECK(pool(x, to, windows, {1, 0.3}) == "");
                program p;
                const graph& g = lowered<pooling>(p, pooled(x, to, {2, 3, 14, 13}, windows));
                for (const node& n : g.nodes()) {
                    if (is_of_dialect<tosa::dialect>(n)) CHECK_FALSE(zero_fault_of(facts_of(n)));
                }
            }
        }
    }
}

TEST_CASE("a quantized divisor of one's own") {
    for (const std::int64_t divisor : {1, 3, 7, 100}) {
        for (const coding& to : {a, finer, coarser}) {
            for (const bool ceil_mode : {false, true}) {
                CAPTURE(divisor, to.scale, ceil_mode);
                const auto windows = [=](auto& w) {
                    w.kernel_size = {3, 2};
                    w.stride = {2, 3};
                    w.divisor_override = divisor;
                    w.ceil_mode = ceil_mode;
                };
                const auto padded = [=](auto& w) {
                    windows(w);
                    w.padding = {1, 1};
                    w.count_include_pad = false;
                };
                CHECK(pool(a, to, windows, nearly_with_ties) == "");
                CHECK(pool(a, to, padded, nearly_with_ties) == "");
            }
        }
    }
}

TEST_CASE("interpolation, in every mode") {
    struct {
        std::int64_t in, out;
    } const axes[] = {{3, 6}, {4, 4}, {5, 8}, {7, 3}, {1, 4}, {4, 1}};
    for (const coding& to : {a, finer, coarser}) {
        for (const bool align : {false, true}) {
            for (const auto& h : axes) {
                for (const auto& w : axes) {
                    CAPTURE(to.scale, align, h.in, h.out, w.in, w.out);
                    const auto to_size = [=](auto& r) {
                        r.output_size = int_list{h.out, w.out};
                        r.align_corners = align;
                    };
                    const shape_list shape{1, 20, h.in, w.in};
                    CHECK(resize<aten::upsample_bilinear2d>(a, to, shape, to_size, nearly_with_ties) == "");
                    CHECK(
                        resize<aten::upsample_bilinear2d_vec>(a, to, shape, to_size, nearly_with_ties) == "");
                }
                const auto to_width = [=](auto& r) {
                    r.output_size = int_list{h.out};
                    r.align_corners = align;
                };
                const shape_list shape{2, 30, h.in};
                CHECK(resize<aten::upsample_linear1d>(a, to, shape, to_width, nearly_with_ties) == "");
                CHECK(resize<aten::upsample_linear1d_vec>(a, to, shape, to_width, nearly_with_ties) == "");
            }
        }
    }
    const auto doubled = [](auto& r) { r.output_size = int_list{24, 26}; };
    CHECK(resize<aten::upsample_bilinear2d>(a, finer, {2, 3, 12, 13}, doubled) == "");
    CHECK(resize<aten::upsample_bilinear2d>(int8_codes(0.05, -128), coarser, {2, 3, 12, 13}, doubled) == "");
}

TEST_CASE("images of real numbers stay") {
    const auto reals = [](program& p) {
        args<aten::avg_pool2d> w{};
        w.kernel_size = {2, 2};
        w.self = p.input(dtype::float32, {1, 2, 4, 4});
        p.output(p.make<aten::avg_pool2d>(w));
        w.self = real_per_channel(p, p.input(dtype::int8, {1, 2, 4, 4}), {0.1, 0.2}, 1);
        p.output(p.make<aten::avg_pool2d>(w));
        p.output(p.make<aten::upsample_bilinear2d>({w.self, {8, 8}, false, std::nullopt, std::nullopt}));
    };
    CHECK_THAT(reals, (is_left_alone_by<pooling, resizing>()));
    CHECK(count_after<aten::avg_pool2d, pooling>(reals) == 2);
    CHECK(count_after<aten::upsample_bilinear2d, resizing>(reals) == 1);
}

TEST_CASE("images that are padded and clamped before") {
    const auto build = [](program& p) {
        args<aten::avg_pool2d> w{};
        w.self = padded_and_clamped_input(p, a, {2, 3, 14, 13});
        w.kernel_size = {3, 2};
        output_in(p, p.make<aten::avg_pool2d>(w), finer);
    };
    CHECK_THAT(build, (becomes_integers<pooling, may_rewrite<fold_quantization>>(nearly)));
    const auto resized = [](program& p) {
        args<aten::upsample_bilinear2d_vec> r{};
        r.input = padded_and_clamped_input(p, a, {1, 2, 5, 7});
        r.output_size = int_list{10, 14};
        output_in(p, p.make<aten::upsample_bilinear2d_vec>(r), finer);
    };
    CHECK_THAT(resized, (becomes_integers<resizing, may_rewrite<fold_quantization>>(nearly)));
}

TEST_CASE("an image of one channel is summed by CONV2D") {
    const auto build = pooled(a, finer, {2, 1, 14, 13}, [](auto& w) { w.kernel_size = {3, 2}; });
    CHECK_THAT(build, (becomes_integers<pooling, may_rewrite<fold_quantization>>(nearly)));
    CHECK(count_after<tosa::conv2d, pooling>(build) == 1);
}
