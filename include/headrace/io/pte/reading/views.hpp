// SPDX-License-Identifier: MIT
// Defines how calls that only reshape or pick elements in a method of a .pte file are read as nodes.
#ifndef HEADRACE_IO_PTE_READING_VIEWS_HPP
#define HEADRACE_IO_PTE_READING_VIEWS_HPP

#include <cstdint>

#include <headrace/base/result.hpp>
#include <headrace/io/pte/reading/method_source.hpp>
#include <headrace/io/pte/reading/tensors.hpp>

namespace headrace::pte {

/// Reads views, and slices at computed indices, which no kernel of the executorch dialect takes.
class view_reader {
public:
    using indices_type = flatbuffers::Vector<std::int32_t>;

    view_reader(method_source& method, tensor_source& tensors) : method_(method), tensors_(tensors) {}

    // The elements are the same: all tensors here are contiguous.
    result<void> add_shape(const called_operator& o, const indices_type& indices);
    // Replaces a slice of the tensor, at an index of its first axis.
    result<void> add_slice(const indices_type& indices);

    // Selects one slice, at an index that is computed.
    result<void> add_select(const indices_type& indices, std::int64_t made);

private:
    method_source& method_;
    tensor_source& tensors_;
};

}  // namespace headrace::pte

#endif
