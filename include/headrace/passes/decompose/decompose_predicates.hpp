// SPDX-License-Identifier: MIT
// Defines headrace::decompose_predicates.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_PREDICATES_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_PREDICATES_HPP

#include <limits>

#include <headrace/pass/arithmetic.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

struct decompose_predicates : pass {
    using phase = function_decomposition;
    static constexpr std::string_view summary =
        "isnan(x) as x ≠ x; isinf, isfinite by |x| = ∞, |x| < ∞; nan_to_num by where";

    static auto rewrites() {
        return rules(
            on<aten::isnan> = [](auto x) { return of_real(x, false, [&] { return !(x == x); }); },
            on<aten::isinf> = [](auto x) { return of_real(x, false, [&] { return abs(x) == infinity; }); },
            on<aten::isfinite> = [](auto x) { return of_real(x, true, [&] { return abs(x) < infinity; }); },
            on<aten::nan_to_num> =
                [](auto x, const auto& a) {
                    const double largest = largest_of(x.dtype());
                    const auto replaced = [&] {
                        const auto number = where(x == x, x, a.nan.value_or(0));
                        const auto above = where(number == infinity, a.posinf.value_or(largest), number);
                        return where(above == -infinity, a.neginf.value_or(-largest), above);
                    };
                    return choose(is_floating(x.dtype()), replaced, x);
                });
    }

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    // Integers are always finite.
    static auto of_real(const auto& x, bool of_integers, const auto& answer) {
        return choose(is_floating(x.dtype()), answer, [&] { return x.filled(of_integers, dtype::boolean); });
    }
    static double largest_of(dtype type) {
        if (type == dtype::float16) return 65504;
        if (type == dtype::bfloat16) return 0x1.fep127;
        return std::numeric_limits<float>::max();
    }
};
HEADRACE_COMPILED_PASS(decompose_predicates);

}  // namespace headrace

#endif
