// SPDX-License-Identifier: MIT
// Tests the TOSA backend: delegates that restore the emitter's exact bytes, constants shared by content, and
// refusals that name node and method.

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>

#include <headrace/io/tosa/backend.hpp>
#include <headrace/io/tosa/delegate.hpp>
#include <headrace/partition/to_backend.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

using methods = std::map<std::string, graph*, std::less<>>;

result<void> as_it_is(graph&, pass_context&) { return {}; }
result<void> refuses_additions(graph& g, pass_context& context) {
    for (const node& n : g.nodes_of(info_of<tosa::add>)) context.report(n, "no additions today");
    return {};
}

// Builds x + weights + own: the weights are the same in each program, `own` differs.
void build(program& p, std::int64_t own) {
    const auto numbers = [&](std::int64_t first) {
        return create_constant(p.g, {dtype::int32, {8}, {}}, nullptr, [&](std::span<std::byte> data) {
            std::fill(data.begin(), data.end(), std::byte{});
            for (std::size_t i = 0; i != data.size(); i += 4) data[i] = static_cast<std::byte>(first++);
        });
    };
    const value x = p.input(dtype::int32, {8});
    const value sum = p.make<tosa::add>({.input1 = x, .input2 = numbers(100)});
    p.g.set_name(x, "x");
    p.g.set_name(sum, "sum");
    p.output(p.make<tosa::add>({.input1 = sum, .input2 = numbers(own)}));
    p.finish();
}

std::vector<std::byte> emitted(const graph& g) {
    const auto file = emit_tosa(g);
    REQUIRE(file.has_value());
    return {file.value().bytes().begin(), file.value().bytes().end()};
}

/// Returns the flatbuffer that is restored from a delegate and its data.
std::vector<std::byte> restored(const preprocess_result& made, const named_data_store_output& data) {
    std::vector<std::vector<std::byte>> held;
    for (const std::string& key : made.data_keys) {
        const auto at = data.keys.find(key);
        REQUIRE(at != data.keys.end());
        held.push_back(data.buffers[at->second]->bytes);
    }
    const std::vector<std::span<const std::byte>> constants(held.begin(), held.end());
    const auto joined = join_tosa(made.processed_bytes, constants);
    REQUIRE(joined.has_value());
    return joined.value();
}

}  // namespace

static_assert(multimethod_backend<tosa_backend>);

TEST_CASE("a program becomes a delegate and named data", "[tosa_backend]") {
    program p;
    build(p, 1);
    const auto expected = emitted(p.g);
    const auto made = tosa_backend(&as_it_is).preprocess(p.g, {});
    REQUIRE(made.has_value());
    CHECK(made.value().data_keys.size() == 2);
    CHECK(made.value().data.buffers.size() == 2);
    for (const auto& buffer : made.value().data.buffers) CHECK(buffer->alignment == 16);
    CHECK(made.value().processed_bytes.size() < expected.size() - 64);
    CHECK(restored(made.value(), made.value().data) == expected);
}

TEST_CASE("methods share what is equal, and each comes back byte for byte", "[tosa_backend]") {
    program encode, decode;
    build(encode, 1);
    build(decode, 2);
    const std::map<std::string, std::vector<std::byte>> expected{
        {"encode", emitted(encode.g)}, {"decode", emitted(decode.g)}};
    backend_registry backends;
    backends.add(tosa_backend(&as_it_is));
    const auto lowered = to_backend(methods{{"encode", &encode.g}, {"decode", &decode.g}},
        whole_program_partitioner{{.backend = "tosa"}}, backends);
    REQUIRE(lowered.has_value());
    const named_data_store_output& data = lowered.value().data;
    CHECK(data.buffers.size() == 3);
    for (const auto& [name, method] : lowered.value().methods) {
        REQUIRE(method.delegates.size() == 1);
        CHECK(restored(method.delegates[0].processed, data) == expected.at(name));
    }
}

TEST_CASE("constants go into an external file where a compile spec says so", "[tosa_backend]") {
    program p;
    build(p, 1);
    const std::vector<compile_spec> specs{{"external_tag", "weights"}};
    const auto made = tosa_backend(&as_it_is).preprocess(p.g, specs);
    REQUIRE(made.has_value());
    CHECK(made.value().data.keys.empty());
    REQUIRE(made.value().data.external.contains("weights"));
    CHECK(made.value().data.external.at("weights").size() == 2);
}

TEST_CASE("refusals name the node, and the method", "[tosa_backend]") {
    program p;
    build(p, 1);
    const tosa_backend backend(&refuses_additions);
    const auto alone = backend.preprocess(p.g, {});
    REQUIRE_FALSE(alone.has_value());
    CHECK(alone.error().kind == error_kind::unsupported);
    CHECK(alone.error().message == "sum (tosa.ADD): no additions today");
    const auto all = backend.preprocess_multimethod({{"encode", {&p.g}}}, {{"encode", {{}}}});
    REQUIRE_FALSE(all.has_value());
    CHECK(all.error().message == "method encode: sum (tosa.ADD): no additions today");
    // Each program has its own compile specs.
    const auto unequal = backend.preprocess_multimethod({{"encode", {&p.g}}}, {{"encode", {}}});
    REQUIRE_FALSE(unequal.has_value());
    CHECK(unequal.error().message == "method encode: not as many compile specs as programs");
    CHECK_FALSE(backend.preprocess_multimethod({{"encode", {&p.g}}}, {}).has_value());
}

TEST_CASE("what is no TOSA is not emitted", "[tosa_backend]") {
    program p;
    p.output(p.make<aten::relu>({p.input(dtype::float32, {2})}));
    p.finish();
    CHECK_FALSE(tosa_backend(&as_it_is).preprocess(p.g, {}).has_value());
}
