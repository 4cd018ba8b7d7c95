// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pte/reading/tensors.hpp.

#include <headrace/io/pte/reading/tensors.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/executorch.hpp>
#include <headrace/dialect/memory.hpp>
#include <headrace/io/pte/format.hpp>
#include <headrace/io/pte/pte_generated.hpp>
#include <headrace/io/pte/reading/method_source.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/tensor_meta.hpp>

namespace headrace::pte {

result<tensor_meta> meta_of_table(const pte_fb::Tensor& t, std::vector<std::int64_t>& sizes) {
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

namespace {

/// Returns a number among the values of a method, which type_of_number must know.
[[nodiscard]] scalar number_in(const pte_fb::Value& v) {
    if (const pte_fb::Int* const i = v.kind_as_Int()) return scalar(i->value());
    if (const pte_fb::Bool* const b = v.kind_as_Bool()) return scalar(b->value());
    return scalar(v.kind_as_Double()->value());
}

}  // namespace

result<void> tensor_source::define(std::int64_t index, value v) {
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

result<void> tensor_source::define_number(std::int64_t index, value v) {
    HEADRACE_TRY(table, method_.values().at(index));
    const std::optional<dtype> type = type_of_number(*table);
    if (!type) return malformed({"value ", index, " is not a number"});
    held_[{no_memory, static_cast<std::uint64_t>(index)}] = as_shape(as_type(v, *type), {*type, {}, {}});
    return {};
}

result<void> tensor_source::move(std::int64_t from, std::int64_t to) {
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

result<value> tensor_source::tensor(std::int64_t index) {
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

result<value> tensor_source::scratch(std::int64_t index) {
    HEADRACE_TRY(t, method_.table_of(index));
    std::vector<std::int64_t> sizes;
    HEADRACE_TRY(meta, meta_of_table(*t, sizes));
    if (is_constant(*t) || t->data() != 0)
        return unsupported({"a kernel works in tensor ", index, ", which has a value"});
    HEADRACE_TRY(at, method_.slot_of(index));
    HEADRACE_TRY(method_.values().spend(method_.moved_from(at).size()));
    for (const std::int64_t moved : method_.moved_from(at)) forget({no_memory, moved});
    forget(at);
    const value buffer = graph_.create<memory::alloc>({.size = meta.shape, .dtype = meta.dtype}).result();
    graph_.set_meta(buffer, meta);
    return buffer;
}

result<value> tensor_source::number(std::int64_t index) {
    HEADRACE_TRY(now, content(index));
    if (now) return *now;
    HEADRACE_TRY(table, method_.values().at(index));
    const std::optional<dtype> type = type_of_number(*table);
    if (!type) return malformed({"value ", index, " is not a number"});
    return filled({*type, {}, {}}, number_in(*table));
}

result<value> tensor_source::tensor_or_number(std::int64_t index) {
    HEADRACE_TRY(table, method_.values().at(index));
    return type_of_number(*table) ? number(index) : tensor(index);
}

result<std::optional<value>> tensor_source::content(std::int64_t index) {
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
    const std::uint64_t list = t->extra() == nullptr ? 0 : t->extra()->mutable_segment();
    HEADRACE_TRY(bytes, method_.file().initial_value(t->data(), packed_bytes(meta), list));
    return std::optional(held_[at] = stored(bytes, meta));
}

std::optional<value> tensor_source::held(const slot& s) const {
    const auto known = held_.find(s);
    return known == held_.end() ? std::nullopt : std::optional(known->second);
}

value tensor_source::filled(const tensor_meta& meta, const scalar& number) {
    const args<aten::full> arguments{meta.shape, number, meta.dtype};
    return make(info_of<aten::full>, &arguments, meta);
}

value tensor_source::as_shape(value v, const tensor_meta& meta) {
    if (meta_of(v)->shape == meta.shape) return v;
    const value shaped = graph_.create<executorch::reshape>({v, meta.shape}).result();
    graph_.set_meta(shaped, meta);
    return shaped;
}

value tensor_source::as_type(value v, dtype type) {
    if (meta_of(v)->dtype == type) return v;
    const args<aten::_to_copy> cast{.self = v, .dtype = type};
    return make(info_of<aten::_to_copy>, &cast, {type, meta_of(v)->shape, {}});
}

value tensor_source::make(const op_info& op, const void* arguments, const tensor_meta& meta) {
    const value made = graph_.create(*executorch::kernel_for(op).kernel, arguments, std::size_t{1}).result();
    graph_.set_meta(made, meta);
    return made;
}

value tensor_source::stored(std::span<const std::byte> bytes, const tensor_meta& meta) {
    const value v = graph_.create<builtin::constant>({.data = {.bytes = bytes.data()}}).result();
    graph_.set_meta(v, meta);
    return v;
}

result<value> tensor_source::constant(std::int64_t index, const pte_fb::Tensor& t, const tensor_meta& meta) {
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

}  // namespace headrace::pte
