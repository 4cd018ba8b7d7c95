// SPDX-License-Identifier: MIT
// Tests the decompositions of norms, deviations and softmax, and of sums without NaN.
#include <limits>

#include <catch2/catch.hpp>

#include <headrace/passes/decompose/activations.hpp>
#include <headrace/passes/decompose/norms.hpp>
#include <headrace/passes/decompose/statistics.hpp>

#include "functions.hpp"

using namespace headrace;

TEST_CASE("norms and deviations") {
    for (const scalar p_norm : {scalar(1), scalar(2), scalar(3), scalar(infinity)}) {
        CAPTURE(p_norm.to_double());
        check<decompose_norms>([=](program& p, value x) { return p.make<aten::norm_scalar>({x, p_norm}); });
        check<decompose_norms>([=](program& p, value x) {
            return p.make<aten::norm_scalaropt_dim>({x, p_norm, {1, -1}, true});
        });
    }
    for (const bool unbiased : {false, true}) {
        check<decompose_var, may_rewrite<decompose_mean>>([=](program& p, value x) {
            return p.make<aten::std_>({x, unbiased});
        });
        check<decompose_var, may_rewrite<decompose_mean>>([=](program& p, value x) {
            return p.make<aten::std_dim>({x, int_list{0, 2}, unbiased, unbiased});
        });
    }
}

TEST_CASE("softmax by its other names") {
    for (const std::int64_t dim : {0, 1, -1}) {
        check<decompose_softmax>([=](program& p, value x) {
            return p.make<aten::_softmax>({x, dim, false});
        });
        check<decompose_softmax>([=](program& p, value x) {
            return p.make<aten::_log_softmax>({x, dim, false});
        });
    }
}

TEST_CASE("sums without NaN") {
    std::vector<double> holes = special;
    holes[2] = std::numeric_limits<double>::quiet_NaN();
    holes[12] = holes[13] = 1;
    check_numbers<decompose_mean>(holes, [](program& p, value x) { return p.make<aten::nansum>({x}); });
    check<decompose_mean>([](program& p, value x) {
        return p.make<aten::nansum>({.self = x, .dim = int_list{0, -1}, .keepdim = true});
    });
}
