// SPDX-License-Identifier: MIT
// Tests that weights of four bits are packed if the target has INT4, and only then.
#include <catch2/catch.hpp>

#include <headrace/passes/quantize/lower_quantized_products.hpp>
#include <headrace/passes/quantize/quantized_storage.hpp>

#include "../../support/quantized_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<pack_int4_weights>::sound && effects_of<pack_int4_weights>::removed_set.empty());

/// A CONV2D of quantized values, whose weights do not exceed that number.
auto convolution(std::string_view target, std::int64_t most) {
    return [=](program& p) {
        p.g.set_target(*parse_target(target));
        const value input = p.input(dtype::int8, {1, 6, 5, 3});
        std::vector<std::int64_t> codes;
        for (std::int64_t i = 0; i != std::int64_t{7} * 3 * 3 * 3; ++i)
            codes.push_back(i * 5 % (2 * most + 1) - most);
        p.output(p.make<tosa::conv2d>({.input = input,
            .weight = integer_constant(p, dtype::int8, {7, 3, 3, 3}, codes),
            .bias = integer_constant(p, dtype::int32, {7}, {1, 2, 3, 4, 5, 6, 7}),
            .input_zp = integer_constant(p, dtype::int8, {1}, {4}),
            .weight_zp = integer_constant(p, dtype::int8, {1}, {0}),
            .pad = {1, 1, 1, 1},
            .stride = {1, 1},
            .dilation = {1, 1},
            .acc_type = dtype::int32}));
    };
}
template <class Build>
dtype weights_after(const Build& build) {
    program p;
    for (const node& n : lowered<pack_int4_weights>(p, build).nodes_of(info_of<tosa::conv2d>))
        return meta_of(args_of<tosa::conv2d>(n).weight)->dtype;
    return dtype::unknown;
}

}  // namespace

TEST_CASE("weights between -7 and 7 are packed") {
    CHECK_THAT(convolution("TOSA-1.0+INT+int4", 7), computes_the_same<pack_int4_weights>());
    CHECK(weights_after(convolution("TOSA-1.0+INT+int4", 7)) == dtype::int4);
}

TEST_CASE("larger weights, and other targets, keep their bytes") {
    CHECK(weights_after(convolution("TOSA-1.0+INT+int4", 8)) == dtype::int8);
    CHECK(weights_after(convolution("TOSA-1.0+INT", 7)) == dtype::int8);
}

namespace {

/// A convolution with those weights; `set` sets its windows.
template <op_tag Op, class Set>
auto of_shape(int_list input, int_list weight, const Set& set) {
    return [=](program& p) {
        p.g.set_target(*parse_target("TOSA-1.0+INT+int4"));
        args<Op> a{};
        set(a);
        a.input = p.input(dtype::int8, input);
        std::vector<std::int64_t> codes;
        for (std::int64_t i = 0; i != element_count(weight); ++i) codes.push_back(i * 5 % 15 - 7);
        a.weight = integer_constant(p, dtype::int8, weight, codes);
        a.bias = integer_constant(p, dtype::int32, {2}, {100, -200});
        a.input_zp = integer_constant(p, dtype::int8, {1}, {4});
        a.weight_zp = integer_constant(p, dtype::int8, {1}, {0});
        a.acc_type = dtype::int32;
        p.output(p.make<Op>(a));
    };
}

}  // namespace

TEST_CASE("weights of volumes and of transposed convolutions are packed, too") {
    const auto volume = [](auto& a) {
        a.pad = {0, 0, 0, 0, 0, 0};
        a.stride = {1, 1, 1};
        a.dilation = {1, 1, 1};
    };
    CHECK_THAT(of_shape<tosa::conv3d>({1, 3, 4, 5, 3}, {2, 2, 2, 3, 3}, volume),
        computes_the_same<pack_int4_weights>());
    const auto transposed = [](auto& a) {
        a.out_pad = {0, 0, 0, 0};
        a.stride = {2, 2};
    };
    CHECK_THAT(of_shape<tosa::transpose_conv2d>({1, 4, 5, 3}, {2, 2, 3, 3}, transposed),
        computes_the_same<pack_int4_weights>());
}
