// SPDX-License-Identifier: MIT
// The passes of passes/quantize are compiled here.
#include <headrace/compiled/pass_codes.hpp>

#include <headrace/passes/quantize/quantize.hpp>
#include <headrace/passes/quantize/quantized_storage.hpp>

namespace headrace {

template struct detail::pass_codes<tabulate_passes>;
template struct detail::pass_codes<quantize_passes>;
template struct detail::pass_codes<pass_list<pack_int4_weights>>;

}  // namespace headrace
