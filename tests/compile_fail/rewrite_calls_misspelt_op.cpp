// SPDX-License-Identifier: MIT
// Defines an op whose field list has a name that its arguments do not have, and a rewrite that calls it.
// EXPECT: op: its field names are not the members of args
// EXPECT: other_name<mine::gain, headrace::fixed_string<7>{"facter"}>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

namespace mine {
struct dialect;
struct gain : op<dialect, "mine.gain", "self, facter"> {
    struct args {
        value self;
        double factor;
    };
};
struct dialect : dialect_of<"mine", gain> {};
}  // namespace mine

struct lower_relu : pass {
    static auto rewrites() {
        return rules(on<toy::relu> = [](auto x) { return call<mine::gain>(x, 1.0); });
    }
};

struct lowering : pipeline<from<toy::relu>, to<mine::dialect>, lower_relu> {};
