// SPDX-License-Identifier: MIT
// Calls `find` of a match with a name that no node of its pattern has.
// EXPECT: match: the pattern has no node of that name
// EXPECT: not_in_pattern<headrace::fixed_string<4>{"zzz"}

#include <headrace/match/node_pattern.hpp>
#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct fuse_clamps : pass {
    static auto rewrites() {
        return rules(on_match(twice<toy::clamp>) = [](auto x, const auto& m) {
            const args<toy::clamp>& inner = get<"inner">(m);
            return choose(
                m.template find<"outer">() != nullptr,
                [&] { return call<toy::clamp>(x, inner.min, inner.max); }, unchanged);
        });
    }
};

struct fusing : pipeline<from<toy::clamp>, to<toy::clamp>, fuse_clamps> {};
