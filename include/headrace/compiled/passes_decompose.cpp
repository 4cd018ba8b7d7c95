// SPDX-License-Identifier: MIT
// The passes of passes/decompose are compiled here.
#include <headrace/compiled/pass_codes.hpp>

#include <headrace/passes/decompose/decompose.hpp>

namespace headrace {

template struct detail::pass_codes<decompose_passes>;

}  // namespace headrace
