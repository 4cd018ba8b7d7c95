// SPDX-License-Identifier: MIT
// Defines how the elements of a constant are copied in row-major order.
#ifndef HEADRACE_IO_FILE_ELEMENT_COPIER_HPP
#define HEADRACE_IO_FILE_ELEMENT_COPIER_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <headrace/ir/tensor_meta.hpp>
#include <headrace/op/fields.hpp>

namespace headrace::detail {

inline bool is_row_major(const tensor_data& data, const int_list& shape) {
    if (data.strides.empty()) return true;
    std::int64_t expected = 1;
    for (std::size_t i = shape.size(); i-- != 0;) {
        if (shape[i] != 1 && data.strides[i] != expected) return false;
        expected *= shape[i];
    }
    return true;
}

/// Copies the elements of a constant in row-major order; INT4 elements are repacked.
class element_copier {
public:
    element_copier(const tensor_data& data, const tensor_meta& meta, std::uint8_t* to)
        : data_(data), meta_(meta), to_(to), bits_(traits_of(meta.dtype).bits) {}

    void copy() {
        const auto count = static_cast<std::uint64_t>(meta_.elements());
        if (count == 0) return;
        if (is_row_major(data_, meta_.shape)) {
            std::memcpy(to_, data_.bytes, bytes_in_memory(meta_));
        } else {
            if (bits_ == 4) std::memset(to_, 0, bytes_in_memory(meta_));
            copy_dimension(0, 0);
        }
    }

private:
    void copy_dimension(std::size_t dimension, std::int64_t from) {
        if (dimension == meta_.rank()) return put(from, 1);
        const std::int64_t size = meta_.shape[dimension];
        const std::int64_t stride = data_.strides[dimension];
        if (dimension + 1 == meta_.rank() && bits_ != 4) return put_row(from, size, stride);
        for (std::int64_t i = 0; i != size; ++i) copy_dimension(dimension + 1, from + i * stride);
    }
    void put_row(std::int64_t from, std::int64_t count, std::int64_t stride) {
        if (stride == 1) return put(from, count);
        switch (bits_) {
            case 8:
                return put_spread<1>(from, count, stride);
            case 16:
                return put_spread<2>(from, count, stride);
            case 32:
                return put_spread<4>(from, count, stride);
            case 64:
                return put_spread<8>(from, count, stride);
            default:
                for (std::int64_t i = 0; i != count; ++i) put(from + i * stride, 1);
        }
    }
    // A width known at compile time makes each copy one move: most weights of convolutions are copied here.
    template <std::int64_t Width>
    void put_spread(std::int64_t from, std::int64_t count, std::int64_t stride) {
        std::uint8_t* const to = to_ + done_ * Width;
        const std::byte* const first = data_.bytes + from * Width;
        for (std::int64_t i = 0; i != count; ++i) {
            std::memcpy(to + i * Width, first + i * stride * Width, static_cast<std::size_t>(Width));
        }
        done_ += static_cast<std::uint64_t>(count);
    }
    void put(std::int64_t from, std::int64_t count) {
        if (bits_ == 4) {
            const unsigned pair = std::to_integer<unsigned>(data_.bytes[from >> 1]);
            const unsigned nibble = (pair >> ((from & 1) * 4)) & 15U;
            to_[done_ / 2] = static_cast<std::uint8_t>(to_[done_ / 2] | nibble << (done_ % 2 * 4));
        } else {
            const std::int64_t bytes = bits_ / 8;
            std::memcpy(to_ + done_ * static_cast<std::uint64_t>(bytes), data_.bytes + from * bytes,
                static_cast<std::size_t>(count * bytes));
        }
        done_ += static_cast<std::uint64_t>(count);
    }

    const tensor_data& data_;
    const tensor_meta& meta_;
    std::uint8_t* to_;
    std::int64_t bits_;
    std::uint64_t done_ = 0;
};

}  // namespace headrace::detail

#endif
