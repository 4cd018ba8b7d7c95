// SPDX-License-Identifier: MIT
// Defines headrace::memory_plan, a place in memory for each tensor of a graph, headrace::make_memory_plan and
// headrace::verify_plan.
#ifndef HEADRACE_MEMORY_MEMORY_PLAN_HPP
#define HEADRACE_MEMORY_MEMORY_PLAN_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/error.hpp>
#include <headrace/base/text.hpp>
#include <headrace/ir/meta_text.hpp>
#include <headrace/memory/liveness.hpp>

namespace headrace {

/// Which gap between tensors that lie already the next one gets. `greedy`: the first that is large enough,
/// counted from the beginning. `best_fit`: the smallest.
enum class planning_algorithm : std::uint8_t { greedy, best_fit };

[[nodiscard]] constexpr std::string_view name_of(planning_algorithm a) {
    return a == planning_algorithm::greedy ? "greedy" : "best_fit";
}

struct planning_options {
    planning_algorithm algorithm = planning_algorithm::greedy;
    std::uint64_t alignment = 16;  ///< of each tensor, a power of two
    bool place_inputs = true;      ///< if not, the caller brings the memory of the graph's inputs
    bool place_outputs = true;     ///< if not, that of its outputs
    std::uint64_t (*bytes_of)(const tensor_meta& meta) = &packed_bytes;
};

struct planned_tensor : live_tensor {
    std::uint64_t bytes = 0;
    std::uint64_t offset = 0;
    bool is_placed = true;  ///< false for inputs and outputs that the caller brings
};

struct planned_memory {
    const graph* owner = nullptr;   ///< the whole graph, or a delegate's
    std::uint64_t bytes = 0;        ///< the peak: the end of the tensor that lies highest
    std::uint64_t lower_bound = 0;  ///< the largest sum of tensors that are live at one step
    std::uint32_t fullest_step = 0;
};

/// A place for each tensor, such that two tensors share bytes only if one is no longer needed when the other
/// is made.
struct memory_plan {
    planning_options options{};
    liveness lifetimes;
    std::pmr::vector<planned_tensor> tensors{};  ///< parallel to `lifetimes.tensors()`
    std::pmr::vector<planned_memory> memories{};

    /// Where a value lies, or null if the plan has no memory for it.
    [[nodiscard]] const planned_tensor* find(value v) const {
        const auto position = lifetimes.tensor_of(v);
        return position && tensors[*position].is_placed ? &tensors[*position] : nullptr;
    }
};

namespace detail {

struct memory_block {
    std::uint64_t bytes = 0;  // up to the next aligned address
    std::uint32_t first = 0;
    std::uint32_t last = 0;

    [[nodiscard]] std::uint64_t length() const { return std::uint64_t{last} - first + 1; }
};

/// Places blocks one after the other, in various orders, and keeps the best. No order suits all graphs; where
/// none of a few reaches the bound, exchanges of turns improve the best.
class block_packer {
public:
    block_packer(std::pmr::vector<memory_block> blocks, planning_algorithm algorithm)
        : blocks_(std::move(blocks)), algorithm_(algorithm) {
        find_neighbours();
        find_bound();
    }

    [[nodiscard]] std::uint64_t bound() const { return bound_; }

    [[nodiscard]] std::pmr::vector<std::uint64_t> pack() {
        for (const order_type& order : {by_size(), by_area(), by_breadth(), by_length(), by_start()}) {
            if (attempt(order) == bound_) return best_;
        }
        advance_top();
        exchange_turns();
        return best_;
    }

private:
    using order_type = std::pmr::vector<std::size_t>;

    // Which blocks live at the same time: a sweep over starts meets each pair once.
    void find_neighbours() {
        neighbours_.resize(blocks_.size());
        order_type active;
        for (const std::size_t i : sorted([&](std::size_t k) { return std::array{blocks_[k].first}; })) {
            if (blocks_[i].bytes == 0) continue;
            std::erase_if(active, [&](std::size_t k) { return blocks_[k].last < blocks_[i].first; });
            for (const std::size_t k : active) {
                neighbours_[i].push_back(k);
                neighbours_[k].push_back(i);
            }
            active.push_back(i);
        }
    }
    void find_bound() {
        std::uint32_t steps = 0;
        for (const memory_block& b : blocks_) steps = std::max(steps, b.last + 1);
        std::pmr::vector<std::uint64_t> change(steps + std::size_t{1});  // modulo 2^64: sums come out right
        for (const memory_block& b : blocks_) {
            change[b.first] += b.bytes;
            change[b.last + std::size_t{1}] -= b.bytes;
        }
        std::partial_sum(change.begin(), change.end(), change.begin());
        live_ = std::move(change);
        bound_ = *std::max_element(live_.begin(), live_.end());
    }

    // --- orders ------------------------------------------------------------------------

    // Ascending by key, and by position where keys are equal.
    template <class Key>
    [[nodiscard]] order_type sorted(Key&& key) const {
        order_type order(blocks_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::pmr::vector<decltype(key(0))> keys;
        for (const std::size_t i : order) keys.push_back(key(i));
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
        return order;
    }
    [[nodiscard]] order_type by_size() const {
        return sorted([&](std::size_t i) { return std::array{~blocks_[i].bytes, ~blocks_[i].length()}; });
    }
    [[nodiscard]] order_type by_area() const {
        const auto area = [](const memory_block& b) {
            return static_cast<double>(b.bytes) * static_cast<double>(b.length());
        };
        return sorted([&](std::size_t i) { return -area(blocks_[i]); });
    }
    [[nodiscard]] order_type by_length() const {
        return sorted([&](std::size_t i) { return std::array{~blocks_[i].length(), ~blocks_[i].bytes}; });
    }
    [[nodiscard]] order_type by_start() const {
        return sorted([&](std::size_t i) {
            return std::array{std::uint64_t{blocks_[i].first}, ~blocks_[i].bytes};
        });
    }
    // What lives at the fullest step first.
    [[nodiscard]] order_type by_breadth() const {
        return sorted([&](std::size_t i) {
            const auto from = live_.begin() + blocks_[i].first;
            const auto to = live_.begin() + blocks_[i].last + 1;
            return std::array{~*std::max_element(from, to), ~blocks_[i].bytes};
        });
    }

    // --- placing -----------------------------------------------------------------------

    // Places all in that order. Returns the peak.
    std::uint64_t attempt(const order_type& order) {
        offsets_.assign(blocks_.size(), unplaced);
        std::uint64_t peak = 0;
        for (const std::size_t i : order) {
            offsets_[i] = place_for(i);
            peak = std::max(peak, offsets_[i] + blocks_[i].bytes);
        }
        if (best_order_.empty() || peak < best_peak_) {
            best_peak_ = peak;
            best_ = offsets_;
            best_order_ = order;
        }
        return peak;
    }
    [[nodiscard]] std::uint64_t place_for(std::size_t i) {
        taken_.clear();
        for (const std::size_t k : neighbours_[i]) {
            if (offsets_[k] != unplaced) taken_.emplace_back(offsets_[k], offsets_[k] + blocks_[k].bytes);
        }
        std::sort(taken_.begin(), taken_.end());
        std::uint64_t end = 0;  // of what lies lower
        std::uint64_t best = unplaced;
        std::uint64_t smallest = unplaced;
        for (const auto& [from, to] : taken_) {
            const std::uint64_t gap = from > end ? from - end : 0;
            if (gap >= blocks_[i].bytes && gap != 0 && gap < smallest) {
                best = end;
                smallest = algorithm_ == planning_algorithm::greedy ? 0 : gap;
            }
            end = std::max(end, to);
        }
        return best == unplaced ? end : best;
    }

    // From the best order on, what ends at the peak is placed before the first block that it meets, so that
    // it may take that one's place.
    void advance_top() {
        constexpr int most = 48;
        order_type order = best_order_;
        for (int round = 0; round != most && best_peak_ != bound_; ++round) {
            const std::uint64_t peak = attempt(order);
            const auto top = std::find(order.begin(), order.end(), ending_at(offsets_, peak).front());
            const auto first = std::find_if(order.begin(), top, [&](std::size_t i) {
                return std::find(neighbours_[*top].begin(), neighbours_[*top].end(), i) !=
                       neighbours_[*top].end();
            });
            std::rotate(first, top, top + 1);
        }
    }
    // From the best order on, two blocks at a time change turns: one that lies at the peak or meets one that
    // does, and one that it meets. What does not raise the peak is kept, so that the walk crosses plateaus.
    void exchange_turns() {
        order_type order = best_order_;
        order_type turns(order.size());
        for (std::size_t turn = 0; turn != order.size(); ++turn) turns[order[turn]] = turn;
        std::uint64_t current = best_peak_;
        order_type at_top = ending_at(best_, current);
        for (std::size_t round = rounds(); round != 0 && best_peak_ != bound_; --round) {
            std::size_t one = at_top[next_random() % at_top.size()];
            if (neighbours_[one].empty()) return;
            if (next_random() % 2 == 0) one = any_neighbour(one);
            const std::size_t other = any_neighbour(one);
            const auto exchange = [&] {
                std::swap(order[turns[one]], order[turns[other]]);
                std::swap(turns[one], turns[other]);
            };
            exchange();
            const std::uint64_t peak = attempt(order);
            if (peak > current) {
                exchange();
            } else {
                current = peak;
                at_top = ending_at(offsets_, peak);
            }
        }
    }
    // As many as cost about as much for every graph.
    [[nodiscard]] std::size_t rounds() const {
        constexpr std::size_t budget = 500'000;
        std::size_t visits = blocks_.size();
        for (const order_type& n : neighbours_) visits += n.size();
        return std::clamp<std::size_t>(budget / (visits + 1), 8, 4000);
    }
    [[nodiscard]] order_type ending_at(const std::pmr::vector<std::uint64_t>& offsets,
                                       std::uint64_t end) const {
        order_type found;
        for (std::size_t i = 0; i != blocks_.size(); ++i) {
            if (offsets[i] + blocks_[i].bytes == end) found.push_back(i);
        }
        return found;
    }
    [[nodiscard]] std::size_t any_neighbour(std::size_t i) {
        return neighbours_[i][next_random() % neighbours_[i].size()];
    }
    // Xorshift, from a fixed seed: the same graph gives the same plan everywhere.
    std::size_t next_random() {
        state_ ^= state_ << 13U;
        state_ ^= state_ >> 7U;
        state_ ^= state_ << 17U;
        return static_cast<std::size_t>(state_ >> 16U);
    }

    static constexpr std::uint64_t unplaced = ~std::uint64_t{0};

    std::pmr::vector<memory_block> blocks_;
    planning_algorithm algorithm_;
    std::pmr::vector<order_type> neighbours_;
    std::pmr::vector<std::uint64_t> live_;  // bytes at each step
    std::uint64_t bound_ = 0;
    std::pmr::vector<std::uint64_t> offsets_;
    std::pmr::vector<std::pair<std::uint64_t, std::uint64_t>> taken_;
    std::pmr::vector<std::uint64_t> best_;
    order_type best_order_;
    std::uint64_t best_peak_ = 0;
    std::uint64_t state_ = 0x9E3779B97F4A7C15U;
};

[[nodiscard]] inline std::pmr::string tensor_text(const planned_tensor& t) {
    const node& n = *t.tensor.producer;
    std::pmr::string name(n.results[t.tensor.result].name);
    if (name.empty()) name = "result " + number_text(t.tensor.result) + " of node " + number_text(n.id);
    return "'" + name + "' of " + std::pmr::string(n.op->name) + " at bytes " + number_text(t.offset) +
           " to " + number_text(t.offset + t.bytes) + ", steps " + number_text(t.first) + " to " +
           number_text(t.last);
}

/// The sizes of all tensors.
[[nodiscard]] inline result<std::pmr::vector<planned_tensor>> measure(const liveness& lifetimes,
                                                                      const planning_options& options) {
    constexpr std::int64_t most = std::int64_t{1} << 48;
    std::pmr::vector<planned_tensor> tensors;
    for (const live_tensor& live : lifetimes.tensors()) {
        const node& n = *live.tensor.producer;
        const tensor_meta* const meta = meta_of(live.tensor);
        if (meta == nullptr || meta->dtype == dtype::unknown)
            return invalid(std::pmr::string(origin_name(n)) + " (" + std::pmr::string(n.op->name) +
                           "): a tensor of unknown type has no size; infer its metadata first");
        if (meta->checked_elements().value_or(most) >= most)
            return invalid(std::pmr::string(origin_name(n)) + " (" + std::pmr::string(n.op->name) +
                           "): the tensor is too large: " + meta_text(*meta));
        const bool is_placed =
            (options.place_inputs || !live.is_input) && (options.place_outputs || !live.is_output);
        tensors.push_back({live, options.bytes_of(*meta), 0, is_placed});
    }
    return tensors;
}

// The largest sum of live bytes over all steps, and its first step.
inline void measure_bound(std::span<const planned_tensor> tensors, std::uint32_t memory, std::uint32_t steps,
                          planned_memory& m) {
    std::pmr::vector<std::uint64_t> live(steps + std::size_t{1});
    for (const planned_tensor& t : tensors) {
        if (t.memory != memory || !t.is_placed) continue;
        live[t.first] += t.bytes;
        live[t.last + std::size_t{1}] -= t.bytes;
    }
    std::partial_sum(live.begin(), live.end(), live.begin());
    const auto fullest = std::max_element(live.begin(), live.end());
    m.lower_bound = *fullest;
    m.fullest_step = static_cast<std::uint32_t>(fullest - live.begin());
}

}  // namespace detail

/// Plans memory for every tensor that is not a constant. An error if the type of one is not known.
[[nodiscard]] inline result<memory_plan> make_memory_plan(const graph& g,
                                                          const planning_options& options = {}) {
    const std::uint64_t alignment = options.alignment;
    if (alignment == 0 || (alignment & (alignment - 1)) != 0)
        return invalid("the alignment of tensors must be a power of two, not " + number_text(alignment));
    memory_plan plan{.options = options, .lifetimes = liveness(g)};
    BOOST_OUTCOME_TRY(measured, detail::measure(plan.lifetimes, options));
    plan.tensors = std::move(measured);
    for (const graph* owner : plan.lifetimes.memories()) {
        const auto memory = static_cast<std::uint32_t>(plan.memories.size());
        planned_memory m{.owner = owner};
        std::pmr::vector<detail::memory_block> blocks;
        std::pmr::vector<planned_tensor*> placed;
        for (planned_tensor& t : plan.tensors) {
            if (t.memory != memory || !t.is_placed) continue;
            blocks.push_back({(t.bytes + alignment - 1) & ~(alignment - 1), t.first, t.last});
            placed.push_back(&t);
        }
        if (!blocks.empty()) {
            const auto offsets = detail::block_packer(std::move(blocks), options.algorithm).pack();
            for (std::size_t i = 0; i != placed.size(); ++i) {
                placed[i]->offset = offsets[i];
                m.bytes = std::max(m.bytes, offsets[i] + placed[i]->bytes);
            }
        }
        detail::measure_bound(plan.tensors, memory, plan.lifetimes.step_count(), m);
        plan.memories.push_back(m);
    }
    return plan;
}

/// Is the plan sound for that graph as it is now? Lifetimes are found anew. The error names the tensor that
/// lies wrong, or the two that overlap.
[[nodiscard]] inline result<void> verify_plan(const graph& g, const memory_plan& plan) {
    const liveness now(g);
    if (now.tensors().size() != plan.tensors.size())
        return invalid("the graph has " + number_text(now.tensors().size()) + " tensors, the plan " +
                       number_text(plan.tensors.size()));
    std::pmr::vector<const planned_tensor*> by_start;
    for (std::size_t i = 0; i != plan.tensors.size(); ++i) {
        const planned_tensor& t = plan.tensors[i];
        const live_tensor& live = now.tensors()[i];
        if (t.tensor != live.tensor || t.first != live.first || t.last != live.last ||
            t.memory != live.memory)
            return invalid("the graph has changed since it was planned, at tensor " + detail::tensor_text(t));
        const tensor_meta* const meta = meta_of(t.tensor);
        if (meta == nullptr || plan.options.bytes_of(*meta) != t.bytes)
            return invalid("the plan has another size for tensor " + detail::tensor_text(t));
        if (!t.is_placed || t.bytes == 0) continue;
        if (t.offset % plan.options.alignment != 0)
            return invalid("the plan does not align tensor " + detail::tensor_text(t));
        if (t.memory >= plan.memories.size() || t.offset > plan.memories[t.memory].bytes ||
            t.bytes > plan.memories[t.memory].bytes - t.offset)
            return invalid("the plan's memory does not hold tensor " + detail::tensor_text(t));
        by_start.push_back(&t);
    }
    std::stable_sort(by_start.begin(), by_start.end(),
                     [](const auto* a, const auto* b) { return a->first < b->first; });
    std::pmr::vector<const planned_tensor*> active;
    for (const planned_tensor* t : by_start) {
        std::erase_if(active, [&](const planned_tensor* other) { return other->last < t->first; });
        for (const planned_tensor* other : active) {
            const bool overlap = t->memory == other->memory && t->offset < other->offset + other->bytes &&
                                 other->offset < t->offset + t->bytes;
            if (overlap)
                return invalid("two tensors that live at the same time overlap: " +
                               detail::tensor_text(*other) + ", and " + detail::tensor_text(*t));
        }
        active.push_back(t);
    }
    return boost::outcome_v2::success();
}

}  // namespace headrace

#endif
