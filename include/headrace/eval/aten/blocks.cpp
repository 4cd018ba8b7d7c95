// SPDX-License-Identifier: MIT
// Defines the kernels of im2col and col2im.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/eval/evaluation.hpp>
#include <headrace/eval/kernels.hpp>
#include <headrace/eval/map.hpp>
#include <headrace/infer/aten/blocks.hpp>

namespace headrace::eval {

namespace {

/// Calls `f(at, column)` for each element of each block: its position in the images and in the columns.
/// `images` is [planes, height, width]; elements in the padding are skipped.
template <class Args, class F>
void for_each_block_element(const Args& a, const extents& images, F f) {
    const std::int64_t height = images[1];
    const std::int64_t width = images[2];
    const std::array<std::int64_t, 2> count = count_blocks(a, sizes(images).last(2)).value();
    std::int64_t column = 0;
    for (std::int64_t row = 0; row != images[0] * a.kernel_size[0] * a.kernel_size[1]; ++row) {
        const std::int64_t plane = row / (a.kernel_size[0] * a.kernel_size[1]);
        const std::int64_t i = row / a.kernel_size[1] % a.kernel_size[0] * a.dilation[0] - a.padding[0];
        const std::int64_t j = row % a.kernel_size[1] * a.dilation[1] - a.padding[1];
        for (std::int64_t block = 0; block != count[0] * count[1]; ++block, ++column) {
            const std::int64_t y = block / count[1] * a.stride[0] + i;
            const std::int64_t x = block % count[1] * a.stride[1] + j;
            if (y < 0 || y >= height || x < 0 || x >= width) continue;
            f(idx((plane * height + y) * width + x), idx(column));
        }
    }
}
/// Returns [planes, height, width] of a tensor whose last two axes are those of an image.
[[nodiscard]] inline extents planes_of(const tensor& images) {
    const std::size_t rank = images.rank();
    const std::int64_t plane = images.dim(rank - 2) * images.dim(rank - 1);
    return {plane == 0 ? 0 : images.size() / plane, images.dim(rank - 2), images.dim(rank - 1)};
}

void evaluate(aten::im2col, const args<aten::im2col>& a, evaluation& e) {
    const tensor& in = e.input(a.self);
    visit_width(in.type(), [&]<class U>(U) {
        const std::span<U> columns = e.output().mutable_data<U>();
        std::ranges::fill(columns, U{});
        for_each_block_element(a, planes_of(in),
            [&](std::size_t at, std::size_t column) { columns[column] = in.data<U>()[at]; });
    });
}
void evaluate(aten::col2im, const args<aten::col2im>& a, evaluation& e) {
    visit_compute(e.output_type(), [&]<class T>(T) {
        const std::vector<T> columns = e.input(a.self).to<T>();
        std::vector<T> numbers(idx(e.output().size()));
        for_each_block_element(a, planes_of(e.output()),
            [&](std::size_t at, std::size_t column) { numbers[at] = plus()(numbers[at], columns[column]); });
        e.output().assign(numbers);
    });
}

constexpr auto kernel = [](auto op, const auto& a, evaluation& e) -> decltype(evaluate(op, a, e)) {
    evaluate(op, a, e);
};

}  // namespace

const kernel_list aten_blocks_kernels = kernels_of<aten::dialect>(kernel);

}  // namespace headrace::eval
