// SPDX-License-Identifier: MIT
// The passes of passes/legalize are compiled here.
#include <headrace/compiled/pass_codes.hpp>

#include <headrace/passes/legalize/legalize.hpp>

namespace headrace {

template struct detail::pass_codes<legalize_passes>;

}  // namespace headrace
