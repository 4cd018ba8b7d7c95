// SPDX-License-Identifier: MIT
// Defines an op whose field names are in a different order than the members of its arguments.
// EXPECT: op: its field names are not the members of args
// EXPECT: other_name<mine::subtract

#include <headrace/op/op.hpp>

namespace mine {

using headrace::op;
using headrace::value;

struct dialect;
struct subtract : op<dialect, "mine.subtract", "self, other"> {
    struct args {
        value self, other;
    };
};
struct dialect : headrace::dialect_of<"mine", subtract> {};

}  // namespace mine

inline constexpr auto shown = headrace::info_of<mine::subtract>.name;
