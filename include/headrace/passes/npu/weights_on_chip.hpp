// SPDX-License-Identifier: MIT
// Defines headrace::keep_weights_on_chip, which copies weights that many operators read to the chip.
#ifndef HEADRACE_PASSES_NPU_WEIGHTS_ON_CHIP_HPP
#define HEADRACE_PASSES_NPU_WEIGHTS_ON_CHIP_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/ir/edits.hpp>
#include <headrace/passes/fold/redundancies.hpp>
#include <headrace/passes/npu/preferring.hpp>
#include <headrace/passes/support/build.hpp>

namespace headrace {

/// Copies the weight of a linear layer that several steps apply to one vector each, such as that of a
/// recurrent cell, to the chip: each step then multiplies it by a MATMUL. A CONV2D reads its weight from slow
/// memory each time it runs. Runs after constants are folded, which would undo the copy, and merged, which
/// says which steps share a weight.
struct keep_weights_on_chip : preferring<&target_preferences::on_chip_bytes> {
    using runs_after = pass_list<tosa_only, layouts_chosen, constants_folded, merge_equal_constants>;
    using runs_before = pass_list<merge_duplicates>;
    using invalidates = pass_list<duplicates_merged, nodes_sorted>;
    static constexpr std::string_view summary =
        "copies the weight that CONV2Ds of one pixel share to the chip, and multiplies it by MATMUL";

    using targeted_ops = ops<tosa::conv2d>;
    using produces = joined<build::reshape_ops, ops<tosa::max_pool2d, tosa::matmul, tosa::add>>;

    result<std::size_t> operator()(graph& g, pass_context& context) const {
        std::int64_t free = preferences_of(g.target()).on_chip_bytes / 2;  // the rest is for other tensors
        pmr_vector<shared_weight> chosen;
        for (node& n : g.nodes()) {
            shared_weight w = weight_in(n);
            const std::int64_t bytes = w.rows * w.columns;
            if (!pays(w) || bytes > free) continue;
            free -= bytes;
            chosen.push_back(std::move(w));
        }
        std::size_t count = 0;
        for (const shared_weight& w : chosen) {
            multiply(g, w, context);
            count += w.readers.size();
        }
        return count;
    }

private:
    /// A weight [rows, 1, 1, columns], and the CONV2Ds that multiply one pixel by it.
    struct shared_weight {
        value weight{};
        std::int64_t rows = 0, columns = 0;
        pmr_vector<node*> readers{};
    };

    static shared_weight weight_in(node& n) {
        if (!is<builtin::constant>(n) || n.results[0].meta == nullptr) return {};
        const tensor_meta& meta = *n.results[0].meta;
        if (meta.dtype != dtype::int8 || meta.rank() != 4 || meta.shape[1] != 1 || meta.shape[2] != 1)
            return {};
        shared_weight w{n.result(), meta.shape[0], meta.shape[3], {}};
        for (const edge& e : n.uses()) {
            if (multiplies_pixel(*e.target, w)) w.readers.push_back(e.target);
        }
        return w;
    }
    static bool multiplies_pixel(const node& n, const shared_weight& w) {
        const auto* const a = args_if<tosa::conv2d>(n);
        if (a == nullptr || a->weight != w.weight || a->input == w.weight) return false;
        const tensor_meta* const read = meta_of(a->input);
        const tensor_meta* const made = n.results[0].meta;
        return read != nullptr && made != nullptr && read->dtype == dtype::int8 &&
            made->dtype == dtype::int32 && read->shape == int_list{1, 1, 1, w.columns} &&
            made->shape == int_list{1, 1, 1, w.rows};
    }

    // Vela 5.2's estimates for ethos-u85-256, in hundredths of a cycle.
    static bool pays(const shared_weight& w) {
        constexpr double read_byte = 30.5, read_on_chip = 4.9, copied_byte = 56, finished_row = 710,
                         of_each = 48000;
        constexpr double bytes_of_bias = 10;
        const auto rows = static_cast<double>(w.rows);
        const double bytes = rows * static_cast<double>(w.columns);
        const double saved =
            read_byte * (bytes + bytes_of_bias * rows) - read_on_chip * bytes - finished_row * rows - of_each;
        return static_cast<double>(w.readers.size()) * saved > copied_byte * bytes;
    }

    static void multiply(graph& g, const shared_weight& w, pass_context& context) {
        node& first = **std::ranges::min_element(
            w.readers, [](const node* a, const node* b) { return graph::is_before(*a, *b); });
        emission at_first(g, &first, &first, context);
        emit<produces> copying(at_first);
        const value image = build::reshape(copying, w.weight, shape_builder{1, 1, w.rows, w.columns});
        const value staged = build::reshape(
            copying, build::copy_by_pooling(copying, image), shape_builder{1, w.rows, w.columns});
        for (node* n : w.readers) {
            emission made(g, n, n, context);
            emit<produces> e(made);
            const args<tosa::conv2d> a = args_of<tosa::conv2d>(*n);
            const value column = build::reshape(e, a.input, shape_builder{1, w.columns, 1});
            const value product = e.make<tosa::matmul>({.a = staged,
                .b = column,
                .a_zp = a.weight_zp,
                .b_zp = a.input_zp,
                .output_type = dtype::int32});
            const value row = build::reshape(e, product, shape_builder{1, 1, 1, w.rows});
            const value bias = build::reshape(e, a.bias, shape_builder{1, 1, 1, e.meta(a.bias).elements()});
            const value sum = e.make<tosa::add>(row, bias);
            if (!sum) continue;
            hand_over_name(n->results[0], sum);
            g.replace_all_uses(n->result(), sum);
            g.erase(*n);
        }
    }
};
HEADRACE_COMPILED_PASS(keep_weights_on_chip);

}  // namespace headrace

#endif
