// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/vela/output.hpp.

#include <headrace/io/vela/output.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/base/sizes.hpp>
#include <headrace/io/file/npy.hpp>
#include <headrace/io/file/zip_archive.hpp>

namespace headrace {

namespace vela {

result<std::span<const std::byte>> vela_arrays::bytes(const std::string& name) const {
    HEADRACE_TRY(file, entry(name));
    HEADRACE_TRY(parts, detail::npy_split(file));
    return parts.data;
}

result<std::vector<std::uint64_t>> vela_arrays::integers(const std::string& name) const {
    HEADRACE_TRY(file, entry(name));
    HEADRACE_TRY(array, detail::npy_parse(file));
    const bool empty = array.data.empty();  // NumPy's empty lists hold floats
    if (array.meta.dtype != dtype::int64 && !empty) return malformed({name, " does not hold integers"});
    std::vector<std::uint64_t> numbers(array.data.size() / sizeof(std::uint64_t));
    if (!empty) std::memcpy(numbers.data(), array.data.data(), numbers.size() * sizeof(std::uint64_t));
    for (const std::uint64_t n : numbers) {
        constexpr std::uint64_t largest_address = UINT32_MAX;
        if (n > largest_address) return malformed({name, " holds what is no 32-bit address or size"});
    }
    return numbers;
}

result<std::uint64_t> vela_arrays::integer(const std::string& name) const {
    HEADRACE_TRY(numbers, integers(name));
    if (numbers.size() != 1) return malformed({name, " is not one number"});
    return numbers.front();
}

result<std::vector<arena_tensor>> vela_arrays::tensors(const std::string& kind, std::uint64_t arena) const {
    HEADRACE_TRY(offsets, integers(kind + "_offset"));
    HEADRACE_TRY(regions, integers(kind + "_region"));
    HEADRACE_TRY(widths, integers(kind + "_elem_size"));
    HEADRACE_TRY(extents, integers(kind + "_shape"));
    const std::size_t count = offsets.size();
    const std::size_t rank = count == 0 ? 0 : extents.size() / count;
    if (regions.size() != count || widths.size() != count || rank * count != extents.size())
        return malformed({"the lists of the ", kind, "s differ in length"});
    std::vector<arena_tensor> found;
    for (std::size_t i = 0; i != count; ++i) {
        if (regions[i] != arena) return unsupported({"an ", kind, " lies outside the arena"});
        std::uint64_t bytes = widths[i];
        for (std::size_t d = 0; d != rank; ++d) {
            if (__builtin_mul_overflow(bytes, extents[i * rank + d], &bytes))
                return malformed({"an ", kind, " is larger than memory"});
        }
        found.push_back({offsets[i], bytes});
    }
    return found;
}

result<std::span<const std::byte>> vela_arrays::entry(const std::string& name) const {
    const zip_entry* found = archive_.find(name + ".npy");
    if (found == nullptr) return malformed({"has no ", name, ", which Vela's raw output has"});
    return archive_.view(*found);
}

}  // namespace vela

result<vela_output> read_vela_output(std::span<const std::byte> file) {
    HEADRACE_TRY(archive, zip_archive::open(file));
    const vela::vela_arrays in(archive);
    HEADRACE_TRY(commands, in.bytes("cmd_data"));
    HEADRACE_TRY(weights, in.bytes("weight_data"));
    HEADRACE_TRY(weights_region, in.integer("weight_region"));
    HEADRACE_TRY(arena_region, in.integer("scratch_region"));
    HEADRACE_TRY(arena_bytes, in.integer("scratch_size"));
    HEADRACE_TRY(fast_arena_region, in.integer("scratch_fast_region"));
    HEADRACE_TRY(fast_arena_bytes, in.integer("scratch_fast_size"));
    HEADRACE_TRY(variables, in.integers("variable_shape"));
    if (!variables.empty()) return unsupported("the model has variables, which keep state between calls");
    HEADRACE_TRY(inputs, in.tensors("input", arena_region));
    HEADRACE_TRY(outputs, in.tensors("output", arena_region));
    return vela_output{commands, weights, weights_region, arena_bytes, arena_region, fast_arena_bytes,
        fast_arena_region, std::move(inputs), std::move(outputs)};
}

}  // namespace headrace
