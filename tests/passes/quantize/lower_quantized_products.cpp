// SPDX-License-Identifier: MIT
// Tests convolutions and matrix products of dequantized operands: every kind of weight, bias and dtype.
#include <catch2/catch.hpp>

#include <headrace/passes/decompose/convolution.hpp>
#include <headrace/passes/fold/fold_constants.hpp>
#include <headrace/passes/quantize/lower_quantized.hpp>
#include <headrace/passes/quantize/lower_quantized_products.hpp>
#include <headrace/target/node_facts.hpp>
#include <headrace/target/tosa_rules.hpp>

#include "../../support/quantized_test.hpp"

using namespace headrace;

namespace {

using shape_list = int_list;  // an initializer_list would dangle in the closures
using products = lower_quantized_products;
using fold = fold_quantized_constants;  // the result of decompositions for a float bias
static_assert(effects_of<products>::sound && effects_of<products>::removed_set.empty());

constexpr coding a = int8_codes(0.05, 3);
constexpr coding low = int8_codes(0.05, -128);
constexpr coding wide = int16_codes(2e-4);
constexpr coding w = weight_codes(0.007);
constexpr coding given = int8_codes(0.517, -9);

template <class Build>
std::pmr::string compare(const Build& build, const allowance& allowed = nearly) {
    return integers_from<products, may_rewrite<fold_quantization>>(build, allowed);
}

using operand_maker = value (*)(program&, std::int64_t channels);
constexpr operand_maker no_bias = nullptr;

/// One scale for all channels, or one per channel.
enum class channels { alike, apart };
value weight_of(program& p, channels kind, const int_list& shape, std::int64_t axis) {
    if (kind == channels::alike) return real_constant(p, w, shape);
    const auto count = static_cast<std::size_t>(shape[static_cast<std::size_t>(axis)]);
    return real_per_channel(p, constant_codes(p, w, shape), scales_around(w.scale, count), axis);
}

/// A convolution, with the lists that `set` changes; one group by default.
template <class Set>
auto convolved(coding x, channels kind, shape_list input, shape_list weight, const Set& set,
    operand_maker bias = no_bias, coding result = given) {
    return [=](program& p) {
        const std::size_t dims = input.size() - 2;
        const int_list ones(shape_builder::filled(dims, 1));
        const int_list zeros(shape_builder::filled(dims, 0));
        args<aten::convolution> c{.input = real_input(p, x, input),
            .weight = {},
            .bias = std::nullopt,
            .stride = ones,
            .padding = zeros,
            .dilation = ones,
            .transposed = false,
            .output_padding = zeros,
            .groups = 1};
        set(c);
        c.weight = weight_of(p, kind, weight, c.transposed ? 1 : 0);
        if (bias != no_bias) c.bias = bias(p, c.transposed ? weight[1] : weight[0]);
        output_in(p, p.make<aten::convolution>(c), result);
    };
}
constexpr auto as_is = [](args<aten::convolution>&) {};
constexpr auto padded = [](args<aten::convolution>& c) {
    c.padding = {1, 2};
    c.stride = {2, 1};
};

value numbers(program& p, std::int64_t channels) {
    std::vector<double> row;
    for (std::int64_t i = 0; i != channels; ++i) row.push_back(3.17 - 1.3 * static_cast<double>(i));
    return float_constant(p, {channels}, row);
}
/// A bias as quantizers store it, with the scale of the products.
value stored(program& p, std::int64_t channels) {
    return real_constant(p, {a.scale * w.scale, 0, dtype::int32, -30000, 30000}, {channels});
}
/// A bias with that scale, but not as quantizers store it.
value stored_with_zero_point(program& p, std::int64_t channels) {
    return real_constant(p, {a.scale * w.scale, 5000, dtype::int32, -30000, 30000}, {channels});
}
value stored_per_channel(program& p, std::int64_t channels) {
    const auto count = static_cast<std::size_t>(channels);
    const value codes = constant_codes(p, {1, 0, dtype::int32, -30000, 30000}, {channels});
    return p.make<quantized_decomposed::dequantize_per_channel>(
        {codes, float_constant(p, {channels}, scales_around(a.scale * w.scale, count)), std::nullopt, 0,
            -2147483647, 2147483647, dtype::int32, std::nullopt});
}
value of_other_scale(program& p, std::int64_t channels) {
    return real_constant(p, int8_codes(0.1, 5), {channels});
}
value of_other_scales(program& p, std::int64_t channels) {
    const value codes = constant_codes(p, int8_codes(1), {channels});
    return real_per_channel(p, codes, scales_around(0.1, static_cast<std::size_t>(channels)), 0);
}
value computed(program& p, std::int64_t channels) { return real_input(p, int8_codes(0.1, 5), {channels}); }
value computed_long(program& p, std::int64_t channels) {
    return real_input(p, int32_codes(1e-6), {channels});
}
constexpr operand_maker biases[] = {no_bias, numbers, stored, stored_with_zero_point, stored_per_channel,
    of_other_scale, of_other_scales, computed, computed_long};

}  // namespace

TEST_CASE("convolutions of one to three dimensions") {
    for (const channels kind : {channels::alike, channels::apart}) {
        for (const coding& x : {a, low}) {
            CAPTURE(kind == channels::apart, x.zero_point);
            CHECK(compare(convolved(x, kind, {2, 3, 9, 8}, {5, 3, 3, 2}, as_is)) == "");
            CHECK(compare(convolved(x, kind, {2, 3, 9, 8}, {5, 3, 3, 2}, padded)) == "");
            CHECK(compare(convolved(x, kind, {1, 4, 9, 8}, {6, 4, 3, 3}, [](auto& c) {
                c.dilation = {2, 1};
                c.padding = {0, 1};
            })) == "");
            CHECK(compare(convolved(x, kind, {2, 3, 19}, {5, 3, 4}, [](auto& c) {
                c.padding = {2};
                c.stride = {3};
            })) == "");
            CHECK(compare(convolved(x, kind, {1, 3, 5, 6, 4}, {4, 3, 2, 3, 2}, [](auto& c) {
                c.padding = {1, 0, 1};
            })) == "");
        }
    }
}

TEST_CASE("depthwise and grouped convolutions") {
    for (const channels kind : {channels::alike, channels::apart}) {
        for (const operand_maker bias :
            {no_bias, numbers, kind == channels::alike ? stored : stored_per_channel, computed}) {
            CAPTURE(kind == channels::apart);
            const auto depthwise = convolved(
                a, kind, {2, 4, 9, 8}, {8, 1, 3, 3}, [](auto& c) { c.groups = 4; }, bias,
                int8_codes(0.117, -9));
            CHECK(compare(depthwise) == "");
            CHECK(count_after<tosa::depthwise_conv2d, products>(depthwise) == 1);
            const auto grouped = convolved(
                a, kind, {1, 6, 9, 8}, {4, 3, 3, 3}, [](auto& c) { c.groups = 2; }, bias);
            CHECK_THAT(grouped,
                (becomes_integers<decompose_grouped_convolution, may_rewrite<fold>, products,
                    may_rewrite<fold_quantization>>(nearly)));
        }
    }
}

TEST_CASE("transposed convolutions, whose channels are the weight's second axis") {
    for (const channels kind : {channels::alike, channels::apart}) {
        for (const operand_maker bias : {no_bias, numbers, stored_per_channel}) {
            CAPTURE(kind == channels::apart);
            const auto set = [](args<aten::convolution>& c) {
                c.transposed = true;
                c.stride = {2, 1};
                c.padding = {1, 0};
                c.output_padding = {1, 0};
            };
            CHECK(compare(convolved(a, kind, {1, 3, 5, 6}, {3, 4, 3, 3}, set, bias)) == "");
            CHECK(compare(convolved(
                      low, kind, {1, 3, 5, 6}, {3, 4, 3, 3},
                      [=](auto& c) {
                          set(c);
                          c.dilation = {2, 2};
                      },
                      bias)) == "");
        }
    }
}

TEST_CASE("every bias") {
    for (std::size_t i = 0; i != std::size(biases); ++i) {
        for (const channels kind : {channels::alike, channels::apart}) {
            CAPTURE(i, kind == channels::apart);
            CHECK(compare(convolved(a, kind, {2, 3, 9, 8}, {5, 3, 3, 2}, as_is, biases[i])) == "");
        }
    }
    const auto kept = convolved(a, channels::apart, {2, 3, 9, 8}, {5, 3, 3, 2}, as_is, stored_per_channel);
    CHECK(count_after<tosa::rescale, products, fold_quantization>(kept) == 1);
    const auto real = [](program& p, std::int64_t count) { return p.input(dtype::float32, {count}); };
    const auto unquantized = convolved(a, channels::alike, {2, 3, 9, 8}, {5, 3, 3, 2}, as_is, real);
    CHECK(count_after<aten::convolution, products>(unquantized) == 1);
}

TEST_CASE("weights with a zero point") {
    const auto weighed = [](std::vector<std::int64_t> zero_points) {
        return [=](program& p) {
            const value codes = constant_codes(p, w, {3, 20});
            const value weight = real_per_channel(p, codes, {0.01, 0.02, 0.03}, 0, zero_points);
            output_in(p, p.make<aten::linear>({real_input(p, a, {40, 20}), weight}), given);
        };
    };
    CHECK(compare(weighed({0, 0, 0})) == "");
    CHECK(compare(weighed({-5, -5, -5})) == "");
    CHECK_THAT(weighed({-5, -5, 0}), is_refused_by<products>("zero points of a weight"));
    const auto one = [](program& p) {
        const value weight = real_constant(p, weight_codes(0.01, 17), {5, 3, 3, 2});
        output_in(p,
            p.make<aten::convolution>({real_input(p, low, {1, 3, 9, 8}), weight, numbers(p, 5), {1, 1},
                {1, 1}, {1, 1}, false, {0, 0}, 1}),
            given);
    };
    CHECK(compare(one) == "");
}

TEST_CASE("a constant weight with scales along its other axis is given new codes") {
    // These are rounded, by up to half of the largest scale.
    constexpr allowance nearly_with_new_codes{1, 0.25};
    const auto weighed = [](bool is_constant) {
        return [=](program& p) {
            const value codes = is_constant ? constant_codes(p, w, {6, 20}) : p.input(dtype::int8, {6, 20});
            const value weight = real_per_channel(p, codes, scales_around(0.007, 20), 1);
            output_in(p, p.make<aten::linear>({real_input(p, a, {40, 20}), weight, numbers(p, 6)}), given);
        };
    };
    CHECK(compare(weighed(true), nearly_with_new_codes) == "");
    CHECK(count_after<aten::linear, products>(weighed(false)) == 1);
    const auto convolution = [](bool transposed, shape_list shape) {
        return [=](program& p) {
            const std::int64_t axis = transposed ? 0 : 1;
            const auto count = static_cast<std::size_t>(shape[static_cast<std::size_t>(axis)]);
            const value weight =
                real_per_channel(p, constant_codes(p, w, shape), scales_around(0.007, count), axis);
            const value x = real_input(p, a, {1, 3, 9, 8});
            output_in(p,
                p.make<aten::convolution>(
                    {x, weight, numbers(p, 4), {1, 1}, {0, 0}, {1, 1}, transposed, {0, 0}, 1}),
                given);
        };
    };
    CHECK(compare(convolution(false, {4, 3, 3, 2}), nearly_with_new_codes) == "");
    CHECK(compare(convolution(true, {3, 4, 3, 2}), nearly_with_new_codes) == "");
    // A single scale applies to all channels, whatever its axis.
    const auto single = [](program& p) {
        const value weight = real_per_channel(p, constant_codes(p, w, {6, 1}), {0.01}, 1);
        output_in(p, p.make<aten::linear>({real_input(p, a, {40, 1}), weight}), int8_codes(0.0531, 2));
    };
    CHECK(compare(single) == "");
}

TEST_CASE("weights that are moved before they are used") {
    const auto build = [](const auto& move, std::int64_t axis, shape_list shape) {
        return [=](program& p) {
            const value weight = weight_of(p, channels::apart, shape, axis);
            output_in(
                p, p.make<aten::linear>({real_input(p, a, {30, 12}), move(p, weight), numbers(p, 6)}), given);
        };
    };
    CHECK(compare(build([](program& p, value v) { return p.make<aten::t>({v}); }, 1, {12, 6})) == "");
    CHECK(compare(build(
              [](program& p, value v) {
                  return p.make<aten::permute>({v, {1, 0}});
              },
              1, {12, 6})) == "");
    CHECK(compare(build(
              [](program& p, value v) {
                  return p.make<aten::view>({v, {6, 12}});
              },
              0, {6, 3, 4})) == "");
    CHECK(compare(build(
              [](program& p, value v) {
                  return p.make<aten::slice_tensor>({v, 0, 2, 8, 1});
              },
              0, {9, 12})) == "");
}

TEST_CASE("linear over any batch") {
    for (const operand_maker bias : biases) {
        for (const channels kind : {channels::alike, channels::apart}) {
            for (const shape_list& shape : {int_list{12}, int_list{7, 12}, int_list{2, 3, 12}}) {
                CHECK(compare([=](program& p) {
                    const value weight = weight_of(p, kind, {40, 12}, 0);
                    args<aten::linear> l{real_input(p, a, shape), weight};
                    if (bias != no_bias) l.bias = bias(p, 40);
                    output_in(p, p.make<aten::linear>(l), given);
                }) == "");
            }
        }
    }
}

TEST_CASE("the rows of a linear layer are an image's width where the target prefers that") {
    for (const char* target : {"TOSA-1.0+INT", "TOSA-1.0+INT+u55", "TOSA-1.0+INT+u85"}) {
        const auto rows = [=](program& p) {
            p.g.set_target(*parse_target(target));
            const value weight = weight_of(p, channels::apart, {40, 12}, 0);
            output_in(p, p.make<aten::linear>({real_input(p, a, {7, 12}), weight}), given);
        };
        INFO(target);
        CHECK(compare(rows) == "");
        program p;
        const graph& g = lowered<lower_quantized_products>(p, rows);
        const bool lie = std::string_view(target) != "TOSA-1.0+INT";
        REQUIRE(count_of<tosa::conv2d>(g) == 1);
        for (const node& n : g.nodes_of(info_of<tosa::conv2d>))
            CHECK(n.results[0].meta->shape == (lie ? int_list{1, 1, 7, 40} : int_list{1, 7, 1, 40}));
    }
}

TEST_CASE("products of batches") {
    const auto of = [](coding x, coding y, coding result) {
        return [=](program& p) {
            const value left = real_input(p, x, {3, 8, 12});
            output_in(p, p.make<aten::bmm>({left, real_input(p, y, {3, 12, 7})}), result);
        };
    };
    CHECK(compare(of(a, int8_codes(0.031, -7), given)) == "");
    CHECK(compare(of(low, a, int16_codes(3.1e-3))) == "");
    CHECK(compare(of(wide, int16_codes(1e-4), given)) == "");
    const auto per_channel = [](std::int64_t axis) {
        return [=](program& p) {
            const value weight = weight_of(p, channels::apart, {3, 12, 7}, axis);
            output_in(p, p.make<aten::bmm>({real_input(p, a, {3, 8, 12}), weight}), given);
        };
    };
    CHECK(compare(per_channel(2)) == "");
    // A scale per row of the second operand does not apply to the sums.
    CHECK(count_after<aten::bmm, products>(per_channel(1)) == 1);
    CHECK(count_after<aten::bmm, products>(of(a, wide, given)) == 1);
}

TEST_CASE("activations of 16 bits") {
    for (const channels kind : {channels::alike, channels::apart}) {
        for (const operand_maker bias : {no_bias, numbers, of_other_scale, of_other_scales}) {
            for (const coding& result : {int16_codes(1e-3), int8_codes(0.219, 4)}) {
                CAPTURE(kind == channels::apart, result.scale);
                // RESCALE of INT48 has factors of 15 bits.
                const allowance allowed{1, result.type == dtype::int16 ? 0.3 : 0.02};
                CHECK(compare(convolved(wide, kind, {1, 3, 9, 8}, {5, 3, 3, 3}, padded, bias, result),
                          allowed) == "");
                CHECK(compare(convolved(
                                  wide, kind, {1, 4, 9, 8}, {4, 1, 3, 3}, [](auto& c) { c.groups = 4; }, bias,
                                  result),
                          allowed) == "");
                CHECK(compare(
                          [=](program& p) {
                              args<aten::linear> l{
                                  real_input(p, wide, {5, 30}), weight_of(p, kind, {8, 30}, 0)};
                              if (bias != no_bias) l.bias = bias(p, 8);
                              output_in(p, p.make<aten::linear>(l), result);
                          },
                          allowed) == "");
            }
        }
    }
}

TEST_CASE("a clamp between a product and its quantize") {
    for (const auto& [least, most] : {std::pair(0.0, 1e9), {0.0, 6.0}, {-1.234, 3.456}}) {
        for (const channels kind : {channels::alike, channels::apart}) {
            CAPTURE(least, most, kind == channels::apart);
            CHECK(compare([=, least = least, most = most](program& p) {
                const value x = real_input(p, a, {30, 20});
                const value v = p.make<aten::linear>({x, weight_of(p, kind, {8, 20}, 0)});
                output_in(p, p.make<aten::clamp>({v, scalar(least), scalar(most)}), int8_codes(0.0413, -128));
            }) == "");
        }
    }
}

TEST_CASE("operands that are not codes stay") {
    const auto reals = [](program& p) {
        const value x = p.input(dtype::float32, {3, 4});
        const value weight = real_constant(p, w, {5, 4});
        p.output(p.make<aten::linear>({x, weight}));
        p.output(p.make<aten::linear>({real_input(p, a, {3, 4}), p.input(dtype::float32, {5, 4})}));
        p.output(p.make<aten::linear>({real_input(p, int32_codes(1e-6), {3, 4}), weight}));
    };
    CHECK_THAT(reals, is_left_alone_by<products>());
    CHECK(count_after<aten::linear, products>(reals) == 3);
}

TEST_CASE("inputs that are padded and clamped, and a bias that is larger than RESCALE takes") {
    const auto build = [](program& p) {
        const value x = padded_and_clamped_input(p, a, {4, 20});
        // At the scale of the products it would have 35 bits: it saturates, and so does the sum.
        const value bias = real_input(p, {0.01, 1234, dtype::int32, -(1 << 30), 1 << 30}, {6});
        output_in(p, p.make<aten::linear>({x, real_constant(p, w, {6, 20}), bias}), given);
    };
    CHECK(compare(build) == "");
    CHECK(count_after<tosa::minimum, products>(build) == 1);
}

TEST_CASE("activations of 16 bits with a zero point are products of their own, or part of the bias") {
    const auto is_sound = [](const auto& build) {
        program p;
        for (const node& n : lowered<products>(p, build).nodes()) {
            if (is_of_dialect<tosa::dialect>(n)) CHECK_FALSE(zero_fault_of(facts_of(n)));
        }
    };
    for (const std::int64_t zero : {-32768, 1234}) {
        const coding x{3e-5, zero, dtype::int16, -32768, 32767};
        CAPTURE(zero);
        for (const channels kind : {channels::alike, channels::apart}) {
            const auto dense =
                convolved(x, kind, {2, 3, 7, 8}, {4, 3, 3, 2}, padded, numbers, int16_codes(3e-4));
            CHECK(compare(dense, {1, 0.15}) == "");  // RESCALE of INT48 has factors of 15 bits
            is_sound(dense);
            const auto row = convolved(x, kind, {2, 3, 9}, {4, 3, 3}, as_is, no_bias, int8_codes(0.05, 3));
            CHECK(compare(row) == "");
            const auto deep = convolved(
                x, kind, {1, 6, 7, 8}, {6, 1, 3, 2},
                [](auto& c) {
                    padded(c);
                    c.groups = 6;
                },
                numbers);
            CHECK(compare(deep) == "");
            is_sound(deep);
            const auto spread = convolved(
                x, kind, {1, 3, 4, 5}, {3, 4, 3, 2},
                [](auto& c) {
                    c.stride = {2, 2};
                    c.transposed = true;
                },
                numbers);
            CHECK(compare(spread) == "");
            is_sound(spread);
        }
        const auto computed_weight = [=](program& p) {
            const value v = real_input(p, x, {3, 5});
            output_in(p, p.make<aten::linear>({v, real_input(p, w, {4, 5}), std::nullopt}), given);
        };
        CHECK(compare(computed_weight) == "");
        is_sound(computed_weight);
        for (const std::int64_t other : {-32768, 0, 77}) {
            const coding y{2.5e-5, other, dtype::int16, -32768, 32767};
            const auto batches = [=](program& p) {
                const value v = real_input(p, x, {2, 3, 5});
                output_in(p, p.make<aten::bmm>({v, real_input(p, y, {2, 5, 4})}), int16_codes(2e-4));
            };
            CAPTURE(other);
            CHECK(compare(batches, {1, 0.15}) == "");
            is_sound(batches);
        }
    }
}

TEST_CASE("transposed with a computed weight, which Ethos-U85 does not take, is a convolution") {
    const auto build = [](program& p) {
        p.g.set_target(*parse_target("TOSA-1.0+INT+int16+u85"));
        args<aten::convolution> c{.input = real_input(p, a, {1, 3, 5, 4}),
            .weight = real_input(p, w, {3, 4, 3, 2}),
            .bias = std::nullopt,
            .stride = {2, 3},
            .padding = {1, 0},
            .dilation = {1, 1},
            .transposed = true,
            .output_padding = {1, 0},
            .groups = 1};
        output_in(p, p.make<aten::convolution>(c), given);
    };
    CHECK(compare(build) == "");
    CHECK(count_after<tosa::transpose_conv2d, products>(build) == 0);
}

TEST_CASE("groups of computed weights and 16 bits with a zero point are refused by name") {
    const auto build = [](program& p) {
        p.g.set_target(integer_target);
        const coding x{3e-5, 1234, dtype::int16, -32768, 32767};
        output_in(p,
            p.make<aten::convolution>({.input = real_input(p, x, {1, 3, 5, 5}),
                .weight = real_input(p, w, {3, 1, 3, 3}),
                .bias = std::nullopt,
                .stride = {1, 1},
                .padding = {0, 0},
                .dilation = {1, 1},
                .transposed = false,
                .output_padding = {0, 0},
                .groups = 3}),
            given);
    };
    CHECK_THAT(build, is_refused_by<products>("an int16 input with a zero point"));
}

TEST_CASE("a bias that 32 bits do not hold at the scale of its products") {
    // The quantizer's least scale, of inputs that are always 0.
    constexpr coding dead = int8_codes(0x1p-23, -128);
    constexpr coding result = int8_codes(0.0347, -9);
    for (const channels kind : {channels::alike, channels::apart}) {
        CAPTURE(kind == channels::apart);
        const auto of_dead_inputs =
            convolved(dead, kind, {2, 3, 9, 8}, {5, 3, 3, 2}, padded, &numbers, result);
        CHECK(compare(of_dead_inputs, exactly) == "");
        CHECK(compare(convolved(
                          dead, kind, {2, 3, 9, 8}, {3, 5, 2, 3}, [](auto& c) { c.transposed = true; },
                          &numbers, result),
                  exactly) == "");
    }
    const auto of_weight = [](std::vector<double> scales, std::vector<double> bias, coding to,
                               coding from = a) {
        return [=](program& p) {
            p.g.set_target(integer_target);
            const value weight = real_per_channel(p, constant_codes(p, w, {3, 20}), scales, 0);
            output_in(p,
                p.make<aten::linear>({real_input(p, from, {40, 20}), weight, float_constant(p, {3}, bias)}),
                to);
        };
    };
    const auto dead_channel = of_weight({0.007, 1e-12, 0.02}, {0.5, -20, 0.25}, given);
    CHECK(compare(dead_channel) == "");
    program p;
    graph& g = lowered<products>(p, dead_channel);
    for (const node& n : g.nodes()) {
        const auto* read = args_if<quantized_decomposed::dequantize_per_channel>(n);
        if (read == nullptr || !match<tosa::conv2d>(read->input)) continue;
        const auto scales = *constant_reals(read->scales);
        CHECK(scales[0] == Approx(a.scale * 0.007));  // other channels stay
        CHECK(scales[1] > 9e-9);
    }
    // The sums are known to be large where others are added to them.
    const auto added = [&](program& q) {
        q.g.set_target(integer_target);
        const value y = q.make<aten::convolution>({.input = real_input(q, dead, {1, 20, 5, 8}),
            .weight = real_constant(q, w, {3, 20, 1, 1}),
            .bias = float_constant(q, {3}, {3, 4, -5}),
            .stride = {1, 1},
            .padding = {0, 0},
            .dilation = {1, 1},
            .transposed = false,
            .output_padding = {0, 0},
            .groups = 1});
        output_in(q, q.make<aten::add_tensor>({.self = y, .other = real_input(q, a, {1, 3, 5, 8})}),
            int8_codes(0.1));
    };
    CHECK(integers_from<lower_quantized>(added, nearly) == "");

    // A quantizer has saturated it, and no product is to make it wrap around.
    const auto saturated = [&](program& q) {
        q.g.set_target(integer_target);
        const coding sums{dead.scale * w.scale, 0, dtype::int32, -2147483647, 2147483647};
        const value bias =
            real_of(q, integer_constant(q, dtype::int32, {3}, {2147483647, -2147483647, 1 << 30}), sums);
        output_in(q,
            q.make<aten::linear>({real_input(q, dead, {40, 20}), real_constant(q, w, {3, 20}), bias}),
            result);
    };
    CHECK(compare(saturated) == "");

    const auto computed_weight = [&](program& q) {
        q.g.set_target(integer_target);
        output_in(q,
            q.make<aten::linear>({real_input(q, dead, {40, 20}), real_input(q, w, {3, 20}),
                float_constant(q, {3}, {0.125, -2.75, 1.5})}),
            result);
    };
    CHECK_THAT(
        computed_weight, is_refused_by<products>("its bias of -2.75 is too large for integers of scale 8"));
    const auto in_floats = [&](program& q) {
        computed_weight(q);
        q.g.set_target(mixed_target);
    };
    CHECK_THAT(in_floats, is_left_alone_by<products>());
}

TEST_CASE("a bias that is finer than the scale of its products") {
    const auto linear = [](std::int64_t code, double bias) {
        return [=](program& p) {
            p.g.set_target(integer_target);
            const value codes = integer_constant(p, dtype::int8, {2, 4}, {0, 0, 0, 0, 1, -2, 3, code});
            const value weight = real_per_channel(p, codes, {1, 0.5}, 0);
            output_in(p,
                p.make<aten::linear>(
                    {real_input(p, a, {6, 4}), weight, float_constant(p, {2}, {bias, 0.25})}),
                int8_codes(0.01));
        };
    };
    program p;
    graph& g = lowered<products, fold_quantization>(p, linear(5, 0.073));  // weights of 0 and scale 1
    const auto given_now = run_graph(g, random_inputs(linear(5, 0.073)));
    REQUIRE(given_now);
    CHECK(given_now.value()[0].integer(0) == 7);
    CHECK(compare(linear(127, 0.1), exactly) == "");  // on the grid

    const auto coarse = [](program& q) {
        q.g.set_target(integer_target);
        output_in(q,
            q.make<aten::linear>({real_input(q, int8_codes(100), {6, 20}), real_constant(q, w, {3, 20}),
                float_constant(q, {3}, {0.3, 0.7, 1.4})}),
            int8_codes(0.02));
    };
    CHECK_THAT(coarse, is_refused_by<products>("its bias of 0.3 would be rounded to a multiple of 0.7"));
}
