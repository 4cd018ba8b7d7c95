// SPDX-License-Identifier: MIT
// Tests the decompositions of rectifiers and gates.
#include <catch2/catch.hpp>

#include <headrace/passes/decompose/activations.hpp>

#include "functions.hpp"

using namespace headrace;

TEST_CASE("rectifiers and gates") {
    const auto hardswish = [](program& p, value x) { return p.make<aten::hardswish>({x}); };
    const auto softshrink = [](program& p, value x) {
        return p.make<aten::softshrink>({.self = x, .lambd = 0.25});
    };
    check<decompose_rectifiers>(hardswish);
    check<decompose_rectifiers>(softshrink);
    check_numbers<decompose_rectifiers>(special, hardswish);
    check_numbers<decompose_rectifiers>(special, softshrink);
    check<decompose_rectifiers>([](program& p, value x) {
        return p.make<aten::prelu>({x, p.input(meta_of(x)->dtype, {4})});
    });
    check<decompose_rectifiers>([](program& p, value x) {
        return p.make<aten::prelu>({x, p.input(meta_of(x)->dtype, {1})});
    });
    check<decompose_rectifiers>([](program& p, value x) {
        return p.make<aten::_prelu_kernel>({x, p.input(meta_of(x)->dtype, {1, 4, 1})});
    });
    for (const std::int64_t dim : {-1, 1, 0}) {
        check<decompose_sigmoids>([=](program& p, value x) { return p.make<aten::glu>({x, dim}); });
    }
    const auto log_sigmoid = [](program& p, value x) {
        return p.make_node<aten::log_sigmoid_forward>({x}).result(0);
    };
    check<decompose_sigmoids>(log_sigmoid);
    check_numbers<decompose_sigmoids>(special, log_sigmoid);
    const auto hardshrink = [](program& p, value x) {
        return p.make<aten::hardshrink>({.self = x, .lambd = 0.25});
    };
    check<decompose_rectifiers>(hardshrink);
    check_numbers<decompose_rectifiers>(special, hardshrink);
}
