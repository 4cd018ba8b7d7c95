// SPDX-License-Identifier: MIT
// Defines headrace::decompose_as_strided.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_AS_STRIDED_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_AS_STRIDED_HPP

#include <algorithm>
#include <memory_resource>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// as_strided(x, size, stride, offset)[i] = storage[offset + sum of i * stride] (PyTorch, torch.as_strided).
/// Of a tensor that lies in memory row by row, the storage is the flattened tensor: rows without gaps are a
/// slice of it, anything else is taken by index. A tensor that descends from a view of other strides has
/// another storage, and is refused.
struct decompose_as_strided : pass {
    using phase = decomposition;
    using targets = ops<aten::as_strided>;
    using produces = ops<aten::reshape, aten::narrow, aten::index_select>;

    value operator()(const args<aten::as_strided>& a, emit<produces>& e) const {
        const std::int64_t count = e.result_meta().elements();
        const std::int64_t offset = a.storage_offset.value_or(0);
        if (a.stride.size() != a.size.size() || !inside(a, e.meta(a.self).elements(), offset)) {
            return e.unsupported("as_strided must stay within the tensor");
        }
        if (!lies_row_by_row(e.owner(), a.self)) {
            return e.unsupported(
                "as_strided of a view whose storage is not known; call contiguous() before it and use "
                "view or permute");
        }
        constexpr std::int64_t most = std::int64_t{1} << 24;
        if (count > most) return e.unsupported("as_strided of more than 2^24 elements; use view or unfold");
        const value flat =
            e.make<aten::reshape>({.self = a.self, .shape = int_list{e.meta(a.self).elements()}});
        const value taken =
            without_gaps(a)
                ? e.make<aten::narrow>({.self = flat, .dim = 0, .start = offset, .length = count})
                : e.make<aten::index_select>({.self = flat, .dim = 0, .index = places(e, a, count, offset)});
        return e.make<aten::reshape>({.self = taken, .shape = e.result_meta().shape});
    }

private:
    static bool inside(const args<aten::as_strided>& a, std::int64_t elements, std::int64_t offset) {
        std::int64_t last = offset;
        for (std::size_t i = 0; i != a.size.size() && i != a.stride.size(); ++i) {
            if (a.stride[i] < 0) return false;
            last =
                saturating_add(last, saturating_mul(std::max<std::int64_t>(a.size[i] - 1, 0), a.stride[i]));
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
    static value places(emit<produces>& e, const args<aten::as_strided>& a, std::int64_t count,
                        std::int64_t offset) {
        std::pmr::vector<std::int32_t> at;
        for (std::int64_t i = 0; i != count; ++i) {
            std::int64_t place = offset;
            std::int64_t left = i;
            for (std::size_t d = a.size.size(); d-- != 0; left /= a.size[d])
                place += left % a.size[d] * a.stride[d];
            at.push_back(static_cast<std::int32_t>(place));
        }
        return e.constant<std::int32_t>(dtype::int32, sizes(&count, 1), at);
    }

    // Views that change strides, whose users may inherit these.
    using strided_views =
        ops<aten::permute, aten::transpose_int, aten::t, aten::movedim_int, aten::movedim_intlist,
            aten::expand, aten::broadcast_to, aten::expand_as, aten::slice_tensor, aten::narrow,
            aten::select_int, aten::unfold, aten::as_strided, aten::split_tensor, aten::split_sizes,
            aten::split_with_sizes, aten::chunk, aten::tensor_split_sections, aten::tensor_split_indices,
            aten::unbind_int>;
    static bool lies_row_by_row(const graph& g, value v) {
        std::pmr::vector<const node*> pending{v.producer};
        std::pmr::vector<bool> seen(g.id_bound());
        while (!pending.empty()) {
            const node& n = *pending.back();
            pending.pop_back();
            if (seen[n.id]) continue;
            seen[n.id] = true;
            if (is_any(n, strided_views{})) return false;
            for (std::uint32_t i = 0; i != n.result_count; ++i) {
                if (n.results[i].meta && !in_order(n.results[i].meta->dim_order)) return false;
            }
            for (const edge& e : n.operand_edges()) pending.push_back(e.source);
        }
        return true;
    }
    template <class... Ops>
    static bool is_any(const node& n, ops<Ops...>) {
        return (is<Ops>(n) || ...);
    }
    static bool in_order(sizes dim_order) {
        for (std::size_t i = 0; i != dim_order.size(); ++i) {
            if (dim_order[i] != static_cast<std::int64_t>(i)) return false;
        }
        return true;
    }
};

}  // namespace headrace

#endif
