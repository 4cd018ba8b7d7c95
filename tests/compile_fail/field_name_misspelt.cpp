// SPDX-License-Identifier: MIT
// Defines an op one of whose field names is not that of the member.
// EXPECT: op: its field names are not the members of args
// EXPECT: "othr"

#include <headrace/op/op.hpp>

namespace mine {

using headrace::op;
using headrace::value;

struct dialect;
struct subtract : op<dialect, "mine.subtract", "self, othr"> {
    struct args {
        value self, other;
    };
};
struct dialect : headrace::dialect_of<"mine", subtract> {};

}  // namespace mine

inline constexpr auto shown = headrace::info_of<mine::subtract>.name;
