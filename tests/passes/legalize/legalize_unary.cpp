// SPDX-License-Identifier: MIT
// Tests the lowerings of unary functions.
#include <catch2/catch.hpp>

#include <headrace/passes/legalize/elementwise.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;

template <class Op>
std::pmr::string unary(dtype type) {
    return compare_runs<legalize_unary>(
        [=](program& p) {
            p.output(p.make<Op>({p.input(type, {3, 8})}));
        },
        {}, type == fp32 ? 1e-5 : 2e-2);
}

}  // namespace

TEST_CASE("functions of one number") {
    for (const dtype type : {fp32, dtype::float16}) {
        INFO(name_of(type));
        CHECK(unary<aten::ceil>(type) == "");
        CHECK(unary<aten::cos>(type) == "");
        CHECK(unary<aten::erf>(type) == "");
        CHECK(unary<aten::log>(type) == "");
        CHECK(unary<aten::reciprocal>(type) == "");
        CHECK(unary<aten::rsqrt>(type) == "");
        CHECK(unary<aten::sigmoid>(type) == "");
        CHECK(unary<aten::sin>(type) == "");
    }
}
