// SPDX-License-Identifier: MIT
// Tests the estimate of cycles against figures of Vela 5.2.
#include <catch2/catch.hpp>

#include <cmath>
#include <string>

#include <headrace/target/npu_cycles.hpp>

using namespace headrace;

namespace {

const npu& u55 = *npu_named("ethos-u55-128");
const npu& u85 = *npu_named("ethos-u85-256");

npu_layer convolution(
    npu_extent input, npu_extent result, std::int64_t window, std::int64_t stride, const npu& target) {
    const double products = static_cast<double>(window * window * input.depth * result.depth);
    return {.unit = npu_unit::convolution,
        .input = {.size = input},
        .result = {.size = result},
        .kernel = {window, window, 1},
        .stride = {stride, stride, 1},
        .weights = products + 10 * static_cast<double>(result.depth),
        .cycles_out = target.output.narrow};
}

}  // namespace

TEST_CASE("convolutions on the chip take what Vela says") {
    CHECK(
        npu_cycles(convolution({56, 56, 64}, {56, 56, 64}, 3, 1, u55), u55) == Approx(905108).epsilon(0.01));
    CHECK(npu_cycles(convolution({112, 112, 16}, {112, 112, 96}, 1, 1, u55), u55) ==
        Approx(603016).epsilon(0.01));
    CHECK(
        npu_cycles(convolution({1, 197, 192}, {1, 197, 192}, 1, 1, u55), u55) == Approx(58768).epsilon(0.01));
    CHECK(npu_cycles(convolution({1, 196, 768}, {1, 196, 192}, 1, 1, u85), u85) ==
        Approx(114665).epsilon(0.03));
    CHECK(
        npu_cycles(convolution({1, 197, 192}, {1, 197, 192}, 1, 1, u85), u85) == Approx(29704).epsilon(0.03));
}

TEST_CASE("a product takes as long as its results, or as a constant that is read for each of them") {
    npu_layer product{.unit = npu_unit::elementwise,
        .input = {.size = {56, 56, 40}},
        .result = {.size = {56, 56, 40}},
        .cycles_out = u55.output.wide,
        .second = {.size = {56, 56, 48}},
        .has_second = true};
    CHECK(npu_cycles(product, u55) == 112896);
    product.second.on_chip = product.second.in_groups = false;
    CHECK(npu_cycles(product, u55) == 1204224);
}

TEST_CASE("few channels in slow memory are read in short bursts") {
    npu_layer layer = convolution({224, 224, 3}, {112, 112, 32}, 3, 2, u85);
    layer.input.in_groups = false;
    const double on_chip = npu_cycles(layer, u85);
    layer.input.on_chip = false;
    CHECK(npu_cycles(layer, u85) > 2 * on_chip);
}

TEST_CASE("a stride of more than 3 costs a convolution for each pixel") {
    const double whole = npu_cycles(convolution({16, 16, 8}, {8, 8, 32}, 2, 2, u55), u55);
    const double apart = npu_cycles(convolution({32, 32, 8}, {8, 8, 32}, 4, 4, u55), u55);
    CHECK(apart > 10 * whole);
}

TEST_CASE("more multipliers take fewer cycles") {
    for (const char* const family : {"ethos-u55-", "ethos-u85-"}) {
        double last = 0;
        for (const char* const macs : {"2048", "1024", "512", "256", "128", "64", "32"}) {
            const npu* const target = npu_named(std::string(family) + macs);
            if (target == nullptr) continue;
            const double cycles =
                npu_cycles(convolution({28, 28, 128}, {28, 28, 128}, 3, 1, *target), *target);
            CHECK(cycles > last);
            last = cycles;
        }
        CHECK(last > 0);
    }
}

TEST_CASE("nothing costs nothing, and huge sizes cost a number") {
    CHECK(npu_cycles(convolution({0, 5, 5}, {1, 5, 5}, 1, 1, u55), u55) == 0);
    const std::int64_t most = std::int64_t{1} << 40;
    const double huge = npu_cycles(convolution({most, most, 8}, {most, most, 8}, 1, 1, u55), u55);
    CHECK(std::isfinite(huge));
    CHECK(npu_named("ethos-u99") == nullptr);
}
