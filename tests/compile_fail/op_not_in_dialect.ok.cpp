// SPDX-License-Identifier: MIT
// Defines an op that its dialect does not list, and uses it.
// EXPECT: op: not in its dialect's list

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
struct dialect : headrace::dialect_of<"mine", first, second> {};

}  // namespace mine

inline constexpr auto shown = headrace::info_of<mine::second>.name;
