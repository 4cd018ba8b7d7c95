// SPDX-License-Identifier: MIT
// Defines the kernels of the builtin, delegate, device, dim_order_ops, higher_order and memory dialects.
#include <headrace/eval/builtin.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/delegate.hpp>
#include <headrace/dialect/device.hpp>
#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/dialect/memory.hpp>
#include <headrace/eval/iterate.hpp>
#include <headrace/eval/kernels.hpp>

namespace headrace::eval {

namespace {

// --- graphs in graphs ------------------------------------------------------------------

[[nodiscard]] inline std::vector<tensor> inputs_of(const evaluation& e, list<value> values) {
    std::vector<tensor> inputs;
    for (const value v : values) inputs.push_back(e.input(v));
    return inputs;
}
/// Returns the results of a nested graph; empty, with the evaluation failed, if it could not run.
[[nodiscard]] inline std::vector<tensor> run_region(
    evaluation& e, const graph* region, const std::vector<tensor>& inputs) {
    result<std::vector<tensor>> results = run_graph(*region, inputs, e.state());
    if (results) return std::move(results).value();
    e.fail(results.error());
    return {};
}
inline void set_outputs(evaluation& e, const std::vector<tensor>& results) {
    if (e.failed()) return;
    if (results.size() < e.output_count()) return e.fail("its graph has too few results");
    for (std::size_t i = 0; i != e.output_count(); ++i) {
        if (results[i].shape() != e.output_shape(i)) return e.fail("its graph gives a different shape");
        e.set_output(i, results[i]);
    }
}
/// In an arena, a loop's carried values are stored where its results will be: the body overwrites its own
/// tensors when it runs again.
inline void carry(evaluation& e, std::vector<tensor>& carried) {
    if (e.state().arena == nullptr) return;
    for (tensor& t : carried) t = duplicate(t);  // two values may swap places
    for (std::size_t i = 0; i != carried.size() && i != e.output_count(); ++i) {
        if (carried[i].shape() != e.output_shape(i)) continue;
        e.set_output(i, carried[i]);
        carried[i] = e.result_so_far(i);
    }
}
/// A loop that exceeds this limit is assumed never to end: no model's loop does, and so many iterations of
/// ten nodes take a second.
constexpr std::int64_t max_iterations = std::int64_t{1} << 16;
/// The limit for nested loops together, since files may nest loops.
constexpr std::int64_t max_nested_iterations = std::int64_t{1} << 18;

/// Counts the iterations of a loop and of the loops in it, on one thread.
class iteration_count {
public:
    iteration_count() {
        if (depth++ == 0) total = 0;
    }
    iteration_count(const iteration_count&) = delete;
    iteration_count& operator=(const iteration_count&) = delete;
    ~iteration_count() { --depth; }

    /// False if the iterations of this loop, or of all loops together, exceed the limit.
    [[nodiscard]] bool add() { return own++ != max_iterations && total++ != max_nested_iterations; }

    /// True at powers of two, from 64 iterations on.
    [[nodiscard]] bool is_round() const {
        return own >= 64 && std::has_single_bit(static_cast<std::uint64_t>(own));
    }

private:
    inline static thread_local std::int64_t depth = 0;
    inline static thread_local std::int64_t total = 0;
    std::int64_t own = 0;
};

/// True if a loop's carried values are as before, and nothing else distinguishes one iteration from another.
[[nodiscard]] inline bool changes_nothing(
    const evaluation& e, const std::vector<tensor>& before, const std::vector<tensor>& after) {
    if (e.state().arena != nullptr || !e.variables().empty() || before.size() != after.size()) return false;
    for (std::size_t i = 0; i != before.size(); ++i) {
        if (before[i].type() != after[i].type() || !std::ranges::equal(before[i].bytes(), after[i].bytes()))
            return false;
    }
    return true;
}

}  // namespace

void branch(evaluation& e, value condition, const graph* yes, const graph* no, list<value> operands) {
    set_outputs(e, run_region(e, e.input(condition).integer(0) != 0 ? yes : no, inputs_of(e, operands)));
}

void loop(evaluation& e, const graph* condition, const graph* body, list<value> first, list<value> fixed) {
    std::vector<tensor> carried = inputs_of(e, first);
    carry(e, carried);
    const std::vector<tensor> shared = inputs_of(e, fixed);
    const auto with_shared = [&] {
        std::vector<tensor> all = carried;
        all.insert(all.end(), shared.begin(), shared.end());
        return all;
    };
    for (iteration_count count;;) {
        const std::vector<tensor> goes_on = run_region(e, condition, with_shared());
        if (e.failed()) return;
        if (goes_on.empty() || goes_on[0].size() != 1) return e.fail("the condition must give one element");
        if (goes_on[0].integer(0) == 0) break;
        if (!count.add())
            return e.fail("the condition still holds after " + std::to_string(max_iterations) +
                " iterations, or " + std::to_string(max_nested_iterations) +
                " of all loops around it: it may never end");
        std::vector<tensor> next = run_region(e, body, with_shared());
        if (e.failed()) return;
        if (count.is_round() && changes_nothing(e, carried, next))
            return e.fail("an iteration has changed nothing of what the condition depends on: it never ends");
        carried = std::move(next);
        carry(e, carried);
    }
    set_outputs(e, carried);
}

namespace {

void evaluate(builtin::constant, const args<builtin::constant>& a, evaluation& e) {
    e.set_output(tensor_of_constant(a.data, *e.current_node().results[0].meta));
}

// The order of dimensions in memory does not change any element.
template <one_of<ops<dim_order_ops::_to_dim_order_copy, dim_order_ops::_clone_dim_order>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    e.set_output(e.input(a.self));
}
void evaluate(dim_order_ops::_empty_dim_order, const args<dim_order_ops::_empty_dim_order>&, evaluation& e) {
    static_cast<void>(e.output());
}

/// Allocates a buffer for an out-variant to write to, or for a kernel to work in.
void evaluate(memory::alloc, const args<memory::alloc>&, evaluation& e) { static_cast<void>(e.unwritten()); }

void evaluate(higher_order::cond, const args<higher_order::cond>& a, evaluation& e) {
    branch(e, a.pred, a.true_graph, a.false_graph, a.operands);
}
void evaluate(higher_order::while_loop, const args<higher_order::while_loop>& a, evaluation& e) {
    loop(e, a.cond_graph, a.body_graph, a.carried_inputs, a.additional_inputs);
}
void evaluate(delegate::call_delegate, const args<delegate::call_delegate>& a, evaluation& e) {
    set_outputs(e, run_region(e, a.lowered_graph, inputs_of(e, a.operands)));
}
void evaluate(higher_order::wrap_with_set_grad_enabled,
    const args<higher_order::wrap_with_set_grad_enabled>& a, evaluation& e) {
    set_outputs(e, run_region(e, a.wrapped_graph, inputs_of(e, a.operands)));
}

void evaluate(
    higher_order::wrap_with_autocast, const args<higher_order::wrap_with_autocast>& a, evaluation& e) {
    set_outputs(e, run_region(e, a.wrapped_body, inputs_of(e, a.operands)));
}

/// Returns slice i of the first axis, or the place for it in a stacked result.
[[nodiscard]] inline tensor slice_of(const tensor& t, std::int64_t i) {
    tensor part(t.type(), extents(t.shape().begin() + 1, t.shape().end()));
    const auto from = t.bytes().subspan(idx(i) * part.byte_count(), part.byte_count());
    std::ranges::copy(from, part.mutable_bytes().begin());
    return part;
}
inline void put_slice(evaluation& e, std::size_t result, std::int64_t i, const tensor& part) {
    const std::span<std::byte> to = e.output(result).mutable_bytes();
    if ((idx(i) + 1) * part.byte_count() > to.size()) return e.fail("a slice of a result has the wrong size");
    std::ranges::copy(part.bytes(), to.begin() + static_cast<std::ptrdiff_t>(idx(i) * part.byte_count()));
}
/// Runs a graph once per slice. Its first results, one for each of `carried`, go into the next run; the
/// others are stacked.
void scan_slices(evaluation& e, const graph* body, std::vector<tensor> carried, list<value> xs,
    list<value> fixed, bool slices_first) {
    const std::size_t kept = carried.size();
    carry(e, carried);
    const std::vector<tensor> sequences = inputs_of(e, xs);
    const std::vector<tensor> shared = inputs_of(e, fixed);
    const std::int64_t count = sequences.empty() || sequences[0].rank() == 0 ? 0 : sequences[0].dim(0);
    for (std::int64_t i = 0; i != count; ++i) {
        std::vector<tensor> inputs = slices_first ? std::vector<tensor>() : carried;
        for (const tensor& t : sequences) inputs.push_back(slice_of(t, i));
        inputs.insert(inputs.end(), shared.begin(), shared.end());
        const std::vector<tensor> results = run_region(e, body, inputs);
        if (e.failed()) return;
        if (results.size() < e.output_count()) return e.fail("its graph has too few results");
        for (std::size_t r = kept; r != e.output_count(); ++r) put_slice(e, r, i, results[r]);
        carried.assign(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(kept));
        carry(e, carried);
    }
    for (std::size_t r = 0; r != kept && r != e.output_count(); ++r) e.set_output(r, carried[r]);
}
void evaluate(higher_order::map_impl, const args<higher_order::map_impl>& a, evaluation& e) {
    scan_slices(e, a.body_graph, {}, a.xs, a.operands, true);
}
void evaluate(higher_order::scan, const args<higher_order::scan>& a, evaluation& e) {
    scan_slices(e, a.combine_graph, inputs_of(e, a.init), a.xs, a.additional_inputs, false);
}

// The layers of a microcontroller are executed by the kernels of the ops that they hold.
template <one_of<device::dialect::all_ops> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    set_outputs(e, run_region(e, a.body, inputs_of(e, a.inputs)));
}

constexpr auto kernel = [](auto op, const auto& a, evaluation& e) -> decltype(evaluate(op, a, e)) {
    evaluate(op, a, e);
};

}  // namespace

const kernel_list builtin_kernels = kernels_of<builtin::dialect, delegate::dialect, device::dialect,
    dim_order_ops::dialect, higher_order::dialect, memory::dialect>(kernel);

}  // namespace headrace::eval
