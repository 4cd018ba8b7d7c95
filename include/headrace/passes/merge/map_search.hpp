// SPDX-License-Identifier: MIT
// Defines headrace::maps::map_search, which finds the values of a graph that are linear in an earlier one.
#ifndef HEADRACE_PASSES_MERGE_MAP_SEARCH_HPP
#define HEADRACE_PASSES_MERGE_MAP_SEARCH_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/passes/merge/linear_maps.hpp>
#include <headrace/passes/merge/merge_noise.hpp>

namespace headrace::maps {

/// An addend of a sum: a map, or the sum of several maps of one root.
struct addend {
    map_id map = no_map;
    value from{};     ///< the value that has this map, if it is one alone
    double sign = 1;  ///< of that value; a sum of several includes its signs
    bool is_merged = false;
};

/// Visits the nodes of a graph once, in execution order, and computes no numbers. A value that only nodes of
/// one map read belongs to that map.
class map_search {
public:
    explicit map_search(const graph& g) : noise_(maps_, quantized_merges_of(g)), found_(g.id_bound()) {
        for (const node& n : g.nodes()) {
            const linear_step s = step_reader::read(n);
            if (s.kind == step_kind::sum) {
                add_sum(n, s);
            } else if (s.kind != step_kind::none) {
                const map_id own = behind_root(maps_.add_step(n, s), *n.results[0].meta);
                found_[n.id].map = own;
            }
        }
    }

    [[nodiscard]] const map_list& maps() const { return maps_; }
    /// Returns the map that replaces a node; no_map if there is none, or another map includes it.
    [[nodiscard]] map_id map_of(const node& n) const {
        const finding& f = found_[n.id];
        return f.is_included || f.map == no_map || !is_worthwhile(maps_[f.map]) ? no_map : f.map;
    }
    /// Returns the addends of a node that is a sum of maps of several roots, if that has fewer addends than
    /// the graph; otherwise nothing.
    [[nodiscard]] std::span<const addend> addends_of(const node& n) const {
        const finding& f = found_[n.id];
        const auto is_layer = [&](const addend& a) { return !a.is_merged || is_worthwhile(maps_[a.map]); };
        const bool has_fewer =
            std::ranges::any_of(f.addends, &addend::is_merged) && std::ranges::all_of(f.addends, is_layer);
        return f.is_included || !has_fewer ? std::span<const addend>() : f.addends;
    }

private:
    struct finding {
        map_id map = no_map;
        pmr_vector<addend> addends{};  // if these have several roots
        bool is_included = false;      // in the map or sum of its only reader
    };
    // Sums of more roots are taken as they are, since each addend is compared with all.
    static constexpr std::size_t most_addends = 16;

    // A convolution and the batch norm after it are merged by other passes, whose numbers PyTorch's tools
    // have, too. Factors alone and a pooling with factors are cheap as they are.
    [[nodiscard]] bool is_worthwhile(const linear_map& m) const {
        if (!m.has_layer || m.steps < 2 || m.kind == map_kind::step) return false;
        const linear_map& last = maps_[m.second];
        if (m.kind == map_kind::chain && maps_[m.first].is_single && last.is_norm) return false;
        return m.weighted != 0 || m.has_sum;
    }

    // Extends a map past its root, while nothing else reads that.
    map_id behind_root(map_id own, const tensor_meta& result) {
        for (;;) {
            const value root = maps_[own].root;
            finding& before = found_[root.producer->id];
            if (root.result != 0 || before.map == no_map) return own;
            if (use_count(root) != maps_[own].root_uses) return own;
            const auto whole = maps_.add_chain(before.map, own, result);
            if (!whole) return own;
            before.is_included = true;
            own = *whole;
        }
    }

    [[nodiscard]] pmr_vector<addend> addends_in(value v, double sign) {
        const finding& f = found_[v.producer->id];
        const bool is_own = v.result == 0 && has_one_use(v);
        if (is_own && !f.addends.empty()) {
            pmr_vector<addend> all = f.addends;
            for (addend& a : all) a.sign *= sign;
            return all;
        }
        return {{is_own && f.map != no_map ? f.map : maps_.add_identity(v), v, sign, false}};
    }
    void add_sum(const node& n, const linear_step& s) {
        pmr_vector<addend> all = addends_in(s.input, 1);
        pmr_vector<addend> others = addends_in(s.other, s.sign);
        if (all.size() + others.size() > most_addends) return;
        const tensor_meta& result = *n.results[0].meta;
        for (const addend& other : others) {
            if (!has_joined(all, other, merge_group_of(n), result)) all.push_back(other);
        }
        for (const value v : {s.input, s.other}) {
            finding& f = found_[v.producer->id];
            const bool is_own = v.result == 0 && has_one_use(v);
            if (is_own && (!f.addends.empty() || all.size() == 1)) f.is_included = true;
        }
        if (all.size() == 1) {
            found_[n.id].map = behind_root(all.front().map, result);
        } else {
            found_[n.id].addends = std::move(all);
        }
    }
    // Merges an addend with one of the others, if they have the same root: the one with which its weights
    // lose least when they are quantized.
    bool has_joined(
        pmr_vector<addend>& all, const addend& other, std::uint32_t group, const tensor_meta& result) {
        addend* best = nullptr;
        map_id joined = no_map;
        double least = merge_noise::most_growth;
        for (addend& a : all) {
            const auto both = maps_.add_sum(a.map, a.sign, other.map, other.sign, result);
            if (!both || (maps_[*both].group != group && maps_[*both].group != any_group)) continue;
            const double growth = noise_.growth_of(*both);
            if (growth >= least) continue;
            best = &a;
            joined = *both;
            least = growth;
            if (least <= 1) break;
        }
        if (best == nullptr) return false;
        for (const addend* part : {static_cast<const addend*>(best), &other}) include(*part);
        *best = {joined, {}, 1, true};
        return true;
    }
    // A value that is one addend, and that nothing else reads, is not computed by itself.
    void include(const addend& part) {
        if (part.is_merged || maps_[part.map].root == part.from) return;
        found_[part.from.producer->id].is_included = true;
    }

    map_list maps_;
    merge_noise noise_;
    pmr_vector<finding> found_;
};

}  // namespace headrace::maps

#endif
