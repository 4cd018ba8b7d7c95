// SPDX-License-Identifier: MIT
// Declares headrace::read_io_description, which reads the JSON of headrace::io_json.
#ifndef HEADRACE_IO_SIGNATURE_IO_DESCRIPTION_READER_HPP
#define HEADRACE_IO_SIGNATURE_IO_DESCRIPTION_READER_HPP

#include <cstddef>
#include <span>

#include <headrace/base/result.hpp>
#include <headrace/io/signature/io_description.hpp>

namespace headrace {

/// Reads the JSON of io_json. Errors do not name the file.
[[nodiscard]] result<io_description> read_io_description(std::span<const std::byte> json);

}  // namespace headrace

#endif
