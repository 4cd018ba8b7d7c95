// SPDX-License-Identifier: MIT
// The passes of passes/layout are compiled here.
#include <headrace/compiled/pass_codes.hpp>

#include <headrace/passes/layout/binary_choice.hpp>
#include <headrace/passes/layout/binary_choice_definition.hpp>
#include <headrace/passes/layout/layout.hpp>

namespace headrace {

template struct detail::pass_codes<layout_passes>;
template struct detail::pass_codes<cleanup_passes>;

}  // namespace headrace
