// SPDX-License-Identifier: MIT
// Defines the decompositions into products of matrices: einsum, matmul, attention.
#ifndef HEADRACE_PASSES_DECOMPOSE_MATMUL_HPP
#define HEADRACE_PASSES_DECOMPOSE_MATMUL_HPP

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory_resource>
#include <string>

#include <headrace/infer/aten/einsum.hpp>
#include <headrace/passes/decompose/expressions.hpp>

namespace headrace {

struct decompose_rearrangements;
/// Decomposes torch.einsum. Labels that only one of two operands has and that are not needed later are
/// summed. Labels that both have become batches if they are needed later, and are contracted otherwise. A
/// label that occurs twice in one operand means its diagonal, and an axis of size 1 is broadcast.
struct decompose_einsum : pass {
    using phase = decomposition;
    using runs_before = pass_list<decompose_rearrangements>;
    static constexpr std::string_view summary =
        "einsum as products of matrices, two operands at a time from the left";

    static auto rewrites() { return rules(on<aten::einsum> = code<contracted>()); }

private:
    using made =
        ops<aten::permute, aten::view, aten::matmul, aten::sum_dim_intlist, aten::diagonal, aten::expand>;
    /// A tensor and a label for each of its axes.
    struct labelled {
        value tensor;
        std::pmr::string labels;
    };

    static value contracted(emit<made> e, const args<aten::einsum>& a) {
        auto equation = parse_einsum(a.equation);
        if (!equation) return e.fail(std::move(equation).error());
        pmr_vector<labelled> operands;
        for (std::size_t i = 0; i != a.tensors.size(); ++i) {
            operands.push_back(
                {a.tensors[i], einsum_axes(equation.value().operands[i], e.rank(a.tensors[i]))});
        }
        const std::pmr::string result = einsum_axes(equation.value().result, e.result_meta().rank());
        spread(e, operands);
        labelled so_far = operands[0];
        for (std::size_t i = 1; i != operands.size(); ++i) {
            std::pmr::string needed = result;
            for (std::size_t k = i + 1; k != operands.size(); ++k) needed += operands[k].labels;
            so_far = contract(e, so_far, operands[i], needed);
        }
        return arranged(e, summed(e, so_far, result), result);
    }
    static bool has(const std::pmr::string& labels, char c) {
        return labels.find(c) != std::pmr::string::npos;
    }
    // Gives each label exactly one axis in each operand that has it, and one size.
    static void spread(emit<ops<aten::diagonal, aten::expand>> e, pmr_vector<labelled>& operands) {
        std::array<std::int64_t, 128> size{};
        for (labelled& operand : operands) {
            for (std::size_t i = 0; i != operand.labels.size() && !e.failed();) {
                const std::size_t again = operand.labels.find(operand.labels[i], i + 1);
                if (again == std::pmr::string::npos) {
                    ++i;
                    continue;
                }
                operand.tensor = e.make<aten::diagonal>({.self = operand.tensor,
                    .offset = 0,
                    .dim1 = static_cast<std::int64_t>(i),
                    .dim2 = static_cast<std::int64_t>(again)});
                const char label = operand.labels[i];
                operand.labels.erase(again, 1);
                operand.labels.erase(i, 1);
                operand.labels += label;
            }
            for (std::size_t i = 0; i != operand.labels.size() && !e.failed(); ++i) {
                std::int64_t& known = size[static_cast<unsigned char>(operand.labels[i])];
                if (known <= 1) known = e.shape(operand.tensor)[i];
            }
        }
        for (labelled& operand : operands) {
            shape_builder shape;
            for (const char label : operand.labels) shape.push_back(size[static_cast<unsigned char>(label)]);
            if (!e.failed() && shape != shape_builder(e.shape(operand.tensor)))
                operand.tensor = e.make<aten::expand>({.self = operand.tensor, .size = int_list(shape)});
        }
    }
    // Sums over the labels that are no longer needed.
    static labelled summed(
        emit<ops<aten::sum_dim_intlist>> e, const labelled& t, const std::pmr::string& needed) {
        shape_builder axes;
        std::pmr::string left;
        for (std::size_t i = 0; i != t.labels.size(); ++i) {
            if (has(needed, t.labels[i])) {
                left += t.labels[i];
            } else {
                axes.push_back(static_cast<std::int64_t>(i));
            }
        }
        if (axes.empty()) return t;
        return {e.make<aten::sum_dim_intlist>({.self = t.tensor, .dim = int_list(axes)}), left};
    }
    // Permutes the tensor's axes to the order of `labels`.
    static value arranged(emit<ops<aten::permute>> e, const labelled& t, const std::pmr::string& labels) {
        if (t.labels == labels) return t.tensor;
        shape_builder order;
        for (const char c : labels) order.push_back(static_cast<std::int64_t>(t.labels.find(c)));
        return e.make<aten::permute>({.self = t.tensor, .dims = int_list(order)});
    }
    static shape_builder shape_of(const emitter& e, const labelled& t, const std::pmr::string& labels) {
        shape_builder shape;
        for (const char c : labels) shape.push_back(e.shape(t.tensor)[t.labels.find(c)]);
        return shape;
    }
    // Reshapes to [batch…, rows, columns]; rows and columns may each combine several axes.
    static value matrices(emit<ops<aten::permute, aten::view>> e, const labelled& t,
        const std::pmr::string& batch, const std::pmr::string& rows, const std::pmr::string& columns) {
        shape_builder shape = shape_of(e, t, batch);
        shape.push_back(element_count(shape_of(e, t, rows)));
        shape.push_back(element_count(shape_of(e, t, columns)));
        return e.make<aten::view>({.self = arranged(e, t, batch + rows + columns), .size = int_list(shape)});
    }
    static labelled contract(emit<made> e, labelled a, labelled b, const std::pmr::string& needed) {
        if (e.failed()) return a;
        a = summed(e, a, needed + b.labels);
        b = summed(e, b, needed + a.labels);
        if (e.failed()) return a;
        std::pmr::string batch, inner, rows, columns;
        for (const char c : a.labels) (!has(b.labels, c) ? rows : has(needed, c) ? batch : inner) += c;
        for (const char c : b.labels) {
            if (!has(a.labels, c)) columns += c;
        }
        shape_builder shape = shape_of(e, a, batch);
        shape.append(shape_of(e, a, rows));
        shape.append(shape_of(e, b, columns));
        const value product =
            e.make<aten::matmul>(matrices(e, a, batch, rows, inner), matrices(e, b, batch, inner, columns));
        return {e.make<aten::view>({.self = product, .size = int_list(shape)}), batch + rows + columns};
    }
};
HEADRACE_COMPILED_PASS(decompose_einsum);

/// `bmm` is TOSA's only product: operands gain axes of size 1, and batches are broadcast (torch.matmul). A
/// beta of 0 ignores self, including NaN. linear is kept, unless its weight is a vector or it takes integers.
struct decompose_matmul : pass {
    using phase = decomposition;
    static constexpr std::string_view summary =
        "mm, mv, dot, matmul as bmm; addmm as beta·self + alpha·product";

    static auto rewrites() {
        return rules(
            on<aten::mm, aten::mv, aten::dot, aten::matmul> = [](auto x, auto y) { return product(x, y); },
            on<aten::outer> =
                [](auto x, auto y) {
                    return call<aten::view>(x, int_list{-1, 1}) * call<aten::view>(y, int_list{1, -1});
                },
            on<aten::addmm, aten::baddbmm> =
                [](auto self, auto x, auto y, const auto& a) {
                    const auto xy = scaled(product(x, y), a.alpha);
                    return choose(a.beta.to_double() == 0, xy, [&] { return scaled(self, a.beta) + xy; });
                },
            on<aten::linear> =
                [](auto x, auto weight, const auto& a) {
                    const auto with_bias = [](auto v, auto bias) { return v + bias; };
                    return choose(
                        weight.rank() == 1,
                        [&] { return with_operand(product(x, weight), a.bias, with_bias); },
                        is_integral(x.dtype()),
                        [&] {
                            const auto columns = call<aten::permute>(weight, int_list{1, 0});
                            return with_operand(product(x, columns), a.bias, with_bias);
                        },
                        unchanged);
                });
    }

private:
    static auto product(const auto& x, const auto& y) {
        using made = ops<aten::bmm, aten::view, aten::expand>;
        return code<made>([](emit<made> e, value a, value b) { return product_of(e, a, b); }, x, y);
    }
    // [batch…, rows, inner] x [batch…, inner, columns].
    static value product_of(emit<ops<aten::bmm, aten::view, aten::expand>> e, value a, value b) {
        const int_list result = e.result_meta().shape;
        if (e.rank(a) == 1) a = e.make<aten::view>({.self = a, .size = {1, -1}});
        if (e.rank(b) == 1) b = e.make<aten::view>({.self = b, .size = {-1, 1}});
        const sizes shape_a = e.shape(a);
        const sizes shape_b = e.shape(b);
        if (shape_a.size() < 2 || shape_b.size() < 2) return {};
        auto batch = broadcast(shape_a.first(shape_a.size() - 2), shape_b.first(shape_b.size() - 2));
        if (!batch) return e.fail(std::move(batch).error());
        if (shape_b.size() == 2 && shape_a.size() > 2) {  // one matrix for all batches: these become rows
            const std::int64_t inner = shape_a.back();
            const std::int64_t rows = element_count(shape_a) / std::max<std::int64_t>(inner, 1);
            a = e.make<aten::view>({.self = a, .size = {1, rows, inner}});
            b = e.make<aten::view>({.self = b, .size = {1, shape_b[0], shape_b[1]}});
        } else {
            a = batched(e, a, batch.value());
            b = batched(e, b, batch.value());
        }
        return e.make<aten::view>({.self = e.make<aten::bmm>(a, b), .size = result});
    }
    // Broadcasts to the batch, and joins its axes into one.
    static value batched(emit<ops<aten::view, aten::expand>> e, value v, sizes batch) {
        const sizes shape = e.shape(v);
        const sizes matrix = shape.last(2);
        shape_builder wide(batch);
        wide.append(matrix);
        if (int_list(wide) != e.shape(v)) v = e.make<aten::expand>({.self = v, .size = int_list(wide)});
        if (wide.size() == 3) return v;
        return e.make<aten::view>({.self = v, .size = {element_count(batch), matrix[0], matrix[1]}});
    }
};
HEADRACE_COMPILED_PASS(decompose_matmul);

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
                return choose(!a.enable_gqa, x, [&] { return repeated_heads(x, q.size(-3)); });
            };
            const auto attention = [&] {
                const auto keys = transposed_matrix(for_heads(k) * factor);
                const auto all = call<aten::matmul>(q * factor, keys);
                const auto not_after = [](auto row, auto column) { return column <= row; };
                const auto causal = [&] { return keep_where(all, not_after, never); };
                const auto scores = choose(a.is_causal, causal, all);
                return call<aten::matmul>(attended(scores, a.attn_mask), for_heads(v));
            };
            const char* dropout = "attention with dropout; export the model after model.eval()";
            return refuse_if(a.dropout_p != 0, q, dropout, attention);
        });
    }

private:
    static constexpr double never = -infinity;

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
