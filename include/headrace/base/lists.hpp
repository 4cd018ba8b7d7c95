// SPDX-License-Identifier: MIT
// Defines headrace::list and headrace::int_list, the list-valued arguments of ops.
#ifndef HEADRACE_BASE_LISTS_HPP
#define HEADRACE_BASE_LISTS_HPP

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace headrace {

/// A list argument. It is a view and trivially copyable, so argument structs are, too. A node's own lists are
/// in its graph's arena (graph::create copies them there); a list in an argument struct that is being built
/// only has to outlive the call that takes it.
template <class T>
class list {
public:
    constexpr list() = default;
    constexpr list(const T* first, std::size_t count) : first_(first), count_(count) {}
    constexpr list(std::span<const T> items) : list(items.data(), items.size()) {}
    constexpr list(std::initializer_list<T> items) : list(std::data(items), items.size()) {}
    template <class Range>
        requires requires(const Range& r) {
            { r.data() } -> std::convertible_to<const T*>;
            r.size();
        }
    constexpr list(const Range& range) : list(range.data(), range.size()) {}

    [[nodiscard]] constexpr const T* data() const { return first_; }
    [[nodiscard]] constexpr std::size_t size() const { return count_; }
    [[nodiscard]] constexpr bool empty() const { return count_ == 0; }
    [[nodiscard]] constexpr const T* begin() const { return first_; }
    [[nodiscard]] constexpr const T* end() const { return first_ + count_; }
    [[nodiscard]] constexpr const T& operator[](std::size_t i) const { return first_[i]; }

    friend constexpr bool operator==(const list& a, const list& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

private:
    const T* first_ = nullptr;
    std::size_t count_ = 0;
};

/// A list of integers: sizes, axes or strides. Up to six (TOSA's maximum rank) are stored in the object; a
/// longer list is a view with the lifetime of a headrace::list.
class int_list {
public:
    static constexpr std::size_t inline_capacity = 6;

    constexpr int_list() = default;
    constexpr int_list(std::span<const std::int64_t> items) : size_(items.size()) {
        if (size_ > inline_capacity) {
            storage_.view = items.data();
        } else {
            std::copy(items.begin(), items.end(), storage_.items);
        }
    }
    constexpr int_list(std::initializer_list<std::int64_t> items)
        : int_list(std::span<const std::int64_t>(std::data(items), items.size())) {}
    template <class Range>
        requires std::convertible_to<const Range&, std::span<const std::int64_t>>
    constexpr int_list(const Range& range) : int_list(std::span<const std::int64_t>(range)) {}

    [[nodiscard]] constexpr const std::int64_t* data() const {
        return is_view() ? storage_.view : storage_.items;
    }
    [[nodiscard]] constexpr std::size_t size() const { return size_; }
    [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
    [[nodiscard]] constexpr bool is_view() const { return size_ > inline_capacity; }
    [[nodiscard]] constexpr const std::int64_t* begin() const { return data(); }
    [[nodiscard]] constexpr const std::int64_t* end() const { return data() + size_; }
    [[nodiscard]] constexpr std::int64_t operator[](std::size_t i) const { return data()[i]; }
    [[nodiscard]] constexpr std::int64_t front() const { return data()[0]; }
    [[nodiscard]] constexpr std::int64_t back() const { return data()[size_ - 1]; }

    friend constexpr bool operator==(const int_list& a, const int_list& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

private:
    union storage {
        std::int64_t items[inline_capacity]{};
        const std::int64_t* view;
    };

    std::size_t size_ = 0;
    storage storage_{};
};

}  // namespace headrace

#endif
