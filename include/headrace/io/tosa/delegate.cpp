// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/tosa/delegate.hpp.

#include <headrace/io/tosa/delegate.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include <headrace/io/tosa/tosa_generated.hpp>

namespace headrace {

namespace tosa_file {

namespace {

constexpr std::uint64_t largest_flatbuffer = std::uint64_t{1} << 31;

}  // namespace

void put_number(std::vector<std::byte>& out, std::uint64_t number) {
    for (; number >= 128; number >>= 7U) out.push_back(static_cast<std::byte>(number | 128U));
    out.push_back(static_cast<std::byte>(number));
}

unsigned cursor::byte() {
    if (left.empty()) {
        failed = true;
        return 0;
    }
    const auto b = std::to_integer<unsigned>(left[0]);
    left = left.subspan(1);
    return b;
}

std::uint64_t cursor::number() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
        const unsigned b = byte();
        number |= std::uint64_t{b & 127U} << shift;
        if (b < 128) return number;
    }
    failed = true;
    return 0;
}

namespace {

// Half of a flatbuffer is zeros. Every eight bytes are packed as one byte that tells which are nonzero, then
// those. After eight zeros comes the number of further groups of eight zeros.
void pack(std::vector<std::byte>& out, std::span<const std::byte> bytes) {
    const auto eight_at = [&](std::size_t at) {
        std::uint64_t eight = 0;
        std::memcpy(&eight, &bytes[at], std::min<std::size_t>(8, bytes.size() - at));
        return eight;
    };
    for (std::size_t at = 0; at < bytes.size(); at += 8) {
        std::uint64_t eight = eight_at(at);
        const std::size_t tag_at = out.size();
        out.push_back(std::byte{0});
        if (eight == 0) {
            unsigned more = 0;
            for (; more != 255 && at + 8 < bytes.size() && eight_at(at + 8) == 0; at += 8) ++more;
            out.push_back(static_cast<std::byte>(more));
            continue;
        }
        for (unsigned i = 0; i != 8; ++i, eight >>= 8U) {
            if ((eight & 255U) == 0) continue;
            out[tag_at] |= std::byte{1} << i;
            out.push_back(static_cast<std::byte>(eight & 255U));
        }
    }
}

}  // namespace

std::vector<std::byte> unpack(cursor& at, std::size_t size) {
    std::vector<std::byte> bytes;
    while (bytes.size() < size && !at.failed) {
        const unsigned tag = at.byte();
        if (tag == 0) {
            bytes.resize(bytes.size() + 8 * (std::size_t{at.byte()} + 1));
            continue;
        }
        for (unsigned i = 0; i != 8; ++i) {
            bytes.push_back(static_cast<std::byte>((tag >> i & 1U) != 0 ? at.byte() : 0U));
        }
    }
    if (bytes.size() > size) bytes.resize(size);
    return bytes;
}

namespace {

/// Returns the elements of the tensors of a verified flatbuffer, in the order of their positions. Vectors
/// that tensors share count once.
std::vector<std::span<const std::byte>> find_constants(std::span<const std::byte> file) {
    std::vector<std::span<const std::byte>> found;
    const auto* graph = tosa_fb::GetTosaGraph(file.data());
    const auto for_each = [](const auto* items, auto&& f) {
        if (items == nullptr) return;
        for (const auto* item : *items) f(*item);
    };
    for_each(graph->regions(), [&](const tosa_fb::TosaRegion& region) {
        for_each(region.blocks(), [&](const tosa_fb::TosaBasicBlock& block) {
            for_each(block.tensors(), [&](const tosa_fb::TosaTensor& tensor) {
                const auto* data = tensor.data();
                if (data == nullptr || data->size() == 0) return;
                found.emplace_back(reinterpret_cast<const std::byte*>(data->data()), data->size());
            });
        });
    });
    const auto before = [](const auto& a, const auto& b) { return a.data() < b.data(); };
    std::sort(found.begin(), found.end(), before);
    const auto same = [](const auto& a, const auto& b) { return a.data() == b.data(); };
    found.erase(std::unique(found.begin(), found.end(), same), found.end());
    return found;
}

}  // namespace

}  // namespace tosa_file

result<split_flatbuffer> split_tosa(std::span<const std::byte> file) {
    namespace format = tosa_file;
    flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(file.data()), file.size(), 64,
        std::numeric_limits<flatbuffers::uoffset_t>::max());
    if (file.size() < 8 || !tosa_fb::VerifyTosaGraphBuffer(verifier))
        return malformed("malformed TOSA flatbuffer");
    split_flatbuffer split{{}, format::find_constants(file)};
    for (const char c : format::mark) split.delegate.push_back(static_cast<std::byte>(c));
    format::put_number(split.delegate, file.size());
    format::put_number(split.delegate, split.constants.size());
    std::vector<std::byte> rest;
    std::size_t at = 0;
    for (const auto& constant : split.constants) {
        const auto begin = static_cast<std::size_t>(constant.data() - file.data());
        if (begin < at) return malformed("constants overlap in the flatbuffer");
        format::put_number(split.delegate, begin - at);
        rest.insert(rest.end(), file.begin() + static_cast<std::ptrdiff_t>(at),
            file.begin() + static_cast<std::ptrdiff_t>(begin));
        at = begin + constant.size();
    }
    rest.insert(rest.end(), file.begin() + static_cast<std::ptrdiff_t>(at), file.end());
    format::pack(split.delegate, rest);
    return split;
}

std::uint64_t size_of_joined(std::span<const std::byte> delegate) {
    namespace format = tosa_file;
    if (delegate.size() < format::mark.size()) return 0;
    format::cursor in{delegate.subspan(format::mark.size())};
    const std::uint64_t size = in.number();
    return in.failed ? 0 : size;
}

result<std::vector<std::byte>> join_tosa(
    std::span<const std::byte> delegate, std::span<const std::span<const std::byte>> constants) {
    namespace format = tosa_file;
    const bool marked = delegate.size() >= format::mark.size() &&
        std::memcmp(delegate.data(), format::mark.data(), format::mark.size()) == 0;
    if (!marked) return malformed("not a TOSA delegate: the mark is missing");
    format::cursor in{delegate.subspan(format::mark.size())};
    const std::uint64_t size = in.number();
    const std::uint64_t count = in.number();
    if (in.failed || size > format::largest_flatbuffer) return malformed("broken TOSA delegate: its size");
    if (count != constants.size()) {
        return malformed(
            {"broken TOSA delegate: it has places for ", count, " constants, there are ", constants.size()});
    }
    std::uint64_t rest_size = size;
    std::uint64_t between = 0;
    std::vector<std::uint64_t> gaps;
    for (const auto& constant : constants) {
        gaps.push_back(in.number());
        if (in.failed || constant.size() > rest_size || gaps.back() > size)
            return malformed("broken TOSA delegate: the place of a constant");
        rest_size -= constant.size();
        between += gaps.back();
    }
    if (between > rest_size) return malformed("broken TOSA delegate: the place of a constant");
    const std::vector<std::byte> rest = format::unpack(in, static_cast<std::size_t>(rest_size));
    if (in.failed || !in.left.empty() || rest.size() != rest_size)
        return malformed("broken TOSA delegate: it is cut off, or goes on");
    std::vector<std::byte> file;
    file.reserve(static_cast<std::size_t>(size));
    auto at = rest.begin();
    for (std::size_t i = 0; i != constants.size(); ++i) {
        const auto next = at + static_cast<std::ptrdiff_t>(gaps[i]);
        file.insert(file.end(), at, next);
        file.insert(file.end(), constants[i].begin(), constants[i].end());
        at = next;
    }
    file.insert(file.end(), at, rest.end());
    return file;
}

}  // namespace headrace
