// SPDX-License-Identifier: MIT
// Tests headrace::tensor: storage, constants, and conversions between element types.
#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <limits>

#include <headrace/eval/element.hpp>
#include <headrace/eval/tensor.hpp>

using namespace headrace;

namespace {

using reals = std::vector<double>;
using integers = std::vector<std::int64_t>;

reals through(dtype type, const reals& numbers) {
    return tensor::of(type, {static_cast<std::int64_t>(numbers.size())}, numbers).to<double>();
}

}  // namespace

TEST_CASE("a tensor holds elements, also one of rank 0 and none at all") {
    CHECK(tensor::of_number(dtype::float32, 2.5).real(0) == 2.5);
    CHECK(tensor::of_number(dtype::float32, 2.5).size() == 1);
    CHECK(tensor(dtype::int8, {2, 0}).size() == 0);
    CHECK(tensor(dtype::int8, {2, 0}).to<double>().empty());
    CHECK(tensor(dtype::int32, {3}).to<std::int64_t>() == integers{0, 0, 0});
}

TEST_CASE("copies share elements") {
    const tensor t = tensor::of(dtype::float32, {2}, reals{1, 2});
    CHECK(t.reshaped({2, 1}).bytes().data() == t.bytes().data());
    CHECK(t.cast(dtype::float32).bytes().data() == t.bytes().data());
}

TEST_CASE("small floats round to nearest even") {
    CHECK(through(dtype::float16, {1 + 1.0 / 2048, 1 + 3.0 / 2048, 65504, 65520}) ==
        reals{1, 1 + 4.0 / 2048, 65504, std::numeric_limits<double>::infinity()});
    CHECK(through(dtype::bfloat16, {1 + 1.0 / 256, 1 + 3.0 / 256}) == reals{1, 1 + 4.0 / 256});
    CHECK(through(dtype::float8_e4m3, {0.0, 1.0625, 1.1875, 448, -0.001953125, 0.0009}) ==
        reals{0, 1, 1.25, 448, -0.001953125, 0});
    CHECK(through(dtype::float8_e5m2, {1.125, 1.375, 57344}) == reals{1, 1.5, 57344});
    CHECK(std::isnan(through(dtype::float8_e4m3, {1000})[0]));
    CHECK(std::isinf(through(dtype::float8_e5m2, {1e6})[0]));
}

TEST_CASE("float8 holds each of its values") {
    for (int bits = 0; bits != 256; ++bits) {
        const eval::float8_e4m3 small{static_cast<std::uint8_t>(bits)};
        const auto number = eval::element_cast<float>(small);
        if (!std::isnan(number)) CHECK(eval::element_cast<eval::float8_e4m3>(number).bits == bits);
        const eval::float8_e5m2 wide{static_cast<std::uint8_t>(bits)};
        const auto wide_number = eval::element_cast<float>(wide);
        if (!std::isnan(wide_number)) CHECK(eval::element_cast<eval::float8_e5m2>(wide_number).bits == bits);
    }
}

TEST_CASE("numbers become integers toward zero and wrap around") {
    CHECK(through(dtype::int8, {1.9, -1.9, 300, std::nan("")}) == reals{1, -1, 44, 0});
    CHECK(through(dtype::uint8, {-1, 256}) == reals{255, 0});
    CHECK(through(dtype::boolean, {0, 0.5, -3, std::nan("")}) == reals{0, 1, 1, 1});
    CHECK(eval::element_cast<std::int64_t>(1e30) == INT64_MAX);
    CHECK(eval::element_cast<std::int64_t>(-1e30) == INT64_MIN);
}

TEST_CASE("constants honour their strides and are not copied without need") {
    alignas(16) const std::array<float, 6> data{1, 2, 3, 4, 5, 6};
    const auto* bytes = reinterpret_cast<const std::byte*>(data.data());
    const tensor_meta meta{dtype::float32, {2, 3}, {}};
    CHECK(tensor_of_constant({bytes, {}}, meta).bytes().data() == bytes);
    CHECK(tensor_of_constant({bytes, {3, 1}}, meta).bytes().data() == bytes);
    CHECK(tensor_of_constant({bytes, {1, 2}}, meta).to<double>() == reals{1, 3, 5, 2, 4, 6});
    CHECK(tensor_of_constant({bytes, {0, 1}}, meta).to<double>() == reals{1, 2, 3, 1, 2, 3});
}

TEST_CASE("unaligned constants are copied") {
    alignas(16) std::array<std::byte, 9> data{};
    const double number = 7;
    std::memcpy(data.data() + 1, &number, 8);
    const tensor t = tensor_of_constant({data.data() + 1, {}}, {dtype::float64, {1}, {}});
    CHECK(t.real(0) == 7);
    CHECK(t.bytes().data() != data.data() + 1);
}

TEST_CASE("packed constants are widened") {
    const std::array<std::byte, 2> nibbles{std::byte{0xF1}, std::byte{0x08}};
    const tensor small = tensor_of_constant({nibbles.data(), {}}, {dtype::int4, {3}, {}});
    CHECK(small.to<std::int64_t>() == integers{1, -1, -8});
    const std::array<std::byte, 12> six{std::byte{2}, std::byte{1}, std::byte{0}, std::byte{0}, std::byte{0},
        std::byte{0}, std::byte{0xFE}, std::byte{0xFF}, std::byte{0xFF}, std::byte{0xFF}, std::byte{0xFF},
        std::byte{0xFF}};
    const tensor wide = tensor_of_constant({six.data(), {}}, {dtype::int48, {2}, {}});
    CHECK(wide.to<std::int64_t>() == integers{258, -2});
}
