// SPDX-License-Identifier: MIT
// Tests each rule of Ethos-U55, and that supported cases are accepted.
#include <catch2/catch.hpp>

#include <functional>
#include <initializer_list>
#include <string>

#include <headrace/infer/tosa.hpp>
#include <headrace/target/tosa_verify.hpp>
#include <headrace/target/u55_verify.hpp>

namespace {

using namespace headrace;

constexpr target_spec u55_target = *parse_target("TOSA-1.0+INT+int16+cf+u55");

/// A graph whose last node is checked.
struct sample {
    graph g;

    value input(dtype type, const int_list& shape) {
        const value v = g.create<builtin::placeholder>({}).result();
        g.set_meta(v, {type, shape, {}});
        return v;
    }
    /// A constant whose elements are all `number`.
    value constant(dtype type, const int_list& shape, std::int64_t number = 0) {
        return create_constant(g, {type, shape, {}}, nullptr, [&](std::span<std::byte> data) {
            const std::size_t width = traits_of(type).bits / 8U;
            for (std::size_t i = 0; i != data.size(); i += width) std::memcpy(&data[i], &number, width);
        });
    }
    template <op_tag Op>
    value make(const args<Op>& a) {
        inference inferred(g.arena());
        REQUIRE(infer_op<Op>(a, inferred));
        node& n = g.create(info_of<Op>, &a, inferred.results().size());
        for (std::uint32_t i = 0; i != n.result_count; ++i) g.set_meta(n.result(i), inferred.results()[i]);
        return n.result();
    }
    value shape(const int_list& values) { return make<tosa::const_shape>({.values = values}); }
};

std::pmr::string fault(const std::function<value(sample&)>& build) {
    sample s;
    return u55::restriction(*build(s).producer);
}
/// An operator with two operands of a dtype.
template <op_tag Op>
std::pmr::string binary(dtype type) {
    return fault([=](sample& s) { return s.make<Op>({s.input(type, {2, 3}), s.input(type, {2, 3})}); });
}
template <op_tag Op>
std::pmr::string unary(dtype type) {
    return fault([=](sample& s) { return s.make<Op>({s.input(type, {2, 3})}); });
}
template <op_tag Op>
std::pmr::string reduced(dtype type, int_list shape, std::int64_t axis) {
    return fault([=](sample& s) { return s.make<Op>({s.input(type, shape), axis}); });
}
std::pmr::string transposed(dtype type, int_list shape, int_list perms) {
    return fault(
        [=](sample& s) { return s.make<tosa::transpose>({.input1 = s.input(type, shape), .perms = perms}); });
}

/// A window and its movement; height and width.
struct sliding {
    int_list input{1, 16, 16, 4};
    int_list kernel{3, 3};
    int_list stride{1, 1};
    int_list pad{0, 0, 0, 0};
    int_list dilation{1, 1};
};
template <op_tag Op>
value convolution(
    sample& s, const sliding& w, std::int64_t weight = 1, dtype type = dtype::int8, std::int64_t bias = 0) {
    const std::int64_t channels = w.input[3];
    const int_list kernel = std::is_same_v<Op, tosa::depthwise_conv2d>
        ? int_list{w.kernel[0], w.kernel[1], channels, 1}
        : int_list{2, w.kernel[0], w.kernel[1], channels};
    const dtype sums = type == dtype::int16 ? dtype::int48 : dtype::int32;
    const std::int64_t results = std::is_same_v<Op, tosa::depthwise_conv2d> ? channels : 2;
    args<Op> a{};
    a.input = s.input(type, w.input);
    a.weight = s.constant(dtype::int8, kernel, weight);
    a.bias = s.constant(sums, {results}, bias);
    a.input_zp = s.constant(type, {1});
    a.weight_zp = s.constant(dtype::int8, {1});
    a.stride = w.stride;
    if constexpr (requires { a.out_pad; }) {
        a.out_pad = w.pad;
    } else {
        a.pad = w.pad;
        a.dilation = w.dilation;
    }
    a.acc_type = sums;
    return s.make<Op>(a);
}
template <op_tag Op>
std::pmr::string convolved(const sliding& w, std::int64_t weight = 1) {
    return fault([&](sample& s) { return convolution<Op>(s, w, weight); });
}
value rescaled(sample& s, value v, dtype to) {
    return s.make<tosa::rescale>({.input = v,
        .multiplier = s.constant(dtype::int16, {1}, 1 << 14),
        .shift = s.constant(dtype::int8, {1}, 20),
        .input_zp = s.constant(meta_of(v)->dtype, {1}),
        .output_zp = s.constant(to, {1}),
        .scale32 = false});
}
std::pmr::string averaged(const sliding& w) {
    return fault([&](sample& s) {
        return s.make<tosa::avg_pool2d>({.input = s.input(dtype::int8, w.input),
            .input_zp = s.constant(dtype::int8, {1}),
            .output_zp = s.constant(dtype::int8, {1}),
            .kernel = w.kernel,
            .stride = w.stride,
            .pad = w.pad,
            .acc_type = dtype::int32});
    });
}
std::pmr::string largest(const sliding& w) {
    return fault([&](sample& s) {
        return s.make<tosa::max_pool2d>(
            {.input = s.input(dtype::int8, w.input), .kernel = w.kernel, .stride = w.stride, .pad = w.pad});
    });
}
std::pmr::string resized(
    int_list scale, int_list offset, int_list border, resize_mode mode, int_list input = {1, 5, 6, 2}) {
    return fault([=](sample& s) {
        return s.make<tosa::resize>({.input = s.input(dtype::int8, input),
            .scale = s.shape(scale),
            .offset = s.shape(offset),
            .border = s.shape(border),
            .mode = mode});
    });
}

constexpr auto int8 = dtype::int8;
constexpr auto int16 = dtype::int16;
constexpr auto int32 = dtype::int32;

}  // namespace

TEST_CASE("ops that Ethos-U55 does not have") {
    CHECK(binary<tosa::bitwise_and>(int8) == "Ethos-U55 has no BITWISE_AND");
    CHECK(binary<tosa::intdiv>(int32) == "Ethos-U55 has no INTDIV");
    CHECK(binary<tosa::equal>(int32) == "Ethos-U55 has no EQUAL");
    CHECK(binary<tosa::logical_right_shift>(int32) == "Ethos-U55 has no LOGICAL_RIGHT_SHIFT");
    CHECK(reduced<tosa::reduce_product>(dtype::float32, {2, 3}, 1) == "Ethos-U55 has no REDUCE_PRODUCT");
    CHECK(binary<tosa::add>(int32).empty());
    CHECK(binary<tosa::maximum>(int8).empty());
}

TEST_CASE("types that Ethos-U55 does not have") {
    CHECK(binary<tosa::add>(dtype::float32) == "Ethos-U55 has no ADD of floating-point numbers");
    CHECK(transposed(dtype::boolean, {2, 3}, {1, 0}) == "Ethos-U55 has no TRANSPOSE of booleans");
    CHECK(binary<tosa::logical_left_shift>(int8) ==
        "Ethos-U55 has no LOGICAL_LEFT_SHIFT of types other than INT32");
    CHECK(binary<tosa::logical_left_shift>(int32).empty());
    CHECK(reduced<tosa::reduce_max>(int32, {2, 3}, 1) == "Ethos-U55 has no REDUCE_MAX of INT32");
    CHECK(reduced<tosa::reduce_min>(int16, {2, 3}, 1).empty());
    const auto shifted = [](bool round, dtype type) {
        return fault([=](sample& s) {
            return s.make<tosa::arithmetic_right_shift>({s.input(type, {3}), s.input(type, {3}), round});
        });
    };
    CHECK(shifted(false, int32) == "Ethos-U55 has no ARITHMETIC_RIGHT_SHIFT that does not round");
    CHECK(shifted(true, int16) == "Ethos-U55 has no ARITHMETIC_RIGHT_SHIFT of types other than INT32");
    CHECK(shifted(true, int32).empty());
    const auto cast = [](dtype from, dtype to) {
        return fault(
            [=](sample& s) { return s.make<tosa::cast>({.input = s.input(from, {3}), .output_type = to}); });
    };
    CHECK(cast(int32, int8) == "Ethos-U55 has no CAST to fewer bits");
    CHECK(cast(int8, int32).empty());
    const auto product = [](dtype type) {
        return fault([=](sample& s) {
            return s.make<tosa::matmul>({.a = s.input(type, {1, 2, 3}),
                .b = s.input(type, {1, 3, 4}),
                .a_zp = s.constant(type, {1}),
                .b_zp = s.constant(type, {1}),
                .output_type = type == int8 ? int32 : dtype::int48});
        });
    };
    CHECK(product(int16) == "Ethos-U55 has no MATMUL of types other than INT8");
    CHECK(product(int8).empty());
    const auto table = [](dtype type, std::int64_t entries) {
        return fault([=](sample& s) {
            return s.make<tosa::table>({s.input(type, {3}), s.constant(type, {entries})});
        });
    };
    CHECK(table(int16, 513) == "Ethos-U55 has no TABLE of types other than INT8");
    CHECK(table(int8, 256).empty());
}

TEST_CASE("windows of convolutions") {
    CHECK(convolved<tosa::conv2d>({}).empty());
    const sliding tall{.input = {1, 80, 80, 1}, .kernel = {65, 1}};
    const sliding large{.input = {1, 80, 80, 1}, .kernel = {64, 65}};
    CHECK(convolved<tosa::conv2d>(tall).find("with a window of 65 x 1") != std::pmr::string::npos);
    CHECK(convolved<tosa::conv2d>(large).find("with a window of 64 x 65") != std::pmr::string::npos);
    CHECK(convolved<tosa::conv2d>({.input = {1, 80, 80, 1}, .kernel = {64, 64}}).empty());
    const sliding padded{.input = {1, 14, 14, 4}, .stride = {4, 4}, .pad = {1, 0, 0, 1}};
    CHECK(convolved<tosa::conv2d>(padded).find("stride above 3 together with padding") !=
        std::pmr::string::npos);
    CHECK(convolved<tosa::conv2d>({.input = {1, 15, 15, 4}, .stride = {4, 4}}).empty());
    CHECK(convolved<tosa::depthwise_conv2d>({.input = {1, 15, 15, 4}, .stride = {4, 4}}) ==
        "Ethos-U55 has no DEPTHWISE_CONV2D with a stride above 3");
    CHECK(convolved<tosa::depthwise_conv2d>({.input = {1, 15, 15, 4}, .stride = {3, 3}}).empty());
    CHECK(convolved<tosa::transpose_conv2d>({.stride = {3, 3}}).find("with strides other than 1 and 2") !=
        std::pmr::string::npos);
    CHECK(convolved<tosa::transpose_conv2d>({.stride = {2, 1}}).find("with strides other than 1 and 2") !=
        std::pmr::string::npos);
    CHECK(convolved<tosa::transpose_conv2d>({.stride = {2, 2}}).empty());
    CHECK(convolved<tosa::transpose_conv2d>({.input = {1, 1, 16, 4}, .kernel = {1, 3}, .stride = {1, 2}})
              .empty());
}

TEST_CASE("weights and biases of convolutions") {
    const sliding wide{.input = {1, 8, 8, 1024}, .kernel = {8, 8}, .stride = {1, 1}};
    CHECK(convolved<tosa::conv2d>(wide, 127).empty());
    const sliding wider{.input = {1, 8, 8, 1032}, .kernel = {8, 8}, .stride = {1, 1}};
    CHECK(convolved<tosa::conv2d>(wider, 127).find("absolute weights") != std::pmr::string::npos);
    CHECK(convolved<tosa::conv2d>(wider, 1).empty());
    CHECK(fault([](sample& s) {
        return s.make<tosa::conv2d>({.input = s.input(int8, {1, 4, 4, 2}),
            .weight = s.input(int8, {3, 1, 1, 2}),
            .bias = s.constant(int32, {3}),
            .input_zp = s.constant(int8, {1}),
            .weight_zp = s.constant(int8, {1}),
            .pad = {0, 0, 0, 0},
            .stride = {1, 1},
            .dilation = {1, 1},
            .acc_type = int32});
    }) == "Ethos-U55 has no CONV2D with a computed weight or bias");
}

TEST_CASE("INT16 is rescaled right behind its convolution") {
    const auto rescaled_with = [](std::int64_t bias) {
        sample s;
        const value v = convolution<tosa::conv2d>(s, {}, 1, int16, bias);
        rescaled(s, v, int16);
        return u55::restriction(*v.producer);
    };
    CHECK(rescaled_with(u55::max_bias - 1).empty());
    CHECK(rescaled_with(-u55::max_bias).empty());
    CHECK(rescaled_with(u55::max_bias) == "Ethos-U55 has no CONV2D with a bias of more than 40 bits");
    CHECK(rescaled_with(-u55::max_bias - 1) == "Ethos-U55 has no CONV2D with a bias of more than 40 bits");
    sample s;
    const value v = convolution<tosa::conv2d>(s, {}, 1, int16);
    const value moved = s.make<tosa::reshape>({v, s.shape({14, 14, 2})});
    CHECK(u55::restriction(*v.producer) == "Ethos-U55 has no CONV2D of INT16 that no RESCALE follows");
    CHECK(u55::restriction(*rescaled(s, moved, int16).producer) ==
        "Ethos-U55 has no RESCALE of INT48 except after a convolution");
}

TEST_CASE("windows of poolings") {
    const int_list image{1, 300, 300, 1};
    const auto refused = [](const std::pmr::string& why) {
        return why.find("with a window of") != std::pmr::string::npos;
    };
    CHECK(averaged({.kernel = {8, 8}, .pad = {4, 3, 4, 3}}).empty());
    CHECK(refused(averaged({.kernel = {9, 8}, .pad = {4, 3, 4, 3}})));
    CHECK(refused(averaged({.input = {1, 13, 13, 4}, .stride = {4, 4}, .pad = {2, 0, 0, 2}})));
    CHECK(averaged({.input = image, .kernel = {256, 256}}).empty());
    CHECK(refused(averaged({.input = image, .kernel = {257, 1}})));
    CHECK(largest({.input = image, .kernel = {256, 256}, .pad = {1, 1, 1, 1}}).empty());
    CHECK(refused(largest({.input = image, .kernel = {256, 257}})));
    CHECK(refused(largest({.input = {1, 14, 14, 4}, .stride = {4, 4}, .pad = {1, 0, 0, 1}})));
    CHECK(largest({.input = {1, 15, 15, 4}, .stride = {4, 4}}).empty());
}

TEST_CASE("positions of the largest") {
    const std::pmr::string rule = "Ethos-U55 has no ARGMAX except of up to 127 channels of one image";
    CHECK(reduced<tosa::argmax>(int8, {2, 3, 127}, 2).empty());
    CHECK(reduced<tosa::argmax>(int8, {1, 2, 3, 4}, 3).empty());
    CHECK(reduced<tosa::argmax>(int8, {2, 3, 128}, 2) == rule);
    CHECK(reduced<tosa::argmax>(int8, {2, 3, 4}, 1) == rule);
    CHECK(reduced<tosa::argmax>(int8, {2, 2, 3, 4}, 3) == rule);
    CHECK(reduced<tosa::argmax>(int16, {3, 4}, 1) == "Ethos-U55 has no ARGMAX of types other than INT8");
}

TEST_CASE("resizing") {
    const std::pmr::string rule =
        "Ethos-U55 has no RESIZE except to the nearest element of one image, by 2, 4 or 8";
    constexpr auto nearest = resize_mode::nearest;
    CHECK(resized({4, 2, 4, 2}, {-1, -1}, {1, 1}, nearest).empty());
    CHECK(resized({16, 2, 8, 2}, {-7, -3}, {7, 3}, nearest).empty());
    CHECK(resized({4, 2, 4, 2}, {-2, -2}, {0, 0}, nearest) == rule);
    CHECK(resized({6, 2, 6, 2}, {-2, -2}, {2, 2}, nearest) == rule);
    CHECK(resized({4, 2, 4, 2}, {-1, -1}, {1, 1}, nearest, {2, 5, 6, 2}) == rule);
    CHECK(resized({4, 2, 4, 2}, {-1, -1}, {1, 1}, resize_mode::bilinear) == rule);
}

TEST_CASE("what can be addressed") {
    CHECK(transposed(int8, {u55::max_size, 3}, {1, 0}).empty());
    CHECK(transposed(int8, {u55::max_size + 1, 3}, {1, 0}).find("which it cannot address") !=
        std::pmr::string::npos);
    CHECK(transposed(int8, {300, 3, 5, 300}, {3, 1, 2, 0}).find("which it cannot address") !=
        std::pmr::string::npos);
    CHECK(transposed(int32, {2, 3, 4, 5}, {3, 2, 1, 0}).empty());
    CHECK(!transposed(int32, {2, 3, 4, 5, 6}, {3, 2, 1, 0, 4}).empty());
    CHECK(reduced<tosa::reverse>(int8, {2, 3, 4, 5}, 1).empty());
    CHECK(reduced<tosa::reverse>(int8, {2, 3, 4, 5}, 3) ==
        "Ethos-U55 has no REVERSE except along an image's height or width");
    CHECK(reduced<tosa::reverse>(int32, {2, 3, 4, 5}, 1) == "Ethos-U55 has no REVERSE of INT32");
    CHECK(reduced<tosa::reduce_sum>(int32, {3, u55::max_size}, 1).empty());
    CHECK(reduced<tosa::reduce_sum>(int32, {3, u55::max_size + 1}, 1).find("of an axis of more") !=
        std::pmr::string::npos);
    CHECK(reduced<tosa::reduce_sum>(int32, {2, 2, u55::max_size / 2 + 1, 2}, 1)
              .find("before or after the axis") != std::pmr::string::npos);
}

TEST_CASE("a target names the rule only where it is Ethos-U55") {
    sample s;
    const value x = s.input(int32, {2, 3});
    const value v = s.make<tosa::equal>({x, x});
    CHECK(u55::restriction(*v.producer) == "Ethos-U55 has no EQUAL");
    const auto refused = verify_tosa(*v.producer, u55_target);
    REQUIRE(!refused);
    CHECK(refused.error().message.find("Ethos-U55 has no EQUAL") != std::pmr::string::npos);
    CHECK(verify_tosa(*v.producer, *parse_target("TOSA-1.0+INT")));
}
