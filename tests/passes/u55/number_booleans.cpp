// SPDX-License-Identifier: MIT
// Tests that comparisons, logic and selections become arithmetic on numbers, exact for all INT32.
#include <algorithm>

#include <catch2/catch.hpp>

#include <headrace/infer/verify.hpp>
#include <headrace/passes/u55/number_booleans.hpp>

#include "../../support/u55_test.hpp"

using namespace headrace;

namespace {

constexpr std::int64_t count = 120;
const int_list shape{2, count};
constexpr auto boolean = dtype::boolean;

/// Returns pairs of numbers whose differences wrap around, and others.
std::vector<tensor> pairs(dtype type) {
    const auto [lowest, highest] = range_of(type);
    const std::int64_t numbers[] = {
        lowest, lowest + 1, -32769, -32768, -1, 0, 1, 32767, 32768, highest - 1, highest};
    std::vector<std::int64_t> x, y;
    for (const std::int64_t a : numbers) {
        for (const std::int64_t b : numbers) {
            x.push_back(std::clamp(a, lowest, highest));
            y.push_back(std::clamp(b, lowest, highest));
        }
    }
    x.resize(2 * count, 7);
    y.resize(2 * count, 7);
    return {integers(type, shape, x), integers(type, shape, y)};
}
std::vector<tensor> truths(std::size_t inputs) {
    std::vector<tensor> all;
    for (std::size_t k = 0; k != inputs; ++k) {
        std::vector<std::int64_t> bits;
        for (std::int64_t i = 0; i != 2 * count; ++i) bits.push_back(i >> k & 1);
        all.push_back(integers(dtype::int8, shape, bits));
    }
    return all;
}
/// An input of 8 bits as booleans.
value truth(program& p) {
    return p.make<tosa::cast>({.input = p.input(dtype::int8, shape), .output_type = boolean});
}
value number_of(program& p, value truth) {
    return p.make<tosa::cast>({.input = truth, .output_type = dtype::int32});
}

/// Checks that a program's results do not change when its boolean inputs become numbers.
void check_given_booleans(const program_builder& whole, const std::vector<tensor>& numbers) {
    program before, after;
    const graph& exported = lowered<>(before, whole);
    std::vector<tensor> given = numbers;
    std::size_t i = 0;
    for (const node& n : exported.inputs()) {
        if (is_boolean(n.results[0].meta->dtype))
            given[i] = tensor::of(boolean, {2, count}, numbers[i].to<std::int64_t>());
        ++i;
    }
    const auto expected = run_graph(exported, given);
    const auto results = run_graph(lowered<number_booleans>(after, whole), numbers);
    REQUIRE(expected);
    REQUIRE(results);
    for (i = 0; i != expected.value().size(); ++i)
        CHECK(tensor_difference(expected.value()[i], results.value()[i], 0) == "");
}

template <op_tag Op>
void check_comparison() {
    CAPTURE(Op::name);
    const auto compared = [](program& p) {
        return number_of(p, p.make<Op>({p.input(dtype::int32, shape), p.input(dtype::int32, shape)}));
    };
    CHECK(expanded<number_booleans>(compared, pairs(dtype::int32)) == "");
    const auto small = [](program& p) {
        const auto wide = [&] {
            return p.make<tosa::cast>({.input = p.input(dtype::int16, shape), .output_type = dtype::int32});
        };
        const value x = wide();
        return number_of(p, p.make<Op>({x, wide()}));
    };
    CHECK(expanded<number_booleans>(small, pairs(dtype::int16)) == "");
    for (const bool number_first : {false, true}) {
        const auto with_number = [=](program& p) {
            const value wide =
                p.make<tosa::cast>({.input = p.input(dtype::int8, shape), .output_type = dtype::int32});
            const value number = integer_constant(p, dtype::int32, {1, 1}, {-3});
            return number_of(p, number_first ? p.make<Op>({number, wide}) : p.make<Op>({wide, number}));
        };
        CHECK(expanded<number_booleans>(with_number) == "");
        CHECK(count_after<tosa::table, number_booleans>(for_u55_target(with_number)) == 1);
    }
}
template <op_tag Op>
void check_logic() {
    CAPTURE(Op::name);
    const auto joined = [](program& p) { return p.make<Op>({truth(p), truth(p)}); };
    CHECK(expanded<number_booleans>(joined, truths(2)) == "");
}
template <op_tag Op>
void check_reduction() {
    for (const std::int64_t axis : {0, 1}) {
        const auto reduced = [=](program& p) { return p.make<Op>({truth(p), axis}); };
        CHECK(expanded<number_booleans>(reduced, truths(1)) == "");
        std::vector<std::int64_t> same(2 * count, std::is_same_v<Op, tosa::reduce_all> ? 1 : 0);
        CHECK(expanded<number_booleans>(reduced, {integers(dtype::int8, shape, same)}) == "");
    }
}

}  // namespace

TEST_CASE("comparisons, where differences wrap around too") {
    check_comparison<tosa::equal>();
    check_comparison<tosa::greater>();
    check_comparison<tosa::greater_equal>();
}

TEST_CASE("codes are compared as what they are rescaled to") {
    const auto scaled = [](program& p) {
        const value wide = p.make<tosa::rescale>({.input = p.input(dtype::int8, shape),
            .multiplier = integer_constant(p, dtype::int32, {1}, {1'500'000'000}),
            .shift = integer_constant(p, dtype::int8, {1}, {20}),
            .input_zp = integer_constant(p, dtype::int8, {1}, {9}),
            .output_zp = integer_constant(p, dtype::int32, {1}, {0})});
        const value bound = integer_constant(p, dtype::int32, {1, 1}, {1430 * 31});
        return p.make<tosa::greater>({wide, bound});
    };
    CHECK(expanded<number_booleans>(scaled) == "");
    CHECK(count_after<tosa::table, number_booleans>(for_u55_target(scaled)) == 1);
}

TEST_CASE("logic") {
    check_logic<tosa::logical_and>();
    check_logic<tosa::logical_or>();
    check_logic<tosa::logical_xor>();
    CHECK(expanded<number_booleans>(
              [](program& p) { return p.make<tosa::logical_not>({truth(p)}); }, truths(1)) == "");
    check_reduction<tosa::reduce_any>();
    check_reduction<tosa::reduce_all>();
}

TEST_CASE("choices") {
    for (const dtype type : {dtype::int8, dtype::int16, dtype::int32}) {
        CAPTURE(name_of(type));
        const auto chosen = [=](program& p) {
            const value condition = truth(p);
            const value x = p.input(type, shape);
            return p.make<tosa::select>({condition, x, p.input(type, shape)});
        };
        std::vector<tensor> inputs = truths(1);
        for (const tensor& t : pairs(type)) inputs.push_back(t);
        CHECK(expanded<number_booleans>(chosen, inputs) == "");
    }
    const auto of_truths = [](program& p) {
        const value condition = truth(p);
        const value x = truth(p);
        return p.make<tosa::select>({condition, x, truth(p)});
    };
    CHECK(expanded<number_booleans>(of_truths, truths(3)) == "");
    const auto of_numbers = [](program& p) {
        return p.make<tosa::select>({truth(p), integer_constant(p, dtype::int32, {1, 1}, {70}),
            integer_constant(p, dtype::int32, {1, 1}, {-9})});
    };
    CHECK(expanded<number_booleans>(of_numbers, truths(1)) == "");
    const auto of_cast_truth = [](program& p) {
        const value condition = truth(p);
        const value number = p.make<tosa::cast>({.input = truth(p), .output_type = dtype::int8});
        return p.make<tosa::select>({condition, number, p.input(dtype::int8, shape)});
    };
    std::vector<tensor> inputs = truths(2);
    inputs.push_back(pairs(dtype::int8)[0]);
    CHECK(expanded<number_booleans>(of_cast_truth, inputs) == "");
}

TEST_CASE("casts from and to booleans") {
    for (const dtype type : {dtype::int8, dtype::int16, dtype::int32}) {
        CAPTURE(name_of(type));
        const auto from = [=](program& p) {
            return p.make<tosa::cast>({.input = truth(p), .output_type = type});
        };
        CHECK(expanded<number_booleans>(from, truths(1)) == "");
        const auto to = [=](program& p) {
            return p.make<tosa::cast>({.input = p.input(type, shape), .output_type = boolean});
        };
        CHECK(expanded<number_booleans>(to, {pairs(type)[0]}) == "");
    }
}

TEST_CASE("what holds booleans, and is given and taken, holds numbers") {
    const auto moved = for_u55_target([](program& p) {
        const value set = p.constant<std::uint8_t>(boolean, {2, 1}, {1, 0});
        const value parts[] = {p.input(boolean, shape), set};
        const value joined = p.make<tosa::concat>({.input1 = list<value>(parts), .axis = 1});
        const value turned = p.make<tosa::transpose>({.input1 = joined, .perms = {1, 0}});
        return p.make<tosa::logical_not>({p.make<tosa::reverse>({turned, 0})});
    });
    check_given_booleans(moved, truths(1));
    program after;
    const graph& g = lowered<number_booleans>(after, moved);
    CHECK(u55_fault(g).empty());
    CHECK(meta_of(g.outputs()[0])->dtype == dtype::int8);
}

TEST_CASE("the number that a boolean is cast to is a number wherever it is read") {
    const auto cast = for_u55_target([](program& p) {
        const value given = p.input(boolean, shape);
        const value x = p.input(dtype::int8, shape);
        const value moved = p.make<tosa::identity>({given});
        const value number = p.make<tosa::cast>({.input = moved, .output_type = dtype::int8});
        const value parts[] = {number, x};
        p.output(p.make<tosa::concat>({.input1 = list<value>(parts), .axis = 1}));
        p.output(p.make<tosa::select>({moved, number, x}));
        p.output(p.make<tosa::logical_not>({moved}));
        p.output(number_of(p, number));
        return p.make<tosa::greater>(
            {number_of(p, number), p.make<tosa::cast>({.input = x, .output_type = dtype::int32})});
    });
    check_given_booleans(cast, {truths(1)[0], pairs(dtype::int8)[0]});
    program after;
    const graph& g = lowered<number_booleans>(after, cast);
    CHECK(verify<tosa::dialect>(g, {.metadata_required = true}));
    CHECK(u55_fault(g) == "");
}

TEST_CASE("booleans that come from floats stay booleans, beside others that become numbers") {
    const auto mixed = for_u55_target([](program& p) {
        const value x = p.input(dtype::float32, shape);
        const value compared = p.make<tosa::greater>({x, p.input(dtype::float32, shape)});
        const value given = p.input(boolean, shape);
        const value parts[] = {p.make<tosa::logical_and>({compared, given}), given};
        const value joined = p.make<tosa::concat>({.input1 = list<value>(parts), .axis = 1});
        p.output(p.make<tosa::reduce_any>({p.make<tosa::logical_not>({joined}), 1}));
        p.output(p.make<tosa::select>({given, x, x}));
        const value number = p.input(dtype::int32, shape);
        return p.make<tosa::select>(
            {p.make<tosa::logical_xor>({given, compared}), number, number_of(p, given)});
    });
    const tensor x = tensor::of(dtype::float32, {2, count}, pairs(dtype::int8)[0].to<double>());
    const tensor y = tensor::of(dtype::float32, {2, count}, pairs(dtype::int8)[1].to<double>());
    check_given_booleans(mixed, {x, y, truths(1)[0], pairs(dtype::int32)[0]});
    program after;
    CHECK(verify<tosa::dialect>(lowered<number_booleans>(after, mixed), {.metadata_required = true}));
}
