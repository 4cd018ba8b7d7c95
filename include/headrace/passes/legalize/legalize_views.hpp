// SPDX-License-Identifier: MIT
// Defines headrace::legalize_views.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_VIEWS_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_VIEWS_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/pass/rules.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/build.hpp>

namespace headrace {

/// Lowers every op that only changes the shape to RESHAPE (TOSA 1.0, 2.9.3). The new shape is known from
/// inference, however the op specifies it.
struct legalize_views : pass {
    using phase = legalization;
    static constexpr std::string_view summary =
        "view, flatten, squeeze and other changes of shape to RESHAPE";

    static auto rewrites() {
        return rules(on<aten::view, aten::_unsafe_view, aten::reshape, aten::view_as, aten::reshape_as,
                         aten::flatten_using_ints, aten::unflatten_int, aten::squeeze, aten::squeeze_dim,
                         aten::squeeze_dims, aten::unsqueeze> = [](auto x, const auto&...) {
            return code<build::reshape>(x, x.result_meta().shape);
        });
    }
};
HEADRACE_COMPILED_PASS(legalize_views);

}  // namespace headrace

#endif
