// SPDX-License-Identifier: MIT
// Tests that branches and loops take and return quantized values, with any quantization inside and outside.
#include <catch2/catch.hpp>

#include <headrace/passes/quantize/lower_quantized.hpp>

#include "../../support/quantized_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;
static_assert(effects_of<lower_quantized_control_flow>::sound);
static_assert(effects_of<lower_quantized_control_flow>::removed_set.empty());

constexpr coding a = int8_codes(0.05, 3);
constexpr coding b = int8_codes(0.0313, -7);
constexpr coding c = int8_codes(0.0717, 11);

template <op_tag Op>
value make_in(graph& g, const args<Op>& arguments) {
    inference inferred(g.arena());
    REQUIRE(infer_op<Op>(arguments, inferred));
    node& n = g.create<Op>(arguments);
    g.set_meta(n.result(), inferred.results()[0]);
    return n.result();
}
/// Rounds real numbers to a coding.
value rounded(graph& g, value v, const coding& k) {
    using namespace quantized_decomposed;
    v = make_in<quantize_per_tensor>(g, {v, k.scale, k.zero_point, k.lowest, k.highest, k.type});
    return make_in<dequantize_per_tensor>(
        g, {v, k.scale, k.zero_point, k.lowest, k.highest, k.type, std::nullopt});
}
value real_constant_in(graph& g, double number) {
    return create_constant(g, {fp32, {}, {}}, nullptr,
        [&](std::span<std::byte> data) { detail::store_element(number, fp32, data.data()); });
}
/// A region with inputs like `operands`, which returns the results of `body(graph&, inputs)`.
template <class Body>
graph* region_of(program& p, const value_list& operands, const Body& body) {
    graph& region = p.g.create_region();
    value_list inputs;
    for (const value v : operands) {
        inputs.push_back(region.create<builtin::placeholder>({}).result());
        region.set_meta(inputs[inputs.size() - 1], *meta_of(v));
    }
    const value_list results = body(region, inputs);
    region.create<builtin::output>({.values = results});
    return &region;
}

/// Compares for each condition, with quantized values for the other inputs.
template <class... Passes, class Build>
std::pmr::string compare_branches(const Build& build, const allowance& allowed = nearly) {
    std::vector<tensor> inputs = random_inputs(build);
    for (const int condition : {0, 1}) {
        inputs[0] = tensor::of_number(dtype::boolean, condition);
        std::pmr::string fault = integers_from<Passes...>(build, allowed, inputs);
        if (!fault.empty()) return fault;
    }
    return {};
}
/// Compares for several counts.
template <class Build>
std::pmr::string compare_loops(const Build& build, const allowance& allowed = nearly) {
    std::vector<tensor> inputs = random_inputs(build);
    for (const int limit : {0, 1, 2, 5}) {
        inputs[0] = tensor::of_number(dtype::int32, limit);
        std::pmr::string fault = integers_from<lower_quantized>(build, allowed, inputs);
        if (!fault.empty()) return number_text(limit) + " turns: " + fault;
    }
    return {};
}

/// x + y in one coding, or x * y in another, by a condition; `use` reads the result.
template <class Use>
auto branches(coding sum, coding product, const Use& use) {
    return [=](program& p) {
        p.g.set_target(integer_target);
        const value condition = p.input(dtype::boolean, {});
        const value x = real_input(p, a, {12, 30});
        const value_list operands{x, real_input(p, b, {30})};
        graph* yes = region_of(p, operands, [=](graph& g, const value_list& in) {
            return value_list{rounded(g, make_in<aten::add_tensor>(g, {in[0], in[1]}), sum)};
        });
        graph* no = region_of(p, operands, [=](graph& g, const value_list& in) {
            return value_list{rounded(g, make_in<aten::mul_tensor>(g, {in[0], in[1]}), product)};
        });
        use(p, p.make<higher_order::cond>({condition, yes, no, operands}), x);
    };
}

/// x becomes `step(graph&, x, y)` as often as the first input says.
template <class Start, class Step>
auto loop(const Start& start, const Step& step) {
    return [=](program& p) {
        p.g.set_target(integer_target);
        const value limit = p.input(dtype::int32, {});
        const value_list carried{integer_constant(p, dtype::int32, {}, {0}), start(p)};
        const value_list more{limit, real_input(p, b, {30})};
        const value_list all{carried[0], carried[1], more[0], more[1]};
        graph* goes_on = region_of(p, all, [](graph& g, const value_list& in) {
            return value_list{make_in<aten::lt_tensor>(g, {in[0], in[2]})};
        });
        graph* body = region_of(p, all, [=](graph& g, const value_list& in) {
            const value next = make_in<aten::add_scalar>(g, {.self = in[0], .other = 1});
            return value_list{next, step(g, in[1], in[3])};
        });
        node& made = p.make_node<higher_order::while_loop>({goes_on, body, carried, more});
        p.output(made.result(0));
        output_in(p, made.result(1), c);
    };
}
constexpr auto from_input = [](program& p) { return real_input(p, a, {12, 30}); };
/// A part of x, plus y.
auto damped(coding k) {
    return [=](graph& g, value x, value y) {
        const value part = rounded(g, make_in<aten::mul_tensor>(g, {x, real_constant_in(g, 0.6173)}), k);
        return rounded(g, make_in<aten::add_tensor>(g, {part, y}), k);
    };
}
template <class Build>
dtype carried_type(const Build& build) {
    program p;
    for (const node& n : lowered<lower_quantized>(p, build).nodes_of(info_of<higher_order::while_loop>))
        return n.results[1].meta->dtype;
    return dtype::unknown;
}

}  // namespace

TEST_CASE("branches give the coding in which all readers quantize") {
    const auto read = [](program& p, value v, value) { output_in(p, v, c); };
    CHECK(compare_branches<lower_quantized>(branches(a, b, read)) == "");
    CHECK(compare_branches<lower_quantized>(branches(c, c, read)) == "");
    program p;
    const graph& g = lowered<lower_quantized>(p, branches(a, b, read));
    for (const node& n : g.nodes_of(info_of<higher_order::cond>))
        CHECK(is<builtin::output>(*n.first_use->target));
}

TEST_CASE("branches give their own coding where the result is computed with") {
    const auto use = [](program& p, value v, value x) {
        output_in(p, p.make<aten::sub_tensor>({v, x}), int8_codes(0.0913, -5));
    };
    CHECK(compare_branches<lower_quantized>(branches(b, b, use)) == "");
    CHECK(compare_branches<lower_quantized>(branches(b, c, use)) == "");
    CHECK(compare_branches<lower_quantized>(branches(int8_codes(0.001), c, use)) == "");
    const auto twice = [](program& p, value v, value) {
        output_in(p, v, a);
        output_in(p, v, b);
    };
    CHECK(compare_branches<lower_quantized>(branches(c, int8_codes(0.0291), twice)) == "");
}

TEST_CASE("branches that only move, and operands that one of them does not read") {
    const auto build = [](program& p) {
        p.g.set_target(integer_target);
        const value condition = p.input(dtype::boolean, {});
        const value_list operands{
            real_input(p, a, {6, 6}), real_input(p, b, {6, 6}), p.input(dtype::boolean, {6, 6})};
        graph* yes = region_of(p, operands, [](graph& g, const value_list& in) {
            return value_list{rounded(g, make_in<aten::t>(g, {in[0]}), a), in[2]};
        });
        graph* no = region_of(p, operands, [](graph& g, const value_list& in) {
            const value either = make_in<aten::where_self>(g, {in[2], in[0], in[1]});
            return value_list{rounded(g, either, a), in[2]};
        });
        node& made = p.make_node<higher_order::cond>({condition, yes, no, operands});
        output_in(p, made.result(0), a);
        p.output(made.result(1));
    };
    CHECK(compare_branches<lower_quantized>(build) == "");
}

TEST_CASE("a loop carries one coding where its body gives the same") {
    CHECK(compare_loops(loop(from_input, damped(a))) == "");
    CHECK(carried_type(loop(from_input, damped(a))) == dtype::int8);
}

TEST_CASE("a loop carries 32 bits where its body gives another coding, or starts from constants") {
    for (const coding& k : {b, c, int16_codes(4e-4)}) {
        CAPTURE(k.scale);
        CHECK(compare_loops(loop(from_input, damped(k))) == "");
        CHECK(carried_type(loop(from_input, damped(k))) == dtype::int32);
    }
    constexpr coding low_int32{1e-9, -77, dtype::int32, INT32_MIN, INT32_MAX};
    for (const coding& first : {off_center_int16, all_int32_codes(1e-9), low_int32}) {
        const auto start = [=](program& p) { return real_input(p, first, {12, 30}); };
        CAPTURE(first.scale);
        CHECK(compare_loops(loop(start, damped(c))) == "");
        CHECK(
            count_after<higher_order::while_loop, lower_quantized_control_flow>(loop(start, damped(c))) == 1);
    }
    const auto from_numbers = [](program& p) {
        std::vector<double> numbers;
        for (int i = 0; i != 360; ++i) numbers.push_back(0.0173 * i - 3);
        return float_constant(p, {12, 30}, numbers);
    };
    CHECK(compare_loops(loop(from_numbers, damped(c))) == "");
}

TEST_CASE("a loop whose body quantizes nothing") {
    const auto grown = [](graph& g, value x, value y) { return make_in<aten::add_tensor>(g, {x, y}); };
    CHECK(compare_loops(loop(from_input, grown)) == "");
}

TEST_CASE("what a loop only moves keeps its coding") {
    const auto same = [](graph&, value x, value) { return x; };
    CHECK(compare_loops(loop(from_input, same)) == "");
    CHECK(carried_type(loop(from_input, same)) == dtype::int8);
    const auto turned = [](graph& g, value x, value) { return make_in<aten::flip>(g, {x, {0, 1}}); };
    CHECK(compare_loops(loop(from_input, turned)) == "");
    CHECK(carried_type(loop(from_input, turned)) == dtype::int8);
}

TEST_CASE("branches and loops of real numbers stay") {
    const auto build = [](program& p) {
        const value condition = p.input(dtype::boolean, {});
        const value_list operands{p.input(fp32, {3})};
        const auto negated = [](graph& g, const value_list& in) {
            return value_list{make_in<aten::neg>(g, {in[0]})};
        };
        graph* yes = region_of(p, operands, negated);
        graph* no = region_of(p, operands, [](graph&, const value_list& in) { return value_list{in[0]}; });
        p.output(p.make<higher_order::cond>({condition, yes, no, operands}));
        const value_list carried{
            p.constant<std::int32_t>(dtype::int32, {}, {0}), float_constant(p, {2}, {1, 2})};
        graph* goes_on = region_of(p, carried, [](graph& g, const value_list& in) {
            return value_list{make_in<aten::lt_scalar>(g, {in[0], 3})};
        });
        graph* body = region_of(p, carried, [](graph& g, const value_list& in) {
            return value_list{
                make_in<aten::add_scalar>(g, {.self = in[0], .other = 1}), make_in<aten::neg>(g, {in[1]})};
        });
        p.output(p.make_node<higher_order::while_loop>({goes_on, body, carried, {}}).result(1));
    };
    CHECK_THAT(build, is_left_alone_by<lower_quantized_control_flow>());
}

TEST_CASE("operands that are padded and clamped, alone and without the ops inside") {
    const auto build = [](program& p) {
        p.g.set_target(integer_target);
        const value condition = p.input(dtype::boolean, {});
        const value_list operands{padded_and_clamped_input(p, a, {12, 30}), long_clamped_input(p, {30})};
        graph* yes = region_of(p, operands, [](graph& g, const value_list& in) {
            return value_list{rounded(g, make_in<aten::add_tensor>(g, {in[0], in[1]}), b)};
        });
        graph* no = region_of(
            p, operands, [](graph& g, const value_list& in) { return value_list{rounded(g, in[0], b)}; });
        output_in(p, p.make<higher_order::cond>({condition, yes, no, operands}), b);
    };
    std::vector<tensor> inputs = random_inputs(build);
    for (const int condition : {0, 1}) {
        inputs[0] = tensor::of_number(dtype::boolean, condition);
        CHECK_THAT(build, computes_the_same<lower_quantized_control_flow>().for_inputs(inputs));
    }
}

TEST_CASE("a loop that starts from all codes of 32 bits") {
    const auto numbers = [](program& p) { return real_input(p, all_int32_codes(1e-9), {12, 30}); };
    const auto build = loop(numbers, damped(int8_codes(1e-9)));
    std::vector<tensor> inputs = random_inputs(build);
    inputs[0] = tensor::of_number(dtype::int32, 3);
    CHECK_THAT(build, computes_the_same<lower_quantized_control_flow>().for_inputs(inputs));
}

TEST_CASE("a loop that starts from rows with scales of their own") {
    const auto rows = [](program& p) {
        return real_per_channel(p, p.input(dtype::int8, {12, 30}), scales_around(0.04, 12), 0);
    };
    CHECK(compare_loops(loop(rows, damped(c))) == "");
    std::vector<tensor> inputs = random_inputs(loop(rows, damped(c)));
    inputs[0] = tensor::of_number(dtype::int32, 3);
    CHECK_THAT(loop(rows, damped(c)), computes_the_same<lower_quantized_control_flow>().for_inputs(inputs));
}
