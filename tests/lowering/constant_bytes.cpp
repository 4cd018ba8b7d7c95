// SPDX-License-Identifier: MIT
// Tests the lower bound of the bytes of a program's constants.

#include <catch2/catch.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <headrace/lowering/constant_bytes.hpp>
#include <headrace/lowering/lower.hpp>

using namespace headrace;

namespace {

constexpr std::array<std::byte, 4> places{};  // placeholders for data, which is not read

struct exported {
    std::unique_ptr<graph> g = std::make_unique<graph>();
    std::vector<value> ends;
    value x = typed(g->create<builtin::placeholder>({}).result(), dtype::float32, {1, 100});

    value typed(value v, dtype type, int_list shape) const {
        g->set_meta(v, {type, shape, {}});
        return v;
    }
    value constant(std::size_t place, dtype type, int_list shape, int_list strides = {}) const {
        return typed(g->create<builtin::constant>({.data = {&places[place], strides}}).result(), type, shape);
    }
    void linear(value weight, std::int64_t features) {
        ends.push_back(typed(
            g->create<aten::linear>({.input = x, .weight = weight}).result(), dtype::float32, {1, features}));
    }
    std::uint64_t bytes() const {
        g->create<builtin::output>({.values = ends});
        return least_constant_bytes(*g);
    }
};

}  // namespace

TEST_CASE("weights count, what shares their data counts once", "[constant_bytes]") {
    exported e;
    e.linear(e.constant(0, dtype::float32, {20, 100}), 20);
    e.linear(e.constant(0, dtype::float32, {20, 100}), 20);
    e.linear(e.constant(1, dtype::float16, {10, 100}), 10);
    CHECK(e.bytes() == 20 * 100 * 4 + 10 * 100 * 2);
}

TEST_CASE("weights count behind ops that keep all of their elements", "[constant_bytes]") {
    exported e;
    const value codes = e.constant(0, dtype::int8, {100, 20});
    const value read = e.typed(
        e.g->create<quantized_decomposed::dequantize_per_tensor>({codes, 0.5, 0, -128, 127, dtype::int8})
            .result(),
        dtype::float32, {100, 20});
    e.linear(e.typed(e.g->create<aten::t>({read}).result(), dtype::float32, {20, 100}), 20);
    CHECK(e.bytes() == 20 * 100);
}

TEST_CASE("what may become smaller, or is not used, does not count", "[constant_bytes]") {
    exported e;
    const value whole = e.constant(0, dtype::float32, {50, 100});
    const value part =
        e.typed(e.g->create<aten::slice_tensor>({.self = whole, .dim = 0, .start = 0, .end = 20}).result(),
            dtype::float32, {20, 100});
    e.linear(part, 20);
    e.linear(e.constant(1, dtype::float32, {20, 100}, {0, 1}), 20);
    e.linear(e.constant(2, dtype::float32, {20, 100}), 20);
    e.ends.pop_back();
    CHECK(e.bytes() == 0);
}

TEST_CASE(
    "a program with more weights than a file holds is refused before it is lowered", "[constant_bytes]") {
    exported e;
    e.linear(e.constant(0, dtype::float32, {20'000'000, 100}), 20'000'000);
    CHECK(e.bytes() == 8'000'000'000);
    program p;
    p.graph = std::move(e.g);
    p.user_outputs = 1;
    bool ran = false;
    lowering_options options;
    options.observer.after_pass = [&](const pass_record&, graph&) -> result<void> {
        ran = true;
        return {};
    };
    const auto refused = lower_to_tosa(std::move(p), options);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().kind == error_kind::unsupported);
    CHECK(refused.error().message ==
        "the weights alone would take 8000000000 bytes; a TOSA file holds at most 2147483647, as its offsets "
        "have 31 bits: quantize the weights, or split the model into several");
    CHECK_FALSE(ran);
}
