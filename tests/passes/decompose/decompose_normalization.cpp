// SPDX-License-Identifier: MIT
// Tests the decomposition of layer, group, instance and RMS normalization.
#include <catch2/catch.hpp>

#include <headrace/passes/decompose/normalization.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;
constexpr dtype types[] = {fp32, dtype::float16, dtype::bfloat16};
using shape_list = int_list;  // an initializer_list would dangle in the closures

static_assert(
    effects_of<decompose_normalization>::removed_set == effects_of<decompose_normalization>::target_set);

/// `set(args&)` sets arguments that are not tensors; weight and bias have the given shape. All results are
/// compared.
template <class Op, class Set>
std::pmr::string compare(
    shape_list shape, shape_list weight, bool has_weight, bool has_bias, dtype type, const Set& set) {
    return compare_runs<decompose_normalization>(
        [&](program& p) {
            args<Op> a{};
            set(a);
            a.input = p.input(type, shape);
            if (has_weight) a.weight = p.input(type, weight);
            if constexpr (requires { a.bias; }) {
                if (has_bias) a.bias = p.input(type, weight);
            }
            node& n = p.make_node<Op>(a);
            for (std::uint32_t i = 0; i != n.result_count; ++i) p.output(n.result(i));
        },
        {},
        type == fp32                 ? 1e-5
            : type == dtype::float16 ? 5e-3
                                     : 4e-2);
}
template <class Op, class Set>
std::pmr::string in_all_forms(shape_list shape, shape_list weight, const Set& set) {
    for (const dtype type : types) {
        for (const int form : {0, 1, 2, 3}) {
            const bool has_weight = (form & 1) != 0, has_bias = (form & 2) != 0;
            std::pmr::string fault = compare<Op>(shape, weight, has_weight, has_bias, type, set);
            if (!fault.empty()) return std::pmr::string(name_of(type)) + ": " + fault;
        }
    }
    return {};
}

}  // namespace

TEST_CASE("layer normalization over one axis and several") {
    const auto over = [](shape_list shape) {
        return [=](auto& a) {
            a.normalized_shape = int_list(shape);
            a.eps = 1e-5;
        };
    };
    CHECK(in_all_forms<aten::layer_norm>({2, 3, 8}, {8}, over({8})) == "");
    CHECK(in_all_forms<aten::layer_norm>({2, 3, 8}, {3, 8}, over({3, 8})) == "");
    CHECK(in_all_forms<aten::layer_norm>({6}, {6}, over({6})) == "");
    CHECK(in_all_forms<aten::layer_norm>({2, 3, 4, 5}, {3, 4, 5}, over({3, 4, 5})) == "");
    CHECK(in_all_forms<aten::native_layer_norm>({2, 3, 8}, {8}, over({8})) == "");
    CHECK(in_all_forms<aten::native_layer_norm>({2, 3, 8}, {3, 8}, over({3, 8})) == "");
    CHECK(in_all_forms<aten::native_layer_norm>({2, 0}, {0}, over({0})) == "");
}

TEST_CASE("group normalization") {
    for (const std::int64_t groups : {1, 2, 6}) {
        const auto set = [=](auto& a) { a.num_groups = groups; };
        CHECK(in_all_forms<aten::group_norm>({2, 6, 4, 3}, {6}, set) == "");
        CHECK(in_all_forms<aten::group_norm>({2, 6, 7}, {6}, set) == "");
        CHECK(in_all_forms<aten::native_group_norm>({2, 6, 4, 3}, {6}, [=](auto& a) {
            a.N = 2;
            a.C = 6;
            a.HxW = 12;
            a.group = groups;
            a.eps = 1e-3;
        }) == "");
    }
    CHECK(in_all_forms<aten::group_norm>({3, 6}, {6}, [](auto& a) { a.num_groups = 3; }) == "");
    CHECK(in_all_forms<aten::group_norm>({1, 4, 2, 3, 2}, {4}, [](auto& a) { a.num_groups = 2; }) == "");
}

TEST_CASE("instance normalization") {
    const auto set = [](auto& a) {
        a.use_input_stats = true;
        a.eps = 1e-5;
    };
    CHECK(in_all_forms<aten::instance_norm>({2, 3, 8}, {3}, set) == "");
    CHECK(in_all_forms<aten::instance_norm>({2, 3, 4, 5}, {3}, set) == "");
    CHECK(in_all_forms<aten::instance_norm>({1, 3, 2, 4, 3}, {3}, set) == "");
    const auto by_running_statistics = [](program& p) {
        args<aten::instance_norm> a{};
        a.input = p.input(fp32, {2, 3, 4});
        a.running_mean = p.input(fp32, {3});
        a.running_var = p.constant<float>(fp32, {3}, {0.5F, 1, 2});
        a.eps = 1e-5;
        p.output(p.make<aten::instance_norm>(a));
    };
    CHECK_THAT(by_running_statistics, computes_the_same<decompose_normalization>());
}

TEST_CASE("RMS normalization, with an epsilon and with that of the type") {
    CHECK(in_all_forms<aten::rms_norm>({2, 3, 8}, {8}, [](auto& a) { a.normalized_shape = {8}; }) == "");
    CHECK(in_all_forms<aten::rms_norm>({2, 3, 8}, {3, 8}, [](auto& a) {
        a.normalized_shape = {3, 8};
        a.eps = 1e-2;
    }) == "");
}

TEST_CASE("weights by direction and length") {
    for (const std::int64_t dim : {0, 1, 2, -1}) {
        CAPTURE(dim);
        int_list lengths{};  // a single length if the axis is -1
        if (dim == 0) lengths = {4, 1, 1};
        if (dim == 1) lengths = {1, 3, 1};
        if (dim == 2) lengths = {1, 1, 2};
        const auto build = [&](program& p) {
            const value v = p.input(fp32, {4, 3, 2});
            p.output(p.make<aten::_weight_norm>({.v = v, .g = p.input(fp32, lengths), .dim = dim}));
        };
        CHECK_THAT(build, computes_the_same<decompose_normalization>());
    }
    // Each number is a direction of its own.
    CHECK_THAT(
        [](program& p) {
            p.output(p.make<aten::_weight_norm>({.v = p.input(fp32, {3}), .g = p.input(fp32, {3})}));
        },
        computes_the_same<decompose_normalization>());
}

TEST_CASE("half precision far from zero") {
    const std::vector<double> far{1000, 1001, 1002, 1003, 200, 201, 199, 202};
    for (const bool native : {false, true}) {
        CHECK_THAT(
            [&](program& p) {
                const value x = p.input(dtype::float16, {2, 4});
                if (native) {
                    args<aten::native_layer_norm> a{};
                    a.input = x;
                    a.normalized_shape = {4};
                    a.eps = 1e-5;
                    p.output(p.make_node<aten::native_layer_norm>(a).result(0));
                } else {
                    p.output(p.make<aten::layer_norm>({.input = x, .normalized_shape = {4}}));
                }
            },
            computes_the_same<decompose_normalization>()
                .for_inputs({tensor::of(dtype::float16, {2, 4}, far)})
                .within(5e-3));
    }
    const std::vector<double> large{600, 500, -700, 300};  // their squares overflow fp16
    CHECK_THAT(
        [](program& p) {
            p.output(
                p.make<aten::rms_norm>({.input = p.input(dtype::float16, {4}), .normalized_shape = {4}}));
        },
        computes_the_same<decompose_normalization>()
            .for_inputs({tensor::of(dtype::float16, {4}, large)})
            .within(5e-3));
}

TEST_CASE("wider weights do not widen the result") {
    const auto build = [](program& p) {
        const dtype type = dtype::float16;
        const value x = p.input(type, {2, 4, 6});
        const value w = p.input(fp32, {6});
        p.output(p.make<aten::layer_norm>({.input = x, .normalized_shape = {6}, .weight = w, .bias = w}));
        const value c = p.input(fp32, {4});
        p.output(p.make<aten::group_norm>({.input = x, .num_groups = 2, .weight = c, .bias = c}));
    };
    CHECK_THAT(build, computes_the_same<decompose_normalization>().within(5e-3));
    program p;
    build(p);
    p.finish();
    pass_context context;
    CHECK(run_pass<decompose_normalization>(p.g, context) == "");
    for (const value v : p.g.outputs()) CHECK(meta_of(v)->dtype == dtype::float16);
}
