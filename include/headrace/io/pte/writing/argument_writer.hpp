// SPDX-License-Identifier: MIT
// Defines how the arguments of a kernel become values of a .pte file.
#ifndef HEADRACE_IO_PTE_WRITING_ARGUMENT_WRITER_HPP
#define HEADRACE_IO_PTE_WRITING_ARGUMENT_WRITER_HPP

#include <functional>
#include <optional>
#include <utility>

#include <headrace/base/result.hpp>
#include <headrace/io/pte/writing/values.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::pte {

/// Writes arguments, field by field.
class argument_writer {
public:
    using index = value_table::index;
    /// Returns the file's value for a tensor of the graph.
    using tensor_function = std::function<result<index>(value v)>;

    argument_writer(value_table& values, tensor_function tensor)
        : values_(values), tensor_(std::move(tensor)) {}

    [[nodiscard]] result<index> write(const node& n, const field_info& f) const;

private:
    template <class T>
    static std::optional<T> read(const node& n, const field_info& f);
    template <class T, class Make>
    index optional(const node& n, const field_info& f, Make&& make) const {
        const std::optional<T> given = read<T>(n, f);
        return given ? make(*given) : values_.null();
    }
    // Kernels read factors such as `alpha` as numbers of the result's type, and refuse a bool there.
    index number(const scalar& s, const field_info& f) const;
    result<index> list_of(const list<value>& items) const;
    result<index> optional_list_of(const list<std::optional<value>>& items) const;

    value_table& values_;
    tensor_function tensor_;
};

}  // namespace headrace::pte

#endif
