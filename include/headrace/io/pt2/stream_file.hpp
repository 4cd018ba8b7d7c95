// SPDX-License-Identifier: MIT
// Declares how an archive keeps headrace::stream_signature: in one of torch.export's extra files.
#ifndef HEADRACE_IO_PT2_STREAM_FILE_HPP
#define HEADRACE_IO_PT2_STREAM_FILE_HPP

#include <string>
#include <string_view>

#include <headrace/io/file/json.hpp>
#include <headrace/io/program.hpp>

namespace headrace::pt2 {

/// The file's place in the archive's folder.
inline constexpr std::string_view stream_file = "extra/headrace_stream.json";

[[nodiscard]] std::string stream_json(const stream_signature& s);

/// Reads the signature of a program whose graph has been read. Fails if it is not of that program.
[[nodiscard]] stream_signature read_stream_json(std::string_view text, const program& p, json_parser& json);

}  // namespace headrace::pt2

#endif
