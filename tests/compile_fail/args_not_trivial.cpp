// SPDX-License-Identifier: MIT
// Defines an op whose arguments own memory, which a graph's arena would never free.
// EXPECT: op: args must be trivially copyable

#include <headrace/op/op.hpp>

namespace mine {

struct owned {
    owned() = default;
    constexpr owned(const owned&) {}
};
struct plain {};

}  // namespace mine

namespace headrace {
template <>
inline constexpr field_kind kind_of<mine::owned> = field_kind::data;
template <>
inline constexpr field_kind kind_of<mine::plain> = field_kind::data;
}  // namespace headrace

namespace mine {

struct dialect;
struct first : headrace::op<dialect, "mine.first", "held"> {
    struct args {
        owned held;
    };
};
struct dialect : headrace::dialect_of<"mine", first> {};

}  // namespace mine

inline constexpr auto shown = headrace::info_of<mine::first>.name;
