// SPDX-License-Identifier: MIT
#include <atomic>
#include <catch2/catch.hpp>
#include <cstddef>
#include <functional>
#include <future>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <headrace/quantization/read_in_order.hpp>

namespace headrace {
namespace {

void run_on_threads(std::size_t count, const std::function<void(std::size_t)>& work) {
    std::atomic<std::size_t> next = 0;
    std::vector<std::future<void>> threads;
    for (int t = 0; t != 4; ++t) {
        threads.push_back(std::async(std::launch::async, [&] {
            for (std::size_t i = next++; i < count; i = next++) work(i);
        }));
    }
    for (auto& thread : threads) thread.get();
}

result<std::size_t> square(std::size_t i) { return i * i; }

TEST_CASE("each reader reads all items in their order") {
    const parallel_for in_parallel = GENERATE(parallel_for(run_serially), parallel_for(run_on_threads));
    const std::size_t readers = GENERATE(1U, 7U);
    constexpr std::size_t items = 1000;
    std::vector<std::vector<std::size_t>> seen(readers);
    const auto read = [&](std::size_t r, std::size_t item) { seen[r].push_back(item); };
    REQUIRE(read_in_order<std::size_t>(items, square, readers, read, in_parallel));
    for (const std::vector<std::size_t>& one : seen) {
        REQUIRE(one.size() == items);
        for (std::size_t i = 0; i != items; ++i) REQUIRE(one[i] == i * i);
    }
}

TEST_CASE("items are made although nobody reads them, and without any there is nothing to read") {
    std::atomic<std::size_t> made = 0;
    const auto make = [&](std::size_t i) {
        ++made;
        return square(i);
    };
    std::size_t reads = 0;
    const auto read = [&](std::size_t, std::size_t) { ++reads; };
    REQUIRE(read_in_order<std::size_t>(100, make, 0, read, run_on_threads));
    CHECK(made == 100);
    REQUIRE(read_in_order<std::size_t>(0, make, 3, read, run_on_threads));
    CHECK(reads == 0);
}

TEST_CASE("few items are kept at a time") {
    struct counted {
        explicit counted(std::atomic<int>& all) : all_(&all) { ++*all_; }
        counted(counted&& from) noexcept : all_(std::exchange(from.all_, nullptr)) {}
        counted& operator=(counted&& from) noexcept {
            std::swap(all_, from.all_);
            return *this;
        }
        counted(const counted&) = delete;
        counted& operator=(const counted&) = delete;
        ~counted() {
            if (all_ != nullptr) --*all_;
        }
        std::atomic<int>* all_;
    };
    std::atomic<int> kept = 0;
    std::atomic<int> most = 0;
    const auto make = [&](std::size_t) -> result<counted> { return counted(kept); };
    const auto read = [&](std::size_t, const counted&) {
        const int now = kept;
        for (int before = most; before < now && !most.compare_exchange_weak(before, now);) {
        }
    };
    REQUIRE(read_in_order<counted>(500, make, 2, read, run_on_threads));
    CHECK(kept == 0);
    CHECK(most >= 1);
    CHECK(most <= 16);
}

TEST_CASE("the error is that of the first item that cannot be made") {
    const parallel_for in_parallel = GENERATE(parallel_for(run_serially), parallel_for(run_on_threads));
    const auto make = [](std::size_t i) -> result<std::size_t> {
        if (i >= 40) return malformed("item " + std::to_string(i));
        return i;
    };
    const auto read = [](std::size_t, std::size_t) {};
    const auto done = read_in_order<std::size_t>(100, make, 2, read, in_parallel);
    REQUIRE(!done);
    CHECK(done.error().message == "item 40");
}

TEST_CASE("an exception reaches the caller, and no thread waits for the item that it cost") {
    const auto make = [](std::size_t i) -> result<std::size_t> {
        if (i == 3) throw std::bad_alloc();
        return i;
    };
    const auto read = [](std::size_t, std::size_t) {};
    CHECK_THROWS_AS(
        static_cast<void>(read_in_order<std::size_t>(100, make, 2, read, run_on_threads)), std::bad_alloc);
}

}  // namespace
}  // namespace headrace
