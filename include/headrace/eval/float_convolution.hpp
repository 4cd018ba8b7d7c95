// SPDX-License-Identifier: MIT
// Defines headrace::convolve_floats, convolutions of float32 summed in PyTorch's order.
#ifndef HEADRACE_EVAL_FLOAT_CONVOLUTION_HPP
#define HEADRACE_EVAL_FLOAT_CONVOLUTION_HPP

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <headrace/eval/float_product.hpp>
#include <headrace/eval/volume.hpp>

namespace headrace::eval {

/// The padded input of one group, from which the products of a convolution read their terms: every tap of the
/// kernel reads the same lines, at a different offset, so nothing is copied per tap. With stride n, each line
/// is stored as n lines of every n-th element, so that adjacent results read adjacent elements.
class padded_input {
public:
    explicit padded_input(const convolution_shape& s)
        : shape_(s),
          channels_(s.channels / s.groups),
          size_(size_of(s)),
          step_(std::clamp<std::int64_t>(s.stride[2], 1, std::max<std::int64_t>(size_[2], 1))),
          part_(ceil_div(size_[2], step_)) {
        if (size_ != s.in || s.before != triple{0, 0, 0} || step_ != 1)
            padded_.resize(idx(channels_ * size_[0] * size_[1] * part_ * step_));
        add_rows();
        add_columns();
    }

    /// Returns the extent of the padded input that the kernel reaches.
    [[nodiscard]] static triple size_of(const convolution_shape& s) {
        triple size{};
        for (std::size_t d = 0; d != 3; ++d)
            size[d] = (s.out[d] - 1) * s.stride[d] + (s.kernel[d] - 1) * s.dilation[d] + 1;
        return size;
    }
    [[nodiscard]] const matrix_layout& layout() const { return layout_; }

    [[nodiscard]] const float* of(const float* in) {
        if (padded_.empty()) return in;
        const triple& before = shape_.before;
        const auto inside = [&](std::size_t d) {
            return std::pair(
                std::max<std::int64_t>(before[d], 0), std::min(before[d] + shape_.in[d], size_[d]));
        };
        const auto [z_begin, z_end] = inside(0);
        const auto [y_begin, y_end] = inside(1);
        const auto [x_begin, x_end] = inside(2);
        for (std::int64_t c = 0; c != channels_; ++c) {
            for (std::int64_t z = z_begin; z < z_end; ++z) {
                for (std::int64_t y = y_begin; y < y_end; ++y) {
                    const std::int64_t line =
                        (c * shape_.in[0] + z - before[0]) * shape_.in[1] + y - before[1];
                    const float* from = in + line * shape_.in[2] + x_begin - before[2];
                    add_line(from, x_begin, x_end, padded_.data() + at(c, z, y));
                }
            }
        }
        return padded_.data();
    }

private:
    /// Returns where a line of the padded input begins.
    [[nodiscard]] std::int64_t at(std::int64_t c, std::int64_t z, std::int64_t y) const {
        return ((c * size_[0] + z) * size_[1] + y) * part_ * step_;
    }
    [[nodiscard]] std::int64_t in_line(std::int64_t x) const { return x % step_ * part_ + x / step_; }
    // Part by part, since neighbours in a part are not adjacent in the input.
    void add_line(const float* from, std::int64_t begin, std::int64_t end, float* line) const {
        if (step_ == 1) {
            std::copy_n(from, end - begin, line + begin);
            return;
        }
        for (std::int64_t x = begin; x < std::min(begin + step_, end); ++x) {
            float* part = line + in_line(x);
            for (std::int64_t i = x - begin; i < end - begin; i += step_) *part++ = from[i];
        }
    }
    void add_rows() {
        const triple& kernel = shape_.kernel;
        const triple& dilation = shape_.dilation;
        for (std::int64_t tap = 0; tap != channels_ * volume_of(kernel); ++tap) {
            const std::int64_t y = tap / kernel[2];
            const std::int64_t z = y / kernel[1];
            layout_.add_row(at(z / kernel[0], z % kernel[0] * dilation[0], y % kernel[1] * dilation[1]) +
                in_line(tap % kernel[2] * dilation[2]));
        }
    }
    // Merges lines that are contiguous in both the input and the result.
    void add_columns() {
        const triple& out = shape_.out;
        const bool planes = part_ * step_ == out[2] && (shape_.stride[1] == 1 || out[1] == 1);
        const bool volumes = planes && size_[1] == out[1] && (shape_.stride[0] == 1 || out[0] == 1);
        if (volumes) return layout_.add_columns(0, 0, volume_of(out));
        for (std::int64_t z = 0; z != out[0]; ++z) {
            for (std::int64_t y = 0; y != (planes ? 1 : out[1]); ++y) {
                layout_.add_columns(at(0, z * shape_.stride[0], y * shape_.stride[1]),
                    (z * out[1] + y) * out[2], planes ? out[1] * out[2] : out[2]);
            }
        }
    }

    const convolution_shape& shape_;
    std::int64_t channels_;
    triple size_;
    std::int64_t step_, part_;  ///< number of parts of a line, and length of a part
    std::vector<float> padded_;
    matrix_layout layout_;
};

/// True if the products should read a padded input: lines of the result must fill registers, or there are so
/// few features that a patch matrix would cost more than it saves. Padding may be much larger than the input.
[[nodiscard]] inline bool reads_padded_input(const convolution_shape& s) {
    constexpr std::int64_t few_features = 4;
    const auto volume = [](const triple& t) {  // may overflow
        return static_cast<double>(t[0]) * static_cast<double>(t[1]) * static_cast<double>(t[2]);
    };
    const bool fills = s.out[2] % matrix_layout::columns_at_once == 0 || is_pointwise(s);
    return (fills || s.features / s.groups < few_features) &&
        (s.groups > 1 || volume_of(s.out) >= fewest_fused_columns) &&
        volume(padded_input::size_of(s)) <= volume(s.kernel) * volume(s.out);
}

/// Computes a convolution; `out` is [batch, features, out...], zeroed. Groups start from the bias; a single
/// column is computed as a matrix-vector product.
inline void convolve_floats(const convolution_shape& s, std::span<const float> in,
    std::span<const float> weight, std::span<const float> bias, std::span<float> out) {
    const std::int64_t channels = s.channels / s.groups;
    const std::int64_t features = s.features / s.groups;
    const std::int64_t rows = channels * volume_of(s.kernel);
    const std::int64_t columns = volume_of(s.out);
    if (out.empty()) return;
    fill_with_bias(out, bias, s.features, columns);
    const auto for_each_group = [&](auto add_group) {
        for (std::int64_t i = 0; i != s.batch * s.groups; ++i)
            add_group(weight.data() + i % s.groups * features * rows,
                in.data() + i * channels * volume_of(s.in), out.data() + i * features * columns);
    };
    const auto add_terms = [&](auto& terms, const matrix_layout& layout) {
        for_each_group([&](const float* filters, const float* from, float* to) {
            s.groups > 1 ? continue_product(filters, terms.of(from), layout, to, features, columns)
                         : add_product(filters, terms.of(from), layout, to, features, columns);
        });
    };
    if (reads_padded_input(s)) {
        padded_input terms(s);
        return add_terms(terms, terms.layout());
    }
    patch_matrix<float> patches(s);
    if (s.groups > 1 || columns >= fewest_fused_columns)
        return add_terms(patches, matrix_layout::row_major(rows, columns));
    for_each_group([&](const float* filters, const float* from, float* to) {
        columns == 1 ? add_product_transposed(patches.of(from), filters, to, 1, rows, features)
                     : add_product(filters, patches.of(from), to, features, rows, columns);
    });
}

}  // namespace headrace::eval

#endif
