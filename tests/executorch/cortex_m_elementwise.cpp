// SPDX-License-Identifier: MIT
// Registers the test's kernels of cortex_m that convolve and pool nothing. They compute what
// examples/docs/cortex_m.md says, and refuse what ExecuTorch's kernels refuse or compute wrongly.
#include <cmath>
#include <limits>

#include "cortex_m_arithmetic.hpp"
#include "cortex_m_call.hpp"

namespace cortex_m_kernels {

namespace {

using cortex_m_arithmetic::clamped;
using cortex_m_arithmetic::requantize;
using cortex_m_arithmetic::wrapped;

// --- quantization ----------------------------------------------------------------------

struct quantized_type {
    ScalarType type;
    std::int64_t zero_point, lowest, highest;
};
quantized_type take_type(call& c, std::int64_t zero_point) {
    const std::int64_t lowest = c.integer(), highest = c.integer();
    const auto type = static_cast<ScalarType>(c.integer());
    require(type == ScalarType::Char || type == ScalarType::Short, "neither int8 nor int16");
    const std::int64_t half = type == ScalarType::Char ? 128 : 32768;
    require(lowest >= -half && highest < half, "bounds outside the type");
    return {type, zero_point, lowest, highest};
}

void quantize_per_tensor(call& c) {
    const Tensor& x = c.typed(c.tensor(), ScalarType::Float);
    const float inverse = 1.F / static_cast<float>(c.real());
    const quantized_type to = take_type(c, c.integer());
    const Tensor& y = c.out(to.type, sizes_of(x));
    for (std::size_t i = 0; i != elements<float>(x).size(); ++i) {
        const float rounded = std::nearbyint(elements<float>(x)[i] * inverse);
        const double code =
            std::clamp(std::isnan(rounded) ? 0. : double{rounded}, -2147483648., 2147483647.) +
            static_cast<double>(to.zero_point);
        const auto kept = static_cast<std::int64_t>(
            std::min(std::max(code, static_cast<double>(to.lowest)), static_cast<double>(to.highest)));
        if (to.type == ScalarType::Char) {
            mutable_elements<std::int8_t>(y)[i] = static_cast<std::int8_t>(kept);
        } else {
            mutable_elements<std::int16_t>(y)[i] = static_cast<std::int16_t>(kept);
        }
    }
}

void dequantize_per_tensor(call& c) {
    const Tensor& x = c.tensor();
    const auto scale = static_cast<float>(c.real());
    const quantized_type from = take_type(c, c.integer());
    call::typed(x, from.type);
    require(
        from.zero_point >= from.lowest && from.zero_point <= from.highest, "zero point outside the bounds");
    const Tensor& y = c.out(ScalarType::Float, sizes_of(x));
    for (std::size_t i = 0; i != mutable_elements<float>(y).size(); ++i) {
        const std::int64_t code =
            from.type == ScalarType::Char ? elements<std::int8_t>(x)[i] : elements<std::int16_t>(x)[i];
        mutable_elements<float>(y)[i] = static_cast<float>(code - from.zero_point) * scale;
    }
}

// --- arithmetic ------------------------------------------------------------------------

/// Applies a function to pairs of elements. One operand may have a number for each channel, which the kernels
/// repeat along the memory: that is only right if the channels are the innermost axis there.
template <class F>
void map_pairs(call& c, const Tensor& a, const Tensor& b, F f) {
    const Tensor& larger = a.numel() >= b.numel() ? a : b;
    const Tensor& smaller = a.numel() >= b.numel() ? b : a;
    const bool repeats = a.dim() == 4 && b.dim() == 4 && a.size(1) == b.size(1) &&
        smaller.numel() == smaller.size(1) && is_channels_last(larger);
    require(sizes_of(a) == sizes_of(b) || repeats, "sizes that do not broadcast, or wrongly");
    const Tensor& y = c.out(sizes_of(larger));
    const auto x1 = elements<std::int8_t>(a), x2 = elements<std::int8_t>(b);
    const std::span<std::int8_t> results = mutable_elements<std::int8_t>(y);
    for (std::size_t i = 0; i != results.size(); ++i) results[i] = f(x1[i % x1.size()], x2[i % x2.size()]);
}

struct scaled_operand {
    const Tensor& codes;
    std::int64_t zero_point, multiplier, shift;

    [[nodiscard]] std::int32_t of(std::int8_t x) const {
        return requantize(wrapped((x - zero_point) * (std::int64_t{1} << 20)), multiplier, shift);
    }
};
scaled_operand take_scaled(call& c) {
    const Tensor& codes = c.int8();
    const std::int64_t zero_point = c.word(), multiplier = c.word();
    return {codes, zero_point, multiplier, c.shift()};
}

void quantized_add(call& c) {
    const scaled_operand a = take_scaled(c), b = take_scaled(c);
    const std::int64_t zero_point = c.word(), multiplier = c.word(), shift = c.shift();
    const std::int64_t lowest = c.word(), highest = c.word();
    map_pairs(c, a.codes, b.codes, [&](std::int8_t x, std::int8_t y) {
        const std::int32_t sum = wrapped(std::int64_t{a.of(x)} + b.of(y));
        return clamped(requantize(sum, multiplier, shift), zero_point, lowest, highest);
    });
}

void quantized_mul(call& c) {
    const Tensor& a = c.int8();
    const std::int64_t a_zero = c.word();
    const Tensor& b = c.int8();
    const std::int64_t b_zero = c.word(), zero_point = c.word(), multiplier = c.word(), shift = c.shift();
    map_pairs(c, a, b, [&](std::int8_t x, std::int8_t y) {
        return clamped(requantize(wrapped((x - a_zero) * (y - b_zero)), multiplier, shift), zero_point);
    });
}

template <class T>
void divide(const Tensor& a, std::int64_t a_zero, const Tensor& b, std::int64_t b_zero, float scale,
    std::int64_t zero_point, const Tensor& y) {
    const float lowest = std::numeric_limits<T>::min(), highest = std::numeric_limits<T>::max();
    for (std::size_t i = 0; i != elements<T>(a).size(); ++i) {
        const std::int64_t over = elements<T>(a)[i] - a_zero, under = elements<T>(b)[i] - b_zero;
        const float q = under == 0 ? 0.F : static_cast<float>(over) / static_cast<float>(under);
        const float code = std::round(q * scale) + static_cast<float>(zero_point);
        mutable_elements<T>(y)[i] = static_cast<T>(std::max(lowest, std::min(highest, code)));
    }
}
void quantized_div(call& c) {
    const Tensor& a = c.tensor();
    const std::int64_t a_zero = c.word();
    const Tensor& b = call::typed(c.tensor(), a.scalar_type());
    const std::int64_t b_zero = c.word(), zero_point = c.word();
    const auto scale = static_cast<float>(c.real());
    require(sizes_of(a) == sizes_of(b), "sizes differ");
    const Tensor& y = c.out(a.scalar_type(), sizes_of(a));
    if (a.scalar_type() == ScalarType::Char) {
        divide<std::int8_t>(a, a_zero, b, b_zero, scale, zero_point, y);
    } else {
        divide<std::int16_t>(call::typed(a, ScalarType::Short), a_zero, b, b_zero, scale, zero_point, y);
    }
}

/// Applies a function to elements of shapes of up to four axes that broadcast.
template <class F>
void map_broadcast(call& c, F f) {
    const Tensor& a = c.int8();
    const Tensor& b = c.int8();
    require(a.dim() <= 4 && b.dim() <= 4, "more than four axes");
    const auto axis = [](const Tensor& t, int from_end) {
        return from_end > t.dim() ? std::int64_t{1} : static_cast<std::int64_t>(t.size(t.dim() - from_end));
    };
    std::vector<std::int64_t> shape;
    for (int i = static_cast<int>(std::max(a.dim(), b.dim())); i != 0; --i) {
        const std::int64_t m = axis(a, i), n = axis(b, i);
        require(m == n || m == 1 || n == 1, "sizes that do not broadcast");
        shape.push_back(m == 1 ? n : m);
    }
    for (const auto& [s, o] : {std::pair(&a, &b), std::pair(&b, &a)}) {
        require(!(axis(*s, 1) == 1 && axis(*s, 2) == 1 && axis(*s, 3) > 1 && axis(*o, 2) > 1),
            "one element for each row, which the kernel misreads");
    }
    const Tensor& y = c.out(shape);
    const auto index_in = [&](const Tensor& t, std::int64_t i) {
        std::int64_t at = 0, stride = 1;
        for (int d = 1; d <= static_cast<int>(shape.size()); ++d) {
            const std::int64_t size = shape[shape.size() - static_cast<std::size_t>(d)];
            at += axis(t, d) == 1 ? 0 : i % size * stride;
            stride *= axis(t, d);
            i /= size;
        }
        return static_cast<std::size_t>(at);
    };
    const std::span<std::int8_t> results = mutable_elements<std::int8_t>(y);
    for (std::size_t i = 0; i != results.size(); ++i) {
        const auto at = static_cast<std::int64_t>(i);
        results[i] = f(elements<std::int8_t>(a)[index_in(a, at)], elements<std::int8_t>(b)[index_in(b, at)]);
    }
}
void minimum(call& c) {
    map_broadcast(c, [](std::int8_t x, std::int8_t y) { return std::min(x, y); });
}
void maximum(call& c) {
    map_broadcast(c, [](std::int8_t x, std::int8_t y) { return std::max(x, y); });
}

void quantized_activation(call& c) {
    const Tensor& x = c.int8();
    const Tensor& lut = c.int8();
    require(lut.numel() == 256, "a table without 256 elements");
    const Tensor& y = c.out(sizes_of(x));
    for (std::size_t i = 0; i != elements<std::int8_t>(x).size(); ++i) {
        const int code = elements<std::int8_t>(x)[i];
        mutable_elements<std::int8_t>(y)[i] =
            elements<std::int8_t>(lut)[static_cast<std::size_t>(code + 128)];
    }
}

void softmax(call& c) {
    const Tensor& x = c.int8();
    const std::int64_t axis = c.integer();
    require(x.dim() > 0 && (axis == -1 || axis == x.dim() - 1), "not along the last axis");
    c.word();  // the zero point of the input, which cancels
    require(c.word() == -128, "the output's zero point is not -128");
    const std::int64_t multiplier = c.word(), shift = c.shift(), diff_min = c.word();
    require(shift >= 0, "a negative shift");
    const Tensor& y = c.out(sizes_of(x));
    const auto size = static_cast<std::size_t>(x.size(x.dim() - 1));
    require(size != 0, "empty rows");
    for (std::size_t at = 0; at < elements<std::int8_t>(x).size(); at += size)
        cortex_m_arithmetic::softmax::row(elements<std::int8_t>(x).subspan(at, size),
            mutable_elements<std::int8_t>(y).data() + at, multiplier, shift, diff_min);
}

// --- products --------------------------------------------------------------------------

std::int32_t dot(std::span<const std::int8_t> a, std::int64_t a_offset, const std::int8_t* b,
    std::int64_t b_offset, std::int32_t sum) {
    for (std::size_t i = 0; i != a.size(); ++i) sum = wrapped(sum + (a[i] + a_offset) * (b[i] + b_offset));
    return sum;
}

/// Helium's kernel reads the sums of the weights alone, the others the bias alone.
void quantized_linear(call& c) {
    const Tensor& x = c.int8();
    const Tensor& w = c.int8();
    require(x.dim() > 0 && w.dim() == 2 && w.size(1) == x.size(x.dim() - 1), "sizes that do not fit");
    const std::int64_t features = w.size(0), depth = w.size(1);
    const auto bias = c.optional_words(features), sums = c.optional_words(features);
    const std::int64_t input_offset = c.word(), filter_offset = c.word(), offset = c.word();
    const auto multipliers = c.list(), shifts = c.list();
    require(!multipliers.empty() && !shifts.empty(), "no multiplier or shift");
    const std::int64_t highest = c.word(), lowest = c.word();
    std::vector<std::int64_t> shape = sizes_of(x);
    shape.back() = features;
    const Tensor& y = c.out(shape);
    const bool is_helium = core() == core_kind::mve;
    require(!is_helium || sums, "Helium's kernel needs the sums of the weights");
    const auto first = is_helium ? sums : bias;
    for (std::int64_t i = 0; i != y.numel(); ++i) {
        const std::int64_t feature = i % features;
        const auto row = elements<std::int8_t>(x).subspan(
            static_cast<std::size_t>(i / features * depth), static_cast<std::size_t>(depth));
        const std::int32_t sum =
            dot(row, is_helium ? 0 : input_offset, elements<std::int8_t>(w).data() + feature * depth,
                filter_offset, first ? (*first)[static_cast<std::size_t>(feature)] : 0);
        mutable_elements<std::int8_t>(y)[static_cast<std::size_t>(i)] =
            clamped(requantize(sum, multipliers[0], shifts[0]), offset, lowest, highest);
    }
}

void quantized_batch_matmul(call& c) {
    const Tensor& a = c.int8();
    const std::int64_t a_offset = c.word();
    const Tensor& b = c.int8();
    const std::int64_t b_offset = c.word(), zero_point = c.word(), multiplier = c.word(), shift = c.shift();
    require(a.dim() == 3 && b.dim() == 3 && a.size(0) == b.size(0) && a.size(2) == b.size(2),
        "sizes that do not fit");
    const std::int64_t rows = a.size(1), columns = b.size(1), depth = a.size(2);
    c.scratch(c.tensor(), core() == core_kind::mve ? 4 * columns : 0);
    const Tensor& y = c.out({a.size(0), rows, columns});
    for (std::int64_t i = 0; i != y.numel(); ++i) {
        const std::int64_t row = i / columns, column = row / rows * columns + i % columns;
        const auto left = elements<std::int8_t>(a).subspan(
            static_cast<std::size_t>(row * depth), static_cast<std::size_t>(depth));
        const std::int32_t sum =
            dot(left, a_offset, elements<std::int8_t>(b).data() + column * depth, b_offset, 0);
        mutable_elements<std::int8_t>(y)[static_cast<std::size_t>(i)] =
            clamped(requantize(sum, multiplier, shift), zero_point);
    }
}

// --- moves -----------------------------------------------------------------------------

/// Four sizes, 1 in front for missing axes.
using four = std::array<std::int64_t, 4>;
four sizes_as_four(const Tensor& t) {
    four all{1, 1, 1, 1};
    for (int i = 0; i != t.dim(); ++i) all[static_cast<std::size_t>(4 - t.dim() + i)] = t.size(i);
    return all;
}

/// The lists are in the order of the memory: N, H, W, C if the kernel takes the tensor for channels_last.
void pad(call& c) {
    const Tensor& x = c.int8();
    require(x.dim() >= 1 && x.dim() <= 4, "rank 0 or above 4");
    const auto before = c.list(), after = c.list();
    require(before.size() == 4 && after.size() == 4, "lists without four elements");
    const std::int64_t code = c.integer();
    const bool last = is_channels_last(x);
    const four from = last ? four{x.size(0), x.size(2), x.size(3), x.size(1)} : sizes_as_four(x);
    four to{};
    for (std::size_t i = 0; i != 4; ++i) {
        require(before[i] >= 0 && after[i] >= 0, "negative padding");
        to[i] = from[i] + before[i] + after[i];
    }
    std::vector<std::int64_t> shape(to.begin() + (4 - x.dim()), to.end());
    if (last) shape = {to[0], to[3], to[1], to[2]};
    const Tensor& y = c.out(shape);
    require(!last || to[3] == 1 || (to[1] == 1 && to[2] == 1) || !is_contiguous(y),
        "the kernel lays the result out with axis 1 innermost");
    const std::span<std::int8_t> results = mutable_elements<std::int8_t>(y);
    std::ranges::fill(results, static_cast<std::int8_t>(code));
    for (std::int64_t i = 0; i != x.numel(); ++i) {
        std::int64_t rest = i, at = 0, stride = 1;
        for (std::size_t d = 4; d-- != 0;) {
            at += (rest % from[d] + before[d]) * stride;
            stride *= to[d];
            rest /= from[d];
        }
        results[static_cast<std::size_t>(at)] = elements<std::int8_t>(x)[static_cast<std::size_t>(i)];
    }
}

void transpose(call& c) {
    const Tensor& x = c.int8();
    const auto order = c.list();
    const auto rank = static_cast<std::size_t>(x.dim());
    require(rank >= 1 && rank <= 4 && order.size() == rank, "rank 0 or above 4, or another order");
    std::vector<std::int64_t> shape, strides(rank, 1), moved;
    for (std::size_t i = rank - 1; i-- != 0;) strides[i] = strides[i + 1] * x.size(static_cast<int>(i) + 1);
    for (const std::int64_t axis : order) {
        require(axis >= 0 && axis < x.dim(), "no such axis");
        shape.push_back(x.size(static_cast<int>(axis)));
        moved.push_back(strides[static_cast<std::size_t>(axis)]);
    }
    require(rank != 2 || order[0] == 1, "the kernel swaps the axes of a matrix whatever the order");
    require(rank != 4 || core() != core_kind::mve || !std::ranges::is_sorted(order),
        "Helium's kernel transposes four axes in any order");
    const Tensor& y = c.out(shape);
    for (std::int64_t i = 0; i != y.numel(); ++i) {
        std::int64_t rest = i, at = 0;
        for (std::size_t d = rank; d-- != 0;) {
            at += rest % shape[d] * moved[d];
            rest /= shape[d];
        }
        mutable_elements<std::int8_t>(y)[static_cast<std::size_t>(i)] =
            elements<std::int8_t>(x)[static_cast<std::size_t>(at)];
    }
}

const runtime::Kernel kernels[] = {
    runtime::Kernel("cortex_m::quantize_per_tensor.out", &boxed<&quantize_per_tensor>),
    runtime::Kernel("cortex_m::dequantize_per_tensor.out", &boxed<&dequantize_per_tensor>),
    runtime::Kernel("cortex_m::quantized_add.out", &boxed<&quantized_add>),
    runtime::Kernel("cortex_m::quantized_mul.out", &boxed<&quantized_mul>),
    runtime::Kernel("cortex_m::quantized_div.out", &boxed<&quantized_div>),
    runtime::Kernel("cortex_m::minimum.out", &boxed<&minimum>),
    runtime::Kernel("cortex_m::maximum.out", &boxed<&maximum>),
    runtime::Kernel("cortex_m::quantized_activation.out", &boxed<&quantized_activation>),
    runtime::Kernel("cortex_m::softmax.out", &boxed<&softmax>),
    runtime::Kernel("cortex_m::quantized_linear.out", &boxed<&quantized_linear>),
    runtime::Kernel("cortex_m::quantized_batch_matmul.out", &boxed<&quantized_batch_matmul>),
    runtime::Kernel("cortex_m::pad.out", &boxed<&pad>),
    runtime::Kernel("cortex_m::transpose.out", &boxed<&transpose>)};

[[maybe_unused]] const runtime::Error registered = runtime::register_kernels({kernels, std::size(kernels)});

}  // namespace

}  // namespace cortex_m_kernels
