// SPDX-License-Identifier: MIT
// Defines headrace::scans_to_loops.
#ifndef HEADRACE_PASSES_EXECUTORCH_SCANS_TO_LOOPS_HPP
#define HEADRACE_PASSES_EXECUTORCH_SCANS_TO_LOOPS_HPP

#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/ir/edits.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/inlining.hpp>

namespace headrace {

namespace detail {

/// Rewrites one map or scan as a loop, which instructions have jumps for.
class scan_writer {
public:
    scan_writer(node& scan, const args<higher_order::scan>& a, bool slices_first)
        : scan_(scan), a_(a), slices_first_(slices_first) {}

    /// Replaces the node with a loop. The loop carries its iteration count, the values that the body carries,
    /// and the stacked results, which start as zeros; each iteration writes one slice.
    void write() {
        graph& g = *scan_.owner;
        const std::int64_t count = meta_of(a_.xs[0])->shape[0];
        std::vector<value> first{full(g, counter, &scan_)};
        first.insert(first.end(), a_.init.begin(), a_.init.end());
        for (std::size_t i = a_.init.size(); i != scan_.result_count; ++i)
            first.push_back(full(g, *scan_.results[i].meta, &scan_));
        std::vector<value> shared(a_.xs.begin(), a_.xs.end());
        shared.insert(shared.end(), a_.additional_inputs.begin(), a_.additional_inputs.end());
        graph& test = g.create_region();
        graph& turn = g.create_region();
        const std::vector<value> tested = add_inputs(test, first, shared);
        const args<aten::lt_scalar> goes_on{tested[0], scalar(count)};
        add_output(test, {make<aten::lt_scalar>(test, goes_on, {dtype::boolean, {}, {}}, nullptr)});
        write_turn(turn, add_inputs(turn, first, shared));
        node& loop = g.create<higher_order::while_loop>(
            {&test, &turn, list<value>(first), list<value>(shared)}, first.size(), &scan_);
        for (std::uint32_t i = 0; i != loop.result_count; ++i) g.set_meta(loop.result(i), *meta_of(first[i]));
        for (std::uint32_t i = 0; i != scan_.result_count; ++i) {
            hand_over_name(scan_.results[i], loop.result(i + 1));
            g.replace_all_uses(scan_.result(i), loop.result(i + 1));
        }
        g.inherit_annotations(loop, scan_);
        erase_dead(g, scan_);
        erase_nodes(*a_.combine_graph);
    }

private:
    static constexpr dtype counts_in = dtype::int64;
    inline static const tensor_meta counter{counts_in, {}, {}};

    template <op_tag Op>
    static value make(graph& g, const args<Op>& arguments, const tensor_meta& meta, node* before) {
        const value v = g.create<Op>(arguments, before).result();
        g.set_meta(v, meta);
        return v;
    }
    static value full(graph& g, const tensor_meta& meta, node* before) {
        const args<aten::full> zeros{meta.shape, scalar(std::int64_t{0}), meta.dtype};
        return make<aten::full>(g, zeros, {meta.dtype, meta.shape, {}}, before);
    }
    static value reshaped(graph& g, value v, sizes shape, node* before) {
        return make<aten::view>(g, {v, int_list(shape)}, {meta_of(v)->dtype, int_list(shape), {}}, before);
    }
    static std::vector<value> add_inputs(
        graph& g, const std::vector<value>& first, const std::vector<value>& shared) {
        std::vector<value> inputs;
        for (const std::vector<value>* const all : {&first, &shared}) {
            for (const value v : *all) {
                const value input = g.create<builtin::placeholder>({}).result();
                g.set_meta(input, {meta_of(v)->dtype, meta_of(v)->shape, {}});
                inputs.push_back(input);
            }
        }
        return inputs;
    }
    static node& add_output(graph& g, const std::vector<value>& values) {
        return g.create<builtin::output>({.values = list<value>(values)});
    }

    void write_turn(graph& g, const std::vector<value>& inputs) {
        const std::size_t kept = a_.init.size();
        const std::size_t shared = 1 + scan_.result_count;  // inputs before the shared ones
        node& end = add_output(g, {inputs[0]});             // the body's nodes come before it
        const value index = reshaped(g, inputs[0], shape_builder{1}, &end);
        std::vector<value> slices;
        for (std::size_t i = 0; i != a_.xs.size(); ++i) {
            const tensor_meta whole = *meta_of(inputs[shared + i]);
            shape_builder shape(whole.shape);
            shape[0] = 1;
            const value row = make<aten::index_select>(
                g, {inputs[shared + i], 0, index}, {whole.dtype, int_list(shape), {}}, &end);
            slices.push_back(reshaped(g, row, sizes(whole.shape).subspan(1), &end));
        }
        const auto input = [&](std::size_t i) { return inputs.begin() + static_cast<std::ptrdiff_t>(i); };
        std::vector<value> given(input(1), input(1 + kept));
        given.insert(slices_first_ ? given.begin() : given.end(), slices.begin(), slices.end());
        given.insert(given.end(), input(shared + a_.xs.size()), inputs.end());
        const pmr_vector<value> made = inline_region(*a_.combine_graph, end, given);
        std::vector<value> next{
            make<aten::add_scalar>(g, {inputs[0], scalar(std::int64_t{1})}, counter, &end)};
        for (std::size_t i = 0; i != scan_.result_count; ++i) {
            if (i < kept) {
                next.push_back(made[i]);
                continue;
            }
            const value stacked = inputs[1 + i];
            shape_builder shape(meta_of(stacked)->shape);
            shape[0] = 1;
            const std::vector<std::optional<value>> at{index};
            next.push_back(make<aten::index_put>(g,
                {stacked, list<std::optional<value>>(at), reshaped(g, made[i], shape, &end)},
                *meta_of(stacked), &end));
        }
        g.erase(end);
        add_output(g, next);
    }

    node& scan_;
    const args<higher_order::scan>& a_;
    bool slices_first_;
};

}  // namespace detail

/// Rewrites map and scan as while_loop: an iteration reads one slice of each tensor, and writes one slice of
/// each stacked result.
struct scans_to_loops : pass {
    using runs_after = pass_list<regions_inlined>;
    static constexpr std::string_view summary = "map and scan as while_loop";
    using targeted_ops = ops<higher_order::map_impl, higher_order::scan>;
    using removes = targeted_ops;
    using produces = ops<higher_order::while_loop, aten::full, aten::lt_scalar, aten::add_scalar,
        aten::index_select, aten::index_put, aten::view>;

    result<std::size_t> operator()(graph& g, pass_context&) const {
        std::size_t count = 0;
        result<void> done;
        // Scans inside a body are then in the loop's graph, which is visited later.
        for_each_node(g, [&](node& n) {
            if (!done || (!is<higher_order::map_impl>(n) && !is<higher_order::scan>(n))) return;
            done = write(n);
            ++count;
        });
        if (!done) return std::move(done).error();
        return count;
    }

private:
    static result<void> write(node& n) {
        const auto* const map = args_if<higher_order::map_impl>(n);
        const args<higher_order::scan> a = map == nullptr
            ? args_of<higher_order::scan>(n)
            : args<higher_order::scan>{map->body_graph, {}, map->xs, map->operands};
        bool is_known = a.combine_graph != nullptr && !a.xs.empty();
        for (const value v : a.xs) is_known = is_known && meta_of(v) != nullptr && meta_of(v)->rank() != 0;
        for (std::uint32_t i = 0; i != n.result_count; ++i) is_known = is_known && n.results[i].meta;
        if (!is_known || a.combine_graph->outputs().size() != n.result_count ||
            a.init.size() > n.result_count)
            return invalid({message_prefix(n), "its results do not match its graph"});
        detail::scan_writer(n, a, map != nullptr).write();
        return {};
    }
};
HEADRACE_COMPILED_PASS(scans_to_loops);

}  // namespace headrace

#endif
