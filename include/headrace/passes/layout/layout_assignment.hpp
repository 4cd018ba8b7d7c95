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
#include <headrace/passes/layout/copied_elements.hpp>
#include <headrace/passes/layout/layout_algebra.hpp>
#include <headrace/passes/layout/layout_rules.hpp>
#include <headrace/passes/layout/matmul_layouts.hpp>
#include <headrace/passes/layout/op_layouts.hpp>
#include <headrace/target/preferences.hpp>

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

    /// Whether matrices of a MATMUL may be stored side by side, if the graph's target gains from that.
    enum class matrices : std::uint8_t { separable, whole };

    explicit layout_assignment(graph& g, matrices m = matrices::separable)
        : g_(&g), sites_(2 * std::size_t{g.id_bound()}), kinds_(g.id_bound(), kind::fixed) {
        const target_preferences& target = preferences_of(g.target());
        for (const node& n : g.nodes()) {
            kinds_[n.id] =
                m == matrices::separable ? layout_rules::kind_of(n, target) : layout_rules::kind_of(n);
            has_heads_ = has_heads_ || kinds_[n.id] == kind::matrices;
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

    /// True if matrices of a MATMUL are multiplied one by one.
    [[nodiscard]] bool has_separate_matrices() const {
        return std::ranges::any_of(g_->nodes(), [&](const node& n) { return time_of_matrices(n) != 0; });
    }
    /// Returns an estimate of the time that moving elements takes on an NPU, in bytes. It is finer than
    /// cost(): a TRANSPOSE that keeps the innermost axis takes half of the time of another one.
    [[nodiscard]] std::int64_t estimated_time() {
        std::int64_t sum = 0;
        for (node& n : g_->nodes()) {
            sum += kind_of(n) == kind::matrices ? time_of_matrices(n) : cost_of_op(n, now_at(site_of(n, {})));
            for (const edge& e : n.operand_edges()) {
                if (!needs_transpose(e)) continue;
                const auto way = then(inverse(stored(*e.slot)), demanded(e));
                const bool keeps_last =
                    way && !way->row_major() && sizes(way->order).back() + 1 == std::ssize(way->order);
                sum += bytes_of(*meta_of(*e.slot)) * (keeps_last ? 1 : 2);
            }
        }
        return sum;
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
        if (kind_of(n) == kind::matrices) {
            return layout_rules::cost_of_matrices(n,
                layout_rules::matrices_of(
                    n, {{table_[layouts.operand(0)], table_[layouts.operand(1)]}, table_[layouts.result]}));
        }
        const bool joins = is<tosa::concat>(n);
        if ((!joins && !is<tosa::slice>(n)) || kind_of(n) == kind::fixed) return 0;
        const layout_rules::axes_of_op op(n);
        const auto lies = along_axes(table_[joins ? layouts.result : layouts.operand(0)], op.full);
        bool outermost = true;
        for (std::size_t i = 1; lies && i < lies->axis.size(); ++i)
            outermost = outermost && (op.whole & 1U << lies->axis_at(i)) == 0;
        if (outermost) return 0;
        if (!joins) {
            return has_heads_ && layout_rules::is_read_in_place(n) ? 0 : bytes_of(*n.results[0].meta);
        }
        std::int64_t copied = 0;
        for (const edge& e : n.operand_edges())
            copied += layout_rules::is_written_in_place(e) ? 0 : bytes_of(*meta_of(*e.slot));
        return copied;
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

    [[nodiscard]] std::int64_t time_of_matrices(const node& n) const {
        if (kind_of(n) != kind::matrices) return 0;
        return layout_rules::time_of_matrices(n, layout_rules::matrices_of(n, layouts_now(n)));
    }

    graph* g_;
    pmr_vector<site> sites_;  // two for each node
    layout_table table_;
    pmr_vector<numbers> records_{numbers{}};  // the first one is all row-major

private:
    static constexpr std::int64_t overhead = 64;  // of a transpose, in bytes

    pmr_vector<kind> kinds_;                  // by node id
    bool has_heads_ = false;                  // a node is of kind::matrices, and may read SLICEs
    flat_map<std::uint32_t> record_numbers_;  // of records_, from 1
};

}  // namespace headrace

#endif
