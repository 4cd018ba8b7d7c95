// SPDX-License-Identifier: MIT
// Compares the board's convolutions with loops written from TOSA's text.
#include "../conv2d_cases.hpp"

#include "board.hpp"

int main() {
    std::int32_t failed = 0;
    cases::for_each([&]<auto S, auto shift, auto zero, bool is_residual>(const char* name) {
        for (std::uint32_t seed = 1; seed != 4; ++seed) {
            const std::int32_t wrong =
                cases::differences<S, shift, zero, headrace::on_device::native, is_residual>(seed);
            if (wrong == 0) continue;
            board::print(name), board::print(": differs "), board::print(wrong), board::print("\n");
            ++failed;
        }
    });
    board::print(failed == 0 ? "all equal\n" : "failed\n");
    return failed != 0;
}
