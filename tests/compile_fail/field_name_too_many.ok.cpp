// SPDX-License-Identifier: MIT
// Defines an op that names more fields than its arguments have.
// EXPECT: op: its field names are not the members of args
// EXPECT: not_as_many_names<mine::subtract, 3>

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
