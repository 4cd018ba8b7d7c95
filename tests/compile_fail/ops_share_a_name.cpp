// SPDX-License-Identifier: MIT
// Defines a dialect with two ops of the same name.
// EXPECT: dialect: two ops have the same name
// EXPECT: same_name<mine::first, mine::third>

#include <headrace/op/op.hpp>

namespace mine {

using headrace::op;
using headrace::value;

struct dialect;
struct first : op<dialect, "mine.first", "self"> {
    struct args {
        value self;
    };
};
struct second : op<dialect, "mine.second", "self"> {
    struct args {
        value self;
    };
};
struct third : op<dialect, "mine.first", "self"> {
    struct args {
        value self;
    };
};
struct dialect : headrace::dialect_of<"mine", first, second, third> {};

}  // namespace mine
