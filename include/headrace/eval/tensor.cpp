// SPDX-License-Identifier: MIT
// Defines the functions of headrace/eval/tensor.hpp.

#include <headrace/eval/tensor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <headrace/eval/element.hpp>

namespace headrace::eval {

std::size_t element_bytes(dtype t) {
    std::size_t bytes = traits_of(t).bits / 8U;
    visit_elements(t, [&]<class T>(T) { bytes = sizeof(T); });
    return bytes;
}

namespace detail {

template <class To>
std::vector<To> numbers_of(const tensor& t) {
    if (t.type() == dtype::float32 && std::is_same_v<To, float>) {
        const std::span<const To> all = t.data<To>();
        return {all.begin(), all.end()};
    }
    std::vector<To> numbers(static_cast<std::size_t>(t.size()));
    visit_elements(t.type(), [&]<class T>(T) {
        std::ranges::transform(t.data<T>(), numbers.begin(), [](T v) { return element_cast<To>(v); });
    });
    return numbers;
}

}  // namespace detail

template <class From>
void tensor::assign_elements(std::span<const From> numbers) {
    // Never writes past the end, whatever a kernel has computed.
    numbers = numbers.first(std::min(numbers.size(), static_cast<std::size_t>(size_)));
    if (type_ == dtype::float32 && std::is_same_v<From, float>) {
        std::ranges::copy(numbers, mutable_data<From>().begin());
        return;
    }
    visit_elements(type_, [&]<class T>(T) {
        std::ranges::transform(numbers, mutable_data<T>().begin(), [](From v) { return element_cast<T>(v); });
    });
}
template <class To>
To tensor::element(std::int64_t i) const {
    To number{};
    visit_elements(
        type_, [&]<class T>(T) { number = element_cast<To>(data<T>()[static_cast<std::size_t>(i)]); });
    return number;
}

template <>
std::vector<double> tensor::to<double>() const {
    return detail::numbers_of<double>(*this);
}
template <>
std::vector<float> tensor::to<float>() const {
    return detail::numbers_of<float>(*this);
}
template <>
std::vector<std::int64_t> tensor::to<std::int64_t>() const {
    return detail::numbers_of<std::int64_t>(*this);
}
void tensor::assign(std::span<const double> numbers) { assign_elements(numbers); }
void tensor::assign(std::span<const float> numbers) { assign_elements(numbers); }
void tensor::assign(std::span<const std::int64_t> numbers) { assign_elements(numbers); }
double tensor::real(std::int64_t i) const { return element<double>(i); }
std::int64_t tensor::integer(std::int64_t i) const { return element<std::int64_t>(i); }
tensor tensor::cast(headrace::dtype type) const {
    if (type == type_) return *this;
    tensor t(type, shape_);
    visit_elements(type_, [&]<class From>(From) { t.assign_elements(data<From>()); });
    return t;
}

}  // namespace headrace::eval
