// SPDX-License-Identifier: MIT
// Asks the match for a node that is not in the pattern, and for an argument that the most similar node lacks.
// EXPECT: not_in_pattern<
// EXPECT: {"active"}
// EXPECT: {"bounds"}
// EXPECT: 'min'
// LINES: clang++ 19

#include <headrace/match/node_pattern.hpp>
#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

inline constexpr auto relu_of_clamp = [](auto x) {
    return node_of<"act", toy::relu>(node_of<"bounds", toy::clamp>(x));
};
struct fuse_clamps : pass {
    static auto rewrites() {
        return rules(on_match(relu_of_clamp) = [](auto x, const auto& m) {
            return call<toy::clamp>(x, get<"bounds">(m).min, get<"bounds">(m).max);
        });
    }
};

struct fusing : pipeline<from<toy::clamp, toy::relu>, to<toy::dialect>, fuse_clamps> {};
