// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pte/tosa_delegates.hpp.

#include <headrace/io/pte/tosa_delegates.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/io/pte/format.hpp>
#include <headrace/io/tosa/delegate.hpp>
#include <headrace/partition/named_data_store.hpp>

namespace headrace {

namespace pte {

namespace {

// The data of the backend: the mark; the hash of the whole flatbuffer, 8 bytes, the lowest first; the number
// of constants that were cut out; the offset and size of each; then the rest (io/tosa/delegate.hpp).
constexpr std::string_view tosa_blob_mark = "HRTOSA02";

}  // namespace

result<std::vector<std::byte>> make_tosa_blob(std::span<const std::byte> delegate,
    std::span<const std::span<const std::byte>> constants, std::span<const constant_place> places) {
    HEADRACE_TRY(whole, join_tosa(delegate, constants));
    std::vector<std::byte> blob;
    for (const char c : tosa_blob_mark) blob.push_back(static_cast<std::byte>(c));
    blob.resize(tosa_blob_mark.size() + sizeof(std::uint64_t));
    put_little_endian(hash_of_bytes(whole), std::span(blob).subspan(tosa_blob_mark.size()));
    tosa_file::put_number(blob, places.size());
    for (const constant_place& p : places) {
        tosa_file::put_number(blob, p.offset);
        tosa_file::put_number(blob, p.size);
    }
    blob.insert(blob.end(), delegate.begin(), delegate.end());
    return blob;
}

}  // namespace pte

std::uint64_t largest_restored(std::uint64_t file_bytes) {
    constexpr std::uint64_t ratio = 64;
    constexpr std::uint64_t always = std::uint64_t{64} << 20U;
    return std::max(always, ratio * file_bytes);
}

result<std::vector<std::byte>> restore_tosa(
    std::span<const std::byte> blob, std::span<const std::byte> constants, std::uint64_t largest) {
    namespace format = tosa_file;
    constexpr std::string_view mark = pte::tosa_blob_mark;
    constexpr std::size_t head = mark.size() + sizeof(std::uint64_t);
    if (blob.size() < head || std::memcmp(blob.data(), mark.data(), mark.size()) != 0)
        return malformed("a delegate of 'tosa' that Headrace did not write: the mark is missing");
    const auto hash = pte::get_little_endian<std::uint64_t>(blob.subspan(mark.size()));
    format::cursor in{blob.subspan(head)};
    std::vector<std::span<const std::byte>> cut;
    for (std::uint64_t left = in.number(); left != 0 && !in.failed; --left) {
        const std::uint64_t offset = in.number();
        const std::uint64_t size = in.number();
        if (in.failed || offset > constants.size() || size > constants.size() - offset)
            return malformed("broken TOSA delegate: a constant lies outside its segment");
        cut.push_back(constants.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size)));
    }
    if (in.failed) return malformed("broken TOSA delegate: it is cut off");
    if (size_of_joined(in.left) > largest)
        return malformed("broken TOSA delegate: it claims to be far larger than its file");
    HEADRACE_TRY(whole, join_tosa(in.left, cut));
    if (hash_of_bytes(whole) != hash)
        return malformed("broken TOSA delegate: it or its constants are not those that were written");
    return std::move(whole);
}

}  // namespace headrace
