// SPDX-License-Identifier: MIT
// Declares the entries of a zip archive, to be changed and written again.
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
    std::string comment;  ///< the target that a program is lowered to; the default ones if it is empty

    /// The first entry whose name contains that, or null.
    [[nodiscard]] archive_entry* find(std::string_view part_of_name);
};

/// Nothing if the bytes are no archive.
[[nodiscard]] std::optional<archive> read_archive(const bytes& file);
/// Stores all entries, without compression.
[[nodiscard]] bytes write_archive(const archive& a);
/// The comment of an archive, however broken the rest of it is.
[[nodiscard]] std::string comment_of(std::span<const std::uint8_t> file);
/// Makes checksums and sizes those of the data, where headers can be found.
void repair_checksums(bytes& file);

}  // namespace headrace::fuzz

#endif
