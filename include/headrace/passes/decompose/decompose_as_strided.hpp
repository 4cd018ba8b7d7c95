// SPDX-License-Identifier: MIT
// Defines headrace::decompose_as_strided.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_AS_STRIDED_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_AS_STRIDED_HPP

#include <algorithm>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/op/op_query.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Decomposes as_strided. The storage of a row-major tensor is the flat tensor: rows without gaps are a slice
/// of it, anything else is gathered by index. A tensor derived from a view with other strides has a different
/// storage, and is refused.
struct decompose_as_strided : pass {
    using phase = decomposition;
    static constexpr std::string_view summary =
        "as_strided(x, …)[i] as storage[offset + Σ i·stride] (torch.as_strided)";

    using targeted_ops = ops<aten::as_strided>;
    using produces = ops<aten::reshape, aten::narrow, aten::index_select>;

    value operator()(const args<aten::as_strided>& a, emit<produces>& e) const {
        const std::int64_t count = e.result_meta().elements();
        const std::int64_t stored = e.meta(a.self).elements();
        const std::int64_t offset = a.storage_offset.value_or(0);
        if (a.stride.size() != a.size.size() || !stays_inside(a, stored, offset))
            return e.unsupported("as_strided must stay within the tensor");
        if (!lies_row_by_row(e.owner(), a.self)) {
            return e.unsupported(
                "as_strided of a view whose storage is not known; call contiguous() before it and use "
                "view or permute");
        }
        if (!without_gaps(a) && !e.may_compute(count, dtype::int32)) return {};
        value v = e.make<aten::reshape>({.self = a.self, .shape = int_list{stored}});
        if (without_gaps(a)) {
            v = e.make<aten::narrow>({.self = v, .dim = 0, .start = offset, .length = count});
        } else {
            const value index =
                e.constant<std::int32_t>(dtype::int32, sizes(&count, 1), places(a, count, offset));
            v = e.make<aten::index_select>({.self = v, .dim = 0, .index = index});
        }
        return e.make<aten::reshape>({.self = v, .shape = e.result_meta().shape});
    }

private:
    static bool stays_inside(const args<aten::as_strided>& a, std::int64_t elements, std::int64_t offset) {
        std::int64_t last = offset;
        for (std::size_t i = 0; i != a.size.size(); ++i) {
            if (a.stride[i] < 0) return false;
            const std::int64_t steps = std::max<std::int64_t>(a.size[i] - 1, 0);
            last = saturating_add(last, saturating_mul(steps, a.stride[i]));
        }
        return offset >= 0 && last < elements;
    }
    static bool without_gaps(const args<aten::as_strided>& a) {
        std::int64_t expected = 1;
        for (std::size_t i = a.size.size(); i-- != 0; expected *= a.size[i]) {
            if (a.size[i] != 1 && a.stride[i] != expected) return false;
        }
        return true;
    }
    static pmr_vector<std::int32_t> places(
        const args<aten::as_strided>& a, std::int64_t count, std::int64_t offset) {
        pmr_vector<std::int32_t> at;
        for (std::int64_t i = 0; i != count; ++i) {
            std::int64_t place = offset;
            std::int64_t left = i;
            for (std::size_t d = a.size.size(); d-- != 0; left /= a.size[d])
                place += left % a.size[d] * a.stride[d];
            at.push_back(static_cast<std::int32_t>(place));
        }
        return at;
    }

    // Views that change strides, which values computed from them may inherit.
    static constexpr auto strided_views = set_where<aten::dialect, trait::aliasing> -
        set_where<aten::dialect, trait::forwarding | trait::reshaping | trait::casting>;
    static bool lies_row_by_row(const graph& g, value v) {
        pmr_vector<const node*> pending{v.producer};
        pmr_vector<bool> seen(g.id_bound());
        while (!pending.empty()) {
            const node& n = *pending.back();
            pending.pop_back();
            if (seen[n.id]) continue;
            seen[n.id] = true;
            if (strided_views.contains(*n.op)) return false;
            for (std::uint32_t i = 0; i != n.result_count; ++i) {
                if (!n.results[i].meta) continue;
                const int_list& order = n.results[i].meta->dim_order;
                if (!std::is_sorted(order.begin(), order.end())) return false;
            }
            for (const edge& e : n.operand_edges()) pending.push_back(e.source);
        }
        return true;
    }
};
HEADRACE_COMPILED_PASS(decompose_as_strided);

}  // namespace headrace

#endif
