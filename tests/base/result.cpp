// SPDX-License-Identifier: MIT
// Tests headrace::result and HEADRACE_TRY.
#include <catch2/catch.hpp>

#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <headrace/base/result.hpp>

using namespace headrace;

namespace {

result<int> positive(int i) {
    if (i <= 0) return invalid("it is not positive");
    return i;
}
result<void> check_positive(int i) {
    HEADRACE_TRY(positive(i));
    return {};
}
result<std::string> as_text(int i) {
    HEADRACE_TRY(check_positive(i));
    HEADRACE_TRY(number, positive(i));
    return std::to_string(number);
}
template <class A, class B>
result<void> convertible(bool is) {
    if (is) return {};
    return malformed("no " + std::pmr::string(sizeof(A) == sizeof(B) ? "conversion" : "room"));
}
result<int> through_commas(bool is) {
    HEADRACE_TRY_VOID(convertible<int, char>(is));
    return 1;
}

/// Counts bytes that are allocated and not freed.
class counting_memory final : public std::pmr::memory_resource {
public:
    std::size_t taken = 0;
    std::size_t allocations = 0;

private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        taken += bytes;
        ++allocations;
        return std::pmr::new_delete_resource()->allocate(bytes, alignment);
    }
    void do_deallocate(void* at, std::size_t bytes, std::size_t alignment) override {
        taken -= bytes;
        std::pmr::new_delete_resource()->deallocate(at, bytes, alignment);
    }
    [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
        return this == &other;
    }
};

static_assert(!std::is_copy_constructible_v<result<int>>, "an error has one owner");
static_assert(std::is_nothrow_move_constructible_v<result<std::string>>);
static_assert(std::is_convertible_v<const char*, result<std::string>>);
static_assert(!std::is_convertible_v<result<int>, bool>);
static_assert(!std::is_constructible_v<result<bool>, result<int>>, "no value is made of a result");
static_assert(sizeof(result<void>) == sizeof(void*));

}  // namespace

TEST_CASE("result: holds a value or an error") {
    const result<int> one = positive(1);
    REQUIRE(one);
    CHECK(one.has_value());
    CHECK_FALSE(one.has_error());
    CHECK(one.value() == 1);

    const result<int> none = positive(0);
    REQUIRE_FALSE(none);
    CHECK(none.has_error());
    CHECK(none.error().kind == error_kind::invalid);
    CHECK(none.error().message == "it is not positive");
}

TEST_CASE("result: HEADRACE_TRY goes on with the value, or returns the error") {
    CHECK(as_text(12).value() == "12");
    CHECK(as_text(-1).error().message == "it is not positive");
    CHECK(check_positive(3));
    CHECK(check_positive(0).error().kind == error_kind::invalid);
    CHECK(through_commas(true).value() == 1);
    CHECK(through_commas(false).error().message == "no room");
}

TEST_CASE("result: values that can only be moved, and those that convert") {
    result<std::unique_ptr<int>> made = std::make_unique<int>(4);
    const std::unique_ptr<int> taken = std::move(made).value();
    CHECK(*taken == 4);
    const result<std::optional<int>> maybe = 5;
    CHECK(*maybe.value() == 5);
}

TEST_CASE("result: takes over what another one holds, whatever it held itself") {
    const bool is_value = GENERATE(false, true);
    const bool was_value = GENERATE(false, true);
    result<std::string> to =
        was_value ? result<std::string>("before") : result<std::string>(invalid("before"));
    result<std::string> from =
        is_value ? result<std::string>("after") : result<std::string>(malformed("after"));
    to = std::move(from);
    REQUIRE(to.has_value() == is_value);
    CHECK((is_value ? to.value() : std::string(to.error().message)) == "after");
}

TEST_CASE("result: an error lies where its text does, and is given back") {
    counting_memory memory;
    {
        result<int> failed =
            error{error_kind::invalid, std::pmr::string("a text of more than sixteen bytes", &memory)};
        CHECK(memory.allocations == 2);
        result<int> moved = std::move(failed);
        CHECK(memory.allocations == 2);
        CHECK(moved.error().message.get_allocator().resource() == &memory);
    }
    CHECK(memory.taken == 0);
}
