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
        const auto matrices = has_one_use(a.b) ? before_transpose(a.b, e) : std::nullopt;
        if (!matrices) return std::nullopt;
        args<tosa::matmul> product = a;
        product.b = build::transpose(e, *matrices, shape_builder{0, 2, 1});
        return e.make<tosa::matmul>(product);
    }

private:
    // [N, W, C], of which [N, C, W] is made with other axes on the way; rows of what that is made of stay
    // rows.
    static std::optional<value> before_transpose(value v, emit<produces>& e) {
        const shape_builder shape(e.shape(v));  // [N, C, W]
        const auto* split = match<tosa::reshape>(v);
        const auto* moved = match<tosa::transpose>(split == nullptr ? v : split->input1);
        if (moved == nullptr || (split != nullptr && !has_one_use(split->input1))) return std::nullopt;
        const shape_builder perms(moved->perms);
        if (split == nullptr) {
            if (perms.size() != 3 || perms[1] != 2 || perms[0] == 0) return std::nullopt;
            return build::transpose(e, moved->input1, shape_builder{perms[0], perms[2], 2});
        }
        if (perms != shape_builder{1, 0} || e.shape(moved->input1)[0] != shape[2]) return std::nullopt;
        const value rows = build::reshape(e, moved->input1, shape_builder{shape[2], shape[0], shape[1]});
        return build::permute(e, rows, shape_builder{1, 0, 2});
    }
};
HEADRACE_COMPILED_PASS(transpose_before_matmul);

}  // namespace headrace

#endif
