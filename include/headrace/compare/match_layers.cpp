// SPDX-License-Identifier: MIT
// Defines the functions of headrace/compare/match_layers.hpp.

#include <headrace/compare/match_layers.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <range/v3/view/enumerate.hpp>

#include <headrace/compare/computed_values.hpp>
#include <headrace/compare/layer_values.hpp>
#include <headrace/op/reflect.hpp>

namespace headrace {

namespace {

// Pairs the nodes of two programs of the same dialects, from their inputs on.
class structure_matcher {
public:
    structure_matcher(const graph& a, const graph& b)
        : in_a_(a), in_b_(b), counterparts_(a.id_bound()), readers_(b.id_bound()), taken_(b.id_bound()) {
        for (node& m : b.nodes()) {
            if (!m.name().empty()) named_.emplace(m.name(), &m);
            for (std::uint32_t k = 0; k != m.operand_count; ++k)
                readers_[in_b_[m.operand(k)].producer->id].push_back({&m, k});
        }
        auto input = b.inputs().begin();
        for (node& n : a.inputs()) {
            if (input == b.inputs().end()) break;
            counterparts_[n.id] = &*input;
            ++input;
        }
        for (const node& n : a.nodes()) match(n);
    }

    /// Returns the value of the other program, or none.
    [[nodiscard]] value operator[](value v) const {
        node* const other = counterparts_[v.producer->id];
        return other == nullptr ? value{} : value{other, v.result};
    }

private:
    struct reader {
        node* target;
        std::uint32_t operand;
    };

    void match(const node& n) {
        if (is<builtin::output>(n) || is<builtin::constant>(n) || is<builtin::placeholder>(n)) return;
        if (is_of_dialect<quantized_decomposed::dialect>(n) || is_view(n)) return;
        for (std::uint32_t k = 0; k != n.operand_count; ++k) {
            const value read = (*this)[in_a_[n.operand(k)]];
            if (!read) continue;
            if (node* m = reader_like(n, k, read)) take(n, *m);
            return;
        }
        // After a difference, none of the node's operands is known.
        const auto named = named_.find(n.name());
        if (named != named_.end() && !taken_[named->second->id] && is_alike(n, *named->second))
            take(n, *named->second);
    }
    void take(const node& n, node& m) {
        counterparts_[n.id] = &m;
        taken_[m.id] = true;
    }

    // Returns a node like `n` whose operand k is that value. If there are several, such as slices, the one
    // with equal arguments is taken, else that with the same name, else the first.
    [[nodiscard]] node* reader_like(const node& n, std::uint32_t k, value read) const {
        constexpr std::size_t max_candidates = 256;  // files may claim any number of readers
        constexpr int best_rank = 3;
        const std::vector<reader>& candidates = readers_[read.producer->id];
        std::size_t seen = 0;
        node* best = nullptr;
        int rank = -1;
        for (const reader& r : candidates) {
            if (++seen == max_candidates || rank == best_rank) break;
            node* const m = r.target;
            if (taken_[m->id] || r.operand != k || !is_alike(n, *m)) continue;
            const int its_rank = (has_same_settings(n, *m) ? 2 : 0) + (m->name() == n.name() ? 1 : 0);
            if (its_rank <= rank) continue;
            best = m;
            rank = its_rank;
        }
        return best;
    }

    // Compares the arguments that are neither tensors nor graphs.
    [[nodiscard]] static bool has_same_settings(const node& n, const node& m) {
        if (n.op != m.op) return false;
        return std::ranges::all_of(*n.op, [&](const field_info& f) {
            const bool is_setting = f.kind > field_kind::optional_tensors && f.kind != field_kind::region &&
                f.kind != field_kind::data;
            return !is_setting || equal_field(f, n.arguments, m.arguments);
        });
    }

    [[nodiscard]] bool is_alike(const node& n, const node& m) const {
        const bool same_op = &n.op->functional() == &m.op->functional();  // or copies of views
        if (!same_op || n.operand_count != m.operand_count || n.result_count != m.result_count) return false;
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            const auto& mine = n.results[i].meta;
            const auto& its = m.results[i].meta;
            if (!mine || !its || !(mine->shape == its->shape)) return false;
        }
        for (std::uint32_t k = 0; k != n.operand_count; ++k) {
            const value read = (*this)[in_a_[n.operand(k)]];
            if (read && read != in_b_[m.operand(k)]) return false;
        }
        return true;
    }

    detail::computed_values in_a_;
    detail::computed_values in_b_;
    std::vector<node*> counterparts_;           // by the id of a node of the first program
    std::vector<std::vector<reader>> readers_;  // of the second's nodes, through views and quantize nodes
    std::vector<bool> taken_;
    std::unordered_map<std::string_view, node*> named_;  // of the second program
};

// Returns the exported node for which a value of a TOSA file was made: `softmax` for `softmax.reduce_max`.
std::string_view origin_in(std::string_view name) { return name.substr(0, name.find('.')); }

// Returns the names of exported nodes that a layer may be of, the surest first. A value without a name of its
// own is listed by a name that means nothing.
std::array<std::string_view, 3> origins_of(const layer_value& layer) {
    const node& n = *layer.real.producer;
    const auto* from = n.find_annotation<provenance>();
    const std::string_view own = n.results[layer.real.result].name;
    return {own, origin_in(own), from == nullptr ? std::string_view() : from->node_name};
}

// True if two values may hold the same numbers: integers that represent real numbers are narrow.
bool may_be_same(const layer_value& a, const layer_value& b) {
    const tensor_meta& real = *meta_of(a.real);
    const tensor_meta& lowered = *meta_of(b.stored);
    if (real.elements() != lowered.elements()) return false;
    return !is_floating(real.dtype) || lowered.dtype != dtype::int32;
}

std::vector<std::size_t> matches_by_name(std::span<const layer_value> a, std::span<const layer_value> b) {
    std::unordered_map<std::string_view, std::size_t> named;
    for (const auto& [i, layer] : ranges::views::enumerate(a)) {
        named.emplace(layer.name, i);
        if (layer.stored == layer.real) continue;
        const std::string_view of_quantize = layer.stored.producer->name();
        if (!of_quantize.empty()) named.emplace(of_quantize, i);
    }
    std::vector<std::size_t> found(a.size(), detail::no_layer);
    for (const auto& [k, layer] : ranges::views::enumerate(b)) {
        for (const std::string_view name : origins_of(layer)) {
            const auto at = named.find(name);
            if (at == named.end() || !may_be_same(a[at->second], layer)) continue;
            found[at->second] = k;  // the last value of a name is the layer's result
            break;
        }
    }
    return found;
}

std::vector<std::size_t> matches_by_structure(
    const graph& first, std::span<const layer_value> a, const graph& second, std::span<const layer_value> b) {
    const structure_matcher matcher(first, second);
    const std::map<detail::result_key, std::size_t> places = detail::places_of(b);
    std::vector<std::size_t> found(a.size(), detail::no_layer);
    for (const auto& [i, layer] : ranges::views::enumerate(a)) {
        if (layer.real.producer->owner != &first) continue;
        const value other = matcher[layer.real];
        const auto at = places.find(detail::key_of(other));
        if (other && at != places.end()) found[i] = at->second;
    }
    return found;
}

// Inputs and outputs match by their positions.
void match_signatures(const graph& first, std::span<const layer_value> a, const graph& second,
    std::span<const layer_value> b, std::vector<std::size_t>& found) {
    const std::map<detail::result_key, std::size_t> mine = detail::places_of(a);
    const std::map<detail::result_key, std::size_t> its = detail::places_of(b);
    std::vector<std::size_t> of_other(b.size(), detail::no_layer);
    for (const auto& [i, other] : ranges::views::enumerate(found)) {
        if (other != detail::no_layer) of_other[other] = i;
    }
    const auto pair = [&](value v, value w) {
        const auto i = mine.find(detail::key_of(v));
        const auto k = its.find(detail::key_of(w));
        if (i == mine.end() || k == its.end() || !may_be_same(a[i->second], b[k->second])) return;
        if (of_other[k->second] != detail::no_layer) found[of_other[k->second]] = detail::no_layer;
        found[i->second] = k->second;
        of_other[k->second] = i->second;
    };
    auto input = second.inputs().begin();
    for (node& n : first.inputs()) {
        if (input == second.inputs().end()) break;
        pair(n.result(), (*input).result());
        ++input;
    }
    const detail::computed_values in_first(first);
    const detail::computed_values in_second(second);
    const list<value> outputs = first.outputs();
    const list<value> others = second.outputs();
    for (std::size_t i = 0; i != std::min(outputs.size(), others.size()); ++i)
        pair(in_first[outputs[i]], in_second[others[i]]);
}

}  // namespace

std::vector<layer_match> match_layers(const graph& reference, std::span<const layer_value> a,
    const graph& other, std::span<const layer_value> b) {
    const bool by_name = is_lowered(reference) || is_lowered(other);
    std::vector<std::size_t> found =
        by_name ? matches_by_name(a, b) : matches_by_structure(reference, a, other, b);
    match_signatures(reference, a, other, b, found);
    std::vector<layer_match> matches;
    for (const auto& [i, other_layer] : ranges::views::enumerate(found)) {
        if (other_layer < b.size()) matches.push_back({i, other_layer});
    }
    return matches;
}

}  // namespace headrace
