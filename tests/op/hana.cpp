// SPDX-License-Identifier: MIT
// Tests the adaptation of argument structs to Boost.Hana.

#include <catch2/catch.hpp>

#include <headrace/op/hana.hpp>

#include "../support/toy.hpp"

template <>
struct headrace::hana_dialects<headrace::adapted> {
    using type = headrace::dialects<headrace::toy::dialect>;
};

namespace hana = boost::hana;
using namespace headrace;

static_assert(hana::Struct<args<toy::conv2d>>::value);
static_assert(hana::Struct<args<toy::attributes>>::value);
static_assert(!hana::Struct<int>::value);
static_assert(decltype(hana::size(hana::accessors<args<toy::conv2d>>()))::value == 5);

TEST_CASE("argument structs are Hana Structs", "[hana]") {
    args<toy::conv2d> a{.input = {}, .weight = {}, .stride = {2, 3}, .groups = 4};
    CHECK(hana::at_key(a, hana::string_c<'g', 'r', 'o', 'u', 'p', 's'>) == 4);
    hana::at_key(a, hana::string_c<'g', 'r', 'o', 'u', 'p', 's'>) = 5;
    CHECK(a.groups == 5);
    std::string names;
    hana::for_each(hana::keys(a), [&](auto name) { names += std::string(name.c_str()) + " "; });
    CHECK(names == "input weight bias stride groups ");
    std::size_t lists = 0;
    hana::for_each(hana::members(a), [&](const auto& member) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(member)>, int_list>) lists += member.size();
    });
    CHECK(lists == 2);
}
