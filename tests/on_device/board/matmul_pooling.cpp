// SPDX-License-Identifier: MIT
// Compares the board's matrix products and pooling with loops written from TOSA's text.
#include "../matmul_pooling_cases.hpp"

#include "board.hpp"

int main() {
    std::int32_t failed = 0;
    cases::for_each_product_and_pool<headrace::on_device::native>([&](const char* name, auto differences) {
        for (std::uint32_t seed = 1; seed != 4; ++seed) {
            const std::int32_t wrong = differences(seed);
            if (wrong == 0) continue;
            board::print(name), board::print(": differs "), board::print(wrong), board::print("\n");
            ++failed;
        }
    });
    board::print(failed == 0 ? "all equal\n" : "failed\n");
    return failed != 0;
}
