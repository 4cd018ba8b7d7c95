// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pte/writing/method_writer.hpp.

#include <headrace/io/pte/writing/method_writer.hpp>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/dialect/cortex_m.hpp>
#include <headrace/dialect/executorch.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/dialect/memory.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/io/pte/format.hpp>
#include <headrace/io/pte/method.hpp>
#include <headrace/io/pte/operators.hpp>
#include <headrace/io/pte/writing/argument_writer.hpp>
#include <headrace/io/pte/writing/constants.hpp>
#include <headrace/io/pte/writing/delegates.hpp>
#include <headrace/io/pte/writing/values.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/memory/memory_plan.hpp>

namespace headrace::pte {

method_writer::method_writer(
    flatbuffers::FlatBufferBuilder& builder, file_pools& pools, const pte_method& method)
    : builder_(builder),
      pools_(pools),
      method_(method),
      graph_(*method.code),
      values_(builder),
      instructions_(builder) {}

result<flatbuffers::Offset<pte_fb::Method>> method_writer::write(
    std::string_view name, pte_method_size& size) {
    HEADRACE_TRY(plan, make_memory_plan(graph_));
    HEADRACE_TRY(verify_plan(graph_, plan));
    plan_ = &plan;
    if (method_.banks != nullptr) {
        HEADRACE_TRY(places, plan_bank_places(graph_, *method_.banks));
        banks_ = std::move(places);
    }
    for (const pte_delegate& d : method_.delegates) {
        HEADRACE_TRY(segment, pools_.delegates.add(d, pools_.constants));
        segments_.push_back(segment);
    }
    HEADRACE_TRY(inputs, write_inputs());
    for (const node& n : graph_.nodes()) {
        HEADRACE_TRY(call(n));
    }
    std::vector<index> outputs;
    const list<value> made = graph_.outputs();
    const std::size_t count = made.size() - 2 * method_.states.size();
    for (std::size_t i = 0; i != count; ++i) {
        HEADRACE_TRY(output, tensor_of(made[i]));
        outputs.push_back(output);
    }
    for (std::size_t i = count; i != count + method_.states.size(); ++i) {
        HEADRACE_TRY(keep(made[i], made[i + method_.states.size()]));
    }
    std::vector<std::uint64_t> planned{plan.memories.empty() ? 0 : plan.memories[0].bytes};
    std::vector<std::uint64_t> bounds{plan.memories.empty() ? 0 : plan.memories[0].lower_bound};
    if (banks_) planned = banks_->bytes, bounds = banks_->lower_bounds;
    size = {std::string(name), std::accumulate(planned.begin(), planned.end(), std::uint64_t{0}),
        std::accumulate(bounds.begin(), bounds.end(), std::uint64_t{0}), planned, values_.size(),
        instructions_.size()};
    return finish(name, inputs, outputs, planned);
}

result<std::vector<method_writer::index>> method_writer::write_inputs() {
    std::vector<index> inputs;
    std::vector<value> all;
    for (node& n : graph_.inputs()) all.push_back(n.result());
    if (all.size() < method_.states.size() || graph_.outputs().size() < 2 * method_.states.size())
        return invalid("the method has fewer inputs or outputs than states");
    const std::size_t count = all.size() - method_.states.size();
    for (std::size_t i = 0; i != all.size(); ++i) {
        if (i >= count) {
            const pte_state& state = method_.states[i - count];
            initial_[all[i].producer] = pools_.initial.add(state.data, state.meta);
        }
        HEADRACE_TRY(input, tensor_of(all[i]));
        if (i < count) inputs.push_back(input);
    }
    return inputs;
}

result<void> method_writer::keep(value next, value state) {
    if (origin_of(next) == state) return {};
    const tensor_meta& given = *meta_of(next);
    const tensor_meta& held = *meta_of(state);
    if (given.dtype != held.dtype || given.shape != held.shape)
        return invalid({state.producer->name(), ": the state is ", name_of(held.dtype),
            shape_text(held.shape), " and its next value ", name_of(given.dtype), shape_text(given.shape),
            "; the runtime copies only between tensors of one type and shape"});
    HEADRACE_TRY(from, tensor_of(next));
    HEADRACE_TRY(to, tensor_of(state));
    instructions_.call(copy_name, {to, from, values_.boolean(false), to});
    return {};
}

flatbuffers::Offset<pte_fb::Method> method_writer::finish(std::string_view name,
    const std::vector<index>& inputs, const std::vector<index>& outputs,
    std::span<const std::uint64_t> planned) {
    std::vector<std::int64_t> sizes{0};  // the runtime counts memories from 1
    for (const std::uint64_t bytes : planned) sizes.push_back(static_cast<std::int64_t>(bytes));
    const auto chain = pte_fb::CreateChain(builder_, 0, 0, instructions_.write());
    const auto called = builder_.CreateString(name);
    const auto values = values_.finish();
    const auto given = builder_.CreateVector(inputs);
    const auto made = builder_.CreateVector(outputs);
    const auto chains = builder_.CreateVector(std::vector{chain});
    const auto operators = instructions_.write_operators();
    const auto delegates = delegate_pool::write(builder_, method_.delegates, segments_);
    const auto memory = builder_.CreateVector(sizes);
    return pte_fb::CreateMethod(
        builder_, called, 0, values, given, made, chains, operators, delegates, memory);
}

value method_writer::origin_of(value v) const {
    for (;;) {
        const auto bound = bound_.find({v.producer, v.result});
        if (bound != bound_.end()) {
            v = bound->second;
        } else if (is<executorch::reshape>(*v.producer)) {
            v = v.producer->operand(0);
        } else {
            return v;
        }
    }
}

result<method_writer::index> method_writer::tensor_of(value v) {
    const std::pair key{v.producer, v.result};
    if (const auto known = tensors_.find(key); known != tensors_.end()) return known->second;
    const tensor_meta* const meta = meta_of(v);
    if (meta == nullptr) return invalid({message_prefix(*v.producer), "a tensor of unknown type"});
    HEADRACE_TRY(check_tensor(*v.producer, *meta));
    tensor_place place;
    const value origin = origin_of(v);
    if (meta->elements() == 0) {  // the runtime loads no constant without bytes
        place.memory = 1;
    } else if (const auto* constant = match<builtin::constant>(origin)) {
        place.constant = pools_.constants.add(constant->data, *meta_of(origin));
    } else if (const planned_tensor* const planned = plan_->find(origin)) {
        place.memory = 1;
        place.offset = planned->offset;
        if (banks_) {
            const tensor_place* const in_bank = banks_->find(planned->tensor);
            if (in_bank == nullptr) return invalid({message_prefix(*v.producer), "a tensor in no bank"});
            place = *in_bank;
        }
        if (const auto state = initial_.find(origin.producer); state != initial_.end())
            place.constant = state->second;
    } else {
        return invalid({message_prefix(*v.producer), "a tensor without a place"});
    }
    return tensors_[key] = values_.tensor(*meta, place);
}

result<void> method_writer::call(const node& n) {
    if (is_of_dialect<builtin::dialect>(n) || is<executorch::reshape>(n) || is<memory::alloc>(n)) return {};
    if (is<executorch::call_delegate>(n)) return call_delegate(n, args_of<executorch::call_delegate>(n));
    if (is<higher_order::cond>(n)) return branch(n, args_of<higher_order::cond>(n));
    if (is<higher_order::while_loop>(n)) return repeat(n, args_of<higher_order::while_loop>(n));
    if (!is_of_dialect<executorch::dialect>(n) && !is_of_dialect<cortex_m::dialect>(n))
        return invalid({message_prefix(n), "not a kernel of ExecuTorch"});
    std::vector<index> arguments;
    const argument_writer writer(values_, [&](value v) { return tensor_of(v); });
    for (const field_info& f : *n.op) {
        if (is_left_out(*n.op, f)) continue;
        HEADRACE_TRY(argument, writer.write(n, f));
        arguments.push_back(argument);
    }
    HEADRACE_TRY(add_results(n, arguments));
    instructions_.call(kernel_name_of(*n.op), arguments);
    return {};
}

result<void> method_writer::branch(const node& n, const args<higher_order::cond>& a) {
    HEADRACE_TRY(condition, tensor_of(a.pred));
    const std::size_t to_false = instructions_.jump_unless(condition);
    HEADRACE_TRY(choose(n, *a.true_graph, a.operands));
    const std::size_t to_end = instructions_.jump_unless(values_.boolean(false));
    instructions_.land(to_false);
    HEADRACE_TRY(choose(n, *a.false_graph, a.operands));
    instructions_.land(to_end);
    return {};
}

result<void> method_writer::choose(const node& n, const graph& region, const list<value>& operands) {
    HEADRACE_TRY(enter(region, operands));
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        HEADRACE_TRY(copy(region.outputs()[i], {const_cast<node*>(&n), i}));
    }
    return {};
}

result<void> method_writer::repeat(const node& n, const args<higher_order::while_loop>& a) {
    std::vector<value> inputs;
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        inputs.push_back({const_cast<node*>(&n), i});
        HEADRACE_TRY(copy(a.carried_inputs[i], inputs[i]));
    }
    inputs.insert(inputs.end(), a.additional_inputs.begin(), a.additional_inputs.end());
    const std::size_t begin = instructions_.size();
    HEADRACE_TRY(enter(*a.cond_graph, inputs));
    HEADRACE_TRY(condition, tensor_of(a.cond_graph->outputs()[0]));
    const std::size_t to_end = instructions_.jump_unless(condition);
    HEADRACE_TRY(enter(*a.body_graph, inputs));
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        HEADRACE_TRY(copy(a.body_graph->outputs()[i], inputs[i]));
    }
    instructions_.jump_unless(values_.boolean(false), begin);
    instructions_.land(to_end);
    return {};
}

template <class Values>
result<void> method_writer::enter(const graph& region, const Values& inputs) {
    std::size_t next = 0;
    for (node& n : region.inputs()) bound_[{&n, 0}] = inputs[next++];
    // Another node may have entered the same graph, with other inputs.
    erase_if(tensors_, [&](const auto& t) { return t.first.first->owner == &region; });
    for (const node& n : region.nodes()) {
        HEADRACE_TRY(call(n));
    }
    return {};
}

result<void> method_writer::copy(value from, value to) {
    if (origin_of(from) == to) return {};
    HEADRACE_TRY(made, tensor_of(to));
    if (is_of_zeros(origin_of(from))) {
        const index size = values_.integers(meta_of(to)->shape);
        instructions_.call("aten::full.out", {size, values_.integer(0), made, made});
        return {};
    }
    HEADRACE_TRY(given, tensor_of(from));
    instructions_.call(executorch::kernel_for(info_of<aten::_to_copy>).kernel->name,
        {given, values_.boolean(false), values_.null(), made, made});
    return {};
}

result<void> method_writer::call_delegate(const node& n, const args<executorch::call_delegate>& a) {
    if (a.number < 0 || static_cast<std::uint64_t>(a.number) >= segments_.size())
        return invalid({message_prefix(n), "the method has no delegate ", a.number});
    std::vector<index> arguments;
    for (const value v : a.operands) {
        HEADRACE_TRY(operand, tensor_of(v));
        arguments.push_back(operand);
    }
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        HEADRACE_TRY(made, tensor_of({const_cast<node*>(&n), i}));
        arguments.push_back(made);
    }
    instructions_.call_delegate(static_cast<index>(a.number), arguments);
    return {};
}

result<void> method_writer::add_results(const node& n, std::vector<index>& arguments) {
    std::vector<index> results;
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        HEADRACE_TRY(made, tensor_of({const_cast<node*>(&n), i}));
        results.push_back(made);
    }
    if (n.op->results == variadic_results) {
        arguments.push_back(values_.tensors(results));
        arguments.push_back(values_.tensors(results));
    } else {
        arguments.insert(arguments.end(), results.begin(), results.end());
        arguments.push_back(results.size() == 1 ? results[0] : values_.tensors(results));
    }
    return {};
}

}  // namespace headrace::pte
