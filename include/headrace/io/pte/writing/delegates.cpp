// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pte/writing/delegates.hpp.

#include <headrace/io/pte/writing/delegates.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/io/pte/format.hpp>
#include <headrace/io/pte/method.hpp>
#include <headrace/io/pte/tosa_delegates.hpp>
#include <headrace/io/pte/writing/constants.hpp>

namespace headrace::pte {

result<std::uint32_t> delegate_pool::add(const pte_delegate& d, constant_pool& constants) {
    if (d.id != tosa_backend_id) return segment_of(d.bytes);
    std::vector<constant_place> places;
    for (const std::span<const std::byte> constant : d.constants)
        places.push_back({constants.place_of(constant), constant.size()});
    shares_constants_ = shares_constants_ || !places.empty();
    HEADRACE_TRY(blob, make_tosa_blob(d.bytes, d.constants, places));
    return segment_of(std::move(blob));
}

void delegate_pool::place_behind(std::uint64_t constant_bytes) {
    end_ = constant_bytes;
    for (segment_part& p : parts_) {
        p.offset = next_segment(end_);
        end_ = p.offset + p.bytes.size();
    }
}

std::uint64_t delegate_pool::bytes() const {
    std::uint64_t sum = 0;
    for (const segment_part& p : parts_) sum += p.bytes.size();
    return sum;
}

flatbuffers::Offset<delegate_pool::spec_table> delegate_pool::write_specs(
    flatbuffers::FlatBufferBuilder& builder, const compile_specs& specs) {
    if (specs.empty()) return 0;
    std::vector<flatbuffers::Offset<pte_fb::CompileSpec>> written;
    for (const compile_spec& s : specs) {
        const auto key = builder.CreateString(s.key);
        const auto* const bytes = reinterpret_cast<const std::uint8_t*>(s.value.data());
        written.push_back(
            pte_fb::CreateCompileSpec(builder, key, builder.CreateVector(bytes, s.value.size())));
    }
    return builder.CreateVector(written);
}

result<std::uint32_t> delegate_pool::segment_of(std::vector<std::byte> blob) {
    constexpr std::size_t largest = std::size_t{1} << 31U;
    if (blob.size() >= largest) return unsupported("a delegate of 2^31 bytes or more");
    const std::string_view text(reinterpret_cast<const char*>(blob.data()), blob.size());
    const auto known = segments_.find(text);
    if (known != segments_.end()) return known->second;
    const std::vector<std::byte>& kept = blobs_.emplace_back(std::move(blob));
    parts_.push_back({0, kept});
    const auto number = static_cast<std::uint32_t>(parts_.size());
    segments_.emplace(std::string_view(reinterpret_cast<const char*>(kept.data()), kept.size()), number);
    return number;
}

}  // namespace headrace::pte
