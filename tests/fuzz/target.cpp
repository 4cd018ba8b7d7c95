// SPDX-License-Identifier: MIT
#include "target.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "counters.hpp"

namespace headrace::fuzz {

// libFuzzer treats these as counters of executed code.
__attribute__((section("__libfuzzer_extra_counters"))) std::uint8_t counters[counter_count];
char last_step[step_capacity];
char last_fault[fault_capacity];

namespace {

// Removes the names and numbers of a program, so that they do not make an error a new one.
std::string kind_of_message(std::string_view message) {
    std::string kind;
    bool quoted = false;
    for (const char c : message) {
        if (c == '\'') quoted = !quoted;
        if (quoted || std::isdigit(static_cast<unsigned char>(c)) != 0) continue;
        kind += c;
    }
    // "path: model.json: node name (op): reason": the text before the op is the program's.
    const std::size_t op = kind.find(" (");
    return op == std::string::npos ? kind : kind.substr(op);
}

}  // namespace

void found(std::string_view fault) {
    std::snprintf(last_fault, fault_capacity, "%.*s", static_cast<int>(fault.size()), fault.data());
    std::fprintf(stderr, "finding after step '%s': %s\n", last_step, last_fault);
    std::abort();
}

void check(const error& e) {
    if (e.kind == error_kind::invalid) found("internal error: " + std::string(e.message));
    saw(kind_of_message(e.message));
}

void saw(std::string_view what) { counters[std::hash<std::string_view>()(what) % counter_count] = 1; }
void saw(std::string_view first, std::string_view second, std::string_view third) {
    std::string all(first);
    all.append(1, '\n').append(second).append(1, '\n').append(third);
    saw(all);
}

void step(std::string_view name) {
    std::snprintf(last_step, step_capacity, "%.*s", static_cast<int>(name.size()), name.data());
}

memory_file::memory_file(std::span<const std::uint8_t> content)
    : descriptor_(::memfd_create("input", MFD_CLOEXEC)) {
    if (descriptor_ < 0 ||
        ::write(descriptor_, content.data(), content.size()) != static_cast<ssize_t>(content.size())) {
        std::perror("memfd_create");
        std::exit(2);
    }
}
memory_file::~memory_file() { ::close(descriptor_); }
std::string memory_file::path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

bytes mutated_bytes(const bytes& input, std::size_t capacity) {
    bytes room(input);
    room.resize(std::max(capacity, input.size()));
    room.resize(LLVMFuzzerMutate(room.data(), input.size(), room.size()));
    return room;
}

std::vector<bytes> without_parts(const bytes& input) {
    constexpr std::size_t most_parts = 64;
    std::vector<bytes> all;
    for (std::size_t parts = 2; parts <= most_parts && parts <= input.size(); parts *= 2) {
        const std::size_t length = input.size() / parts;
        for (std::size_t i = 0; i != parts; ++i) {
            bytes rest(input);
            const auto first = rest.begin() + static_cast<std::ptrdiff_t>(i * length);
            rest.erase(first, first + static_cast<std::ptrdiff_t>(length));
            all.push_back(std::move(rest));
        }
    }
    return all;
}

}  // namespace headrace::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    headrace::fuzz::step("begin");
    headrace::fuzz::run({data, size});
    return 0;
}

std::size_t LLVMFuzzerCustomMutator(
    std::uint8_t* data, std::size_t size, std::size_t capacity, unsigned seed) {
    const headrace::fuzz::bytes changed =
        headrace::fuzz::mutated(headrace::fuzz::bytes(data, data + size), capacity, seed);
    if (changed.size() > capacity) return size;
    std::copy(changed.begin(), changed.end(), data);
    return changed.size();
}
