// SPDX-License-Identifier: MIT
// Fuzzes the reader of .pte files, the restoration of their delegates, and the execution of their methods.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <headrace/io/pte/reader.hpp>
#include <headrace/io/pte/tosa_delegates.hpp>
#include <headrace/run/execution.hpp>
#include <random>

#include "lowering_checks.hpp"

namespace headrace::fuzz {

namespace {

void read_method(const pte_file& file, const std::string& name) {
    step("reading");
    const auto read = read_pte(file, name);
    if (!read) return check(read.error());
    graph& g = *read.value();
    step("verifying");
    result<void> sound = complete_metadata(g);
    if (sound) sound = verify_metadata(g);
    if (!sound) return saw(sound.error().message);
    saw_graph(g, "read");
    check_execution(g);
}

void restore_delegates(const pte_file& file, const pte_fb::Method& method) {
    step("restoring");
    if (method.delegates() == nullptr) return;
    const auto constants = file.named_data(pte::shared_constants_key);
    if (!constants) return check(constants.error());
    for (const pte_fb::Delegate* const d : *method.delegates()) {
        const auto blob = file.delegate(*d);
        if (!blob) return check(blob.error());
        const auto restored = restore_tosa(blob.value(), constants.value(), largest_restored(file.size()));
        if (!restored) check(restored.error());
    }
}

// The numbers of a flatbuffer are at multiples of four bytes: offsets, counts, indices, sizes.
void change_numbers(bytes& file, std::mt19937& random) {
    static constexpr std::uint32_t numbers[] = {0, 1, 2, 3, 4, 16, 64, 1U << 20U, 1U << 31U, ~0U};
    for (std::size_t n = 1 + random() % 3; n != 0; --n) {
        const std::size_t at = random() % (file.size() / 4) * 4;
        std::uint32_t number = 0;
        std::memcpy(&number, &file[at], sizeof number);
        const auto near = static_cast<std::uint32_t>(number + 3 - random() % 7);
        number = random() % 2 == 0 ? numbers[random() % std::size(numbers)] : near;
        std::memcpy(&file[at], &number, sizeof number);
    }
}

}  // namespace

void run(std::span<const std::uint8_t> input) {
    step("opening");
    // Aligned like a mapped file.
    std::vector<std::max_align_t> room(input.size() / sizeof(std::max_align_t) + 1);
    std::copy(input.begin(), input.end(), reinterpret_cast<std::uint8_t*>(room.data()));
    const auto file = pte_file::open(std::as_bytes(std::span(room)).first(input.size()));
    if (!file) return check(file.error());
    constexpr std::size_t most_methods = 4;
    std::vector<std::string> names = file.value().method_names();
    names.resize(std::min(names.size(), most_methods));
    for (const std::string& name : names) {
        read_method(file.value(), name);
        if (const auto method = file.value().method(name)) restore_delegates(file.value(), *method.value());
    }
}
bytes mutated(const bytes& input, std::size_t capacity, unsigned seed) {
    std::mt19937 random(seed);
    if (input.size() < 8 || input.size() > capacity || random() % 2 == 0)
        return mutated_bytes(input, capacity);
    bytes changed = input;
    change_numbers(changed, random);
    return changed;
}
std::vector<bytes> simpler(const bytes& input) { return without_parts(input); }

}  // namespace headrace::fuzz
