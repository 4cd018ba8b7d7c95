// SPDX-License-Identifier: MIT
// Tests that heads of an attention are mixed where they are stored.
#include <catch2/catch.hpp>

#include <headrace/passes/npu/mixed_heads.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<mix_heads>::sound);

struct mixing {
    std::int64_t batch = 1, heads = 3, mixed = 2, queries = 4, keys = 5;
    bool rescales = true, per_channel = true, is_read_twice = false, shares_bias = false;
    int_list kernel{1, 1};
    bool from_product = true;
};

value transposed_scores(program& p, value v, const int_list& perms) {
    return p.make<tosa::transpose>({.input1 = v, .perms = perms});
}

npu_builder mixture_of(const mixing& m) {
    return for_target(u85_npu, [=](program& p) {
        const int_list image{m.batch, m.heads, m.queries, m.keys};
        value scores = p.input(dtype::int8, image);
        if (m.from_product) {
            scores = p.make<tosa::matmul>({.a = p.input(dtype::int8, {m.batch * m.heads, m.queries, 6}),
                .b = p.input(dtype::int8, {m.batch * m.heads, 6, m.keys}),
                .a_zp = integer_constant(p, dtype::int8, {1}, {3}),
                .b_zp = integer_constant(p, dtype::int8, {1}, {-4}),
                .output_type = dtype::int32});
            scores = rescaled_by(p, scores, {.shift = 38, .output_zero = 2, .to = dtype::int8});
            const value shape = p.make<tosa::const_shape>({.values = image});
            scores = p.make<tosa::reshape>({.input1 = scores, .shape = shape});
        }
        const int_list weight{m.mixed, m.kernel[0], m.kernel[1], m.heads};
        value v =
            convolved_by(p, transposed_scores(p, scores, {0, 2, 3, 1}), {.image = image, .weight = weight});
        if (m.shares_bias) {
            auto shared = args_of<tosa::conv2d>(*v.producer);
            shared.bias = integer_constant(p, dtype::int32, {1}, {70});
            v = p.make<tosa::conv2d>(shared);
        }
        if (m.is_read_twice) p.output(v);
        if (m.rescales) {
            std::vector<std::int64_t> multipliers;
            for (std::int64_t i = 0; i != (m.per_channel ? m.mixed : 1); ++i)
                multipliers.push_back((1 << 30) + (i << 27));
            v = rescaled_by(
                p, v, {.multipliers = multipliers, .shift = 37, .output_zero = -7, .to = dtype::int8});
        }
        return transposed_scores(p, v, {0, 3, 1, 2});
    });
}

}  // namespace

TEST_CASE("heads of any number are mixed, rescaled or not") {
    for (unsigned seed = 0; seed != 8; ++seed) {
        random_numbers any(seed);
        const mixing m{.batch = any(1, 2),
            .heads = any(1, 4),
            .mixed = any(2, 4),
            .queries = any(4, 6),
            .keys = any(2, 6),
            .rescales = any(0, 3) != 0,
            .per_channel = any(0, 1) != 0,
            .shares_bias = any(0, 1) != 0};
        INFO(seed);
        CHECK_THAT(mixture_of(m), computes_the_same<mix_heads>().within(0));
        CHECK(count_after<tosa::transpose, mix_heads>(mixture_of(m)) <= 1);
    }
}

TEST_CASE("windows, images that are no scores, many heads and results that are read twice stay") {
    for (const npu_builder& build : {mixture_of({.kernel = {2, 1}}), mixture_of({.from_product = false}),
             mixture_of({.heads = 17}), mixture_of({.mixed = 6}), mixture_of({.is_read_twice = true})}) {
        CHECK_THAT(build, is_left_alone_by<mix_heads>());
    }
}

TEST_CASE("heads are mixed for targets that multiply matrices one by one") {
    CHECK(runs_for<mix_heads>(u85_npu));
    CHECK(runs_for<mix_heads>(integer_target));
    CHECK_FALSE(runs_for<mix_heads>(u55_npu));
}
