// SPDX-License-Identifier: MIT
// Defines the functions of memory/memory_order.hpp.
#ifndef HEADRACE_MEMORY_MEMORY_ORDER_DEFINITION_HPP
#define HEADRACE_MEMORY_MEMORY_ORDER_DEFINITION_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <headrace/base/compiled.hpp>
#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/memory.hpp>
#include <headrace/ir/purity.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/memory/liveness.hpp>
#include <headrace/memory/order_problem.hpp>
#include <headrace/memory/order_solver.hpp>

namespace headrace {

HEADRACE_INLINE memory_order::memory_order(const graph& g)
    : positions_(g.id_bound(), none), first_tensors_(g.id_bound(), none) {
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
    const auto has_size = [](const result_slot& r) { return r.meta != nullptr; };
    const auto has_sizes = [&](const node& n) {
        return std::all_of(n.results, n.results + n.result_count, has_size);
    };
    is_free_ = g.output() != nullptr && std::all_of(g.inputs().begin(), g.inputs().end(), has_sizes);
    if (!is_free_) return;
    const liveness lifetimes(g);
    has_regions_ = !g.regions().empty();
    buffers_.reserve(lifetimes.tensors().size());
    for (const live_tensor& t : lifetimes.tensors()) {
        const node& n = *t.tensor.producer;
        const bool is_own = n.owner == &g;  // not of a nested graph
        const tensor_meta* const meta = is_own ? meta_of(t.tensor) : nullptr;
        if (is_own && t.tensor.result == 0)
            first_tensors_[n.id] = static_cast<std::uint32_t>(buffers_.size());
        buffers_.push_back({.bytes = meta != nullptr ? packed_bytes(*meta) : 0, .is_kept = t.is_output});
        if (t.is_input) input_bytes_ += buffers_.back().bytes;
    }
    steps_.reserve(g.size());
    marks_.resize(buffers_.size(), none);
    for (const node& n : g.nodes()) {
        if (is<builtin::placeholder>(n) || is<builtin::output>(n) || liveness::is_known_before(n)) continue;
        is_free_ = is_free_ && has_sizes(n);
        if (is<memory::alloc>(n)) {
            is_free_ = is_free_ && has_one_reader(n);
        } else if (is_free_) {
            read_node(n, lifetimes);
        }
    }
}

HEADRACE_INLINE bool memory_order::has_one_reader(const node& buffer) {
    const edge* const use = buffer.first_use;
    return use != nullptr && use == buffer.last_use && use->target->owner == buffer.owner &&
        !is<builtin::output>(*use->target);
}

HEADRACE_INLINE void memory_order::read_node(const node& n, const liveness& lifetimes) {
    const bool may_move = is_pure(n) || (holds_regions(*n.op) && !has_effects(n));
    const auto is_inside = [&](const edge& e) { return e.target->owner != n.owner; };
    const bool is_local = !has_regions_ || std::none_of(n.uses().begin(), n.uses().end(), is_inside);
    is_free_ = may_move && is_local && !n.op->has(trait::writes_out);
    if (!is_free_) return;
    const auto at = static_cast<std::uint32_t>(nodes_.size());
    step s;
    read_operands(n, s);
    std::uint64_t nested = 0;
    for_each_region(n, [&](const field_info&, const graph* region) {
        if (region != nullptr) nested = std::max(nested, memory_order(*region).need().peak);
    });
    s.extra += nested;
    read_results(n, s, lifetimes);
    positions_[n.id] = at;
    nodes_.push_back(const_cast<node*>(&n));
    steps_.push_back(s);
}

HEADRACE_INLINE void memory_order::read_operands(const node& n, step& s) {
    const auto at = static_cast<std::uint32_t>(nodes_.size());
    s.first_read = static_cast<std::uint32_t>(reads_.size());
    s.first_source = static_cast<std::uint32_t>(sources_.size());
    for (const edge& e : n.operand_edges()) {
        const value v = *e.slot;
        const std::uint32_t source = positions_[v.producer->id];
        const auto begin = sources_.begin() + s.first_source;
        if (source != none && std::find(begin, sources_.end(), source) == sources_.end())
            sources_.push_back(source);
        const std::uint32_t first = first_tensors_[v.producer->id];
        if (first == none) continue;
        const std::uint32_t read = first + v.result;
        if (is<memory::alloc>(*v.producer)) {
            s.extra += buffers_[read].bytes;
            continue;
        }
        if (marks_[read] == at) continue;
        marks_[read] = at;
        reads_.push_back(read);
        buffers_[read].last = at + 1;
    }
    s.read_count = static_cast<std::uint32_t>(reads_.size()) - s.first_read;
    s.source_count = static_cast<std::uint32_t>(sources_.size()) - s.first_source;
}

HEADRACE_INLINE void memory_order::read_results(const node& n, step& s, const liveness& lifetimes) {
    std::uint32_t& first = first_tensors_[n.id];
    if (first == none) {  // a view, which has no memory of its own
        if (const auto viewed = lifetimes.tensor_of({const_cast<node*>(&n), 0}))
            first = static_cast<std::uint32_t>(*viewed);
        return;
    }
    s.first_buffer = first;
    s.buffer_count = n.result_count;
    for (std::uint32_t b = first; b != first + n.result_count; ++b) {
        buffers_[b].maker = static_cast<std::uint32_t>(nodes_.size());
        buffers_[b].last = buffers_[b].maker + 1;
        s.made += buffers_[b].bytes;
    }
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

HEADRACE_INLINE detail::order_problem memory_order::part_of(const segment& s, numbers& places) const {
    detail::order_problem p{.live = s.live};
    for (std::uint32_t i = s.begin; i != s.end; ++i) {
        const step& at = steps_[i];
        detail::order_problem::item& item =
            p.items.emplace_back(detail::order_problem::item{.made = at.made, .extra = at.extra, .dead = 0});
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

HEADRACE_INLINE bool memory_order::improve(segment& s, detail::order_solver& solver, numbers& places) {
    const detail::order_solver::solution& found = solver.solve(part_of(s, places), s.peak);
    const bool is_better = found.order && !found.order->empty();
    if (is_better) {
        const auto first = nodes_.begin() + s.begin;
        const pmr_vector<node*> old(first, nodes_.begin() + s.end);
        for (std::size_t i = 0; i != old.size(); ++i)
            first[static_cast<std::ptrdiff_t>(i)] = old[(*found.order)[i]];
        s.peak = found.problem.peak_of(*found.order);
    }
    if (found.is_exact) s.lower_bound = s.peak;
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
    detail::order_solver solver;
    numbers places(buffers_.size(), none);  // in the current part
    for (segment* s : fullest) {
        if (s->peak <= peak) break;
        const bool is_better = improve(*s, solver, places);
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
