// SPDX-License-Identifier: MIT
// Tests the lowering of upsampling: to sizes and by factors, in every mode.
#include <array>

#include <catch2/catch.hpp>

#include <headrace/passes/legalize/convolution.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

using shape_list = int_list;  // an initializer_list would dangle in the closures
constexpr dtype fp32 = dtype::float32;

static_assert(effects_of<legalize_resize>::removed_set == effects_of<legalize_resize>::target_set);

template <class Args>
value& input_of(Args& a) {
    if constexpr (requires { a.input; }) {
        return a.input;
    } else {
        return a.self;
    }
}
template <class Op>
auto to_size(shape_list input, shape_list output, bool align = false, dtype type = fp32) {
    return [=](program& p) {
        args<Op> a{};
        a.output_size = int_list(output);
        if constexpr (requires { a.align_corners; }) a.align_corners = align;
        input_of(a) = p.input(type, input);
        p.output(p.make<Op>(a));
    };
}
/// Only for the .vec overloads.
template <class Op>
auto by_factors(shape_list input, double h, double w, bool align = false) {
    return [=](program& p) {
        const std::array<double, 2> factors{h, w};
        args<Op> a{};
        a.scale_factors = list<double>(factors.data(), input.size() - 2);
        if constexpr (requires { a.align_corners; }) a.align_corners = align;
        a.input = p.input(fp32, input);
        p.output(p.make<Op>(a));
    };
}
template <class Build>
std::pmr::string compare(const Build& build, double tolerance = 1e-5) {
    return compare_runs<legalize_resize>(build, {}, tolerance);
}

}  // namespace

TEST_CASE("to a size, in every mode") {
    struct {
        std::int64_t in, out;
    } const axes[] = {{3, 6}, {4, 4}, {5, 8}, {8, 5}, {7, 3}, {6, 3}, {1, 4}, {4, 1}, {1, 1}, {2, 9}};
    for (const auto& h : axes) {
        for (const auto& w : axes) {
            CAPTURE(h.in, h.out, w.in, w.out);
            const shape_list in{2, 3, h.in, w.in};
            const shape_list out{h.out, w.out};
            CHECK(compare(to_size<aten::upsample_nearest2d>(in, out), 0) == "");
            CHECK(compare(to_size<aten::upsample_nearest2d_vec>(in, out), 0) == "");
            CHECK(compare(to_size<aten::_upsample_nearest_exact2d>(in, out), 0) == "");
            CHECK(compare(to_size<aten::_upsample_nearest_exact2d_vec>(in, out), 0) == "");
            for (const bool align : {false, true}) {
                CHECK(compare(to_size<aten::upsample_bilinear2d>(in, out, align)) == "");
                CHECK(compare(to_size<aten::upsample_bilinear2d_vec>(in, out, align)) == "");
            }
        }
        const shape_list in{2, 3, h.in};
        CHECK(compare(to_size<aten::upsample_nearest1d>(in, {h.out}), 0) == "");
        CHECK(compare(to_size<aten::_upsample_nearest_exact1d>(in, {h.out}), 0) == "");
        CHECK(compare(to_size<aten::upsample_nearest1d_vec>(in, {h.out}), 0) == "");
        CHECK(compare(to_size<aten::_upsample_nearest_exact1d_vec>(in, {h.out}), 0) == "");
        for (const bool align : {false, true}) {
            CHECK(compare(to_size<aten::upsample_linear1d>(in, {h.out}, align)) == "");
            CHECK(compare(to_size<aten::upsample_linear1d_vec>(in, {h.out}, align)) == "");
        }
    }
}

TEST_CASE("by factors") {
    for (const double h : {1.0, 2.0, 1.5, 0.5, 0.75, 2.3, 3.0}) {
        for (const double w : {2.0, 1.5, 0.5, 1.25}) {
            CAPTURE(h, w);
            const shape_list in{1, 2, 6, 7};
            CHECK(compare(by_factors<aten::upsample_nearest2d_vec>(in, h, w), 0) == "");
            CHECK(compare(by_factors<aten::_upsample_nearest_exact2d_vec>(in, h, w), 0) == "");
            CHECK(compare(by_factors<aten::upsample_bilinear2d_vec>(in, h, w)) == "");
            CHECK(compare(by_factors<aten::upsample_bilinear2d_vec>(in, h, w, true)) == "");
        }
        CHECK(compare(by_factors<aten::upsample_nearest1d_vec>({1, 2, 9}, h, h), 0) == "");
        CHECK(compare(by_factors<aten::_upsample_nearest_exact1d_vec>({1, 2, 9}, h, h), 0) == "");
        CHECK(compare(by_factors<aten::upsample_linear1d_vec>({1, 2, 9}, h, h)) == "");
    }
}

TEST_CASE("to a size, by the factors that led to it") {
    const auto with_scales = [](std::int64_t h, std::int64_t w, double scale_h, double scale_w) {
        return [=](program& p) {
            const value x = p.input(fp32, {1, 2, 5, 6});
            p.output(p.make<aten::upsample_bilinear2d>({x, {h, w}, false, scale_h, scale_w}));
            p.output(p.make<aten::upsample_nearest2d>({x, {h, w}, scale_h, scale_w}));
            p.output(p.make<aten::_upsample_nearest_exact2d>({x, {h, w}, scale_h, scale_w}));
        };
    };
    CHECK(compare(with_scales(10, 9, 2.0, 1.5)) == "");
    CHECK(compare(with_scales(7, 3, 1.5, 0.5)) == "");
    CHECK(compare(with_scales(5, 12, 1.2, 2.1)) == "");  // the sizes disagree
    CHECK(compare([](program& p) {
        const value x = p.input(fp32, {1, 2, 5});
        p.output(p.make<aten::upsample_linear1d>({x, {7}, false, 1.5}));
        p.output(p.make<aten::upsample_nearest1d>({x, {7}, 1.5}));
    }) == "");
}

TEST_CASE("resizing in half precision") {
    for (const dtype type : {dtype::float16, dtype::bfloat16}) {
        CHECK(compare(to_size<aten::upsample_nearest2d>({1, 2, 4, 5}, {8, 7}, false, type), 0) == "");
        CHECK(compare(to_size<aten::upsample_bilinear2d>({1, 2, 4, 5}, {8, 10}, false, type), 4e-2) == "");
    }
}

TEST_CASE("what is beyond RESIZE is refused") {
    const auto refused = [](const auto& build) {
        return refusal<legalize_resize>(build).find("beyond TOSA's RESIZE") != std::pmr::string::npos;
    };
    CHECK(refused(to_size<aten::upsample_nearest2d>({1, 1, 3, 3}, {2000, 6})));
    CHECK(refused(to_size<aten::upsample_nearest2d>({1, 1, 64, 64}, {64, 4})));
    CHECK(refused(to_size<aten::upsample_bilinear2d>({1, 1, 1, 4}, {300, 8})));
    CHECK(!refused(to_size<aten::upsample_bilinear2d>({1, 1, 1, 4}, {256, 8})));
    CHECK(!refused(to_size<aten::upsample_bilinear2d>({1, 1, 60, 4}, {4, 8})));
    CHECK(refusal<legalize_resize>(
              to_size<aten::upsample_bilinear2d>({1, 1, 2, 4}, {4, 8}, false, dtype::uint8))
              .find("another type") != std::pmr::string::npos);
}
