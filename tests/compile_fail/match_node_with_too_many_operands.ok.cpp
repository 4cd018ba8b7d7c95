// SPDX-License-Identifier: MIT
// Defines a pattern with a node that has more operands than its op.
// EXPECT: rule: a call or a pattern's node does not fit its op
// EXPECT: wrong_arity<headrace::toy::clamp, 2, 1>

#include <headrace/match/node_pattern.hpp>
#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct fuse_clamps : pass {
    static auto rewrites() {
        return rules(
            on_match([](auto x) { return node_of<"inner", toy::clamp>(x); }) = [](auto x, const auto& m) {
                const args<toy::clamp>& inner = get<"inner">(m);
                return choose(
                    is_sole_use<"inner">(m), [&] { return call<toy::clamp>(x, inner.min, inner.max); },
                    unchanged);
            });
    }
};

struct fusing : pipeline<from<toy::clamp>, to<toy::clamp>, fuse_clamps> {};
