// SPDX-License-Identifier: MIT
// Two translation units include everything; that they link is the test.
#include <headrace/headrace.hpp>
#include <headrace/passes/passes.hpp>

std::pmr::string listing_of(const headrace::graph& g);

std::pmr::string listing_of(const headrace::graph& g) { return headrace::listing(g); }
