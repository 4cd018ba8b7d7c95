// SPDX-License-Identifier: MIT
// Tests memory maps from JSON, presets, and plans over banks as JSON.
#include <catch2/catch.hpp>

#include <string>

#include <headrace/banks/check_bank_plan.hpp>
#include <headrace/io/banks/bank_plan_json.hpp>
#include <headrace/io/banks/bank_plan_text.hpp>
#include <headrace/io/banks/memory_map_reader.hpp>

using namespace headrace;

namespace {

std::string map_fault(std::string_view json) {
    const auto read = read_memory_map(json);
    return read ? "" : std::string(read.error().message);
}
std::string bank_fault(const std::string& members) {
    return map_fault(R"({"banks": [{"name": "a", "size": 64, "holds": ["arena"]}, )" + members + "]}");
}

}  // namespace

TEST_CASE("a memory map is read from JSON") {
    const auto read = read_memory_map(R"({"name": "board", "stack": "2K", "banks": [
        {"name": "dtcm", "size": "64K", "bytes_per_cycle": 8, "holds": ["arena", "stack"]},
        {"name": "flash", "size": 1048576, "alignment": 32, "latency": 64, "holds": ["constants"]}]})");
    REQUIRE(read.has_value());
    const memory_map& map = read.value();
    CHECK(map.name == "board");
    CHECK(map.stack_bytes == 2048);
    REQUIRE(map.banks.size() == 2);
    CHECK(map.banks[0].bytes == 65536);
    CHECK(map.banks[0].alignment == 16);
    CHECK(map.banks[0].bytes_per_cycle == 8);
    CHECK(map.banks[0].may_hold(memory_use::stack));
    CHECK_FALSE(map.banks[0].may_hold(memory_use::constants));
    CHECK(map.banks[1].alignment == 32);
    CHECK(map.banks[1].latency == 64);
}

TEST_CASE("faults of a memory map name the bank and the key") {
    CHECK(map_fault("[]") == "it is not a JSON object");
    CHECK(map_fault("{").find("broken JSON") == 0);
    CHECK(map_fault("{}") == "'banks' is missing, or of the wrong type");
    CHECK(map_fault(R"({"banks": []})") == "'banks' is empty");
    CHECK(map_fault(R"({"stack": "4T", "banks": []})") ==
        R"('stack' is not a size of at most 256 TiB, such as 65536, "64K" or "2M")");
    CHECK(map_fault(R"({"bank": []})") == "a memory map has no member 'bank'; there are name, stack, banks");
    CHECK(bank_fault("3") == "bank 1 is not an object");
    CHECK(bank_fault(R"({"size": 64})") == "bank 1: 'name' is missing, or of the wrong type");
    CHECK(bank_fault(R"({"name": "b c"})").find("bank 1: its name 'b c' is not made of") == 0);
    CHECK(bank_fault(R"({"name": "a", "size": 64, "holds": ["arena"]})") ==
        "bank 1: there is another named 'a'");
    CHECK(bank_fault(R"({"name": "b", "holds": ["arena"]})") == "bank 1 'b': 'size' is missing, or 0");
    CHECK(bank_fault(R"({"name": "b", "size": 64})") == "bank 1 'b': 'holds' is missing, or empty");
    CHECK(bank_fault(R"({"name": "b", "size": -4})").find("bank 1 'b': 'size' is not a size") == 0);
    CHECK(
        bank_fault(R"({"name": "b", "size": "99999999999G"})").find("bank 1 'b': 'size' is not a size") == 0);
    CHECK(bank_fault(R"({"name": "b", "alignment": 12})") ==
        "bank 1 'b': 'alignment' is not a power of two up to 1048576");
    CHECK(bank_fault(R"({"name": "b", "bytes_per_cycle": 0})") ==
        "bank 1 'b': 'bytes_per_cycle' is not a number from 0.000001 to 1000000");
    CHECK(bank_fault(R"({"name": "b", "holds": ["code"]})") ==
        "bank 1 'b': 'holds' has 'code'; there are constants, arena, state, stack");
    CHECK(bank_fault(R"({"name": "b", "speed": 1})") ==
        "bank 1 'b' has no member 'speed'; there are name, size, alignment, bytes_per_cycle, latency, holds");
}

TEST_CASE("each preset can be read, and a file that does not exist names the presets") {
    for (const memory_preset& preset : memory_presets()) {
        const auto read = load_memory_map(std::string(preset.name));
        REQUIRE(read.has_value());
        CHECK(read.value().name == preset.name);
        for (const memory_use use : {memory_use::constants, memory_use::arena, memory_use::state}) {
            CHECK(std::ranges::any_of(
                read.value().banks, [&](const memory_bank& b) { return b.may_hold(use); }));
        }
    }
    const auto none = load_memory_map("corstone");
    REQUIRE_FALSE(none.has_value());
    CHECK(none.error().message.find("the presets are corstone-300, ") != std::string::npos);
}

TEST_CASE("the places of a plan are read back from its JSON") {
    const memory_map map = load_memory_map("stm32h743").value();
    const banked_models models{.names = {"m"},
        .items = {{.name = "x", .bytes = 20, .first = 0, .last = 1},
            {.name = "w", .use = memory_use::constants, .bytes = 20, .accessed = 7}}};
    const auto plan = make_bank_plan(models, map);
    REQUIRE(plan.has_value());
    json_writer w;
    write_bank_plan(w, models, map, plan.value());
    const auto read = read_bank_places(w.text(), models, map);
    REQUIRE(read.has_value());
    CHECK(read.value() == plan.value().places);
    const auto fault = [&](std::string_view json) {
        return std::string(read_bank_places(json, models, map).error().message);
    };
    CHECK(fault(R"({"tensors": []})") == "there is no place of 'x'");
    CHECK(
        fault(R"({"tensors": [{"name": "v", "model": "m", "use": "arena", "bank": "dtcm", "offset": 0}]})") ==
        "the models have no tensor 'v' of that model and use");
    CHECK(
        fault(R"({"tensors": [{"name": "x", "model": "m", "use": "arena", "bank": "ram", "offset": 0}]})") ==
        "'x': the memory map has no bank 'ram'");
    const std::string text = bank_plan_text(models, map, plan.value());
    CHECK(text.find("memory map stm32h743\n") == 0);
    CHECK(text.find("1 constant (20 bytes), arena of 1 tensor\n") != std::string::npos);
}
