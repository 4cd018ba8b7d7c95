// SPDX-License-Identifier: MIT
// Fuzzes the reader of TOSA flatbuffers, and the processing of the graphs that it returns.
#include <algorithm>

#include <headrace/io/tosa/emitter.hpp>
#include <headrace/io/tosa/reader.hpp>
#include <headrace/run/execution.hpp>

#include "lowering_checks.hpp"

namespace headrace::fuzz {

void run(std::span<const std::uint8_t> input) {
    step("reading");
    // Aligned like a mapped file.
    std::vector<std::max_align_t> room(input.size() / sizeof(std::max_align_t) + 1);
    std::copy(input.begin(), input.end(), reinterpret_cast<std::uint8_t*>(room.data()));
    const auto read = read_tosa(std::as_bytes(std::span(room)).first(input.size()));
    if (!read) return check(read.error());
    graph& g = *read.value();
    step("verifying");
    if (const auto sound = verify_metadata(g); !sound) return saw(sound.error().message);
    saw_graph(g, "read");
    check_execution(g);
    step("emitting");
    const auto emitted = emit_tosa(g);
    if (emitted) check_flatbuffer(emitted.value().bytes(), nullptr);
}
bytes mutated(const bytes& input, std::size_t capacity, unsigned) { return mutated_bytes(input, capacity); }
std::vector<bytes> simpler(const bytes& input) { return without_parts(input); }

}  // namespace headrace::fuzz
