// SPDX-License-Identifier: MIT
// Defines headrace::tensor, the values that evaluation computes with.
#ifndef HEADRACE_EVAL_TENSOR_HPP
#define HEADRACE_EVAL_TENSOR_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <headrace/base/dtype.hpp>
#include <headrace/ir/strided_walk.hpp>
#include <headrace/ir/tensor_meta.hpp>
#include <headrace/op/fields.hpp>

namespace headrace::eval {

/// Sizes or strides of each dimension.
using extents = std::vector<std::int64_t>;

[[nodiscard]] inline std::int64_t elements_in(std::span<const std::int64_t> shape) {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

[[nodiscard]] inline extents row_major_strides(std::span<const std::int64_t> shape) {
    extents strides(shape.size(), 1);
    for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
    return strides;
}

/// Returns the bytes of one element during evaluation; see visit_elements in eval/element.hpp.
[[nodiscard]] std::size_t element_bytes(dtype t);

/// A tensor with its elements, row-major and contiguous. Copies share the elements: write to a tensor only
/// before its first copy. INT4 takes a byte, INT48 and shapes eight (see visit_elements).
class tensor {
public:
    tensor() = default;
    /// All elements zero.
    tensor(headrace::dtype type, extents shape)
        : type_(type), shape_(std::move(shape)), size_(elements_in(shape_)) {
        struct alignas(std::max_align_t) unit {
            std::byte bytes[sizeof(std::max_align_t)];
        };
        const auto units = std::make_shared_for_overwrite<unit[]>(byte_count() / sizeof(unit) + 1);
        bytes_ = std::shared_ptr<std::byte>(units, units[0].bytes);
        std::memset(bytes_.get(), 0, byte_count());
    }
    /// Returns a view of elements, which must outlive the tensor and all its copies.
    static tensor view(headrace::dtype type, extents shape, const std::byte* elements) {
        tensor t;
        t.type_ = type;
        t.size_ = elements_in(shape);
        t.shape_ = std::move(shape);
        // No owner: this view is never written to.
        t.bytes_ = std::shared_ptr<std::byte>(std::shared_ptr<void>(), const_cast<std::byte*>(elements));
        return t;
    }
    /// Returns a tensor of these numbers, converted.
    template <class T>
    static tensor of(headrace::dtype type, extents shape, std::span<const T> numbers) {
        tensor t(type, std::move(shape));
        t.assign(numbers);
        return t;
    }
    template <class T>
    static tensor of(headrace::dtype type, extents shape, const std::vector<T>& numbers) {
        return of(type, std::move(shape), std::span<const T>(numbers));
    }
    /// Returns a tensor of rank 0.
    template <class T>
    static tensor of_number(headrace::dtype type, T number) {
        return of(type, {}, std::span<const T>(&number, 1));
    }

    [[nodiscard]] headrace::dtype type() const { return type_; }
    [[nodiscard]] const extents& shape() const { return shape_; }
    [[nodiscard]] std::size_t rank() const { return shape_.size(); }
    [[nodiscard]] std::int64_t dim(std::size_t d) const { return shape_[d]; }
    [[nodiscard]] std::int64_t size() const { return size_; }
    [[nodiscard]] std::size_t byte_count() const {
        return static_cast<std::size_t>(size_) * element_bytes(type_);
    }
    [[nodiscard]] bool has_meta(const tensor_meta& m) const {
        return m.dtype == type_ && std::ranges::equal(m.shape, shape_);
    }

    [[nodiscard]] std::span<const std::byte> bytes() const { return {bytes_.get(), byte_count()}; }
    [[nodiscard]] std::span<std::byte> mutable_bytes() { return {bytes_.get(), byte_count()}; }
    template <class T>
    [[nodiscard]] std::span<const T> data() const {
        return {reinterpret_cast<const T*>(bytes_.get()), static_cast<std::size_t>(size_)};
    }
    template <class T>
    [[nodiscard]] std::span<T> mutable_data() {
        return {reinterpret_cast<T*>(bytes_.get()), static_cast<std::size_t>(size_)};
    }

    /// Returns all elements, converted to double or int64, the types that kernels compute in, or to float,
    /// for kernels that do not round.
    template <class To>
    [[nodiscard]] std::vector<To> to() const;
    /// Writes the first numbers, one for each element.
    void assign(std::span<const double> numbers);
    void assign(std::span<const float> numbers);
    void assign(std::span<const std::int64_t> numbers);
    /// Assigns numbers of any other type that a double or an int64 holds exactly.
    template <class From>
        requires(
            std::is_floating_point_v<From> || std::is_signed_v<From> || sizeof(From) < sizeof(std::int64_t))
    void assign(std::span<const From> numbers) {
        using wide = std::conditional_t<std::is_floating_point_v<From>, double, std::int64_t>;
        assign(std::span<const wide>(std::vector<wide>(numbers.begin(), numbers.end())));
    }
    template <class From>
    void assign(const std::vector<From>& numbers) {
        assign(std::span<const From>(numbers));
    }
    [[nodiscard]] double real(std::int64_t i) const;
    [[nodiscard]] std::int64_t integer(std::int64_t i) const;

    /// Returns the elements in another shape.
    [[nodiscard]] tensor reshaped(extents shape) const {
        tensor t = *this;
        t.shape_ = std::move(shape);
        return t;
    }
    [[nodiscard]] tensor cast(headrace::dtype type) const;

private:
    template <class From>
    void assign_elements(std::span<const From> numbers);
    template <class To>
    [[nodiscard]] To element(std::int64_t i) const;

    headrace::dtype type_ = headrace::dtype::unknown;
    extents shape_;
    std::int64_t size_ = 1;
    std::shared_ptr<std::byte> bytes_;
};

template <>
std::vector<double> tensor::to<double>() const;
template <>
std::vector<float> tensor::to<float>() const;
template <>
std::vector<std::int64_t> tensor::to<std::int64_t>() const;

/// All elements of a tensor, converted only if they are of another type; empty if there is no tensor. The
/// tensor must outlive it.
template <class To>
class elements_as {
public:
    explicit elements_as(const tensor& t) : elements_as(&t) {}
    explicit elements_as(const tensor* t) {
        if (t == nullptr) return;
        constexpr dtype own = std::is_same_v<To, float> ? dtype::float32
            : std::is_same_v<To, double>                ? dtype::float64
                                                        : dtype::int64;
        if (t->type() != own) converted_ = t->to<To>();
        all_ = t->type() == own ? t->data<To>() : std::span<const To>(converted_);
    }
    elements_as(const elements_as&) = delete;
    elements_as& operator=(const elements_as&) = delete;

    [[nodiscard]] operator std::span<const To>() const { return all_; }  // used like its elements
    [[nodiscard]] const To* data() const { return all_.data(); }

private:
    std::vector<To> converted_;
    std::span<const To> all_;
};

namespace detail {

/// Unpacks TOSA's encodings: two INT4 in a byte, six bytes for an INT48.
inline std::int64_t unpack(dtype t, const std::byte* bytes, std::int64_t i) {
    if (t == dtype::int4) {
        const auto pair = std::to_integer<unsigned>(bytes[i / 2]);
        const int nibble = static_cast<int>(i % 2 == 0 ? pair & 15U : pair >> 4U);
        return nibble < 8 ? nibble : nibble - 16;
    }
    std::uint64_t bits = 0;
    for (int k = 6; k-- > 0;) bits = bits << 8U | std::to_integer<std::uint64_t>(bytes[i * 6 + k]);
    return static_cast<std::int64_t>(bits << 16U) >> 16;
}

}  // namespace detail

/// Returns the elements of a constant. Row-major elements are not copied unless they are packed or
/// misaligned.
[[nodiscard]] inline tensor tensor_of_constant(const tensor_data& data, const tensor_meta& meta) {
    extents shape(meta.shape.begin(), meta.shape.end());
    const bool packed = meta.dtype == dtype::int4 || meta.dtype == dtype::int48;
    const std::size_t width = element_bytes(meta.dtype);
    const extents dense = row_major_strides(shape);
    const bool contiguous = data.strides.empty() || std::ranges::equal(data.strides, dense);
    const bool aligned = reinterpret_cast<std::uintptr_t>(data.bytes) % width == 0;
    if (contiguous && aligned && !packed) return tensor::view(meta.dtype, std::move(shape), data.bytes);
    tensor t(meta.dtype, shape);
    std::byte* to = t.mutable_bytes().data();
    const sizes strides = contiguous ? sizes(dense) : sizes(data.strides);
    for_each_position(shape, strides, [&](std::int64_t at) {
        if (packed) {
            const std::int64_t number = detail::unpack(meta.dtype, data.bytes, at);
            std::memcpy(to, &number, width);  // little-endian: the low bytes come first
        } else {
            std::memcpy(to, data.bytes + at * static_cast<std::int64_t>(width), width);
        }
        to += width;
    });
    return t;
}

}  // namespace headrace::eval

namespace headrace {
using eval::tensor;
using eval::tensor_of_constant;
}  // namespace headrace

#endif
