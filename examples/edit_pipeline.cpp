// SPDX-License-Identifier: MIT
// The standard pipeline is a value to compute with. Each edit gives a new pipeline, which the compiler checks again.
#include <cstdio>

#include <headrace/pass/algebra.hpp>
#include <headrace/passes/float_lowering.hpp>

#include "my_passes.hpp"

using namespace headrace;

struct some_evaluator;  // who computes constants is of no matter here: nothing is run
using standard = float_lowering<some_evaluator>;

// Ops of one's own in front: they must enter, and end in what the standard pipeline takes.
struct with_mine : pipeline_of<from<my::dialect, aten::dialect>, to<tosa::dialect, aten::dialect>,
                               pass_list<my::decompose_swish, my::lower_scale_shift>, standard::passes> {};
static_assert(with_mine::supported.contains<my::swish>());

struct exact_gelu : decompose_gelu {};  // stands for a better one
using replaced = replace_pass<standard, decompose_gelu, exact_gelu>;
using doubled = insert_after<standard, legalize_convolution, remove_dead_code>;
using shorter = remove_pass<standard, merge_duplicates>;

// A device that sees a few ops only: most passes can never fire, and no code is generated for them.
using small = restrict_to<standard, aten::linear, aten::relu, aten::softmax_int>;

template <class Pipeline>
void show(const char* name) {
    std::printf("%-9s %3zu passes, %3zu of them can fire\n", name, Pipeline::size, Pipeline::size - Pipeline::dead_pass_count);
}

int main() {
    static_assert(with_mine::size == standard::size + 2 && replaced::size == standard::size);
    static_assert(doubled::size == standard::size + 1 && shorter::size == standard::size - 1);
    static_assert(small::dead_pass_count > 0);
    std::printf("restricted to three ops, passes are pruned: %s\n", small::dead_pass_count > standard::size / 4 ? "yes" : "no");
}
