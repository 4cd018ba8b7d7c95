// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pte/writing/named_data.hpp.

#include <headrace/io/pte/writing/named_data.hpp>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/io/pte/format.hpp>
#include <headrace/io/pte/tosa_delegates.hpp>
#include <headrace/partition/named_data_store.hpp>

namespace headrace::pte {

namespace {

// Mapped files begin at a page, and none is larger on the machines that ExecuTorch runs on.
constexpr std::uint64_t largest_alignment = std::uint64_t{1} << 16U;

}  // namespace

result<void> named_data_pool::add(const named_data_store_output& data) {
    for (const auto& [tag, keys] : data.external) {
        if (!keys.empty()) {
            return unsupported({"named data '", keys.begin()->first, "' is for another file, '", tag,
                "': a .pte file is written with all of its data; leave the tag out"});
        }
    }
    std::vector<std::uint32_t> segments(data.buffers.size(), 0);  // from 1
    for (const auto& [key, number] : data.keys) {
        if (key == shared_constants_key)
            return invalid({"named data '", key, "': the constants of 'tosa' have this key"});
        const named_data_buffer& buffer = *data.buffers[number];
        const bool fits = buffer.alignment - 1 < largest_alignment;
        if (fits) alignment_ = std::lcm(alignment_, std::uint64_t{buffer.alignment});
        if (!fits || alignment_ > largest_alignment) {
            return unsupported({"named data '", key, "': an alignment of ", buffer.alignment,
                "; the alignments of a file have a common multiple of at most ", largest_alignment});
        }
        if (segments[number] == 0) {
            parts_.push_back({0, buffer.bytes});
            alignments_.push_back(std::lcm(segment_alignment, buffer.alignment));
            segments[number] = static_cast<std::uint32_t>(parts_.size());
        }
        keys_.emplace_back(key, segments[number] - 1);
    }
    return {};
}

void named_data_pool::place_behind(std::uint64_t end) {
    end_ = end;
    for (std::size_t i = 0; i != parts_.size(); ++i) {
        parts_[i].offset = next_segment(end_, alignments_[i]);
        end_ = parts_[i].offset + parts_[i].bytes.size();
    }
}

}  // namespace headrace::pte
