// SPDX-License-Identifier: MIT
// Tests the lowering of poolings: counted and uncounted padding, windows past the end, divisors.
#include <limits>

#include <catch2/catch.hpp>

#include <headrace/passes/legalize/convolution.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

using shape_list = int_list;  // an initializer_list would dangle in the closures

static_assert(effects_of<legalize_pooling>::removed_set == effects_of<legalize_pooling>::target_set);

template <class Op, class Set>
auto program_of(shape_list input, const Set& set, dtype type = dtype::float32) {
    return [=](program& p) {
        args<Op> a{};
        set(a);
        a.self = p.input(type, input);
        p.output(p.make<Op>(a));
    };
}
template <class Op, class Set>
std::pmr::string pool(shape_list input, const Set& set, dtype type = dtype::float32) {
    return compare_runs<legalize_pooling>(
        program_of<Op>(input, set, type), {}, type == dtype::float32 ? 1e-5 : 2e-2);
}

}  // namespace

TEST_CASE("poolings with every kernel, stride and padding") {
    for (const std::int64_t kernel : {2, 3, 4}) {
        for (const std::int64_t stride : {1, 2, 3, 5}) {
            for (const std::int64_t padding : {0, 1, 2}) {
                if (2 * padding > kernel) continue;
                for (const bool ceil_mode : {false, true}) {
                    CAPTURE(kernel, stride, padding, ceil_mode);
                    const auto windows = [=](auto& a) {
                        a.kernel_size = {kernel, kernel};
                        a.stride = {stride, stride};
                        a.padding = {padding, padding};
                        a.ceil_mode = ceil_mode;
                    };
                    const auto uncounted = [=](auto& a) {
                        windows(a);
                        a.count_include_pad = false;
                    };
                    CHECK(pool<aten::max_pool2d>({2, 3, 10, 9}, windows) == "");
                    CHECK(pool<aten::avg_pool2d>({2, 3, 10, 9}, windows) == "");
                    CHECK(pool<aten::avg_pool2d>({2, 3, 10, 9}, uncounted) == "");
                }
            }
        }
    }
}

TEST_CASE("axes that differ, and a stride that is the kernel's") {
    const auto differ = [](auto& a) {
        a.kernel_size = {3, 1};
        a.stride = {1, 4};
        a.padding = {1, 0};
    };
    CHECK(pool<aten::max_pool2d>({1, 2, 7, 10}, differ) == "");
    CHECK(pool<aten::avg_pool2d>({1, 2, 7, 10}, differ) == "");
    const auto plain = [](auto& a) { a.kernel_size = {3}; };
    CHECK(pool<aten::max_pool2d>({1, 2, 7, 10}, plain) == "");
    CHECK(pool<aten::avg_pool2d>({1, 2, 7, 10}, plain) == "");
    const auto all = [](auto& a) { a.kernel_size = {7, 10}; };
    CHECK(pool<aten::max_pool2d>({1, 2, 7, 10}, all) == "");
    CHECK(pool<aten::avg_pool2d>({1, 2, 7, 10}, all) == "");
}

TEST_CASE("a divisor of one's own") {
    for (const std::int64_t divisor : {1, 3, 7}) {
        CHECK(pool<aten::avg_pool2d>({1, 2, 7, 9}, [=](auto& a) {
            a.kernel_size = {2, 3};
            a.divisor_override = divisor;
        }) == "");
        CHECK(pool<aten::avg_pool2d>({1, 2, 7, 9}, [=](auto& a) {
            a.kernel_size = {3, 3};
            a.stride = {2, 2};
            a.padding = {1, 1};
            a.divisor_override = divisor;
        }) == "");
    }
    // The divisor is the same for windows that reach into padding, counted or not, and past it.
    for (const bool counted : {false, true}) {
        CHECK(pool<aten::avg_pool2d>({1, 2, 7, 9}, [=](auto& a) {
            a.kernel_size = {3, 4};
            a.stride = {2, 3};
            a.padding = {1, 1};
            a.ceil_mode = true;
            a.count_include_pad = counted;
            a.divisor_override = 2;
        }) == "");
    }
}

TEST_CASE("half precision, infinities and NaN") {
    for (const dtype type : {dtype::float16, dtype::bfloat16}) {
        const auto windows = [](auto& a) {
            a.kernel_size = {3, 3};
            a.stride = {2, 2};
            a.padding = {1, 1};
        };
        CHECK(pool<aten::max_pool2d>({1, 3, 8, 8}, windows, type) == "");
        CHECK(pool<aten::avg_pool2d>({1, 3, 8, 8}, windows, type) == "");
    }
    const double infinity = std::numeric_limits<double>::infinity();
    const std::vector<double> numbers{
        -infinity, -infinity, 1, std::nan(""), -infinity, -infinity, 2, infinity};
    for (const bool padded : {false, true}) {
        CHECK_THAT(program_of<aten::max_pool2d>({1, 1, 2, 4},
                       [=](auto& a) {
                           a.kernel_size = {2, 2};
                           if (padded) a.padding = {1, 1};
                       }),
            computes_the_same<legalize_pooling>().for_inputs(
                {tensor::of(dtype::float32, {1, 1, 2, 4}, numbers)}));
    }
}

TEST_CASE("averages of integers are refused: PyTorch rounds them toward zero") {
    const auto windows = [](auto& a) { a.kernel_size = {2, 2}; };
    CHECK(refusal<legalize_pooling>(program_of<aten::avg_pool2d>({1, 1, 4, 4}, windows, dtype::int32))
              .find("average floats") != std::pmr::string::npos);
}
