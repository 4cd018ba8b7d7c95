// SPDX-License-Identifier: MIT
// Defines random elements of all magnitudes for the tests of kernels.
#ifndef HEADRACE_TESTS_ON_DEVICE_NUMBERS_HPP
#define HEADRACE_TESTS_ON_DEVICE_NUMBERS_HPP

#include <algorithm>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include <headrace/on_device/number.hpp>

namespace on_device_test {

/// The ends of the range, small numbers and those of each magnitude between are all likely.
inline std::int64_t random_integer(std::mt19937& random, std::int64_t lo, std::int64_t hi) {
    if (random() % 16 == 0) return lo;
    if (random() % 16 == 0) return hi;
    const int bits = static_cast<int>(random() % 49);
    const auto size = static_cast<std::int64_t>(
        ((std::uint64_t{random()} << 32) | random()) & ((std::uint64_t{1} << bits) - 1));
    return std::clamp(random() % 2 != 0 ? size : -size, lo, hi);
}
inline float random_float(std::mt19937& random) {
    const float mantissa = std::uniform_real_distribution<float>(-2, 2)(random);
    return random() % 8 == 0 ? mantissa * 1000 : mantissa;
}
/// Elements in memory: a std::vector, but for booleans.
template <class T>
class buffer {
public:
    explicit buffer(std::int32_t count) : elements_(static_cast<std::size_t>(count)) {}
    T* data() { return &elements_.data()->value; }
    const T* data() const { return &elements_.data()->value; }
    T& operator[](std::int32_t i) { return elements_[static_cast<std::size_t>(i)].value; }
    const T& operator[](std::int32_t i) const { return elements_[static_cast<std::size_t>(i)].value; }
    std::int32_t size() const { return static_cast<std::int32_t>(elements_.size()); }
    friend bool operator==(const buffer& a, const buffer& b) {
        return std::equal(a.elements_.begin(), a.elements_.end(), b.elements_.begin(), b.elements_.end(),
            [](const box& x, const box& y) { return x.value == y.value; });
    }

private:
    struct box {
        T value{};
    };
    std::vector<box> elements_;
};

template <headrace::on_device::element E>
buffer<headrace::on_device::element_t<E>> random_elements(std::mt19937& random, std::int32_t count) {
    using T = headrace::on_device::element_t<E>;
    buffer<T> all(count);
    for (std::int32_t i = 0; i != count; ++i) {
        if constexpr (headrace::on_device::is_floating(E)) {
            all[i] = random_float(random);
        } else {
            all[i] = static_cast<T>(random_integer(
                random, headrace::on_device::lowest_of(E), headrace::on_device::highest_of(E)));
        }
    }
    return all;
}

/// The place of the element with this number, counted in the order of the indices.
inline std::int32_t place_of(const headrace::on_device::tensor& t, std::int32_t n) {
    std::int32_t at = t.offset;
    for (int d = t.rank; d-- != 0; n /= t.size[d]) at += n % t.size[d] * t.stride[d];
    return at;
}

}  // namespace on_device_test

#endif
