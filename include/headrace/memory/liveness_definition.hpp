// SPDX-License-Identifier: MIT
// Defines the functions of memory/liveness.hpp.
#ifndef HEADRACE_MEMORY_LIVENESS_DEFINITION_HPP
#define HEADRACE_MEMORY_LIVENESS_DEFINITION_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <headrace/base/compiled.hpp>
#include <headrace/base/mix.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/delegate.hpp>
#include <headrace/dialect/memory.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/ir/views.hpp>

namespace headrace {

HEADRACE_INLINE list<value> out_buffers(const node& n) {
    if (!n.op->has(trait::writes_out)) return {};
    const field_info& last = n.op->fields[n.op->field_count - 1];
    if (last.kind == field_kind::tensor && !last.optional)
        return {&detail::member_at<value>(n.arguments, last), std::size_t{1}};
    if (last.kind == field_kind::tensors) return detail::member_at<list<value>>(n.arguments, last);
    return {};
}

HEADRACE_INLINE liveness::liveness(const graph& g) {
    memories_.push_back(&g);
    nodes_.reserve(g.size());
    held_.reserve(g.size());
    tensors_.reserve(g.size());
    analyze(g, 0);
}

HEADRACE_INLINE const liveness::node_record* liveness::find_record(const node* n) const {
    return nodes_.find(hash_of_address(n), [n](const node_record& r) { return r.of == n; });
}
HEADRACE_INLINE liveness::node_record& liveness::record_of(const node& n) {
    node_record& found =
        nodes_.find_or_add(hash_of_address(&n), [&n](const node_record& r) { return r.of == &n; });
    found.of = &n;
    return found;
}

HEADRACE_INLINE std::optional<std::size_t> liveness::tensor_of(value v) const {
    const node_record* const known = find_record(v.producer);
    if (known == nullptr || known->first_held == none || v.result >= known->of->result_count)
        return std::nullopt;
    const std::uint32_t position = held_[known->first_held + v.result];
    return position == none ? std::nullopt : std::optional<std::size_t>(position);
}

HEADRACE_INLINE const live_tensor* liveness::find(value v) const {
    const auto position = tensor_of(v);
    return position ? &tensors_[*position] : nullptr;
}

HEADRACE_INLINE std::optional<std::uint32_t> liveness::step_of(const node& n) const {
    const node_record* const known = find_record(&n);
    return known == nullptr || known->step == none ? std::nullopt : std::optional(known->step);
}

HEADRACE_INLINE void liveness::analyze(const graph& g, std::uint32_t memory) {
    const bool nested = step_ != 0;
    if (!nested) {
        for (const node& n : g.inputs()) {
            for (std::uint32_t i = 0; i != n.result_count; ++i) add(n, i, 0, memory).is_input = true;
        }
    }
    for (const node& n : g.nodes()) {
        if (is<builtin::placeholder>(n) || is_known_before(n)) continue;
        if (!is<memory::alloc>(n)) {
            execute(n, memory);
        } else if (!is_used_here(n)) {
            add(n, 0, step_ + 1, memory);
        }
    }
    if (nested || g.output() == nullptr) return;
    for (const value v : g.outputs()) {
        if (const auto position = tensor_of(v)) tensors_[*position].is_output = true;
    }
}

HEADRACE_INLINE bool liveness::is_known_before(const node& n) {
    if (is<builtin::constant>(n) || is<tosa::const_>(n)) return true;
    const auto is_shape = [](const result_slot& r) { return r.meta && r.meta->dtype == dtype::shape; };
    return n.result_count != 0 && std::all_of(n.results, n.results + n.result_count, is_shape);
}

HEADRACE_INLINE bool liveness::is_used_here(const node& n) {
    const auto is_own = [&](const edge& e) { return e.target->owner == n.owner; };
    return n.first_use != nullptr && std::all_of(n.uses().begin(), n.uses().end(), is_own);
}

HEADRACE_INLINE void liveness::execute(const node& n, std::uint32_t memory) {
    const std::uint32_t begin = ++step_;
    for (const edge& e : n.operand_edges()) {
        if (is<memory::alloc>(*e.source) && find_record(e.source) == nullptr)
            add(*e.source, 0, begin, memory);
    }
    if (const auto buffers = out_buffers(n); !buffers.empty()) {
        for (std::uint32_t i = 0; i != n.result_count && i < buffers.size(); ++i)
            share(n, i, tensor_of(buffers[i]));
    } else if (is_view(n)) {
        share(n, 0, tensor_of(n.operand(0)));
    } else {
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            if (n.results[i].meta || use_count({const_cast<node*>(&n), i}) != 0) add(n, i, begin, memory);
        }
    }
    const std::size_t outer_uses = captured_.size();
    for_each_region(n, [&](const field_info&, const graph* region) {
        if (region != nullptr) enter(*region, memory, is<delegate::call_delegate>(n));
    });
    if (step_ != begin) ++step_;  // the nested graphs have finished
    record_of(n).step = step_;
    for (const edge& e : n.operand_edges()) use(*e.slot, n);
    for (std::uint32_t i = 0; i != n.result_count; ++i) touch(tensor_of({const_cast<node*>(&n), i}));
    // A nested graph may run again, so the outer values that it uses must outlive the node that holds it.
    for (std::size_t i = outer_uses; i != captured_.size(); ++i) touch(tensor_of(captured_[i]));
    const auto is_own = [&](value v) { return v.producer->owner == n.owner; };
    captured_.erase(
        std::remove_if(captured_.begin() + static_cast<std::ptrdiff_t>(outer_uses), captured_.end(), is_own),
        captured_.end());
}

HEADRACE_INLINE void liveness::enter(const graph& region, std::uint32_t memory, bool is_delegate) {
    const auto [known, is_new] = regions_.try_emplace(&region, tensors_.size(), std::size_t{0});
    if (!is_new) {  // another node holds it, too: its tensors keep their memory until then
        ++step_;
        for (std::size_t i = known->second.first; i != known->second.second; ++i) touch(i);
        return;
    }
    if (is_delegate) {
        memory = static_cast<std::uint32_t>(memories_.size());
        memories_.push_back(&region);
    }
    analyze(region, memory);
    regions_[&region].second = tensors_.size();
}

HEADRACE_INLINE void liveness::use(value v, const node& by) {
    touch(tensor_of(v));
    if (v.producer->owner != by.owner) captured_.push_back(v);
}

HEADRACE_INLINE void liveness::touch(std::optional<std::size_t> position) {
    if (position) tensors_[*position].last = std::max(tensors_[*position].last, step_);
}

HEADRACE_INLINE live_tensor& liveness::add(
    const node& n, std::uint32_t result, std::uint32_t first, std::uint32_t memory) {
    set(n, result, static_cast<std::uint32_t>(tensors_.size()));
    tensors_.push_back(
        {.tensor = {const_cast<node*>(&n), result}, .first = first, .last = first, .memory = memory});
    return tensors_.back();
}

HEADRACE_INLINE void liveness::share(const node& n, std::uint32_t result, std::optional<std::size_t> with) {
    set(n, result, with ? static_cast<std::uint32_t>(*with) : none);
}

HEADRACE_INLINE void liveness::set(const node& n, std::uint32_t result, std::uint32_t position) {
    node_record& of_node = record_of(n);
    if (of_node.first_held == none) {
        of_node.first_held = static_cast<std::uint32_t>(held_.size());
        held_.resize(held_.size() + n.result_count, none);
    }
    held_[of_node.first_held + result] = position;
}

}  // namespace headrace

#endif
