// SPDX-License-Identifier: MIT
// Defines headrace::detail::graph_text::constant_reader, which reads the elements of constants from a graph's
// text.
#ifndef HEADRACE_IO_TEXT_CONSTANTS_HPP
#define HEADRACE_IO_TEXT_CONSTANTS_HPP

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/base/strings.hpp>
#include <headrace/base/text.hpp>
#include <headrace/io/text/cursor.hpp>
#include <headrace/io/text/sources.hpp>
#include <headrace/io/text/storage.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::detail::graph_text {

class constant_reader {
public:
    /// Elements written in the text are copied into the graph's memory.
    constant_reader(cursor& at, const graph_text_sources& sources, graph& g)
        : at_(at), sources_(sources), graph_(g) {}

    /// Reads the elements of a tensor of that type and shape, defined at `at`.
    tensor_data read(std::size_t at, dtype type, const int_list& shape) {
        std::span<const std::byte> bytes;
        const std::size_t data_at = at_.next();
        if (at_.accept('@')) {
            const std::string_view key = at_.name_here();
            if (!sources_.constant)
                at_.fail(data_at, "the text has no data file; give the constant's elements, as [1, 2]");
            auto found = sources_.constant(key);
            if (!found) at_.fail(data_at, std::string(found.error().message));
            bytes = found.value();
        } else if (at_.peek() == '[') {
            bytes = kept(read_elements(type));
        } else {
            bytes = kept(read_hexadecimal());
        }
        tensor_data data{bytes.data(), {}};
        auto count = std::optional(static_cast<std::uint64_t>(tensor_meta{type, shape, {}}.elements()));
        if (at_.accept_word("strides")) {
            const std::vector<std::int64_t> strides = at_.integers('[', ']');
            data.strides = graph_.own(int_list(strides));
            if (strides.size() != shape.size()) at_.fail(at, "a stride for each dimension is needed");
            count = reached_elements(shape, data.strides);
            if (!count) at_.fail(at, "a stride is negative, or the strides reach too far");
        }
        // Two int4 elements share a byte: no type packs more.
        if (*count > bytes.size() * std::uint64_t{2} || storage_bytes(type, *count) != bytes.size())
            at_.fail(data_at,
                join_text("the constant has ", counted_text(bytes.size(), "byte"), ", but its type takes ",
                    counted_text(*count, "element"), " of ", name_of(type)));
        return data;
    }

private:
    std::span<const std::byte> kept(const std::vector<std::byte>& bytes) {
        const std::span<std::byte> room = graph_.allocate_data(bytes.size());
        std::ranges::copy(bytes, room.begin());
        return room;
    }
    std::vector<std::byte> read_elements(dtype type) {
        element_packer elements(type);
        at_.expect('[', "and elements");
        if (at_.accept(']')) return {};
        do {
            const std::size_t at = at_.next();
            const std::string_view text = at_.literal("an element");
            if (!elements.add(text))
                at_.fail(at, in_quotes(text) + " is not an element of " + std::string(name_of(type)));
        } while (at_.accept(','));
        at_.expect(']', "or ',' after an element");
        return elements.bytes();
    }
    std::vector<std::byte> read_hexadecimal() {
        const std::size_t at = at_.next();
        const std::string_view digits = at_.literal("elements, as [1, 2], @ and a key, or 0x and digits");
        std::vector<std::byte> bytes;
        bool sound = digits.starts_with("0x") && digits.size() % 2 == 0;
        for (std::size_t i = 2; sound && i < digits.size(); i += 2) {
            std::uint8_t byte = 0;
            const char* const end = digits.data() + i + 2;
            sound = std::from_chars(digits.data() + i, end, byte, 16).ptr == end;
            bytes.push_back(static_cast<std::byte>(byte));
        }
        if (!sound)
            at_.fail(at, "expected elements, as [1, 2], @ and a key, or 0x and two digits for each byte");
        return bytes;
    }

    cursor& at_;
    const graph_text_sources& sources_;
    graph& graph_;
};

}  // namespace headrace::detail::graph_text

#endif
