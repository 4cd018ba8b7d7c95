// SPDX-License-Identifier: MIT
// Defines headrace::layout_assignment, the layouts in which the ops of a graph are computed, and their cost.
#ifndef HEADRACE_PASSES_LAYOUT_LAYOUT_ASSIGNMENT_HPP
#define HEADRACE_PASSES_LAYOUT_LAYOUT_ASSIGNMENT_HPP

#include <algorithm>
#include <cstdint>
#include <memory_resource>
#include <unordered_map>
#include <utility>

#include <headrace/base/flat_map.hpp>
#include <headrace/base/mix.hpp>
#include <headrace/base/pmr_vector.hpp>
#include <headrace/infer/tosa.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/passes/layout/layout_algebra.hpp>
#include <headrace/passes/layout/layout_rules.hpp>

namespace headrace {

/// Numbers layouts: equal layouts have equal numbers, and 0 is row-major.
class layout_table {
public:
    using number = std::uint32_t;

    [[nodiscard]] const layout& operator[](number n) const { return items_[n]; }
    [[nodiscard]] number of(const layout& l) {
        if (l.row_major()) return 0;
        const auto at = static_cast<std::size_t>(std::ranges::find(items_, l) - items_.begin());
        if (at == items_.size()) items_.push_back(l);
        return static_cast<number>(at);
    }
    /// Returns how many times a tensor's bytes are moved to convert it from one layout to another.
    [[nodiscard]] std::int64_t moves(number from, number to) {
        if (from == to) return 0;
        const auto [at, is_new] = moves_.try_emplace(std::uint64_t{from} << 32U | to);
        if (is_new) at->second = count_moves(items_[from], items_[to]);
        return at->second;
    }
    static constexpr std::int64_t impossible = std::int64_t{1} << 20U;

private:
    static std::int64_t count_moves(const layout& from, const layout& to) {
        const auto way = then(inverse(from), to);
        if (!way) return 2;  // through row-major
        if (way->order.size() > static_cast<std::size_t>(tosa::level_8k::max_rank)) return impossible;
        return way->order.size() > 4 ? 2 : 1;  // NPUs move four axes at a time
    }

    pmr_vector<layout> items_{layout{}};
    std::pmr::unordered_map<std::uint64_t, std::int64_t> moves_;
};

/// The layouts in which the ops of a graph are computed, and what the transposes between them cost. At first
/// they are those of the original graph.
class layout_assignment {
public:
    using kind = layout_rules::kind;

    explicit layout_assignment(graph& g)
        : g_(&g), sites_(2 * std::size_t{g.id_bound()}), kinds_(g.id_bound(), kind::fixed) {
        const target_preferences& target = preferences_of(g.target());
        for (const node& n : g.nodes()) {
            kinds_[n.id] = layout_rules::kind_of(n, target);
            if (is<tosa::transpose>(n) && kinds_[n.id] != kind::fixed)
                sites_[site_of(n, {})].now = numbered(layout_rules::as_it_stands(n, kind::move));
        }
    }

    /// Returns the bytes that the graph's transposes move, plus the costs of slices and joins of inner axes.
    /// Constants are free.
    [[nodiscard]] std::int64_t cost() {
        pmr_vector<value> values;
        std::int64_t of_ops = 0;
        for (node& n : g_->nodes()) {
            of_ops += cost_of_op(n, now_at(site_of(n, {})));
            if (is<builtin::constant>(n) || is<tosa::const_shape>(n)) continue;
            for (std::uint32_t i = 0; i != n.result_count; ++i) values.push_back(n.result(i));
        }
        return of_ops + cost_of(values);
    }

    /// Returns the kind of a node in the original graph.
    [[nodiscard]] kind kind_of(const node& n) const { return kinds_[n.id]; }
    /// Returns the layout in which a value is stored.
    [[nodiscard]] const layout& stored(value v) const { return table_[stored_number(v)]; }
    /// Returns the layout in which a node reads an operand.
    [[nodiscard]] const layout& demanded(const edge& e) const { return table_[demanded_number(e)]; }
    /// Returns the layouts of an op's tensors.
    [[nodiscard]] op_layouts layouts_now(const node& n) const {
        op_layouts now{{}, table_[now_at(site_of(n, {})).result]};
        for (std::size_t i = 0; i != layout_rules::data_operands(n); ++i)
            now.operands.push_back(table_[now_at(site_of(n, {i})).operand(i)]);
        return now;
    }
    /// True if the layout of an op has changed.
    [[nodiscard]] bool is_changed(const node& n) const {
        return sites_[site_of(n, {})].changed || sites_[site_of(n, {0})].changed;
    }
    /// True if a value must be transposed for that operand.
    [[nodiscard]] bool needs_transpose(const edge& e) const {
        return has_cost(e) && stored_number(*e.slot) != demanded_number(e);
    }

protected:
    using number = layout_table::number;

    /// op_layouts as numbers; operands that are not listed are row-major.
    struct numbers {
        pmr_vector<number> operands;
        number result = 0;

        [[nodiscard]] number operand(std::size_t i) const { return i < operands.size() ? operands[i] : 0; }
        friend bool operator==(const numbers&, const numbers&) = default;
    };
    struct site {
        std::uint32_t now = 0;  // index in records_
        bool changed = false;
    };

    // Convolutions have two sites, one for the operand and one for the result.
    [[nodiscard]] std::size_t site_of(const node& n, node_port port) const {
        const bool second = port.is_result() && layout_rules::is_split(kind_of(n));
        return 2 * std::size_t{n.id} + (second ? 1 : 0);
    }
    [[nodiscard]] const numbers& now_at(std::size_t at) const { return records_[sites_[at].now]; }
    [[nodiscard]] number stored_number(value v) const {
        return v.result != 0 ? 0 : now_at(site_of(*v.producer, {})).result;
    }
    [[nodiscard]] number demanded_number(const edge& e) const {
        const node& n = *e.target;
        if (kind_of(n) == kind::fixed || e.operand >= layout_rules::data_operands(n)) return 0;
        return now_at(site_of(n, {e.operand})).operand(e.operand);
    }
    // Returns the record of the layouts. Many ops share few layouts, so each is stored once.
    std::uint32_t numbered(const op_layouts& layouts) {
        numbers n{{}, table_.of(layouts.result)};
        for (const layout& l : layouts.operands) n.operands.push_back(table_.of(l));
        std::uint64_t hash = n.result;
        for (const number operand : n.operands) hash = mix(hash, operand);
        std::uint32_t& known =
            record_numbers_.find_or_add(hash, [&](std::uint32_t at) { return records_[at - 1] == n; });
        if (known == 0) {
            records_.push_back(std::move(n));
            known = static_cast<std::uint32_t>(records_.size());
        }
        return known - 1;
    }

    [[nodiscard]] static bool has_cost(const edge& e) {
        const node& source = *e.slot->producer;
        return meta_of(*e.slot) != nullptr && !is<builtin::constant>(source) &&
            !is<tosa::const_shape>(source);
    }
    [[nodiscard]] static std::int64_t bytes_of(const tensor_meta& meta) {
        return static_cast<std::int64_t>(packed_bytes(meta));
    }
    [[nodiscard]] std::int64_t cost(number from, number to, const tensor_meta& meta) {
        return from == to ? 0 : (bytes_of(meta) + overhead) * table_.moves(from, to);
    }
    // A SLICE or a CONCAT along any axis except the outermost copies with gaps, and is as slow as a
    // transpose.
    [[nodiscard]] std::int64_t cost_of_op(const node& n, const numbers& layouts) const {
        if (kind_of(n) == kind::matrices) return cost_of_matmul(n, layouts);
        const bool joins = is<tosa::concat>(n);
        if ((!joins && !is<tosa::slice>(n)) || kind_of(n) == kind::fixed) return 0;
        const layout_rules::axes_of_op op(n);
        const auto lies = along_axes(table_[joins ? layouts.result : layouts.operand(0)], op.full);
        bool outermost = true;
        for (std::size_t i = 1; lies && i < lies->axis.size(); ++i)
            outermost = outermost && (op.whole & 1U << lies->axis_at(i)) == 0;
        if (outermost) return 0;
        if (!joins) return is_read_in_place(n) ? 0 : bytes_of(*n.results[0].meta);
        std::int64_t copied = 0;
        for (const edge& e : n.operand_edges())
            copied += is_written_in_place(e) ? 0 : bytes_of(*meta_of(*e.slot));
        return copied;
    }
    // True if ops that compute single elements, or multiply, read a SLICE, so that it need not be copied.
    [[nodiscard]] static bool is_read_in_place(const node& n) {
        constexpr auto reading = trait::elementwise | trait::padding;
        return std::ranges::all_of(n.uses(), [](const edge& use) {
            const node& reader = *use.target;
            return is_of_dialect<tosa::dialect>(reader) && (reader.op->has(reading) || is<tosa::matmul>(reader));
        });
    }
    // True if convolutions or products are written directly into that part of a CONCAT, which may be a CONCAT
    // of such parts itself.
    [[nodiscard]] static bool is_written_in_place(const edge& part, bool is_inner = false) {
        constexpr auto passing = trait::permuting | trait::reshaping;
        constexpr int max_steps = 8;  // from the product to the CONCAT
        const edge* e = &part;
        for (int step = 0; step != max_steps && has_one_use(*e->slot); ++step) {
            const node& n = *e->slot->producer;
            if (is<tosa::matmul>(n) || n.op->has(trait::convolving)) return true;
            if (is<tosa::concat>(n) && !is_inner) {
                return std::ranges::all_of(
                    n.operand_edges(), [](const edge& inner) { return is_written_in_place(inner, true); });
            }
            if (!n.op->has(passing) && !ops_in<tosa::rescale, tosa::clamp, tosa::table>.contains(*n.op))
                return false;
            e = &n.operands[0];
        }
        return false;
    }
    // Matrices that lie side by side are read and written with gaps, of which only short ones cost time.
    [[nodiscard]] std::int64_t cost_of_matmul(const node& n, const numbers& layouts) const {
        const auto stored = layout_rules::matrices_of(
            n, {{table_[layouts.operand(0)], table_[layouts.operand(1)]}, table_[layouts.result]});
        std::int64_t cost = 0;
        for (std::size_t t = 0; t != 3; ++t) {
            tensor_meta meta = *meta_of(n.operand(0));
            meta.shape = int_list(layout_rules::port_shape(n, layout_rules::matmul_ports[t]));
            if (stored[t].batch != 0) cost += bytes_of(meta) / 4;
        }
        return cost;
    }
    // Returns the cost of the values' transposes; readers that require the same layout share one.
    [[nodiscard]] std::int64_t cost_of(const pmr_vector<value>& values) {
        std::int64_t sum = 0;
        pmr_vector<number> wanted;
        for (const value v : values) {
            const number from = stored_number(v);
            wanted.clear();
            for (const edge& e : v.producer->uses()) {
                if (e.slot->result != v.result || !has_cost(e)) continue;
                const number to = demanded_number(e);
                if (std::ranges::find(wanted, to) != wanted.end()) continue;
                wanted.push_back(to);
                sum += cost(from, to, *meta_of(v));
            }
        }
        return sum;
    }

    graph* g_;
    pmr_vector<site> sites_;  // two for each node
    layout_table table_;
    pmr_vector<numbers> records_{numbers{}};  // the first one is all row-major

private:
    static constexpr std::int64_t overhead = 64;  // of a transpose, in bytes

    pmr_vector<kind> kinds_;                  // by node id
    flat_map<std::uint32_t> record_numbers_;  // of records_, from 1
};

}  // namespace headrace

#endif
