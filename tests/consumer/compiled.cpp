// SPDX-License-Identifier: MIT
// Links the standard passes instead of compiling them.
#include <cstdio>

#include <headrace/lowering/standard_pipeline.hpp>

int main() { std::printf("%zu standard passes\n", headrace::standard_passes().passes().size()); }
