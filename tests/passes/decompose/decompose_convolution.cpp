// SPDX-License-Identifier: MIT
// Tests the decomposition of grouped convolutions, and of batch normalization, which is fused with a
// convolution before it.
#include <cstring>

#include <catch2/catch.hpp>

#include <headrace/passes/decompose/convolution.hpp>
#include <headrace/passes/decompose/normalization.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;
using shape_list = int_list;  // an initializer_list would dangle in the closures
using arguments = args<aten::convolution>;

static_assert(effects_of<decompose_batch_norm>::removed_set == effects_of<decompose_batch_norm>::target_set);
static_assert(effects_of<decompose_grouped_convolution>::sound);
static_assert(effects_of<decompose_grouped_convolution>::removed_set.empty());

value random_constant(program& p, shape_list shape, unsigned seed, dtype type = fp32) {
    std::mt19937 random(seed);
    const tensor t = random_tensor(random, {type, int_list(shape), {}});
    return create_constant(p.g, {type, int_list(shape), {}}, nullptr,
        [&](std::span<std::byte> data) { std::memcpy(data.data(), t.bytes().data(), data.size()); });
}

/// A convolution over one to three axes with the given weights; `set(arguments&)` sets arguments that are not
/// one or zero.
template <class Set>
value convolution(program& p, value x, value weight, std::optional<value> bias, const Set& set) {
    const std::size_t dims = meta_of(x)->shape.size() - 2;
    const int_list ones(shape_builder::filled(dims, 1));
    const int_list zeros(shape_builder::filled(dims, 0));
    arguments a{x, weight, bias, ones, zeros, ones, false, zeros, 1};
    set(a);
    return p.make<aten::convolution>(a);
}
constexpr auto as_is = [](arguments&) {};

template <class Set>
auto grouped(shape_list input, shape_list weight, std::int64_t bias, const Set& set) {
    return [=](program& p) {
        const value x = p.input(fp32, input);
        const value w = p.input(fp32, weight);
        std::optional<value> b;
        if (bias != 0) b = p.input(fp32, {bias});
        p.output(convolution(p, x, w, b, set));
    };
}
template <class Pass, class Build>
graph& after(program& p, const Build& build) {
    build(p);
    p.finish();
    pass_context context;
    CHECK(run_pass<Pass>(p.g, context) == "");
    return p.g;
}

struct norm {
    bool weight = true;
    bool bias = true;
};
/// Batch normalization of `x` over `channels` with running statistics, in any of its forms.
template <class Op>
value normalized(program& p, value x, std::int64_t channels, norm has = {}) {
    args<Op> a{};
    a.input = x;
    if (has.weight) a.weight = p.input(fp32, {channels});
    if (has.bias) a.bias = p.input(fp32, {channels});
    if constexpr (requires { a.running_mean; }) {
        a.running_mean = p.input(fp32, {channels});
        a.running_var = p.make<aten::abs>({p.input(fp32, {channels})});
    }
    a.momentum = 0.1;
    a.eps = 1e-3;
    return p.make_node<Op>(a).result(0);
}
/// Batch normalization after a convolution with constant weights.
template <class Set>
auto after_convolution(
    shape_list input, shape_list weight, std::int64_t channels, bool bias, norm has, const Set& set) {
    return [=](program& p) {
        const value x = p.input(fp32, input);
        std::optional<value> b;
        if (bias) b = random_constant(p, {channels}, 5);
        const value y = convolution(p, x, random_constant(p, weight, 6), b, set);
        p.output(normalized<aten::batch_norm>(p, y, channels, has));
    };
}

}  // namespace

TEST_CASE("groups become convolutions of one group") {
    const auto groups = [](std::int64_t n) { return [=](arguments& a) { a.groups = n; }; };
    const auto build = grouped({2, 6, 7, 5}, {9, 2, 3, 2}, 9, groups(3));
    CHECK_THAT(build, computes_the_same<decompose_grouped_convolution>());
    program p;
    CHECK(count_of<aten::convolution>(after<decompose_grouped_convolution>(p, build)) == 3);
    CHECK_THAT(
        grouped({2, 4, 9}, {6, 2, 3}, 0, groups(2)), computes_the_same<decompose_grouped_convolution>());
    CHECK_THAT(grouped({2, 4, 9}, {4, 1, 3}, 4, groups(4)),  // depthwise, which TOSA has
        is_left_alone_by<decompose_grouped_convolution>());
    CHECK_THAT(grouped({1, 4, 4, 4, 4}, {4, 1, 2, 2, 2}, 4, groups(4)),
        computes_the_same<decompose_grouped_convolution>());
    CHECK(
        compare_runs<decompose_grouped_convolution>(grouped({1, 4, 8, 8}, {8, 2, 3, 3}, 8, [](arguments& a) {
            a.groups = 2;
            a.stride = {2, 1};
            a.padding = {1, 2};
            a.dilation = {1, 2};
        })) == "");
}

TEST_CASE("one group and depthwise stay") {
    program one;
    CHECK(count_of<aten::convolution>(
              after<decompose_grouped_convolution>(one, grouped({1, 4, 5, 5}, {4, 4, 3, 3}, 4, as_is))) == 1);
    program depthwise;
    CHECK(count_of<aten::convolution>(after<decompose_grouped_convolution>(
              depthwise, grouped({1, 4, 5, 5}, {8, 1, 3, 3}, 8, [](arguments& a) { a.groups = 4; }))) == 1);
}

TEST_CASE("groups of transposed convolutions") {
    for (const std::int64_t groups : {2, 4}) {
        const auto set = [=](arguments& a) {
            a.transposed = true;
            a.groups = groups;
        };
        CHECK_THAT(grouped({2, 4, 5, 4}, {4, 3, 3, 2}, 3 * groups,
                       [=](arguments& a) {
                           set(a);
                           a.stride = {2, 3};
                           a.padding = {1, 0};
                           a.output_padding = {1, 2};
                       }),
            computes_the_same<decompose_grouped_convolution>());
        CHECK_THAT(grouped({1, 4, 6}, {4, 1, 3}, 0, set), computes_the_same<decompose_grouped_convolution>());
    }
}

TEST_CASE("batch normalization joins the convolution before it") {
    for (const norm has : {norm{true, true}, norm{true, false}, norm{false, true}, norm{false, false}}) {
        for (const bool bias : {false, true}) {
            const auto plain = after_convolution({2, 3, 6, 5}, {4, 3, 3, 3}, 4, bias, has, as_is);
            CHECK_THAT(plain, computes_the_same<decompose_batch_norm>());
            program p;
            CHECK(is<aten::convolution>(*after<decompose_batch_norm>(p, plain).outputs()[0].producer));
            CHECK_THAT(
                after_convolution({2, 3, 6}, {6, 1, 3}, 6, bias, has, [](arguments& a) { a.groups = 3; }),
                computes_the_same<decompose_batch_norm>());
            CHECK_THAT(after_convolution({1, 3, 3, 4, 5}, {2, 3, 2, 2, 2}, 2, bias, has, as_is),
                computes_the_same<decompose_batch_norm>());
        }
    }
}

TEST_CASE("batch normalization after a transposed convolution") {
    const auto one_group = [](arguments& a) {
        a.transposed = true;
        a.stride = {2, 2};
    };
    const auto two_groups = [](arguments& a) {
        a.transposed = true;
        a.groups = 2;
    };
    const auto joined_one = after_convolution({2, 4, 3, 4}, {4, 5, 3, 3}, 5, true, {}, one_group);
    CHECK_THAT(joined_one, computes_the_same<decompose_batch_norm>());
    program p;
    CHECK(is<aten::convolution>(*after<decompose_batch_norm>(p, joined_one).outputs()[0].producer));
    CHECK_THAT(after_convolution({2, 4, 3, 4}, {4, 5, 3, 3}, 10, true, {}, two_groups),
        computes_the_same<decompose_batch_norm>());
}

TEST_CASE("batch normalization stays by itself where the convolution's result has other users") {
    CHECK_THAT(
        [](program& p) {
            const value x = p.input(fp32, {2, 3, 5, 5});
            const value y = convolution(p, x, random_constant(p, {4, 3, 2, 2}, 3), std::nullopt, as_is);
            p.output(normalized<aten::batch_norm>(p, y, 4));
            p.output(y);
        },
        computes_the_same<decompose_batch_norm>());
    CHECK_THAT(
        [](program& p) {
            const value x = p.input(fp32, {2, 3, 5, 5});
            const value y = convolution(p, x, p.input(fp32, {4, 3, 2, 2}), std::nullopt, as_is);
            p.output(normalized<aten::batch_norm>(p, y, 4));
        },
        computes_the_same<decompose_batch_norm>());
}

TEST_CASE("batch normalization alone, of every rank and form") {
    const auto alone = []<class Op>(Op, shape_list shape, norm has) {
        return compare_runs<decompose_batch_norm>(
            [=](program& p) { p.output(normalized<Op>(p, p.input(fp32, shape), std::data(shape)[1], has)); });
    };
    const auto all = [&](auto op) {
        for (const norm has : {norm{true, true}, norm{true, false}, norm{false, true}, norm{false, false}}) {
            CHECK(alone(op, {4, 3}, has) == "");
            CHECK(alone(op, {4, 3, 5}, has) == "");
            CHECK(alone(op, {2, 3, 5, 4}, has) == "");
            CHECK(alone(op, {2, 3, 2, 5, 4}, has) == "");
        }
    };
    all(aten::batch_norm{});
    all(aten::native_batch_norm{});
    all(aten::_native_batch_norm_legit{});
    all(aten::_native_batch_norm_legit_no_training{});
}

TEST_CASE("what belongs to channels may have any shape") {
    CHECK_THAT(
        [](program& p) {
            args<aten::batch_norm> a{};
            a.input = p.input(fp32, {2, 3, 5});
            a.weight = p.input(fp32, {1, 3, 1});
            a.bias = p.input(fp32, {3, 1, 1});
            a.running_mean = p.input(fp32, {1, 3});
            a.running_var = p.make<aten::abs>({p.input(fp32, {3, 1})});
            a.eps = 1e-3;
            p.output(p.make<aten::batch_norm>(a));
        },
        computes_the_same<decompose_batch_norm>());
}

TEST_CASE("statistics of the batch") {
    const auto by_batch = []<class Op>(Op, shape_list shape, bool affine) {
        return compare_runs<decompose_batch_norm>([=](program& p) {
            args<Op> a{};
            a.input = p.input(fp32, shape);
            if (affine) a.weight = p.input(fp32, {std::data(shape)[1]});
            if (affine) a.bias = p.input(fp32, {std::data(shape)[1]});
            a.training = true;
            a.eps = 1e-5;
            p.output(p.make_node<Op>(a).result(0));
        });
    };
    for (const bool affine : {false, true}) {
        for (const shape_list shape : {shape_list{6, 3}, shape_list{4, 3, 5}, shape_list{2, 3, 5, 4}}) {
            CHECK(by_batch(aten::batch_norm{}, shape, affine) == "");
            CHECK(by_batch(aten::native_batch_norm{}, shape, affine) == "");
            CHECK(by_batch(aten::_native_batch_norm_legit_no_stats{}, shape, affine) == "");
        }
    }
}

TEST_CASE("training is refused") {
    const auto training = []<class Op>(Op) {
        return refusal<decompose_batch_norm>([](program& p) {
            args<Op> a{};
            a.input = p.input(fp32, {4, 3, 5});
            a.running_mean = p.input(fp32, {3});
            a.running_var = p.input(fp32, {3});
            a.training = true;
            p.output(p.make_node<Op>(a).result(0));
        });
    };
    CHECK(training(aten::batch_norm{}).find("model.eval()") != std::pmr::string::npos);
    CHECK(training(aten::native_batch_norm{}).find("model.eval()") != std::pmr::string::npos);
    CHECK(training(aten::_native_batch_norm_legit{}).find("model.eval()") != std::pmr::string::npos);
}

TEST_CASE("half precision is normalized in float32") {
    // With batch or running statistics, for inputs whose squares may overflow or vanish in fp16.
    const auto scaled = [](dtype type, dtype weights, bool by_batch, double size) {
        return [=](program& p) {
            args<aten::batch_norm> a{};
            a.input = p.make<aten::mul_scalar>({p.input(type, {4, 3, 5}), size});
            a.weight = p.input(weights, {3});
            a.bias = p.input(weights, {3});
            a.training = by_batch;
            a.eps = 1e-5;
            if (!by_batch) {
                a.running_mean = p.make<aten::mul_scalar>({p.input(weights, {3}), size});
                a.running_var = p.make<aten::mul_scalar>({p.make<aten::abs>({p.input(weights, {3})}), size});
            }
            p.output(p.make<aten::batch_norm>(a));
        };
    };
    for (const dtype type : {dtype::float16, dtype::bfloat16}) {
        for (const dtype weights : {type, fp32}) {
            for (const bool by_batch : {false, true}) {
                for (const double size : {1e-3, 1.0, 300.0}) {
                    CAPTURE(name_of(type), name_of(weights), by_batch, size);
                    const auto build = scaled(type, weights, by_batch, size);
                    CHECK_THAT(build,
                        computes_the_same<decompose_batch_norm>().within(
                            type == dtype::float16 ? 5e-3 : 4e-2));
                    program p;
                    CHECK(meta_of(after<decompose_batch_norm>(p, build).outputs()[0])->dtype == type);
                }
            }
        }
    }
}

TEST_CASE("half precision joins a convolution of its type") {
    const auto build = [](program& p) {
        const dtype type = dtype::float16;
        const value x = p.input(type, {2, 3, 6});
        const value weight = random_constant(p, {4, 3, 3}, 6, type);
        args<aten::batch_norm> a{};
        a.input = convolution(p, x, weight, std::nullopt, as_is);
        a.weight = p.input(fp32, {4});
        a.running_mean = p.input(fp32, {4});
        a.running_var = p.make<aten::abs>({p.input(fp32, {4})});
        a.eps = 1e-3;
        p.output(p.make<aten::batch_norm>(a));
    };
    CHECK_THAT(build, computes_the_same<decompose_batch_norm>().within(2e-2));
    program p;
    const value y = after<decompose_batch_norm>(p, build).outputs()[0];
    CHECK(is<aten::convolution>(*y.producer));
    CHECK(meta_of(y)->dtype == dtype::float16);
}
