// SPDX-License-Identifier: MIT
// Sets of ops are constants: masks with one bit per op, over any number of dialects.
#include <iostream>

//! [sets]
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/op/op_set.hpp>

using namespace headrace;

constexpr auto activations = ops_in<aten::relu, aten::gelu, aten::sigmoid>;
constexpr auto native = ops_in<aten::sigmoid, aten::tanh>;

static_assert((activations | native).size() == 4);
static_assert((activations & native) == ops_in<aten::sigmoid>);
static_assert(!(activations - native).contains<aten::sigmoid>());
static_assert(ops_in<tosa::add, tosa::sub> <= every_op<tosa::dialect>);
static_assert(
    (activations | every_op<tosa::dialect>).size() == 3 + tosa::dialect::size);  // over both dialects
//! [sets]

int main() {
    constexpr auto left = activations - native;
    print(left, [](std::string_view piece) { std::cout << piece; });
    // For an op that is known only at run time, membership is a bit test, too.
    const op_info& found = info_of<aten::gelu>;
    std::cout << "\ngelu " << (left.contains(found) ? "must be decomposed" : "is native") << '\n';
}
