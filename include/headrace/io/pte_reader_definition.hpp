// SPDX-License-Identifier: MIT
// Defines the function of io/pte_reader.hpp.
#ifndef HEADRACE_IO_PTE_READER_DEFINITION_HPP
#define HEADRACE_IO_PTE_READER_DEFINITION_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/compiled.hpp>
#include <headrace/base/text.hpp>
#include <headrace/dialect/executorch.hpp>
#include <headrace/io/pte_arguments.hpp>
#include <headrace/io/pte_reader.hpp>

namespace headrace {

namespace detail::pte {

/// Reads one method into a graph.
class method_reader {
public:
    method_reader(const pte_file& file, const pte_fb::Method& method, graph& g)
        : file_(file), method_(method), graph_(g) {}

    result<void> read() {
        if (method_.values() == nullptr || method_.inputs() == nullptr || method_.outputs() == nullptr ||
            method_.chains() == nullptr)
            return malformed("a method lacks its values, inputs, outputs or chains");
        values_.emplace(*method_.values(), most_reads_for_each_byte * file_.program_bytes());
        for (const std::int32_t index : *method_.inputs()) {
            BOOST_OUTCOME_TRY(add_input(index));
        }
        for (const pte_fb::Chain* const chain : *method_.chains()) {
            if (chain->instructions() == nullptr) return malformed("a chain lacks its instructions");
            for (const pte_fb::Instruction* const i : *chain->instructions()) {
                BOOST_OUTCOME_TRY(add_instruction(*i));
            }
        }
        std::vector<value> outputs;
        for (const std::int32_t index : *method_.outputs()) {
            BOOST_OUTCOME_TRY(output, tensor(index));
            outputs.push_back(output);
        }
        graph_.create<builtin::output>({.values = list<value>(outputs)});
        return boost::outcome_v2::success();
    }

private:
    // Each argument takes four bytes at least, and is looked at a few times.
    static constexpr std::uint64_t most_reads_for_each_byte = 8;
    using place = std::pair<std::uint32_t, std::uint64_t>;

    // --- tensors -----------------------------------------------------------------------

    result<const pte_fb::Tensor*> table_of(std::int64_t index) {
        BOOST_OUTCOME_TRY(v, values_->at(index));
        const pte_fb::Tensor* const t = v->kind_as_Tensor();
        if (t == nullptr) return malformed("value " + number_text(index) + " is no tensor");
        return t;
    }
    // Sizes stay in the vector.
    static result<tensor_meta> meta_of_table(const pte_fb::Tensor& t, std::vector<std::int64_t>& sizes) {
        if (t.sizes() == nullptr || t.dim_order() == nullptr || t.sizes()->size() != t.dim_order()->size() ||
            t.sizes()->size() > max_rank || t.storage_offset() != 0)
            return malformed("a tensor lacks its sizes or their order, or begins inside its storage");
        for (flatbuffers::uoffset_t i = 0; i != t.sizes()->size(); ++i) {
            if (t.sizes()->Get(i) < 0) return malformed("a tensor has a negative size");
            sizes.push_back(t.sizes()->Get(i));
            if (t.dim_order()->Get(i) != i)
                return unsupported("a tensor that does not lie row by row; export the model contiguous");
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
    static place place_of(const pte_fb::Allocation& a) {
        return {a.memory(), std::uint64_t{a.offset_high()} << 32 | a.offset_low()};
    }

    result<void> add_input(std::int32_t index) {
        BOOST_OUTCOME_TRY(t, table_of(index));
        std::vector<std::int64_t> sizes;
        BOOST_OUTCOME_TRY(meta, meta_of_table(*t, sizes));
        const value v = graph_.create<builtin::placeholder>({}).result();
        graph_.set_meta(v, meta);
        return define(index, v);
    }
    result<void> define(std::int64_t index, value v) {
        BOOST_OUTCOME_TRY(t, table_of(index));
        if (t->data() != 0) return unsupported("tensors that keep their contents between runs");
        if (t->allocation() != nullptr) {
            at_places_[place_of(*t->allocation())] = v;
        } else {
            unplanned_[index] = v;
        }
        return boost::outcome_v2::success();
    }

    // What a tensor holds now: a constant, or what was written last where it lies.
    result<value> tensor(std::int64_t index) {
        BOOST_OUTCOME_TRY(t, table_of(index));
        std::vector<std::int64_t> sizes;
        BOOST_OUTCOME_TRY(meta, meta_of_table(*t, sizes));
        if (t->data() != 0 && t->allocation() == nullptr) return constant(index, t->data(), meta);
        value held{};
        if (t->allocation() != nullptr) {
            const auto known = at_places_.find(place_of(*t->allocation()));
            if (known != at_places_.end()) held = known->second;
        } else if (const auto known = unplanned_.find(index); known != unplanned_.end()) {
            held = known->second;
        }
        if (!held) return unsupported("tensor " + number_text(index) + " is read before it is written");
        const tensor_meta& written = *meta_of(held);
        if (written == meta) return held;
        if (written.dtype != meta.dtype || written.elements() != meta.elements())
            return unsupported("tensor " + number_text(index) + " is read as another type than was written");
        const value v = graph_.create<executorch::reshape>({held, meta.shape}).result();
        graph_.set_meta(v, meta);
        return v;
    }
    result<value> constant(std::int64_t index, std::uint32_t number, const tensor_meta& meta) {
        if (const auto known = constants_.find(index); known != constants_.end()) return known->second;
        BOOST_OUTCOME_TRY(bytes, file_.constant(number, packed_bytes(meta)));
        const value v = graph_.create<builtin::constant>({.data = {.bytes = bytes.data()}}).result();
        graph_.set_meta(v, meta);
        return constants_[index] = v;
    }

    // --- instructions ------------------------------------------------------------------

    result<void> add_instruction(const pte_fb::Instruction& i) {
        BOOST_OUTCOME_TRYV(values_->spend(1));
        if (i.call_type() == pte_fb::Call::FreeCall) return boost::outcome_v2::success();
        const pte_fb::KernelCall* const call = i.call_as_KernelCall();
        if (call == nullptr)
            return unsupported(std::pmr::string(pte_fb::EnumNameCall(i.call_type())) +
                               " instructions; only kernel calls are read");
        const auto* const operators = method_.operators();
        if (operators == nullptr || call->op() < 0 ||
            static_cast<std::uint32_t>(call->op()) >= operators->size() || call->args() == nullptr)
            return malformed("a call of a kernel that it does not list");
        const pte_fb::Operator& named = *operators->Get(static_cast<flatbuffers::uoffset_t>(call->op()));
        std::string name = named.name() == nullptr ? "" : named.name()->str();
        if (named.overload() != nullptr && named.overload()->size() != 0)
            name += "." + named.overload()->str();
        const op_info* const op = find_op<executorch::dialect>(name);
        return op == nullptr ? add_opaque(name, *call->args()) : add_kernel(*op, *call->args());
    }

    // The arguments in the schema's order, the tensors that are written, and these once more.
    result<void> add_kernel(const op_info& op, const flatbuffers::Vector<std::int32_t>& indices) {
        std::size_t given = 0;
        for (const field_info& f : op) given += !is_left_out(op, f);
        const std::size_t written = op.results == variadic_results ? 1 : static_cast<std::size_t>(op.results);
        if (indices.size() != given + written + 1)
            return malformed(std::pmr::string(op.name) + " is given another number of arguments");
        argument_reader reader(*values_, op, [&](std::int64_t index) { return tensor(index); });
        std::vector<std::int64_t> results;
        flatbuffers::uoffset_t next = static_cast<flatbuffers::uoffset_t>(given);
        BOOST_OUTCOME_TRY(
            written_by(indices, next, static_cast<flatbuffers::uoffset_t>(next + written), results));
        next = 0;
        for (const field_info& f : op) {
            if (!is_left_out(op, f)) {
                BOOST_OUTCOME_TRY(reader.read(f, indices.Get(next++)));
            } else if (!results.empty()) {
                BOOST_OUTCOME_TRY(t, table_of(results[0]));
                reader.put(f, dtype_of(t->scalar_type()));
            }
        }
        return add_node(op, reader.arguments(), results);
    }
    // The tensors at these arguments, items of lists one by one.
    result<void> written_by(const flatbuffers::Vector<std::int32_t>& indices, flatbuffers::uoffset_t from,
                            flatbuffers::uoffset_t to, std::vector<std::int64_t>& found) {
        for (; from != to; ++from) {
            BOOST_OUTCOME_TRY(v, values_->at(indices.Get(from)));
            const pte_fb::TensorList* const items = v->kind_as_TensorList();
            if (items == nullptr || items->items() == nullptr) {
                found.push_back(indices.Get(from));
            } else {
                BOOST_OUTCOME_TRYV(values_->spend(items->items()->size()));
                found.insert(found.end(), items->items()->begin(), items->items()->end());
            }
        }
        return boost::outcome_v2::success();
    }
    // What the last argument names is returned; other tensors are read.
    result<void> add_opaque(const std::string& name, const flatbuffers::Vector<std::int32_t>& indices) {
        std::vector<std::int64_t> results;
        std::vector<value> operands;
        if (indices.size() != 0) {
            BOOST_OUTCOME_TRY(written_by(indices, indices.size() - 1, indices.size(), results));
        }
        std::erase_if(results, [&](std::int64_t index) { return !table_of(index); });
        for (const std::int32_t index : indices) {
            if (!table_of(index) || std::ranges::find(results, index) != results.end()) continue;
            BOOST_OUTCOME_TRY(operand, tensor(index));
            operands.push_back(operand);
        }
        const args<builtin::opaque> arguments{name, list<value>(operands)};
        return add_node(info_of<builtin::opaque>, &arguments, results);
    }
    result<void> add_node(const op_info& op, const void* arguments,
                          const std::vector<std::int64_t>& results) {
        node& n = graph_.create(op, arguments, results.size());
        for (std::uint32_t i = 0; i != results.size(); ++i) {
            BOOST_OUTCOME_TRY(t, table_of(results[i]));
            std::vector<std::int64_t> sizes;
            BOOST_OUTCOME_TRY(meta, meta_of_table(*t, sizes));
            graph_.set_meta(n.result(i), meta);
            BOOST_OUTCOME_TRY(define(results[i], n.result(i)));
        }
        return boost::outcome_v2::success();
    }

    const pte_file& file_;
    const pte_fb::Method& method_;
    graph& graph_;
    std::optional<value_source> values_;
    std::map<place, value> at_places_;
    std::map<std::int64_t, value> unplanned_;
    std::map<std::int64_t, value> constants_;
};

}  // namespace detail::pte

HEADRACE_INLINE result<std::unique_ptr<graph>> read_pte(const pte_file& file, std::string_view method) {
    BOOST_OUTCOME_TRY(found, file.method(method));
    auto made = std::make_unique<graph>();
    BOOST_OUTCOME_TRY(detail::pte::method_reader(file, *found, *made).read());
    return made;
}

}  // namespace headrace

#endif
