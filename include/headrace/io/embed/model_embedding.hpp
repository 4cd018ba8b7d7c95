// SPDX-License-Identifier: MIT
// Declares headrace::embed_model: C files that link a model into a firmware image and describe it.
#ifndef HEADRACE_IO_EMBED_MODEL_EMBEDDING_HPP
#define HEADRACE_IO_EMBED_MODEL_EMBEDDING_HPP

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <headrace/base/result.hpp>
#include <headrace/io/signature/io_description.hpp>

namespace headrace {

/// The two files: `NAME_model.h` and `NAME_model.c`, for C and C++.
struct model_embedding {
    std::string header;
    std::string source;
};

/// Returns the C header and source that link a file into an image: a flatbuffer, a .pte file, or the output
/// of Vela's `--output-format raw`. `name`, an identifier, is the prefix of all symbols; the source names the
/// file as `file` does, for the assembler to find. With `io` (null: none) `NAME_io` describes the inputs and
/// outputs; Vela's output needs it. Errors do not name the file.
[[nodiscard]] result<model_embedding> embed_model(std::string_view name, std::string_view file,
    std::span<const std::byte> bytes, const io_description* io = nullptr);
/// Returns the same with `NAME_METHOD_io` for each method, or `NAME_io` for that of the empty name.
[[nodiscard]] result<model_embedding> embed_model(std::string_view name, std::string_view file,
    std::span<const std::byte> bytes, const method_descriptions& methods);

}  // namespace headrace

#endif
