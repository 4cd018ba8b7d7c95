// SPDX-License-Identifier: MIT
// An op is a type. Its struct has everything that printing, defaults, sets, queries and inference need.
#include <cstdio>

//! [arguments]
#include <cstdint>
#include <string_view>

#include <headrace/op/custom.hpp>
#include <headrace/op/op.hpp>
//! [arguments]

//! [facts]
#include <type_traits>

#include <headrace/op/op_query.hpp>

#include "my_dialect.hpp"
//! [facts]

#include <headrace/infer/graph_builder.hpp>
#include <headrace/ir/listing.hpp>

static_assert(my::dialect::size == 2);
static_assert(my::swish::name == "my.swish.default");
static_assert(headrace::args<my::swish>{}.beta == 1);
static_assert(headrace::every_op<my::dialect>.contains<my::scale_shift>());

//! [facts]
// Facts are declared with the op; passes query them instead of listing ops.
using elementwise_ops = headrace::ops_where<my::dialect, headrace::trait::elementwise>;
static_assert(std::is_same_v<elementwise_ops, headrace::ops<my::scale_shift, my::swish>>);
static_assert(!headrace::has_trait<my::swish>(headrace::trait::commutative));
//! [facts]

//! [arguments]
// The dialect's own argument types, each with the function that names its parts.
namespace my {

enum class rounding : std::uint8_t { nearest, down };
constexpr std::string_view enumerator_names(rounding) { return "nearest, down"; }

struct window {
    std::int16_t height = 1, width = 1;
    my::rounding rounding{};
};
constexpr std::string_view member_names(const window&) { return "height, width, rounding"; }

struct own_arguments;
struct pool : headrace::op<own_arguments, "my.pool", "self, window, lanes, labels"> {
    struct args {
        headrace::value self;
        my::window window{};
        std::uint8_t lanes = 4;
        headrace::list<std::string_view> labels{};
    };
};
struct own_arguments : headrace::dialect_of<"my", pool> {};

}  // namespace my
//! [arguments]

int main() {
    headrace::graph g;
    headrace::graph_builder b(g);
    const headrace::value x = b.input("x", {1, 8});
    const headrace::value scaled = b.make<my::scale_shift>({.self = x, .scale = 0.5});
    b.output({b.make<my::swish>({.self = scaled})});  // beta is the default, and so not printed
    std::printf("%s", headrace::listing(g).c_str());
    // my.pool(self=%x, window=[height=2, width=1, rounding=down], lanes=4, labels=["a"])
    const std::string_view labels[] = {"a"};  // a list is a view
    const headrace::args<my::pool> pool{
        .self = x, .window = {.height = 2, .rounding = my::rounding::down}, .labels = {labels, 1}};
    std::printf("%s\n", headrace::print(my::pool{}, pool, [](headrace::value) { return "%x"; }).c_str());
}
