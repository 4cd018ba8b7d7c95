// SPDX-License-Identifier: MIT
// Defines headrace::zip_writer, which makes zip archives of stored entries.
#ifndef HEADRACE_IO_FILE_ZIP_WRITER_HPP
#define HEADRACE_IO_FILE_ZIP_WRITER_HPP

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>

namespace headrace {

/// Stores entries uncompressed, in the order in which they are added, with their bytes aligned to 64, as in
/// PyTorch's archives. Times are fixed: equal entries give equal archives.
class zip_writer {
public:
    /// Adds an entry, whose name must differ from the others'. The bytes must live until `finish` has been
    /// called.
    void add(std::string name, std::span<const std::byte> bytes) {
        entries_.emplace_back(std::move(name), bytes);
    }

    /// Returns the whole archive, or an error for a name of more than 65,535 bytes.
    [[nodiscard]] result<std::vector<std::byte>> finish() const;

private:
    std::vector<std::pair<std::string, std::span<const std::byte>>> entries_;
};

}  // namespace headrace

#endif
