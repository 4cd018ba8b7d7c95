// SPDX-License-Identifier: MIT
// The passes of quantization/ are compiled here, and what runs them.
#include <headrace/compiled/pass_codes.hpp>

#include <headrace/quantization/quantize_graph_definition.hpp>

namespace headrace {

template struct detail::pass_codes<
    pass_list<equalize_layers, expand_functions, fold_batch_norms, fold_weights, unroll_networks>>;

}  // namespace headrace
