// SPDX-License-Identifier: MIT
// Tests flatbuffers taken apart: every byte is restored, and damaged delegates give errors.

#include <catch2/catch.hpp>

#include <random>

#include <headrace/io/tosa/delegate.hpp>
#include <headrace/io/tosa/emitter.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

std::vector<std::byte> emitted(std::int64_t size) {
    program p;
    const value x = p.input(dtype::float32, {size});
    const auto constant = [&](std::int64_t seed) {
        return create_constant(p.g, {dtype::float32, {size}, {}}, nullptr, [&](std::span<std::byte> data) {
            for (std::size_t i = 0; i != data.size(); ++i)
                data[i] = static_cast<std::byte>(static_cast<std::size_t>(seed) * 31 + i);
        });
    };
    const value sum = p.make<tosa::add>({.input1 = x, .input2 = constant(1)});
    p.output(p.make<tosa::add>({.input1 = sum, .input2 = constant(2)}));
    p.finish();
    REQUIRE(p.fault.empty());
    const auto file = emit_tosa(p.g);
    REQUIRE(file.has_value());
    return {file.value().bytes().begin(), file.value().bytes().end()};
}

}  // namespace

TEST_CASE("a flatbuffer is its delegate and its constants", "[tosa_delegate]") {
    for (const std::int64_t size : {0, 1, 3, 64, 1000}) {
        const auto file = emitted(size);
        const auto split = split_tosa(file);
        REQUIRE(split.has_value());
        CHECK(split.value().constants.size() == (size == 0 ? 0 : 2));
        for (const auto& constant : split.value().constants)
            CHECK(constant.size() == 4 * static_cast<std::size_t>(size));
        CHECK(split.value().delegate.size() < file.size() - 8 * static_cast<std::size_t>(size));
        const auto joined = join_tosa(split.value().delegate, split.value().constants);
        REQUIRE(joined.has_value());
        CHECK(joined.value() == file);
    }
}

TEST_CASE("what is no flatbuffer is not split", "[tosa_delegate]") {
    CHECK_FALSE(split_tosa({}).has_value());
    const std::vector<std::byte> zeros(64);
    CHECK_FALSE(split_tosa(zeros).has_value());
}

TEST_CASE("damaged delegates give errors or bytes, of bounded size", "[tosa_delegate]") {
    const auto file = emitted(16);
    const auto split = split_tosa(file);
    REQUIRE(split.has_value());
    const auto& constants = split.value().constants;
    const auto& good = split.value().delegate;
    CHECK_FALSE(join_tosa({}, constants).has_value());
    CHECK_FALSE(join_tosa(good, {}).has_value());
    for (std::size_t cut = 0; cut != good.size(); ++cut)
        CHECK_FALSE(join_tosa(std::span(good).first(cut), constants).has_value());
    std::vector<std::byte> longer = good;
    longer.push_back(std::byte{1});
    CHECK_FALSE(join_tosa(longer, constants).has_value());
    std::mt19937 random(1);
    for (int i = 0; i != 3000; ++i) {
        std::vector<std::byte> bad = good;
        bad[random() % bad.size()] = static_cast<std::byte>(random());
        const auto joined = join_tosa(bad, constants);
        if (joined) CHECK(joined.value().size() < file.size() + 300 * bad.size());
    }
}
