// SPDX-License-Identifier: MIT
// The same firmware as a program of the machine that builds, to compare with.
#include <cstdio>

#include "board.hpp"

namespace firmware {

void print(const char* text) { std::fputs(text, stdout); }
std::size_t stack_bytes() { return 0; }

}  // namespace firmware

int main() { return firmware::run(); }
