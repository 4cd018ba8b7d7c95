// SPDX-License-Identifier: MIT
// Defines how the writer of .pte files stores the data that backends request by key.
#ifndef HEADRACE_IO_PTE_WRITING_NAMED_DATA_HPP
#define HEADRACE_IO_PTE_WRITING_NAMED_DATA_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/io/pte/format.hpp>
#include <headrace/io/pte/method.hpp>
#include <headrace/partition/named_data_store.hpp>

namespace headrace::pte {

/// The named data of a file: each buffer that has a key is a segment after all others.
class named_data_pool {
public:
    /// Adds a store's data, which must outlive the pool. Fails if the file could not give a key to its
    /// backend: a key that is taken, data for another file, an alignment that no loader keeps.
    [[nodiscard]] result<void> add(const named_data_store_output& data);

    /// Lays out the segments behind those that end at an offset.
    void place_behind(std::uint64_t end);

    /// Returns the keys, in their order, each with the position of its segment among `parts`.
    [[nodiscard]] const std::vector<std::pair<std::string_view, std::uint32_t>>& keys() const {
        return keys_;
    }
    [[nodiscard]] const std::vector<segment_part>& parts() const { return parts_; }
    /// Returns the end of the segments that have been laid out.
    [[nodiscard]] std::uint64_t end_of_parts() const { return end_; }
    /// Returns an alignment of the first segment of the file that satisfies all data.
    [[nodiscard]] std::uint64_t alignment() const { return alignment_; }

private:
    std::vector<std::pair<std::string_view, std::uint32_t>> keys_;
    std::vector<segment_part> parts_;
    std::vector<std::uint64_t> alignments_;  // of the parts
    std::uint64_t alignment_ = segment_alignment;
    std::uint64_t end_ = 0;
};

}  // namespace headrace::pte

#endif
