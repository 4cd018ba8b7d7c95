// SPDX-License-Identifier: MIT
// Fuzzes `headrace embed`: a model or Vela's output, optionally with a description of its inputs and outputs
// after a separator line.
#include <algorithm>
#include <headrace/io/embed/embedded_tensors.hpp>
#include <headrace/io/embed/model_embedding.hpp>
#include <headrace/io/signature/io_description_reader.hpp>
#include <string>
#include <string_view>

#include "archive.hpp"

namespace headrace::fuzz {

void run(std::span<const std::uint8_t> input) {
    constexpr std::string_view line = "\nIO\n";
    const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
    const std::size_t at = text.rfind(line);
    const std::string model(text.substr(0, at));
    method_descriptions io;
    if (at != std::string_view::npos) {
        step("reading the description");
        const std::string description(text.substr(at + line.size()));
        auto read = read_method_descriptions(std::as_bytes(std::span(description)));
        if (!read) return check(read.error());
        for (const auto& [name, one] : read.value())
            if (const auto sound = check_embeddable(one); !sound) return check(sound.error());
        io = std::move(read).value();
    }
    step("embedding");
    const auto made = embed_model("fuzzed", "input.npz", std::as_bytes(std::span(model)), io);
    if (!made) return check(made.error());
    saw("embedded", std::to_string(made.value().header.size() / 64),
        std::to_string(made.value().source.size() / 64));
}
bytes mutated(const bytes& input, std::size_t capacity, unsigned seed) {
    bytes changed = mutated_bytes(input, capacity);
    if (seed % 8 != 0) repair_checksums(changed);
    return changed;
}
std::vector<bytes> simpler(const bytes& input) { return without_parts(input); }

}  // namespace headrace::fuzz
