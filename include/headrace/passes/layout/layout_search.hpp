// SPDX-License-Identifier: MIT
// Defines headrace::layout_search, which chooses the layouts of a whole graph.
#ifndef HEADRACE_PASSES_LAYOUT_LAYOUT_SEARCH_HPP
#define HEADRACE_PASSES_LAYOUT_LAYOUT_SEARCH_HPP

#include <algorithm>
#include <cstdint>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/passes/layout/binary_choice.hpp>
#include <headrace/passes/layout/layout_assignment.hpp>
#include <headrace/passes/layout/layout_rules.hpp>

namespace headrace {

/// Chooses the layout in which each op of a graph is computed, so that the transposes between ops move as few
/// bytes as possible. Example: PyTorch's convolutions are NCHW and TOSA's are NHWC, so each is lowered
/// between two TRANSPOSEs; if the ops between two convolutions are computed in NHWC as well, these TRANSPOSEs
/// cancel.
///
/// Starts with the layouts of the original graph, and improves them by moves until no move makes the needed
/// transposes cheaper. A move may change the layouts of many ops at once: the layout at one end of a needed
/// transpose is proposed to all ops that can adopt it, and a minimum cut finds which of them do (Boykov,
/// Veksler, Zabih, "Fast Approximate Energy Minimization via Graph Cuts", 2001; with two layouts this is the
/// optimum).
class layout_search : public layout_assignment {
public:
    /// Limits the work: in a long chain of transposes, each move could change all ops, which takes quadratic
    /// time in total. Once moves have proposed `proposals` layouts in all, each further move reaches only a
    /// few ops.
    layout_search(graph& g, std::size_t proposals, matrices m = matrices::separable)
        : layout_assignment(g, m),
          proposals_(sites_.size(), -1),
          answers_(sites_.size()),
          proposals_left_(proposals) {}

    /// With a budget that only adversarial networks exhaust.
    explicit layout_search(graph& g, matrices m = matrices::separable)
        : layout_search(g, (std::size_t{1} << 20) + 256 * g.size(), m) {}

    /// Makes moves until none is an improvement; returns the number of moves.
    std::size_t run() {
        std::size_t moves = 0;
        // One move may make another possible.
        for (int round = 0; round != max_rounds; ++round) {
            const std::size_t before = moves;
            for (const edge* t : needed_transposes()) {
                if (!needs_transpose(*t)) continue;
                moves += improve(*t->slot->producer, {}, demanded_number(*t));
                if (needs_transpose(*t)) moves += improve(*t->target, {t->operand}, stored_number(*t->slot));
            }
            if (moves == before) break;
        }
        return moves;
    }

private:
    static constexpr int max_rounds = 4;
    static constexpr std::size_t small_region = 32;  // region size of a move once no proposals are left

    struct answer {
        number wanted = static_cast<number>(-1);
        std::uint32_t port = 0;
        std::uint32_t record = 0;
    };
    struct proposal {
        node* n;
        node_port part;
        std::uint32_t record;
    };

    [[nodiscard]] pmr_vector<const edge*> needed_transposes() const {
        pmr_vector<const edge*> found;
        for (const node& n : g_->nodes()) {
            for (const edge& e : n.operand_edges()) {
                if (needs_transpose(e)) found.push_back(&e);
            }
        }
        return found;
    }

    static constexpr std::uint32_t none = UINT32_MAX;

    // Returns the layouts of a node with the wanted one at a port, or `none`. The last answer for a site is
    // cached if it depends on nothing else, since most queries are repeated.
    std::uint32_t accommodated(const node& n, node_port port, number wanted) {
        const kind k = kind_of(n);
        const bool by_itself = k == kind::axes || k == kind::move || k == kind::channels;
        answer& last = answers_[site_of(n, port)];
        const auto index = static_cast<std::uint32_t>(port.index);
        if (by_itself && last.wanted == wanted && last.port == index) return last.record;
        const auto found = layout_rules::accommodate(
            n, k, port, table_[wanted], by_itself ? op_layouts{{{}}, {}} : layouts_now(n), rows_follow_);
        meets_matrices_ = meets_matrices_ || (found && k == kind::matrices);
        const std::uint32_t record = found ? numbered(*found) : none;
        if (by_itself) last = {wanted, index, record};
        return record;
    }
    // Adds the site of a node's port to the region if it can adopt the layout and does not have it.
    void propose(pmr_vector<proposal>& region, node& n, node_port port, number wanted) {
        if (kind_of(n) == kind::fixed) return;
        const std::size_t at = site_of(n, port);
        if (proposals_[at] >= 0) return;
        const numbers& now = now_at(at);
        if ((port.is_result() ? now.result : now.operand(port.index)) == wanted) return;
        const std::uint32_t record = accommodated(n, port, wanted);
        if (record == none) return;
        proposals_[at] = static_cast<std::int32_t>(region.size());
        region.push_back({&n, port, record});
    }
    [[nodiscard]] bool covers(const proposal& p, node_port port) const {
        return site_of(*p.n, p.part) == site_of(*p.n, port);
    }
    // Calls of_operand for each operand of the site, and of_use for each use of its result.
    template <class F, class G>
    void for_each_edge(const proposal& p, F&& of_operand, G&& of_use) const {
        if (covers(p, {0})) {
            const std::size_t data = layout_rules::data_operands(*p.n);
            for (const edge& e : p.n->operand_edges()) {
                if (e.operand < data && has_cost(e)) of_operand(e);
            }
        }
        if (covers(p, {})) {
            for (const edge& e : p.n->uses()) of_use(e);
        }
    }

    // Products of matrices that are stored side by side are stored like their rows, or as they were: the
    // scores of attention as they were, and what they select like the queries. So both are tried.
    bool improve(node& n, node_port port, number wanted) {
        meets_matrices_ = false;
        if (move(n, port, wanted)) return true;
        if (!meets_matrices_) return false;
        rows_follow_ = true;
        const bool better = move(n, port, wanted);
        rows_follow_ = false;
        return better;
    }

    bool move(node& n, node_port port, number wanted) {
        pmr_vector<proposal> region;
        propose(region, n, port, wanted);
        const std::size_t most = std::max(proposals_left_, small_region);
        for (std::size_t i = 0; i != region.size() && region.size() < most; ++i) {
            const proposal p = region[i];
            for_each_edge(
                p,
                [&](const edge& e) {
                    if (e.slot->result == 0)
                        propose(region, *e.slot->producer, {}, records_[p.record].operand(e.operand));
                },
                [&](const edge& e) {
                    if (e.operand < layout_rules::data_operands(*e.target))
                        propose(region, *e.target, {e.operand}, records_[p.record].result);
                });
        }
        proposals_left_ -= std::min(proposals_left_, region.size());
        const bool better = !region.empty() && take_best_part(region);
        for (const proposal& p : region) proposals_[site_of(*p.n, p.part)] = -1;
        return better;
    }

    [[nodiscard]] const proposal* proposed(
        const pmr_vector<proposal>& region, const node& n, node_port port) const {
        const std::int32_t i = proposals_[site_of(n, port)];
        return i >= 0 ? &region[static_cast<std::size_t>(i)] : nullptr;
    }

    // For each site: 0 keeps its layouts, 1 adopts the proposed ones.
    [[nodiscard]] binary_choice choice_of(const pmr_vector<proposal>& region) {
        binary_choice choice(region.size());
        for (std::size_t i = 0; i != region.size(); ++i) {
            const proposal& p = region[i];
            const numbers& now = now_at(site_of(*p.n, p.part));
            const numbers& moved = records_[p.record];
            choice.add(i, cost_of_op(*p.n, moved) - cost_of_op(*p.n, now));
            for_each_edge(
                p,
                [&](const edge& e) {
                    const tensor_meta& meta = *meta_of(*e.slot);
                    const number source_now = stored_number(*e.slot);
                    const std::int64_t stays = cost(source_now, now.operand(e.operand), meta);
                    const std::int64_t moves = cost(source_now, moved.operand(e.operand), meta);
                    const proposal* source =
                        e.slot->result == 0 ? proposed(region, *e.slot->producer, {}) : nullptr;
                    if (source == nullptr) {
                        choice.add(i, moves - stays);
                        return;
                    }
                    const number source_then = records_[source->record].result;
                    choice.add(static_cast<std::size_t>(source - region.data()), i,
                        {{stays, moves},
                            {cost(source_then, now.operand(e.operand), meta),
                                cost(source_then, moved.operand(e.operand), meta)}});
                },
                [&](const edge& e) {
                    const bool is_data = e.operand < layout_rules::data_operands(*e.target);
                    if (is_data && proposed(region, *e.target, {e.operand}) != nullptr) return;
                    const tensor_meta& meta = *meta_of(*e.slot);
                    const number wanted = demanded_number(e);
                    choice.add(i, cost(moved.result, wanted, meta) - cost(now.result, wanted, meta));
                });
        }
        return choice;
    }

    bool take_best_part(pmr_vector<proposal>& region) {
        const pmr_vector<bool> taken = choice_of(region).cheapest();
        pmr_vector<proposal> kept;
        for (std::size_t i = 0; i != region.size(); ++i) {
            if (taken[i]) kept.push_back(region[i]);
        }
        if (kept.empty()) return false;
        const pmr_vector<value> affected = values_around(kept);
        const auto sum = [&] {
            std::int64_t of_ops = 0;
            for (const proposal& p : kept) of_ops += cost_of_op(*p.n, now_at(site_of(*p.n, p.part)));
            return of_ops + cost_of(affected);
        };
        const auto swap = [&] {
            for (proposal& p : kept) std::swap(p.record, sites_[site_of(*p.n, p.part)].now);
        };
        const std::int64_t before = sum();
        swap();
        if (sum() >= before) {  // the cut counts a transpose once per reader
            swap();
            return false;
        }
        for (const proposal& p : kept) sites_[site_of(*p.n, p.part)].changed = true;
        return true;
    }

    [[nodiscard]] static pmr_vector<value> values_around(const pmr_vector<proposal>& region) {
        pmr_vector<value> values;
        for (const proposal& p : region) {
            values.push_back(p.n->result());
            for (const edge& e : p.n->operand_edges()) {
                if (has_cost(e)) values.push_back(*e.slot);
            }
        }
        const auto key = [](value v) { return std::pair(v.producer->id, v.result); };
        std::ranges::sort(values, [&](value a, value b) { return key(a) < key(b); });
        values.erase(std::unique(values.begin(), values.end()), values.end());
        return values;
    }

    pmr_vector<std::int32_t> proposals_;  // by site: its place in the region of the move, or -1
    pmr_vector<answer> answers_;          // by site
    std::size_t proposals_left_;
    bool rows_follow_ = false;  // whether products are stored like their rows in this move
    bool meets_matrices_ =
        false;  // whether this move reaches a MATMUL whose matrices may be stored side by side
};

}  // namespace headrace

#endif
