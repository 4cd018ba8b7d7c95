// SPDX-License-Identifier: MIT
// Tests contract/tosa_contract.hpp: the flatbuffers that a contract accepts, and the messages about others.
#include <headrace/contract/tosa_contract.hpp>
#include <headrace/io/tosa/emitter.hpp>

#include <cstring>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <headrace/infer/tosa.hpp>

using namespace headrace;

namespace {

// Returns a file of x + x with a dtype and size, negated or not.
std::vector<std::uint64_t> file_of(dtype type, std::int64_t size, bool negated = false) {
    graph g;
    const tensor_meta meta{type, {1, size}, {}};
    const value x = g.create<builtin::placeholder>({}).result();
    g.set_meta(x, meta);
    g.set_name(x, "x");
    value y = g.create<tosa::add>({x, x}).result();
    g.set_meta(y, meta);
    if (negated) {
        y = g.create<tosa::abs>({y}).result();
        g.set_meta(y, meta);
    }
    g.create<builtin::output>({.values = {y}});
    const auto emitted = emit_tosa(g);
    REQUIRE(emitted);
    const auto bytes = emitted.value().bytes();
    std::vector<std::uint64_t> file((bytes.size() + 7) / 8);
    std::memcpy(file.data(), bytes.data(), bytes.size());
    return file;
}
std::span<const std::byte> bytes_of(const std::vector<std::uint64_t>& file) {
    return std::as_bytes(std::span(file));
}

struct sum_contract {
    static constexpr std::array<contract_tensor, 1> inputs{{{"in", dtype::int32, {1, 4}}}};
    static constexpr std::array<contract_tensor, 1> outputs{{{"out", dtype::int32, {1, 4}}}};
    using lowered_ops = ops<tosa::add>;
};
struct any_ops {
    static constexpr auto inputs = sum_contract::inputs;
    static constexpr auto outputs = sum_contract::outputs;
};
struct two_inputs : sum_contract {
    static constexpr std::array<contract_tensor, 2> inputs{};
};
struct other_output : sum_contract {
    static constexpr std::array<contract_tensor, 1> outputs{{{"out", dtype::int8, {1, 4, 1}}}};
};
struct small_flash : sum_contract {
    static constexpr int flash = 16;
};

template <class Accepted>
std::string fault_of(const std::vector<std::uint64_t>& file) {
    const auto checked = check_contract<Accepted>(bytes_of(file));
    return checked ? std::string() : std::string(checked.error().message);
}

}  // namespace

TEST_CASE("a flatbuffer of the contract is accepted") {
    CHECK(fault_of<sum_contract>(file_of(dtype::int32, 4)).empty());
    CHECK(fault_of<any_ops>(file_of(dtype::int32, 4, true)).empty());
}

TEST_CASE("what differs is named") {
    CHECK(fault_of<sum_contract>(file_of(dtype::int32, 5)) ==
        "input 0 is int32 [1, 5], but int32 [1, 4] is accepted");
    CHECK(fault_of<sum_contract>(file_of(dtype::float32, 4)) ==
        "input 0 is float32 [1, 4], but int32 [1, 4] is accepted");
    CHECK(fault_of<sum_contract>(file_of(dtype::int32, 4, true)) == "tosa.ABS is not accepted");
    CHECK(fault_of<two_inputs>(file_of(dtype::int32, 4)) == "the file has 1 input, but 2 are accepted");
    CHECK(fault_of<other_output>(file_of(dtype::int32, 4)) ==
        "output 0 is int32 [1, 4], but int8 [1, 4, 1] is accepted");
    const auto file = file_of(dtype::int32, 4);
    CHECK(fault_of<small_flash>(file) ==
        "the file has " + std::to_string(bytes_of(file).size()) + " bytes, but 16 are accepted");
}

TEST_CASE("broken files are refused, wherever they are cut or changed") {
    const std::vector<std::uint64_t> file = file_of(dtype::int32, 4);
    const auto bytes = bytes_of(file);
    for (std::size_t size = 0; size < bytes.size(); size += 3) {
        static_cast<void>(check_contract<sum_contract>(bytes.first(size)));
    }
    CHECK(check_contract<sum_contract>(bytes.first(4)).error().kind == error_kind::malformed);
    CHECK(check_contract<sum_contract>(bytes.first(40)).error().kind == error_kind::malformed);
    CHECK(check_contract<sum_contract>(bytes.subspan(1)).error().kind == error_kind::invalid);
    for (std::size_t i = 0; i != bytes.size(); ++i) {
        std::vector<std::uint64_t> changed = file;
        reinterpret_cast<unsigned char*>(changed.data())[i] ^= 0x81;
        static_cast<void>(check_contract<sum_contract>(bytes_of(changed)));
    }
}
