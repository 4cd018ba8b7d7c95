// SPDX-License-Identifier: MIT
// Defines headrace::decompose_attention.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_ATTENTION_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_ATTENTION_HPP

#include <cmath>
#include <limits>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// softmax(q * s @ (k * s)^T + mask) @ v with s = sqrt(scale), scale by default 1 / sqrt(E) (PyTorch,
/// scaled_dot_product_attention). A boolean mask adds -inf where it is false; grouped queries repeat keys and
/// values.
struct decompose_attention : pass {
    using phase = decomposition;
    using targets = ops<aten::scaled_dot_product_attention>;
    using produces =
        ops<aten::matmul, aten::mul_tensor, aten::add_tensor, aten::transpose_int, aten::_safe_softmax,
            aten::softmax_int, aten::where_self, aten::unsqueeze, aten::expand, aten::view>;

    value operator()(const args<aten::scaled_dot_product_attention>& a, emit<produces>& e) const {
        if (a.dropout_p != 0)
            return e.unsupported("attention with dropout; export the model after model.eval()");
        const double width = static_cast<double>(e.shape(a.query).back());
        const double factor = std::sqrt(a.scale.value_or(1 / std::sqrt(width)));
        const auto scaled = [&](value v) {
            return e.make<aten::mul_tensor>(v, e.splat(factor, e.dtype(v), e.rank(v)));
        };
        const value key = a.enable_gqa ? repeated_heads(e, a.key, a.query) : a.key;
        const value values = a.enable_gqa ? repeated_heads(e, a.value, a.query) : a.value;
        const value keys = e.make<aten::transpose_int>({.self = scaled(key), .dim0 = -2, .dim1 = -1});
        value scores = e.make<aten::matmul>(scaled(a.query), keys);
        if (a.is_causal) scores = masked(e, scores, causal_mask(e, scores));
        if (!a.attn_mask)
            return e.make<aten::matmul>(e.make<aten::softmax_int>({.self = scores, .dim = -1}), values);
        if (is_boolean(e.dtype(*a.attn_mask))) {
            scores = masked(e, scores, *a.attn_mask);
        } else {
            scores = e.make<aten::add_tensor>(scores, *a.attn_mask);
        }
        // A query that may attend to nothing gets zeros.
        return e.make<aten::matmul>(e.make<aten::_safe_softmax>({.self = scores, .dim = -1}), values);
    }

private:
    static value masked(emit<produces>& e, value scores, value allowed) {
        const value never =
            e.splat(-std::numeric_limits<double>::infinity(), e.dtype(scores), e.rank(scores));
        return e.make<aten::where_self>(allowed, scores, never);
    }

    // [L, S], true where the key is not after the query.
    static value causal_mask(emit<produces>& e, value scores) {
        const sizes shape = e.shape(scores);
        if (shape.size() < 2) return {};
        const std::int64_t queries = shape[shape.size() - 2];
        const std::int64_t keys = shape.back();
        return e.constant({dtype::boolean, {queries, keys}, {}}, [&](std::span<std::byte> data) {
            for (std::int64_t q = 0; q != queries; ++q) {
                for (std::int64_t k = 0; k != keys; ++k)
                    data[static_cast<std::size_t>(q * keys + k)] = std::byte{k <= q};
            }
        });
    }

    // [N, heads, S, E], each head for as many queries as there are to a head.
    static value repeated_heads(emit<produces>& e, value v, value query) {
        const int_list shape = e.shape(v);
        const std::int64_t heads = e.shape(query)[shape.size() - 3];
        if (shape[shape.size() - 3] == heads) return v;
        const std::size_t axis = shape.size() - 3;
        shape_builder wide(shape);
        wide.insert(axis + 1, heads / shape[axis]);
        const value apart = e.make<aten::unsqueeze>({.self = v, .dim = static_cast<std::int64_t>(axis + 1)});
        shape_builder merged(shape);
        merged[axis] = heads;
        return e.make<aten::view>({.self = e.make<aten::expand>({.self = apart, .size = int_list(wide)}),
                                   .size = int_list(merged)});
    }
};

}  // namespace headrace

#endif
