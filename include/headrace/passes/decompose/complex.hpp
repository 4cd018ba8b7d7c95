// SPDX-License-Identifier: MIT
// Defines headrace::decompose_complex.
#ifndef HEADRACE_PASSES_DECOMPOSE_COMPLEX_HPP
#define HEADRACE_PASSES_DECOMPOSE_COMPLEX_HPP

#include <algorithm>
#include <concepts>
#include <cstring>
#include <map>
#include <tuple>

#include <headrace/infer/aten.hpp>
#include <headrace/ir/edits.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/ir/unknown_op.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/passes/decompose/complex_rules.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace {

/// True for ops that decompose_complex rewrites of any operands.
[[nodiscard]] inline bool is_of_fourier_or_complex(const node& n) {
    bool found = false;
    visit_args(complex_rules::targeted_ops{}, n, [&](auto, const auto&) { found = true; });
    return found;
}
/// True if decompose_complex has something to do.
[[nodiscard]] inline bool holds_complex_numbers(const graph& g) {
    bool found = false;
    for_each_graph(g, [&](const graph& sub) {
        for (const node& n : sub.nodes())
            found = found || is_of_fourier_or_complex(n) || is_of_complex_numbers(n);
    });
    return found;
}

namespace detail {

/// Replaces the complex values of one graph by their parts.
class complex_decomposition {
public:
    complex_decomposition(graph& g, pass_context& context)
        : graph_(g), context_(context), first_new_(g.id_bound()) {}

    std::size_t run() {
        std::size_t count = 0;
        for (node *n = graph_.first(), *next = nullptr; n != nullptr; n = next) {
            next = n->next;
            if (n->id < first_new_ && concerns(*n)) count += rewrite(*n) ? 1U : 0U;
        }
        for (auto old = replaced_.rbegin(); old != replaced_.rend(); ++old) erase_dead(graph_, **old);
        return count;
    }

private:
    using rules = complex_rules;

    struct by_place {
        bool operator()(value a, value b) const {
            return std::tie(a.producer->id, a.result) < std::tie(b.producer->id, b.result);
        }
    };

    bool concerns(const node& n) const {
        const auto has_parts = [&](const edge& operand) { return parts_.contains(*operand.slot); };
        return is_of_fourier_or_complex(n) || is_of_complex_numbers(n) ||
            (!parts_.empty() && std::ranges::any_of(n.operand_edges(), has_parts));
    }
    static bool is_complex_value(value v) {
        const tensor_meta* meta = meta_of(v);
        return meta != nullptr && is_complex(meta->dtype);
    }

    bool rewrite(node& n) {
        if (is<builtin::output>(n)) return give_pairs(n);
        if (is<builtin::placeholder>(n)) return take_pairs(n);
        emission made(graph_, &n, &n, context_);
        emit<rules::made> e(made);
        if (is<builtin::constant>(n)) {
            parts_[n.result()] = parts_of_constant(e, n);
        } else if (n.result_count == 0) {
            // An assertion: types and shapes are known.
        } else if (!is_of_dialect<aten::dialect>(n) || holds_regions(*n.op)) {
            context_.report(n, no_complex_numbers);
            return false;
        } else if (!replace(e, n)) {
            return false;
        }
        replaced_.push_back(&n);
        return true;
    }

    // A complex input becomes a real one, with the parts side by side along a new last axis. Its readers are
    // given a view of complex numbers, since those that are not yet rewritten infer from its shape.
    bool take_pairs(node& n) {
        if (graph_.parent() != nullptr) {
            context_.report(n, "complex numbers cannot be given to a branch or a loop; give their parts");
            return false;
        }
        const tensor_meta meta = *meta_of(n.result());
        shape_builder shape(meta.shape);
        shape.push_back(2);
        node& whole = graph_.create<aten::view_as_complex>({n.result()}, first_computed(n));
        graph_.replace_all_uses(n.result(), whole.result(), &whole);
        graph_.set_meta(whole.result(), meta);
        graph_.set_meta(n.result(), {magnitude_of(meta.dtype), int_list(shape), {}});
        return rewrite(whole);
    }
    static node* first_computed(node& input) {
        node* at = &input;
        while (at != nullptr && is<builtin::placeholder>(*at)) at = at->next;
        return at;
    }
    // Complex outputs, likewise.
    bool give_pairs(node& n) {
        bool changed = false;
        for (edge& operand : std::span(n.operands, n.operand_count)) {
            const value v = *operand.slot;
            const auto found = parts_.find(v);
            if (found == parts_.end()) continue;
            emission made(graph_, v.producer, &n, context_);
            emit<rules::made> e(made);
            const auto whole = pairs_.find(v);
            const value given = whole != pairs_.end() ? whole->second : as_pairs(e, found->second);
            if (!given) continue;
            pairs_[v] = given;
            hand_over_name(v.producer->results[v.result], given);
            graph_.set_operand(operand, given);
            changed = true;
        }
        return changed;
    }

    static complex_parts parts_of_constant(emit<rules::made> e, node& n) {
        const tensor_meta& meta = *meta_of(n.result());
        const tensor_data& data = args_of<builtin::constant>(n).data;
        const dtype type = magnitude_of(meta.dtype);
        const std::size_t width = traits_of(type).bits / 8U;
        if (!e.may_compute(meta.elements(), meta.dtype)) return {};
        const auto part = [&](std::size_t offset) {
            return e.constant({type, meta.shape, {}}, [&](std::span<std::byte> to) {
                std::byte* at = to.data();
                for_each_element(data, meta, [&](const std::byte* from) {
                    std::memcpy(at, from + offset, width);
                    at += width;
                });
            });
        };
        const value re = part(0);
        return {re, part(width)};
    }

    bool replace(emit<rules::made> e, node& n) {
        if (n.op->has(trait::in_place)) return false;  // functionalize has refused it
        if (const auto* a = args_if<aten::view_as_real>(n); a != nullptr && pairs_.contains(a->self)) {
            graph_.replace_all_uses(n.result(), pairs_[a->self]);
            return true;
        }
        const auto parts = [&](value v) { return parts_of(v); };
        const pmr_vector<complex_parts> results = rules(e, n, parts).results();
        if (e.failed() || results.size() != n.result_count) return false;
        for (std::uint32_t i = 0; i != n.result_count; ++i) give(e, n.result(i), results[i]);
        if (const auto* a = args_if<aten::view_as_complex>(n)) pairs_[n.result()] = a->self;
        if (is<aten::abs>(n) && !e.failed()) give_squares(results[0].re);
        return !e.failed();
    }
    // Readers that square a magnitude read the sum of squares of which it is the root.
    void give_squares(value magnitude) {
        const auto* root = match<aten::sqrt>(magnitude);
        if (root == nullptr) return;
        for (const edge& use : magnitude.producer->uses()) {
            node& reader = *use.target;
            if (!is_square(reader)) continue;
            graph_.replace_all_uses(reader.result(), root->self);
            replaced_.push_back(&reader);
        }
        replaced_.push_back(magnitude.producer);
    }
    std::optional<complex_parts> parts_of(value v) {
        const auto found = parts_.find(v);
        if (found != parts_.end()) return found->second;
        if (is_complex_value(v)) return std::nullopt;
        return complex_parts{v};
    }
    void give(emit<rules::made> e, value old, const complex_parts& z) {
        const tensor_meta& meta = *meta_of(old);
        const dtype type = magnitude_of(meta.dtype);
        const complex_parts fit = for_parts(z, [&](value v) { return fitted(e, v, meta, type); });
        if (e.failed()) return;
        if (is_complex(meta.dtype)) {
            parts_[old] = fit;
            return;
        }
        hand_over_name(old.producer->results[old.result], fit.re);
        graph_.replace_all_uses(old, fit.re);
    }

    graph& graph_;
    pass_context& context_;
    std::map<value, complex_parts, by_place> parts_;
    std::map<value, value, by_place> pairs_;  // of inputs and outputs, with both parts in one tensor
    pmr_vector<node*> replaced_;
    std::uint32_t first_new_;  // nodes from this id on were made here
};

}  // namespace detail

/// PyTorch's complex numbers, and the Fourier transforms that give them (torch.fft, torch.stft). TOSA has no
/// complex type: a value becomes two, its real and its imaginary part. A complex input or output becomes a
/// real tensor with a last axis of 2, as torch.view_as_real gives it.
struct decompose_complex : pass {
    using runs_after = pass_list<functional, canonical_variants>;
    using runs_before = pass_list<canonical_arithmetic, canonical_casts, canonical_fills, noops_removed,
        tensor_operands, canonical_convolutions>;
    using invalidates = decomposition::invalidates;
    static constexpr std::string_view summary =
        "complex numbers as their parts, Fourier transforms as products with constants";
    using produces = complex_rules::made;
    using removes = complex_rules::targeted_ops;

    // A template, so that programs which only prove pipelines do not compile the inference of all ops.
    template <std::same_as<graph> Graph>
    result<std::size_t> operator()(Graph& g, pass_context& context) const {
        return sum_over_graphs(
            g, [&](graph& sub) { return detail::complex_decomposition(sub, context).run(); });
    }
};
HEADRACE_COMPILED_PASS(decompose_complex);

}  // namespace headrace

#endif
