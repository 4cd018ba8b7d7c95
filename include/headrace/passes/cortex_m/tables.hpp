// SPDX-License-Identifier: MIT
// Defines headrace::tabulate_integers, which makes tables of functions of one int8 tensor.
#ifndef HEADRACE_PASSES_CORTEX_M_TABLES_HPP
#define HEADRACE_PASSES_CORTEX_M_TABLES_HPP

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>

#include <headrace/infer/aten.hpp>
#include <headrace/infer/cortex_m.hpp>
#include <headrace/infer/tosa.hpp>
#include <headrace/op/op_query.hpp>
#include <headrace/passes/cortex_m/scaling.hpp>

namespace headrace {

/// Computes any elementwise function of one int8 tensor by a table of 256 elements: another scale, a clamp,
/// arithmetic with constants, comparisons with these. The table is the function of all int8 numbers, and
/// fold_rescaled_constants computes it.
struct tabulate_integers : pass {
    static constexpr std::string_view summary = "elementwise functions of one int8 tensor as tables";

    static auto rewrites() {
        return rules(
            on_each<elementwise> = code<made>([](emit<made> e, const auto&) { return tabulated(e); }));
    }

private:
    using elementwise = ops_where<tosa::dialect, trait::elementwise>;
    using made = ops<cortex_m::quantized_activation, tosa::cast, tosa::rescale, aten::_to_copy>;
    static constexpr std::size_t max_nodes = 32;

    // The nodes of a function of one tensor, operands first.
    struct function {
        value argument{};
        pmr_vector<const node*> nodes{};
    };

    static bool is_elementwise(const node& n) {
        return is_of_dialect<tosa::dialect>(n) && n.op->has(trait::elementwise) && n.result_count == 1;
    }
    // Returns the table that a truth value is already computed by; null if there is none.
    static const args<cortex_m::quantized_activation>* truth_table_of(const node& n) {
        const auto* truth = args_if<aten::_to_copy>(n);
        return truth == nullptr ? nullptr : match<cortex_m::quantized_activation>(truth->self);
    }
    // Collects the function that computes `n`; false if it has several arguments, or is too large.
    static bool collect(const emitter& e, const node& n, function& f, std::size_t depth = max_nodes) {
        if (std::ranges::find(f.nodes, &n) != f.nodes.end()) return true;
        if (depth == 0) return false;
        if (const auto* known = truth_table_of(n)) {
            if (f.argument && f.argument != known->input) return false;
            f.argument = known->input;
            f.nodes.push_back(&n);
            return true;
        }
        const auto* table = args_if<tosa::table>(n);
        for (const edge& operand : n.operand_edges()) {
            const value v = *operand.slot;
            const bool is_table = table != nullptr && v == table->table;
            if (match<builtin::constant>(v) != nullptr) {
                if (!is_table && !cortex_m::is_number(v)) return false;
            } else if (is_table) {
                return false;
            } else if (e.dtype(v) != dtype::int8 &&
                (is_elementwise(*v.producer) || truth_table_of(*v.producer) != nullptr)) {
                if (!collect(e, *v.producer, f, depth - 1)) return false;
            } else if (e.dtype(v) == dtype::int8 && (!f.argument || f.argument == v)) {
                f.argument = v;
            } else {
                return false;
            }
        }
        f.nodes.push_back(&n);
        return f.nodes.size() <= max_nodes;
    }

    static std::optional<value> tabulated(emit<made> e) {
        const dtype type = e.result_meta().dtype;
        function f;
        if ((type != dtype::int8 && type != dtype::boolean) || !collect(e, e.current(), f) || !f.argument ||
            e.shape(f.argument) != e.result_meta().shape)
            return std::nullopt;
        value table = table_of(e, f);
        if (type == dtype::boolean) table = e.make<tosa::cast>({.input = table, .output_type = dtype::int8});
        const value v = e.make<cortex_m::quantized_activation>({.input = f.argument, .lut = table});
        return type == dtype::boolean ? e.make<aten::_to_copy>({.self = v, .dtype = type}) : v;
    }

    // Applies an operator of the function to vectors of 256 numbers, which have no channels.
    static value applied(emit<made> e, const node& n, const pmr_vector<value>& operands, std::int64_t count) {
        if (const auto* by_channel = args_if<tosa::rescale>(n); by_channel && by_channel->per_channel) {
            args<tosa::rescale> whole = *by_channel;
            whole.input = operands[0];
            whole.multiplier = operands[1];
            whole.shift = operands[2];
            whole.per_channel = false;
            return e.make<tosa::rescale>(whole);
        }
        node* const copy =
            e.clone(n, operands, [&](tensor_meta& meta) { meta.shape = e.owner().own(int_list{count}); });
        return copy == nullptr ? value() : copy->result();
    }
    // Applies the function to the numbers -128 to 127.
    static value table_of(emit<made> e, const function& f) {
        const auto* direct = args_if<tosa::table>(*f.nodes.back());
        if (f.nodes.size() == 1 && direct != nullptr) return direct->table;
        const std::int64_t shape[] = {256}, one[] = {1};
        const value all = e.constant_of(
            dtype::int8, shape, [](std::size_t i) { return scalar(static_cast<std::int64_t>(i) - 128); });
        pmr_vector<value> results;
        for (const node* const n : f.nodes) {
            if (const auto* known = truth_table_of(*n)) {
                results.push_back(e.make<tosa::cast>({.input = known->lut, .output_type = dtype::boolean}));
                continue;
            }
            pmr_vector<value> operands;
            std::int64_t count = 1;  // of its results; more if it depends on the argument
            for (const edge& operand : n->operand_edges()) {
                const value v = *operand.slot;
                const auto known = std::ranges::find(f.nodes, v.producer);
                if (v == f.argument) {
                    operands.push_back(all);
                    count = shape[0];
                } else if (match<builtin::constant>(v) == nullptr) {
                    operands.push_back(results[static_cast<std::size_t>(known - f.nodes.begin())]);
                    count = std::max(count, element_count(e.shape(operands.back())));
                } else if (e.rank(v) == 1 && (e.shape(v)[0] == 1 || is<tosa::table>(*n))) {
                    operands.push_back(v);
                } else {
                    operands.push_back(e.splat(constant_integers(v)->front(), e.dtype(v), sizes(one)));
                }
            }
            results.push_back(applied(e, *n, operands, count));
        }
        return results.back();
    }
};

}  // namespace headrace

#endif
