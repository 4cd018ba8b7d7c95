// SPDX-License-Identifier: MIT
// Defines a pipeline that lists a lambda, whose type does not tell what it does to ops.
// EXPECT: pass: a type is not one
// EXPECT: not_a_pass<

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

[[maybe_unused]] constexpr auto lower_relu = [](graph&, pass_context&) { return std::size_t{0}; };
struct keep_relu : pass {
    result<std::size_t> operator()(graph&, pass_context&) const { return std::size_t{0}; }
};

struct lowering : pipeline<from<toy::relu>, to<toy::relu>, keep_relu> {};
