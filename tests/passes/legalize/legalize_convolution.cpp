// SPDX-License-Identifier: MIT
// Tests the lowering of convolutions: forward, depthwise and transposed, with windows that fit exactly or do
// not.
#include <algorithm>

#include <catch2/catch.hpp>

#include <headrace/passes/legalize/convolution.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

using shape_list = int_list;  // an initializer_list would dangle in the closures
using arguments = args<aten::convolution>;

static_assert(effects_of<legalize_convolution>::removed_set == effects_of<legalize_convolution>::target_set);

/// A convolution of `dims` spatial axes with the lists that `set(arguments&)` changes.
template <class Set>
auto program_of(shape_list input, shape_list weight, bool bias, const Set& set, dtype type) {
    return [=](program& p) {
        const std::size_t dims = input.size() - 2;
        const int_list ones(shape_builder::filled(dims, 1));
        const int_list zeros(shape_builder::filled(dims, 0));
        arguments a{.input = p.input(type, input),
            .weight = p.input(type, weight),
            .bias = std::nullopt,
            .stride = ones,
            .padding = zeros,
            .dilation = ones,
            .transposed = false,
            .output_padding = zeros,
            .groups = 1};
        set(a);
        const std::int64_t channels = a.transposed ? std::data(weight)[1] * a.groups : std::data(weight)[0];
        if (bias) a.bias = p.input(type, {channels});
        p.output(p.make<aten::convolution>(a));
    };
}
template <class Set>
std::pmr::string convolve(shape_list input, shape_list weight, const Set& set, dtype type = dtype::float32) {
    const double tolerance = type == dtype::float32 ? 1e-5 : type == dtype::float16 ? 1e-2 : 5e-2;
    std::pmr::string fault =
        compare_runs<legalize_convolution>(program_of(input, weight, true, set, type), {}, tolerance);
    if (!fault.empty()) return fault;
    return compare_runs<legalize_convolution>(program_of(input, weight, false, set, type), {}, tolerance);
}
constexpr auto as_is = [](arguments&) {};

}  // namespace

TEST_CASE("two dimensions, every stride, padding and dilation") {
    for (const std::int64_t stride : {1, 2, 3}) {
        for (const std::int64_t padding : {0, 1, 2}) {
            for (const std::int64_t dilation : {1, 2}) {
                CAPTURE(stride, padding, dilation);
                CHECK(convolve({2, 3, 10, 9}, {4, 3, 3, 2}, [=](arguments& a) {
                    a.stride = {stride, 1};
                    a.padding = {padding, 0};
                    a.dilation = {1, dilation};
                }) == "");
                CHECK(convolve({1, 2, 8, 11}, {3, 2, 3, 3}, [=](arguments& a) {
                    a.stride = {stride, stride};
                    a.padding = {padding, padding};
                    a.dilation = {dilation, dilation};
                }) == "");
            }
        }
    }
    CHECK(convolve({1, 3, 5, 4}, {6, 3, 1, 1}, as_is) == "");
    CHECK(convolve({1, 3, 5, 4}, {6, 3, 5, 4}, as_is) == "");
}

TEST_CASE("windows that leave a part of the axis over") {
    CHECK(convolve({1, 1, 10, 12}, {2, 1, 2, 3}, [](arguments& a) { a.stride = {4, 7}; }) == "");
    CHECK(convolve({1, 1, 10, 12}, {2, 1, 1, 1}, [](arguments& a) { a.stride = {4, 3}; }) == "");
    CHECK(convolve({1, 2, 9, 9}, {2, 2, 2, 2}, [](arguments& a) {
        a.stride = {5, 4};
        a.padding = {1, 1};
    }) == "");
}

TEST_CASE("windows that lie in the padding alone are refused") {
    const auto set = [](arguments& a) {
        a.stride = {7, 1};
        a.padding = {1, 0};
    };
    CHECK_THAT(program_of({1, 2, 3, 3}, {4, 2, 1, 1}, true, set, dtype::float32),
        is_refused_by<legalize_convolution>("its windows lie in the padding alone"));
}

TEST_CASE("depthwise, with one channel for each input and with more") {
    const auto depthwise = [](std::int64_t stride, std::int64_t dilation) {
        return [=](arguments& a) {
            a.groups = 3;
            a.stride = {stride, 1};
            a.padding = {1, 2};
            a.dilation = {1, dilation};
        };
    };
    for (const std::int64_t stride : {1, 2, 3}) {
        CHECK(convolve({2, 3, 8, 7}, {3, 1, 3, 3}, depthwise(stride, 1)) == "");
        CHECK(convolve({2, 3, 8, 7}, {6, 1, 3, 2}, depthwise(stride, 2)) == "");
        CHECK(convolve({1, 3, 8, 7}, {9, 1, 2, 2}, depthwise(stride, 1)) == "");
    }
    CHECK(convolve({2, 3, 11}, {6, 1, 3}, [](arguments& a) {
        a.groups = 3;
        a.stride = {2};
    }) == "");
}

TEST_CASE("one and three dimensions") {
    for (const std::int64_t stride : {1, 2, 3}) {
        CHECK(convolve({2, 3, 10}, {4, 3, 3}, [=](arguments& a) {
            a.stride = {stride};
            a.padding = {1};
        }) == "");
        CHECK(convolve({1, 3, 10}, {4, 3, 2}, [=](arguments& a) {
            a.stride = {stride};
            a.dilation = {3};
        }) == "");
        CHECK(convolve({1, 2, 5, 6, 7}, {3, 2, 2, 3, 2}, [=](arguments& a) {
            a.stride = {1, stride, stride};
            a.padding = {1, 1, 0};
            a.dilation = {2, 1, 2};
        }) == "");
    }
}

TEST_CASE("transposed, with everything that shapes the result") {
    for (const std::int64_t stride : {1, 2, 3}) {
        for (const std::int64_t padding : {0, 1, 2}) {
            for (const std::int64_t dilation : {1, 2}) {
                CAPTURE(stride, padding, dilation);
                for (const std::int64_t output_padding : {0, 1}) {
                    if (output_padding >= std::max(stride, dilation)) continue;
                    CHECK(convolve({2, 3, 5, 4}, {3, 2, 3, 3}, [=](arguments& a) {
                        a.transposed = true;
                        a.stride = {stride, stride};
                        a.padding = {padding, 0};
                        a.dilation = {dilation, 1};
                        a.output_padding = {output_padding, 0};
                    }) == "");
                    CHECK(convolve({2, 3, 6}, {3, 4, 4}, [=](arguments& a) {
                        a.transposed = true;
                        a.stride = {stride};
                        a.padding = {padding};
                        a.dilation = {dilation};
                        a.output_padding = {output_padding};
                    }) == "");
                }
            }
        }
    }
    CHECK(convolve({1, 2, 4, 4}, {2, 3, 2, 2}, [](arguments& a) {
        a.transposed = true;
        a.stride = {3, 2};
        a.dilation = {1, 3};
    }) == "");
    CHECK_THAT(program_of(
                   {1, 2, 3, 3, 3}, {2, 2, 2, 2, 2}, false, [](arguments& a) { a.transposed = true; },
                   dtype::float32),
        is_refused_by<legalize_convolution>("three dimensions"));
}

TEST_CASE("transposed with a computed weight, which Ethos-U85 does not take") {
    const auto on_u85 = [](shape_list input, shape_list weight, const auto& set) {
        return [=](program& p) {
            p.g.set_target(*parse_target("TOSA-1.0+FP+u85"));
            program_of(
                input, weight, true,
                [=](arguments& a) {
                    a.transposed = true;
                    set(a);
                },
                dtype::float32)(p);
        };
    };
    for (const std::int64_t stride : {1, 2, 3}) {
        for (const std::int64_t padding : {0, 1, 3}) {
            for (const std::int64_t dilation : {1, 2}) {
                CAPTURE(stride, padding, dilation);
                const auto build = on_u85({2, 3, 5, 4}, {3, 2, 3, 2}, [=](arguments& a) {
                    a.stride = {stride, 2};
                    a.padding = {padding, 1};
                    a.dilation = {dilation, 1};
                    a.output_padding = {std::max(stride, dilation) - 1, 0};
                });
                CHECK(compare_runs<legalize_convolution>(build, {}, 1e-5) == "");
                CHECK(count_after<tosa::transpose_conv2d, legalize_convolution>(build) == 0);
            }
        }
    }
    const auto row = on_u85({2, 3, 6}, {3, 4, 4}, [](arguments& a) { a.stride = {2}; });
    CHECK(compare_runs<legalize_convolution>(row, {}, 1e-5) == "");
}

TEST_CASE("convolutions in half precision") {
    for (const dtype type : {dtype::float16, dtype::bfloat16}) {
        CHECK(convolve(
                  {1, 3, 6, 6}, {4, 3, 3, 3},
                  [](arguments& a) {
                      a.padding = {1, 1};
                  },
                  type) == "");
        CHECK(convolve(
                  {1, 3, 6, 6}, {3, 1, 3, 3}, [](arguments& a) { a.groups = 3; }, type) == "");
        CHECK(convolve(
                  {1, 3, 3, 3}, {3, 2, 3, 3},
                  [](arguments& a) {
                      a.transposed = true;
                      a.padding = {1, 1};
                  },
                  type) == "");
    }
}
