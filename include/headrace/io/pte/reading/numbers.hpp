// SPDX-License-Identifier: MIT
// Defines how computations with numbers in a method of a .pte file are read as nodes.
#ifndef HEADRACE_IO_PTE_READING_NUMBERS_HPP
#define HEADRACE_IO_PTE_READING_NUMBERS_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <headrace/base/result.hpp>
#include <headrace/io/pte/reading/method_source.hpp>
#include <headrace/io/pte/reading/tensors.hpp>

namespace headrace::pte {

/// The runtime computes with the numbers among a method's values: indices of loops, sizes, conditions. They
/// are read as tensors without axes.
class number_reader {
public:
    using indices = flatbuffers::Vector<std::int32_t>;

    number_reader(method_source& method, tensor_source& tensors) : method_(method), tensors_(tensors) {}

    result<void> read(const called_operator& o, const indices& given);

private:
    static error not_known(const called_operator& o) {
        return unsupported({"a number that ", o.name, " computes"});
    }

    result<void> read_size(const called_operator& o, const indices& given);

    result<void> read_unary(const called_operator& o, std::string_view op, value x, std::int64_t made);

    // Computes with both operands as doubles if either is one.
    std::optional<value> binary(std::string_view op, value a, value b);
    method_source& method_;
    tensor_source& tensors_;
};

}  // namespace headrace::pte

#endif
