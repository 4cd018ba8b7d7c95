// SPDX-License-Identifier: MIT
// Defines headrace::zip_writer, which makes zip archives of stored entries.
#ifndef HEADRACE_IO_FILE_ZIP_WRITER_HPP
#define HEADRACE_IO_FILE_ZIP_WRITER_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <zip.h>

#include <headrace/base/result.hpp>

namespace headrace {

/// Stores entries uncompressed, in the order in which they are added, with their bytes aligned to 64, as in
/// PyTorch's archives. Times are fixed: equal entries give equal archives.
class zip_writer {
public:
    zip_writer();
    zip_writer(const zip_writer&) = delete;
    zip_writer& operator=(const zip_writer&) = delete;
    ~zip_writer();

    /// Adds an entry. The bytes must live until `finish` has been called.
    void add(const std::string& name, std::span<const std::byte> bytes);

    /// Returns the whole archive; nothing can be added afterwards.
    [[nodiscard]] result<std::vector<std::byte>> finish();

private:
    // Aligns the next entry's bytes as PyTorch does, by padding the field "FB" of the header before them.
    bool align(zip_uint64_t entry, const std::string& name);

    zip_error_t error_;
    zip_source_t* source_ = nullptr;
    zip_t* archive_ = nullptr;
    std::uint64_t position_ = 0;  // of the next entry
    bool failed_ = false;
};

}  // namespace headrace

#endif
