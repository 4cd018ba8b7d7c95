// SPDX-License-Identifier: MIT
// Defines headrace::pmr_vector, a vector in memory of a std::pmr::memory_resource.
#ifndef HEADRACE_BASE_PMR_VECTOR_HPP
#define HEADRACE_BASE_PMR_VECTOR_HPP

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <memory_resource>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>  // has std::reverse_iterator, at less cost than <iterator>

#include <headrace/base/vector_storage.hpp>

namespace headrace {

/// A replacement for std::pmr::vector, with the same members, for most uses in the library. Constructors and
/// iterators are templates there; an item type costs a fifteenth as much to compile here. The umbrella has
/// eighteen item types, an edited pipeline a hundred. Items that allocate use the resource that their own
/// constructors name.
template <class T>
class pmr_vector {
public:
    using value_type = T;
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using reference = T&;
    using const_reference = const T&;
    using iterator = T*;
    using const_iterator = const T*;

    pmr_vector() = default;
    explicit pmr_vector(std::pmr::memory_resource* resource) { storage_.resource = resource; }
    // These constructors delegate, so that items already made are destroyed if a later one throws.
    explicit pmr_vector(std::size_t count) : pmr_vector() { extend(count); }
    pmr_vector(std::size_t count, const T& item,
        std::pmr::memory_resource* resource = std::pmr::get_default_resource())
        : pmr_vector(resource) {
        extend(count, item);
    }
    pmr_vector(std::initializer_list<T> items) : pmr_vector() { append(items.begin(), items.end()); }
    template <class Iterator>
        requires(!std::is_integral_v<Iterator>)
    pmr_vector(
        Iterator first, Iterator last, std::pmr::memory_resource* resource = std::pmr::get_default_resource())
        : pmr_vector(resource) {
        append(first, last);
    }
    /// The copy uses the default memory resource.
    pmr_vector(const pmr_vector& other) : pmr_vector() { append(other.begin(), other.end()); }
    pmr_vector(pmr_vector&& other) noexcept : storage_(other.storage_) { other.forget(); }
    pmr_vector& operator=(const pmr_vector& other) {
        if (this != &other) assign(other.begin(), other.end());
        return *this;
    }
    /// Moves item by item if `other` has a different memory resource.
    pmr_vector& operator=(pmr_vector&& other) {  // NOLINT(performance-noexcept-move-constructor): see above
        if (this == &other) return *this;
        clear();
        if (*storage_.resource == *other.storage_.resource) {
            swap(other);
        } else {
            reserve(other.size());
            for (T& item : other) push_back(std::move(item));
        }
        return *this;
    }
    pmr_vector& operator=(std::initializer_list<T> items) {
        assign(items.begin(), items.end());
        return *this;
    }
    ~pmr_vector() {
        clear();
        storage_.put(nullptr, 0, sizeof(T), alignof(T));
    }

    [[nodiscard]] std::size_t size() const { return storage_.size; }
    [[nodiscard]] std::size_t capacity() const { return storage_.capacity; }
    [[nodiscard]] bool empty() const { return storage_.size == 0; }
    [[nodiscard]] std::pmr::memory_resource* resource() const { return storage_.resource; }
    [[nodiscard]] T* data() { return static_cast<T*>(storage_.items); }
    [[nodiscard]] const T* data() const { return static_cast<const T*>(storage_.items); }
    [[nodiscard]] T* begin() { return data(); }
    [[nodiscard]] T* end() { return data() + size(); }
    [[nodiscard]] const T* begin() const { return data(); }
    [[nodiscard]] const T* end() const { return data() + size(); }
    [[nodiscard]] auto rbegin() { return std::reverse_iterator(end()); }
    [[nodiscard]] auto rend() { return std::reverse_iterator(begin()); }
    [[nodiscard]] auto rbegin() const { return std::reverse_iterator(end()); }
    [[nodiscard]] auto rend() const { return std::reverse_iterator(begin()); }
    [[nodiscard]] T& operator[](std::size_t i) { return data()[i]; }
    [[nodiscard]] const T& operator[](std::size_t i) const { return data()[i]; }
    [[nodiscard]] T& front() { return data()[0]; }
    [[nodiscard]] const T& front() const { return data()[0]; }
    [[nodiscard]] T& back() { return end()[-1]; }
    [[nodiscard]] const T& back() const { return end()[-1]; }

    void reserve(std::size_t count) {
        if (count > capacity()) grow(count);
    }
    void clear() { drop(0); }
    void swap(pmr_vector& other) noexcept { std::swap(storage_, other.storage_); }

    void push_back(T item) { emplace_back(std::move(item)); }
    template <class... Args>
    T& emplace_back(Args&&... args) {
        if (size() != capacity()) return construct(std::forward<Args>(args)...);
        T item(std::forward<Args>(args)...);  // made before growing: arguments may refer to the old memory
        grow(size() + 1);
        return construct(std::move(item));
    }
    void pop_back() { drop(size() - 1); }

    void resize(std::size_t count) { count < size() ? drop(count) : extend(count); }
    void resize(std::size_t count, const T& item) { count < size() ? drop(count) : extend(count, T(item)); }
    void assign(std::size_t count, const T& item) {
        const T copy = item;
        clear();
        extend(count, copy);
    }
    template <class Iterator>
        requires(!std::is_integral_v<Iterator>)
    void assign(Iterator first, Iterator last) {
        clear();
        append(first, last);
    }

    T* insert(const T* before, T item) {
        const std::size_t at = index_of(before);
        push_back(std::move(item));
        return turn(at, size() - 1);
    }
    T* insert(const T* before, std::size_t count, const T& item) {
        const std::size_t at = index_of(before);
        const std::size_t middle = size();
        resize(middle + count, item);
        return turn(at, middle);
    }
    template <class Iterator>
        requires(!std::is_integral_v<Iterator>)
    T* insert(const T* before, Iterator first, Iterator last) {
        const std::size_t at = index_of(before);
        const std::size_t middle = size();
        append(first, last);
        return turn(at, middle);
    }
    T* erase(const T* at) { return erase(at, at + 1); }
    T* erase(const T* first, const T* last) {
        T* to = begin() + index_of(first);
        if (first != last) {
            T* kept = to;
            for (T* from = begin() + index_of(last); from != end(); ++from) *kept++ = std::move(*from);
            drop(index_of(kept));
        }
        return to;
    }

    friend bool operator==(const pmr_vector& a, const pmr_vector& b) {
        if (a.size() != b.size()) return false;
        for (std::size_t i = 0; i != a.size(); ++i) {
            if (!(a[i] == b[i])) return false;
        }
        return true;
    }
    /// Removes the items for which the predicate holds and returns their number, like std::erase_if.
    template <class Predicate>
    friend std::size_t erase_if(pmr_vector& v, Predicate goes) {
        T* kept = v.begin();
        for (T& item : v) {
            if (goes(item)) continue;
            if (&item != kept) *kept = std::move(item);
            ++kept;
        }
        const std::size_t before = v.size();
        v.drop(v.index_of(kept));
        return before - v.size();
    }

private:
    [[nodiscard]] std::size_t index_of(const T* at) const { return static_cast<std::size_t>(at - begin()); }
    void forget() { storage_ = {nullptr, 0, 0, storage_.resource}; }

    template <class... Args>
    T& construct(Args&&... args) {
        T* const made = ::new (static_cast<void*>(end())) T(std::forward<Args>(args)...);
        ++storage_.size;
        return *made;
    }
    void drop(std::size_t left) {
        if constexpr (std::is_trivially_destructible_v<T>) {
            storage_.size = left;
        } else {
            while (size() != left) {
                back().~T();
                --storage_.size;
            }
        }
    }
    void grow(std::size_t least) {
        if constexpr (std::is_trivially_copyable_v<T>) {
            storage_.grow(least, sizeof(T), alignof(T));
        } else {
            pmr_vector larger(storage_.resource);
            const std::size_t count = storage_.next_capacity(least);
            larger.storage_.put(
                storage_.allocate(count, sizeof(T), alignof(T)), count, sizeof(T), alignof(T));
            for (T& item : *this) larger.construct(std::move(item));
            swap(larger);
        }
    }
    // Grows to `count` items, each constructed from `item`, or by default without it.
    template <class... Item>
    void extend(std::size_t count, const Item&... item) {
        reserve(count);
        if constexpr (std::is_trivially_copyable_v<T>) {
            T* const last = begin() + count;
            for (T* at = end(); at != last; ++at) ::new (static_cast<void*>(at)) T(item...);
            storage_.size = count;
        } else {
            while (size() != count) construct(item...);
        }
    }
    template <class Iterator>
    void append(Iterator first, Iterator last) {
        if constexpr (requires { last - first; }) {
            const auto count = static_cast<std::size_t>(last - first);
            reserve(size() + count);
            if constexpr (std::is_trivially_copyable_v<T> &&
                (std::is_same_v<Iterator, T*> || std::is_same_v<Iterator, const T*>)) {
                if (count != 0) std::memcpy(static_cast<void*>(end()), first, count * sizeof(T));
                storage_.size += count;
                return;
            }
        }
        for (; first != last; ++first) {
            if constexpr (std::is_arithmetic_v<T>) {
                emplace_back(static_cast<T>(*first));
            } else {
                emplace_back(*first);
            }
        }
    }
    // Rotates, so that the items from `middle` on, which were appended, come to position `at`.
    T* turn(std::size_t at, std::size_t middle) {
        if (at != middle) {
            flip(at, middle);
            flip(middle, size());
            flip(at, size());
        }
        return begin() + at;
    }
    void flip(std::size_t first, std::size_t last) {
        while (first + 1 < last) std::swap((*this)[first++], (*this)[--last]);
    }

    detail::vector_storage storage_;
};

}  // namespace headrace

#endif
