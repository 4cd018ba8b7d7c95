// SPDX-License-Identifier: MIT
// Defines how a graph of ExecuTorch's kernels becomes a method of a .pte file.
#ifndef HEADRACE_IO_PTE_METHOD_WRITER_HPP
#define HEADRACE_IO_PTE_METHOD_WRITER_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <headrace/base/error.hpp>
#include <headrace/dialect/executorch.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/io/pte_argument_writer.hpp>
#include <headrace/io/pte_constants.hpp>
#include <headrace/io/pte_delegates.hpp>
#include <headrace/io/pte_method.hpp>
#include <headrace/io/pte_values.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/memory/memory_plan.hpp>
#include <headrace/op/op_set.hpp>

namespace headrace::detail::pte {

/// Writes one method. Inputs, outputs and intermediate tensors lie in one planned memory; a reshape is a
/// second tensor at the same place.
class method_writer {
public:
    using index = value_table::index;

    method_writer(flatbuffers::FlatBufferBuilder& builder, file_pools& pools, const pte_method& method)
        : builder_(builder), pools_(pools), method_(method), graph_(*method.code), values_(builder) {}

    result<flatbuffers::Offset<pte_fb::Method>> write(std::string_view name, pte_method_size& size) {
        BOOST_OUTCOME_TRY(plan, make_memory_plan(graph_));
        BOOST_OUTCOME_TRYV(verify_plan(graph_, plan));
        plan_ = &plan;
        for (const pte_delegate& d : method_.delegates) {
            BOOST_OUTCOME_TRY(segment, pools_.delegates.add(d, pools_.constants));
            segments_.push_back(segment);
        }
        BOOST_OUTCOME_TRY(inputs, write_inputs());
        for (const node& n : graph_.nodes()) {
            BOOST_OUTCOME_TRY(call(n));
        }
        std::vector<index> outputs;
        const list<value> made = graph_.outputs();
        const std::size_t count = made.size() - 2 * method_.states.size();
        for (std::size_t i = 0; i != count; ++i) {
            BOOST_OUTCOME_TRY(output, tensor_of(made[i]));
            outputs.push_back(output);
        }
        for (std::size_t i = count; i != count + method_.states.size(); ++i) {
            BOOST_OUTCOME_TRY(keep(made[i], made[i + method_.states.size()]));
        }
        const std::uint64_t planned = plan.memories.empty() ? 0 : plan.memories[0].bytes;
        size = {std::string(name), planned, plan.memories.empty() ? 0 : plan.memories[0].lower_bound,
                values_.size(), instructions_.size()};
        return finish(name, inputs, outputs, planned);
    }

private:
    // The states are planned like inputs, and have values besides.
    result<std::vector<index>> write_inputs() {
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
            BOOST_OUTCOME_TRY(input, tensor_of(all[i]));
            if (i < count) inputs.push_back(input);
        }
        return inputs;
    }
    // Writes a state's next value.
    result<void> keep(value next, value state) {
        if (origin_of(next) == state) return boost::outcome_v2::success();
        BOOST_OUTCOME_TRY(from, tensor_of(next));
        BOOST_OUTCOME_TRY(to, tensor_of(state));
        add_call(copy_name, {to, from, values_.boolean(false), to});
        return boost::outcome_v2::success();
    }

    flatbuffers::Offset<pte_fb::Method> finish(std::string_view name, const std::vector<index>& inputs,
                                               const std::vector<index>& outputs, std::uint64_t planned) {
        const std::vector<std::int64_t> sizes{0, static_cast<std::int64_t>(planned)};
        const auto chain = pte_fb::CreateChain(builder_, 0, 0, builder_.CreateVector(instructions_));
        const auto called = builder_.CreateString(name);
        const auto values = values_.finish();
        const auto given = builder_.CreateVector(inputs);
        const auto made = builder_.CreateVector(outputs);
        const auto chains = builder_.CreateVector(std::vector{chain});
        const auto operators = builder_.CreateVector(operators_);
        const auto delegates = delegate_pool::write(builder_, method_.delegates, segments_);
        const auto memory = builder_.CreateVector(sizes);
        return pte_fb::CreateMethod(builder_, called, 0, values, given, made, chains, operators, delegates,
                                    memory);
    }

    // --- tensors -----------------------------------------------------------------------

    // What reshapes show is theirs to say, where it lies is their operand's.
    static value origin_of(value v) {
        while (is<executorch::reshape>(*v.producer)) v = v.producer->operand(0);
        return v;
    }

    result<index> tensor_of(value v) {
        const std::pair key{v.producer, v.result};
        if (const auto known = tensors_.find(key); known != tensors_.end()) return known->second;
        const tensor_meta* const meta = meta_of(v);
        if (meta == nullptr) return invalid(message_prefix(*v.producer) + "a tensor of unknown type");
        BOOST_OUTCOME_TRY(check(*v.producer, *meta));
        tensor_place place;
        const value origin = origin_of(v);
        if (const auto* constant = match<builtin::constant>(origin)) {
            place.constant = pools_.constants.add(constant->data, *meta_of(origin));
        } else if (const planned_tensor* const planned = plan_->find(v)) {
            place.memory = 1;
            place.offset = planned->offset;
            if (const auto state = initial_.find(v.producer); state != initial_.end())
                place.constant = state->second;
        } else {
            return invalid(message_prefix(*v.producer) + "a tensor without a place");
        }
        return tensors_[key] = values_.tensor(*meta, place);
    }
    static result<void> check(const node& n, const tensor_meta& meta) {
        if (!scalar_type_of(meta.dtype))
            return unsupported(message_prefix(n) + "ExecuTorch's programs have no tensors of " +
                               std::pmr::string(name_of(meta.dtype)));
        if (meta.rank() > max_rank)
            return unsupported(message_prefix(n) + "ExecuTorch's tensors have at most 16 axes");
        for (const std::int64_t size : meta.shape) {
            if (size > std::numeric_limits<std::int32_t>::max())
                return unsupported(message_prefix(n) + "ExecuTorch's tensors have sizes below 2^31");
        }
        return boost::outcome_v2::success();
    }

    // --- instructions ------------------------------------------------------------------

    result<void> call(const node& n) {
        if (is_of_dialect<builtin::dialect>(n) || is<executorch::reshape>(n))
            return boost::outcome_v2::success();
        if (const auto* delegated = match<executorch::call_delegate>(n)) return call_delegate(n, *delegated);
        if (!is_of_dialect<executorch::dialect>(n))
            return invalid(message_prefix(n) + "not a kernel of ExecuTorch");
        std::vector<index> arguments;
        const argument_writer writer(values_, [&](value v) { return tensor_of(v); });
        for (const field_info& f : *n.op) {
            if (is_left_out(*n.op, f)) continue;
            BOOST_OUTCOME_TRY(argument, writer.write(n, f));
            arguments.push_back(argument);
        }
        BOOST_OUTCOME_TRY(add_results(n, arguments));
        add_call(n.op->name, arguments);
        return boost::outcome_v2::success();
    }
    void add_call(std::string_view kernel, const std::vector<index>& arguments) {
        const std::int32_t called = operator_of(kernel);
        const auto given = builder_.CreateVector(arguments);
        const auto made = pte_fb::CreateKernelCall(builder_, called, given);
        instructions_.push_back(pte_fb::CreateInstruction(builder_, pte_fb::Call::KernelCall, made.Union()));
    }

    // What the backend takes, and then what it gives.
    result<void> call_delegate(const node& n, const args<executorch::call_delegate>& a) {
        if (a.number < 0 || static_cast<std::uint64_t>(a.number) >= segments_.size())
            return invalid(message_prefix(n) + "the method has no delegate " + number_text(a.number));
        std::vector<index> arguments;
        for (const value v : a.operands) {
            BOOST_OUTCOME_TRY(operand, tensor_of(v));
            arguments.push_back(operand);
        }
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            BOOST_OUTCOME_TRY(made, tensor_of({const_cast<node*>(&n), i}));
            arguments.push_back(made);
        }
        const auto given = builder_.CreateVector(arguments);
        const auto made = pte_fb::CreateDelegateCall(builder_, static_cast<std::int32_t>(a.number), given);
        instructions_.push_back(
            pte_fb::CreateInstruction(builder_, pte_fb::Call::DelegateCall, made.Union()));
        return boost::outcome_v2::success();
    }

    // The tensors that the kernel writes, and then what it returns: the same once more, several as a list.
    result<void> add_results(const node& n, std::vector<index>& arguments) {
        std::vector<index> results;
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            BOOST_OUTCOME_TRY(made, tensor_of({const_cast<node*>(&n), i}));
            results.push_back(made);
        }
        if (n.op->results == variadic_results) {
            arguments.push_back(values_.tensors(results));
            arguments.push_back(values_.tensors(results));
        } else {
            arguments.insert(arguments.end(), results.begin(), results.end());
            arguments.push_back(results.size() == 1 ? results[0] : values_.tensors(results));
        }
        return boost::outcome_v2::success();
    }

    std::int32_t operator_of(std::string_view kernel) {
        const auto [known, is_new] =
            operator_numbers_.try_emplace(kernel, static_cast<std::int32_t>(operators_.size()));
        if (is_new) {
            const std::size_t dot = std::min(kernel.find('.'), kernel.size());
            const auto name = builder_.CreateString(kernel.substr(0, dot));
            const auto overload = builder_.CreateString(kernel.substr(std::min(dot + 1, kernel.size())));
            operators_.push_back(pte_fb::CreateOperator(builder_, name, overload));
        }
        return known->second;
    }

    flatbuffers::FlatBufferBuilder& builder_;
    file_pools& pools_;
    const pte_method& method_;
    const graph& graph_;
    const memory_plan* plan_ = nullptr;
    value_table values_;
    std::vector<std::uint32_t> segments_;  // of the delegates
    std::map<std::pair<const node*, std::uint32_t>, index> tensors_;
    std::unordered_map<const node*, std::uint32_t> initial_;  // of states
    std::unordered_map<std::string_view, std::int32_t> operator_numbers_;
    std::vector<flatbuffers::Offset<pte_fb::Operator>> operators_;
    std::vector<flatbuffers::Offset<pte_fb::Instruction>> instructions_;
};

}  // namespace headrace::detail::pte

#endif
