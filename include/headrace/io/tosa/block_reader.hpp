// SPDX-License-Identifier: MIT
// Defines the state of the reader of TOSA files within one block.
#ifndef HEADRACE_IO_TOSA_BLOCK_READER_HPP
#define HEADRACE_IO_TOSA_BLOCK_READER_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/io/tosa/tosa_generated.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::tosa_file {

/// The values, tensors and shapes of a block, by name. The size of the file limits what is built: shared
/// parts let a small file stand for a huge graph.
class tosa_block_reader {
protected:
    using file_operator = tosa_fb::TosaOperator;
    using file_tensor = tosa_fb::TosaTensor;
    using file_names = flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>;

    explicit tosa_block_reader(std::size_t budget) : budget_(budget) {}

    // The names of a block, and what they refer to.
    struct scope {
        graph* region;
        std::size_t depth;
        std::unordered_map<std::string_view, const file_tensor*> tensors;
        std::unordered_map<std::string_view, const tosa_fb::TosaShape*> shapes;
        std::unordered_map<std::string_view, value> values;
    };

    static std::string_view view(const flatbuffers::String* text) {
        return text == nullptr ? std::string_view() : std::string_view(text->c_str(), text->size());
    }
    static std::string quoted(std::string_view name) { return '\'' + std::string(name) + '\''; }
    static std::size_t size_of(const file_names* names) { return names == nullptr ? 0 : names->size(); }
    // Longer names count as missing: each use hashes the name, and a hostile file has many uses.
    static constexpr std::size_t longest_name = 4096;
    static std::string_view name_at(const file_names* names, std::size_t i);

    result<void> spend(std::uint64_t amount);

    result<void> index(const tosa_fb::TosaBasicBlock& block, scope& s);

    static std::string_view variable_name(const file_tensor& t) {
        return size_of_text(t.variable_name()) != 0 ? view(t.variable_name()) : view(t.name());
    }
    static std::size_t size_of_text(const flatbuffers::String* text) {
        return text == nullptr ? 0 : text->size();
    }

    result<tensor_meta> meta_of_tensor(std::string_view name, const scope& s) const;

    result<void> define(std::string_view name, value v, const tensor_meta& meta, scope& s);
    static result<value> find(std::string_view name, std::string_view where, const scope& s);

    // Files may hold more data than the shape requires, as for per-channel zero points; never less.
    result<tensor_data> read_data(const file_tensor& t, const tensor_meta& meta, scope& s);

    result<std::vector<std::int64_t>> read_shape(std::string_view name, const scope& s);

private:
    std::uint64_t budget_;
};

}  // namespace headrace::tosa_file

#endif
