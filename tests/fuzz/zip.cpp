// SPDX-License-Identifier: MIT
// Fuzzes zip archives, the container of .pt2 files. Most changes keep the checksums valid: a wrong one ends
// reading.
#include <headrace/io/file/zip_archive.hpp>
#include <headrace/run/models.hpp>

#include "archive.hpp"

namespace headrace::fuzz {

void run(std::span<const std::uint8_t> input) {
    step("opening");
    const bytes exact(input.begin(), input.end());
    const auto opened = zip_archive::open(std::as_bytes(std::span(exact)));
    if (!opened) {
        check(opened.error());
    } else {
        step("viewing entries");
        unsigned sum = 0;
        for (const zip_entry& e : opened.value().entries()) {
            const auto viewed = opened.value().view(e);
            if (!viewed) {
                check(viewed.error());
                continue;
            }
            for (const std::byte b : viewed.value()) sum += static_cast<unsigned>(b);
        }
        saw("sum", std::to_string(sum % 8));
    }
    step("reading a model");
    const memory_file file(input);
    const auto model = read_model(file.path());
    if (!model) check(model.error());
}
bytes mutated(const bytes& input, std::size_t capacity, unsigned seed) {
    bytes changed = mutated_bytes(input, capacity);
    if (seed % 8 != 0) repair_checksums(changed);
    return changed;
}
std::vector<bytes> simpler(const bytes& input) {
    std::vector<bytes> all = without_parts(input);
    for (bytes& b : all) repair_checksums(b);
    return all;
}

}  // namespace headrace::fuzz
