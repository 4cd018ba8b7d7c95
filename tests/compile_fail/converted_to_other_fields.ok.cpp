// SPDX-License-Identifier: MIT
// Reads an op's arguments as those of an op with members of different types.
// EXPECT: convert_args: the ops' fields differ
// EXPECT: other_fields<mine::subtract, mine::power>

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
struct power : op<dialect, "mine.power", "self, exponent"> {
    struct args {
        value self;
        value exponent;
    };
};
struct dialect : headrace::dialect_of<"mine", subtract, power> {};

}  // namespace mine

headrace::args<mine::power> converted(const mine::subtract::args& a) {
    return headrace::convert_args<mine::power, mine::subtract>(a);
}
