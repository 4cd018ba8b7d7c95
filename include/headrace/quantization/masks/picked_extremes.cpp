// SPDX-License-Identifier: MIT
// Defines headrace::is_passed_over.

#include <headrace/quantization/masks/picked_extremes.hpp>

#include <headrace/dialect/aten.hpp>

namespace headrace {

namespace {

template <op_tag... Ops>
bool is_one_of(const node& n) {
    return ((&n.op->functional() == &info_of<Ops>) || ...);
}

}  // namespace

bool is_passed_over(const node& reader, bool is_negative) {
    return is_negative ? is_one_of<aten::max_pool1d, aten::max_pool2d, aten::max_pool2d_with_indices,
                             aten::max_pool3d, aten::amax, aten::relu>(reader)
                       : is_one_of<aten::amin>(reader);
}

}  // namespace headrace
