// SPDX-License-Identifier: MIT
// Tests that poolings of int8 become kernels that compute the same.
#include <catch2/catch.hpp>

#include <headrace/passes/cortex_m/pooling.hpp>

#include "../../support/kernel_runs.hpp"

using namespace headrace;
using kernel_test::dice;
using testing::program;

namespace {

struct windows {
    int_list shape, kernel, stride, pad;
};
windows random_windows(dice& d, bool pads_equally) {
    shape_builder shape{d.from(1, 3), 0, 0, d.from(1, 7)}, kernel, stride, pad;
    for (std::size_t i = 0; i != 2; ++i) {
        kernel.push_back(d.from(1, 4));
        stride.push_back(d.from(1, 4));
        const std::int64_t before = d.from(0, kernel[i] - 1);
        const std::int64_t after = pads_equally ? before : d.from(0, kernel[i] - 1);
        shape[1 + i] = (d.from(1, 5) - 1) * stride[i] + kernel[i] - before - after;
        while (shape[1 + i] < 1) shape[1 + i] += stride[i];
        pad.push_back(before);
        pad.push_back(after);
    }
    return {int_list(shape), int_list(kernel), int_list(stride), int_list(pad)};
}
value average(program& p, const windows& w, value input_zp, value output_zp, dtype type = dtype::int8) {
    return p.make<tosa::avg_pool2d>({.input = p.input(type, w.shape),
        .input_zp = input_zp,
        .output_zp = output_zp,
        .kernel = w.kernel,
        .stride = w.stride,
        .pad = w.pad,
        .acc_type = dtype::int32});
}
value random_average(program& p, dice& d) {
    const value zero = kernel_test::number(p, dtype::int8, d.from(-128, 127));
    return average(p, random_windows(d, true), zero, zero);
}
value largest(program& p, const windows& w, dtype type = dtype::int8) {
    return p.make<tosa::max_pool2d>(
        {.input = p.input(type, w.shape), .kernel = w.kernel, .stride = w.stride, .pad = w.pad});
}
const windows plain{{1, 4, 4, 3}, {2, 2}, {2, 2}, {0, 0, 0, 0}};
const windows uneven{{1, 3, 3, 3}, {2, 2}, {2, 2}, {0, 1, 0, 1}};

template <class Build>
auto program_of(const Build& build) {
    return [=](program& p) { p.output(build(p)); };
}

}  // namespace

TEST_CASE("average poolings round ties another way, and nothing else") {
    CHECK(becomes_kernels<select_pooling>(random_average, {.difference = 1}) == "");
}

TEST_CASE("max poolings") {
    const auto equal = [](program& p, dice& d) { return largest(p, random_windows(d, true)); };
    CHECK(becomes_kernels<select_pooling>(equal) == "");
    const auto any = [](program& p, dice& d) { return largest(p, random_windows(d, false)); };
    CHECK(becomes_kernels<select_pooling>(any) == "");
}

TEST_CASE("maxima over an axis are max poolings") {
    const auto maximum = [](program& p, dice& d) {
        const auto rank = static_cast<std::size_t>(d.from(1, 6));
        return p.make<tosa::reduce_max>({.input = p.input(dtype::int8, d.shape(rank, 6)),
            .axis = d.from(0, static_cast<std::int64_t>(rank) - 1)});
    };
    CHECK(becomes_kernels<select_pooling>(maximum) == "");
}

TEST_CASE("poolings that no kernel computes stay") {
    const auto zero = [](program& p, std::int64_t n) { return kernel_test::number(p, dtype::int8, n); };
    const auto other_zero = program_of([=](program& p) { return average(p, plain, zero(p, 1), zero(p, 2)); });
    CHECK_THAT(other_zero, is_left_alone_by<select_pooling>());
    const auto uneven_average =
        program_of([=](program& p) { return average(p, uneven, zero(p, 1), zero(p, 1)); });
    CHECK_THAT(uneven_average, is_left_alone_by<select_pooling>());
    const auto of_int16 = program_of([](program& p) {
        const value wide_zero = kernel_test::number(p, dtype::int16, 0);
        return average(p, plain, wide_zero, wide_zero, dtype::int16);
    });
    CHECK_THAT(of_int16, is_left_alone_by<select_pooling>());
    CHECK_THAT(program_of([](program& p) { return largest(p, plain, dtype::int16); }),
        is_left_alone_by<select_pooling>());
    CHECK_THAT(program_of([](program& p) {
        return p.make<tosa::reduce_max>({.input = p.input(dtype::int16, {2, 3}), .axis = 1});
    }),
        is_left_alone_by<select_pooling>());
}
