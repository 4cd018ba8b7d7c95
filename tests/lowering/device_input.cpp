// SPDX-License-Identifier: MIT
// Tests the text of --input: its steps, channels and errors.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include <headrace/lowering/device/device_input.hpp>

using namespace headrace;

TEST_CASE("device input: steps apply from left to right") {
    const auto sound = parse_device_input("x=int16*0.5+1*2");
    REQUIRE(sound);
    CHECK(sound.value().name == "x");
    CHECK(sound.value().type == dtype::int16);
    CHECK(sound.value().factors == std::vector{1.0});
    CHECK(sound.value().offsets == std::vector{2.0});
}

TEST_CASE("device input: channels have factors and offsets of their own") {
    for (const char* text : {"image=uint8/2-[1,2]/[2,4]@3", "image=uint8/2-1,2/2,4@3"}) {
        const auto image = parse_device_input(text);
        REQUIRE(image);
        CHECK(image.value().type == dtype::uint8);
        CHECK(image.value().factors == std::vector{0.25, 0.125});
        CHECK(image.value().offsets == std::vector{-0.5, -0.5});
        CHECK(image.value().axis == 3);
    }
}

TEST_CASE("device input: errors say where the text is wrong") {
    const auto said = [](const char* text, const char* what) {
        const auto parsed = parse_device_input(text);
        REQUIRE_FALSE(parsed);
        CAPTURE(text, parsed.error().message);
        CHECK(parsed.error().message.find(what) != std::string::npos);
    };
    said("uint8/255", "NAME= is missing at position 1");
    said("x=float16", "there is no uint8, int8 or int16 at position 3");
    said("x=uint8%2", "there is none of * / + - @ at position 8");
    said("x=uint8/", "there is no number at position 9");
    said("x=uint8/0", "a division by 0 begins at position 8");
    said("x=uint8/[1,2", "a ] is missing at position 13");
    said("x=uint8/[1,2]-[1,2,3]", "another length");
    said("x=uint8*1e40", "beyond 1e30");
    said("x=uint8*0", "below 1e-30");
    said("x=uint8*inf", "not finite");
    said("x=uint8@1*2", "@AXIS is not the end");
}
