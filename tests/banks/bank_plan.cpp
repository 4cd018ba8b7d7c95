// SPDX-License-Identifier: MIT
// Tests plans over banks: they are valid, small ones take the fewest cycles, and errors name the bank.
#include <catch2/catch.hpp>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include <headrace/banks/bank_plan.hpp>
#include <headrace/banks/check_bank_plan.hpp>

using namespace headrace;

namespace {

memory_bank bank(
    std::string name, std::uint64_t bytes, double speed, std::initializer_list<memory_use> uses) {
    memory_bank b{.name = std::move(name), .bytes = bytes, .bytes_per_cycle = speed};
    for (const memory_use u : uses) b.allow(u);
    return b;
}

memory_map fast_and_slow(std::uint64_t fast, std::uint64_t slow) {
    using enum memory_use;
    return {.banks = {bank("slow", slow, 1, {constants, arena, state}),
                bank("fast", fast, 4, {constants, arena, state, stack})}};
}

bank_item tensor_of(std::string name, std::uint64_t bytes, std::uint64_t accessed, std::uint32_t first,
    std::uint32_t last, std::uint32_t model = 0) {
    return {.name = std::move(name),
        .bytes = bytes,
        .accessed = accessed,
        .model = model,
        .first = first,
        .last = last};
}
bank_item fixed(std::string name, memory_use use, std::uint64_t bytes, std::uint64_t accessed) {
    return {.name = std::move(name), .use = use, .bytes = bytes, .accessed = accessed};
}

banked_models random_models(std::mt19937& random, std::size_t items, std::uint32_t models) {
    banked_models made;
    for (std::uint32_t m = 0; m != models; ++m) made.names.push_back("m" + std::to_string(m));
    for (std::size_t i = 0; i != items; ++i) {
        const auto first = static_cast<std::uint32_t>(random() % 12);
        bank_item item = tensor_of("t" + std::to_string(i), 1 + random() % 500, random() % 9000, first,
            first + static_cast<std::uint32_t>(random() % 5), static_cast<std::uint32_t>(random() % models));
        if (random() % 4 == 0) item.use = random() % 2 == 0 ? memory_use::constants : memory_use::state;
        made.items.push_back(item);
    }
    return made;
}

// Returns the fewest cycles of all assignments whose live bytes fit at each moment.
double least_cycles(const banked_models& models, const memory_map& map) {
    const std::size_t count = models.items.size();
    double best = std::numeric_limits<double>::infinity();
    for (std::uint64_t choice = 0; choice != std::uint64_t{1} << count; ++choice) {
        double cycles = 0;
        bool fits = true;
        for (std::size_t b = 0; b != 2; ++b) {
            const auto is_here = [&](std::size_t i) { return ((choice >> i) & 1U) == b; };
            for (std::uint32_t step = 0; step != 20; ++step) {
                std::uint64_t live = 0;
                for (std::size_t i = 0; i != count; ++i) {
                    const bank_item& item = models.items[i];
                    const bool is_live =
                        item.use != memory_use::arena || (item.first <= step && step <= item.last);
                    if (is_here(i) && is_live) live += map.banks[b].aligned(item.bytes);
                }
                fits = fits && live <= map.banks[b].capacity();
            }
            for (std::size_t i = 0; i != count; ++i) {
                if (is_here(i))
                    cycles += static_cast<double>(models.items[i].accessed) / map.banks[b].bytes_per_cycle;
            }
        }
        if (fits) best = std::min(best, cycles);
    }
    return best;
}

}  // namespace

TEST_CASE("items with many accesses per byte go to the fast bank") {
    const banked_models models{.names = {"m"},
        .items = {fixed("cold", memory_use::constants, 1000, 1000),
            fixed("hot", memory_use::constants, 100, 5000), tensor_of("x", 64, 640, 0, 1),
            tensor_of("y", 64, 640, 1, 2), fixed("stack", memory_use::stack, 32, 0)}};
    const memory_map map = fast_and_slow(300, 2000);
    const auto plan = make_bank_plan(models, map);
    REQUIRE(plan.has_value());
    CHECK(map.banks[plan.value().places[0].bank].name == "slow");
    for (const std::size_t i : {1U, 2U, 3U, 4U}) CHECK(map.banks[plan.value().places[i].bank].name == "fast");
    CHECK(plan.value().cycles == 1000 + (5000 + 640 + 640) / 4.0);
    CHECK(plan.value().is_fastest);
    CHECK(plan.value().banks[1].fixed_bytes == 112 + 32);
    CHECK(plan.value().banks[1].bytes == 112 + 32 + 128);
    CHECK(plan.value().banks[1].lower_bound == plan.value().banks[1].bytes);
    CHECK(check_bank_plan(models, map, plan.value().places).has_value());
}

TEST_CASE("models share one arena unless they run at once") {
    banked_models models{
        .names = {"a", "b"}, .items = {tensor_of("x", 256, 1, 0, 3, 0), tensor_of("y", 512, 1, 0, 5, 1)}};
    const memory_map map = fast_and_slow(4096, 4096);
    const auto shared = make_bank_plan(models, map);
    REQUIRE(shared.has_value());
    CHECK(shared.value().banks[1].bytes == 512);
    CHECK(check_bank_plan(models, map, shared.value().places).has_value());
    models.run_at_once = true;
    CHECK_FALSE(check_bank_plan(models, map, shared.value().places).has_value());
    const auto apart = make_bank_plan(models, map);
    REQUIRE(apart.has_value());
    CHECK(apart.value().banks[1].bytes == 768);
    CHECK(check_bank_plan(models, map, apart.value().places).has_value());
}

TEST_CASE("small plans take the fewest cycles of all assignments") {
    std::mt19937 random(11);
    int proven = 0;
    for (int i = 0; i != 60; ++i) {
        const banked_models models = random_models(random, 9, 1);
        const memory_map map = fast_and_slow(256 + 16 * (random() % 60), 1024 + 16 * (random() % 100));
        const double least = least_cycles(models, map);
        const auto plan = make_bank_plan(models, map);
        if (!plan.has_value()) continue;
        CHECK(check_bank_plan(models, map, plan.value().places).has_value());
        CHECK(plan.value().cycles >= least);
        if (!plan.value().is_fastest) continue;
        ++proven;
        CHECK(plan.value().cycles == least);
    }
    CHECK(proven > 40);
}

TEST_CASE("random plans are valid") {
    std::mt19937 random(13);
    int planned = 0;
    for (int i = 0; i != 40; ++i) {
        banked_models models =
            random_models(random, 20 + random() % 150, static_cast<std::uint32_t>(1 + random() % 3));
        models.run_at_once = random() % 2 == 0;
        memory_map map = fast_and_slow(random() % 12'000 + 64, random() % 40'000 + 64);
        map.banks[0].alignment = std::uint64_t{1} << (random() % 7);
        const auto plan = make_bank_plan(models, map);
        if (!plan.has_value()) {
            CHECK(plan.error().message.find("bank '") != std::string::npos);
            continue;
        }
        ++planned;
        const auto valid = check_bank_plan(models, map, plan.value().places);
        INFO((valid.has_value() ? "" : valid.error().message));
        CHECK(valid.has_value());
        for (std::size_t b = 0; b != map.banks.size(); ++b) {
            CHECK(plan.value().banks[b].bytes >= plan.value().banks[b].lower_bound);
            CHECK(plan.value().banks[b].bytes <= map.banks[b].bytes);
        }
    }
    CHECK(planned > 15);
}

TEST_CASE("items that fit nowhere else get the fast bank, though they are rarely accessed") {
    using enum memory_use;
    const memory_map map{.banks = {bank("small", 128, 1, {arena}), bank("fast", 1024, 8, {arena})}};
    const banked_models models{
        .names = {"m"}, .items = {tensor_of("large", 1000, 1, 0, 4), tensor_of("hot", 128, 10'000, 0, 4)}};
    const auto plan = make_bank_plan(models, map);
    REQUIRE(plan.has_value());
    CHECK(plan.value().places[0].bank == 1);
    CHECK(plan.value().places[1].bank == 0);
}

TEST_CASE("the error names the bank, the bytes that it lacks and the largest tensors") {
    using enum memory_use;
    const banked_models models{.names = {"m"},
        .items = {tensor_of("x", 256, 1, 0, 1), tensor_of("y", 512, 1, 1, 2), tensor_of("z", 16, 1, 1, 2),
            tensor_of("later", 300, 1, 3, 3), fixed("w", constants, 100, 1)}};
    const auto plan_in = [&](std::vector<memory_bank> banks) {
        return std::string(make_bank_plan(models, {.banks = std::move(banks)}).error().message);
    };
    CHECK(plan_in({bank("sram", 600, 1, {arena, constants})}) ==
        "bank 'sram' lacks 304 bytes: it has 592, and 896 are needed for what fits in no other bank; the "
        "largest at its fullest step are 'y' (arena, 512 bytes), 'x' (arena, 256 bytes), 'w' (constants, 100 "
        "bytes), 'z' (arena, 16 bytes)");
    CHECK(plan_in({bank("sram", 256, 1, {arena}), bank("flash", 128, 1, {constants})}) ==
        "'y' (arena) has 512 bytes; the largest bank that may hold it, 'sram', has 256: 256 are missing");
    CHECK(plan_in({bank("sram", 4096, 1, {arena})}) ==
        "no bank of the memory map may hold constants, and 'w' has 100 bytes of it");
    const banked_models huge{.names = {"m"},
        .items = {
            fixed("a", constants, std::uint64_t{1} << 61, 1), fixed("b", constants, ~std::uint64_t{0}, 1)}};
    CHECK(std::string(make_bank_plan(huge, fast_and_slow(64, 64)).error().message) ==
        "the tensors are too large for any memory, at 'b'");
}
