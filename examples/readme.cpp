// SPDX-License-Identifier: MIT
// The code of README.md: the part between the [readme] lines is there word for word, and
// tests/checks/readme.py compares the two.
// [readme]
#include <headrace/headrace.hpp>

using namespace headrace;

struct decompose_silu : pass {
    static auto rewrites() {
        return rules(on<aten::silu> = [](auto x) { return x * sigmoid(x); });
    }
};
struct legalize_functions : pass {
    static auto rewrites() {
        return rules(on<aten::sigmoid> = call<tosa::sigmoid>,  //
            on<aten::tanh> = call<tosa::tanh>);
    }
};
// A pass's targets, removals and products follow from the types of its expressions.
static_assert(effects_of<decompose_silu>::produced_set == ops_in<aten::sigmoid, aten::mul_tensor>);

using activations = from<aten::silu, aten::sigmoid>;
using device = to<tosa::dialect, aten::mul_tensor>;
// ✅ It compiles: no silu or sigmoid can be left.
struct lower : pipeline<activations, device, decompose_silu, legalize_functions> {};
static_assert(lower::supported.contains<aten::silu>());
// ❌ pipeline<activations, device, legalize_functions, decompose_silu>
// error: pipeline: an op can survive it; … survives<headrace::aten::sigmoid, legalize_functions, …>
// [readme]

int main() {}
