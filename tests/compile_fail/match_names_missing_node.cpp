// SPDX-License-Identifier: MIT
// Defines a pass that asks its match for a node that is not in the pattern.
// EXPECT: match: the pattern has no node of that name
// EXPECT: not_in_pattern
// EXPECT: iner

#include <headrace/match/node_pattern.hpp>
#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct fuse_clamps : pass {
    static auto rewrites() {
        return rules(on_match(twice<toy::clamp>) = [](auto x, const auto& m) {
            const args<toy::clamp>& inner = get<"iner">(m);
            return call<toy::clamp>(x, inner.min, inner.max);
        });
    }
};

struct fusing : pipeline<from<toy::clamp>, to<toy::clamp>, fuse_clamps> {};
