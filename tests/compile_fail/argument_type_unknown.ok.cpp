// SPDX-License-Identifier: MIT
// Defines an op with a member whose type no argument can have.
// EXPECT: op: a member of args has a type that no argument can have
// EXPECT: no_argument_type<my::pool, my::window>

#include <headrace/op/op.hpp>

using namespace headrace;

namespace my {

struct window {
    int rows, columns;
};

struct dialect;
struct pool : op<dialect, "my.pool", "self, window"> {
    struct args {
        value self;
        int_list window;
    };
};
struct dialect : dialect_of<"my", pool> {};

}  // namespace my

template const op_info headrace::info_of<my::pool>;
