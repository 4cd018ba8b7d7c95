// SPDX-License-Identifier: MIT
// The passes of passes/npu are compiled here.
#include <headrace/compiled/pass_codes.hpp>

#include <headrace/passes/npu/npu.hpp>

namespace headrace {

template struct detail::pass_codes<npu_passes>;
template struct detail::pass_codes<on_chip_passes>;

}  // namespace headrace
