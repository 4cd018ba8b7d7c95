// SPDX-License-Identifier: MIT
// Defines how the reader of .pte files makes values of a graph from a method's tensors and numbers.
#ifndef HEADRACE_IO_PTE_READING_TENSORS_HPP
#define HEADRACE_IO_PTE_READING_TENSORS_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/io/pte/pte_generated.hpp>
#include <headrace/io/pte/reading/method_source.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/tensor_meta.hpp>

namespace headrace::pte {

/// Returns a tensor's type and shape; the shape views `sizes`.
[[nodiscard]] result<tensor_meta> meta_of_table(const pte_fb::Tensor& t, std::vector<std::int64_t>& sizes);

/// The contents of a method's values while its instructions are read into a graph. Nested graphs have sources
/// of their own.
class tensor_source {
public:
    /// Nodes for constants and reshapes are added to the graph.
    tensor_source(method_source& method, graph& g) : method_(method), graph_(g) {}

    /// The tensor holds `v` from now on.
    result<void> define(std::int64_t index, value v);
    /// The number is `v` from now on, cast to its type.
    result<void> define_number(std::int64_t index, value v);
    /// Moves a value to another one: both are then the same tensor, or equal numbers.
    result<void> move(std::int64_t from, std::int64_t to);

    /// Returns the contents of a tensor now: a constant, or the last value written to its slot.
    result<value> tensor(std::int64_t index);
    /// Returns a buffer for a kernel to work in: what the tensor holds is lost.
    result<value> scratch(std::int64_t index);
    /// Returns a number as a tensor without axes.
    result<value> number(std::int64_t index);
    /// Returns a tensor, or a number as one.
    result<value> tensor_or_number(std::int64_t index);

    /// Returns the last value written to the slot of `index`, of any shape; else its initial value; nullopt
    /// if that is not known.
    result<std::optional<value>> content(std::int64_t index);
    [[nodiscard]] std::optional<value> held(const slot& s) const;
    void hold(const slot& s, value v) { held_[s] = v; }
    void forget(const slot& s) { held_.erase(s); }

    /// Returns a tensor whose elements all are `number`.
    value filled(const tensor_meta& meta, const scalar& number);
    /// Returns the same elements in another shape.
    value as_shape(value v, const tensor_meta& meta);
    /// Returns the elements cast to another type.
    value as_type(value v, dtype type);
    /// Returns the result of the kernel for an op of ATen.
    value make(const op_info& op, const void* arguments, const tensor_meta& meta);

private:
    value stored(std::span<const std::byte> bytes, const tensor_meta& meta);
    result<value> constant(std::int64_t index, const pte_fb::Tensor& t, const tensor_meta& meta);

    method_source& method_;
    graph& graph_;
    std::map<slot, value> held_;
    std::map<std::int64_t, value> constants_;
};

}  // namespace headrace::pte

#endif
