// SPDX-License-Identifier: MIT
// Defines how a graph of ExecuTorch's kernels becomes a method of a .pte file.
#ifndef HEADRACE_IO_PTE_METHOD_WRITER_HPP
#define HEADRACE_IO_PTE_METHOD_WRITER_HPP

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

    method_writer(flatbuffers::FlatBufferBuilder& builder, constant_pool& constants, delegate_pool& delegates,
                  const pte_method& method)
        : builder_(builder),
          constants_(constants),
          delegates_(delegates),
          method_(method),
          graph_(*method.code),
          values_(builder) {}

    result<flatbuffers::Offset<pte_fb::Method>> write(std::string_view name, pte_method_size& size) {
        BOOST_OUTCOME_TRY(plan, make_memory_plan(graph_));
        BOOST_OUTCOME_TRYV(verify_plan(graph_, plan));
        plan_ = &plan;
        for (const pte_delegate& d : method_.delegates) {
            BOOST_OUTCOME_TRY(segment, delegates_.add(d, constants_));
            segments_.push_back(segment);
        }
        std::vector<index> inputs;
        for (node& n : graph_.inputs()) {
            BOOST_OUTCOME_TRY(input, tensor_of(n.result()));
            inputs.push_back(input);
        }
        for (const node& n : graph_.nodes()) {
            BOOST_OUTCOME_TRY(call(n));
        }
        std::vector<index> outputs;
        for (const value v : graph_.outputs()) {
            BOOST_OUTCOME_TRY(output, tensor_of(v));
            outputs.push_back(output);
        }
        const std::uint64_t planned = plan.memories.empty() ? 0 : plan.memories[0].bytes;
        size = {std::string(name), planned, plan.memories.empty() ? 0 : plan.memories[0].lower_bound,
                values_.size(), instructions_.size()};
        return finish(name, inputs, outputs, planned);
    }

private:
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
            place.constant = constants_.add(constant->data, *meta_of(origin));
        } else if (const planned_tensor* const planned = plan_->find(v)) {
            place.memory = 1;
            place.offset = planned->offset;
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
        for (const field_info& f : *n.op) {
            if (is_left_out(*n.op, f)) continue;
            BOOST_OUTCOME_TRY(argument, argument_of(n, f));
            arguments.push_back(argument);
        }
        BOOST_OUTCOME_TRY(add_results(n, arguments));
        const std::int32_t called = operator_of(*n.op);
        const auto given = builder_.CreateVector(arguments);
        const auto made = pte_fb::CreateKernelCall(builder_, called, given);
        instructions_.push_back(pte_fb::CreateInstruction(builder_, pte_fb::Call::KernelCall, made.Union()));
        return boost::outcome_v2::success();
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

    std::int32_t operator_of(const op_info& op) {
        const auto [known, is_new] =
            operator_numbers_.try_emplace(&op, static_cast<std::int32_t>(operators_.size()));
        if (is_new) {
            const std::size_t dot = op.name.find('.');
            const auto name = builder_.CreateString(op.name.substr(0, dot));
            const auto overload = builder_.CreateString(op.name.substr(dot + 1));
            operators_.push_back(pte_fb::CreateOperator(builder_, name, overload));
        }
        return known->second;
    }

    // --- arguments ---------------------------------------------------------------------

    template <class T>
    static std::optional<T> read(const node& n, const field_info& f) {
        const std::byte* const at = static_cast<const std::byte*>(n.arguments) + f.offset;
        if (f.optional) return *reinterpret_cast<const std::optional<T>*>(at);
        return *reinterpret_cast<const T*>(at);
    }
    template <class T, class Make>
    index optional(const node& n, const field_info& f, Make&& make) {
        const std::optional<T> given = read<T>(n, f);
        return given ? make(*given) : values_.null();
    }

    result<index> argument_of(const node& n, const field_info& f) {
        switch (f.kind) {
            case field_kind::tensor: {
                const std::optional<value> v = read<value>(n, f);
                return v && *v ? tensor_of(*v) : result<index>(values_.null());
            }
            case field_kind::tensors:
                return list_of(*read<list<value>>(n, f));
            case field_kind::optional_tensors:
                return optional_list_of(*read<list<std::optional<value>>>(n, f));
            case field_kind::integer:
                return optional<std::int64_t>(n, f, [&](std::int64_t i) { return values_.integer(i); });
            case field_kind::integers:
                return optional<int_list>(n, f, [&](const int_list& i) { return values_.integers(i); });
            case field_kind::floating:
                return optional<double>(n, f, [&](double d) { return values_.floating(d); });
            case field_kind::floatings:
                return optional<list<double>>(n, f, [&](const auto& d) { return values_.floatings(d); });
            case field_kind::boolean:
                return optional<bool>(n, f, [&](bool b) { return values_.boolean(b); });
            case field_kind::number:
                return optional<scalar>(n, f, [&](const scalar& s) { return number(s, f); });
            case field_kind::text:
                return optional<std::string_view>(n, f, [&](std::string_view s) { return values_.text(s); });
            case field_kind::element_type:
                return optional<dtype>(
                    n, f, [&](dtype t) { return values_.integer(scalar_type_of(t).value_or(-1)); });
            case field_kind::format:  // all tensors are contiguous
                return values_.null();
            default:
                return invalid(message_prefix(n) + "no kernel takes an argument such as " +
                               std::pmr::string(f.name));
        }
    }
    // Kernels read factors such as `alpha` as numbers of the result's type, where a bool is refused.
    index number(const scalar& s, const field_info& f) {
        const bool is_factor = f.name == "alpha" || f.name == "beta";
        if (s.kind() == scalar::kind_type::boolean && !is_factor) return values_.boolean(s.to_int() != 0);
        return s.is_floating() ? values_.floating(s.to_double()) : values_.integer(s.to_int());
    }
    result<index> list_of(const list<value>& items) {
        std::vector<index> indices;
        for (const value v : items) {
            BOOST_OUTCOME_TRY(item, tensor_of(v));
            indices.push_back(item);
        }
        return values_.tensors(indices);
    }
    result<index> optional_list_of(const list<std::optional<value>>& items) {
        std::vector<index> indices;
        for (const auto& v : items) {
            if (!v) {
                indices.push_back(-1);
                continue;
            }
            BOOST_OUTCOME_TRY(item, tensor_of(*v));
            indices.push_back(item);
        }
        return values_.optional_tensors(indices);
    }

    flatbuffers::FlatBufferBuilder& builder_;
    constant_pool& constants_;
    delegate_pool& delegates_;
    const pte_method& method_;
    const graph& graph_;
    const memory_plan* plan_ = nullptr;
    value_table values_;
    std::vector<std::uint32_t> segments_;  // of the delegates
    std::map<std::pair<const node*, std::uint32_t>, index> tensors_;
    std::unordered_map<const op_info*, std::int32_t> operator_numbers_;
    std::vector<flatbuffers::Offset<pte_fb::Operator>> operators_;
    std::vector<flatbuffers::Offset<pte_fb::Instruction>> instructions_;
};

}  // namespace headrace::detail::pte

#endif
