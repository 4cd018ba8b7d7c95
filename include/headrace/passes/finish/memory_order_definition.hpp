// SPDX-License-Identifier: MIT
// Defines the functions of passes/finish/memory_order.hpp.
#ifndef HEADRACE_PASSES_FINISH_MEMORY_ORDER_DEFINITION_HPP
#define HEADRACE_PASSES_FINISH_MEMORY_ORDER_DEFINITION_HPP

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory_resource>
#include <numeric>
#include <optional>
#include <queue>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <headrace/base/compiled.hpp>
#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/ir/purity.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/ir/views.hpp>
#include <headrace/passes/finish/memory_order.hpp>

namespace headrace {

struct memory_order::part {
    struct item {
        std::uint64_t made, extra;
        std::uint64_t dead;  // bytes of results that nothing reads

        friend bool operator==(const item&, const item&) = default;
    };
    // A list of numbers for each item or buffer, all in one array.
    struct lists {
        numbers ends{}, all{};

        [[nodiscard]] std::span<const std::uint32_t> operator[](std::size_t i) const {
            const std::size_t begin = i == 0 ? 0 : ends[i - 1];
            return std::span(all).subspan(begin, ends[i] - begin);
        }
        void end_list() { ends.push_back(static_cast<std::uint32_t>(all.size())); }
        // Returns, for each of `count` numbers, the lists that contain it.
        [[nodiscard]] lists inverse(std::size_t count) const;
        friend bool operator==(const lists&, const lists&) = default;
    };
    std::uint64_t live = 0;
    pmr_vector<item> items{};
    // Buffers that are read here, and freed after their last reader.
    pmr_vector<std::uint64_t> buffer_bytes{};
    lists reads{}, sources{};  // by item
    lists users{};             // by item
    lists readers{};           // by buffer

    friend bool operator==(const part&, const part&) = default;

    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(items.size()); }
    // Returns the number of readers of each buffer.
    [[nodiscard]] numbers reader_counts() const {
        numbers counts(buffer_bytes.size());
        for (std::size_t b = 0; b != counts.size(); ++b)
            counts[b] = static_cast<std::uint32_t>(readers[b].size());
        return counts;
    }
    [[nodiscard]] std::uint64_t peak_of(const numbers& order) const;
    [[nodiscard]] numbers deepest_first() const;
    [[nodiscard]] numbers smallest_first() const;
};

HEADRACE_INLINE memory_order::part::lists memory_order::part::lists::inverse(std::size_t count) const {
    lists found{numbers(count), numbers(all.size())};
    for (const std::uint32_t held : all) ++found.ends[held];
    // `ends` holds where each list begins for now; filling a list advances it to the list's end.
    std::exclusive_scan(found.ends.begin(), found.ends.end(), found.ends.begin(), 0U);
    for (std::uint32_t i = 0; i != ends.size(); ++i) {
        for (const std::uint32_t held : (*this)[i]) found.all[found.ends[held]++] = i;
    }
    return found;
}

/// A part that was searched, and the order found: empty if no order has a lower peak.
struct memory_order::searched_part {
    part of;
    std::uint64_t below;
    std::optional<numbers> order;
    bool is_exact;  // no better order exists
};

struct memory_order::improvement {
    pmr_vector<searched_part> searched{};
    numbers places;  // by buffer: its index in the current part, or none
};

/// Best-first search over sets of executed nodes, lowest peak first. A node that raises neither the peak nor
/// the memory in use is executed at once: delaying it never helps.
struct memory_order::exact_search {
    static constexpr std::uint32_t max_size = 64;
    struct state {
        std::uint64_t done, live, peak;
        std::uint32_t from, item;
    };

    explicit exact_search(const part& of) : p(of), sources(of.items.size()), readers(of.buffer_bytes.size()) {
        for (std::size_t i = 0; i != sources.size(); ++i) sources[i] = set_of(p.sources[i]);
        for (std::size_t b = 0; b != readers.size(); ++b) readers[b] = set_of(p.readers[b]);
    }

    // Returns the best order with a peak below `below`, empty if none exists; nothing if it needs more
    // states.
    std::optional<numbers> run(std::uint64_t below, std::size_t& states_left) {
        const std::uint64_t all = ~std::uint64_t{0} >> (max_size - p.size());
        add({0, p.live, 0, none, none});
        while (!queue.empty()) {
            const std::uint32_t at = std::get<2>(queue.top());
            queue.pop();
            const bool is_done = states[at].done == all;
            if (is_done || states.size() > states_left) {
                states_left -= std::min(states_left, states.size());
                return is_done ? std::optional(order_to(at)) : std::nullopt;
            }
            expand(at, below);
        }
        states_left -= std::min(states_left, states.size());
        return numbers();
    }

private:
    static std::uint64_t set_of(std::span<const std::uint32_t> numbers) {
        std::uint64_t set = 0;
        for (const std::uint32_t n : numbers) set |= std::uint64_t{1} << n;
        return set;
    }
    void expand(std::uint32_t at, std::uint64_t below) {
        const state from = states[at];
        const std::size_t first = next.size();
        for (std::uint32_t i = 0; i != p.size(); ++i) {
            const std::uint64_t bit = std::uint64_t{1} << i;
            if ((from.done & bit) != 0 || (sources[i] & ~from.done) != 0) continue;
            const part::item& item = p.items[i];
            const std::uint64_t peak = std::max(from.peak, from.live + item.made + item.extra);
            std::uint64_t live = from.live + item.made - item.dead;
            for (const std::uint32_t b : p.reads[i]) {
                if ((readers[b] & ~(from.done | bit)) == 0) live -= p.buffer_bytes[b];
            }
            if (peak >= below) continue;
            const state to{from.done | bit, live, peak, at, i};
            if (peak == from.peak && live <= from.live) {
                next.resize(first);
                next.push_back(to);
                break;
            }
            next.push_back(to);
        }
        for (const state& s : next) add(s);
        next.clear();
    }
    void add(const state& s) {
        const auto [known, is_new] = peaks.try_emplace(s.done, s.peak);
        if (!is_new && known->second <= s.peak) return;
        known->second = s.peak;
        const std::uint32_t missing = max_size - static_cast<std::uint32_t>(std::popcount(s.done));
        queue.push({s.peak, missing, static_cast<std::uint32_t>(states.size())});
        states.push_back(s);
    }
    [[nodiscard]] numbers order_to(std::uint32_t at) const {
        numbers order;
        for (; states[at].from != none; at = states[at].from) order.push_back(states[at].item);
        std::reverse(order.begin(), order.end());
        return order;
    }

    using entry = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>;
    const part& p;
    pmr_vector<std::uint64_t> sources, readers;
    pmr_vector<state> states{}, next{};
    std::pmr::unordered_map<std::uint64_t, std::uint64_t> peaks{};
    std::priority_queue<entry, pmr_vector<entry>, std::greater<entry>> queue{};
};

HEADRACE_INLINE memory_order::memory_order(const graph& g)
    : positions_(g.id_bound(), none), first_buffers_(g.id_bound(), none) {
    read(g);
    if (!is_free_) return;
    add_segments();
    need_ = {input_bytes_, input_bytes_};
    for (const segment& s : segments_) {
        need_.peak = std::max(need_.peak, s.peak);
        need_.lower_bound = std::max(need_.lower_bound, s.lower_bound);
    }
}

HEADRACE_INLINE void memory_order::read(const graph& g) {
    const auto is_known_before = [](const node& n) {
        if (is<builtin::constant>(n) || is<tosa::const_>(n)) return true;
        const auto is_shape = [](const result_slot& r) { return r.meta && r.meta->dtype == dtype::shape; };
        return n.result_count != 0 && std::all_of(n.results, n.results + n.result_count, is_shape);
    };
    has_regions_ = !g.regions().empty();
    nodes_.reserve(g.size());
    steps_.reserve(g.size());
    buffers_.reserve(g.size());
    for (numbers* all : {&reads_, &sources_, &marks_}) all->reserve(g.size());
    for (const node& n : g.inputs()) add_results(n, none);
    for (const buffer& b : buffers_) input_bytes_ += b.bytes;
    for (const node& n : g.nodes()) {
        if (is<builtin::placeholder>(n) || is<builtin::output>(n) || is_known_before(n)) continue;
        if (is_free_) read_node(n);
    }
    if (g.output() == nullptr) is_free_ = false;
    if (!is_free_) return;
    for (const value v : g.outputs()) {
        const std::uint32_t first = first_buffers_[v.producer->id];
        if (first != none) buffers_[first + v.result].is_kept = true;
    }
}

HEADRACE_INLINE void memory_order::add_results(const node& n, std::uint32_t maker) {
    first_buffers_[n.id] = static_cast<std::uint32_t>(buffers_.size());
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        const auto& meta = n.results[i].meta;
        if (!meta) is_free_ = false;
        buffers_.push_back(
            {.bytes = meta ? packed_bytes(*meta) : 0, .maker = maker, .last = maker == none ? 0 : maker + 1});
    }
}

HEADRACE_INLINE void memory_order::read_node(const node& n) {
    const bool may_move = is_pure(n) || (holds_regions(*n.op) && !has_effects(n));
    const bool is_local =
        !has_regions_ || !any_of(n.uses(), [&](const edge& e) { return e.target->owner != n.owner; });
    is_free_ = may_move && is_local && !n.op->has(trait::writes_out);
    if (!is_free_) return;
    const auto at = static_cast<std::uint32_t>(nodes_.size());
    step s{.first_read = static_cast<std::uint32_t>(reads_.size()),
        .first_source = static_cast<std::uint32_t>(sources_.size())};
    for (const edge& e : n.operand_edges()) {
        const value v = *e.slot;
        const std::uint32_t source = positions_[v.producer->id];
        const auto begin = sources_.begin() + s.first_source;
        if (source != none && std::find(begin, sources_.end(), source) == sources_.end())
            sources_.push_back(source);
        const std::uint32_t first = first_buffers_[v.producer->id];
        if (first == none) continue;
        const std::uint32_t read = first + v.result;
        marks_.resize(buffers_.size(), none);
        if (marks_[read] == at) continue;
        marks_[read] = at;
        reads_.push_back(read);
        buffers_[read].last = at + 1;
    }
    for_each_region(n, [&](const field_info&, const graph* region) {
        if (region != nullptr) s.extra = std::max(s.extra, memory_order(*region).need().peak);
    });
    s.read_count = static_cast<std::uint32_t>(reads_.size()) - s.first_read;
    s.source_count = static_cast<std::uint32_t>(sources_.size()) - s.first_source;
    s.first_buffer = static_cast<std::uint32_t>(buffers_.size());
    if (is_view(n)) {
        const value from = n.operand(0);
        const std::uint32_t first = first_buffers_[from.producer->id];
        if (first != none) first_buffers_[n.id] = first + from.result;
    } else {
        add_results(n, at);
    }
    s.buffer_count = static_cast<std::uint32_t>(buffers_.size()) - s.first_buffer;
    for (std::uint32_t b = 0; b != s.buffer_count; ++b) s.made += buffers_[s.first_buffer + b].bytes;
    positions_[n.id] = at;
    nodes_.push_back(const_cast<node*>(&n));
    steps_.push_back(s);
}

/// A node is a cut if all nodes before it lead to it (nodes up to it have a single end), and if it leads to
/// all nodes after it (these have a single beginning).
HEADRACE_INLINE pmr_vector<bool> memory_order::cuts() const {
    const std::size_t count = steps_.size();
    pmr_vector<bool> has_user(count), is_cut(count);
    numbers latest_source_of(count);  // by node: for how many nodes it is the last source
    std::size_t ends = 0, beginnings = 0;
    for (std::size_t i = 0; i != count; ++i) {
        ++ends;
        std::uint32_t latest = none;
        for (std::uint32_t k = 0; k != steps_[i].source_count; ++k) {
            const std::uint32_t source = sources_[steps_[i].first_source + k];
            if (!has_user[source]) --ends;
            has_user[source] = true;
            latest = latest == none ? source : std::max(latest, source);
        }
        if (latest != none) ++latest_source_of[latest];
        is_cut[i] = ends == 1;
    }
    for (std::size_t i = count; i-- != 0;) {
        beginnings = beginnings + 1 - latest_source_of[i];
        is_cut[i] = is_cut[i] && beginnings == 1;
    }
    return is_cut;
}

HEADRACE_INLINE void memory_order::add_segments() {
    const pmr_vector<bool> is_cut = cuts();
    std::uint64_t live = 0;
    for (const buffer& b : buffers_) {
        if (b.maker == none && (b.last != 0 || b.is_kept)) live += b.bytes;
    }
    segment s{.live = live};
    for (std::uint32_t i = 0; i != steps_.size(); ++i) {
        const step& at = steps_[i];
        live += at.made;
        s.peak = std::max(s.peak, live + at.extra);
        const auto leave = [&](const buffer& b) {
            if (b.last == i + 1 && !b.is_kept) live -= b.bytes;
        };
        for (std::uint32_t k = 0; k != at.read_count; ++k) leave(buffers_[reads_[at.first_read + k]]);
        for (std::uint32_t k = 0; k != at.buffer_count; ++k) leave(buffers_[at.first_buffer + k]);
        if (!is_cut[i] && i + 1 != steps_.size()) continue;
        s.end = i + 1;
        s.lower_bound = bound_of(s);
        segments_.push_back(s);
        s = {.begin = i + 1, .live = live};
    }
}

HEADRACE_INLINE bool memory_order::is_made_in(const buffer& b, const segment& s) const {
    return b.maker != none && b.maker >= s.begin;
}
HEADRACE_INLINE bool memory_order::is_freed_in(const buffer& b, const segment& s) const {
    return !b.is_kept && b.last <= s.end;
}

/// Returns a lower bound of the peak: the bytes live throughout the segment, plus the largest sum that a
/// single node reads and makes.
HEADRACE_INLINE std::uint64_t memory_order::bound_of(const segment& s) const {
    if (s.end - s.begin == 1) return s.peak;
    std::uint64_t throughout = s.live;
    std::uint64_t most = 0;
    for (std::uint32_t i = s.begin; i != s.end; ++i) {
        const step& at = steps_[i];
        std::uint64_t own = at.made + at.extra;
        for (std::uint32_t k = 0; k != at.read_count; ++k) {
            const buffer& b = buffers_[reads_[at.first_read + k]];
            const bool is_made = is_made_in(b, s);
            if (is_made || is_freed_in(b, s)) own += b.bytes;
            if (!is_made && b.last == i + 1 && is_freed_in(b, s)) throughout -= b.bytes;
        }
        most = std::max(most, own);
    }
    return throughout + most;
}

HEADRACE_INLINE memory_order::part memory_order::part_of(const segment& s, numbers& places) const {
    part p{.live = s.live};
    for (std::uint32_t i = s.begin; i != s.end; ++i) {
        const step& at = steps_[i];
        part::item& item = p.items.emplace_back(part::item{.made = at.made, .extra = at.extra, .dead = 0});
        for (std::uint32_t k = 0; k != at.buffer_count; ++k) {
            const buffer& b = buffers_[at.first_buffer + k];
            if (b.last == i + 1 && !b.is_kept) item.dead += b.bytes;
        }
        for (std::uint32_t k = 0; k != at.read_count; ++k) {
            const std::uint32_t read = reads_[at.first_read + k];
            if (!is_freed_in(buffers_[read], s)) continue;
            if (places[read] == none) {
                places[read] = static_cast<std::uint32_t>(p.buffer_bytes.size());
                p.buffer_bytes.push_back(buffers_[read].bytes);
            }
            p.reads.all.push_back(places[read]);
        }
        p.reads.end_list();
        for (std::uint32_t k = 0; k != at.source_count; ++k) {
            const std::uint32_t source = sources_[at.first_source + k];
            if (source >= s.begin) p.sources.all.push_back(source - s.begin);
        }
        p.sources.end_list();
    }
    for (std::uint32_t i = s.begin; i != s.end; ++i) {
        for (std::uint32_t k = 0; k != steps_[i].read_count; ++k)
            places[reads_[steps_[i].first_read + k]] = none;
    }
    p.users = p.sources.inverse(p.items.size());
    p.readers = p.reads.inverse(p.buffer_bytes.size());
    return p;
}

HEADRACE_INLINE std::uint64_t memory_order::part::peak_of(const numbers& order) const {
    numbers left = reader_counts();
    std::uint64_t now = live, peak = 0;
    for (const std::uint32_t i : order) {
        now += items[i].made;
        peak = std::max(peak, now + items[i].extra);
        now -= items[i].dead;
        for (const std::uint32_t b : reads[i]) {
            if (--left[b] == 0) now -= buffer_bytes[b];
        }
    }
    return peak;
}

/// Depth first, as if the nodes were a tree: the operand that needs the most memory beyond its result is
/// computed first, before the results of the others exist.
HEADRACE_INLINE memory_order::numbers memory_order::part::deepest_first() const {
    pmr_vector<std::uint64_t> needs(items.size());
    lists ordered = sources;
    for (std::uint32_t i = 0; i != size(); ++i) {
        const auto beyond = [&](std::uint32_t s) { return needs[s] - items[s].made; };
        const std::span<std::uint32_t> own =
            std::span(ordered.all).subspan(ordered.ends[i] - sources[i].size(), sources[i].size());
        std::sort(own.begin(), own.end(), [&](std::uint32_t a, std::uint32_t b) {
            return beyond(a) != beyond(b) ? beyond(a) > beyond(b) : a < b;
        });
        std::uint64_t held = 0;
        for (const std::uint32_t s : own) {
            needs[i] = std::max(needs[i], held + needs[s]);
            held += items[s].made;
        }
        needs[i] = std::max(needs[i], held + items[i].made + items[i].extra);
    }
    numbers order, path, next(items.size());
    pmr_vector<bool> placed(items.size());
    for (std::uint32_t end = 0; end != size(); ++end) {
        if (!users[end].empty()) continue;
        path.push_back(end);
        while (!path.empty()) {
            const std::uint32_t at = path.back();
            if (next[at] != ordered[at].size()) {
                const std::uint32_t source = ordered[at][next[at]++];
                if (!placed[source]) path.push_back(source);
                continue;
            }
            path.pop_back();
            if (!placed[at]) order.push_back(at);
            placed[at] = true;
        }
    }
    return order;
}

/// Greedily: of the nodes that are ready, takes the one after which the least memory is in use.
HEADRACE_INLINE memory_order::numbers memory_order::part::smallest_first() const {
    using entry = std::pair<std::int64_t, std::uint32_t>;
    std::priority_queue<entry, pmr_vector<entry>, std::greater<entry>> ready;
    numbers missing(items.size()), left = reader_counts(), order;
    pmr_vector<bool> placed(items.size());
    const auto add = [&](std::uint32_t i) {
        auto growth = static_cast<std::int64_t>(items[i].made - items[i].dead);
        for (const std::uint32_t b : reads[i]) {
            if (left[b] == 1) growth -= static_cast<std::int64_t>(buffer_bytes[b]);
        }
        ready.push({growth, i});
    };
    for (std::uint32_t i = 0; i != size(); ++i) {
        missing[i] = static_cast<std::uint32_t>(sources[i].size());
        if (missing[i] == 0) add(i);
    }
    while (!ready.empty()) {
        const std::uint32_t at = ready.top().second;
        ready.pop();
        if (placed[at]) continue;  // it was placed before, with a smaller growth
        placed[at] = true;
        order.push_back(at);
        for (const std::uint32_t b : reads[at]) {
            if (--left[b] != 1) continue;
            for (const std::uint32_t u : readers[b]) {
                if (!placed[u] && missing[u] == 0) add(u);
            }
        }
        for (const std::uint32_t u : users[at]) {
            if (--missing[u] == 0) add(u);
        }
    }
    return order;
}

/// Searches for an order whose peak is below `below`.
HEADRACE_INLINE memory_order::searched_part memory_order::search(part p, std::uint64_t below) {
    if (p.size() <= exact_search::max_size && states_left_ != 0) {
        if (auto found = exact_search(p).run(below, states_left_)) {
            const bool is_exact = states_left_ != 0;
            return {std::move(p), below, std::move(found), is_exact};
        }
    }
    std::optional<numbers> best;
    std::uint64_t peak = below;
    for (numbers order : {p.deepest_first(), p.smallest_first()}) {
        const std::uint64_t reached = p.peak_of(order);
        if (reached >= peak) continue;
        peak = reached;
        best = std::move(order);
    }
    return {std::move(p), below, std::move(best), false};
}

/// Networks repeat their blocks: the order found for one of the last few parts is reused for an equal part.
HEADRACE_INLINE bool memory_order::improve(segment& s, improvement& so_far) {
    constexpr std::size_t max_kept = 8;
    auto& searched = so_far.searched;
    part p = part_of(s, so_far.places);
    auto known = std::find_if(searched.begin(), searched.end(),
        [&](const searched_part& k) { return k.below == s.peak && k.of == p; });
    if (known == searched.end()) {
        if (searched.size() == max_kept) searched.erase(searched.begin());
        searched.push_back(search(std::move(p), s.peak));
        known = std::prev(searched.end());
    }
    const bool is_better = known->order && !known->order->empty();
    if (is_better) {
        const auto first = nodes_.begin() + s.begin;
        const pmr_vector<node*> old(first, nodes_.begin() + s.end);
        for (std::size_t i = 0; i != old.size(); ++i)
            first[static_cast<std::ptrdiff_t>(i)] = old[(*known->order)[i]];
        s.peak = known->of.peak_of(*known->order);
    }
    if (known->is_exact) s.lower_bound = s.peak;
    return is_better;
}

HEADRACE_INLINE bool memory_order::improve() {
    if (!is_free_) return false;
    pmr_vector<segment*> fullest;
    for (segment& s : segments_) fullest.push_back(&s);
    std::stable_sort(
        fullest.begin(), fullest.end(), [](const segment* a, const segment* b) { return a->peak > b->peak; });
    const pmr_vector<node*> old = nodes_;
    std::uint64_t peak = need_.lower_bound;
    improvement so_far{.places = numbers(buffers_.size(), none)};
    for (segment* s : fullest) {
        if (s->peak <= peak) break;
        const bool is_better = improve(*s, so_far);
        peak = std::max(peak, s->peak);
        need_.lower_bound = std::max(need_.lower_bound, s->lower_bound);
        if (!is_better) break;  // the other segments need no more than this
    }
    const bool gained = peak < need_.peak;
    if (!gained) nodes_ = old;
    need_.peak = std::min(peak, need_.peak);
    return gained;
}

}  // namespace headrace

#endif
