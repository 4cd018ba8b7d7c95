// SPDX-License-Identifier: MIT
// Tests hash tables with open addressing.
#include <catch2/catch.hpp>

#include <cstdint>
#include <memory_resource>
#include <vector>

#include <headrace/base/flat_map.hpp>
#include <headrace/base/mix.hpp>

using namespace headrace;

namespace {

const auto equals = [](std::uint32_t wanted) { return [wanted](std::uint32_t n) { return n == wanted; }; };

}  // namespace

TEST_CASE("flat_map: what was added is found, and nothing else") {
    flat_map<std::uint32_t> numbers;
    CHECK(numbers.find(7, equals(7)) == nullptr);
    for (std::uint32_t n = 1; n <= 10000; ++n) {
        std::uint32_t& added = numbers.find_or_add(mix(0, n), equals(n));
        REQUIRE(added == 0);
        added = n;
    }
    CHECK(numbers.size() == 10000);
    for (std::uint32_t n = 1; n <= 10000; ++n) {
        const std::uint32_t* const found = numbers.find(mix(0, n), equals(n));
        REQUIRE(found != nullptr);
        REQUIRE(*found == n);
        REQUIRE(numbers.find_or_add(mix(0, n), equals(n)) == n);
    }
    CHECK(numbers.size() == 10000);
    CHECK(numbers.find(mix(0, 10001), equals(10001)) == nullptr);
}

TEST_CASE("flat_map: items with one hash are told apart, and keep their order of search when it grows") {
    flat_map<std::uint32_t> numbers;
    for (std::uint32_t n = 1; n <= 100; ++n) numbers.find_or_add(15, equals(n)) = n;
    for (std::uint32_t n = 1; n <= 100; ++n) {
        REQUIRE(numbers.find(15, equals(n)) != nullptr);
        CHECK(*numbers.find(15, equals(n)) == n);
        CHECK(numbers.find(16, equals(n)) == nullptr);
    }
}

TEST_CASE("flat_map: items may be structs that say whether they are there") {
    struct count {
        const int* of = nullptr;
        int uses = 0;
        explicit operator bool() const { return of != nullptr; }
    };
    const std::vector<int> things(50);
    flat_map<count> counts;
    for (int round = 0; round != 3; ++round) {
        for (const int& thing : things) {
            count& c = counts.find_or_add(
                hash_of_address(&thing), [&](const count& other) { return other.of == &thing; });
            c.of = &thing;
            ++c.uses;
        }
    }
    CHECK(counts.size() == things.size());
    for (const int& thing : things) {
        const count* const found =
            counts.find(hash_of_address(&thing), [&](const count& other) { return other.of == &thing; });
        REQUIRE(found != nullptr);
        CHECK(found->uses == 3);
    }
}

TEST_CASE("flat_map: memory comes from the resource that it was given, and is asked for once if reserved") {
    struct counting : std::pmr::memory_resource {
        int allocations = 0;
        void* do_allocate(std::size_t bytes, std::size_t alignment) override {
            ++allocations;
            return std::pmr::new_delete_resource()->allocate(bytes, alignment);
        }
        void do_deallocate(void* at, std::size_t bytes, std::size_t alignment) override {
            std::pmr::new_delete_resource()->deallocate(at, bytes, alignment);
        }
        bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
            return this == &other;
        }
    };
    counting memory;
    flat_map<std::uint32_t> numbers(&memory);
    CHECK(memory.allocations == 0);
    numbers.reserve(1000);
    for (std::uint32_t n = 1; n <= 1000; ++n) numbers.find_or_add(mix(0, n), equals(n)) = n;
    CHECK(memory.allocations == 1);
}

TEST_CASE("mix: words in another order have another hash") {
    CHECK(mix(mix(0, 1), 2) != mix(mix(0, 2), 1));
    CHECK(mix(1, 0) != mix(mix(1, 0), 0));
}
