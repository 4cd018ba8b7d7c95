// SPDX-License-Identifier: MIT
// The passes of passes/finish are compiled here.
#include <headrace/compiled/pass_codes.hpp>

#include <headrace/passes/finish/ensure_distinct_outputs.hpp>
#include <headrace/passes/finish/sort_topologically.hpp>

namespace headrace {

template struct detail::pass_codes<pass_list<ensure_distinct_outputs, sort_topologically>>;

}  // namespace headrace
