// SPDX-License-Identifier: MIT
// The standard pipeline is a value to compute with. The compiler checks each result again.
#include <cstdio>

//! [edits]
#include <headrace/pass/algebra.hpp>
#include <headrace/passes/decompose/activations.hpp>
#include <headrace/passes/fold/redundancies.hpp>
#include <headrace/passes/standard_lowering.hpp>

#include "my_passes.hpp"

using namespace headrace;

using standard = standard_lowering;

// Your own ops in front: the standard pipeline must take the ops that they become.
struct with_mine : pipeline_of<from<my::dialect, aten::dialect>, to<tosa::dialect, aten::dialect>,
                       pass_list<my::decompose_swish, my::lower_scale_shift>, standard::passes> {};
static_assert(with_mine::supported.contains<my::swish>());

struct exact_gelu : decompose_gelu {};  // imagine a better one
using replaced = replace_pass<standard, decompose_gelu, exact_gelu>;
struct clean_up_early : remove_dead_code {};  // its own name would be refused, as it is listed
using longer = insert_after<standard, legalize_convolution, clean_up_early>;
using shorter = remove_pass<standard, merge_equal_constants>;

// A device that uses only a few ops: most passes can never fire, and no code is generated for them.
using small = restrict_to<standard, aten::linear, aten::relu, aten::softmax_int>;
//! [edits]

template <class Pipeline>
void compare(const char* edit) {
    const auto more = static_cast<int>(Pipeline::size) - static_cast<int>(standard::size);
    std::printf("%-10s %+d passes, %s\n", edit, more,
        Pipeline::dead_pass_count > 20 ? "dozens are pruned" : "hardly any are pruned");
}

int main() {
    compare<with_mine>("with mine");
    compare<replaced>("replaced");
    compare<longer>("longer");
    compare<shorter>("shorter");
    compare<small>("small");
}
