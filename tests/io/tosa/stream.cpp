// SPDX-License-Identifier: MIT
// Tests TOSA flatbuffers that are delivered in pieces: the bytes of emit_tosa, without copies of constants.

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <headrace/dialect/tosa.hpp>
#include <headrace/io/tosa/emitter.hpp>
#include <headrace/io/tosa/stream.hpp>

using namespace headrace;

namespace {

std::vector<std::byte> numbered(std::size_t size) {
    std::vector<std::byte> bytes(size);
    std::uint32_t state = 1;
    for (std::byte& b : bytes) b = static_cast<std::byte>((state = state * 1664525 + 1013904223) >> 24);
    return bytes;
}

// Adds constants, so that each is in the file.
struct sum_of_constants {
    graph g;

    value constant(dtype type, int_list shape, tensor_data data) {
        const value v = g.create<builtin::constant>({.data = data}).result();
        g.set_meta(v, {type, shape, {}});
        return v;
    }
    void output(value a, value b) {
        const value sum = g.create<tosa::add>({a, b}).result();
        g.set_meta(sum, *meta_of(a));
        ends_.push_back(sum);
    }
    void finish() { g.create<builtin::output>({.values = ends_}); }

private:
    std::vector<value> ends_;
};

struct pieces {
    std::vector<std::byte> bytes{};
    std::vector<std::span<const std::byte>> given{};
};
pieces streamed(const graph& g) {
    const auto stream = stream_tosa(g);
    REQUIRE(stream.has_value());
    pieces all;
    CHECK(stream.value().write_to([&](std::span<const std::byte> piece) {
        all.given.push_back(piece);
        all.bytes.insert(all.bytes.end(), piece.begin(), piece.end());
        return true;
    }));
    CHECK(all.bytes.size() == stream.value().size());
    return all;
}
bool has_piece_at(const pieces& all, const std::byte* at, std::size_t size) {
    return std::ranges::any_of(
        all.given, [&](const auto& piece) { return piece.data() == at && piece.size() == size; });
}
void check_same(const graph& g, const pieces& all) {
    const auto file = emit_tosa(g);
    REQUIRE(file.has_value());
    CHECK(std::ranges::equal(file.value().bytes(), all.bytes));
}

}  // namespace

TEST_CASE("large constants are given from where they lie", "[tosa][io]") {
    const auto large = numbered(400'000);
    const auto small = numbered(400);
    sum_of_constants s;
    const value a = s.constant(dtype::float32, {100, 1000}, {large.data()});
    const value b = s.constant(dtype::float32, {100}, {small.data()});
    const value c = s.constant(dtype::int8, {400'000}, {large.data(), {1}});
    s.output(a, a);
    s.output(b, b);
    s.output(c, c);
    s.finish();
    const pieces all = streamed(s.g);
    check_same(s.g, all);
    CHECK(all.given.size() == 5);  // two constants, and the parts around them
    CHECK(has_piece_at(all, large.data(), large.size()));
}

TEST_CASE("constants whose elements lie in another order are copied in parts", "[tosa][io]") {
    constexpr std::int64_t n = 1200;
    const auto bytes = numbered(4 * n * n);
    sum_of_constants s;
    // 5.8 MB transposed, all of whose rows fit into a part; and the data as one row that does not.
    const value turned = s.constant(dtype::float32, {n, n}, {bytes.data(), {1, n}});
    const value row = s.constant(dtype::float32, {1, n, n}, {bytes.data(), {0, 1, n}});
    const value narrow = s.constant(dtype::int8, {n, n}, {bytes.data(), {1, n}});
    const value halves = s.constant(dtype::int16, {2, n, n}, {bytes.data(), {1, 2, 2 * n}});
    const value packed = s.constant(dtype::int4, {n, 2 * n}, {bytes.data(), {1, n}});
    for (const value v : {turned, row, narrow, halves, packed}) s.output(v, v);
    s.finish();
    const pieces all = streamed(s.g);
    check_same(s.g, all);
    const std::size_t packed_size = static_cast<std::size_t>(n * n);
    for (const auto& piece : all.given) CHECK(piece.size() <= std::max(packed_size, std::size_t{1} << 20));
}

TEST_CASE("a sink that gives up is not called again", "[tosa][io]") {
    const auto large = numbered(400'000);
    sum_of_constants s;
    const value a = s.constant(dtype::float32, {100, 1000}, {large.data()});
    s.output(a, a);
    s.finish();
    const auto stream = stream_tosa(s.g);
    REQUIRE(stream.has_value());
    for (int most = 0; most != 3; ++most) {
        int calls = 0;
        CHECK_FALSE(stream.value().write_to([&](std::span<const std::byte>) { return calls++ != most; }));
        CHECK(calls == most + 1);
    }
}

TEST_CASE("what cannot be emitted cannot be streamed", "[tosa][io]") {
    sum_of_constants s;
    const value a = s.constant(dtype::float32, {100, 1000}, {});
    s.output(a, a);
    s.finish();
    const auto stream = stream_tosa(s.g);
    REQUIRE_FALSE(stream.has_value());
    CHECK(stream.error().message == emit_tosa(s.g).error().message);

    static const std::byte somewhere{};  // refused before anything is read
    sum_of_constants huge;
    const value b = huge.constant(dtype::float32, {1 << 15, 1 << 14}, {&somewhere});
    huge.output(b, b);
    huge.finish();
    const auto refused = stream_tosa(huge.g);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().kind == error_kind::unsupported);
    CHECK(refused.error().message.find("a TOSA file holds at most 2147483647") != std::string::npos);
}
