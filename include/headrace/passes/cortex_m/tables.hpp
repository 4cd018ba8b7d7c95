// SPDX-License-Identifier: MIT
// Defines headrace::tabulate_integers, which makes tables of functions of one int8 tensor, and
// headrace::compute_tables, which computes these.
#ifndef HEADRACE_PASSES_CORTEX_M_TABLES_HPP
#define HEADRACE_PASSES_CORTEX_M_TABLES_HPP

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <headrace/infer/aten.hpp>
#include <headrace/infer/constant_evaluator.hpp>
#include <headrace/infer/cortex_m.hpp>
#include <headrace/infer/tosa.hpp>
#include <headrace/ir/edits.hpp>
#include <headrace/ir/purity.hpp>
#include <headrace/op/op_query.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/passes/cortex_m/scaling.hpp>

namespace headrace {

/// Computes any elementwise function of one int8 tensor by a table of 256 elements: another scale, a clamp,
/// arithmetic with constants, comparisons with these. The table is the function of all int8 numbers, and
/// compute_tables computes it.
struct tabulate_integers : pass {
    static constexpr std::string_view summary = "elementwise functions of one int8 tensor as tables";

    static auto rewrites() {
        return rules(
            on_each<elementwise> = code<made>([](emit<made> e, const auto&) { return tabulated(e); }));
    }

private:
    using elementwise = ops_where<tosa::dialect, trait::elementwise>;
    using made = ops<cortex_m::quantized_activation, tosa::cast, aten::_to_copy>;
    static constexpr std::size_t max_nodes = 32;

    // The nodes of a function of one tensor, operands first.
    struct function {
        value argument{};
        pmr_vector<const node*> nodes{};
    };

    static bool is_elementwise(const node& n) {
        return is_of_dialect<tosa::dialect>(n) && n.op->has(trait::elementwise) && n.result_count == 1;
    }
    // Collects the function that computes `n`; false if it has several arguments, or is too large.
    static bool collect(const emitter& e, const node& n, function& f) {
        if (std::ranges::find(f.nodes, &n) != f.nodes.end()) return true;
        const auto* table = args_if<tosa::table>(n);
        for (const edge& operand : n.operand_edges()) {
            const value v = *operand.slot;
            if (match<builtin::constant>(v) != nullptr) {
                const bool is_table = table != nullptr && v == table->table;
                if (!is_table && !cortex_m::is_number(v)) return false;
            } else if (is_elementwise(*v.producer) && e.dtype(v) != dtype::int8) {
                if (!collect(e, *v.producer, f)) return false;
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

    // Applies the function to the numbers -128 to 127.
    static value table_of(emit<made> e, const function& f) {
        const auto* direct = args_if<tosa::table>(*f.nodes.back());
        if (f.nodes.size() == 1 && direct != nullptr) return direct->table;
        const std::int64_t shape[] = {256}, one[] = {1};
        const value all = e.constant_of(
            dtype::int8, shape, [](std::size_t i) { return scalar(static_cast<std::int64_t>(i) - 128); });
        pmr_vector<value> results;
        for (const node* const n : f.nodes) {
            pmr_vector<value> operands;
            bool depends = false;  // on the argument
            for (const edge& operand : n->operand_edges()) {
                const value v = *operand.slot;
                const auto known = std::ranges::find(f.nodes, v.producer);
                if (v == f.argument) {
                    operands.push_back(all);
                    depends = true;
                } else if (match<builtin::constant>(v) == nullptr) {
                    operands.push_back(results[static_cast<std::size_t>(known - f.nodes.begin())]);
                    depends = depends || e.shape(operands.back())[0] != 1;
                } else if (e.rank(v) == 1 && (e.shape(v)[0] == 1 || is<tosa::table>(*n))) {
                    operands.push_back(v);
                } else {
                    operands.push_back(e.splat(constant_integers(v)->front(), e.dtype(v), sizes(one)));
                }
            }
            const node* copy = e.clone(*n, operands,
                [&](tensor_meta& meta) { meta.shape = e.owner().own(int_list(depends ? shape : one)); });
            if (copy == nullptr) return {};
            results.push_back({const_cast<node*>(copy), 0});
        }
        return results.back();
    }
};

/// Computes tables with the context's evaluator. fold_constants leaves RESCALEs of constants to devices.
struct compute_tables : pass {
    static constexpr std::string_view summary = "computes the tables of functions";
    using targeted_ops = ops<cortex_m::quantized_activation>;
    using produces = ops<builtin::constant>;

    result<std::size_t> operator()(graph& g, pass_context& context) const {
        if (context.evaluator() == nullptr) return 0;
        return sum_over_graphs(g, [&](graph& sub) { return compute(sub, *context.evaluator()); });
    }

private:
    using tensor = constant_evaluator::tensor_type;

    static std::size_t compute(graph& g, const constant_evaluator& evaluator) {
        pmr_vector<node*> tables;
        for (node& n : g.nodes_of(info_of<cortex_m::quantized_activation>)) {
            node* const table = args_of<cortex_m::quantized_activation>(n).lut.producer;
            const bool is_new = std::ranges::find(tables, table) == tables.end();
            if (!is<builtin::constant>(*table) && is_new) tables.push_back(table);
        }
        std::size_t computed = 0;
        for (node* const table : tables) {
            const tensor numbers = computation{evaluator}.result_of(*table);
            if (numbers == nullptr) continue;
            const tensor_meta& meta = *table->results[0].meta;
            const value made = create_constant(
                g, meta, table, [&](std::span<std::byte> data) { evaluator.store(*numbers, meta, data); });
            g.inherit_annotations(*made.producer, *table);
            g.replace_all_uses(table->result(), made);
            erase_dead(g, *table);
            ++computed;
        }
        return computed;
    }
    // Computes the nodes of a table's function, operands first.
    struct computation {
        const constant_evaluator& evaluator;
        std::vector<std::pair<const node*, tensor>> known{};

        /// Returns the first result; null if the node has operands that are not constants, or is too deep.
        tensor result_of(const node& n, std::size_t depth = 0) {
            const auto at = std::ranges::find(known, &n, &std::pair<const node*, tensor>::first);
            if (at != known.end()) return at->second;
            std::vector<tensor> operands;
            for (const edge& operand : n.operand_edges()) {
                operands.push_back(depth < max_depth ? result_of(*operand.source, depth + 1) : nullptr);
                if (operands.back() == nullptr) return known.emplace_back(&n, nullptr).second;
            }
            if (!is<builtin::constant>(n) && !is_pure(n)) return nullptr;
            const auto results = evaluator.evaluate(n, operands);
            return known.emplace_back(&n, results ? results.value().front() : nullptr).second;
        }
    };
    static constexpr std::size_t max_depth = 64;
};

}  // namespace headrace

#endif
