// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pte/reading/graph_reader.hpp.

#include <headrace/io/pte/reading/graph_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/base/printable.hpp>
#include <headrace/base/text.hpp>
#include <headrace/dialect/delegate.hpp>
#include <headrace/dialect/executorch.hpp>
#include <headrace/io/pte/format.hpp>
#include <headrace/io/pte/reader.hpp>
#include <headrace/io/pte/reading/arguments.hpp>
#include <headrace/io/pte/reading/method_source.hpp>
#include <headrace/io/pte/reading/numbers.hpp>
#include <headrace/io/pte/reading/opaque.hpp>
#include <headrace/io/pte/reading/tensors.hpp>
#include <headrace/io/pte/reading/views.hpp>
#include <headrace/io/pte/tosa_delegates.hpp>
#include <headrace/io/tosa/reader.hpp>

namespace headrace::pte {

result<void> graph_reader::add_input(std::int32_t index) {
    HEADRACE_TRY(table, method_.values().at(index));
    if (type_of_number(*table)) return {};  // its value is in the file
    HEADRACE_TRY(t, method_.table_of(index));
    std::vector<std::int64_t> sizes;
    HEADRACE_TRY(meta, meta_of_table(*t, sizes));
    const value v = graph_.create<builtin::placeholder>({}).result();
    graph_.set_meta(v, meta);
    return tensors_.define(index, v);
}

result<void> graph_reader::add_instruction(std::uint32_t number, const pte_fb::Instruction& i) {
    HEADRACE_TRY(method_.values().spend(1));
    const node* const last_before = graph_.last();
    result<void> done = add(i);
    // Constants and views that it reads come before the node that computes.
    if (node* const made = graph_.last(); done && made != last_before && !is<builtin::constant>(*made))
        graph_.annotate(*made, pte_instruction{number});
    if (done) return done;
    std::pmr::string where = "instruction " + number_text(number);
    if (const pte_fb::KernelCall* const call = i.call_as_KernelCall()) {
        if (const auto o = method_.operator_of(*call))
            where += ", " + std::pmr::string(printable(o.value()->name));
    }
    return done.error().in(where);
}

result<void> graph_reader::add_output(std::int32_t index, std::vector<value>& outputs) {
    HEADRACE_TRY(output, tensors_.tensor_or_number(index));
    outputs.push_back(output);
    return {};
}

result<void> graph_reader::add(const pte_fb::Instruction& i) {
    if (i.call_type() == pte_fb::Call::FreeCall) return {};
    if (const pte_fb::MoveCall* const move = i.call_as_MoveCall())
        return tensors_.move(move->from(), move->to());
    if (const pte_fb::DelegateCall* const call = i.call_as_DelegateCall()) return add_delegate_call(*call);
    const pte_fb::KernelCall* const call = i.call_as_KernelCall();
    if (call == nullptr) return unsupported({pte_fb::EnumNameCall(i.call_type()), " instructions"});
    HEADRACE_TRY(o, method_.operator_of(*call));
    switch (o->kind) {
        case call_kind::kernel:
            return add_kernel(*o, *call->args());
        case call_kind::copy:
            return add_copy(*call->args());
        case call_kind::shape:
            return view_reader(method_, tensors_).add_shape(*o, *call->args());
        case call_kind::number:
            return number_reader(method_, tensors_).read(*o, *call->args());
        case call_kind::slice:
            return view_reader(method_, tensors_).add_slice(*call->args());
        case call_kind::opaque:
            break;
    }
    return add_opaque(*o, *call->args());
}

result<void> graph_reader::add_copy(const indices_type& indices) {
    if (indices.size() != 4) return malformed("aten::copy_ is given the wrong number of arguments");
    HEADRACE_TRY(to, method_.table_of(indices.Get(0)));
    HEADRACE_TRY(from, tensors_.tensor(indices.Get(1)));
    std::vector<std::int64_t> sizes;
    HEADRACE_TRY(meta, meta_of_table(*to, sizes));
    if (!(meta == *meta_of(from))) return unsupported("aten::copy_ to a different type or shape");
    return tensors_.define(indices.Get(0), from);
}

result<void> graph_reader::add_delegate_call(const pte_fb::DelegateCall& call) {
    const auto* const all = method_.method().delegates();
    if (all == nullptr || call.delegate() < 0 || static_cast<std::uint32_t>(call.delegate()) >= all->size() ||
        call.args() == nullptr)
        return malformed("a call of a delegate that the method does not list");
    const pte_fb::Delegate& d = *all->Get(static_cast<flatbuffers::uoffset_t>(call.delegate()));
    const std::string_view id = d.id() == nullptr ? std::string_view() : d.id()->string_view();
    if (id != tosa_backend_id) return add_foreign(std::string(id), *call.args());
    graph& region = graph_.create_region();
    HEADRACE_TRY(read_delegate(d, region));
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
        HEADRACE_TRY(operand, tensors_.tensor(index));
        operands.push_back(operand);
    }
    const args<delegate::call_delegate> arguments{tosa_backend_id, &region, list<value>(operands)};
    return add_node(info_of<delegate::call_delegate>, &arguments, results);
}

result<void> graph_reader::read_delegate(const pte_fb::Delegate& d, graph& region) {
    HEADRACE_TRY(blob, method_.file().delegate(d));
    HEADRACE_TRY(constants, method_.file().named_data(shared_constants_key));
    HEADRACE_TRY(flatbuffer, restore_tosa(blob, constants, method_.restored_left()));
    method_.restored_left() -= flatbuffer.size();
    return read_tosa(flatbuffer, region);
}

result<void> graph_reader::add_foreign(const std::string& id, const indices_type& indices) {
    std::vector<std::int64_t> results;
    std::vector<value> operands;
    for (const std::int32_t index : indices) {
        HEADRACE_TRY(t, method_.table_of(index));
        if (!is_constant(*t) && t->data() == 0 && !method_.is_written(index)) {
            results.push_back(index);
            continue;
        }
        HEADRACE_TRY(operand, tensors_.tensor(index));
        operands.push_back(operand);
    }
    const std::string name = "delegate of " + id;
    const args<builtin::opaque> arguments{name, list<value>(operands)};
    return add_node(info_of<builtin::opaque>, &arguments, results);
}

result<void> graph_reader::add_kernel(const called_operator& o, const indices_type& indices) {
    const op_info& op = *o.op;
    std::size_t given = 0;
    for (const field_info& f : op) given += !is_left_out(op, f);
    const std::size_t written = op.results == variadic_results ? 1 : static_cast<std::size_t>(op.results);
    if (indices.size() != given + written + 1) return wrong_argument_count(o);
    std::vector<std::int64_t> results;
    flatbuffers::uoffset_t next = static_cast<flatbuffers::uoffset_t>(given);
    HEADRACE_TRY(written_by(indices, next, static_cast<flatbuffers::uoffset_t>(next + written), results));
    if (op.name == "aten::select_copy.int_out" && results.size() == 1 && method_.is_computed(indices.Get(2)))
        return view_reader(method_, tensors_).add_select(indices, results[0]);
    argument_reader reader(method_.values(), op, [&](std::int64_t index) { return tensors_.tensor(index); });
    next = 0;
    for (const field_info& f : op) {
        if (is_scratch(op, f)) {
            HEADRACE_TRY(buffer, tensors_.scratch(indices.Get(next++)));
            reader.put(f, buffer);
        } else if (!is_left_out(op, f)) {
            HEADRACE_TRY(refuse_computed(f, indices.Get(next)));
            HEADRACE_TRY(reader.read(f, indices.Get(next++)));
        } else if (!results.empty()) {
            HEADRACE_TRY(t, method_.table_of(results[0]));
            reader.put(f, dtype_of(t->scalar_type()));
        }
    }
    return add_node(op, reader.arguments(), results);
}

result<void> graph_reader::refuse_computed(const field_info& f, std::int64_t index) {
    HEADRACE_TRY(v, method_.values().at(index));
    bool is_computed = method_.is_computed(index);
    if (const pte_fb::IntList* const items = v->kind_as_IntList(); items != nullptr) {
        if (!is_readable(items->items())) return malformed("a list of numbers is not there");
        HEADRACE_TRY(method_.values().spend(items->items()->size()));
        for (const std::int64_t item : *items->items())
            is_computed = is_computed || method_.is_computed(item);
    }
    if (!is_computed) return {};
    return unsupported({"its argument '", f.name,
        "' is computed when the method runs; only indices of select_copy are read so"});
}

result<void> graph_reader::written_by(const indices_type& indices, flatbuffers::uoffset_t from,
    flatbuffers::uoffset_t to, std::vector<std::int64_t>& found) {
    for (; from != to; ++from) {
        HEADRACE_TRY(v, method_.values().at(indices.Get(from)));
        const pte_fb::TensorList* const items = v->kind_as_TensorList();
        if (items == nullptr || items->items() == nullptr) {
            found.push_back(indices.Get(from));
        } else {
            HEADRACE_TRY(method_.values().spend(items->items()->size()));
            found.insert(found.end(), items->items()->begin(), items->items()->end());
        }
    }
    return {};
}

result<void> graph_reader::add_opaque(const called_operator& o, const indices_type& indices) {
    std::vector<std::int64_t> results;
    if (indices.size() != 0) {
        HEADRACE_TRY(written_by(indices, indices.size() - 1, indices.size(), results));
    }
    erase_if(results, [&](std::int64_t index) { return !method_.table_of(index); });
    if (results.empty() && indices.size() != 0 && method_.is_computed(indices.Get(indices.size() - 1)))
        return unsupported({"a number that ", printable(o.name), " computes"});
    opaque_arguments given(method_, results, [&](std::int64_t index) { return tensors_.tensor(index); });
    HEADRACE_TRY(arguments, given.read(o.name, indices));
    return add_node(info_of<builtin::opaque>, &arguments, results);
}

result<void> graph_reader::add_node(
    const op_info& op, const void* arguments, const std::vector<std::int64_t>& results) {
    node& n = graph_.create(op, arguments, results.size());
    for (std::uint32_t i = 0; i != results.size(); ++i) {
        HEADRACE_TRY(t, method_.table_of(results[i]));
        std::vector<std::int64_t> sizes;
        HEADRACE_TRY(meta, meta_of_table(*t, sizes));
        graph_.set_meta(n.result(i), meta);
        HEADRACE_TRY(tensors_.define(results[i], n.result(i)));
    }
    return {};
}

}  // namespace headrace::pte
