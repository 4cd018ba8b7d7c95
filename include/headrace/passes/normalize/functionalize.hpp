// SPDX-License-Identifier: MIT
// Defines headrace::functionalize.
#ifndef HEADRACE_PASSES_NORMALIZE_FUNCTIONALIZE_HPP
#define HEADRACE_PASSES_NORMALIZE_FUNCTIONALIZE_HPP

#include <map>

#include <headrace/ir/regions.hpp>
#include <headrace/op/op_query.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/passes/normalize/aliasing.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

namespace detail {

/// Follows a graph in execution order, and tracks the current value of each tensor.
class functionalization {
public:
    functionalization(graph& g, pass_context& context) : graph_(g), context_(context) {}

    std::size_t run() {
        std::size_t writes = 0;
        for (node *n = graph_.first(), *next = nullptr; n != nullptr; n = next) {
            next = n->next;
            const value self = n->operand_count == 0 ? value{} : n->operand(0);
            const sharing kind = self ? sharing_of(*n) : sharing::none;
            const bool writing = writes_in_place(*n->op);
            if (is<aten::squeeze_inplace_dim>(*n) && is_read_after(self, *n))
                context_.report(
                    *n, "in place: its operand is read again later; squeeze a view of it instead");
            if (!roots_.empty()) {
                for (edge& e : std::span(n->operands, n->operand_count)) refresh(e);
            }
            if (kind != sharing::none || writing) {
                const value root = root_of(self);
                for (std::uint32_t i = 0; i != n->result_count; ++i) {
                    views_[n->result(i)] = {
                        self, n, writing ? sharing::same : kind, n->result(i), version_of(root)};
                }
            }
            if (!writing) continue;
            write(self, n->result(), *n, next);
            ++writes;
        }
        return writes;
    }

private:
    struct by_place {
        bool operator()(value a, value b) const {
            return std::tie(a.producer->id, a.result) < std::tie(b.producer->id, b.result);
        }
    };
    struct view {
        value parent;
        node* made_by;
        sharing kind;
        value current;
        std::size_t version;  ///< version of the root for which `current` is valid
    };
    struct written {
        value current;
        std::size_t version = 0;
    };

    static bool is_read_after(value v, const node& n) {
        for (const node* later = n.next; later != nullptr; later = later->next) {
            for (const edge& operand : later->operand_edges()) {
                if (*operand.slot == v) return true;
            }
        }
        return false;
    }

    // Returns how a value was made as a view; null if it was not.
    view* view_of(value v) {
        const auto found = views_.find(v);
        return found == views_.end() ? nullptr : &found->second;
    }
    value root_of(value v) {
        while (const view* w = view_of(v)) v = w->parent;
        return v;
    }
    std::size_t version_of(value r) const {
        const auto found = roots_.find(r);
        return found == roots_.end() ? 0 : found->second.version;
    }

    void refresh(edge& e) {
        const value now = latest(*e.slot, *e.target, e.target);
        if (!(now == *e.slot)) graph_.set_operand(e, now);
    }

    /// Returns the value of `v` at the time `user` runs; recomputes outdated views before `before`.
    value latest(value v, const node& user, node* before) {
        view* const w = view_of(v);
        if (w == nullptr) {
            const auto r = roots_.find(v);
            return r == roots_.end() ? v : r->second.current;
        }
        const std::size_t version = version_of(root_of(v));
        if (w->version == version) return w->current;
        const value parent = latest(w->parent, user, before);
        w->version = version;
        w->current = w->kind == sharing::same ? parent : again(*w, v.result, parent, user, before);
        return w->current;
    }
    value again(const view& w, std::uint32_t result, value parent, const node& user, node* before) {
        if (!sure(w)) refuse(user, w);
        node& copy = graph_.create(*w.made_by->op, w.made_by->arguments, w.made_by->result_count, before);
        graph_.set_operand(copy.operands[0], parent);
        for (std::uint32_t i = 0; i != copy.result_count; ++i)
            copy.results[i].meta = w.made_by->results[i].meta;
        graph_.inherit_annotations(copy, *w.made_by);
        return copy.result(result);
    }

    /// Records that `v` is now `now`: writes it back through the views to the tensor that owns the memory.
    void write(value v, value now, const node& writer, node* before) {
        pmr_vector<std::pair<value, value>> changed{{v, now}};
        while (const view* found = view_of(v)) {
            const view w = *found;
            if (w.kind != sharing::same)
                now = written_back(w, v, latest(w.parent, writer, before), now, writer, before);
            v = w.parent;
            changed.emplace_back(v, now);
        }
        written& r = roots_[v];
        r.current = now;
        ++r.version;
        for (const auto& [of, is_now] : changed) {
            if (view* w = view_of(of)) {
                w->current = is_now;
                w->version = r.version;
            }
        }
        if (view* w = view_of({const_cast<node*>(&writer), 0})) w->version = r.version;
    }

    value written_back(const view& w, value v, value base, value now, const node& writer, node* before) {
        const node& n = *w.made_by;
        const tensor_meta& meta = *meta_of(base);
        const auto select = [&](std::int64_t axis, std::int64_t index) {
            return made<aten::select_scatter>({base, now, axis, index}, meta, writer, before);
        };
        const auto slice = [&](const args<aten::slice_scatter>& a) {
            return made<aten::slice_scatter>(a, meta, writer, before);
        };
        switch (w.kind) {
            case sharing::reshaped:
                if (!sure(w) && !unread_beside(w)) break;
                return made<aten::view>({.self = now, .size = meta.shape}, meta, writer, before);
            case sharing::permuted: {
                const result<shape_builder> order = order_of_view(n, meta.rank());
                if (!order) break;
                const shape_builder inverse = build::inverse(order.value());
                return made<aten::permute>({.self = now, .dims = int_list(inverse)}, meta, writer, before);
            }
            case sharing::selected: {
                const auto& a = args_of<aten::select_int>(n);
                return select(a.dim, a.index);
            }
            case sharing::sliced: {
                if (const auto* a = match<aten::slice_tensor>(v)) {
                    return slice({base, now, a->dim, a->start, a->end, a->step});
                }
                const auto& a = args_of<aten::narrow>(n);
                const std::int64_t start = a.start < 0 ? a.start + axis_size(meta, a.dim) : a.start;
                return slice({base, now, a.dim, start, start + a.length, 1});
            }
            case sharing::parts: {
                const std::int64_t axis = integer_field(n, "dim");
                std::int64_t start = 0;
                if (const auto* cut = args_if<aten::tensor_split_indices>(n)) {
                    start = part_start(cut->indices, v.result, axis_size(meta, axis));
                } else {
                    for (std::uint32_t i = 0; i != v.result; ++i)
                        start += axis_size(*n.results[i].meta, axis);
                }
                const std::int64_t end = start + axis_size(*n.results[v.result].meta, axis);
                return slice({base, now, axis, start, end, 1});
            }
            case sharing::unbound:
                return select(args_of<aten::unbind_int>(n).dim, v.result);
            default:
                break;
        }
        refuse(writer, w);
        return base;
    }

    template <op_tag Op>
    value made(const args<Op>& a, const tensor_meta& meta, const node& writer, node* before) {
        node& n = graph_.create<Op>(a, before);
        graph_.set_meta(n.result(), meta);
        graph_.inherit_annotations(n, writer);
        return n.result();
    }

    /// True if the view surely shares memory. reshape, flatten and contiguous copy noncontiguous tensors.
    bool sure(const view& w) {
        return w.kind != sharing::elsewhere && (!w.made_by->op->has(trait::may_copy) || contiguous(w.parent));
    }
    /// True if nothing but the view reads its tensor: whether that shares memory makes no difference then.
    bool unread_beside(const view& w) {
        return view_of(w.parent) == nullptr && !is<builtin::placeholder>(*w.parent.producer) &&
            !is<builtin::constant>(*w.parent.producer) && has_one_use(w.parent);
    }
    bool contiguous(value v) {
        const view* const w = view_of(v);
        if (w == nullptr) return meta_of(v) != nullptr && meta_of(v)->dim_order.empty();
        const bool piece = w->kind == sharing::same || w->kind == sharing::reshaped || outermost(*w);
        return piece && contiguous(w->parent);
    }
    /// True for a part along an axis that is preceded only by axes of size 1.
    static bool outermost(const view& w) {
        if (w.kind < sharing::selected || w.kind > sharing::unbound) return false;
        const tensor_meta* meta = meta_of(w.parent);
        const auto axis = normalized_axis(integer_field(*w.made_by, "dim"), meta->rank());
        if (is<aten::slice_tensor>(*w.made_by) && args_of<aten::slice_tensor>(*w.made_by).step != 1)
            return false;
        return axis && std::all_of(meta->shape.begin(), meta->shape.begin() + *axis, [](auto size) {
            return size == 1;
        });
    }

    void refuse(const node& at, const view& w) {
        context_.report(at,
            text_of({"in place: memory shared through ", w.made_by->op->name,
                " is written, which cannot be expressed; clone the tensor first"}));
    }

    graph& graph_;
    pass_context& context_;
    std::pmr::map<value, view, by_place> views_;     // by the program's original value
    std::pmr::map<value, written, by_place> roots_;  // tensors that have been written to
};

}  // namespace detail

/// PyTorch's in-place ops change their operand, and thereby everything that shares its memory: its views, and
/// the tensor that it is a view of. This pass gives each later reader the current value, as if there were no
/// shared memory: a write through a view becomes a scatter into the underlying tensor, and views are
/// recomputed after a write. In-place ops are then ordinary functions (canonicalize_variants renames them).
/// Writes to inputs have an effect inside the graph only.
struct functionalize : pass {
    using runs_after = pass_list<regions_inlined>;
    using ensures = pass_list<functional>;
    static constexpr std::string_view summary =
        "makes in-place ops functional: later readers get what was written, through views as well";
    using targeted_ops = ops_where<aten::dialect, trait::in_place>;
    using produces = ops<aten::view, aten::permute, aten::select_scatter, aten::slice_scatter>;

    result<std::size_t> operator()(graph& g, pass_context& context) const {
        return sum_over_graphs(g, [&](graph& sub) { return detail::functionalization(sub, context).run(); });
    }
};
HEADRACE_COMPILED_PASS(functionalize);

}  // namespace headrace

#endif
