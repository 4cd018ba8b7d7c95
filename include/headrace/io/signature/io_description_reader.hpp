// SPDX-License-Identifier: MIT
// Declares headrace::read_io_description and headrace::read_method_descriptions, which read the JSON of
// headrace::io_json.
#ifndef HEADRACE_IO_SIGNATURE_IO_DESCRIPTION_READER_HPP
#define HEADRACE_IO_SIGNATURE_IO_DESCRIPTION_READER_HPP

#include <cstddef>
#include <span>
#include <string_view>

#include <headrace/base/result.hpp>
#include <headrace/io/signature/io_description.hpp>

namespace headrace {

/// Reads the JSON of io_json. One description alone has the empty name. Errors do not name the file.
[[nodiscard]] result<method_descriptions> read_method_descriptions(std::span<const std::byte> json);

/// Reads one description: if the JSON has several, that of the method, whose name may be empty if it has one.
[[nodiscard]] result<io_description> read_io_description(
    std::span<const std::byte> json, std::string_view method = {});

}  // namespace headrace

#endif
