// SPDX-License-Identifier: MIT
// Tests that quantized functions of one quantized tensor become tables, computed at compile time.
#include <catch2/catch.hpp>

#include <headrace/passes/fold/fold_constants.hpp>
#include <headrace/passes/quantize/tabulate_functions.hpp>

#include "../../support/quantized_test.hpp"

using namespace headrace;

namespace {

using shape_list = int_list;  // an initializer_list would dangle in the closures
using tabulate = tabulate_functions;
using fold = fold_quantized_constants;
static_assert(effects_of<tabulate>::sound && effects_of<tabulate>::removed_set.empty());
static_assert(graph_pass<fold> && effects_of<fold>::always_runs);  // float64 is no op: it decides itself

constexpr coding a = int8_codes(0.05, 3);
constexpr coding b = int8_codes(0.0237, -20);
constexpr coding c = int8_codes(0.011, 5);
constexpr coding wide = int16_codes(3e-4);

/// `function(program&, value)` of a tensor in a coding, quantized in another.
template <class Function>
auto applied(const Function& function, coding from, coding to, shape_list shape = {4, 80}) {
    return [=](program& p) { output_in(p, function(p, real_input(p, from, shape)), to); };
}
template <class Op>
auto plain() {
    return [](program& p, value v) { return p.make<Op>({v}); };
}
/// Empty if the function becomes one table of 256 numbers with the same results.
template <class Build>
std::pmr::string tabulated(const Build& build) {
    program p;
    const graph& g = lowered<tabulate, fold>(p, build);
    if (count_of<tosa::table>(g) != 1) return "not one table";
    if (g.size() != 4) return "there is more than input, table, TABLE and output";
    return integers_from<tabulate, fold>(build);
}
/// A table of 513 points, which is off by the error of linear interpolation between two of them.
template <class Build>
std::pmr::string interpolated(const Build& build, const allowance& allowed) {
    program p;
    const graph& g = lowered<tabulate, fold>(p, build);
    if (count_of<tosa::table>(g) != 1 || count_of<tosa::rescale>(g) != 1) return "not one table and RESCALE";
    return integers_from<tabulate, fold>(build, allowed);
}
template <class Build>
std::size_t tables_of(const Build& build) {
    return count_after<tosa::table, tabulate>(build);
}
value number(program& p, double n) { return float_constant(p, {}, {n}); }

}  // namespace

TEMPLATE_TEST_CASE("functions of 8 bits", "", aten::abs, aten::neg, aten::exp, aten::exp2, aten::log,
    aten::log2, aten::sqrt, aten::rsqrt, aten::reciprocal, aten::sin, aten::cos, aten::tanh, aten::sigmoid,
    aten::silu, aten::mish, aten::gelu, aten::erf, aten::atan, aten::hardswish, aten::hardsigmoid, aten::elu,
    aten::leaky_relu, aten::softplus, aten::log_sigmoid, aten::ceil, aten::floor, aten::round, aten::sign) {
    for (const coding& to : {a, c, weight_codes(0.01)}) {
        for (const shape_list& shape : {int_list{4, 80}, int_list{300}, int_list{}}) {
            CAPTURE(to.scale, shape.size());
            CHECK(tabulated(applied(plain<TestType>(), a, to, shape)) == "");
        }
    }
}

TEST_CASE("with numbers as further operands") {
    const auto check = [](const auto& function) { CHECK(tabulated(applied(function, a, c)) == ""); };
    check([](program& p, value v) { return p.make<aten::mul_tensor>({v, number(p, 0.37)}); });
    check([](program& p, value v) {
        return p.make<aten::sub_tensor>({float_constant(p, {1, 1}, {1.5}), v});
    });
    check([](program& p, value v) { return p.make<aten::div_tensor>({number(p, 1), v}); });
    check([](program& p, value v) { return p.make<aten::pow_tensor_scalar>({v, scalar(3)}); });
    check([](program& p, value v) { return p.make<aten::add_tensor>({v, real_constant(p, c, {1})}); });
    check([](program& p, value v) {
        const value positive = p.make<aten::gt_tensor>({v, number(p, 0)});
        return p.make<aten::where_self>({positive, v, p.make<aten::mul_tensor>({v, number(p, 0.1)})});
    });
    check([](program& p, value v) {
        return p.make<aten::_to_copy>({p.make<aten::le_tensor>({v, number(p, 0.3)}), dtype::float32});
    });
    check([](program& p, value v) {  // of higher rank than the tensor, but with one element
        return p.make<aten::maximum>({v, float_constant(p, {1}, {0.25})});
    });
}

TEST_CASE("numbers stay numbers where an operand decides on the shape") {
    const auto by_itself = [](program& p, value v) { return p.make<aten::prelu>({v, v}); };
    CHECK(tables_of(applied(by_itself, a, c, {1})) == 0);
    const auto of_number = [](program& p, value v) {
        return p.make<aten::_prelu_kernel>({number(p, 0.5), v});
    };
    CHECK(tables_of(applied(of_number, a, c, {})) == 0);
}

TEST_CASE("that read their operand several times, with quantization between their steps or not") {
    const auto swish = [](program& p, value v) {
        return p.make<aten::mul_tensor>({v, p.make<aten::sigmoid>({v})});
    };
    CHECK(tabulated(applied(swish, a, c)) == "");
    const auto quantized_swish = [](program& p, value v) {
        const value s = quantized(p, p.make<aten::sigmoid>({v}), int8_codes(1.0 / 256, -128));
        return p.make<aten::mul_tensor>({v, real_of(p, s, int8_codes(1.0 / 256, -128))});
    };
    CHECK_THAT(applied(quantized_swish, a, c), (becomes_integers<tabulate, fold>()));
    const auto chain = [](program& p, value v) {
        for (const coding& to : {b, c, b}) {
            const value codes = quantized(p, p.make<aten::tanh>({p.make<aten::mul_tensor>({v, v})}), to);
            v = real_of(p, codes, to);
        }
        return p.make<aten::exp>({v});
    };
    CHECK(tabulated(applied(chain, a, c)) == "");
    const auto clamped = [](program& p, value v) {
        const value cut = p.make<aten::hardtanh>({v, scalar(-0.5), scalar(1.25)});
        return p.make<aten::exp>({p.make<aten::relu>({cut})});
    };
    CHECK(tabulated(applied(clamped, a, c)) == "");
    const auto two_dequantizes = [](program& p) {
        const value codes = p.input(dtype::int8, {300});
        output_in(p,
            p.make<aten::mul_tensor>({real_of(p, codes, a), p.make<aten::exp>({real_of(p, codes, b)})}), c);
    };
    CHECK(tabulated(two_dequantizes) == "");
}

TEST_CASE("a table after a table is one of its own, and both stay where both are read") {
    const auto build = [](program& p) {
        const value x = real_input(p, a, {300});
        const value first = quantized(p, p.make<aten::sigmoid>({x}), b);
        const value y = p.make<aten::mul_tensor>({real_of(p, first, b), x});
        p.output(first);
        output_in(p, y, c);
        output_in(p, p.make<aten::exp>({real_of(p, first, b)}), c);
    };
    CHECK_THAT(build, (becomes_integers<tabulate, fold>()));
    program p;
    graph& g = lowered<tabulate, fold>(p, build);
    CHECK(count_of<tosa::table>(g) == 3);
    for (const node& n : g.nodes_of(info_of<tosa::table>))
        CHECK(is<builtin::placeholder>(*n.operand(0).producer));
}

TEST_CASE("functions of 16 bits") {
    const auto compare = [](const auto& function, double scale, const allowance& allowed) {
        return interpolated(applied(function, wide, int16_codes(scale), {40, 90}), allowed);
    };
    // 128 steps are 0.0384; between two points, interpolation is off by an eighth of its square times f''.
    CHECK(compare(plain<aten::sigmoid>(), 1.0 / 32768, {1, 0.6}) == "");
    CHECK(compare(plain<aten::tanh>(), 1.0 / 32768, {5, 0.6}) == "");
    CHECK(compare(plain<aten::sin>(), 1.0 / 32768, {7, 0.9}) == "");
    CHECK(compare(plain<aten::exp>(), 1.0, {4, 0.4}) == "");
    const auto swish = [](program& p, value v) {
        return p.make<aten::mul_tensor>({v, p.make<aten::sigmoid>({v})});
    };
    CHECK(compare(swish, 3e-4, {1, 0.2}) == "");
    // The first of these points is one step nearer to zero than the function.
    CHECK(compare(plain<aten::abs>(), 3e-4, {1, 0.01}) == "");
    CHECK(compare(plain<aten::neg>(), 3e-4, {1, 0.01}) == "");
    const auto third = [](program& p, value v) { return p.make<aten::mul_tensor>({v, number(p, 1.0 / 3)}); };
    CHECK(compare(third, 3e-4, {1, 0.35}) == "");
}

TEST_CASE("a square of 16 bits is left to MUL, which is exact") {
    const auto square = [](program& p, value v) { return p.make<aten::mul_tensor>({v, v}); };
    CHECK(tables_of(applied(square, wide, int16_codes(3e-3))) == 0);
    CHECK(tables_of(applied(square, a, b)) == 1);
}

TEST_CASE("a table of 16 bits is not read through: it is no function of codes alone") {
    const auto twice = [](program& p) {
        const value s =
            quantized(p, p.make<aten::sigmoid>({real_input(p, wide, {40, 90})}), int16_codes(3e-5));
        output_in(p, p.make<aten::tanh>({real_of(p, s, int16_codes(3e-5))}), int16_codes(3e-5));
    };
    CHECK(count_after<tosa::table, tabulate, fold>(twice) == 2);
    CHECK_THAT(twice, (becomes_integers<tabulate, fold>({2, 0.6})));
}

TEST_CASE("at the ends of 16 bits") {
    const auto build = applied(plain<aten::tanh>(), wide, int16_codes(1.0 / 32768), {6});
    const std::vector<int> ends{-32768, -32767, -1, 0, 32766, 32767};
    CHECK_THAT(
        build, (becomes_integers<tabulate, fold>({1, 1}).for_inputs({tensor::of(dtype::int16, {6}, ends)})));
}

TEST_CASE("clamps alone are left to CLAMP") {
    CHECK(tables_of(applied(plain<aten::relu>(), a, a)) == 0);
    CHECK(tables_of(applied(plain<aten::relu6>(), a, b)) == 0);
    CHECK(tables_of(applied(
              [](program& p, value v) {
                  return p.make<aten::hardtanh>({p.make<aten::clamp>({v, scalar(-1)}), -1, 0.7});
              },
              a, b)) == 0);
    CHECK(tables_of(applied([](program&, value v) { return v; }, a, b)) == 0);
}

TEST_CASE("what is no function of one tensor's elements is left") {
    const auto left = [](const auto& build) {
        CHECK(tables_of(build) == 0);
        CHECK_THAT(build, is_left_alone_by<tabulate>());
    };
    left([](program& p) {  // two tensors
        output_in(p, p.make<aten::mul_tensor>({real_input(p, a, {8}), real_input(p, b, {8})}), c);
    });
    left([](program& p) {  // one tensor, dequantized per channel
        const value codes = p.input(dtype::int8, {3, 8});
        const value x = real_per_channel(p, codes, {0.1, 0.2, 0.3}, 0);
        output_in(p, p.make<aten::exp>({x}), c);
    });
    left([](program& p) {  // a constant per channel
        output_in(p, p.make<aten::mul_tensor>({real_input(p, a, {3, 2}), float_constant(p, {2}, {1, 2})}), c);
    });
    left([](program& p) {  // a computed number
        output_in(p, p.make<aten::mul_tensor>({real_input(p, a, {3, 2}), p.input(dtype::float32, {})}), c);
    });
    left([](program& p) {  // moved elements
        output_in(p, p.make<aten::exp>({p.make<aten::permute>({real_input(p, a, {3, 2}), {1, 0}})}), c);
    });
    left([](program& p) {  // another dtype
        output_in(p, p.make<aten::exp>({real_input(p, a, {8})}), wide);
    });
    left([](program& p) { output_in(p, p.make<aten::exp>({p.input(dtype::float32, {8})}), c); });
}

TEST_CASE("a step that is not tabulated itself is where the function begins") {
    const auto build = [](program& p) {
        const value sum = p.make<aten::add_tensor>({real_input(p, a, {300}), real_input(p, b, {300})});
        const value codes = quantized(p, sum, a);
        output_in(p, p.make<aten::exp>({real_of(p, codes, a)}), c);
    };
    CHECK_THAT(build, (computes_the_same<tabulate, fold>().for_inputs(random_inputs(build)).within(0)));
    CHECK(tables_of(build) == 1);
    CHECK(count_after<quantized_decomposed::quantize_per_tensor, tabulate, fold>(build) == 1);
}

TEST_CASE("quantized constants are folded, dequantized ones stay codes") {
    const auto build = [](program& p) {
        const value weight = p.make<aten::permute>({real_constant(p, b, {3, 5}), {1, 0}});
        const value codes = quantized(p, p.make<aten::exp>({float_constant(p, {3}, {-1, 0, 1})}), c);
        p.output(p.make<aten::add_tensor>({real_of(p, codes, c), weight}));
        p.output(p.make<aten::add_tensor>({p.input(dtype::int8, {3}), codes}));
    };
    CHECK_THAT(build, computes_the_same<fold>().within(0));
    program p;
    const graph& g = lowered<fold>(p, build);
    CHECK(count_of<quantized_decomposed::quantize_per_tensor>(g) == 0);
    CHECK(count_of<aten::exp>(g) == 0);
    CHECK(count_of<quantized_decomposed::dequantize_per_tensor>(g) == 2);
    for (const node& n : g.nodes_of(info_of<builtin::constant>))
        CHECK(n.results[0].meta->dtype == dtype::int8);
}
