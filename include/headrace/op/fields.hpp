// SPDX-License-Identifier: MIT
// Defines headrace::field_info, the description of one member of an op's argument struct, and the table of
// all of them, made from the struct's member types.
#ifndef HEADRACE_OP_FIELDS_HPP
#define HEADRACE_OP_FIELDS_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <headrace/base/dtype.hpp>
#include <headrace/base/lists.hpp>
#include <headrace/op/enumerations.hpp>
#include <headrace/op/members.hpp>
#include <headrace/op/value.hpp>

namespace headrace {

/// The elements of a constant. `bytes` points to the element with all indices 0; `strides` count elements,
/// and empty strides mean row-major. This is a view of the mapped archive, or of memory that the graph owns.
struct tensor_data {
    const std::byte* bytes = nullptr;
    int_list strides{};

    friend constexpr bool operator==(const tensor_data&, const tensor_data&) = default;
};

/// The kind of a member of an argument struct.
enum class field_kind : std::uint8_t {
    tensor,
    tensors,
    optional_tensors,
    integer,
    integers,
    floating,
    floatings,
    boolean,
    number,
    text,
    element_type,
    format,
    resize,
    nan,
    rounding,
    region,
    data,
    texts,
    custom,  ///< of a type that its dialect adds: see op/custom.hpp
};

/// True for arguments that are tensors or lists of them.
[[nodiscard]] constexpr bool holds_tensors(field_kind k) {
    return k == field_kind::tensor || k == field_kind::tensors || k == field_kind::optional_tensors;
}

/// Receives text piece by piece.
struct text_sink {
    void* to;
    void (*append)(void* to, std::string_view text);
};

/// The operations of an argument type that a dialect adds (made by op/custom.hpp): printing, parsing and
/// comparing a member.
struct custom_type {
    std::size_t size;
    void (*print)(const void* member, text_sink out);
    bool (*parse)(std::string_view text, void* member);  ///< if false, the member has any value
    bool (*equal)(const void* a, const void* b);
    void (*expect)(text_sink out);  ///< appends the expected form, for messages
};

/// A member of such a type; modifiable if the struct is.
struct custom_member {
    const custom_type* type;
    void* at;
};

/// The custom_type of a type that op/custom.hpp supports; null for any other type.
template <class T>
inline constexpr const custom_type* custom_type_of = nullptr;

/// The field_kind of an argument type; for any other type, not a field_kind.
template <class T>
inline constexpr std::nullptr_t kind_of{};
template <>
inline constexpr field_kind kind_of<value> = field_kind::tensor;
template <>
inline constexpr field_kind kind_of<list<value>> = field_kind::tensors;
template <>
inline constexpr field_kind kind_of<list<std::optional<value>>> = field_kind::optional_tensors;
template <>
inline constexpr field_kind kind_of<std::int64_t> = field_kind::integer;
template <>
inline constexpr field_kind kind_of<int_list> = field_kind::integers;
template <>
inline constexpr field_kind kind_of<double> = field_kind::floating;
template <>
inline constexpr field_kind kind_of<list<double>> = field_kind::floatings;
template <>
inline constexpr field_kind kind_of<bool> = field_kind::boolean;
template <>
inline constexpr field_kind kind_of<scalar> = field_kind::number;
template <>
inline constexpr field_kind kind_of<std::string_view> = field_kind::text;
template <>
inline constexpr field_kind kind_of<dtype> = field_kind::element_type;
template <>
inline constexpr field_kind kind_of<memory_format> = field_kind::format;
template <>
inline constexpr field_kind kind_of<resize_mode> = field_kind::resize;
template <>
inline constexpr field_kind kind_of<nan_mode> = field_kind::nan;
template <>
inline constexpr field_kind kind_of<rounding_mode> = field_kind::rounding;
template <>
inline constexpr field_kind kind_of<graph*> = field_kind::region;
template <>
inline constexpr field_kind kind_of<list<std::string_view>> = field_kind::texts;
template <>
inline constexpr field_kind kind_of<tensor_data> = field_kind::data;

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
struct unwrap_optional {
    using type = T;
};
template <class T>
struct unwrap_optional<std::optional<T>> {
    using type = T;
};

/// One member of an argument struct.
struct field_info {
    std::string_view name;
    field_kind kind;
    bool optional;  ///< the member is a std::optional
    std::uint16_t offset;
    const custom_type* custom = nullptr;                ///< for field_kind::custom
    const void* (*held)(const void* member) = nullptr;  ///< for an optional member: its item, or null

    /// Returns the address of the member or, if it is optional, of its item; null if there is none.
    [[nodiscard]] const void* item_in(const void* arguments) const {
        const void* const member = static_cast<const std::byte*>(arguments) + offset;
        return optional ? held(member) : member;
    }
};

namespace detail {

// Returns the member of an argument struct that a field describes; `T` must be its type.
template <class T>
[[nodiscard]] const T& member_at(const void* arguments, const field_info& f) {
    return *reinterpret_cast<const T*>(static_cast<const std::byte*>(arguments) + f.offset);
}
template <class T>
[[nodiscard]] T& member_at(void* arguments, const field_info& f) {
    return *reinterpret_cast<T*>(static_cast<std::byte*>(arguments) + f.offset);
}

}  // namespace detail

[[nodiscard]] constexpr std::size_t count_names(std::string_view names) {
    std::size_t count = names.empty() ? 0 : 1;
    for (const char c : names) count += c == ',';
    return count;
}

/// Splits "self, dim" into {"self", "dim"}.
template <std::size_t N>
[[nodiscard]] constexpr std::array<std::string_view, N> split_names(std::string_view names) {
    std::array<std::string_view, N> parts{};
    for (std::string_view& part : parts) {
        std::size_t length = 0;  // a loop, because g++ 12 with UBSan refuses string_view::find here
        while (length != names.size() && names[length] != ',') ++length;
        part = names.substr(0, length);
        names.remove_prefix(length < names.size() ? length + 2 : length);
    }
    return parts;
}

template <class T>
concept argument_type =
    std::is_same_v<decltype(kind_of<typename unwrap_optional<T>::type>), const field_kind> &&
    (custom_type_of<typename unwrap_optional<T>::type> == nullptr || !is_optional<T>);

namespace detail {

template <class T>
const void* held_by(const void* member) {
    const auto& optional = *static_cast<const std::optional<T>*>(member);
    return optional ? &*optional : nullptr;
}

template <class... Ts, std::size_t N>
constexpr std::array<field_info, N> lay_out(
    const members<Ts...>*, const std::array<std::string_view, N>& names, std::size_t size) {
    std::array<field_info, N> fields{};
    std::size_t i = 0;
    std::size_t offset = 0;
    const auto place = [&]<class T>() {
        using held = typename unwrap_optional<T>::type;
        offset = (offset + alignof(T) - 1) / alignof(T) * alignof(T);
        fields[i] = {names[i], kind_of<held>, is_optional<T>, static_cast<std::uint16_t>(offset),
            custom_type_of<held>};
        if constexpr (is_optional<T>) fields[i].held = held_by<held>;
        offset += sizeof(T);
        ++i;
    };
    static_cast<void>(place);
    (place.template operator()<std::remove_cvref_t<Ts>>(), ...);
    // Aborts if the struct has a member that the field list lacks.
    return offset <= size ? fields : (__builtin_abort(), fields);
}

}  // namespace detail

/// Returns the field table of an argument struct, with the names of its members in order.
template <class Args, std::size_t N>
[[nodiscard]] constexpr std::array<field_info, N> make_fields(const std::array<std::string_view, N>& names) {
    static_assert(__is_standard_layout(Args),
        "op: args must be a standard-layout aggregate; remove bases and access specifiers");
    using list = decltype(detail::members_of<N>(std::declval<const Args&>()));
    return detail::lay_out(static_cast<const list*>(nullptr), names, sizeof(Args));
}

/// True if the arguments of one op can be read as those of another: they have the same kinds of members at
/// the same offsets. Names may differ, as `input` and `self` do, but a name that both have must be at the
/// same position.
template <std::size_t N, std::size_t M>
[[nodiscard]] constexpr bool have_equal_fields(
    const std::array<field_info, N>& a, const std::array<field_info, M>& b) {
    if (N != M) return false;
    for (std::size_t i = 0; i != N; ++i) {
        if (a[i].kind != b[i].kind || a[i].optional != b[i].optional || a[i].offset != b[i].offset ||
            a[i].custom != b[i].custom)
            return false;
        for (std::size_t k = 0; k != N; ++k) {
            if (a[i].name == b[k].name && i != k) return false;
        }
    }
    return true;
}

}  // namespace headrace

#endif
