// SPDX-License-Identifier: MIT
// Defines headrace::decompose_adaptive_pooling.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_ADAPTIVE_POOLING_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_ADAPTIVE_POOLING_HPP

#include <algorithm>
#include <cstdint>
#include <tuple>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Decomposes adaptive pooling. Output i pools the bin [floor(i · in / out), ceil((i + 1) · in / out)) of its
/// axis (PyTorch, torch.nn.AdaptiveAvgPool2d). If all bins of both axes have equal sizes and strides, a
/// single pooling does it; otherwise one axis is pooled after the other, bin by bin.
struct decompose_adaptive_pooling : pass {
    using phase = decomposition;
    using runs_after = pass_list<canonical_pooling>;
    static constexpr std::string_view summary =
        "adaptive pooling as one pooling of equal bins, or bin by bin and concatenated";

    using targeted_ops = ops<aten::adaptive_avg_pool2d, aten::adaptive_max_pool2d>;
    using produces = ops<aten::avg_pool2d, aten::max_pool2d, aten::slice_tensor, aten::cat>;

    value operator()(const args<aten::adaptive_avg_pool2d>& a, emit<produces>& e) const {
        return pool<aten::avg_pool2d>(e, a.self);
    }
    std::tuple<value, value> operator()(const args<aten::adaptive_max_pool2d>& a, emit<produces>& e) const {
        return {pool<aten::max_pool2d>(e, a.self), {}};
    }

private:
    struct bins {
        std::int64_t in = 1;
        std::int64_t out = 1;

        [[nodiscard]] constexpr std::int64_t begin(std::int64_t i) const { return i * in / out; }
        [[nodiscard]] constexpr std::int64_t end(std::int64_t i) const {
            return ((i + 1) * in + out - 1) / out;
        }
        [[nodiscard]] constexpr std::int64_t size() const { return end(0); }
        [[nodiscard]] constexpr std::int64_t stride() const { return out == 1 ? in : begin(1); }
        // With a remainder of r elements, the last bin begins r - 1 elements later than `stride` implies.
        [[nodiscard]] constexpr bool uniform() const { return out == 1 || (in % out <= 1 && in >= out); }
    };

    template <class Pool>
    static value pool(emit<produces>& e, value v) {
        const bins h{e.shape(v)[2], e.result_meta().shape[2]};
        const bins w{e.shape(v)[3], e.result_meta().shape[3]};
        if (std::min({h.in, h.out, w.in, w.out}) < 1)
            return e.unsupported("pooling from or to an empty tensor: TOSA has no empty tensors");
        if (h.uniform() && w.uniform()) {
            return e.make<Pool>(
                {.self = v, .kernel_size = {h.size(), w.size()}, .stride = {h.stride(), w.stride()}});
        }
        // The mean over a bin is the mean of its row means, since all rows of a bin have the same length.
        return along<Pool>(e, along<Pool>(e, v, 2, h), 3, w);
    }

    template <class Pool>
    static value along(emit<produces>& e, value v, std::int64_t axis, const bins& b) {
        const auto pool_once = [&](value part, std::int64_t size, std::int64_t stride) {
            const bool rows = axis == 2;
            return e.make<Pool>({.self = part,
                .kernel_size = {rows ? size : 1, rows ? 1 : size},
                .stride = {rows ? stride : 1, rows ? 1 : stride}});
        };
        if (b.uniform()) return pool_once(v, b.size(), b.stride());
        if (!e.may_unroll(b.out)) return {};
        value_list parts;
        for (std::int64_t i = 0; i != b.out; ++i) {
            const value bin =
                e.make<aten::slice_tensor>({.self = v, .dim = axis, .start = b.begin(i), .end = b.end(i)});
            parts.push_back(pool_once(bin, b.end(i) - b.begin(i), 1));
        }
        return e.make<aten::cat>({.tensors = parts, .dim = axis});
    }
};
HEADRACE_COMPILED_PASS(decompose_adaptive_pooling);

}  // namespace headrace

#endif
