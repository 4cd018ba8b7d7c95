// SPDX-License-Identifier: MIT
// Defines headrace::read_json_object, which reads a text that is one JSON object.
#ifndef HEADRACE_IO_FILE_JSON_DOCUMENT_HPP
#define HEADRACE_IO_FILE_JSON_DOCUMENT_HPP

#include <cstddef>
#include <memory_resource>
#include <span>
#include <type_traits>

#include <headrace/base/result.hpp>
#include <headrace/io/file/json.hpp>

namespace headrace {

/// Returns `read(object)` for the object that the text is, or the failure that leaves it. The object is valid
/// until `read` returns.
template <class Read>
[[nodiscard]] auto read_json_object(std::span<const std::byte> json, const Read& read)
    -> result<std::invoke_result_t<const Read&, simdjson::dom::object>> {
    try {
        std::pmr::monotonic_buffer_resource arena;
        json_parser parser(&arena);
        const padded_text text(json, json);
        simdjson::dom::object members;
        if (parser.parse(text.view()).get(members)) fail_malformed("it is not a JSON object");
        return read(members);
    } catch (const failure& f) {
        return f.what;
    }
}

}  // namespace headrace

#endif
