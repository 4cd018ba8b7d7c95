// SPDX-License-Identifier: MIT
// Defines headrace::transpose_before_matmul.
#ifndef HEADRACE_PASSES_NPU_TRANSPOSE_BEFORE_MATMUL_HPP
#define HEADRACE_PASSES_NPU_TRANSPOSE_BEFORE_MATMUL_HPP

#include <optional>

#include <headrace/passes/npu/tuning.hpp>
#include <headrace/passes/support/permuting.hpp>

namespace headrace {

struct copy_before_planes;
/// As with the keys of an attention. An Ethos-U85 reads the second matrices transposed, so Vela puts a
/// TRANSPOSE before each MATMUL, and drops it with one that is its inverse. A TRANSPOSE that moves other axes
/// as well does not let it: it becomes two.
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
        const auto* moved = match<tosa::transpose>(a.b);
        // Rows of the operand are to stay rows after the first step.
        const bool keeps_rows = moved != nullptr && moved->perms[1] == 2 && moved->perms[0] != 0;
        if (!keeps_rows || !has_one_use(a.b)) return std::nullopt;
        const value matrices =
            build::transpose(e, moved->input1, shape_builder{moved->perms[0], moved->perms[2], 2});
        args<tosa::matmul> product = a;
        product.b = build::transpose(e, matrices, shape_builder{0, 2, 1});
        return e.make<tosa::matmul>(product);
    }
};
HEADRACE_COMPILED_PASS(transpose_before_matmul);

}  // namespace headrace

#endif
