// SPDX-License-Identifier: MIT
// Defines the functions of headrace/eval/evaluator.hpp.

#include <headrace/eval/evaluator.hpp>

#include <algorithm>
#include <array>
#include <memory_resource>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <headrace/base/text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/executorch.hpp>
#include <headrace/eval/composite.hpp>
#include <headrace/eval/evaluation.hpp>
#include <headrace/eval/executorch.hpp>
#include <headrace/eval/float_product.hpp>
#include <headrace/eval/kernels.hpp>
#include <headrace/eval/planned_arena.hpp>
#include <headrace/eval/tensor.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/infer/builtin.hpp>
#include <headrace/infer/cortex_m.hpp>
#include <headrace/infer/delegate.hpp>
#include <headrace/infer/device.hpp>
#include <headrace/infer/dim_order_ops.hpp>
#include <headrace/infer/higher_order.hpp>
#include <headrace/infer/memory.hpp>
#include <headrace/infer/quantized_decomposed.hpp>
#include <headrace/infer/tosa.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/purity.hpp>
#include <headrace/ir/unknown_op.hpp>
#include <headrace/memory/out_variant.hpp>

namespace headrace::eval {

namespace detail {

/// Returns the kernel of an op of Headrace's; null if there is none.
[[nodiscard]] inline evaluation_kernel find_in_lists(const op_info& op) {
    static const std::unordered_map<const op_info*, evaluation_kernel> kernels = [] {
        std::unordered_map<const op_info*, evaluation_kernel> all;
        for (const kernel_list* list : kernel_lists()) {
            for (const kernel_entry& entry : *list) all.emplace(entry.op, entry.kernel);
        }
        return all;
    }();
    const auto own = kernels.find(&op);
    if (own != kernels.end()) return own->second;
    const auto base = kernels.find(&op.functional());  // whose arguments are laid out alike
    return base == kernels.end() ? nullptr : base->second;
}

/// Headrace's own dialects.
template <class... Dialects>
struct known_dialects {
    [[nodiscard]] static bool contains(const op_info& op) {
        return ((op.dialect == &info_of_dialect<Dialects>) || ...);
    }
    [[nodiscard]] static inference_rule rule_of(const op_info& op) { return find_rule<Dialects...>(op); }
};
using headrace_dialects = known_dialects<aten::dialect, quantized_decomposed::dialect, dim_order_ops::dialect,
    cortex_m::dialect, higher_order::dialect, tosa::dialect, delegate::dialect, device::dialect,
    memory::dialect, builtin::dialect>;

inline void evaluate_by_parts(const void*, evaluation& e) { evaluate_decomposed(e); }

[[nodiscard]] inline evaluation_kernel kernel_of(const op_info& op, const own_operators& own) {
    const op_info& functional = executorch::functional_of(out::functional_of(op));
    const evaluation_kernel kernel = find_in_lists(functional);
    return kernel == nullptr && own.kernel_of != nullptr ? own.kernel_of(functional) : kernel;
}
[[nodiscard]] inline inference_rule rule_of(const op_info& op, const own_operators& own) {
    const op_info& functional = executorch::functional_of(out::functional_of(op));
    const inference_rule rule = headrace_dialects::rule_of(functional);
    return rule == nullptr && own.rule_of != nullptr ? own.rule_of(functional) : rule;
}

[[nodiscard]] inline error no_kernel(const node& n) {
    constexpr std::string_view delegate = "delegate of ";  // as a .pte file is read
    const auto* const foreign = args_if<builtin::opaque>(n);
    if (foreign != nullptr && foreign->target.starts_with(delegate))
        return unsupported({"run does not execute delegates of ", foreign->target.substr(delegate.size())});
    const bool is_ours = headrace_dialects::contains(*n.op);
    return unsupported({message_prefix(n), "evaluation has no kernel for this op",
        (is_ours ? ""
                 : "; declare evaluate(Op, const args<Op>&, evaluation&) beside it, and "
                   "pass operators_of its dialect to the run")});
}

/// Refuses operands without metadata, which the inference rule needs, and tensors that do not match theirs.
[[nodiscard]] inline result<void> check_operands(const node& n, std::span<const tensor> operands) {
    if (operands.size() != n.operand_count)
        return invalid({message_prefix(n), "it was not given one tensor for each operand"});
    for (std::size_t i = 0; i != operands.size(); ++i) {
        const tensor_meta* meta = meta_of(n.operand(i));
        if (meta == nullptr) return invalid({message_prefix(n), "operand ", i, " has no metadata"});
        if (!operands[i].has_meta(*meta)) {
            return invalid(
                {message_prefix(n), "operand ", i, " is not of the type and shape that its metadata says"});
        }
    }
    return {};
}

/// Infers a node's results; nothing if it has no rule. Results that come from the program, such as constants,
/// are known only to the graph.
[[nodiscard]] inline result<void> infer_metas(const node& n, const own_operators& own, inference& inferred) {
    const inference_rule rule = rule_of(*n.op, own);
    if (rule == nullptr || is_of_dialect<builtin::dialect>(n)) {
        return {};
    }
    if (result<void> done = rule(n.arguments, inferred); !done)
        return error{done.error().kind, message_prefix(n) + done.error().message};
    if (inferred.results().size() != n.result_count)
        return invalid({message_prefix(n), "it has a different number of results than inference says"});
    return {};
}

/// True if the graph's metadata of a result is compatible with the inferred one: a lowering may have narrowed
/// int64.
[[nodiscard]] inline bool stands_for(const tensor_meta& said, const tensor_meta& inferred) {
    const bool narrowed = said.dtype == dtype::int32 && inferred.dtype == dtype::int64;
    return said.shape == inferred.shape && (said.dtype == inferred.dtype || narrowed);
}

/// Metadata of a node's results. Kernels compute the inferred dtypes, because they rely on how operands and
/// results relate; results are stored in the graph's dtype.
struct result_metas {
    std::vector<tensor_meta> computed;
    std::vector<tensor_meta> stored;
};
/// A result that neither the graph nor inference knows stays unknown, and kernels may omit it.
[[nodiscard]] inline result<result_metas> metas_of(
    const node& n, const own_operators& own, std::pmr::memory_resource& arena) {
    inference inferred(&arena);
    HEADRACE_TRY(infer_metas(n, own, inferred));
    result_metas metas;
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        const auto& said = n.results[i].meta;
        const bool known = i < inferred.results().size() && inferred.results()[i].dtype != dtype::unknown;
        if (known && said && !stands_for(*said, inferred.results()[i])) {
            return invalid({message_prefix(n), "its metadata is not what inference says"});
        }
        metas.computed.push_back(known ? inferred.results()[i] : said ? *said : tensor_meta{});
        metas.stored.push_back(said ? *said : metas.computed.back());
        if (metas.computed.back().dtype != dtype::unknown && !metas.computed.back().checked_elements())
            return invalid({message_prefix(n), "result ", i, " is too large"});
    }
    return metas;
}

/// Returns the tensors that a node's results overwrite: the buffers of an out-variant, or the plan's slots.
[[nodiscard]] inline result<std::vector<tensor>> places_of(const node& n, std::span<const tensor> operands,
    std::span<const tensor_meta> metas, const run_state& state) {
    std::vector<tensor> places(metas.size());
    const list<value> buffers = out_buffers(n);
    if (!buffers.empty()) {
        if (buffers.size() != metas.size())
            return invalid({message_prefix(n), "it does not have one buffer for each result"});
        const std::size_t first = operands.size() - buffers.size();  // the buffers are the last operands
        for (std::size_t i = 0; i != places.size(); ++i) {
            if (!operands[first + i].has_meta(metas[i]))
                return invalid({message_prefix(n), "its buffer differs from its result in type or shape"});
            places[i] = operands[first + i];
        }
    } else if (state.arena != nullptr && !is<builtin::constant>(n)) {
        for (std::uint32_t i = 0; i != places.size(); ++i) {
            const value v{const_cast<node*>(&n), i};
            if (!state.arena->is_shared(v)) places[i] = state.arena->place(v, metas[i]);
        }
    }
    return places;
}

/// True for a pure node whose results are all empty: it need not run, however large its operands.
[[nodiscard]] inline bool gives_nothing(const node& n, std::span<const tensor_meta> metas) {
    return is_pure(n) && std::ranges::all_of(metas, [](const tensor_meta& m) {
        return m.dtype != dtype::unknown && element_count(m.shape) == 0;
    });
}

/// Converts results to the graph's dtype, if they were computed in another, and stores them in their places.
inline void store_as(const result_metas& metas, std::span<tensor> places, std::vector<tensor>& results) {
    for (std::size_t i = 0; i != results.size(); ++i) {
        if (metas.computed[i].dtype == metas.stored[i].dtype) continue;
        results[i] = results[i].cast(metas.stored[i].dtype);
        if (places[i].type() == dtype::unknown) continue;
        std::ranges::copy(results[i].bytes(), places[i].mutable_bytes().begin());
        results[i] = places[i];
    }
}

[[nodiscard]] inline result<std::vector<tensor>> evaluate_node(
    const node& n, std::span<const tensor> operands, const run_state& state) {
    evaluation_kernel kernel = kernel_of(*n.op, state.own);
    if (is_of_dialect<aten::dialect>(n) && is_of_complex_numbers(n)) kernel = &evaluate_by_parts;
    if (kernel == nullptr) return no_kernel(n);
    std::pmr::monotonic_buffer_resource arena;
    HEADRACE_TRY(check_operands(n, operands));
    HEADRACE_TRY(check_runtime_takes(n));
    if (const evaluation_kernel deviating = deviating_kernel(n)) kernel = deviating;
    HEADRACE_TRY(metas, metas_of(n, state.own, arena));
    if (n.result_count != 0 && metas.stored[0].dtype == dtype::unknown) {
        return invalid({message_prefix(n), "has no metadata, and none can be inferred"});
    }
    HEADRACE_TRY(places, places_of(n, operands, metas.stored, state));
    std::vector<tensor> places_to_compute = places;
    for (std::size_t i = 0; i != places.size(); ++i) {
        if (metas.computed[i].dtype != metas.stored[i].dtype) places_to_compute[i] = {};
    }
    evaluation e(n, operands, metas.computed, state, std::move(places_to_compute));
    if (!gives_nothing(n, metas.computed)) kernel(n.arguments, e);
    auto results = e.take_results();
    if (results) store_as(metas, places, results.value());
    if (results && state.arena != nullptr) state.arena->settle(n, results.value());
    return results;
}

/// The values of a run that will still be used.
class live_values {
public:
    explicit live_values(const graph& g) : results_(g.id_bound()), uses_left_(g.id_bound(), 0) {
        for (const node& n : g.nodes()) {
            for (const edge& e : n.operand_edges()) ++uses_left_[e.source->id];
        }
    }
    void set(const node& n, std::vector<tensor> results) {
        if (uses_left_[n.id] != 0) results_[n.id] = std::move(results);
    }
    /// Returns the operands of a node about to run, and releases those that no later node uses.
    [[nodiscard]] std::vector<tensor> take_operands(const node& n) {
        std::vector<tensor> operands;
        operands.reserve(n.operand_count);
        for (const edge& e : n.operand_edges()) operands.push_back(results_[e.source->id][e.slot->result]);
        for (const edge& e : n.operand_edges()) {
            if (--uses_left_[e.source->id] == 0) results_[e.source->id].clear();
        }
        return operands;
    }

private:
    std::vector<std::vector<tensor>> results_;
    std::vector<std::size_t> uses_left_;
};

[[nodiscard]] inline result<void> check_input(const node& n, const tensor& t) {
    const auto& meta = n.results[0].meta;
    if (!meta || t.has_meta(*meta)) return {};
    const auto text = [](dtype type, const auto& shape) {
        return std::pmr::string(name_of(type)) + " " + shape_text(shape);
    };
    return invalid({message_prefix(n), "the input is ", text(t.type(), t.shape()), ", not ",
        text(meta->dtype, meta->shape)});
}

}  // namespace detail

std::span<const kernel_list* const> kernel_lists() {
    static constexpr std::array lists{&aten_activation_kernels, &aten_binary_kernels, &aten_blocks_kernels,
        &aten_composite_kernels, &aten_conv_kernels, &aten_create_kernels, &aten_index_kernels,
        &aten_index_tensor_kernels, &aten_join_kernels, &aten_logic_kernels, &aten_matmul_kernels,
        &aten_norm_kernels, &aten_pool_kernels, &aten_recurrent_kernels, &aten_reduce_kernels,
        &aten_resize_kernels, &aten_softmax_kernels, &aten_unary_kernels, &aten_view_kernels,
        &builtin_kernels, &cortex_m_elementwise_kernels, &cortex_m_product_kernels, &cortex_m_window_kernels,
        &quantized_decomposed_kernels, &tosa_convert_kernels, &tosa_elementwise_kernels, &tosa_layout_kernels,
        &tosa_tensor_kernels};
    return lists;
}

evaluation_kernel kernel_of_headrace(const op_info& op) { return detail::kernel_of(op, {}); }

result<std::vector<tensor>> evaluate_node(const node& n, std::span<const tensor> operand_values) {
    variable_store variables;
    return detail::evaluate_node(n, operand_values, variables);
}

result<std::vector<tensor>> run_graph(
    const graph& g, std::span<const tensor> inputs, const run_state& state) {
    detail::live_values values(g);
    std::size_t next_input = 0;
    for (const node& n : g.inputs()) {
        if (next_input == inputs.size()) return invalid("the graph has more inputs than were given");
        HEADRACE_TRY(detail::check_input(n, inputs[next_input]));
        std::vector<tensor> given{inputs[next_input++]};
        // Inputs of a nested graph stay where its node has stored them.
        if (state.arena != nullptr && g.parent() == nullptr) state.arena->settle(n, given);
        values.set(n, std::move(given));
    }
    if (next_input != inputs.size()) return invalid("the graph has fewer inputs than were given");
    for (const node& n : g.nodes()) {
        if (is<builtin::placeholder>(n)) continue;
        const std::vector<tensor> operands = values.take_operands(n);
        if (is<builtin::output>(n)) return operands;
        HEADRACE_TRY(results, detail::evaluate_node(n, operands, state));
        values.set(n, std::move(results));
        if (state.arena != nullptr) state.arena->finish(n);
    }
    return invalid("the graph has no output node");
}
result<std::vector<tensor>> run_graph(
    const graph& g, std::span<const tensor> inputs, const own_operators& own) {
    variable_store variables;
    return run_graph(g, inputs, run_state(variables, own));
}

result<std::vector<tensor>> run_planned(
    const graph& g, const memory_plan& plan, std::span<const tensor> inputs, const own_operators& own) {
    HEADRACE_TRY(arena, planned_arena::make(plan));
    variable_store variables;
    HEADRACE_TRY(outputs, run_graph(g, inputs, run_state(variables, arena, own)));
    for (tensor& t : outputs) t = duplicate(t);  // the arena is destroyed on return
    return std::move(outputs);
}

}  // namespace headrace::eval
