// SPDX-License-Identifier: MIT
// Defines headrace::canonicalize_pooling.
#ifndef HEADRACE_PASSES_NORMALIZE_CANONICALIZE_POOLING_HPP
#define HEADRACE_PASSES_NORMALIZE_CANONICALIZE_POOLING_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Rewrites pooling over one spatial axis, or without a batch, to `avg_pool2d`, `max_pool2d` and
/// `adaptive_avg_pool2d` over [N, C, H, W], and drops indices that are not read.
struct canonicalize_pooling : pass {
    using runs_after = pass_list<canonical_variants>;
    using ensures = pass_list<canonical_pooling>;
    static constexpr std::string_view summary =
        "poolings over one axis or without a batch as poolings over [N, C, H, W]";
    using one_dimensional = ops<aten::avg_pool1d, aten::max_pool1d, aten::adaptive_avg_pool1d>;
    using unbatched = ops<aten::avg_pool2d, aten::max_pool2d, aten::adaptive_avg_pool2d>;
    using targeted_ops = joined<one_dimensional, unbatched,
        ops<aten::_adaptive_avg_pool2d, aten::max_pool1d_with_indices, aten::max_pool2d_with_indices,
            aten::adaptive_max_pool1d, aten::adaptive_max_pool2d>>;
    using produces = ops<aten::avg_pool2d, aten::max_pool2d, aten::adaptive_avg_pool2d,
        aten::adaptive_max_pool2d, aten::unsqueeze, aten::squeeze_dim>;

    value operator()(const args<aten::avg_pool1d>& a, emit<produces>& e) const {
        return over_rows(e, a.self, [&](value rows) {
            return e.make<aten::avg_pool2d>({.self = rows,
                .kernel_size = {1, a.kernel_size[0]},
                .stride = {1, first_of(a.stride, a.kernel_size[0])},
                .padding = {0, a.padding[0]},
                .ceil_mode = a.ceil_mode,
                .count_include_pad = a.count_include_pad});
        });
    }
    value operator()(const args<aten::max_pool1d>& a, emit<produces>& e) const { return max_of_rows(e, a); }
    std::tuple<value, value> operator()(
        const args<aten::max_pool1d_with_indices>& a, emit<produces>& e) const {
        return {indices_are_used(e) ? refuse_indices(e) : max_of_rows(e, a), {}};
    }
    value operator()(const args<aten::adaptive_avg_pool1d>& a, emit<produces>& e) const {
        return over_rows(e, a.self, [&](value rows) {
            return e.make<aten::adaptive_avg_pool2d>({.self = rows, .output_size = {1, a.output_size[0]}});
        });
    }

    std::tuple<value, value> operator()(const args<aten::adaptive_max_pool1d>& a, emit<produces>& e) const {
        if (indices_are_used(e)) return {refuse_indices(e), {}};
        const auto pool = [&](value rows) {
            return e.make<aten::adaptive_max_pool2d>({.self = rows, .output_size = {1, a.output_size[0]}});
        };
        return {over_rows(e, a.self, pool), {}};
    }

    template <one_of<unbatched> Op>
    std::optional<value> operator()(Op, const args<Op>& a, emit<produces>& e) const {
        if (e.rank(a.self) == 4) return std::nullopt;
        return over_batch(e, a.self, [&](value batch) {
            args<Op> same = a;
            same.self = batch;
            return e.make<Op>(same);
        });
    }

    value operator()(const args<aten::_adaptive_avg_pool2d>& a, emit<produces>& e) const {
        return over_batch(e, a.self, [&](value batch) {
            return e.make<aten::adaptive_avg_pool2d>({.self = batch, .output_size = a.output_size});
        });
    }

    std::tuple<value, value> operator()(
        const args<aten::max_pool2d_with_indices>& a, emit<produces>& e) const {
        if (indices_are_used(e)) return {refuse_indices(e), {}};
        const auto pool = [&](value batch) {
            return e.make<aten::max_pool2d>({.self = batch,
                .kernel_size = a.kernel_size,
                .stride = a.stride,
                .padding = a.padding,
                .dilation = a.dilation,
                .ceil_mode = a.ceil_mode});
        };
        return {over_batch(e, a.self, pool), {}};
    }
    std::optional<std::tuple<value, value>> operator()(
        const args<aten::adaptive_max_pool2d>& a, emit<produces>& e) const {
        if (indices_are_used(e)) return std::tuple{refuse_indices(e), value{}};
        if (e.rank(a.self) == 4) return std::nullopt;
        const auto pool = [&](value batch) {
            return e.make<aten::adaptive_max_pool2d>({.self = batch, .output_size = a.output_size});
        };
        return std::tuple{over_batch(e, a.self, pool), value{}};
    }

private:
    static bool indices_are_used(const emitter& e) {
        return use_count({const_cast<node*>(&e.current()), 1}) != 0;
    }
    static value refuse_indices(emitter& e) {
        return e.unsupported("TOSA's poolings give no indices; use only the first result");
    }
    static std::int64_t first_of(const int_list& list, std::int64_t otherwise) {
        return list.empty() ? otherwise : list[0];
    }

    static value max_of_rows(emit<produces>& e, const auto& a) {
        return over_rows(e, a.self, [&](value rows) {
            return e.make<aten::max_pool2d>({.self = rows,
                .kernel_size = {1, a.kernel_size[0]},
                .stride = {1, first_of(a.stride, a.kernel_size[0])},
                .padding = {0, a.padding[0]},
                .dilation = {1, a.dilation[0]},
                .ceil_mode = a.ceil_mode});
        });
    }
    static value over_batch(emit<produces>& e, value v, const auto& pool) {
        if (e.rank(v) == 4) return pool(v);
        return e.make<aten::squeeze_dim>(
            {.self = pool(e.make<aten::unsqueeze>({.self = v, .dim = 0})), .dim = 0});
    }
    static value over_rows(emit<produces>& e, value v, const auto& pool) {
        const value rows = e.make<aten::unsqueeze>({.self = v, .dim = -2});
        return e.make<aten::squeeze_dim>({.self = over_batch(e, rows, pool), .dim = -2});
    }
};
HEADRACE_COMPILED_PASS(canonicalize_pooling);

}  // namespace headrace

#endif
