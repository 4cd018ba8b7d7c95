// SPDX-License-Identifier: MIT
// Tests that a quantize moves past movements of elements, joins and clamps until it meets its dequantize.
#include <limits>

#include <catch2/catch.hpp>

#include <headrace/passes/quantize/lower_quantized.hpp>

#include "../../support/quantized_test.hpp"

using namespace headrace;

namespace {

using shape_list = int_list;  // an initializer_list would dangle in the closures
using quantize = quantized_decomposed::quantize_per_tensor;

static_assert(effects_of<fold_quantization>::sound && effects_of<fold_quantization>::removed_set.empty());

constexpr coding a = int8_codes(0.05, 3);
constexpr coding b = int8_codes(0.031, -7);

/// The result of `move(program&, value)` for a tensor in the coding `a`, quantized in another.
template <class Move>
auto moved(shape_list shape, const Move& move, coding to) {
    return [=](program& p) { output_in(p, move(p, real_input(p, a, shape)), to); };
}
/// Empty if quantized values are moved unchanged if the codings agree, and rescaled otherwise.
template <class Move>
std::pmr::string compare(shape_list shape, const Move& move) {
    const auto alike = moved(shape, move, a);
    if (std::pmr::string fault = integers_from<fold_quantization>(alike); !fault.empty()) return fault;
    if (count_after<tosa::rescale, fold_quantization>(alike) != 0) return "a RESCALE between equal codings";
    const auto apart = moved(shape, move, b);
    if (count_after<tosa::rescale, fold_quantization>(apart) != 1) return "not one RESCALE";
    return integers_from<fold_quantization>(apart, nearly);
}

}  // namespace

TEST_CASE("a quantize of a dequantize is a RESCALE, or nothing") {
    for (const coding& from : {a, b, int16_codes(2e-4), int32_codes(3e-7)}) {
        for (const coding& to : {a, b, weight_codes(0.05, 3), int16_codes(2e-4), int16_codes(7e-4)}) {
            CAPTURE(from.scale, to.scale, to.lowest);
            CHECK_THAT(
                [=](program& p) {
                    output_in(p, real_input(p, from, {40, 50}), to);
                },
                becomes_integers<fold_quantization>(nearly));
        }
    }
    constexpr coding low_int32{1.3e-5, -77, dtype::int32, INT32_MIN, INT32_MAX};
    for (const coding& other : {a, int16_codes(7.1e-4), off_center_int16, low_int32}) {
        const auto recoded = [=](const coding& from, const coding& to) {
            return [=](program& p) { output_in(p, real_input(p, from, {40, 50}), to); };
        };
        CAPTURE(other.scale, other.zero_point);
        CHECK_THAT(recoded(off_center_int16, other), becomes_integers<fold_quantization>(nearly));
        CHECK_THAT(recoded(other, off_center_int16), becomes_integers<fold_quantization>(nearly));
    }
    program p;
    const auto nothing = [](program& q) { output_in(q, real_input(q, a, {40}), a); };
    CHECK(lowered<fold_quantization>(p, nothing).size() == 2);
}

TEST_CASE("scales of channels meet one scale, along any axis") {
    for (const std::int64_t axis : {0, 1, -1}) {
        CAPTURE(axis);
        const auto build = [=](program& p) {
            const std::size_t channels = axis == -1 ? 7 : axis == 0 ? 5 : 6;
            const value codes = p.input(dtype::int8, {5, 6, 7});
            output_in(p, real_per_channel(p, codes, scales_around(0.04, channels), axis), b);
        };
        CHECK_THAT(build, becomes_integers<fold_quantization>(nearly));
    }
    const auto zeros = [](std::vector<std::int64_t> zero_points) {
        return [=](program& p) {
            const value codes = p.input(dtype::int8, {3, 4});
            output_in(p, real_per_channel(p, codes, {0.1, 0.2, 0.3}, 0, zero_points), b);
        };
    };
    CHECK_THAT(zeros({5, 5, 5}), becomes_integers<fold_quantization>(nearly));
    CHECK_THAT(zeros({5, 5, 4}), is_refused_by<fold_quantization>("zero points that differ"));
}

TEST_CASE("past views, permutations and repetitions") {
    CHECK(compare({4, 6}, [](program& p, value v) { return p.make<aten::view>({v, {2, 12}}); }) == "");
    CHECK(compare({4, 6}, [](program& p, value v) { return p.make<aten::t>({v}); }) == "");
    CHECK(compare({4, 6, 2}, [](program& p, value v) {
        return p.make<aten::permute>({v, {2, 0, 1}});
    }) == "");
    CHECK(compare({4, 6, 2}, [](program& p, value v) {
        return p.make<aten::transpose_int>({v, 0, -1});
    }) == "");
    CHECK(compare({4, 1}, [](program& p, value v) { return p.make<aten::expand>({v, {3, 4, 5}}); }) == "");
    CHECK(compare({4, 3}, [](program& p, value v) { return p.make<aten::repeat>({v, {2, 1, 2}}); }) == "");
    CHECK(compare({4, 3}, [](program& p, value v) { return p.make<aten::flip>({v, {0}}); }) == "");
    CHECK(compare({4, 1, 3}, [](program& p, value v) {
        return p.make<aten::unsqueeze>({p.make<aten::squeeze_dim>({v, 1}), 0});
    }) == "");
}

TEST_CASE("past what takes a part, by position or by index") {
    CHECK(compare({9, 6}, [](program& p, value v) {
        return p.make<aten::slice_tensor>({v, 0, 1, -1, 3});
    }) == "");
    CHECK(compare({9, 6}, [](program& p, value v) { return p.make<aten::select_int>({v, 1, -2}); }) == "");
    CHECK(compare({9, 4}, [](program& p, value v) {
        return p.make_node<aten::split_tensor>({v, 4, 0}).result(2);
    }) == "");
    CHECK(compare({3, 5}, [](program& p, value v) {
        return p.make_node<aten::unbind_int>({v, 0}).result(1);
    }) == "");
    CHECK(compare({7, 5}, [](program& p, value v) {
        return p.make<aten::embedding>({v, integer_constant(p, dtype::int64, {2, 2}, {0, 6, 3, 3})});
    }) == "");
    CHECK(compare({7, 5}, [](program& p, value v) {
        return p.make<aten::index_select>({v, 1, integer_constant(p, dtype::int64, {3}, {4, 0, 4})});
    }) == "");
    CHECK(compare({7, 5}, [](program& p, value v) {
        return p.make<aten::gather>({v, 0, integer_constant(p, dtype::int64, {1, 3}, {6, 1, 0})});
    }) == "");
    CHECK(compare({7, 5}, [](program& p, value v) {
        const std::optional<value> rows = integer_constant(p, dtype::int64, {3}, {6, 1, 0});
        return p.make<aten::index_tensor>({v, {rows}});
    }) == "");
}

TEST_CASE("past what takes the largest, and nearest neighbours") {
    CHECK(compare({5, 6}, [](program& p, value v) { return p.make<aten::amax>({v, {1}, true}); }) == "");
    CHECK(compare({5, 6}, [](program& p, value v) { return p.make<aten::amin>({v, {0}, false}); }) == "");
    CHECK(compare({5, 6}, [](program& p, value v) {
        return p.make_node<aten::aminmax>({v, 1, false}).result(1);
    }) == "");
    CHECK(compare({1, 2, 7, 6}, [](program& p, value v) {
        return p.make<aten::max_pool2d>({v, {3, 3}, {2, 2}, {1, 1}});
    }) == "");
    CHECK(compare({1, 2, 3, 4}, [](program& p, value v) {
        return p.make<aten::upsample_nearest2d>({v, {6, 7}, std::nullopt, std::nullopt});
    }) == "");
}

TEST_CASE("past padding, with zero, other numbers and the tensor's own") {
    for (const double with : {0.0, 0.5, 0.333, 1000.0, -std::numeric_limits<double>::infinity()}) {
        CAPTURE(with);
        CHECK(compare({3, 4}, [=](program& p, value v) {
            return p.make<aten::constant_pad_nd>({v, {1, 2, 0, 3}, with});
        }) == "");
        CHECK(compare({3, 4}, [=](program& p, value v) {
            return p.make<aten::pad>({v, {1, -1}, "constant", with});
        }) == "");
    }
    CHECK(compare({3, 4}, [](program& p, value v) {
        return p.make<aten::pad>({v, {1, 2}, "replicate", std::nullopt});
    }) == "");
    CHECK(compare({1, 3, 4, 5}, [](program& p, value v) {
        return p.make<aten::reflection_pad2d>({v, {1, 2, 0, 2}});
    }) == "");
}

TEST_CASE("past clamps, whose bounds are quantized") {
    for (const auto& [least, most] : {std::pair(0.0, 6.0), {-0.3333, 0.7777}, {-1e9, 1e9}, {2.0, -2.0}}) {
        CAPTURE(least, most);
        CHECK(compare({20, 20}, [least = least, most = most](program& p, value v) {
            return p.make<aten::clamp>({v, scalar(least), scalar(most)});
        }) == "");
    }
    CHECK(compare({20, 20}, [](program& p, value v) {
        return p.make<aten::clamp>({v, std::nullopt, scalar(0.71)});
    }) == "");
    CHECK(compare({20, 20}, [](program& p, value v) { return p.make<aten::clamp>({v, scalar(0)}); }) == "");
}

TEST_CASE("a clamp whose bounds make real numbers of integers is not passed") {
    const auto build = [](program& p) {
        const value codes = p.input(dtype::int8, {40});
        output_in(p, p.make<aten::clamp>({codes, -1.5, 1.5}), a);
    };
    CHECK_THAT(build, is_left_alone_by<fold_quantization>());
}

TEST_CASE("past joins of several quantizations") {
    const auto join = [](coding first, coding second, coding to) {
        return [=](program& p) {
            const value x = real_input(p, first, {2, 3});
            const value y = real_input(p, second, {2, 4});
            output_in(p, p.make<aten::cat>({{x, y, x}, 1}), to);
        };
    };
    CHECK_THAT(join(a, a, a), becomes_integers<fold_quantization>());
    CHECK_THAT(join(a, b, a), becomes_integers<fold_quantization>(nearly));
    CHECK_THAT(join(a, b, int8_codes(0.2)), becomes_integers<fold_quantization>(nearly));
    CHECK(count_after<tosa::rescale, fold_quantization>(join(a, b, a)) == 1);
    CHECK(count_after<tosa::rescale, fold_quantization>(join(a, b, int8_codes(0.2))) == 2);

    const auto choice = [](program& p) {
        const value x = real_input(p, a, {4, 5});
        const value y = real_input(p, b, {1, 5});
        const value condition = p.input(dtype::boolean, {4, 1});
        const value either = p.make<aten::where_self>({condition, x, y});
        const value number = float_constant(p, {}, {0.77});
        output_in(p, p.make<aten::where_self>({condition, number, either}), b);
    };
    CHECK_THAT(choice, becomes_integers<fold_quantization>(nearly));
    const auto writes = [](program& p) {
        const value x = real_input(p, a, {4, 5});
        const value y = real_input(p, b, {2, 5});
        const value index = integer_constant(p, dtype::int64, {2}, {3, 1});
        const value put = p.make<aten::index_put>({x, {std::optional(index)}, y});
        output_in(p, p.make<aten::index_copy>({put, 0, index, y}), a);
    };
    CHECK_THAT(writes, becomes_integers<fold_quantization>(nearly));
}

TEST_CASE("sums of what is written at an index are no selection") {
    const auto adds = [](program& p) {
        const value x = real_input(p, a, {4, 5});
        const value index = integer_constant(p, dtype::int64, {2}, {3, 3});
        output_in(p, p.make<aten::index_put>({x, {std::optional(index)}, real_input(p, a, {2, 5}), true}), a);
    };
    CHECK(count_after<quantize, fold_quantization>(adds) == 1);
    CHECK(count_after<aten::index_put, fold_quantization>(adds) == 1);
    CHECK_THAT(adds, is_left_alone_by<fold_quantization>());
}

TEST_CASE("what is computed is quantized where it is") {
    const auto computed = [](program& p) {
        const value x = real_input(p, a, {2, 3});
        const value y = p.make<aten::exp>({p.input(dtype::float32, {2, 3})});
        output_in(p, y, a);
        output_in(p, p.make<aten::cat>({{x, p.make<aten::view>({y, {2, 3}})}, 0}), b);
    };
    CHECK_THAT(
        computed, computes_the_same<fold_quantization>().for_inputs(random_inputs(computed)).within(0));
    program p;
    const graph& g = lowered<fold_quantization>(p, computed);
    CHECK(count_of<quantize>(g) == 2);
    for (const node& n : g.nodes_of(info_of<quantize>)) CHECK(is<aten::exp>(*n.operand(0).producer));
    CHECK(count_of<tosa::rescale>(g) == 1);
}

TEST_CASE("each reader's coding") {
    const auto build = [](program& p) {
        const value x = real_input(p, a, {6, 4});
        const value y = p.make<aten::cat>({{x, p.make<aten::flip>({x, {0}})}, 0});
        for (const coding& c : {a, b, int16_codes(1e-3)}) output_in(p, y, c);
    };
    CHECK_THAT(build, becomes_integers<fold_quantization>(nearly));
}

TEST_CASE("a factor beyond RESCALE is refused") {
    const auto build = [](double from, double to) {
        return [=](program& p) { output_in(p, real_input(p, int8_codes(from), {4}), int8_codes(to)); };
    };
    CHECK_THAT(build(1, 1e-9), is_refused_by<fold_quantization>("beyond what RESCALE"));
    CHECK_THAT(build(1, 1e-8), becomes_integers<fold_quantization>());
    CHECK_THAT(build(1e-9, 1), becomes_integers<fold_quantization>());
}

TEST_CASE("a number is quantized itself") {
    CHECK_THAT(
        [](program& p) {
            const value full =
                p.make<aten::full>({.size = {4, 1}, .fill_value = 0.71, .dtype = dtype::float32});
            output_in(p, p.make<aten::cat>({{real_input(p, a, {4, 6}), full}, 1}), b);
        },
        becomes_integers<fold_quantization>(nearly));
}

TEST_CASE("integers of 32 bits saturate before RESCALE where it does not take them") {
    const auto build = [](program& p) {
        output_in(p, real_input(p, {0.03, 0, dtype::int32, -(1 << 30), 1 << 30}, {40, 50}), b);
    };
    CHECK_THAT(build, becomes_integers<fold_quantization>(nearly));
    CHECK(count_after<tosa::minimum, fold_quantization>(build) == 1);
}

TEST_CASE("a join that converts integers is no selection") {
    const auto build = [](program& p) {
        const value counts = p.constant<std::int64_t>(dtype::int64, {2, 3}, {1, 2, 3, 4, 5, 6});
        output_in(p, p.make<aten::cat>({{real_input(p, a, {2, 3}), counts}, 0}), b);
    };
    CHECK_THAT(build, is_left_alone_by<fold_quantization>());
}
