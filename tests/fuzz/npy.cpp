// SPDX-License-Identifier: MIT
// Fuzzes the reader of NumPy's arrays.
#include <headrace/io/file/npy.hpp>

#include "target.hpp"

namespace headrace::fuzz {

void run(std::span<const std::uint8_t> input) {
    step("reading");
    const memory_file file(input);
    const auto read = read_npy(file.path());
    if (!read) return check(read.error());
    const npy_array& array = read.value();
    saw(name_of(array.meta.dtype), std::to_string(array.meta.rank()));
    if (array.data.size() != packed_bytes(array.meta))
        found("an array has more or less data than its shape says");
}
bytes mutated(const bytes& input, std::size_t capacity, unsigned) { return mutated_bytes(input, capacity); }
std::vector<bytes> simpler(const bytes& input) { return without_parts(input); }

}  // namespace headrace::fuzz
