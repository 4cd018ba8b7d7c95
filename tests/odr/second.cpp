// SPDX-License-Identifier: MIT
#include <headrace/headrace.hpp>
#include <headrace/passes/passes.hpp>

std::pmr::string listing_of(const headrace::graph& g);

int main() {
    headrace::graph g;
    g.create<headrace::builtin::output>({});
    return listing_of(g) == headrace::listing(g) ? 0 : 1;
}
