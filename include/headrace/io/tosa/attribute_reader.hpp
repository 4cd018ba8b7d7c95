// SPDX-License-Identifier: MIT
// Defines how the attributes of an operator are read from a TOSA flatbuffer.
#ifndef HEADRACE_IO_TOSA_ATTRIBUTE_READER_HPP
#define HEADRACE_IO_TOSA_ATTRIBUTE_READER_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/io/tosa/block_reader.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::tosa_file {

/// Reads the attributes of operators. The verifier has checked each table against the schema, and hence the
/// type of each slot.
class tosa_attribute_reader : protected tosa_block_reader {
protected:
    using tosa_block_reader::tosa_block_reader;

    /// An operator while it is read: its arguments, and the operands and lists that they refer to.
    struct opened_operator {
        std::string where;
        std::byte* arguments = nullptr;
        std::vector<value> operands{};
        std::vector<std::vector<std::int64_t>> lists{};
    };

    // Reads any attribute except a region.
    result<void> read_attribute(const flatbuffers::Table& table, flatbuffers::voffset_t slot,
        const field_info& f, opened_operator& o);

private:
    static result<void> read_enumerator(std::uint32_t number, const field_info& f, opened_operator& o);
    result<void> read_integers(
        const flatbuffers::Vector<std::int32_t>* items, const field_info& f, opened_operator& o);
    static result<void> read_number(
        const flatbuffers::Vector<std::uint8_t>* bytes, const field_info& f, opened_operator& o);
    // A [ubyte], such as implementation_attrs, differs from a string only in lacking a terminating zero.
    result<void> read_text(
        const flatbuffers::Vector<std::uint8_t>* text, const field_info& f, opened_operator& o);
};

}  // namespace headrace::tosa_file

#endif
