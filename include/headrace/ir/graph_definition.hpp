// SPDX-License-Identifier: MIT
// Defines the functions of ir/graph.hpp.
#ifndef HEADRACE_IR_GRAPH_DEFINITION_HPP
#define HEADRACE_IR_GRAPH_DEFINITION_HPP

#include <cstddef>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include <headrace/base/compiled.hpp>
#include <headrace/base/target_spec.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/ir/arena.hpp>
#include <headrace/ir/census.hpp>
#include <headrace/ir/node.hpp>

namespace headrace {

namespace detail {

// Calls `f(const value&)` for each operand in an argument struct.
template <class F>
void for_each_slot(const op_info& op, const void* arguments, F&& f) {
    for (const field_info& field : op) {
        if (!holds_tensors(field.kind)) continue;
        const void* const item = field.item_in(arguments);
        if (item == nullptr) continue;
        if (field.kind == field_kind::tensor) {
            f(*static_cast<const value*>(item));
        } else if (field.kind == field_kind::tensors) {
            for (const value& v : *static_cast<const list<value>*>(item)) f(v);
        } else {
            for (const auto& v : *static_cast<const list<std::optional<value>>*>(item)) {
                if (v) f(*v);
            }
        }
    }
}

}  // namespace detail

HEADRACE_INLINE node& graph::create(
    const op_info& op, const void* arguments, std::size_t results, node* before) {
    // The results, arguments and operands of a node are in one block of memory.
    std::size_t operands = 0;
    detail::for_each_slot(op, arguments, [&](const value&) { ++operands; });
    const auto aligned = [](std::size_t at, std::size_t to) { return (at + to - 1) / to * to; };
    const std::size_t arguments_at = aligned(results * sizeof(result_slot), op.args_alignment);
    const std::size_t operands_at = aligned(arguments_at + op.args_size, alignof(edge));
    node& n = *make<node>();
    auto* const block = static_cast<std::byte*>(
        arena_->allocate(operands_at + operands * sizeof(edge), alignof(std::max_align_t)));
    n.op = &op;
    n.owner = this;
    n.id = next_id_++;
    n.result_count = static_cast<std::uint32_t>(results);
    n.results = reinterpret_cast<result_slot*>(block);
    for (std::size_t i = 0; i != results; ++i) new (n.results + i) result_slot();
    n.arguments = block + arguments_at;
    std::memcpy(n.arguments, arguments, op.args_size);
    own_arguments(n);
    n.operands = reinterpret_cast<edge*>(block + operands_at);
    detail::for_each_slot(op, n.arguments, [&](const value& slot) {
        // The slot is in the block, or in a list that own_arguments has copied.
        edge* const e = new (n.operands + n.operand_count)
            edge{.target = &n, .operand = n.operand_count, .slot = &const_cast<value&>(slot)};
        link_use(*e);
        ++n.operand_count;
    });
    link(n, before);
    census_.insert(n);
    return n;
}

HEADRACE_INLINE void graph::erase(node& n) {
    for (edge& e : std::span(n.operands, n.operand_count)) unlink_use(e);
    census_.remove(n);
    unlink(n);
    n.owner = nullptr;  // lets code that has collected it see that it was erased
}

HEADRACE_INLINE void graph::inherit_annotations(node& to, const node& from) {
    if (to.annotations == nullptr && all_inherited(from.annotations)) {
        to.annotations = from.annotations;
        return;
    }
    join_origins(to, from);
    for (const annotation* a = from.annotations; a != nullptr; a = a->next) {
        bool present = !a->inherited;
        for (const annotation* b = to.annotations; b != nullptr && !present; b = b->next)
            present = a->key == b->key;
        if (!present) to.annotations = make<annotation>(a->key, a->data, true, to.annotations);
    }
}

HEADRACE_INLINE bool graph::all_inherited(const annotation* annotations) {
    for (const annotation* a = annotations; a != nullptr; a = a->next) {
        if (!a->inherited) return false;
    }
    return true;
}

HEADRACE_INLINE void graph::join_origins(node& to, const node& from) {
    const auto* kept = to.find_annotation<provenance>();
    const auto* other = from.find_annotation<provenance>();
    if (kept == nullptr || other == nullptr) return;
    const auto* joined = to.find_annotation<joined_origin>();
    const auto* others = from.find_annotation<joined_origin>();
    if (kept->node_name == other->node_name && (others == nullptr || others == joined)) return;
    // A new cell, since nodes may share theirs. It links to the cells of the last origin; otherwise a node
    // that joins many origins would have a list of the same length.
    const joined_origin* more = make<joined_origin>(from.annotations, joined);
    annotation* rest = to.annotations;
    if (rest->key == &annotation_key<joined_origin>) rest = rest->next;
    to.annotations = make<annotation>(&annotation_key<joined_origin>, more, true, rest);
}

HEADRACE_INLINE graph& graph::create_region() {
    graph* region = static_cast<graph*>(arena_->allocate(sizeof(graph), alignof(graph)));
    new (region) graph(*this, region_of_this{});
    region->next_region_ = first_region_;
    first_region_ = region;
    return *region;
}

HEADRACE_INLINE std::string_view graph::own(std::string_view text) {
    return {copy_array(*arena_, text.data(), text.size()), text.size()};
}

HEADRACE_INLINE list<std::string_view> graph::own_texts(const list<std::string_view>& texts) {
    std::string_view* const copy = copy_array(*arena_, texts.data(), texts.size());
    for (std::string_view& text : std::span(copy, texts.size())) text = own(text);
    return {copy, texts.size()};
}

HEADRACE_INLINE void graph::own_arguments(node& n) {
    for (const field_info& f : *n.op) {
        const auto own_as = [&]<class T>(std::type_identity<T>) {
            T* const item = static_cast<T*>(const_cast<void*>(f.item_in(n.arguments)));
            if (item == nullptr) return;
            if constexpr (std::is_same_v<T, list<std::string_view>>) {
                *item = own_texts(*item);
            } else if constexpr (std::is_same_v<T, tensor_data>) {
                item->strides = own(item->strides);
            } else {
                *item = own(*item);
            }
        };
        switch (f.kind) {
            case field_kind::tensors:
                own_as(std::type_identity<list<value>>());
                break;
            case field_kind::optional_tensors:
                own_as(std::type_identity<list<std::optional<value>>>());
                break;
            case field_kind::integers:
                own_as(std::type_identity<int_list>());
                break;
            case field_kind::floatings:
                own_as(std::type_identity<list<double>>());
                break;
            case field_kind::text:
                own_as(std::type_identity<std::string_view>());
                break;
            case field_kind::texts:
                own_as(std::type_identity<list<std::string_view>>());
                break;
            case field_kind::data:
                own_as(std::type_identity<tensor_data>());
                break;
            default:
                break;
        }
    }
}

HEADRACE_INLINE value create_constant(
    graph& g, const tensor_meta& meta, node* before, std::span<std::byte> data) {
    node& n = g.create<builtin::constant>({.data = {.bytes = data.data()}}, before);
    g.set_meta(n.result(), meta);
    return n.result();
}

}  // namespace headrace

#endif
