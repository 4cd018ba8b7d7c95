// SPDX-License-Identifier: MIT
// Defines headrace::text::writer, which prints a graph's text.
#ifndef HEADRACE_IO_TEXT_WRITER_HPP
#define HEADRACE_IO_TEXT_WRITER_HPP

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <headrace/base/result.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/io/program.hpp>
#include <headrace/io/text/names.hpp>
#include <headrace/io/text/storage.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/signature.hpp>

namespace headrace::text {

/// Functions that keep what is not part of a text; each returns a key. Without them, all is in the text.
struct outside_parts {
    std::function<std::string(storage&& elements)> constant{};
    std::function<std::string(const graph& nested)> nested{};  ///< empty: the graph becomes part of the text
};

class writer {
public:
    /// Constants of up to that many elements are always in the text.
    writer(std::size_t inline_elements, outside_parts outside)
        : inline_elements_(inline_elements), outside_(std::move(outside)) {}

    result<std::string> write(const graph& g, const program* facts);

    /// Returns the text of a value, or of a region, among arguments: see print_field.
    std::string_view operator()(value v);
    std::string_view operator()(const graph* region);

private:
    void put_header(const graph& g, const program* facts);

    void put_graph(const graph& g);

    void put(const node& n);
    void put_type(const tensor_meta* meta);
    // The elements have the type of the node's result.
    void put_data(const node& n, const tensor_data& data);
    void put_outputs(const node& n);
    void put_word(std::string_view text);
    void put_call(const node& n);
    void put_argument(const node& n, const field_info& f);

    void put_strings(const list<std::string_view>& texts);

    void put_annotations(const node& n);
    void put(const signature_quantization& q);

    void fail(std::string_view what) {
        if (!error_) error_ = invalid({message_prefix(*current_), "cannot be written as text: ", what});
    }

    std::size_t inline_elements_;
    outside_parts outside_;
    std::pmr::string out_;
    std::size_t indent_ = 0;
    const value_names* names_ = nullptr;
    const node* current_ = nullptr;
    std::optional<error> error_;
};

}  // namespace headrace::text

#endif
