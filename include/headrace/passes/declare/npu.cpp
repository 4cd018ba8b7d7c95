// SPDX-License-Identifier: MIT
// The passes of passes/npu are declared here.
#include <headrace/passes/declare/declarations.hpp>
#include <headrace/passes/npu/npu.hpp>

void headrace::declare::declare_npu(declarations& out) {
    out.add_all(npu_passes{});
    out.add_all(on_chip_passes{});
}
