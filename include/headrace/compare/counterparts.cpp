// SPDX-License-Identifier: MIT
// Defines the functions of headrace/compare/counterparts.hpp.

#include <headrace/compare/counterparts.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <headrace/compare/layer_difference.hpp>
#include <headrace/compare/layer_values.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>

namespace headrace {

namespace {

// Bytes that no quantize gives are numbers of the program, which a lowering stores with the same bits or with
// the upper one inverted.
bool is_comparable(value reference, value lowered) {
    const tensor_meta* mine = meta_of(reference);
    const tensor_meta* its = meta_of(lowered);
    if (mine != nullptr && its != nullptr && mine->dtype == dtype::uint8 && its->dtype != dtype::uint8 &&
        !reference.producer->op->has(trait::quantizing))
        return false;
    return mine != nullptr && its != nullptr && offset_between(mine->dtype, its->dtype) &&
        mine->elements() == its->elements();
}

// Finds the counterparts of layers by the names of the nodes from which lowered ones descend.
class counterpart_search {
public:
    explicit counterpart_search(const graph& reference) {
        note_owners(reference);
        for (const layer_value& layer : layer_values_of(reference)) add(layer.stored, *layer.real.producer);
        for (const node& n : reference.nodes()) {
            if (const auto* q = args_if<quantized_decomposed::quantize_per_tensor>(n))
                add({const_cast<node*>(&n), 0}, *q->input.producer);
        }
    }

    [[nodiscard]] std::vector<counterpart> run(const graph& lowered) && {
        for (const layer_value& layer : layer_values_of(lowered)) {
            const auto* from = layer.real.producer->find_annotation<provenance>();
            if (from != nullptr) enter(from->node_name, layer.real, true);
        }
        for (const node& n : lowered.nodes()) {
            if (is<builtin::placeholder>(n) || is<builtin::constant>(n)) continue;
            for (std::uint32_t i = 0; i != n.result_count; ++i)
                enter(n.results[i].name, {const_cast<node*>(&n), i}, false);
        }
        std::erase_if(found_, [](const counterpart& c) { return !c.lowered; });
        return std::move(found_);
    }

private:
    // Names that several nodes have, as those of a quantizer may, tell nothing.
    void note_owners(const graph& reference) {
        for (const node& n : reference.nodes()) {
            if (is_of_dialect<builtin::dialect>(n)) continue;
            for (std::uint32_t i = 0; i != n.result_count; ++i) note_owner(n.results[i].name, n);
            if (const auto* from = n.find_annotation<provenance>()) note_owner(from->node_name, n);
        }
    }
    void note_owner(std::string_view name, const node& n) {
        const auto [at, is_new] = owners_.try_emplace(name, &n);
        if (!is_new && at->second != &n) at->second = nullptr;
    }
    [[nodiscard]] bool is_unique(std::string_view name) const {
        const auto at = owners_.find(name);
        return !name.empty() && at != owners_.end() && at->second != nullptr;
    }

    void add(value stored, const node& layer) {
        if (is<builtin::placeholder>(*stored.producer)) return;
        std::string_view own = stored.producer->results[stored.result].name;
        const auto* from = stored.producer->find_annotation<provenance>();
        if (own.empty() && from != nullptr) own = from->node_name;
        const bool is_quantized = stored.producer != &layer;
        const bool has_name = is_unique(own) && named_.emplace(own, found_.size()).second;
        const bool is_of_layer = is_quantized && layer.result_count == 1 && is_unique(layer.name()) &&
            named_.emplace(layer.name(), found_.size()).second;
        if (!has_name && !is_of_layer) return;
        found_.push_back({.reference = stored, .layer = &layer});
    }
    // The last value of a name is the layer's result. Those before it may be its operands.
    void enter(std::string_view name, value v, bool is_layer) {
        const auto at = named_.find(name);
        if (at == named_.end()) return;
        counterpart& c = found_[at->second];
        if (!is_comparable(c.reference, v)) return;
        const std::optional<value> ordered = in_known_order(c.reference, v);
        if (c.lowered && c.is_ordered && !ordered && !is_layer) return;
        c.lowered = ordered.value_or(v);
        c.kernel = v.producer;
        c.is_ordered = ordered.has_value();
    }
    // Returns a value with the elements of `v`, maybe of another shape, which tells how they lie.
    static std::optional<value> in_known_order(value reference, value v) {
        for (;;) {
            if (!possible_orders(meta_of(reference)->shape, meta_of(v)->shape).empty()) return v;
            const auto uses = v.producer->uses();
            const auto move = std::ranges::find_if(uses, [](const edge& e) {
                return e.target->result_count == 1 &&
                    e.target->op->functional().has(trait::reshaping | trait::permuting);
            });
            if (move == uses.end()) return std::nullopt;
            v = move->target->result();
            if (!is_comparable(reference, v)) return std::nullopt;
        }
    }

    std::vector<counterpart> found_;
    std::unordered_map<std::string_view, std::size_t> named_;
    std::unordered_map<std::string_view, const node*> owners_;  // none for a name of several nodes
};

}  // namespace

std::optional<double> offset_between(dtype reference, dtype lowered) {
    if (reference == lowered) return 0;
    if (reference == dtype::uint8 && lowered == dtype::int8) return 128;
    if (is_floating(reference) && is_floating(lowered)) return 0;
    return std::nullopt;
}

std::vector<counterpart> counterparts_of(const graph& reference, const graph& lowered) {
    return counterpart_search(reference).run(lowered);
}

}  // namespace headrace
