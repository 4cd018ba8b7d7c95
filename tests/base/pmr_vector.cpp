// SPDX-License-Identifier: MIT
// Tests headrace::pmr_vector against std::vector, and its memory.
#include <catch2/catch.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <memory>
#include <memory_resource>
#include <new>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <headrace/base/pmr_vector.hpp>

using namespace headrace;

static_assert(std::is_nothrow_move_constructible_v<pmr_vector<std::string>>);
static_assert(std::contiguous_iterator<pmr_vector<int>::iterator>);
static_assert(!std::is_convertible_v<std::size_t, pmr_vector<int>>);

namespace {

// Counts bytes that are allocated and not freed. Allows less than a gigabyte.
class counting_resource : public std::pmr::memory_resource {
public:
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        if (bytes >> 30U != 0) throw std::bad_alloc();
        void* const memory = std::pmr::new_delete_resource()->allocate(bytes, alignment);
        bytes_ += bytes;
        return memory;
    }
    void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
        bytes_ -= bytes;
        std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
    }
    [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
        return this == &other;
    }

    std::size_t bytes_ = 0;
};

// Its constructor throws once that many objects exist.
struct limited {
    static inline int alive = 0;
    static inline int most = 0;

    limited() { enter(); }
    limited(const limited&) { enter(); }
    limited& operator=(const limited&) = default;
    ~limited() { --alive; }

    static void enter() {
        if (alive == most) throw std::bad_alloc();
        ++alive;
    }
};

// Does the same random operations on both; std::vector is the reference.
template <class T, class Make>
void compare_with_std(Make&& make, unsigned seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random()) % bound; };
    const auto index = [](const auto& v, auto at) { return at - v.begin(); };
    pmr_vector<T> ours;
    std::vector<T> theirs;
    for (int step = 0; step != 2000; ++step) {
        const auto number = static_cast<std::uint32_t>(random() % 100);
        const T item = make(number);
        const auto at = static_cast<std::ptrdiff_t>(below(ours.size() + 1));
        const auto behind =
            at + static_cast<std::ptrdiff_t>(below(ours.size() - static_cast<std::size_t>(at) + 1));
        const std::size_t count = below(9);
        const std::list<T> items(count, item);
        std::ptrdiff_t our_place = 0;
        std::ptrdiff_t their_place = 0;
        switch (below(12)) {
            case 0:
                ours.push_back(item), theirs.push_back(item);
                break;
            case 1:
                ours.emplace_back(item), theirs.emplace_back(item);
                break;
            case 2:
                if (!ours.empty()) ours.pop_back(), theirs.pop_back();
                break;
            case 3:
                our_place = index(ours, ours.insert(ours.begin() + at, item));
                their_place = index(theirs, theirs.insert(theirs.begin() + at, item));
                break;
            case 4:
                our_place = index(ours, ours.insert(ours.begin() + at, count, item));
                their_place = index(theirs, theirs.insert(theirs.begin() + at, count, item));
                break;
            case 5:
                our_place = index(ours, ours.insert(ours.begin() + at, items.begin(), items.end()));
                their_place = index(theirs, theirs.insert(theirs.begin() + at, items.begin(), items.end()));
                break;
            case 6:
                our_place = index(ours, ours.erase(ours.begin() + at, ours.begin() + behind));
                their_place = index(theirs, theirs.erase(theirs.begin() + at, theirs.begin() + behind));
                break;
            case 7:
                ours.resize(count), theirs.resize(count);
                break;
            case 8:
                ours.resize(count * 3, item), theirs.resize(count * 3, item);
                break;
            case 9:
                if (random() % 4 == 0) ours.assign(count, item), theirs.assign(count, item);
                break;
            case 10: {
                const auto is_odd = [&](const T& x) { return x == item; };
                CHECK(erase_if(ours, is_odd) == std::erase_if(theirs, is_odd));
                break;
            }
            default:
                if (!ours.empty()) {
                    ours.push_back(ours[below(ours.size())]);
                    theirs.push_back(ours.back());
                }
        }
        REQUIRE(our_place == their_place);
        REQUIRE(std::vector<T>(ours.begin(), ours.end()) == theirs);
        if (ours.size() > 200) ours.clear(), theirs.clear();
    }
}

}  // namespace

TEST_CASE("pmr_vector: does what std::vector does") {
    const auto seed = GENERATE(1U, 2U, 3U);
    compare_with_std<int>([](std::uint32_t i) { return static_cast<int>(i); }, seed);
    compare_with_std<std::string>([](std::uint32_t i) { return std::string(i, 'x'); }, seed);
}

TEST_CASE("pmr_vector: is made of a count, items, a range or another vector") {
    CHECK(pmr_vector<int>(3) == pmr_vector<int>{0, 0, 0});
    CHECK(pmr_vector<int>(3, 7) == pmr_vector<int>{7, 7, 7});
    const std::array<std::int64_t, 2> numbers{1, 2};
    CHECK(pmr_vector<int>(numbers.begin(), numbers.end()) == pmr_vector<int>{1, 2});
    CHECK_FALSE(pmr_vector<int>{1, 2} == pmr_vector<int>{1, 3});
    CHECK_FALSE(pmr_vector<int>{1, 2} == pmr_vector<int>{1});

    pmr_vector<std::unique_ptr<int>> unique;
    for (int i = 0; i != 9; ++i) unique.push_back(std::make_unique<int>(i));
    pmr_vector<std::unique_ptr<int>> taken = std::move(unique);
    CHECK(*taken.back() == 8);
    CHECK(unique.empty());

    pmr_vector<bool> bits{true, false};
    bool* const first = bits.data();
    CHECK((first[0] && !first[1]));

    pmr_vector<int> backward{1, 2, 3};
    CHECK(pmr_vector<int>(backward.rbegin(), backward.rend()) == pmr_vector<int>{3, 2, 1});
    backward = {4};
    CHECK(backward == pmr_vector<int>{4});
}

TEST_CASE("pmr_vector: takes memory of its resource, and gives all of it back") {
    counting_resource memory;
    counting_resource other;
    {
        pmr_vector<std::uint64_t> v(&memory);
        CHECK(memory.bytes() == 0);
        v.resize(100);
        CHECK(memory.bytes() == v.capacity() * sizeof(std::uint64_t));

        const pmr_vector<std::uint64_t> copy = v;  // uses the default memory resource
        CHECK(copy.resource() == std::pmr::get_default_resource());

        pmr_vector<std::uint64_t> moved = std::move(v);
        CHECK(moved.resource() == &memory);
        pmr_vector<std::uint64_t> elsewhere(&other);
        elsewhere = std::move(moved);
        CHECK(elsewhere.resource() == &other);
        CHECK(elsewhere.size() == 100);
        CHECK(other.bytes() >= 100 * sizeof(std::uint64_t));
    }
    CHECK(memory.bytes() == 0);
    CHECK(other.bytes() == 0);
}

TEST_CASE("pmr_vector: destroys what it holds if an item cannot be made") {
    limited::most = 5;
    CHECK_THROWS_AS(pmr_vector<limited>(9), std::bad_alloc);
    CHECK(limited::alive == 0);
    {
        pmr_vector<limited> v(3);
        CHECK_THROWS_AS(pmr_vector<limited>(v), std::bad_alloc);
        CHECK_THROWS_AS(v.resize(6), std::bad_alloc);
        CHECK(v.size() >= 3);
    }
    CHECK(limited::alive == 0);
}

TEST_CASE("pmr_vector: refuses a count that no memory holds") {
    counting_resource memory;
    pmr_vector<std::uint64_t> v(&memory);
    CHECK_THROWS_AS(v.reserve(static_cast<std::size_t>(-1) / 2), std::bad_alloc);
    CHECK_THROWS_AS(v.resize(static_cast<std::size_t>(-1)), std::bad_alloc);
    // The product with the size of an item overflows to 8.
    CHECK_THROWS_AS(v.reserve((static_cast<std::size_t>(1) << 61U) + 1), std::bad_alloc);
    CHECK(v.empty());
}
