// SPDX-License-Identifier: MIT
// The passes of passes/decompose are compiled here.
#include <headrace/compiled/pass_codes.hpp>

#include <headrace/passes/decompose/decompose.hpp>
#include <headrace/passes/decompose/definitions.hpp>

namespace headrace {

template struct detail::pass_codes<decompose_passes>;

}  // namespace headrace
