// SPDX-License-Identifier: MIT
// Tests io/file/npy.hpp.
#include <catch2/catch.hpp>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <headrace/io/file/npy.hpp>

#include "../../support/source_tree.hpp"

namespace {

using namespace headrace;

std::vector<std::byte> file_of(
    const std::string& header, const std::vector<std::int16_t>& data, char version = 1) {
    std::string text = "\x93NUMPY";
    text += {version, '\0', static_cast<char>(header.size()), '\0'};
    if (version == 2) text += {'\0', '\0'};
    text += header;
    std::vector<std::byte> bytes(text.size() + 2 * data.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    if (!data.empty()) std::memcpy(bytes.data() + text.size(), data.data(), 2 * data.size());
    return bytes;
}

std::vector<std::int16_t> shorts_of(const npy_array& array) {
    std::vector<std::int16_t> numbers(array.data.size() / 2);
    if (!numbers.empty()) std::memcpy(numbers.data(), array.data.data(), array.data.size());
    return numbers;
}

std::string message_of(const std::vector<std::byte>& bytes) {
    const auto read = detail::npy_parse(bytes);
    return std::string(read ? "" : read.error().message);
}

}  // namespace

TEST_CASE("npy: a row-major array", "[io][npy]") {
    const auto read = detail::npy_parse(
        file_of("{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }\n", {1, 2, 3, 4, 5, 6}));
    REQUIRE(read);
    CHECK(read.value().meta == tensor_meta{dtype::int16, {2, 3}, {}});
    CHECK(shorts_of(read.value()) == std::vector<std::int16_t>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("npy: a column-major array becomes row-major", "[io][npy]") {
    const auto read = detail::npy_parse(
        file_of("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }\n", {1, 4, 2, 5, 3, 6}, 2));
    REQUIRE(read);
    CHECK(shorts_of(read.value()) == std::vector<std::int16_t>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("npy: shapes of rank 0 and 1, and without elements", "[io][npy]") {
    const auto scalar =
        detail::npy_parse(file_of("{'descr': '<i2', 'fortran_order': True, 'shape': (), }", {7}));
    REQUIRE(scalar);
    CHECK(scalar.value().meta.rank() == 0);
    const auto vector =
        detail::npy_parse(file_of("{'descr': '<i2', 'fortran_order': False, 'shape': (3,), }", {7, 8, 9}));
    REQUIRE(vector);
    CHECK(vector.value().meta.shape == int_list{3});
    const auto none =
        detail::npy_parse(file_of("{'descr': '<i2', 'fortran_order': True, 'shape': (4, 0), }", {}));
    REQUIRE(none);
    CHECK(none.value().data.empty());
}

TEST_CASE("npy: a shape longer than six survives a move", "[io][npy]") {
    auto read = detail::npy_parse(
        file_of("{'descr': '<i2', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 2), }", {1, 2}));
    REQUIRE(read);
    const npy_array moved = std::move(read).value();
    CHECK(moved.meta.shape == int_list(std::vector<std::int64_t>{1, 1, 1, 1, 1, 1, 2}));
}

TEST_CASE("npy: what is written reads the same", "[io][npy]") {
    const auto path = std::filesystem::temp_directory_path() / "headrace_npy_test.npy";
    for (const int_list& shape : {int_list{}, int_list{4}, int_list{2, 2, 1}}) {
        const tensor_meta meta{dtype::float32, shape, {}};
        const std::vector<std::byte> data(static_cast<std::size_t>(meta.elements()) * 4, std::byte{63});
        REQUIRE(write_npy(path, meta, data));
        CHECK((std::filesystem::file_size(path) - data.size()) % 64 == 0);
        const auto read = read_npy(path);
        REQUIRE(read);
        CHECK(read.value().meta == meta);
        CHECK(read.value().data == data);
    }
    std::filesystem::remove(path);
}

TEST_CASE("npy: bfloat16 is what ml_dtypes writes", "[io][npy]") {
    for (const char* type : {"<V2", "|V2"}) {
        const auto read = detail::npy_parse(
            file_of("{'descr': '" + std::string(type) + "', 'fortran_order': False, 'shape': (2,), }",
                {0x3f80, -0x4000}));
        REQUIRE(read);
        CHECK(read.value().meta == tensor_meta{dtype::bfloat16, {2}, {}});
    }
    const std::vector<std::byte> data(4, std::byte{63});
    const auto written = npy_bytes_of({dtype::bfloat16, {2}, {}}, data);
    REQUIRE(written);
    const auto again = detail::npy_parse(written.value());
    REQUIRE(again);
    CHECK(again.value().meta.dtype == dtype::bfloat16);
    CHECK(again.value().data == data);
}

TEST_CASE("npy: NumPy's own files", "[io][npy]") {
    const auto tokens = read_npy(testing::fixtures() / "integer_ops" / "in0.npy");
    REQUIRE(tokens);
    CHECK(tokens.value().meta == tensor_meta{dtype::int64, {2, 7}, {}});
    const auto mask = read_npy(testing::fixtures() / "integer_ops" / "in1.npy");
    REQUIRE(mask);
    CHECK(mask.value().meta.dtype == dtype::boolean);
}

TEST_CASE("npy: broken files are refused", "[io][npy]") {
    CHECK(message_of({}) == "is not an .npy file");
    CHECK(message_of(file_of("{'descr': '>i2', 'fortran_order': False, 'shape': (1,), }", {7})) ==
        "holds elements of type '>i2', which cannot be read");
    CHECK(message_of(file_of("{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }", {7})) ==
        "has more or less data than its shape says");
    CHECK(message_of(file_of("{'descr': '<i2', 'fortran_order': False, 'shape': (-1,), }", {7})) ==
        "has a header that cannot be read");
    CHECK(message_of(file_of("{'descr': '<i2', 'fortran_order': False, 'shape': (9223372036854775807, 4), }",
              {7})) == "has more or less data than its shape says");
    CHECK(message_of(file_of("{'descr': '<i2', 'fortran_order': False, 'shape': (1", {7})) ==
        "has a header that cannot be read");
    CHECK(message_of(file_of("{'descr': '<i2'", {})) == "has a header that cannot be read");
    CHECK_FALSE(read_npy("/nonexistent/a.npy"));
    auto cut = file_of("{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }", {});
    cut.resize(20);
    CHECK(message_of(cut) == "ends within its header");
}
