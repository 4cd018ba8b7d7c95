// SPDX-License-Identifier: MIT
// Asks a match whether a node has one use, with a name that is not in its pattern.
// EXPECT: match: the pattern has no node of that name
// EXPECT: not_in_pattern<headrace::fixed_string<5>{"innr"}, headrace::pattern_names<headrace::fixed_string<6>{"outer"}, headrace::fixed_string<6>{"inner"}>>

#include <headrace/match/node_pattern.hpp>
#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct fuse_clamps : pass {
    static auto rewrites() {
        return rules(on_match(twice<toy::clamp>) = [](auto x, const auto& m) {
            const args<toy::clamp>& inner = get<"inner">(m);
            const bool is_alone = is_sole_use<"innr">(m);
            return choose(
                is_alone, [&] { return call<toy::clamp>(x, inner.min, inner.max); }, unchanged);
        });
    }
};

struct fusing : pipeline<from<toy::clamp>, to<toy::clamp>, fuse_clamps> {};
