// SPDX-License-Identifier: MIT
#include <cstdio>

#if __has_include(<headrace.hpp>)
#include <headrace.hpp>
#else
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/tosa.hpp>
#include <headrace/pass/algebra.hpp>
#include <headrace/version.hpp>
#endif

#include "kws_model.h"
#include "models.hpp"

using namespace headrace;

struct legalize_tanh : pass {
    using targets = ops<aten::tanh>;
    using produces = ops<tosa::tanh>;
    value operator()(const args<aten::tanh>& a, emit<produces>& e) const {
        return e.make<tosa::tanh>(a.self);
    }
};
using lowering = pipeline<from<aten::tanh>, to<tosa::dialect>, legalize_tanh>;
static_assert(lowering::supported.contains<aten::tanh>());

int main() {
    graph g;
    node& x = g.create<builtin::placeholder>({});
    g.set_meta(x.result(), {dtype::float32, {2, 3}, {}});
    node& y = g.create<aten::tanh>({.self = x.result()});
    g.set_meta(y.result(), {dtype::float32, {2, 3}, {}});
    const value out = y.result();
    g.create<builtin::output>({.values = {&out, 1}});
    pass_context context;
    const bool done = lowering::run(g, context).has_value() && is<tosa::tanh>(*g.outputs()[0].producer);
    const bool sound = models_are_sound();
    std::printf("headrace %s: %s, kws_model has %zu bytes, the models are %s\n", HEADRACE_VERSION,
        done ? "lowered" : "failed", kws_model_size, sound ? "sound" : "broken");
    return done && sound ? 0 : 1;
}
