// SPDX-License-Identifier: MIT
// Defines headrace::transpose_before_matmul.
#ifndef HEADRACE_PASSES_NPU_TRANSPOSE_BEFORE_MATMUL_HPP
#define HEADRACE_PASSES_NPU_TRANSPOSE_BEFORE_MATMUL_HPP

#include <optional>

#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/permuting.hpp>
#include <headrace/target/preferences.hpp>

namespace headrace {

struct copy_before_planes;
/// Separates the transpose of a MATMUL's second matrices from moves of other axes, as for the keys of
/// attention. An Ethos-U85 reads the second matrices transposed, so Vela puts a TRANSPOSE before each MATMUL,
/// and cancels it with an inverse one. It cannot do so if the TRANSPOSE also moves other axes, so such a
/// TRANSPOSE is split in two.
struct transpose_before_matmul : pass {
    using phase = tuning;
    using runs_before = pass_list<copy_before_planes>;
    static constexpr std::string_view summary =
        "transposes the second matrices of a MATMUL by themselves, after their other axes";

    using targeted_ops = ops<tosa::matmul>;
    using produces = joined<build::permute_ops, ops<tosa::matmul>>;

    [[nodiscard]] bool should_run(const graph& g) const {
        return preferences_of(g.target()).reads_matrices_transposed;
    }

    std::optional<value> operator()(const args<tosa::matmul>& a, emit<produces>& e) const {
        const auto matrices = has_one_use(a.b) ? before_transpose(a.b, e) : std::nullopt;
        if (!matrices) return std::nullopt;
        args<tosa::matmul> product = a;
        product.b = build::transpose(e, *matrices, shape_builder{0, 2, 1});
        return e.make<tosa::matmul>(product);
    }

private:
    // Returns [N, W, C] for a value that is transposed to [N, C, W] together with other axes, or through
    // RESHAPEs. W is the outermost of the axes moved.
    static std::optional<value> before_transpose(value v, emit<produces>& e) {
        const shape_builder shape(e.shape(v));
        while (const auto* split = match<tosa::reshape>(v)) {
            v = split->input1;
            if (!has_one_use(v)) return std::nullopt;
        }
        const auto* moved = match<tosa::transpose>(v);
        if (moved == nullptr || shape_builder(moved->perms) == shape_builder{0, 2, 1}) return std::nullopt;
        const auto merged = build::merge_axes(e.shape(moved->input1), moved->perms);
        if (merged.perms != shape_builder{1, 0} || merged.shape[0] != shape[2]) return std::nullopt;
        const value rows = build::reshape(e, moved->input1, shape_builder{shape[2], shape[0], shape[1]});
        return build::permute(e, rows, shape_builder{1, 0, 2});
    }
};
HEADRACE_COMPILED_PASS(transpose_before_matmul);

}  // namespace headrace

#endif
