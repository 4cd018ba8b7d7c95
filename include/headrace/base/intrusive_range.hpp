// SPDX-License-Identifier: MIT
// Defines headrace::intrusive_range, the items of a linked list whose links are members of the items.
#ifndef HEADRACE_BASE_INTRUSIVE_RANGE_HPP
#define HEADRACE_BASE_INTRUSIVE_RANGE_HPP

#include <cstddef>
#include <span>  // for std::forward_iterator_tag; <iterator> includes streams

namespace headrace {

/// A forward range over an intrusive list. `Next` points to the next item, and is null in the last.
template <class T, T* T::*Next>
class intrusive_range {
public:
    class iterator {
    public:
        using value_type = T;
        using difference_type = std::ptrdiff_t;
        using pointer = T*;
        using reference = T&;
        using iterator_category = std::forward_iterator_tag;

        constexpr iterator() = default;
        explicit constexpr iterator(T* at) : at_(at) {}
        constexpr T& operator*() const { return *at_; }
        constexpr T* operator->() const { return at_; }
        constexpr iterator& operator++() {
            at_ = at_->*Next;
            return *this;
        }
        constexpr iterator operator++(int) {
            iterator before = *this;
            ++*this;
            return before;
        }
        friend constexpr bool operator==(const iterator&, const iterator&) = default;

    private:
        T* at_ = nullptr;
    };

    explicit constexpr intrusive_range(T* first) : first_(first) {}
    [[nodiscard]] constexpr iterator begin() const { return iterator(first_); }
    [[nodiscard]] constexpr iterator end() const { return iterator(); }
    [[nodiscard]] constexpr bool empty() const { return first_ == nullptr; }

private:
    T* first_;
};

}  // namespace headrace

#endif
