// SPDX-License-Identifier: MIT
// Defines what the reader of .pte files makes of a tensor's table.
#ifndef HEADRACE_IO_PTE_TENSORS_HPP
#define HEADRACE_IO_PTE_TENSORS_HPP

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <headrace/base/error.hpp>
#include <headrace/base/text.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/executorch.hpp>
#include <headrace/io/pte_arguments.hpp>
#include <headrace/io/pte_file.hpp>
#include <headrace/io/pte_format.hpp>
#include <headrace/io/pte_generated.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/tensor_meta.hpp>

namespace headrace::detail::pte {

/// A memory, and an offset in it.
using place = std::pair<std::uint32_t, std::uint64_t>;

/// Its type and sizes, which stay in the vector.
[[nodiscard]] inline result<tensor_meta> meta_of_table(const pte_fb::Tensor& t,
                                                       std::vector<std::int64_t>& sizes) {
    if (t.sizes() == nullptr || t.dim_order() == nullptr || t.sizes()->size() != t.dim_order()->size() ||
        t.sizes()->size() > max_rank || t.storage_offset() != 0)
        return malformed("a tensor lacks its sizes or their order, or begins inside its storage");
    for (flatbuffers::uoffset_t i = 0; i != t.sizes()->size(); ++i) {
        if (t.sizes()->Get(i) < 0) return malformed("a tensor has a negative size");
        sizes.push_back(t.sizes()->Get(i));
        if (t.dim_order()->Get(i) != i)
            return unsupported("a tensor that is not contiguous; export the model with contiguous tensors");
    }
    if (t.extra() != nullptr && t.extra()->location() != pte_fb::TensorLocation::SEGMENT)
        return unsupported("constants in another file (.ptd)");
    const tensor_meta meta{dtype_of(t.scalar_type()), int_list(sizes), {}};
    if (meta.dtype == dtype::unknown)
        return unsupported("a tensor of ScalarType " + number_text(int{t.scalar_type()}));
    if (meta.checked_elements().value_or(INT64_MAX) > INT64_MAX / 8)
        return malformed("a tensor is too large");
    return meta;
}
/// Where it is planned to lie.
[[nodiscard]] inline place place_of(const pte_fb::Allocation& a) {
    return {a.memory(), std::uint64_t{a.offset_high()} << 32 | a.offset_low()};
}

/// Does a tensor take bytes of a memory? One without elements may lie where another does.
[[nodiscard]] inline bool takes_place(const pte_fb::Tensor& t) {
    if (t.allocation() == nullptr) return false;
    return t.sizes() == nullptr || std::find(t.sizes()->begin(), t.sizes()->end(), 0) == t.sizes()->end();
}

/// What the tensors of a method hold while its instructions are read.
class tensor_source {
public:
    /// `values` gives the tables; nodes for constants and reshapes are added to the graph.
    tensor_source(const pte_file& file, value_source& values, graph& g)
        : file_(file), values_(values), graph_(g) {}

    /// The table of a value, which must be a tensor.
    result<const pte_fb::Tensor*> table_of(std::int64_t index) {
        BOOST_OUTCOME_TRY(v, values_.at(index));
        const pte_fb::Tensor* const t = v->kind_as_Tensor();
        if (t == nullptr) return malformed("value " + number_text(index) + " is not a tensor");
        return t;
    }
    /// The tensor holds that from now on.
    result<void> define(std::int64_t index, value v) {
        BOOST_OUTCOME_TRY(t, table_of(index));
        if (t->data() != 0 && t->allocation() == nullptr)
            return unsupported("tensor " + number_text(index) + " is a constant, but is written");
        written_.insert(index);
        if (takes_place(*t)) {
            at_places_[place_of(*t->allocation())] = v;
        } else {
            unplanned_[index] = v;
        }
        return boost::outcome_v2::success();
    }

    /// What a tensor holds now: a constant, or what was written last where it lies.
    result<value> tensor(std::int64_t index) {
        BOOST_OUTCOME_TRY(t, table_of(index));
        std::vector<std::int64_t> sizes;
        BOOST_OUTCOME_TRY(meta, meta_of_table(*t, sizes));
        if (t->data() != 0 && t->allocation() == nullptr) return constant(index, t->data(), meta);
        value held{};
        if (takes_place(*t)) {
            const auto known = at_places_.find(place_of(*t->allocation()));
            if (known != at_places_.end()) {
                held = known->second;
            } else if (t->data() != 0) {  // a state that has not been written yet
                BOOST_OUTCOME_TRY(bytes, file_.initial_value(t->data(), packed_bytes(meta)));
                held = graph_.create<builtin::constant>({.data = {.bytes = bytes.data()}}).result();
                graph_.set_meta(held, meta);
                at_places_[place_of(*t->allocation())] = held;
            }
        } else if (const auto known = unplanned_.find(index); known != unplanned_.end()) {
            held = known->second;
        }
        if (!held) return unsupported("tensor " + number_text(index) + " is read before it is written");
        const tensor_meta& written = *meta_of(held);
        if (written == meta) return held;
        if (written.dtype != meta.dtype || written.elements() != meta.elements())
            return unsupported("tensor " + number_text(index) +
                               " is read as a different type from the one written");
        const value v = graph_.create<executorch::reshape>({held, meta.shape}).result();
        graph_.set_meta(v, meta);
        return v;
    }
    [[nodiscard]] bool is_written(std::int64_t index) const { return written_.contains(index); }

private:
    result<value> constant(std::int64_t index, std::uint32_t number, const tensor_meta& meta) {
        if (const auto known = constants_.find(index); known != constants_.end()) return known->second;
        BOOST_OUTCOME_TRY(bytes, file_.constant(number, packed_bytes(meta)));
        const value v = graph_.create<builtin::constant>({.data = {.bytes = bytes.data()}}).result();
        graph_.set_meta(v, meta);
        return constants_[index] = v;
    }

    const pte_file& file_;
    value_source& values_;
    graph& graph_;
    std::map<place, value> at_places_;
    std::map<std::int64_t, value> unplanned_;
    std::map<std::int64_t, value> constants_;
    std::set<std::int64_t> written_;
};

}  // namespace headrace::detail::pte

#endif
