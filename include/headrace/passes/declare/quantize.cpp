// SPDX-License-Identifier: MIT
// The passes of passes/quantize are declared here.
#include <headrace/passes/declare/declarations.hpp>
#include <headrace/passes/quantize/quantize.hpp>
#include <headrace/passes/quantize/quantized_storage.hpp>

void headrace::declare::declare_quantize(declarations& out) {
    out.add_all(tabulate_passes{});
    out.add_all(quantize_passes{});
    out.add_all(pass_list<pack_int4_weights>{});
}
