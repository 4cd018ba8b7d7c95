// SPDX-License-Identifier: MIT
// The passes of quantization/ are compiled here, and what runs them.
#include <headrace/compiled/pass_codes.hpp>

#include <headrace/quantization/equalize_layers.hpp>
#include <headrace/quantization/expand_functions.hpp>
#include <headrace/quantization/fold_batch_norms.hpp>
#include <headrace/quantization/fold_weights.hpp>

namespace headrace {

template struct detail::pass_codes<
    pass_list<equalize_layers, expand_functions, fold_batch_norms, fold_weights>>;

}  // namespace headrace
