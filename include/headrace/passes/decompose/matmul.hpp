// SPDX-License-Identifier: MIT
// Defines the decompositions into products of matrices: einsum, matmul, attention.
#ifndef HEADRACE_PASSES_DECOMPOSE_MATMUL_HPP
#define HEADRACE_PASSES_DECOMPOSE_MATMUL_HPP

#include <cmath>
#include <string>

#include <headrace/infer/aten/einsum.hpp>
#include <headrace/passes/decompose/expressions.hpp>

namespace headrace {

struct decompose_rearrangements;
/// Decomposes torch.einsum. Labels that only one of two operands has and that are not needed later are
/// summed. Labels that both have become batches if they are needed later, and are contracted otherwise. A
/// label that occurs twice in one operand means its diagonal, and an axis of size 1 is broadcast.
struct decompose_einsum : pass_in<decomposition> {
    using runs_before = pass_list<decompose_rearrangements>;
    static constexpr std::string_view summary =
        "einsum as products of matrices, two operands at a time from the left";

    static auto rewrites() { return rules(on<aten::einsum> = code<contracted>()); }

private:
    using made =
        ops<aten::permute, aten::view, aten::matmul, aten::sum_dim_intlist, aten::diagonal, aten::expand>;
    using text = std::pmr::string;
    /// A tensor and a label for each of its axes.
    struct labelled {
        term tensor;
        text labels;
    };

    static value contracted(emit<made> e, const args<aten::einsum>& a) {
        auto equation = parse_einsum(a.equation);
        if (!equation) return e.fail(std::move(equation).error());
        pmr_vector<labelled> operands;
        for (std::size_t i = 0; i != a.tensors.size(); ++i) {
            const term tensor(e, a.tensors[i]);
            operands.push_back({tensor, einsum_axes(equation.value().operands[i], tensor.rank())});
        }
        const text result = einsum_axes(equation.value().result, e.result_meta().rank());
        spread(e, operands);
        labelled so_far = operands[0];
        for (std::size_t i = 1; i != operands.size(); ++i) {
            text needed = result;
            for (std::size_t k = i + 1; k != operands.size(); ++k) needed += operands[k].labels;
            so_far = contract(e, so_far, operands[i], needed);
        }
        return arranged(summed(so_far, result), result).value();
    }
    static bool has(const text& labels, char c) { return labels.find(c) != text::npos; }

    // Gives each label exactly one axis in each operand that has it, and one size.
    static void spread(const emitter& e, pmr_vector<labelled>& operands) {
        std::array<std::int64_t, 128> size{};
        const auto size_of = [&](char label) -> std::int64_t& {
            return size[static_cast<unsigned char>(label)];
        };
        for (auto& [tensor, labels] : operands) {
            for (std::size_t i = 0; i != labels.size() && !e.failed();) {
                const char label = labels[i];
                const std::size_t again = labels.find(label, i + 1);
                if (again == text::npos) {
                    ++i;
                } else {
                    tensor = call<aten::diagonal>(
                        tensor, 0, static_cast<std::int64_t>(i), static_cast<std::int64_t>(again));
                    labels.erase(again, 1).erase(i, 1) += label;
                }
            }
            for (std::size_t i = 0; i != labels.size() && !e.failed(); ++i) {
                if (size_of(labels[i]) <= 1) size_of(labels[i]) = tensor.shape()[i];
            }
        }
        for (auto& [tensor, labels] : operands) {
            shape_builder shape;
            for (const char label : labels) shape.push_back(size_of(label));
            if (!e.failed()) tensor = expanded(tensor, int_list(shape));
        }
    }
    // Sums over the labels that are no longer needed.
    static labelled summed(const labelled& t, const text& needed) {
        shape_builder axes;
        text left;
        for (std::size_t i = 0; i != t.labels.size(); ++i) {
            if (has(needed, t.labels[i])) {
                left += t.labels[i];
            } else {
                axes.push_back(static_cast<std::int64_t>(i));
            }
        }
        return axes.empty() ? t : labelled{call<aten::sum_dim_intlist>(t.tensor, int_list(axes)), left};
    }
    // Permutes the tensor's axes to the order of `labels`.
    static term arranged(const labelled& t, const text& labels) {
        if (t.labels == labels) return t.tensor;
        shape_builder order;
        for (const char c : labels) order.push_back(static_cast<std::int64_t>(t.labels.find(c)));
        return call<aten::permute>(t.tensor, int_list(order));
    }
    static shape_builder shape_of(const labelled& t, const text& labels) {
        shape_builder shape;
        for (const char c : labels) shape.push_back(t.tensor.shape()[t.labels.find(c)]);
        return shape;
    }
    // Reshapes to [batch…, rows, columns]; rows and columns may each combine several axes.
    static term matrices(const labelled& t, const text& batch, const text& rows, const text& columns) {
        shape_builder shape = shape_of(t, batch);
        shape.push_back(element_count(shape_of(t, rows)));
        shape.push_back(element_count(shape_of(t, columns)));
        return call<aten::view>(arranged(t, batch + rows + columns), int_list(shape));
    }
    static labelled contract(const emitter& e, labelled a, labelled b, const text& needed) {
        if (e.failed()) return a;
        a = summed(a, needed + b.labels);
        b = summed(b, needed + a.labels);
        if (e.failed()) return a;
        text batch, inner, rows, columns;
        for (const char c : a.labels) (!has(b.labels, c) ? rows : has(needed, c) ? batch : inner) += c;
        for (const char c : b.labels) {
            if (!has(a.labels, c)) columns += c;
        }
        shape_builder shape = shape_of(a, batch);
        shape.append(shape_of(a, rows));
        shape.append(shape_of(b, columns));
        const term product =
            call<aten::matmul>(matrices(a, batch, rows, inner), matrices(b, batch, inner, columns));
        return {call<aten::view>(product, int_list(shape)), batch + rows + columns};
    }
};
HEADRACE_COMPILED_PASS(decompose_einsum);

/// `bmm` is TOSA's only product: operands gain axes of size 1, and batches are broadcast (torch.matmul). A
/// beta of 0 ignores self, including NaN. linear is kept, unless its weight is a vector or it takes integers.
struct decompose_matmul : pass_in<decomposition> {
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
struct decompose_attention : pass_in<decomposition> {
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
                const auto causal = [&] { return keep_where(all, never, not_after); };
                const auto scores = choose(a.is_causal, causal, all);
                return call<aten::matmul>(attended(scores, a.attn_mask), for_heads(v));
            };
            const char* dropout = "attention with dropout; export the model after model.eval()";
            return refuse_if(a.dropout_p != 0, q, dropout, attention);
        });
    }

private:
    static constexpr double never = -HUGE_VAL;

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
