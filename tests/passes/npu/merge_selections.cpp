// SPDX-License-Identifier: MIT
// Tests that convolutions of selected channels read all of them, bit for bit.
#include <numeric>

#include <catch2/catch.hpp>

#include <headrace/passes/npu/channel_selections.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<merge_selections>::sound);

struct selecting {
    std::vector<std::int64_t> channels{3, 0, 2};  ///< of `all`
    std::int64_t all = 5;
    convolution_of reader{.image = {1, 4, 4, 3}, .weight = {2, 1, 1, 3}};
    std::int64_t weight = 1, other = 0;
    rescaling_of narrowing{.to = dtype::int8};
};
value selected(program& p, const selecting& s) {
    const auto count = static_cast<std::int64_t>(s.channels.size());
    std::vector<std::int64_t> taps(static_cast<std::size_t>(count * s.all), s.other);
    for (std::size_t i = 0; i != s.channels.size(); ++i)
        taps[i * static_cast<std::size_t>(s.all) + static_cast<std::size_t>(s.channels[i])] = s.weight;
    const int_list& image = s.reader.image;
    const value zero = integer_constant(p, dtype::int8, {1}, {0});
    const value sums =
        p.make<tosa::conv2d>({.input = p.input(dtype::int8, {image[0], image[1], image[2], s.all}),
            .weight = integer_constant(p, dtype::int8, {count, 1, 1, s.all}, taps),
            .bias = integer_constant(p, dtype::int32, {1}, {0}),
            .input_zp = zero,
            .weight_zp = zero,
            .pad = {0, 0, 0, 0},
            .stride = {1, 1},
            .dilation = {1, 1},
            .acc_type = dtype::int32});
    return rescaled_by(p, sums, s.narrowing);
}
npu_builder read_selected(const selecting& s) {
    return for_target(u85_npu, [=](program& p) { return convolved_by(p, selected(p, s), s.reader); });
}

}  // namespace

TEST_CASE("readers of any channels") {
    for (unsigned seed = 0; seed != 6; ++seed) {
        random_numbers any(seed);
        const std::int64_t all = any(2, 12), count = any(1, all);
        std::vector<std::int64_t> order(static_cast<std::size_t>(all));
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), std::mt19937(seed));
        order.resize(static_cast<std::size_t>(count));
        const npu_builder build = read_selected({.channels = order,
            .all = all,
            .reader = {.image = {any(1, 2), any(1, 4), any(1, 4), count},
                .weight = {any(1, count), 1, 1, count},
                .input_zero = any(-128, 127),
                .weight_zero = any(-9, 9)}});
        INFO(seed);
        CHECK_THAT(build, computes_the_same<merge_selections>().within(0));
        CHECK(count_after<tosa::conv2d, merge_selections>(build) == 1);
    }
}

TEST_CASE("padding is read as before") {
    CHECK_THAT(read_selected({.all = 4,
                   .reader = {.image = {1, 4, 4, 3}, .weight = {1, 1, 3, 3}, .pad = {0, 0, 1, 1}}}),
        computes_the_same<merge_selections>().within(0));
}

TEST_CASE("what is more than a selection stays, and so does one that many products would replace") {
    const auto stays = [](const selecting& s) {
        CHECK_THAT(read_selected(s), is_left_alone_by<merge_selections>());
    };
    REQUIRE(count_after<tosa::conv2d, merge_selections>(read_selected({})) == 1);
    stays({.weight = 2});
    stays({.other = 1});
    stays({.channels = {3, 0, 3}});
    stays({.narrowing = {.shift = 31, .to = dtype::int8}});
    stays({.narrowing = {.output_zero = 3, .to = dtype::int8}});
    stays({.reader = {.image = {1, 4, 4, 3}, .weight = {20, 1, 1, 3}}});
}

TEST_CASE("a selection with another reader stays") {
    const npu_builder build = for_target(u85_npu, [](program& p) {
        const selecting s;
        const value part = selected(p, s);
        p.output(part);
        return convolved_by(p, part, s.reader);
    });
    CHECK_THAT(build, is_left_alone_by<merge_selections>());
}

TEST_CASE("selections are merged for targets that have them") {
    CHECK(runs_for<merge_selections>(u55_npu));
    CHECK_FALSE(runs_for<merge_selections>(integer_target));
}
