// SPDX-License-Identifier: MIT
// Tests that sums over axes and their RESCALEs become convolutions that compute the same.
#include <catch2/catch.hpp>

#include <headrace/passes/cortex_m/sums.hpp>

#include "../../support/kernel_runs.hpp"

using namespace headrace;
using kernel_test::dice;
using testing::program;

namespace {

// Sums over up to three adjacent axes.
kernel_test::random_program sum(
    std::int64_t max_rank, std::int64_t most, double factor, rounding_mode rounding) {
    return [=](program& p, dice& d) {
        const auto rank = d.from(1, max_rank);
        const std::int64_t first = d.from(0, rank - 1), last = d.from(first, std::min(rank - 1, first + 2));
        const int_list shape = d.shape(static_cast<std::size_t>(rank), most);
        value v = kernel_test::widened(p, p.input(dtype::int8, shape), d.from(-128, 127), factor);
        double count = 1;
        for (std::int64_t axis = first; axis <= last; ++axis) {
            count *= static_cast<double>(shape[static_cast<std::size_t>(axis)]);
            v = p.make<tosa::reduce_sum>({.input = v, .axis = axis});
        }
        return kernel_test::narrowed(
            p, v, {kernel_test::factors_around(d, 1 / count / factor, 1), d.from(-128, 127), rounding});
    };
}
constexpr auto single = rounding_mode::single_round, doubled = rounding_mode::double_round;

template <class Change>
auto sum_with(const int_list& shape, const Change& change, const kernel_test::narrowing& to = {{0.5}}) {
    return [=](program& p) {
        const value v = kernel_test::widened(p, p.input(dtype::int8, shape), 3);
        p.output(kernel_test::narrowed(p, change(p, v), to));
    };
}
value summed(program& p, value v, std::int64_t axis) {
    return p.make<tosa::reduce_sum>({.input = v, .axis = axis});
}

}  // namespace

TEST_CASE("sums over adjacent axes") {
    CHECK(becomes_kernels<select_sums>(sum(6, 5, 1, doubled)) == "");
    CHECK(becomes_kernels<select_sums>(sum(6, 5, 1, single), {.difference = 1}) == "");
    CHECK(becomes_kernels<select_sums>(sum(4, 12, 1, doubled)) == "");
    CHECK(becomes_kernels<select_sums>(sum(4, 5, 1 << 16, single), {.difference = 1}) == "");
}

TEST_CASE("sums over axes that no kernel computes stay") {
    const auto apart = sum_with({2, 3, 4}, [](program& p, value v) { return summed(p, summed(p, v, 0), 2); });
    CHECK_THAT(apart, is_left_alone_by<select_sums>());
    const auto by_channel =
        sum_with({2, 3}, [](program& p, value v) { return summed(p, v, 0); }, {{0.5, 0.4, 0.3}});
    CHECK_THAT(by_channel, is_left_alone_by<select_sums>());
    const auto no_sum = sum_with({2, 3}, [](program&, value v) { return v; });
    CHECK_THAT(no_sum, is_left_alone_by<select_sums>());
    const auto of_a_product = sum_with({2, 3}, [](program& p, value v) {
        return summed(p, p.make<tosa::mul>({v, v, kernel_test::number(p, dtype::int8, 0)}), 1);
    });
    CHECK_THAT(of_a_product, is_left_alone_by<select_sums>());
    const auto wide = [](program& p) {
        p.output(kernel_test::narrowed(p, summed(p, p.input(dtype::int32, {2, 3}), 1), {{0.5}}));
    };
    CHECK_THAT(wide, is_left_alone_by<select_sums>());
}
