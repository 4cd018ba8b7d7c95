// SPDX-License-Identifier: MIT
// Tests lowerings of operands that differ in dtype and rank, with and without the integer profile.
#include <catch2/catch.hpp>

#include <headrace/passes/legalize/elementwise.hpp>
#include <headrace/passes/legalize/reduction.hpp>
#include <headrace/passes/normalize/casts_and_copies.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr target_spec float_only = *parse_target("TOSA-1.0+FP");
constexpr target_spec everything = *parse_target("TOSA-1.0+FP+INT");

/// Runs passes over an op of two operands, for both targets.
template <op_tag Op, class... Passes>
std::pmr::string compare(const tensor_meta& a, const tensor_meta& b) {
    for (const target_spec& target : {float_only, everything}) {
        std::pmr::string fault = compare_runs<Passes...>([&](program& p) {
            p.g.set_target(target);
            p.output(p.make<Op>({p.input(a.dtype, a.shape), p.input(b.dtype, b.shape)}));
        });
        if (!fault.empty()) return fault;
    }
    return {};
}

}  // namespace

TEST_CASE("comparisons and extrema of tensors of different ranks") {
    for (const dtype type : {dtype::boolean, dtype::int8, dtype::int32, dtype::float16}) {
        INFO(name_of(type));
        const tensor_meta matrix{type, {2, 3}, {}};
        const tensor_meta row{type, {3}, {}};
        CHECK(compare<aten::eq_tensor, legalize_comparison>(matrix, row) == "");
        CHECK(compare<aten::gt_tensor, legalize_comparison>(row, matrix) == "");
        CHECK(compare<aten::ge_tensor, legalize_comparison>(matrix, row) == "");
        CHECK(compare<aten::maximum, legalize_binary>(matrix, row) == "");
        CHECK(compare<aten::minimum, legalize_binary>(row, matrix) == "");
    }
}

TEST_CASE("operands of different types are promoted") {
    const tensor_meta bytes{dtype::int8, {2, 3}, {}};
    const tensor_meta bits{dtype::boolean, {3}, {}};
    const tensor_meta number{dtype::int32, {}, {}};
    CHECK(compare<aten::add_tensor, legalize_binary>(bytes, bits) == "");
    CHECK(compare<aten::mul_tensor, legalize_binary>(bytes, number) == "");
    CHECK(compare<aten::eq_tensor, legalize_comparison>(bytes, number) == "");
    CHECK(compare<aten::bitwise_left_shift_tensor, legalize_bitwise>({dtype::int32, {2, 3}, {}}, bits) == "");
}

TEST_CASE("the limits of a clamp may be floats beside integers") {
    for (const dtype type : {dtype::int8, dtype::int32}) {
        CHECK(compare_runs<legalize_clamp>([&](program& p) {
            p.g.set_target(float_only);
            p.output(p.make<aten::clamp>({.self = p.input(type, {9}), .min = -1.5, .max = 2.5}));
        }) == "");
    }
}

TEST_CASE("the dtype argument of a reduction is that of its operand") {
    const auto reductions = [](program& p) {
        const value x = p.input(dtype::float32, {2, 3});
        p.output(p.make<aten::sum>({.self = x, .dtype = dtype::int32}));
        p.output(p.make<aten::sum_dim_intlist>({.self = x, .dim = int_list{1}, .dtype = dtype::float16}));
        p.output(p.make<aten::prod>({.self = x, .dtype = dtype::int32}));
        p.output(p.make<aten::prod_dim_int>({.self = x, .dim = 0, .dtype = dtype::int32}));
        p.output(p.make<aten::cumsum>({.self = x, .dim = 1, .dtype = dtype::int32}));
    };
    CHECK(compare_runs<canonicalize_casts>(reductions, {}, 1e-2) == "");
    CHECK(compare_runs<canonicalize_casts, legalize_cast, legalize_sums, legalize_products, legalize_cumsum>(
              reductions, {}, 1e-2) == "");
    program p;
    reductions(p);
    p.finish();
    pass_context context;
    CHECK(apply_pass(canonicalize_casts{}, p.g, context).value().rewritten == 5);
    CHECK(apply_pass(canonicalize_casts{}, p.g, context).value().rewritten == 0);
}
