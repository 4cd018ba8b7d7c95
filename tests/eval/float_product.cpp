// SPDX-License-Identifier: MIT
// Tests the order in which kernels of float32 compute. The expected values were computed by PyTorch 2.15 on
// x86-64 with one thread, and are compared bit for bit.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/eval/exponential.hpp>
#include <headrace/eval/float_chains.hpp>
#include <headrace/eval/float_convolution.hpp>

#include "kernel_test.hpp"

using namespace headrace;

namespace {

/// Returns numbers between -5.2 and 5.2 with full mantissas.
tensor numbers(int seed, eval::extents shape) {
    std::vector<double> x;
    for (std::int64_t i = 0; i != eval::elements_in(shape); ++i)
        x.push_back(static_cast<float>((i * i * 7 + i * 3 + seed * 131) % 1009 - 504) / 97.0F);
    return f32(std::move(shape), x);
}
std::uint64_t checksum(const tensor& t) {
    std::uint64_t sum = 0;
    for (const float x : t.data<float>()) sum = sum * 31 + std::bit_cast<std::uint32_t>(x);
    return sum;
}
tensor_meta real(int_list shape) { return {dtype::float32, shape, {}}; }

struct linear_case {
    std::int64_t rows, terms, features;
    std::uint64_t expected;
};
struct convolution_case {
    std::int64_t channels, features, size, kernel, stride, padding, groups, out;
    std::uint64_t expected;
};
struct softmax_case {
    eval::extents shape;
    std::int64_t axis;
    std::uint64_t expected;
};
struct sum_case {
    std::int64_t count;
    float sum, mean;
};

/// Computes a convolution by its definition: padding counts as zeros; the terms of each result are fused, in
/// the order of channels and taps, starting from the bias in groups, else from 0. For less than 192 terms.
std::vector<float> added_up(const eval::convolution_shape& s, std::span<const float> in,
    std::span<const float> weight, std::span<const float> bias) {
    const std::int64_t channels = s.channels / s.groups;
    const std::int64_t features = s.features / s.groups;
    std::vector<float> out;
    const auto element = [&](std::int64_t c, const eval::triple& at) {
        for (std::size_t d = 0; d != 3; ++d) {
            if (at[d] < 0 || at[d] >= s.in[d]) return 0.0F;
        }
        return in[eval::idx(((c * s.in[0] + at[0]) * s.in[1] + at[1]) * s.in[2] + at[2])];
    };
    const auto sum = [&](std::int64_t image, std::int64_t f, const eval::triple& at, float first) {
        auto factor = weight.begin() + f * channels * eval::volume_of(s.kernel);
        for (std::int64_t c = 0; c != channels; ++c) {
            for (std::int64_t tap = 0; tap != eval::volume_of(s.kernel); ++tap) {
                const eval::triple k{
                    tap / (s.kernel[1] * s.kernel[2]), tap / s.kernel[2] % s.kernel[1], tap % s.kernel[2]};
                eval::triple from{};
                for (std::size_t d = 0; d != 3; ++d)
                    from[d] = at[d] * s.stride[d] + k[d] * s.dilation[d] - s.before[d];
                first = std::fma(
                    *factor++, element(image * s.channels + f / features * channels + c, from), first);
            }
        }
        return first;
    };
    for (std::int64_t i = 0; i != s.batch * s.features; ++i) {
        const std::int64_t f = i % s.features;
        const float start = bias[eval::idx(f)];
        for (std::int64_t o = 0; o != eval::volume_of(s.out); ++o) {
            const eval::triple at{o / (s.out[1] * s.out[2]), o / s.out[2] % s.out[1], o % s.out[2]};
            out.push_back(
                s.groups > 1 ? sum(i / s.features, f, at, start) : start + sum(i / s.features, f, at, 0));
        }
    }
    return out;
}

template <op_tag Op>
std::uint64_t checksum_of(int seed) {
    kernel_test k;
    tensor x = numbers(seed, {512});
    if (std::is_same_v<Op, aten::rsqrt>) {
        for (float& v : x.mutable_data<float>()) v = std::fabs(v) + 1;
    }
    return checksum(k.run<Op>({k(x)}, real({512})));
}

}  // namespace

TEST_CASE("products of matrices, and of a matrix by a vector") {
    const auto c = GENERATE(linear_case{1, 48, 11, 0x818e7a8ffbfbb9a4}, linear_case{1, 9, 4, 0x20f75a7bc3e2},
        linear_case{17, 64, 48, 0xeb1adcdb126a45cf}, linear_case{17, 300, 16, 0xa3f62d9a8999d99a},
        linear_case{5, 1000, 33, 0x6663c28f71ee9e78});
    CAPTURE(c.rows, c.terms, c.features);
    kernel_test k;
    const value x = k(numbers(1, {c.rows, c.terms}));
    const value weight = k(numbers(2, {c.features, c.terms}));
    const value bias = k(numbers(3, {c.features}));
    CHECK(checksum(k.run<aten::linear>({x, weight, bias}, real({c.rows, c.features}))) == c.expected);
}
TEST_CASE("a processor without fused instructions gives the same bits") {
    const tensor a = numbers(1, {7, 40});
    const tensor b = numbers(2, {40, 37});
    for (const auto start : {eval::detail::chain_start::zero, eval::detail::chain_start::result}) {
        tensor plain = numbers(3, {7, 37});
        tensor chosen = numbers(3, {7, 37});
        const auto layout = eval::matrix_layout::row_major(40, 37);
        const auto operands = [&](tensor& c) {
            return eval::detail::chain_operands{.a = a.data<float>().data(),
                .a_stride = 40,
                .b = b.data<float>().data(),
                .rows = layout.rows(),
                .columns = layout.columns(),
                .c = c.mutable_data<float>().data(),
                .m = 7,
                .n = 37};
        };
        eval::detail::multiply_in_chains(operands(plain), start);
        eval::detail::multiply_fused(operands(chosen), start);
        CHECK(std::ranges::equal(plain.bytes(), chosen.bytes()));
    }
}
TEST_CASE("products with few columns are not fused") {
    kernel_test k;
    const value left = k(numbers(1, {1, 8, 8}));
    const value right = k(numbers(2, {1, 8, 8}));
    CHECK(checksum(k.run<aten::bmm>({left, right}, real({1, 8, 8}))) == 0xf268b437c15bde48);
}
TEST_CASE("products of twelve columns are fused") {
    kernel_test k;
    const value left = k(numbers(1, {4, 17, 17}));
    const value right = k(numbers(2, {4, 17, 12}));
    CHECK(checksum(k.run<aten::bmm>({left, right}, real({4, 17, 12}))) == 0x43c3210b2138470b);
}
TEST_CASE("convolutions: as products, by channel, and of one pixel") {
    const auto c = GENERATE(convolution_case{3, 16, 12, 3, 2, 1, 1, 6, 0x2c5b31bf8a780922},
        convolution_case{32, 20, 8, 3, 1, 1, 1, 8, 0x468ceb32885fdd5c},
        convolution_case{16, 16, 9, 3, 1, 1, 16, 9, 0xe299ae6ced7e038a},
        convolution_case{32, 10, 1, 1, 1, 0, 1, 1, 0xe63f639c8706bfa5},
        convolution_case{16, 8, 2, 1, 1, 0, 1, 2, 0xe62e4764d80dbde7});
    CAPTURE(c.channels, c.features, c.size);
    kernel_test k;
    const value x = k(numbers(4, {1, c.channels, c.size, c.size}));
    const value weight = k(numbers(5, {c.features, c.channels / c.groups, c.kernel, c.kernel}));
    const value bias = k(numbers(6, {c.features}));
    const tensor y =
        k.run<aten::conv2d>({x, weight, bias, {c.stride, c.stride}, {c.padding, c.padding}, {1, 1}, c.groups},
            real({1, c.features, c.out, c.out}));
    CHECK(checksum(y) == c.expected);
}
TEST_CASE("convolutions add up tap after tap, with any stride, dilation, padding and width") {
    eval::convolution_shape s;
    s.batch = GENERATE(1, 2);
    s.groups = GENERATE(1, 3);
    s.channels = 3 * GENERATE(1, 2);
    s.features = s.groups * GENERATE(1, 5);
    const std::int64_t kernel = GENERATE(1, 2, 3);
    s.kernel = {GENERATE(1, 2), kernel, kernel};
    const std::int64_t stride = GENERATE(1, 2, 3);
    s.stride = {1, stride, stride};
    s.dilation = {1, 1, GENERATE(1, 2)};
    s.out = {2, 3, GENERATE(4, 7, 8, 19)};
    const std::int64_t padding = GENERATE(0, 1);
    s.before = {0, padding, padding};
    for (std::size_t d = 0; d != 3; ++d)
        s.in[d] = std::max<std::int64_t>(
            1, (s.out[d] - 1) * s.stride[d] + (s.kernel[d] - 1) * s.dilation[d] + 1 - 2 * s.before[d]);
    CAPTURE(s.groups, s.channels, s.features, s.kernel, s.stride, s.dilation, s.out, s.before);
    const tensor in = numbers(1, {s.batch, s.channels, s.in[0], s.in[1], s.in[2]});
    const tensor weight =
        numbers(2, {s.features, s.channels / s.groups, s.kernel[0], s.kernel[1], s.kernel[2]});
    const tensor bias = numbers(3, {s.features});
    tensor out(dtype::float32, {s.batch, s.features, s.out[0], s.out[1], s.out[2]});
    eval::convolve_floats(
        s, in.data<float>(), weight.data<float>(), bias.data<float>(), out.mutable_data<float>());
    CHECK(std::ranges::equal(
        out.data<float>(), added_up(s, in.data<float>(), weight.data<float>(), bias.data<float>())));
}
TEST_CASE("padding, dilation and strides that are much larger than an image take no memory") {
    constexpr std::int64_t far = std::int64_t{1} << 40;
    eval::convolution_shape s;
    s.groups = s.channels = s.features = GENERATE(1, 2);
    s.kernel = {1, 3, 3};
    s.stride = {far, far, far};
    SECTION("only the middle of the kernel meets the image") {
        s.before = {0, far, far};
        s.dilation = {1, far, far};
    }
    SECTION("the kernel meets the image and one element of padding around it") { s.before = {0, 1, 1}; }
    const tensor weight = numbers(2, {2, 1, 1, 3, 3});
    const std::vector<float> in(2, 2);
    std::vector<float> out(2);
    eval::convolve_floats(s, in, weight.data<float>(), {}, std::span(out).first(eval::idx(s.features)));
    for (std::int64_t f = 0; f != s.features; ++f)
        CHECK(out[eval::idx(f)] == 2 * weight.data<float>()[eval::idx(9 * f + 4)]);
}
TEST_CASE("sums and means of rows") {
    const auto c = GENERATE(sum_case{3, 0x1.a741fcp+3F, 0x1.1a2bfep+2F},
        sum_case{7, 0x1.741faap+2F, 0x1.a948c2p-1F}, sum_case{8, 0x1.b61a6ep+1F, 0x1.b61a6ep-2F},
        sum_case{45, -0x1.25474ap+3F, -0x1.a11b6ep-3F}, sum_case{100, -0x1.c19126p+5F, -0x1.1fb90ep-1F},
        sum_case{600, -0x1.08c350p+7F, -0x1.c3dcb2p-3F}, sum_case{20000, -0x1.05f322p+11F, -0x1.ad2daep-4F});
    CAPTURE(c.count);
    kernel_test k;
    const value x = k(numbers(7, {1, c.count}));
    CHECK(k.run<aten::sum_dim_intlist>({x, int_list{1}, false, {}}, real({1})).data<float>()[0] == c.sum);
    CHECK(k.run<aten::mean_dim>({x, int_list{1}, false, {}}, real({1})).data<float>()[0] == c.mean);
}
TEST_CASE("activations round each step") {
    CHECK(checksum_of<aten::sigmoid>(8) == 0xde6f20d58866819c);
    CHECK(checksum_of<aten::silu>(8) == 0x293d12288762f866);
    CHECK(checksum_of<aten::hardswish>(8) == 0x2701f7b4b9bc6e06);
    CHECK(checksum_of<aten::hardsigmoid>(8) == 0xf6155405cf9d7529);
    CHECK(checksum_of<aten::rsqrt>(8) == 0x22f52dc8d5aad662);
    CHECK(checksum_of<aten::exp>(8) == 0x138e2ed1c86801bd);
    CHECK(checksum_of<aten::gelu>(8) == 0xf09aae68493ec7fd);
}
TEST_CASE("softmax adds in lanes along the last axis, one by one along others") {
    const auto c = GENERATE(softmax_case{{6, 17}, -1, 0xf2499479b87bff21},
        softmax_case{{3, 100}, -1, 0x31e5e739515e32fb}, softmax_case{{5, 10}, -1, 0x1b3ff7554c678d46},
        softmax_case{{2, 9, 37}, 1, 0xc0d835bf7e9472a2});
    kernel_test k;
    const value x = k(numbers(10, c.shape));
    CHECK(checksum(k.run<aten::softmax_int>({x, c.axis, {}}, real(int_list(c.shape)))) == c.expected);
}
TEST_CASE("the average of a window") {
    kernel_test k;
    const value x = k(numbers(9, {1, 4, 9, 9}));
    const tensor y =
        k.run<aten::avg_pool2d>({x, {3, 3}, {2, 2}, {1, 1}, false, true, {}}, real({1, 4, 5, 5}));
    CHECK(checksum(y) == 0xed026b0e3f448072);
}
TEST_CASE("the exponential of float32 at the ends of its range") {
    CHECK(eval::vector_exponential(0.0F) == 1);
    CHECK(eval::vector_exponential(-infinity) == 0);
    CHECK(eval::vector_exponential(infinity) == infinity);
    CHECK(std::isnan(eval::vector_exponential(not_a_number)));
    CHECK(eval::vector_exponential(88.0F) == Approx(1.65163625e38));
    CHECK(eval::vector_exponential(-100.0F) == Approx(3.78e-44).epsilon(0.02));
    CHECK(eval::table_exponential(0.0F) == 1);
    CHECK(eval::table_exponential(-infinity) == 0);
    CHECK(eval::table_exponential(infinity) == infinity);
    CHECK(std::isnan(eval::table_exponential(not_a_number)));
    CHECK(eval::table_exponential(88.0F) == Approx(1.65163625e38));
    CHECK(eval::table_exponential(-100.0F) == Approx(3.78e-44).epsilon(0.02));
}
