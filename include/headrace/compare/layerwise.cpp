// SPDX-License-Identifier: MIT
// Defines the functions of headrace/compare/layerwise.hpp.

#include <headrace/compare/layerwise.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <headrace/compare/computed_values.hpp>
#include <headrace/compare/layer_difference.hpp>
#include <headrace/compare/layer_runner.hpp>
#include <headrace/compare/layer_values.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>

namespace headrace {

namespace {

// A layer of the reference and what the lowered graph has computed for it.
struct counterpart {
    value reference;
    value lowered{};
    const node* layer = nullptr;  // of the reference; quantized by what computes `reference`
    bool is_ordered = false;      // the shapes tell how the elements lie
};

// True if a step of quantization is 1 in a value of the reference.
bool is_in_steps(value v) {
    const dtype type = meta_of(v)->dtype;
    return v.producer->op->has(trait::quantizing) || type == dtype::int8 || type == dtype::uint8;
}

// Returns the largest difference of a layer that is due to rounding.
double granted_difference(std::size_t roundings, bool in_steps) {
    constexpr std::size_t max_known = 8;  // after more of them, an error of one may have become any
    constexpr double relative = 1e-3;     // floats are added up in another order
    if (roundings > max_known || (!in_steps && roundings > 0)) return std::numeric_limits<double>::infinity();
    if (!in_steps) return relative;
    // A kernel for several layers, such as softmax, does not round between them, and scales what they round.
    const auto steps = static_cast<double>(std::max<std::size_t>(roundings, 1));
    return steps * steps;
}

// Returns what is added to the lowered graph's elements: its bytes are signed. Nothing if the elements do not
// stand for the same numbers.
std::optional<double> offset_between(dtype reference, dtype lowered) {
    if (reference == lowered) return 0;
    if (reference == dtype::uint8 && lowered == dtype::int8) return 128;
    if (is_floating(reference) && is_floating(lowered)) return 0;
    return std::nullopt;
}

double difference_of(double x, double y, bool in_steps) {
    if (x == y || (std::isnan(x) && std::isnan(y))) return 0;
    const double d = std::fabs(x - y) / (in_steps ? 1 : 1 + std::fabs(x));
    return std::isnan(d) ? std::numeric_limits<double>::infinity() : d;
}

double largest_difference(const tensor& reference, std::span<const double> numbers, bool in_steps) {
    double largest = 0;
    for (std::int64_t i = 0; i != reference.size(); ++i)
        largest = std::max(
            largest, difference_of(reference.real(i), numbers[static_cast<std::size_t>(i)], in_steps));
    return largest;
}

// The elements of a lowered layer in the order that fits the reference best; empty if no order is possible.
struct ordered_elements {
    std::vector<double> numbers{};
    double difference = std::numeric_limits<double>::infinity();
};

ordered_elements best_order(const tensor& reference, const tensor& computed, double offset, bool in_steps) {
    ordered_elements best;
    for (const element_order& order : possible_orders(reference.shape(), computed.shape())) {
        std::vector<double> numbers = elements_in_order(computed, order);
        for (double& x : numbers) x += offset;
        const double d = largest_difference(reference, numbers, in_steps);
        if (!best.numbers.empty() && d >= best.difference) continue;
        best = {std::move(numbers), d};
    }
    return best;
}

// Returns the least difference that any order of the elements gives, which is that of the sorted ones.
double difference_in_any_order(
    const tensor& reference, const tensor& computed, double offset, bool in_steps) {
    std::vector<double> mine = reference.to<double>();
    std::vector<double> its = computed.to<double>();
    for (double& x : its) x += offset;
    std::ranges::sort(mine);
    std::ranges::sort(its);
    double largest = 0;
    for (std::size_t i = 0; i != mine.size(); ++i)
        largest = std::max(largest, difference_of(mine[i], its[i], in_steps));
    return largest;
}

bool is_comparable(value reference, value lowered) {
    const tensor_meta* mine = meta_of(reference);
    const tensor_meta* its = meta_of(lowered);
    return mine != nullptr && its != nullptr && offset_between(mine->dtype, its->dtype) &&
        mine->elements() == its->elements();
}

// Counts the quantized layers since the last ones that were replaced.
class rounding_count {
public:
    explicit rounding_count(const graph& g) : next_(g.first()), counts_(g.id_bound()) {}

    // Returns the count of a node, which follows all that have been replaced.
    [[nodiscard]] std::size_t operator()(const node& n) {
        while (next_ != nullptr && !graph::is_before(n, *next_)) {
            count(*next_);
            next_ = next_->next;
        }
        return counts_[n.id];
    }
    void note_replaced(const node& n) { replaced_.insert(&n); }

private:
    void count(const node& n) {
        std::size_t before = 0;
        for (const edge& e : n.operand_edges())
            if (!replaced_.contains(e.source)) before = std::max(before, counts_[e.source->id]);
        counts_[n.id] = before + (n.op->has(trait::quantizing) ? 1 : 0);
    }
    const node* next_;
    std::vector<std::size_t> counts_;  // by id
    std::unordered_set<const node*> replaced_;
};

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
            if (from != nullptr) enter(from->node_name, layer.real);
        }
        for (const node& n : lowered.nodes()) {
            if (is<builtin::placeholder>(n) || is<builtin::constant>(n)) continue;
            for (std::uint32_t i = 0; i != n.result_count; ++i)
                enter(n.results[i].name, {const_cast<node*>(&n), i});
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
    // The last value of a name is the layer's result.
    void enter(std::string_view name, value v) {
        const auto at = named_.find(name);
        if (at == named_.end()) return;
        counterpart& c = found_[at->second];
        if (!is_comparable(c.reference, v)) return;
        const bool is_ordered = !possible_orders(meta_of(c.reference)->shape, meta_of(v)->shape).empty();
        if (c.lowered && c.is_ordered && !is_ordered) return;
        c.lowered = v;
        c.is_ordered = is_ordered;
    }

    std::vector<counterpart> found_;
    std::unordered_map<std::string_view, std::size_t> named_;
    std::unordered_map<std::string_view, const node*> owners_;  // none for a name of several nodes
};

}  // namespace

result<layerwise_comparison> compare_layerwise(
    const graph& reference, const graph& lowered, std::span<const tensor> inputs) {
    std::map<detail::result_key, counterpart> counterparts;
    std::vector<value> mine;
    std::vector<value> its;
    for (const counterpart& c : counterpart_search(reference).run(lowered)) {
        counterparts.emplace(detail::key_of(c.reference), c);
        mine.push_back(c.reference);
        its.push_back(c.lowered);
    }
    std::map<detail::result_key, tensor> computed;
    const layer_visitor keep = [&](value v, const tensor& t) { computed.emplace(detail::key_of(v), t); };
    HEADRACE_TRY(other_outputs, layer_runner(lowered, its).run(inputs, keep));
    rounding_count roundings(reference);
    layerwise_comparison made{.layers = {}, .outputs = {}, .other_outputs = std::move(other_outputs)};
    const layer_visitor replace = [&](value v, tensor& t) {
        const counterpart& c = counterparts.at(detail::key_of(v));
        const tensor& from = computed.at(detail::key_of(c.lowered));
        const double offset = *offset_between(t.type(), from.type());
        layerwise_difference& told = made.layers.emplace_back();
        told.name = std::string(c.layer->name());
        told.op = std::string(c.layer->op->name);
        told.other = std::string(c.lowered.producer->op->name);
        told.in_steps = is_in_steps(v);
        told.granted = granted_difference(roundings(*v.producer), told.in_steps);
        ordered_elements ordered = best_order(t, from, offset, told.in_steps);
        told.difference = ordered.difference;
        if (ordered.difference > told.granted || ordered.numbers.empty()) {
            told.difference = difference_in_any_order(t, from, offset, told.in_steps);
            told.is_moved = true;
        } else {
            t = tensor::of(t.type(), t.shape(), ordered.numbers);
            roundings.note_replaced(*v.producer);
        }
    };
    HEADRACE_TRY(outputs, layer_runner(reference, mine).run(inputs, replace));
    made.outputs = std::move(outputs);
    return made;
}

}  // namespace headrace
