// SPDX-License-Identifier: MIT
// Defines headrace::decompose_attention.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_ATTENTION_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_ATTENTION_HPP

#include <cmath>
#include <limits>

#include <headrace/pass/pass.hpp>
#include <headrace/passes/decompose/triangles.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Decomposes scaled_dot_product_attention (PyTorch). Queries and keys are each multiplied by the root of the
/// scale s, 1 / √E by default. A boolean mask adds -inf where it is false; grouped queries repeat keys and
/// values.
struct decompose_attention : pass {
    using phase = decomposition;
    static constexpr std::string_view summary = "attention as softmax(q·√s @ (k·√s)ᵀ + mask) @ v";

    static auto rewrites() {
        return rules(on<aten::scaled_dot_product_attention> = [](auto q, auto k, auto v, const auto& a) {
            const double width = static_cast<double>(q.size(-1));
            const double factor = std::sqrt(a.scale.value_or(1 / std::sqrt(width)));
            const auto for_heads = [&](const auto& x) {
                return choose(
                    a.enable_gqa, [&] { return repeated_heads(x, q.size(-3)); }, x);
            };
            const auto attention = [&] {
                const auto keys = call<aten::transpose_int>(for_heads(k) * factor, -2, -1);
                const auto all = call<aten::matmul>(q * factor, keys);
                const auto not_after = [](auto row, auto column) { return column <= row; };
                const auto causal = [&] { return keep_where(all, not_after, never); };
                const auto scores = choose(a.is_causal, causal, all);
                return call<aten::matmul>(attended(scores, a.attn_mask), for_heads(v));
            };
            const char* dropout = "attention with dropout; export the model after model.eval()";
            return choose(
                a.dropout_p != 0, [&] { return q.unsupported(dropout); }, attention);
        });
    }

private:
    static constexpr double never = -std::numeric_limits<double>::infinity();

    // With a mask, a query that may attend to no key gets zeros.
    static auto attended(const auto& scores, const std::optional<value>& mask) {
        const auto masked = [&] {
            const auto m = scores.of(*mask);
            const auto allowed = [&] { return where(m, scores, never); };
            const auto sum = choose(is_boolean(m.dtype()), allowed, [&] { return scores + m; });
            return call<aten::_safe_softmax>(sum, -1);
        };
        return choose(mask.has_value(), masked, [&] { return call<aten::softmax_int>(scores, -1); });
    }

    // [..., heads, S, E], with each head repeated once per query head that uses it.
    static auto repeated_heads(const auto& x, std::int64_t heads) {
        const auto repeated = [&] {
            const std::size_t axis = x.rank() - 3;
            shape_builder wide(x.shape());
            wide.insert(axis + 1, heads / wide[axis]);
            shape_builder merged(x.shape());
            merged[axis] = heads;
            return call<aten::view>(call<aten::expand>(call<aten::unsqueeze>(x, -3), wide), merged);
        };
        return choose(x.rank() < 3 || x.size(-3) == heads, x, repeated);
    }
};
HEADRACE_COMPILED_PASS(decompose_attention);

}  // namespace headrace

#endif
