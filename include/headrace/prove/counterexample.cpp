// SPDX-License-Identifier: MIT
// Defines the functions of headrace/prove/counterexample.hpp.

#include <headrace/prove/counterexample.hpp>

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/eval/evaluator.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/prove/analysis.hpp>
#include <headrace/prove/gradient.hpp>
#include <headrace/prove/query.hpp>

namespace headrace::prove {

namespace {

using eval::tensor;

// The ends of an input's range; floats are as large as float16 can be.
std::pair<double, double> ends_of(const node& input) {
    const interval range = declared_range(input);
    constexpr double most = 65504;
    if (!range.is_bounded()) return {-most, most};
    return {static_cast<double>(range.low), static_cast<double>(range.high)};
}
tensor tensor_of(const node& input, const std::vector<double>& numbers) {
    const tensor_meta& meta = *input.results[0].meta;
    eval::extents shape(meta.shape.begin(), meta.shape.end());
    if (is_floating(meta.dtype)) return tensor::of(meta.dtype, std::move(shape), numbers);
    std::vector<std::int64_t> integers(numbers.size());
    std::ranges::transform(numbers, integers.begin(), [](double x) {
        return x >= 9.2e18 ? INT64_MAX : x <= -9.2e18 ? INT64_MIN : static_cast<std::int64_t>(x);
    });
    return tensor::of(meta.dtype, std::move(shape), integers);
}
// The operands of which a claim is: what is pushed to an end.
std::size_t pushed_operand(const claim& c) {
    switch (c.kind) {
        case claim_kind::shift_amount:
        case claim_kind::divisor:
        case claim_kind::index:
            return 1;
        default:
            return 0;
    }
}
bool is_about_result(const claim& c) {
    return c.kind == claim_kind::accumulator || c.kind == claim_kind::arithmetic;
}

// Returns a number that an input should hold at first: an index of a TABLE's steepest line, or 1.
double hint_for(const claim& c) {
    if (c.kind != claim_kind::table_slope || !is_constant(*c.where->operand(1).producer)) return 1;
    const auto known = evaluate_node(*c.where->operand(1).producer, {});
    if (!known || known.value()[0].size() != 513) return 1;
    const std::vector<std::int64_t> table = known.value()[0].to<std::int64_t>();
    std::int64_t steepest = 0;
    for (std::size_t i = 0; i != 512; ++i) {
        const auto at = static_cast<std::size_t>(steepest);
        if (std::abs(table[i + 1] - table[i]) > std::abs(table[at + 1] - table[at]))
            steepest = static_cast<std::int64_t>(i);
    }
    return static_cast<double>((steepest - 256) * 128);
}

}  // namespace

counterexample_search::counterexample_search(const graph& g, clock::time_point end) : graph_(g), end_(end) {
    for (const node& n : g.inputs()) inputs_.push_back(&n);
}

std::vector<const node*> counterexample_search::ancestors(const node& n) const {
    std::unordered_set<const node*> met{&n};
    std::vector<const node*> found;
    for (const node* at = &n; at != nullptr; at = at->previous) {
        if (!met.contains(at)) continue;
        found.push_back(at);
        for (const edge& e : at->operand_edges()) met.insert(e.source);
    }
    std::ranges::reverse(found);
    return found;
}

// At first the same number everywhere in an input: all pairs of numbers in which integers tend to overflow.
std::vector<tensor> counterexample_search::filled(int attempt, double hint) {
    constexpr int special = 5;
    std::vector<tensor> all;
    std::uniform_real_distribution<double> any(0, 1);
    for (const node* input : inputs_) {
        const auto [low, high] = ends_of(*input);
        const double numbers[special] = {high, low, hint, -1, 0};
        const auto place = static_cast<int>(all.size());
        const int choice = place == 0 ? attempt % special
            : place == 1              ? attempt / special % special
                                      : static_cast<int>(any(random_) * special);
        std::vector<double> elements(static_cast<std::size_t>(input->results[0].meta->elements()));
        for (double& x : elements) {
            const double share = any(random_);
            x = attempt < special * special ? std::clamp(numbers[choice], low, high)
                                            : std::round(low + (high - low) * share);
        }
        all.push_back(tensor_of(*input, elements));
    }
    return all;
}

bool counterexample_search::run(
    const std::vector<const node*>& nodes, const std::vector<tensor>& inputs, values& known) const {
    for (std::size_t i = 0; i != inputs_.size(); ++i) known[inputs_[i]] = {inputs[i]};
    for (const node* n : nodes) {
        if (is<builtin::placeholder>(*n)) continue;
        if (n == nodes.back() || (is_constant(*n) && known.contains(n))) continue;
        auto done = evaluate_node(*n, operands_of(*n, known));
        if (!done) return false;
        known[n] = std::move(done).value();
    }
    return true;
}
std::vector<tensor> counterexample_search::operands_of(const node& n, const values& known) {
    std::vector<tensor> operands;
    for (const edge& e : n.operand_edges()) operands.push_back(known.at(e.source)[e.slot->result]);
    return operands;
}

std::vector<tensor> counterexample_search::pushed(const std::vector<const node*>& nodes, const claim& c,
    std::int64_t element, bool upward, const std::vector<tensor>& inputs, const values& known) const {
    std::unordered_map<const node*, element_weights> wanted;
    const auto add = [&](const node* n, const element_weights& weights) {
        element_weights& sum = wanted[n];
        if (sum.empty()) sum.resize(weights.size(), 0.0);
        for (std::size_t i = 0; i != weights.size(); ++i) sum[i] += weights[i];
    };
    const node& target = *nodes.back();
    const double sign = upward ? 1 : -1;
    if (is_about_result(c)) {
        element_weights one(static_cast<std::size_t>(target.results[0].meta->elements()), 0.0);
        one[static_cast<std::size_t>(element)] = sign;
        add(&target, one);
    } else {
        const node* const source = target.operand(pushed_operand(c)).producer;
        element_weights one(static_cast<std::size_t>(source->results[0].meta->elements()), 0.0);
        one[static_cast<std::size_t>(element) % one.size()] = sign;
        add(source, one);
    }
    for (std::size_t i = nodes.size(); i-- != 0;) {
        const auto at = wanted.find(nodes[i]);
        const bool ends = is<builtin::placeholder>(*nodes[i]) || is_constant(*nodes[i]);
        if (at == wanted.end() || ends || nodes[i]->result_count != 1) continue;
        const std::vector<tensor> operands = operands_of(*nodes[i], known);
        const std::vector<element_weights> back = pull_back(*nodes[i], operands, at->second);
        for (std::size_t k = 0; k != back.size(); ++k) {
            const node* const source = nodes[i]->operand(k).producer;
            if (!back[k].empty() && !is_constant(*source)) add(source, back[k]);
        }
    }
    std::vector<tensor> next = inputs;
    for (std::size_t i = 0; i != inputs_.size(); ++i) {
        const auto at = wanted.find(inputs_[i]);
        if (at == wanted.end()) continue;
        const auto [low, high] = ends_of(*inputs_[i]);
        std::vector<double> numbers = inputs[i].to<double>();
        for (std::size_t k = 0; k != numbers.size(); ++k) {
            if (at->second[k] != 0) numbers[k] = at->second[k] > 0 ? high : low;
        }
        next[i] = tensor_of(*inputs_[i], numbers);
    }
    return next;
}

std::optional<counterexample> counterexample_search::check(
    const claim& c, const std::vector<tensor>& inputs, const values& known) const {
    const std::optional<overflow> found = find_overflow(*c.where, c.kind, operands_of(*c.where, known));
    if (!found) return std::nullopt;
    return counterexample{inputs, *found};
}

std::optional<counterexample> counterexample_search::find(const claim& c) {
    constexpr int attempts = 40;
    constexpr int rounds = 3;
    if (c.where->owner != &graph_) return std::nullopt;
    const std::vector<const node*> nodes = ancestors(*c.where);
    for (const node* n : nodes) {
        if (holds_regions(*n->op) || is<tosa::variable_read>(*n) || is<tosa::custom>(*n)) return std::nullopt;
    }
    const bool upward = c.computed.high > c.allowed.high;
    const bool downward = c.computed.low < c.allowed.low;
    const double hint = hint_for(c);
    values known;
    for (int attempt = 0; attempt != attempts && clock::now() < end_; ++attempt) {
        std::vector<tensor> inputs = filled(attempt, hint);
        const bool up = upward && (!downward || attempt % 2 == 0);
        for (int round = 0; round <= rounds && clock::now() < end_; ++round) {
            if (!run(nodes, inputs, known)) break;
            if (auto found = check(c, inputs, known)) return found;
            const auto count = c.where->results[0].meta->elements();
            const std::int64_t width = std::max<std::int64_t>(
                1, c.where->results[0].meta->rank() == 0 ? 1 : c.where->results[0].meta->shape.back());
            if (count == 0) return std::nullopt;
            // An element in the middle of the plane, where no padding cuts the window.
            const std::int64_t row = count / width / 2;
            const std::int64_t element = row * width + static_cast<std::int64_t>(c.channel) % width;
            inputs = pushed(nodes, c, element, up, inputs, known);
        }
    }
    return std::nullopt;
}

}  // namespace headrace::prove
