// SPDX-License-Identifier: MIT
// Tests the decompositions of means, variances and standard deviations.
#include <catch2/catch.hpp>

#include <headrace/passes/decompose/statistics.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;

template <class Pass>
constexpr bool removes_its_targets = effects_of<Pass>::removed_set == effects_of<Pass>::target_set;
static_assert(removes_its_targets<decompose_mean> && removes_its_targets<decompose_var>);

template <class Op, class... Passes>
std::pmr::string compare_by(std::initializer_list<std::int64_t> shape, args<Op> a, dtype type = fp32) {
    return compare_runs<Passes...>(
        [&](program& p) {
            args<Op> b = a;
            b.self = p.input(type, shape);
            node& n = p.make_node<Op>(b);
            for (std::uint32_t i = 0; i != n.result_count; ++i) p.output(n.result(i));
        },
        {}, type == fp32 ? 1e-5 : 1e-2);
}

template <class Op>
std::pmr::string compare(std::initializer_list<std::int64_t> shape, const args<Op>& a, dtype type = fp32) {
    return compare_by<Op, decompose_var, may_rewrite<decompose_mean>>(shape, a, type);
}

}  // namespace

TEST_CASE("means") {
    for (const dtype type : {fp32, dtype::float16, dtype::bfloat16}) {
        CHECK(compare_by<aten::mean, decompose_mean>({2, 3, 4}, {}, type) == "");
        CHECK(compare_by<aten::mean_dim, decompose_mean>(
                  {2, 3, 4}, {.self = {}, .dim = int_list{0, -1}, .keepdim = true}, type) == "");
        CHECK(compare_by<aten::mean_dim, decompose_mean>({2, 3}, {.self = {}, .dim = std::nullopt}, type) ==
            "");
    }
    CHECK(compare_by<aten::mean, decompose_mean>({}, {}) == "");
}

TEST_CASE("variances") {
    for (const dtype type : {fp32, dtype::float16}) {
        CHECK(compare<aten::var>({2, 30}, {}, type) == "");
        CHECK(compare<aten::var_dim>(
                  {2, 30}, {.self = {}, .dim = int_list{1}, .unbiased = false, .keepdim = true}, type) == "");
        CHECK(compare<aten::var_correction>(
                  {4, 5, 6}, {.self = {}, .dim = int_list{0, 2}, .correction = scalar(2)}, type) == "");
        CHECK(compare<aten::std_correction>(
                  {4, 5, 6}, {.self = {}, .dim = int_list{1}, .keepdim = true}, type) == "");
        CHECK(compare<aten::var_mean_correction>(
                  {4, 5}, {.self = {}, .dim = int_list{1}, .correction = scalar(0)}, type) == "");
        CHECK(compare<aten::var_mean_correction>({4, 5}, {.self = {}, .keepdim = true}, type) == "");
        CHECK(compare<aten::var_mean_dim>(
                  {4, 5}, {.self = {}, .dim = int_list{0}, .unbiased = false}, type) == "");
        CHECK(compare<aten::std_mean_correction>(
                  {4, 5}, {.self = {}, .dim = int_list{1}, .keepdim = true}, type) == "");
    }
}

TEST_CASE("no degrees of freedom give NaN or infinity") {
    CHECK(compare<aten::var_correction>({3, 1}, {.self = {}, .dim = int_list{1}}) == "");
    CHECK(compare<aten::var_correction>({3, 4}, {.self = {}, .dim = int_list{1}, .correction = scalar(7)}) ==
        "");
}
