// SPDX-License-Identifier: MIT
// A program like `headrace` for the NPU: it shows, transforms, lowers, executes and plans graphs of its
// dialect.
//! [main]
#include <headrace/opt/opt_main.hpp>

#include "npu_kernels.hpp"
#include "npu_lowering.hpp"

int main(int argc, char** argv) {
    return headrace::opt_main<headrace::dialects<npu::dialect>, npu::lowering>(argc, argv);
}
//! [main]
