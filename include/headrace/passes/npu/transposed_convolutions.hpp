// SPDX-License-Identifier: MIT
// Defines headrace::interleave_rows, which computes transposed convolutions by ordinary ones.
#ifndef HEADRACE_PASSES_NPU_TRANSPOSED_CONVOLUTIONS_HPP
#define HEADRACE_PASSES_NPU_TRANSPOSED_CONVOLUTIONS_HPP

#include <cstddef>
#include <optional>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/passes/npu/preferring.hpp>
#include <headrace/passes/support/repeating.hpp>
#include <headrace/passes/support/transposed_rows.hpp>

namespace headrace {

struct halve_windows;
struct pair_columns;
struct read_last_column;
struct remove_whole_clamps;
struct stage_image;

/// Computes a transposed convolution, with the RESCALE and the CLAMP or TABLE after it, as a convolution for
/// each row within the stride. Vela spreads the image by zeros or unrolls the stride, and fuses no RESCALE
/// with factors of its own for each channel into a TRANSPOSE_CONV2D. A kernel of 4 x 4 with stride 2 on
/// 64 x 64 pixels of 32 channels takes a quarter of the cycles. Cores have faster kernels for ordinary
/// convolutions, which write the narrow result instead of INT32.
struct interleave_rows : tuned_for<&target_preferences::interleaves_rows> {
    using runs_before =
        pass_list<halve_windows, stage_image, pair_columns, read_last_column, remove_whole_clamps>;
    static constexpr std::string_view summary =
        "lowers a TRANSPOSE_CONV2D to a CONV2D for each row within the stride, columns as channels";

    static auto rewrites() {
        return rules(on<tosa::rescale> = code<interleaved<tosa::rescale>>(),
            on<tosa::clamp> = code<interleaved<tosa::clamp>>(),
            on<tosa::table> = code<interleaved<tosa::table>>());
    }

private:
    using rows = build::transposed_rows;
    using made = joined<rows::made, ops<tosa::conv2d, tosa::rescale, tosa::clamp, tosa::table>>;

    // Rewrites the last op of a chain, so that nothing computed for each element is left after the joined
    // rows.
    template <class Op>
    static std::optional<value> interleaved(emit<made> e, const args<Op>&) {
        const node& last = e.current();
        if (continues(last)) return std::nullopt;
        pmr_vector<const node*> chain;
        const node* at = &last;
        while (is_fused(*at)) {
            chain.push_back(at);
            const value before = at->operand(0);
            if (!has_one_use(before)) return std::nullopt;
            at = before.producer;
        }
        const auto* convolution = args_if<tosa::transpose_conv2d>(*at);
        if (convolution == nullptr || !is<tosa::rescale>(*chain.back())) return std::nullopt;
        const auto split = rows::of(e, *convolution, e.shape(chain.back()->operand(0)));
        if (!split) return std::nullopt;
        pmr_vector<value> parts =
            split->rows(e, [&](const args<tosa::conv2d>& a) { return e.make<tosa::conv2d>(a); });
        for (value& part : parts) {
            for (auto op = chain.rbegin(); op != chain.rend(); ++op)
                part = applied(e, **op, part, split->columns());
        }
        return split->joined_rows(e, parts);
    }

    static bool is_fused(const node& n) {
        return is<tosa::rescale>(n) || is<tosa::clamp>(n) || is<tosa::table>(n);
    }
    // True if the only user belongs to the chain, too.
    static bool continues(const node& n) {
        std::size_t count = 0, fused = 0;
        for (const edge& use : n.uses()) {
            ++count;
            fused += is<tosa::clamp>(*use.target) || is<tosa::table>(*use.target);
        }
        return count == 1 && fused == 1;
    }

    static value applied(emit<made> e, const node& n, value part, std::int64_t columns) {
        const auto* rescale = args_if<tosa::rescale>(n);
        if (rescale == nullptr) return build::remake<tosa::clamp, tosa::table>(e, n, {part});
        args<tosa::rescale> a = *rescale;
        a.input = part;
        if (a.per_channel) {
            a.multiplier = build::repeat(e, a.multiplier, columns);
            a.shift = build::repeat(e, a.shift, columns);
        }
        return e.make<tosa::rescale>(a);
    }
};
HEADRACE_COMPILED_PASS(interleave_rows);

}  // namespace headrace

#endif
