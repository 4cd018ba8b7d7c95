// SPDX-License-Identifier: MIT
// The passes of passes/normalize are declared here.
#include <headrace/passes/declare/declarations.hpp>
#include <headrace/passes/normalize/narrow_types.hpp>
#include <headrace/passes/normalize/normalize.hpp>
#include <headrace/passes/normalize/widen_unsigned.hpp>

void headrace::declare::declare_normalize(declarations& out) {
    out.add_all(normalize_passes{});
    out.add_all(pass_list<widen_unsigned, store_unsigned, narrow_int64>{});
}
