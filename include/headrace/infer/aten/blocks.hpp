// SPDX-License-Identifier: MIT
// Defines the inference rules of im2col and col2im, and the positions of their blocks.
#ifndef HEADRACE_INFER_ATEN_BLOCKS_HPP
#define HEADRACE_INFER_ATEN_BLOCKS_HPP

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include <headrace/base/sizes.hpp>
#include <headrace/base/text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/preconditions.hpp>

namespace headrace {

/// Returns the number of blocks along the height and the width of an image (PyTorch, torch.nn.Unfold). `a`
/// gives their size and their steps.
template <class Args>
[[nodiscard]] result<std::array<std::int64_t, 2>> count_blocks(const Args& a, sizes image) {
    for (const auto& [name, given] : {std::pair("kernel_size", &a.kernel_size), {"dilation", &a.dilation},
             {"padding", &a.padding}, {"stride", &a.stride}}) {
        HEADRACE_TRY(require_count(name, given->size(), 2));
    }
    std::array<std::int64_t, 2> count{};
    for (std::size_t i = 0; i != count.size(); ++i) {
        HEADRACE_TRY(require_at_least("kernel_size", a.kernel_size[i], 1));
        HEADRACE_TRY(require_at_least("dilation", a.dilation[i], 1));
        HEADRACE_TRY(require_at_least("padding", a.padding[i], 0));
        HEADRACE_TRY(require_at_least("stride", a.stride[i], 1));
        const std::int64_t padded = saturating_add(image[i], saturating_mul(2, a.padding[i]));
        const std::int64_t reach = saturating_add(saturating_mul(a.dilation[i], a.kernel_size[i] - 1), 1);
        if (reach > padded) {
            return invalid({"blocks that span ", reach, " do not fit in an axis of ", padded});
        }
        count[i] = (padded - reach) / a.stride[i] + 1;
    }
    return count;
}

template <one_of<ops<aten::im2col>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_rank("self", self.shape, 3, 4));
    HEADRACE_TRY(count, count_blocks(a, sizes(self.shape).last(2)));
    shape_builder shape(sizes(self.shape).first(self.rank() - 2));
    shape.back() = saturating_mul(shape.back(), saturating_mul(a.kernel_size[0], a.kernel_size[1]));
    shape.push_back(saturating_mul(count[0], count[1]));
    return add_result(out, self.dtype, shape);
}
template <one_of<ops<aten::col2im>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_rank("self", self.shape, 2, 3));
    HEADRACE_TRY(require_count("output_size", a.output_size.size(), 2));
    HEADRACE_TRY(count, count_blocks(a, a.output_size));
    const std::int64_t elements = saturating_mul(a.kernel_size[0], a.kernel_size[1]);
    HEADRACE_TRY(
        require_equal("the number of columns", self.shape.back(), saturating_mul(count[0], count[1])));
    shape_builder shape(sizes(self.shape).first(self.rank() - 1));
    if (shape.back() % elements != 0) {
        return invalid({"columns of ", shape.back(), " elements are not blocks of ", elements});
    }
    shape.back() /= elements;
    shape.append(a.output_size);
    return add_result(out, self.dtype, shape);
}

}  // namespace headrace

#endif
