// SPDX-License-Identifier: MIT
// The passes of passes/fold are compiled here.
#include <headrace/compiled/pass_codes.hpp>

#include <headrace/passes/fold/fold.hpp>

namespace headrace {

template struct detail::pass_codes<fold_passes>;

}  // namespace headrace
