// SPDX-License-Identifier: MIT
// The passes of passes/finish are compiled here.
#include <headrace/compiled/pass_codes.hpp>

#include <headrace/passes/finish/finish.hpp>

namespace headrace {

template struct detail::pass_codes<pass_list<ensure_distinct_outputs, sort_topologically>>;

}  // namespace headrace
