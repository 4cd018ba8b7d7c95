// SPDX-License-Identifier: MIT
// Tests every op that canonicalize_variants renames, and the families of ops that scalars_to_tensors,
// canonicalize_fills, canonicalize_casts and remove_noop treat alike.
#include <type_traits>

#include <catch2/catch.hpp>

#include <headrace/passes/normalize/casts_and_copies.hpp>
#include <headrace/passes/normalize/variants.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;
constexpr dtype i32 = dtype::int32;

using integral_ops = ops<aten::and_scalar, aten::and_tensor, aten::or_scalar, aten::or_tensor,
    aten::xor_scalar, aten::xor_tensor, aten::lshift_scalar, aten::lshift_tensor, aten::rshift_scalar,
    aten::rshift_tensor, aten::bitwise_and_scalar, aten::bitwise_or_scalar, aten::bitwise_xor_scalar,
    aten::bitwise_right_shift_tensor_scalar, aten::bitwise_left_shift_tensor_scalar>;

/// The op on an input [2, 3]: its other tensors are inputs, too; other members get a suitable value.
template <class Op>
node& node_of(program& p) {
    const dtype type = one_of<Op, integral_ops> ? i32 : fp32;
    value tensors[2];
    std::optional<value> rows[1];
    args<Op> a{};
    if constexpr (one_of<Op, ops<aten::view_as_real_copy, aten::view_as_complex_copy>>) {
        a.self = p.input(type, {2, 3, 2});
        if constexpr (std::is_same_v<Op, aten::view_as_real_copy>)
            a.self = p.make<aten::view_as_complex>({a.self});
    } else if constexpr (requires { a.input; }) {
        a.input = p.input(type, {2, 3});
    } else if constexpr (requires { a.self; }) {
        a.self = p.input(type, {2, 3});
    } else {
        for (value& v : tensors) v = p.input(type, {2, 3});
        a.tensors = list<value>(tensors, 2);
        a.dim = 1;
    }
    const auto fill = [&](auto& member, dtype its_type) {
        using member_type = std::remove_cvref_t<decltype(member)>;
        if constexpr (std::is_same_v<member_type, value>) {
            member = p.input(its_type, {2, 3});
            if (its_type == type) member = p.make<aten::abs>({member});
        } else if constexpr (std::is_same_v<member_type, scalar>) {
            member = 2;
        }
    };
    if constexpr (requires { a.other; }) fill(a.other, type);
    if constexpr (requires { a.src; }) fill(a.src, type);
    if constexpr (requires { a.exponent; }) fill(a.exponent, type);
    if constexpr (requires { a.mask; }) fill(a.mask, dtype::boolean);
    if constexpr (requires { a.min = scalar(-1); }) a.min = scalar(-1);
    if constexpr (requires { a.max = scalar(1); }) a.max = scalar(1);
    if constexpr (requires { a.threshold; }) a.threshold = 0.25;
    if constexpr (requires { a.value = scalar(1); }) a.value = scalar(1.5);
    if constexpr (requires { a.value = value{}; }) a.value = p.input(type, {});
    if constexpr (requires { a.p; }) a.p = 0.5;
    if constexpr (requires { a.size = int_list{}; }) a.size = {2, 3};
    if constexpr (requires { a.stride; }) a.stride = {1, 2};
    if constexpr (requires { a.split_size = 1; }) a.split_size = 1;
    if constexpr (requires { a.split_size = int_list{}; }) a.split_size = {1, 1};
    if constexpr (requires { a.split_sizes; }) a.split_sizes = {1, 1};
    if constexpr (requires { a.dimension; }) a.size = 2, a.step = 1, a.dimension = 1;
    if constexpr (requires { a.length; }) a.dim = 1, a.length = 2;
    if constexpr (requires { a.dims; }) a.dims = {1, 0};
    if constexpr (requires { a.dim0; }) a.dim0 = 0, a.dim1 = 1;
    if constexpr (requires { a.index = value{}; }) {
        a.index = p.constant<std::int64_t>(dtype::int64, {2}, {1, 0});
        a.source = p.input(type, {2, 3});
    }
    if constexpr (requires { a.values; }) {
        rows[0] = p.constant<std::int64_t>(dtype::int64, {2}, {1, 0});
        a.indices = list<std::optional<value>>(rows, 1);
        a.values = p.input(type, {2, 3});
    }
    return p.make_node<Op>(a);
}

template <class Pass, class Op>
void check() {
    INFO(info_of<Op>.name);
    CHECK_THAT(
        [](program& p) {
            node& n = node_of<Op>(p);
            for (std::uint32_t i = 0; i != n.result_count; ++i) {
                const bool is_pair = is_complex(n.results[i].meta->dtype);
                p.output(is_pair ? p.make<aten::view_as_real>({n.result(i)}) : n.result(i));
            }
        },
        computes_the_same<Pass>());
}
template <class Pass, class... Ops>
void check_each(ops<Ops...>) {
    // The variants of where have a test of their own.
    const auto check_one = []<class Op>() {
        if constexpr (!requires(const args<Op>& a) { a.condition; }) check<Pass, Op>();
    };
    (check_one.template operator()<Ops>(), ...);
}

}  // namespace

TEST_CASE("variants") { check_each<canonicalize_variants>(canonicalize_variants::variants{}); }

TEST_CASE("an in-place op keeps the type of what it writes to") {
    CHECK_THAT(
        [](program& p) {
            const value x = p.input(dtype::float16, {2, 3});
            p.output(p.make<aten::mul_inplace_tensor>({x, p.input(fp32, {2, 3})}));
        },
        computes_the_same<canonicalize_variants>().within(1e-3));
}

TEST_CASE("numbers become tensors") {
    check_each<scalars_to_tensors>(targets_of<scalars_to_tensors>{});
    for (const dtype type : {fp32, i32, dtype::int64, dtype::float16}) {
        for (const scalar number : {scalar(2), scalar(-1.5)}) {
            CAPTURE(name_of(type), number.to_double());
            CHECK_THAT(
                [=](program& p) {
                    const value x = p.input(type, {2, 3});
                    p.output(p.make<aten::sub_scalar>({.self = x, .other = number}));
                    p.output(p.make<aten::div_scalar>({x, number}));
                    p.output(p.make<aten::eq_scalar>({x, number}));
                    p.output(p.make<aten::ge_scalar>({x, number}));
                    p.output(p.make<aten::le_scalar>({x, number}));
                    p.output(p.make<aten::ne_scalar>({x, number}));
                    p.output(p.make<aten::fmod_scalar>({x, number}));
                    p.output(p.make<aten::remainder_scalar>({x, number}));
                    p.output(p.make<aten::floor_divide_scalar>({x, number}));
                    p.output(p.make<aten::div_scalar_mode>({x, number, "trunc"}));
                    p.output(p.make<aten::div_scalar_mode>({x, number, "floor"}));
                },
                computes_the_same<scalars_to_tensors>().within(1e-3));
        }
    }
    CHECK_THAT(
        [](program& p) {
            const value mask = p.input(dtype::boolean, {2, 3});
            p.output(p.make<aten::where_scalar>({mask, 1.5, -2}));
            p.output(p.make<aten::where_scalarself>({mask, 3, p.input(fp32, {3})}));
            p.output(p.make<aten::where_scalarother>({mask, p.input(fp32, {2, 1}), 0.5}));
        },
        computes_the_same<scalars_to_tensors>());
}

TEST_CASE("tensors of equal elements") {
    CHECK_THAT(
        [](program& p) {
            const value x = p.input(fp32, {2, 3});
            p.output(p.make<aten::zeros_like>({.self = x}));
            p.output(p.make<aten::ones_like>({.self = x, .dtype = i32}));
            p.output(p.make<aten::full_like>({.self = x, .fill_value = 2.5}));
            p.output(p.make<aten::new_zeros>({.self = x, .size = {4}}));
            p.output(p.make<aten::new_ones>({.self = x, .size = {1, 2}, .dtype = dtype::boolean}));
            p.output(p.make<aten::new_full>({.self = x, .size = {}, .fill_value = 7}));
            p.output(p.make<aten::scalar_tensor>({.s = 1.5}));
            p.output(p.make<aten::fill_scalar>({x, -1}));
            p.output(p.make<aten::fill_tensor>({x, p.input(fp32, {})}));
            p.output(p.make<aten::fill_tensor>({x, p.input(i32, {})}));
            p.output(p.make<aten::zero_inplace>({x}));
        },
        computes_the_same<canonicalize_fills>());
}

TEST_CASE("casts, reversed subtraction, and what does nothing") {
    CHECK_THAT(
        [](program& p) {
            const value x = p.input(i32, {2, 3});
            p.output(p.make<aten::to_device>({.self = x, .dtype = fp32}));
            p.output(p.make<aten::to_dtype_layout>({.self = x, .dtype = dtype::boolean}));
            p.output(p.make<aten::to_dtype_layout>({.self = x}));
            p.output(p.make<aten::to_other>({.self = x, .other = p.input(dtype::float16, {1})}));
        },
        computes_the_same<canonicalize_casts>());
    CHECK_THAT(
        [](program& p) {
            const value x = p.input(fp32, {2, 3});
            p.output(p.make<aten::rsub_tensor>({.self = x, .other = p.input(fp32, {3}), .alpha = 2}));
        },
        computes_the_same<canonicalize_arithmetic>());
    CHECK_THAT(
        [](program& p) {
            const value x = p.input(fp32, {2, 3});
            p.output(p.make<aten::neg>({p.make<aten::alias>({x})}));
            p.output(p.make<aten::neg>({p.make<aten::detach>({x})}));
            p.output(p.make<aten::neg>({p.make<aten::contiguous>({x})}));
            p.output(p.make<aten::neg>({p.make<aten::lift_fresh>({x})}));
            p.output(p.make<aten::neg>({p.make<aten::broadcast_to>({x, {2, 3}})}));
            p.output(p.make<aten::broadcast_to>({x, {4, 2, 3}}));
            p.output(p.make<aten::neg>({p.make<aten::expand_as>({x, x})}));
        },
        computes_the_same<remove_noop>());
}

TEST_CASE("ops that read the shape of another tensor get that shape") {
    CHECK_THAT(
        [](program& p) {
            const value x = p.input(fp32, {2, 3});
            p.output(p.make<aten::reshape_as>({x, p.input(fp32, {3, 2})}));
            p.output(p.make<aten::view_as>({x, p.input(fp32, {6})}));
            p.output(p.make<aten::expand_as>({x, p.input(fp32, {4, 2, 3})}));
        },
        computes_the_same<canonicalize_variants>());
}
