// SPDX-License-Identifier: MIT
// The code of README.md: what stands between the [readme] lines is there word for word, and
// tests/checks/readme.py compares the two.
#include <headrace/headrace.hpp>

// [readme]
using namespace headrace;

struct decompose_silu : pass {
    using targeted_ops = ops<aten::silu>;
    using produces = ops<aten::sigmoid, aten::mul_tensor>;
    // Returns a value, so silu is gone afterwards. An optional<value> might leave it.
    value operator()(const args<aten::silu>& a, emit<produces>& e) const {
        return e.make<aten::mul_tensor>(a.self, e.make<aten::sigmoid>(a.self));
    }
};
struct legalize_sigmoid : pass {
    using targeted_ops = ops<aten::sigmoid>;
    using produces = ops<tosa::sigmoid>;
    value operator()(const args<aten::sigmoid>& a, emit<produces>& e) const {
        return e.make<tosa::sigmoid>(a.self);
    }
};

using activations = from<aten::silu, aten::sigmoid>;
using device = to<tosa::dialect, aten::mul_tensor>;
// ✅ It compiles: no silu or sigmoid can be left.
struct lower : pipeline<activations, device, decompose_silu, legalize_sigmoid> {};
static_assert(lower::supported.contains<aten::silu>());
// ❌ pipeline<activations, device, legalize_sigmoid, decompose_silu>
// error: pipeline: an op can survive it; … survives<headrace::aten::sigmoid, legalize_sigmoid>
// [readme]

int main() {}
