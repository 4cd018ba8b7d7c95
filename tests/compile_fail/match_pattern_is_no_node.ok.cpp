// SPDX-License-Identifier: MIT
// Defines a rewrite of a pattern that has no node.
// EXPECT: match: its pattern is no node of an op

#include <headrace/match/node_pattern.hpp>
#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct fuse_clamps : pass {
    static auto rewrites() {
        const auto pattern = [](auto x) { return node_of<"inner", toy::clamp>(x); };
        return rules(on_match(pattern) = [](auto x, const auto& m) {
            const args<toy::clamp>& inner = get<"inner">(m);
            return choose(
                is_sole_use<"inner">(m), [&] { return call<toy::clamp>(x, inner.min, inner.max); },
                unchanged);
        });
    }
};

struct fusing : pipeline<from<toy::clamp>, to<toy::clamp>, fuse_clamps> {};
