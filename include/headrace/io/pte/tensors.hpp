// SPDX-License-Identifier: MIT
// Defines how the reader of .pte files makes values of a graph from a method's tensors and numbers.
#ifndef HEADRACE_IO_PTE_TENSORS_HPP
#define HEADRACE_IO_PTE_TENSORS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/base/text.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/executorch.hpp>
#include <headrace/io/pte/file.hpp>
#include <headrace/io/pte/format.hpp>
#include <headrace/io/pte/method_source.hpp>
#include <headrace/io/pte/pte_generated.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/tensor_meta.hpp>

namespace headrace::detail::pte {

/// Returns a tensor's type and shape; the shape views `sizes`.
[[nodiscard]] inline result<tensor_meta> meta_of_table(
    const pte_fb::Tensor& t, std::vector<std::int64_t>& sizes) {
    if (t.sizes() == nullptr || t.dim_order() == nullptr || t.sizes()->size() != t.dim_order()->size() ||
        t.sizes()->size() > max_rank || t.storage_offset() != 0)
        return malformed("a tensor lacks its sizes or their order, or begins inside its storage");
    for (flatbuffers::uoffset_t i = 0; i != t.sizes()->size(); ++i) {
        if (t.sizes()->Get(i) < 0) return malformed("a tensor has a negative size");
        sizes.push_back(t.sizes()->Get(i));
        if (t.dim_order()->Get(i) != i)
            return unsupported("a tensor that is not contiguous; export the model with contiguous tensors");
    }
    const tensor_meta meta{dtype_of(t.scalar_type()), int_list(sizes), {}};
    if (meta.dtype == dtype::unknown) return unsupported({"a tensor of ScalarType ", int{t.scalar_type()}});
    if (meta.checked_elements().value_or(INT64_MAX) > INT64_MAX / 8)
        return malformed("a tensor is too large");
    return meta;
}
/// Returns a number among the values of a method, which type_of_number must know.
[[nodiscard]] inline scalar number_in(const pte_fb::Value& v) {
    if (const pte_fb::Int* const i = v.kind_as_Int()) return scalar(i->value());
    if (const pte_fb::Bool* const b = v.kind_as_Bool()) return scalar(b->value());
    return scalar(v.kind_as_Double()->value());
}

/// The contents of a method's values while its instructions are read into a graph. Nested graphs have sources
/// of their own.
class tensor_source {
public:
    /// Nodes for constants and reshapes are added to the graph.
    tensor_source(method_source& method, graph& g) : method_(method), graph_(g) {}

    /// The tensor holds `v` from now on.
    result<void> define(std::int64_t index, value v) {
        HEADRACE_TRY(t, method_.table_of(index));
        if (is_constant(*t)) return unsupported({"tensor ", index, " is a constant, but is written"});
        if (method_.is_moved(index))
            return unsupported(
                {"tensor ", index, " is written after another was moved to it, which writes to both"});
        HEADRACE_TRY(at, method_.slot_of(index));
        method_.mark_written(index);
        HEADRACE_TRY(method_.values().spend(method_.moved_from(at).size()));
        for (const std::int64_t moved : method_.moved_from(at)) held_.erase({no_memory, moved});
        held_[at] = v;
        return {};
    }
    /// The number is `v` from now on, cast to its type.
    result<void> define_number(std::int64_t index, value v) {
        HEADRACE_TRY(table, method_.values().at(index));
        const std::optional<dtype> type = type_of_number(*table);
        if (!type) return malformed({"value ", index, " is not a number"});
        held_[{no_memory, static_cast<std::uint64_t>(index)}] = as_shape(as_type(v, *type), {*type, {}, {}});
        return {};
    }
    /// Moves a value to another one: both are then the same tensor, or equal numbers.
    result<void> move(std::int64_t from, std::int64_t to) {
        HEADRACE_TRY(table, method_.values().at(from));
        if (type_of_number(*table)) {
            HEADRACE_TRY(moved, number(from));
            return define_number(to, moved);
        }
        HEADRACE_TRY(moved, tensor(from));
        HEADRACE_TRY(at, method_.slot_of(to));
        method_.mark_written(to);
        held_[at] = moved;
        return {};
    }

    /// Returns the contents of a tensor now: a constant, or the last value written to its slot.
    result<value> tensor(std::int64_t index) {
        HEADRACE_TRY(t, method_.table_of(index));
        std::vector<std::int64_t> sizes;
        HEADRACE_TRY(meta, meta_of_table(*t, sizes));
        if (is_constant(*t)) return constant(index, *t, meta);
        HEADRACE_TRY(now, content(index));
        if (!now && meta.elements() == 0) return filled(meta, scalar(std::int64_t{0}));
        if (!now) return unsupported({"tensor ", index, " is read before it is written"});
        const tensor_meta& written = *meta_of(*now);
        if (written.dtype != meta.dtype || written.elements() != meta.elements())
            return unsupported({"tensor ", index, " is read as a different type from the one written"});
        return as_shape(*now, meta);
    }
    /// Returns a number as a tensor without axes.
    result<value> number(std::int64_t index) {
        HEADRACE_TRY(now, content(index));
        if (now) return *now;
        HEADRACE_TRY(table, method_.values().at(index));
        const std::optional<dtype> type = type_of_number(*table);
        if (!type) return malformed({"value ", index, " is not a number"});
        return filled({*type, {}, {}}, number_in(*table));
    }
    /// Returns a tensor, or a number as one.
    result<value> tensor_or_number(std::int64_t index) {
        HEADRACE_TRY(table, method_.values().at(index));
        return type_of_number(*table) ? number(index) : tensor(index);
    }

    /// Returns the last value written to the slot of `index`, of any shape; else its initial value; nullopt
    /// if that is not known.
    result<std::optional<value>> content(std::int64_t index) {
        HEADRACE_TRY(at, method_.slot_of(index));
        if (const auto known = held_.find(at); known != held_.end()) return std::optional(known->second);
        HEADRACE_TRY(table, method_.values().at(index));
        if (const auto type = type_of_number(*table)) {
            if (graph_.parent() != nullptr || !method_.is_computed(index)) return std::optional<value>();
            return std::optional(held_[at] = filled({*type, {}, {}}, number_in(*table)));
        }
        const pte_fb::Tensor* const t = table->kind_as_Tensor();
        const bool is_state = t != nullptr && t->data() != 0 && t->allocation() != nullptr;
        if (!is_state || graph_.parent() != nullptr) return std::optional<value>();
        std::vector<std::int64_t> sizes;
        HEADRACE_TRY(meta, meta_of_table(*t, sizes));
        HEADRACE_TRY(bytes, method_.file().initial_value(t->data(), packed_bytes(meta)));
        return std::optional(held_[at] = stored(bytes, meta));
    }
    [[nodiscard]] std::optional<value> held(const slot& s) const {
        const auto known = held_.find(s);
        return known == held_.end() ? std::nullopt : std::optional(known->second);
    }
    void hold(const slot& s, value v) { held_[s] = v; }
    void forget(const slot& s) { held_.erase(s); }

    /// Returns a tensor whose elements all are `number`.
    value filled(const tensor_meta& meta, const scalar& number) {
        const args<aten::full> arguments{meta.shape, number, meta.dtype};
        return make(info_of<aten::full>, &arguments, meta);
    }
    /// Returns the same elements in another shape.
    value as_shape(value v, const tensor_meta& meta) {
        if (meta_of(v)->shape == meta.shape) return v;
        const value shaped = graph_.create<executorch::reshape>({v, meta.shape}).result();
        graph_.set_meta(shaped, meta);
        return shaped;
    }
    /// Returns the elements cast to another type.
    value as_type(value v, dtype type) {
        if (meta_of(v)->dtype == type) return v;
        const args<aten::_to_copy> cast{.self = v, .dtype = type};
        return make(info_of<aten::_to_copy>, &cast, {type, meta_of(v)->shape, {}});
    }
    /// Returns the result of the kernel for an op of ATen.
    value make(const op_info& op, const void* arguments, const tensor_meta& meta) {
        const value made =
            graph_.create(*executorch::kernel_for(op).kernel, arguments, std::size_t{1}).result();
        graph_.set_meta(made, meta);
        return made;
    }

private:
    value stored(std::span<const std::byte> bytes, const tensor_meta& meta) {
        const value v = graph_.create<builtin::constant>({.data = {.bytes = bytes.data()}}).result();
        graph_.set_meta(v, meta);
        return v;
    }
    result<value> constant(std::int64_t index, const pte_fb::Tensor& t, const tensor_meta& meta) {
        if (const auto known = constants_.find(index); known != constants_.end()) return known->second;
        if (!is_external(t)) {
            HEADRACE_TRY(bytes, method_.file().constant(t.data(), packed_bytes(meta)));
            return constants_[index] = stored(bytes, meta);
        }
        HEADRACE_TRY(bytes, method_.external(t, meta));
        const std::span<std::byte> kept = graph_.allocate_data(bytes.size());  // the other file may close
        std::ranges::copy(bytes, kept.begin());
        return constants_[index] = stored(kept, meta);
    }

    method_source& method_;
    graph& graph_;
    std::map<slot, value> held_;
    std::map<std::int64_t, value> constants_;
};

}  // namespace headrace::detail::pte

#endif
