// SPDX-License-Identifier: MIT
// Defines the functions of headrace/prove/refine.hpp.

#include <headrace/prove/refine.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <headrace/dialect/tosa.hpp>

namespace headrace::prove {

namespace {

// Elements of the result depend on those at the same position alone.
bool is_elementwise(const node& n) {
    using enum trait;
    return is_of_dialect<tosa::dialect>(n) && n.result_count == 1 && find_rule(*n.op) != nullptr &&
        n.op->has(unary | binary | ternary);
}

/// A node, and the elementwise ops that lead to it from tensors that they take.
struct cone {
    static constexpr std::size_t most_nodes = 256;

    std::vector<const node*> nodes{};  // in execution order
    std::vector<value> sources{};

    explicit cone(const node& n) {
        std::unordered_set<const node*> met{&n};
        for (const node* at = &n; at != nullptr && nodes.size() < most_nodes; at = at->previous) {
            if (!met.contains(at)) continue;
            nodes.push_back(at);
            for (const edge& e : at->operand_edges()) {
                if (is_constant(*e.source)) continue;
                if (is_elementwise(*e.source) && e.source->owner == n.owner) {
                    met.insert(e.source);
                } else if (std::ranges::find(sources, *e.slot) == sources.end()) {
                    sources.push_back(*e.slot);
                }
            }
        }
        std::ranges::reverse(nodes);
    }
};

/// The intervals that follow if the sources are in certain intervals.
class case_knowledge final : public knowledge {
public:
    case_knowledge(knowledge& outer, const node& target) : outer_(outer), target_(target) {}

    std::vector<claim> claims{};
    bool is_possible = true;  ///< if no number before the node overflows

    void assume(value v, const interval& i) { known_.insert_or_assign(v.producer, spread(i)); }
    [[nodiscard]] const spread& of(value v) override {
        const auto at = known_.find(v.producer);
        return at != known_.end() && v.result == 0 ? at->second : outer_.of(v);
    }
    [[nodiscard]] const eval::tensor* constant(value v) override { return outer_.constant(v); }
    void claimed(const claim& c) override {
        if (c.where == &target_) return claims.push_back(c);
        is_possible = is_possible && c.computed.low <= c.allowed.high && c.allowed.low <= c.computed.high;
    }
    spread visit(const node& n) {
        query q(n, *this);
        find_rule(*n.op)->apply(q);
        return known_.insert_or_assign(&n, q.results()[0]).first->second;
    }

private:
    knowledge& outer_;
    const node& target_;
    std::unordered_map<const node*, spread> known_{};
};

/// The intervals of one or two sources; the second may be unused.
using box = std::array<interval, 2>;

std::vector<interval> by_sign(const interval& all) {
    std::vector<interval> parts;
    if (all.low < 0) parts.push_back({all.low, std::min(all.high, bound{-1})});
    if (all.contains(bound{0})) parts.push_back(number(0));
    if (all.high > 0) parts.push_back({std::max(all.low, bound{1}), all.high});
    return parts;
}
bool is_whole(value v) { return is_integral(meta_of(v)->dtype) && v.result == 0; }

// Halves the longer side.
std::optional<std::pair<box, box>> halves(const box& whole) {
    const std::size_t side = whole[1].high - whole[1].low > whole[0].high - whole[0].low ? 1 : 0;
    if (whole[side].is_number()) return std::nullopt;
    std::pair<box, box> parts{whole, whole};
    const bound middle = wide::floor((whole[side].low + whole[side].high) / 2);
    parts.first[side].high = middle;
    parts.second[side].low = middle + 1;
    return parts;
}

/// Bounds a node box by box, halving those in which a claim fails.
class case_analysis {
public:
    case_analysis(const node& n, const cone& from, knowledge& known) : node_(n), from_(from), known_(known) {}

    void add(const box& first) { pending_.push_back(first); }
    [[nodiscard]] std::optional<refined_node> run() {
        while (!pending_.empty()) {
            const box next = pending_.back();
            pending_.pop_back();
            visit(next);
        }
        return std::move(found_);
    }

private:
    static constexpr int most_cases = 512;

    void visit(const box& sources) {
        ++cases_;
        case_knowledge one(known_, node_);
        for (std::size_t i = 0; i != from_.sources.size(); ++i) one.assume(from_.sources[i], sources[i]);
        spread result;
        for (const node* at : from_.nodes) result = one.visit(*at);
        if (!one.is_possible) return;
        const bool holds = std::ranges::all_of(one.claims, &claim::holds);
        const auto parts = holds || cases_ > most_cases ? std::nullopt : halves(sources);
        if (parts) {
            pending_.push_back(parts->first);
            pending_.push_back(parts->second);
            return;
        }
        if (!found_) found_.emplace(refined_node{{}, result});
        found_->result = joined(found_->result, result);
        for (const claim& c : one.claims) join(c);
    }
    // Joins what the cases say of a number.
    void join(const claim& c) {
        const auto same = std::ranges::find_if(found_->claims,
            [&](const claim& other) { return other.kind == c.kind && other.allowed == c.allowed; });
        if (same == found_->claims.end()) return found_->claims.push_back(c);
        same->computed = same->computed | c.computed;
    }

    const node& node_;
    const cone& from_;
    knowledge& known_;
    std::vector<box> pending_{};
    int cases_ = 0;
    std::optional<refined_node> found_{};
};

}  // namespace

std::optional<refined_node> refine(const node& n, knowledge& known) {
    if (!is_elementwise(n)) return std::nullopt;
    const cone from(n);
    const bool is_usable = !from.sources.empty() && from.sources.size() <= 2 &&
        from.nodes.size() < cone::most_nodes && std::ranges::all_of(from.sources, is_whole);
    if (!is_usable) return std::nullopt;
    case_analysis cases(n, from, known);
    const bool is_pair = from.sources.size() == 2;
    for (const interval& first : by_sign(known.of(from.sources[0]).all())) {
        const auto seconds = is_pair ? by_sign(known.of(from.sources[1]).all()) : std::vector{number(0)};
        for (const interval& second : seconds) cases.add({first, second});
    }
    return cases.run();
}

}  // namespace headrace::prove
