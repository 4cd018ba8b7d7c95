// SPDX-License-Identifier: MIT
// The passes of passes/normalize are compiled here.
#include <headrace/compiled/pass_codes.hpp>

#include <headrace/passes/normalize/normalize.hpp>

namespace headrace {

template struct detail::pass_codes<normalize_passes>;
template struct detail::pass_codes<pass_list<narrow_int64, store_unsigned, widen_unsigned>>;

}  // namespace headrace
