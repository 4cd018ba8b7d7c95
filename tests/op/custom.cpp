// SPDX-License-Identifier: MIT
// Tests argument types that a dialect adds.

#include <catch2/catch.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <headrace/op/custom.hpp>
#include <headrace/op/reflect.hpp>

using namespace headrace;

namespace {

enum class shape : std::int8_t { round, square };
constexpr std::string_view enumerator_names(shape) { return "round, square"; }

struct inner {
    double scale = 1;
    bool on = false;
};
constexpr std::string_view member_names(const inner&) { return "scale, on"; }
struct outer {
    inner first{};
    std::uint16_t count = 7;
    shape form{};
};
constexpr std::string_view member_names(const outer&) { return "first, count, form"; }

struct dialect;
struct draw : op<dialect, "test.draw", "self, form, what, wide, words"> {
    struct args {
        value self;
        shape form = shape::square;
        outer what{};
        std::uint64_t wide = 0;
        list<std::string_view> words{};
    };
};
struct dialect : dialect_of<"test", draw> {};

static_assert(info_of<draw>.find("form")->kind == field_kind::custom);
static_assert(info_of<draw>.find("form")->custom == custom_type_of<shape>);
static_assert(info_of<draw>.find("words")->kind == field_kind::texts);
static_assert(argument_type<shape> && !argument_type<std::optional<shape>> && !argument_type<char>);

// Lists are views.
constexpr std::string_view words[] = {"a", "\""};

std::string printed(const args<draw>& a) {
    return std::string(print(draw{}, a, [](value) { return std::string_view("x"); }));
}
template <class T>
bool parse(std::string_view text, T& into) {
    return custom_type_of<T>->parse(text, &into);
}

}  // namespace

TEST_CASE("custom: members are printed", "[custom]") {
    CHECK(printed({.self = {}}) ==
        "test.draw(self=none, form=square, what=[first=[scale=1, on=false], count=7, "
        "form=round], wide=0, words=[])");
    CHECK(printed({.self = {},
                      .form = static_cast<shape>(9),
                      .wide = ~std::uint64_t{0},
                      .words = list<std::string_view>(words, 2)})
              .find("form=9") != std::string::npos);
}

TEST_CASE("custom: members are read", "[custom]") {
    outer what;
    REQUIRE(parse(" [ first = [on=true], form=square ,count=65535 ] ", what));
    CHECK((what.first.on && what.first.scale == 1 && what.count == 65535 && what.form == shape::square));
    REQUIRE(parse("[[2.5, true], 1]", what));
    CHECK((what.first.scale == 2.5 && what.count == 1));
    for (const std::string_view broken : {"", "[", "[1]", "[count=65536]", "[count=-1]", "[count=1, count=1]",
             "[form=oval]", "[what=1]", "[[1, true], 1, round, 4]", "[] x", "[first=[scale=x]]"})
        CHECK_FALSE(parse(broken, what));
    shape form{};
    CHECK((parse("square", form) && form == shape::square));
    CHECK_FALSE(parse("1", form));
    std::int8_t small = 0;
    CHECK((parse("-128", small) && small == -128));
    CHECK_FALSE(parse("128", small));
}

TEST_CASE("custom: members are compared and hashed by value", "[custom]") {
    const args<draw> a{.self = {}, .words = list<std::string_view>(words, 1)};
    args<draw> b{.self = {}, .words = list<std::string_view>(words, 1)};
    CHECK(equal_arguments(info_of<draw>, &a, &b));
    CHECK(hash_arguments(info_of<draw>, &a) == hash_arguments(info_of<draw>, &b));
    b.what.first.scale = -0.0;
    CHECK_FALSE(equal_arguments(info_of<draw>, &a, &b));
    b = a;
    b.form = shape::round;
    CHECK_FALSE(equal_arguments(info_of<draw>, &a, &b));
    CHECK(hash_arguments(info_of<draw>, &a) != hash_arguments(info_of<draw>, &b));
    b = a;
    b.words = list<std::string_view>(words + 1, 1);
    CHECK_FALSE(equal_arguments(info_of<draw>, &a, &b));
    args<draw> c{};
    args<draw> d{};
    c.what.first.scale = d.what.first.scale = std::numeric_limits<double>::quiet_NaN();
    CHECK(equal_arguments(info_of<draw>, &c, &d));
}
