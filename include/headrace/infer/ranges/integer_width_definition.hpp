// SPDX-License-Identifier: MIT
// Defines the functions of infer/ranges/integer_width.hpp.
#ifndef HEADRACE_INFER_RANGES_INTEGER_WIDTH_DEFINITION_HPP
#define HEADRACE_INFER_RANGES_INTEGER_WIDTH_DEFINITION_HPP

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <headrace/base/compiled.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/ir/purity.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/op/reflect.hpp>

namespace headrace {

namespace detail {

using namespace std::string_view_literals;

/// How an op uses its integer operands.
enum class integer_use : std::uint8_t {
    arithmetic,  ///< any use that is not listed below
    moving,      ///< copied to elements of the result
    modular,     ///< terms and factors: wrapping around on the way is right modulo 2^32
    offsetting,  ///< modular, and a constant operand neither grows nor shrinks them much
    selecting,   ///< compared, and one of them is the result
    testing      ///< the result is no integer, or none computed from their values
};

[[nodiscard]] inline integer_use use_in(const node& n) {
    using namespace aten;  // NOLINT: a table of its ops
    static constexpr auto offsetting =
        ops_in<add_tensor, add_scalar, sub_tensor, sub_scalar, rsub_tensor, rsub_scalar, neg, bitwise_not>;
    static constexpr auto modular = ops_in<mul_tensor, mul_scalar, square, addcmul, aten::sum,
        sum_dim_intlist, cumsum, bitwise_and_tensor, bitwise_and_scalar, bitwise_or_tensor, bitwise_or_scalar,
        bitwise_xor_tensor, bitwise_xor_scalar, bitwise_left_shift_tensor, bitwise_left_shift_tensor_scalar,
        scatter_add, index_add, mm, bmm, matmul, mv, dot, outer, diff>;
    static constexpr auto selecting = ops_in<aten::abs, sgn, sign, relu, relu6, hardtanh, threshold,
        aten::maximum, aten::minimum, fmax, fmin, aten::clamp, clamp_tensor, clamp_min, clamp_min_tensor,
        clamp_max, clamp_max_tensor, amax, amin, aminmax, aten::max, aten::min, max_dim, min_dim, topk, sort,
        sort_stable, msort, aten::floor, aten::ceil, aten::round, aten::trunc, max_pool1d,
        max_pool1d_with_indices, max_pool2d, max_pool2d_with_indices, max_pool3d, max_pool3d_with_indices,
        adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d>;
    static constexpr auto replacing = ops_in<where_self, where_scalar, where_scalarother, where_scalarself,
        masked_fill_scalar, masked_fill_tensor, index_fill_int_scalar, index_copy, scatter_src, scatter_value,
        select_scatter, slice_scatter, index_put, _unsafe_index_put, channel_shuffle, pixel_shuffle,
        pixel_unshuffle, roll, fft_fftshift, fft_ifftshift, rot90, tril, triu, im2col, max_unpool2d, copy,
        fill_tensor, fill_scalar, meshgrid_indexing, broadcast_tensors>;
    using enum trait;
    const op_info& op = n.op->functional();
    if (n.result_count == 0) return integer_use::testing;  // an assertion
    if (offsetting.contains(op)) return integer_use::offsetting;
    if (modular.contains(op)) return integer_use::modular;
    if (selecting.contains(op)) return integer_use::selecting;
    if (op.has(predicate | locating | gives_zeros | gives_ones | gives_number)) return integer_use::testing;
    const tensor_meta* const result = n.result_count == 0 ? nullptr : n.results[0].meta;
    const bool gives_integers = result != nullptr && is_integral(result->dtype);
    if (replacing.contains(op)) return integer_use::moving;
    if (op.has(casting) || &op == &info_of<_to_copy>)
        return gives_integers ? integer_use::moving : integer_use::testing;
    if (op.has(rearranging | copying | splitting | joining | padding | gathering | aliasing))
        return integer_use::moving;
    if (op.has(reduction) && result != nullptr && !gives_integers) return integer_use::testing;  // any, all
    return integer_use::arithmetic;
}

/// True if an operand is a list of indices of elements, whose bounds PyTorch checks.
[[nodiscard]] inline bool is_index(const node& n, const edge& e) {
    const op_info& op = n.op->functional();
    if (&op == &info_of<aten::one_hot>) return true;
    for (const std::string_view name : {"index"sv, "indices"sv}) {
        const field_info* const f = op.find(name);
        if (f == nullptr || !holds_tensors(f->kind)) continue;
        const auto* const at = static_cast<const std::byte*>(n.arguments) + f->offset;
        const auto* const slot = reinterpret_cast<const std::byte*>(e.slot);
        if (f->kind == field_kind::tensor && slot >= at && slot < at + sizeof(std::optional<value>))
            return true;
        // The slots of a list are outside the argument struct; those of all other operands are inside.
        const auto* const begin = static_cast<const std::byte*>(n.arguments);
        if (f->kind != field_kind::tensor && (slot < begin || slot >= begin + op.args_size)) return true;
    }
    return false;
}

/// Returns the number of elements that an index can select from; 0 if unknown.
[[nodiscard]] inline std::int64_t indexed_size(const node& n) {
    const auto size = [](value v, std::int64_t axis) {
        const auto at = normalized_axis(axis, meta_of(v)->rank());
        return at && meta_of(v)->rank() != 0 ? meta_of(v)->shape[*at] : 0;
    };
    const op_info& op = n.op->functional();
    if (n.operand_count == 0 || meta_of(n.operand(0)) == nullptr) return 0;
    if (&op == &info_of<aten::embedding>) return size(n.operand(0), 0);
    if (&op == &info_of<aten::gather>) return size(n.operand(0), args_of<aten::gather>(n).dim);
    if (&op == &info_of<aten::index_select>) return size(n.operand(0), args_of<aten::index_select>(n).dim);
    if (&op == &info_of<aten::index_tensor> || &op == &info_of<aten::_unsafe_index_tensor>) {
        std::int64_t largest = 0;
        for (const std::int64_t extent : meta_of(n.operand(0))->shape) largest = std::max(largest, extent);
        return largest;
    }
    return 0;
}

}  // namespace detail

HEADRACE_INLINE integer_needs::integer_needs(const graph& g, const value_ranges& ranges) : ranges_(ranges) {
    walk(g, integer_need::number);
}

HEADRACE_INLINE integer_need integer_needs::of(value v) const {
    const auto at = known_.find(v.producer);
    return at == known_.end() ? integer_need::none : at->second[v.result];
}

HEADRACE_INLINE void integer_needs::raise(value v, integer_need to) {
    auto& all = known_[v.producer];
    all.resize(v.producer->result_count);
    all[v.result] = std::max(all[v.result], to);
}

HEADRACE_INLINE integer_need integer_needs::of_results(const node& n) const {
    integer_need most = integer_need::none;
    for (std::uint32_t i = 0; i != n.result_count; ++i) most = std::max(most, of({const_cast<node*>(&n), i}));
    return most;
}

HEADRACE_INLINE void integer_needs::walk(const graph& g, integer_need of_outputs) {
    for (const node* n = g.last(); n != nullptr; n = n->previous) {
        if (!is<builtin::output>(*n)) {
            visit(*n);
            continue;
        }
        for (const edge& e : n->operand_edges()) raise(*e.slot, of_outputs);
    }
}

HEADRACE_INLINE void integer_needs::visit(const node& n) {
    if (is<builtin::placeholder>(n) || is<builtin::constant>(n)) return;
    const bool acts = !is_pure(n) && !is<builtin::opaque>(n) && !holds_regions(*n.op);
    if (!acts && of_results(n) == integer_need::none) return;
    if (holds_regions(*n.op)) return visit_regions(n);
    for (const edge& e : n.operand_edges()) raise(*e.slot, of_operand(n, e));
}

HEADRACE_INLINE integer_need integer_needs::of_operand(const node& n, const edge& e) const {
    using enum integer_need;
    const integer_need wanted = of_results(n);
    if (detail::is_index(n, e)) return modular;
    const value_bounds result = n.result_count == 0 ? value_bounds() : ranges_.of({const_cast<node*>(&n), 0});
    const bool fits = detail::narrow_integers.contains(result.computed);
    // True if the other operands keep the magnitude of the number.
    const auto others_within = [&](const interval& limits, bool constant) {
        for (const edge& other : n.operand_edges()) {
            const value_bounds bounds = ranges_.of(*other.slot);
            if (&other != &e && (!limits.contains(bounds.held) || (constant && bounds.varies))) return false;
        }
        return true;
    };
    switch (detail::use_in(n)) {
        case detail::integer_use::moving:
            return wanted;
        case detail::integer_use::testing:
            return test;
        case detail::integer_use::selecting:
            return std::max(wanted, test);
        case detail::integer_use::offsetting:
            if (wanted == modular || fits) return modular;
            return others_within({-0x1p30L, 0x1p30L}, true) ? std::max(wanted, test) : arithmetic;
        case detail::integer_use::modular:
            if (wanted == modular || fits) return modular;
            return n.op->has(trait::binary) && others_within({-1, 1}, false) ? std::max(wanted, test)
                                                                             : arithmetic;
        case detail::integer_use::arithmetic:
            break;
    }
    return arithmetic;
}

// A carried value may be read in any iteration of a loop.
HEADRACE_INLINE void integer_needs::visit_regions(const node& n) {
    const bool is_cond = is<higher_order::cond>(n);
    for_each_region(n, [&](const field_info&, const graph* region) {
        if (region == nullptr) return;
        walk(*region, is_cond ? of_results(n) : integer_need::number);
        std::size_t at = is_cond ? 1 : 0;
        for (const node& input : region->inputs()) {
            if (at < n.operand_count) raise(n.operand(at), of({const_cast<node*>(&input), 0}));
            ++at;
        }
    });
    for (const edge& e : n.operand_edges()) {
        if (!is_cond) raise(*e.slot, integer_need::number);
    }
}

namespace detail {

/// Returns the bounds of inputs that are indices, by node. Ops that only move an index are looked through.
inline std::unordered_map<const node*, interval> bounds_of_indices(const graph& g) {
    std::unordered_map<const node*, interval> known;
    for (const node& n : g.nodes()) {
        const std::int64_t size = indexed_size(n);
        if (size == 0 || n.first_use == nullptr) continue;
        for (const edge& e : n.operand_edges()) {
            if (!is_index(n, e)) continue;
            value v = *e.slot;
            constexpr trait whole = trait::reshaping | trait::permuting | trait::broadcasting |
                trait::forwarding | trait::copying | trait::casting;
            while (v.producer->op->has(whole) && v.producer->operand_count == 1) v = v.producer->operand(0);
            const interval held{-static_cast<bound>(size), static_cast<bound>(size - 1)};
            if (!is<builtin::placeholder>(*v.producer) || !may_be_wide(meta_of(v))) continue;
            const auto at = known.emplace(v.producer, held).first;
            at->second = at->second & held;
        }
    }
    return known;
}

inline bool is_input_of(const graph& g, const node& n) {
    return is<builtin::placeholder>(n) && n.owner == &g;
}

}  // namespace detail

HEADRACE_INLINE integer_widths find_wide_integers(const graph& g) {
    const auto indices = detail::bounds_of_indices(g);
    const auto bounded = [&](value v, const value_bounds& b) {
        const auto known = indices.find(v.producer);
        if (known == indices.end()) return b;
        return value_bounds{known->second, known->second, attainment::unknown, true};
    };
    const value_ranges widest(g, bounded);
    const integer_needs needs(g, widest);
    integer_widths found;
    const value_ranges narrowed(g, [&](value v, const value_bounds& b) {
        value_bounds kept = bounded(v, b);
        const tensor_meta* const meta = meta_of(v);
        const integer_need need = needs.of(v);
        if (!detail::may_be_wide(meta) || is<builtin::constant>(*v.producer) ||
            need <= integer_need::modular ||
            (detail::narrow_integers.contains(kept.computed) &&
                !(need == integer_need::test && detail::is_input_of(g, *v.producer))))
            return kept;
        const bool is_input = is<builtin::placeholder>(*v.producer);
        const interval assumed =
            is_input && need == integer_need::test ? interval{-0x1p30L, 0x1p30L} : detail::narrow_integers;
        if (!is_input) {
            found.values.push_back({v, meta->dtype, kept.computed, kept.attained != attainment::unknown});
        } else if (detail::is_input_of(g, *v.producer)) {
            found.inputs.push_back({v.producer, assumed, need == integer_need::arithmetic});
        }
        kept.held = kept.held & assumed;
        kept.computed = kept.held;
        kept.attained = attainment::unknown;
        return kept;
    });
    return found;
}

HEADRACE_INLINE std::unordered_map<const node*, std::string> find_host_integers(const graph& g) {
    const auto indices = detail::bounds_of_indices(g);
    const value_ranges ranges(g, [&](value v, const value_bounds& b) {
        const auto known = indices.find(v.producer);
        if (known == indices.end()) return b;
        return value_bounds{known->second, known->second, attainment::unknown, true};
    });
    const integer_needs needs(g, ranges);
    const auto is_wide = [&](value v) {
        return detail::may_be_wide(meta_of(v)) && !detail::narrow_integers.contains(ranges.of(v).computed);
    };
    std::unordered_map<const node*, std::string> found;
    for (const node& n : g.nodes()) {
        if (is_of_dialect<builtin::dialect>(n)) continue;
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            const value v{const_cast<node*>(&n), i};
            if (is_wide(v) && needs.of(v) > integer_need::modular)
                found.emplace(&n, "its result may not fit in 32 bits, and TOSA 1.0 has no INT64");
        }
        for (const edge& e : n.operand_edges()) {
            if (is_wide(*e.slot) && needs.of(*e.slot) > integer_need::modular &&
                needs.of_operand(n, e) > integer_need::modular)
                found.emplace(&n,
                    std::string(e.source->name()) +
                        ", which it reads, may not fit in 32 bits, and TOSA 1.0 has no INT64");
        }
    }
    return found;
}

}  // namespace headrace

#endif
