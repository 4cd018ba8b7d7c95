// SPDX-License-Identifier: MIT
// Declares the entries of a zip archive, which can be changed and written again.
#ifndef HEADRACE_TESTS_FUZZ_ARCHIVE_HPP
#define HEADRACE_TESTS_FUZZ_ARCHIVE_HPP

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "target.hpp"

namespace headrace::fuzz {

struct archive_entry {
    std::string name;
    std::string data;
};

struct archive {
    std::vector<archive_entry> entries;
    std::string comment;  ///< the target of the lowering; empty: the default ones

    /// Returns the first entry whose name contains that text, or null.
    [[nodiscard]] archive_entry* find(std::string_view part_of_name);
};

/// Returns nothing if the bytes are not an archive.
[[nodiscard]] std::optional<archive> read_archive(const bytes& file);
/// Stores all entries, without compression.
[[nodiscard]] bytes write_archive(const archive& a);
/// Returns the comment of an archive, however broken the rest of it is.
[[nodiscard]] std::string comment_of(std::span<const std::uint8_t> file);
/// Sets checksums and sizes to those of the data, for all headers that can be found.
void repair_checksums(bytes& file);

}  // namespace headrace::fuzz

#endif
