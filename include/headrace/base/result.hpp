// SPDX-License-Identifier: MIT
// Defines headrace::result, a value or an error, and HEADRACE_TRY, which returns on an error.
#ifndef HEADRACE_BASE_RESULT_HPP
#define HEADRACE_BASE_RESULT_HPP

#include <memory_resource>
#include <new>
#include <type_traits>
#include <utility>

#include <headrace/base/error.hpp>

namespace headrace {

namespace detail {

// An error in memory of its own, or none: few results hold an error, but each is returned through several
// functions. The memory comes from the resource of the error's message, so programs without a heap choose it.
class error_box {
public:
    error_box() = default;
    [[gnu::cold, gnu::noinline]] explicit error_box(error&& e)
        : held_(new(memory_of(e)->allocate(sizeof(error), alignof(error))) error(std::move(e))) {}
    error_box(error_box&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
    error_box(const error_box&) = delete;
    error_box& operator=(error_box&& other) noexcept {
        std::swap(held_, other.held_);
        return *this;
    }
    error_box& operator=(const error_box&) = delete;
    ~error_box() {
        if (held_ != nullptr) destroy(held_);
    }

    [[nodiscard]] bool empty() const { return held_ == nullptr; }
    [[nodiscard]] error& get() const { return *held_; }

private:
    static std::pmr::memory_resource* memory_of(const error& e) {
        return e.message.get_allocator().resource();
    }
    [[gnu::cold, gnu::noinline]] static void destroy(error* e) noexcept {
        std::pmr::memory_resource* const memory = memory_of(*e);
        e->~error();
        memory->deallocate(e, sizeof(error), alignof(error));
    }

    error* held_ = nullptr;
};

}  // namespace detail

/// A value or an error, like C++23's std::expected. Access to the one that it does not hold traps.
template <class T>
class [[nodiscard]] result {
public:
    using value_type = T;

    template <class U = T>
        requires(!std::is_same_v<std::remove_cvref_t<U>, result> &&
                    requires(void take(T), U&& v) { take(static_cast<U&&>(v)); })
    result(U&& v) : value_(static_cast<T>(static_cast<U&&>(v))), has_value_(true) {}
    result(headrace::error e) : error_(std::move(e)), has_value_(false) {}
    result(detail::error_box e) noexcept : error_(std::move(e)), has_value_(false) {}
    result(result&& other) noexcept : has_value_(other.has_value_) { take(std::move(other)); }
    result& operator=(result&& other) noexcept {
        if (this != &other) {
            destroy();
            has_value_ = other.has_value_;
            take(std::move(other));
        }
        return *this;
    }
    ~result() { destroy(); }

    [[nodiscard]] bool has_value() const { return has_value_; }
    [[nodiscard]] bool has_error() const { return !has_value_; }
    explicit operator bool() const { return has_value_; }

    [[nodiscard]] T& value() & {
        if (!has_value_) __builtin_trap();
        return value_;
    }
    [[nodiscard]] const T& value() const& { return const_cast<result&>(*this).value(); }
    [[nodiscard]] T&& value() && { return std::move(value()); }
    [[nodiscard]] headrace::error& error() & {
        if (has_value_) __builtin_trap();
        return error_.get();
    }
    [[nodiscard]] const headrace::error& error() const& { return const_cast<result&>(*this).error(); }
    [[nodiscard]] headrace::error&& error() && { return std::move(error()); }

    /// The error that HEADRACE_TRY returns, and the value that it continues with.
    [[nodiscard]] detail::error_box&& failure() && { return std::move(error_); }
    [[nodiscard]] T&& success() && { return std::move(value_); }

private:
    void take(result&& other) {
        if (has_value_)
            new (&value_) T(std::move(other.value_));
        else
            new (&error_) detail::error_box(std::move(other.error_));
    }
    void destroy() {
        if (has_value_)
            value_.~T();
        else
            error_.~error_box();
    }

    union {
        T value_;
        detail::error_box error_;
    };
    bool has_value_;
};

/// Success, or an error. Success is `{}`.
template <>
class [[nodiscard]] result<void> {
public:
    using value_type = void;

    result() = default;
    result(headrace::error e) : error_(std::move(e)) {}
    result(detail::error_box e) noexcept : error_(std::move(e)) {}

    [[nodiscard]] bool has_value() const { return error_.empty(); }
    [[nodiscard]] bool has_error() const { return !error_.empty(); }
    explicit operator bool() const { return error_.empty(); }

    [[nodiscard]] headrace::error& error() & {
        if (error_.empty()) __builtin_trap();
        return error_.get();
    }
    [[nodiscard]] const headrace::error& error() const& { return const_cast<result&>(*this).error(); }
    [[nodiscard]] headrace::error&& error() && { return std::move(error()); }

    [[nodiscard]] detail::error_box&& failure() && { return std::move(error_); }
    void success() && {}

private:
    detail::error_box error_;
};

}  // namespace headrace

/// Returns the error of a result from the enclosing function, or continues with its value:
///
///     HEADRACE_TRY(check(x));                    // a result<void>
///     HEADRACE_TRY(shape, broadcast(a, b));      // `shape` is the value of the result
///     HEADRACE_TRY_VOID(parse<int, float>(x));   // for expressions with commas
#define HEADRACE_TRY(...)                                                                   \
    HEADRACE_DETAIL_PICK(__VA_ARGS__, HEADRACE_DETAIL_TRY_NAMED, HEADRACE_DETAIL_TRY_NAMED, \
        HEADRACE_DETAIL_TRY_NAMED, HEADRACE_DETAIL_TRY_NAMED, HEADRACE_DETAIL_TRY_NAMED,    \
        HEADRACE_DETAIL_TRY_NAMED, HEADRACE_DETAIL_TRY_NAMED, HEADRACE_DETAIL_TRY_NAMED,    \
        HEADRACE_DETAIL_TRY_VOID, )                                                         \
    (HEADRACE_DETAIL_JOIN(headrace_result_, __LINE__), __VA_ARGS__)
#define HEADRACE_TRY_VOID(...) \
    HEADRACE_DETAIL_TRY_VOID(HEADRACE_DETAIL_JOIN(headrace_result_, __LINE__), __VA_ARGS__)

#define HEADRACE_DETAIL_PICK(_1, _2, _3, _4, _5, _6, _7, _8, _9, chosen, ...) chosen
#define HEADRACE_DETAIL_JOIN(a, b) HEADRACE_DETAIL_JOIN_EXPANDED(a, b)
#define HEADRACE_DETAIL_JOIN_EXPANDED(a, b) a##b
#define HEADRACE_DETAIL_TRY_VOID(held, ...) \
    auto&& held = (__VA_ARGS__);            \
    if (!held.has_value()) return static_cast<decltype(held)&&>(held).failure()
#define HEADRACE_DETAIL_TRY_NAMED(held, name, ...) \
    HEADRACE_DETAIL_TRY_VOID(held, __VA_ARGS__);   \
    auto&& name = static_cast<decltype(held)&&>(held).success()

#endif
