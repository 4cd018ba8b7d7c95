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
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/compiled.hpp>
#include <headrace/base/text.hpp>
#include <headrace/dialect/delegate.hpp>
#include <headrace/dialect/executorch.hpp>
#include <headrace/io/pte_arguments.hpp>
#include <headrace/io/pte_reader.hpp>
#include <headrace/io/pte_tensors.hpp>
#include <headrace/io/pte_tosa.hpp>
#include <headrace/io/tosa_reader.hpp>

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
        tensors_.emplace(file_, *values_, graph_);
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
            BOOST_OUTCOME_TRY(output, tensors_->tensor(index));
            outputs.push_back(output);
        }
        graph_.create<builtin::output>({.values = list<value>(outputs)});
        return boost::outcome_v2::success();
    }

private:
    // Each argument takes four bytes at least, and is looked at a few times.
    static constexpr std::uint64_t most_reads_for_each_byte = 8;

    result<void> add_input(std::int32_t index) {
        BOOST_OUTCOME_TRY(t, tensors_->table_of(index));
        std::vector<std::int64_t> sizes;
        BOOST_OUTCOME_TRY(meta, meta_of_table(*t, sizes));
        const value v = graph_.create<builtin::placeholder>({}).result();
        graph_.set_meta(v, meta);
        return tensors_->define(index, v);
    }

    // --- instructions ------------------------------------------------------------------

    result<void> add_instruction(const pte_fb::Instruction& i) {
        BOOST_OUTCOME_TRYV(values_->spend(1));
        if (i.call_type() == pte_fb::Call::FreeCall) return boost::outcome_v2::success();
        if (const pte_fb::DelegateCall* const call = i.call_as_DelegateCall())
            return add_delegate_call(*call);
        const pte_fb::KernelCall* const call = i.call_as_KernelCall();
        if (call == nullptr)
            return unsupported(std::pmr::string(pte_fb::EnumNameCall(i.call_type())) +
                               " instructions; only calls of kernels and delegates are read");
        const auto* const operators = method_.operators();
        if (operators == nullptr || call->op() < 0 ||
            static_cast<std::uint32_t>(call->op()) >= operators->size() || call->args() == nullptr)
            return malformed("a call of a kernel that it does not list");
        const pte_fb::Operator& named = *operators->Get(static_cast<flatbuffers::uoffset_t>(call->op()));
        std::string name = named.name() == nullptr ? "" : named.name()->str();
        if (named.overload() != nullptr && named.overload()->size() != 0)
            name += "." + named.overload()->str();
        if (name == copy_name) return add_copy(*call->args());
        const op_info* const op = find_op<executorch::dialect>(name);
        const bool is_kernel = op != nullptr && op != &info_of<executorch::call_delegate>;
        return is_kernel ? add_kernel(*op, *call->args()) : add_opaque(name, *call->args());
    }

    // A state holds from then on what is copied into it.
    result<void> add_copy(const flatbuffers::Vector<std::int32_t>& indices) {
        if (indices.size() != 4) return malformed("aten::copy_ is given the wrong number of arguments");
        BOOST_OUTCOME_TRY(to, tensors_->table_of(indices.Get(0)));
        BOOST_OUTCOME_TRY(from, tensors_->tensor(indices.Get(1)));
        std::vector<std::int64_t> sizes;
        BOOST_OUTCOME_TRY(meta, meta_of_table(*to, sizes));
        if (!(meta == *meta_of(from))) return unsupported("aten::copy_ to a different type or shape");
        return tensors_->define(indices.Get(0), from);
    }

    // --- delegates ---------------------------------------------------------------------

    result<void> add_delegate_call(const pte_fb::DelegateCall& call) {
        const auto* const all = method_.delegates();
        if (all == nullptr || call.delegate() < 0 ||
            static_cast<std::uint32_t>(call.delegate()) >= all->size() || call.args() == nullptr)
            return malformed("a call of a delegate that it does not list");
        const pte_fb::Delegate& d = *all->Get(static_cast<flatbuffers::uoffset_t>(call.delegate()));
        const std::string_view id = d.id() == nullptr ? std::string_view() : d.id()->string_view();
        if (id != tosa_backend_id) return add_foreign(std::string(id), *call.args());
        graph& region = graph_.create_region();
        BOOST_OUTCOME_TRYV(read_delegate(d, region));
        std::size_t taken = 0;
        for ([[maybe_unused]] const node& n : region.inputs()) ++taken;
        if (call.args()->size() != taken + region.outputs().size())
            return malformed("a delegate is given the wrong number of arguments");
        std::vector<value> operands;
        std::vector<std::int64_t> results;
        for (const std::int32_t index : *call.args()) {
            if (operands.size() == taken) {
                results.push_back(index);
                continue;
            }
            BOOST_OUTCOME_TRY(operand, tensors_->tensor(index));
            operands.push_back(operand);
        }
        const args<delegate::call_delegate> arguments{tosa_backend_id, &region, list<value>(operands)};
        return add_node(info_of<delegate::call_delegate>, &arguments, results);
    }
    result<void> read_delegate(const pte_fb::Delegate& d, graph& region) {
        BOOST_OUTCOME_TRY(blob, file_.delegate(d));
        BOOST_OUTCOME_TRY(constants, file_.named_data(shared_constants_key));
        BOOST_OUTCOME_TRY(flatbuffer, restore_tosa(blob, constants, restored_left_));
        restored_left_ -= flatbuffer.size();
        return read_tosa(flatbuffer, region);
    }
    // What its backend takes and gives is known to that alone: what nothing has written before, it writes.
    result<void> add_foreign(const std::string& id, const flatbuffers::Vector<std::int32_t>& indices) {
        std::vector<std::int64_t> results;
        std::vector<value> operands;
        for (const std::int32_t index : indices) {
            BOOST_OUTCOME_TRY(t, tensors_->table_of(index));
            if (t->data() == 0 && !tensors_->is_written(index)) {
                results.push_back(index);
                continue;
            }
            BOOST_OUTCOME_TRY(operand, tensors_->tensor(index));
            operands.push_back(operand);
        }
        const std::string name = "delegate of " + id;
        const args<builtin::opaque> arguments{name, list<value>(operands)};
        return add_node(info_of<builtin::opaque>, &arguments, results);
    }

    // --- kernels -----------------------------------------------------------------------

    // The arguments in the schema's order, the tensors that are written, and these once more.
    result<void> add_kernel(const op_info& op, const flatbuffers::Vector<std::int32_t>& indices) {
        std::size_t given = 0;
        for (const field_info& f : op) given += !is_left_out(op, f);
        const std::size_t written = op.results == variadic_results ? 1 : static_cast<std::size_t>(op.results);
        if (indices.size() != given + written + 1)
            return malformed(std::pmr::string(op.name) + " is given the wrong number of arguments");
        argument_reader reader(*values_, op, [&](std::int64_t index) { return tensors_->tensor(index); });
        std::vector<std::int64_t> results;
        flatbuffers::uoffset_t next = static_cast<flatbuffers::uoffset_t>(given);
        BOOST_OUTCOME_TRY(
            written_by(indices, next, static_cast<flatbuffers::uoffset_t>(next + written), results));
        next = 0;
        for (const field_info& f : op) {
            if (!is_left_out(op, f)) {
                BOOST_OUTCOME_TRY(reader.read(f, indices.Get(next++)));
            } else if (!results.empty()) {
                BOOST_OUTCOME_TRY(t, tensors_->table_of(results[0]));
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
        std::erase_if(results, [&](std::int64_t index) { return !tensors_->table_of(index); });
        for (const std::int32_t index : indices) {
            if (!tensors_->table_of(index) || std::ranges::find(results, index) != results.end()) continue;
            BOOST_OUTCOME_TRY(operand, tensors_->tensor(index));
            operands.push_back(operand);
        }
        const args<builtin::opaque> arguments{name, list<value>(operands)};
        return add_node(info_of<builtin::opaque>, &arguments, results);
    }
    result<void> add_node(const op_info& op, const void* arguments,
                          const std::vector<std::int64_t>& results) {
        node& n = graph_.create(op, arguments, results.size());
        for (std::uint32_t i = 0; i != results.size(); ++i) {
            BOOST_OUTCOME_TRY(t, tensors_->table_of(results[i]));
            std::vector<std::int64_t> sizes;
            BOOST_OUTCOME_TRY(meta, meta_of_table(*t, sizes));
            graph_.set_meta(n.result(i), meta);
            BOOST_OUTCOME_TRY(tensors_->define(results[i], n.result(i)));
        }
        return boost::outcome_v2::success();
    }

    const pte_file& file_;
    const pte_fb::Method& method_;
    graph& graph_;
    std::optional<value_source> values_;
    std::optional<tensor_source> tensors_;
    std::uint64_t restored_left_ = largest_restored(file_.size());
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
