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
#include <span>
#include <string>
#include <unordered_set>
#include <utility>

#include <headrace/compare/computed_values.hpp>
#include <headrace/compare/counterparts.hpp>
#include <headrace/compare/layer_difference.hpp>
#include <headrace/compare/layer_runner.hpp>
#include <headrace/compare/softmax_chain.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/cortex_m.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>

namespace headrace {

namespace {

// True if a step of quantization is 1 in a value of the reference.
bool is_in_steps(value v) {
    const dtype type = meta_of(v)->dtype;
    return v.producer->op->has(trait::quantizing) || type == dtype::int8 || type == dtype::uint8;
}

constexpr std::size_t max_known_roundings = 8;  // after more of them, an error of one may have become any

// Returns the largest difference of a layer that is due to rounding.
double granted_difference(std::size_t roundings, bool in_steps) {
    constexpr double relative = 1e-3;  // floats are added up in another order
    if (roundings > max_known_roundings || (!in_steps && roundings > 0))
        return std::numeric_limits<double>::infinity();
    if (!in_steps) return relative;
    // A kernel for several layers, such as softmax, does not round between them, and scales what they round.
    const auto steps = static_cast<double>(std::max<std::size_t>(roundings, 1));
    return steps * steps;
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
    // Layers that read the node are computed from finer numbers in the lowered graph.
    void note_coarser(const node& n) { counts_[n.id] = max_known_roundings + 1; }

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

// Executes the reference, each layer of which reads what the lowered graph has computed.
class layerwise_run {
public:
    layerwise_run(const graph& reference, const graph& lowered) : reference_(reference), lowered_(lowered) {
        for (const counterpart& c : counterparts_of(reference, lowered)) {
            const auto softmax =
                is_by_softmax_kernel(*c.kernel) ? softmax_completed_by(*c.layer) : std::nullopt;
            if (softmax) operands_.emplace(detail::key_of(softmax->operand), tensor());
            counterparts_.emplace(detail::key_of(c.reference), found_layer{c, softmax});
        }
    }

    [[nodiscard]] result<layerwise_comparison> run(std::span<const tensor> inputs) && {
        std::vector<value> mine;
        std::vector<value> its;
        for (const auto& [key, found] : counterparts_) {
            mine.push_back(found.of.reference);
            its.push_back(found.of.lowered);
            if (found.softmax) mine.push_back(found.softmax->operand);
        }
        const layer_visitor keep = [this](
                                       value v, const tensor& t) { computed_.emplace(detail::key_of(v), t); };
        HEADRACE_TRY(other_outputs, layer_runner(lowered_, its).run(inputs, keep));
        const layer_visitor replace = [this](value v, tensor& t) {
            if (const auto at = counterparts_.find(detail::key_of(v)); at != counterparts_.end())
                compare(at->second, t);
            if (const auto at = operands_.find(detail::key_of(v)); at != operands_.end()) at->second = t;
        };
        HEADRACE_TRY(outputs, layer_runner(reference_, mine).run(inputs, replace));
        return layerwise_comparison{std::move(layers_), std::move(outputs), std::move(other_outputs)};
    }

private:
    struct found_layer {
        counterpart of;
        std::optional<softmax_chain> softmax{};  // by one kernel
    };

    // Compares a value of the reference, and replaces it.
    void compare(const found_layer& found, tensor& t) {
        const counterpart& c = found.of;
        const tensor& from = computed_.at(detail::key_of(c.lowered));
        layerwise_difference& told = layers_.emplace_back();
        told.name = std::string(c.layer->name());
        told.op = std::string(c.layer->op->name);
        told.other = std::string(c.kernel->op->name);
        told.in_steps = is_in_steps(c.reference);
        told.granted = granted_difference(roundings_(*c.reference.producer), told.in_steps);
        const double offset = *offset_between(t.type(), from.type());
        if (found.softmax && compare_softmax(found, t, from, told)) return;
        ordered_elements ordered = best_order(t, from, offset, told.in_steps);
        told.difference = ordered.difference;
        if (ordered.difference > told.granted || ordered.numbers.empty()) {
            told.difference = difference_in_any_order(t, from, offset, told.in_steps);
            told.is_moved = true;
        } else {
            t = tensor::of(t.type(), t.shape(), ordered.numbers);
            roundings_.note_replaced(*c.reference.producer);
        }
    }

    // A kernel for a whole softmax is as exact as its result allows, which the program's operators between
    // int8 tensors may not be: the softmax of real numbers is the reference.
    [[nodiscard]] bool compare_softmax(
        const found_layer& found, tensor& t, const tensor& from, layerwise_difference& told) {
        constexpr double unit = 1.0 / 256;   // of the kernel's result
        constexpr double granted_steps = 2;  // by the kernel, and by a table after it
        const counterpart& c = found.of;
        const auto* const q = args_if<quantized_decomposed::quantize_per_tensor>(*c.reference.producer);
        if (q == nullptr) return false;
        const auto in_range = [&](double x) {
            return std::clamp(x, static_cast<double>(q->quant_min), static_cast<double>(q->quant_max));
        };
        const tensor& x = operands_.at(detail::key_of(found.softmax->operand));
        std::vector<double> exact = softmax_along_rows(x);
        for (double& p : exact) p = in_range(p / q->scale + static_cast<double>(q->zero_point));
        tensor its = from;
        const auto* const kernel = args_if<cortex_m::softmax>(*c.kernel);
        if (kernel != nullptr) {
            std::vector<double> numbers = from.to<double>();
            for (double& number : numbers)
                number =
                    in_range((number - static_cast<double>(kernel->output_zero_point)) * unit / q->scale +
                        static_cast<double>(q->zero_point));
            its = tensor::of(dtype::float64, from.shape(), numbers);
        }
        const tensor expected = tensor::of(dtype::float64, t.shape(), exact);
        ordered_elements ordered = best_order(expected, its, 0, true);
        if (ordered.numbers.empty()) return false;
        told.granted = granted_steps * std::max(unit / q->scale, 1.0);
        told.difference = ordered.difference;
        if (told.is_wrong()) return true;
        for (double& number : ordered.numbers) number = std::nearbyint(number);
        t = tensor::of(t.type(), t.shape(), ordered.numbers);
        const bool is_same = kernel == nullptr ||
            (std::abs(q->scale / unit - 1) * 255 < 0.5 && q->zero_point == kernel->output_zero_point);
        if (is_same) {
            roundings_.note_replaced(*c.reference.producer);
        } else {
            roundings_.note_coarser(*c.reference.producer);
        }
        return true;
    }

    const graph& reference_;
    const graph& lowered_;
    std::map<detail::result_key, found_layer> counterparts_;
    std::map<detail::result_key, tensor> operands_;  // of softmaxes
    std::map<detail::result_key, tensor> computed_;  // by the lowered graph
    rounding_count roundings_{reference_};
    std::vector<layerwise_difference> layers_;
};

}  // namespace

result<layerwise_comparison> compare_layerwise(
    const graph& reference, const graph& lowered, std::span<const tensor> inputs) {
    return layerwise_run(reference, lowered).run(inputs);
}

}  // namespace headrace
