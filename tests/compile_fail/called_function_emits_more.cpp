// SPDX-License-Identifier: MIT
// Defines a pass that calls a builder which may emit TILE, but does not declare TILE.
// EXPECT: emit: a called function emits an op that is not in `produces`
// EXPECT: not_produced<headrace::tosa::tile, headrace::ops<

#include <headrace/rewrite/emit.hpp>

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/support/build.hpp>

using namespace headrace;

struct legalize_expand : pass {
    using targets = ops<aten::expand>;
    using produces = build::reshape_ops;
    value operator()(const args<aten::expand>& a, emit<produces>& e) const {
        return build::broadcast(e, a.self, e.result_meta().shape);
    }
};
