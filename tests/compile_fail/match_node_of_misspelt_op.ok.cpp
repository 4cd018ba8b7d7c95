// SPDX-License-Identifier: MIT
// Matches a node of an op whose field list has a name that its arguments do not have.
// EXPECT: op: its field names are not the members of args
// EXPECT: other_name<mine::gain, headrace::fixed_string<7>{"facter"}>

#include <headrace/match/node_pattern.hpp>
#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

namespace mine {
struct dialect;
struct gain : op<dialect, "mine.gain", "self, factor"> {
    struct args {
        value self;
        double factor;
    };
};
struct dialect : dialect_of<"mine", gain> {};
}  // namespace mine

inline constexpr auto gain_of_neg = [](auto x) { return node_of<"gain", mine::gain>(node_of<"neg", toy::neg>(x)); };
struct drop_gain : pass {
    static auto rewrites() {
        return rules(on_match(gain_of_neg) = [](auto x) { return call<toy::neg>(x); });
    }
};

struct lowering : pipeline<from<mine::gain>, to<toy::dialect, mine::dialect>, drop_gain> {};
