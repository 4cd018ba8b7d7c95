// SPDX-License-Identifier: MIT
// Tests named data: equal content is stored once, alignment, tags, merging, and refusals.

#include <catch2/catch.hpp>

#include <string>

#include <headrace/partition/named_data_store.hpp>

using namespace headrace;

namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

TEST_CASE("equal data is kept once", "[named_data_store]") {
    named_data_store store;
    REQUIRE(store.add_named_data("a", bytes_of("weights"), 4).has_value());
    REQUIRE(store.add_named_data("b", bytes_of("weights"), 6).has_value());
    REQUIRE(store.add_named_data("c", bytes_of("weight"), 1).has_value());
    REQUIRE(store.add_named_data("a", bytes_of("weights"), 4).has_value());
    REQUIRE(store.add_named_data("empty", {}).has_value());
    const named_data_store_output out = store.output();
    REQUIRE(out.buffers.size() == 3);
    CHECK(out.keys.size() == 4);
    CHECK(out.keys.at("a") == out.keys.at("b"));
    CHECK(out.keys.at("a") != out.keys.at("c"));
    CHECK(out.buffers[out.keys.at("a")]->alignment == 12);  // a multiple of 4 and of 6
    CHECK(store.find("c") == out.keys.at("c"));
    CHECK(store.find("d") == store.size());
}

TEST_CASE("a key means one content and one tag", "[named_data_store]") {
    named_data_store store;
    REQUIRE(store.add_named_data("a", bytes_of("one")).has_value());
    const auto other = store.add_named_data("a", bytes_of("two"));
    REQUIRE_FALSE(other.has_value());
    CHECK(other.error().message == "named data 'a' already exists with different content");
    const auto tagged = store.add_named_data("a", bytes_of("one"), 1, "file");
    REQUIRE_FALSE(tagged.has_value());
    CHECK(tagged.error().message == "named data 'a' already exists with a different tag");
    CHECK_FALSE(store.add_named_data("z", bytes_of("one"), 0).has_value());
    CHECK(store.output().buffers.size() == 1);
}

TEST_CASE("external data is listed by its tag", "[named_data_store]") {
    named_data_store store;
    REQUIRE(store.add_named_data("inside", bytes_of("same")).has_value());
    REQUIRE(store.add_named_data("outside", bytes_of("same"), 16, "model").has_value());
    REQUIRE(store.add_named_data("elsewhere", bytes_of("other"), 1, "lora").has_value());
    const named_data_store_output out = store.output();
    CHECK(out.keys.size() == 1);
    REQUIRE(out.external.size() == 2);
    CHECK(out.external.at("model").at("outside") == out.keys.at("inside"));
    CHECK(out.external.at("lora").contains("elsewhere"));
}

TEST_CASE("stores are merged by content", "[named_data_store]") {
    named_data_store first;
    REQUIRE(first.add_named_data("a", bytes_of("shared"), 2).has_value());
    REQUIRE(first.add_named_data("t", bytes_of("tagged"), 8, "file").has_value());
    named_data_store second;
    REQUIRE(second.add_named_data("b", bytes_of("shared"), 16).has_value());
    REQUIRE(second.add_named_data("a", bytes_of("shared")).has_value());
    REQUIRE(second.merge(first.output()).has_value());
    const named_data_store_output out = second.output();
    CHECK(out.buffers.size() == 2);
    CHECK(out.keys.size() == 2);
    CHECK(out.buffers[out.keys.at("a")]->alignment == 16);
    CHECK(out.external.at("file").size() == 1);

    named_data_store third;
    REQUIRE(third.add_named_data("a", bytes_of("different")).has_value());
    CHECK_FALSE(third.merge(out).has_value());
    // Merging equal data again changes nothing.
    REQUIRE(second.merge(out).has_value());
    CHECK(second.output().buffers.size() == 2);
}

TEST_CASE("what was given out stays as it was", "[named_data_store]") {
    named_data_store store;
    REQUIRE(store.add_named_data("a", bytes_of("data"), 1).has_value());
    const named_data_store_output before = store.output();
    REQUIRE(store.add_named_data("a", bytes_of("data"), 64).has_value());
    CHECK(before.buffers[0]->alignment == 1);
    CHECK(store.output().buffers[0]->alignment == 64);
}

TEST_CASE("the hash depends on each byte and on the length", "[named_data_store]") {
    std::string text(100, 'x');
    const std::uint64_t hash = hash_of_bytes(bytes_of(text));
    for (char& c : text) {
        c = 'y';
        CHECK(hash_of_bytes(bytes_of(text)) != hash);
        c = 'x';
    }
    CHECK(hash_of_bytes(bytes_of(text)) == hash);
    CHECK(hash_of_bytes(bytes_of(std::string(3, '\0'))) != hash_of_bytes(bytes_of(std::string(4, '\0'))));
}
