// SPDX-License-Identifier: MIT
// Defines headrace::decompose_einsum.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_EINSUM_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_EINSUM_HPP

#include <array>
#include <cstdint>
#include <memory_resource>
#include <string>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/infer/aten/einsum.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

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

    using targeted_ops = ops<aten::einsum>;
    using produces =
        ops<aten::permute, aten::view, aten::matmul, aten::sum_dim_intlist, aten::diagonal, aten::expand>;

    value operator()(const args<aten::einsum>& a, emit<produces>& e) const {
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

private:
    /// A tensor and a label for each of its axes.
    struct labelled {
        value tensor;
        std::pmr::string labels;
    };

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

    static labelled contract(emit<produces>& e, labelled a, labelled b, const std::pmr::string& needed) {
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

}  // namespace headrace

#endif
