// SPDX-License-Identifier: MIT
// Defines a dialect whose list holds something that is not an op.
// EXPECT: dialect: its list holds something that is not an op

#include <headrace/op/op.hpp>

namespace mine {

struct dialect;
struct first : headrace::op<dialect, "mine.first", "self"> {
    struct args {
        headrace::value self;
    };
};
struct dialect : headrace::dialect_of<"mine", first, int> {};

}  // namespace mine
