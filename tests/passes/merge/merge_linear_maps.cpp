// SPDX-License-Identifier: MIT
// Tests that sums and chains of linear layers become one layer where that is not dearer, and stay elsewhere.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include <headrace/infer/multiply_accumulates.hpp>
#include <headrace/ir/linear_merges.hpp>
#include <headrace/passes/merge/merge_linear_maps.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;
using merges = merge_linear_maps;

/// Makes layers with random weights; each test has the same.
struct layers {
    program& p;
    std::mt19937 random{7};

    value constant(const int_list& shape, double around = 0) {
        std::normal_distribution<double> normal(around, 0.3);
        return create_constant(p.g, {fp32, shape, {}}, nullptr, [&](std::span<std::byte> data) {
            for (std::size_t i = 0; i != data.size() / 4; ++i) {
                const auto x = static_cast<float>(normal(random));
                std::memcpy(&data[4 * i], &x, 4);
            }
        });
    }
    const int_list& shape(value v) const { return meta_of(v)->shape; }
    struct options {
        std::int64_t stride = 1, padding = 0, dilation = 1, groups = 1;
        bool bias = true;
    };
    value conv(value x, std::int64_t out, std::int64_t kernel, options o) {
        const auto channels = shape(x)[1];
        args<aten::convolution> a{.input = x,
            .weight = constant({out, channels / o.groups, kernel, kernel}),
            .bias = {},
            .stride = {o.stride, o.stride},
            .padding = {o.padding, o.padding},
            .dilation = {o.dilation, o.dilation},
            .transposed = false,
            .output_padding = {0, 0},
            .groups = o.groups};
        if (o.bias) a.bias = constant({out});
        return p.make<aten::convolution>(a);
    }
    value conv(value x, std::int64_t out, std::int64_t kernel) { return conv(x, out, kernel, {}); }
    value linear(value x, std::int64_t out, bool bias = true) {
        args<aten::linear> a{.input = x, .weight = constant({out, shape(x).back()})};
        if (bias) a.bias = constant({out});
        return p.make<aten::linear>(a);
    }
    value norm(value x) {
        const std::int64_t c = shape(x)[1];
        return p.make<aten::batch_norm>(
            {x, constant({c}, 1), constant({c}), constant({c}), constant({c}, 3), false, 0.1, 1e-5, true});
    }
    value add(value a, value b) { return p.make<aten::add_tensor>({a, b}); }
    value sub(value a, value b) { return p.make<aten::sub_tensor>({a, b}); }
    value times(value x, const int_list& factors) {
        return p.make<aten::mul_tensor>({x, constant(factors, 1)});
    }
};

// Builds the sum or chain that `make(layers&, x)` returns, of a random image or rows.
template <class Make>
auto of(int_list shape, const Make& make) {
    return [shape, make](program& p) {
        layers l{p};
        p.output(make(l, p.input(fp32, shape)));
    };
}
template <class Make>
auto image(const Make& make) {
    return of({2, 6, 9, 10}, make);
}
template <class Make>
auto rows(const Make& make) {
    return of({2, 5, 8}, make);
}

// Counts what averages add up as products, since a convolution multiplies as often.
std::uint64_t macs_of(const graph& g) {
    std::uint64_t sum = 0;
    for (const node& n : g.nodes()) {
        sum += multiply_accumulates(n);
        if (is<aten::avg_pool2d>(n))
            sum += 9 * static_cast<std::uint64_t>(meta_of({const_cast<node*>(&n), 0})->elements());
    }
    return sum;
}
// Merges, and returns how many nodes that are no constants are left between inputs and outputs.
template <class Build>
std::size_t left_of(const Build& build) {
    program p;
    const graph& g = lowered<merges>(p, build);
    std::size_t count = 0;
    for (const node& n : g.nodes()) count += is_of_dialect<builtin::dialect>(n) ? 0 : 1;
    return count;
}

// Checks that the pass changes the program and not what it computes, and how many nodes are left.
template <class Build>
void check_merged(const Build& build, std::size_t nodes) {
    CHECK_THAT(build, computes_the_same<merges>());
    CHECK(left_of(build) == nodes);
}
template <class Build>
void check_left(const Build& build) {
    CHECK_THAT(build, is_left_alone_by<merges>());
}

}  // namespace

TEST_CASE("branches with kernels of other sizes, norms and the input itself are one convolution") {
    check_merged(image([](layers& l, value x) {
        const value wide = l.norm(l.conv(x, 6, 3, {.padding = 1, .bias = false}));
        return l.add(l.add(wide, l.norm(l.conv(x, 6, 1))), l.norm(x));
    }),
        1);
    check_merged(image([](layers& l, value x) {
        return l.add(
            l.conv(x, 6, 5, {.padding = 2, .groups = 6}), l.conv(x, 6, 3, {.padding = 1, .groups = 6}));
    }),
        1);
    check_merged(image([](layers& l, value x) { return l.add(x, l.conv(x, 6, 3, {.padding = 1})); }), 1);
    check_merged(image([](layers& l, value x) { return l.sub(x, l.conv(x, 6, 3, {.padding = 1})); }), 1);
    check_merged(image([](layers& l, value x) {
        return l.add(l.conv(x, 4, 3, {.stride = 2, .padding = 1}), l.conv(x, 4, 1, {.stride = 2}));
    }),
        1);
    check_merged(image([](layers& l, value x) {
        return l.add(l.conv(x, 6, 3, {.padding = 2, .dilation = 2}), l.conv(x, 6, 1));
    }),
        1);
    check_merged(
        image([](layers& l, value x) { return l.add(l.conv(x, 6, 1, {.groups = 2}), l.conv(x, 6, 1)); }), 1);
}

TEST_CASE("branches that would cost more as one stay") {
    check_left(image([](layers& l, value x) {  // nine times as many products as the dense one
        return l.add(l.conv(x, 6, 3, {.padding = 1, .groups = 6}), l.conv(x, 6, 1));
    }));
    check_left(image([](layers& l, value x) {  // taps at odd and at even distances
        return l.add(l.conv(x, 6, 3, {.padding = 2, .dilation = 2}), l.conv(x, 6, 3, {.padding = 1}));
    }));
    check_left(image(
        [](layers& l, value x) { return l.add(l.conv(x, 6, 1), l.conv(l.p.make<aten::relu>({x}), 6, 1)); }));
    check_left(image([](layers& l, value x) {
        return l.add(l.conv(x, 6, 1, {.groups = 2}), l.conv(x, 6, 1, {.groups = 3}));
    }));
}

TEST_CASE("of a sum of several roots, each root's branches are one") {
    const auto build = [](program& p) {
        layers l{p};
        const value x = p.input(fp32, {1, 4, 6, 6});
        const value y = p.input(fp32, {1, 4, 6, 6});
        const value of_x = l.add(l.conv(x, 4, 3, {.padding = 1}), l.add(l.conv(y, 4, 1), x));
        p.output(l.sub(of_x, l.conv(y, 4, 3, {.padding = 1})));
    };
    check_merged(build, 3);  // two convolutions and their sum
    check_merged(image([](layers& l, value x) {
        const value other = l.p.make<aten::relu>({x});
        return l.sub(l.sub(l.conv(x, 6, 1), other), l.conv(x, 6, 3, {.padding = 1}));
    }),
        3);  // a convolution, the function and their difference
}

TEST_CASE("factors and norms before and after a layer go into it") {
    check_merged(image([](layers& l, value x) {
        return l.times(l.conv(x, 6, 3, {.padding = 1}), {6, 1, 1});
    }),
        1);
    check_merged(image([](layers& l, value x) {
        return l.conv(l.times(x, {1, 6, 1, 1}), 6, 3, {.padding = 1});
    }),
        1);
    check_merged(image([](layers& l, value x) { return l.conv(l.norm(x), 6, 3); }), 1);
    check_merged(image([](layers& l, value x) {
        const value moved = l.p.make<aten::add_scalar>({l.conv(x, 6, 3), 0.5});
        return l.p.make<aten::div_scalar>({l.p.make<aten::neg>({moved}), 3});
    }),
        1);
    check_merged(rows([](layers& l, value x) {
        return l.linear(l.p.make<aten::addcmul>({l.constant({8}), l.constant({8}), x, 2}), 3);
    }),
        1);
    check_merged(rows([](layers& l, value x) {
        const value y = l.p.make<aten::sub_tensor>({l.constant({8}), l.linear(x, 8)});
        return l.p.make<aten::div_tensor>({y, l.constant({1, 1, 8}, 2)});
    }),
        1);
}

TEST_CASE("what is not exact, or has another reader, stays") {
    // The zeros around the image are not those of the norm's result.
    check_left(image([](layers& l, value x) { return l.conv(l.norm(x), 6, 3, {.padding = 1}); }));
    check_left(image([](layers& l, value x) {  // left to decompose_batch_norm
        return l.norm(l.conv(x, 6, 3));
    }));
    check_left(image([](layers& l, value x) { return l.times(l.conv(x, 6, 3), {7, 8}); }));
    check_left(rows([](layers& l, value x) { return l.times(l.linear(x, 8), {5, 1}); }));
    check_left(image([](layers& l, value x) {
        const value y = l.conv(x, 6, 3);
        l.p.output(y);
        return l.times(y, {6, 1, 1});
    }));
}

TEST_CASE("chains of layers are one where that is not dearer") {
    check_merged(image([](layers& l, value x) { return l.conv(l.conv(x, 12, 1), 6, 1); }), 1);
    check_merged(image([](layers& l, value x) { return l.conv(l.conv(x, 6, 3, {.padding = 1}), 6, 1); }), 1);
    check_merged(image([](layers& l, value x) {  // nothing is added to the zeros around
        return l.conv(l.conv(x, 6, 1, {.bias = false}), 6, 3, {.padding = 1});
    }),
        1);
    check_merged(image([](layers& l, value x) {
        return l.conv(l.conv(x, 6, 3, {.stride = 2, .padding = 1}), 6, 1, {.stride = 2});
    }),
        1);
    check_merged(rows([](layers& l, value x) { return l.linear(l.linear(x, 16), 4); }), 1);
    check_merged(of({1, 1, 30, 30},
                     [](layers& l, value x) {  // one channel, windows of windows
                         return l.conv(l.conv(x, 1, 1, {.stride = 3, .bias = false}), 1, 3,
                             {.stride = 2, .padding = 1});
                     }),
        1);
    check_left(image([](layers& l, value x) { return l.conv(l.conv(x, 2, 1), 6, 1); }));
    check_left(image([](layers& l, value x) { return l.conv(l.conv(x, 6, 1), 6, 3, {.padding = 1}); }));
    check_left(
        image([](layers& l, value x) { return l.conv(l.conv(x, 6, 3, {.padding = 1, .groups = 6}), 6, 1); }));
    check_left(rows([](layers& l, value x) { return l.linear(l.linear(x, 2), 8); }));
}

TEST_CASE("sums and chains of linear layers, through reshapes that keep rows") {
    check_merged(
        rows([](layers& l, value x) { return l.add(l.linear(x, 8), l.add(x, l.linear(x, 8, false))); }), 1);
    check_merged(rows([](layers& l, value x) {
        const value flat = l.p.make<aten::reshape>({l.linear(x, 8), {10, 8}});
        return l.p.make<aten::reshape>({l.norm(flat), {2, 5, 8}});
    }),
        1);
    check_merged(rows([](layers& l, value x) {
        return l.times(l.p.make<aten::reshape>({l.linear(x, 6), {10, 6}}), {6});
    }),
        2);
    check_left(rows([](layers& l, value x) {
        return l.times(l.p.make<aten::reshape>({l.linear(x, 6), {5, 12}}), {12});
    }));
}

TEST_CASE("averages over windows of equal size are linear") {
    const auto pooled = [](layers& l, value x, bool counts) {
        return l.p.make<aten::avg_pool2d>({x, {3, 3}, {1, 1}, {1, 1}, false, counts});
    };
    check_merged(image([=](layers& l, value x) {
        return l.times(l.sub(pooled(l, x, true), x), {6, 1, 1});
    }),
        1);
    check_merged(image([=](layers& l, value x) {
        return l.add(pooled(l, x, true), l.conv(x, 6, 3, {.padding = 1, .groups = 6}));
    }),
        1);
    check_left(image([=](layers& l, value x) { return l.times(l.sub(pooled(l, x, false), x), {6, 1, 1}); }));
    check_left(image([=](layers& l, value x) { return l.times(pooled(l, x, true), {6, 1, 1}); }));
}

TEST_CASE("branches are kept where the graph asks for it, and merges are noted") {
    const auto build = image([](layers& l, value x) { return l.add(l.conv(x, 6, 1), l.conv(x, 6, 1)); });
    program p;
    build(p);
    p.finish();
    pass_context context;
    keep_branches(p.g);
    REQUIRE(apply_pass(merges{}, p.g, context));
    CHECK(count_of<aten::convolution>(p.g) == 2);
    CHECK(merges_of(p.g).size() == 0);

    program q;
    build(q);
    q.finish();
    REQUIRE(apply_pass(merges{}, q.g, context));
    CHECK(count_of<aten::convolution>(q.g) == 1);
    REQUIRE(merges_of(q.g).size() == 1);
    CHECK(merges_of(q.g)[0].merged.size() > 0);
    CHECK(merges_of(q.g)[0].error > 0);
    CHECK(merges_of(q.g)[0].error < 1e-7);
}

TEST_CASE("sums are merged for quantization unless their weights lose more than those of the parts") {
    const auto left_for = [](quantized_merges bits, const auto& make) {
        program p;
        image(make)(p);
        p.finish();
        p.g.annotate(*p.g.output(), bits);
        pass_context context;
        REQUIRE(apply_pass(merges{}, p.g, context));
        std::size_t count = 0;
        for (const node& n : p.g.nodes()) count += is_of_dialect<builtin::dialect>(n) ? 0 : 1;
        return count;
    };
    const auto by_channel = [](layers& l, value x) {
        return l.add(l.conv(x, 6, 3, {.padding = 1, .groups = 6}), l.times(x, {6, 1, 1}));
    };
    CHECK(left_for({.weight_bits = 8, .activation_bits = 8}, by_channel) == 1);
    CHECK(left_for({.weight_bits = 8, .activation_bits = 16}, by_channel) == 3);  // weights alone are rounded
    const auto large = [](layers& l, value x) {
        const value small = l.conv(x, 6, 7, {.padding = 3});
        return l.add(l.add(l.times(x, {6, 1, 1}), small), l.conv(x, 6, 7, {.padding = 3}));
    };
    CHECK(left_for({.weight_bits = 4, .activation_bits = 16}, large) == 3);  // the factors stay
    CHECK(left_of(image(large)) == 1);
}

TEST_CASE("nodes of different groups stay apart") {
    const auto grouped = [](std::uint32_t group) {
        return [=](program& p) {
            image([](layers& l, value x) {
                const value wide = l.conv(x, 6, 3, {.padding = 1});
                return l.add(wide, l.conv(x, 6, 1));
            })(p);
            p.g.annotate(*p.g.nodes_of(info_of<aten::convolution>).begin(), merge_group{group});
        };
    };
    CHECK(left_of(grouped(0)) == 1);
    CHECK(left_of(grouped(3)) == 3);
}

TEST_CASE("weights that are not numbers, empty tensors and weights that many layers share stay") {
    const auto infinite = [](float number) {
        return [=](program& p) {
            layers l{p};
            const value x = p.input(fp32, {1, 1, 4, 4});
            const value odd = p.constant<float>(fp32, {1}, {number});
            p.output(p.make<aten::mul_tensor>({l.conv(x, 1, 1), odd}));
        };
    };
    check_left(infinite(std::numeric_limits<float>::infinity()));
    check_left(infinite(std::numeric_limits<float>::quiet_NaN()));
    check_left([](program& p) {
        layers l{p};
        const value x = p.input(fp32, {1, 1, 4, 4});
        p.output(p.make<aten::div_scalar>({l.conv(x, 1, 1), 0.0}));
    });
    check_left([](program& p) {
        layers l{p};
        const value x = p.input(fp32, {0, 8});
        p.output(l.add(l.linear(x, 8), x));
    });
    check_left([](program& p) {  // tied weights would be there twice
        layers l{p};
        const value x = p.input(fp32, {3, 8});
        const value weight = l.constant({8, 8});
        p.output(l.times(p.make<aten::linear>({x, weight}), {8}));
        p.output(p.make<aten::linear>({p.make<aten::relu>({x}), weight}));
    });
    check_left([](program& p) {  // two elements, seen as 2^40 of them
        const std::array<float, 2> few{1, 2};
        const tensor_data many{reinterpret_cast<const std::byte*>(few.data()), {0, 0}};
        node& weight = p.g.create<builtin::constant>({many});
        p.g.set_meta(weight.result(), {fp32, {std::int64_t{1} << 20, std::int64_t{1} << 20}, {}});
        const value x = p.input(fp32, {1, std::int64_t{1} << 20});
        const value y = p.make<aten::linear>({x, weight.result()});
        if (p.results.empty()) p.output(p.make<aten::narrow>({y, 1, 0, 1}));
    });
}

TEST_CASE("random networks compute the same with no more products") {
    std::mt19937 random(11);
    std::size_t changed = 0;
    for (int round = 0; round != 300; ++round) {
        const auto seed = static_cast<unsigned>(random());
        const auto build = [seed](program& p) {
            std::mt19937 choice(seed);
            layers l{p, std::mt19937(seed + 1)};
            const auto any = [&](int count) { return choice() % static_cast<unsigned>(count); };
            const auto some = [&](const std::vector<value>& of_these) {
                const auto size = static_cast<unsigned>(of_these.size());
                return of_these[size - 1 - std::min(size - 1, static_cast<unsigned>(any(3)))];
            };
            std::vector<value> known{p.input(fp32, {1, 4, 7, 7})};
            for (int i = 0; i != 8; ++i) {
                const value x = some(known);
                const auto kernel = static_cast<std::int64_t>(1 + 2 * any(3));
                const std::int64_t groups = std::array{1, 2, 4}[any(3)];
                switch (any(7)) {
                    case 0:
                    case 1:
                        known.push_back(l.conv(
                            x, 4, kernel, {.padding = kernel / 2, .groups = groups, .bias = any(2) == 0}));
                        break;
                    case 2:
                        known.push_back(l.norm(x));
                        break;
                    case 3:
                        known.push_back(l.times(x, any(2) == 0 ? int_list{4, 1, 1} : int_list{1}));
                        break;
                    case 4:
                        known.push_back(l.add(x, some(known)));
                        break;
                    case 5:
                        known.push_back(l.sub(some(known), x));
                        break;
                    default:
                        known.push_back(
                            p.make<aten::avg_pool2d>({x, {3, 3}, {1, 1}, {1, 1}, false, any(2) == 0}));
                }
            }
            p.output(known.back());
            if (any(2) == 0) p.output(some(known));
        };
        program before, after;
        build(before);
        before.finish();
        const std::uint64_t macs = macs_of(before.g);
        const graph& merged = lowered<merges>(after, build);
        if (count_of<aten::convolution>(merged) == count_of<aten::convolution>(before.g)) continue;
        ++changed;
        INFO("round " << round << ", seed " << seed);
        CHECK(macs_of(merged) <= macs);
        CHECK_THAT(build, computes_the_same<merges>().within(1e-4));
    }
    CHECK(changed > 30);
}
