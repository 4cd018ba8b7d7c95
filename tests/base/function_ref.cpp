// SPDX-License-Identifier: MIT
// Tests references to callables.
#include <catch2/catch.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>

#include <headrace/base/function_ref.hpp>

using namespace headrace;

static_assert(std::is_trivially_copyable_v<function_ref<int(int)>>);
static_assert(std::constructible_from<function_ref<int(int)>, int (*)(long)>);
static_assert(!std::constructible_from<function_ref<int(int)>, int (*)()>);
static_assert(!std::constructible_from<function_ref<int(int)>, void (*)(int)>);

static int call_with(function_ref<int(int)> f, int x) { return f(x); }
static int twice(int x) { return 2 * x; }

TEST_CASE("lambdas, function objects and pointers to functions are called through a reference") {
    int calls = 0;
    const auto counted = [&calls](int x) {
        ++calls;
        return x + calls;
    };
    CHECK(call_with(counted, 10) == 11);
    CHECK(call_with(counted, 10) == 12);
    CHECK(calls == 2);
    CHECK(call_with([n = 1](int x) mutable { return n++ + x; }, 1) == 2);
    CHECK(call_with(std::negate<int>(), 3) == -3);
    CHECK(call_with(&twice, 4) == 8);
}

TEST_CASE("a reference refers to its callable, and a copy to the same one") {
    int made = 0;
    auto count = [made]() mutable { return ++made; };
    const function_ref<int()> first(count);
    const function_ref<int()> second = first;
    CHECK(first() == 1);
    CHECK(second() == 2);
    CHECK(count() == 3);
}

TEST_CASE("arguments are handed on as they are") {
    const auto take = [](std::unique_ptr<int> p) { return *p; };
    const function_ref<int(std::unique_ptr<int>)> f(take);
    CHECK(f(std::make_unique<int>(7)) == 7);
    int n = 1;
    const auto increase = [](int& x) { ++x; };
    const function_ref<void(int&)> g(increase);
    g(n);
    CHECK(n == 2);
}
