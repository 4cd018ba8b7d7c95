// SPDX-License-Identifier: MIT
// The passes of passes/u55 are compiled here.
#include <headrace/compiled/pass_codes.hpp>

#include <headrace/passes/u55/u55.hpp>

namespace headrace {

template struct detail::pass_codes<u55_passes>;

}  // namespace headrace
