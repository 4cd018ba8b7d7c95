// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/vela/ethos_u_blob.hpp.

#include <headrace/io/vela/ethos_u_blob.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/io/file/zip_archive.hpp>
#include <headrace/io/pte/format.hpp>
#include <headrace/io/vela/output.hpp>

namespace headrace {

namespace {

/// Writes blocks one after the other: a name of 16 bytes; the length of the data, 4 bytes; 12 bytes that are
/// zero if the data follows; the data; zeros up to a multiple of 16.
class ethos_u_blocks {
public:
    void add(std::string_view name, std::span<const std::byte> data) {
        std::array<std::byte, 32> head{};
        std::memcpy(head.data(), name.data(), name.size());
        pte::put_little_endian(static_cast<std::uint32_t>(data.size()), std::span(head).subspan(16));
        blob_.insert(blob_.end(), head.begin(), head.end());
        blob_.insert(blob_.end(), data.begin(), data.end());
        blob_.resize((blob_.size() + 15) / 16 * 16);
    }
    void add(std::string_view name, std::span<const std::uint32_t> numbers) {
        std::vector<std::byte> bytes(4 * numbers.size());
        for (std::size_t i = 0; i != numbers.size(); ++i)
            pte::put_little_endian(numbers[i], std::span(bytes).subspan(4 * i));
        add(name, bytes);
    }
    [[nodiscard]] std::vector<std::byte> take() { return std::move(blob_); }

private:
    std::vector<std::byte> blob_;
};

/// Returns the number of tensors, then for each tensor its six sizes, padded with ones in front, the bytes of
/// an element, its offset and its region.
[[nodiscard]] result<std::vector<std::uint32_t>> ethos_u_tensors(
    const vela::vela_arrays& in, const std::string& kind) {
    constexpr std::size_t max_rank = 6;
    HEADRACE_TRY(shapes, in.integers(kind + "_shape"));
    HEADRACE_TRY(widths, in.integers(kind + "_elem_size"));
    HEADRACE_TRY(offsets, in.integers(kind + "_offset"));
    HEADRACE_TRY(regions, in.integers(kind + "_region"));
    const std::size_t count = offsets.size();
    const std::size_t rank = count == 0 ? 0 : shapes.size() / count;
    if (rank > max_rank || shapes.size() != rank * count || widths.size() != count || regions.size() != count)
        return malformed({"the lists of the ", kind, "s differ in length"});
    std::vector<std::uint32_t> numbers{static_cast<std::uint32_t>(count)};
    const auto put = [&](std::uint64_t n) { numbers.push_back(static_cast<std::uint32_t>(n)); };
    for (std::size_t i = 0; i != count; ++i) {
        numbers.insert(numbers.end(), max_rank - rank, 1U);
        std::for_each_n(shapes.begin() + static_cast<std::ptrdiff_t>(rank * i), rank, put);
        put(widths[i]);
        put(offsets[i]);
        put(regions[i]);
    }
    return numbers;
}

}  // namespace

result<std::vector<std::byte>> make_ethos_u_blob(std::span<const std::byte> vela) {
    HEADRACE_TRY(compiled, read_vela_output(vela));
    constexpr std::string_view mark = "COP1";
    if (compiled.commands.size() < mark.size() ||
        std::memcmp(compiled.commands.data(), mark.data(), mark.size()) != 0)
        return malformed("its command stream does not begin with COP1");
    HEADRACE_TRY(archive, zip_archive::open(vela));
    const vela::vela_arrays in(archive);
    HEADRACE_TRY(inputs, ethos_u_tensors(in, "input"));
    HEADRACE_TRY(outputs, ethos_u_tensors(in, "output"));
    const std::array scratch{static_cast<std::uint32_t>(compiled.arena_bytes)};
    ethos_u_blocks blocks;
    blocks.add("vela_bin_stream", std::span<const std::byte>());
    blocks.add("cmd_data", compiled.commands);
    blocks.add("weight_data", compiled.weights);
    blocks.add("scratch_size", scratch);
    blocks.add("inputs", inputs);
    blocks.add("outputs", outputs);
    blocks.add("vela_end_stream", std::span<const std::byte>());
    return blocks.take();
}

}  // namespace headrace
