// SPDX-License-Identifier: MIT
// Defines headrace::legalize_concat.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_CONCAT_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_CONCAT_HPP

#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/passes/legalize/promoting.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Lowers cat to CONCAT (TOSA 1.0, 2.9.1), in the dtype to which PyTorch promotes the tensors. Tensors
/// without elements are left out, including the empty tensors of rank 1 that torch.cat accepts with any
/// others.
struct legalize_concat : pass {
    using phase = legalization;
    static constexpr std::string_view summary = "cat to CONCAT";

    static auto rewrites() {
        return rules(on<aten::cat, aten::concat> =
                         code<made>([](emit<made> e, const auto& a) { return joint(e, a.tensors, a.dim); }));
    }

private:
    using made = joined<build::concat_ops, build::widen_ops>;
    static value joint(emit<made> e, const list<value>& tensors, std::int64_t dim) {
        const dtype type = narrowed(e.result_meta().dtype);
        pmr_vector<value> parts;
        for (const value v : tensors) {
            if (e.meta(v).elements() != 0) parts.push_back(build::widen(e, v, type));
        }
        if (parts.empty()) {
            return e.unsupported(
                "it joins only empty tensors: TOSA has no empty tensors; drop it from the model");
        }
        return build::concat(e, parts, build::axis_in(e, dim, e.result_meta().rank()));
    }
};
HEADRACE_COMPILED_PASS(legalize_concat);

}  // namespace headrace

#endif
