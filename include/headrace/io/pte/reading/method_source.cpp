// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pte/reading/method_source.hpp.

#include <headrace/io/pte/reading/method_source.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <headrace/base/printable.hpp>
#include <headrace/base/result.hpp>
#include <headrace/base/text.hpp>
#include <headrace/io/pte/file.hpp>
#include <headrace/io/pte/operators.hpp>
#include <headrace/io/pte/pte_generated.hpp>
#include <headrace/io/pte/tosa_delegates.hpp>
#include <headrace/ir/tensor_meta.hpp>

namespace headrace::pte {

void accesses::append(const accesses& then) {
    for (const auto& [s, index] : then.reads) {
        if (!sure.contains(s)) reads.try_emplace(s, index);
    }
    writes.insert(then.writes.begin(), then.writes.end());
    sure.insert(then.sure.begin(), then.sure.end());
}

method_source::method_source(const pte_file& file, const pte_fb::Method& method)
    : file_(file),
      method_(method),
      values_(*method.values(), most_reads_for_each_byte * file.program_bytes()),
      restored_left_(largest_restored(file.size())) {}

result<void> method_source::prepare() {
    list_operators();
    for (const pte_fb::Chain* const chain : *method_.chains()) {
        if (chain->instructions() == nullptr) return malformed("a chain lacks its instructions");
        for (const pte_fb::Instruction* const i : *chain->instructions()) {
            if (i->call_type() == pte_fb::Call::JumpFalseCall) has_jumps_ = true;
            if (const pte_fb::MoveCall* const move = i->call_as_MoveCall()) {
                HEADRACE_TRY(note_move(*move));
            }
            if (const pte_fb::KernelCall* const call = i->call_as_KernelCall()) {
                HEADRACE_TRY(note_number(*call));
            }
        }
    }
    for (const auto& [from, to] : moves_) {
        HEADRACE_TRY(at, slot_of(from));
        moved_from_[at].push_back(to);
    }
    return {};
}

result<std::span<const std::byte>> method_source::external(
    const pte_fb::Tensor& t, const tensor_meta& meta) const {
    const auto* const name = t.extra()->name();
    if (name == nullptr) return malformed("a tensor in another file has no name");
    if (file_.external_data() == nullptr)
        return malformed({"tensor '", printable(name->string_view()),
            "' lies in another file (.ptd), which is not there; give it by --data, or put it "
            "beside the program, with the same name but for .ptd"});
    return file_.external_data()->tensor(name->string_view(), meta);
}

result<const pte_fb::Tensor*> method_source::table_of(std::int64_t index) {
    HEADRACE_TRY(v, values_.at(index));
    const pte_fb::Tensor* const t = v->kind_as_Tensor();
    if (t == nullptr) return malformed({"value ", index, " is not a tensor"});
    return t;
}

result<slot> method_source::slot_of(std::int64_t index) {
    HEADRACE_TRY(v, values_.at(index));
    const slot own{no_memory, static_cast<std::uint64_t>(index)};
    const pte_fb::Tensor* const t = v->kind_as_Tensor();
    if (t == nullptr || t->allocation() == nullptr || is_moved(index)) return own;
    const auto* const sizes = t->sizes();
    if (sizes != nullptr && std::find(sizes->begin(), sizes->end(), 0) != sizes->end()) return own;
    const pte_fb::Allocation& a = *t->allocation();
    return slot{a.memory(), std::uint64_t{a.offset_high()} << 32 | a.offset_low()};
}

result<const called_operator*> method_source::operator_of(const pte_fb::KernelCall& call) const {
    if (call.op() < 0 || static_cast<std::size_t>(call.op()) >= operators_.size() || call.args() == nullptr)
        return malformed("a call of a kernel that the method does not list");
    return &operators_[static_cast<std::size_t>(call.op())];
}

std::size_t method_source::first_written(const called_operator& o, std::size_t arguments) {
    const std::size_t results = o.kind != call_kind::kernel || o.op->results == variadic_results
        ? 1
        : static_cast<std::size_t>(o.op->results);
    const std::size_t last = o.kind == call_kind::kernel ? results + 1 : 1;
    return arguments - std::min(arguments, last);
}

std::span<const std::int64_t> method_source::moved_from(const slot& s) const {
    const auto found = moved_from_.find(s);
    return found == moved_from_.end() ? std::span<const std::int64_t>() : std::span(found->second);
}

result<void> method_source::add_accesses(const pte_fb::Instruction& i, accesses& all) {
    accesses own;
    if (const pte_fb::KernelCall* const call = i.call_as_KernelCall()) {
        HEADRACE_TRY(add_call(*call, own));
    } else if (const pte_fb::DelegateCall* const delegated = i.call_as_DelegateCall()) {
        HEADRACE_TRY(add_delegate_call(*delegated, own));
    } else if (const pte_fb::MoveCall* const move = i.call_as_MoveCall()) {
        HEADRACE_TRY(add_read(move->from(), own));
        HEADRACE_TRY(add_write(move->to(), own, true));
    }
    all.append(own);
    return {};
}

result<void> method_source::add_read(std::int64_t index, accesses& a, bool is_item) {
    HEADRACE_TRY(v, values_.at(index));
    const pte_fb::Tensor* const t = v->kind_as_Tensor();
    if (t != nullptr ? !is_constant(*t) : is_computed(index)) {
        HEADRACE_TRY(at, slot_of(index));
        a.reads.try_emplace(at, index);
    }
    if (is_item) return {};
    if (const pte_fb::TensorList* const l = v->kind_as_TensorList()) return add_reads(l->items(), a);
    if (const auto* const l = v->kind_as_OptionalTensorList()) return add_reads(l->items(), a);
    return {};
}

result<void> method_source::add_delegate_call(const pte_fb::DelegateCall& call, accesses& a) {
    if (call.args() == nullptr) return malformed("a call of a delegate without arguments");
    HEADRACE_TRY(inputs, delegates_.inputs_of(call.delegate()));
    std::size_t next = 0;
    for (const std::int32_t index : *call.args()) {
        const bool is_input = inputs && next++ < *inputs;
        HEADRACE_TRY(is_input || !inputs ? add_read(index, a) : result<void>());
        HEADRACE_TRY(is_input ? result<void>() : add_write(index, a, inputs.has_value()));
    }
    return {};
}

void method_source::list_operators() {
    if (method_.operators() == nullptr) return;
    for (const pte_fb::Operator* const named : *method_.operators()) {
        called_operator o;
        o.name = named->name() == nullptr ? "" : named->name()->str();
        if (named->overload() != nullptr && named->overload()->size() != 0)
            o.name += "." + named->overload()->str();
        o.op = op_of_kernel(o.name);
        o.kind = o.op != nullptr ? call_kind::kernel : kind_of_operator(o.name);
        operators_.push_back(std::move(o));
    }
}

result<void> method_source::note_move(const pte_fb::MoveCall& move) {
    HEADRACE_TRY(from, values_.at(move.from()));
    if (from->kind_as_Tensor() == nullptr) {
        computed_.insert(move.to());
        return {};
    }
    HEADRACE_TRY(table_of(move.to()));
    moved_.insert(move.to());
    moves_.emplace(move.from(), move.to());
    return {};
}

result<void> method_source::note_number(const pte_fb::KernelCall& call) {
    if (call.args() == nullptr || call.args()->size() == 0) return {};
    const std::int32_t last = call.args()->Get(call.args()->size() - 1);
    HEADRACE_TRY(v, values_.at(last));
    HEADRACE_TRY(o, operator_of(call));
    if (o->kind == call_kind::slice) {
        sliced_.insert(call.args()->Get(0));
    } else if (type_of_number(*v)) {
        computed_.insert(last);
    }
    return {};
}

result<void> method_source::add_call(const pte_fb::KernelCall& call, accesses& a) {
    HEADRACE_TRY(o, operator_of(call));
    const auto& indices = *call.args();
    if (o->kind == call_kind::copy || o->kind == call_kind::slice) {
        for (flatbuffers::uoffset_t i = o->kind == call_kind::copy ? 1 : 0; i < indices.size(); ++i) {
            if (i != 0 && indices.Get(i) == indices.Get(0)) continue;
            HEADRACE_TRY(add_read(indices.Get(i), a));
        }
        return indices.size() == 0 ? result<void>()
                                   : add_write(indices.Get(0), a, o->kind == call_kind::copy);
    }
    const std::size_t written = first_written(*o, indices.size());
    for (flatbuffers::uoffset_t i = 0; i != indices.size(); ++i) {
        if (i < written) {
            const bool is_buffer = o->kind == call_kind::kernel && i < o->op->field_count &&
                is_scratch(*o->op, o->op->fields[i]);
            HEADRACE_TRY(is_buffer ? add_write(indices.Get(i), a, true) : add_read(indices.Get(i), a));
            continue;
        }
        HEADRACE_TRY(v, values_.at(indices.Get(i)));
        const pte_fb::TensorList* const items = v->kind_as_TensorList();
        if (items == nullptr || items->items() == nullptr) {
            HEADRACE_TRY(add_write(indices.Get(i), a, true));
            continue;
        }
        for (const std::int32_t item : *items->items()) {
            HEADRACE_TRY(add_write(item, a, true));
        }
    }
    return {};
}

template <class Items>
result<void> method_source::add_reads(const Items* items, accesses& a) {
    if (items == nullptr) return {};
    for (const std::int32_t item : *items) {
        if (item == -1) continue;
        HEADRACE_TRY(add_read(item, a, true));
    }
    return {};
}

result<void> method_source::add_write(std::int64_t index, accesses& a, bool is_sure) {
    HEADRACE_TRY(v, values_.at(index));
    const pte_fb::Tensor* const t = v->kind_as_Tensor();
    if (t != nullptr ? is_constant(*t) : !is_computed(index)) return {};
    HEADRACE_TRY(at, slot_of(index));
    a.writes.try_emplace(at, index);
    if (is_sure) a.sure.insert(at);
    if (is_moved(index)) return {};
    HEADRACE_TRY(values_.spend(moved_from(at).size()));
    for (const std::int64_t moved : moved_from(at)) {
        const slot there{no_memory, static_cast<std::uint64_t>(moved)};
        a.writes.try_emplace(there, moved);
        a.sure.erase(there);
    }
    return {};
}

}  // namespace headrace::pte
