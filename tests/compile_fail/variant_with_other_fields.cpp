// SPDX-License-Identifier: MIT
// Declares an op as the in-place variant of another, but with its operands in a different order.
// EXPECT: op: a variant's fields differ from its base's
// EXPECT: other_fields<mine::subtract_inplace, mine::subtract>

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
struct subtract_inplace : op<dialect, "mine.subtract_", "other, self", headrace::in_place_of<subtract>> {
    struct args {
        value other, self;
    };
};
struct dialect : headrace::dialect_of<"mine", subtract, subtract_inplace> {};

}  // namespace mine

inline constexpr auto shown = headrace::info_of<mine::subtract_inplace>.name;
