// SPDX-License-Identifier: MIT
// Defines headrace::value, the handle of one result of a node, and headrace::scalar, a Python number.
#ifndef HEADRACE_OP_VALUE_HPP
#define HEADRACE_OP_VALUE_HPP

#include <cstdint>

namespace headrace {

struct node;
class graph;

/// One result of one node, referred to by arguments of tensor type. Empty if no node produces it.
struct value {
    node* producer = nullptr;
    std::uint32_t result = 0;

    explicit constexpr operator bool() const { return producer != nullptr; }
    friend constexpr bool operator==(const value&, const value&) = default;
};

/// A Python number, kept as written: `2` and `2.0` promote differently.
class scalar {
public:
    enum class kind_type : std::uint8_t { integral, floating, boolean };

    constexpr scalar() = default;
    constexpr scalar(bool v) : kind_(kind_type::boolean), integral_(v) {}
    constexpr scalar(int v) : integral_(v) {}
    constexpr scalar(std::int64_t v) : integral_(v) {}
    constexpr scalar(double v) : kind_(kind_type::floating), floating_(v) {}

    [[nodiscard]] constexpr kind_type kind() const { return kind_; }
    [[nodiscard]] constexpr bool is_floating() const { return kind_ == kind_type::floating; }
    [[nodiscard]] constexpr double to_double() const {
        return is_floating() ? floating_ : static_cast<double>(integral_);
    }
    /// Rounds toward zero like Python's int(); saturates if the number does not fit; 0 for NaN.
    [[nodiscard]] constexpr std::int64_t to_int() const {
        if (!is_floating()) return integral_;
        if (floating_ != floating_) return 0;
        if (floating_ >= 9223372036854775807.0) return INT64_MAX;
        if (floating_ <= -9223372036854775808.0) return INT64_MIN;
        return static_cast<std::int64_t>(floating_);
    }
    friend constexpr bool operator==(const scalar& a, const scalar& b) {
        return a.kind_ == b.kind_ && a.integral_ == b.integral_ &&
            (a.floating_ == b.floating_ || (a.floating_ != a.floating_ && b.floating_ != b.floating_));
    }

private:
    kind_type kind_ = kind_type::integral;
    std::int64_t integral_ = 0;
    double floating_ = 0;
};

}  // namespace headrace

#endif
