// SPDX-License-Identifier: MIT
// Headrace 0.1.0 (commit 730ae9525f62), its core in one header, written by tests/checks/single_include.py: do not edit.
#ifndef HEADRACE_SINGLE_INCLUDE_HEADRACE_HPP
#define HEADRACE_SINGLE_INCLUDE_HEADRACE_HPP

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <memory_resource>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/mp11/algorithm.hpp>
#include <boost/mp11/list.hpp>

// ---- headrace/base/dtype.hpp ----

namespace headrace {

/// The element type of a tensor: those of PyTorch (`torch.export` schema, ScalarType) and of TOSA (1.0,
/// section 1.9). `shape` is TOSA's type of shape operands. The order has no meaning, but it is stable,
/// because hashes depend on it.
enum class dtype : std::uint8_t {
    unknown,
    boolean,
    int4,
    int8,
    int16,
    int32,
    int48,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float8_e4m3,
    float8_e5m2,
    bfloat16,
    float16,
    float32,
    float64,
    complex32,
    complex64,
    complex128,
    shape
};

inline constexpr std::size_t dtype_count = static_cast<std::size_t>(dtype::shape) + 1;

/// The category of a dtype in PyTorch's type promotion, in ascending order.
enum class dtype_category : std::uint8_t { none, boolean, integral, floating, complex };

struct dtype_traits {
    std::string_view name;
    dtype_category category;
    std::uint8_t bits;  ///< bits of an element as TOSA stores it: two INT4 share a byte, INT48 takes six
};

inline constexpr dtype_traits dtype_table[dtype_count] = {
    {"unknown", dtype_category::none, 0},         {"bool", dtype_category::boolean, 8},
    {"int4", dtype_category::integral, 4},        {"int8", dtype_category::integral, 8},
    {"int16", dtype_category::integral, 16},      {"int32", dtype_category::integral, 32},
    {"int48", dtype_category::integral, 48},      {"int64", dtype_category::integral, 64},
    {"uint8", dtype_category::integral, 8},       {"uint16", dtype_category::integral, 16},
    {"uint32", dtype_category::integral, 32},     {"uint64", dtype_category::integral, 64},
    {"float8_e4m3", dtype_category::floating, 8}, {"float8_e5m2", dtype_category::floating, 8},
    {"bfloat16", dtype_category::floating, 16},   {"float16", dtype_category::floating, 16},
    {"float32", dtype_category::floating, 32},    {"float64", dtype_category::floating, 64},
    {"complex32", dtype_category::complex, 32},   {"complex64", dtype_category::complex, 64},
    {"complex128", dtype_category::complex, 128}, {"shape", dtype_category::none, 64}};

[[nodiscard]] constexpr const dtype_traits& traits_of(dtype t) {
    const auto index = static_cast<std::size_t>(t);
    return dtype_table[index < dtype_count ? index : 0];
}

[[nodiscard]] constexpr std::string_view name_of(dtype t) { return traits_of(t).name; }
[[nodiscard]] constexpr bool is_floating(dtype t) {
    return traits_of(t).category == dtype_category::floating;
}
[[nodiscard]] constexpr bool is_integral(dtype t) {
    return traits_of(t).category == dtype_category::integral;
}
[[nodiscard]] constexpr bool is_signed_integral(dtype t) { return t >= dtype::int4 && t <= dtype::int64; }
[[nodiscard]] constexpr bool is_boolean(dtype t) { return t == dtype::boolean; }
[[nodiscard]] constexpr bool is_complex(dtype t) {
    return traits_of(t).category == dtype_category::complex;
}

/// Returns the bytes that `elements` elements of `t` take in TOSA's storage. The number of bits need not fit
/// in 64 bits; the number of bytes must.
[[nodiscard]] constexpr std::uint64_t storage_bytes(dtype t, std::uint64_t elements) {
    const std::uint64_t bits = traits_of(t).bits;
    return elements / 8 * bits + (elements % 8 * bits + 7) / 8;
}

}  // namespace headrace

// ---- headrace/base/fixed_string.hpp ----

namespace headrace {

/// A string that can be a template argument, such as the name of an op.
template <std::size_t N>
struct fixed_string {
    char text[N]{};

    consteval fixed_string(const char (&literal)[N]) {
        for (std::size_t i = 0; i != N; ++i) text[i] = literal[i];
    }
    /// Keeps as much of `longer` as fits.
    explicit consteval fixed_string(std::string_view longer) {
        for (std::size_t i = 0; i + 1 < N && i != longer.size(); ++i) text[i] = longer[i];
    }

    [[nodiscard]] constexpr std::string_view view() const { return {text, N - 1}; }
};

/// FNV-1a, 64 bits. Names are compared by it at compile time and looked up by it at run time.
[[nodiscard]] constexpr std::uint64_t hash_of(std::string_view text) {
    std::uint64_t hash = 14695981039346656037U;
    const char* at = text.data();  // a loop over iterators takes the compiler twice as long
    for (std::size_t left = text.size(); left != 0; --left)
        hash = (hash ^ static_cast<unsigned char>(*at++)) * 1099511628211U;
    return hash;
}

}  // namespace headrace

// ---- headrace/base/slots.hpp ----

namespace headrace {

/// Returns the first slot, starting at the one for `hash`, at which `ends(slot)` is true: it is free or has
/// the item that is searched for. `count` must be a power of two, and at least one slot must be free.
template <class Ends>
[[nodiscard]] constexpr std::size_t find_slot(std::size_t count, std::uint64_t hash, Ends&& ends) {
    std::size_t at = static_cast<std::size_t>(hash) & (count - 1);
    while (!ends(at)) at = (at + 1) & (count - 1);
    return at;
}

}  // namespace headrace

// ---- headrace/base/algorithms.hpp ----

namespace headrace {

template <class Range, class Predicate>
[[nodiscard]] constexpr bool any_of(const Range& range, Predicate&& holds) {
    for (const auto& item : range) {
        if (holds(item)) return true;
    }
    return false;
}

template <class Range, class T>
[[nodiscard]] constexpr bool contains(const Range& range, const T& wanted) {
    for (const auto& item : range) {
        if (item == wanted) return true;
    }
    return false;
}

template <class A, class B>
[[nodiscard]] constexpr bool same_items(const A& a, const B& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

/// Moves the last item to the front.
template <class Range>
constexpr void reverse(Range& range) {
    for (std::size_t i = 0, end = range.size(); i + 1 < end; ++i) std::swap(range[i], range[--end]);
}

}  // namespace headrace

// ---- headrace/base/lists.hpp ----

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

// ---- headrace/op/members.hpp ----

namespace headrace {

namespace detail {

inline constexpr std::size_t max_members = 15;

// True if an aggregate can be initialized from N values, so that it has at least N members.
template <class Args, std::size_t N>
constexpr bool takes() {
    if constexpr (N == 0) return requires { Args{}; };
    if constexpr (N == 1) return requires { Args{{}}; };
    if constexpr (N == 2) return requires { Args{{}, {}}; };
    if constexpr (N == 3) return requires { Args{{}, {}, {}}; };
    if constexpr (N == 4) return requires { Args{{}, {}, {}, {}}; };
    if constexpr (N == 5) return requires { Args{{}, {}, {}, {}, {}}; };
    if constexpr (N == 6) return requires { Args{{}, {}, {}, {}, {}, {}}; };
    if constexpr (N == 7) return requires { Args{{}, {}, {}, {}, {}, {}, {}}; };
    if constexpr (N == 8) return requires { Args{{}, {}, {}, {}, {}, {}, {}, {}}; };
    if constexpr (N == 9) return requires { Args{{}, {}, {}, {}, {}, {}, {}, {}, {}}; };
    if constexpr (N == 10) return requires { Args{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
    if constexpr (N == 11) return requires { Args{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
    if constexpr (N == 12) return requires { Args{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
    if constexpr (N == 13) return requires { Args{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
    if constexpr (N == 14) return requires { Args{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
    if constexpr (N == 15)
        return requires { Args{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
    return false;
}

// The member types of an argument struct, and the addresses of its members.
template <class... Ts>
struct members {
    const void* at[sizeof...(Ts) == 0 ? 1 : sizeof...(Ts)];
};
template <class... Ts>
constexpr members<Ts...> members_at(const Ts&... all) {
    return {{&all...}};
}

// Structured bindings give access to members without their names.
template <std::size_t N, class Args>
constexpr auto members_of([[maybe_unused]] const Args& a) {
    if constexpr (N == 0) return members<>{};
    if constexpr (N == 1) {
        const auto& [m0] = a;
        return members_at(m0);
    }
    if constexpr (N == 2) {
        const auto& [m0, m1] = a;
        return members_at(m0, m1);
    }
    if constexpr (N == 3) {
        const auto& [m0, m1, m2] = a;
        return members_at(m0, m1, m2);
    }
    if constexpr (N == 4) {
        const auto& [m0, m1, m2, m3] = a;
        return members_at(m0, m1, m2, m3);
    }
    if constexpr (N == 5) {
        const auto& [m0, m1, m2, m3, m4] = a;
        return members_at(m0, m1, m2, m3, m4);
    }
    if constexpr (N == 6) {
        const auto& [m0, m1, m2, m3, m4, m5] = a;
        return members_at(m0, m1, m2, m3, m4, m5);
    }
    if constexpr (N == 7) {
        const auto& [m0, m1, m2, m3, m4, m5, m6] = a;
        return members_at(m0, m1, m2, m3, m4, m5, m6);
    }
    if constexpr (N == 8) {
        const auto& [m0, m1, m2, m3, m4, m5, m6, m7] = a;
        return members_at(m0, m1, m2, m3, m4, m5, m6, m7);
    }
    if constexpr (N == 9) {
        const auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8] = a;
        return members_at(m0, m1, m2, m3, m4, m5, m6, m7, m8);
    }
    if constexpr (N == 10) {
        const auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9] = a;
        return members_at(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9);
    }
    if constexpr (N == 11) {
        const auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10] = a;
        return members_at(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10);
    }
    if constexpr (N == 12) {
        const auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11] = a;
        return members_at(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11);
    }
    if constexpr (N == 13) {
        const auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12] = a;
        return members_at(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12);
    }
    if constexpr (N == 14) {
        const auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13] = a;
        return members_at(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13);
    }
    if constexpr (N == 15) {
        const auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14] = a;
        return members_at(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14);
    }
}

// The compiler's text of a template argument names the members at these addresses, in order:
//   g++    … {((const void*)(& object.args::self)), ((const void*)(& object.args::other))}}; …
//   clang  … {&object.self, &object.other}}]
template <std::size_t N>
struct addresses {
    const void* at[N];
};
template <addresses All>
constexpr std::string_view spelled() {
    return {__PRETTY_FUNCTION__, sizeof __PRETTY_FUNCTION__ - 1};
}

// The lengths of the text around the names, measured with known members.
struct spelling {
    std::size_t between;  ///< from the end of a name to the & of the next address
    std::size_t behind;   ///< from the end of the last name to the end of the text
};
struct known_members {
    int first_one, second_one;
};
inline constexpr known_members known_object{};
inline constexpr spelling spelled_around = [] {
    const std::string_view text =
        spelled<addresses<2>{{&known_object.first_one, &known_object.second_one}}>();
    return spelling{text.rfind('&') - (text.rfind("first_one") + 9),
                    text.size() - (text.rfind("second_one") + 10)};
}();

constexpr bool is_identifier(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
constexpr bool ends_at(std::string_view text, std::size_t end, std::string_view name) {
    if (end < name.size() + 1 || end > text.size()) return false;
    for (std::size_t i = 0; i != name.size(); ++i) {
        if (text[end - name.size() + i] != name[i]) return false;
    }
    return !is_identifier(text[end - name.size() - 1]);
}

// Returns the last member whose name differs from the one in `names`, or `count`. All addresses have the same
// text before the name, so its length is measured only once.
constexpr std::size_t last_other_name(std::string_view text, const std::string_view* names,
                                      std::size_t count) {
    std::size_t end = text.size() - spelled_around.behind;
    std::size_t length = 0;
    for (std::size_t i = count; i-- != 0;) {
        if (!ends_at(text, end, names[i])) return i;
        end -= names[i].size();
        if (length == 0) {
            while (length != end && text[end - length] != '&') ++length;
        }
        if (end < length + spelled_around.between) return i == 0 ? count : i - 1;
        end -= length + spelled_around.between;
    }
    return count;
}

}  // namespace detail

}  // namespace headrace

// ---- headrace/op/value.hpp ----

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

// ---- headrace/op/fields.hpp ----

namespace headrace {

/// PyTorch's memory formats (`torch.export` schema, MemoryFormat).
enum class memory_format : std::uint8_t { unknown, contiguous, channels_last, channels_last_3d, preserve };

/// Enumeration attributes of TOSA; the values are those of the TOSA 1.0 flatbuffer.
enum class resize_mode : std::uint8_t { unknown, nearest, bilinear };
enum class nan_mode : std::uint8_t { unknown, propagate, ignore };
enum class rounding_mode : std::uint8_t { unknown, single_round, inexact_round, double_round };

namespace detail {
template <class Enum, std::size_t N>
constexpr std::string_view enumerator_name(Enum e, const std::string_view (&names)[N]) {
    const auto index = static_cast<std::size_t>(e);
    return index < N ? names[index] : "?";
}
}  // namespace detail

[[nodiscard]] constexpr std::string_view name_of(memory_format f) {
    return detail::enumerator_name(
        f, {"unknown", "contiguous", "channels_last", "channels_last_3d", "preserve"});
}
[[nodiscard]] constexpr std::string_view name_of(resize_mode m) {
    return detail::enumerator_name(m, {"unknown", "nearest", "bilinear"});
}
[[nodiscard]] constexpr std::string_view name_of(nan_mode m) {
    return detail::enumerator_name(m, {"unknown", "propagate", "ignore"});
}
[[nodiscard]] constexpr std::string_view name_of(rounding_mode m) {
    return detail::enumerator_name(m, {"unknown", "single_round", "inexact_round", "double_round"});
}

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
constexpr std::array<field_info, N> lay_out(const members<Ts...>*,
                                            const std::array<std::string_view, N>& names, std::size_t size) {
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
[[nodiscard]] constexpr bool have_equal_fields(const std::array<field_info, N>& a,
                                               const std::array<field_info, M>& b) {
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

// ---- headrace/op/traits.hpp ----

namespace headrace {

/// A fact about an op, as a bit. An op states its traits in its declaration; passes, inference and kernels
/// query them, at compile time with headrace::has_trait and headrace::ops_where, at run time with
/// op_info::has. Several traits joined by | mean any of them, as in trait::elementwise.
enum class trait : std::uint64_t {
    // The computation.
    unary = 1ULL << 0,    ///< each result element is computed from one element of the first operand
    binary = 1ULL << 1,   ///< from one element of each of the first two, which broadcast
    ternary = 1ULL << 2,  ///< from one element of each of the first three
    elementwise = unary | binary | ternary,
    commutative = 1ULL << 3,         ///< the first two operands may be swapped
    int_to_float = 1ULL << 4,        ///< elementwise: integers become floats, as PyTorch promotes them
    predicate = 1ULL << 5,           ///< elementwise: the result is boolean
    like_self = 1ULL << 6,           ///< the result has the shape and the dtype of `self`
    reduction = 1ULL << 7,           ///< many elements along one axis or several become one
    locating = 1ULL << 8,            ///< the result has indices of the operand's elements along an axis
    comparing = 1ULL << 9,           ///< predicate: compares two numbers
    matrix_product = 1ULL << 10,     ///< sums of products of rows and columns
    convolving = 1ULL << 11,         ///< sums of products of a window and a weight, with a bias
    transposed = 1ULL << 12,         ///< convolving: each element of the operand is spread over a window
    pooling = 1ULL << 13,            ///< one result element per window
    recurrent_cell = 1ULL << 14,     ///< one step of a recurrent network
    recurrent_network = 1ULL << 15,  ///< all steps, in all layers
    recurrent = recurrent_cell | recurrent_network,
    attention = 1ULL << 16,     ///< the third operand, weighted by the softmax of products of the others
    casting = 1ULL << 17,       ///< the same elements in another dtype
    quantizing = 1ULL << 18,    ///< integers that represent the operand's real numbers
    dequantizing = 1ULL << 19,  ///< the real numbers that integers represent
    gives_zeros = 1ULL << 20,   ///< all elements are 0, or undefined
    gives_ones = 1ULL << 21,    ///< all elements are 1
    gives_number = 1ULL << 22,  ///< all elements are one number from its arguments
    host_number = 1ULL << 23,   ///< the result is a number of the host program, not a tensor
    on_floats = 1ULL << 24,     ///< takes only floating-point numbers
    on_numbers = 1ULL << 25,    ///< takes no booleans
    on_bits = 1ULL << 26,       ///< takes only integers and booleans
    on_reals = 1ULL << 55,      ///< takes no complex numbers, since it compares or orders
    composite = 1ULL << 56,     ///< defined by other ops, into which passes decompose it first

    // The number of spatial (last) axes, if it is fixed.
    spatial_1d = 1ULL << 27,
    spatial_2d = 1ULL << 28,
    spatial_3d = 1ULL << 29,
    spatial = spatial_1d | spatial_2d | spatial_3d,

    // Data movement: which elements of the operand the result has, and where.
    forwarding = 1ULL << 30,    ///< all of them, unchanged
    reshaping = 1ULL << 31,     ///< all of them, in the same order, in a different shape
    permuting = 1ULL << 32,     ///< all of them, with axes permuted
    broadcasting = 1ULL << 33,  ///< all of them, repeated along axes of size 1
    slicing = 1ULL << 34,       ///< those at some indices of an axis
    splitting = 1ULL << 35,     ///< all of them, in several results
    joining = 1ULL << 36,       ///< the elements of several operands
    repeating = 1ULL << 37,     ///< all of them, several times
    reversing = 1ULL << 38,     ///< all of them, reversed along axes
    padding = 1ULL << 39,       ///< all of them, with others around them
    gathering = 1ULL << 40,     ///< those at the indices in another operand
    resampling = 1ULL << 41,    ///< those near the positions of a grid of another size
    nearest = 1ULL << 42,       ///< resampling: the element nearest to each position
    /// Moves the elements of one operand to one result.
    rearranging = forwarding | reshaping | permuting | broadcasting | slicing | repeating | reversing,
    moving = rearranging | splitting | joining | padding,

    // Effects on memory and on the outside world.
    aliasing = 1ULL << 43,    ///< the result may share its first operand's memory: PyTorch's views
    may_copy = 1ULL << 44,    ///< aliasing only if the operand's elements are contiguous, else a copy
    copying = 1ULL << 45,     ///< the unchanged operand, in new memory
    impure = 1ULL << 46,      ///< the result depends on more than the operands, or the node must not move
    per_reader = 1ULL << 47,  ///< targets fuse it with its user, so each user has its own
    has_out = 1ULL << 48,     ///< a variant writes its results into given buffers; see out_named
    writes_out = 1ULL << 49,  ///< its last argument has the buffers that it writes its results into

    // Set by the relations below, and by the number of results.
    in_place = 1ULL << 50,
    copied_view = 1ULL << 51,
    synonym = 1ULL << 52,
    variant = 1ULL << 53,  ///< of another op: base_of
    no_results = 1ULL << 54,
};

[[nodiscard]] constexpr trait operator|(trait a, trait b) {
    return static_cast<trait>(static_cast<std::uint64_t>(a) | static_cast<std::uint64_t>(b));
}

/// True if `bits` has any of these traits.
[[nodiscard]] constexpr bool has_any(std::uint64_t bits, trait any_of) {
    return (bits & static_cast<std::uint64_t>(any_of)) != 0;
}

/// See headrace::spatial_rank.
[[nodiscard]] constexpr std::size_t spatial_rank_in(std::uint64_t bits) {
    if (has_any(bits, trait::spatial_1d)) return 1;
    if (has_any(bits, trait::spatial_2d)) return 2;
    return has_any(bits, trait::spatial_3d) ? 3 : 0;
}

/// States that an op is a variant of another op, which computes the same results from the same arguments.
template <trait Relation, class Op>
struct variant_fact {};

/// The op writes its result into its first operand: PyTorch's names with a trailing underscore. The result
/// has the type of that operand.
template <class Functional>
inline constexpr variant_fact<trait::in_place, Functional> in_place_of{};

/// The op copies the elements that `View` refers to.
template <class View>
inline constexpr variant_fact<trait::copied_view, View> view_copy_of{};

/// The op is another name of `Op`.
template <class Op>
inline constexpr variant_fact<trait::synonym, Op> synonym_of{};

/// The op has an out-variant whose name does not follow from the op's own name.
template <fixed_string Name>
struct out_name_fact {
    static constexpr auto text = Name;  // on clang 16, a template argument itself has no address
};
template <fixed_string Name>
inline constexpr out_name_fact<Name> out_named{};

namespace detail {

// The facts of an op's declaration. A number is the number of results.
constexpr int results_in() { return 1; }
template <class... Facts>
constexpr int results_in(Facts... facts) {
    int results = 1;
    const auto look = [&]<class Fact>(Fact fact) {
        if constexpr (__is_same(Fact, int)) results = fact;
    };
    (look(facts), ...);
    return results;
}

constexpr std::uint64_t bits_of(int) { return 0; }
constexpr std::uint64_t bits_of(trait t) { return static_cast<std::uint64_t>(t); }
template <trait Relation, class Op>
constexpr std::uint64_t bits_of(variant_fact<Relation, Op>) {
    return bits_of(Relation | trait::variant);
}
template <fixed_string Name>
constexpr std::uint64_t bits_of(out_name_fact<Name>) {
    return bits_of(trait::has_out);
}
template <class... Facts>
constexpr std::uint64_t trait_bits_in(int results, Facts... facts) {
    return ((results == 0 ? bits_of(trait::no_results) : 0) | ... | bits_of(facts));
}

constexpr std::string_view out_name_in() { return {}; }
template <fixed_string Name>
constexpr std::string_view out_name_of(out_name_fact<Name>) {
    return out_name_fact<Name>::text.view();
}
template <class Fact>
constexpr std::string_view out_name_of(Fact) {
    return {};
}
template <class First, class... Rest>
constexpr std::string_view out_name_in(First first, Rest... rest) {
    const std::string_view name = out_name_of(first);
    return name.empty() ? out_name_in(rest...) : name;
}

// The op of which the facts make this one a variant, or void.
template <class... Facts>
struct first_related {
    using type = void;
};
template <class First, class... Rest>
struct first_related<First, Rest...> : first_related<Rest...> {};
template <trait Relation, class Op, class... Rest>
struct first_related<variant_fact<Relation, Op>, Rest...> {
    using type = Op;
};

}  // namespace detail

}  // namespace headrace

// ---- headrace/op/op.hpp ----

namespace headrace {

/// A dialect at run time; the census of a graph counts ops by it.
struct dialect_info {
    std::string_view name;
    std::size_t op_count;
    bool is_pure;  ///< its ops depend only on their operands, except those with trait::impure
};

/// An op at run time. There is one object per op in the whole program: its address is the op's identity.
struct op_info {
    std::string_view name;  ///< as PyTorch spells it, without "torch.ops.": "aten.conv2d.default"
    const dialect_info* dialect;
    std::uint16_t index;   ///< index in the dialect
    std::int16_t results;  ///< number of results, or variadic_results
    std::uint32_t args_size;
    std::uint32_t args_alignment;
    const field_info* fields;
    std::size_t field_count;
    const void* default_args;  ///< an args object with the schema's defaults
    std::uint64_t traits;
    const op_info* base;  ///< the op that this one is a variant of, with equal arguments; or null

    /// True if it has any of the traits in `any_of`.
    [[nodiscard]] constexpr bool has(trait any_of) const { return has_any(traits, any_of); }
    /// Returns the op of which this one is a variant, or else this op: the computation, regardless of the
    /// name and of the memory that it writes to.
    [[nodiscard]] constexpr const op_info& functional() const { return base != nullptr ? *base : *this; }

    [[nodiscard]] constexpr const field_info* begin() const { return fields; }
    [[nodiscard]] constexpr const field_info* end() const { return fields + field_count; }
    [[nodiscard]] constexpr const field_info* find(std::string_view field) const {
        for (const field_info& f : *this) {
            if (f.name == field) return &f;
        }
        return nullptr;
    }
};

/// For ops whose result is a Tensor[]: split, chunk, unbind.
inline constexpr int variadic_results = -1;

namespace detail {

// The facts of an op's declaration; shared by all ops with the same facts.
template <auto... Facts>
struct stated_facts {
    static constexpr int results = results_in(Facts...);
    static constexpr std::uint64_t trait_bits = trait_bits_in(results, Facts...);
    /// The name of its out-variant, if that does not follow from its own name.
    static constexpr std::string_view out_name = out_name_in(Facts...);
    /// Returns the op of which this one is a variant; void if there is none.
    static constexpr auto variant_base() { return first_related<std::remove_cv_t<decltype(Facts)>...>{}; }
};

}  // namespace detail

/// Base of every op tag. `Fields` names the members of the tag's nested struct `args`, in order and as in the
/// op's schema; types and defaults are the struct's own:
///
///     struct softmax_int : op<dialect, "aten.softmax.int", "self, dim, dtype"> {
///         struct args { value self; std::int64_t dim; std::optional<headrace::dtype> dtype{}; };
///     };
///
/// The number of results, if it is not one, and the traits (op/traits.hpp) follow in any order:
///
///     struct max_dim : op<dialect, "aten.max.dim", "self, dim, keepdim", 2, trait::reduction> { … };
///     struct relu_inplace : op<dialect, "aten.relu_.default", "self", in_place_of<relu>> { … };
template <class Dialect, fixed_string Name, fixed_string Fields, auto... Facts>
struct op : detail::stated_facts<Facts...> {
    using dialect_type = Dialect;
    static constexpr std::string_view name = Name.view();
    static constexpr std::string_view field_list = Fields.view();
};

/// Matches op tags: satisfied by a struct derived from headrace::op that has a nested `args`.
template <class T>
concept op_tag = requires {
    typename T::dialect_type;
    typename T::args;
    { T::name } -> std::convertible_to<std::string_view>;
};

/// The argument struct of an op.
template <op_tag Op>
using args = typename Op::args;

/// The names of an op's fields, in order.
template <class Op>
inline constexpr auto field_names = split_names<count_names(Op::field_list)>(Op::field_list);

/// True if the op has any of the traits in `any_of`.
template <op_tag Op>
[[nodiscard]] constexpr bool has_trait(trait any_of) {
    return has_any(Op::trait_bits, any_of);
}

/// The number of spatial axes of an op that has a fixed number of them: 2 for aten::conv2d; 0 for others.
template <op_tag Op>
inline constexpr std::size_t spatial_rank = spatial_rank_in(Op::trait_bits);

/// The op of which `Op` is a variant: aten::relu for aten::relu_inplace. Void if there is none.
template <op_tag Op>
using base_of = typename decltype(Op::variant_base())::type;

/// Matches variants of other ops, as declared by in_place_of, view_copy_of and synonym_of.
template <class Op>
concept op_variant = op_tag<Op> && has_trait<Op>(trait::variant);

/// Matches the ops of a dialect that have all of the traits; `a | b` stands for either.
template <class Op, class Dialect, trait... Traits>
concept op_where =
    op_tag<Op> && __is_same(typename Op::dialect_type, Dialect) && (has_trait<Op>(Traits) && ...);

/// A list of op tags.
template <class... Ops>
struct ops {
    static constexpr std::size_t size = sizeof...(Ops);
};

namespace detail {

// A hash table of positions by name hash, with open addressing, so that the dialect's check and every lookup
// take linear time in all. A slot holds a position + 1, or 0.
template <std::size_t N>
struct hash_slots {
    std::array<std::uint16_t, std::bit_ceil(2 * N + 1)> slots{};
    bool all_different = true;

    static constexpr std::size_t size = std::bit_ceil(2 * N + 1);

    constexpr hash_slots(const std::uint64_t* hashes) {
        for (std::size_t i = 0; i != N; ++i) {
            std::uint16_t& slot = slots[slot_of(hashes, hashes[i])];
            if (slot == 0)
                slot = static_cast<std::uint16_t>(i + 1);
            else
                all_different = false;
        }
    }
    /// Returns the first position with that hash, or N.
    constexpr std::size_t find(const std::uint64_t* hashes, std::uint64_t hash) const {
        const std::uint16_t slot = slots[slot_of(hashes, hash)];
        return slot == 0 ? N : slot - 1U;
    }
    constexpr std::size_t slot_of(const std::uint64_t* hashes, std::uint64_t hash) const {
        return find_slot(size, hash,
                         [&](std::size_t at) { return slots[at] == 0 || hashes[slots[at] - 1] == hash; });
    }
};

template <std::size_t N>
constexpr bool all_true(const bool (&facts)[N]) {
    for (const bool fact : facts) {
        if (!fact) return false;
    }
    return true;
}

// The names of a dialect's ops; empty if the list has a fault, so that no second error follows.
template <bool Sound, class... Ops>
struct op_names {
    static constexpr std::size_t size = sizeof...(Ops);
    static constexpr std::array<std::uint64_t, sizeof...(Ops)> hashes{hash_of(Ops::name)...};
    static constexpr std::array<std::string_view, sizeof...(Ops)> names{Ops::name...};
};
template <class... Ops>
struct op_names<false, Ops...> {
    static constexpr std::size_t size = 0;
    static constexpr std::array<std::uint64_t, 0> hashes{};
    static constexpr std::array<std::string_view, 0> names{};
};

template <std::size_t I, class T>
struct indexed {};
template <class Indices, class... Ts>
struct indexed_types;
template <std::size_t... I, class... Ts>
struct indexed_types<std::index_sequence<I...>, Ts...> : indexed<I, Ts>... {};
template <std::size_t I, class T>
std::type_identity<T> held_at(const indexed<I, T>&);

}  // namespace detail

/// The type at position `I` of a list. For diagnostics only: it costs one base class per type of the list.
template <std::size_t I, class List>
struct type_at;
template <std::size_t I, class... Ts>
struct type_at<I, ops<Ts...>> {
    using type = typename decltype(detail::held_at<I>(
        detail::indexed_types<std::make_index_sequence<sizeof...(Ts)>, Ts...>{}))::type;
};

/// The diagnosis of success. All others name the culprit in a compile error.
struct no_fault {};

/// Names two ops of a dialect with the same name, in the compile error.
template <class First, class Second>
struct same_name {};
template <class Diagnosis>
inline constexpr bool names_are_unique = false;
template <>
inline constexpr bool names_are_unique<no_fault> = true;

/// Base of every dialect: `struct dialect : dialect_of<"mine", first_op, second_op> {};` The list must be
/// complete: ops that are not listed cannot be used.
template <fixed_string Name, class... Ops>  // not op_tag...: clang folds that and stops at 256 ops
struct dialect_of {
private:
    static constexpr bool holds_ops = detail::all_true({true, op_tag<Ops>...});
    static_assert(holds_ops,
                  "dialect: its list holds something that is not an op; derive it from headrace::op");
    using listed = detail::op_names<holds_ops, Ops...>;

public:
    using all_ops = ops<Ops...>;
    static constexpr std::string_view name = Name.view();
    static constexpr std::size_t size = listed::size;
    static constexpr const auto& name_hashes = listed::hashes;
    static constexpr const auto& op_names = listed::names;
    static constexpr detail::hash_slots<size> slots{name_hashes.data()};

private:
    static constexpr auto diagnose() {
        if constexpr (slots.all_different) {
            return no_fault{};
        } else {
            constexpr auto pair = [] {
                for (std::size_t i = 0; i != size; ++i) {
                    for (std::size_t k = i + 1; k != size; ++k) {
                        if (name_hashes[i] == name_hashes[k]) return std::array{i, k};
                    }
                }
                return std::array<std::size_t, 2>{};
            }();
            return same_name<typename type_at<pair[0], all_ops>::type,
                             typename type_at<pair[1], all_ops>::type>{};
        }
    }
    static_assert(names_are_unique<decltype(diagnose())>,
                  "dialect: two ops have the same name; see same_name<First, Second>, rename one");
};

/// Matches dialects that declare their ops to be pure, except those with trait::impure.
template <class Dialect>
concept pure_dialect = requires { Dialect::is_pure; };

template <class Dialect>
inline constexpr dialect_info info_of_dialect{Dialect::name, Dialect::size, pure_dialect<Dialect>};

template <op_tag Op>
inline constexpr std::size_t found_in_its_dialect =
    Op::dialect_type::slots.find(Op::dialect_type::name_hashes.data(), hash_of(Op::name));
template <op_tag Op>
inline constexpr bool listed_in_its_dialect = found_in_its_dialect<Op> < Op::dialect_type::size;

/// The index of an op in its dialect; 0 for an op that is not listed, which info_of refuses.
template <op_tag Op>
inline constexpr std::size_t index_of = listed_in_its_dialect<Op> ? found_in_its_dialect<Op> : 0;

/// The default arguments of an op: the schema's defaults, and zero or empty for arguments without one.
template <op_tag Op>
inline constexpr args<Op> default_args{};

/// Names an op whose field list does not have as many names as its args has members, in the compile error.
template <class Op, std::size_t Names>
struct not_as_many_names {};
/// Names the last field of an op whose name is not that of the member at its position, in the compile error.
template <class Op, fixed_string Field>
struct other_name {};
template <class Diagnosis>
inline constexpr bool fields_are_members = false;
template <>
inline constexpr bool fields_are_members<no_fault> = true;

/// Names an op and a member of its args whose type is not an argument type, in the compile error.
template <class Op, class Member>
struct no_argument_type {};
template <class Diagnosis>
inline constexpr bool members_are_arguments = false;
template <>
inline constexpr bool members_are_arguments<no_fault> = true;

namespace detail {

template <std::size_t N, class... Ts>
constexpr addresses<N> addresses_in(const members<Ts...>& all) {
    addresses<N> found{};
    for (std::size_t i = 0; i != N; ++i) found.at[i] = all.at[i];
    return found;
}
template <class Op, std::size_t Count>
constexpr auto diagnose_names() {
    if constexpr (!takes<args<Op>, Count>() || takes<args<Op>, Count + 1>()) {
        return not_as_many_names<Op, Count>{};
    } else if constexpr (Count == 0) {
        return no_fault{};
    } else {
        constexpr std::string_view members =
            spelled<addresses_in<Count>(members_of<Count>(default_args<Op>))>();
        constexpr std::size_t other = last_other_name(members, field_names<Op>.data(), Count);
        if constexpr (other == Count) {
            return no_fault{};
        } else {
            constexpr std::string_view field = field_names<Op>[other];
            return other_name<Op, fixed_string<field.size() + 1>(field)>{};
        }
    }
}

template <class Op>
constexpr auto diagnose_fields() {
    if constexpr (requires { Op::field_list; }) {
        return diagnose_names<Op, field_names<Op>.size()>();
    } else {
        return no_fault{};  // fields_of is specialized for it
    }
}

template <class Op, class T, class... Ts>
constexpr auto diagnose_types(const members<T, Ts...>*) {
    if constexpr (argument_type<T>) {
        return diagnose_types<Op>(static_cast<const members<Ts...>*>(nullptr));
    } else {
        return no_argument_type<Op, T>{};
    }
}
template <class... Ts>
constexpr bool are_arguments(const members<Ts...>*) {
    return (argument_type<Ts> && ...);
}
template <class Op>
constexpr auto diagnose_members() {
    if constexpr (requires { Op::field_list; } && fields_are_members<decltype(diagnose_fields<Op>())>) {
        using list = decltype(members_of<field_names<Op>.size()>(default_args<Op>));
        constexpr const list* all = nullptr;
        if constexpr (are_arguments(all)) {
            return no_fault{};
        } else {
            return diagnose_types<Op>(all);
        }
    } else {
        return no_fault{};
    }
}

}  // namespace detail

/// The fault in the field names of an op, or no_fault.
template <op_tag Op>
using field_fault = decltype(detail::diagnose_fields<Op>());
/// The fault in the member types of an op, or no_fault.
template <op_tag Op>
using member_fault = decltype(detail::diagnose_members<Op>());

template <op_tag Op>
inline constexpr auto fields_of = [] {
    if constexpr (fields_are_members<field_fault<Op>> && members_are_arguments<member_fault<Op>>) {
        return make_fields<args<Op>>(field_names<Op>);
    } else {
        return std::array<field_info, 0>{};  // info_of reports the fault
    }
}();

/// Names two ops whose arguments cannot be converted, in the compile error.
template <class From, class To>
struct other_fields {};
template <class Diagnosis>
inline constexpr bool fields_are_equal = false;
template <>
inline constexpr bool fields_are_equal<no_fault> = true;

namespace detail {
template <class From, class To>
constexpr auto diagnose_conversion() {
    if constexpr (have_equal_fields(fields_of<From>, fields_of<To>)) {
        return no_fault{};
    } else {
        return other_fields<From, To>{};
    }
}
}  // namespace detail

/// Converts the arguments of one op to those of another with equal fields, such as its base.
template <op_tag To, op_tag From>
[[nodiscard]] args<To> convert_args(const args<From>& a) {
    using diagnosis = decltype(detail::diagnose_conversion<From, To>());
    static_assert(
        fields_are_equal<diagnosis>,
        "convert_args: the ops' fields differ; give both the same kinds of members in the same order");
    if constexpr (fields_are_equal<diagnosis>) {
        return std::bit_cast<args<To>>(a);
    } else {
        return {};
    }
}

template <op_tag Op>
inline constexpr op_info info_of = [] {
    static_assert(listed_in_its_dialect<Op>, "op: not in its dialect's list; add it there");
    static_assert(__is_trivially_copyable(args<Op>),
                  "op: args must be trivially copyable; use headrace::list");
    static_assert(fields_are_members<field_fault<Op>>,
                  "op: its field names are not the members of args; write the same names in the same order");
    static_assert(members_are_arguments<member_fault<Op>>,
                  "op: a member of args has a type that no argument can have; see no_argument_type, use one "
                  "of kind_of");
    const op_info* base = nullptr;
    if constexpr (op_variant<Op>) {
        static_assert(
            fields_are_equal<decltype(detail::diagnose_conversion<Op, base_of<Op>>())>,
            "op: a variant's fields differ from its base's; give both the same members in the same order");
        base = &info_of<base_of<Op>>;
    }
    return op_info{Op::name,
                   &info_of_dialect<typename Op::dialect_type>,
                   static_cast<std::uint16_t>(index_of<Op>),
                   static_cast<std::int16_t>(Op::results),
                   sizeof(args<Op>),
                   alignof(args<Op>),
                   fields_of<Op>.data(),
                   fields_of<Op>.size(),
                   &default_args<Op>,
                   Op::trait_bits,
                   base};
}();

namespace detail {
template <class List>
struct op_table_of;
template <class... Ops>
struct op_table_of<ops<Ops...>> {
    static constexpr std::array<const op_info*, sizeof...(Ops)> value{&info_of<Ops>...};
};
}  // namespace detail

/// All ops of a dialect. Using it links all of them into the program, so the core never does.
template <class Dialect>
inline constexpr const auto& op_table = detail::op_table_of<typename Dialect::all_ops>::value;

/// Returns the op of that name in any of the dialects, or null.
template <class... Dialects>
[[nodiscard]] constexpr const op_info* find_op(std::string_view name) {
    const std::uint64_t hash = hash_of(name);
    const op_info* found = nullptr;
    const auto look_in = [&]<class Dialect>() {
        const std::size_t i = Dialect::slots.find(Dialect::name_hashes.data(), hash);
        if (i != Dialect::size && Dialect::op_names[i] == name) found = op_table<Dialect>[i];
        return found != nullptr;
    };
    static_cast<void>((look_in.template operator()<Dialects>() || ...));
    return found;
}

}  // namespace headrace

// ---- headrace/dialect/aten.hpp ----

namespace headrace::aten {

/// An op's tag is its name in lower case, followed by its overload unless that is "default": add.Tensor is
/// add_tensor. In-place ops have `_inplace`: add_.Tensor is add_inplace_tensor. The op std is std_, so that
/// std:: still works. The members of `args` are the schema's arguments, except layout, device, generator and
/// pin_memory.
struct dialect;
using enum trait;

// clang-format off: one line for an op wherever it fits

// Convolution.

struct conv1d : op<dialect, "aten.conv1d.default",
         "input, weight, bias, stride, padding, dilation, groups", convolving, spatial_1d> {
    struct args {
        value input, weight; std::optional<value> bias{}; int_list stride{1}, padding{0}, dilation{1};
        std::int64_t groups = 1;
    };
};
struct conv1d_padding
    : op<dialect, "aten.conv1d.padding",
         "input, weight, bias, stride, padding, dilation, groups", convolving, spatial_1d> {
    struct args {
        value input, weight; std::optional<value> bias{}; int_list stride{1};
        std::string_view padding = "valid"; int_list dilation{1}; std::int64_t groups = 1;
    };
};
struct conv2d : op<dialect, "aten.conv2d.default",
         "input, weight, bias, stride, padding, dilation, groups", convolving, spatial_2d> {
    struct args {
        value input, weight; std::optional<value> bias{};
        int_list stride{1, 1}, padding{0, 0}, dilation{1, 1}; std::int64_t groups = 1;
    };
};
struct conv2d_padding
    : op<dialect, "aten.conv2d.padding",
         "input, weight, bias, stride, padding, dilation, groups", convolving, spatial_2d> {
    struct args {
        value input, weight; std::optional<value> bias{}; int_list stride{1, 1};
        std::string_view padding = "valid"; int_list dilation{1, 1}; std::int64_t groups = 1;
    };
};
struct conv3d : op<dialect, "aten.conv3d.default",
         "input, weight, bias, stride, padding, dilation, groups", convolving, spatial_3d> {
    struct args {
        value input, weight; std::optional<value> bias{};
        int_list stride{1, 1, 1}, padding{0, 0, 0}, dilation{1, 1, 1}; std::int64_t groups = 1;
    };
};
struct conv3d_padding
    : op<dialect, "aten.conv3d.padding",
         "input, weight, bias, stride, padding, dilation, groups", convolving, spatial_3d> {
    struct args {
        value input, weight; std::optional<value> bias{}; int_list stride{1, 1, 1};
        std::string_view padding = "valid"; int_list dilation{1, 1, 1}; std::int64_t groups = 1;
    };
};
struct conv_transpose1d
    : op<dialect, "aten.conv_transpose1d.default",
         "input, weight, bias, stride, padding, output_padding, groups, dilation",
         convolving, transposed, spatial_1d> {
    struct args {
        value input, weight; std::optional<value> bias{}; int_list stride{1}, padding{0}, output_padding{0};
        std::int64_t groups = 1; int_list dilation{1};
    };
};
struct conv_transpose2d_input
    : op<dialect, "aten.conv_transpose2d.input",
         "input, weight, bias, stride, padding, output_padding, groups, dilation",
         convolving, transposed, spatial_2d> {
    struct args {
        value input, weight; std::optional<value> bias{};
        int_list stride{1, 1}, padding{0, 0}, output_padding{0, 0}; std::int64_t groups = 1;
        int_list dilation{1, 1};
    };
};
struct conv_transpose3d_input
    : op<dialect, "aten.conv_transpose3d.input",
         "input, weight, bias, stride, padding, output_padding, groups, dilation",
         convolving, transposed, spatial_3d> {
    struct args {
        value input, weight; std::optional<value> bias{};
        int_list stride{1, 1, 1}, padding{0, 0, 0}, output_padding{0, 0, 0}; std::int64_t groups = 1;
        int_list dilation{1, 1, 1};
    };
};
struct convolution : op<dialect, "aten.convolution.default",
         "input, weight, bias, stride, padding, dilation, transposed, output_padding, groups",
         convolving, has_out> {
    struct args {
        value input, weight; std::optional<value> bias; int_list stride, padding, dilation; bool transposed;
        int_list output_padding; std::int64_t groups;
    };
};

// Pooling.

struct adaptive_avg_pool1d : op<dialect, "aten.adaptive_avg_pool1d.default",
         "self, output_size", pooling, spatial_1d, on_floats, on_reals, has_out> {
    struct args { value self; int_list output_size; };
};
struct _adaptive_avg_pool2d : op<dialect, "aten._adaptive_avg_pool2d.default",
         "self, output_size", pooling, spatial_2d, on_floats, on_reals, has_out> {
    struct args { value self; int_list output_size; };
};
struct adaptive_avg_pool2d : op<dialect, "aten.adaptive_avg_pool2d.default",
         "self, output_size", pooling, spatial_2d, on_floats, on_reals, has_out> {
    struct args { value self; int_list output_size; };
};
struct _adaptive_avg_pool3d : op<dialect, "aten._adaptive_avg_pool3d.default",
         "self, output_size", pooling, spatial_3d, on_floats, on_reals, has_out> {
    struct args { value self; int_list output_size; };
};
struct adaptive_avg_pool3d : op<dialect, "aten.adaptive_avg_pool3d.default",
         "self, output_size", pooling, spatial_3d, on_floats, on_reals, has_out> {
    struct args { value self; int_list output_size; };
};
struct adaptive_max_pool1d : op<dialect, "aten.adaptive_max_pool1d.default",
         "self, output_size", 2, pooling, spatial_1d, on_reals> {
    struct args { value self; int_list output_size; };
};
struct adaptive_max_pool2d : op<dialect, "aten.adaptive_max_pool2d.default",
         "self, output_size", 2, pooling, spatial_2d, on_reals, has_out> {
    struct args { value self; int_list output_size; };
};
struct adaptive_max_pool3d : op<dialect, "aten.adaptive_max_pool3d.default",
         "self, output_size", 2, pooling, spatial_3d, on_reals> {
    struct args { value self; int_list output_size; };
};
struct avg_pool1d : op<dialect, "aten.avg_pool1d.default",
         "self, kernel_size, stride, padding, ceil_mode, count_include_pad",
         pooling, spatial_1d, on_reals, has_out> {
    struct args {
        value self; int_list kernel_size, stride{}, padding{0};
        bool ceil_mode = false, count_include_pad = true;
    };
};
struct avg_pool2d : op<dialect, "aten.avg_pool2d.default",
         "self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override",
         pooling, spatial_2d, on_reals, has_out> {
    struct args {
        value self; int_list kernel_size, stride{}, padding{0, 0};
        bool ceil_mode = false, count_include_pad = true; std::optional<std::int64_t> divisor_override{};
    };
};
struct avg_pool3d : op<dialect, "aten.avg_pool3d.default",
         "self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override",
         pooling, spatial_3d, on_reals, has_out> {
    struct args {
        value self; int_list kernel_size, stride{}, padding{0, 0, 0};
        bool ceil_mode = false, count_include_pad = true; std::optional<std::int64_t> divisor_override{};
    };
};
struct max_pool1d
    : op<dialect, "aten.max_pool1d.default",
         "self, kernel_size, stride, padding, dilation, ceil_mode", pooling, spatial_1d, on_reals> {
    struct args {
        value self; int_list kernel_size, stride{}, padding{0}, dilation{1}; bool ceil_mode = false;
    };
};
struct max_pool1d_with_indices : op<dialect, "aten.max_pool1d_with_indices.default",
         "self, kernel_size, stride, padding, dilation, ceil_mode", 2, pooling, spatial_1d, on_reals> {
    struct args {
        value self; int_list kernel_size, stride{}, padding{0}, dilation{1}; bool ceil_mode = false;
    };
};
struct max_unpool2d : op<dialect, "aten.max_unpool2d.default",
         "self, indices, output_size", on_reals, has_out, composite> {
    struct args { value self, indices; int_list output_size; };
};
struct max_pool2d
    : op<dialect, "aten.max_pool2d.default",
         "self, kernel_size, stride, padding, dilation, ceil_mode", pooling, spatial_2d, on_reals> {
    struct args {
        value self; int_list kernel_size, stride{}, padding{0, 0}, dilation{1, 1}; bool ceil_mode = false;
    };
};
struct max_pool2d_with_indices : op<dialect, "aten.max_pool2d_with_indices.default",
         "self, kernel_size, stride, padding, dilation, ceil_mode", 2,
         pooling, spatial_2d, on_reals, has_out> {
    struct args {
        value self; int_list kernel_size, stride{}, padding{0, 0}, dilation{1, 1}; bool ceil_mode = false;
    };
};
struct max_pool3d
    : op<dialect, "aten.max_pool3d.default",
         "self, kernel_size, stride, padding, dilation, ceil_mode", pooling, spatial_3d, on_reals> {
    struct args {
        value self; int_list kernel_size, stride{}, padding{0, 0, 0}, dilation{1, 1, 1};
        bool ceil_mode = false;
    };
};
struct max_pool3d_with_indices
    : op<dialect, "aten.max_pool3d_with_indices.default",
         "self, kernel_size, stride, padding, dilation, ceil_mode", 2, pooling, spatial_3d, on_reals> {
    struct args {
        value self; int_list kernel_size, stride{}, padding{0, 0, 0}, dilation{1, 1, 1};
        bool ceil_mode = false;
    };
};

// Matrix products.

struct addmm : op<dialect, "aten.addmm.default", "self, mat1, mat2, beta, alpha", matrix_product, has_out> {
    struct args { value self, mat1, mat2; scalar beta = 1, alpha = 1; };
};
struct baddbmm : op<dialect, "aten.baddbmm.default",
         "self, batch1, batch2, beta, alpha", matrix_product, has_out> {
    struct args { value self, batch1, batch2; scalar beta = 1, alpha = 1; };
};
struct bmm : op<dialect, "aten.bmm.default",
         "self, mat2", matrix_product, has_out> { struct args { value self, mat2; }; };
struct dot : op<dialect, "aten.dot.default", "self, tensor", matrix_product, has_out> {
    struct args { value self, tensor; };
};
struct einsum : op<dialect, "aten.einsum.default", "equation, tensors, path"> {
    struct args { std::string_view equation; list<value> tensors; std::optional<int_list> path{}; };
};
struct linear : op<dialect, "aten.linear.default", "input, weight, bias", matrix_product, has_out> {
    struct args { value input, weight; std::optional<value> bias{}; };
};
struct matmul : op<dialect, "aten.matmul.default", "self, other", matrix_product, has_out> {
    struct args { value self, other; };
};
struct mm : op<dialect, "aten.mm.default",
         "self, mat2", matrix_product, has_out> { struct args { value self, mat2; }; };
struct mv : op<dialect, "aten.mv.default",
         "self, vec", matrix_product, has_out> { struct args { value self, vec; }; };
struct outer : op<dialect, "aten.outer.default", "self, vec2", has_out> {
    struct args { value self, vec2; };
};

// Recurrent networks.

struct gru_cell : op<dialect, "aten.gru_cell.default", "input, hx, w_ih, w_hh, b_ih, b_hh", recurrent_cell> {
    struct args { value input, hx, w_ih, w_hh; std::optional<value> b_ih{}, b_hh{}; };
};
struct gru_input
    : op<dialect, "aten.gru.input",
         "input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first",
         2, recurrent_network> {
    struct args {
        value input, hx; list<value> params; bool has_biases; std::int64_t num_layers; double dropout;
        bool train, bidirectional, batch_first;
    };
};
struct lstm_cell : op<dialect, "aten.lstm_cell.default",
         "input, hx, w_ih, w_hh, b_ih, b_hh", 2, recurrent_cell> {
    struct args { value input; list<value> hx; value w_ih, w_hh; std::optional<value> b_ih{}, b_hh{}; };
};
struct lstm_input
    : op<dialect, "aten.lstm.input",
         "input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first",
         3, recurrent_network> {
    struct args {
        value input; list<value> hx, params; bool has_biases; std::int64_t num_layers; double dropout;
        bool train, bidirectional, batch_first;
    };
};
struct rnn_relu_cell : op<dialect, "aten.rnn_relu_cell.default",
         "input, hx, w_ih, w_hh, b_ih, b_hh", recurrent_cell> {
    struct args { value input, hx, w_ih, w_hh; std::optional<value> b_ih{}, b_hh{}; };
};
struct rnn_relu_input
    : op<dialect, "aten.rnn_relu.input",
         "input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first",
         2, recurrent_network> {
    struct args {
        value input, hx; list<value> params; bool has_biases; std::int64_t num_layers; double dropout;
        bool train, bidirectional, batch_first;
    };
};
struct rnn_tanh_cell : op<dialect, "aten.rnn_tanh_cell.default",
         "input, hx, w_ih, w_hh, b_ih, b_hh", recurrent_cell> {
    struct args { value input, hx, w_ih, w_hh; std::optional<value> b_ih{}, b_hh{}; };
};
struct rnn_tanh_input
    : op<dialect, "aten.rnn_tanh.input",
         "input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first",
         2, recurrent_network> {
    struct args {
        value input, hx; list<value> params; bool has_biases; std::int64_t num_layers; double dropout;
        bool train, bidirectional, batch_first;
    };
};

// Attention and softmax.

struct _log_softmax : op<dialect, "aten._log_softmax.default",
         "self, dim, half_to_float", on_reals, has_out> {
    struct args { value self; std::int64_t dim; bool half_to_float; };
};
struct log_softmax_int : op<dialect, "aten.log_softmax.int", "self, dim, dtype", on_reals, has_out> {
    struct args { value self; std::int64_t dim; std::optional<headrace::dtype> dtype{}; };
};
struct _safe_softmax : op<dialect, "aten._safe_softmax.default", "self, dim, dtype", on_reals> {
    struct args { value self; std::int64_t dim; std::optional<headrace::dtype> dtype{}; };
};
struct scaled_dot_product_attention
    : op<dialect, "aten.scaled_dot_product_attention.default",
         "query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa", attention> {
    struct args {
        headrace::value query, key, value; std::optional<headrace::value> attn_mask{}; double dropout_p = 0.0;
        bool is_causal = false; std::optional<double> scale{}; bool enable_gqa = false;
    };
};
struct _scaled_dot_product_flash_attention_for_cpu
    : op<dialect, "aten._scaled_dot_product_flash_attention_for_cpu.default",
         "query, key, value, dropout_p, is_causal, attn_mask, scale", 2, attention> {
    struct args {
        headrace::value query, key, value; double dropout_p = 0.0; bool is_causal = false;
        std::optional<headrace::value> attn_mask{}; std::optional<double> scale{};
    };
};
struct _softmax : op<dialect, "aten._softmax.default", "self, dim, half_to_float", on_reals, has_out> {
    struct args { value self; std::int64_t dim; bool half_to_float; };
};
struct softmax_int : op<dialect, "aten.softmax.int", "self, dim, dtype", on_reals, has_out> {
    struct args { value self; std::int64_t dim; std::optional<headrace::dtype> dtype{}; };
};

// Normalization.

struct batch_norm
    : op<dialect, "aten.batch_norm.default",
         "input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled"> {
    struct args {
        value input; std::optional<value> weight, bias, running_mean, running_var; bool training;
        double momentum, eps; bool cudnn_enabled;
    };
};
struct cosine_similarity : op<dialect, "aten.cosine_similarity.default", "x1, x2, dim, eps"> {
    struct args { value x1, x2; std::int64_t dim = 1; double eps = 1e-8; };
};
struct group_norm
    : op<dialect, "aten.group_norm.default", "input, num_groups, weight, bias, eps, cudnn_enabled"> {
    struct args {
        value input; std::int64_t num_groups; std::optional<value> weight{}, bias{}; double eps = 1e-5;
        bool cudnn_enabled = true;
    };
};
struct instance_norm
    : op<dialect, "aten.instance_norm.default",
         "input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled"> {
    struct args {
        value input; std::optional<value> weight, bias, running_mean, running_var; bool use_input_stats;
        double momentum, eps; bool cudnn_enabled;
    };
};
struct layer_norm
    : op<dialect, "aten.layer_norm.default", "input, normalized_shape, weight, bias, eps, cudnn_enable"> {
    struct args {
        value input; int_list normalized_shape; std::optional<value> weight{}, bias{}; double eps = 1e-5;
        bool cudnn_enable = true;
    };
};
struct linalg_vector_norm : op<dialect, "aten.linalg_vector_norm.default",
         "self, ord, dim, keepdim, dtype", reduction, has_out> {
    struct args {
        value self; scalar ord = 2; std::optional<int_list> dim{}; bool keepdim = false;
        std::optional<headrace::dtype> dtype{};
    };
};
struct native_batch_norm : op<dialect, "aten.native_batch_norm.default",
         "input, weight, bias, running_mean, running_var, training, momentum, eps", 3, has_out> {
    struct args {
        value input; std::optional<value> weight, bias, running_mean, running_var; bool training;
        double momentum, eps;
    };
};
struct _native_batch_norm_legit
    : op<dialect, "aten._native_batch_norm_legit.default",
         "input, weight, bias, running_mean, running_var, training, momentum, eps", 3> {
    struct args {
        value input; std::optional<value> weight, bias; value running_mean, running_var; bool training;
        double momentum, eps;
    };
};
struct _native_batch_norm_legit_no_stats : op<dialect, "aten._native_batch_norm_legit.no_stats",
         "input, weight, bias, training, momentum, eps", 3, has_out> {
    struct args { value input; std::optional<value> weight, bias; bool training; double momentum, eps; };
};
struct _native_batch_norm_legit_no_training : op<dialect, "aten._native_batch_norm_legit_no_training.default",
         "input, weight, bias, running_mean, running_var, momentum, eps", 3, has_out> {
    struct args {
        value input; std::optional<value> weight, bias; value running_mean, running_var; double momentum, eps;
    };
};
struct native_group_norm : op<dialect, "aten.native_group_norm.default",
         "input, weight, bias, N, C, HxW, group, eps", 3, has_out> {
    struct args {
        value input; std::optional<value> weight, bias; std::int64_t N, C, HxW, group; double eps;
    };
};
struct native_layer_norm : op<dialect, "aten.native_layer_norm.default",
         "input, normalized_shape, weight, bias, eps", 3, has_out> {
    struct args { value input; int_list normalized_shape; std::optional<value> weight, bias; double eps; };
};
struct norm_scalar : op<dialect, "aten.norm.Scalar", "self, p", reduction, has_out> {
    struct args { value self; scalar p = 2; };
};
struct norm_scalaropt_dim : op<dialect, "aten.norm.ScalarOpt_dim",
         "self, p, dim, keepdim", reduction, out_named<"aten.norm.out">> {
    struct args { value self; std::optional<scalar> p; int_list dim; bool keepdim = false; };
};
/// Makes a weight from its direction and its length, along all axes except `dim`, or all axes if it is -1.
struct _weight_norm : op<dialect, "aten._weight_norm.default", "v, g, dim"> {
    struct args { value v, g; std::int64_t dim = 0; };
};
struct rms_norm : op<dialect, "aten.rms_norm.default", "input, normalized_shape, weight, eps"> {
    struct args {
        value input; int_list normalized_shape; std::optional<value> weight{}; std::optional<double> eps{};
    };
};

// Activations.

struct celu : op<dialect, "aten.celu.default",
         "self, alpha", on_floats, unary, like_self, on_reals, has_out> {
    struct args { value self; scalar alpha = 1.0; };
};
struct celu_inplace : op<dialect, "aten.celu_.default", "self, alpha", in_place_of<celu>> {
    struct args { value self; scalar alpha = 1.0; };
};
struct elu : op<dialect, "aten.elu.default",
         "self, alpha, scale, input_scale", on_floats, unary, like_self, on_reals, has_out> {
    struct args { value self; scalar alpha = 1, scale = 1, input_scale = 1; };
};
struct elu_inplace : op<dialect, "aten.elu_.default", "self, alpha, scale, input_scale", in_place_of<elu>> {
    struct args { value self; scalar alpha = 1, scale = 1, input_scale = 1; };
};
struct gelu : op<dialect, "aten.gelu.default",
         "self, approximate", on_floats, unary, like_self, on_reals, has_out> {
    struct args { value self; std::string_view approximate = "none"; };
};
struct gelu_inplace : op<dialect, "aten.gelu_.default", "self, approximate", in_place_of<gelu>> {
    struct args { value self; std::string_view approximate = "none"; };
};
struct glu : op<dialect, "aten.glu.default", "self, dim", on_floats, on_reals, has_out> {
    struct args { value self; std::int64_t dim = -1; };
};
struct hardshrink : op<dialect, "aten.hardshrink.default",
         "self, lambd", on_floats, unary, like_self, on_reals> {
    struct args { value self; scalar lambd = 0.5; };
};
struct hardsigmoid : op<dialect, "aten.hardsigmoid.default",
         "self", on_floats, unary, like_self, on_reals, has_out> {
    struct args { value self; };
};
struct hardsigmoid_inplace : op<dialect, "aten.hardsigmoid_.default", "self", in_place_of<hardsigmoid>> {
    struct args { value self; };
};
struct hardswish : op<dialect, "aten.hardswish.default",
         "self", on_floats, unary, like_self, on_reals, has_out> {
    struct args { value self; };
};
struct hardswish_inplace : op<dialect, "aten.hardswish_.default", "self", in_place_of<hardswish>> {
    struct args { value self; };
};
struct hardtanh : op<dialect, "aten.hardtanh.default",
         "self, min_val, max_val", on_numbers, unary, like_self, on_reals, has_out> {
    struct args { value self; scalar min_val = -1, max_val = 1; };
};
struct hardtanh_inplace : op<dialect, "aten.hardtanh_.default",
         "self, min_val, max_val", in_place_of<hardtanh>> {
    struct args { value self; scalar min_val = -1, max_val = 1; };
};
struct leaky_relu : op<dialect, "aten.leaky_relu.default",
         "self, negative_slope", on_floats, unary, like_self, on_reals, has_out> {
    struct args { value self; scalar negative_slope = 0.01; };
};
struct leaky_relu_inplace : op<dialect, "aten.leaky_relu_.default",
         "self, negative_slope", in_place_of<leaky_relu>> {
    struct args { value self; scalar negative_slope = 0.01; };
};
struct log_sigmoid : op<dialect, "aten.log_sigmoid.default",
         "self", on_floats, unary, like_self, on_reals, has_out> {
    struct args { value self; };
};
struct log_sigmoid_forward : op<dialect, "aten.log_sigmoid_forward.default",
         "self", on_floats, 2, on_reals, out_named<"aten.log_sigmoid_forward.output">> {
    struct args { value self; };
};
struct logit : op<dialect, "aten.logit.default", "self, eps", unary, int_to_float, on_reals, has_out> {
    struct args { value self; std::optional<double> eps{}; };
};
struct mish : op<dialect, "aten.mish.default", "self", on_floats, unary, like_self, on_reals, has_out> {
    struct args { value self; };
};
struct mish_inplace : op<dialect, "aten.mish_.default", "self", in_place_of<mish>> {
    struct args { value self; };
};
struct prelu : op<dialect, "aten.prelu.default", "self, weight", on_floats, like_self, on_reals> {
    struct args { value self, weight; };
};
struct _prelu_kernel : op<dialect, "aten._prelu_kernel.default",
         "self, weight", on_floats, like_self, on_reals> {
    struct args { value self, weight; };
};
struct relu : op<dialect, "aten.relu.default", "self", on_numbers, unary, like_self, on_reals, has_out> {
    struct args { value self; };
};
struct relu6 : op<dialect, "aten.relu6.default", "self", on_numbers, unary, like_self, on_reals> {
    struct args { value self; };
};
struct relu6_inplace : op<dialect, "aten.relu6_.default", "self", in_place_of<relu6>> {
    struct args { value self; };
};
struct relu_inplace : op<dialect, "aten.relu_.default", "self", in_place_of<relu>> {
    struct args { value self; };
};
struct selu : op<dialect, "aten.selu.default", "self", on_floats, unary, like_self, on_reals> {
    struct args { value self; };
};
struct selu_inplace : op<dialect, "aten.selu_.default", "self", in_place_of<selu>> {
    struct args { value self; };
};
struct sigmoid : op<dialect, "aten.sigmoid.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct sigmoid_inplace : op<dialect, "aten.sigmoid_.default", "self", in_place_of<sigmoid>> {
    struct args { value self; };
};
struct silu : op<dialect, "aten.silu.default", "self", on_floats, unary, like_self, has_out> {
    struct args { value self; };
};
struct silu_inplace : op<dialect, "aten.silu_.default", "self", in_place_of<silu>> {
    struct args { value self; };
};
struct softplus : op<dialect, "aten.softplus.default",
         "self, beta, threshold", on_floats, unary, like_self, on_reals, has_out> {
    struct args { value self; scalar beta = 1, threshold = 20; };
};
struct softshrink : op<dialect, "aten.softshrink.default",
         "self, lambd", on_floats, unary, like_self, on_reals, has_out> {
    struct args { value self; scalar lambd = 0.5; };
};
struct tanh : op<dialect, "aten.tanh.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct tanh_inplace : op<dialect, "aten.tanh_.default", "self", in_place_of<tanh>> {
    struct args { value self; };
};
struct threshold : op<dialect, "aten.threshold.default",
         "self, threshold, value", on_numbers, unary, like_self, on_reals, has_out> {
    struct args { headrace::value self; scalar threshold, value; };
};
struct threshold_inplace : op<dialect, "aten.threshold_.default",
         "self, threshold, value", in_place_of<threshold>> {
    struct args { headrace::value self; scalar threshold, value; };
};

// Functions of one tensor.

struct abs : op<dialect, "aten.abs.default", "self", unary, like_self, has_out> {
    struct args { value self; };
};
struct abs_inplace : op<dialect, "aten.abs_.default", "self", in_place_of<abs>> {
    struct args { value self; };
};
struct acos : op<dialect, "aten.acos.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct acosh : op<dialect, "aten.acosh.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct asin : op<dialect, "aten.asin.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct asinh : op<dialect, "aten.asinh.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct atan : op<dialect, "aten.atan.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct atanh : op<dialect, "aten.atanh.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct ceil : op<dialect, "aten.ceil.default", "self", on_numbers, unary, like_self, on_reals, has_out> {
    struct args { value self; };
};
struct ceil_inplace : op<dialect, "aten.ceil_.default", "self", in_place_of<ceil>> {
    struct args { value self; };
};
struct cos : op<dialect, "aten.cos.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct cosh : op<dialect, "aten.cosh.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct deg2rad : op<dialect, "aten.deg2rad.default", "self", unary, int_to_float, on_reals> {
    struct args { value self; };
};
struct erf : op<dialect, "aten.erf.default", "self", unary, int_to_float, on_reals, has_out> {
    struct args { value self; };
};
struct erfc : op<dialect, "aten.erfc.default", "self", unary, int_to_float, on_reals, has_out> {
    struct args { value self; };
};
struct erfinv : op<dialect, "aten.erfinv.default", "self", unary, int_to_float, on_reals, has_out> {
    struct args { value self; };
};
struct exp : op<dialect, "aten.exp.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct exp2 : op<dialect, "aten.exp2.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct exp_inplace : op<dialect, "aten.exp_.default", "self", in_place_of<exp>> {
    struct args { value self; };
};
struct expm1 : op<dialect, "aten.expm1.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct floor : op<dialect, "aten.floor.default", "self", on_numbers, unary, like_self, on_reals, has_out> {
    struct args { value self; };
};
struct floor_inplace : op<dialect, "aten.floor_.default", "self", in_place_of<floor>> {
    struct args { value self; };
};
struct frac : op<dialect, "aten.frac.default", "self", on_floats, unary, like_self, on_reals, has_out> {
    struct args { value self; };
};
struct isfinite : op<dialect, "aten.isfinite.default", "self", unary, predicate> {
    struct args { value self; };
};
struct isinf : op<dialect, "aten.isinf.default", "self", unary, predicate, has_out> {
    struct args { value self; };
};
struct isnan : op<dialect, "aten.isnan.default", "self", unary, predicate, has_out> {
    struct args { value self; };
};
struct log : op<dialect, "aten.log.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct log10 : op<dialect, "aten.log10.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct log1p : op<dialect, "aten.log1p.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct log2 : op<dialect, "aten.log2.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct log_inplace : op<dialect, "aten.log_.default", "self", in_place_of<log>> {
    struct args { value self; };
};
struct nan_to_num : op<dialect, "aten.nan_to_num.default",
         "self, nan, posinf, neginf", unary, like_self, has_out> {
    struct args { value self; std::optional<double> nan{}, posinf{}, neginf{}; };
};
struct neg : op<dialect, "aten.neg.default", "self", on_numbers, unary, like_self, has_out> {
    struct args { value self; };
};
struct neg_inplace : op<dialect, "aten.neg_.default", "self", in_place_of<neg>> {
    struct args { value self; };
};
struct rad2deg : op<dialect, "aten.rad2deg.default", "self", unary, int_to_float, on_reals> {
    struct args { value self; };
};
struct reciprocal : op<dialect, "aten.reciprocal.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct reciprocal_inplace : op<dialect, "aten.reciprocal_.default", "self", in_place_of<reciprocal>> {
    struct args { value self; };
};
struct round : op<dialect, "aten.round.default", "self", on_numbers, unary, like_self, on_reals, has_out> {
    struct args { value self; };
};
struct round_decimals : op<dialect, "aten.round.decimals",
         "self, decimals", unary, like_self, on_reals, has_out> {
    struct args { value self; std::int64_t decimals; };
};
struct round_inplace : op<dialect, "aten.round_.default", "self", in_place_of<round>> {
    struct args { value self; };
};
struct rsqrt : op<dialect, "aten.rsqrt.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct rsqrt_inplace : op<dialect, "aten.rsqrt_.default", "self", in_place_of<rsqrt>> {
    struct args { value self; };
};
struct sgn : op<dialect, "aten.sgn.default", "self", unary, like_self, has_out> {
    struct args { value self; };
};
struct sign : op<dialect, "aten.sign.default", "self", unary, like_self, on_reals, has_out> {
    struct args { value self; };
};
struct signbit : op<dialect, "aten.signbit.default", "self", unary, predicate, on_reals> {
    struct args { value self; };
};
struct sin : op<dialect, "aten.sin.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct sinh : op<dialect, "aten.sinh.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct sqrt : op<dialect, "aten.sqrt.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct sqrt_inplace : op<dialect, "aten.sqrt_.default", "self", in_place_of<sqrt>> {
    struct args { value self; };
};
struct square : op<dialect, "aten.square.default", "self", unary, has_out> { struct args { value self; }; };
struct square_inplace : op<dialect, "aten.square_.default", "self", in_place_of<square>> {
    struct args { value self; };
};
struct tan : op<dialect, "aten.tan.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct trunc : op<dialect, "aten.trunc.default", "self", on_numbers, unary, like_self, on_reals, has_out> {
    struct args { value self; };
};

// Arithmetic.

struct add_scalar : op<dialect, "aten.add.Scalar", "self, other, alpha", unary, has_out> {
    struct args { value self; scalar other, alpha = 1; };
};
struct add_inplace_scalar : op<dialect, "aten.add_.Scalar", "self, other, alpha", in_place_of<add_scalar>> {
    struct args { value self; scalar other, alpha = 1; };
};
struct add_tensor : op<dialect, "aten.add.Tensor",
         "self, other, alpha", binary, commutative, out_named<"aten.add.out">> {
    struct args { value self, other; scalar alpha = 1; };
};
struct add_inplace_tensor : op<dialect, "aten.add_.Tensor", "self, other, alpha", in_place_of<add_tensor>> {
    struct args { value self, other; scalar alpha = 1; };
};
struct addcdiv : op<dialect, "aten.addcdiv.default",
         "self, tensor1, tensor2, value", on_floats, ternary, has_out> {
    struct args { headrace::value self, tensor1, tensor2; scalar value = 1; };
};
struct addcmul : op<dialect, "aten.addcmul.default", "self, tensor1, tensor2, value", ternary, has_out> {
    struct args { headrace::value self, tensor1, tensor2; scalar value = 1; };
};
struct atan2 : op<dialect, "aten.atan2.default", "self, other", binary, int_to_float, on_reals, has_out> {
    struct args { value self, other; };
};
struct copysign_tensor : op<dialect, "aten.copysign.Tensor", "self, other", binary, int_to_float, on_reals> {
    struct args { value self, other; };
};
struct div_scalar : op<dialect, "aten.div.Scalar", "self, other", unary, int_to_float, has_out> {
    struct args { value self; scalar other; };
};
struct div_inplace_scalar : op<dialect, "aten.div_.Scalar", "self, other", in_place_of<div_scalar>> {
    struct args { value self; scalar other; };
};
struct div_scalar_mode : op<dialect, "aten.div.Scalar_mode", "self, other, rounding_mode", unary, has_out> {
    struct args { value self; scalar other; std::optional<std::string_view> rounding_mode; };
};
struct div_tensor : op<dialect, "aten.div.Tensor",
         "self, other", binary, int_to_float, out_named<"aten.div.out">> {
    struct args { value self, other; };
};
struct div_inplace_tensor : op<dialect, "aten.div_.Tensor", "self, other", in_place_of<div_tensor>> {
    struct args { value self, other; };
};
struct div_tensor_mode : op<dialect, "aten.div.Tensor_mode",
         "self, other, rounding_mode", binary, out_named<"aten.div.out_mode">> {
    struct args { value self, other; std::optional<std::string_view> rounding_mode; };
};
struct divide_tensor : op<dialect, "aten.divide.Tensor",
         "self, other", synonym_of<div_tensor>, out_named<"aten.divide.out">> {
    struct args { value self, other; };
};
struct floor_divide : op<dialect, "aten.floor_divide.default",
         "self, other", on_numbers, binary, on_reals, has_out> {
    struct args { value self, other; };
};
struct floor_divide_scalar : op<dialect, "aten.floor_divide.Scalar",
         "self, other", on_numbers, unary, on_reals, has_out> {
    struct args { value self; scalar other; };
};
struct fmax : op<dialect, "aten.fmax.default", "self, other", binary, commutative, on_reals> {
    struct args { value self, other; };
};
struct fmin : op<dialect, "aten.fmin.default", "self, other", binary, commutative, on_reals> {
    struct args { value self, other; };
};
struct fmod_scalar : op<dialect, "aten.fmod.Scalar", "self, other", on_numbers, unary, on_reals, has_out> {
    struct args { value self; scalar other; };
};
struct fmod_tensor : op<dialect, "aten.fmod.Tensor", "self, other", on_numbers, binary, on_reals, has_out> {
    struct args { value self, other; };
};
struct hypot : op<dialect, "aten.hypot.default", "self, other", on_floats, binary, commutative, on_reals> {
    struct args { value self, other; };
};
struct lerp_scalar : op<dialect, "aten.lerp.Scalar", "self, end, weight", on_floats, binary, has_out> {
    struct args { value self, end; scalar weight; };
};
struct lerp_tensor : op<dialect, "aten.lerp.Tensor", "self, end, weight", on_floats, ternary, has_out> {
    struct args { value self, end, weight; };
};
struct logaddexp : op<dialect, "aten.logaddexp.default", "self, other", on_floats, binary, commutative> {
    struct args { value self, other; };
};
struct maximum : op<dialect, "aten.maximum.default", "self, other", binary, commutative, on_reals, has_out> {
    struct args { value self, other; };
};
struct max_other : op<dialect, "aten.max.other",
         "self, other", synonym_of<maximum>, out_named<"aten.max.out">> {
    struct args { value self, other; };
};
struct minimum : op<dialect, "aten.minimum.default", "self, other", binary, commutative, on_reals, has_out> {
    struct args { value self, other; };
};
struct min_other : op<dialect, "aten.min.other",
         "self, other", synonym_of<minimum>, out_named<"aten.min.out">> {
    struct args { value self, other; };
};
struct mul_scalar : op<dialect, "aten.mul.Scalar", "self, other", unary, has_out> {
    struct args { value self; scalar other; };
};
struct mul_inplace_scalar : op<dialect, "aten.mul_.Scalar", "self, other", in_place_of<mul_scalar>> {
    struct args { value self; scalar other; };
};
struct mul_tensor : op<dialect, "aten.mul.Tensor",
         "self, other", binary, commutative, out_named<"aten.mul.out">> {
    struct args { value self, other; };
};
struct mul_inplace_tensor : op<dialect, "aten.mul_.Tensor", "self, other", in_place_of<mul_tensor>> {
    struct args { value self, other; };
};
struct multiply_tensor : op<dialect, "aten.multiply.Tensor",
         "self, other", synonym_of<mul_tensor>, out_named<"aten.multiply.out">> {
    struct args { value self, other; };
};
struct pow_scalar : op<dialect, "aten.pow.Scalar", "self, exponent", unary, has_out> {
    struct args { scalar self; value exponent; };
};
struct pow_tensor_scalar : op<dialect, "aten.pow.Tensor_Scalar", "self, exponent", unary, has_out> {
    struct args { value self; scalar exponent; };
};
struct pow_inplace_scalar : op<dialect, "aten.pow_.Scalar",
         "self, exponent", in_place_of<pow_tensor_scalar>> {
    struct args { value self; scalar exponent; };
};
struct pow_tensor_tensor : op<dialect, "aten.pow.Tensor_Tensor", "self, exponent", binary, has_out> {
    struct args { value self, exponent; };
};
struct pow_inplace_tensor : op<dialect, "aten.pow_.Tensor",
         "self, exponent", in_place_of<pow_tensor_tensor>> {
    struct args { value self, exponent; };
};
struct remainder_scalar : op<dialect, "aten.remainder.Scalar",
         "self, other", on_numbers, unary, on_reals, has_out> {
    struct args { value self; scalar other; };
};
struct remainder_scalar_tensor : op<dialect, "aten.remainder.Scalar_Tensor",
         "self, other", on_numbers, unary, on_reals, has_out> {
    struct args { scalar self; value other; };
};
struct remainder_tensor : op<dialect, "aten.remainder.Tensor",
         "self, other", on_numbers, binary, on_reals, has_out> {
    struct args { value self, other; };
};
struct rsub_scalar : op<dialect, "aten.rsub.Scalar", "self, other, alpha", on_numbers, unary, has_out> {
    struct args { value self; scalar other, alpha = 1; };
};
struct rsub_tensor : op<dialect, "aten.rsub.Tensor", "self, other, alpha", on_numbers, binary, has_out> {
    struct args { value self, other; scalar alpha = 1; };
};
struct sub_scalar : op<dialect, "aten.sub.Scalar", "self, other, alpha", on_numbers, unary, has_out> {
    struct args { value self; scalar other, alpha = 1; };
};
struct sub_inplace_scalar : op<dialect, "aten.sub_.Scalar", "self, other, alpha", in_place_of<sub_scalar>> {
    struct args { value self; scalar other, alpha = 1; };
};
struct sub_tensor : op<dialect, "aten.sub.Tensor",
         "self, other, alpha", on_numbers, binary, out_named<"aten.sub.out">> {
    struct args { value self, other; scalar alpha = 1; };
};
struct sub_inplace_tensor : op<dialect, "aten.sub_.Tensor", "self, other, alpha", in_place_of<sub_tensor>> {
    struct args { value self, other; scalar alpha = 1; };
};
struct subtract_tensor : op<dialect, "aten.subtract.Tensor",
         "self, other, alpha", synonym_of<sub_tensor>, out_named<"aten.subtract.out">> {
    struct args { value self, other; scalar alpha = 1; };
};
struct true_divide_tensor : op<dialect, "aten.true_divide.Tensor",
         "self, other", synonym_of<div_tensor>, out_named<"aten.true_divide.out">> {
    struct args { value self, other; };
};
struct xlogy_tensor : op<dialect, "aten.xlogy.Tensor", "self, other", binary, int_to_float, on_reals> {
    struct args { value self, other; };
};

// Limits.

struct clamp : op<dialect, "aten.clamp.default", "self, min, max", on_numbers, unary, on_reals, has_out> {
    struct args { value self; std::optional<scalar> min{}, max{}; };
};
struct clamp_inplace : op<dialect, "aten.clamp_.default", "self, min, max", in_place_of<clamp>> {
    struct args { value self; std::optional<scalar> min{}, max{}; };
};
struct clamp_max : op<dialect, "aten.clamp_max.default", "self, max", on_numbers, unary, on_reals, has_out> {
    struct args { value self; scalar max; };
};
struct clamp_max_inplace : op<dialect, "aten.clamp_max_.default", "self, max", in_place_of<clamp_max>> {
    struct args { value self; scalar max; };
};
struct clamp_max_tensor : op<dialect, "aten.clamp_max.Tensor",
         "self, max", on_numbers, binary, on_reals, has_out> {
    struct args { value self, max; };
};
struct clamp_min : op<dialect, "aten.clamp_min.default", "self, min", on_numbers, unary, on_reals, has_out> {
    struct args { value self; scalar min; };
};
struct clamp_min_inplace : op<dialect, "aten.clamp_min_.default", "self, min", in_place_of<clamp_min>> {
    struct args { value self; scalar min; };
};
struct clamp_min_tensor : op<dialect, "aten.clamp_min.Tensor",
         "self, min", on_numbers, binary, on_reals, has_out> {
    struct args { value self, min; };
};
struct clamp_tensor : op<dialect, "aten.clamp.Tensor",
         "self, min, max", on_numbers, ternary, on_reals, has_out> {
    struct args { value self; std::optional<value> min{}, max{}; };
};
struct clip : op<dialect, "aten.clip.default", "self, min, max", synonym_of<clamp>, has_out> {
    struct args { value self; std::optional<scalar> min{}, max{}; };
};

// Comparison.

struct eq_scalar : op<dialect, "aten.eq.Scalar", "self, other", comparing, unary, predicate, has_out> {
    struct args { value self; scalar other; };
};
struct eq_tensor : op<dialect, "aten.eq.Tensor",
         "self, other", comparing, binary, predicate, commutative, has_out> {
    struct args { value self, other; };
};
struct ge_scalar : op<dialect, "aten.ge.Scalar",
         "self, other", comparing, unary, predicate, on_reals, has_out> {
    struct args { value self; scalar other; };
};
struct ge_tensor : op<dialect, "aten.ge.Tensor",
         "self, other", comparing, binary, predicate, on_reals, has_out> {
    struct args { value self, other; };
};
struct gt_scalar : op<dialect, "aten.gt.Scalar",
         "self, other", comparing, unary, predicate, on_reals, has_out> {
    struct args { value self; scalar other; };
};
struct gt_tensor : op<dialect, "aten.gt.Tensor",
         "self, other", comparing, binary, predicate, on_reals, has_out> {
    struct args { value self, other; };
};
struct le_scalar : op<dialect, "aten.le.Scalar",
         "self, other", comparing, unary, predicate, on_reals, has_out> {
    struct args { value self; scalar other; };
};
struct le_tensor : op<dialect, "aten.le.Tensor",
         "self, other", comparing, binary, predicate, on_reals, has_out> {
    struct args { value self, other; };
};
struct lt_scalar : op<dialect, "aten.lt.Scalar",
         "self, other", comparing, unary, predicate, on_reals, has_out> {
    struct args { value self; scalar other; };
};
struct lt_tensor : op<dialect, "aten.lt.Tensor",
         "self, other", comparing, binary, predicate, on_reals, has_out> {
    struct args { value self, other; };
};
struct ne_scalar : op<dialect, "aten.ne.Scalar", "self, other", comparing, unary, predicate, has_out> {
    struct args { value self; scalar other; };
};
struct ne_inplace_scalar : op<dialect, "aten.ne_.Scalar", "self, other", in_place_of<ne_scalar>> {
    struct args { value self; scalar other; };
};
struct ne_tensor : op<dialect, "aten.ne.Tensor",
         "self, other", comparing, binary, predicate, commutative, has_out> {
    struct args { value self, other; };
};
struct ne_inplace_tensor : op<dialect, "aten.ne_.Tensor", "self, other", in_place_of<ne_tensor>> {
    struct args { value self, other; };
};

// Logic and bits.

struct bitwise_and_scalar : op<dialect, "aten.bitwise_and.Scalar", "self, other", on_bits, unary, has_out> {
    struct args { value self; scalar other; };
};
struct and_scalar : op<dialect, "aten.__and__.Scalar", "self, other", synonym_of<bitwise_and_scalar>> {
    struct args { value self; scalar other; };
};
struct bitwise_and_tensor : op<dialect, "aten.bitwise_and.Tensor",
         "self, other", on_bits, binary, commutative, has_out> {
    struct args { value self, other; };
};
struct and_tensor : op<dialect, "aten.__and__.Tensor", "self, other", synonym_of<bitwise_and_tensor>> {
    struct args { value self, other; };
};
struct bitwise_left_shift_tensor : op<dialect, "aten.bitwise_left_shift.Tensor",
         "self, other", on_bits, on_numbers, binary, has_out> {
    struct args { value self, other; };
};
struct bitwise_left_shift_tensor_scalar : op<dialect, "aten.bitwise_left_shift.Tensor_Scalar",
         "self, other", on_bits, on_numbers, unary, has_out> {
    struct args { value self; scalar other; };
};
struct bitwise_not : op<dialect, "aten.bitwise_not.default", "self", on_bits, unary, like_self, has_out> {
    struct args { value self; };
};
struct bitwise_or_scalar : op<dialect, "aten.bitwise_or.Scalar", "self, other", on_bits, unary, has_out> {
    struct args { value self; scalar other; };
};
struct bitwise_or_tensor : op<dialect, "aten.bitwise_or.Tensor",
         "self, other", on_bits, binary, commutative, has_out> {
    struct args { value self, other; };
};
struct bitwise_right_shift_tensor : op<dialect, "aten.bitwise_right_shift.Tensor",
         "self, other", on_bits, on_numbers, binary, has_out> {
    struct args { value self, other; };
};
struct bitwise_right_shift_tensor_scalar : op<dialect, "aten.bitwise_right_shift.Tensor_Scalar",
         "self, other", on_bits, on_numbers, unary, has_out> {
    struct args { value self; scalar other; };
};
struct bitwise_xor_scalar : op<dialect, "aten.bitwise_xor.Scalar", "self, other", on_bits, unary, has_out> {
    struct args { value self; scalar other; };
};
struct bitwise_xor_tensor : op<dialect, "aten.bitwise_xor.Tensor",
         "self, other", on_bits, binary, commutative, has_out> {
    struct args { value self, other; };
};
struct logical_and : op<dialect, "aten.logical_and.default",
         "self, other", binary, predicate, commutative, has_out> {
    struct args { value self, other; };
};
struct logical_not : op<dialect, "aten.logical_not.default", "self", unary, predicate, has_out> {
    struct args { value self; };
};
struct logical_or : op<dialect, "aten.logical_or.default",
         "self, other", binary, predicate, commutative, has_out> {
    struct args { value self, other; };
};
struct logical_xor : op<dialect, "aten.logical_xor.default",
         "self, other", binary, predicate, commutative, has_out> {
    struct args { value self, other; };
};
struct lshift_scalar : op<dialect, "aten.__lshift__.Scalar",
         "self, other", synonym_of<bitwise_left_shift_tensor_scalar>, has_out> {
    struct args { value self; scalar other; };
};
struct lshift_tensor : op<dialect, "aten.__lshift__.Tensor",
         "self, other", synonym_of<bitwise_left_shift_tensor>, has_out> {
    struct args { value self, other; };
};
struct or_scalar : op<dialect, "aten.__or__.Scalar", "self, other", synonym_of<bitwise_or_scalar>> {
    struct args { value self; scalar other; };
};
struct or_tensor : op<dialect, "aten.__or__.Tensor", "self, other", synonym_of<bitwise_or_tensor>> {
    struct args { value self, other; };
};
struct rshift_scalar : op<dialect, "aten.__rshift__.Scalar",
         "self, other", synonym_of<bitwise_right_shift_tensor_scalar>, has_out> {
    struct args { value self; scalar other; };
};
struct rshift_tensor : op<dialect, "aten.__rshift__.Tensor",
         "self, other", synonym_of<bitwise_right_shift_tensor>, has_out> {
    struct args { value self, other; };
};
struct xor_scalar : op<dialect, "aten.__xor__.Scalar", "self, other", synonym_of<bitwise_xor_scalar>> {
    struct args { value self; scalar other; };
};
struct xor_tensor : op<dialect, "aten.__xor__.Tensor", "self, other", synonym_of<bitwise_xor_tensor>> {
    struct args { value self, other; };
};

// Reductions.

struct all : op<dialect, "aten.all.default", "self", reduction, out_named<"aten.all.all_out">> {
    struct args { value self; };
};
struct all_dim : op<dialect, "aten.all.dim", "self, dim, keepdim", reduction, out_named<"aten.all.out">> {
    struct args { value self; std::int64_t dim; bool keepdim = false; };
};
struct all_dims : op<dialect, "aten.all.dims", "self, dim, keepdim", reduction, has_out> {
    struct args { value self; std::optional<int_list> dim{}; bool keepdim = false; };
};
struct amax : op<dialect, "aten.amax.default", "self, dim, keepdim", reduction, on_reals, has_out> {
    struct args { value self; int_list dim{}; bool keepdim = false; };
};
struct amin : op<dialect, "aten.amin.default", "self, dim, keepdim", reduction, on_reals, has_out> {
    struct args { value self; int_list dim{}; bool keepdim = false; };
};
struct aminmax : op<dialect, "aten.aminmax.default", "self, dim, keepdim", 2, reduction, on_reals, has_out> {
    struct args { value self; std::optional<std::int64_t> dim{}; bool keepdim = false; };
};
struct any : op<dialect, "aten.any.default", "self", reduction, out_named<"aten.any.all_out">> {
    struct args { value self; };
};
struct any_dim : op<dialect, "aten.any.dim", "self, dim, keepdim", reduction, out_named<"aten.any.out">> {
    struct args { value self; std::int64_t dim; bool keepdim = false; };
};
struct any_dims : op<dialect, "aten.any.dims", "self, dim, keepdim", reduction, has_out> {
    struct args { value self; std::optional<int_list> dim{}; bool keepdim = false; };
};
struct argmax : op<dialect, "aten.argmax.default",
         "self, dim, keepdim", reduction, locating, on_reals, has_out> {
    struct args { value self; std::optional<std::int64_t> dim{}; bool keepdim = false; };
};
struct argmin : op<dialect, "aten.argmin.default",
         "self, dim, keepdim", reduction, locating, on_reals, has_out> {
    struct args { value self; std::optional<std::int64_t> dim{}; bool keepdim = false; };
};
struct cumsum : op<dialect, "aten.cumsum.default", "self, dim, dtype", has_out> {
    struct args { value self; std::int64_t dim; std::optional<headrace::dtype> dtype{}; };
};
struct cumprod : op<dialect, "aten.cumprod.default", "self, dim, dtype", has_out> {
    struct args { value self; std::int64_t dim; std::optional<headrace::dtype> dtype{}; };
};
struct logsumexp : op<dialect, "aten.logsumexp.default", "self, dim, keepdim", reduction, has_out> {
    struct args { value self; int_list dim; bool keepdim = false; };
};
struct max : op<dialect, "aten.max.default", "self", reduction, on_reals, out_named<"aten.max.unary_out">> {
    struct args { value self; };
};
struct max_dim : op<dialect, "aten.max.dim",
         "self, dim, keepdim", 2, reduction, on_reals, out_named<"aten.max.dim_max">> {
    struct args { value self; std::int64_t dim; bool keepdim = false; };
};
struct mean : op<dialect, "aten.mean.default", "self, dtype", reduction, out_named<"aten.mean.dtype_out">> {
    struct args { value self; std::optional<headrace::dtype> dtype{}; };
};
struct mean_dim : op<dialect, "aten.mean.dim",
         "self, dim, keepdim, dtype", reduction, out_named<"aten.mean.out">> {
    struct args {
        value self; std::optional<int_list> dim; bool keepdim = false; std::optional<headrace::dtype> dtype{};
    };
};
struct min : op<dialect, "aten.min.default", "self", reduction, on_reals, out_named<"aten.min.unary_out">> {
    struct args { value self; };
};
struct min_dim : op<dialect, "aten.min.dim",
         "self, dim, keepdim", 2, reduction, on_reals, out_named<"aten.min.dim_min">> {
    struct args { value self; std::int64_t dim; bool keepdim = false; };
};
struct nansum : op<dialect, "aten.nansum.default", "self, dim, keepdim, dtype", reduction, on_reals> {
    struct args {
        value self; std::optional<int_list> dim{}; bool keepdim = false;
        std::optional<headrace::dtype> dtype{};
    };
};
struct prod : op<dialect, "aten.prod.default", "self, dtype", reduction, has_out> {
    struct args { value self; std::optional<headrace::dtype> dtype{}; };
};
struct prod_dim_int : op<dialect, "aten.prod.dim_int",
         "self, dim, keepdim, dtype", reduction, out_named<"aten.prod.int_out">> {
    struct args {
        value self; std::int64_t dim; bool keepdim = false; std::optional<headrace::dtype> dtype{};
    };
};
struct argsort : op<dialect, "aten.argsort.default", "self, dim, descending", locating, on_reals> {
    struct args { value self; std::int64_t dim = -1; bool descending = false; };
};
struct argsort_stable : op<dialect, "aten.argsort.stable",
         "self, stable, dim, descending", locating, on_reals> {
    struct args { value self; bool stable; std::int64_t dim = -1; bool descending = false; };
};
struct msort : op<dialect, "aten.msort.default", "self", on_reals> { struct args { value self; }; };
struct sort : op<dialect, "aten.sort.default", "self, dim, descending", 2, on_reals> {
    struct args { value self; std::int64_t dim = -1; bool descending = false; };
};
struct sort_stable : op<dialect, "aten.sort.stable", "self, stable, dim, descending", 2, on_reals> {
    struct args {
        value self; std::optional<bool> stable{}; std::int64_t dim = -1; bool descending = false;
    };
};
using sort_ops = ops<argsort, argsort_stable, msort, sort, sort_stable>;
struct std_ : op<dialect, "aten.std.default", "self, unbiased", reduction> {
    struct args { value self; bool unbiased = true; };
};
struct std_correction : op<dialect, "aten.std.correction",
         "self, dim, correction, keepdim", reduction, has_out> {
    struct args {
        value self; std::optional<int_list> dim{}; std::optional<scalar> correction{}; bool keepdim = false;
    };
};
struct std_dim : op<dialect, "aten.std.dim",
         "self, dim, unbiased, keepdim", reduction, out_named<"aten.std.out">> {
    struct args { value self; std::optional<int_list> dim; bool unbiased = true, keepdim = false; };
};
struct std_mean_dim : op<dialect, "aten.std_mean.dim", "self, dim, unbiased, keepdim", 2, reduction> {
    struct args { value self; std::optional<int_list> dim{}; bool unbiased = true, keepdim = false; };
};
struct std_mean_correction : op<dialect, "aten.std_mean.correction",
         "self, dim, correction, keepdim", 2, reduction> {
    struct args {
        value self; std::optional<int_list> dim{}; std::optional<scalar> correction{}; bool keepdim = false;
    };
};
struct sum : op<dialect, "aten.sum.default", "self, dtype", reduction, has_out> {
    struct args { value self; std::optional<headrace::dtype> dtype{}; };
};
struct sum_dim_intlist : op<dialect, "aten.sum.dim_IntList",
         "self, dim, keepdim, dtype", reduction, out_named<"aten.sum.IntList_out">> {
    struct args {
        value self; std::optional<int_list> dim; bool keepdim = false; std::optional<headrace::dtype> dtype{};
    };
};
struct topk : op<dialect, "aten.topk.default",
         "self, k, dim, largest, sorted", 2, on_numbers, on_reals, out_named<"aten.topk.values">> {
    struct args { value self; std::int64_t k, dim = -1; bool largest = true, sorted = true; };
};
struct var : op<dialect, "aten.var.default", "self, unbiased", reduction> {
    struct args { value self; bool unbiased = true; };
};
struct var_correction : op<dialect, "aten.var.correction",
         "self, dim, correction, keepdim", reduction, has_out> {
    struct args {
        value self; std::optional<int_list> dim{}; std::optional<scalar> correction{}; bool keepdim = false;
    };
};
struct var_dim : op<dialect, "aten.var.dim",
         "self, dim, unbiased, keepdim", reduction, out_named<"aten.var.out">> {
    struct args { value self; std::optional<int_list> dim; bool unbiased = true, keepdim = false; };
};
struct var_mean_correction : op<dialect, "aten.var_mean.correction",
         "self, dim, correction, keepdim", 2, reduction, has_out> {
    struct args {
        value self; std::optional<int_list> dim{}; std::optional<scalar> correction{}; bool keepdim = false;
    };
};
struct var_mean_dim : op<dialect, "aten.var_mean.dim", "self, dim, unbiased, keepdim", 2, reduction> {
    struct args { value self; std::optional<int_list> dim{}; bool unbiased = true, keepdim = false; };
};

// Views and their copies.

struct alias : op<dialect, "aten.alias.default", "self", forwarding, like_self, aliasing> {
    struct args { value self; };
};
struct alias_copy : op<dialect, "aten.alias_copy.default", "self", view_copy_of<alias>, has_out> {
    struct args { value self; };
};
struct as_strided : op<dialect, "aten.as_strided.default", "self, size, stride, storage_offset", aliasing> {
    struct args { value self; int_list size, stride; std::optional<std::int64_t> storage_offset{}; };
};
struct as_strided_copy : op<dialect, "aten.as_strided_copy.default",
         "self, size, stride, storage_offset", view_copy_of<as_strided>, has_out> {
    struct args { value self; int_list size, stride; std::optional<std::int64_t> storage_offset{}; };
};
struct broadcast_to : op<dialect, "aten.broadcast_to.default", "self, size", broadcasting, aliasing> {
    struct args { value self; int_list size; };
};
struct detach : op<dialect, "aten.detach.default", "self", forwarding, like_self, aliasing> {
    struct args { value self; };
};
struct detach_copy : op<dialect, "aten.detach_copy.default", "self", view_copy_of<detach>, has_out> {
    struct args { value self; };
};
struct detach_inplace : op<dialect, "aten.detach_.default", "self", in_place_of<detach>> {
    struct args { value self; };
};
struct expand : op<dialect, "aten.expand.default", "self, size, implicit", broadcasting, aliasing> {
    struct args { value self; int_list size; bool implicit = false; };
};
struct expand_as : op<dialect, "aten.expand_as.default", "self, other", broadcasting, aliasing> {
    struct args { value self, other; };
};
struct expand_copy : op<dialect, "aten.expand_copy.default",
         "self, size, implicit", view_copy_of<expand>, has_out> {
    struct args { value self; int_list size; bool implicit = false; };
};
struct flatten_using_ints : op<dialect, "aten.flatten.using_ints",
         "self, start_dim, end_dim", reshaping, aliasing, may_copy> {
    struct args { value self; std::int64_t start_dim = 0, end_dim = -1; };
};
struct m_t : op<dialect, "aten.mT.default", "self", permuting, aliasing> { struct args { value self; }; };
struct movedim_int : op<dialect, "aten.movedim.int", "self, source, destination", permuting, aliasing> {
    struct args { value self; std::int64_t source, destination; };
};
struct movedim_intlist : op<dialect, "aten.movedim.intlist",
         "self, source, destination", permuting, aliasing> {
    struct args { value self; int_list source, destination; };
};
struct narrow : op<dialect, "aten.narrow.default", "self, dim, start, length", slicing, aliasing> {
    struct args { value self; std::int64_t dim, start, length; };
};
struct narrow_copy : op<dialect, "aten.narrow_copy.default",
         "self, dim, start, length", view_copy_of<narrow>, has_out> {
    struct args { value self; std::int64_t dim, start, length; };
};
struct numpy_t : op<dialect, "aten.numpy_T.default", "self", permuting, aliasing> {
    struct args { value self; };
};
struct permute : op<dialect, "aten.permute.default", "self, dims", permuting, aliasing> {
    struct args { value self; int_list dims; };
};
struct permute_copy : op<dialect, "aten.permute_copy.default", "self, dims", view_copy_of<permute>, has_out> {
    struct args { value self; int_list dims; };
};
struct ravel : op<dialect, "aten.ravel.default", "self", reshaping, aliasing, may_copy> {
    struct args { value self; };
};
struct reshape : op<dialect, "aten.reshape.default", "self, shape", reshaping, aliasing, may_copy> {
    struct args { value self; int_list shape; };
};
struct reshape_as : op<dialect, "aten.reshape_as.default", "self, other", reshaping, aliasing, may_copy> {
    struct args { value self, other; };
};
struct select_int : op<dialect, "aten.select.int", "self, dim, index", slicing, aliasing> {
    struct args { value self; std::int64_t dim, index; };
};
struct select_copy_int : op<dialect, "aten.select_copy.int",
         "self, dim, index", view_copy_of<select_int>, has_out> {
    struct args { value self; std::int64_t dim, index; };
};
struct slice_tensor : op<dialect, "aten.slice.Tensor", "self, dim, start, end, step", slicing, aliasing> {
    struct args {
        value self; std::int64_t dim = 0; std::optional<std::int64_t> start{}, end{}; std::int64_t step = 1;
    };
};
struct slice_copy_tensor : op<dialect, "aten.slice_copy.Tensor",
         "self, dim, start, end, step", view_copy_of<slice_tensor>, has_out> {
    struct args {
        value self; std::int64_t dim = 0; std::optional<std::int64_t> start{}, end{}; std::int64_t step = 1;
    };
};
struct squeeze : op<dialect, "aten.squeeze.default", "self", reshaping, aliasing> {
    struct args { value self; };
};
struct squeeze_copy : op<dialect, "aten.squeeze_copy.default", "self", view_copy_of<squeeze>, has_out> {
    struct args { value self; };
};
struct squeeze_dim : op<dialect, "aten.squeeze.dim", "self, dim", reshaping, aliasing> {
    struct args { value self; std::int64_t dim; };
};
struct squeeze_copy_dim : op<dialect, "aten.squeeze_copy.dim",
         "self, dim", view_copy_of<squeeze_dim>, has_out> {
    struct args { value self; std::int64_t dim; };
};
struct squeeze_dims : op<dialect, "aten.squeeze.dims", "self, dim", reshaping, aliasing> {
    struct args { value self; int_list dim; };
};
struct squeeze_copy_dims : op<dialect, "aten.squeeze_copy.dims",
         "self, dim", view_copy_of<squeeze_dims>, has_out> {
    struct args { value self; int_list dim; };
};
struct squeeze_inplace_dim : op<dialect, "aten.squeeze_.dim", "self, dim", in_place_of<squeeze_dim>> {
    struct args { value self; std::int64_t dim; };
};
struct t : op<dialect, "aten.t.default", "self", permuting, aliasing> { struct args { value self; }; };
struct t_copy : op<dialect, "aten.t_copy.default", "self", view_copy_of<t>, has_out> {
    struct args { value self; };
};
struct transpose_int : op<dialect, "aten.transpose.int", "self, dim0, dim1", permuting, aliasing> {
    struct args { value self; std::int64_t dim0, dim1; };
};
struct transpose_copy_int : op<dialect, "aten.transpose_copy.int",
         "self, dim0, dim1", view_copy_of<transpose_int>, has_out> {
    struct args { value self; std::int64_t dim0, dim1; };
};
struct unflatten_int : op<dialect, "aten.unflatten.int", "self, dim, sizes", reshaping, aliasing> {
    struct args { value self; std::int64_t dim; int_list sizes; };
};
struct diagonal : op<dialect, "aten.diagonal.default", "self, offset, dim1, dim2", aliasing> {
    struct args { value self; std::int64_t offset = 0, dim1 = 0, dim2 = 1; };
};
struct diagonal_copy : op<dialect, "aten.diagonal_copy.default",
         "self, offset, dim1, dim2", view_copy_of<diagonal>, has_out> {
    struct args { value self; std::int64_t offset = 0, dim1 = 0, dim2 = 1; };
};
struct unfold : op<dialect, "aten.unfold.default", "self, dimension, size, step", aliasing> {
    struct args { value self; std::int64_t dimension, size, step; };
};
struct unfold_copy : op<dialect, "aten.unfold_copy.default",
         "self, dimension, size, step", view_copy_of<unfold>, has_out> {
    struct args { value self; std::int64_t dimension, size, step; };
};
struct _unsafe_view : op<dialect, "aten._unsafe_view.default", "self, size", reshaping, has_out> {
    struct args { value self; int_list size; };
};
struct unsqueeze : op<dialect, "aten.unsqueeze.default", "self, dim", reshaping, aliasing> {
    struct args { value self; std::int64_t dim; };
};
struct unsqueeze_copy : op<dialect, "aten.unsqueeze_copy.default",
         "self, dim", view_copy_of<unsqueeze>, has_out> {
    struct args { value self; std::int64_t dim; };
};
struct view : op<dialect, "aten.view.default", "self, size", reshaping, aliasing> {
    struct args { value self; int_list size; };
};
struct view_as : op<dialect, "aten.view_as.default", "self, other", reshaping, aliasing> {
    struct args { value self, other; };
};
struct view_copy : op<dialect, "aten.view_copy.default", "self, size", view_copy_of<view>, has_out> {
    struct args { value self; int_list size; };
};

// Splitting.

struct chunk : op<dialect, "aten.chunk.default", "self, chunks, dim", variadic_results, splitting, aliasing> {
    struct args { value self; std::int64_t chunks, dim = 0; };
};
struct split_tensor : op<dialect, "aten.split.Tensor",
         "self, split_size, dim", variadic_results, splitting, aliasing> {
    struct args { value self; std::int64_t split_size, dim = 0; };
};
struct split_copy_tensor : op<dialect, "aten.split_copy.Tensor",
         "self, split_size, dim", variadic_results, view_copy_of<split_tensor>, has_out> {
    struct args { value self; std::int64_t split_size, dim = 0; };
};
struct split_with_sizes : op<dialect, "aten.split_with_sizes.default",
         "self, split_sizes, dim", variadic_results, splitting, aliasing> {
    struct args { value self; int_list split_sizes; std::int64_t dim = 0; };
};
struct split_sizes : op<dialect, "aten.split.sizes",
         "self, split_size, dim", variadic_results, synonym_of<split_with_sizes>, aliasing> {
    struct args { value self; int_list split_size; std::int64_t dim = 0; };
};
struct split_with_sizes_copy : op<dialect, "aten.split_with_sizes_copy.default",
         "self, split_sizes, dim", variadic_results, view_copy_of<split_with_sizes>, has_out> {
    struct args { value self; int_list split_sizes; std::int64_t dim = 0; };
};
struct tensor_split_indices : op<dialect, "aten.tensor_split.indices",
         "self, indices, dim", variadic_results, splitting, aliasing> {
    struct args { value self; int_list indices; std::int64_t dim = 0; };
};
struct tensor_split_sections : op<dialect, "aten.tensor_split.sections",
         "self, sections, dim", variadic_results, splitting, aliasing> {
    struct args { value self; std::int64_t sections, dim = 0; };
};
struct unbind_int : op<dialect, "aten.unbind.int", "self, dim", variadic_results, splitting, aliasing> {
    struct args { value self; std::int64_t dim = 0; };
};
struct unbind_copy_int : op<dialect, "aten.unbind_copy.int",
         "self, dim", variadic_results, view_copy_of<unbind_int>, has_out> {
    struct args { value self; std::int64_t dim = 0; };
};
struct unsafe_split_tensor : op<dialect, "aten.unsafe_split.Tensor",
         "self, split_size, dim", variadic_results, synonym_of<split_tensor>, has_out> {
    struct args { value self; std::int64_t split_size, dim = 0; };
};
struct unsafe_split_with_sizes : op<dialect, "aten.unsafe_split_with_sizes.default",
         "self, split_sizes, dim", variadic_results, synonym_of<split_with_sizes>, has_out> {
    struct args { value self; int_list split_sizes; std::int64_t dim = 0; };
};

// Joining and rearranging.

struct broadcast_tensors : op<dialect, "aten.broadcast_tensors.default",
         "tensors", variadic_results, broadcasting> {
    struct args { list<value> tensors; };
};
struct cat : op<dialect, "aten.cat.default", "tensors, dim", joining, has_out> {
    struct args { list<value> tensors; std::int64_t dim = 0; };
};
struct channel_shuffle : op<dialect, "aten.channel_shuffle.default", "self, groups", like_self, has_out> {
    struct args { value self; std::int64_t groups; };
};
struct column_stack : op<dialect, "aten.column_stack.default", "tensors", joining> {
    struct args { list<value> tensors; };
};
struct concat : op<dialect, "aten.concat.default", "tensors, dim", synonym_of<cat>, has_out> {
    struct args { list<value> tensors; std::int64_t dim = 0; };
};
struct diff : op<dialect, "aten.diff.default", "self, n, dim, prepend, append"> {
    struct args {
        value self; std::int64_t n = 1, dim = -1; std::optional<value> prepend{}, append{};
    };
};
struct dstack : op<dialect, "aten.dstack.default", "tensors", joining> {
    struct args { list<value> tensors; };
};
struct flip : op<dialect, "aten.flip.default", "self, dims", reversing, like_self, has_out> {
    struct args { value self; int_list dims; };
};
struct fliplr : op<dialect, "aten.fliplr.default", "self", reversing, like_self> {
    struct args { value self; };
};
struct flipud : op<dialect, "aten.flipud.default", "self", reversing, like_self> {
    struct args { value self; };
};
struct hstack : op<dialect, "aten.hstack.default", "tensors", joining> {
    struct args { list<value> tensors; };
};
struct meshgrid_indexing : op<dialect, "aten.meshgrid.indexing", "tensors, indexing", variadic_results> {
    struct args { list<value> tensors; std::string_view indexing; };
};
/// im2col makes columns of an image's blocks; col2im makes overlapping blocks of columns and adds them up.
struct im2col : op<dialect, "aten.im2col.default", "self, kernel_size, dilation, padding, stride", has_out> {
    struct args { value self; int_list kernel_size, dilation, padding, stride; };
};
struct col2im : op<dialect, "aten.col2im.default",
         "self, output_size, kernel_size, dilation, padding, stride", has_out> {
    struct args { value self; int_list output_size, kernel_size, dilation, padding, stride; };
};
struct pixel_shuffle : op<dialect, "aten.pixel_shuffle.default", "self, upscale_factor", has_out> {
    struct args { value self; std::int64_t upscale_factor; };
};
struct pixel_unshuffle : op<dialect, "aten.pixel_unshuffle.default", "self, downscale_factor", has_out> {
    struct args { value self; std::int64_t downscale_factor; };
};
struct repeat : op<dialect, "aten.repeat.default", "self, repeats", repeating, has_out> {
    struct args { value self; int_list repeats; };
};
struct repeat_interleave_self_int : op<dialect, "aten.repeat_interleave.self_int",
         "self, repeats, dim, output_size", repeating> {
    struct args { value self; std::int64_t repeats; std::optional<std::int64_t> dim{}, output_size{}; };
};
struct roll : op<dialect, "aten.roll.default", "self, shifts, dims", like_self, has_out> {
    struct args { value self; int_list shifts, dims{}; };
};
struct rot90 : op<dialect, "aten.rot90.default", "self, k, dims"> {
    struct args { value self; std::int64_t k = 1; int_list dims{0, 1}; };
};
struct stack : op<dialect, "aten.stack.default", "tensors, dim", joining, has_out> {
    struct args { list<value> tensors; std::int64_t dim = 0; };
};
struct tile : op<dialect, "aten.tile.default", "self, dims", repeating> {
    struct args { value self; int_list dims; };
};
struct tril : op<dialect, "aten.tril.default", "self, diagonal", like_self, has_out> {
    struct args { value self; std::int64_t diagonal = 0; };
};
struct triu : op<dialect, "aten.triu.default", "self, diagonal", like_self, has_out> {
    struct args { value self; std::int64_t diagonal = 0; };
};
struct vstack : op<dialect, "aten.vstack.default", "tensors", joining> {
    struct args { list<value> tensors; };
};

// Padding.

struct constant_pad_nd : op<dialect, "aten.constant_pad_nd.default", "self, pad, value", padding, has_out> {
    struct args { headrace::value self; int_list pad; scalar value = 0; };
};
struct pad : op<dialect, "aten.pad.default", "self, pad, mode, value", padding> {
    struct args {
        headrace::value self; int_list pad; std::string_view mode = "constant"; std::optional<double> value{};
    };
};
struct reflection_pad1d : op<dialect, "aten.reflection_pad1d.default",
         "self, padding", spatial_1d, padding, has_out> {
    struct args { value self; int_list padding; };
};
struct reflection_pad2d : op<dialect, "aten.reflection_pad2d.default",
         "self, padding", spatial_2d, padding, has_out> {
    struct args { value self; int_list padding; };
};
struct reflection_pad3d : op<dialect, "aten.reflection_pad3d.default",
         "self, padding", spatial_3d, padding, has_out> {
    struct args { value self; int_list padding; };
};
struct replication_pad1d : op<dialect, "aten.replication_pad1d.default",
         "self, padding", spatial_1d, padding, has_out> {
    struct args { value self; int_list padding; };
};
struct replication_pad2d : op<dialect, "aten.replication_pad2d.default",
         "self, padding", spatial_2d, padding, has_out> {
    struct args { value self; int_list padding; };
};
struct replication_pad3d : op<dialect, "aten.replication_pad3d.default",
         "self, padding", spatial_3d, padding, has_out> {
    struct args { value self; int_list padding; };
};

// Indexing.

struct embedding : op<dialect, "aten.embedding.default",
         "weight, indices, padding_idx, scale_grad_by_freq, sparse", gathering, has_out> {
    struct args {
        value weight, indices; std::int64_t padding_idx = -1; bool scale_grad_by_freq = false, sparse = false;
    };
};
struct gather : op<dialect, "aten.gather.default", "self, dim, index, sparse_grad", gathering, has_out> {
    struct args { value self; std::int64_t dim; value index; bool sparse_grad = false; };
};
struct index_add : op<dialect, "aten.index_add.default",
         "self, dim, index, source, alpha", like_self, has_out> {
    struct args { value self; std::int64_t dim; value index, source; scalar alpha = 1; };
};
struct index_copy : op<dialect, "aten.index_copy.default", "self, dim, index, source", like_self, has_out> {
    struct args { value self; std::int64_t dim; value index, source; };
};
struct index_copy_inplace : op<dialect, "aten.index_copy_.default",
         "self, dim, index, source", in_place_of<index_copy>> {
    struct args { value self; std::int64_t dim; value index, source; };
};
struct index_fill_int_scalar : op<dialect, "aten.index_fill.int_Scalar",
         "self, dim, index, value", like_self> {
    struct args { headrace::value self; std::int64_t dim; headrace::value index; scalar value; };
};
struct index_put : op<dialect, "aten.index_put.default",
         "self, indices, values, accumulate", like_self, has_out> {
    struct args { value self; list<std::optional<value>> indices; value values; bool accumulate = false; };
};
struct index_put_inplace : op<dialect, "aten.index_put_.default",
         "self, indices, values, accumulate", in_place_of<index_put>> {
    struct args { value self; list<std::optional<value>> indices; value values; bool accumulate = false; };
};
struct index_select : op<dialect, "aten.index_select.default", "self, dim, index", gathering, has_out> {
    struct args { value self; std::int64_t dim; value index; };
};
struct index_tensor : op<dialect, "aten.index.Tensor", "self, indices", gathering, has_out> {
    struct args { value self; list<std::optional<value>> indices; };
};
struct masked_fill_scalar : op<dialect, "aten.masked_fill.Scalar",
         "self, mask, value", binary, has_out> {
    struct args { headrace::value self, mask; scalar value; };
};
struct masked_fill_inplace_scalar : op<dialect, "aten.masked_fill_.Scalar",
         "self, mask, value", in_place_of<masked_fill_scalar>> {
    struct args { headrace::value self, mask; scalar value; };
};
struct masked_fill_tensor : op<dialect, "aten.masked_fill.Tensor", "self, mask, value", has_out> {
    struct args { headrace::value self, mask, value; };
};
struct masked_fill_inplace_tensor : op<dialect, "aten.masked_fill_.Tensor",
         "self, mask, value", in_place_of<masked_fill_tensor>> {
    struct args { headrace::value self, mask, value; };
};
struct one_hot : op<dialect, "aten.one_hot.default", "self, num_classes"> {
    struct args { value self; std::int64_t num_classes = -1; };
};
struct scatter_add : op<dialect, "aten.scatter_add.default", "self, dim, index, src", like_self, has_out> {
    struct args { value self; std::int64_t dim; value index, src; };
};
struct scatter_src : op<dialect, "aten.scatter.src", "self, dim, index, src", like_self, has_out> {
    struct args { value self; std::int64_t dim; value index, src; };
};
struct scatter_value : op<dialect, "aten.scatter.value", "self, dim, index, value", like_self, has_out> {
    struct args { headrace::value self; std::int64_t dim; headrace::value index; scalar value; };
};
struct select_scatter : op<dialect, "aten.select_scatter.default",
         "self, src, dim, index", like_self, has_out> {
    struct args { value self, src; std::int64_t dim, index; };
};
struct slice_scatter : op<dialect, "aten.slice_scatter.default",
         "self, src, dim, start, end, step", like_self, has_out> {
    struct args {
        value self, src; std::int64_t dim = 0; std::optional<std::int64_t> start{}, end{};
        std::int64_t step = 1;
    };
};
struct _unsafe_index_put : op<dialect, "aten._unsafe_index_put.default",
         "self, indices, values, accumulate", like_self> {
    struct args { value self; list<std::optional<value>> indices; value values; bool accumulate = false; };
};
struct _unsafe_index_tensor : op<dialect, "aten._unsafe_index.Tensor", "self, indices", gathering> {
    struct args { value self; list<std::optional<value>> indices; };
};
struct where_scalar : op<dialect, "aten.where.Scalar", "condition, self, other"> {
    struct args { value condition; scalar self, other; };
};
struct where_scalarother : op<dialect, "aten.where.ScalarOther", "condition, self, other"> {
    struct args { value condition, self; scalar other; };
};
struct where_scalarself : op<dialect, "aten.where.ScalarSelf", "condition, self, other"> {
    struct args { value condition; scalar self; value other; };
};
struct where_self : op<dialect, "aten.where.self", "condition, self, other", ternary, has_out> {
    struct args { value condition, self, other; };
};

// Resizing.

struct grid_sampler
    : op<dialect, "aten.grid_sampler.default",
         "input, grid, interpolation_mode, padding_mode, align_corners"> {
    struct args { value input, grid; std::int64_t interpolation_mode, padding_mode; bool align_corners; };
};
struct grid_sampler_2d : op<dialect, "aten.grid_sampler_2d.default",
         "input, grid, interpolation_mode, padding_mode, align_corners", has_out> {
    struct args { value input, grid; std::int64_t interpolation_mode, padding_mode; bool align_corners; };
};
struct upsample_bicubic2d : op<dialect, "aten.upsample_bicubic2d.default",
         "self, output_size, align_corners, scales_h, scales_w", resampling, spatial_2d, has_out> {
    struct args {
        value self; int_list output_size; bool align_corners; std::optional<double> scales_h{}, scales_w{};
    };
};
struct upsample_bicubic2d_vec
    : op<dialect, "aten.upsample_bicubic2d.vec",
         "input, output_size, align_corners, scale_factors", resampling, spatial_2d> {
    struct args {
        value input; std::optional<int_list> output_size; bool align_corners;
        std::optional<list<double>> scale_factors;
    };
};
struct upsample_bilinear2d : op<dialect, "aten.upsample_bilinear2d.default",
         "self, output_size, align_corners, scales_h, scales_w", resampling, spatial_2d, has_out> {
    struct args {
        value self; int_list output_size; bool align_corners; std::optional<double> scales_h{}, scales_w{};
    };
};
struct upsample_bilinear2d_vec : op<dialect, "aten.upsample_bilinear2d.vec",
         "input, output_size, align_corners, scale_factors", resampling, spatial_2d, has_out> {
    struct args {
        value input; std::optional<int_list> output_size; bool align_corners;
        std::optional<list<double>> scale_factors;
    };
};
struct upsample_linear1d : op<dialect, "aten.upsample_linear1d.default",
         "self, output_size, align_corners, scales", resampling, spatial_1d, has_out> {
    struct args { value self; int_list output_size; bool align_corners; std::optional<double> scales{}; };
};
struct upsample_linear1d_vec
    : op<dialect, "aten.upsample_linear1d.vec",
         "input, output_size, align_corners, scale_factors", resampling, spatial_1d> {
    struct args {
        value input; std::optional<int_list> output_size; bool align_corners;
        std::optional<list<double>> scale_factors;
    };
};
struct upsample_nearest1d : op<dialect, "aten.upsample_nearest1d.default",
         "self, output_size, scales", resampling, nearest, spatial_1d, has_out> {
    struct args { value self; int_list output_size; std::optional<double> scales{}; };
};
struct upsample_nearest1d_vec
    : op<dialect, "aten.upsample_nearest1d.vec",
         "input, output_size, scale_factors", resampling, nearest, spatial_1d> {
    struct args {
        value input; std::optional<int_list> output_size; std::optional<list<double>> scale_factors;
    };
};
struct upsample_nearest2d : op<dialect, "aten.upsample_nearest2d.default",
         "self, output_size, scales_h, scales_w", resampling, nearest, spatial_2d, has_out> {
    struct args { value self; int_list output_size; std::optional<double> scales_h{}, scales_w{}; };
};
struct upsample_nearest2d_vec : op<dialect, "aten.upsample_nearest2d.vec",
         "input, output_size, scale_factors", resampling, nearest, spatial_2d, has_out> {
    struct args {
        value input; std::optional<int_list> output_size; std::optional<list<double>> scale_factors;
    };
};
struct upsample_nearest3d : op<dialect, "aten.upsample_nearest3d.default",
         "self, output_size, scales_d, scales_h, scales_w", resampling, nearest, spatial_3d, has_out> {
    struct args {
        value self; int_list output_size; std::optional<double> scales_d{}, scales_h{}, scales_w{};
    };
};
struct upsample_nearest3d_vec
    : op<dialect, "aten.upsample_nearest3d.vec",
         "input, output_size, scale_factors", resampling, nearest, spatial_3d> {
    struct args {
        value input; std::optional<int_list> output_size; std::optional<list<double>> scale_factors;
    };
};
struct _upsample_nearest_exact1d : op<dialect, "aten._upsample_nearest_exact1d.default",
         "self, output_size, scales", resampling, nearest, spatial_1d, has_out> {
    struct args { value self; int_list output_size; std::optional<double> scales{}; };
};
struct _upsample_nearest_exact1d_vec
    : op<dialect, "aten._upsample_nearest_exact1d.vec",
         "input, output_size, scale_factors", resampling, nearest, spatial_1d> {
    struct args {
        value input; std::optional<int_list> output_size; std::optional<list<double>> scale_factors;
    };
};
struct _upsample_nearest_exact2d : op<dialect, "aten._upsample_nearest_exact2d.default",
         "self, output_size, scales_h, scales_w", resampling, nearest, spatial_2d, has_out> {
    struct args { value self; int_list output_size; std::optional<double> scales_h{}, scales_w{}; };
};
struct _upsample_nearest_exact2d_vec
    : op<dialect, "aten._upsample_nearest_exact2d.vec",
         "input, output_size, scale_factors", resampling, nearest, spatial_2d> {
    struct args {
        value input; std::optional<int_list> output_size; std::optional<list<double>> scale_factors;
    };
};
struct _upsample_nearest_exact3d : op<dialect, "aten._upsample_nearest_exact3d.default",
         "self, output_size, scales_d, scales_h, scales_w", resampling, nearest, spatial_3d, has_out> {
    struct args {
        value self; int_list output_size; std::optional<double> scales_d{}, scales_h{}, scales_w{};
    };
};
struct _upsample_nearest_exact3d_vec
    : op<dialect, "aten._upsample_nearest_exact3d.vec",
         "input, output_size, scale_factors", resampling, nearest, spatial_3d> {
    struct args {
        value input; std::optional<int_list> output_size; std::optional<list<double>> scale_factors;
    };
};
struct upsample_trilinear3d : op<dialect, "aten.upsample_trilinear3d.default",
         "self, output_size, align_corners, scales_d, scales_h, scales_w", resampling, spatial_3d, has_out> {
    struct args {
        value self; int_list output_size; bool align_corners;
        std::optional<double> scales_d{}, scales_h{}, scales_w{};
    };
};
struct upsample_trilinear3d_vec
    : op<dialect, "aten.upsample_trilinear3d.vec",
         "input, output_size, align_corners, scale_factors", resampling, spatial_3d> {
    struct args {
        value input; std::optional<int_list> output_size; bool align_corners;
        std::optional<list<double>> scale_factors;
    };
};

// Fourier transforms.

struct fft_rfft2 : op<dialect, "aten.fft_rfft2.default", "self, s, dim, norm", has_out> {
    struct args {
        value self; std::optional<int_list> s{}; int_list dim{-2, -1}; std::optional<std::string_view> norm{};
    };
};

// Creation.

struct arange : op<dialect, "aten.arange.default", "end, dtype", has_out> {
    struct args { scalar end; std::optional<headrace::dtype> dtype{}; };
};
struct arange_start : op<dialect, "aten.arange.start", "start, end, dtype"> {
    struct args { scalar start, end; std::optional<headrace::dtype> dtype{}; };
};
struct arange_start_step : op<dialect, "aten.arange.start_step",
         "start, end, step, dtype", out_named<"aten.arange.start_out">> {
    struct args { scalar start, end, step = 1; std::optional<headrace::dtype> dtype{}; };
};
struct empty_like : op<dialect, "aten.empty_like.default",
         "self, dtype, memory_format", gives_zeros, has_out> {
    struct args {
        value self; std::optional<headrace::dtype> dtype{};
        std::optional<headrace::memory_format> memory_format{};
    };
};
struct empty_memory_format : op<dialect, "aten.empty.memory_format",
         "size, dtype, memory_format", gives_zeros, out_named<"aten.empty.out">> {
    struct args {
        int_list size; std::optional<headrace::dtype> dtype{};
        std::optional<headrace::memory_format> memory_format{};
    };
};
struct eye : op<dialect, "aten.eye.default", "n, dtype", has_out> {
    struct args { std::int64_t n; std::optional<headrace::dtype> dtype{}; };
};
struct eye_m : op<dialect, "aten.eye.m", "n, m, dtype", has_out> {
    struct args { std::int64_t n, m; std::optional<headrace::dtype> dtype{}; };
};
struct full : op<dialect, "aten.full.default", "size, fill_value, dtype", gives_number, has_out> {
    struct args { int_list size; scalar fill_value; std::optional<headrace::dtype> dtype{}; };
};
struct full_like : op<dialect, "aten.full_like.default",
         "self, fill_value, dtype, memory_format", gives_number, has_out> {
    struct args {
        value self; scalar fill_value; std::optional<headrace::dtype> dtype{};
        std::optional<headrace::memory_format> memory_format{};
    };
};
struct linspace : op<dialect, "aten.linspace.default", "start, end, steps, dtype", has_out> {
    struct args { scalar start, end; std::int64_t steps; std::optional<headrace::dtype> dtype{}; };
};
struct new_empty : op<dialect, "aten.new_empty.default", "self, size, dtype", gives_zeros, has_out> {
    struct args { value self; int_list size; std::optional<headrace::dtype> dtype{}; };
};
struct new_full : op<dialect, "aten.new_full.default",
         "self, size, fill_value, dtype", gives_number, has_out> {
    struct args { value self; int_list size; scalar fill_value; std::optional<headrace::dtype> dtype{}; };
};
struct new_ones : op<dialect, "aten.new_ones.default", "self, size, dtype", gives_ones, has_out> {
    struct args { value self; int_list size; std::optional<headrace::dtype> dtype{}; };
};
struct new_zeros : op<dialect, "aten.new_zeros.default", "self, size, dtype", gives_zeros, has_out> {
    struct args { value self; int_list size; std::optional<headrace::dtype> dtype{}; };
};
struct ones : op<dialect, "aten.ones.default", "size, dtype", gives_ones, has_out> {
    struct args { int_list size; std::optional<headrace::dtype> dtype{}; };
};
struct ones_like : op<dialect, "aten.ones_like.default", "self, dtype, memory_format", gives_ones, has_out> {
    struct args {
        value self; std::optional<headrace::dtype> dtype{};
        std::optional<headrace::memory_format> memory_format{};
    };
};
struct scalar_tensor : op<dialect, "aten.scalar_tensor.default", "s, dtype", gives_number, has_out> {
    struct args { scalar s; std::optional<headrace::dtype> dtype{}; };
};
struct zeros : op<dialect, "aten.zeros.default", "size, dtype", gives_zeros, has_out> {
    struct args { int_list size; std::optional<headrace::dtype> dtype{}; };
};
struct zeros_like : op<dialect, "aten.zeros_like.default",
         "self, dtype, memory_format", gives_zeros, has_out> {
    struct args {
        value self; std::optional<headrace::dtype> dtype{};
        std::optional<headrace::memory_format> memory_format{};
    };
};

// Copies, casts and dropout.

struct clone : op<dialect, "aten.clone.default", "self, memory_format", copying, like_self, has_out> {
    struct args { value self; std::optional<headrace::memory_format> memory_format{}; };
};
struct contiguous : op<dialect, "aten.contiguous.default",
         "self, memory_format", forwarding, like_self, aliasing, may_copy> {
    struct args { value self; headrace::memory_format memory_format = headrace::memory_format::contiguous; };
};
struct copy : op<dialect, "aten.copy.default", "self, src, non_blocking", has_out> {
    struct args { value self, src; bool non_blocking = false; };
};
struct copy_inplace : op<dialect, "aten.copy_.default", "self, src, non_blocking", in_place_of<copy>> {
    struct args { value self, src; bool non_blocking = false; };
};
struct dropout : op<dialect, "aten.dropout.default", "input, p, train"> {
    struct args { value input; double p; bool train; };
};
struct dropout_inplace : op<dialect, "aten.dropout_.default", "self, p, train", in_place_of<dropout>> {
    struct args { value self; double p; bool train; };
};
struct fill_scalar : op<dialect, "aten.fill.Scalar", "self, value", gives_number, like_self, has_out> {
    struct args { headrace::value self; scalar value; };
};
struct fill_inplace_scalar : op<dialect, "aten.fill_.Scalar", "self, value", in_place_of<fill_scalar>> {
    struct args { headrace::value self; scalar value; };
};
struct fill_tensor : op<dialect, "aten.fill.Tensor", "self, value", like_self, has_out> {
    struct args { headrace::value self, value; };
};
struct fill_inplace_tensor : op<dialect, "aten.fill_.Tensor", "self, value", in_place_of<fill_tensor>> {
    struct args { headrace::value self, value; };
};
struct lift_fresh : op<dialect, "aten.lift_fresh.default", "self", forwarding, like_self, aliasing> {
    struct args { value self; };
};
struct lift_fresh_copy : op<dialect, "aten.lift_fresh_copy.default",
         "self", view_copy_of<lift_fresh>, has_out> {
    struct args { value self; };
};
struct _to_copy : op<dialect, "aten._to_copy.default", "self, dtype, non_blocking, memory_format", has_out> {
    struct args {
        value self; std::optional<headrace::dtype> dtype{}; bool non_blocking = false;
        std::optional<headrace::memory_format> memory_format{};
    };
};
struct to_device : op<dialect, "aten.to.device",
         "self, dtype, non_blocking, copy, memory_format", casting, aliasing> {
    struct args {
        value self; headrace::dtype dtype; bool non_blocking = false, copy = false;
        std::optional<headrace::memory_format> memory_format{};
    };
};
struct to_dtype : op<dialect, "aten.to.dtype",
         "self, dtype, non_blocking, copy, memory_format", casting, aliasing> {
    struct args {
        value self; headrace::dtype dtype; bool non_blocking = false, copy = false;
        std::optional<headrace::memory_format> memory_format{};
    };
};
struct to_dtype_layout : op<dialect, "aten.to.dtype_layout",
         "self, dtype, non_blocking, copy, memory_format", casting, aliasing> {
    struct args {
        value self; std::optional<headrace::dtype> dtype{}; bool non_blocking = false, copy = false;
        std::optional<headrace::memory_format> memory_format{};
    };
};
struct to_other : op<dialect, "aten.to.other",
         "self, other, non_blocking, copy, memory_format", casting, aliasing> {
    struct args {
        value self, other; bool non_blocking = false, copy = false;
        std::optional<headrace::memory_format> memory_format{};
    };
};
struct type_as : op<dialect, "aten.type_as.default", "self, other", casting> {
    struct args { value self, other; };
};
struct zero_inplace : op<dialect, "aten.zero_.default", "self", in_place, gives_zeros, like_self> {
    struct args { value self; };
};

// Composite functions, which torch.export keeps whole: elementwise.

struct special_round : op<dialect, "aten.special_round.default", "self, decimals", has_out, composite> {
    struct args { value self; std::int64_t decimals = 0; };
};
struct vdot : op<dialect, "aten.vdot.default", "self, other", has_out, composite> {
    struct args { value self, other; };
};
struct feature_dropout : op<dialect, "aten.feature_dropout.default", "input, p, train"> {
    struct args { value input; double p; bool train; };
};
struct alpha_dropout : op<dialect, "aten.alpha_dropout.default", "input, p, train"> {
    struct args { value input; double p; bool train; };
};
struct feature_alpha_dropout : op<dialect, "aten.feature_alpha_dropout.default", "input, p, train"> {
    struct args { value input; double p; bool train; };
};
struct feature_dropout_inplace : op<dialect, "aten.feature_dropout_.default",
         "self, p, train", in_place_of<feature_dropout>> {
    struct args { value self; double p; bool train; };
};
struct alpha_dropout_inplace : op<dialect, "aten.alpha_dropout_.default",
         "self, p, train", in_place_of<alpha_dropout>> {
    struct args { value self; double p; bool train; };
};
struct feature_alpha_dropout_inplace : op<dialect, "aten.feature_alpha_dropout_.default",
         "self, p, train", in_place_of<feature_alpha_dropout>> {
    struct args { value self; double p; bool train; };
};
struct isneginf : op<dialect, "aten.isneginf.default", "self", on_reals, has_out, composite> {
    struct args { value self; };
};
struct isposinf : op<dialect, "aten.isposinf.default", "self", on_reals, has_out, composite> {
    struct args { value self; };
};
struct isreal : op<dialect, "aten.isreal.default", "self", on_reals, composite> {
    struct args { value self; };
};
struct sinc : op<dialect, "aten.sinc.default", "self", has_out, composite> {
    struct args { value self; };
};
struct angle : op<dialect, "aten.angle.default", "self", has_out, composite> {
    struct args { value self; };
};
struct conj : op<dialect, "aten.conj.default", "self", aliasing, composite> {
    struct args { value self; };
};
struct real : op<dialect, "aten.real.default", "self", aliasing, composite> {
    struct args { value self; };
};
struct isclose : op<dialect, "aten.isclose.default", "self, other, rtol, atol, equal_nan", composite> {
    struct args { value self, other; double rtol = 1e-5, atol = 1e-8; bool equal_nan = false; };
};
struct heaviside : op<dialect, "aten.heaviside.default", "self, values", on_reals, has_out, composite> {
    struct args { value self, values; };
};
struct logaddexp2 : op<dialect, "aten.logaddexp2.default",
         "self, other", on_floats, on_reals, has_out, composite> {
    struct args { value self, other; };
};
struct special_entr : op<dialect, "aten.special_entr.default", "self", on_reals, has_out, composite> {
    struct args { value self; };
};
struct special_xlog1py : op<dialect, "aten.special_xlog1py.default",
         "self, other", on_reals, has_out, composite> {
    struct args { value self, other; };
};
struct special_ndtr : op<dialect, "aten.special_ndtr.default", "self", on_reals, has_out, composite> {
    struct args { value self; };
};
struct float_power_tensor_tensor : op<dialect, "aten.float_power.Tensor_Tensor",
         "self, exponent", has_out, composite> {
    struct args { value self, exponent; };
};
struct float_power_tensor_scalar : op<dialect, "aten.float_power.Tensor_Scalar",
         "self, exponent", has_out, composite> {
    struct args { value self; scalar exponent; };
};
struct float_power_scalar : op<dialect, "aten.float_power.Scalar", "self, exponent", has_out, composite> {
    struct args { scalar self; value exponent; };
};
struct fft_fftshift : op<dialect, "aten.fft_fftshift.default", "self, dim", composite> {
    struct args { value self; std::optional<int_list> dim{}; };
};
struct fft_ifftshift : op<dialect, "aten.fft_ifftshift.default", "self, dim", composite> {
    struct args { value self; std::optional<int_list> dim{}; };
};

// Composite reductions, and running extrema.

struct count_nonzero : op<dialect, "aten.count_nonzero.default", "self, dim", has_out, composite> {
    struct args { value self; std::optional<std::int64_t> dim{}; };
};
struct count_nonzero_dim_intlist : op<dialect, "aten.count_nonzero.dim_IntList",
         "self, dim", has_out, composite> {
    struct args { value self; int_list dim; };
};
struct nanmean : op<dialect, "aten.nanmean.default", "self, dim, keepdim, dtype", has_out, composite> {
    struct args {
        value self; std::optional<int_list> dim{}; bool keepdim = false;
        std::optional<headrace::dtype> dtype{};
    };
};
struct dist : op<dialect, "aten.dist.default", "self, other, p", has_out, composite> {
    struct args { value self, other; scalar p = 2; };
};
struct std_mean : op<dialect, "aten.std_mean.default", "self, unbiased", 2, composite> {
    struct args { value self; bool unbiased = true; };
};
struct var_mean : op<dialect, "aten.var_mean.default", "self, unbiased", 2, composite> {
    struct args { value self; bool unbiased = true; };
};
struct kthvalue : op<dialect, "aten.kthvalue.default", "self, k, dim, keepdim", 2, on_reals, composite> {
    struct args { value self; std::int64_t k, dim = -1; bool keepdim = false; };
};
struct median : op<dialect, "aten.median.default", "self", on_reals, has_out, composite> {
    struct args { value self; };
};
struct median_dim : op<dialect, "aten.median.dim", "self, dim, keepdim", 2, on_reals, composite> {
    struct args { value self; std::int64_t dim; bool keepdim = false; };
};
struct nanmedian : op<dialect, "aten.nanmedian.default", "self", on_reals, has_out, composite> {
    struct args { value self; };
};
struct nanmedian_dim : op<dialect, "aten.nanmedian.dim", "self, dim, keepdim", 2, on_reals, composite> {
    struct args { value self; std::int64_t dim; bool keepdim = false; };
};
struct cummax : op<dialect, "aten.cummax.default", "self, dim", 2, on_reals, composite> {
    struct args { value self; std::int64_t dim; };
};
struct cummin : op<dialect, "aten.cummin.default", "self, dim", 2, on_reals, composite> {
    struct args { value self; std::int64_t dim; };
};
struct logcumsumexp : op<dialect, "aten.logcumsumexp.default",
         "self, dim", on_floats, on_reals, has_out, composite> {
    struct args { value self; std::int64_t dim; };
};
struct trapezoid_dx : op<dialect, "aten.trapezoid.dx", "y, dx, dim", composite> {
    struct args { value y; scalar dx = 1; std::int64_t dim = -1; };
};
struct trapezoid_x : op<dialect, "aten.trapezoid.x", "y, x, dim", composite> {
    struct args { value y, x; std::int64_t dim = -1; };
};
struct cumulative_trapezoid_dx : op<dialect, "aten.cumulative_trapezoid.dx", "y, dx, dim", composite> {
    struct args { value y; scalar dx = 1; std::int64_t dim = -1; };
};
struct cov : op<dialect, "aten.cov.default", "self, correction, fweights, aweights", composite> {
    struct args { value self; std::int64_t correction = 1; std::optional<value> fweights{}, aweights{}; };
};
struct corrcoef : op<dialect, "aten.corrcoef.default", "self", on_reals, composite> {
    struct args { value self; };
};
struct quantile : op<dialect, "aten.quantile.default",
         "self, q, dim, keepdim, interpolation", on_floats, on_reals, has_out, composite> {
    struct args {
        value self, q; std::optional<std::int64_t> dim{}; bool keepdim = false;
        std::string_view interpolation = "linear";
    };
};
struct quantile_scalar : op<dialect, "aten.quantile.scalar",
         "self, q, dim, keepdim, interpolation", on_floats, on_reals, has_out, composite> {
    struct args {
        value self; double q; std::optional<std::int64_t> dim{}; bool keepdim = false;
        std::string_view interpolation = "linear";
    };
};
struct nanquantile : op<dialect, "aten.nanquantile.default",
         "self, q, dim, keepdim, interpolation", on_floats, on_reals, has_out, composite> {
    struct args {
        value self, q; std::optional<std::int64_t> dim{}; bool keepdim = false;
        std::string_view interpolation = "linear";
    };
};
struct nanquantile_scalar : op<dialect, "aten.nanquantile.scalar",
         "self, q, dim, keepdim, interpolation", on_floats, on_reals, has_out, composite> {
    struct args {
        value self; double q; std::optional<std::int64_t> dim{}; bool keepdim = false;
        std::string_view interpolation = "linear";
    };
};
struct gradient_scalarint : op<dialect, "aten.gradient.scalarint",
         "self, spacing, dim, edge_order", variadic_results, composite> {
    struct args {
        value self; std::optional<scalar> spacing{}; std::optional<std::int64_t> dim{};
        std::int64_t edge_order = 1;
    };
};
struct gradient_scalararray : op<dialect, "aten.gradient.scalararray",
         "self, spacing, dim, edge_order", variadic_results, composite> {
    struct args { value self; scalar spacing; int_list dim; std::int64_t edge_order = 1; };
};
struct gradient_array : op<dialect, "aten.gradient.array",
         "self, dim, edge_order", variadic_results, composite> {
    struct args { value self; int_list dim; std::int64_t edge_order = 1; };
};
struct gradient_scalarrayint : op<dialect, "aten.gradient.scalarrayint",
         "self, spacing, dim, edge_order", variadic_results, composite> {
    struct args {
        value self; list<double> spacing; std::optional<std::int64_t> dim{}; std::int64_t edge_order = 1;
    };
};
struct gradient_scalarrayarray : op<dialect, "aten.gradient.scalarrayarray",
         "self, spacing, dim, edge_order", variadic_results, composite> {
    struct args { value self; list<double> spacing; int_list dim; std::int64_t edge_order = 1; };
};
struct gradient_tensorarrayint : op<dialect, "aten.gradient.tensorarrayint",
         "self, spacing, dim, edge_order", variadic_results, composite> {
    struct args {
        value self; list<value> spacing; std::optional<std::int64_t> dim{}; std::int64_t edge_order = 1;
    };
};
struct gradient_tensorarray : op<dialect, "aten.gradient.tensorarray",
         "self, spacing, dim, edge_order", variadic_results, composite> {
    struct args { value self; list<value> spacing; int_list dim; std::int64_t edge_order = 1; };
};

// Composite products, norms and distances.

struct inner : op<dialect, "aten.inner.default", "self, other", has_out, composite> {
    struct args { value self, other; };
};
struct tensordot : op<dialect, "aten.tensordot.default",
         "self, other, dims_self, dims_other", has_out, composite> {
    struct args { value self, other; int_list dims_self, dims_other; };
};
struct kron : op<dialect, "aten.kron.default", "self, other", has_out, composite> {
    struct args { value self, other; };
};
struct linalg_cross : op<dialect, "aten.linalg_cross.default", "self, other, dim", has_out, composite> {
    struct args { value self, other; std::int64_t dim = -1; };
};
struct cross : op<dialect, "aten.cross.default", "self, other, dim", has_out, composite> {
    struct args { value self, other; std::optional<std::int64_t> dim{}; };
};
struct linalg_vecdot : op<dialect, "aten.linalg_vecdot.default", "x, y, dim", has_out, composite> {
    struct args { value x, y; std::int64_t dim = -1; };
};
struct addmv : op<dialect, "aten.addmv.default", "self, mat, vec, beta, alpha", has_out, composite> {
    struct args { value self, mat, vec; scalar beta = 1, alpha = 1; };
};
struct addr : op<dialect, "aten.addr.default", "self, vec1, vec2, beta, alpha", has_out, composite> {
    struct args { value self, vec1, vec2; scalar beta = 1, alpha = 1; };
};
struct addbmm : op<dialect, "aten.addbmm.default", "self, batch1, batch2, beta, alpha", has_out, composite> {
    struct args { value self, batch1, batch2; scalar beta = 1, alpha = 1; };
};
struct chain_matmul : op<dialect, "aten.chain_matmul.default", "matrices", has_out, composite> {
    struct args { list<value> matrices; };
};
struct linalg_multi_dot : op<dialect, "aten.linalg_multi_dot.default", "tensors", has_out, composite> {
    struct args { list<value> tensors; };
};
struct linalg_matrix_power : op<dialect, "aten.linalg_matrix_power.default", "self, n", has_out, composite> {
    struct args { value self; std::int64_t n; };
};
struct bilinear : op<dialect, "aten.bilinear.default", "input1, input2, weight, bias", on_reals, composite> {
    struct args { value input1, input2, weight; std::optional<value> bias{}; };
};
struct linalg_norm : op<dialect, "aten.linalg_norm.default",
         "self, ord, dim, keepdim, dtype", has_out, composite> {
    struct args {
        value self; std::optional<scalar> ord{}; std::optional<int_list> dim{}; bool keepdim = false;
        std::optional<headrace::dtype> dtype{};
    };
};
struct linalg_matrix_norm : op<dialect, "aten.linalg_matrix_norm.default",
         "self, ord, dim, keepdim, dtype", has_out, composite> {
    struct args {
        value self; scalar ord; int_list dim{-2, -1}; bool keepdim = false;
        std::optional<headrace::dtype> dtype{};
    };
};
struct linalg_matrix_norm_str_ord : op<dialect, "aten.linalg_matrix_norm.str_ord",
         "self, ord, dim, keepdim, dtype", has_out, composite> {
    struct args {
        value self; std::string_view ord = "fro"; int_list dim{-2, -1}; bool keepdim = false;
        std::optional<headrace::dtype> dtype{};
    };
};
struct renorm : op<dialect, "aten.renorm.default", "self, p, dim, maxnorm", has_out, composite> {
    struct args { value self; scalar p; std::int64_t dim; scalar maxnorm; };
};
struct linalg_vander : op<dialect, "aten.linalg_vander.default", "x, N", composite> {
    struct args { value x; std::optional<std::int64_t> N{}; };
};
struct vander : op<dialect, "aten.vander.default", "x, N, increasing", composite> {
    struct args { value x; std::optional<std::int64_t> N{}; bool increasing = false; };
};
struct pairwise_distance : op<dialect, "aten.pairwise_distance.default",
         "x1, x2, p, eps, keepdim", on_floats, on_reals, composite> {
    struct args { value x1, x2; double p = 2, eps = 1e-6; bool keepdim = false; };
};
struct cdist : op<dialect, "aten.cdist.default", "x1, x2, p, compute_mode", on_floats, on_reals, composite> {
    struct args { value x1, x2; double p = 2; std::optional<std::int64_t> compute_mode{}; };
};
struct _cdist_forward : op<dialect, "aten._cdist_forward.default",
         "x1, x2, p, compute_mode", on_floats, on_reals, has_out, composite> {
    struct args { value x1, x2; double p; std::optional<std::int64_t> compute_mode; };
};
struct pdist : op<dialect, "aten.pdist.default", "self, p", on_floats, on_reals, composite> {
    struct args { value self; double p = 2; };
};
struct _pdist_forward : op<dialect, "aten._pdist_forward.default",
         "self, p", on_floats, on_reals, has_out, composite> {
    struct args { value self; double p = 2; };
};

// Composite rearrangements.

struct atleast_1d : op<dialect, "aten.atleast_1d.default", "self", composite> {
    struct args { value self; };
};
struct atleast_2d : op<dialect, "aten.atleast_2d.default", "self", composite> {
    struct args { value self; };
};
struct atleast_3d : op<dialect, "aten.atleast_3d.default", "self", composite> {
    struct args { value self; };
};
struct diag : op<dialect, "aten.diag.default", "self, diagonal", has_out, composite> {
    struct args { value self; std::int64_t diagonal = 0; };
};
struct diag_embed : op<dialect, "aten.diag_embed.default", "self, offset, dim1, dim2", has_out, composite> {
    struct args { value self; std::int64_t offset = 0, dim1 = -2, dim2 = -1; };
};
struct diagflat : op<dialect, "aten.diagflat.default", "self, offset", composite> {
    struct args { value self; std::int64_t offset = 0; };
};
struct diagonal_scatter : op<dialect, "aten.diagonal_scatter.default",
         "self, src, offset, dim1, dim2", has_out, composite> {
    struct args { value self, src; std::int64_t offset = 0, dim1 = 0, dim2 = 1; };
};
struct linalg_diagonal : op<dialect, "aten.linalg_diagonal.default",
         "A, offset, dim1, dim2", aliasing, composite> {
    struct args { value A; std::int64_t offset = 0, dim1 = -2, dim2 = -1; };
};
struct trace : op<dialect, "aten.trace.default", "self", has_out, composite> {
    struct args { value self; };
};
struct block_diag : op<dialect, "aten.block_diag.default", "tensors", has_out, composite> {
    struct args { list<value> tensors; };
};
struct cartesian_prod : op<dialect, "aten.cartesian_prod.default", "tensors", composite> {
    struct args { list<value> tensors; };
};
struct hsplit_int : op<dialect, "aten.hsplit.int", "self, sections", variadic_results, aliasing, composite> {
    struct args { value self; std::int64_t sections; };
};
struct hsplit_array : op<dialect, "aten.hsplit.array",
         "self, indices", variadic_results, aliasing, composite> {
    struct args { value self; int_list indices; };
};
struct vsplit_int : op<dialect, "aten.vsplit.int", "self, sections", variadic_results, aliasing, composite> {
    struct args { value self; std::int64_t sections; };
};
struct vsplit_array : op<dialect, "aten.vsplit.array",
         "self, indices", variadic_results, aliasing, composite> {
    struct args { value self; int_list indices; };
};
struct dsplit_int : op<dialect, "aten.dsplit.int", "self, sections", variadic_results, aliasing, composite> {
    struct args { value self; std::int64_t sections; };
};
struct dsplit_array : op<dialect, "aten.dsplit.array",
         "self, indices", variadic_results, aliasing, composite> {
    struct args { value self; int_list indices; };
};

// Composite selections and searches.

struct take : op<dialect, "aten.take.default", "self, index", has_out, composite> {
    struct args { value self, index; };
};
struct take_along_dim : op<dialect, "aten.take_along_dim.default", "self, indices, dim", has_out, composite> {
    struct args { value self, indices; std::optional<std::int64_t> dim{}; };
};
struct isin_tensor_tensor : op<dialect, "aten.isin.Tensor_Tensor",
         "elements, test_elements, assume_unique, invert", has_out, composite> {
    struct args { value elements, test_elements; bool assume_unique = false, invert = false; };
};
struct isin_tensor_scalar : op<dialect, "aten.isin.Tensor_Scalar",
         "elements, test_element, assume_unique, invert", has_out, composite> {
    struct args { value elements; scalar test_element; bool assume_unique = false, invert = false; };
};
struct isin_scalar_tensor : op<dialect, "aten.isin.Scalar_Tensor",
         "element, test_elements, assume_unique, invert", has_out, composite> {
    struct args { scalar element; value test_elements; bool assume_unique = false, invert = false; };
};
struct bucketize_tensor : op<dialect, "aten.bucketize.Tensor",
         "self, boundaries, out_int32, right", on_reals, has_out, composite> {
    struct args { value self, boundaries; bool out_int32 = false, right = false; };
};
struct bucketize_scalar : op<dialect, "aten.bucketize.Scalar",
         "self, boundaries, out_int32, right", on_reals, has_out, composite> {
    struct args { scalar self; value boundaries; bool out_int32 = false, right = false; };
};
struct searchsorted_tensor : op<dialect, "aten.searchsorted.Tensor",
         "sorted_sequence, self, out_int32, right, side, sorter", on_reals, has_out, composite> {
    struct args {
        value sorted_sequence, self; bool out_int32 = false, right = false;
        std::optional<std::string_view> side{}; std::optional<value> sorter{};
    };
};
struct searchsorted_scalar : op<dialect, "aten.searchsorted.Scalar",
         "sorted_sequence, self, out_int32, right, side, sorter", on_reals, has_out, composite> {
    struct args {
        value sorted_sequence; scalar self; bool out_int32 = false, right = false;
        std::optional<std::string_view> side{}; std::optional<value> sorter{};
    };
};
struct masked_scatter : op<dialect, "aten.masked_scatter.default", "self, mask, source", has_out> {
    struct args { value self, mask, source; };
};
struct scatter_reduce_two : op<dialect, "aten.scatter_reduce.two",
         "self, dim, index, src, reduce, include_self", on_reals, has_out, composite> {
    struct args {
        value self; std::int64_t dim; value index, src; std::string_view reduce; bool include_self = true;
    };
};
struct scatter_src_reduce : op<dialect, "aten.scatter.reduce",
         "self, dim, index, src, reduce", on_reals, has_out, composite> {
    struct args { value self; std::int64_t dim; value index, src; std::string_view reduce; };
};
struct index_reduce : op<dialect, "aten.index_reduce.default",
         "self, dim, index, source, reduce, include_self", on_reals, has_out, composite> {
    struct args {
        value self; std::int64_t dim; value index, source; std::string_view reduce;
        bool include_self = true;
    };
};
struct embedding_bag : op<dialect, "aten.embedding_bag.default",
         "weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, "
         "include_last_offset",
         4, composite> {
    struct args {
        value weight, indices, offsets; bool scale_grad_by_freq = false; std::int64_t mode = 0;
        bool sparse = false; std::optional<value> per_sample_weights{}; bool include_last_offset = false;
    };
};
struct embedding_bag_padding_idx : op<dialect, "aten.embedding_bag.padding_idx",
         "weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, "
         "include_last_offset, padding_idx",
         4, composite> {
    struct args {
        value weight, indices, offsets; bool scale_grad_by_freq; std::int64_t mode; bool sparse;
        std::optional<value> per_sample_weights; bool include_last_offset;
        std::optional<std::int64_t> padding_idx;
    };
};
struct _embedding_bag : op<dialect, "aten._embedding_bag.default",
         "weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, "
         "include_last_offset, padding_idx",
         4, has_out, composite> {
    struct args {
        value weight, indices, offsets; bool scale_grad_by_freq = false; std::int64_t mode = 0;
        bool sparse = false; std::optional<value> per_sample_weights{}; bool include_last_offset = false;
        std::int64_t padding_idx = -1;
    };
};
struct _embedding_bag_forward_only : op<dialect, "aten._embedding_bag_forward_only.default",
         "weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, "
         "include_last_offset, padding_idx",
         4, has_out, composite> {
    struct args {
        value weight, indices, offsets; bool scale_grad_by_freq = false; std::int64_t mode = 0;
        bool sparse = false; std::optional<value> per_sample_weights{}; bool include_last_offset = false;
        std::int64_t padding_idx = -1;
    };
};

// Losses. The reduction is 0 for none, 1 for the mean, 2 for the sum.

struct mse_loss : op<dialect, "aten.mse_loss.default",
         "self, target, reduction", on_floats, on_reals, has_out, composite> {
    struct args { value self, target; std::int64_t reduction = 1; };
};
struct l1_loss : op<dialect, "aten.l1_loss.default",
         "self, target, reduction", on_numbers, on_reals, composite> {
    struct args { value self, target; std::int64_t reduction = 1; };
};
struct soft_margin_loss : op<dialect, "aten.soft_margin_loss.default",
         "self, target, reduction", on_floats, on_reals, has_out, composite> {
    struct args { value self, target; std::int64_t reduction = 1; };
};
struct smooth_l1_loss : op<dialect, "aten.smooth_l1_loss.default",
         "self, target, reduction, beta", on_floats, on_reals, has_out, composite> {
    struct args { value self, target; std::int64_t reduction = 1; double beta = 1; };
};
struct huber_loss : op<dialect, "aten.huber_loss.default",
         "self, target, reduction, delta", on_floats, on_reals, has_out, composite> {
    struct args { value self, target; std::int64_t reduction = 1; double delta = 1; };
};
struct binary_cross_entropy : op<dialect, "aten.binary_cross_entropy.default",
         "self, target, weight, reduction", on_floats, on_reals, has_out, composite> {
    struct args { value self, target; std::optional<value> weight{}; std::int64_t reduction = 1; };
};
struct binary_cross_entropy_with_logits : op<dialect, "aten.binary_cross_entropy_with_logits.default",
         "self, target, weight, pos_weight, reduction", on_reals, has_out, composite> {
    struct args {
        value self, target; std::optional<value> weight{}, pos_weight{}; std::int64_t reduction = 1;
    };
};
struct kl_div : op<dialect, "aten.kl_div.default",
         "self, target, reduction, log_target", on_floats, on_reals, composite> {
    struct args { value self, target; std::int64_t reduction = 1; bool log_target = false; };
};
struct nll_loss : op<dialect, "aten.nll_loss.default",
         "self, target, weight, reduction, ignore_index", on_floats, on_reals, has_out, composite> {
    struct args {
        value self, target; std::optional<value> weight{}; std::int64_t reduction = 1, ignore_index = -100;
    };
};
struct nll_loss2d : op<dialect, "aten.nll_loss2d.default",
         "self, target, weight, reduction, ignore_index", on_floats, on_reals, has_out, composite> {
    struct args {
        value self, target; std::optional<value> weight{}; std::int64_t reduction = 1, ignore_index = -100;
    };
};
struct nll_loss_nd : op<dialect, "aten.nll_loss_nd.default",
         "self, target, weight, reduction, ignore_index", on_floats, on_reals, composite> {
    struct args {
        value self, target; std::optional<value> weight{}; std::int64_t reduction = 1, ignore_index = -100;
    };
};
struct nll_loss_forward : op<dialect, "aten.nll_loss_forward.default",
         "self, target, weight, reduction, ignore_index", 2, on_floats, on_reals, composite> {
    struct args { value self, target; std::optional<value> weight; std::int64_t reduction, ignore_index; };
};
struct nll_loss2d_forward : op<dialect, "aten.nll_loss2d_forward.default",
         "self, target, weight, reduction, ignore_index", 2, on_floats, on_reals, composite> {
    struct args { value self, target; std::optional<value> weight; std::int64_t reduction, ignore_index; };
};
struct cross_entropy_loss : op<dialect, "aten.cross_entropy_loss.default",
         "self, target, weight, reduction, ignore_index, label_smoothing", on_floats, on_reals, composite> {
    struct args {
        value self, target; std::optional<value> weight{}; std::int64_t reduction = 1, ignore_index = -100;
        double label_smoothing = 0;
    };
};
struct poisson_nll_loss : op<dialect, "aten.poisson_nll_loss.default",
         "input, target, log_input, full, eps, reduction", on_reals, composite> {
    struct args { value input, target; bool log_input, full; double eps; std::int64_t reduction; };
};
struct cosine_embedding_loss : op<dialect, "aten.cosine_embedding_loss.default",
         "input1, input2, target, margin, reduction", on_reals, composite> {
    struct args { value input1, input2, target; double margin = 0; std::int64_t reduction = 1; };
};
struct margin_ranking_loss : op<dialect, "aten.margin_ranking_loss.default",
         "input1, input2, target, margin, reduction", on_reals, composite> {
    struct args { value input1, input2, target; double margin = 0; std::int64_t reduction = 1; };
};
struct hinge_embedding_loss : op<dialect, "aten.hinge_embedding_loss.default",
         "self, target, margin, reduction", on_numbers, on_reals, composite> {
    struct args { value self, target; double margin = 1; std::int64_t reduction = 1; };
};
struct triplet_margin_loss : op<dialect, "aten.triplet_margin_loss.default",
         "anchor, positive, negative, margin, p, eps, swap, reduction", on_reals, composite> {
    struct args {
        value anchor, positive, negative; double margin = 1, p = 2, eps = 1e-6; bool swap = false;
        std::int64_t reduction = 1;
    };
};
struct multi_margin_loss : op<dialect, "aten.multi_margin_loss.default",
         "self, target, p, margin, weight, reduction", on_reals, has_out, composite> {
    struct args {
        value self, target; scalar p = 1, margin = 1; std::optional<value> weight{};
        std::int64_t reduction = 1;
    };
};
struct multilabel_margin_loss : op<dialect, "aten.multilabel_margin_loss.default",
         "self, target, reduction", on_floats, on_reals, has_out, composite> {
    struct args { value self, target; std::int64_t reduction = 1; };
};

// Windows of signals, and other tensors that are computed from arguments alone.

struct hann_window : op<dialect, "aten.hann_window.default", "window_length, dtype", has_out, composite> {
    struct args { std::int64_t window_length; std::optional<headrace::dtype> dtype{}; };
};
struct hann_window_periodic : op<dialect, "aten.hann_window.periodic",
         "window_length, periodic, dtype", has_out, composite> {
    struct args { std::int64_t window_length; bool periodic; std::optional<headrace::dtype> dtype{}; };
};
struct hamming_window : op<dialect, "aten.hamming_window.default",
         "window_length, dtype", has_out, composite> {
    struct args { std::int64_t window_length; std::optional<headrace::dtype> dtype{}; };
};
struct hamming_window_periodic : op<dialect, "aten.hamming_window.periodic",
         "window_length, periodic, dtype", has_out, composite> {
    struct args { std::int64_t window_length; bool periodic; std::optional<headrace::dtype> dtype{}; };
};
struct blackman_window : op<dialect, "aten.blackman_window.default",
         "window_length, dtype", has_out, composite> {
    struct args { std::int64_t window_length; std::optional<headrace::dtype> dtype{}; };
};
struct blackman_window_periodic : op<dialect, "aten.blackman_window.periodic",
         "window_length, periodic, dtype", has_out, composite> {
    struct args { std::int64_t window_length; bool periodic; std::optional<headrace::dtype> dtype{}; };
};
struct bartlett_window : op<dialect, "aten.bartlett_window.default",
         "window_length, dtype", has_out, composite> {
    struct args { std::int64_t window_length; std::optional<headrace::dtype> dtype{}; };
};
struct bartlett_window_periodic : op<dialect, "aten.bartlett_window.periodic",
         "window_length, periodic, dtype", has_out, composite> {
    struct args { std::int64_t window_length; bool periodic; std::optional<headrace::dtype> dtype{}; };
};
struct kaiser_window : op<dialect, "aten.kaiser_window.default", "window_length, dtype", has_out, composite> {
    struct args { std::int64_t window_length; std::optional<headrace::dtype> dtype{}; };
};
struct kaiser_window_periodic : op<dialect, "aten.kaiser_window.periodic",
         "window_length, periodic, dtype", has_out, composite> {
    struct args { std::int64_t window_length; bool periodic; std::optional<headrace::dtype> dtype{}; };
};
struct hamming_window_periodic_alpha : op<dialect, "aten.hamming_window.periodic_alpha",
         "window_length, periodic, alpha, dtype", has_out, composite> {
    struct args {
        std::int64_t window_length; bool periodic; double alpha; std::optional<headrace::dtype> dtype{};
    };
};
struct hamming_window_periodic_alpha_beta : op<dialect, "aten.hamming_window.periodic_alpha_beta",
         "window_length, periodic, alpha, beta, dtype", has_out, composite> {
    struct args {
        std::int64_t window_length; bool periodic; double alpha, beta;
        std::optional<headrace::dtype> dtype{};
    };
};
struct kaiser_window_beta : op<dialect, "aten.kaiser_window.beta",
         "window_length, periodic, beta, dtype", has_out, composite> {
    struct args {
        std::int64_t window_length; bool periodic; double beta; std::optional<headrace::dtype> dtype{};
    };
};
struct logspace : op<dialect, "aten.logspace.default", "start, end, steps, base, dtype", has_out, composite> {
    struct args {
        scalar start, end; std::int64_t steps; double base = 10; std::optional<headrace::dtype> dtype{};
    };
};
struct tril_indices : op<dialect, "aten.tril_indices.default",
         "row, col, offset, dtype", has_out, composite> {
    struct args {
        std::int64_t row, col, offset = 0; std::optional<headrace::dtype> dtype{headrace::dtype::int64};
    };
};
struct triu_indices : op<dialect, "aten.triu_indices.default",
         "row, col, offset, dtype", has_out, composite> {
    struct args {
        std::int64_t row, col, offset = 0; std::optional<headrace::dtype> dtype{headrace::dtype::int64};
    };
};
struct affine_grid_generator : op<dialect, "aten.affine_grid_generator.default",
         "theta, size, align_corners", on_floats, on_reals, has_out, composite> {
    struct args { value theta; int_list size; bool align_corners; };
};
struct repeat_interleave_self_tensor : op<dialect, "aten.repeat_interleave.self_Tensor",
         "self, repeats, dim, output_size", composite> {
    struct args {
        value self, repeats; std::optional<std::int64_t> dim{}, output_size{};
    };
};
struct repeat_interleave_tensor : op<dialect, "aten.repeat_interleave.Tensor",
         "repeats, output_size", has_out> {
    struct args { value repeats; std::optional<std::int64_t> output_size{}; };
};

// Resizing with antialiasing.

struct _upsample_bilinear2d_aa : op<dialect, "aten._upsample_bilinear2d_aa.default",
         "self, output_size, align_corners, scales_h, scales_w", resampling, spatial_2d, has_out> {
    struct args {
        value self; int_list output_size; bool align_corners; std::optional<double> scales_h{}, scales_w{};
    };
};
struct _upsample_bilinear2d_aa_vec : op<dialect, "aten._upsample_bilinear2d_aa.vec",
         "input, output_size, align_corners, scale_factors", resampling, spatial_2d> {
    struct args {
        value input; std::optional<int_list> output_size; bool align_corners;
        std::optional<list<double>> scale_factors;
    };
};
struct _upsample_bicubic2d_aa : op<dialect, "aten._upsample_bicubic2d_aa.default",
         "self, output_size, align_corners, scales_h, scales_w", resampling, spatial_2d, has_out> {
    struct args {
        value self; int_list output_size; bool align_corners; std::optional<double> scales_h{}, scales_w{};
    };
};
struct _upsample_bicubic2d_aa_vec : op<dialect, "aten._upsample_bicubic2d_aa.vec",
         "input, output_size, align_corners, scale_factors", resampling, spatial_2d> {
    struct args {
        value input; std::optional<int_list> output_size; bool align_corners;
        std::optional<list<double>> scale_factors;
    };
};

// Random numbers.

struct rand : op<dialect, "aten.rand.default", "size, dtype", impure, has_out> {
    struct args { int_list size; std::optional<headrace::dtype> dtype{}; };
};
struct randn : op<dialect, "aten.randn.default", "size, dtype", impure, has_out> {
    struct args { int_list size; std::optional<headrace::dtype> dtype{}; };
};
struct rand_like : op<dialect, "aten.rand_like.default", "self, dtype, memory_format", impure, has_out> {
    struct args {
        value self; std::optional<headrace::dtype> dtype{};
        std::optional<headrace::memory_format> memory_format{};
    };
};
struct randn_like : op<dialect, "aten.randn_like.default", "self, dtype, memory_format", impure, has_out> {
    struct args {
        value self; std::optional<headrace::dtype> dtype{};
        std::optional<headrace::memory_format> memory_format{};
    };
};
struct bernoulli : op<dialect, "aten.bernoulli.default", "self", on_reals, impure, has_out> {
    struct args { value self; };
};
struct bernoulli_p : op<dialect, "aten.bernoulli.p",
         "self, p", impure, out_named<"aten.bernoulli.float_out">> {
    struct args { value self; double p; };
};

// Sizes and assertions. A size or item() is a number, not a tensor; it counts as one result here.

struct _assert_async : op<dialect, "aten._assert_async.default", "self", 0> { struct args { value self; }; };
struct _assert_scalar : op<dialect, "aten._assert_scalar.default", "self, assert_msg", 0> {
    struct args { scalar self; std::string_view assert_msg; };
};
struct _assert_tensor_metadata
    : op<dialect, "aten._assert_tensor_metadata.default", "a, size, stride, dtype", 0> {
    struct args {
        value a; std::optional<int_list> size{}, stride{}; std::optional<headrace::dtype> dtype{};
    };
};
struct item : op<dialect, "aten.item.default", "self", host_number> { struct args { value self; }; };
struct _local_scalar_dense : op<dialect, "aten._local_scalar_dense.default", "self", host_number> {
    struct args { value self; };
};
struct sym_constrain_range : op<dialect, "aten.sym_constrain_range.default", "size, min, max", 0> {
    struct args { scalar size; std::optional<std::int64_t> min{}, max{}; };
};
struct sym_constrain_range_for_size
    : op<dialect, "aten.sym_constrain_range_for_size.default", "size, min, max", 0> {
    struct args { scalar size; std::optional<std::int64_t> min{}, max{}; };
};
struct sym_numel : op<dialect, "aten.sym_numel.default", "self", host_number> {
    struct args { value self; };
};
struct sym_size_int : op<dialect, "aten.sym_size.int", "self, dim", host_number> {
    struct args { value self; std::int64_t dim; };
};

struct dialect : dialect_of<"aten",
      conv1d, conv1d_padding, conv2d, conv2d_padding, conv3d, conv3d_padding, conv_transpose1d,
      conv_transpose2d_input, conv_transpose3d_input, convolution,
      adaptive_avg_pool1d, _adaptive_avg_pool2d, adaptive_avg_pool2d, _adaptive_avg_pool3d,
      adaptive_avg_pool3d, adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d, avg_pool1d,
      avg_pool2d, avg_pool3d, max_pool1d, max_pool1d_with_indices, max_unpool2d, max_pool2d,
      max_pool2d_with_indices, max_pool3d, max_pool3d_with_indices,
      addmm, baddbmm, bmm, dot, einsum, linear, matmul, mm, mv, outer,
      gru_cell, gru_input, lstm_cell, lstm_input, rnn_relu_cell, rnn_relu_input, rnn_tanh_cell,
      rnn_tanh_input,
      _log_softmax, log_softmax_int, _safe_softmax, scaled_dot_product_attention,
      _scaled_dot_product_flash_attention_for_cpu, _softmax, softmax_int,
      batch_norm, cosine_similarity, group_norm, instance_norm, layer_norm, linalg_vector_norm,
      native_batch_norm, _native_batch_norm_legit, _native_batch_norm_legit_no_stats,
      _native_batch_norm_legit_no_training, native_group_norm, native_layer_norm, norm_scalar,
      norm_scalaropt_dim, rms_norm, _weight_norm,
      celu, celu_inplace, elu, elu_inplace, gelu, gelu_inplace, glu, hardshrink, hardsigmoid,
      hardsigmoid_inplace, hardswish, hardswish_inplace, hardtanh, hardtanh_inplace, leaky_relu,
      leaky_relu_inplace, log_sigmoid, log_sigmoid_forward, logit, mish, mish_inplace, prelu, _prelu_kernel,
      relu, relu6, relu6_inplace, relu_inplace, selu, selu_inplace, sigmoid, sigmoid_inplace, silu,
      silu_inplace, softplus, softshrink, tanh, tanh_inplace, threshold, threshold_inplace,
      abs, abs_inplace, acos, acosh, asin, asinh, atan, atanh, ceil, ceil_inplace, cos, cosh, deg2rad, erf,
      erfc, erfinv, exp, exp2, exp_inplace, expm1, floor, floor_inplace, frac, isfinite, isinf, isnan, log,
      log10, log1p, log2, log_inplace, nan_to_num, neg, neg_inplace, rad2deg, reciprocal, reciprocal_inplace,
      round, round_decimals, round_inplace, rsqrt, rsqrt_inplace, sgn, sign, signbit, sin, sinh, sqrt,
      sqrt_inplace, square, square_inplace, tan, trunc,
      add_inplace_scalar, add_inplace_tensor, add_scalar, add_tensor, addcdiv, addcmul, atan2,
      copysign_tensor, div_inplace_scalar, div_inplace_tensor, div_scalar, div_scalar_mode, div_tensor,
      div_tensor_mode, divide_tensor, floor_divide, floor_divide_scalar, fmax, fmin, fmod_scalar, fmod_tensor,
      hypot, lerp_scalar, lerp_tensor, logaddexp, max_other, maximum, min_other, minimum, mul_inplace_scalar,
      mul_inplace_tensor, mul_scalar, mul_tensor, multiply_tensor, pow_inplace_scalar, pow_inplace_tensor,
      pow_scalar, pow_tensor_scalar, pow_tensor_tensor, remainder_scalar, remainder_scalar_tensor,
      remainder_tensor, rsub_scalar, rsub_tensor, sub_inplace_scalar, sub_inplace_tensor, sub_scalar,
      sub_tensor, subtract_tensor, true_divide_tensor, xlogy_tensor,
      clamp, clamp_inplace, clamp_max, clamp_max_inplace, clamp_max_tensor, clamp_min, clamp_min_inplace,
      clamp_min_tensor, clamp_tensor, clip,
      eq_scalar, eq_tensor, ge_scalar, ge_tensor, gt_scalar, gt_tensor, le_scalar, le_tensor, lt_scalar,
      lt_tensor, ne_inplace_scalar, ne_inplace_tensor, ne_scalar, ne_tensor,
      and_scalar, and_tensor, bitwise_and_scalar, bitwise_and_tensor, bitwise_left_shift_tensor,
      bitwise_left_shift_tensor_scalar, bitwise_not, bitwise_or_scalar, bitwise_or_tensor,
      bitwise_right_shift_tensor, bitwise_right_shift_tensor_scalar, bitwise_xor_scalar, bitwise_xor_tensor,
      logical_and, logical_not, logical_or, logical_xor, lshift_scalar, lshift_tensor, or_scalar, or_tensor,
      rshift_scalar, rshift_tensor, xor_scalar, xor_tensor,
      all, all_dim, all_dims, amax, amin, aminmax, any, any_dim, any_dims, argmax, argmin, argsort,
      argsort_stable, cumprod, cumsum, logsumexp, max, max_dim, mean, mean_dim, min, min_dim, msort, nansum,
      prod, prod_dim_int, sort, sort_stable, std_, std_correction, std_dim, std_mean_correction, std_mean_dim,
      sum, sum_dim_intlist, topk, var, var_correction, var_dim, var_mean_correction, var_mean_dim,
      alias, alias_copy, as_strided, as_strided_copy, broadcast_to, detach, detach_copy, detach_inplace,
      diagonal, diagonal_copy, expand, expand_as, expand_copy, flatten_using_ints, m_t, movedim_int,
      movedim_intlist, narrow,
      narrow_copy, numpy_t, permute, permute_copy, ravel, reshape, reshape_as, select_copy_int, select_int,
      slice_copy_tensor, slice_tensor, squeeze, squeeze_copy, squeeze_copy_dim, squeeze_copy_dims,
      squeeze_dim, squeeze_dims, squeeze_inplace_dim, t, t_copy, transpose_copy_int, transpose_int,
      unflatten_int, unfold, unfold_copy, _unsafe_view, unsqueeze, unsqueeze_copy, view, view_as, view_copy,
      chunk, split_copy_tensor, split_sizes, split_tensor, split_with_sizes, split_with_sizes_copy,
      tensor_split_indices, tensor_split_sections, unbind_copy_int, unbind_int, unsafe_split_tensor,
      unsafe_split_with_sizes,
      broadcast_tensors, cat, channel_shuffle, col2im, column_stack, concat, diff, dstack, flip, fliplr,
      flipud, hstack, im2col, meshgrid_indexing, pixel_shuffle, pixel_unshuffle, repeat,
      repeat_interleave_self_int, roll, rot90, stack, tile, tril, triu, vstack,
      constant_pad_nd, pad, reflection_pad1d, reflection_pad2d, reflection_pad3d, replication_pad1d,
      replication_pad2d, replication_pad3d,
      embedding, gather, index_add, index_copy, index_copy_inplace, index_fill_int_scalar, index_put,
      index_put_inplace, index_select, index_tensor, masked_fill_inplace_scalar, masked_fill_inplace_tensor,
      masked_fill_scalar, masked_fill_tensor, one_hot, scatter_add, scatter_src, scatter_value,
      select_scatter, slice_scatter, _unsafe_index_put, _unsafe_index_tensor, where_scalar, where_scalarother,
      where_scalarself, where_self,
      grid_sampler, grid_sampler_2d, upsample_bicubic2d, upsample_bicubic2d_vec, upsample_bilinear2d,
      upsample_bilinear2d_vec, upsample_linear1d, upsample_linear1d_vec, upsample_nearest1d,
      upsample_nearest1d_vec, upsample_nearest2d, upsample_nearest2d_vec, upsample_nearest3d,
      upsample_nearest3d_vec, _upsample_nearest_exact1d, _upsample_nearest_exact1d_vec,
      _upsample_nearest_exact2d, _upsample_nearest_exact2d_vec, _upsample_nearest_exact3d,
      _upsample_nearest_exact3d_vec, upsample_trilinear3d, upsample_trilinear3d_vec,
      fft_rfft2,
      arange, arange_start, arange_start_step, empty_like, empty_memory_format, eye, eye_m, full, full_like,
      linspace, new_empty, new_full, new_ones, new_zeros, ones, ones_like, scalar_tensor, zeros, zeros_like,
      clone, contiguous, copy, copy_inplace, dropout, dropout_inplace, fill_inplace_scalar,
      fill_inplace_tensor, fill_scalar, fill_tensor, lift_fresh, lift_fresh_copy, _to_copy, to_device,
      to_dtype, to_dtype_layout, to_other, type_as, zero_inplace,
      special_round, vdot, feature_dropout, alpha_dropout, feature_alpha_dropout, feature_dropout_inplace,
      alpha_dropout_inplace, feature_alpha_dropout_inplace, isneginf, isposinf, isreal, sinc, angle, conj,
      real, isclose, heaviside, logaddexp2, special_entr, special_xlog1py, count_nonzero,
      count_nonzero_dim_intlist, nanmean, dist, std_mean, var_mean, kthvalue, median, median_dim, nanmedian,
      nanmedian_dim, cummax, cummin, logcumsumexp, trapezoid_dx, trapezoid_x, cumulative_trapezoid_dx, cov,
      corrcoef, inner, tensordot, kron, linalg_cross, cross, linalg_vecdot, addmv, addr, addbmm,
      chain_matmul, linalg_multi_dot, linalg_matrix_power, bilinear, linalg_norm, linalg_matrix_norm,
      linalg_matrix_norm_str_ord, pairwise_distance, cdist, _cdist_forward, pdist, _pdist_forward,
      atleast_1d, atleast_2d, atleast_3d, diag, diag_embed, diagflat, diagonal_scatter, linalg_diagonal,
      trace, block_diag, cartesian_prod, hsplit_int, hsplit_array, vsplit_int, vsplit_array, dsplit_int,
      dsplit_array, take, take_along_dim, isin_tensor_tensor, isin_tensor_scalar, isin_scalar_tensor,
      bucketize_tensor, bucketize_scalar, searchsorted_tensor, searchsorted_scalar, masked_scatter,
      scatter_reduce_two, scatter_src_reduce, index_reduce, embedding_bag, embedding_bag_padding_idx,
      _embedding_bag, _embedding_bag_forward_only, mse_loss, l1_loss, soft_margin_loss, smooth_l1_loss,
      huber_loss, binary_cross_entropy, binary_cross_entropy_with_logits, kl_div, nll_loss, nll_loss2d,
      nll_loss_nd, nll_loss_forward, nll_loss2d_forward, cross_entropy_loss, poisson_nll_loss,
      cosine_embedding_loss, margin_ranking_loss, hinge_embedding_loss, triplet_margin_loss,
      multi_margin_loss, hann_window, hann_window_periodic, hamming_window, hamming_window_periodic,
      blackman_window, blackman_window_periodic, bartlett_window, bartlett_window_periodic, kaiser_window,
      kaiser_window_periodic, hamming_window_periodic_alpha, hamming_window_periodic_alpha_beta,
      kaiser_window_beta, logspace, tril_indices, triu_indices, affine_grid_generator,
      repeat_interleave_self_tensor, repeat_interleave_tensor, _upsample_bilinear2d_aa,
      _upsample_bilinear2d_aa_vec, _upsample_bicubic2d_aa, _upsample_bicubic2d_aa_vec, rand, randn,
      rand_like, randn_like, bernoulli, bernoulli_p, special_ndtr, float_power_tensor_tensor,
      float_power_tensor_scalar, float_power_scalar, fft_fftshift, fft_ifftshift, quantile, quantile_scalar,
      nanquantile, nanquantile_scalar, gradient_scalarint, gradient_scalararray, gradient_array,
      gradient_scalarrayint, gradient_scalarrayarray, gradient_tensorarrayint, gradient_tensorarray, renorm,
      linalg_vander, vander, multilabel_margin_loss,
      _assert_async, _assert_scalar, _assert_tensor_metadata, item, _local_scalar_dense, sym_constrain_range,
      sym_constrain_range_for_size, sym_numel, sym_size_int> {
    static constexpr bool is_pure = true;
};

// clang-format on

}  // namespace headrace::aten

// ---- headrace/dialect/builtin.hpp ----

namespace headrace::builtin {

struct dialect;

/// An input of the graph.
struct placeholder : op<dialect, "builtin.placeholder", ""> {
    struct args {};
};

/// A tensor that is known before the program runs: a weight, a buffer, or the result of a pass.
struct constant : op<dialect, "builtin.constant", "data"> {
    struct args {
        tensor_data data;
    };
};

/// The graph's outputs. Each graph has one such node, and it is the last.
struct output : op<dialect, "builtin.output", "values", 0> {
    struct args {
        list<value> values;
    };
};

/// An op of a dialect that the program does not know. It keeps its name and its arguments, so that it can be
/// written, reported, and run by programs that know it. `arguments` is in the graph text format, where %0 is
/// the first operand: "self=%0, dims=[1, 2], other=[none, %1]"; it is empty if there are only operands.
/// resolve_opaque (io/opaque.hpp) turns such nodes into nodes of a dialect that has the op.
struct opaque : op<dialect, "builtin.opaque", "target, operands, arguments", variadic_results> {
    struct args {
        std::string_view target;
        list<value> operands;
        std::string_view arguments{};
    };
};

struct dialect : dialect_of<"builtin", placeholder, constant, output, opaque> {};

}  // namespace headrace::builtin

// ---- headrace/dialect/dim_order_ops.hpp ----

namespace headrace::dim_order_ops {

struct dialect;

/// Casts, copies, or both. `dim_order` lists the dimensions from the outermost in memory; by default the
/// order of `self` is kept.
struct _to_dim_order_copy
    : op<dialect, "dim_order_ops._to_dim_order_copy.default", "self, dtype, non_blocking, dim_order",
         trait::casting, trait::has_out> {
    struct args {
        value self;
        std::optional<headrace::dtype> dtype{};
        bool non_blocking = false;
        std::optional<int_list> dim_order{};
    };
};

struct _clone_dim_order
    : op<dialect, "dim_order_ops._clone_dim_order.default", "self, non_blocking, dim_order",
         trait::copying, trait::has_out> {
    struct args {
        value self;
        bool non_blocking = false;
        std::optional<int_list> dim_order{};
    };
};

struct _empty_dim_order
    : op<dialect, "dim_order_ops._empty_dim_order.default", "size, dtype, dim_order", trait::gives_zeros,
         trait::has_out> {
    struct args {
        int_list size;
        std::optional<headrace::dtype> dtype{};
        std::optional<int_list> dim_order{};
    };
};

struct dialect : dialect_of<"dim_order_ops", _to_dim_order_copy, _clone_dim_order, _empty_dim_order> {};

}  // namespace headrace::dim_order_ops

// ---- headrace/dialect/higher_order.hpp ----

namespace headrace::higher_order {

/// These ops have no overloads. A .pt2 file does not name their arguments: members are in its order.
struct dialect;

/// Calls the graph that `pred`, one boolean, chooses. Both take `operands`. The results are the graph's.
struct cond : op<dialect, "higher_order.cond", "pred, true_graph, false_graph, operands", variadic_results> {
    struct args {
        value pred;
        graph* true_graph;
        graph* false_graph;
        list<value> operands;
    };
};

/// Runs `body_graph` while `cond_graph` returns true. Both take `carried_inputs`, then `additional_inputs`.
/// The results of the body are the next carried inputs; the results of the loop are the last ones.
struct while_loop : op<dialect, "higher_order.while_loop",
                       "cond_graph, body_graph, carried_inputs, additional_inputs", variadic_results> {
    struct args {
        graph* cond_graph;
        graph* body_graph;
        list<value> carried_inputs;
        list<value> additional_inputs;
    };
};

/// Calls a graph. In a .pt2 file `operands` are trailing inputs of one tensor each, not one list.
struct wrap_with_set_grad_enabled : op<dialect, "higher_order.wrap_with_set_grad_enabled",
                                       "enabled, wrapped_graph, operands", variadic_results> {
    struct args {
        bool enabled;
        graph* wrapped_graph;
        list<value> operands;
    };
};

/// Calls a graph; if `enabled`, PyTorch chooses the dtypes of its ops.
struct wrap_with_autocast : op<dialect, "higher_order.wrap_with_autocast",
                               "device_type, dtype, enabled, cache_enabled, wrapped_body, operands",
                               variadic_results> {
    struct args {
        std::string_view device_type;
        std::optional<headrace::dtype> dtype;
        bool enabled;
        std::optional<bool> cache_enabled;
        graph* wrapped_body;
        list<value> operands;
    };
};

/// Calls `body_graph` for each index of the first dimension of all `xs`. The graph takes one slice of each,
/// then `operands`. The results are the graph's, stacked.
struct map_impl : op<dialect, "higher_order.map_impl", "body_graph, xs, operands", variadic_results> {
    struct args {
        graph* body_graph;
        list<value> xs;
        list<value> operands;
    };
};

/// Calls `combine_graph` for each index of the first dimension of all `xs`. The graph takes the carried
/// values (initially `init`), one slice of each of `xs`, and `additional_inputs`; it returns the next carried
/// values and the outputs. The results are the last carried values, then the outputs, stacked.
struct scan
    : op<dialect, "higher_order.scan", "combine_graph, init, xs, additional_inputs", variadic_results> {
    struct args {
        graph* combine_graph;
        list<value> init;
        list<value> xs;
        list<value> additional_inputs;
    };
};

struct dialect : dialect_of<"higher_order", cond, while_loop, wrap_with_autocast, wrap_with_set_grad_enabled,
                            map_impl, scan> {};

}  // namespace headrace::higher_order

// ---- headrace/dialect/quantized_decomposed.hpp ----

namespace headrace::quantized_decomposed {

/// The choose_qparams ops have two results, scale and zero point.
struct dialect;
using enum trait;

// clang-format off: one line for an op wherever it fits

// Quantization.

struct quantize_per_channel : op<dialect, "quantized_decomposed.quantize_per_channel.default",
         "input, scales, zero_points, axis, quant_min, quant_max, dtype", quantizing, has_out> {
    struct args {
        value input, scales, zero_points; std::int64_t axis, quant_min, quant_max; headrace::dtype dtype;
    };
};
struct quantize_per_channel_group
    : op<dialect, "quantized_decomposed.quantize_per_channel_group.default",
         "input, scales, zero_points, quant_min, quant_max, dtype, group_size", quantizing> {
    struct args {
        value input, scales, zero_points; std::int64_t quant_min, quant_max; headrace::dtype dtype;
        std::int64_t group_size;
    };
};
struct quantize_per_tensor : op<dialect, "quantized_decomposed.quantize_per_tensor.default",
         "input, scale, zero_point, quant_min, quant_max, dtype", quantizing, has_out> {
    struct args {
        value input; double scale; std::int64_t zero_point, quant_min, quant_max; headrace::dtype dtype;
    };
};
struct quantize_per_tensor_tensor : op<dialect, "quantized_decomposed.quantize_per_tensor.tensor",
         "input, scale, zero_point, quant_min, quant_max, dtype", quantizing,
         out_named<"quantized_decomposed.quantize_per_tensor.Tensor_out">> {
    struct args { value input, scale, zero_point; std::int64_t quant_min, quant_max; headrace::dtype dtype; };
};
struct quantize_per_tensor_tensor2
    : op<dialect, "quantized_decomposed.quantize_per_tensor.tensor2",
         "input, scale, zero_point, quant_min, quant_max, dtype", quantizing> {
    struct args { value input, scale, zero_point, quant_min, quant_max; headrace::dtype dtype; };
};
struct quantize_per_token : op<dialect, "quantized_decomposed.quantize_per_token.default",
         "input, scales, zero_points, quant_min, quant_max, dtype", quantizing, has_out> {
    struct args {
        value input, scales, zero_points; std::int64_t quant_min, quant_max; headrace::dtype dtype;
    };
};

// Dequantization.

struct dequantize_per_channel : op<dialect, "quantized_decomposed.dequantize_per_channel.default",
         "input, scales, zero_points, axis, quant_min, quant_max, dtype, out_dtype", dequantizing, has_out> {
    struct args {
        value input, scales; std::optional<value> zero_points; std::int64_t axis, quant_min, quant_max;
        headrace::dtype dtype; std::optional<headrace::dtype> out_dtype{};
    };
};
struct dequantize_per_channel_group
    : op<dialect, "quantized_decomposed.dequantize_per_channel_group.default",
         "input, scales, zero_points, quant_min, quant_max, dtype, group_size, output_dtype", dequantizing> {
    struct args {
        value input, scales; std::optional<value> zero_points; std::int64_t quant_min, quant_max;
        headrace::dtype dtype; std::int64_t group_size; headrace::dtype output_dtype;
    };
};
struct dequantize_per_tensor : op<dialect, "quantized_decomposed.dequantize_per_tensor.default",
         "input, scale, zero_point, quant_min, quant_max, dtype, out_dtype", dequantizing, has_out> {
    struct args {
        value input; double scale; std::int64_t zero_point, quant_min, quant_max; headrace::dtype dtype;
        std::optional<headrace::dtype> out_dtype{};
    };
};
struct dequantize_per_tensor_tensor : op<dialect, "quantized_decomposed.dequantize_per_tensor.tensor",
         "input, scale, zero_point, quant_min, quant_max, dtype, out_dtype", dequantizing,
         out_named<"quantized_decomposed.dequantize_per_tensor.Tensor_out">> {
    struct args {
        value input, scale, zero_point; std::int64_t quant_min, quant_max; headrace::dtype dtype;
        std::optional<headrace::dtype> out_dtype{};
    };
};
struct dequantize_per_tensor_tensor2
    : op<dialect, "quantized_decomposed.dequantize_per_tensor.tensor2",
         "input, scale, zero_point, quant_min, quant_max, dtype, out_dtype", dequantizing> {
    struct args {
        value input, scale, zero_point, quant_min, quant_max; headrace::dtype dtype;
        std::optional<headrace::dtype> out_dtype{};
    };
};
struct dequantize_per_token : op<dialect, "quantized_decomposed.dequantize_per_token.default",
         "input, scales, zero_points, quant_min, quant_max, dtype, output_dtype", dequantizing, has_out> {
    struct args {
        value input, scales, zero_points; std::int64_t quant_min, quant_max;
        headrace::dtype dtype, output_dtype;
    };
};

// Quantization parameters of data, and fake quantization.

struct choose_qparams_per_token
    : op<dialect, "quantized_decomposed.choose_qparams_per_token.default", "input, dtype", 2> {
    struct args { value input; headrace::dtype dtype; };
};
struct choose_qparams_per_token_asymmetric
    : op<dialect, "quantized_decomposed.choose_qparams_per_token_asymmetric.default",
         "input, dtype", 2, has_out> {
    struct args { value input; headrace::dtype dtype; };
};
struct choose_qparams_symmetric_tensor
    : op<dialect, "quantized_decomposed.choose_qparams_symmetric.tensor",
         "input, quant_min, quant_max, eps, dtype", 2> {
    struct args { value input; std::int64_t quant_min, quant_max; double eps; headrace::dtype dtype; };
};
struct choose_qparams_tensor : op<dialect, "quantized_decomposed.choose_qparams.tensor",
         "input, quant_min, quant_max, eps, dtype", 2,
         out_named<"quantized_decomposed.choose_qparams.Tensor_out">> {
    struct args { value input; std::int64_t quant_min, quant_max; double eps; headrace::dtype dtype; };
};
struct fake_quant_per_channel
    : op<dialect, "quantized_decomposed.fake_quant_per_channel.default",
         "input, scales, zero_points, axis, quant_min, quant_max"> {
    struct args { value input, scales, zero_points; std::int64_t axis, quant_min, quant_max; };
};

struct dialect : dialect_of<"quantized_decomposed",
      quantize_per_channel, quantize_per_channel_group, quantize_per_tensor, quantize_per_tensor_tensor,
      quantize_per_tensor_tensor2, quantize_per_token,
      dequantize_per_channel, dequantize_per_channel_group, dequantize_per_tensor,
      dequantize_per_tensor_tensor, dequantize_per_tensor_tensor2, dequantize_per_token,
      choose_qparams_per_token, choose_qparams_per_token_asymmetric, choose_qparams_symmetric_tensor,
      choose_qparams_tensor, fake_quant_per_channel> {
    static constexpr bool is_pure = true;
};

// clang-format on

}  // namespace headrace::quantized_decomposed

// ---- headrace/dialect/tosa.hpp ----

namespace headrace::tosa {

/// A tag is the operator's name in the TOSA 1.0 specification (chapter 2) in lower case; CONST is const_.
/// Members are the tensor and shape operands in the order of the specification, then the attributes in the
/// order of the flatbuffer, with its names.
///
/// Some members are not in the flatbuffer's attribute table, because it stores them elsewhere (see
/// is_attribute). `output_type` is the type of the output tensor if the operands do not determine it. A
/// CONST's `data` is in its tensor, a CONST_SHAPE's `values` are in its shape, and a VARIABLE's members are
/// in the tensors of its name.
///
/// Shape operands are values like others: results of const_shape. A variable starts undefined if its
/// initial_value has no bytes.
struct dialect;
using enum trait;

// clang-format off: one line for an op wherever it fits

// Tensor operators (spec section 2.2).

struct argmax : op<dialect, "tosa.ARGMAX", "input, axis, nan_mode", reduction, locating, has_out> {
    struct args {
        value input; std::int64_t axis; headrace::nan_mode nan_mode = headrace::nan_mode::propagate;
    };
};
struct avg_pool2d : op<dialect, "tosa.AVG_POOL2D",
         "input, input_zp, output_zp, kernel, stride, pad, acc_type", pooling, has_out> {
    struct args { value input, input_zp, output_zp; int_list kernel, stride, pad; headrace::dtype acc_type; };
};
struct conv2d : op<dialect, "tosa.CONV2D",
         "input, weight, bias, input_zp, weight_zp, pad, stride, dilation, local_bound, acc_type", convolving,
         has_out> {
    struct args {
        value input, weight, bias, input_zp, weight_zp; int_list pad, stride, dilation;
        bool local_bound = false; headrace::dtype acc_type;
    };
};
struct conv3d : op<dialect, "tosa.CONV3D",
         "input, weight, bias, input_zp, weight_zp, pad, stride, dilation, local_bound, acc_type", convolving,
         has_out> {
    struct args {
        value input, weight, bias, input_zp, weight_zp; int_list pad, stride, dilation;
        bool local_bound = false; headrace::dtype acc_type;
    };
};
struct depthwise_conv2d : op<dialect, "tosa.DEPTHWISE_CONV2D",
         "input, weight, bias, input_zp, weight_zp, pad, stride, dilation, local_bound, acc_type", convolving,
         has_out> {
    struct args {
        value input, weight, bias, input_zp, weight_zp; int_list pad, stride, dilation;
        bool local_bound = false; headrace::dtype acc_type;
    };
};
struct fft2d : op<dialect, "tosa.FFT2D", "input_real, input_imag, inverse, local_bound", 2, has_out> {
    struct args { value input_real, input_imag; bool inverse = false, local_bound = false; };
};
struct matmul : op<dialect, "tosa.MATMUL", "a, b, a_zp, b_zp, output_type", matrix_product, has_out> {
    struct args { value a, b, a_zp, b_zp; headrace::dtype output_type; };
};
struct max_pool2d : op<dialect, "tosa.MAX_POOL2D", "input, kernel, stride, pad, nan_mode", pooling, has_out> {
    struct args {
        value input; int_list kernel, stride, pad;
        headrace::nan_mode nan_mode = headrace::nan_mode::propagate;
    };
};
struct rfft2d : op<dialect, "tosa.RFFT2D", "input_real, local_bound", 2, has_out> {
    struct args { value input_real; bool local_bound = false; };
};
struct transpose_conv2d : op<dialect, "tosa.TRANSPOSE_CONV2D",
         "input, weight, bias, input_zp, weight_zp, out_pad, stride, local_bound, acc_type",
         convolving, transposed, has_out> {
    struct args {
        value input, weight, bias, input_zp, weight_zp; int_list out_pad, stride; bool local_bound = false;
        headrace::dtype acc_type;
    };
};

// Activation functions (2.3).

struct clamp : op<dialect, "tosa.CLAMP", "input, min_val, max_val, nan_mode", unary, has_out> {
    struct args {
        value input; scalar min_val, max_val; headrace::nan_mode nan_mode = headrace::nan_mode::propagate;
    };
};
struct erf : op<dialect, "tosa.ERF", "input", unary, has_out> { struct args { value input; }; };
struct sigmoid : op<dialect, "tosa.SIGMOID", "input", unary, has_out> { struct args { value input; }; };
struct tanh : op<dialect, "tosa.TANH", "input", unary, has_out> { struct args { value input; }; };

// Elementwise operators of two and three operands (2.4, 2.6).

struct add : op<dialect, "tosa.ADD", "input1, input2", binary, commutative, has_out> {
    struct args { value input1, input2; };
};
struct arithmetic_right_shift : op<dialect, "tosa.ARITHMETIC_RIGHT_SHIFT",
         "input1, input2, round", binary, has_out> {
    struct args { value input1, input2; bool round = false; };
};
struct bitwise_and : op<dialect, "tosa.BITWISE_AND", "input1, input2", binary, commutative, has_out> {
    struct args { value input1, input2; };
};
struct bitwise_or : op<dialect, "tosa.BITWISE_OR", "input1, input2", binary, commutative, has_out> {
    struct args { value input1, input2; };
};
struct bitwise_xor : op<dialect, "tosa.BITWISE_XOR", "input1, input2", binary, commutative, has_out> {
    struct args { value input1, input2; };
};
struct intdiv : op<dialect, "tosa.INTDIV", "input1, input2", binary, has_out> {
    struct args { value input1, input2; };
};
struct logical_and : op<dialect, "tosa.LOGICAL_AND",
         "input1, input2", binary, predicate, commutative, has_out> {
    struct args { value input1, input2; };
};
struct logical_left_shift : op<dialect, "tosa.LOGICAL_LEFT_SHIFT", "input1, input2", binary, has_out> {
    struct args { value input1, input2; };
};
struct logical_right_shift : op<dialect, "tosa.LOGICAL_RIGHT_SHIFT", "input1, input2", binary, has_out> {
    struct args { value input1, input2; };
};
struct logical_or : op<dialect, "tosa.LOGICAL_OR",
         "input1, input2", binary, predicate, commutative, has_out> {
    struct args { value input1, input2; };
};
struct logical_xor : op<dialect, "tosa.LOGICAL_XOR",
         "input1, input2", binary, predicate, commutative, has_out> {
    struct args { value input1, input2; };
};
struct maximum : op<dialect, "tosa.MAXIMUM", "input1, input2, nan_mode", binary, commutative, has_out> {
    struct args { value input1, input2; headrace::nan_mode nan_mode = headrace::nan_mode::propagate; };
};
struct minimum : op<dialect, "tosa.MINIMUM", "input1, input2, nan_mode", binary, commutative, has_out> {
    struct args { value input1, input2; headrace::nan_mode nan_mode = headrace::nan_mode::propagate; };
};
struct mul : op<dialect, "tosa.MUL", "input1, input2, shift", binary, commutative, has_out> {
    struct args { value input1, input2, shift; };
};
struct pow : op<dialect, "tosa.POW", "input1, input2", binary, has_out> {
    struct args { value input1, input2; };
};
struct sub : op<dialect, "tosa.SUB", "input1, input2", binary, has_out> {
    struct args { value input1, input2; };
};
struct table : op<dialect, "tosa.TABLE", "input1, table", unary, has_out> {
    struct args { value input1, table; };
};

// Elementwise operators of one operand (2.5).

struct abs : op<dialect, "tosa.ABS", "input1", unary, has_out> { struct args { value input1; }; };
struct bitwise_not : op<dialect, "tosa.BITWISE_NOT", "input1", unary, has_out> {
    struct args { value input1; };
};
struct ceil : op<dialect, "tosa.CEIL", "input1", unary, has_out> { struct args { value input1; }; };
struct clz : op<dialect, "tosa.CLZ", "input1", unary, has_out> { struct args { value input1; }; };
struct cos : op<dialect, "tosa.COS", "input1", unary, has_out> { struct args { value input1; }; };
struct exp : op<dialect, "tosa.EXP", "input1", unary, has_out> { struct args { value input1; }; };
struct floor : op<dialect, "tosa.FLOOR", "input1", unary, has_out> { struct args { value input1; }; };
struct log : op<dialect, "tosa.LOG", "input1", unary, has_out> { struct args { value input1; }; };
struct logical_not : op<dialect, "tosa.LOGICAL_NOT", "input1", unary, predicate, has_out> {
    struct args { value input1; };
};
struct negate : op<dialect, "tosa.NEGATE", "input1, input1_zp, output_zp", unary, has_out> {
    struct args { value input1, input1_zp, output_zp; };
};
struct reciprocal : op<dialect, "tosa.RECIPROCAL", "input1", unary, has_out> {
    struct args { value input1; };
};
struct rsqrt : op<dialect, "tosa.RSQRT", "input1", unary, has_out> { struct args { value input1; }; };
struct sin : op<dialect, "tosa.SIN", "input1", unary, has_out> { struct args { value input1; }; };

// Selection and comparison (2.6, 2.7).

struct select : op<dialect, "tosa.SELECT", "input1, input2, input3", ternary, has_out> {
    struct args { value input1, input2, input3; };
};
struct equal : op<dialect, "tosa.EQUAL",
         "input1, input2", comparing, binary, predicate, commutative, has_out> {
    struct args { value input1, input2; };
};
struct greater : op<dialect, "tosa.GREATER", "input1, input2", comparing, binary, predicate, has_out> {
    struct args { value input1, input2; };
};
struct greater_equal : op<dialect, "tosa.GREATER_EQUAL",
         "input1, input2", comparing, binary, predicate, has_out> {
    struct args { value input1, input2; };
};

// Reductions (2.8).

struct reduce_all : op<dialect, "tosa.REDUCE_ALL", "input, axis", reduction, has_out> {
    struct args { value input; std::int64_t axis; };
};
struct reduce_any : op<dialect, "tosa.REDUCE_ANY", "input, axis", reduction, has_out> {
    struct args { value input; std::int64_t axis; };
};
struct reduce_max : op<dialect, "tosa.REDUCE_MAX", "input, axis, nan_mode", reduction, has_out> {
    struct args {
        value input; std::int64_t axis; headrace::nan_mode nan_mode = headrace::nan_mode::propagate;
    };
};
struct reduce_min : op<dialect, "tosa.REDUCE_MIN", "input, axis, nan_mode", reduction, has_out> {
    struct args {
        value input; std::int64_t axis; headrace::nan_mode nan_mode = headrace::nan_mode::propagate;
    };
};
struct reduce_product : op<dialect, "tosa.REDUCE_PRODUCT", "input, axis", reduction, has_out> {
    struct args { value input; std::int64_t axis; };
};
struct reduce_sum : op<dialect, "tosa.REDUCE_SUM", "input, axis", reduction, has_out> {
    struct args { value input; std::int64_t axis; };
};

// Data layout (2.9).

struct concat : op<dialect, "tosa.CONCAT", "input1, axis", joining, has_out> {
    struct args { list<value> input1; std::int64_t axis; };
};
struct pad : op<dialect, "tosa.PAD", "input1, padding, pad_const", padding, has_out> {
    struct args { value input1, padding, pad_const; };
};
struct reshape : op<dialect, "tosa.RESHAPE", "input1, shape", reshaping, aliasing> {
    struct args { value input1, shape; };
};
struct reverse : op<dialect, "tosa.REVERSE", "input1, axis", reversing, has_out> {
    struct args { value input1; std::int64_t axis; };
};
struct slice : op<dialect, "tosa.SLICE", "input1, start, size", slicing, has_out> {
    struct args { value input1, start, size; };
};
struct tile : op<dialect, "tosa.TILE", "input1, multiples", repeating, has_out> {
    struct args { value input1, multiples; };
};
struct transpose : op<dialect, "tosa.TRANSPOSE", "input1, perms", permuting, has_out> {
    struct args { value input1; int_list perms; };
};

// Scatter, gather and image operators (2.10, 2.11).

struct gather : op<dialect, "tosa.GATHER", "values, indices", gathering, has_out> {
    struct args { value values, indices; };
};
struct scatter : op<dialect, "tosa.SCATTER", "values_in, indices, input", has_out> {
    struct args { value values_in, indices, input; };
};
struct resize : op<dialect, "tosa.RESIZE", "input, scale, offset, border, mode", resampling, has_out> {
    struct args { value input, scale, offset, border; resize_mode mode; };
};

// Type conversion (2.12).

struct cast : op<dialect, "tosa.CAST", "input, output_type", unary, casting, has_out> {
    struct args { value input; headrace::dtype output_type; };
};
struct rescale : op<dialect, "tosa.RESCALE",
         "input, multiplier, shift, input_zp, output_zp, scale32, rounding_mode, per_channel, "
         "input_unsigned, output_unsigned", unary, per_reader, has_out> {
    struct args {
        value input, multiplier, shift, input_zp, output_zp; bool scale32 = true;
        headrace::rounding_mode rounding_mode = headrace::rounding_mode::single_round;
        bool per_channel = false, input_unsigned = false, output_unsigned = false;
    };
};

// Data nodes and custom operators (2.13, 2.14).

struct const_ : op<dialect, "tosa.CONST", "data"> { struct args { tensor_data data; }; };
struct identity : op<dialect, "tosa.IDENTITY", "input1", unary, impure, has_out> {
    struct args { value input1; };
};
struct custom : op<dialect, "tosa.CUSTOM",
         "inputs, operator_name, domain_name, implementation_attrs", variadic_results, impure> {
    struct args { list<value> inputs; std::string_view operator_name, domain_name, implementation_attrs{}; };
};

// Control flow and variables (2.15, 2.16).

struct cond_if : op<dialect, "tosa.COND_IF", "condition, inputs, then_graph, else_graph", variadic_results> {
    struct args { value condition; list<value> inputs; graph* then_graph; graph* else_graph; };
};
struct while_loop : op<dialect, "tosa.WHILE_LOOP", "inputs, cond_graph, body_graph", variadic_results> {
    struct args { list<value> inputs; graph* cond_graph; graph* body_graph; };
};
struct variable : op<dialect, "tosa.VARIABLE", "variable_name, shape, type, initial_value", 0> {
    struct args {
        std::string_view variable_name; int_list shape; headrace::dtype type;
        tensor_data initial_value{};
    };
};
struct variable_write : op<dialect, "tosa.VARIABLE_WRITE", "input1, variable_name", 0> {
    struct args { value input1; std::string_view variable_name; };
};
struct variable_read : op<dialect, "tosa.VARIABLE_READ", "variable_name, shape, output_type", impure> {
    struct args { std::string_view variable_name; int_list shape; headrace::dtype output_type; };
};

// Shape operators (2.17).

struct const_shape : op<dialect, "tosa.CONST_SHAPE", "values"> { struct args { int_list values; }; };

struct dialect : dialect_of<"tosa",
      argmax, avg_pool2d, conv2d, conv3d, depthwise_conv2d, fft2d, matmul, max_pool2d, rfft2d,
      transpose_conv2d, clamp, erf, sigmoid, tanh, add, arithmetic_right_shift, bitwise_and, bitwise_or,
      bitwise_xor, intdiv, logical_and, logical_left_shift, logical_right_shift, logical_or,
      logical_xor, maximum, minimum, mul, pow, sub, table, abs, bitwise_not, ceil, clz, cos, exp, floor,
      log, logical_not, negate, reciprocal, rsqrt, sin, select, equal, greater, greater_equal,
      reduce_all, reduce_any, reduce_max, reduce_min, reduce_product, reduce_sum, concat, pad, reshape,
      reverse, slice, tile, transpose, gather, scatter, resize, cast, rescale, const_, identity, custom,
      cond_if, while_loop, variable, variable_write, variable_read, const_shape> {
    static constexpr bool is_pure = true;
};

// clang-format on

/// Returns an operator's number in the flatbuffer: that of its Op, and of its attribute table in the union.
[[nodiscard]] constexpr std::uint32_t number_of(const op_info& op) { return op.index + 1U; }

/// True if a member of an argument struct is in the flatbuffer's attribute table of that op. Its slot is its
/// index among the members that are.
[[nodiscard]] constexpr bool is_attribute(const op_info& op, const field_info& field) {
    switch (field.kind) {
        case field_kind::tensor:
        case field_kind::tensors:
        case field_kind::data: return false;
        default: break;
    }
    if (field.name == "output_type") return false;
    const auto is_any = [&]<class... Ops>(ops<Ops...>) { return ((op.index == index_of<Ops>) || ...); };
    return !is_any(ops<const_shape, variable, variable_read, variable_write>{});  // these have empty tables
}

/// All operators of TOSA 1.0. target/tosa_legality.hpp lists those that a target takes.
namespace v1_0 {
using ops = dialect::all_ops;
}

}  // namespace headrace::tosa

// ---- headrace/base/pmr_vector.hpp ----

namespace headrace {

namespace detail {

/// The memory of a vector, whatever its items are.
struct vector_storage {
    void* items = nullptr;
    std::size_t size = 0;
    std::size_t capacity = 0;
    std::pmr::memory_resource* resource = std::pmr::get_default_resource();

    /// Allocates memory for `count` items; asks for the largest possible size if the product overflows.
    [[nodiscard]] void* allocate(std::size_t count, std::size_t bytes, std::size_t alignment) const {
        constexpr std::size_t most = PTRDIFF_MAX;
        return resource->allocate(count > most / bytes ? most : count * bytes, alignment);
    }
    /// Returns at least twice the capacity, so that a vector grows in linear time.
    [[nodiscard]] std::size_t next_capacity(std::size_t least) const {
        return least < 2 * capacity ? 2 * capacity : least;
    }
    /// Replaces the memory, whose items have been moved out.
    void put(void* memory, std::size_t count, std::size_t bytes, std::size_t alignment) {
        if (items != nullptr) resource->deallocate(items, capacity * bytes, alignment);
        items = memory;
        capacity = count;
    }
    /// Makes room for more items and moves the existing ones as bytes.
    void grow(std::size_t least, std::size_t bytes, std::size_t alignment) {
        const std::size_t count = next_capacity(least);
        void* const memory = allocate(count, bytes, alignment);
        if (size != 0) std::memcpy(memory, items, size * bytes);
        put(memory, count, bytes, alignment);
    }
};

}  // namespace detail

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
    pmr_vector(Iterator first, Iterator last,
               std::pmr::memory_resource* resource = std::pmr::get_default_resource())
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
            larger.storage_.put(storage_.allocate(count, sizeof(T), alignof(T)), count, sizeof(T),
                                alignof(T));
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

// ---- headrace/base/utf8.hpp ----

namespace headrace {

/// True if the text is valid UTF-8 (RFC 3629): no overlong form, no surrogate, nothing above U+10FFFF.
[[nodiscard]] constexpr bool is_utf8(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    for (std::size_t i = 0; i != text.size();) {
        const unsigned char first = byte(i);
        if (first < 0x80) {
            ++i;
            continue;
        }
        if (first < 0xc2 || first > 0xf4) return false;
        const std::size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
        if (text.size() - i < length) return false;
        // After some first bytes, the second byte has a narrower range.
        const unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
        const unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
        if (byte(i + 1) < low || byte(i + 1) > high) return false;
        for (std::size_t k = 2; k < length; ++k) {
            if (byte(i + k) < 0x80 || byte(i + k) > 0xbf) return false;
        }
        i += length;
    }
    return true;
}

}  // namespace headrace

// ---- headrace/base/printable.hpp ----

namespace headrace {

inline constexpr std::size_t max_printed_name = 200;
inline constexpr std::size_t max_printed_message = 4000;

namespace detail {

// Returns the length in bytes of the valid UTF-8 character that begins there; 0 if there is none.
[[nodiscard]] constexpr std::size_t character_length(std::string_view text, std::size_t at) {
    for (std::size_t length = 1; length <= std::min<std::size_t>(4, text.size() - at); ++length) {
        if (is_utf8(text.substr(at, length))) return length;
    }
    return 0;
}

// False for controls and for characters that reorder, join or hide others: Unicode 15, categories Cc and Cf,
// in the ranges that could make one name look like another.
[[nodiscard]] constexpr bool is_shown_as_it_is(std::string_view character) {
    const auto byte = [&](std::size_t i) -> char32_t { return static_cast<unsigned char>(character[i]); };
    char32_t code = byte(0);
    if (character.size() > 1) code &= 0x7fU >> character.size();
    for (std::size_t i = 1; i < character.size(); ++i) code = code << 6 | (byte(i) & 0x3fU);
    const auto lies = [&](char32_t first, char32_t last) { return first <= code && code <= last; };
    return !(code < 0x20 || lies(0x7f, 0x9f) || code == 0xad || code == 0x61c || lies(0x200b, 0x200f) ||
             lies(0x2028, 0x202e) || lies(0x2060, 0x206f) || code == 0xfeff || lies(0xfff9, 0xfffb) ||
             lies(0xe0000, 0xe007f));
}

void append_printable(std::pmr::string& out, std::string_view text);

}  // namespace detail

/// Returns text from a model or a user in a form that is safe on a terminal: control characters, escape
/// sequences, line breaks, marks that reorder text, and bytes that are not UTF-8 become hexadecimal escapes,
/// so that it cannot move the cursor or look like a message. Text longer than `max` bytes loses its middle.
[[nodiscard]] std::pmr::string printable(std::string_view text, std::size_t max = max_printed_name);

}  // namespace headrace

// ---- headrace/base/compiled.hpp ----

#ifdef HEADRACE_COMPILED
#define HEADRACE_INLINE
#else
#define HEADRACE_INLINE inline
#endif

// ---- headrace/base/printable_definition.hpp ----

namespace headrace {

namespace detail {

HEADRACE_INLINE void append_printable(std::pmr::string& out, std::string_view text) {
    static constexpr char digits[] = "0123456789abcdef";
    for (std::size_t i = 0; i != text.size();) {
        const std::size_t length = character_length(text, i);
        const bool shown = length != 0 && is_shown_as_it_is(text.substr(i, length));
        for (const char c : text.substr(i, std::max<std::size_t>(length, 1))) {
            const auto byte = static_cast<unsigned char>(c);
            if (shown) {
                out += c;
            } else {
                ((out += "\\x") += digits[byte / 16]) += digits[byte % 16];
            }
        }
        i += std::max<std::size_t>(length, 1);
    }
}

}  // namespace detail

HEADRACE_INLINE std::pmr::string printable(std::string_view text, std::size_t max) {
    std::pmr::string out;
    const auto is_continuation = [&](std::size_t i) {
        return (static_cast<unsigned char>(text[i]) & 0xc0U) == 0x80U;
    };
    if (text.size() <= max) {
        detail::append_printable(out, text);
        return out;
    }
    std::size_t head = max / 2;
    std::size_t tail = text.size() - max / 2;
    for (int i = 0; i != 3 && head != 0 && is_continuation(head); ++i) --head;
    for (int i = 0; i != 3 && tail != text.size() && is_continuation(tail); ++i) ++tail;
    detail::append_printable(out, text.substr(0, head));
    out += "...";
    detail::append_printable(out, text.substr(tail));
    return out;
}

}  // namespace headrace

// ---- headrace/base/text.hpp ----

namespace headrace {

/// Returns a number in decimal digits. The library's strings are std::pmr::string and its lists pmr_vector:
/// they allocate from std::pmr::get_default_resource(), so a program without a heap can choose the memory.
[[nodiscard]] std::pmr::string number_text(std::integral auto number) {
    char digits[std::numeric_limits<decltype(number)>::digits10 + 2];
    return {digits, std::to_chars(digits, digits + sizeof(digits), number).ptr};
}
/// Returns a number with six significant digits.
[[nodiscard]] std::pmr::string number_text(std::floating_point auto number) {
    char digits[16];  // sign, digits, point, and an exponent of five characters
    return {digits,
            std::to_chars(digits, digits + sizeof(digits), number, std::chars_format::general, 6).ptr};
}

/// A part of a text: characters, which it does not own, or an integer in decimal digits. Other numbers need
/// number_text, because their formatting would be linked into each program and needs a heap on Cortex-M.
class text_part {
public:
    text_part(std::string_view text) : text_(text) {}
    text_part(const char* text) : text_(text) {}
    text_part(const std::string& text) : text_(text) {}
    text_part(const std::pmr::string& text) : text_(text) {}
    text_part(char c) : kind_(kind::character), number_(static_cast<unsigned char>(c)) {}
    text_part(std::signed_integral auto number)
        : kind_(number < 0 ? kind::negative : kind::number), number_(static_cast<std::uint64_t>(number)) {}
    text_part(std::unsigned_integral auto number) : kind_(kind::number), number_(number) {}
    text_part(bool) = delete;

    void append_to(std::pmr::string& out) const;

private:
    enum class kind : unsigned char { text, character, number, negative };
    kind kind_ = kind::text;
    std::string_view text_{};
    std::uint64_t number_ = 0;
};

/// Concatenates the parts: text_of({"axis ", axis, " of ", shape_text(s)}).
[[nodiscard]] std::pmr::string text_of(std::initializer_list<text_part> parts);

/// Returns "1 input", "2 inputs".
[[nodiscard]] std::pmr::string counted_text(std::integral auto number, std::string_view one) {
    return text_of({number, " ", one, number == 1 ? "" : "s"});
}

}  // namespace headrace

// ---- headrace/base/text_definition.hpp ----

namespace headrace {

HEADRACE_INLINE void text_part::append_to(std::pmr::string& out) const {
    switch (kind_) {
        case kind::text:
            out += text_;
            return;
        case kind::character:
            out += static_cast<char>(number_);
            return;
        case kind::number:
            out += number_text(number_);
            return;
        case kind::negative:
            out += number_text(static_cast<std::int64_t>(number_));
            return;
    }
}

HEADRACE_INLINE std::pmr::string text_of(std::initializer_list<text_part> parts) {
    std::pmr::string text;
    for (const text_part& part : parts) part.append_to(text);
    return text;
}

}  // namespace headrace

// ---- headrace/base/error.hpp ----

namespace headrace {

/// The kind of an error, by who can fix it. The program maps kinds to exit statuses.
enum class error_kind : unsigned char {
    unsupported,  ///< the model is valid, but cannot be lowered to this target
    malformed,    ///< the input breaks its own format
    unwritable,   ///< an output cannot be written where it was asked for
    invalid       ///< the graph breaks an invariant: a bug in a pass, or in the caller
};

struct error {
    error_kind kind = error_kind::invalid;
    std::pmr::string message;  ///< one line, lower-case start, no final period

    /// Returns the error with its location in front: "where: message".
    [[nodiscard]] error in(std::string_view where) const { return {kind, text_of({where, ": ", message})}; }
};

// A message may be given in parts: invalid({"axis ", axis, " is named twice"}).
[[nodiscard]] inline error unsupported(std::string_view message) {
    return {error_kind::unsupported, std::pmr::string(message)};
}
[[nodiscard]] inline error unsupported(std::initializer_list<text_part> message) {
    return {error_kind::unsupported, text_of(message)};
}
[[nodiscard]] inline error malformed(std::string_view message) {
    return {error_kind::malformed, std::pmr::string(message)};
}
[[nodiscard]] inline error malformed(std::initializer_list<text_part> message) {
    return {error_kind::malformed, text_of(message)};
}
[[nodiscard]] inline error unwritable(std::string_view message) {
    return {error_kind::unwritable, std::pmr::string(message)};
}
[[nodiscard]] inline error unwritable(std::initializer_list<text_part> message) {
    return {error_kind::unwritable, text_of(message)};
}
[[nodiscard]] inline error invalid(std::string_view message) {
    return {error_kind::invalid, std::pmr::string(message)};
}
[[nodiscard]] inline error invalid(std::initializer_list<text_part> message) {
    return {error_kind::invalid, text_of(message)};
}

}  // namespace headrace

// ---- headrace/base/result.hpp ----

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
#define HEADRACE_TRY(...)                                                                                 \
    HEADRACE_DETAIL_PICK(__VA_ARGS__, HEADRACE_DETAIL_TRY_NAMED, HEADRACE_DETAIL_TRY_NAMED,               \
                         HEADRACE_DETAIL_TRY_NAMED, HEADRACE_DETAIL_TRY_NAMED, HEADRACE_DETAIL_TRY_NAMED, \
                         HEADRACE_DETAIL_TRY_NAMED, HEADRACE_DETAIL_TRY_NAMED, HEADRACE_DETAIL_TRY_NAMED, \
                         HEADRACE_DETAIL_TRY_VOID, )                                                      \
    (HEADRACE_DETAIL_JOIN(headrace_result_, __COUNTER__), __VA_ARGS__)
#define HEADRACE_TRY_VOID(...) \
    HEADRACE_DETAIL_TRY_VOID(HEADRACE_DETAIL_JOIN(headrace_result_, __COUNTER__), __VA_ARGS__)

#define HEADRACE_DETAIL_PICK(_1, _2, _3, _4, _5, _6, _7, _8, _9, chosen, ...) chosen
#define HEADRACE_DETAIL_JOIN(a, b) HEADRACE_DETAIL_JOIN_EXPANDED(a, b)
#define HEADRACE_DETAIL_JOIN_EXPANDED(a, b) a##b
#define HEADRACE_DETAIL_TRY_VOID(held, ...) \
    auto&& held = (__VA_ARGS__);            \
    if (!held.has_value()) return static_cast<decltype(held)&&>(held).failure()
#define HEADRACE_DETAIL_TRY_NAMED(held, name, ...) \
    HEADRACE_DETAIL_TRY_VOID(held, __VA_ARGS__);   \
    auto&& name = static_cast<decltype(held)&&>(held).success()

// ---- headrace/base/sizes.hpp ----

namespace headrace {

/// The parameter type for shapes, axes and strides.
using sizes = std::span<const std::int64_t>;

/// Products and sums of sizes saturate at the bounds of int64 instead of overflowing; infer/shape_builder.hpp
/// refuses such sizes.
[[nodiscard]] constexpr std::int64_t saturating_mul(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? ((a < 0) == (b < 0) ? INT64_MAX : INT64_MIN) : product;
}
[[nodiscard]] constexpr std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? (a < 0 ? INT64_MIN : INT64_MAX) : sum;
}
[[nodiscard]] constexpr std::int64_t saturating_sub(std::int64_t a, std::int64_t b) {
    std::int64_t difference = 0;
    return __builtin_sub_overflow(a, b, &difference) ? (a < 0 ? INT64_MIN : INT64_MAX) : difference;
}

/// Returns the number of elements; saturates.
[[nodiscard]] constexpr std::int64_t element_count(sizes shape) {
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count = saturating_mul(count, size);
    return count;
}

}  // namespace headrace

// ---- headrace/ir/tensor_meta.hpp ----

namespace headrace {

/// The type of a value, known before the program runs. Shapes are static and logical; the order of dimensions
/// in PyTorch's memory is in `dim_order` (empty: contiguous).
struct tensor_meta {
    headrace::dtype dtype = headrace::dtype::unknown;
    int_list shape{};
    list<std::int64_t> dim_order{};

    [[nodiscard]] constexpr std::size_t rank() const { return shape.size(); }

    /// Returns the number of elements, or nothing if it does not fit in 63 bits. An empty tensor is refused,
    /// too, if the product of its other sizes does not fit, because its strides would not.
    [[nodiscard]] constexpr std::optional<std::int64_t> checked_elements() const {
        std::int64_t count = 1;
        bool empty = false;
        for (const std::int64_t size : shape) {
            if (size < 0 || (size != 0 && __builtin_mul_overflow(count, size, &count))) return std::nullopt;
            empty = empty || size == 0;
        }
        return empty ? 0 : count;
    }
    /// Returns the number of elements of a shape that is known to be valid, as every shape in a graph is.
    [[nodiscard]] constexpr std::int64_t elements() const {
        std::int64_t count = 1;
        for (const std::int64_t size : shape) count *= size;
        return count;
    }

    friend constexpr bool operator==(const tensor_meta& a, const tensor_meta& b) {
        return a.dtype == b.dtype && a.shape == b.shape;
    }
};

/// True if metadata is equal, including dim orders, which == ignores.
[[nodiscard]] constexpr bool same_val(const tensor_meta& a, const tensor_meta& b) {
    return a == b && a.dim_order == b.dim_order;
}

/// True if metadata is equal or missing on both sides.
[[nodiscard]] constexpr bool same_meta(const tensor_meta* a, const tensor_meta* b) {
    return a == b || (a != nullptr && b != nullptr && *a == *b);
}

/// Returns the bytes of a tensor whose elements are packed as in TOSA.
[[nodiscard]] constexpr std::uint64_t packed_bytes(const tensor_meta& meta) {
    return storage_bytes(meta.dtype, static_cast<std::uint64_t>(meta.elements()));
}
/// Returns the packed bytes of a tensor that is in memory, such as the data of any constant.
[[nodiscard]] constexpr std::size_t bytes_in_memory(const tensor_meta& meta) {
    return static_cast<std::size_t>(packed_bytes(meta));
}

/// Returns a non-negative axis of a tensor of that rank, or nothing if it is out of range. Rank 0 counts as
/// 1, as in PyTorch.
[[nodiscard]] constexpr std::optional<std::size_t> normalized_axis(std::int64_t axis, std::size_t rank) {
    const auto limit = static_cast<std::int64_t>(rank == 0 ? 1 : rank);
    if (axis < -limit || axis >= limit) return std::nullopt;
    return static_cast<std::size_t>(axis < 0 ? axis + limit : axis);
}

}  // namespace headrace

// ---- headrace/ir/node.hpp ----

namespace headrace {

/// An operand of a node: an edge of the graph from the producer of a value to the node that uses it.
struct edge {
    node* source = nullptr;
    node* target = nullptr;
    std::uint32_t operand = 0;  ///< position among the target's operands, list members counted one by one
    value* slot = nullptr;      ///< where the target's arguments hold it; slot->result is the result index
    edge* previous_use = nullptr;
    edge* next_use = nullptr;
};

/// A result of a node.
struct result_slot {
    const tensor_meta* meta =
        nullptr;            ///< `val`; may be missing, and then inference must run before it is asked for
    std::string_view name;  ///< the exported program's name for it, or empty
};

/// User metadata of a node: a value of any trivially copyable type, found by that type. Nodes with a common
/// origin share their inherited annotations; the first of a type counts.
struct annotation {
    const void* key;
    const void* data;
    bool inherited;  ///< copied to nodes that replace this one
    annotation* next;
};

template <class T>
inline constexpr char annotation_key = 0;

/// Returns the annotation of that type in a node's list, or null.
template <class T>
[[nodiscard]] const T* find_in(const annotation* annotations) {
    for (const annotation* a = annotations; a != nullptr; a = a->next) {
        if (a->key == &annotation_key<T>) return static_cast<const T*>(a->data);
    }
    return nullptr;
}

/// Annotation: the exported node that a node descends from, for every message about it.
struct provenance {
    static constexpr bool inherited = true;
    std::string_view node_name;
    std::string_view op_name;
};

/// Annotation: a further exported node that a node descends from, after a rewrite of several nodes into one;
/// see for_each_origin in ir/origins.hpp.
struct joined_origin {
    static constexpr bool inherited = true;
    const annotation* annotations;  ///< of the joined node, including its own joined origins
    const joined_origin* next;
};

/// Annotation: the `custom` metadata of a `.pt2` node, JSON text as the exporter wrote it.
struct custom_metadata {
    static constexpr bool inherited = true;
    std::string_view json;
};

/// Annotation: the `nn_module_stack` metadata of a `.pt2` node, as the exporter wrote it.
struct module_stack {
    static constexpr bool inherited = true;
    std::string_view text;
};

/// A forward range over an intrusive list.
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

/// An operation. Its address is its descriptor, stable until it is erased. Only headrace::graph may modify
/// nodes; other code reads the members. The members that iteration reads are in the first cache line.
struct alignas(64) node {
    const op_info* op = nullptr;
    node* next = nullptr;       ///< execution order
    void* arguments = nullptr;  ///< the args struct of `op`
    result_slot* results = nullptr;
    edge* operands = nullptr;
    edge* first_use = nullptr;
    std::uint32_t id = 0;  ///< unique in the graph; see graph::tidy
    std::uint32_t result_count = 0;
    std::uint32_t operand_count = 0;
    std::int32_t ahead = 0;  ///< distance to a later node; see noted_ahead
    graph* owner = nullptr;
    edge* last_use = nullptr;
    node* previous = nullptr;
    annotation* annotations = nullptr;
    std::uint64_t position = 0;     ///< in the execution order, with gaps; see graph::is_before
    std::uint32_t place_of_op = 0;  ///< index in the census's list of the nodes of its op

    [[nodiscard]] std::span<const edge> operand_edges() const { return {operands, operand_count}; }
    [[nodiscard]] value operand(std::size_t i) const { return *operands[i].slot; }
    [[nodiscard]] auto uses() const { return intrusive_range<edge, &edge::next_use>(first_use); }
    [[nodiscard]] std::string_view name() const {
        return result_count == 0 ? std::string_view() : results[0].name;
    }
    [[nodiscard]] value result(std::uint32_t i = 0) { return {this, i}; }

    template <class T>
    [[nodiscard]] const T* find_annotation() const {
        return find_in<T>(annotations);
    }
};

/// Returns a node that came some way after this one in the order when it was recorded; `ahead` is the
/// distance in units of the node's alignment. Iteration over a list knows only the next node, so each step
/// waits for memory if the graph exceeds the caches; a recorded node can be prefetched early (history
/// pointers of C.-K. Luk and T. C. Mowry, "Compiler-Based Prefetching for Recursive Data Structures", ASPLOS
/// 1996).
inline const node* noted_ahead(const node& n) {
    return reinterpret_cast<const node*>(reinterpret_cast<const std::byte*>(&n) +
                                         std::ptrdiff_t{n.ahead} * std::ptrdiff_t{alignof(node)});
}
/// Records `later` as the node to prefetch, or nothing if it is too far away.
inline void note_ahead(node& n, const node* later) {
    const std::intptr_t steps =
        (reinterpret_cast<std::intptr_t>(later) - reinterpret_cast<std::intptr_t>(&n)) /
        std::intptr_t{alignof(node)};
    n.ahead = static_cast<std::int32_t>(steps) == steps ? static_cast<std::int32_t>(steps) : 0;
}

inline constexpr std::size_t cache_line = 64;

/// Prefetches the memory that a node refers to, from its results to its operands. If the graph exceeds the
/// caches, a pass spends most of its time waiting for memory.
inline void prefetch(const node& n) {
    const auto* const end = reinterpret_cast<const std::byte*>(n.operands + n.operand_count);
    for (const auto* at = reinterpret_cast<const std::byte*>(n.results); at < end; at += cache_line)
        __builtin_prefetch(at);
}

/// Prefetches nodes a few steps after index i, with their data. `node_at(i)` returns the i-th node.
template <class NodeAt>
void prefetch_after(std::size_t i, std::size_t count, NodeAt&& node_at) {
    constexpr std::size_t distance = 4;
    if (i + 2 * distance < count) __builtin_prefetch(node_at(i + 2 * distance));
    if (i + distance < count) prefetch(*node_at(i + distance));
}

/// Prefetches for rewriting: later nodes, the types of their operands and the users of their results.
template <class NodeAt>
void prefetch_to_rewrite(std::size_t i, std::size_t count, NodeAt&& node_at) {
    if (i + 8 < count) {
        const node* const n = node_at(i + 8);
        __builtin_prefetch(n);
        __builtin_prefetch(reinterpret_cast<const std::byte*>(n) + cache_line);
    }
    if (i + 4 < count) {
        const node& n = *node_at(i + 4);
        prefetch(n);
        __builtin_prefetch(n.annotations);
        __builtin_prefetch(n.first_use);
    }
    if (i + 2 < count) {
        for (const edge& e : node_at(i + 2)->operand_edges()) __builtin_prefetch(e.source);
    }
    if (i + 1 < count) {
        for (const edge& e : node_at(i + 1)->operand_edges()) __builtin_prefetch(e.source->results);
    }
}

/// The nodes of a graph in execution order, with later ones prefetched, and with `Parts` also the data that
/// they refer to. Erased nodes keep their memory, so prefetching is safe whatever a pass does to the graph.
template <bool Parts>
class node_range {
public:
    class iterator {
    public:
        using value_type = node;
        using difference_type = std::ptrdiff_t;
        using pointer = node*;
        using reference = node&;
        using iterator_category = std::forward_iterator_tag;

        iterator() = default;
        explicit iterator(node* at) : at_(at), ahead_(at) {
            for (int i = 0; Parts && i != distance; ++i) fetch_parts();
        }
        node& operator*() const { return *at_; }
        node* operator->() const { return at_; }
        iterator& operator++() {
            __builtin_prefetch(noted_ahead(*at_));
            at_ = at_->next;
            if constexpr (Parts) fetch_parts();
            return *this;
        }
        iterator operator++(int) {
            iterator before = *this;
            ++*this;
            return before;
        }
        friend bool operator==(const iterator& a, const iterator& b) { return a.at_ == b.at_; }

    private:
        static constexpr int distance = 8;

        void fetch_parts() {
            if (ahead_ == nullptr) return;
            ahead_ = ahead_->next;
            if (ahead_ != nullptr) prefetch(*ahead_);
        }

        node* at_ = nullptr;
        const node* ahead_ = nullptr;
    };

    explicit node_range(node* first) : first_(first) {}
    [[nodiscard]] iterator begin() const { return iterator(first_); }
    [[nodiscard]] iterator end() const { return iterator(); }
    [[nodiscard]] bool empty() const { return first_ == nullptr; }

private:
    node* first_;
};

template <op_tag Op>
[[nodiscard]] constexpr bool is(const node& n) {
    return n.op == &info_of<Op>;
}

/// True if the op of a node is of that dialect.
template <class Dialect>
[[nodiscard]] constexpr bool is_of_dialect(const node& n) {
    return n.op->dialect == &info_of_dialect<Dialect>;
}

/// Returns the arguments of a node, which must be of that op.
template <op_tag Op>
[[nodiscard]] const args<Op>& args_of(const node& n) {
    return *static_cast<const args<Op>*>(n.arguments);
}

/// Returns the arguments of a node if it is of that op, else null.
template <op_tag Op>
[[nodiscard]] const args<Op>* args_if(const node& n) {
    return is<Op>(n) ? &args_of<Op>(n) : nullptr;
}

/// Returns the arguments of the node that produces a value if it is of that op, else null.
template <op_tag Op>
[[nodiscard]] const args<Op>* match(value v) {
    return v ? args_if<Op>(*v.producer) : nullptr;
}

/// Returns the metadata of a value, or null if it is missing.
[[nodiscard]] inline const tensor_meta* meta_of(value v) { return v.producer->results[v.result].meta; }

/// Returns the number of operands that are this value.
[[nodiscard]] inline std::size_t use_count(value v) {
    const bool is_only_result = v.producer->result_count == 1;
    std::size_t count = 0;
    for (const edge& e : v.producer->uses()) count += is_only_result || e.slot->result == v.result;
    return count;
}
[[nodiscard]] inline bool has_one_use(value v) { return use_count(v) == 1; }
/// True if some node has it as an operand.
[[nodiscard]] inline bool is_used(value v) {
    if (v.producer->result_count == 1) return v.producer->first_use != nullptr;
    return use_count(v) != 0;
}

/// Returns a node's name for messages: that of the exported node that it descends from, or its own.
[[nodiscard]] inline std::string_view origin_name(const node& n) {
    const auto* origin = n.find_annotation<provenance>();
    return origin != nullptr ? origin->node_name : n.name();
}

}  // namespace headrace

// ---- headrace/infer/inference.hpp ----

namespace headrace {

#ifdef HEADRACE_COMPILED
namespace aten {
struct dialect;
}
namespace dim_order_ops {
struct dialect;
}
namespace higher_order {
struct dialect;
}
namespace quantized_decomposed {
struct dialect;
}
namespace tosa {
struct dialect;
struct const_;
struct custom;
}  // namespace tosa
#endif

/// Returns "[2, 3]".
[[nodiscard]] std::pmr::string shape_text(sizes shape);

/// The output of a rule: the metadata of each result, in order. Rules are overloads
///
///     result<void> infer_results(aten::relu, const args<aten::relu>& a, inference& out);
///
/// in namespace headrace, found by argument-dependent lookup on the tag. A rule for a family of ops is a
/// template constrained by headrace::one_of. A rule may assume that each operand has metadata.
class inference {
public:
    explicit inference(std::pmr::memory_resource* arena) : arena_(arena), results_(arena) {}

    /// Returns the metadata of an operand.
    [[nodiscard]] static const tensor_meta& of(value operand) { return *meta_of(operand); }

    /// Adds a result. dtype::unknown leaves it open: its type and shape depend on more than the arguments.
    void add(dtype type, std::span<const std::int64_t> shape) { results_.push_back({type, own(shape), {}}); }
    void add(dtype type, std::initializer_list<std::int64_t> shape) {
        add(type, std::span<const std::int64_t>(std::data(shape), shape.size()));
    }
    void add(const tensor_meta& meta) { add(meta.dtype, meta.shape); }

    [[nodiscard]] std::span<const tensor_meta> results() const { return results_; }
    void clear() { results_.clear(); }

    /// Adds a result that overwrites `self` and so must keep its type and shape.
    result<void> write_over(const tensor_meta& self);

private:
    [[nodiscard]] int_list own(std::span<const std::int64_t> shape);

    std::pmr::memory_resource* arena_;
    pmr_vector<tensor_meta> results_;
};

/// The interface of caches of inferences, such as headrace::dispatch_cache.
class inference_cache {
public:
    using rules = result<void> (*)(const node& n, inference& out);

    /// Returns the inference for that node, from the cache if it is known.
    [[nodiscard]] virtual result<void> infer(const node& n, inference& out, rules rule) = 0;

protected:
    ~inference_cache() = default;
};

namespace detail {
template <class Op, class List>
inline constexpr bool listed = false;
template <class Op, class... Ops>
inline constexpr bool listed<Op, ops<Ops...>> = (__is_same(Op, Ops) || ...);
}  // namespace detail

/// Matches each op of a list headrace::ops<...>; for rules and kernels of a family.
template <class Op, class List>
concept one_of = detail::listed<Op, List>;

/// Matches ops with a rule of their own: infer_results(Op, args<Op>, inference&) is declared.
template <class Op>
concept has_inference_rule = op_tag<Op> && requires(const args<Op>& a, inference& out) {
    { infer_results(Op{}, a, out) } -> std::same_as<result<void>>;
};

namespace detail {
template <op_variant Op>
inline constexpr bool base_has_rule = has_inference_rule<base_of<Op>>;
}

/// A rule, called with the address of the argument struct.
using inference_rule = result<void> (*)(const void* arguments, inference& out);

namespace detail {

#ifdef HEADRACE_COMPILED
/// The dialects whose rules headrace::compiled has, so that their templates are not instantiated again.
using compiled_rules = ops<aten::dialect, dim_order_ops::dialect, higher_order::dialect,
                           quantized_decomposed::dialect, tosa::dialect>;
using ops_without_rule = ops<tosa::const_, tosa::custom>;
#else
using compiled_rules = ops<>;
using ops_without_rule = ops<>;
#endif

template <class Op>
concept has_compiled_rule =
    listed<typename Op::dialect_type, compiled_rules> && !listed<Op, ops_without_rule>;

/// Returns the rule of an op of these dialects; infer/compiled_rules_definition.hpp defines it.
[[nodiscard]] inference_rule compiled_rule(const op_info& op);

template <class Op>
concept has_own_or_base_rule = has_inference_rule<Op> || (op_variant<Op> && base_has_rule<Op>);

}  // namespace detail

/// Matches ops with a rule: their own, or that of the op of which they are a variant.
template <class Op>
concept inferable = detail::has_compiled_rule<Op> || detail::has_own_or_base_rule<Op>;

namespace detail {

// An in-place result keeps its operand's type and shape, unless the op only changes the view, like squeeze_.
template <has_own_or_base_rule Op>
result<void> infer_by_rule(const args<Op>& a, inference& out) {
    if constexpr (has_inference_rule<Op>) {
        return infer_results(Op{}, a, out);
    } else {
        using base = base_of<Op>;
        result<void> done = infer_results(base{}, convert_args<base, Op>(a), out);
        if constexpr (has_trait<Op>(trait::in_place) && !has_trait<base>(trait::aliasing)) {
            if (done) done = out.write_over(inference::of(a.self));
        }
        return done;
    }
}

template <op_tag Op>
result<void> infer_erased(const void* arguments, inference& out) {
    return infer_by_rule<Op>(*static_cast<const args<Op>*>(arguments), out);
}
template <op_tag Op>
constexpr inference_rule rule_or_null() {
    if constexpr (has_own_or_base_rule<Op>) {
        return &infer_erased<Op>;
    } else {
        return nullptr;
    }
}
template <class List>
struct rule_table_of;
template <class... Ops>
struct rule_table_of<ops<Ops...>> {
    static constexpr std::array<inference_rule, sizeof...(Ops)> value{rule_or_null<Ops>()...};
};
template <class Dialect>
[[nodiscard]] inference_rule rule_in_table(const op_info& op) {
    return rule_table_of<typename Dialect::all_ops>::value[op.index];
}
/// Returns the rule of an op, compiled here or in headrace::compiled; null if it has none.
template <op_tag Op>
[[nodiscard]] inference_rule rule_of_op() {
    if constexpr (has_compiled_rule<Op>) {
        return compiled_rule(info_of<Op>);
    } else {
        return rule_or_null<Op>();
    }
}
}  // namespace detail

/// Infers the results of an op by its rule.
template <inferable Op>
result<void> infer_op(const args<Op>& a, inference& out) {
    const inference_rule rule = detail::rule_of_op<Op>();
    return rule != nullptr ? rule(&a, out) : invalid({"nothing infers the results of ", Op::name});
}

/// Returns the rule of an op of these dialects, for nodes whose op is known only at run time. Using it links
/// the rules of whole dialects into the program; never do so in the core.
template <class... Dialects>
[[nodiscard]] inference_rule find_rule(const op_info& op) {
    inference_rule rule = nullptr;
    const auto look_in = [&]<class D>() {
        if (op.dialect != &info_of_dialect<D>) return;
        if constexpr (detail::listed<D, detail::compiled_rules>) {
            rule = detail::compiled_rule(op);
        } else {
            rule = detail::rule_in_table<D>(op);
        }
    };
    (look_in.template operator()<Dialects>(), ...);
    return rule;
}

/// Returns "net.py:42: conv2d (aten.conv2d.default): ", the start of each message about a node, with the line
/// of the model's source if the export has it.
[[nodiscard]] std::pmr::string message_prefix(const node& n);

}  // namespace headrace

// ---- headrace/ir/opaque_text.hpp ----

namespace headrace {

/// Returns the name of a node's op; for an opaque node, its target.
[[nodiscard]] inline std::string_view op_name(const node& n) {
    const auto* opaque = args_if<builtin::opaque>(n);
    return opaque != nullptr ? opaque->target : n.op->name;
}

/// Returns the arguments of an opaque node, with `name(value)` for references to operands: `self=%x, n=2`.
template <class Name>
[[nodiscard]] std::pmr::string opaque_arguments(const args<builtin::opaque>& a, Name&& name) {
    std::pmr::string out;
    if (a.arguments.empty()) {
        for (const value& v : a.operands) (out += &v == a.operands.begin() ? "" : ", ") += name(v);
        return out;
    }
    bool in_quotes = false;
    const std::string_view text = a.arguments;
    for (std::size_t i = 0; i != text.size();) {
        in_quotes ^= text[i] == '"';
        if (in_quotes && text[i] == '\\' && i + 1 != text.size()) out += text[i++];
        std::size_t operand = 0;
        std::size_t end = i + 1;
        const auto is_digit = [&](std::size_t at) {
            return at < text.size() && text[at] >= '0' && text[at] <= '9';
        };
        for (; text[i] == '%' && !in_quotes && is_digit(end) && operand < a.operands.size(); ++end)
            operand = 10 * operand + static_cast<std::size_t>(text[end] - '0');
        if (end != i + 1 && operand < a.operands.size()) {
            out += name(a.operands[operand]);
            i = end;
        } else {
            out += text[i++];
        }
    }
    return out;
}

}  // namespace headrace

// ---- headrace/ir/nearest_named.hpp ----

namespace headrace {

/// Returns the node itself if it has a name for messages; else the nearest named node among its users, or
/// else among its operands. Constants and copies that readers and passes create have no names of their own.
[[nodiscard]] inline const node& nearest_named(const node& n) {
    constexpr std::size_t most = 64;
    const auto search = [&](auto&& add_neighbours) -> const node* {
        pmr_vector<const node*> seen{&n};
        for (std::size_t i = 0; i != seen.size() && i != most; ++i) {
            if (!origin_name(*seen[i]).empty()) return seen[i];
            add_neighbours(*seen[i], [&](const node* next) {
                if (!any_of(seen, [&](const node* other) { return other == next; })) seen.push_back(next);
            });
        }
        return nullptr;
    };
    const node* found = search([](const node& at, const auto& add) {
        for (const edge& e : at.uses()) add(e.target);
    });
    if (found == nullptr) {
        found = search([](const node& at, const auto& add) {
            for (const edge& e : at.operand_edges()) add(e.source);
        });
    }
    return found != nullptr ? *found : n;
}

/// Returns the relation between `n` and the node that a message names, for that message.
[[nodiscard]] inline std::pmr::string relation_text(const node& n, const node& named) {
    if (&n == &named) return {};
    if (is<builtin::constant>(n)) return "one of its constants: ";
    return text_of({"an operator without a name beside it, ", printable(op_name(n)), ": "});
}

}  // namespace headrace

// ---- headrace/ir/source_location.hpp ----

namespace headrace {

/// Annotation: the innermost frame of the model's own source in the `stack_trace` metadata of a `.pt2` node,
/// in Python's format: `File "model.py", line 12, in forward`, then a line break and the line of code if the
/// trace has it.
struct source_location {
    static constexpr bool inherited = true;
    std::string_view text;
};

/// Annotation: the metadata of a `.pt2` node about the Python call that it was traced from, as written by the
/// exporter; empty if absent.
struct traced_call {
    static constexpr bool inherited = true;
    std::string_view stack_trace{};      ///< outermost frame first
    std::string_view source_fn_stack{};  ///< "name,torch.nn.modules.linear.Linear;…", outermost call first
    std::string_view torch_fn{};         ///< "linear_1;builtin_function_or_method.linear"
    std::string_view from_node{};        ///< JSON: the node's predecessors in the exporter's earlier graphs
};

/// Returns the innermost frame of a Python stack trace, which is its last; empty if there is none.
[[nodiscard]] inline std::string_view innermost_frame(std::string_view trace) {
    const std::size_t begin = trace.rfind("File \"");
    if (begin == std::string_view::npos) return {};
    const std::string_view frame = trace.substr(begin);
    const std::size_t end = frame.find_last_not_of(" \n\r\t");
    return frame.substr(0, end + 1);
}

/// Returns the innermost frame outside of PyTorch, whose modules are called between the model and the op; the
/// innermost of all if every frame is in PyTorch.
[[nodiscard]] std::string_view model_frame(std::string_view trace);

/// Returns "net.py:42" for a frame; empty if the text is not a frame.
[[nodiscard]] std::pmr::string line_of_frame(std::string_view frame);

/// Returns "net.py:42" for a node if the exporter recorded it, for messages; else an empty string.
[[nodiscard]] std::pmr::string source_line(const node& n);

}  // namespace headrace

// ---- headrace/ir/source_location_definition.hpp ----

namespace headrace {

namespace detail {

struct frame_place {
    std::string_view file;
    std::string_view line;
};

// Parses `File "net.py", line 42, in forward`; the parts are empty if the text has another form.
[[nodiscard]] inline frame_place place_of_frame(std::string_view frame) {
    constexpr std::string_view opening = "File \"";
    constexpr std::string_view middle = "\", line ";
    if (!frame.starts_with(opening)) return {};
    frame.remove_prefix(opening.size());
    const std::size_t end = frame.find(middle);
    if (end == std::string_view::npos) return {};
    const std::string_view rest = frame.substr(end + middle.size());
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (end == 0 || digits == 0) return {};
    return {frame.substr(0, end), rest.substr(0, digits)};
}

// True for an installed PyTorch package, and for the modules and tracers of a PyTorch source tree.
[[nodiscard]] inline bool is_of_pytorch(std::string_view file) {
    for (const std::string_view part : {"-packages/torch/", "-packages\\torch\\", "/torch/nn/modules/",
                                        "/torch/_", "/torch/fx/", "/torch/export/"}) {
        if (file.find(part) != std::string_view::npos) return true;
    }
    return false;
}

}  // namespace detail

HEADRACE_INLINE std::string_view model_frame(std::string_view trace) {
    const std::string_view innermost = innermost_frame(trace);
    std::string_view frame = innermost;
    while (!frame.empty() && detail::is_of_pytorch(detail::place_of_frame(frame).file)) {
        trace = trace.substr(0, static_cast<std::size_t>(frame.data() - trace.data()));
        frame = innermost_frame(trace);
    }
    return frame.empty() ? innermost : frame;
}

HEADRACE_INLINE std::pmr::string line_of_frame(std::string_view frame) {
    const detail::frame_place place = detail::place_of_frame(frame);
    if (place.file.empty()) return {};
    return text_of({printable(place.file), ":", printable(place.line)});
}

HEADRACE_INLINE std::pmr::string source_line(const node& n) {
    const auto* source = n.find_annotation<source_location>();
    return source == nullptr ? std::pmr::string() : line_of_frame(source->text);
}

}  // namespace headrace

// ---- headrace/infer/inference_definition.hpp ----

namespace headrace {

HEADRACE_INLINE std::pmr::string shape_text(sizes shape) {
    std::pmr::string text = "[";
    for (const std::int64_t size : shape) {
        if (text.size() != 1) text += ", ";
        text += number_text(size);
    }
    return text += ']';
}

HEADRACE_INLINE result<void> inference::write_over(const tensor_meta& self) {
    if (results_.size() == 1 && !(results_[0].shape == self.shape)) {
        return invalid({"cannot expand ", shape_text(results_[0].shape), " to ", shape_text(self.shape)});
    }
    results_.assign(1, {self.dtype, self.shape, {}});
    return {};
}

HEADRACE_INLINE int_list inference::own(std::span<const std::int64_t> shape) {
    if (shape.size() <= int_list::inline_capacity) return int_list(shape);
    auto* copy = static_cast<std::int64_t*>(
        arena_->allocate(shape.size() * sizeof(std::int64_t), alignof(std::int64_t)));
    std::copy(shape.begin(), shape.end(), copy);
    return int_list(std::span<const std::int64_t>(copy, shape.size()));
}

HEADRACE_INLINE std::pmr::string message_prefix(const node& n) {
    const node& named = nearest_named(n);
    const auto* origin = named.find_annotation<provenance>();
    std::pmr::string text = source_line(named);
    if (!text.empty()) text += ": ";
    text += printable(origin_name(named));
    text += " (";
    text += printable(origin != nullptr ? origin->op_name : op_name(named));
    text += "): ";
    text += relation_text(n, named);
    return text;
}

}  // namespace headrace

// ---- headrace/infer/shape_builder.hpp ----

namespace headrace {

/// A shape under construction. It holds up to 16 sizes; add_result refuses a shape with more.
class shape_builder {
public:
    static constexpr std::size_t capacity = 16;

    constexpr shape_builder() = default;
    constexpr shape_builder(sizes shape) { append(shape); }
    constexpr shape_builder(const int_list& shape) { append(shape); }
    constexpr shape_builder(std::initializer_list<std::int64_t> shape) {
        for (const std::int64_t size : shape) push_back(size);
    }
    [[nodiscard]] static constexpr shape_builder filled(std::size_t rank, std::int64_t size) {
        shape_builder shape;
        for (std::size_t i = 0; i != rank; ++i) shape.push_back(size);
        return shape;
    }

    constexpr void push_back(std::int64_t size) {
        if (wanted_ < capacity) items_[wanted_] = size;
        ++wanted_;
    }
    constexpr void append(sizes shape) {
        for (const std::int64_t size : shape) push_back(size);
    }
    /// Inserts a size before position `at`, which is at most size().
    constexpr void insert(std::size_t at, std::int64_t size) {
        push_back(size);
        for (std::size_t i = this->size(); i-- > at + 1;) items_[i] = items_[i - 1];
        if (at < capacity) items_[at] = size;
    }
    constexpr void erase(std::size_t at) {
        for (std::size_t i = at + 1; i < size(); ++i) items_[i - 1] = items_[i];
        if (--wanted_ < capacity) items_[wanted_] = 0;  // slots beyond size() are 0, so that shapes compare
    }

    [[nodiscard]] constexpr std::size_t size() const { return wanted_ < capacity ? wanted_ : capacity; }
    [[nodiscard]] constexpr bool empty() const { return wanted_ == 0; }
    /// True if the rank exceeds the capacity.
    [[nodiscard]] constexpr bool overflowed() const { return wanted_ > capacity; }
    [[nodiscard]] constexpr const std::int64_t* data() const { return items_.data(); }
    [[nodiscard]] constexpr std::int64_t* begin() { return items_.data(); }
    [[nodiscard]] constexpr std::int64_t* end() { return items_.data() + size(); }
    [[nodiscard]] constexpr const std::int64_t* begin() const { return items_.data(); }
    [[nodiscard]] constexpr const std::int64_t* end() const { return items_.data() + size(); }
    [[nodiscard]] constexpr std::int64_t& operator[](std::size_t i) { return items_[i]; }
    [[nodiscard]] constexpr std::int64_t operator[](std::size_t i) const { return items_[i]; }
    [[nodiscard]] constexpr std::int64_t& back() { return items_[size() - 1]; }
    constexpr operator sizes() const { return {items_.data(), size()}; }
    friend constexpr bool operator==(const shape_builder&, const shape_builder&) = default;

private:
    std::array<std::int64_t, capacity> items_{};
    std::size_t wanted_ = 0;
};

/// The error for a rank that no shape_builder holds: such a tensor is valid, but cannot be lowered.
[[nodiscard]] error rank_too_large();

/// Adds a result, unless no tensor can have that type or shape.
[[nodiscard]] result<void> add_result(inference& out, dtype type, const shape_builder& shape);
[[nodiscard]] result<void> add_result(inference& out, const tensor_meta& meta);
/// Adds a result of the given dtype with the shape of another tensor.
[[nodiscard]] result<void> add_result(inference& out, dtype type, const tensor_meta& like);

/// Refuses an operand of the wrong rank.
[[nodiscard]] result<void> require_rank(std::string_view what, sizes shape, std::size_t least,
                                        std::size_t most);
[[nodiscard]] result<void> require_rank(std::string_view what, sizes shape, std::size_t rank);

// --- broadcasting ----------------------------------------------------------------------------------------

/// Returns the shape to which both broadcast.
[[nodiscard]] result<shape_builder> broadcast(sizes a, sizes b);
template <class... More>
[[nodiscard]] result<shape_builder> broadcast(sizes a, sizes b, const More&... more)
    requires(sizeof...(More) != 0)
{
    HEADRACE_TRY(shape, broadcast(a, b));
    return broadcast(shape, more...);
}

/// Returns the shape of aten.expand: -1 keeps a size.
[[nodiscard]] result<shape_builder> expanded_shape(sizes from, sizes to);

/// Returns the shape of aten.view: one size may be -1.
[[nodiscard]] result<shape_builder> viewed_shape(sizes from, sizes to);

// --- axes ------------------------------------------------------------------------------------------------

/// Returns a non-negative axis of a tensor of that rank; `axis` may count from the end.
[[nodiscard]] result<std::size_t> axis_of(std::int64_t axis, std::size_t rank);

/// A set of axes.
struct axis_set {
    std::uint32_t bits = 0;

    [[nodiscard]] static constexpr axis_set all(std::size_t rank) { return {(std::uint32_t{1} << rank) - 1}; }
    [[nodiscard]] constexpr bool contains(std::size_t axis) const { return (bits >> axis & 1u) != 0; }
    constexpr void insert(std::size_t axis) { bits |= std::uint32_t{1} << axis; }
    friend constexpr bool operator==(const axis_set&, const axis_set&) = default;
};

/// The meaning of an empty list of axes.
enum class no_axes : unsigned char { all, none };

/// Returns the set of axes in a list; an axis may not be named twice.
[[nodiscard]] result<axis_set> axes_of(sizes axes, std::size_t rank, no_axes empty = no_axes::all);

/// Returns a shape after the reduction of some axes.
[[nodiscard]] constexpr shape_builder reduced_shape(sizes shape, axis_set axes, bool keepdim) {
    shape_builder left;
    for (std::size_t i = 0; i != shape.size(); ++i) {
        if (!axes.contains(i)) {
            left.push_back(shape[i]);
        } else if (keepdim) {
            left.push_back(1);
        }
    }
    return left;
}

/// Returns the order of axes of aten.permute, non-negative, each exactly once.
[[nodiscard]] result<shape_builder> permutation_of(sizes axes, std::size_t rank);

/// Returns a list for `count` dimensions; in PyTorch one number may be given for all.
[[nodiscard]] result<shape_builder> list_for(std::string_view what, sizes items, std::size_t count);

/// The start and end of a slice of an axis, both within it.
struct slice_range {
    std::int64_t start = 0;
    std::int64_t end = 0;

    [[nodiscard]] constexpr std::int64_t count(std::int64_t step) const {
        return end > start ? (end - start - 1) / step + 1 : 0;
    }
};

/// Returns Python's slice bounds: negative ones count from the end, others are clamped.
[[nodiscard]] constexpr slice_range clamped_slice(std::optional<std::int64_t> start,
                                                  std::optional<std::int64_t> end, std::int64_t size) {
    const auto clamp = [size](std::int64_t index, std::int64_t least) {
        if (index < 0) index = saturating_add(index, size);
        return index < least ? least : index > size ? size : index;
    };
    const std::int64_t first = clamp(start.value_or(0), 0);
    return {first, clamp(end.value_or(size), first)};
}

/// Returns the start of a part when an axis of that size is cut at indices, as by torch.tensor_split. Indices
/// may decrease; the parts then overlap.
[[nodiscard]] constexpr std::int64_t part_start(sizes indices, std::size_t part, std::int64_t size) {
    return part == 0 ? 0 : clamped_slice(indices[part - 1], std::nullopt, size).start;
}

}  // namespace headrace

// ---- headrace/infer/shape_builder_definition.hpp ----

namespace headrace {

HEADRACE_INLINE error rank_too_large() { return unsupported({"rank is above ", shape_builder::capacity}); }

HEADRACE_INLINE result<void> add_result(inference& out, dtype type, const shape_builder& shape) {
    constexpr std::int64_t largest = std::int64_t{1} << 58;  // 16 bytes each: the bytes fit in 63 bits
    if (shape.overflowed()) return rank_too_large();
    if (type == dtype::unknown) return invalid("these dtypes do not promote to a common one");
    if (type == dtype::shape) return invalid("no tensor has the type shape");
    std::int64_t count = 1;
    for (const std::int64_t size : shape) {
        if (size < 0) return invalid({"shape ", shape_text(shape), " has a negative size"});
        if (size != 0) count = saturating_mul(count, size);
    }
    if (count > largest) return unsupported({"shape ", shape_text(shape), " is too large"});
    out.add(type, sizes(shape));
    return {};
}

HEADRACE_INLINE result<void> add_result(inference& out, const tensor_meta& meta) {
    return add_result(out, meta.dtype, meta);
}
// Not inline, unlike the overload: each rule would contain a copy of a shape.
[[gnu::noinline]] HEADRACE_INLINE result<void> add_result(inference& out, dtype type,
                                                          const tensor_meta& like) {
    return add_result(out, type, shape_builder(like.shape));
}

HEADRACE_INLINE result<void> require_rank(std::string_view what, sizes shape, std::size_t least,
                                          std::size_t most) {
    if (shape.size() >= least && shape.size() <= most) return {};
    std::pmr::string text(what);
    text += text_of({" ", shape_text(shape), " must have rank ", least});
    if (most != least) text += most == SIZE_MAX ? " or more" : text_of({" to ", most});
    return invalid(text);
}

HEADRACE_INLINE result<void> require_rank(std::string_view what, sizes shape, std::size_t rank) {
    return require_rank(what, shape, rank, rank);
}

HEADRACE_INLINE result<shape_builder> broadcast(sizes a, sizes b) {
    if (a.size() < b.size()) return broadcast(b, a);
    shape_builder shape(a);
    const std::size_t lead = a.size() - b.size();
    for (std::size_t i = lead; i < shape.size(); ++i) {
        const std::int64_t other = b[i - lead];
        if (shape[i] == 1) {
            shape[i] = other;
        } else if (other != 1 && other != shape[i]) {
            return invalid({"cannot broadcast ", shape_text(a), " with ", shape_text(b)});
        }
    }
    return shape;
}

HEADRACE_INLINE result<shape_builder> expanded_shape(sizes from, sizes to) {
    const auto refuse = [&] { return invalid({"cannot expand ", shape_text(from), " to ", shape_text(to)}); };
    if (to.size() < from.size()) return refuse();
    shape_builder shape(to);
    const std::size_t lead = to.size() - from.size();
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (i < lead) {
            if (shape[i] < 0) return refuse();
        } else if (shape[i] == -1) {
            shape[i] = from[i - lead];
        } else if (from[i - lead] != 1 && from[i - lead] != shape[i]) {
            return refuse();
        }
    }
    return shape;
}

HEADRACE_INLINE result<shape_builder> viewed_shape(sizes from, sizes to) {
    const auto refuse = [&] { return invalid({"cannot view ", shape_text(from), " as ", shape_text(to)}); };
    const std::int64_t count = element_count(from);
    shape_builder shape(to);
    std::int64_t known = 1;
    std::int64_t* inferred = nullptr;
    for (std::int64_t& size : shape) {
        if (size != -1) {
            known = saturating_mul(known, size);
        } else if (inferred == nullptr) {
            inferred = &size;
        } else {
            return refuse();
        }
    }
    if (inferred != nullptr) {
        if (known <= 0 || count % known != 0) return refuse();
        *inferred = count / known;
    } else if (known != count) {
        return refuse();
    }
    return shape;
}

HEADRACE_INLINE result<std::size_t> axis_of(std::int64_t axis, std::size_t rank) {
    if (rank > shape_builder::capacity) return rank_too_large();
    if (const auto found = normalized_axis(axis, rank)) return *found;
    return invalid({"axis ", axis, " is out of range for rank ", rank});
}

HEADRACE_INLINE result<axis_set> axes_of(sizes axes, std::size_t rank, no_axes empty) {
    if (rank > shape_builder::capacity) return rank_too_large();
    if (axes.empty() && empty == no_axes::all) return axis_set::all(rank);
    axis_set set;
    for (const std::int64_t axis : axes) {
        HEADRACE_TRY(found, axis_of(axis, rank));
        if (set.contains(found)) return invalid({"axis ", axis, " is named twice"});
        set.insert(found);
    }
    return set;
}

HEADRACE_INLINE result<shape_builder> permutation_of(sizes axes, std::size_t rank) {
    if (axes.size() != rank) {
        return invalid({"permutation ", shape_text(axes), " does not have rank ", rank});
    }
    HEADRACE_TRY(axes_of(axes, rank, no_axes::none));
    shape_builder order(axes);
    for (std::int64_t& axis : order) axis = axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
    return order;
}

HEADRACE_INLINE result<shape_builder> list_for(std::string_view what, sizes items, std::size_t count) {
    if (items.size() == count) return shape_builder(items);
    if (items.size() == 1) return shape_builder::filled(count, items[0]);
    return invalid({what, " ", shape_text(items), " must have 1 or ", count, " elements"});
}

}  // namespace headrace

// ---- headrace/infer/preconditions.hpp ----

namespace headrace {

// Kernels and passes rely on the rules' checks, so a rule checks every argument. Each message names the
// argument, its value, and what it must be.

// --- numbers and lists -----------------------------------------------------------------------------------

/// Refuses an integer outside of [low, high].
[[nodiscard]] result<void> require_between(std::string_view what, std::int64_t number, std::int64_t low,
                                           std::int64_t high);
[[nodiscard]] result<void> require_equal(std::string_view what, std::int64_t number, std::int64_t expected);
[[nodiscard]] result<void> require_at_least(std::string_view what, std::int64_t number, std::int64_t low);

/// Refuses a list of the wrong length.
[[nodiscard]] result<void> require_count(std::string_view what, std::size_t given, std::size_t expected);

// --- shapes ----------------------------------------------------------------------------------------------

/// Refuses an operand of the wrong shape.
[[nodiscard]] result<void> require_shape(std::string_view what, sizes shape, sizes expected);
/// Refuses an optional operand of the wrong shape.
[[nodiscard]] result<void> require_shape(std::string_view what, const std::optional<value>& v,
                                         sizes expected);

/// Refuses an operand with the wrong number of elements, regardless of its shape.
[[nodiscard]] result<void> require_elements(std::string_view what, sizes shape, std::int64_t count);
/// Refuses an optional operand with the wrong number of elements.
[[nodiscard]] result<void> require_elements(std::string_view what, const std::optional<value>& v,
                                            std::int64_t count);

/// Refuses a shape with a size of 0.
[[nodiscard]] result<void> require_nonempty(std::string_view what, sizes shape);

/// Refuses an operand that does not broadcast to a shape.
[[nodiscard]] result<void> require_expandable(std::string_view what, sizes from, sizes to);

/// Refuses a shape that differs from `expected` in rank or along any axis except `axis`.
[[nodiscard]] result<void> require_shape_beside(std::string_view what, sizes shape, sizes expected,
                                                std::size_t axis);

// --- dtypes ----------------------------------------------------------------------------------------------

namespace detail {
error other_dtype(std::string_view what, dtype given, std::string_view expected);
}  // namespace detail

/// Refuses an operand of the wrong dtype.
[[nodiscard]] result<void> require_dtype(std::string_view what, dtype given, dtype expected);
/// Refuses an optional operand of the wrong dtype.
[[nodiscard]] result<void> require_dtype(std::string_view what, const std::optional<value>& v,
                                         dtype expected);
/// Refuses dtypes that PyTorch does not accept as indices.
[[nodiscard]] result<void> require_indices(std::string_view what, const tensor_meta& t);
/// True for booleans, and for uint8, which PyTorch still accepts as a mask because it once represented bool.
[[nodiscard]] constexpr bool is_mask(dtype t) { return is_boolean(t) || t == dtype::uint8; }
[[nodiscard]] result<void> require_mask(std::string_view what, const tensor_meta& t);
[[nodiscard]] result<void> require_floating(std::string_view what, dtype given);
/// Refuses complex numbers.
[[nodiscard]] result<void> require_real(std::string_view what, dtype given);
/// Refuses dtypes without bitwise operations.
[[nodiscard]] result<void> require_bits(std::string_view what, dtype given);

/// True if quantized values can have that scale: passes divide by it, and kernels hold it in float32.
[[nodiscard]] constexpr bool is_scale(double s) {
    return s <= std::numeric_limits<float>::max() && static_cast<float>(s) > 0;
}
[[nodiscard]] inline result<void> require_scale(std::string_view what, double s) {
    if (is_scale(s)) return {};
    return invalid({what, " must be above 0 and finite in float32"});
}

/// Refuses a dtype that an op's traits exclude, whether of one operand or the common dtype of several.
[[nodiscard]] result<void> require_type_for(std::uint64_t trait_bits, std::string_view what, dtype given);
template <op_tag Op>
[[nodiscard]] result<void> require_type_for(std::string_view what, dtype given) {
    return require_type_for(Op::trait_bits, what, given);
}

}  // namespace headrace

// ---- headrace/infer/preconditions_definition.hpp ----

namespace headrace {

HEADRACE_INLINE result<void> require_between(std::string_view what, std::int64_t number, std::int64_t low,
                                             std::int64_t high) {
    if (number >= low && number <= high) return {};
    std::pmr::string text(what);
    text += text_of({" is ", number, ", but must be "});
    text += high == INT64_MAX ? text_of({"at least ", low}) : text_of({"from ", low, " to ", high});
    return invalid(text);
}

HEADRACE_INLINE result<void> require_equal(std::string_view what, std::int64_t number,
                                           std::int64_t expected) {
    if (number == expected) return {};
    return invalid({what, " is ", number, ", but must be ", expected});
}

HEADRACE_INLINE result<void> require_at_least(std::string_view what, std::int64_t number, std::int64_t low) {
    return require_between(what, number, low, INT64_MAX);
}

HEADRACE_INLINE result<void> require_count(std::string_view what, std::size_t given, std::size_t expected) {
    if (given == expected) return {};
    return invalid({what, " has ", counted_text(given, "element"), ", but must have ", expected});
}

HEADRACE_INLINE result<void> require_shape(std::string_view what, sizes shape, sizes expected) {
    if (same_items(shape, expected)) return {};
    return invalid({what, " ", shape_text(shape), " must have shape ", shape_text(expected)});
}

HEADRACE_INLINE result<void> require_shape(std::string_view what, const std::optional<value>& v,
                                           sizes expected) {
    if (!v) return {};
    return require_shape(what, inference::of(*v).shape, expected);
}

HEADRACE_INLINE result<void> require_elements(std::string_view what, sizes shape, std::int64_t count) {
    if (element_count(shape) == count) return {};
    return invalid({what, " ", shape_text(shape), " must have ", counted_text(count, "element")});
}

HEADRACE_INLINE result<void> require_elements(std::string_view what, const std::optional<value>& v,
                                              std::int64_t count) {
    if (!v) return {};
    return require_elements(what, inference::of(*v).shape, count);
}

HEADRACE_INLINE result<void> require_nonempty(std::string_view what, sizes shape) {
    for (const std::int64_t size : shape) {
        if (size <= 0) return invalid({what, " ", shape_text(shape), " must not be empty"});
    }
    return {};
}

HEADRACE_INLINE result<void> require_expandable(std::string_view what, sizes from, sizes to) {
    if (expanded_shape(from, to)) return {};
    return invalid({what, " ", shape_text(from), " must broadcast to ", shape_text(to)});
}

HEADRACE_INLINE result<void> require_shape_beside(std::string_view what, sizes shape, sizes expected,
                                                  std::size_t axis) {
    bool equal = shape.size() == expected.size();
    for (std::size_t i = 0; equal && i != shape.size(); ++i) equal = i == axis || shape[i] == expected[i];
    if (equal) return {};
    return invalid({what, " ", shape_text(shape), " must have shape ", shape_text(expected),
                    ", apart from axis ", axis});
}

namespace detail {

HEADRACE_INLINE error other_dtype(std::string_view what, dtype given, std::string_view expected) {
    return invalid({what, " is ", name_of(given), ", but must be ", expected});
}

}  // namespace detail

HEADRACE_INLINE result<void> require_dtype(std::string_view what, dtype given, dtype expected) {
    if (given == expected) return {};
    return detail::other_dtype(what, given, name_of(expected));
}

HEADRACE_INLINE result<void> require_dtype(std::string_view what, const std::optional<value>& v,
                                           dtype expected) {
    if (!v) return {};
    return require_dtype(what, inference::of(*v).dtype, expected);
}

HEADRACE_INLINE result<void> require_indices(std::string_view what, const tensor_meta& t) {
    if (t.dtype == dtype::int64 || t.dtype == dtype::int32) return {};
    return detail::other_dtype(what, t.dtype, "int64 or int32");
}

HEADRACE_INLINE result<void> require_mask(std::string_view what, const tensor_meta& t) {
    if (is_mask(t.dtype)) return {};
    return detail::other_dtype(what, t.dtype, "bool");
}

HEADRACE_INLINE result<void> require_floating(std::string_view what, dtype given) {
    if (is_floating(given) || is_complex(given)) {
        return {};
    }
    return detail::other_dtype(what, given, "a floating-point type");
}

HEADRACE_INLINE result<void> require_real(std::string_view what, dtype given) {
    if (!is_complex(given)) return {};
    return detail::other_dtype(what, given, "a type of real numbers");
}

HEADRACE_INLINE result<void> require_bits(std::string_view what, dtype given) {
    if (is_boolean(given) || is_integral(given)) return {};
    return detail::other_dtype(what, given, "bool or an integer type");
}

HEADRACE_INLINE result<void> require_type_for(std::uint64_t trait_bits, std::string_view what, dtype given) {
    if (has_any(trait_bits, trait::on_floats)) {
        HEADRACE_TRY(require_floating(what, given));
    }
    if (has_any(trait_bits, trait::on_bits)) {
        HEADRACE_TRY(require_bits(what, given));
    }
    if (has_any(trait_bits, trait::on_numbers) && is_boolean(given))
        return detail::other_dtype(what, given, "a type of numbers");
    if (has_any(trait_bits, trait::on_reals)) {
        HEADRACE_TRY(require_real(what, given));
    }
    return {};
}

}  // namespace headrace

// ---- headrace/infer/aten_blocks.hpp ----

namespace headrace {

/// Returns the number of blocks along the height and the width of an image (PyTorch, torch.nn.Unfold). `a`
/// gives their size and their steps.
template <class Args>
[[nodiscard]] result<std::array<std::int64_t, 2>> count_blocks(const Args& a, sizes image) {
    for (const auto& [name, given] : {std::pair("kernel_size", &a.kernel_size),
                                      {"dilation", &a.dilation},
                                      {"padding", &a.padding},
                                      {"stride", &a.stride}}) {
        HEADRACE_TRY(require_count(name, given->size(), 2));
    }
    std::array<std::int64_t, 2> count{};
    for (std::size_t i = 0; i != count.size(); ++i) {
        HEADRACE_TRY(require_at_least("kernel_size", a.kernel_size[i], 1));
        HEADRACE_TRY(require_at_least("dilation", a.dilation[i], 1));
        HEADRACE_TRY(require_at_least("padding", a.padding[i], 0));
        HEADRACE_TRY(require_at_least("stride", a.stride[i], 1));
        const std::int64_t padded = saturating_add(image[i], saturating_mul(2, a.padding[i]));
        const std::int64_t reach = saturating_add(saturating_mul(a.dilation[i], a.kernel_size[i] - 1), 1);
        if (reach > padded) {
            return invalid({"blocks that span ", reach, " do not fit in an axis of ", padded});
        }
        count[i] = (padded - reach) / a.stride[i] + 1;
    }
    return count;
}

template <one_of<ops<aten::im2col>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_rank("self", self.shape, 3, 4));
    HEADRACE_TRY(count, count_blocks(a, sizes(self.shape).last(2)));
    shape_builder shape(sizes(self.shape).first(self.rank() - 2));
    shape.back() = saturating_mul(shape.back(), saturating_mul(a.kernel_size[0], a.kernel_size[1]));
    shape.push_back(saturating_mul(count[0], count[1]));
    return add_result(out, self.dtype, shape);
}
template <one_of<ops<aten::col2im>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_rank("self", self.shape, 2, 3));
    HEADRACE_TRY(require_count("output_size", a.output_size.size(), 2));
    HEADRACE_TRY(count, count_blocks(a, a.output_size));
    const std::int64_t elements = saturating_mul(a.kernel_size[0], a.kernel_size[1]);
    HEADRACE_TRY(
        require_equal("the number of columns", self.shape.back(), saturating_mul(count[0], count[1])));
    shape_builder shape(sizes(self.shape).first(self.rank() - 1));
    if (shape.back() % elements != 0) {
        return invalid({"columns of ", shape.back(), " elements are not blocks of ", elements});
    }
    shape.back() /= elements;
    shape.append(a.output_size);
    return add_result(out, self.dtype, shape);
}

}  // namespace headrace

// ---- headrace/infer/promotion.hpp ----

namespace headrace {

/// The dtype of floating-point numbers if none is given.
inline constexpr dtype default_float = dtype::float32;

/// Returns the dtype of a tensor made from a Python number: bool, int64 or float32.
[[nodiscard]] constexpr dtype dtype_of(const scalar& number) {
    switch (number.kind()) {
        case scalar::kind_type::boolean:
            return dtype::boolean;
        case scalar::kind_type::integral:
            return dtype::int64;
        default:
            return default_float;
    }
}

/// Integers and booleans become float32, as in division and in most real functions.
[[nodiscard]] constexpr dtype as_floating(dtype t) {
    return is_integral(t) || is_boolean(t) ? default_float : t;
}
/// Integers and booleans become int64, as in sums.
[[nodiscard]] constexpr dtype as_accumulator(dtype t) {
    return is_integral(t) || is_boolean(t) ? dtype::int64 : t;
}
[[nodiscard]] constexpr dtype complex_of(dtype t) {
    switch (t) {
        case dtype::float16:
            return dtype::complex32;
        case dtype::float64:
            return dtype::complex128;
        default:
            return is_complex(t) ? t : dtype::complex64;
    }
}

namespace detail {

constexpr bool is_unsigned_without_promotion(dtype t) {
    return t == dtype::uint16 || t == dtype::uint32 || t == dtype::uint64;
}
constexpr bool is_float8(dtype t) { return t == dtype::float8_e4m3 || t == dtype::float8_e5m2; }

constexpr dtype promote_integers(dtype a, dtype b) {
    if (is_unsigned_without_promotion(a) || is_unsigned_without_promotion(b)) return dtype::unknown;
    if (b == dtype::uint8) return promote_integers(b, a);
    if (a == dtype::uint8) return b == dtype::int8 ? dtype::int16 : b;
    return traits_of(a).bits > traits_of(b).bits ? a : b;
}
constexpr dtype promote_floats(dtype a, dtype b) {
    if (is_float8(a) || is_float8(b)) return dtype::unknown;
    if (traits_of(a).bits == traits_of(b).bits) return dtype::float32;  // bfloat16 with float16
    return traits_of(a).bits > traits_of(b).bits ? a : b;
}

}  // namespace detail

/// torch.promote_types. `unknown` promotes to the other dtype; dtypes that PyTorch does not promote give
/// `unknown`.
[[nodiscard]] constexpr dtype promote(dtype a, dtype b) {
    if (a == b || b == dtype::unknown) return a;
    const dtype_category left = traits_of(a).category;
    const dtype_category right = traits_of(b).category;
    if (left > right) return promote(b, a);
    if (a == dtype::unknown) return b;
    if (detail::is_float8(a) || detail::is_float8(b)) return dtype::unknown;
    if (left == dtype_category::boolean) return b;
    if (right == dtype_category::complex && left >= dtype_category::floating) {
        const dtype other = complex_of(a);
        return traits_of(other).bits > traits_of(b).bits ? other : b;
    }
    if (left != right) return b;
    return left == dtype_category::integral ? detail::promote_integers(a, b) : detail::promote_floats(a, b);
}

/// torch.result_type: tensors of rank 0 and Python numbers affect the result only if their category is above
/// that of the other tensors; Python numbers only if it is also above that of tensors of rank 0.
class promotion {
public:
    constexpr promotion& add(const tensor_meta& tensor) {
        dtype& type = tensor.rank() == 0 ? zero_ : dim_;
        type = promoted(type, tensor.dtype);
        return *this;
    }
    constexpr promotion& add(const scalar& number) {
        number_ = promoted(number_, dtype_of(number));
        return *this;
    }

    /// Returns the common dtype; `unknown` if there is none.
    [[nodiscard]] constexpr dtype type() {
        const dtype combined = combine(dim_, combine(zero_, number_));
        return impossible_ ? dtype::unknown : combined;
    }

private:
    constexpr dtype promoted(dtype a, dtype b) {
        const dtype type = promote(a, b);
        impossible_ |= type == dtype::unknown;
        return type;
    }
    constexpr dtype combine(dtype higher, dtype lower) {
        const dtype_category low = traits_of(lower).category;
        switch (traits_of(higher).category) {
            case dtype_category::none:
                return lower;
            case dtype_category::complex:
                return higher;
            case dtype_category::floating:
                return low == dtype_category::complex ? complex_of(higher) : higher;
            case dtype_category::boolean:
                return low == dtype_category::none ? higher : promoted(higher, lower);
            default:
                return low >= dtype_category::floating ? promoted(higher, lower) : higher;
        }
    }

    dtype dim_ = dtype::unknown;
    dtype zero_ = dtype::unknown;
    dtype number_ = dtype::unknown;
    bool impossible_ = false;
};

/// Returns the common dtype of tensors (tensor_meta) and Python numbers (scalar).
template <class... Operands>
[[nodiscard]] constexpr dtype result_type(const Operands&... operands) {
    promotion p;
    static_cast<void>((p.add(operands), ...));
    return p.type();
}

}  // namespace headrace

// ---- headrace/infer/aten_elementwise.hpp ----

namespace headrace {

namespace aten {

/// Matches arithmetic on `self` and `other` whose dtypes alone determine the result's.
template <class Op>
concept takes_other = requires(const args<Op>& a) {
    { a.self } -> std::convertible_to<value>;
    a.other;
} && !requires(const args<Op>& a) { a.rounding_mode; };

/// Ops whose result has the type and shape of self, with a rule of their own for the other arguments.
using like_self_ops_with_rule =
    ops<abs, prelu, _prelu_kernel, gelu, celu, fill_tensor, channel_shuffle, flip, fliplr, flipud, roll, tril,
        triu, index_add, index_copy, index_fill_int_scalar, index_put, _unsafe_index_put, scatter_add,
        scatter_src, scatter_value, select_scatter, slice_scatter>;

}  // namespace aten

namespace detail {

inline result<void> infer_broadcast(inference& out, dtype type, const tensor_meta& a, const tensor_meta& b) {
    HEADRACE_TRY(shape, broadcast(a.shape, b.shape));
    return add_result(out, type, shape);
}
inline result<void> infer_broadcast(inference& out, dtype type, const tensor_meta& a, const tensor_meta& b,
                                    const tensor_meta& c) {
    HEADRACE_TRY(shape, broadcast(a.shape, b.shape, c.shape));
    return add_result(out, type, shape);
}

/// Returns the common dtype of the operands; refuses it if an op with these traits is not defined for it.
[[nodiscard]] inline result<dtype> promoted_for(std::uint64_t trait_bits, dtype type) {
    HEADRACE_TRY(require_type_for(trait_bits, "the common type of the operands", type));
    return type;
}
template <class Op, class... Operands>
result<dtype> promoted_for(const Operands&... operands) {
    return promoted_for(Op::trait_bits, result_type(operands...));
}
template <class Op>
result<void> infer_promoted(inference& out, const tensor_meta& a, const tensor_meta& b) {
    HEADRACE_TRY(type, promoted_for<Op>(a, b));
    return infer_broadcast(out, type, a, b);
}

/// Refuses a floating-point alpha for integers.
inline result<void> check_alpha(const scalar& alpha, dtype type) {
    if (is_floating(type) || !alpha.is_floating()) return {};
    return invalid({"alpha must be an integer where the result is ", name_of(type)});
}

/// Infers the shape and dtype of `self`; refuses a dtype for which an op with these traits is not defined.
inline result<void> infer_like_self(std::uint64_t trait_bits, const tensor_meta& self, inference& out) {
    HEADRACE_TRY(require_type_for(trait_bits, "self", self.dtype));
    return add_result(out, self);
}
template <class Op>
result<void> infer_like_self(const tensor_meta& self, inference& out) {
    return infer_like_self(Op::trait_bits, self, out);
}

/// Returns the dtype of an arithmetic result, that of the operands; refuses it if these traits exclude it.
[[nodiscard]] inline result<dtype> arithmetic_type(std::uint64_t trait_bits, dtype common,
                                                   const scalar* alpha) {
    HEADRACE_TRY(promoted_for(trait_bits, common));
    const dtype type = has_any(trait_bits, trait::predicate)      ? dtype::boolean
                       : has_any(trait_bits, trait::int_to_float) ? as_floating(common)
                                                                  : common;
    if (alpha != nullptr) {
        HEADRACE_TRY(check_alpha(*alpha, type));
    }
    return type;
}
// One function for all ops, because only the traits differ.
inline result<void> infer_arithmetic(std::uint64_t trait_bits, const tensor_meta& self,
                                     const tensor_meta& other, const scalar* alpha, inference& out) {
    HEADRACE_TRY(type, arithmetic_type(trait_bits, result_type(self, other), alpha));
    return infer_broadcast(out, type, self, other);
}
inline result<void> infer_arithmetic(std::uint64_t trait_bits, const tensor_meta& self, const scalar& other,
                                     const scalar* alpha, inference& out) {
    HEADRACE_TRY(type, arithmetic_type(trait_bits, result_type(self, other), alpha));
    return add_result(out, type, self);
}
inline result<void> infer_function(std::uint64_t trait_bits, const tensor_meta& self, inference& out) {
    HEADRACE_TRY(require_type_for(trait_bits, "self", self.dtype));
    return add_result(out, has_any(trait_bits, trait::predicate) ? dtype::boolean : as_floating(self.dtype),
                      self);
}

/// Returns the dtype of a quotient. A rounded quotient keeps the common type of the operands.
template <class Other>
result<dtype> quotient_type(const tensor_meta& self, const Other& other,
                            const std::optional<std::string_view>& rounding_mode) {
    if (!rounding_mode) return as_floating(result_type(self, other));
    if (*rounding_mode != "floor" && *rounding_mode != "trunc") {
        return invalid("rounding_mode must be floor or trunc");
    }
    return promoted_for<aten::floor_divide>(self, other);  // both have the same types as floor_divide
}
}  // namespace detail

template <op_where<aten::dialect, trait::like_self> Op>
    requires(!one_of<Op, aten::like_self_ops_with_rule>)
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_like_self<Op>(inference::of(a.self), out);
}

/// Returns the dtype of absolute values; those of complex numbers are real.
[[nodiscard]] constexpr dtype magnitude_of(dtype t) {
    switch (t) {
        case dtype::complex32:
            return dtype::float16;
        case dtype::complex64:
            return dtype::float32;
        case dtype::complex128:
            return dtype::float64;
        default:
            return t;
    }
}
template <one_of<ops<aten::abs>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    return add_result(out, magnitude_of(self.dtype), self);
}
template <one_of<ops<aten::gelu>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    if (a.approximate != "none" && a.approximate != "tanh")
        return invalid("approximate must be none or tanh");
    return detail::infer_like_self<Op>(inference::of(a.self), out);
}
template <one_of<ops<aten::celu>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    if (a.alpha.to_double() == 0) return invalid("alpha must not be 0");
    return detail::infer_like_self<Op>(inference::of(a.self), out);
}
/// One weight for all elements, or one per channel; only tensors with a second axis have channels.
template <one_of<ops<aten::prelu>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const sizes weight(inference::of(a.weight).shape);
    HEADRACE_TRY(require_dtype("weight", inference::of(a.weight).dtype, self.dtype));
    HEADRACE_TRY(require_rank("weight", weight, 0, 1));
    if (element_count(weight) != 1) {
        HEADRACE_TRY(require_rank("self", self.shape, 1, SIZE_MAX));
        HEADRACE_TRY(require_elements("weight", weight, self.rank() > 1 ? self.shape[1] : 1));
    }
    return detail::infer_like_self<Op>(self, out);
}
template <one_of<ops<aten::_prelu_kernel>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_dtype("weight", inference::of(a.weight).dtype, self.dtype));
    HEADRACE_TRY(require_expandable("weight", inference::of(a.weight).shape, self.shape));
    return detail::infer_like_self<Op>(self, out);
}
template <one_of<ops<aten::fill_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_rank("value", inference::of(a.value).shape, 0));
    return add_result(out, inference::of(a.self));
}

/// copy(self, src) is src in the type and shape of self.
template <one_of<ops<aten::copy>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(expanded_shape(inference::of(a.src).shape, self.shape));
    return add_result(out, self);
}

/// Functions of one tensor whose result has a different dtype.
template <op_where<aten::dialect, trait::unary, trait::int_to_float | trait::predicate> Op>
    requires(!aten::takes_other<Op>)
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_function(Op::trait_bits, inference::of(a.self), out);
}

/// A tensor and another tensor or a Python number, promoted (torch.result_type).
template <op_where<aten::dialect, trait::unary | trait::binary> Op>
    requires aten::takes_other<Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const scalar* alpha = nullptr;
    if constexpr (requires { a.alpha; }) alpha = &a.alpha;
    if constexpr (has_trait<Op>(trait::binary)) {
        return detail::infer_arithmetic(Op::trait_bits, inference::of(a.self), inference::of(a.other), alpha,
                                        out);
    } else {
        return detail::infer_arithmetic(Op::trait_bits, inference::of(a.self), a.other, alpha, out);
    }
}

template <one_of<ops<aten::remainder_scalar_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& other = inference::of(a.other);
    HEADRACE_TRY(type, detail::promoted_for<Op>(other, a.self));
    return add_result(out, type, other);
}

template <one_of<ops<aten::div_tensor_mode>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& other = inference::of(a.other);
    HEADRACE_TRY(type, detail::quotient_type(self, other, a.rounding_mode));
    return detail::infer_broadcast(out, type, self, other);
}

template <one_of<ops<aten::div_scalar_mode>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(type, detail::quotient_type(self, a.other, a.rounding_mode));
    return add_result(out, type, self);
}

template <one_of<ops<aten::pow_scalar>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& exponent = inference::of(a.exponent);
    return add_result(out, result_type(exponent, a.self), exponent);
}

template <one_of<ops<aten::pow_tensor_scalar>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const dtype type = result_type(self, a.exponent);
    return add_result(out, is_boolean(type) ? dtype::int64 : type, self);
}

template <one_of<ops<aten::pow_tensor_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_promoted<Op>(out, inference::of(a.self), inference::of(a.exponent));
}

/// A square is a power with exponent 2.
template <one_of<ops<aten::square>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    return add_result(out, result_type(self, scalar(2)), self);
}

template <one_of<ops<aten::addcdiv, aten::addcmul>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& left = inference::of(a.tensor1);
    const tensor_meta& right = inference::of(a.tensor2);
    HEADRACE_TRY(type, detail::promoted_for<Op>(self, left, right));
    return detail::infer_broadcast(out, type, self, left, right);
}

template <one_of<ops<aten::lerp_scalar>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    return detail::infer_broadcast(out, self.dtype, self, inference::of(a.end));
}

template <one_of<ops<aten::lerp_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    return detail::infer_broadcast(out, self.dtype, self, inference::of(a.end), inference::of(a.weight));
}

template <one_of<ops<aten::clamp>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    if (!a.min && !a.max) return invalid("neither min nor max is given");
    const tensor_meta& self = inference::of(a.self);
    promotion type;
    type.add(self);
    if (a.min) type.add(*a.min);
    if (a.max) type.add(*a.max);
    HEADRACE_TRY(require_type_for<Op>("the common type of the operands", type.type()));
    return add_result(out, type.type(), self);
}

template <one_of<ops<aten::clamp_max>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(type, detail::promoted_for<Op>(self, a.max));
    return add_result(out, type, self);
}

template <one_of<ops<aten::clamp_min>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(type, detail::promoted_for<Op>(self, a.min));
    return add_result(out, type, self);
}

template <one_of<ops<aten::clamp_max_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_promoted<Op>(out, inference::of(a.self), inference::of(a.max));
}

template <one_of<ops<aten::clamp_min_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_promoted<Op>(out, inference::of(a.self), inference::of(a.min));
}

template <one_of<ops<aten::clamp_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    if (!a.min && !a.max) return invalid("neither min nor max is given");
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& low = inference::of(a.min ? *a.min : *a.max);
    const tensor_meta& high = inference::of(a.max ? *a.max : *a.min);
    HEADRACE_TRY(type, detail::promoted_for<Op>(self, low, high));
    return detail::infer_broadcast(out, type, self, low, high);
}

/// On the CPU, the second result is kept for the gradient.
template <one_of<ops<aten::log_sigmoid_forward>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(detail::infer_like_self<Op>(inference::of(a.self), out));
    return add_result(out, inference::of(a.self));
}

template <one_of<ops<aten::glu>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    shape_builder shape(self.shape);
    HEADRACE_TRY(axis, axis_of(a.dim, self.rank()));
    if (shape.empty() || shape[axis] % 2 != 0) {
        return invalid({"axis ", axis, " of ", shape_text(self.shape), " must be even"});
    }
    shape[axis] /= 2;
    return add_result(out, self.dtype, shape);
}

}  // namespace headrace

// ---- headrace/infer/aten_matrix.hpp ----

namespace headrace {
namespace aten {

using rnn_ops = ops<gru_input, rnn_relu_input, rnn_tanh_input>;

}  // namespace aten

namespace detail {

inline error cannot_multiply(sizes a, sizes b) {
    return invalid({"cannot multiply ", shape_text(a), " by ", shape_text(b)});
}

/// Returns the shape of torch.matmul: a left vector is a row, a right one a column; leading axes broadcast.
inline result<shape_builder> matmul_shape(sizes a, sizes b) {
    if (a.empty() || b.empty()) return cannot_multiply(a, b);
    const std::int64_t inner = b.size() == 1 ? b[0] : b[b.size() - 2];
    if (a.back() != inner) return cannot_multiply(a, b);
    const sizes rows = a.size() == 1 ? sizes() : a.subspan(a.size() - 2, 1);
    const sizes columns = b.size() == 1 ? sizes() : b.last(1);
    HEADRACE_TRY(
        shape, broadcast(a.first(a.size() < 2 ? 0 : a.size() - 2), b.first(b.size() < 2 ? 0 : b.size() - 2)));
    shape.append(rows);
    shape.append(columns);
    return shape;
}

/// Refuses factors of different dtypes and of booleans.
inline result<void> require_factors(const tensor_meta& a, const tensor_meta& b) {
    if (is_boolean(a.dtype)) return other_dtype("the first factor", a.dtype, "a type of numbers");
    return require_dtype("the second factor", b.dtype, a.dtype);
}

/// Returns the shape of a product of two tensors of exactly these ranks.
inline result<shape_builder> product_shape(sizes a, std::size_t rank_of_a, sizes b, std::size_t rank_of_b) {
    if (a.size() != rank_of_a || b.size() != rank_of_b) return cannot_multiply(a, b);
    if (rank_of_a == 3 && a[0] != b[0]) return cannot_multiply(a, b);
    return matmul_shape(a, b);
}
inline result<void> infer_product(inference& out, const tensor_meta& a, std::size_t rank_of_a,
                                  const tensor_meta& b, std::size_t rank_of_b) {
    HEADRACE_TRY(shape, product_shape(a.shape, rank_of_a, b.shape, rank_of_b));
    HEADRACE_TRY(require_factors(a, b));
    return add_result(out, a.dtype, shape);
}
inline result<void> infer_added_product(inference& out, const tensor_meta& self, const tensor_meta& a,
                                        const tensor_meta& b, std::size_t rank) {
    HEADRACE_TRY(shape, product_shape(a.shape, rank, b.shape, rank));
    HEADRACE_TRY(require_expandable("self", self.shape, shape));
    HEADRACE_TRY(require_factors(a, b));
    HEADRACE_TRY(require_dtype("self", self.dtype, a.dtype));
    return add_result(out, a.dtype, shape);
}

/// Leading axes broadcast, except the heads (third axis from the end) if key and value share them: `grouped`.
inline result<shape_builder> attention_shape(sizes query, sizes key, sizes value, bool grouped) {
    HEADRACE_TRY(require_rank("query", query, grouped ? 3 : 2, shape_builder::capacity));
    HEADRACE_TRY(require_rank("key", key, query.size()));
    HEADRACE_TRY(require_rank("value", value, query.size()));
    const std::size_t rank = query.size();
    if (query.back() != key.back() || key[rank - 2] != value[rank - 2]) {
        return invalid({"query ", shape_text(query), ", key ", shape_text(key), " and value ",
                        shape_text(value), " do not match"});
    }
    const std::size_t lead = rank - (grouped ? 3 : 2);
    if (grouped) {
        for (const sizes shared : {key, value}) {
            if (shared[lead] > 0 && query[lead] % shared[lead] == 0) continue;
            return invalid(
                {"the heads of ", shape_text(shared), " do not divide those of query ", shape_text(query)});
        }
    }
    HEADRACE_TRY(batch, broadcast(query.first(lead), key.first(lead), value.first(lead)));
    shape_builder shape(batch);
    shape.append(query.subspan(lead));
    shape.back() = value.back();
    return shape;
}

struct attention_operands {
    const tensor_meta& query;
    const tensor_meta& key;
    const tensor_meta& value;
    const std::optional<headrace::value>& mask;
    bool is_causal;
    bool grouped;
};
inline result<shape_builder> infer_attention(inference& out, const attention_operands& a) {
    HEADRACE_TRY(shape, attention_shape(a.query.shape, a.key.shape, a.value.shape, a.grouped));
    HEADRACE_TRY(require_floating("query", a.query.dtype));
    HEADRACE_TRY(require_real("query", a.query.dtype));
    HEADRACE_TRY(require_dtype("key", a.key.dtype, a.query.dtype));
    HEADRACE_TRY(require_dtype("value", a.value.dtype, a.query.dtype));
    if (a.mask) {
        const tensor_meta& mask = inference::of(*a.mask);
        if (a.is_causal) return invalid("attn_mask must not be given together with is_causal");
        if (!is_boolean(mask.dtype) && mask.dtype != dtype::float32) {
            HEADRACE_TRY(require_dtype("attn_mask", mask.dtype, a.query.dtype));
        }
        shape_builder scores(shape);
        scores.back() = a.key.shape[a.key.rank() - 2];
        HEADRACE_TRY(require_expandable("attn_mask", mask.shape, scores));
    }
    HEADRACE_TRY(add_result(out, a.query.dtype, shape));
    return shape;
}

// --- recurrent networks ----------------------------------------------------------------------------------

/// The number of weight rows for each element of the hidden state.
template <class Op>
inline constexpr std::int64_t gates_of = 1;
template <>
inline constexpr std::int64_t gates_of<aten::gru_cell> = 3;
template <>
inline constexpr std::int64_t gates_of<aten::gru_input> = 3;
template <>
inline constexpr std::int64_t gates_of<aten::lstm_cell> = 4;
template <>
inline constexpr std::int64_t gates_of<aten::lstm_input> = 4;

/// The weights of one cell: [gates * hidden, input] and [gates * hidden, hidden], with biases of the same
/// number of rows.
struct cell_sizes {
    std::int64_t gates;
    std::int64_t input;
    std::int64_t hidden;
    std::int64_t given_out;  ///< size of the cell's output: `hidden`, or less after a projection
    dtype type;              ///< of all operands

    [[nodiscard]] std::int64_t rows() const { return saturating_mul(gates, hidden); }
    [[nodiscard]] result<void> check(const tensor_meta& w_ih, const tensor_meta& w_hh) const {
        HEADRACE_TRY(require_dtype("w_ih", w_ih.dtype, type));
        HEADRACE_TRY(require_dtype("w_hh", w_hh.dtype, type));
        HEADRACE_TRY(require_shape("w_ih", w_ih.shape, shape_builder{rows(), input}));
        return require_shape("w_hh", w_hh.shape, shape_builder{rows(), given_out});
    }
    [[nodiscard]] result<void> check_bias(std::string_view what, const std::optional<value>& bias) const {
        if (!bias) return {};
        HEADRACE_TRY(require_dtype(what, inference::of(*bias).dtype, type));
        return require_shape(what, bias, shape_builder{rows()});
    }
};

/// One step of a cell: [batch, input] and [batch, hidden].
inline result<void> check_cell(const tensor_meta& input, const tensor_meta& hidden, const tensor_meta& w_hh) {
    HEADRACE_TRY(require_floating("input", input.dtype));
    HEADRACE_TRY(require_dtype("hx", hidden.dtype, input.dtype));
    HEADRACE_TRY(require_rank("input", input.shape, 2));
    HEADRACE_TRY(require_rank("w_hh", w_hh.shape, 2));
    return require_shape("hx", hidden.shape, shape_builder{input.shape[0], w_hh.shape[1]});
}

/// Returns the initial states of a cell: one operand, or a list of two.
inline list<value> states_of(const value& hx) { return {&hx, 1}; }
inline list<value> states_of(const list<value>& hx) { return hx; }

/// The operands of a recurrent network over a sequence.
struct sequence_operands {
    std::int64_t gates;
    const tensor_meta& input;
    const tensor_meta& hidden;
    const tensor_meta& cell;  ///< for LSTM; else the same as `hidden`
    list<value> params;
    bool has_biases;
    std::int64_t layers;
    bool bidirectional;
    bool batch_first;

    [[nodiscard]] std::int64_t directions() const { return bidirectional ? 2 : 1; }
    [[nodiscard]] bool projects() const { return hidden.shape[2] != cell.shape[2]; }
};

/// Checks the parameters for each layer and direction: w_ih, w_hh, the biases, and the projection.
inline result<void> check_params(const sequence_operands& s) {
    const std::int64_t each = (s.has_biases ? 4 : 2) + (s.projects() ? 1 : 0);
    const std::int64_t wanted = saturating_mul(saturating_mul(s.layers, s.directions()), each);
    const auto given = static_cast<std::int64_t>(s.params.size());
    HEADRACE_TRY(require_equal("the number of params", given, wanted));
    cell_sizes cell{s.gates, s.input.shape[2], s.cell.shape[2], s.hidden.shape[2], s.input.dtype};
    for (std::int64_t k = 0; k != s.layers * s.directions(); ++k) {
        const value* p = s.params.begin() + k * each;
        if (k == s.directions()) cell.input = saturating_mul(s.hidden.shape[2], s.directions());
        HEADRACE_TRY(cell.check(inference::of(p[0]), inference::of(p[1])));
        if (s.has_biases) {
            HEADRACE_TRY(cell.check_bias("b_ih", p[2]));
            HEADRACE_TRY(cell.check_bias("b_hh", p[3]));
        }
        if (s.projects()) {
            HEADRACE_TRY(require_dtype("w_hr", inference::of(p[each - 1]).dtype, s.input.dtype));
            HEADRACE_TRY(require_shape("w_hr", inference::of(p[each - 1]).shape,
                                       shape_builder{cell.given_out, cell.hidden}));
        }
    }
    return {};
}

/// Infers the output of a recurrent network at each step: the last layer's hidden state, in both directions.
inline result<void> infer_sequence(inference& out, const sequence_operands& s) {
    HEADRACE_TRY(require_floating("input", s.input.dtype));
    HEADRACE_TRY(require_dtype("hx", s.hidden.dtype, s.input.dtype));
    HEADRACE_TRY(require_dtype("the cell state", s.cell.dtype, s.input.dtype));
    HEADRACE_TRY(require_rank("input", s.input.shape, 3));
    HEADRACE_TRY(require_rank("hx", s.hidden.shape, 3));
    HEADRACE_TRY(require_rank("the cell state", s.cell.shape, 3));
    HEADRACE_TRY(require_at_least("num_layers", s.layers, 1));
    const std::int64_t states = saturating_mul(s.layers, s.directions());
    const std::int64_t batch = s.input.shape[s.batch_first ? 0 : 1];
    HEADRACE_TRY(require_shape("hx", s.hidden.shape, shape_builder{states, batch, s.hidden.shape[2]}));
    HEADRACE_TRY(
        require_shape("the cell state", s.cell.shape, shape_builder{states, batch, s.cell.shape[2]}));
    HEADRACE_TRY(check_params(s));
    const std::int64_t width = saturating_mul(s.hidden.shape[2], s.directions());
    return add_result(out, s.input.dtype, {s.input.shape[0], s.input.shape[1], width});
}

}  // namespace detail

template <one_of<ops<aten::mm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_product(out, inference::of(a.self), 2, inference::of(a.mat2), 2);
}
template <one_of<ops<aten::bmm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_product(out, inference::of(a.self), 3, inference::of(a.mat2), 3);
}
template <one_of<ops<aten::mv>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_product(out, inference::of(a.self), 2, inference::of(a.vec), 1);
}
template <one_of<ops<aten::dot>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_product(out, inference::of(a.self), 1, inference::of(a.tensor), 1);
}
template <one_of<ops<aten::matmul>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& other = inference::of(a.other);
    HEADRACE_TRY(shape, detail::matmul_shape(self.shape, other.shape));
    HEADRACE_TRY(detail::require_factors(self, other));
    return add_result(out, self.dtype, shape);
}
template <one_of<ops<aten::outer>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& other = inference::of(a.vec2);
    HEADRACE_TRY(require_rank("self", self.shape, 1));
    HEADRACE_TRY(require_rank("vec2", other.shape, 1));
    return add_result(out, result_type(self, other), {self.shape[0], other.shape[0]});
}
template <one_of<ops<aten::addmm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_added_product(out, inference::of(a.self), inference::of(a.mat1),
                                       inference::of(a.mat2), 2);
}
template <one_of<ops<aten::baddbmm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_added_product(out, inference::of(a.self), inference::of(a.batch1),
                                       inference::of(a.batch2), 3);
}
template <one_of<ops<aten::linear>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    const tensor_meta& weight = inference::of(a.weight);
    HEADRACE_TRY(require_rank("input", input.shape, 1, SIZE_MAX));
    HEADRACE_TRY(require_rank("weight", weight.shape, 1, 2));
    if (input.shape.back() != weight.shape.back()) return detail::cannot_multiply(input.shape, weight.shape);
    shape_builder shape(sizes(input.shape).first(input.rank() - 1));
    if (weight.rank() == 2) shape.push_back(weight.shape[0]);
    HEADRACE_TRY(detail::require_factors(input, weight));
    HEADRACE_TRY(require_dtype("bias", a.bias, input.dtype));
    if (a.bias) {
        const sizes bias(inference::of(*a.bias).shape);
        HEADRACE_TRY(require_rank("bias", bias, weight.rank() - 1));
        if (element_count(bias) != 1) {
            HEADRACE_TRY(require_shape("bias", bias, sizes(weight.shape).first(weight.rank() - 1)));
        }
    }
    return add_result(out, input.dtype, shape);
}

template <one_of<ops<aten::scaled_dot_product_attention>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(
        detail::infer_attention(out, {inference::of(a.query), inference::of(a.key), inference::of(a.value),
                                      a.attn_mask, a.is_causal, a.enable_gqa}));
    return {};
}
template <one_of<ops<aten::_scaled_dot_product_flash_attention_for_cpu>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& query = inference::of(a.query);
    HEADRACE_TRY(require_rank("query", query.shape, 4));
    HEADRACE_TRY(shape, detail::infer_attention(out, {query, inference::of(a.key), inference::of(a.value),
                                                      a.attn_mask, a.is_causal, false}));
    // Nothing broadcasts here: there is one sum per row of the query.
    HEADRACE_TRY(require_shape("query", sizes(query.shape).first(3), sizes(shape).first(3)));
    const dtype sums = query.dtype == dtype::float64 ? dtype::float64 : dtype::float32;
    return add_result(out, sums, sizes(query.shape).first(3));
}

template <one_of<aten::rnn_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& hidden = inference::of(a.hx);
    HEADRACE_TRY(
        detail::infer_sequence(out, {detail::gates_of<Op>, inference::of(a.input), hidden, hidden, a.params,
                                     a.has_biases, a.num_layers, a.bidirectional, a.batch_first}));
    return add_result(out, hidden);
}
template <one_of<ops<aten::lstm_input>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_count("hx", a.hx.size(), 2));
    const tensor_meta& hidden = inference::of(a.hx[0]);
    const tensor_meta& cell = inference::of(a.hx[1]);
    HEADRACE_TRY(
        detail::infer_sequence(out, {detail::gates_of<Op>, inference::of(a.input), hidden, cell, a.params,
                                     a.has_biases, a.num_layers, a.bidirectional, a.batch_first}));
    HEADRACE_TRY(add_result(out, hidden));
    return add_result(out, cell);
}
template <one_of<ops<aten::gru_cell, aten::rnn_relu_cell, aten::rnn_tanh_cell, aten::lstm_cell>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    const tensor_meta& w_hh = inference::of(a.w_hh);
    const list<value> states = detail::states_of(a.hx);
    HEADRACE_TRY(require_count("hx", states.size(), std::is_same_v<Op, aten::lstm_cell> ? 2 : 1));
    for (const value state : states) {
        HEADRACE_TRY(detail::check_cell(input, inference::of(state), w_hh));
    }
    const std::int64_t hidden = w_hh.shape[1];
    const detail::cell_sizes cell{detail::gates_of<Op>, input.shape[1], hidden, hidden, input.dtype};
    HEADRACE_TRY(cell.check(inference::of(a.w_ih), w_hh));
    HEADRACE_TRY(cell.check_bias("b_ih", a.b_ih));
    HEADRACE_TRY(cell.check_bias("b_hh", a.b_hh));
    for (const value state : states) {
        HEADRACE_TRY(add_result(out, inference::of(state)));
    }
    return {};
}

}  // namespace headrace

// ---- headrace/infer/aten_reduction.hpp ----

namespace headrace {

namespace detail {

/// Infers a reduction. No list of axes and, for most ops, an empty list mean all axes.
inline result<void> infer_reduced(inference& out, dtype type, sizes shape, sizes axes, bool keepdim,
                                  no_axes empty = no_axes::all) {
    HEADRACE_TRY(reduced, axes_of(axes, shape.size(), empty));
    return add_result(out, type, reduced_shape(shape, reduced, keepdim));
}
inline result<void> infer_reduced(inference& out, dtype type, sizes shape, const int_list& axes,
                                  bool keepdim) {
    return infer_reduced(out, type, shape, sizes(axes), keepdim);
}
inline result<void> infer_reduced(inference& out, dtype type, sizes shape,
                                  const std::optional<int_list>& axes, bool keepdim) {
    return infer_reduced(out, type, shape, axes ? sizes(*axes) : sizes(), keepdim);
}
inline result<void> infer_reduced(inference& out, dtype type, sizes shape, std::int64_t axis, bool keepdim) {
    return infer_reduced(out, type, shape, sizes(&axis, 1), keepdim);
}
inline result<void> infer_reduced(inference& out, dtype type, sizes shape, std::optional<std::int64_t> axis,
                                  bool keepdim) {
    return axis ? infer_reduced(out, type, shape, *axis, keepdim)
                : infer_reduced(out, type, shape, sizes(), keepdim);
}

/// Refuses an extremum along an empty axis, which is undefined.
inline result<void> check_reduced_sizes(sizes shape, sizes axes) {
    HEADRACE_TRY(reduced, axes_of(axes, shape.size()));
    for (std::size_t i = 0; i != shape.size(); ++i) {
        if (reduced.contains(i) && shape[i] == 0) {
            return invalid({"axis ", i, " of ", shape_text(shape), " must not be empty"});
        }
    }
    return {};
}
template <class Op>
result<void> check_extrema(const tensor_meta& self, sizes axes) {
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    return check_reduced_sizes(self.shape, axes);
}
template <class Op>
result<void> check_extrema(const tensor_meta& self, std::optional<std::int64_t> axis) {
    return check_extrema<Op>(self, axis ? sizes(&*axis, 1) : sizes());
}
/// Returns the accumulating dtype of means and deviations; refuses integers.
inline result<dtype> real_type(dtype self, std::optional<dtype> given = std::nullopt) {
    const dtype type = given.value_or(self);
    HEADRACE_TRY(require_floating(given ? "dtype" : "self", type));
    return type;
}

/// `all` and `any` keep uint8, which once represented bool.
constexpr dtype truth_of(dtype t) { return t == dtype::uint8 ? t : dtype::boolean; }

}  // namespace detail

template <one_of<ops<aten::sum, aten::prod>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, a.dtype.value_or(as_accumulator(inference::of(a.self).dtype)), shape_builder());
}

template <one_of<ops<aten::sum_dim_intlist, aten::prod_dim_int, aten::nansum>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    return detail::infer_reduced(out, a.dtype.value_or(as_accumulator(self.dtype)), self.shape, a.dim,
                                 a.keepdim);
}

template <one_of<ops<aten::cumsum, aten::cumprod>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(axis_of(a.dim, self.rank()));
    return add_result(out, a.dtype.value_or(as_accumulator(self.dtype)), self);
}

template <one_of<ops<aten::mean>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(type, detail::real_type(inference::of(a.self).dtype, a.dtype));
    return add_result(out, type, shape_builder());
}

template <one_of<ops<aten::mean_dim, aten::linalg_vector_norm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(type, detail::real_type(self.dtype, a.dtype));
    return detail::infer_reduced(out, type, self.shape, a.dim, a.keepdim);
}

template <one_of<ops<aten::amax, aten::amin>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(detail::check_extrema<Op>(self, a.dim));
    return detail::infer_reduced(out, self.dtype, self.shape, a.dim, a.keepdim);
}

template <one_of<
    ops<aten::std_correction, aten::std_dim, aten::var_correction, aten::var_dim, aten::norm_scalaropt_dim>>
              Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(type, detail::real_type(self.dtype));
    return detail::infer_reduced(out, type, self.shape, a.dim, a.keepdim);
}

template <one_of<ops<aten::logsumexp>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    return detail::infer_reduced(out, as_floating(self.dtype), self.shape, a.dim, a.keepdim);
}

template <one_of<ops<aten::max, aten::min>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(detail::check_extrema<Op>(self, sizes()));
    return add_result(out, self.dtype, shape_builder());
}

template <one_of<ops<aten::std_, aten::var, aten::norm_scalar>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(type, detail::real_type(inference::of(a.self).dtype));
    return add_result(out, type, shape_builder());
}

template <one_of<ops<aten::max_dim, aten::min_dim>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(detail::check_extrema<Op>(self, a.dim));
    HEADRACE_TRY(detail::infer_reduced(out, self.dtype, self.shape, a.dim, a.keepdim));
    return detail::infer_reduced(out, dtype::int64, self.shape, a.dim, a.keepdim);
}

template <one_of<ops<aten::topk>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    HEADRACE_TRY(axis, axis_of(a.dim, self.rank()));
    shape_builder shape(self.shape);
    HEADRACE_TRY(require_between("k", a.k, 0, shape.empty() ? 1 : shape[axis]));
    if (!shape.empty()) shape[axis] = a.k;
    HEADRACE_TRY(add_result(out, self.dtype, shape));
    return add_result(out, dtype::int64, shape);
}

template <one_of<aten::sort_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    constexpr bool gives_positions = !std::is_same_v<Op, aten::msort>;
    constexpr bool gives_elements = !has_trait<Op>(trait::locating);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    if constexpr (gives_positions) {
        HEADRACE_TRY(axis_of(a.dim, self.rank()));
    }
    if constexpr (gives_elements) {
        HEADRACE_TRY(add_result(out, self.dtype, self.shape));
    }
    if constexpr (gives_positions) {
        HEADRACE_TRY(add_result(out, dtype::int64, self.shape));
    }
    return {};
}

template <one_of<ops<aten::aminmax>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(detail::check_extrema<Op>(self, a.dim));
    HEADRACE_TRY(detail::infer_reduced(out, self.dtype, self.shape, a.dim, a.keepdim));
    return detail::infer_reduced(out, self.dtype, self.shape, a.dim, a.keepdim);
}

template <
    one_of<ops<aten::var_mean_correction, aten::var_mean_dim, aten::std_mean_correction, aten::std_mean_dim>>
        Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(detail::real_type(self.dtype));
    HEADRACE_TRY(detail::infer_reduced(out, self.dtype, self.shape, a.dim, a.keepdim));
    return detail::infer_reduced(out, self.dtype, self.shape, a.dim, a.keepdim);
}

template <one_of<ops<aten::argmax, aten::argmin>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(detail::check_extrema<Op>(self, a.dim));
    return detail::infer_reduced(out, dtype::int64, self.shape, a.dim, a.keepdim);
}

template <one_of<ops<aten::all, aten::any>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, detail::truth_of(inference::of(a.self).dtype), shape_builder());
}

template <one_of<ops<aten::all_dim, aten::any_dim>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    return detail::infer_reduced(out, detail::truth_of(self.dtype), self.shape, a.dim, a.keepdim);
}

/// An empty list reduces nothing here.
template <one_of<ops<aten::all_dims, aten::any_dims>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const dtype type = detail::truth_of(self.dtype);
    return a.dim ? detail::infer_reduced(out, type, self.shape, sizes(*a.dim), a.keepdim, no_axes::none)
                 : detail::infer_reduced(out, type, self.shape, sizes(), a.keepdim);
}

// Softmax keeps the shape.

template <one_of<ops<aten::softmax_int, aten::log_softmax_int, aten::_safe_softmax>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const dtype type = a.dtype.value_or(as_floating(self.dtype));
    HEADRACE_TRY(require_floating("dtype", type));
    HEADRACE_TRY(require_type_for<Op>(a.dtype ? "dtype" : "self", type));
    HEADRACE_TRY(axis_of(a.dim, self.rank()));
    return add_result(out, type, self);
}

template <one_of<ops<aten::_softmax, aten::_log_softmax>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_floating("self", self.dtype));
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    HEADRACE_TRY(axis_of(a.dim, self.rank()));
    return add_result(out, a.half_to_float ? dtype::float32 : self.dtype, self);
}

}  // namespace headrace

// ---- headrace/infer/aten_composite.hpp ----

namespace headrace {

namespace detail {

/// Returns the dtype of a norm or an average; refuses integers unless a dtype is given.
[[nodiscard]] inline result<dtype> norm_type(dtype self, std::optional<dtype> given) {
    const dtype type = given.value_or(self);
    if (is_integral(type) || is_boolean(type)) return require_floating("self", type).error();
    return magnitude_of(type);
}
[[nodiscard]] inline result<void> require_reduction(std::int64_t reduction) {
    return require_between("reduction", reduction, 0, 2);
}

}  // namespace detail

// Elementwise.

template <one_of<ops<aten::isneginf, aten::isposinf, aten::isreal>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    if constexpr (!std::is_same_v<Op, aten::isreal>) {
        HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    }
    return add_result(out, dtype::boolean, self);
}
template <one_of<ops<aten::sinc, aten::special_entr, aten::special_ndtr>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    return add_result(out, as_floating(self.dtype), self);
}
template <one_of<ops<aten::angle>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    return add_result(out, magnitude_of(as_floating(self.dtype)), self);
}
template <one_of<ops<aten::special_round>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, inference::of(a.self));
}
template <one_of<ops<aten::conj>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, inference::of(a.self));
}
template <one_of<ops<aten::real>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    return add_result(out, magnitude_of(self.dtype), self);
}
template <one_of<ops<aten::isclose>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    if (!(a.rtol >= 0) || !(a.atol >= 0)) return invalid("rtol and atol must be at least 0");
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_dtype("other", inference::of(a.other).dtype, self.dtype));
    return detail::infer_broadcast(out, dtype::boolean, self, inference::of(a.other));
}
template <one_of<ops<aten::heaviside>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    HEADRACE_TRY(require_dtype("values", inference::of(a.values).dtype, self.dtype));
    return detail::infer_broadcast(out, self.dtype, self, inference::of(a.values));
}
template <one_of<ops<aten::logaddexp2, aten::special_xlog1py>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(type, detail::promoted_for<Op>(self, inference::of(a.other)));
    return detail::infer_broadcast(out, as_floating(type), self, inference::of(a.other));
}
/// The result is float64 for all operands.
template <one_of<ops<aten::float_power_tensor_tensor, aten::float_power_tensor_scalar,
                     aten::float_power_scalar>>
              Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    promotion common;
    const auto wide = [](dtype type) { return is_complex(type) ? dtype::complex128 : dtype::float64; };
    if constexpr (std::is_same_v<Op, aten::float_power_tensor_tensor>) {
        const tensor_meta& self = inference::of(a.self);
        const tensor_meta& exponent = inference::of(a.exponent);
        return detail::infer_broadcast(out, wide(common.add(self).add(exponent).type()), self, exponent);
    } else if constexpr (std::is_same_v<Op, aten::float_power_tensor_scalar>) {
        const tensor_meta& self = inference::of(a.self);
        return add_result(out, wide(self.dtype), self);
    } else {
        const tensor_meta& exponent = inference::of(a.exponent);
        return add_result(out, wide(exponent.dtype), exponent);
    }
}
template <one_of<ops<aten::feature_dropout, aten::alpha_dropout, aten::feature_alpha_dropout>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    if (!(a.p >= 0 && a.p <= 1)) return invalid("p must be a probability");
    return add_result(out, inference::of(a.input));
}

// Reductions.

template <one_of<ops<aten::count_nonzero, aten::count_nonzero_dim_intlist>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_reduced(out, dtype::int64, inference::of(a.self).shape, a.dim, false);
}
template <one_of<ops<aten::nanmean>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_floating("self", magnitude_of(self.dtype)));
    return detail::infer_reduced(out, a.dtype.value_or(self.dtype), self.shape, a.dim, a.keepdim);
}
template <one_of<ops<aten::dist>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(broadcast(self.shape, inference::of(a.other).shape));
    HEADRACE_TRY(type, detail::norm_type(result_type(self, inference::of(a.other)), std::nullopt));
    return add_result(out, type, shape_builder());
}
template <one_of<ops<aten::std_mean, aten::var_mean>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(type, detail::norm_type(inference::of(a.self).dtype, std::nullopt));
    HEADRACE_TRY(add_result(out, type, shape_builder()));
    return add_result(out, inference::of(a.self).dtype, shape_builder());
}
template <one_of<ops<aten::median, aten::nanmedian>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    return add_result(out, self.dtype, shape_builder());
}
template <one_of<ops<aten::median_dim, aten::nanmedian_dim, aten::kthvalue>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(detail::check_extrema<Op>(self, a.dim));
    if constexpr (requires { a.k; }) {
        HEADRACE_TRY(axis, axis_of(a.dim, self.rank()));
        HEADRACE_TRY(require_between("k", a.k, 1, self.rank() == 0 ? 1 : self.shape[axis]));
    }
    HEADRACE_TRY(detail::infer_reduced(out, self.dtype, self.shape, a.dim, a.keepdim));
    return detail::infer_reduced(out, dtype::int64, self.shape, a.dim, a.keepdim);
}
template <one_of<ops<aten::cummax, aten::cummin>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    HEADRACE_TRY(axis_of(a.dim, self.rank()));
    HEADRACE_TRY(add_result(out, self));
    return add_result(out, dtype::int64, self.shape);
}
template <one_of<ops<aten::logcumsumexp>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    HEADRACE_TRY(axis_of(a.dim, self.rank()));
    return add_result(out, self);
}
template <one_of<ops<aten::trapezoid_dx, aten::trapezoid_x, aten::cumulative_trapezoid_dx>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& y = inference::of(a.y);
    HEADRACE_TRY(require_rank("y", y.shape, 1, SIZE_MAX));
    HEADRACE_TRY(axis, axis_of(a.dim, y.rank()));
    HEADRACE_TRY(require_at_least("the size along dim", y.shape[axis], 1));
    shape_builder shape(y.shape);
    dtype type = as_floating(y.dtype);
    if constexpr (requires { a.x; }) {
        HEADRACE_TRY(require_shape("x", inference::of(a.x).shape, y.shape));
        type = as_floating(result_type(y, inference::of(a.x)));
    }
    if constexpr (std::is_same_v<Op, aten::cumulative_trapezoid_dx>) {
        --shape[axis];
    } else {
        shape.erase(axis);
    }
    return add_result(out, type, shape);
}
template <one_of<ops<aten::cov, aten::corrcoef>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_rank("self", self.shape, 0, 2));
    const shape_builder square = self.rank() == 2 && self.shape[0] != 1
                                     ? shape_builder{self.shape[0], self.shape[0]}
                                     : shape_builder();
    return add_result(out, as_floating(self.dtype), square);
}

// Products.

template <one_of<ops<aten::inner>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& other = inference::of(a.other);
    if (self.rank() == 0 || other.rank() == 0)
        return detail::infer_broadcast(out, result_type(self, other), self, other);
    HEADRACE_TRY(detail::require_factors(self, other));
    HEADRACE_TRY(require_equal("the last size of other", other.shape.back(), self.shape.back()));
    shape_builder shape(sizes(self.shape).first(self.rank() - 1));
    shape.append(sizes(other.shape).first(other.rank() - 1));
    return add_result(out, self.dtype, shape);
}
/// Contracted axes have the same size; an axis of size 1 broadcasts, and the other is summed.
template <one_of<ops<aten::tensordot>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& other = inference::of(a.other);
    HEADRACE_TRY(detail::require_factors(self, other));
    HEADRACE_TRY(require_count("dims_other", a.dims_other.size(), a.dims_self.size()));
    HEADRACE_TRY(mine, axes_of(a.dims_self, self.rank(), no_axes::none));
    HEADRACE_TRY(others, axes_of(a.dims_other, other.rank(), no_axes::none));
    for (std::size_t i = 0; i != a.dims_self.size(); ++i) {
        const std::int64_t size = self.shape[*normalized_axis(a.dims_self[i], self.rank())];
        const std::int64_t other_size = other.shape[*normalized_axis(a.dims_other[i], other.rank())];
        if (size != other_size && size != 1 && other_size != 1)
            return invalid({"contracted axes have sizes ", size, " and ", other_size});
    }
    shape_builder shape = reduced_shape(self.shape, mine, false);
    shape.append(reduced_shape(other.shape, others, false));
    return add_result(out, self.dtype, shape);
}
template <one_of<ops<aten::kron>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& other = inference::of(a.other);
    shape_builder shape(self.rank() < other.rank() ? other.shape : self.shape);
    const std::size_t rank = shape.size();
    for (std::size_t i = 0; i != rank; ++i) {
        const std::size_t left = rank - 1 - i;  // from the end
        shape[left] = saturating_mul(i < self.rank() ? self.shape[self.rank() - 1 - i] : 1,
                                     i < other.rank() ? other.shape[other.rank() - 1 - i] : 1);
    }
    return add_result(out, result_type(self, other), shape);
}

}  // namespace headrace

// ---- headrace/infer/window.hpp ----

namespace headrace {

/// A window that moves along one axis.
struct window {
    std::int64_t kernel = 1;
    std::int64_t stride = 1;
    std::int64_t dilation = 1;
    std::int64_t before = 0;  ///< padding
    std::int64_t after = 0;

    /// Returns how many elements of the axis the window spans.
    [[nodiscard]] constexpr std::int64_t extent() const {
        return saturating_add(saturating_mul(dilation, saturating_sub(kernel, 1)), 1);
    }
    [[nodiscard]] constexpr bool sound() const { return kernel > 0 && stride > 0 && dilation > 0; }
    /// No tensor is larger, and sums of a few such sizes and positions do not overflow.
    static constexpr std::int64_t max_extent = std::int64_t{1} << 58;
    [[nodiscard]] constexpr bool too_large() const {
        return any_of(std::array{extent(), stride, dilation, before, after},
                      [](std::int64_t size) { return size > max_extent; });
    }
};

/// Refuses a window that does not move, or that is larger than any tensor.
[[nodiscard]] result<void> check_window(const window& w);

/// Returns PyTorch's padding="same" for stride 1; an odd element is added at the end.
[[nodiscard]] constexpr window same_padded(window w) {
    const std::int64_t total = w.extent() - 1;
    w.before = total / 2;
    w.after = total - w.before;
    return w;
}

/// Returns the number of positions of a window on an axis of that size. With `ceil_mode`, a window may extend
/// past the end if it starts inside the axis or the padding before it.
[[nodiscard]] result<std::int64_t> window_positions(std::int64_t size, const window& w,
                                                    bool ceil_mode = false);

/// Returns the result size of a transposed convolution.
[[nodiscard]] result<std::int64_t> transposed_window_size(std::int64_t size, const window& w,
                                                          std::int64_t output_padding);

/// The parameters of a convolution or pooling as in its op: a single number may be given for all dimensions.
struct window_lists {
    sizes kernel;
    sizes stride;
    sizes padding;
    sizes dilation;
};

/// Returns the windows of `count` dimensions. An empty stride means the kernel's size.
[[nodiscard]] result<std::array<window, 3>> windows_of(const window_lists& lists, std::size_t count);

}  // namespace headrace

// ---- headrace/infer/window_definition.hpp ----

namespace headrace {

HEADRACE_INLINE result<void> check_window(const window& w) {
    if (!w.sound()) return invalid("kernel, stride and dilation must be positive");
    if (w.too_large()) return invalid("kernel, stride, dilation or padding are too large");
    return {};
}

HEADRACE_INLINE result<std::int64_t> window_positions(std::int64_t size, const window& w, bool ceil_mode) {
    HEADRACE_TRY(check_window(w));
    const std::int64_t padded = saturating_add(size, saturating_add(w.before, w.after));
    const std::int64_t room = saturating_sub(padded, w.extent());
    if (room < 0 && (!ceil_mode || room <= -w.stride)) {
        return invalid(
            {"a window of ", w.extent(), " does not fit in an axis of ", size, " padded to ", padded});
    }
    std::int64_t last = room < 0 ? 0 : room / w.stride;
    if (ceil_mode && room > 0 && room % w.stride != 0) ++last;
    if (ceil_mode && last > 0 && saturating_mul(last, w.stride) >= saturating_add(size, w.before)) --last;
    return last + 1;
}

HEADRACE_INLINE result<std::int64_t> transposed_window_size(std::int64_t size, const window& w,
                                                            std::int64_t output_padding) {
    HEADRACE_TRY(check_window(w));
    const std::int64_t padding = saturating_add(w.before, w.after);
    const std::int64_t grown = saturating_add(saturating_mul(saturating_sub(size, 1), w.stride), w.extent());
    const std::int64_t given = saturating_add(saturating_sub(grown, padding), output_padding);
    if (given <= 0) return invalid("the padding is larger than the result");
    return given;
}

HEADRACE_INLINE result<std::array<window, 3>> windows_of(const window_lists& lists, std::size_t count) {
    if (count > 3) return invalid("windows have at most 3 dimensions");
    HEADRACE_TRY(kernel, list_for("kernel", lists.kernel, count));
    HEADRACE_TRY(stride, list_for("stride", lists.stride.empty() ? lists.kernel : lists.stride, count));
    HEADRACE_TRY(padding, list_for("padding", lists.padding, count));
    HEADRACE_TRY(dilation, list_for("dilation", lists.dilation, count));
    std::array<window, 3> windows{};
    for (std::size_t i = 0; i != count; ++i) {
        if (padding[i] < 0) return invalid("padding must not be negative");
        windows[i] = {kernel[i], stride[i], dilation[i], padding[i], padding[i]};
    }
    return windows;
}

}  // namespace headrace

// ---- headrace/infer/aten_convolution.hpp ----

namespace headrace {
namespace aten {

using convolution_ops = ops<conv1d, conv2d, conv3d>;
using padded_convolution_ops = ops<conv1d_padding, conv2d_padding, conv3d_padding>;
using transposed_convolution_ops = ops<conv_transpose1d, conv_transpose2d_input, conv_transpose3d_input>;
using max_pool_ops = ops<max_pool1d, max_pool2d, max_pool3d>;
using avg_pool_ops = ops<avg_pool1d, avg_pool2d, avg_pool3d>;
using adaptive_pool_ops = ops<adaptive_avg_pool1d, _adaptive_avg_pool2d, adaptive_avg_pool2d,
                              _adaptive_avg_pool3d, adaptive_avg_pool3d>;

}  // namespace aten

namespace detail {

/// The operands of a convolution. `transposed` decides how the weight's first two sizes are read.
struct convolution_form {
    const tensor_meta& input;
    const tensor_meta& weight;
    const std::optional<value>& bias;
    std::int64_t groups;
    bool transposed = false;

    [[nodiscard]] std::size_t spatial() const { return weight.rank() - 2; }
    [[nodiscard]] sizes kernel() const { return sizes(weight.shape).subspan(2); }
    [[nodiscard]] bool batched() const { return input.rank() == weight.rank(); }
    [[nodiscard]] std::int64_t in_channels() const { return input.shape[batched() ? 1 : 0]; }
    [[nodiscard]] std::int64_t out_channels() const {
        return transposed ? saturating_mul(weight.shape[1], groups) : weight.shape[0];
    }
};

/// The ranks that a weight may have: one if the op has a fixed number of spatial dimensions.
struct weight_ranks {
    std::size_t least = 3;
    std::size_t most = 5;
};
template <class Op>
inline constexpr weight_ranks weight_ranks_of{spatial_rank<Op> + 2, spatial_rank<Op> + 2};
template <>
inline constexpr weight_ranks weight_ranks_of<aten::convolution>{};

inline result<void> check_convolution(const convolution_form& form, weight_ranks ranks) {
    HEADRACE_TRY(require_rank("weight", form.weight.shape, ranks.least, ranks.most));
    HEADRACE_TRY(require_rank("input", form.input.shape, form.weight.rank() - 1, form.weight.rank()));
    const std::int64_t first = form.weight.shape[0];
    const std::int64_t wanted = form.transposed ? first : saturating_mul(form.weight.shape[1], form.groups);
    const bool divisible = form.groups > 0 && first >= form.groups && first % form.groups == 0;
    if (!divisible || form.in_channels() != wanted) {
        return invalid({"input ", shape_text(form.input.shape), ", weight ", shape_text(form.weight.shape),
                        " and groups ", form.groups, " do not match"});
    }
    HEADRACE_TRY(require_dtype("weight", form.weight.dtype, form.input.dtype));
    HEADRACE_TRY(require_dtype("bias", form.bias, form.input.dtype));
    return require_shape("bias", form.bias, shape_builder{form.out_channels()});
}

/// Returns the windows of a convolution; unlike a pooling's, its stride must be given.
inline result<std::array<window, 3>> convolution_windows(const convolution_form& form, sizes stride,
                                                         sizes padding, sizes dilation) {
    if (stride.empty()) return invalid("stride must not be empty");
    return windows_of({form.kernel(), stride, padding, dilation}, form.spatial());
}

inline result<void> infer_convolution(inference& out, const convolution_form& form,
                                      const std::array<window, 3>& windows) {
    const sizes input(form.input.shape);
    const std::size_t lead = form.batched() ? 2 : 1;
    shape_builder shape(input.first(lead - 1));
    shape.push_back(form.weight.shape[0]);
    for (std::size_t i = 0; i != form.spatial(); ++i) {
        HEADRACE_TRY(size, window_positions(input[lead + i], windows[i]));
        shape.push_back(size);
    }
    return add_result(out, form.input.dtype, shape);
}

inline result<void> infer_transposed_convolution(inference& out, const convolution_form& form,
                                                 const std::array<window, 3>& windows, sizes output_padding) {
    const sizes input(form.input.shape);
    const std::size_t lead = form.batched() ? 2 : 1;
    HEADRACE_TRY(extra, list_for("output_padding", output_padding, form.spatial()));
    shape_builder shape(input.first(lead - 1));
    shape.push_back(form.out_channels());
    for (std::size_t i = 0; i != form.spatial(); ++i) {
        const std::int64_t limit = std::max(windows[i].stride, windows[i].dilation);
        HEADRACE_TRY(require_between("output_padding", extra[i], 0, limit - 1));
        HEADRACE_TRY(size, transposed_window_size(input[lead + i], windows[i], extra[i]));
        shape.push_back(size);
    }
    return add_result(out, form.input.dtype, shape);
}

/// Returns the shape of a pooling over the last axes, which one or two axes precede.
template <class Op>
result<shape_builder> pooled_shape(const tensor_meta& self, const window_lists& lists, bool ceil_mode) {
    constexpr std::size_t count = spatial_rank<Op>;
    const sizes input(self.shape);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    HEADRACE_TRY(require_rank("self", input, count + 1, count + 2));
    HEADRACE_TRY(require_nonempty("self", input.last(count + 1)));
    HEADRACE_TRY(windows, windows_of(lists, count));
    const std::size_t lead = input.size() - count;
    shape_builder shape(input.first(lead));
    for (std::size_t i = 0; i != count; ++i) {
        // PyTorch ignores dilation here.
        if (windows[i].before > windows[i].kernel / 2) {
            return invalid(
                {"padding ", windows[i].before, " is more than half of a window of ", windows[i].kernel});
        }
        HEADRACE_TRY(size, window_positions(input[lead + i], windows[i], ceil_mode));
        shape.push_back(size);
    }
    return shape;
}
template <class Op>
result<shape_builder> adaptive_shape(const tensor_meta& self, sizes output) {
    constexpr std::size_t count = spatial_rank<Op>;
    const sizes input(self.shape);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    HEADRACE_TRY(require_rank("self", input, count + 1, count + 2));
    HEADRACE_TRY(require_nonempty("self", input.last(count)));
    HEADRACE_TRY(given, list_for("output_size", output, count));
    shape_builder shape(input.first(input.size() - count));
    shape.append(given);
    return shape;
}

}  // namespace detail

template <one_of<aten::convolution_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const detail::convolution_form form{inference::of(a.input), inference::of(a.weight), a.bias, a.groups};
    HEADRACE_TRY(detail::check_convolution(form, detail::weight_ranks_of<Op>));
    HEADRACE_TRY(windows, detail::convolution_windows(form, a.stride, a.padding, a.dilation));
    return detail::infer_convolution(out, form, windows);
}

template <one_of<aten::padded_convolution_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const detail::convolution_form form{inference::of(a.input), inference::of(a.weight), a.bias, a.groups};
    if (a.padding != "same" && a.padding != "valid") return invalid("padding must be same or valid");
    HEADRACE_TRY(detail::check_convolution(form, detail::weight_ranks_of<Op>));
    HEADRACE_TRY(windows, detail::convolution_windows(form, a.stride, int_list{0}, a.dilation));
    for (std::size_t i = 0; i != form.spatial() && a.padding == "same"; ++i) {
        HEADRACE_TRY(check_window(windows[i]));
        HEADRACE_TRY(require_equal("the stride of padding \"same\"", windows[i].stride, 1));
        windows[i] = same_padded(windows[i]);
    }
    return detail::infer_convolution(out, form, windows);
}

template <one_of<aten::transposed_convolution_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const detail::convolution_form form{inference::of(a.input), inference::of(a.weight), a.bias, a.groups,
                                        true};
    HEADRACE_TRY(detail::check_convolution(form, detail::weight_ranks_of<Op>));
    HEADRACE_TRY(windows, detail::convolution_windows(form, a.stride, a.padding, a.dilation));
    return detail::infer_transposed_convolution(out, form, windows, a.output_padding);
}

template <one_of<ops<aten::convolution>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const detail::convolution_form form{inference::of(a.input), inference::of(a.weight), a.bias, a.groups,
                                        a.transposed};
    HEADRACE_TRY(detail::check_convolution(form, detail::weight_ranks_of<Op>));
    HEADRACE_TRY(windows, detail::convolution_windows(form, a.stride, a.padding, a.dilation));
    // Only ops with a fixed number of dimensions take an image without a batch axis.
    HEADRACE_TRY(require_rank("input", form.input.shape, form.weight.rank()));
    HEADRACE_TRY(extra, list_for("output_padding", a.output_padding, form.spatial()));
    for (const std::int64_t count : extra) {
        HEADRACE_TRY(require_at_least("output_padding", count, 0));
    }
    return a.transposed ? detail::infer_transposed_convolution(out, form, windows, a.output_padding)
                        : detail::infer_convolution(out, form, windows);
}

template <one_of<aten::max_pool_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(
        shape, detail::pooled_shape<Op>(self, {a.kernel_size, a.stride, a.padding, a.dilation}, a.ceil_mode));
    return add_result(out, self.dtype, shape);
}

template <one_of<ops<aten::max_pool1d_with_indices, aten::max_pool2d_with_indices,
                     aten::max_pool3d_with_indices>>
              Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(
        shape, detail::pooled_shape<Op>(self, {a.kernel_size, a.stride, a.padding, a.dilation}, a.ceil_mode));
    HEADRACE_TRY(add_result(out, self.dtype, shape));
    return add_result(out, dtype::int64, shape);
}

/// Each index is the position of an element in its plane of the result.
template <one_of<ops<aten::max_unpool2d>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& indices = inference::of(a.indices);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    HEADRACE_TRY(require_rank("self", self.shape, 3, 4));
    HEADRACE_TRY(require_shape("indices", indices.shape, self.shape));
    HEADRACE_TRY(require_dtype("indices", indices.dtype, dtype::int64));
    HEADRACE_TRY(require_count("output_size", a.output_size.size(), 2));
    HEADRACE_TRY(require_nonempty("output_size", a.output_size));
    shape_builder shape(sizes(self.shape).first(self.rank() - 2));
    shape.append(a.output_size);
    return add_result(out, self.dtype, shape);
}

template <one_of<aten::avg_pool_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    if constexpr (requires { a.divisor_override; }) {
        if (a.divisor_override == 0) return invalid("divisor_override must not be 0");
    }
    HEADRACE_TRY(shape, detail::pooled_shape<Op>(self, {a.kernel_size, a.stride, a.padding, int_list{1}},
                                                 a.ceil_mode));
    return add_result(out, self.dtype, shape);
}

template <one_of<aten::adaptive_pool_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(shape, detail::adaptive_shape<Op>(self, a.output_size));
    return add_result(out, self.dtype, shape);
}

template <one_of<ops<aten::adaptive_max_pool1d, aten::adaptive_max_pool2d, aten::adaptive_max_pool3d>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(shape, detail::adaptive_shape<Op>(self, a.output_size));
    HEADRACE_TRY(add_result(out, self.dtype, shape));
    return add_result(out, dtype::int64, shape);
}

}  // namespace headrace

// ---- headrace/infer/aten_creation.hpp ----

namespace headrace {
namespace aten {

using like_ops = ops<empty_like, full_like, ones_like, zeros_like, _to_copy, to_dtype_layout>;
using new_ops = ops<new_empty, new_full, new_ones, new_zeros>;
using assertion_ops = ops<_assert_async, _assert_scalar, _assert_tensor_metadata, sym_constrain_range,
                          sym_constrain_range_for_size>;

}  // namespace aten

namespace detail {

/// Returns the number of elements of a range; computed in double precision unless all bounds are integers.
inline result<std::int64_t> arange_size(const scalar& start, const scalar& end, const scalar& step,
                                        bool integers) {
    const auto refuse = [] { return invalid("the range has no end"); };
    if (!integers) {
        const double count = __builtin_ceil((end.to_double() - start.to_double()) / step.to_double());
        return count >= 0 && count < 9e15 ? result<std::int64_t>(static_cast<std::int64_t>(count)) : refuse();
    }
    const bool down = step.to_int() < 0;
    const std::int64_t low = down ? end.to_int() : start.to_int();
    const std::int64_t high = down ? start.to_int() : end.to_int();
    const std::int64_t stride = down ? saturating_sub(0, step.to_int()) : step.to_int();
    if (stride == 0 || low > high) return refuse();
    const std::int64_t room = saturating_sub(high, low);
    return room == 0 ? 0 : (room - 1) / stride + 1;
}

inline result<void> infer_arange(inference& out, const scalar& start, const scalar& end, const scalar& step,
                                 std::optional<dtype> type) {
    const bool floating = start.is_floating() || end.is_floating() || step.is_floating();
    HEADRACE_TRY(count, arange_size(start, end, step, !floating));
    const dtype given = type.value_or(floating ? default_float : dtype::int64);
    if (is_boolean(given)) return other_dtype("the range", given, "a type of numbers");
    return add_result(out, given, {count});
}

}  // namespace detail

template <one_of<ops<aten::arange>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_arange(out, 0, a.end, 1, a.dtype);
}
template <one_of<ops<aten::arange_start>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_arange(out, a.start, a.end, 1, a.dtype);
}
template <one_of<ops<aten::arange_start_step>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_arange(out, a.start, a.end, a.step, a.dtype);
}
template <one_of<ops<aten::linspace>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_at_least("steps", a.steps, 0));
    return add_result(out, a.dtype.value_or(default_float), {a.steps});
}

template <one_of<ops<aten::empty_memory_format, aten::ones, aten::zeros>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, a.dtype.value_or(default_float), a.size);
}
template <one_of<ops<aten::full>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, a.dtype.value_or(dtype_of(a.fill_value)), a.size);
}
template <one_of<ops<aten::eye>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_at_least("n", a.n, 0));
    return add_result(out, a.dtype.value_or(default_float), {a.n, a.n});
}
template <one_of<ops<aten::eye_m>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_at_least("n", a.n, 0));
    HEADRACE_TRY(require_at_least("m", a.m, 0));
    return add_result(out, a.dtype.value_or(default_float), {a.n, a.m});
}
template <one_of<ops<aten::scalar_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, a.dtype.value_or(default_float), shape_builder());
}

template <one_of<aten::new_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, a.dtype.value_or(inference::of(a.self).dtype), a.size);
}
template <one_of<aten::like_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    return add_result(out, a.dtype.value_or(self.dtype), self);
}
template <one_of<ops<aten::to_device, aten::to_dtype>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, a.dtype, inference::of(a.self).shape);
}
template <one_of<ops<aten::to_other, aten::type_as>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, inference::of(a.other).dtype, inference::of(a.self).shape);
}

template <one_of<aten::assertion_ops> Op>
result<void> infer_results(Op, const args<Op>&, inference&) {
    return {};
}
template <one_of<ops<aten::item, aten::_local_scalar_dense>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    if (self.checked_elements() != 1) {
        return invalid({"a tensor of shape ", shape_text(self.shape), " is not one number"});
    }
    return add_result(out, self.dtype, shape_builder());
}
template <one_of<ops<aten::sym_numel>> Op>
result<void> infer_results(Op, const args<Op>&, inference& out) {
    return add_result(out, dtype::int64, shape_builder());
}
template <one_of<ops<aten::sym_size_int>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const sizes shape(inference::of(a.self).shape);
    HEADRACE_TRY(require_rank("self", shape, 1, SIZE_MAX));
    HEADRACE_TRY(axis_of(a.dim, shape.size()));
    return add_result(out, dtype::int64, shape_builder());
}

}  // namespace headrace

// ---- headrace/infer/aten_distance.hpp ----

namespace headrace {

template <one_of<ops<aten::vdot>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& other = inference::of(a.other);
    HEADRACE_TRY(detail::require_factors(self, other));
    HEADRACE_TRY(require_rank("self", self.shape, 1));
    HEADRACE_TRY(require_shape("other", other.shape, self.shape));
    return add_result(out, self.dtype, shape_builder());
}
/// torch.cross without an axis takes the first of size 3.
[[nodiscard]] inline result<std::size_t> cross_axis(sizes shape, std::optional<std::int64_t> dim) {
    if (dim) {
        HEADRACE_TRY(axis, axis_of(*dim, shape.size()));
        if (shape.empty() || shape[axis] != 3) return invalid({"axis ", *dim, " must have size 3"});
        return axis;
    }
    for (std::size_t i = 0; i != shape.size(); ++i) {
        if (shape[i] == 3) return i;
    }
    return invalid({"no axis of ", shape_text(shape), " has size 3"});
}
template <one_of<ops<aten::linalg_cross, aten::cross>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& other = inference::of(a.other);
    HEADRACE_TRY(require_rank("other", other.shape, self.rank()));
    HEADRACE_TRY(shape, broadcast(self.shape, other.shape));
    HEADRACE_TRY(axis, cross_axis(self.shape, a.dim));
    HEADRACE_TRY(require_equal("the size of other along dim", other.shape[axis], 3));
    const dtype type = result_type(self, other);
    if (is_boolean(type)) return detail::other_dtype("self", type, "a type of numbers");
    return add_result(out, type, shape);
}
template <one_of<ops<aten::linalg_vecdot>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& x = inference::of(a.x);
    const tensor_meta& y = inference::of(a.y);
    HEADRACE_TRY(detail::require_factors(x, y));
    HEADRACE_TRY(shape, broadcast(x.shape, y.shape));
    return detail::infer_reduced(out, x.dtype, shape, a.dim, false);
}
template <one_of<ops<aten::addmv, aten::addr, aten::addbmm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    shape_builder shape;
    if constexpr (requires { a.mat; }) {
        HEADRACE_TRY(product,
                     detail::product_shape(inference::of(a.mat).shape, 2, inference::of(a.vec).shape, 1));
        HEADRACE_TRY(detail::require_factors(inference::of(a.mat), inference::of(a.vec)));
        HEADRACE_TRY(require_dtype("self", self.dtype, inference::of(a.mat).dtype));
        shape = product;
    } else if constexpr (requires { a.vec1; }) {
        const tensor_meta& left = inference::of(a.vec1);
        const tensor_meta& right = inference::of(a.vec2);
        HEADRACE_TRY(require_rank("vec1", left.shape, 1));
        HEADRACE_TRY(require_rank("vec2", right.shape, 1));
        shape = shape_builder{left.shape[0], right.shape[0]};
        HEADRACE_TRY(require_expandable("self", self.shape, shape));
        return add_result(out, result_type(self, left, right), shape);
    } else {
        HEADRACE_TRY(product, detail::product_shape(inference::of(a.batch1).shape, 3,
                                                    inference::of(a.batch2).shape, 3));
        HEADRACE_TRY(detail::require_factors(inference::of(a.batch1), inference::of(a.batch2)));
        HEADRACE_TRY(require_dtype("self", self.dtype, inference::of(a.batch1).dtype));
        shape = shape_builder(sizes(product).subspan(1));
    }
    HEADRACE_TRY(require_expandable("self", self.shape, shape));
    return add_result(out, self.dtype, shape);
}
/// Matrix products from left to right; the first and the last operand of linalg.multi_dot may be vectors.
template <one_of<ops<aten::chain_matmul, aten::linalg_multi_dot>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    constexpr bool takes_vectors = std::is_same_v<Op, aten::linalg_multi_dot>;
    const auto& factors = [&]() -> const list<value>& {
        if constexpr (takes_vectors) {
            return a.tensors;
        } else {
            return a.matrices;
        }
    }();
    if (factors.size() < (takes_vectors ? 2U : 1U)) return invalid("there are too few factors");
    const tensor_meta& first = inference::of(factors[0]);
    shape_builder shape(first.shape);
    for (std::size_t i = 0; i != factors.size(); ++i) {
        const tensor_meta& factor = inference::of(factors[i]);
        const bool outer = i == 0 || i + 1 == factors.size();
        HEADRACE_TRY(require_rank("a factor", factor.shape, takes_vectors && outer ? 1 : 2, 2));
        if (i == 0) continue;
        HEADRACE_TRY(detail::require_factors(first, factor));
        HEADRACE_TRY(product, detail::matmul_shape(shape, factor.shape));
        shape = product;
    }
    return add_result(out, first.dtype, shape);
}
template <one_of<ops<aten::linalg_matrix_power>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_rank("self", self.shape, 2, SIZE_MAX));
    HEADRACE_TRY(require_equal("the last size", self.shape.back(), self.shape[self.rank() - 2]));
    HEADRACE_TRY(detail::require_factors(self, self));
    return add_result(out, self);
}
template <one_of<ops<aten::bilinear>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& left = inference::of(a.input1);
    const tensor_meta& right = inference::of(a.input2);
    const tensor_meta& weight = inference::of(a.weight);
    HEADRACE_TRY(require_rank("weight", weight.shape, 3));
    HEADRACE_TRY(require_rank("input1", left.shape, 1, SIZE_MAX));
    HEADRACE_TRY(require_rank("input2", right.shape, left.rank()));
    HEADRACE_TRY(detail::require_factors(weight, left));
    HEADRACE_TRY(detail::require_factors(weight, right));
    HEADRACE_TRY(require_equal("the last size of input1", left.shape.back(), weight.shape[1]));
    HEADRACE_TRY(require_equal("the last size of input2", right.shape.back(), weight.shape[2]));
    shape_builder shape(left.shape);
    shape.back() = right.shape.back();
    HEADRACE_TRY(require_shape("input2", right.shape, shape));
    shape.back() = weight.shape[0];
    HEADRACE_TRY(require_elements("bias", a.bias, weight.shape[0]));
    HEADRACE_TRY(require_dtype("bias", a.bias, weight.dtype));
    return add_result(out, left.dtype, shape);
}

// Norms and distances.

template <one_of<ops<aten::linalg_norm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(type, detail::norm_type(self.dtype, a.dtype));
    if (a.ord && !a.dim) {
        HEADRACE_TRY(require_rank("self", self.shape, 1, 2));
    }
    if (a.ord && a.dim) {
        HEADRACE_TRY(require_between("the number of axes", static_cast<std::int64_t>(a.dim->size()), 1, 2));
    }
    return detail::infer_reduced(out, type, self.shape, a.dim, a.keepdim);
}
template <one_of<ops<aten::linalg_matrix_norm, aten::linalg_matrix_norm_str_ord>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(type, detail::norm_type(self.dtype, a.dtype));
    HEADRACE_TRY(require_rank("self", self.shape, 2, SIZE_MAX));
    HEADRACE_TRY(require_count("dim", a.dim.size(), 2));
    return detail::infer_reduced(out, type, self.shape, a.dim, a.keepdim);
}
template <one_of<ops<aten::pairwise_distance>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& x1 = inference::of(a.x1);
    const tensor_meta& x2 = inference::of(a.x2);
    HEADRACE_TRY(type, detail::promoted_for<Op>(x1, x2));
    HEADRACE_TRY(shape, broadcast(x1.shape, x2.shape));
    HEADRACE_TRY(require_rank("x1", shape, 1, SIZE_MAX));
    return detail::infer_reduced(out, type, shape, std::int64_t{-1}, a.keepdim);
}
template <one_of<ops<aten::cdist, aten::_cdist_forward>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& x1 = inference::of(a.x1);
    const tensor_meta& x2 = inference::of(a.x2);
    HEADRACE_TRY(require_type_for<Op>("x1", x1.dtype));
    HEADRACE_TRY(require_dtype("x2", x2.dtype, x1.dtype));
    HEADRACE_TRY(require_rank("x1", x1.shape, 2, SIZE_MAX));
    HEADRACE_TRY(require_rank("x2", x2.shape, 2, SIZE_MAX));
    HEADRACE_TRY(require_equal("the last size of x2", x2.shape.back(), x1.shape.back()));
    if (!(a.p >= 0)) return invalid("p must be at least 0");
    if (a.compute_mode) {
        HEADRACE_TRY(require_between("compute_mode", *a.compute_mode, 0, 2));
    }
    HEADRACE_TRY(shape,
                 broadcast(sizes(x1.shape).first(x1.rank() - 2), sizes(x2.shape).first(x2.rank() - 2)));
    shape.push_back(x1.shape[x1.rank() - 2]);
    shape.push_back(x2.shape[x2.rank() - 2]);
    return add_result(out, x1.dtype, shape);
}
template <one_of<ops<aten::pdist, aten::_pdist_forward>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    HEADRACE_TRY(require_rank("self", self.shape, 2));
    if (!(a.p >= 0)) return invalid("p must be at least 0");
    const std::int64_t n = self.shape[0];
    return add_result(out, self.dtype, {n < 2 ? 0 : saturating_mul(n, n - 1) / 2});
}

}  // namespace headrace

// ---- headrace/infer/aten_einsum.hpp ----

namespace headrace {

/// Returns the labels of one side of an equation, without spaces; an ellipsis becomes one '.'.
[[nodiscard]] inline result<std::pmr::string> einsum_labels(std::string_view text) {
    std::pmr::string labels;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == ' ') continue;
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        const bool ellipsis = text.substr(i, 3) == "..." && labels.find('.') == std::pmr::string::npos;
        if (!letter && !ellipsis) return invalid({"cannot read einsum operand '", text, "'"});
        labels += c;
        if (ellipsis) i += 2;
    }
    return labels;
}

/// Returns a label for each axis of a tensor of that rank. The axes of an ellipsis are numbered from the
/// last: 1, 2, …, so that the ellipses of several operands broadcast.
[[nodiscard]] inline std::pmr::string einsum_axes(std::string_view labels, std::size_t rank) {
    std::pmr::string axes;
    for (const char c : labels) {
        if (c != '.') {
            axes += c;
            continue;
        }
        for (std::size_t left = rank + 1 - labels.size(); left-- > 0;) axes += static_cast<char>(1 + left);
    }
    return axes;
}

/// An equation: the labels of each operand and of the result.
struct einsum_equation {
    pmr_vector<std::pmr::string> operands;
    std::pmr::string result;
};

namespace detail {
/// Returns the result's labels if there is no "->": the ellipsis, then the labels that occur once, sorted.
inline std::pmr::string implicit_einsum_result(const pmr_vector<std::pmr::string>& operands) {
    std::array<int, 128> counts{};
    for (const std::pmr::string& labels : operands) {
        for (const char c : labels) ++counts[static_cast<unsigned char>(c)];
    }
    std::pmr::string labels;
    if (counts['.'] != 0) labels += '.';
    for (int c = 'A'; c <= 'z'; ++c) {
        if (counts[static_cast<std::size_t>(c)] == 1) labels += static_cast<char>(c);
    }
    return labels;
}
}  // namespace detail

[[nodiscard]] inline result<einsum_equation> parse_einsum(std::string_view text) {
    const std::size_t arrow = text.find("->");
    std::string_view left = text.substr(0, arrow);
    einsum_equation equation;
    for (;;) {
        const std::size_t comma = left.find(',');
        HEADRACE_TRY(labels, einsum_labels(left.substr(0, comma)));
        equation.operands.push_back(labels);
        if (comma == std::string_view::npos) break;
        left.remove_prefix(comma + 1);
    }
    if (arrow == std::string_view::npos) {
        equation.result = detail::implicit_einsum_result(equation.operands);
    } else {
        HEADRACE_TRY(labels, einsum_labels(text.substr(arrow + 2)));
        for (std::size_t i = 0; i != labels.size(); ++i) {
            if (labels.find(labels[i], i + 1) == std::pmr::string::npos) continue;
            return invalid({"einsum label '", labels[i], "' appears twice in the result"});
        }
        equation.result = labels;
    }
    return equation;
}

/// The size of each label, and the shape that all ellipses together broadcast to.
class einsum_sizes {
public:
    [[nodiscard]] result<void> add(std::string_view labels, sizes shape) {
        const bool ellipsis = labels.find('.') != std::string_view::npos;
        const std::size_t named = labels.size() - (ellipsis ? 1 : 0);
        if (shape.size() > shape_builder::capacity) return rank_too_large();
        if (ellipsis ? shape.size() < named : shape.size() != named) {
            return invalid({"einsum labels '", labels, "' do not match ", shape_text(shape)});
        }
        std::size_t axis = 0;
        std::array<std::int64_t, 256> sizes_here{};  // by label; stored as the size plus one
        for (const char c : labels) {
            if (c == '.') {
                HEADRACE_TRY(both, broadcast(hidden_, shape.subspan(axis, shape.size() - named)));
                hidden_ = both;
                axis += shape.size() - named;
            } else {
                // The axes of a diagonal do not broadcast.
                std::int64_t& own = sizes_here[static_cast<unsigned char>(c) % sizes_here.size()];
                if (own != 0 && own != shape[axis] + 1)
                    return invalid({"einsum label '", c, "' has sizes ", own - 1, " and ", shape[axis],
                                    " in one operand"});
                own = shape[axis] + 1;
                HEADRACE_TRY(add_label(c, shape[axis++]));
            }
        }
        return {};
    }

    [[nodiscard]] result<shape_builder> shape_of(std::string_view labels) const {
        shape_builder shape;
        for (const char c : labels) {
            if (c == '.') {
                shape.append(hidden_);
            } else if (const std::int64_t size = size_[static_cast<unsigned char>(c)]; size >= 0) {
                shape.push_back(size);
            } else {
                return invalid({"einsum label '", c, "' has no size"});
            }
        }
        return shape;
    }

private:
    result<void> add_label(char c, std::int64_t size) {
        std::int64_t& known = size_[static_cast<unsigned char>(c)];
        if (known == -1 || known == 1) {
            known = size;
        } else if (size != 1 && size != known) {
            return invalid({"einsum label '", c, "' has sizes ", known, " and ", size});
        }
        return {};
    }

    std::array<std::int64_t, 128> size_ = [] {
        std::array<std::int64_t, 128> none{};
        none.fill(-1);
        return none;
    }();
    shape_builder hidden_;
};

template <one_of<ops<aten::einsum>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(equation, parse_einsum(a.equation));
    if (a.tensors.empty() || a.tensors.size() != equation.operands.size()) {
        return invalid(
            {"einsum equation '", a.equation, "' does not have ", counted_text(a.tensors.size(), "operand")});
    }
    einsum_sizes known;
    const tensor_meta& first = inference::of(a.tensors[0]);
    for (std::size_t i = 0; i != a.tensors.size(); ++i) {
        const tensor_meta& t = inference::of(a.tensors[i]);
        if (i != 0) {
            HEADRACE_TRY(detail::require_factors(first, t));
        }
        HEADRACE_TRY(known.add(equation.operands[i], t.shape));
    }
    HEADRACE_TRY(shape, known.shape_of(equation.result));
    return add_result(out, first.dtype, shape);
}

}  // namespace headrace

// ---- headrace/infer/aten_view.hpp ----

namespace headrace {
namespace detail {

inline result<void> infer_view(inference& out, const tensor_meta& self, sizes shape) {
    HEADRACE_TRY(viewed, viewed_shape(self.shape, shape));
    return add_result(out, self.dtype, viewed);
}
inline result<void> infer_expanded(inference& out, const tensor_meta& self, sizes shape) {
    HEADRACE_TRY(expanded, expanded_shape(self.shape, shape));
    return add_result(out, self.dtype, expanded);
}
inline result<void> infer_transposed(inference& out, const tensor_meta& self, std::int64_t a,
                                     std::int64_t b) {
    HEADRACE_TRY(first, axis_of(a, self.rank()));
    HEADRACE_TRY(second, axis_of(b, self.rank()));
    shape_builder shape(self.shape);
    std::swap(shape[first], shape[second]);
    return add_result(out, self.dtype, shape);
}
inline result<void> infer_squeezed(inference& out, const tensor_meta& self, axis_set axes) {
    axis_set dropped;
    for (std::size_t i = 0; i != self.rank(); ++i) {
        if (axes.contains(i) && self.shape[i] == 1) dropped.insert(i);
    }
    return add_result(out, self.dtype, reduced_shape(self.shape, dropped, false));
}

}  // namespace detail

/// Returns, for each axis of the result, the axis of the operand that it comes from.
[[nodiscard]] inline result<shape_builder> moved_axes(sizes sources, sizes destinations, std::size_t rank) {
    if (sources.size() != destinations.size()) {
        return invalid({"cannot move axes ", shape_text(sources), " to ", shape_text(destinations)});
    }
    HEADRACE_TRY(moved, axes_of(sources, rank, no_axes::none));
    HEADRACE_TRY(taken, axes_of(destinations, rank, no_axes::none));
    shape_builder order = shape_builder::filled(rank, 0);
    std::size_t next = 0;
    for (std::size_t i = 0; i != rank; ++i) {
        if (taken.contains(i)) continue;
        while (moved.contains(next)) ++next;
        order[i] = static_cast<std::int64_t>(next++);
    }
    for (std::size_t i = 0; i != sources.size(); ++i) {
        const std::size_t at = *normalized_axis(destinations[i], rank);
        order[at] = static_cast<std::int64_t>(*normalized_axis(sources[i], rank));
    }
    return order;
}

namespace detail {

inline result<void> infer_permuted(inference& out, const tensor_meta& self, sizes order) {
    shape_builder shape;
    for (const std::int64_t axis : order) shape.push_back(self.shape[static_cast<std::size_t>(axis)]);
    return add_result(out, self.dtype, shape);
}

}  // namespace detail

/// Returns the shape of the selection at one index of an axis.
[[nodiscard]] inline result<shape_builder> selected_shape(sizes from, std::int64_t dim, std::int64_t index) {
    HEADRACE_TRY(axis, axis_of(dim, from.size()));
    shape_builder shape(from);
    if (shape.empty()) return invalid("a tensor of rank 0 has nothing to select from");
    if (index < -shape[axis] || index >= shape[axis]) {
        return invalid({"index ", index, " is out of range for axis ", axis, " of ", shape_text(from)});
    }
    shape.erase(axis);
    return shape;
}
/// Returns the shape of a slice along an axis.
[[nodiscard]] inline result<shape_builder> sliced_shape(sizes from, std::int64_t dim,
                                                        std::optional<std::int64_t> start,
                                                        std::optional<std::int64_t> end, std::int64_t step) {
    HEADRACE_TRY(axis, axis_of(dim, from.size()));
    HEADRACE_TRY(require_at_least("step", step, 1));
    shape_builder shape(from);
    if (shape.empty()) return invalid("a tensor of rank 0 cannot be sliced");
    shape[axis] = clamped_slice(start, end, shape[axis]).count(step);
    return shape;
}

template <one_of<ops<aten::view, aten::_unsafe_view>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_view(out, inference::of(a.self), a.size);
}
template <one_of<ops<aten::reshape>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_view(out, inference::of(a.self), a.shape);
}
template <one_of<ops<aten::reshape_as, aten::view_as>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_view(out, inference::of(a.self), inference::of(a.other).shape);
}
template <one_of<ops<aten::as_strided>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_count("stride", a.stride.size(), a.size.size()));
    for (const std::int64_t step : a.stride) {
        HEADRACE_TRY(require_at_least("stride", step, 0));
    }
    HEADRACE_TRY(require_at_least("storage_offset", a.storage_offset.value_or(0), 0));
    return add_result(out, inference::of(a.self).dtype, a.size);
}
template <one_of<ops<aten::broadcast_to, aten::expand>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_expanded(out, inference::of(a.self), a.size);
}
template <one_of<ops<aten::expand_as>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_expanded(out, inference::of(a.self), inference::of(a.other).shape);
}

template <one_of<ops<aten::flatten_using_ints>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(first, axis_of(a.start_dim, self.rank()));
    HEADRACE_TRY(last, axis_of(a.end_dim, self.rank()));
    if (self.rank() == 0) return add_result(out, self.dtype, {1});
    if (first > last) return invalid("start_dim must not come after end_dim");
    const sizes shape(self.shape);
    shape_builder flat(shape.first(first));
    flat.push_back(element_count(shape.subspan(first, last - first + 1)));
    flat.append(shape.subspan(last + 1));
    return add_result(out, self.dtype, flat);
}

template <one_of<ops<aten::unflatten_int>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const sizes shape(self.shape);
    HEADRACE_TRY(axis, axis_of(a.dim, self.rank()));
    if (shape.empty()) return invalid("a tensor of rank 0 has no axis to unflatten");
    if (a.sizes.empty()) return invalid("sizes must not be empty");
    HEADRACE_TRY(parts, viewed_shape(shape.subspan(axis, 1), a.sizes));
    shape_builder given(shape.first(axis));
    given.append(parts);
    given.append(shape.subspan(axis + 1));
    return add_result(out, self.dtype, given);
}

template <one_of<ops<aten::permute>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(order, permutation_of(a.dims, self.rank()));
    return detail::infer_permuted(out, self, order);
}
template <one_of<ops<aten::movedim_int, aten::movedim_intlist>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(order, moved_axes(int_list{a.source}, int_list{a.destination}, self.rank()));
    return detail::infer_permuted(out, self, order);
}
template <one_of<ops<aten::m_t>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_rank("self", self.shape, 2, shape_builder::capacity));
    return detail::infer_transposed(out, self, -2, -1);
}
template <one_of<ops<aten::numpy_t>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    shape_builder shape(self.shape);
    reverse(shape);
    return add_result(out, self.dtype, shape);
}
template <one_of<ops<aten::ravel>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    return add_result(out, self.dtype, {element_count(self.shape)});
}
template <one_of<ops<aten::transpose_int>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_transposed(out, inference::of(a.self), a.dim0, a.dim1);
}
template <one_of<ops<aten::t>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_rank("self", self.shape, 0, 2));
    return self.rank() < 2 ? add_result(out, self) : detail::infer_transposed(out, self, 0, 1);
}

template <one_of<ops<aten::narrow>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(axis, axis_of(a.dim, self.rank()));
    shape_builder shape(self.shape);
    if (shape.empty()) return invalid("a tensor of rank 0 cannot be narrowed");
    const std::int64_t start = a.start < 0 ? a.start + shape[axis] : a.start;
    if (start < 0 || a.length < 0 || start > shape[axis] || a.length > shape[axis] - start) {
        return invalid({"start ", a.start, " and length ", a.length, " do not lie in axis ", axis, " of ",
                        shape_text(self.shape)});
    }
    shape[axis] = a.length;
    return add_result(out, self.dtype, shape);
}
template <one_of<ops<aten::slice_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(shape, sliced_shape(self.shape, a.dim, a.start, a.end, a.step));
    return add_result(out, self.dtype, shape);
}
template <one_of<ops<aten::select_int>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(shape, selected_shape(self.shape, a.dim, a.index));
    return add_result(out, self.dtype, shape);
}

template <one_of<ops<aten::squeeze>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(axes, axes_of({}, self.rank()));
    return detail::infer_squeezed(out, self, axes);
}
template <one_of<ops<aten::squeeze_dim>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(axes, axes_of({&a.dim, 1}, self.rank()));
    return detail::infer_squeezed(out, self, axes);
}
template <one_of<ops<aten::squeeze_dims>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(axes, axes_of(a.dim, self.rank(), no_axes::none));
    return detail::infer_squeezed(out, self, axes);
}
template <one_of<ops<aten::unsqueeze>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(axis, axis_of(a.dim, self.rank() + 1));
    shape_builder shape(self.shape);
    shape.insert(axis, 1);
    return add_result(out, self.dtype, shape);
}

/// Reverses axes, each named at most once; flipud and fliplr reverse the first and the second.
template <one_of<ops<aten::flip>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(axes_of(a.dims, self.rank(), no_axes::none));
    return add_result(out, self);
}
template <one_of<ops<aten::flipud, aten::fliplr>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_rank("self", self.shape, std::is_same_v<Op, aten::fliplr> ? 2 : 1, SIZE_MAX));
    return add_result(out, self);
}
/// One shift for each of dims, or one shift of all elements in row-major order.
template <one_of<ops<aten::roll>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    if (a.dims.empty()) {
        HEADRACE_TRY(require_count("shifts", a.shifts.size(), 1));
    } else {
        HEADRACE_TRY(require_count("shifts", a.shifts.size(), a.dims.size()));
    }
    for (const std::int64_t dim : a.dims) {  // an axis may be named twice
        HEADRACE_TRY(axis_of(dim, self.rank()));
    }
    return add_result(out, self);
}

/// The two axes of a diagonal, and its number of elements.
struct diagonal_line {
    std::size_t axis1;
    std::size_t axis2;
    std::int64_t length;
};
[[nodiscard]] inline result<diagonal_line> diagonal_of(sizes shape, std::int64_t offset, std::int64_t dim1,
                                                       std::int64_t dim2) {
    HEADRACE_TRY(axis1, axis_of(dim1, shape.size()));
    HEADRACE_TRY(axis2, axis_of(dim2, shape.size()));
    if (axis1 == axis2) return invalid("a diagonal runs along two different axes");
    const std::int64_t down = offset < 0 ? saturating_add(shape[axis1], offset) : shape[axis1];
    const std::int64_t across = offset < 0 ? shape[axis2] : saturating_sub(shape[axis2], offset);
    return diagonal_line{axis1, axis2, std::max<std::int64_t>(std::min(down, across), 0)};
}

template <one_of<ops<aten::diagonal>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_rank("self", self.shape, 2, shape_builder::capacity));
    HEADRACE_TRY(line, diagonal_of(self.shape, a.offset, a.dim1, a.dim2));
    shape_builder shape;
    for (std::size_t i = 0; i != self.rank(); ++i) {
        if (i != line.axis1 && i != line.axis2) shape.push_back(self.shape[i]);
    }
    shape.push_back(line.length);
    return add_result(out, self.dtype, shape);
}

template <one_of<ops<aten::unfold>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(axis, axis_of(a.dimension, self.rank()));
    shape_builder shape(self.shape);
    const std::int64_t room = shape.empty() ? 1 : shape[axis];
    if (a.size < 0 || a.size > room || a.step <= 0) {
        return invalid({"windows of ", a.size, " with step ", a.step, " do not fit axis ", axis, " of ",
                        shape_text(self.shape)});
    }
    if (!shape.empty()) shape[axis] = (room - a.size) / a.step + 1;
    shape.push_back(a.size);
    return add_result(out, self.dtype, shape);
}

}  // namespace headrace

// ---- headrace/infer/aten_index.hpp ----

namespace headrace {

/// Returns the shape of x[indices]: the broadcast shape of the indices replaces the indexed axes, at the
/// first of them if they are adjacent, else in front.
[[nodiscard]] inline result<shape_builder> indexed_shape(sizes shape, list<std::optional<value>> indices) {
    if (indices.size() > shape.size()) {
        return invalid({indices.size(), " indices are too many for ", shape_text(shape)});
    }
    shape_builder given;
    shape_builder left;
    std::optional<std::size_t> first;
    std::size_t runs = 0;
    for (std::size_t i = 0; i != shape.size(); ++i) {
        const bool indexed = i < indices.size() && indices[i];
        if (!indexed) {
            left.push_back(shape[i]);
            continue;
        }
        const tensor_meta& index = inference::of(*indices[i]);
        if (is_mask(index.dtype)) return invalid("the shape that a mask selects depends on its data");
        HEADRACE_TRY(require_indices(text_of({"index ", i}), index));
        HEADRACE_TRY(both, broadcast(given, index.shape));
        given = both;
        if (!first) first = i;
        runs += i == 0 || !indices[i - 1];
    }
    const std::size_t at = runs == 1 ? *first : 0;
    const sizes rest(left);
    shape_builder whole(rest.first(at));
    whole.append(given);
    whole.append(rest.subspan(at));
    return whole;
}

namespace detail {

/// The properties of x[indices] that do not depend on data: whether there are masks, the rank, and how many
/// of the last axes are the axes of x after all indexed ones.
struct indexed_axes {
    bool has_masks = false;
    std::size_t rank = 0;
    std::size_t behind = 0;
};

/// Refuses masks whose sizes differ from the axes that they cover, and other indices that do not broadcast.
inline result<indexed_axes> check_masks(sizes shape, list<std::optional<value>> indices) {
    indexed_axes found{false, shape.size(), 0};
    shape_builder given;     // by all indices except masks
    std::size_t widest = 0;  // largest rank of an index; a mask counts as rank 1
    std::size_t axis = 0;
    for (const std::optional<value>& v : indices) {
        const tensor_meta* mask = v && is_mask(inference::of(*v).dtype) ? &inference::of(*v) : nullptr;
        const std::size_t covered = mask != nullptr ? mask->rank() : 1;
        if (covered > shape.size() - axis) return invalid("there are more indices than axes");
        if (mask != nullptr) {
            HEADRACE_TRY(require_shape("mask", mask->shape, shape.subspan(axis, covered)));
        } else if (v) {
            HEADRACE_TRY(require_indices("index", inference::of(*v)));
            HEADRACE_TRY(both, broadcast(given, inference::of(*v).shape));
            given = both;
        }
        found.has_masks = found.has_masks || mask != nullptr;
        if (v) {
            found.rank -= covered;
            widest = std::max(widest, mask != nullptr ? 1 : inference::of(*v).rank());
        }
        axis += covered;
    }
    found.rank += widest;
    found.behind = shape.size() - axis;
    return found;
}

/// Refuses an index of gather or scatter that does not have the tensor's rank (a number counts as rank 1) or
/// is larger along any axis except `free_axis`.
inline result<void> check_paired(std::string_view what, sizes shape, sizes index,
                                 std::optional<std::size_t> free_axis) {
    const shape_builder wide = shape.empty() ? shape_builder{1} : shape_builder(shape);
    const shape_builder part = index.empty() ? shape_builder{1} : shape_builder(index);
    bool fits = wide.size() == part.size();
    for (std::size_t i = 0; fits && i != part.size(); ++i) fits = i == free_axis || part[i] <= wide[i];
    if (fits) return {};
    return invalid({"index ", shape_text(index), " does not fit ", what, " ", shape_text(shape)});
}
inline result<void> check_scatter(const tensor_meta& self, std::int64_t dim, const tensor_meta& index) {
    HEADRACE_TRY(axis, axis_of(dim, self.rank()));
    if (element_count(index.shape) == 0) return {};  // nothing is scattered
    HEADRACE_TRY(require_indices("index", index));
    return check_paired("self", self.shape, index.shape, axis);
}
inline result<void> check_scatter(const tensor_meta& self, std::int64_t dim, const tensor_meta& index,
                                  const tensor_meta& src) {
    HEADRACE_TRY(check_scatter(self, dim, index));
    HEADRACE_TRY(require_dtype("src", src.dtype, self.dtype));
    if (element_count(index.shape) == 0) return {};
    return check_paired("src", src.shape, index.shape, std::nullopt);
}

/// Checks the index of ops like index_select: at most one axis.
inline result<void> check_index_list(const tensor_meta& index) {
    HEADRACE_TRY(require_rank("index", index.shape, 0, 1));
    return require_indices("index", index);
}
/// Checks that a source has one slice along the axis for each index.
inline result<void> check_slices(const tensor_meta& self, std::int64_t dim, const tensor_meta& index,
                                 const tensor_meta& source) {
    HEADRACE_TRY(axis, axis_of(dim, self.rank()));
    HEADRACE_TRY(check_index_list(index));
    HEADRACE_TRY(require_dtype("source", source.dtype, self.dtype));
    shape_builder expected(self.shape);
    if (!expected.empty()) expected[axis] = element_count(index.shape);
    const bool number = source.rank() == 0 || self.rank() == 0;  // counts as a list of one
    if (!number) return require_shape("source", source.shape, expected);
    HEADRACE_TRY(require_elements("source", source.shape, 1));
    HEADRACE_TRY(require_elements("index", index.shape, 1));
    return require_rank("self", self.shape, 0, 1);
}

}  // namespace detail

template <one_of<ops<aten::index_tensor, aten::_unsafe_index_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(shape, indexed_shape(self.shape, a.indices));
    return add_result(out, self.dtype, shape);
}

template <one_of<ops<aten::index_put, aten::_unsafe_index_put>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& values = inference::of(a.values);
    HEADRACE_TRY(require_dtype("values", values.dtype, self.dtype));
    HEADRACE_TRY(selected, detail::check_masks(self.shape, a.indices));
    HEADRACE_TRY(require_rank("values", values.shape, 0, selected.rank));
    if (selected.has_masks) {  // only the last axes of `values` can be checked: the others depend on data
        const std::size_t behind = std::min(values.rank(), selected.behind);
        HEADRACE_TRY(require_expandable("the end of values", sizes(values.shape).last(behind),
                                        sizes(self.shape).last(selected.behind)));
    } else {
        HEADRACE_TRY(indexed, indexed_shape(self.shape, a.indices));
        HEADRACE_TRY(require_expandable("values", values.shape, indexed));
    }
    return add_result(out, self);
}

template <one_of<ops<aten::embedding>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& weight = inference::of(a.weight);
    const tensor_meta& indices = inference::of(a.indices);
    HEADRACE_TRY(require_rank("weight", weight.shape, 2));
    HEADRACE_TRY(require_indices("indices", indices));
    shape_builder shape(indices.shape);
    shape.push_back(weight.shape[1]);
    return add_result(out, weight.dtype, shape);
}

template <one_of<ops<aten::gather>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& index = inference::of(a.index);
    HEADRACE_TRY(detail::check_scatter(self, a.dim, index));
    return add_result(out, self.dtype, index.shape);
}

template <one_of<ops<aten::scatter_add, aten::scatter_src>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(detail::check_scatter(self, a.dim, inference::of(a.index), inference::of(a.src)));
    return add_result(out, self);
}
template <one_of<ops<aten::scatter_value>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(detail::check_scatter(self, a.dim, inference::of(a.index)));
    return add_result(out, self);
}

template <one_of<ops<aten::index_select>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& index = inference::of(a.index);
    HEADRACE_TRY(axis, axis_of(a.dim, self.rank()));
    HEADRACE_TRY(detail::check_index_list(index));
    if (self.rank() == 0) {
        HEADRACE_TRY(require_elements("index", index.shape, 1));
    }
    shape_builder shape(self.shape);
    if (!shape.empty()) shape[axis] = element_count(index.shape);
    return add_result(out, self.dtype, shape);
}

template <one_of<ops<aten::index_add, aten::index_copy>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(detail::check_slices(self, a.dim, inference::of(a.index), inference::of(a.source)));
    if constexpr (requires { a.alpha; }) {
        HEADRACE_TRY(detail::check_alpha(a.alpha, self.dtype));
    }
    return add_result(out, self);
}
template <one_of<ops<aten::index_fill_int_scalar>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(axis_of(a.dim, self.rank()));
    HEADRACE_TRY(detail::check_index_list(inference::of(a.index)));
    return add_result(out, self);
}

template <one_of<ops<aten::select_scatter>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(slice, selected_shape(self.shape, a.dim, a.index));
    HEADRACE_TRY(require_shape("src", inference::of(a.src).shape, slice));
    return add_result(out, self);
}
template <one_of<ops<aten::slice_scatter>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(part, sliced_shape(self.shape, a.dim, a.start, a.end, a.step));
    HEADRACE_TRY(require_shape("src", inference::of(a.src).shape, part));
    return add_result(out, self);
}

template <one_of<ops<aten::one_hot>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    if (a.num_classes < 0) return invalid("num_classes depends on data");
    HEADRACE_TRY(require_indices("self", inference::of(a.self)));
    shape_builder shape(inference::of(a.self).shape);
    shape.push_back(a.num_classes);
    return add_result(out, dtype::int64, shape);
}

template <one_of<ops<aten::masked_fill_scalar, aten::masked_fill_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& mask = inference::of(a.mask);
    HEADRACE_TRY(require_dtype("mask", mask.dtype, dtype::boolean));
    if constexpr (std::is_same_v<Op, aten::masked_fill_tensor>) {
        HEADRACE_TRY(require_rank("value", inference::of(a.value).shape, 0));
    }
    HEADRACE_TRY(shape, broadcast(self.shape, mask.shape));
    return add_result(out, self.dtype, shape);
}

template <one_of<ops<aten::where_self>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_mask("condition", inference::of(a.condition)));
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& other = inference::of(a.other);
    HEADRACE_TRY(shape, broadcast(inference::of(a.condition).shape, self.shape, other.shape));
    return add_result(out, result_type(self, other), shape);
}
template <one_of<ops<aten::where_scalarother>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_mask("condition", inference::of(a.condition)));
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(shape, broadcast(inference::of(a.condition).shape, self.shape));
    return add_result(out, result_type(self, a.other), shape);
}
template <one_of<ops<aten::where_scalarself>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_mask("condition", inference::of(a.condition)));
    const tensor_meta& other = inference::of(a.other);
    HEADRACE_TRY(shape, broadcast(inference::of(a.condition).shape, other.shape));
    return add_result(out, result_type(other, a.self), shape);
}
template <one_of<ops<aten::where_scalar>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_mask("condition", inference::of(a.condition)));
    return add_result(out, result_type(a.self, a.other), inference::of(a.condition).shape);
}

}  // namespace headrace

// ---- headrace/infer/aten_join.hpp ----

namespace headrace {
namespace aten {

/// Returns the shape to which hstack, vstack, dstack and column_stack reshape a tensor before joining
/// (PyTorch, torch.atleast_1d to atleast_3d).
template <class Op>
[[nodiscard]] constexpr shape_builder stacked_shape(sizes s) {
    if constexpr (std::is_same_v<Op, column_stack>) {
        return s.size() < 2 ? shape_builder{s.empty() ? 1 : s[0], 1} : shape_builder(s);
    } else if constexpr (std::is_same_v<Op, hstack>) {
        return s.empty() ? shape_builder{1} : shape_builder(s);
    } else if constexpr (std::is_same_v<Op, vstack>) {
        return s.size() < 2 ? shape_builder{1, s.empty() ? 1 : s[0]} : shape_builder(s);
    } else {
        if (s.size() > 2) return shape_builder(s);
        return s.size() == 2 ? shape_builder{s[0], s[1], 1} : shape_builder{1, s.empty() ? 1 : s[0], 1};
    }
}
/// Returns the axis along which they join tensors of that rank.
template <class Op>
[[nodiscard]] constexpr std::int64_t stacked_axis(std::size_t rank) {
    if constexpr (std::is_same_v<Op, vstack>) return 0;
    if constexpr (std::is_same_v<Op, dstack>) return 2;
    return rank == 1 ? 0 : 1;
}

using reflection_pad_ops = ops<reflection_pad1d, reflection_pad2d, reflection_pad3d>;
using replication_pad_ops = ops<replication_pad1d, replication_pad2d, replication_pad3d>;

}  // namespace aten

namespace detail {

/// An axis of a tensor, to be split.
struct split_axis {
    const tensor_meta& self;
    std::size_t axis;

    [[nodiscard]] std::int64_t size() const { return self.shape[axis]; }
    [[nodiscard]] result<void> add(inference& out, std::int64_t part) const {
        shape_builder shape(self.shape);
        shape[axis] = part;
        return add_result(out, self.dtype, shape);
    }
};
inline result<split_axis> split_axis_of(const tensor_meta& self, std::int64_t dim) {
    HEADRACE_TRY(axis, axis_of(dim, self.rank()));
    if (self.rank() == 0) return invalid("a tensor of rank 0 cannot be split");
    return split_axis{self, axis};
}

/// More results than any real program has, so that hostile sizes do not exhaust the memory.
inline constexpr std::int64_t most_parts = 1 << 20;

inline result<void> infer_split(inference& out, const split_axis& from, std::int64_t part) {
    if (part < 0 || (part == 0 && from.size() != 0)) return invalid("parts must have a positive size");
    if (from.size() == 0) return from.add(out, 0);
    if ((from.size() - 1) / part >= most_parts) return invalid("too many parts");
    for (std::int64_t left = from.size(); left > 0; left -= part) {
        HEADRACE_TRY(from.add(out, left < part ? left : part));
    }
    return {};
}
inline result<void> infer_split_sizes(inference& out, const split_axis& from, sizes parts) {
    std::int64_t sum = 0;
    for (const std::int64_t part : parts) {
        HEADRACE_TRY(from.add(out, part));
        sum = saturating_add(sum, part);
    }
    if (sum == from.size()) return {};
    return invalid({"parts ", shape_text(parts), " do not add up to ", from.size()});
}
inline result<void> infer_sections(inference& out, const split_axis& from, std::int64_t sections) {
    if (sections <= 0 || sections > most_parts) return invalid("the number of sections is out of range");
    for (std::int64_t i = 0; i != sections; ++i) {
        HEADRACE_TRY(from.add(out, from.size() / sections + (i < from.size() % sections ? 1 : 0)));
    }
    return {};
}
/// Cuts an axis at the indices, like slices in Python.
inline result<void> infer_cuts(inference& out, const split_axis& from, sizes indices) {
    std::int64_t start = 0;
    for (const std::int64_t index : indices) {
        HEADRACE_TRY(from.add(out, clamped_slice(start, index, from.size()).count(1)));
        start = index;
    }
    return from.add(out, clamped_slice(start, std::nullopt, from.size()).count(1));
}

/// True if torch.cat skips the tensor: empty tensors of rank 1 may be joined with tensors of any rank.
inline bool skipped_in_cat(const tensor_meta& t) { return t.rank() == 1 && t.shape[0] == 0; }

inline result<void> infer_cat(inference& out, list<value> tensors, std::int64_t dim) {
    promotion type;
    const tensor_meta* first = nullptr;
    for (const value v : tensors) {
        const tensor_meta& t = inference::of(v);
        type.add(t);
        if (first == nullptr && !skipped_in_cat(t)) first = &t;
    }
    if (tensors.empty()) return invalid("there are no tensors to join");
    if (first == nullptr) return add_result(out, type.type(), {0});
    HEADRACE_TRY(axis, axis_of(dim, first->rank()));
    if (first->rank() == 0) return invalid("tensors of rank 0 cannot be joined");
    shape_builder shape(first->shape);
    std::int64_t sum = 0;
    for (const value v : tensors) {
        const tensor_meta& t = inference::of(v);
        if (skipped_in_cat(t)) continue;
        shape_builder expected(t.shape);
        if (axis < expected.size()) expected[axis] = first->shape[axis];
        if (expected != shape) {
            return invalid({"cannot join ", shape_text(first->shape), " and ", shape_text(t.shape),
                            " along axis ", axis});
        }
        sum = saturating_add(sum, t.shape[axis]);
    }
    shape[axis] = sum;
    return add_result(out, type.type(), shape);
}

/// Infers a concatenation of tensors that are reshaped first.
template <class Shape, class Axis>
result<void> infer_stacked(inference& out, list<value> tensors, Shape&& shape_of, Axis&& axis_of_rank) {
    promotion type;
    shape_builder joined;
    std::int64_t sum = 0;
    for (const value v : tensors) {
        const tensor_meta& t = inference::of(v);
        shape_builder shape = shape_of(t.shape);
        type.add({t.dtype, int_list(shape), {}});  // no longer a number in promotion
        const auto axis = static_cast<std::size_t>(axis_of_rank(shape.size()));
        sum = saturating_add(sum, shape[axis]);
        if (!joined.empty() && joined.size() == shape.size()) shape[axis] = joined[axis];
        if (!joined.empty() && joined != shape) {
            return invalid({"cannot join ", shape_text(joined), " and ", shape_text(shape)});
        }
        joined = shape;
    }
    if (tensors.empty()) return invalid("there are no tensors to join");
    joined[static_cast<std::size_t>(axis_of_rank(joined.size()))] = sum;
    return add_result(out, type.type(), joined);
}

/// Adds `pad` to the sizes: pairs of counts before and after, the last axis first.
inline result<void> infer_padded(inference& out, const tensor_meta& self, sizes pad) {
    if (pad.size() % 2 != 0 || pad.size() / 2 > self.rank()) {
        return invalid({"padding ", shape_text(pad), " does not fit ", shape_text(self.shape)});
    }
    if (self.rank() > shape_builder::capacity) return rank_too_large();
    shape_builder shape(self.shape);
    for (std::size_t i = 0; i != pad.size() / 2; ++i) {
        std::int64_t& size = shape[self.rank() - 1 - i];
        // A negative padding crops.
        HEADRACE_TRY(require_at_least("padding", std::min(pad[2 * i], pad[2 * i + 1]), -size));
        size = saturating_add(size, saturating_add(pad[2 * i], pad[2 * i + 1]));
    }
    return add_result(out, self.dtype, shape);
}

/// Padding with elements of self, of which there must be at least one. A reflection may reach every element
/// except the edge; circular padding may wrap once around the elements left by negative amounts.
enum class pad_source : unsigned char { edge, reflection, circle };
inline result<void> infer_padded_from(inference& out, const tensor_meta& self, sizes pad, pad_source source) {
    const std::size_t count = pad.size() / 2;
    if (count == 0 || count > 3) return invalid({"padding ", shape_text(pad), " must be of 1 to 3 axes"});
    HEADRACE_TRY(require_rank("self", self.shape, count + 1, count + 2));
    const sizes padded = sizes(self.shape).last(count);
    if (source != pad_source::circle) {
        HEADRACE_TRY(require_nonempty("self", padded));
    }
    for (std::size_t i = 0; i != 2 * count && source != pad_source::edge; ++i) {
        const std::int64_t size = self.shape[self.rank() - 1 - i / 2];
        const std::int64_t kept = source == pad_source::reflection
                                      ? size - 1
                                      : saturating_add(size, std::min<std::int64_t>(pad[i ^ 1U], 0));
        if (pad[i] > kept) {
            return invalid(
                {"padding ", shape_text(pad),
                 source == pad_source::reflection ? " reflects more than " : " goes around more than ",
                 shape_text(self.shape)});
        }
    }
    HEADRACE_TRY(infer_padded(out, self, pad));
    return require_nonempty("the result", sizes(out.results().back().shape).last(count));
}

inline result<void> infer_repeated(inference& out, const tensor_meta& self, sizes repeats) {
    if (repeats.size() < self.rank()) {
        return invalid({"repeats ", shape_text(repeats), " are too few for ", shape_text(self.shape)});
    }
    shape_builder shape(repeats);
    for (const std::int64_t times : repeats) {
        HEADRACE_TRY(require_at_least("repeats", times, 0));
    }
    const std::size_t lead = repeats.size() - self.rank();
    for (std::size_t i = lead; i < shape.size(); ++i)
        shape[i] = saturating_mul(shape[i], self.shape[i - lead]);
    return add_result(out, self.dtype, shape);
}

/// Shrinks or grows two spatial axes by a factor, in exchange for channels.
inline result<void> infer_pixel_shuffle(inference& out, const tensor_meta& self, std::int64_t factor,
                                        bool grow) {
    HEADRACE_TRY(require_rank("self", self.shape, 3, shape_builder::capacity));
    shape_builder shape(self.shape);
    std::int64_t& channels = shape[shape.size() - 3];
    std::int64_t& height = shape[shape.size() - 2];
    std::int64_t& width = shape.back();
    const std::int64_t area = saturating_mul(factor, factor);
    const bool fits =
        factor > 0 && (grow ? channels % area == 0 : height % factor == 0 && width % factor == 0);
    if (!fits) {
        return invalid({"factor ", factor, " does not divide ", shape_text(self.shape)});
    }
    channels = grow ? channels / area : saturating_mul(channels, area);
    height = grow ? saturating_mul(height, factor) : height / factor;
    width = grow ? saturating_mul(width, factor) : width / factor;
    return add_result(out, self.dtype, shape);
}

}  // namespace detail

template <one_of<ops<aten::chunk>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(from, detail::split_axis_of(inference::of(a.self), a.dim));
    if (a.chunks <= 0 || a.chunks > detail::most_parts)
        return invalid("the number of chunks is out of range");
    if (from.size() == 0) return detail::infer_sections(out, from, a.chunks);
    return detail::infer_split(out, from, (from.size() - 1) / a.chunks + 1);
}
template <one_of<ops<aten::split_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(from, detail::split_axis_of(inference::of(a.self), a.dim));
    return detail::infer_split(out, from, a.split_size);
}
template <one_of<ops<aten::split_with_sizes>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(from, detail::split_axis_of(inference::of(a.self), a.dim));
    return detail::infer_split_sizes(out, from, a.split_sizes);
}
template <one_of<ops<aten::tensor_split_sections>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(from, detail::split_axis_of(inference::of(a.self), a.dim));
    return detail::infer_sections(out, from, a.sections);
}
template <one_of<ops<aten::tensor_split_indices>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(from, detail::split_axis_of(inference::of(a.self), a.dim));
    return detail::infer_cuts(out, from, a.indices);
}
template <one_of<ops<aten::unbind_int>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(from, detail::split_axis_of(inference::of(a.self), a.dim));
    if (from.size() > detail::most_parts) return invalid("too many parts");
    shape_builder shape(from.self.shape);
    shape.erase(from.axis);
    for (std::int64_t i = 0; i < from.size(); ++i) {
        HEADRACE_TRY(add_result(out, from.self.dtype, shape));
    }
    return {};
}

template <one_of<ops<aten::cat>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_cat(out, a.tensors, a.dim);
}
template <one_of<ops<aten::stack>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    if (a.tensors.empty()) return invalid("there are no tensors to stack");
    const tensor_meta& first = inference::of(a.tensors[0]);
    HEADRACE_TRY(axis, axis_of(a.dim, first.rank() + 1));
    promotion type;
    for (const value v : a.tensors) {
        const tensor_meta& t = inference::of(v);
        if (t.shape != first.shape) {
            return invalid({"cannot stack ", shape_text(first.shape), " and ", shape_text(t.shape)});
        }
        type.add(t);
    }
    shape_builder shape(first.shape);
    shape.insert(axis, static_cast<std::int64_t>(a.tensors.size()));
    return add_result(out, type.type(), shape);
}
/// Joins tensors reshaped as in NumPy: to at least one axis (hstack), two (vstack) or three (dstack), or to
/// columns (column_stack).
template <one_of<ops<aten::hstack, aten::vstack, aten::dstack, aten::column_stack>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_stacked(
        out, a.tensors, [](sizes s) { return aten::stacked_shape<Op>(s); }, aten::stacked_axis<Op>);
}
template <one_of<ops<aten::broadcast_tensors>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    shape_builder shape;
    for (const value v : a.tensors) {
        HEADRACE_TRY(both, broadcast(shape, inference::of(v).shape));
        shape = both;
    }
    for (const value v : a.tensors) {
        HEADRACE_TRY(add_result(out, inference::of(v).dtype, shape));
    }
    return {};
}
template <one_of<ops<aten::diff>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(axis, axis_of(a.dim, self.rank()));
    if (self.rank() == 0) return invalid("a tensor of rank 0 has no axis to take differences along");
    shape_builder shape(self.shape);
    promotion type;
    type.add(self);
    for (const std::optional<value>& more : {a.prepend, a.append}) {
        if (!more) continue;
        const tensor_meta& beside = inference::of(*more);
        HEADRACE_TRY(require_shape_beside("prepend or append", beside.shape, self.shape, axis));
        shape[axis] = saturating_add(shape[axis], beside.shape[axis]);
        type.add(beside);
    }
    HEADRACE_TRY(require_at_least("n", a.n, 0));
    shape[axis] = a.n < shape[axis] ? shape[axis] - a.n : 0;
    return add_result(out, type.type(), shape);
}
template <one_of<ops<aten::rot90>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_count("dims", a.dims.size(), 2));
    HEADRACE_TRY(require_rank("self", self.shape, 2, SIZE_MAX));
    HEADRACE_TRY(axes_of(a.dims, self.rank()));
    return a.k % 2 == 0 ? add_result(out, self) : detail::infer_transposed(out, self, a.dims[0], a.dims[1]);
}
template <one_of<ops<aten::meshgrid_indexing>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    shape_builder shape;
    if (a.tensors.empty()) return invalid("there are no tensors to span a grid");
    for (const value v : a.tensors) {
        const tensor_meta& t = inference::of(v);
        HEADRACE_TRY(require_dtype("tensor", t.dtype, inference::of(a.tensors[0]).dtype));
        HEADRACE_TRY(require_rank("tensor", t.shape, 0, 1));
        shape.push_back(t.rank() == 0 ? 1 : t.shape[0]);
    }
    if (a.indexing != "xy" && a.indexing != "ij") return invalid("indexing must be xy or ij");
    if (a.indexing == "xy" && shape.size() > 1) std::swap(shape[0], shape[1]);
    for (const value v : a.tensors) {
        HEADRACE_TRY(add_result(out, inference::of(v).dtype, shape));
    }
    return {};
}

template <one_of<ops<aten::repeat>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_repeated(out, inference::of(a.self), a.repeats);
}
template <one_of<ops<aten::tile>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    shape_builder repeats;
    for (std::size_t i = a.dims.size(); i < self.rank(); ++i) repeats.push_back(1);
    repeats.append(a.dims);
    if (repeats.overflowed()) return rank_too_large();
    return detail::infer_repeated(out, self, repeats);
}
template <one_of<ops<aten::repeat_interleave_self_int>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    shape_builder shape(self.shape);
    std::size_t axis = 0;
    if (a.dim) {
        HEADRACE_TRY(found, axis_of(*a.dim, self.rank()));
        axis = found;
    }
    if (!a.dim || self.rank() == 0) shape = {element_count(self.shape)};
    HEADRACE_TRY(require_at_least("repeats", a.repeats, 0));
    shape[axis] = saturating_mul(shape[axis], a.repeats);
    if (a.output_size) {
        HEADRACE_TRY(require_equal("output_size", *a.output_size, shape[axis]));
    }
    return add_result(out, self.dtype, shape);
}

template <one_of<ops<aten::pixel_shuffle>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_pixel_shuffle(out, inference::of(a.self), a.upscale_factor, true);
}
template <one_of<ops<aten::pixel_unshuffle>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_pixel_shuffle(out, inference::of(a.self), a.downscale_factor, false);
}

/// Groups of channels and the channels of a group are transposed.
template <one_of<ops<aten::channel_shuffle>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_rank("self", self.shape, 3, SIZE_MAX));
    HEADRACE_TRY(require_at_least("groups", a.groups, 1));
    if (self.shape[1] % a.groups != 0) {
        return invalid({"groups ", a.groups, " does not divide axis 1 of ", shape_text(self.shape)});
    }
    return add_result(out, self);
}
/// Keeps a triangle of each matrix in the last two axes.
template <one_of<ops<aten::tril, aten::triu>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_rank("self", self.shape, 2, SIZE_MAX));
    return add_result(out, self);
}

template <one_of<ops<aten::constant_pad_nd>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_padded(out, inference::of(a.self), a.pad);
}
template <one_of<ops<aten::pad>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    if (a.mode == "constant") return detail::infer_padded(out, self, a.pad);
    if (a.mode == "replicate") return detail::infer_padded_from(out, self, a.pad, detail::pad_source::edge);
    if (a.mode == "reflect")
        return detail::infer_padded_from(out, self, a.pad, detail::pad_source::reflection);
    if (a.mode == "circular") return detail::infer_padded_from(out, self, a.pad, detail::pad_source::circle);
    return invalid("mode must be constant, reflect, replicate or circular");
}
template <one_of<aten::replication_pad_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_count("padding", a.padding.size(), 2 * spatial_rank<Op>));
    return detail::infer_padded_from(out, inference::of(a.self), a.padding, detail::pad_source::edge);
}
template <one_of<aten::reflection_pad_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_count("padding", a.padding.size(), 2 * spatial_rank<Op>));
    return detail::infer_padded_from(out, inference::of(a.self), a.padding, detail::pad_source::reflection);
}

}  // namespace headrace

// ---- headrace/infer/aten_resize.hpp ----

namespace headrace {
namespace aten {

using resize_ops =
    ops<upsample_bicubic2d, upsample_bilinear2d, upsample_linear1d, upsample_nearest1d, upsample_nearest2d,
        upsample_nearest3d, _upsample_nearest_exact1d, _upsample_nearest_exact2d,
        _upsample_nearest_exact3d, upsample_trilinear3d, _upsample_bilinear2d_aa,
        _upsample_bicubic2d_aa>;
/// Ops that take either the new size or the factors.
using resize_vec_ops =
    ops<upsample_bicubic2d_vec, upsample_bilinear2d_vec, upsample_linear1d_vec, upsample_nearest1d_vec,
        upsample_nearest2d_vec, upsample_nearest3d_vec, _upsample_nearest_exact1d_vec,
        _upsample_nearest_exact2d_vec, _upsample_nearest_exact3d_vec, upsample_trilinear3d_vec,
        _upsample_bilinear2d_aa_vec, _upsample_bicubic2d_aa_vec>;

}  // namespace aten

namespace detail {

inline result<void> infer_resized(inference& out, const tensor_meta& input, std::size_t count, sizes output) {
    HEADRACE_TRY(require_rank("input", input.shape, count + 2));
    HEADRACE_TRY(require_nonempty("input", sizes(input.shape).subspan(1)));
    HEADRACE_TRY(require_count("output_size", output.size(), count));
    HEADRACE_TRY(require_nonempty("output_size", output));
    shape_builder shape(sizes(input.shape).first(2));
    shape.append(output);
    return add_result(out, input.dtype, shape);
}

}  // namespace detail

/// Returns sizes times factors, rounded toward zero as in PyTorch.
[[nodiscard]] inline result<shape_builder> scaled_sizes(sizes spatial, list<double> factors) {
    HEADRACE_TRY(require_count("scale_factors", factors.size(), spatial.size()));
    shape_builder scaled;
    for (std::size_t i = 0; i != spatial.size(); ++i) {
        scaled.push_back(scalar(static_cast<double>(spatial[i]) * factors[i]).to_int());
    }
    return scaled;
}

/// Refuses a dtype that PyTorch cannot resize: it copies elements of any type, and interpolates real numbers
/// and bytes.
template <op_tag Op>
[[nodiscard]] result<void> require_resizable(std::string_view what, const tensor_meta& input) {
    if (has_trait<Op>(trait::nearest) || input.dtype == dtype::uint8) return {};
    HEADRACE_TRY(require_floating(what, input.dtype));
    return require_real(what, input.dtype);
}

template <one_of<aten::resize_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_resizable<Op>("self", inference::of(a.self)));
    return detail::infer_resized(out, inference::of(a.self), spatial_rank<Op>, a.output_size);
}

template <one_of<aten::resize_vec_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    constexpr std::size_t count = spatial_rank<Op>;
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(require_resizable<Op>("input", input));
    HEADRACE_TRY(require_rank("input", input.shape, count + 2));
    if (a.output_size && a.scale_factors) return invalid("both output_size and scale_factors are given");
    if (a.output_size) return detail::infer_resized(out, input, count, *a.output_size);
    if (!a.scale_factors) return invalid("neither output_size nor scale_factors is given");
    HEADRACE_TRY(scaled, scaled_sizes(sizes(input.shape).subspan(2), *a.scale_factors));
    return detail::infer_resized(out, input, count, scaled);
}

template <one_of<ops<aten::grid_sampler, aten::grid_sampler_2d>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    const tensor_meta& grid = inference::of(a.grid);
    HEADRACE_TRY(require_rank("input", input.shape, 4, std::is_same_v<Op, aten::grid_sampler> ? 5 : 4));
    HEADRACE_TRY(require_rank("grid", grid.shape, input.rank()));
    const std::size_t spatial = input.rank() - 2;
    const auto coordinates = static_cast<std::int64_t>(spatial);
    HEADRACE_TRY(require_equal("the first size of grid", grid.shape[0], input.shape[0]));
    HEADRACE_TRY(require_equal("the last size of grid", grid.shape.back(), coordinates));
    HEADRACE_TRY(require_nonempty("input", sizes(input.shape).last(spatial)));
    HEADRACE_TRY(require_between("interpolation_mode", a.interpolation_mode, 0, 2));
    HEADRACE_TRY(require_between("padding_mode", a.padding_mode, 0, 2));
    shape_builder shape(sizes(input.shape).first(2));
    shape.append(sizes(grid.shape).subspan(1, spatial));
    return add_result(out, input.dtype, shape);
}

template <one_of<ops<aten::fft_rfft2>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(axes_of(a.dim, self.rank(), no_axes::none));
    if (a.dim.empty() || self.rank() == 0) return invalid("there is no axis to transform");
    if (a.s) {
        HEADRACE_TRY(require_count("s", a.s->size(), a.dim.size()));
    }
    shape_builder shape(self.shape);
    for (std::size_t i = 0; i != a.dim.size(); ++i) {
        const std::size_t axis = *normalized_axis(a.dim[i], self.rank());
        if (a.s && (*a.s)[i] != -1) shape[axis] = (*a.s)[i];
        HEADRACE_TRY(require_at_least("the size of a transformed axis", shape[axis], 1));
        if (i + 1 == a.dim.size()) shape[axis] = shape[axis] / 2 + 1;
    }
    return add_result(out, complex_of(self.dtype), shape);
}

template <one_of<ops<aten::fft_fftshift, aten::fft_ifftshift>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    for (const std::int64_t dim : a.dim.value_or(int_list())) {
        HEADRACE_TRY(axis_of(dim, self.rank()));
    }
    return add_result(out, self);
}

}  // namespace headrace

// ---- headrace/infer/aten_loss.hpp ----

namespace headrace {

namespace detail {

/// Infers one number or, with reduction 0, the loss of each element. Integers have a sum, but no mean.
inline result<void> infer_loss(inference& out, dtype type, sizes each, std::int64_t reduction) {
    HEADRACE_TRY(require_reduction(reduction));
    if (reduction == 0) return add_result(out, type, each);
    if (reduction == 1) {
        HEADRACE_TRY(require_floating("what the mean is taken of", type));
    }
    return add_result(out, as_accumulator(type), shape_builder());
}
/// Checks targets that are class indices. Classes are along the second axis, or the only one.
inline result<void> check_classes(const tensor_meta& self, const tensor_meta& target) {
    HEADRACE_TRY(require_rank("self", self.shape, 1, SIZE_MAX));
    shape_builder rest(self.shape);
    rest.erase(self.rank() == 1 ? 0 : 1);
    HEADRACE_TRY(require_shape("target", target.shape, rest));
    return require_dtype("target", target.dtype, target.dtype == dtype::uint8 ? dtype::uint8 : dtype::int64);
}
[[nodiscard]] inline std::int64_t class_count(sizes shape) { return shape[shape.size() == 1 ? 0 : 1]; }
inline result<void> check_class_weight(const std::optional<value>& weight, const tensor_meta& self) {
    HEADRACE_TRY(require_dtype("weight", weight, self.dtype));
    return require_shape("weight", weight, shape_builder{class_count(self.shape)});
}

}  // namespace detail

template <one_of<ops<aten::mse_loss, aten::l1_loss, aten::smooth_l1_loss, aten::huber_loss,
                     aten::soft_margin_loss, aten::kl_div>>
              Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& target = inference::of(a.target);
    HEADRACE_TRY(type, detail::promoted_for<Op>(self, target));
    HEADRACE_TRY(shape, broadcast(self.shape, target.shape));
    if constexpr (one_of<Op, ops<aten::huber_loss, aten::soft_margin_loss, aten::kl_div>>) {
        HEADRACE_TRY(require_floating("self", self.dtype));  // the kernels compute in the type of self
    }
    if constexpr (one_of<Op, ops<aten::kl_div>>) {
        HEADRACE_TRY(require_floating("target", target.dtype));
    }
    if constexpr (one_of<Op, ops<aten::l1_loss>>) {
        HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
        HEADRACE_TRY(require_type_for<Op>("target", target.dtype));
    }
    if constexpr (requires { a.beta; }) {
        if (!(a.beta >= 0)) return invalid("beta must be at least 0");
    }
    if constexpr (requires { a.delta; }) {
        if (!(a.delta > 0)) return invalid("delta must be above 0");
    }
    return detail::infer_loss(out, magnitude_of(type), shape, a.reduction);
}
template <one_of<ops<aten::binary_cross_entropy>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    HEADRACE_TRY(require_shape("target", inference::of(a.target).shape, self.shape));
    if (a.weight) {
        HEADRACE_TRY(require_expandable("weight", inference::of(*a.weight).shape, self.shape));
    }
    return detail::infer_loss(out, self.dtype, self.shape, a.reduction);
}
template <one_of<ops<aten::binary_cross_entropy_with_logits>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& target = inference::of(a.target);
    HEADRACE_TRY(shape, broadcast(self.shape, target.shape));
    promotion type;
    type.add(self).add(target);
    for (const std::optional<value>& v : {a.weight, a.pos_weight}) {
        if (!v) continue;
        HEADRACE_TRY(wide, broadcast(shape, inference::of(*v).shape));
        shape = wide;
        type.add(inference::of(*v));
    }
    HEADRACE_TRY(require_floating("self", self.dtype));
    HEADRACE_TRY(require_floating("target", target.dtype));
    HEADRACE_TRY(require_type_for<Op>("the common type of the operands", type.type()));
    return detail::infer_loss(out, type.type(), shape, a.reduction);
}
template <one_of<ops<aten::nll_loss, aten::nll_loss2d, aten::nll_loss_nd, aten::nll_loss_forward,
                     aten::nll_loss2d_forward>>
              Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& target = inference::of(a.target);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    HEADRACE_TRY(detail::check_classes(self, target));
    HEADRACE_TRY(detail::check_class_weight(a.weight, self));
    HEADRACE_TRY(detail::infer_loss(out, self.dtype, target.shape, a.reduction));
    return Op::results == 2 ? add_result(out, self.dtype, shape_builder()) : result<void>();
}
/// Targets are class indices or class probabilities.
template <one_of<ops<aten::cross_entropy_loss>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& target = inference::of(a.target);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    HEADRACE_TRY(require_rank("self", self.shape, 1, SIZE_MAX));
    HEADRACE_TRY(detail::check_class_weight(a.weight, self));
    if (!(a.label_smoothing >= 0 && a.label_smoothing <= 1))
        return invalid("label_smoothing must be from 0 to 1");
    shape_builder rest(self.shape);
    rest.erase(self.rank() == 1 ? 0 : 1);
    if (shape_builder(self.shape) == shape_builder(target.shape)) {
        HEADRACE_TRY(require_floating("target", target.dtype));
        HEADRACE_TRY(require_real("target", target.dtype));
    } else {
        HEADRACE_TRY(detail::check_classes(self, target));
    }
    return detail::infer_loss(out, self.dtype, rest, a.reduction);
}
template <one_of<ops<aten::poisson_nll_loss>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(type, detail::promoted_for<Op>(input, inference::of(a.target)));
    HEADRACE_TRY(shape, broadcast(input.shape, inference::of(a.target).shape));
    return detail::infer_loss(out, as_floating(type), shape, a.reduction);
}
template <one_of<ops<aten::cosine_embedding_loss>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& x = inference::of(a.input1);
    const tensor_meta& y = inference::of(a.input2);
    const tensor_meta& target = inference::of(a.target);
    HEADRACE_TRY(require_rank("target", target.shape, 0, 1));
    HEADRACE_TRY(require_rank("input1", x.shape, target.rank() + 1));
    HEADRACE_TRY(require_rank("input2", y.shape, target.rank() + 1));
    HEADRACE_TRY(type, detail::promoted_for<Op>(x, y));
    HEADRACE_TRY(both, broadcast(x.shape, y.shape));
    HEADRACE_TRY(shape, broadcast(sizes(both).first(target.rank()), target.shape));
    return detail::infer_loss(out, as_floating(type), shape, a.reduction);
}
template <one_of<ops<aten::margin_ranking_loss>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& x = inference::of(a.input1);
    const tensor_meta& y = inference::of(a.input2);
    const tensor_meta& target = inference::of(a.target);
    HEADRACE_TRY(require_rank("input2", y.shape, x.rank()));
    HEADRACE_TRY(require_rank("target", target.shape, x.rank()));
    HEADRACE_TRY(type, detail::promoted_for<Op>(x, y, target));
    HEADRACE_TRY(shape, broadcast(x.shape, y.shape, target.shape));
    return detail::infer_loss(out, as_floating(type), shape, a.reduction);  // the margin is floating-point
}
template <one_of<ops<aten::hinge_embedding_loss>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    HEADRACE_TRY(shape, broadcast(self.shape, inference::of(a.target).shape));
    return detail::infer_loss(out, self.dtype, shape, a.reduction);
}
template <one_of<ops<aten::triplet_margin_loss>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& anchor = inference::of(a.anchor);
    const tensor_meta& positive = inference::of(a.positive);
    const tensor_meta& negative = inference::of(a.negative);
    HEADRACE_TRY(require_rank("positive", positive.shape, anchor.rank()));
    HEADRACE_TRY(require_rank("negative", negative.shape, anchor.rank()));
    HEADRACE_TRY(require_rank("anchor", anchor.shape, 1, SIZE_MAX));
    HEADRACE_TRY(require_floating("anchor", anchor.dtype));
    HEADRACE_TRY(type, detail::promoted_for<Op>(anchor, positive, negative));
    HEADRACE_TRY(shape, broadcast(anchor.shape, positive.shape, negative.shape));
    return detail::infer_loss(out, type, sizes(shape).first(shape.size() - 1), a.reduction);
}
template <one_of<ops<aten::multi_margin_loss>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& target = inference::of(a.target);
    HEADRACE_TRY(require_rank("self", self.shape, 1, 2));
    HEADRACE_TRY(require_floating("self", self.dtype));
    HEADRACE_TRY(require_dtype("target", target.dtype, dtype::int64));
    HEADRACE_TRY(require_elements("target", target.shape, self.rank() == 1 ? 1 : self.shape[0]));
    HEADRACE_TRY(require_rank("target", target.shape, 0, 1));
    HEADRACE_TRY(detail::check_class_weight(a.weight, self));
    if (a.p.to_double() != 1 && a.p.to_double() != 2) return invalid("p must be 1 or 2");
    return detail::infer_loss(out, self.dtype, target.shape, a.reduction);
}
/// Each row lists its classes, padded with -1.
template <one_of<ops<aten::multilabel_margin_loss>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_rank("self", self.shape, 0, 2));
    HEADRACE_TRY(require_nonempty("self", self.shape));
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    HEADRACE_TRY(require_shape("target", inference::of(a.target).shape, self.shape));
    HEADRACE_TRY(require_dtype("target", inference::of(a.target).dtype, dtype::int64));
    const sizes rows = sizes(self.shape).first(self.rank() == 2 ? 1 : 0);
    return detail::infer_loss(out, self.dtype, rows, a.reduction);
}

// Tables of numbers.

template <one_of<ops<aten::hann_window, aten::hamming_window, aten::blackman_window, aten::bartlett_window,
                     aten::kaiser_window, aten::hann_window_periodic, aten::hamming_window_periodic,
                     aten::blackman_window_periodic, aten::bartlett_window_periodic,
                     aten::kaiser_window_periodic, aten::hamming_window_periodic_alpha,
                     aten::hamming_window_periodic_alpha_beta, aten::kaiser_window_beta>>
              Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_at_least("window_length", a.window_length, 0));
    const dtype type = a.dtype.value_or(default_float);
    HEADRACE_TRY(require_floating("dtype", type));
    HEADRACE_TRY(require_real("dtype", type));
    return add_result(out, type, {a.window_length});
}
template <one_of<ops<aten::logspace>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_at_least("steps", a.steps, 0));
    return add_result(out, a.dtype.value_or(default_float), {a.steps});
}
/// Returns how many columns of row `r` are on or below (tril) a diagonal.
[[nodiscard]] constexpr std::int64_t columns_until(std::int64_t r, std::int64_t columns,
                                                   std::int64_t offset) {
    const std::int64_t end = saturating_add(saturating_add(r, offset), 1);
    return end < 0 ? 0 : end > columns ? columns : end;
}
template <one_of<ops<aten::tril_indices, aten::triu_indices>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    constexpr std::int64_t most_rows = std::int64_t{1} << 20;
    HEADRACE_TRY(require_between("row", a.row, 0, most_rows));
    HEADRACE_TRY(require_at_least("col", a.col, 0));
    std::int64_t count = 0;
    for (std::int64_t r = 0; r != a.row; ++r) {
        if constexpr (std::is_same_v<Op, aten::tril_indices>) {
            count = saturating_add(count, columns_until(r, a.col, a.offset));
        } else {
            count = saturating_add(count, a.col - columns_until(r, a.col, saturating_sub(a.offset, 1)));
        }
    }
    const dtype type = a.dtype.value_or(dtype::int64);
    HEADRACE_TRY(require_real("dtype", type));
    return add_result(out, type, {2, count});
}
template <one_of<ops<aten::affine_grid_generator>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& theta = inference::of(a.theta);
    HEADRACE_TRY(require_type_for<Op>("theta", theta.dtype));
    const auto count = static_cast<std::int64_t>(a.size.size());
    HEADRACE_TRY(require_between("the number of sizes", count, 4, 5));
    HEADRACE_TRY(require_nonempty("size", a.size));
    HEADRACE_TRY(require_shape("theta", theta.shape, shape_builder{a.size[0], count - 2, count - 1}));
    shape_builder shape{a.size[0]};
    shape.append(sizes(a.size).subspan(2));
    shape.push_back(count - 2);
    return add_result(out, theta.dtype, shape);
}
template <one_of<ops<aten::repeat_interleave_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& repeats = inference::of(a.repeats);
    HEADRACE_TRY(require_rank("repeats", repeats.shape, 1));
    HEADRACE_TRY(require_indices("repeats", repeats));
    if (!a.output_size) return invalid("output_size is needed: the size of the result depends on data");
    HEADRACE_TRY(require_at_least("output_size", *a.output_size, 0));
    return add_result(out, repeats.dtype, {*a.output_size});
}
template <one_of<ops<aten::repeat_interleave_self_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& repeats = inference::of(a.repeats);
    HEADRACE_TRY(require_rank("repeats", repeats.shape, 0, 1));
    HEADRACE_TRY(require_indices("repeats", repeats));
    if (!a.output_size) return invalid("output_size is needed: the size of the result depends on data");
    HEADRACE_TRY(require_at_least("output_size", *a.output_size, 0));
    if (!a.dim || self.rank() == 0) {
        if (repeats.rank() == 1) {
            HEADRACE_TRY(require_elements("repeats", repeats.shape, element_count(self.shape)));
        }
        return add_result(out, self.dtype, {*a.output_size});
    }
    HEADRACE_TRY(axis, axis_of(*a.dim, self.rank()));
    if (repeats.rank() == 1 && repeats.shape[0] != 1) {
        HEADRACE_TRY(require_elements("repeats", repeats.shape, self.shape[axis]));
    }
    shape_builder shape(self.shape);
    shape[axis] = *a.output_size;
    return add_result(out, self.dtype, shape);
}

// Random numbers.

template <one_of<ops<aten::rand, aten::randn>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, a.dtype.value_or(default_float), a.size);
}
template <one_of<ops<aten::rand_like, aten::randn_like>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, a.dtype.value_or(inference::of(a.self).dtype), inference::of(a.self));
}
template <one_of<ops<aten::bernoulli, aten::bernoulli_p>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    if constexpr (requires { a.p; }) {
        if (!(a.p >= 0 && a.p <= 1)) return invalid("p must be a probability");
    }
    return add_result(out, self);
}

}  // namespace headrace

// ---- headrace/infer/aten_norm.hpp ----

namespace headrace {

namespace detail {

/// Refuses a normalized_shape that does not equal the last sizes of the input.
inline result<void> check_normalized_shape(sizes input, sizes normalized) {
    const bool fits = !normalized.empty() && normalized.size() <= input.size() &&
                      shape_builder(input.last(normalized.size())) == shape_builder(normalized);
    if (fits) return {};
    return invalid({"normalized_shape ", shape_text(normalized), " is not the end of ", shape_text(input)});
}

/// Refuses an optional parameter unless it has the input's dtype, or is float32 for a shorter float.
inline result<void> require_parameter(std::string_view what, const std::optional<value>& v, dtype input) {
    const bool is_short = input == dtype::float16 || input == dtype::bfloat16;
    if (is_short && v && inference::of(*v).dtype == dtype::float32) return {};
    return require_dtype(what, v, input);
}

/// Refuses an input that is not floating-point, and parameters of other types.
inline result<void> check_types(const tensor_meta& input, const std::optional<value>& weight,
                                const std::optional<value>& bias) {
    HEADRACE_TRY(require_floating("input", input.dtype));
    HEADRACE_TRY(require_real("input", input.dtype));
    HEADRACE_TRY(require_parameter("weight", weight, input.dtype));
    return require_parameter("bias", bias, input.dtype);
}

/// Refuses a weight or a bias whose shape is not the normalized shape.
inline result<void> check_normalized(const tensor_meta& input, sizes normalized,
                                     const std::optional<value>& weight, const std::optional<value>& bias) {
    HEADRACE_TRY(check_types(input, weight, bias));
    HEADRACE_TRY(check_normalized_shape(input.shape, normalized));
    HEADRACE_TRY(require_shape("weight", weight, normalized));
    return require_shape("bias", bias, normalized);
}
/// Refuses a weight or a bias that does not have one element per channel, the second axis.
inline result<void> check_channels(const tensor_meta& input, const std::optional<value>& weight,
                                   const std::optional<value>& bias) {
    HEADRACE_TRY(check_types(input, weight, bias));
    HEADRACE_TRY(require_rank("input", input.shape, 2, SIZE_MAX));
    HEADRACE_TRY(require_elements("weight", weight, input.shape[1]));
    return require_elements("bias", bias, input.shape[1]);
}
/// Refuses running statistics that do not have one element per channel, or are missing although `used`.
inline result<void> check_statistics(const tensor_meta& input, const std::optional<value>& mean,
                                     const std::optional<value>& variance, bool used) {
    if (used && (!mean || !variance)) return invalid("running_mean and running_var must be given");
    HEADRACE_TRY(require_parameter("running_mean", mean, input.dtype));
    HEADRACE_TRY(require_parameter("running_var", variance, input.dtype));
    HEADRACE_TRY(require_elements("running_mean", mean, input.shape[1]));
    return require_elements("running_var", variance, input.shape[1]);
}
/// Refuses groups of channels of different sizes.
inline result<void> check_groups(std::int64_t channels, std::int64_t groups) {
    HEADRACE_TRY(require_at_least("the number of groups", groups, 1));
    if (channels % groups == 0) return {};
    return invalid({channels, " channels are not divisible into ", groups, " groups"});
}

/// Infers the result, and the mean and reciprocal deviation of a batch, one per channel; evaluation on the
/// CPU saves none.
inline result<void> infer_batch_norm(inference& out, const tensor_meta& input, bool training) {
    const std::int64_t channels = training ? input.shape[1] : 0;
    HEADRACE_TRY(add_result(out, input));
    HEADRACE_TRY(add_result(out, input.dtype, {channels}));
    return add_result(out, input.dtype, {channels});
}

}  // namespace detail

template <one_of<ops<aten::dropout>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, inference::of(a.input));
}

template <one_of<ops<aten::batch_norm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(detail::check_channels(input, a.weight, a.bias));
    HEADRACE_TRY(detail::check_statistics(input, a.running_mean, a.running_var, !a.training));
    return add_result(out, input);
}
template <one_of<ops<aten::instance_norm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(require_rank("input", input.shape, 3, SIZE_MAX));
    HEADRACE_TRY(detail::check_channels(input, a.weight, a.bias));
    HEADRACE_TRY(detail::check_statistics(input, a.running_mean, a.running_var, !a.use_input_stats));
    // PyTorch repeats these once for each image, which requires vectors.
    for (const std::optional<value>& v : {a.weight, a.bias, a.running_mean, a.running_var}) {
        if (v && inference::of(*v).rank() != 1)
            return invalid("weight, bias, running_mean and running_var must have one axis");
    }
    return add_result(out, input);
}
template <one_of<ops<aten::group_norm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(detail::check_channels(input, a.weight, a.bias));
    HEADRACE_TRY(detail::check_groups(input.shape[1], a.num_groups));
    return add_result(out, input);
}

template <one_of<ops<aten::layer_norm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(detail::check_normalized(input, a.normalized_shape, a.weight, a.bias));
    return add_result(out, input);
}
template <one_of<ops<aten::rms_norm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(require_floating("input", input.dtype));
    HEADRACE_TRY(detail::check_normalized_shape(input.shape, a.normalized_shape));
    HEADRACE_TRY(require_shape("weight", a.weight, a.normalized_shape));
    const bool promotes = !a.weight || result_type(input, inference::of(*a.weight)) != dtype::unknown;
    return promotes ? add_result(out, input) : add_result(out, dtype::unknown, input);
}

/// PyTorch takes a `g` with one element or with as many as `dim`, regardless of axes of size 1.
template <one_of<ops<aten::_weight_norm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& v = inference::of(a.v);
    const tensor_meta& g = inference::of(a.g);
    HEADRACE_TRY(require_floating("v", v.dtype));
    HEADRACE_TRY(require_dtype("g", g.dtype, v.dtype));
    shape_builder lengths = shape_builder::filled(v.rank(), 1);
    if (a.dim != -1) {
        HEADRACE_TRY(axis, axis_of(a.dim, v.rank()));
        if (v.rank() != 0) lengths[axis] = v.shape[axis];
    }
    HEADRACE_TRY(require_expandable("g", g.shape, lengths));
    return add_result(out, v);
}

template <one_of<ops<aten::native_layer_norm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(detail::check_normalized(input, a.normalized_shape, a.weight, a.bias));
    shape_builder statistics(input.shape);
    for (std::size_t i = input.rank() - a.normalized_shape.size(); i < statistics.size(); ++i)
        statistics[i] = 1;
    HEADRACE_TRY(add_result(out, input));
    HEADRACE_TRY(add_result(out, input.dtype, statistics));
    return add_result(out, input.dtype, statistics);
}

/// N, C and HxW repeat the input's shape.
template <one_of<ops<aten::native_group_norm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(detail::check_channels(input, a.weight, a.bias));
    const std::int64_t area = element_count(sizes(input.shape).subspan(2));
    HEADRACE_TRY(require_equal("N", a.N, input.shape[0]));
    HEADRACE_TRY(require_equal("C", a.C, input.shape[1]));
    HEADRACE_TRY(require_equal("HxW", a.HxW, area));
    HEADRACE_TRY(detail::check_groups(a.C, a.group));
    HEADRACE_TRY(add_result(out, input));
    HEADRACE_TRY(add_result(out, input.dtype, {a.N, a.group}));
    return add_result(out, input.dtype, {a.N, a.group});
}

template <one_of<ops<aten::native_batch_norm, aten::_native_batch_norm_legit>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(detail::check_channels(input, a.weight, a.bias));
    HEADRACE_TRY(detail::check_statistics(input, a.running_mean, a.running_var, !a.training));
    return detail::infer_batch_norm(out, input, a.training);
}
template <one_of<ops<aten::_native_batch_norm_legit_no_stats>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(detail::check_channels(input, a.weight, a.bias));
    if (!a.training) return invalid("without running statistics, training must be set");
    return detail::infer_batch_norm(out, input, true);
}
template <one_of<ops<aten::_native_batch_norm_legit_no_training>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(detail::check_channels(input, a.weight, a.bias));
    HEADRACE_TRY(detail::check_statistics(input, a.running_mean, a.running_var, true));
    return detail::infer_batch_norm(out, input, false);
}

template <one_of<ops<aten::cosine_similarity>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& left = inference::of(a.x1);
    const tensor_meta& right = inference::of(a.x2);
    HEADRACE_TRY(shape, broadcast(left.shape, right.shape));
    HEADRACE_TRY(axes, axes_of({&a.dim, 1}, shape.size()));
    return add_result(out, as_floating(result_type(left, right)), reduced_shape(shape, axes, false));
}

}  // namespace headrace

// ---- headrace/infer/aten_quantile.hpp ----

namespace headrace {

/// The results for each q are stacked along a new first axis.
template <one_of<ops<aten::quantile, aten::quantile_scalar, aten::nanquantile, aten::nanquantile_scalar>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(detail::check_extrema<Op>(self, a.dim));
    HEADRACE_TRY(require_at_least("the number of elements", element_count(self.shape), 1));
    const auto is = [&](std::string_view name) { return a.interpolation == name; };
    if (!is("linear") && !is("lower") && !is("higher") && !is("midpoint") && !is("nearest"))
        return invalid({"interpolation is unknown: ", a.interpolation});
    shape_builder shape;
    if constexpr (std::is_same_v<decltype(a.q), double>) {
        if (!(a.q >= 0 && a.q <= 1)) return invalid("q must be from 0 to 1");
    } else {
        const tensor_meta& q = inference::of(a.q);
        HEADRACE_TRY(require_rank("q", q.shape, 0, 1));
        HEADRACE_TRY(require_dtype("q", q.dtype, self.dtype));
        shape.append(q.shape);
    }
    HEADRACE_TRY(axes, axes_of(a.dim ? sizes(&*a.dim, 1) : sizes(), self.rank()));
    shape.append(reduced_shape(self.shape, axes, a.keepdim));
    return add_result(out, self.dtype, shape);
}

/// Returns the axes along which torch.gradient differentiates, one per result.
template <class Args>
[[nodiscard]] shape_builder gradient_axes(const Args& a, std::size_t rank) {
    shape_builder axes;
    if constexpr (std::is_same_v<decltype(a.dim), int_list>) {
        axes.append(a.dim);
    } else if (a.dim) {
        axes.push_back(*a.dim);
    } else {
        for (std::size_t i = 0; i != rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
    }
    return axes;
}
template <one_of<ops<aten::gradient_scalarint, aten::gradient_scalararray, aten::gradient_array,
                     aten::gradient_scalarrayint, aten::gradient_scalarrayarray,
                     aten::gradient_tensorarrayint, aten::gradient_tensorarray>>
              Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_real("self", self.dtype));
    if (is_boolean(self.dtype) || self.dtype == dtype::uint8)
        return detail::other_dtype("self", self.dtype, "signed numbers");
    HEADRACE_TRY(require_between("edge_order", a.edge_order, 1, 2));
    const shape_builder axes = gradient_axes(a, self.rank());
    HEADRACE_TRY(axes_of(axes, self.rank(), no_axes::none));
    if constexpr (requires { a.spacing.size(); }) {
        HEADRACE_TRY(require_count("spacing", a.spacing.size(), axes.size()));
    }
    for (std::size_t i = 0; i != axes.size(); ++i) {
        const auto axis = normalized_axis(axes[i], self.rank());
        const std::int64_t size = self.rank() == 0 || !axis ? 1 : self.shape[*axis];
        HEADRACE_TRY(require_at_least("the size along dim", size, a.edge_order + 1));
        dtype type = self.dtype;
        if constexpr (requires { inference::of(a.spacing[0]); }) {
            const tensor_meta& coordinates = inference::of(a.spacing[i]);
            HEADRACE_TRY(require_shape("a tensor of spacing", coordinates.shape, shape_builder{size}));
            HEADRACE_TRY(require_real("a tensor of spacing", coordinates.dtype));
            type = result_type(self, coordinates);
        }
        HEADRACE_TRY(add_result(out, as_floating(type), self.shape));
    }
    return {};
}

template <one_of<ops<aten::renorm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_floating("self", self.dtype));
    HEADRACE_TRY(require_real("self", self.dtype));
    HEADRACE_TRY(require_rank("self", self.shape, 2, SIZE_MAX));
    HEADRACE_TRY(axis_of(a.dim, self.rank()));
    if (!(a.p.to_double() > 0)) return invalid("p must be above 0");
    if (!(a.maxnorm.to_double() >= 0)) return invalid("maxnorm must be at least 0");
    return add_result(out, self);
}

/// Each row has the powers of one number.
template <one_of<ops<aten::linalg_vander, aten::vander>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    constexpr bool takes_matrices = std::is_same_v<Op, aten::linalg_vander>;
    const tensor_meta& x = inference::of(a.x);
    HEADRACE_TRY(require_rank("x", x.shape, 1, takes_matrices ? shape_builder::capacity - 1 : 1));
    if (takes_matrices && is_boolean(x.dtype)) return detail::other_dtype("x", x.dtype, "numbers");
    const std::int64_t count = a.N.value_or(x.shape.back());
    HEADRACE_TRY(require_at_least("N", count, takes_matrices ? 2 : 0));
    shape_builder shape(x.shape);
    shape.push_back(count);
    return add_result(out, as_accumulator(x.dtype), shape);
}

}  // namespace headrace

// ---- headrace/infer/aten_search.hpp ----

namespace headrace {

namespace detail {

/// Returns the number of elements of a diagonal.
[[nodiscard]] constexpr std::int64_t diagonal_length(std::int64_t rows, std::int64_t columns,
                                                     std::int64_t offset) {
    const std::int64_t right = offset < 0 ? columns : saturating_sub(columns, offset);
    const std::int64_t down = offset < 0 ? saturating_add(rows, offset) : rows;
    const std::int64_t least = right < down ? right : down;
    return least < 0 ? 0 : least;
}
[[nodiscard]] constexpr std::int64_t magnitude(std::int64_t n) { return n < 0 ? saturating_sub(0, n) : n; }

/// Refuses tensors that cannot be compared in their common type.
template <class Op>
result<void> require_comparable(const tensor_meta& a, const tensor_meta& b) {
    HEADRACE_TRY(type, promoted_for<Op>(a, b));
    if (type != dtype::unknown) return {};
    return invalid({name_of(a.dtype), " and ", name_of(b.dtype), " have no type in which to compare them"});
}

/// Returns the shape of torch.diag_embed: the two axes of the square replace the last axis.
[[nodiscard]] inline result<shape_builder> embedded_shape(sizes shape, std::int64_t offset, std::int64_t dim1,
                                                          std::int64_t dim2) {
    HEADRACE_TRY(require_rank("self", shape, 1, shape_builder::capacity - 1));
    HEADRACE_TRY(first, axis_of(dim1, shape.size() + 1));
    HEADRACE_TRY(second, axis_of(dim2, shape.size() + 1));
    if (first == second) return invalid("dim1 and dim2 must be different axes");
    const std::int64_t size = saturating_add(shape.back(), magnitude(offset));
    shape_builder made(shape.first(shape.size() - 1));
    made.insert(first < second ? first : second, size);
    made.insert(first < second ? second : first, size);
    return made;
}

}  // namespace detail

// Rearrangements.

template <one_of<ops<aten::atleast_1d, aten::atleast_2d, aten::atleast_3d>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    constexpr std::size_t least = std::is_same_v<Op, aten::atleast_1d>   ? 1
                                  : std::is_same_v<Op, aten::atleast_2d> ? 2
                                                                         : 3;
    shape_builder shape(self.shape);
    if (shape.empty()) shape.push_back(1);
    if (least > 1 && shape.size() == 1) shape.insert(0, 1);
    if (least > 2 && shape.size() == 2) shape.push_back(1);
    return add_result(out, self.dtype, shape);
}
template <one_of<ops<aten::diag>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_rank("self", self.shape, 1, 2));
    if (self.rank() == 2)
        return add_result(out, self.dtype,
                          {detail::diagonal_length(self.shape[0], self.shape[1], a.diagonal)});
    HEADRACE_TRY(shape, detail::embedded_shape(self.shape, a.diagonal, 0, 1));
    return add_result(out, self.dtype, shape);
}
template <one_of<ops<aten::diag_embed>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(shape, detail::embedded_shape(self.shape, a.offset, a.dim1, a.dim2));
    return add_result(out, self.dtype, shape);
}
template <one_of<ops<aten::diagflat>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(shape, detail::embedded_shape(shape_builder{element_count(self.shape)}, a.offset, 0, 1));
    return add_result(out, self.dtype, shape);
}
template <one_of<ops<aten::linalg_diagonal>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return infer_results(aten::diagonal{}, args<aten::diagonal>{a.A, a.offset, a.dim1, a.dim2}, out);
}
template <one_of<ops<aten::diagonal_scatter>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& src = inference::of(a.src);
    HEADRACE_TRY(first, axis_of(a.dim1, self.rank()));
    HEADRACE_TRY(second, axis_of(a.dim2, self.rank()));
    HEADRACE_TRY(require_rank("self", self.shape, 2, shape_builder::capacity));
    if (first == second) return invalid("dim1 and dim2 must be different axes");
    shape_builder shape(self.shape);
    shape.erase(first < second ? second : first);
    shape.erase(first < second ? first : second);
    shape.push_back(detail::diagonal_length(self.shape[first], self.shape[second], a.offset));
    HEADRACE_TRY(require_shape("src", src.shape, shape));
    HEADRACE_TRY(require_dtype("src", src.dtype, self.dtype));
    return add_result(out, self);
}
template <one_of<ops<aten::trace>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_rank("self", self.shape, 2));
    return add_result(out, as_accumulator(self.dtype), shape_builder());
}
template <one_of<ops<aten::block_diag>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    if (a.tensors.empty()) return add_result(out, default_float, {1, 0});
    shape_builder shape{0, 0};
    dtype type = dtype::unknown;
    for (const value v : a.tensors) {
        const tensor_meta& block = inference::of(v);
        HEADRACE_TRY(require_rank("a tensor", block.shape, 0, 2));
        type = promote(type, block.dtype);
        shape[0] = saturating_add(shape[0], block.rank() == 2 ? block.shape[0] : 1);
        shape[1] = saturating_add(shape[1], block.rank() == 0 ? 1 : block.shape.back());
    }
    return add_result(out, type, shape);
}
template <one_of<ops<aten::cartesian_prod>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    if (a.tensors.empty()) return invalid("there are no tensors");
    const tensor_meta& first = inference::of(a.tensors[0]);
    std::int64_t rows = 1;
    for (const value v : a.tensors) {
        const tensor_meta& t = inference::of(v);
        HEADRACE_TRY(require_rank("a tensor", t.shape, 1));
        HEADRACE_TRY(require_dtype("a tensor", t.dtype, first.dtype));
        rows = saturating_mul(rows, t.shape[0]);
    }
    if (a.tensors.size() == 1) return add_result(out, first.dtype, {rows});
    return add_result(out, first.dtype, {rows, static_cast<std::int64_t>(a.tensors.size())});
}
template <one_of<ops<aten::hsplit_int, aten::vsplit_int, aten::dsplit_int, aten::hsplit_array,
                     aten::vsplit_array, aten::dsplit_array>>
              Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    constexpr std::size_t least = one_of<Op, ops<aten::hsplit_int, aten::hsplit_array>>   ? 1
                                  : one_of<Op, ops<aten::vsplit_int, aten::vsplit_array>> ? 2
                                                                                          : 3;
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_rank("self", self.shape, least, SIZE_MAX));
    const std::int64_t axis = least == 3 ? 2 : least == 1 && self.rank() > 1 ? 1 : 0;
    if constexpr (requires { a.sections; }) {
        const std::int64_t size = self.shape[static_cast<std::size_t>(axis)];
        HEADRACE_TRY(require_at_least("sections", a.sections, 1));
        if (size % a.sections != 0) return invalid({a.sections, " sections of ", size, " are not equal"});
        return infer_results(aten::tensor_split_sections{},
                             args<aten::tensor_split_sections>{a.self, a.sections, axis}, out);
    } else {
        return infer_results(aten::tensor_split_indices{},
                             args<aten::tensor_split_indices>{a.self, a.indices, axis}, out);
    }
}

// Selections.

template <one_of<ops<aten::take>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& index = inference::of(a.index);
    HEADRACE_TRY(require_indices("index", index));
    return add_result(out, inference::of(a.self).dtype, index.shape);
}
template <one_of<ops<aten::take_along_dim>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& indices = inference::of(a.indices);
    HEADRACE_TRY(require_indices("indices", indices));
    if (!a.dim) return add_result(out, self.dtype, {element_count(indices.shape)});
    HEADRACE_TRY(require_rank("indices", indices.shape, self.rank()));
    HEADRACE_TRY(axis, axis_of(*a.dim, self.rank()));
    shape_builder wide(self.shape);
    if (!wide.empty()) wide[axis] = indices.shape[axis];
    HEADRACE_TRY(shape, broadcast(wide, indices.shape));
    return add_result(out, self.dtype, shape);
}
template <one_of<ops<aten::isin_tensor_tensor, aten::isin_tensor_scalar>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_real("elements", inference::of(a.elements).dtype));
    return add_result(out, dtype::boolean, inference::of(a.elements));
}
template <one_of<ops<aten::isin_scalar_tensor>> Op>
result<void> infer_results(Op, const args<Op>&, inference& out) {
    return add_result(out, dtype::boolean, shape_builder());
}
template <one_of<ops<aten::bucketize_tensor, aten::bucketize_scalar>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& boundaries = inference::of(a.boundaries);
    HEADRACE_TRY(require_rank("boundaries", boundaries.shape, 1));
    const dtype type = a.out_int32 ? dtype::int32 : dtype::int64;
    if constexpr (std::is_same_v<Op, aten::bucketize_tensor>) {
        HEADRACE_TRY(detail::require_comparable<Op>(boundaries, inference::of(a.self)));
        return add_result(out, type, inference::of(a.self).shape);
    } else {
        HEADRACE_TRY(detail::require_comparable<Op>(boundaries, boundaries));
        return add_result(out, type, shape_builder());
    }
}
template <one_of<ops<aten::searchsorted_tensor, aten::searchsorted_scalar>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& sequence = inference::of(a.sorted_sequence);
    HEADRACE_TRY(require_rank("sorted_sequence", sequence.shape, 1, SIZE_MAX));
    if (a.side && *a.side != "left" && *a.side != "right") return invalid("side must be left or right");
    if (a.sorter) {
        HEADRACE_TRY(require_shape("sorter", a.sorter, sequence.shape));
        HEADRACE_TRY(require_dtype("sorter", a.sorter, dtype::int64));
    }
    const dtype type = a.out_int32 ? dtype::int32 : dtype::int64;
    if constexpr (std::is_same_v<Op, aten::searchsorted_tensor>) {
        const tensor_meta& self = inference::of(a.self);
        if (sequence.rank() != 1) {
            HEADRACE_TRY(require_rank("self", self.shape, sequence.rank()));
            HEADRACE_TRY(require_shape_beside("self", self.shape, sequence.shape, sequence.rank() - 1));
        }
        HEADRACE_TRY(detail::require_comparable<Op>(sequence, self));
        return add_result(out, type, self.shape);
    } else {
        HEADRACE_TRY(detail::require_comparable<Op>(sequence, sequence));
        HEADRACE_TRY(require_rank("sorted_sequence", sequence.shape, 1));
        return add_result(out, type, shape_builder());
    }
}
template <one_of<ops<aten::masked_scatter>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_mask("mask", inference::of(a.mask)));
    HEADRACE_TRY(require_dtype("source", inference::of(a.source).dtype, self.dtype));
    HEADRACE_TRY(shape, broadcast(self.shape, inference::of(a.mask).shape));
    return add_result(out, self.dtype, shape);
}
template <one_of<ops<aten::scatter_reduce_two, aten::scatter_src_reduce>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    HEADRACE_TRY(detail::check_scatter(self, a.dim, inference::of(a.index), inference::of(a.src)));
    constexpr bool is_two = std::is_same_v<Op, aten::scatter_reduce_two>;
    const auto is = [&](std::string_view name) { return a.reduce == name; };
    const bool known = is_two ? is("sum") || is("prod") || is("mean") || is("amax") || is("amin")
                              : is("add") || is("multiply");
    if (!known) return invalid({"reduce is unknown: ", a.reduce});
    return add_result(out, self);
}
template <one_of<ops<aten::index_reduce>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    HEADRACE_TRY(detail::check_slices(self, a.dim, inference::of(a.index), inference::of(a.source)));
    if (a.reduce != "prod" && a.reduce != "mean" && a.reduce != "amax" && a.reduce != "amin")
        return invalid({"reduce is unknown: ", a.reduce});
    return add_result(out, self);
}

/// One row per bag. The other results locate the bags and serve the gradient.
template <one_of<ops<aten::embedding_bag, aten::embedding_bag_padding_idx, aten::_embedding_bag,
                     aten::_embedding_bag_forward_only>>
              Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& weight = inference::of(a.weight);
    const tensor_meta& indices = inference::of(a.indices);
    const tensor_meta& offsets = inference::of(a.offsets);
    HEADRACE_TRY(require_rank("weight", weight.shape, 2));
    HEADRACE_TRY(require_rank("indices", indices.shape, 1));
    HEADRACE_TRY(require_rank("offsets", offsets.shape, 1));
    HEADRACE_TRY(require_indices("indices", indices));
    HEADRACE_TRY(require_indices("offsets", offsets));
    HEADRACE_TRY(require_floating("weight", weight.dtype));
    HEADRACE_TRY(require_real("weight", weight.dtype));
    HEADRACE_TRY(require_between("mode", a.mode, 0, 2));
    if (a.per_sample_weights) {
        HEADRACE_TRY(require_equal("mode beside per_sample_weights", a.mode, 0));
        HEADRACE_TRY(require_shape("per_sample_weights", a.per_sample_weights, indices.shape));
        HEADRACE_TRY(require_dtype("per_sample_weights", a.per_sample_weights, weight.dtype));
    }
    const std::int64_t bags = offsets.shape[0] - (a.include_last_offset ? 1 : 0);
    HEADRACE_TRY(require_at_least("the number of bags", bags, 0));
    HEADRACE_TRY(add_result(out, weight.dtype, {bags, weight.shape[1]}));
    for (int i = 1; i != Op::results; ++i) out.add(dtype::unknown, sizes());
    return {};
}

}  // namespace headrace

// ---- headrace/infer/builtin.hpp ----

namespace headrace {

template <one_of<ops<builtin::placeholder>> Op>
result<void> infer_results(Op, const args<Op>&, inference&) {
    return invalid("the shape of an input cannot be inferred");
}
template <one_of<ops<builtin::constant>> Op>
result<void> infer_results(Op, const args<Op>&, inference&) {
    return invalid("the shape of a constant cannot be inferred");
}
template <one_of<ops<builtin::opaque>> Op>
result<void> infer_results(Op, const args<Op>& a, inference&) {
    return invalid({"the shapes that ", a.target, " gives are not known"});
}
template <one_of<ops<builtin::output>> Op>
result<void> infer_results(Op, const args<Op>&, inference&) {
    return {};
}

}  // namespace headrace

// ---- headrace/infer/dim_order_ops_definition.hpp ----

namespace headrace {

namespace detail {
/// Refuses an order that does not name each axis exactly once.
inline result<void> check_dim_order(const std::optional<int_list>& order, std::size_t rank) {
    if (!order) return {};
    for (const std::int64_t axis : *order) {
        HEADRACE_TRY(require_at_least("dim_order", axis, 0));
    }
    HEADRACE_TRY(permutation_of(*order, rank));
    return {};
}
}  // namespace detail

template <one_of<ops<dim_order_ops::_to_dim_order_copy>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(detail::check_dim_order(a.dim_order, self.rank()));
    return add_result(out, a.dtype.value_or(self.dtype), self);
}
template <one_of<ops<dim_order_ops::_clone_dim_order>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(detail::check_dim_order(a.dim_order, inference::of(a.self).rank()));
    return add_result(out, inference::of(a.self));
}
template <one_of<ops<dim_order_ops::_empty_dim_order>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(detail::check_dim_order(a.dim_order, a.size.size()));
    return add_result(out, a.dtype.value_or(dtype::float32), a.size);
}

}  // namespace headrace

// ---- headrace/base/target_spec.hpp ----

namespace headrace {

/// The profiles and extensions of TOSA 1.0 (sections 1.3 and 1.4); `u55` for the Ethos-U55 subset; `u85` and
/// `core` for the operators that run fastest on an Ethos-U85 and on a microcontroller's core.
enum class target_feature : std::uint16_t {
    profile_fp = 1,
    profile_int = 2,
    int4 = 4,
    int16 = 8,
    bf16 = 16,
    fp16 = 32,
    fp8e4m3 = 64,
    fp8e5m2 = 128,
    fft = 256,
    control_flow = 512,
    variable = 1024,
    u55 = 2048,
    u85 = 4096,
    core = 8192
};

/// A target, such as `TOSA-1.0+INT+int16`.
struct target_spec {
    std::uint16_t features = 0;

    [[nodiscard]] constexpr bool has(target_feature f) const {
        return (features & static_cast<std::uint16_t>(f)) != 0;
    }
    constexpr void add(target_feature f) {
        features = static_cast<std::uint16_t>(features | static_cast<std::uint16_t>(f));
    }
    [[nodiscard]] constexpr target_spec with(target_feature f) const {
        target_spec wider = *this;
        wider.add(f);
        return wider;
    }
    [[nodiscard]] constexpr target_spec without(target_feature f) const {
        return {static_cast<std::uint16_t>(features & ~static_cast<unsigned>(f))};
    }
    [[nodiscard]] constexpr target_spec with(const target_spec& other) const {
        return {static_cast<std::uint16_t>(features | other.features)};
    }
    friend constexpr bool operator==(const target_spec&, const target_spec&) = default;
};

struct target_feature_name {
    std::string_view spelling;
    target_feature feature;
};

inline constexpr target_feature_name target_feature_names[] = {
    {"FP", target_feature::profile_fp},   {"INT", target_feature::profile_int},
    {"int4", target_feature::int4},       {"int16", target_feature::int16},
    {"bf16", target_feature::bf16},       {"fp16", target_feature::fp16},
    {"fp8e4m3", target_feature::fp8e4m3}, {"fp8e5m2", target_feature::fp8e5m2},
    {"fft", target_feature::fft},         {"cf", target_feature::control_flow},
    {"var", target_feature::variable},    {"u55", target_feature::u55},
    {"u85", target_feature::u85},         {"core", target_feature::core}};

/// Parses `TOSA-1.0+FP+bf16`. Returns nothing if the version is not 1.0, a feature is unknown or given twice,
/// no profile is named, or two processors are; `*rest`, if given, is then the part that was not understood.
[[nodiscard]] constexpr std::optional<target_spec> parse_target(std::string_view text,
                                                                std::string_view* rest = nullptr) {
    constexpr std::string_view first = "TOSA-1.0";
    const auto fail = [&](std::string_view part) -> std::optional<target_spec> {
        if (rest != nullptr) *rest = part;
        return std::nullopt;
    };
    if (!text.starts_with(first)) return fail(text);
    std::string_view left = text.substr(first.size());
    target_spec spec;
    while (!left.empty()) {
        if (left.front() != '+') return fail(left);
        left.remove_prefix(1);
        const std::string_view part = left.substr(0, left.find('+'));
        bool known = false;
        for (const target_feature_name& n : target_feature_names) {
            if (n.spelling == part && !spec.has(n.feature)) {
                spec.add(n.feature);
                known = true;
            }
        }
        const int processors = int{spec.has(target_feature::u55)} + int{spec.has(target_feature::u85)} +
                               int{spec.has(target_feature::core)};
        if (!known || processors > 1) return fail(part);
        left.remove_prefix(part.size());
    }
    if (!spec.has(target_feature::profile_fp) && !spec.has(target_feature::profile_int)) return fail(text);
    return spec;
}

}  // namespace headrace

// ---- headrace/ir/arena.hpp ----

namespace headrace {

/// Returns an array of trivially destructible values, freed only with the resource's memory.
template <class T>
[[nodiscard]] T* make_array(std::pmr::memory_resource& memory, std::size_t count) {
    if (count == 0) return nullptr;
    T* items = static_cast<T*>(memory.allocate(count * sizeof(T), alignof(T)));
    for (std::size_t i = 0; i != count; ++i) new (items + i) T();
    return items;
}
template <class T>
[[nodiscard]] T* copy_array(std::pmr::memory_resource& memory, const T* items, std::size_t count) {
    if (count == 0) return nullptr;
    T* copy = static_cast<T*>(memory.allocate(count * sizeof(T), alignof(T)));
    for (std::size_t i = 0; i != count; ++i) new (copy + i) T(items[i]);
    return copy;
}

/// A memory resource that frees everything at once, when it is destroyed. Chunks grow with the graph, up to 1
/// MiB; a large allocation gets a chunk of its own, so that constants do not make the other chunks grow, as
/// they do in std::pmr::monotonic_buffer_resource.
class arena final : public std::pmr::memory_resource {
public:
    explicit arena(std::pmr::memory_resource* upstream) : upstream_(upstream) {}
    arena(const arena&) = delete;
    arena& operator=(const arena&) = delete;
    ~arena() override;

private:
    struct alignas(64) chunk {
        chunk* next;
        std::size_t bytes;
    };

    void* do_allocate(std::size_t bytes, std::size_t alignment) override;
    void do_deallocate(void*, std::size_t, std::size_t) override {}
    [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
        return this == &other;
    }

    // Allocates a chunk with room for that many bytes after its header.
    void* take(std::size_t bytes, std::size_t alignment);

    std::pmr::memory_resource* upstream_;
    chunk* chunks_ = nullptr;
    void* free_ = nullptr;
    std::size_t free_bytes_ = 0;
    std::size_t shared_bytes_ = 0;  // of the chunks for small allocations
};

}  // namespace headrace

// ---- headrace/ir/arena_definition.hpp ----

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace headrace {

namespace detail {

/// Chunks of this size are mapped at once; one fits in the processor's second-level cache.
inline constexpr std::size_t populated_bytes = std::size_t{1} << 20U;

/// Makes the kernel map the pages of a large block in one call, which is faster than one by one. Huge pages
/// are not used: if a virtual machine's host reclaims free memory, the kernel clears them at 0.5 GB/s.
inline void populate([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
    if (bytes < populated_bytes) return;
    constexpr std::uintptr_t page = 4096;
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    const std::uintptr_t first = (begin + page - 1) / page * page;
    const std::uintptr_t end = (begin + bytes) / page * page;
    // If this fails, pages are mapped one by one.
    madvise(static_cast<std::byte*>(memory) + (first - begin), end - first, MADV_POPULATE_WRITE);
#endif
}

}  // namespace detail

HEADRACE_INLINE arena::~arena() {
    while (chunks_ != nullptr) {
        chunk* last = chunks_;
        chunks_ = last->next;
        upstream_->deallocate(last, last->bytes, alignof(chunk));
    }
}

// Passes read nodes far more often than the data that nodes refer to. So nodes are stored contiguously from
// the start of a chunk, where the processor prefetches the next ones, and everything else from its end. For
// graphs larger than the caches this shortens a lowering.
HEADRACE_INLINE void* arena::do_allocate(std::size_t bytes, std::size_t alignment) {
    constexpr std::size_t least = std::size_t{16} * 1024;
    // Small machines have no memory to spare.
    constexpr std::size_t most = sizeof(void*) < 8 ? least : detail::populated_bytes;
    if (bytes > least / 4 || alignment > alignof(chunk)) return take(bytes + alignment, alignment);
    const bool is_node = bytes == sizeof(node) && alignment == alignof(node);
    if (free_bytes_ < bytes + alignment) {
        // Each new chunk is as large as all before it: chunks are few, and at most half of them is unused.
        const std::size_t whole = std::min(std::max(std::bit_floor(shared_bytes_), least), most);
        shared_bytes_ += whole;
        free_bytes_ = whole - sizeof(chunk);
        free_ = take(free_bytes_, alignof(chunk));
    }
    if (is_node) {
        void* const at = free_;
        free_ = static_cast<std::byte*>(free_) + bytes;
        free_bytes_ -= bytes;
        return at;
    }
    const auto begin = reinterpret_cast<std::uintptr_t>(free_);
    free_bytes_ = (begin + free_bytes_ - bytes) / alignment * alignment - begin;
    return static_cast<std::byte*>(free_) + free_bytes_;
}

HEADRACE_INLINE void* arena::take(std::size_t bytes, std::size_t alignment) {
    const std::size_t whole = sizeof(chunk) + bytes;
    void* memory = upstream_->allocate(whole, alignof(chunk));
    detail::populate(memory, whole);
    chunks_ = new (memory) chunk{chunks_, whole};
    const auto room = reinterpret_cast<std::uintptr_t>(chunks_ + 1);
    return reinterpret_cast<void*>((room + alignment - 1) / alignment * alignment);
}

}  // namespace headrace

// ---- headrace/op/op_set.hpp ----

namespace headrace {

/// A list of dialects without duplicates.
template <class... Dialects>
struct dialects {
    static constexpr std::size_t size = sizeof...(Dialects);
};

namespace detail {

inline constexpr std::size_t word_bits = 64;

constexpr std::size_t words_for(std::size_t bits) { return (bits + word_bits - 1) / word_bits; }

template <class List, class Dialect>
struct add_dialect;
template <class... Ds, class D>
struct add_dialect<dialects<Ds...>, D> {
    static auto pick() {
        if constexpr ((__is_same(Ds, D) || ...)) {
            return dialects<Ds...>{};
        } else {
            return dialects<Ds..., D>{};
        }
    }
    using type = decltype(pick());
};

template <class List>
struct collected {
    using type = List;
};
template <class List, class Dialect>
auto operator+(collected<List>, std::type_identity<Dialect>)
    -> collected<typename add_dialect<List, Dialect>::type>;

}  // namespace detail

/// The dialects of a list of ops, in order of first appearance.
template <class... Ops>
using dialects_of = typename decltype((detail::collected<dialects<>>{} + ... +
                                       std::type_identity<typename Ops::dialect_type>{}))::type;

template <class A, class B>
struct merge_dialects;
template <class... As, class... Bs>
struct merge_dialects<dialects<As...>, dialects<Bs...>> {
    using type =
        typename decltype((detail::collected<dialects<As...>>{} + ... + std::type_identity<Bs>{}))::type;
};

/// A set of ops of some dialects, as a value with one bit per op; each dialect has separate words. A
/// combination of sets over different dialects is a set over all of them.
///
///     constexpr auto lowered = ops_in<aten::add_tensor, aten::relu> | every_op<tosa::dialect>;
///     static_assert(lowered.contains<aten::relu>() && ops_in<tosa::add> <= lowered);
template <class... Dialects>
class op_set {
public:
    using dialect_list = dialects<Dialects...>;
    static constexpr std::size_t word_count = (detail::words_for(Dialects::size) + ... + 0);

    // Assigns each word: g++ 12 omits zeros that were not assigned from the name of a template argument, and
    // then confuses sets with the same words in different places.
    constexpr op_set() {
        for (std::uint64_t& w : words_) w = 0;
    }

    /// Returns the first word of the dialect at `position`.
    [[nodiscard]] static constexpr std::size_t first_word(std::size_t position) {
        constexpr std::size_t words[] = {detail::words_for(Dialects::size)..., 0};
        std::size_t first = 0;
        for (std::size_t i = 0; i != position; ++i) first += words[i];
        return first;
    }

    template <class Dialect>
    [[nodiscard]] static constexpr std::size_t position_of() {
        constexpr bool same[] = {__is_same(Dialect, Dialects)..., true};
        std::size_t position = 0;
        while (!same[position]) ++position;
        return position;
    }

    template <class Dialect>
    static constexpr std::size_t first_bit_of = first_word(position_of<Dialect>()) * detail::word_bits;
    /// The bit index of an op, from the first word on; the op must be in its dialect's list.
    template <op_tag Op>
    static constexpr std::size_t bit_of = first_bit_of<typename Op::dialect_type> + found_in_its_dialect<Op>;

    constexpr void insert_at(std::size_t first, std::size_t index) {
        words_[first + index / detail::word_bits] |= std::uint64_t{1} << (index % detail::word_bits);
    }
    constexpr void erase_at(std::size_t first, std::size_t index) {
        words_[first + index / detail::word_bits] &= ~(std::uint64_t{1} << (index % detail::word_bits));
    }
    template <op_tag Op>
    constexpr void insert() {
        // An op that its dialect does not list is in no set; its use is an error elsewhere.
        if constexpr (listed_in_its_dialect<Op>) insert_at(0, bit_of<Op>);
    }
    template <op_tag Op>
    [[nodiscard]] constexpr bool contains() const {
        if constexpr (position_of<typename Op::dialect_type>() == sizeof...(Dialects) ||
                      !listed_in_its_dialect<Op>) {
            return false;
        } else {
            return (words_[bit_of<Op> / detail::word_bits] >> (bit_of<Op> % detail::word_bits) & 1) != 0;
        }
    }
    /// For ops known only at run time.
    [[nodiscard]] constexpr bool contains(const op_info& op) const {
        std::size_t first = 0;
        bool found = false;
        const auto look = [&](const dialect_info& d) {
            if (op.dialect == &d) {
                found =
                    (words_[first + op.index / detail::word_bits] >> (op.index % detail::word_bits) & 1) != 0;
            }
            first += detail::words_for(d.op_count);
        };
        static_cast<void>(look);
        (look(info_of_dialect<Dialects>), ...);
        return found;
    }

    [[nodiscard]] constexpr std::size_t size() const {
        std::size_t count = 0;
        for (const std::uint64_t w : words_) count += static_cast<std::size_t>(std::popcount(w));
        return count;
    }
    [[nodiscard]] constexpr bool empty() const {
        for (const std::uint64_t w : words_) {
            if (w != 0) return false;
        }
        return true;
    }
    [[nodiscard]] constexpr const auto& words() const { return words_; }

    /// Returns the same set over more dialects.
    template <class... Wider>
    [[nodiscard]] constexpr op_set<Wider...> over(dialects<Wider...>) const {
        op_set<Wider...> wide;
        const auto copy = [&]<class D>() {
            wide.copy_words(op_set<Wider...>::first_word(op_set<Wider...>::template position_of<D>()),
                            words_.data() + first_word(position_of<D>()), detail::words_for(D::size));
        };
        static_cast<void>(copy);  // unused for the set of no dialect
        (copy.template operator()<Dialects>(), ...);
        return wide;
    }
    constexpr void copy_words(std::size_t first, const std::uint64_t* source, std::size_t count) {
        for (std::size_t i = 0; i != count; ++i) words_[first + i] = source[i];
    }

    /// Calls `f` with each op's name, dialect by dialect, in the order of the dialect's list.
    template <class F>
    constexpr void for_each(F&& f) const {
        std::size_t first = 0;
        [[maybe_unused]] const auto visit = [&]<class D>() {
            for (std::size_t i = 0; i != D::size; ++i) {
                if ((words_[first + i / detail::word_bits] >> (i % detail::word_bits) & 1) != 0)
                    f(D::op_names[i]);
            }
            first += detail::words_for(D::size);
        };
        static_cast<void>(visit);
        (visit.template operator()<Dialects>(), ...);
    }

    /// Returns the first op: {position of its dialect, index in it}. The set must not be empty.
    [[nodiscard]] constexpr std::pair<std::size_t, std::size_t> first() const {
        for (std::size_t position = 0; position != sizeof...(Dialects); ++position) {
            const std::size_t begin = first_word(position);
            for (std::size_t w = begin; w != first_word(position + 1); ++w) {
                if (words_[w] != 0) {
                    const auto bit = static_cast<std::size_t>(std::countr_zero(words_[w]));
                    return {position, (w - begin) * detail::word_bits + bit};
                }
            }
        }
        return {sizeof...(Dialects), 0};
    }

    // Separate loops instead of a shared function with a callable: compilers evaluate ten thousand of them
    // for a pipeline.
    constexpr op_set& operator|=(const op_set& other) {
        for (std::size_t i = 0; i != word_count; ++i) words_[i] |= other.words_[i];
        return *this;
    }
    constexpr op_set& operator&=(const op_set& other) {
        for (std::size_t i = 0; i != word_count; ++i) words_[i] &= other.words_[i];
        return *this;
    }
    constexpr op_set& operator-=(const op_set& other) {
        for (std::size_t i = 0; i != word_count; ++i) words_[i] &= ~other.words_[i];
        return *this;
    }
    /// Returns the set without the ops of `removed`, plus those of `added`.
    [[nodiscard]] constexpr op_set replaced(const op_set& removed, const op_set& added) const {
        op_set set = *this;
        for (std::size_t i = 0; i != word_count; ++i)
            set.words_[i] = (words_[i] & ~removed.words_[i]) | added.words_[i];
        return set;
    }
    friend constexpr op_set operator|(op_set a, const op_set& b) { return a |= b; }
    friend constexpr op_set operator&(op_set a, const op_set& b) { return a &= b; }
    friend constexpr op_set operator-(op_set a, const op_set& b) { return a -= b; }
    friend constexpr bool operator==(const op_set&, const op_set&) = default;
    /// True if `a` is a subset of `b`.
    friend constexpr bool operator<=(const op_set& a, const op_set& b) {
        for (std::size_t i = 0; i != word_count; ++i) {
            if ((a.words_[i] & ~b.words_[i]) != 0) return false;
        }
        return true;
    }
    /// True if the sets have an op in common.
    [[nodiscard]] constexpr bool meets(const op_set& other) const {
        for (std::size_t i = 0; i != word_count; ++i) {
            if ((words_[i] & other.words_[i]) != 0) return true;
        }
        return false;
    }

    /// Public, so that a set can be a template argument.
    std::array<std::uint64_t, word_count == 0 ? 1 : word_count> words_{};
};

template <class... A, class... B>
    requires(!__is_same(dialects<A...>, dialects<B...>))
[[nodiscard]] constexpr auto operator|(const op_set<A...>& a, const op_set<B...>& b) {
    using merged = typename merge_dialects<dialects<A...>, dialects<B...>>::type;
    return a.over(merged{}) | b.over(merged{});
}
template <class... A, class... B>
    requires(!__is_same(dialects<A...>, dialects<B...>))
[[nodiscard]] constexpr auto operator&(const op_set<A...>& a, const op_set<B...>& b) {
    using merged = typename merge_dialects<dialects<A...>, dialects<B...>>::type;
    return a.over(merged{}) & b.over(merged{});
}
template <class... A, class... B>
    requires(!__is_same(dialects<A...>, dialects<B...>))
[[nodiscard]] constexpr auto operator-(const op_set<A...>& a, const op_set<B...>& b) {
    using merged = typename merge_dialects<dialects<A...>, dialects<B...>>::type;
    return a.over(merged{}) - b.over(merged{});
}
template <class... A, class... B>
    requires(!__is_same(dialects<A...>, dialects<B...>))
[[nodiscard]] constexpr bool operator<=(const op_set<A...>& a, const op_set<B...>& b) {
    return (a - b).empty();
}

namespace detail {

template <class... Ds, class... Ops>
constexpr op_set<Ds...> make_op_set(dialects<Ds...>, ops<Ops...>) {
    op_set<Ds...> set;
    (set.template insert<Ops>(), ...);
    return set;
}

template <class... Ds>
constexpr op_set<Ds...> make_every_op(dialects<Ds...>) {
    op_set<Ds...> set;
    std::size_t position = 0;
    const auto fill = [&]<class D>() {
        for (std::size_t i = 0; i != D::size; ++i) set.insert_at(op_set<Ds...>::first_word(position), i);
        ++position;
    };
    (fill.template operator()<Ds>(), ...);
    return set;
}

template <class List>
struct set_of_list;
template <class... Ops>
struct set_of_list<ops<Ops...>> {
    static constexpr auto value = make_op_set(dialects_of<Ops...>{}, ops<Ops...>{});
};

}  // namespace detail

/// The set of the given ops.
template <op_tag... Ops>
inline constexpr auto ops_in = detail::set_of_list<ops<Ops...>>::value;

/// The set of the ops in a list: set_of<ops<aten::add_tensor, aten::relu>>.
template <class List>
inline constexpr auto set_of = detail::set_of_list<List>::value;

/// All ops of the given dialects.
template <class... Dialects>
inline constexpr auto every_op = detail::make_every_op(dialects<Dialects...>{});

/// The op at {position of its dialect, index in the dialect}. Use it for diagnostics only, see type_at.
template <class Set, std::size_t Position, std::size_t Index>
struct op_at;
template <class... Ds, std::size_t Position, std::size_t Index>
struct op_at<op_set<Ds...>, Position, Index> {
    using dialect = typename type_at<Position, ops<Ds...>>::type;
    using type = typename type_at<Index, typename dialect::all_ops>::type;
};

namespace detail {

template <auto Set, class Indices>
struct listed_set;
template <auto Set, std::size_t... I>
struct listed_set<Set, std::index_sequence<I...>> {
    static constexpr auto positions = [] {
        std::array<std::pair<std::size_t, std::size_t>, sizeof...(I) + 1> found{};
        auto rest = Set;
        for (std::size_t i = 0; i != sizeof...(I); ++i) {
            found[i] = rest.first();
            rest.erase_at(rest.first_word(found[i].first), found[i].second);
        }
        return found;
    }();
    using type = ops<
        typename op_at<std::remove_const_t<decltype(Set)>, positions[I].first, positions[I].second>::type...>;
};

}  // namespace detail

/// The list of the ops in a set, dialect by dialect; the inverse of set_of.
template <auto Set>
using list_of_set = typename detail::listed_set<Set, std::make_index_sequence<Set.size()>>::type;

/// Passes the names of the ops in a set, separated by ", ", piece by piece to `sink(std::string_view)`.
template <class... Ds, class Sink>
constexpr void print(const op_set<Ds...>& set, Sink&& sink) {
    bool first = true;
    set.for_each([&](std::string_view name) {
        if (!first) sink(std::string_view(", "));
        sink(name);
        first = false;
    });
}

/// Matches sets: satisfied by op_set<Dialects...>.
template <class T>
inline constexpr bool is_op_set = false;
template <class... Ds>
inline constexpr bool is_op_set<op_set<Ds...>> = true;

}  // namespace headrace

// ---- headrace/ir/census.hpp ----

namespace headrace {

/// The nodes of one op in a graph, in order of creation. Nodes may be erased and created during iteration.
class nodes_of_op {
public:
    /// A list of nodes; erased ones are null, and `first` skips those at the front.
    struct places {
        node** nodes = nullptr;
        std::uint32_t first = 0;
        std::uint32_t end = 0;
        std::uint32_t capacity = 0;
    };

    class iterator {
    public:
        using value_type = node;
        using difference_type = std::ptrdiff_t;
        using pointer = node*;
        using reference = node&;
        using iterator_category = std::forward_iterator_tag;

        iterator() = default;
        explicit iterator(const places& in) : in_(&in), at_(in.first) { skip_erased(); }
        node& operator*() const { return *node_; }
        node* operator->() const { return node_; }
        iterator& operator++() {
            ++at_;
            skip_erased();
            return *this;
        }
        iterator operator++(int) {
            iterator before = *this;
            ++*this;
            return before;
        }
        friend bool operator==(const iterator& a, const iterator& b) { return a.node_ == b.node_; }

    private:
        void skip_erased() {
            constexpr std::uint32_t distance = 8;
            node_ = nullptr;
            for (; at_ < in_->end && node_ == nullptr; at_ += node_ == nullptr) {
                node_ = in_->nodes[at_];
                if (at_ + distance < in_->end) __builtin_prefetch(in_->nodes[at_ + distance]);
            }
        }

        const places* in_ = nullptr;
        std::uint32_t at_ = 0;
        node* node_ = nullptr;
    };

    explicit nodes_of_op(const places* in) : in_(in) {}
    [[nodiscard]] iterator begin() const { return in_ == nullptr ? iterator() : iterator(*in_); }
    [[nodiscard]] iterator end() const { return iterator(); }
    [[nodiscard]] bool empty() const { return begin() == end(); }

private:
    const places* in_;
};

/// The ops of a graph, updated by every insertion and removal, so that a query never visits the nodes. Nodes
/// of nested regions count as present, too: a pass must run even if only a loop's body has its targets.
class census {
public:
    explicit census(std::pmr::memory_resource* arena) : arena_(arena) {}

    /// Returns the number of nodes of that op in this graph, without nested regions.
    [[nodiscard]] std::size_t count(const op_info& op) const {
        const entry* d = find(*op.dialect);
        return d == nullptr ? 0 : d->ops[op.index].count;
    }

    [[nodiscard]] headrace::nodes_of_op nodes_of(const op_info& op) const {
        const entry* d = find(*op.dialect);
        return headrace::nodes_of_op(d == nullptr ? nullptr : &d->ops[op.index].listed);
    }

    /// Returns a bit for each op of a dialect, set if it occurs here or in a nested region; empty if none
    /// does.
    [[nodiscard]] std::span<const std::uint64_t> present(const dialect_info& dialect) const {
        const entry* d = find(dialect);
        return d == nullptr ? std::span<const std::uint64_t>()
                            : std::span<const std::uint64_t>(d->present, d->words);
    }

    void insert(node& n);
    void remove(node& n);
    /// Removes null entries where they are the majority. No list may be iterated over meanwhile.
    void tidy();

    /// Sets the census that also counts this one's nodes as present: that of the graph around a region.
    void set_parent(census* parent) { parent_ = parent; }

    /// Calls `f(const op_info&, count)` for each op that occurs in this graph.
    template <class F>
    void for_each(F&& f) const {
        for (const entry& d : std::span(entries_, size_)) {
            for (std::size_t i = 0; i != d.dialect->op_count; ++i) {
                const bucket& b = d.ops[i];
                if (b.count != 0) f(*b.listed.nodes[b.listed.first]->op, std::size_t{b.count});
            }
        }
    }

private:
    struct bucket {
        nodes_of_op::places listed;
        std::uint32_t count = 0;
        std::uint32_t occurrences = 0;  // count, plus the nodes in nested regions
    };
    struct entry {
        const dialect_info* dialect;
        bucket* ops;
        std::uint64_t* present;
        std::size_t words;
    };

    [[nodiscard]] const entry* find(const dialect_info& dialect) const {
        for (const entry& d : std::span(entries_, size_)) {
            if (d.dialect == &dialect) return &d;
        }
        return nullptr;
    }
    bucket& bucket_of(const op_info& op) { return find_or_add(*op.dialect).ops[op.index]; }

    entry& find_or_add(const dialect_info& dialect);
    void grow();

    void mark(const op_info& op, int change);

    std::pmr::memory_resource* arena_;
    entry* entries_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
    census* parent_ = nullptr;
};

}  // namespace headrace

// ---- headrace/ir/census_definition.hpp ----

namespace headrace {

HEADRACE_INLINE void census::insert(node& n) {
    bucket& b = bucket_of(*n.op);
    nodes_of_op::places& listed = b.listed;
    if (listed.end == listed.capacity) {
        listed.capacity = 2 * (listed.capacity + 2);
        node** const more = make_array<node*>(*arena_, listed.capacity);
        for (std::uint32_t i = 0; i != listed.end; ++i) more[i] = listed.nodes[i];
        listed.nodes = more;
    }
    n.place_of_op = listed.end;
    listed.nodes[listed.end++] = &n;
    ++b.count;
    mark(*n.op, 1);
}

HEADRACE_INLINE void census::remove(node& n) {
    bucket& b = bucket_of(*n.op);
    nodes_of_op::places& listed = b.listed;
    listed.nodes[n.place_of_op] = nullptr;
    while (listed.first != listed.end && listed.nodes[listed.first] == nullptr) ++listed.first;
    --b.count;
    mark(*n.op, -1);
}

HEADRACE_INLINE void census::tidy() {
    for (const entry& d : std::span(entries_, size_)) {
        for (std::size_t op = 0; op != d.dialect->op_count; ++op) {
            nodes_of_op::places& listed = d.ops[op].listed;
            if (2 * d.ops[op].count >= listed.end) continue;
            std::uint32_t kept = 0;
            for (std::uint32_t i = listed.first; i != listed.end; ++i) {
                node* const n = listed.nodes[i];
                if (n == nullptr) continue;
                n->place_of_op = kept;
                listed.nodes[kept++] = n;
            }
            listed.first = 0;
            listed.end = kept;
        }
    }
}

HEADRACE_INLINE void census::grow() {
    capacity_ = 2 * (capacity_ + 2);
    entry* wider = make_array<entry>(*arena_, capacity_);
    for (std::size_t i = 0; i != size_; ++i) wider[i] = entries_[i];
    entries_ = wider;
}

HEADRACE_INLINE void census::mark(const op_info& op, int change) {
    for (census* c = this; c != nullptr; c = c->parent_) {
        entry& d = c->find_or_add(*op.dialect);
        bucket& b = d.ops[op.index];
        b.occurrences += static_cast<std::uint32_t>(change);
        const std::uint64_t bit = std::uint64_t{1} << (op.index % detail::word_bits);
        std::uint64_t& word = d.present[op.index / detail::word_bits];
        word = b.occurrences != 0 ? word | bit : word & ~bit;
    }
}

HEADRACE_INLINE census::entry& census::find_or_add(const dialect_info& dialect) {
    for (entry& d : std::span(entries_, size_)) {
        if (d.dialect == &dialect) return d;
    }
    if (size_ == capacity_) grow();
    const std::size_t words = detail::words_for(dialect.op_count);
    entry& added = entries_[size_++];
    added = {&dialect, make_array<bucket>(*arena_, dialect.op_count),
             make_array<std::uint64_t>(*arena_, words), words};
    return added;
}

}  // namespace headrace

// ---- headrace/ir/meta_table.hpp ----

namespace headrace {

/// Returns a hash of the members that same_val compares.
[[nodiscard]] std::uint64_t hash_of_val(const tensor_meta& meta);

/// The metadata of a graph's values. A network has many values but few types; each type is stored once, so
/// that iteration finds it in the processor's caches even if the graph does not fit.
class meta_table {
public:
    /// The table never deallocates: `memory` must free everything at once, like an arena.
    explicit meta_table(std::pmr::memory_resource* memory) : memory_(memory) {}
    meta_table(const meta_table&) = delete;
    meta_table& operator=(const meta_table&) = delete;

    /// Returns the stored metadata of that dtype, shape and dim order; its address is stable.
    [[nodiscard]] const tensor_meta* find_or_add(const tensor_meta& meta);

private:
    struct slot {
        std::uint64_t hash;
        const tensor_meta* meta;
    };

    [[nodiscard]] slot& slot_of(std::uint64_t hash, const tensor_meta& meta);
    void grow();

    std::pmr::memory_resource* memory_;
    const tensor_meta* last_ = nullptr;  // the last result: nodes created in a row are often alike
    slot* slots_ = nullptr;              // a power of two in number, at most half in use
    std::size_t capacity_ = 0;
    std::size_t size_ = 0;
};

}  // namespace headrace

// ---- headrace/ir/meta_table_definition.hpp ----

namespace headrace {

HEADRACE_INLINE std::uint64_t hash_of_val(const tensor_meta& meta) {
    std::uint64_t hash = static_cast<std::uint64_t>(meta.dtype);
    const auto add = [&](std::int64_t number) {
        hash = (hash ^ static_cast<std::uint64_t>(number)) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 32U;
    };
    for (const std::int64_t size : meta.shape) add(size);
    add(-1);
    for (const std::int64_t axis : meta.dim_order) add(axis);
    return hash;
}

namespace detail {

[[nodiscard]] inline std::span<const std::int64_t> copy_of(std::pmr::memory_resource& memory,
                                                           std::span<const std::int64_t> items) {
    return {copy_array(memory, items.data(), items.size()), items.size()};
}

}  // namespace detail

HEADRACE_INLINE const tensor_meta* meta_table::find_or_add(const tensor_meta& meta) {
    if (last_ != nullptr && same_val(*last_, meta)) return last_;
    if (2 * (size_ + 1) > capacity_) grow();
    const std::uint64_t hash = hash_of_val(meta);
    slot& s = slot_of(hash, meta);
    if (s.meta == nullptr) {
        tensor_meta owned = meta;
        if (meta.shape.is_view()) owned.shape = detail::copy_of(*memory_, meta.shape);
        owned.dim_order = detail::copy_of(*memory_, meta.dim_order);
        s = {hash, new (memory_->allocate(sizeof owned, alignof(tensor_meta))) tensor_meta(owned)};
        ++size_;
    }
    return last_ = s.meta;
}

HEADRACE_INLINE meta_table::slot& meta_table::slot_of(std::uint64_t hash, const tensor_meta& meta) {
    return slots_[find_slot(capacity_, hash, [&](std::size_t at) {
        const slot& s = slots_[at];
        return s.meta == nullptr || (s.hash == hash && same_val(*s.meta, meta));
    })];
}

HEADRACE_INLINE void meta_table::grow() {
    const std::span<const slot> before(slots_, capacity_);
    capacity_ = capacity_ == 0 ? 16 : 4 * capacity_;
    slots_ = make_array<slot>(*memory_, capacity_);
    for (const slot& s : before) {
        if (s.meta != nullptr) slot_of(s.hash, *s.meta) = s;
    }
}

}  // namespace headrace

// ---- headrace/ir/graph.hpp ----

namespace headrace {

/// A program as a directed acyclic graph of nodes, kept in an order in which they can be executed. It models
/// Boost.Graph's bidirectional graph (ir/boost_graph.hpp), with nodes as vertices and operands as edges, so
/// that Boost.Graph's algorithms run on it.
///
/// Everything that a graph holds is in its arena and lives as long as the graph: nodes, arguments, metadata,
/// names and the data of constants that passes create. Erased nodes keep their memory but are in no list.
class graph {
public:
    explicit graph(std::pmr::memory_resource* upstream = std::pmr::get_default_resource())
        : memory_(upstream), arena_(&memory_), census_(arena_), metas_(arena_) {}
    graph(const graph&) = delete;
    graph& operator=(const graph&) = delete;

    // --- reading -----------------------------------------------------------------------

    /// Iterates over nodes in execution order. Read `next` before erasing the current node.
    [[nodiscard]] node_range<true> nodes() const { return node_range<true>(first_); }
    /// Iterates without prefetching the data that nodes refer to, for loops that read few of their members.
    [[nodiscard]] node_range<false> nodes_alone() const { return node_range<false>(first_); }
    [[nodiscard]] node* first() const { return first_; }
    [[nodiscard]] node* last() const { return last_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    /// True if `a` is known to precede `b` in the execution order; false if so many nodes were inserted
    /// between them that positions ran out.
    [[nodiscard]] static bool is_before(const node& a, const node& b) { return a.position < b.position; }
    /// An upper bound of node ids, exclusive.
    [[nodiscard]] std::uint32_t id_bound() const { return next_id_; }
    /// Makes iteration over this graph and its regions fast again after many nodes have changed: refreshes
    /// the prefetch hints, and renumbers ids in execution order, so that tables by id are compact and read in
    /// order. Pipelines call it after each pass, so ids are only valid within a pass.
    void tidy();
    [[nodiscard]] const headrace::census& census() const { return census_; }
    [[nodiscard]] nodes_of_op nodes_of(const op_info& op) const { return census_.nodes_of(op); }

    /// Inputs in the order of the program's signature.
    [[nodiscard]] auto inputs() const { return nodes_of(info_of<builtin::placeholder>); }
    /// Returns the output node, or null while the graph is being built.
    [[nodiscard]] node* output() const {
        const auto found = nodes_of(info_of<builtin::output>);
        return found.empty() ? nullptr : &*found.begin();
    }
    [[nodiscard]] list<value> outputs() const {
        const node* out = output();
        return out == nullptr ? list<value>() : args_of<builtin::output>(*out).values;
    }

    /// Returns the target of the lowering, for passes.
    [[nodiscard]] const target_spec& target() const {
        return parent_ != nullptr ? parent_->target() : target_;
    }
    void set_target(const target_spec& target) { target_ = target; }

    // --- building and rewriting --------------------------------------------------------

    /// Adds a node before `before`, or at the end. `arguments` must be an args struct of `op`; its lists and
    /// strings are copied.
    node& create(const op_info& op, const void* arguments, std::size_t results, node* before = nullptr);

    template <op_tag Op>
        requires(Op::results != variadic_results)
    node& create(const args<Op>& arguments, node* before = nullptr) {
        return create(info_of<Op>, &arguments, static_cast<std::size_t>(Op::results), before);
    }
    template <op_tag Op>
        requires(Op::results == variadic_results)
    node& create(const args<Op>& arguments, std::size_t results, node* before = nullptr) {
        return create(info_of<Op>, &arguments, results, before);
    }

    /// Removes an unused node.
    void erase(node& n);

    /// Changes only the execution order: moves `n` directly before `before`, or to the end.
    void move_before(node& n, node* before) {
        if (&n == before) return;
        unlink(n);
        link(n, before);
    }

    /// Changes only the execution order: `order` must hold each node of the graph once.
    void reorder(std::span<node* const> order) {
        first_ = last_ = nullptr;
        size_ = 0;
        changes_ = 0;
        for (std::size_t i = 0; i != order.size(); ++i) {
            prefetch_after(i, order.size(), [&](std::size_t at) { return order[at]; });
            link(*order[i], nullptr);
        }
    }

    void set_operand(edge& e, value to) {
        unlink_use(e);
        *e.slot = to;
        link_use(e);
    }

    /// Makes every user of `from` use `to` instead, except the node `except`.
    void replace_all_uses(value from, value to, const node* except = nullptr) {
        for (edge* e = from.producer->first_use; e != nullptr;) {
            edge* next = e->next_use;
            if (e->slot->result == from.result && e->target != except) set_operand(*e, to);
            e = next;
        }
    }

    void set_meta(value v, const tensor_meta& meta) {
        v.producer->results[v.result].meta = outermost().metas_.find_or_add(meta);
    }
    void clear_meta(value v) { v.producer->results[v.result].meta = nullptr; }
    void set_name(value v, std::string_view name) { v.producer->results[v.result].name = own(name); }

    /// Attaches metadata to a node, replacing any of its type. `T` may hold strings and lists of the arena.
    template <class T>
    void annotate(node& n, const T& data) {
        static_assert(std::is_trivially_copyable_v<T>,
                      "annotation: must be trivially copyable; keep lists in the arena");
        T* copy = make<T>(data);
        if constexpr (!T::inherited) {
            for (annotation* a = n.annotations; a != nullptr; a = a->next) {
                if (a->key == &annotation_key<T>) {
                    a->data = copy;
                    return;
                }
            }
        }
        // Prepended, because the older annotation of that type may be shared with other nodes.
        n.annotations = make<annotation>(&annotation_key<T>, copy, T::inherited, n.annotations);
    }

    /// Gives `to` the inheritable annotations of `from` that it lacks, and joins their origins.
    void inherit_annotations(node& to, const node& from);

    /// Adds the origins of `from` to those of `to`. Messages name the first origin of `to`; for_each_origin
    /// visits all. Does nothing if either node has no exported origin, or both have the same one.
    void join_origins(node& to, const node& from);

    /// Adds a nested graph, such as a branch of a condition, in this graph's arena.
    graph& create_region();
    [[nodiscard]] graph* parent() const { return parent_; }
    [[nodiscard]] auto regions() const { return intrusive_range<graph, &graph::next_region_>(first_region_); }

    // --- memory ------------------------------------------------------------------------

    [[nodiscard]] std::pmr::memory_resource* arena() { return arena_; }
    [[nodiscard]] std::string_view own(std::string_view text);
    [[nodiscard]] int_list own(const int_list& items) {
        if (!items.is_view()) return items;
        return int_list(
            std::span<const std::int64_t>(copy_array(*arena_, items.data(), items.size()), items.size()));
    }
    template <class T>
    [[nodiscard]] list<T> own(const list<T>& items) {
        return {copy_array(*arena_, items.data(), items.size()), items.size()};
    }
    /// Allocates the data of a constant, aligned to 16 bytes.
    [[nodiscard]] std::span<std::byte> allocate_data(std::size_t bytes) {
        outermost().data_bytes_ += bytes;
        return {static_cast<std::byte*>(arena_->allocate(bytes == 0 ? 1 : bytes, 16)), bytes};
    }
    /// Returns the total size of allocate_data's memory, including regions; none of it is freed.
    [[nodiscard]] std::uint64_t data_bytes() { return outermost().data_bytes_; }

private:
    [[nodiscard]] graph& outermost() { return parent_ != nullptr ? parent_->outermost() : *this; }

    // A region allocates from its parent's arena.
    struct region_of_this {};
    graph(graph& parent, region_of_this)
        : memory_(std::pmr::null_memory_resource()),
          arena_(parent.arena_),
          census_(arena_),
          metas_(arena_),
          parent_(&parent) {
        census_.set_parent(&parent.census_);
    }

    template <class T, class... Args>
    T* make(Args&&... arguments) {
        return new (arena_->allocate(sizeof(T), alignof(T))) T(std::forward<Args>(arguments)...);
    }

    template <class T>
    static T& field_at(node& n, const field_info& f) {
        return *reinterpret_cast<T*>(static_cast<std::byte*>(n.arguments) + f.offset);
    }

    [[nodiscard]] list<std::string_view> own_texts(list<std::string_view> texts);
    // Copies the lists and strings of the arguments into the arena.
    void own_arguments(node& n);

    // Calls `f(const value&)` for each operand in an argument struct.
    template <class F>
    static void for_each_slot(const op_info& op, const void* arguments, F&& f) {
        for (const field_info& field : op) {
            const void* at = static_cast<const std::byte*>(arguments) + field.offset;
            if (field.kind == field_kind::tensor) {
                if (!field.optional) {
                    f(*static_cast<const value*>(at));
                } else if (const auto& v = *static_cast<const std::optional<value>*>(at)) {
                    f(*v);
                }
            } else if (field.kind == field_kind::tensors) {
                for (const value& v : *static_cast<const list<value>*>(at)) f(v);
            } else if (field.kind == field_kind::optional_tensors) {
                for (const auto& v : *static_cast<const list<std::optional<value>>*>(at)) {
                    if (v) f(*v);
                }
            }
        }
    }

    static bool all_inherited(const annotation* annotations);

    static void link_use(edge& e) {
        node& source = *e.slot->producer;
        e.source = &source;
        e.previous_use = source.last_use;
        e.next_use = nullptr;
        (source.last_use == nullptr ? source.first_use : source.last_use->next_use) = &e;
        source.last_use = &e;
    }
    static void unlink_use(edge& e) {
        node& source = *e.source;
        (e.previous_use == nullptr ? source.first_use : e.previous_use->next_use) = e.next_use;
        (e.next_use == nullptr ? source.last_use : e.next_use->previous_use) = e.previous_use;
    }
    void unlink(node& n) {
        (n.previous == nullptr ? first_ : n.previous->next) = n.next;
        (n.next == nullptr ? last_ : n.next->previous) = n.previous;
        --size_;
        ++changes_;
    }
    // Records `n`, the `position`-th node of the order, as the prefetch hint of an earlier node.
    void note_for_those_behind(node& n, std::size_t position) {
        node*& behind = met_[position % met_.size()];
        if (behind != nullptr) note_ahead(*behind, &n);
        behind = &n;
    }
    // Returns a position soon after `previous`: insertions usually come in runs, so room is left.
    static std::uint64_t position_between(const node* previous, const node* before) {
        constexpr std::uint64_t step = std::uint64_t{1} << 32U;
        const std::uint64_t from = previous == nullptr ? 0 : previous->position;
        if (before != nullptr) return from + (before->position - from) / 8;
        return from < UINT64_MAX - step ? from + step : UINT64_MAX;
    }
    void link(node& n, node* before) {
        n.next = before;
        n.previous = before == nullptr ? last_ : before->previous;
        n.position = position_between(n.previous, before);
        (n.previous == nullptr ? first_ : n.previous->next) = &n;
        (before == nullptr ? last_ : before->previous) = &n;
        if (before != nullptr) {
            note_ahead(n, noted_ahead(*before));
            ++changes_;
        } else {
            note_for_those_behind(n, size_);
        }
        ++size_;
    }

    headrace::arena memory_;
    std::pmr::memory_resource* arena_;
    headrace::census census_;
    meta_table metas_;  // the outermost graph's is used
    node* first_ = nullptr;
    node* last_ = nullptr;
    std::array<node*, 32> met_{};  // ring of the last nodes passed to note_for_those_behind
    std::size_t size_ = 0;
    std::size_t changes_ = 0;  // changes of the order since the last tidy()
    std::uint32_t next_id_ = 0;
    std::uint64_t data_bytes_ = 0;
    target_spec target_{};
    graph* parent_ = nullptr;
    graph* first_region_ = nullptr;
    graph* next_region_ = nullptr;
};

/// Creates a constant of that type and shape, row-major, whose elements are in memory from allocate_data.
value create_constant(graph& g, const tensor_meta& meta, node* before, std::span<std::byte> data);
/// Creates a constant of that type and shape, row-major, whose elements `fill(std::span<std::byte>)` writes.
template <class Fill>
value create_constant(graph& g, const tensor_meta& meta, node* before, Fill&& fill) {
    const std::span<std::byte> data = g.allocate_data(bytes_in_memory(meta));
    fill(data);
    return create_constant(g, meta, before, data);
}

}  // namespace headrace

// ---- headrace/ir/graph_definition.hpp ----

namespace headrace {

HEADRACE_INLINE node& graph::create(const op_info& op, const void* arguments, std::size_t results,
                                    node* before) {
    // The results, arguments and operands of a node are in one block of memory.
    std::size_t operands = 0;
    for_each_slot(op, arguments, [&](const value&) { ++operands; });
    const auto aligned = [](std::size_t at, std::size_t to) { return (at + to - 1) / to * to; };
    const std::size_t arguments_at = aligned(results * sizeof(result_slot), op.args_alignment);
    const std::size_t operands_at = aligned(arguments_at + op.args_size, alignof(edge));
    node& n = *make<node>();
    auto* const block = static_cast<std::byte*>(
        arena_->allocate(operands_at + operands * sizeof(edge), alignof(std::max_align_t)));
    n.op = &op;
    n.owner = this;
    n.id = next_id_++;
    n.result_count = static_cast<std::uint32_t>(results);
    n.results = reinterpret_cast<result_slot*>(block);
    for (std::size_t i = 0; i != results; ++i) new (n.results + i) result_slot();
    n.arguments = block + arguments_at;
    std::memcpy(n.arguments, arguments, op.args_size);
    own_arguments(n);
    n.operands = reinterpret_cast<edge*>(block + operands_at);
    for_each_slot(op, n.arguments, [&](const value& slot) {
        // The slot is in the block, or in a list that own_arguments has copied.
        edge* const e = new (n.operands + n.operand_count)
            edge{.target = &n, .operand = n.operand_count, .slot = &const_cast<value&>(slot)};
        link_use(*e);
        ++n.operand_count;
    });
    link(n, before);
    census_.insert(n);
    return n;
}

HEADRACE_INLINE void graph::erase(node& n) {
    for (edge& e : std::span(n.operands, n.operand_count)) unlink_use(e);
    census_.remove(n);
    unlink(n);
    n.owner = nullptr;  // lets code that has collected it see that it was erased
}

HEADRACE_INLINE void graph::tidy() {
    if (2 * changes_ > size_ || next_id_ > 2 * size_) {
        next_id_ = 0;
        for (node& n : nodes_alone()) {
            note_for_those_behind(n, next_id_);
            n.id = next_id_++;
        }
        changes_ = 0;
        census_.tidy();
    }
    for (graph& region : regions()) region.tidy();
}

HEADRACE_INLINE void graph::inherit_annotations(node& to, const node& from) {
    if (to.annotations == nullptr && all_inherited(from.annotations)) {
        to.annotations = from.annotations;
        return;
    }
    join_origins(to, from);
    for (const annotation* a = from.annotations; a != nullptr; a = a->next) {
        bool present = !a->inherited;
        for (const annotation* b = to.annotations; b != nullptr && !present; b = b->next)
            present = a->key == b->key;
        if (!present) to.annotations = make<annotation>(a->key, a->data, true, to.annotations);
    }
}

HEADRACE_INLINE bool graph::all_inherited(const annotation* annotations) {
    for (const annotation* a = annotations; a != nullptr; a = a->next) {
        if (!a->inherited) return false;
    }
    return true;
}

HEADRACE_INLINE void graph::join_origins(node& to, const node& from) {
    const auto* kept = to.find_annotation<provenance>();
    const auto* other = from.find_annotation<provenance>();
    if (kept == nullptr || other == nullptr) return;
    const auto* joined = to.find_annotation<joined_origin>();
    const auto* others = from.find_annotation<joined_origin>();
    if (kept->node_name == other->node_name && (others == nullptr || others == joined)) return;
    // A new cell, since nodes may share theirs. It links to the cells of the last origin; otherwise a node
    // that joins many origins would have a list of the same length.
    const joined_origin* more = make<joined_origin>(from.annotations, joined);
    annotation* rest = to.annotations;
    if (rest->key == &annotation_key<joined_origin>) rest = rest->next;
    to.annotations = make<annotation>(&annotation_key<joined_origin>, more, true, rest);
}

HEADRACE_INLINE graph& graph::create_region() {
    graph* region = static_cast<graph*>(arena_->allocate(sizeof(graph), alignof(graph)));
    new (region) graph(*this, region_of_this{});
    region->next_region_ = first_region_;
    first_region_ = region;
    return *region;
}

HEADRACE_INLINE std::string_view graph::own(std::string_view text) {
    return {copy_array(*arena_, text.data(), text.size()), text.size()};
}

HEADRACE_INLINE list<std::string_view> graph::own_texts(list<std::string_view> texts) {
    const list<std::string_view> copy = own(texts);
    for (const std::string_view& text : copy) const_cast<std::string_view&>(text) = own(text);
    return copy;
}

HEADRACE_INLINE void graph::own_arguments(node& n) {
    for (const field_info& f : *n.op) {
        switch (f.kind) {
            case field_kind::tensors:
                field_at<list<value>>(n, f) = own(field_at<list<value>>(n, f));
                break;
            case field_kind::optional_tensors: {
                auto& items = field_at<list<std::optional<value>>>(n, f);
                items = own(items);
                break;
            }
            case field_kind::integers:
                if (f.optional) {
                    if (auto& items = field_at<std::optional<int_list>>(n, f)) items = own(*items);
                } else {
                    field_at<int_list>(n, f) = own(field_at<int_list>(n, f));
                }
                break;
            case field_kind::floatings:
                if (f.optional) {
                    if (auto& items = field_at<std::optional<list<double>>>(n, f)) items = own(*items);
                } else {
                    field_at<list<double>>(n, f) = own(field_at<list<double>>(n, f));
                }
                break;
            case field_kind::text:
                if (f.optional) {
                    if (auto& text = field_at<std::optional<std::string_view>>(n, f)) text = own(*text);
                } else {
                    field_at<std::string_view>(n, f) = own(field_at<std::string_view>(n, f));
                }
                break;
            case field_kind::texts:
                if (f.optional) {
                    if (auto& texts = field_at<std::optional<list<std::string_view>>>(n, f))
                        texts = own_texts(*texts);
                } else {
                    auto& texts = field_at<list<std::string_view>>(n, f);
                    texts = own_texts(texts);
                }
                break;
            case field_kind::data: {
                if (f.optional) break;
                auto& data = field_at<tensor_data>(n, f);
                data.strides = own(data.strides);
                break;
            }
            default:
                break;
        }
    }
}

HEADRACE_INLINE value create_constant(graph& g, const tensor_meta& meta, node* before,
                                      std::span<std::byte> data) {
    node& n = g.create<builtin::constant>({.data = {.bytes = data.data()}}, before);
    g.set_meta(n.result(), meta);
    return n.result();
}

}  // namespace headrace

// ---- headrace/ir/meta_text.hpp ----

namespace headrace {

/// Returns "float32[1, 16]".
[[nodiscard]] std::pmr::string meta_text(const tensor_meta& meta);
/// Returns "float32[1, 16]", or "?" if the type is unknown.
[[nodiscard]] inline std::pmr::string meta_text(const tensor_meta* meta) {
    return meta == nullptr ? "?" : meta_text(*meta);
}

}  // namespace headrace

// ---- headrace/ir/meta_text_definition.hpp ----

namespace headrace {

HEADRACE_INLINE std::pmr::string meta_text(const tensor_meta& meta) {
    std::pmr::string text(name_of(meta.dtype));
    text += '[';
    for (const std::int64_t size : meta.shape) {
        if (text.back() != '[') text += ", ";
        text += number_text(size);
    }
    return text += ']';
}

}  // namespace headrace

// ---- headrace/infer/higher_order_definition.hpp ----

namespace headrace {

namespace detail {

/// Returns the results of a region; fails if the metadata of any is missing.
inline result<list<value>> region_values(const graph* region) {
    if (region == nullptr || region->output() == nullptr) return invalid("a region has no output");
    for (const value v : region->outputs()) {
        if (meta_of(v) == nullptr) return invalid("a result of a region has no metadata");
    }
    return region->outputs();
}

inline result<void> infer_region(inference& out, const graph* region) {
    HEADRACE_TRY(values, region_values(region));
    for (const value v : values) {
        HEADRACE_TRY(add_result(out, inference::of(v)));
    }
    return {};
}

/// Refuses a region whose inputs do not match its operands: values as they are, or slices along the first
/// axis of the values that it iterates over.
class region_inputs {
public:
    explicit region_inputs(const graph* region) {
        if (region == nullptr) {
            fits_ = invalid("a region is missing");
            return;
        }
        for (node& n : const_cast<graph*>(region)->inputs()) inputs_.push_back(n.result(0));
    }
    region_inputs& take(list<value> values) { return take(values, 0); }
    region_inputs& take_slices(list<value> values) { return take(values, 1); }

    [[nodiscard]] result<void> check() const {
        if (!fits_) return fits_.error();
        if (given_ == inputs_.size()) return {};
        return invalid({"a region takes ", counted_text(inputs_.size(), "input"), ", but is given ", given_});
    }

private:
    region_inputs& take(list<value> values, std::size_t axes_gone) {
        for (const value v : values) {
            if (given_ < inputs_.size()) compare(inputs_[given_], inference::of(v), axes_gone);
            ++given_;
        }
        return *this;
    }
    void compare(value input, const tensor_meta& given, std::size_t axes_gone) {
        const tensor_meta* taken = meta_of(input);
        if (taken == nullptr || !fits_) return;
        const sizes shape(given.shape);
        const bool fits = shape.size() >= axes_gone && taken->dtype == given.dtype &&
                          same_items(taken->shape, shape.subspan(axes_gone));
        if (!fits) {
            fits_ = invalid({"input ", given_, " of a region is ", meta_text(*taken), ", but is given ",
                             meta_text(given)});
        }
    }

    pmr_vector<value> inputs_;
    std::size_t given_ = 0;
    result<void> fits_;
};

/// Refuses two lists of results that must be interchangeable but differ.
inline result<void> require_equal_results(std::string_view what, list<value> given, list<value> expected) {
    HEADRACE_TRY(require_count(what, given.size(), expected.size()));
    for (std::size_t i = 0; i != given.size(); ++i) {
        const tensor_meta* a = meta_of(given[i]);
        const tensor_meta* b = meta_of(expected[i]);
        if (a == nullptr || b == nullptr || (a->dtype == b->dtype && a->shape == b->shape)) continue;
        return invalid({what, ": result ", i, " is ", meta_text(*a), ", but must be ", meta_text(*b)});
    }
    return {};
}

/// Returns the number of iterations of a region: the size of the first axis of all `xs`.
inline result<std::int64_t> iterations_of(list<value> xs) {
    if (xs.empty()) return invalid("there is nothing to iterate over");
    std::int64_t count = -1;
    for (const value v : xs) {
        const sizes shape(inference::of(v).shape);
        if (shape.empty() || (count != -1 && shape[0] != count)) {
            return invalid("tensors to iterate over must have the same size along axis 0");
        }
        count = shape[0];
    }
    return count;
}

/// Infers the results of a region that runs once per slice: the last run's for the first `carried`, the
/// others stacked.
inline result<void> infer_iterated(inference& out, const graph* region, list<value> xs, std::size_t carried) {
    HEADRACE_TRY(values, region_values(region));
    HEADRACE_TRY(count, iterations_of(xs));
    if (carried > values.size()) return invalid("the region gives fewer values than it carries");
    for (std::size_t i = 0; i != values.size(); ++i) {
        const tensor_meta& one = inference::of(values[i]);
        shape_builder shape(one.shape);
        if (i >= carried) shape.insert(0, count);
        HEADRACE_TRY(add_result(out, one.dtype, shape));
    }
    return {};
}

}  // namespace detail

template <one_of<ops<higher_order::cond>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_elements("pred", inference::of(a.pred).shape, 1));
    HEADRACE_TRY(detail::region_inputs(a.true_graph).take(a.operands).check());
    HEADRACE_TRY(detail::region_inputs(a.false_graph).take(a.operands).check());
    HEADRACE_TRY(if_true, detail::region_values(a.true_graph));
    HEADRACE_TRY(if_false, detail::region_values(a.false_graph));
    HEADRACE_TRY(detail::require_equal_results("the second branch", if_false, if_true));
    return detail::infer_region(out, a.true_graph);
}
template <one_of<ops<higher_order::while_loop>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    for (const graph* region : {a.cond_graph, a.body_graph}) {
        HEADRACE_TRY(detail::region_inputs(region).take(a.carried_inputs).take(a.additional_inputs).check());
    }
    HEADRACE_TRY(next, detail::region_values(a.body_graph));
    HEADRACE_TRY(detail::require_equal_results("the body", next, a.carried_inputs));
    return detail::infer_region(out, a.body_graph);
}
template <one_of<ops<higher_order::wrap_with_set_grad_enabled>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(detail::region_inputs(a.wrapped_graph).take(a.operands).check());
    return detail::infer_region(out, a.wrapped_graph);
}
template <one_of<ops<higher_order::wrap_with_autocast>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    if (a.enabled)
        return unsupported("it computes in types that PyTorch chooses; export without torch.autocast");
    HEADRACE_TRY(detail::region_inputs(a.wrapped_body).take(a.operands).check());
    return detail::infer_region(out, a.wrapped_body);
}
template <one_of<ops<higher_order::map_impl>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(detail::region_inputs(a.body_graph).take_slices(a.xs).take(a.operands).check());
    return detail::infer_iterated(out, a.body_graph, a.xs, 0);
}
template <one_of<ops<higher_order::scan>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(detail::region_inputs(a.combine_graph)
                     .take(a.init)
                     .take_slices(a.xs)
                     .take(a.additional_inputs)
                     .check());
    return detail::infer_iterated(out, a.combine_graph, a.xs, a.init.size());
}

}  // namespace headrace

// ---- headrace/infer/quantized_range.hpp ----

namespace headrace {

namespace detail {

/// The least and the greatest number of an integer dtype; quantized floats have the range of int32.
struct integer_range {
    std::int64_t low;
    std::int64_t high;
};
[[nodiscard]] constexpr integer_range range_of_integers(dtype t) {
    const int bits = is_integral(t) ? traits_of(t).bits : 32;
    if (bits == 64) return {INT64_MIN, INT64_MAX};
    const bool is_signed = !is_integral(t) || is_signed_integral(t);
    const std::int64_t half = std::int64_t{1} << (bits - 1);
    return is_signed ? integer_range{-half, half - 1} : integer_range{0, 2 * half - 1};
}

}  // namespace detail

/// Refuses a range of quantized values that is empty or does not fit in the dtype.
[[nodiscard]] inline result<void> require_quantized_range(std::int64_t low, std::int64_t high, dtype type) {
    const detail::integer_range bounds = detail::range_of_integers(type);
    HEADRACE_TRY(require_between("quant_min", low, bounds.low, bounds.high));
    return require_between("quant_max", high, low, bounds.high);
}

}  // namespace headrace

// ---- headrace/infer/quantized_decomposed_definition.hpp ----

namespace headrace {
namespace quantized_decomposed {

using quantize_ops = ops<quantize_per_channel, quantize_per_channel_group, quantize_per_tensor,
                         quantize_per_tensor_tensor, quantize_per_tensor_tensor2, quantize_per_token>;
/// Ops whose result is float32 without an out_dtype.
using dequantize_ops = ops<dequantize_per_channel, dequantize_per_tensor, dequantize_per_tensor_tensor,
                           dequantize_per_tensor_tensor2>;
using dequantize_to_dtype_ops = ops<dequantize_per_channel_group, dequantize_per_token>;
using choose_per_token_ops = ops<choose_qparams_per_token, choose_qparams_per_token_asymmetric>;
using choose_ops = ops<choose_qparams_symmetric_tensor, choose_qparams_tensor>;

using per_channel_ops = ops<quantize_per_channel, dequantize_per_channel, fake_quant_per_channel>;
using per_group_ops = ops<quantize_per_channel_group, dequantize_per_channel_group>;
using per_token_ops = ops<quantize_per_token, dequantize_per_token>;
/// Ops whose scale and zero point are tensors with one element each.
using per_tensor_tensor_ops = ops<quantize_per_tensor_tensor, quantize_per_tensor_tensor2,
                                  dequantize_per_tensor_tensor, dequantize_per_tensor_tensor2>;

}  // namespace quantized_decomposed

namespace detail {

/// Refuses scales, and zero points if any, that are not `count` in number: channels, groups or rows.
inline result<void> check_parameters(value scales, const std::optional<value>& zero_points,
                                     std::int64_t count) {
    HEADRACE_TRY(require_elements("scales", scales, count));
    return require_elements("zero_points", zero_points, count);
}
inline result<void> check_channels(const tensor_meta& input, value scales,
                                   const std::optional<value>& zero_points, std::int64_t dim) {
    HEADRACE_TRY(require_rank("input", input.shape, 1, SIZE_MAX));
    HEADRACE_TRY(axis, axis_of(dim, input.rank()));
    HEADRACE_TRY(require_rank("scales", inference::of(scales).shape, 1));
    return check_parameters(scales, zero_points, input.shape[axis]);
}
/// Groups are parts of a matrix's rows; a group_size above the row's length means the whole row.
inline result<void> check_groups(const tensor_meta& input, value scales,
                                 const std::optional<value>& zero_points, std::int64_t size) {
    HEADRACE_TRY(require_rank("input", input.shape, 2));
    HEADRACE_TRY(require_at_least("group_size", size, 1));
    const std::int64_t row = input.shape[1];
    if (size > row) return check_parameters(scales, zero_points, input.shape[0]);
    if (row % size != 0) {
        return invalid({"group_size ", size, " does not divide axis 1 of ", shape_text(input.shape)});
    }
    return check_parameters(scales, zero_points, saturating_mul(input.shape[0], row / size));
}
inline result<void> check_rows(const tensor_meta& input, value scales,
                               const std::optional<value>& zero_points) {
    const sizes shape(input.shape);
    return check_parameters(scales, zero_points,
                            element_count(shape.first(shape.empty() ? 0 : shape.size() - 1)));
}

/// Checks the scales and zero points of quantize and dequantize.
template <class Op>
result<void> check_scales(const args<Op>& a) {
    const tensor_meta& input = inference::of(a.input);
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(a.quant_min)>, value>) {
        HEADRACE_TRY(require_elements("quant_min", a.quant_min, 1));
        HEADRACE_TRY(require_elements("quant_max", a.quant_max, 1));
    }
    if constexpr (one_of<Op, quantized_decomposed::per_channel_ops>) {
        return check_channels(input, a.scales, a.zero_points, a.axis);
    } else if constexpr (one_of<Op, quantized_decomposed::per_group_ops>) {
        return check_groups(input, a.scales, a.zero_points, a.group_size);
    } else if constexpr (one_of<Op, quantized_decomposed::per_token_ops>) {
        return check_rows(input, a.scales, a.zero_points);
    } else if constexpr (one_of<Op, quantized_decomposed::per_tensor_tensor_ops>) {
        HEADRACE_TRY(require_elements("scale", a.scale, 1));
        return require_elements("zero_point", a.zero_point, 1);
    } else {
        return require_scale("scale", a.scale);
    }
}
/// Checks a quantize: its input is floating-point and is clamped to a valid range.
template <class Op>
result<void> check_quantize(const args<Op>& a, dtype type) {
    HEADRACE_TRY(require_floating("input", inference::of(a.input).dtype));
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(a.quant_min)>, std::int64_t>) {
        HEADRACE_TRY(require_quantized_range(a.quant_min, a.quant_max, type));
    }
    return check_scales<Op>(a);
}
/// Checks a dequantize: quantized values have the op's dtype or a wider one, in which passes compute tables.
/// Their range only states which values occur.
template <class Op>
result<void> check_dequantize(const args<Op>& a) {
    const dtype given = inference::of(a.input).dtype;
    const bool wider =
        is_integral(given) && is_integral(a.dtype) && traits_of(given).bits > traits_of(a.dtype).bits;
    if (!wider) {
        HEADRACE_TRY(require_dtype("input", given, a.dtype));
    }
    return check_scales<Op>(a);
}

}  // namespace detail

template <one_of<quantized_decomposed::quantize_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(detail::check_quantize<Op>(a, a.dtype));
    return add_result(out, a.dtype, inference::of(a.input).shape);
}
template <one_of<quantized_decomposed::dequantize_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(detail::check_dequantize<Op>(a));
    return add_result(out, a.out_dtype.value_or(dtype::float32), inference::of(a.input).shape);
}
template <one_of<quantized_decomposed::dequantize_to_dtype_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(detail::check_dequantize<Op>(a));
    return add_result(out, a.output_dtype, inference::of(a.input).shape);
}
template <one_of<ops<quantized_decomposed::fake_quant_per_channel>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(detail::check_quantize<Op>(a, dtype::int32));
    return add_result(out, inference::of(a.input));
}

/// One scale and zero point per row.
template <one_of<quantized_decomposed::choose_per_token_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(require_rank("input", input.shape, 1, shape_builder::capacity));
    shape_builder shape(input.shape);
    shape.back() = 1;
    HEADRACE_TRY(add_result(out, dtype::float64, shape));
    return add_result(out, dtype::int64, shape);
}
template <one_of<quantized_decomposed::choose_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_quantized_range(a.quant_min, a.quant_max, a.dtype));
    if (a.quant_min == a.quant_max) return invalid("quant_min must be less than quant_max");
    HEADRACE_TRY(add_result(out, dtype::float64, {1}));
    return add_result(out, dtype::int64, {1});
}

}  // namespace headrace

// ---- headrace/infer/tosa_window.hpp ----

namespace headrace {

namespace tosa_rules {

inline constexpr std::string_view axis_names[] = {"depth", "height", "width"};

/// Returns the error "conv2d: …".
[[nodiscard]] inline error refuse(std::string_view op, std::string_view what) {
    return invalid({op, ": ", what});
}
[[nodiscard]] inline error refuse(std::string_view op, std::initializer_list<text_part> what) {
    return refuse(op, text_of(what));
}

/// Refuses an attribute with the wrong number of items, or with an item below `least`.
[[nodiscard]] inline result<void> require_items(std::string_view op, std::string_view what,
                                                const int_list& items, std::size_t count,
                                                std::int64_t least) {
    if (items.size() != count) {
        return refuse(op, {what, " ", shape_text(items), " must have ", counted_text(count, "item")});
    }
    for (const std::int64_t item : items) {
        if (item < least) {
            return refuse(op, {what, " ", shape_text(items), " has an item below ", least});
        }
    }
    return {};
}

[[nodiscard]] inline result<void> require_rank_of(std::string_view op, std::string_view what, value v,
                                                  std::size_t rank) {
    const int_list& shape = inference::of(v).shape;
    if (shape.size() == rank) return {};
    return refuse(op, {what, " ", shape_text(shape), " must have rank ", rank});
}

/// Refuses an operand that is not of one dimension with one element, such as a zero point.
[[nodiscard]] inline result<void> require_single(std::string_view op, std::string_view what, value v) {
    const int_list& shape = inference::of(v).shape;
    if (shape.size() == 1 && shape[0] == 1) return {};
    return refuse(op, {what, " ", shape_text(shape), " must have shape [1]"});
}

/// Returns the elements of a shape operand, which only CONST_SHAPE can produce in TOSA 1.0.
[[nodiscard]] inline result<const int_list*> shape_operand(std::string_view op, std::string_view what,
                                                           value v) {
    const auto* shape = match<tosa::const_shape>(v);
    if (shape == nullptr) return refuse(op, {what, " is not a CONST_SHAPE"});
    return &shape->values;
}

/// Returns `room / stride + 1`; TOSA demands that no remainder is left. `terms` names the parts of `room`.
[[nodiscard]] inline result<std::int64_t> exact_positions(std::string_view op, std::int64_t room,
                                                          std::int64_t stride,
                                                          const std::pmr::string& terms) {
    if (room < 0) return refuse(op, {"(", terms, ") is negative"});
    if (room % stride != 0) {
        return refuse(op, {"(", terms, ") is not divisible by stride ", stride});
    }
    return room / stride + 1;
}

/// Returns the number of positions of a window along one axis (TOSA 1.0, sections 2.2.2 to 2.2.8).
[[nodiscard]] inline result<std::int64_t> window_positions_of(std::string_view op, std::string_view axis,
                                                              std::int64_t size, std::int64_t pad,
                                                              std::int64_t extent, std::int64_t stride) {
    return exact_positions(op, saturating_sub(saturating_add(size, pad), extent), stride,
                           text_of({axis, " ", size, " + pad ", pad, " - kernel ", extent}));
}

/// A convolution over `axes` spatial axes: its attributes and operands.
struct convolution {
    std::string_view op;
    std::size_t axes;
    const int_list& pad;
    const int_list& stride;
    const int_list& dilation;
};

/// Returns the spatial sizes of a convolution's result, with its batch but without its channels.
[[nodiscard]] inline result<shape_builder> convolved(const convolution& c, sizes input, sizes kernel) {
    HEADRACE_TRY(require_items(c.op, "pad", c.pad, 2 * c.axes, 0));
    HEADRACE_TRY(require_items(c.op, "stride", c.stride, c.axes, 1));
    HEADRACE_TRY(require_items(c.op, "dilation", c.dilation, c.axes, 1));
    shape_builder shape{input[0]};
    for (std::size_t i = 0; i != c.axes; ++i) {
        const std::int64_t extent =
            saturating_add(saturating_mul(saturating_sub(kernel[i], 1), c.dilation[i]), 1);
        const std::int64_t pad = saturating_add(c.pad[2 * i], c.pad[2 * i + 1]);
        HEADRACE_TRY(size, window_positions_of(c.op, axis_names[3 - c.axes + i], input[1 + i], pad, extent,
                                               c.stride[i]));
        shape.push_back(size);
    }
    return shape;
}

/// Checks the common requirements of convolutions and adds their result, which has the bias's type.
template <class Args>
[[nodiscard]] result<void> add_convolved(std::string_view op, const Args& a, shape_builder shape,
                                         std::int64_t channels, inference& out) {
    const tensor_meta& bias = inference::of(a.bias);
    if (bias.rank() != 1 || (bias.shape[0] != channels && bias.shape[0] != 1)) {
        return refuse(op, {"bias ", shape_text(bias.shape), " must have one element or one for each of the ",
                           channels, " output channels"});
    }
    HEADRACE_TRY(require_single(op, "input_zp", a.input_zp));
    HEADRACE_TRY(require_single(op, "weight_zp", a.weight_zp));
    shape.push_back(channels);
    return add_result(out, bias.dtype, shape);
}

[[nodiscard]] inline result<void> require_same_channels(std::string_view op, std::int64_t input,
                                                        std::int64_t weight) {
    if (input == weight) return {};
    return refuse(op, {"the input has ", input, " channels, the weight ", weight});
}

/// CONV2D and CONV3D: weights are [output channels, kernel…, input channels].
template <class Args>
[[nodiscard]] result<void> infer_convolution(std::string_view op, std::size_t axes, const Args& a,
                                             inference& out) {
    HEADRACE_TRY(require_rank_of(op, "input", a.input, axes + 2));
    HEADRACE_TRY(require_rank_of(op, "weight", a.weight, axes + 2));
    const sizes input = inference::of(a.input).shape;
    const sizes weight = inference::of(a.weight).shape;
    HEADRACE_TRY(require_same_channels(op, input.back(), weight.back()));
    HEADRACE_TRY(shape, convolved({op, axes, a.pad, a.stride, a.dilation}, input, weight.subspan(1, axes)));
    return add_convolved(op, a, shape, weight[0], out);
}

/// AVG_POOL2D and MAX_POOL2D.
struct pooling {
    value input;
    const int_list &kernel, &stride, &pad;
};
[[nodiscard]] inline result<void> infer_pooling(std::string_view op, const pooling& a, inference& out) {
    HEADRACE_TRY(require_rank_of(op, "input", a.input, 4));
    HEADRACE_TRY(require_items(op, "kernel", a.kernel, 2, 1));
    HEADRACE_TRY(require_items(op, "stride", a.stride, 2, 1));
    HEADRACE_TRY(require_items(op, "pad", a.pad, 4, 0));
    const tensor_meta& input = inference::of(a.input);
    shape_builder shape{input.shape[0]};
    for (std::size_t i = 0; i != 2; ++i) {
        if (a.pad[2 * i] >= a.kernel[i] || a.pad[2 * i + 1] >= a.kernel[i]) {
            return refuse(op,
                          {"pad ", shape_text(a.pad), " must be smaller than kernel ", shape_text(a.kernel)});
        }
        HEADRACE_TRY(size, window_positions_of(op, axis_names[1 + i], input.shape[1 + i],
                                               saturating_add(a.pad[2 * i], a.pad[2 * i + 1]), a.kernel[i],
                                               a.stride[i]));
        shape.push_back(size);
    }
    shape.push_back(input.shape[3]);
    return add_result(out, input.dtype, shape);
}

[[nodiscard]] constexpr bool is_power_of_two(std::int64_t size) {
    return size > 0 && std::has_single_bit(static_cast<std::uint64_t>(size));
}

}  // namespace tosa_rules

/// CONV2D (TOSA 1.0, section 2.2.3).
inline result<void> infer_results(tosa::conv2d, const args<tosa::conv2d>& a, inference& out) {
    return tosa_rules::infer_convolution("conv2d", 2, a, out);
}
/// CONV3D (2.2.4).
inline result<void> infer_results(tosa::conv3d, const args<tosa::conv3d>& a, inference& out) {
    return tosa_rules::infer_convolution("conv3d", 3, a, out);
}
/// DEPTHWISE_CONV2D (2.2.5): weights are [height, width, channels, multiplier].
inline result<void> infer_results(tosa::depthwise_conv2d, const args<tosa::depthwise_conv2d>& a,
                                  inference& out) {
    constexpr std::string_view op = "depthwise_conv2d";
    HEADRACE_TRY(tosa_rules::require_rank_of(op, "input", a.input, 4));
    HEADRACE_TRY(tosa_rules::require_rank_of(op, "weight", a.weight, 4));
    const sizes input = inference::of(a.input).shape;
    const sizes weight = inference::of(a.weight).shape;
    HEADRACE_TRY(tosa_rules::require_same_channels(op, input[3], weight[2]));
    HEADRACE_TRY(shape,
                 tosa_rules::convolved({op, 2, a.pad, a.stride, a.dilation}, input, weight.subspan(0, 2)));
    return tosa_rules::add_convolved(op, a, shape, saturating_mul(weight[2], weight[3]), out);
}
/// TRANSPOSE_CONV2D (2.2.10): out_pad may be negative, but not cut the whole kernel away.
inline result<void> infer_results(tosa::transpose_conv2d, const args<tosa::transpose_conv2d>& a,
                                  inference& out) {
    constexpr std::string_view op = "transpose_conv2d";
    HEADRACE_TRY(tosa_rules::require_rank_of(op, "input", a.input, 4));
    HEADRACE_TRY(tosa_rules::require_rank_of(op, "weight", a.weight, 4));
    HEADRACE_TRY(tosa_rules::require_items(op, "out_pad", a.out_pad, 4, INT64_MIN));
    HEADRACE_TRY(tosa_rules::require_items(op, "stride", a.stride, 2, 1));
    const sizes input = inference::of(a.input).shape;
    const sizes weight = inference::of(a.weight).shape;
    HEADRACE_TRY(tosa_rules::require_same_channels(op, input[3], weight[3]));
    shape_builder shape{input[0]};
    for (std::size_t i = 0; i != 2; ++i) {
        const std::int64_t kernel = weight[1 + i];
        if (a.out_pad[2 * i] <= -kernel || a.out_pad[2 * i + 1] <= -kernel) {
            return tosa_rules::refuse(op,
                                      {"out_pad ", shape_text(a.out_pad), " must be above minus the kernel ",
                                       shape_text(weight.subspan(1, 2))});
        }
        const std::int64_t pad = saturating_add(a.out_pad[2 * i], a.out_pad[2 * i + 1]);
        const std::int64_t moved = saturating_mul(saturating_sub(input[1 + i], 1), a.stride[i]);
        shape.push_back(saturating_add(saturating_add(moved, pad), kernel));
        if (shape.back() < 1) {
            return tosa_rules::refuse(
                op, {tosa_rules::axis_names[1 + i], " of the result would be ", shape.back()});
        }
    }
    return tosa_rules::add_convolved(op, a, shape, weight[0], out);
}

/// AVG_POOL2D (2.2.2).
inline result<void> infer_results(tosa::avg_pool2d, const args<tosa::avg_pool2d>& a, inference& out) {
    HEADRACE_TRY(tosa_rules::require_single("avg_pool2d", "input_zp", a.input_zp));
    HEADRACE_TRY(tosa_rules::require_single("avg_pool2d", "output_zp", a.output_zp));
    return tosa_rules::infer_pooling("avg_pool2d", {a.input, a.kernel, a.stride, a.pad}, out);
}
/// MAX_POOL2D (2.2.8).
inline result<void> infer_results(tosa::max_pool2d, const args<tosa::max_pool2d>& a, inference& out) {
    return tosa_rules::infer_pooling("max_pool2d", {a.input, a.kernel, a.stride, a.pad}, out);
}

/// MATMUL (2.2.7): [N, H, C] by [N, C, W]. Without an output_type, the type is that of the widest row of its
/// table.
inline result<void> infer_results(tosa::matmul, const args<tosa::matmul>& a, inference& out) {
    constexpr std::string_view op = "matmul";
    HEADRACE_TRY(tosa_rules::require_rank_of(op, "a", a.a, 3));
    HEADRACE_TRY(tosa_rules::require_rank_of(op, "b", a.b, 3));
    HEADRACE_TRY(tosa_rules::require_single(op, "a_zp", a.a_zp));
    HEADRACE_TRY(tosa_rules::require_single(op, "b_zp", a.b_zp));
    const tensor_meta& left = inference::of(a.a);
    const tensor_meta& right = inference::of(a.b);
    if (left.shape[0] != right.shape[0] || left.shape[2] != right.shape[1]) {
        return tosa_rules::refuse(
            op, {"cannot multiply ", shape_text(left.shape), " by ", shape_text(right.shape)});
    }
    const auto product_type = [&] {
        if (a.output_type != dtype::unknown) return a.output_type;
        switch (left.dtype) {
            case dtype::int8:
                return dtype::int32;
            case dtype::int16:
                return dtype::int48;
            case dtype::float8_e4m3:
            case dtype::float8_e5m2:
                return dtype::float16;
            case dtype::bfloat16:
                return dtype::float32;
            default:
                return left.dtype;
        }
    };
    return add_result(out, product_type(), {left.shape[0], left.shape[1], right.shape[2]});
}

/// FFT2D (2.2.6).
inline result<void> infer_results(tosa::fft2d, const args<tosa::fft2d>& a, inference& out) {
    HEADRACE_TRY(tosa_rules::require_rank_of("fft2d", "input_real", a.input_real, 3));
    const tensor_meta& real = inference::of(a.input_real);
    if (!(inference::of(a.input_imag) == real))
        return tosa_rules::refuse("fft2d", "its operands differ in shape");
    if (!tosa_rules::is_power_of_two(real.shape[1]) || !tosa_rules::is_power_of_two(real.shape[2])) {
        return tosa_rules::refuse("fft2d",
                                  {shape_text(real.shape), " must have powers of two as height and width"});
    }
    HEADRACE_TRY(add_result(out, real));
    return add_result(out, real);
}
/// RFFT2D (2.2.9).
inline result<void> infer_results(tosa::rfft2d, const args<tosa::rfft2d>& a, inference& out) {
    HEADRACE_TRY(tosa_rules::require_rank_of("rfft2d", "input_real", a.input_real, 3));
    const tensor_meta& real = inference::of(a.input_real);
    if (!tosa_rules::is_power_of_two(real.shape[1]) || !tosa_rules::is_power_of_two(real.shape[2])) {
        return tosa_rules::refuse("rfft2d",
                                  {shape_text(real.shape), " must have powers of two as height and width"});
    }
    const shape_builder half{real.shape[0], real.shape[1], real.shape[2] / 2 + 1};
    HEADRACE_TRY(add_result(out, real.dtype, half));
    return add_result(out, real.dtype, half);
}

namespace tosa_rules {

/// One axis of RESIZE: the scale is a fraction; offset and border are in units of its numerator.
struct resize_axis {
    std::int64_t numerator;
    std::int64_t denominator;
    std::int64_t offset;
    std::int64_t border;
};
[[nodiscard]] inline result<std::int64_t> resized(std::string_view axis, std::int64_t size,
                                                  const resize_axis& r) {
    const auto wrong = [&](std::string_view what) { return refuse("resize", {axis, ": ", what}); };
    if (r.numerator <= 0 || r.denominator <= 0) return wrong("its scale is not positive");
    if (r.numerator > 2048) return wrong("the scale's numerator is above 2048");
    if (r.denominator >= 16 * r.numerator) return wrong("it would shrink by 16 or more");
    if (r.offset < -r.numerator || r.offset >= 16 * r.numerator) return wrong("the offset is out of range");
    if (r.border < -16 * r.numerator || r.border >= r.numerator) return wrong("the border is out of range");
    if (size >= 16384) return wrong("its size is not below 16384");
    const std::int64_t room = (size - 1) * r.numerator - r.offset + r.border;
    HEADRACE_TRY(given, exact_positions("resize", room, r.denominator,
                                        text_of({"(", axis, " ", size, " - 1) * ", r.numerator, " - offset ",
                                                 r.offset, " + border ", r.border})));
    if (given >= 16384) return wrong("the result's size is not below 16384");
    return given;
}

}  // namespace tosa_rules

/// RESIZE (2.11.1).
inline result<void> infer_results(tosa::resize, const args<tosa::resize>& a, inference& out) {
    HEADRACE_TRY(tosa_rules::require_rank_of("resize", "input", a.input, 4));
    HEADRACE_TRY(scale, tosa_rules::shape_operand("resize", "scale", a.scale));
    HEADRACE_TRY(offset, tosa_rules::shape_operand("resize", "offset", a.offset));
    HEADRACE_TRY(border, tosa_rules::shape_operand("resize", "border", a.border));
    HEADRACE_TRY(tosa_rules::require_items("resize", "scale", *scale, 4, 1));
    HEADRACE_TRY(tosa_rules::require_items("resize", "offset", *offset, 2, INT64_MIN));
    HEADRACE_TRY(tosa_rules::require_items("resize", "border", *border, 2, INT64_MIN));
    const tensor_meta& input = inference::of(a.input);
    shape_builder shape{input.shape[0]};
    for (std::size_t i = 0; i != 2; ++i) {
        HEADRACE_TRY(size,
                     tosa_rules::resized(tosa_rules::axis_names[1 + i], input.shape[1 + i],
                                         {(*scale)[2 * i], (*scale)[2 * i + 1], (*offset)[i], (*border)[i]}));
        shape.push_back(size);
    }
    shape.push_back(input.shape[3]);
    dtype type = input.dtype;
    if (a.mode == resize_mode::bilinear && type == dtype::int8) type = dtype::int32;
    if (a.mode == resize_mode::bilinear && type == dtype::int16) type = dtype::int48;
    return add_result(out, type, shape);
}

}  // namespace headrace

// ---- headrace/infer/tosa_definition.hpp ----

namespace headrace {

namespace tosa {

using comparison_ops = ops<equal, greater, greater_equal>;

/// Ops that keep shape and dtype (TOSA 1.0, sections 2.3, 2.5) and have no parameters.
template <class Op>
concept plain_unary = op_where<Op, dialect, trait::unary> && field_names<Op>.size() == 1;

/// Ops of two operands whose dtype is the result's (2.4). MUL and comparisons have a different one.
template <class Op>
concept plain_binary =
    op_where<Op, dialect, trait::binary> && !one_of<Op, comparison_ops> && !__is_same(Op, mul);

}  // namespace tosa

namespace tosa_rules {

/// The op's name without its dialect: "ADD".
template <class Op>
inline constexpr std::string_view short_name = Op::name.substr(Op::name.find('.') + 1);

/// TOSA broadcasts only sizes of 1, and never ranks (section 1.9.7).
[[nodiscard]] inline result<shape_builder> broadcast_equal_ranks(std::string_view op, sizes a, sizes b) {
    const auto wrong = [&] {
        return refuse(op, {"cannot broadcast ", shape_text(a), " with ", shape_text(b)});
    };
    if (a.size() != b.size())
        return refuse(op, {"ranks of ", shape_text(a), " and ", shape_text(b), " differ"});
    shape_builder shape(a);
    for (std::size_t i = 0; i != a.size(); ++i) {
        if (a[i] != b[i] && a[i] != 1 && b[i] != 1) return wrong();
        if (a[i] == 1) shape[i] = b[i];
    }
    return shape;
}

[[nodiscard]] inline result<shape_builder> broadcast_operands(std::string_view op, value a, value b) {
    const tensor_meta& left = inference::of(a);
    const tensor_meta& right = inference::of(b);
    if (left.dtype != right.dtype) {
        return refuse(op, {"its operands are of ", name_of(left.dtype), " and ", name_of(right.dtype)});
    }
    return broadcast_equal_ranks(op, left.shape, right.shape);
}

inline result<void> infer_binary(std::string_view op, value a, value b, dtype type, inference& out) {
    HEADRACE_TRY(shape, broadcast_operands(op, a, b));
    return add_result(out, type, shape);
}

/// Returns an axis, which is never negative in TOSA.
[[nodiscard]] inline result<std::size_t> axis_in(std::string_view op, std::int64_t axis, value v) {
    const int_list& shape = inference::of(v).shape;
    if (axis >= 0 && axis < static_cast<std::int64_t>(shape.size())) return static_cast<std::size_t>(axis);
    return refuse(op, {"axis ", axis, " is not an axis of ", shape_text(shape)});
}

}  // namespace tosa_rules

// --- elementwise -----------------------------------------------------------------------

template <tosa::plain_unary Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const auto& [operand] = a;
    return add_result(out, inference::of(operand));
}
/// IDENTITY (2.13.2).
inline result<void> infer_results(tosa::identity, const args<tosa::identity>& a, inference& out) {
    return add_result(out, inference::of(a.input1));
}
/// CLAMP (2.3.1).
inline result<void> infer_results(tosa::clamp, const args<tosa::clamp>& a, inference& out) {
    const bool ordered = a.min_val.is_floating() || a.max_val.is_floating()
                             ? a.min_val.to_double() <= a.max_val.to_double()
                             : a.min_val.to_int() <= a.max_val.to_int();
    if (!ordered) return tosa_rules::refuse("clamp", "min_val is above max_val, or one is not a number");
    return add_result(out, inference::of(a.input));
}
/// Elementwise ops of two operands (2.4).
template <tosa::plain_binary Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return tosa_rules::infer_binary(tosa_rules::short_name<Op>, a.input1, a.input2,
                                    inference::of(a.input1).dtype, out);
}
/// Comparisons (2.7).
template <one_of<tosa::comparison_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return tosa_rules::infer_binary(tosa_rules::short_name<Op>, a.input1, a.input2, dtype::boolean, out);
}
/// MUL (2.4.14): the product of integers is INT32.
inline result<void> infer_results(tosa::mul, const args<tosa::mul>& a, inference& out) {
    HEADRACE_TRY(tosa_rules::require_single("mul", "shift", a.shift));
    const dtype type = inference::of(a.input1).dtype;
    return tosa_rules::infer_binary("mul", a.input1, a.input2, is_integral(type) ? dtype::int32 : type, out);
}
/// NEGATE (2.5.11).
inline result<void> infer_results(tosa::negate, const args<tosa::negate>& a, inference& out) {
    HEADRACE_TRY(tosa_rules::require_single("negate", "input1_zp", a.input1_zp));
    HEADRACE_TRY(tosa_rules::require_single("negate", "output_zp", a.output_zp));
    return add_result(out, inference::of(a.input1));
}
/// TABLE (2.4.17): 256 entries for INT8; 513 for INT16, whose results are interpolated to INT32.
inline result<void> infer_results(tosa::table, const args<tosa::table>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input1);
    const int_list& entries = inference::of(a.table).shape;
    const std::int64_t wanted = input.dtype == dtype::int16 ? 513 : 256;
    if (entries.size() != 1 || entries[0] != wanted) {
        return tosa_rules::refuse("table",
                                  {"the table ", shape_text(entries), " must have shape [", wanted, "]"});
    }
    return add_result(out, input.dtype == dtype::int16 ? dtype::int32 : input.dtype, input);
}
/// SELECT (2.6.1).
inline result<void> infer_results(tosa::select, const args<tosa::select>& a, inference& out) {
    HEADRACE_TRY(chosen, tosa_rules::broadcast_operands("select", a.input2, a.input3));
    HEADRACE_TRY(shape, tosa_rules::broadcast_equal_ranks("select", chosen, inference::of(a.input1).shape));
    return add_result(out, inference::of(a.input2).dtype, shape);
}

// --- reductions ------------------------------------------------------------------------

/// Reductions keep their axis, with size 1 (2.8). ARGMAX does not, see below.
template <op_where<tosa::dialect, trait::reduction> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(axis, tosa_rules::axis_in(tosa_rules::short_name<Op>, a.axis, a.input));
    shape_builder shape(inference::of(a.input).shape);
    shape[axis] = 1;
    return add_result(out, inference::of(a.input).dtype, shape);
}
/// ARGMAX drops its axis (2.2.1).
inline result<void> infer_results(tosa::argmax, const args<tosa::argmax>& a, inference& out) {
    HEADRACE_TRY(axis, tosa_rules::axis_in("argmax", a.axis, a.input));
    shape_builder shape(inference::of(a.input).shape);
    shape.erase(axis);
    return add_result(out, dtype::int32, shape);
}

// --- layout ----------------------------------------------------------------------------

/// CONCAT (2.9.1).
inline result<void> infer_results(tosa::concat, const args<tosa::concat>& a, inference& out) {
    if (a.input1.empty()) return tosa_rules::refuse("concat", "has no operands");
    const tensor_meta& first = inference::of(a.input1[0]);
    HEADRACE_TRY(axis, tosa_rules::axis_in("concat", a.axis, a.input1[0]));
    shape_builder shape(first.shape);
    shape[axis] = 0;
    for (const value v : a.input1) {
        const tensor_meta& part = inference::of(v);
        bool fits = part.dtype == first.dtype && part.rank() == first.rank();
        for (std::size_t i = 0; fits && i != part.rank(); ++i)
            fits = i == axis || part.shape[i] == first.shape[i];
        if (!fits) {
            return tosa_rules::refuse(
                "concat", {shape_text(part.shape), " of ", name_of(part.dtype), " does not fit ",
                           shape_text(first.shape), " of ", name_of(first.dtype), " on axis ", axis});
        }
        shape[axis] = saturating_add(shape[axis], part.shape[axis]);
    }
    return add_result(out, first.dtype, shape);
}
/// PAD (2.9.2): padding is [before, after] for each axis.
inline result<void> infer_results(tosa::pad, const args<tosa::pad>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input1);
    HEADRACE_TRY(padding, tosa_rules::shape_operand("pad", "padding", a.padding));
    HEADRACE_TRY(tosa_rules::require_items("pad", "padding", *padding, 2 * input.rank(), 0));
    HEADRACE_TRY(tosa_rules::require_single("pad", "pad_const", a.pad_const));
    shape_builder shape;
    for (std::size_t i = 0; i != input.rank(); ++i) {
        shape.push_back(
            saturating_add(input.shape[i], saturating_add((*padding)[2 * i], (*padding)[2 * i + 1])));
    }
    return add_result(out, input.dtype, shape);
}
/// RESHAPE (2.9.3).
inline result<void> infer_results(tosa::reshape, const args<tosa::reshape>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input1);
    HEADRACE_TRY(shape, tosa_rules::shape_operand("reshape", "shape", a.shape));
    const bool negative = any_of(*shape, [](std::int64_t size) { return size < 0; });
    if (negative || element_count(*shape) != element_count(input.shape)) {
        return tosa_rules::refuse("reshape",
                                  {"cannot make ", shape_text(*shape), " of ", shape_text(input.shape)});
    }
    return add_result(out, input.dtype, *shape);
}
/// REVERSE (2.9.4).
inline result<void> infer_results(tosa::reverse, const args<tosa::reverse>& a, inference& out) {
    HEADRACE_TRY(tosa_rules::axis_in("reverse", a.axis, a.input1));
    return add_result(out, inference::of(a.input1));
}
/// SLICE (2.9.5): takes start and size, not an end.
inline result<void> infer_results(tosa::slice, const args<tosa::slice>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input1);
    HEADRACE_TRY(start, tosa_rules::shape_operand("slice", "start", a.start));
    HEADRACE_TRY(size, tosa_rules::shape_operand("slice", "size", a.size));
    HEADRACE_TRY(tosa_rules::require_items("slice", "start", *start, input.rank(), 0));
    HEADRACE_TRY(tosa_rules::require_items("slice", "size", *size, input.rank(), 1));
    for (std::size_t i = 0; i != input.rank(); ++i) {
        if (saturating_add((*start)[i], (*size)[i]) > input.shape[i]) {
            return tosa_rules::refuse("slice", {"start ", shape_text(*start), " with size ",
                                                shape_text(*size), " exceeds ", shape_text(input.shape)});
        }
    }
    return add_result(out, input.dtype, *size);
}
/// TILE (2.9.6).
inline result<void> infer_results(tosa::tile, const args<tosa::tile>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input1);
    HEADRACE_TRY(multiples, tosa_rules::shape_operand("tile", "multiples", a.multiples));
    HEADRACE_TRY(tosa_rules::require_items("tile", "multiples", *multiples, input.rank(), 1));
    shape_builder shape;
    for (std::size_t i = 0; i != input.rank(); ++i) {
        shape.push_back(saturating_mul(input.shape[i], (*multiples)[i]));
    }
    return add_result(out, input.dtype, shape);
}
/// TRANSPOSE (2.9.7): axis i of the result is axis perms[i] of the operand.
inline result<void> infer_results(tosa::transpose, const args<tosa::transpose>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input1);
    HEADRACE_TRY(tosa_rules::require_items("transpose", "perms", a.perms, input.rank(), 0));
    shape_builder shape;
    for (std::size_t i = 0; i != input.rank(); ++i) {
        if (a.perms[i] >= static_cast<std::int64_t>(input.rank()) ||
            contains(sizes(a.perms).first(i), a.perms[i])) {
            return tosa_rules::refuse("transpose", {"perms ", shape_text(a.perms), " is not a permutation"});
        }
        shape.push_back(input.shape[static_cast<std::size_t>(a.perms[i])]);
    }
    return add_result(out, input.dtype, shape);
}

/// GATHER (2.10.1): values [N, K, C] by indices [N, W] give [N, W, C].
inline result<void> infer_results(tosa::gather, const args<tosa::gather>& a, inference& out) {
    HEADRACE_TRY(tosa_rules::require_rank_of("gather", "values", a.values, 3));
    HEADRACE_TRY(tosa_rules::require_rank_of("gather", "indices", a.indices, 2));
    const tensor_meta& values = inference::of(a.values);
    const int_list& indices = inference::of(a.indices).shape;
    if (values.shape[0] != indices[0]) {
        return tosa_rules::refuse("gather", {"batches of values ", shape_text(values.shape), " and indices ",
                                             shape_text(indices), " differ"});
    }
    return add_result(out, values.dtype, {indices[0], indices[1], values.shape[2]});
}
/// SCATTER (2.10.2): input [N, W, C] goes into values [N, K, C], each position at most once.
inline result<void> infer_results(tosa::scatter, const args<tosa::scatter>& a, inference& out) {
    HEADRACE_TRY(tosa_rules::require_rank_of("scatter", "values_in", a.values_in, 3));
    HEADRACE_TRY(tosa_rules::require_rank_of("scatter", "indices", a.indices, 2));
    HEADRACE_TRY(tosa_rules::require_rank_of("scatter", "input", a.input, 3));
    const tensor_meta& values = inference::of(a.values_in);
    const int_list& indices = inference::of(a.indices).shape;
    const int_list& input = inference::of(a.input).shape;
    const bool fits = values.shape[0] == indices[0] && input[0] == indices[0] && input[1] == indices[1] &&
                      input[2] == values.shape[2] && values.shape[1] >= indices[1];
    if (!fits) {
        return tosa_rules::refuse("scatter",
                                  {"input ", shape_text(input), " at indices ", shape_text(indices),
                                   " does not fit into ", shape_text(values.shape)});
    }
    return add_result(out, values);
}

// --- conversions, control flow, data ---------------------------------------------------

/// CAST (2.12.1).
inline result<void> infer_results(tosa::cast, const args<tosa::cast>& a, inference& out) {
    if (a.output_type == dtype::unknown) return tosa_rules::refuse("cast", "has no output_type");
    return add_result(out, a.output_type, inference::of(a.input).shape);
}
/// RESCALE (2.12.2): the result's type is that of output_zp.
inline result<void> infer_results(tosa::rescale, const args<tosa::rescale>& a, inference& out) {
    constexpr std::string_view op = "rescale";
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(tosa_rules::require_single(op, "input_zp", a.input_zp));
    HEADRACE_TRY(tosa_rules::require_single(op, "output_zp", a.output_zp));
    if (a.per_channel && input.rank() == 0) return tosa_rules::refuse(op, "a scalar has no channels");
    const std::int64_t scales = a.per_channel ? input.shape.back() : 1;
    for (const value v : {a.multiplier, a.shift}) {
        const int_list& shape = inference::of(v).shape;
        if (shape.size() != 1 || shape[0] != scales) {
            return tosa_rules::refuse(
                op, {"multiplier and shift must have shape [", scales, "], not ", shape_text(shape)});
        }
    }
    if (inference::of(a.multiplier).dtype != (a.scale32 ? dtype::int32 : dtype::int16)) {
        return tosa_rules::refuse(op, "multiplier must be int32 with scale32, and int16 without it");
    }
    if (a.scale32 && input.dtype == dtype::int48)
        return tosa_rules::refuse(op, "int48 does not go with scale32");
    if (!a.scale32 && a.rounding_mode == rounding_mode::double_round) {
        return tosa_rules::refuse(op, "double_round goes with scale32 only");
    }
    if (a.input_unsigned && a.output_unsigned) {
        return tosa_rules::refuse(op, "input and output cannot both be unsigned");
    }
    return add_result(out, inference::of(a.output_zp).dtype, input);
}

/// COND_IF (2.15.1): both branches have the same results.
inline result<void> infer_results(tosa::cond_if, const args<tosa::cond_if>& a, inference& out) {
    if (a.then_graph == nullptr || a.else_graph == nullptr)
        return tosa_rules::refuse("cond_if", "a branch is missing");
    if (element_count(inference::of(a.condition).shape) != 1) {
        return tosa_rules::refuse("cond_if", "the condition has more than one element");
    }
    const list<value> then_values = a.then_graph->outputs();
    const list<value> else_values = a.else_graph->outputs();
    bool same = then_values.size() == else_values.size();
    for (std::size_t i = 0; same && i != then_values.size(); ++i) {
        const tensor_meta* meta = meta_of(then_values[i]);
        const tensor_meta* other = meta_of(else_values[i]);
        if (meta == nullptr || other == nullptr)
            return tosa_rules::refuse("cond_if", "a branch lacks metadata");
        same = *meta == *other;
        if (same) {
            HEADRACE_TRY(add_result(out, *meta));
        }
    }
    if (!same) return tosa_rules::refuse("cond_if", "the branches give different types or shapes");
    return {};
}
/// WHILE_LOOP (2.15.2): carried values keep type and shape.
inline result<void> infer_results(tosa::while_loop, const args<tosa::while_loop>& a, inference& out) {
    for (const value v : a.inputs) {
        HEADRACE_TRY(add_result(out, inference::of(v)));
    }
    return {};
}

/// VARIABLE and VARIABLE_WRITE have no results (2.16).
inline result<void> infer_results(tosa::variable, const args<tosa::variable>&, inference&) { return {}; }
inline result<void> infer_results(tosa::variable_write, const args<tosa::variable_write>&, inference&) {
    return {};
}
inline result<void> infer_results(tosa::variable_read, const args<tosa::variable_read>& a, inference& out) {
    return add_result(out, a.output_type, a.shape);
}
/// CONST_SHAPE (2.17.1).
inline result<void> infer_results(tosa::const_shape, const args<tosa::const_shape>& a, inference& out) {
    out.add(dtype::shape, {static_cast<std::int64_t>(a.values.size())});
    return {};
}

}  // namespace headrace

// ---- headrace/ir/regions.hpp ----

namespace headrace {

/// Calls `f(const field_info&, graph*)` for each graph argument of a node, null or not; skips absent ones.
template <class F>
void for_each_region(const node& n, F&& f) {
    for (const field_info& field : *n.op) {
        if (field.kind != field_kind::region) continue;
        const std::byte* const at = static_cast<const std::byte*>(n.arguments) + field.offset;
        if (!field.optional) {
            f(field, *reinterpret_cast<graph* const*>(at));
        } else if (const auto& region = *reinterpret_cast<const std::optional<graph*>*>(at)) {
            f(field, *region);
        }
    }
}

/// True if an op has graphs among its arguments.
[[nodiscard]] inline bool holds_regions(const op_info& op) {
    return any_of(op, [](const field_info& f) { return f.kind == field_kind::region; });
}

/// Returns the regions that nodes of `g` hold, each once, in the order of these nodes. A region whose node
/// was erased still belongs to the graph, but is dead.
[[nodiscard]] inline pmr_vector<graph*> live_regions(const graph& g) {
    pmr_vector<graph*> live;
    if (g.regions().empty()) return live;
    for (const node& n : g.nodes()) {
        for_each_region(n, [&](const field_info&, graph* region) {
            if (region != nullptr) live.push_back(region);
        });
    }
    pmr_vector<graph*> met(std::bit_ceil(2 * live.size() + 1));
    std::size_t kept = 0;
    for (graph* region : live) {
        graph*& known =
            met[find_slot(met.size(), reinterpret_cast<std::uintptr_t>(region) / sizeof(graph),
                          [&](std::size_t at) { return met[at] == nullptr || met[at] == region; })];
        if (known == nullptr) live[kept++] = known = region;
    }
    live.resize(kept);
    return live;
}

/// Calls `f(graph&)` for `g` and then for each graph nested in it, at any depth.
template <class F>
void for_each_graph(graph& g, F&& f) {
    f(g);
    for (graph* region : live_regions(g)) for_each_graph(*region, f);
}
template <class F>
void for_each_graph(const graph& g, F&& f) {
    f(g);
    for (const graph* region : live_regions(g)) for_each_graph(*region, f);
}

}  // namespace headrace

// ---- headrace/base/type_name.hpp ----

namespace headrace {

namespace detail {

template <class T>
constexpr std::string_view qualified_type_name() {
    // g++: "... [with T = a::b; std::string_view = ...]", clang: "... [T = a::b]"
    std::string_view text = __PRETTY_FUNCTION__;
    text.remove_prefix(text.find("T = ") + 4);
    int depth = 0;
    for (std::size_t i = 0; i != text.size(); ++i) {
        if (text[i] == '<') ++depth;
        if (text[i] == '>') --depth;
        if (depth == 0 && (text[i] == ';' || text[i] == ']')) return text.substr(0, i);
    }
    return text;
}

constexpr std::string_view unqualified(std::string_view name) {
    const std::size_t arguments = name.find('<');
    const std::size_t colon = name.substr(0, arguments).rfind("::");
    return colon == std::string_view::npos ? name : name.substr(colon + 2);
}

}  // namespace detail

/// "decompose_addmm" for my::passes::decompose_addmm; template arguments are kept as written.
template <class T>
inline constexpr std::string_view type_name = detail::unqualified(detail::qualified_type_name<T>());

}  // namespace headrace

// ---- headrace/base/float_format.hpp ----

namespace headrace {

/// The field widths of a binary floating-point format. A format without infinities saturates.
struct float_format {
    int exponent_bits;
    int mantissa_bits;
    bool infinities;
};
[[nodiscard]] constexpr float_format format_of(dtype type) {
    switch (type) {
        case dtype::float8_e4m3:
            return {4, 3, false};
        case dtype::float8_e5m2:
            return {5, 2, true};
        case dtype::float16:
            return {5, 10, true};
        case dtype::bfloat16:
            return {8, 7, true};
        default:
            return {8, 23, true};
    }
}

// Built-in functions are used because <cmath> takes a twentieth of the compile time of headrace.hpp.

/// Returns the bits of the nearest number of that format, ties to even.
[[nodiscard]] inline std::uint32_t encode_float(double number, float_format f) {
    const std::uint32_t sign = __builtin_signbit(number) ? 1U << (f.exponent_bits + f.mantissa_bits) : 0U;
    const std::uint32_t infinity = ((1U << f.exponent_bits) - 1) << f.mantissa_bits;
    const std::uint32_t largest = f.infinities ? infinity : (infinity | ((1U << f.mantissa_bits) - 1)) - 1;
    if (__builtin_isnan(number)) return f.infinities ? infinity | (1U << (f.mantissa_bits - 1)) : largest + 1;
    if (__builtin_isinf(number)) return sign | largest;
    if (number == 0) return sign;
    const int bias = (1 << (f.exponent_bits - 1)) - 1;
    int exponent = 0;
    __builtin_frexp(number, &exponent);
    exponent = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
    // Adding the mantissa with its hidden bit carries into the exponent, which is therefore one too small
    // here.
    const double mantissa =
        __builtin_nearbyint(__builtin_ldexp(__builtin_fabs(number), f.mantissa_bits - exponent));
    const auto bits = static_cast<std::uint64_t>(mantissa) +
                      (static_cast<std::uint64_t>(exponent + bias - 1) << f.mantissa_bits);
    return sign | (bits > largest ? largest : static_cast<std::uint32_t>(bits));
}

[[nodiscard]] inline double decode_float(std::uint32_t bits, float_format f) {
    const std::uint32_t fraction_mask = (1U << f.mantissa_bits) - 1;
    const std::uint32_t exponent_mask = (1U << f.exponent_bits) - 1;
    const std::uint32_t exponent = bits >> f.mantissa_bits & exponent_mask;
    const std::uint32_t fraction = bits & fraction_mask;
    const double sign = (bits >> (f.exponent_bits + f.mantissa_bits) & 1) != 0 ? -1.0 : 1.0;
    const int bias = (1 << (f.exponent_bits - 1)) - 1;
    if (exponent == exponent_mask && (f.infinities || fraction == fraction_mask)) {
        return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                             : sign * std::numeric_limits<double>::infinity();
    }
    if (exponent == 0) return sign * __builtin_ldexp(fraction, 1 - bias - f.mantissa_bits);
    return sign * __builtin_ldexp(fraction + (1U << f.mantissa_bits),
                                  static_cast<int>(exponent) - bias - f.mantissa_bits);
}

}  // namespace headrace

// ---- headrace/base/function_ref.hpp ----

namespace headrace {

/// A parameter that refers to a callable, for functions that are not templates; std::function_ref in C++26.
/// The callable must outlive the call.
template <class Signature>
class function_ref;
template <class Result, class... Arguments>
class function_ref<Result(Arguments...)> {
public:
    template <class F>
        requires(!std::is_same_v<std::remove_cvref_t<F>, function_ref> &&
                 !std::is_function_v<std::remove_reference_t<F>> &&
                 std::is_invocable_r_v<Result, F&, Arguments...>)
    function_ref(F&& f)  // implicit, so that callables convert when passed
        : callable_(const_cast<void*>(static_cast<const void*>(&f))),
          call_([](void* callable, Arguments... arguments) -> Result {
              return (*static_cast<std::remove_reference_t<F>*>(callable))(
                  static_cast<Arguments&&>(arguments)...);
          }) {}

    Result operator()(Arguments... arguments) const {
        return call_(callable_, static_cast<Arguments&&>(arguments)...);
    }

private:
    void* callable_;
    Result (*call_)(void*, Arguments...);
};

}  // namespace headrace

// ---- headrace/pass/pass_context.hpp ----

namespace headrace {

/// The reason why a node cannot be lowered, in words for the model's author.
struct diagnostic {
    std::pmr::string node;  ///< its name in the exported program
    std::pmr::string op;
    std::pmr::string reason;  ///< the rule that it breaks, and the fix if known
    error_kind kind = error_kind::unsupported;
    std::pmr::string source{};  ///< "net.py:42", the line of the model's source, or empty
};

/// Returns "net.py:42: conv2d (aten.conv2d.default): reason", for an error.
[[nodiscard]] std::pmr::string diagnostic_text(const diagnostic& d);

/// Shared by the passes of one run. It collects refusals, so that all of them can be reported at once.
class pass_context {
public:
    /// Infers a node whose op is known only at run time. Without it, a node without `val` is an error.
    using node_inference = result<void> (*)(const node& n, inference& out);

    explicit pass_context(node_inference rules = nullptr) : infer_(rules) {}

    /// Records a refusal. A fault of a pass next to one is not reported: it may only be the consequence.
    void report(const node& n, std::string_view reason, error_kind kind = error_kind::unsupported);
    [[nodiscard]] const pmr_vector<diagnostic>& diagnostics() const { return diagnostics_; }

    /// True if the retracing driver copies nodes that have their `val` and are not targets; if false, for
    /// measurements, it infers each of them.
    [[nodiscard]] bool copies_fast() const { return copies_fast_; }
    void copy_fast(bool on) { copies_fast_ = on; }

    /// True if passes run regardless of their skip tests: for measurements, and for what tests do not see.
    [[nodiscard]] bool forces_passes() const { return forces_passes_; }
    void force_passes(bool on) { forces_passes_ = on; }

    /// Sets a cache for inferences, such as a headrace::dispatch_cache; null for none, which is best if the
    /// rules are faster than a lookup.
    void use_cache(inference_cache* cache) { cache_ = cache; }

    /// Calls `f(observer, node)` for each node that a pass emits, even if the pass erases it again.
    void observe_emissions(void (*f)(void* observer, const node& n), void* observer) {
        on_emission_ = f;
        observer_ = observer;
    }
    void emitted(const node& n) const {
        if (on_emission_ != nullptr) on_emission_(observer_, n);
    }

    [[nodiscard]] result<void> infer(const node& n, inference& out) const;

private:
    static constexpr std::uint32_t free = 0;

    // Returns the slot in places_ that has that diagnostic, or where it would go.
    std::uint32_t& place_of(const diagnostic& d);
    void grow();

    node_inference infer_;
    inference_cache* cache_ = nullptr;
    bool copies_fast_ = true;
    bool forces_passes_ = false;
    void (*on_emission_)(void*, const node&) = nullptr;
    void* observer_ = nullptr;
    pmr_vector<diagnostic> diagnostics_;
    // Index of the diagnostics, to report each once: their numbers from 1, by hash, at least half of the
    // slots free. std::unordered_set would be a twentieth of the instantiations in a unit that includes this.
    pmr_vector<std::uint32_t> places_;
};

}  // namespace headrace

// ---- headrace/pass/pass_context_definition.hpp ----

namespace headrace {

HEADRACE_INLINE std::pmr::string diagnostic_text(const diagnostic& d) {
    const std::string_view behind = d.source.empty() ? "" : ": ";
    const bool is_named = !d.node.empty();
    return text_of({d.source, behind, printable(d.node), is_named ? " (" : "", printable(d.op),
                    is_named ? "): " : ": ", printable(d.reason, max_printed_message)});
}

HEADRACE_INLINE void pass_context::report(const node& n, std::string_view reason, error_kind kind) {
    if (kind == error_kind::invalid && !diagnostics_.empty()) return;
    const node& named = nearest_named(n);
    const auto* origin = named.find_annotation<provenance>();
    diagnostic d{std::pmr::string(origin_name(named)),
                 std::pmr::string(origin != nullptr ? origin->op_name : op_name(named)),
                 text_of({relation_text(n, named), reason}), kind, source_line(named)};
    if (2 * (diagnostics_.size() + 1) > places_.size()) grow();
    std::uint32_t& place = place_of(d);
    if (place != free) return;
    diagnostics_.push_back(std::move(d));
    place = static_cast<std::uint32_t>(diagnostics_.size());
}

HEADRACE_INLINE std::uint32_t& pass_context::place_of(const diagnostic& d) {
    const std::hash<std::string_view> hash;
    return places_[find_slot(places_.size(), hash(d.node) ^ 31 * hash(d.reason), [&](std::size_t at) {
        if (places_[at] == free) return true;
        const diagnostic& other = diagnostics_[places_[at] - 1];
        return other.node == d.node && other.reason == d.reason && other.op == d.op;
    })];
}

HEADRACE_INLINE void pass_context::grow() {
    places_.assign(std::max<std::size_t>(64, 2 * places_.size()), free);
    std::uint32_t count = 0;
    for (const diagnostic& d : diagnostics_) place_of(d) = ++count;
}

HEADRACE_INLINE result<void> pass_context::infer(const node& n, inference& out) const {
    if (infer_ == nullptr) return invalid({message_prefix(n), "no `val` and no inference to make one"});
    return cache_ == nullptr ? infer_(n, out) : cache_->infer(n, out, infer_);
}

}  // namespace headrace

// ---- headrace/pass/emit.hpp ----

namespace headrace {

namespace detail {
/// Writes `number` as one element of that type, little-endian; returns false if the type has no such form.
bool store_element(scalar number, headrace::dtype type, std::byte* at);
struct expression_access;
}  // namespace detail

/// The results of a node whose number depends on its arguments: a tuple of a length known at run time.
class value_list {
public:
    value_list() = default;
    value_list(std::initializer_list<value> items) : items_(items) {}
    [[gnu::noinline]] void push_back(value v) { items_.push_back(v); }
    [[nodiscard]] std::size_t size() const { return items_.size(); }
    [[nodiscard]] const value* data() const { return items_.data(); }
    [[nodiscard]] value operator[](std::size_t i) const { return items_[i]; }
    [[nodiscard]] auto begin() const { return items_.begin(); }
    [[nodiscard]] auto end() const { return items_.end(); }

private:
    pmr_vector<value> items_;
};

/// Returns the first `count` results of a node, or all; none if the node could not be made.
[[nodiscard]] value_list results_of(node* n, std::size_t count = SIZE_MAX);

/// Limits of the nodes and data that a rewrite of one node may create. A file of a few bytes can contain any
/// number, so work is bounded by these limits instead of by available memory and time.
inline constexpr std::int64_t max_unrolled_nodes = std::int64_t{1} << 16;
inline constexpr std::uint64_t max_computed_bytes = std::uint64_t{1} << 28;  ///< of a constant
inline constexpr std::uint64_t max_data_bytes = std::uint64_t{1} << 32;      ///< of all that a graph owns

/// Nodes without operands, shared within a run of a pass, by hash. Each slot keeps the two newest nodes.
class shared_nodes {
public:
    template <class IsWanted>
    [[nodiscard]] node* find(std::uint64_t hash, IsWanted&& is_wanted) const {
        for (node* n : places_[place_of(hash)].nodes) {
            if (n != nullptr && is_wanted(*n)) return n;
        }
        return nullptr;
    }
    void keep(std::uint64_t hash, node* n) {
        place& at = places_[place_of(hash)];
        at.nodes[1] = at.nodes[0];
        at.nodes[0] = n;
    }

private:
    struct place {
        node* nodes[2]{};
    };
    [[nodiscard]] static std::size_t place_of(std::uint64_t hash) {
        return static_cast<std::size_t>(hash * 0x9e3779b97f4a7c15U >> 59U);
    }
    place places_[32];
};

/// The state of rewriting one node: the insertion point, and whether it has failed. Emitters are handles of
/// it.
class emission {
    friend class emitter;

public:
    /// For nodes of `g` in that context; `begin` sets the node.
    emission(graph& g, pass_context& context) : graph_(&g), context_(&context), inference_(g.arena()) {}
    /// New nodes go before `before`, and inherit the annotations of `current`.
    emission(graph& g, node* current, node* before, pass_context& context) : emission(g, context) {
        begin(g, current, before);
    }
    emission(const emission&) = delete;
    emission& operator=(const emission&) = delete;

    /// Continues with another node, in this graph or in one with the same arena.
    void begin(graph& g, node* current, node* before) {
        graph_ = &g;
        current_ = current;
        before_ = before;
        failed_ = false;
        made_ = 0;
    }

private:
    graph* graph_;
    node* current_ = nullptr;
    node* before_ = nullptr;
    pass_context* context_;
    inference inference_;
    bool failed_ = false;
    std::int64_t made_ = 0;
    shared_nodes shared_;
};

/// The part of headrace::emit that is independent of the ops that may be emitted. Failures are sticky: after
/// one, every new value is empty and the current node is kept, so handlers need not check each step. An
/// emitter is a pointer: copies insert nodes at the same place and fail together.
class emitter {
    friend struct detail::expression_access;

public:
    constexpr explicit emitter(emission& made) : at_(&made) {}

    /// The node that is being rewritten.
    [[nodiscard]] const node& current() const { return *at_->current_; }
    [[nodiscard]] graph& owner() const { return *at_->graph_; }
    [[nodiscard]] const target_spec& target() const { return at_->graph_->target(); }

    /// Returns the metadata of a value; `dtype::unknown` if it is empty after a failure, or has lost its
    /// `val`.
    [[nodiscard]] const tensor_meta& meta(value v) const {
        const tensor_meta* known = v ? meta_of(v) : nullptr;
        return known != nullptr ? *known : nothing();
    }
    [[nodiscard]] headrace::dtype dtype(value v) const { return meta(v).dtype; }
    [[nodiscard]] const int_list& shape(value v) const { return meta(v).shape; }
    [[nodiscard]] std::size_t rank(value v) const { return meta(v).rank(); }
    /// Returns the metadata of the results to be replaced.
    [[nodiscard]] const tensor_meta& result_meta(std::uint32_t i = 0) const {
        return meta({at_->current_, i});
    }

    /// Refuses the current node: `reason` is the rule that it breaks. Returns an empty value to return on.
    value unsupported(std::string_view reason);
    value unsupported(std::initializer_list<text_part> reason);
    value fail(error e);
    [[nodiscard]] bool failed() const { return at_->failed_; }

    /// True if a rewrite may repeat nodes `steps` times; above the limit, the node is refused.
    bool may_unroll(std::int64_t steps);
    /// True if a constant of that many elements may be computed; above the limit, the node is refused.
    bool may_compute(std::int64_t elements, headrace::dtype type);

    /// Copies a node of the graph with other operands, in the order of its own; calls `change(tensor_meta&)`
    /// for the metadata of each result. For passes that move ops: an op that is already in the graph need not
    /// be in `produces`. Returns null after a failure, or if an operand is empty.
    template <class Change>
    node* clone(const node& n, std::span<const value> operands, Change&& change) {
        for (const value v : operands) at_->failed_ = failed() || !v;
        if (failed()) return nullptr;
        graph& g = owner();
        node& copy = g.create(*n.op, n.arguments, n.result_count, at_->before_);
        for (std::size_t i = 0; i != operands.size(); ++i) g.set_operand(copy.operands[i], operands[i]);
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            tensor_meta meta = this->meta({const_cast<node*>(&n), i});
            change(meta);
            g.set_meta(copy.result(i), meta);
        }
        g.inherit_annotations(copy, n);
        return &copy;
    }

    /// Creates a constant of that type and shape; `fill` writes its elements, row-major.
    value constant(const tensor_meta& meta, function_ref<void(std::span<std::byte>)> fill);
    /// Creates a constant from elements in memory; T is the storage type of the dtype.
    template <class T>
    value constant(headrace::dtype type, std::span<const std::int64_t> shape, std::span<const T> elements) {
        if (failed()) return {};
        return constant({type, int_list(shape), {}}, [&](std::span<std::byte> data) {
            if (!elements.empty()) std::memcpy(data.data(), elements.data(), elements.size_bytes());
        });
    }
    /// Creates a constant whose element i, in row-major order, is `number(i)`.
    value constant_of(headrace::dtype type, std::span<const std::int64_t> shape,
                      function_ref<scalar(std::size_t)> number);
    /// Creates a constant with all elements equal to `number`, of shape (1, …, 1), to broadcast with a tensor
    /// of that rank. A run of a pass shares these, if they are created in the order of their users.
    value splat(scalar number, headrace::dtype type, std::size_t rank);
    value splat(scalar number, headrace::dtype type, std::span<const std::int64_t> shape);
    /// Returns an equal node without operands that `make()` created in this run of the pass, if it comes
    /// before new nodes; else calls `make()`. `is_same(node)` compares, and equal nodes must have equal
    /// hashes. Sharing pays: a network has few shapes and zero points, and each node costs time in all later
    /// passes.
    value shared(std::uint64_t hash, function_ref<bool(const node&)> is_same, function_ref<value()> make);

protected:
    /// Adds a node whose metadata is inferred by its op's own rule.
    template <op_tag Op>
    node* add(const args<Op>& a) {
        return add_by(detail::rule_of_op<Op>(), info_of<Op>, &a);
    }
    /// Adds a node of an op known only at run time, with `results` results; the context infers its metadata.
    node* add(const op_info& op, const void* arguments, std::size_t results);

    /// The node whose annotations new nodes inherit; initially the node being rewritten.
    [[nodiscard]] node*& current_node() { return at_->current_; }

private:
    static const tensor_meta& nothing() {
        static constexpr tensor_meta empty{};
        return empty;
    }
    // Like may_compute, but also refuses types whose elements are not stored as numbers.
    bool may_store(std::int64_t elements, headrace::dtype type);
    // Targets have no empty tensors: if the current node has one, the pass is not at fault.
    void cannot_make(const op_info& op, const error& why);
    node* add_by(inference_rule rule, const op_info& op, const void* arguments);
    void annotate_inferred(node& n);
    // Called before each node is made, and counts nodes. An empty operand comes from a failure that was
    // already reported; for an operand without `val`, a pass has lost it.
    bool operands_sound(const op_info& op, const void* arguments);

    emission* at_;
};

namespace detail {

/// Calls `f(value)` for each tensor operand in an argument struct, and stops if it returns false.
template <class F>
bool all_operands(const op_info& op, const void* arguments, F&& f) {
    const auto* bytes = static_cast<const std::byte*>(arguments);
    const auto in_list = [&](const auto& items) {
        for (const auto& v : items) {
            if (!f(v)) return false;
        }
        return true;
    };
    for (const field_info& field : op) {
        const std::byte* at = bytes + field.offset;
        bool sound = true;
        if (field.kind == field_kind::tensor && !field.optional) {
            sound = f(*reinterpret_cast<const value*>(at));
        } else if (field.kind == field_kind::tensor) {
            const auto& v = *reinterpret_cast<const std::optional<value>*>(at);
            sound = !v || f(*v);
        } else if (field.kind == field_kind::tensors) {
            sound = in_list(*reinterpret_cast<const list<value>*>(at));
        } else if (field.kind == field_kind::optional_tensors) {
            for (const auto& v : *reinterpret_cast<const list<std::optional<value>>*>(at))
                sound = sound && (!v || f(*v));
        }
        if (!sound) return false;
    }
    return true;
}

}  // namespace detail

/// Names an op that a pass emits without listing it in `produces`, in the compile error.
template <class Op, class Produces>
struct not_produced {};
template <class Diagnosis>
inline constexpr bool only_emits_what_it_produces = true;
template <class Op, class Produces>
inline constexpr bool only_emits_what_it_produces<not_produced<Op, Produces>> = false;

/// Names an op that a pass emits although it has no inference, in the compile error.
template <class Op>
struct no_inference {};
template <class Diagnosis>
inline constexpr bool results_are_inferred = true;
template <class Op>
inline constexpr bool results_are_inferred<no_inference<Op>> = false;

/// Names an op that a pass calls with members of the wrong types or number, in the compile error.
template <class Op, class... Types>
struct no_such_members {};
template <class Diagnosis>
inline constexpr bool members_fit = true;
template <class Op, class... Types>
inline constexpr bool members_fit<no_such_members<Op, Types...>> = false;

namespace detail {
template <class Some, class All>
struct first_not_listed;
template <class All>
struct first_not_listed<ops<>, All> {
    using type = void;
};
template <class Op, class... Ops, class All>
struct first_not_listed<ops<Op, Ops...>, All>
    : std::conditional_t<(listed<Op, All> && ... && listed<Ops, All>), first_not_listed<ops<>, All>,
                         std::conditional_t<listed<Op, All>, first_not_listed<ops<Ops...>, All>,
                                            std::type_identity<not_produced<Op, All>>>> {};
}  // namespace detail

/// Makes nodes for a handler, before the node that it rewrites; only ops of `Produces` (an ops<...> list)
/// compile. Metadata is inferred; annotations are inherited from the current node.
template <class Produces>
class emit : public emitter {
public:
    using emitter::emitter;

    /// For code in an expression, whose type states the ops that it emits.
    constexpr explicit emit(const emitter& unchecked) : emitter(unchecked) {}
    /// Converts the emitter of a pass for a function that emits fewer ops and is shared by several passes.
    template <class Wider>
    constexpr emit(const emit<Wider>& wider) : emitter(wider) {
        static_assert(only_emits_what_it_produces<typename detail::first_not_listed<Produces, Wider>::type>,
                      "emit: a called function emits an op that is not in `produces`; see not_produced<Op, "
                      "Produces>, add it");
    }

    // Both functions repeat the assertions: a call level between them and the handler would add three lines
    // to the diagnostic.

    /// Adds a node and returns its first result: `e.make<aten::relu>({.self = x})` or, with the members in
    /// order, `e.make<aten::add_tensor>(x, y)`.
    template <op_tag Op, class First = args<Op>, class... More>
    value make(const First& first, const More&... more) {
        static_assert(listed_in_its_dialect<Op>, "op: not in its dialect's list; add it there");
        static_assert(
            only_emits_what_it_produces<emission<Op>>,
            "emit: op is not in the pass's `produces`; see not_produced<Op, Produces>, add it there");
        static_assert(results_are_inferred<inferred<Op>>,
                      "emit: an op has no infer_results; see no_inference<Op>, declare it beside the op");
        static_assert(members_fit<fit<Op, First, More...>>,
                      "emit: an op does not have such members; see no_such_members<Op, Types...>, fix them");
        if constexpr (!may_make<Op>) {
            return {};
        } else if constexpr (std::is_same_v<First, args<Op>>) {
            return first_result(this->template add<Op>(first));
        } else if constexpr (members_fit<fit<Op, First, More...>>) {
            return first_result(this->template add<Op>(args<Op>{first, more...}));
        } else {
            return {};
        }
    }
    /// Adds a node and returns it, for ops with several results; null after a failure.
    template <op_tag Op>
    node* make_node(const args<Op>& a) {
        static_assert(listed_in_its_dialect<Op>, "op: not in its dialect's list; add it there");
        static_assert(
            only_emits_what_it_produces<emission<Op>>,
            "emit: op is not in the pass's `produces`; see not_produced<Op, Produces>, add it there");
        static_assert(results_are_inferred<inferred<Op>>,
                      "emit: an op has no infer_results; see no_inference<Op>, declare it beside the op");
        if constexpr (may_make<Op>) {
            return this->template add<Op>(a);
        } else {
            return nullptr;
        }
    }

private:
    // If false, an assertion has reported it.
    template <class Op>
    static constexpr bool may_make =
        detail::listed<Op, Produces> && listed_in_its_dialect<Op> && inferable<Op>;
    template <class Op>
    using emission = std::conditional_t<detail::listed<Op, Produces>, void, not_produced<Op, Produces>>;
    // Checked only for ops that may be emitted: one error is enough.
    template <class Op>
    using inferred =
        std::conditional_t<!detail::listed<Op, Produces> || inferable<Op>, void, no_inference<Op>>;

    template <class Op, class... Types>
    using fit = std::conditional_t<requires(const Types&... members) { args<Op>{members...}; }, void,
                                   no_such_members<Op, Types...>>;

    static value first_result(node* n) { return n == nullptr ? value{} : n->result(); }
};

}  // namespace headrace

// ---- headrace/pass/emit_definition.hpp ----

namespace headrace {

HEADRACE_INLINE value_list results_of(node* n, std::size_t count) {
    value_list results;
    for (std::uint32_t i = 0; n != nullptr && i != n->result_count && i != count; ++i)
        results.push_back(n->result(i));
    return results;
}

[[gnu::noinline]] HEADRACE_INLINE value emitter::unsupported(std::string_view reason) {
    return fail(headrace::unsupported(reason));
}
[[gnu::noinline]] HEADRACE_INLINE value emitter::unsupported(std::initializer_list<text_part> reason) {
    return fail(headrace::unsupported(reason));
}

[[gnu::noinline]] HEADRACE_INLINE value emitter::fail(error e) {
    if (!failed()) at_->context_->report(*at_->current_, std::move(e.message), e.kind);
    at_->failed_ = true;
    return {};
}

[[gnu::noinline]] HEADRACE_INLINE bool emitter::may_unroll(std::int64_t steps) {
    if (steps <= max_unrolled_nodes) return !failed();
    unsupported({"it would be unrolled into more than ", max_unrolled_nodes,
                 " nodes; reduce the sizes that cause this, or leave it to the host with "
                 "--partition"});
    return false;
}

[[gnu::noinline]] HEADRACE_INLINE bool emitter::may_compute(std::int64_t elements, headrace::dtype type) {
    const auto count = static_cast<std::uint64_t>(elements);
    if (count > max_computed_bytes || storage_bytes(type, count) > max_computed_bytes) {
        unsupported({"it needs a constant of ", elements, " elements, which is above the limit of ",
                     max_computed_bytes, " bytes; give the tensor as an input or a buffer"});
    } else if (at_->graph_->data_bytes() + storage_bytes(type, count) > max_data_bytes) {
        unsupported({"the constants that are made would take more than the limit of ", max_data_bytes,
                     " bytes; give large tensors as inputs or buffers"});
    }
    return !failed();
}

[[gnu::noinline]] HEADRACE_INLINE value emitter::splat(scalar number, headrace::dtype type,
                                                       std::size_t rank) {
    static constexpr std::int64_t ones[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    return splat(number, type, std::span(ones, rank));
}

HEADRACE_INLINE node* emitter::add(const op_info& op, const void* arguments, std::size_t results) {
    if (failed() || !operands_sound(op, arguments)) return nullptr;
    node& n = at_->graph_->create(op, arguments, results, at_->before_);
    at_->inference_.clear();
    result<void> inferred = at_->context_->infer(n, at_->inference_);
    if (inferred && at_->inference_.results().size() != results)
        inferred = invalid("inference gives a different number of results");
    if (!inferred) {
        at_->graph_->erase(n);
        cannot_make(op, inferred.error());
        return nullptr;
    }
    annotate_inferred(n);
    return &n;
}

HEADRACE_INLINE value emitter::constant(const tensor_meta& meta,
                                        function_ref<void(std::span<std::byte>)> fill) {
    const value v = create_constant(owner(), meta, at_->before_, fill);
    owner().inherit_annotations(*v.producer, current());
    return v;
}

HEADRACE_INLINE value emitter::constant_of(headrace::dtype type, std::span<const std::int64_t> shape,
                                           function_ref<scalar(std::size_t)> number) {
    if (!may_store(element_count(shape), type)) return {};
    return constant({type, int_list(shape), {}}, [&](std::span<std::byte> data) {
        const std::size_t width = traits_of(type).bits / 8U;
        for (std::size_t i = 0; i * width != data.size(); ++i)
            detail::store_element(number(i), type, &data[i * width]);
    });
}

HEADRACE_INLINE bool emitter::may_store(std::int64_t elements, headrace::dtype type) {
    std::byte zero[8]{};
    if (detail::store_element(0, type, zero)) return may_compute(elements, type);
    unsupported({"it needs a constant of type ", name_of(type), ", which has no lowering; use another type"});
    return false;
}

[[gnu::noinline]] HEADRACE_INLINE void emitter::cannot_make(const op_info& op, const error& why) {
    error failure = why.in(text_of({"cannot make ", op.name}));
    const auto is_empty = [](value v) {
        const tensor_meta* meta = meta_of(v);
        return meta != nullptr && element_count(meta->shape) == 0;
    };
    bool empty = false;
    for (const edge& e : at_->current_->operand_edges()) empty = empty || is_empty(*e.slot);
    for (std::uint32_t i = 0; i != at_->current_->result_count; ++i)
        empty = empty || is_empty(at_->current_->result(i));
    if (empty) {
        failure = headrace::unsupported(
            {failure.message, ": an empty tensor has no lowering; drop it from the model"});
    }
    fail(std::move(failure));
}

[[gnu::noinline]] HEADRACE_INLINE node* emitter::add_by(inference_rule rule, const op_info& op,
                                                        const void* arguments) {
    if (failed() || !operands_sound(op, arguments)) return nullptr;
    if (rule == nullptr) {
        cannot_make(op, invalid("nothing infers its results; declare infer_results(Op, …) beside the op"));
        return nullptr;
    }
    at_->inference_.clear();
    if (const result<void> inferred = rule(arguments, at_->inference_); !inferred) {
        cannot_make(op, inferred.error());
        return nullptr;
    }
    node& n = at_->graph_->create(op, arguments, at_->inference_.results().size(), at_->before_);
    annotate_inferred(n);
    return &n;
}

HEADRACE_INLINE void emitter::annotate_inferred(node& n) {
    std::uint32_t i = 0;
    for (const tensor_meta& meta : at_->inference_.results()) at_->graph_->set_meta(n.result(i++), meta);
    at_->graph_->inherit_annotations(n, *at_->current_);
    at_->context_->emitted(n);
}

namespace detail {

HEADRACE_INLINE bool store_element(scalar number, headrace::dtype type, std::byte* at) {
    const auto put = [&](auto v) {
        std::memcpy(at, &v, sizeof v);
        return true;
    };
    switch (type) {
        case dtype::boolean:
            return put(static_cast<std::uint8_t>(number.to_double() != 0));
        case dtype::int8:
            return put(static_cast<std::int8_t>(number.to_int()));
        case dtype::uint8:
            return put(static_cast<std::uint8_t>(number.to_int()));
        case dtype::int16:
            return put(static_cast<std::int16_t>(number.to_int()));
        case dtype::uint16:
            return put(static_cast<std::uint16_t>(number.to_int()));
        case dtype::int32:
            return put(static_cast<std::int32_t>(number.to_int()));
        case dtype::uint32:
            return put(static_cast<std::uint32_t>(number.to_int()));
        case dtype::int48: {
            const std::int64_t n = number.to_int();
            std::memcpy(at, &n, 6);
            return true;
        }
        case dtype::int64:
            return put(number.to_int());
        case dtype::float32:
            return put(static_cast<float>(number.to_double()));
        case dtype::float64:
            return put(number.to_double());
        case dtype::bfloat16: {
            // Rounds to nearest even in the upper half; NaN stays NaN.
            const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(number.to_double()));
            const bool nan = (bits & 0x7fffffffU) > 0x7f800000U;
            return put(static_cast<std::uint16_t>(nan ? (bits >> 16) | 0x40U
                                                      : (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16));
        }
        case dtype::float16:
            return put(
                static_cast<std::uint16_t>(encode_float(number.to_double(), format_of(dtype::float16))));
        default:
            return false;
    }
}

}  // namespace detail

HEADRACE_INLINE bool emitter::operands_sound(const op_info& op, const void* arguments) {
    if (!may_unroll(++at_->made_)) return false;
    return detail::all_operands(op, arguments, [&](value v) {
        if (!v) {
            at_->failed_ = true;
            return false;
        }
        if (meta_of(v) == nullptr) {
            fail(invalid({"operand ", v.producer->name(), " of ", op.name, " has no `val`"}));
            return false;
        }
        return true;
    });
}

HEADRACE_INLINE value emitter::splat(scalar number, headrace::dtype type,
                                     std::span<const std::int64_t> shape) {
    if (!may_store(element_count(shape), type)) return {};
    std::byte element[8]{};
    detail::store_element(number, type, element);
    const tensor_meta meta{type, int_list(shape), {}};
    const std::size_t size = traits_of(type).bits / 8U;
    std::uint64_t hash = hash_of_val(meta);
    for (const std::byte part : element) hash = 31 * hash + static_cast<std::uint64_t>(part);
    const auto is_same = [&](const node& n) {
        const auto* const made = args_if<builtin::constant>(n);
        return made != nullptr && same_val(*n.results[0].meta, meta) && element_count(shape) != 0 &&
               std::memcmp(made->data.bytes, element, size) == 0;
    };
    const auto fill = [&](std::span<std::byte> data) {
        for (std::size_t i = 0; i + size <= data.size(); i += size) std::memcpy(&data[i], element, size);
    };
    return shared(hash, is_same, [&] { return constant(meta, fill); });
}

HEADRACE_INLINE value emitter::shared(std::uint64_t hash, function_ref<bool(const node&)> is_same,
                                      function_ref<value()> make) {
    if (failed()) return {};
    const node* const before = at_->before_;
    node* const made = at_->shared_.find(hash, [&](const node& n) {
        const bool in_reach = n.owner == at_->graph_ && (before == nullptr || graph::is_before(n, *before));
        return in_reach && is_same(n);
    });
    if (made != nullptr) return made->result();
    const value v = make();
    if (v) at_->shared_.keep(hash, v.producer);
    return v;
}

}  // namespace headrace

// ---- headrace/pass/pass_code.hpp ----

namespace headrace {

class graph;
class pass_context;

/// The effect of one pass on the nodes of a graph.
struct node_counts {
    std::size_t rewritten = 0;  ///< handlers that returned a replacement
    std::size_t declined = 0;   ///< handlers that left their node unchanged
    std::size_t copied = 0;     ///< nodes taken over unchanged; retracing only
    std::size_t inferred = 0;   ///< nodes whose `val` was inferred again; retracing only
};

/// True if this program links headrace::compiled.
#ifdef HEADRACE_COMPILED
inline constexpr bool links_compiled = true;
#else
inline constexpr bool links_compiled = false;
#endif

/// The driver that runs a pass's handlers. Both drivers use the same handlers.
enum class driver_kind : std::uint8_t { in_place, retracing };

/// The code of a pass: its handlers with a driver. pass/run_pass.hpp defines it.
template <class P>
struct pass_code {
    static result<node_counts> run(const P& p, graph& g, pass_context& context, driver_kind driver);
    /// For passes that pipelines default-construct; the type may be incomplete at the call.
    static result<node_counts> run_default(graph& g, pass_context& context, driver_kind driver);
    /// Calls the pass's own should_run; `has_targets` is the result of the generated skip test.
    static bool should_run(const graph& g, bool has_targets);
};

}  // namespace headrace

/// Follows each pass in headrace::compiled, so that a program that links it does not compile the pass's code
/// again. The library itself redefines it in compiled/pass_codes.hpp. Header-only, it is a redundant
/// declaration.
#ifdef HEADRACE_COMPILED
#define HEADRACE_COMPILED_CODE(P) extern template struct pass_code<P>
#else
#define HEADRACE_COMPILED_CODE(P) \
    template <class>              \
    struct pass_code
#endif

/// HEADRACE_COMPILED_CODE for a standard pass, which passes/declared_passes.hpp must declare.
#ifdef HEADRACE_COMPILED
#define HEADRACE_COMPILED_PASS(P) \
    HEADRACE_COMPILED_CODE(P);    \
    static_assert(is_declared<P>, "pass: it is not declared; run tests/checks/declared_passes.py")
#else
#define HEADRACE_COMPILED_PASS(P) HEADRACE_COMPILED_CODE(P)
#endif

// ---- headrace/op/op_list.hpp ----

namespace headrace {

namespace detail {

// Returns 0 if T is not an op; the user of the list reports that.
template <class T>
constexpr std::uint64_t hash_or_zero() {
    if constexpr (requires { hash_of(T::name); }) {
        return hash_of(T::name);
    } else {
        return 0;
    }
}

// The ops of a list without duplicates. Hashes are compared as numbers: a set of types would cost an
// instantiation per op, and this costs one per list.
template <class List>
struct each_once;
template <>
struct each_once<ops<>> {
    using type = ops<>;
};
template <class... Ops>
struct each_once<ops<Ops...>> {
    static constexpr std::array<bool, sizeof...(Ops)> is_first = [] {
        constexpr std::uint64_t hashes[] = {hash_or_zero<Ops>()...};
        std::array<bool, sizeof...(Ops)> first{};
        for (std::size_t i = 0; i != sizeof...(Ops); ++i) {
            first[i] = true;
            for (std::size_t k = 0; k != i; ++k)
                first[i] = first[i] && (hashes[k] != hashes[i] || hashes[i] == 0);
        }
        return first;
    }();
    static constexpr bool all_are_first = [] {
        bool all = true;
        for (const bool first : is_first) all = all && first;
        return all;
    }();
    template <std::size_t... I>
    static auto pick(std::index_sequence<I...>)
        -> boost::mp11::mp_append<ops<>, std::conditional_t<is_first[I], ops<Ops>, ops<>>...>;
    template <bool All>
    static auto result() {
        if constexpr (All) {
            return ops<Ops...>{};
        } else {
            return decltype(pick(std::index_sequence_for<Ops...>{})){};
        }
    }
    using type = decltype(result<all_are_first>());
};

}  // namespace detail

/// Several ops<...> lists as one, without duplicates: `using produces = joined<ops<tosa::add>,
/// build::broadcast_ops>`.
template <class... Lists>
using joined = typename detail::each_once<boost::mp11::mp_append<ops<>, Lists...>>::type;

}  // namespace headrace

// ---- headrace/pass/call_checks.hpp ----

namespace headrace {

/// Diagnoses of calls, for compile errors; see no_fault.
template <class T>
struct unknown_op {};
template <class Op, std::size_t Given, std::size_t Takes>
struct wrong_arity {};
/// The call has a `Given` for the op's field of that name, which is a `Takes`.
template <class Op, fixed_string Field, class Given, class Takes>
struct wrong_argument {};
template <class Op, fixed_string Field>
struct no_such_field {};

template <class Diagnosis>
inline constexpr bool calls_known_ops = true;
template <class T>
inline constexpr bool calls_known_ops<unknown_op<T>> = false;
template <class Diagnosis>
inline constexpr bool arity_fits = true;
template <class Op, std::size_t Given, std::size_t Takes>
inline constexpr bool arity_fits<wrong_arity<Op, Given, Takes>> = false;
template <class Diagnosis>
inline constexpr bool arguments_fit = true;
template <class Op, fixed_string Field, class Given, class Takes>
inline constexpr bool arguments_fit<wrong_argument<Op, Field, Given, Takes>> = false;
template <class Op, fixed_string Field>
inline constexpr bool arguments_fit<no_such_field<Op, Field>> = false;
/// True if the field names of the called op are those of its arguments.
template <class Diagnosis>
inline constexpr bool called_op_is_sound = true;
template <class Op, std::size_t Names>
inline constexpr bool called_op_is_sound<not_as_many_names<Op, Names>> = false;
template <class Op, fixed_string Field>
inline constexpr bool called_op_is_sound<other_name<Op, Field>> = false;
/// True if none of these diagnoses applies.
template <class Diagnosis>
inline constexpr bool calls_fit = calls_known_ops<Diagnosis> && arity_fits<Diagnosis> &&
                                  arguments_fit<Diagnosis> && called_op_is_sound<Diagnosis>;

namespace detail {

template <class Op>
constexpr bool is_known_op() {
    if constexpr (op_tag<Op>) {
        return listed_in_its_dialect<Op>;
    } else {
        return false;
    }
}

template <class Op, std::size_t I>
inline constexpr auto field_label = [] {
    constexpr std::string_view name = field_names<Op>[I];
    return fixed_string<name.size() + 1>(name);
}();

// Diagnoses the member of args at a position.
template <class Op, std::size_t I, class Given, class... Members>
auto diagnose_argument(const members<Members...>*) {
    return wrong_argument<Op, field_label<Op, I>, Given, typename type_at<I, ops<Members...>>::type>{};
}
template <class Op>
using members_of_op = decltype(members_of<field_names<Op>.size()>(default_args<Op>));
template <class Op, std::size_t I, class Given>
using argument_fault = decltype(diagnose_argument<Op, I, Given>(static_cast<members_of_op<Op>*>(nullptr)));

template <class Member>
struct one_member {
    Member item;
};
template <class Member, class Given>
concept initializes = requires(const Given& given) { one_member<Member>{given}; };

// Returns the index of the first argument that does not convert to its member, or the number of arguments.
template <class Members, class Given, std::size_t... I>
constexpr std::size_t first_other(std::index_sequence<I...>) {
    constexpr bool fits[] = {
        initializes<typename type_at<I, Members>::type, typename type_at<I, Given>::type>..., false};
    std::size_t at = 0;
    while (fits[at]) ++at;
    return at;
}
// True if a member from position `Given` on is a required operand.
template <std::size_t Given, class... Members>
constexpr bool lacks_operands(const members<Members...>*) {
    constexpr bool is_operand_type[] = {
        (std::is_same_v<Members, value> || std::is_same_v<Members, list<value>>)..., false};
    for (std::size_t i = Given; i < sizeof...(Members); ++i) {
        if (is_operand_type[i]) return true;
    }
    return false;
}

template <class Op, class... Given, class... Members>
auto diagnose_arguments(const members<Members...>*) {
    constexpr std::size_t at = first_other<ops<Members...>, ops<Given...>>(
        std::make_index_sequence<sizeof...(Given)>{});
    if constexpr (at == sizeof...(Given)) {
        return wrong_arity<Op, sizeof...(Given), sizeof...(Members)>{};
    } else {
        return argument_fault<Op, at, typename type_at<at, ops<Given...>>::type>{};
    }
}

// Compares a call's arguments with the op's struct `args`: first all at once, then one by one if that fails.
template <class Op, class... Given>
auto diagnose_call() {
    if constexpr (!is_known_op<Op>()) {
        return unknown_op<Op>{};
    } else if constexpr (!requires { Op::field_list; }) {
        return no_fault{};
    } else if constexpr (!fields_are_members<field_fault<Op>>) {
        return field_fault<Op>{};
    } else {
        constexpr std::size_t takes = count_names(Op::field_list);
        if constexpr (sizeof...(Given) > takes) {
            return wrong_arity<Op, sizeof...(Given), takes>{};
        } else if constexpr (!requires(const Given&... given) { args<Op>{given...}; }) {
            return diagnose_arguments<Op, Given...>(static_cast<members_of_op<Op>*>(nullptr));
        } else if constexpr (lacks_operands<sizeof...(Given)>(static_cast<members_of_op<Op>*>(nullptr))) {
            return wrong_arity<Op, sizeof...(Given), takes>{};
        } else {
            return no_fault{};
        }
    }
}

}  // namespace detail

/// The fault of a call of `Op` with arguments of these types, or no_fault.
template <class Op, class... Given>
using call_fault = decltype(detail::diagnose_call<Op, Given...>());

}  // namespace headrace

// ---- headrace/pass/expression.hpp ----

namespace headrace {

/// An expression is written once, as a generic function, and read several times:
///
///     [](auto x) { return call<aten::mul_tensor>(x, call<aten::sigmoid>(x)); }
///
/// - called with symbols, its type lists the ops that it makes;
/// - called with terms, it makes the nodes;
/// - called with wildcards, it is a pattern (match/pattern_expression.hpp).
///
/// Symbols exist only at compile time: functions over them are declared but never called. So the effects of a
/// rewrite are those of all branches of its expression, whichever runs.

template <auto Made>
struct join_with_choose;
/// The value of an expression that makes the ops `Made`, an op_set. Compilers print the name of this type if
/// a callable returns expressions of several types, so the name states the fix.
template <auto Made>
using symbol = join_with_choose<Made>;
/// The symbol of a value that no op of the expression makes.
using operand_symbol = symbol<op_set<>{}>;

/// The queries of a term at run time, declared so that an expression can use them in either reading.
struct symbol_answers {
    [[nodiscard]] headrace::value value() const;
    [[nodiscard]] headrace::dtype dtype() const;
    [[nodiscard]] const int_list& shape() const;
    [[nodiscard]] std::size_t rank() const;
    [[nodiscard]] std::int64_t size(std::int64_t axis) const;
    [[nodiscard]] std::size_t axis(std::int64_t named) const;
    [[nodiscard]] const tensor_meta& meta() const;
    [[nodiscard]] const tensor_meta& result_meta(std::uint32_t i = 0) const;
    [[nodiscard]] const target_spec& target() const;
    [[nodiscard]] operand_symbol unsupported(std::string_view reason) const;
    [[nodiscard]] operand_symbol unsupported(std::initializer_list<text_part> reason) const;
    [[nodiscard]] bool may_compute(std::int64_t elements, headrace::dtype type) const;
    [[nodiscard]] operand_symbol constant(scalar number) const;
    [[nodiscard]] operand_symbol constant(scalar number, headrace::dtype type) const;
    [[nodiscard]] operand_symbol filled(scalar number) const;
    [[nodiscard]] operand_symbol filled(scalar number, headrace::dtype type) const;
    template <class Range>
    [[nodiscard]] operand_symbol tensor(headrace::dtype type, sizes shape, const Range& elements) const;
    [[nodiscard]] operand_symbol of(headrace::value v) const;
};

template <auto Made>
struct join_with_choose : symbol_answers {
    static constexpr auto made = Made;
    constexpr join_with_choose() = default;
    /// A branch of a choice converts to the symbol of the whole choice.
    template <auto Fewer>
    constexpr join_with_choose(symbol<Fewer>) {}
};

/// The symbol of an ill-formed expression. An expression that contains one is ill-formed, too, and the
/// pipeline that reads the rule reports the diagnosis.
template <class Diagnosis>
struct ill_formed : symbol_answers {
    constexpr ill_formed() = default;
    /// Any branch of a choice converts to it.
    template <class T>
    constexpr ill_formed(const T&) {}
};
/// Diagnosis: a type that is not an expression where one is expected.
template <class T>
struct not_an_expression {};

/// A value of the graph, with the emitter that creates the nodes of an expression.
class term {
public:
    term(emitter e, headrace::value v) : emitter_(e), value_(v) {}

    [[nodiscard]] headrace::value value() const { return value_; }
    [[nodiscard]] emitter owner() const { return emitter_; }

    [[nodiscard]] headrace::dtype dtype() const { return emitter_.dtype(value_); }
    [[nodiscard]] const int_list& shape() const { return emitter_.shape(value_); }
    [[nodiscard]] std::size_t rank() const { return emitter_.rank(value_); }
    /// Returns the size along an axis, which may count from the end; 0 if there is no such axis.
    [[nodiscard]] std::int64_t size(std::int64_t axis) const {
        const auto i = normalized_axis(axis, rank());
        return i ? shape()[*i] : 0;
    }
    [[nodiscard]] const tensor_meta& meta() const { return emitter_.meta(value_); }
    /// Returns the metadata of the results that the rewrite replaces.
    [[nodiscard]] const tensor_meta& result_meta(std::uint32_t i = 0) const {
        return emitter_.result_meta(i);
    }
    [[nodiscard]] const target_spec& target() const { return emitter_.target(); }
    /// Refuses the node being rewritten: `reason` is the rule that it breaks.
    [[nodiscard]] term unsupported(std::string_view reason) const {
        return {emitter_, owner().unsupported(reason)};
    }
    [[nodiscard]] term unsupported(std::initializer_list<text_part> reason) const {
        return {emitter_, owner().unsupported(reason)};
    }
    /// True if the rewrite may compute a constant of that many elements; else refuses the node.
    [[nodiscard]] bool may_compute(std::int64_t elements, headrace::dtype type) const {
        return owner().may_compute(elements, type);
    }
    /// Returns a non-negative axis; `named` may count from the end. Refuses the node if it is out of range.
    [[nodiscard]] std::size_t axis(std::int64_t named) const {
        if (const auto found = normalized_axis(named, rank())) return *found;
        owner().unsupported({"axis ", named, " is out of range for rank ", rank()});
        return 0;
    }
    /// Returns a constant of this term's dtype, with a shape (1, …, 1) that broadcasts with it. The number is
    /// truncated for integer dtypes.
    [[nodiscard]] term constant(scalar number) const { return constant(number, dtype()); }
    /// Returns such a constant of another dtype.
    [[nodiscard]] term constant(scalar number, headrace::dtype type) const {
        return {emitter_, owner().splat(number, type, rank())};
    }
    /// Returns a constant of this term's shape, in its dtype or another one.
    [[nodiscard]] term filled(scalar number) const { return filled(number, dtype()); }
    [[nodiscard]] term filled(scalar number, headrace::dtype type) const {
        return {emitter_, owner().splat(number, type, shape())};
    }
    /// Returns a constant of that type and shape, from elements in the dtype's storage type.
    template <class Range>
    [[nodiscard]] term tensor(headrace::dtype type, sizes shape, const Range& elements) const {
        return {emitter_, owner().constant(type, shape, std::span(std::data(elements), std::size(elements)))};
    }
    /// Returns a term of another value of the graph, such as an optional operand.
    [[nodiscard]] term of(headrace::value v) const { return {emitter_, v}; }

private:
    emitter emitter_;
    headrace::value value_;
};

template <class T>
inline constexpr bool is_symbol = false;
template <auto Made>
inline constexpr bool is_symbol<symbol<Made>> = true;
template <class Diagnosis>
inline constexpr bool is_symbol<ill_formed<Diagnosis>> = true;

/// Matches the readings of a value in an expression; patterns add wildcards.
template <class T>
inline constexpr bool is_reading = is_symbol<T> || std::is_same_v<T, term>;
template <class T>
concept reading = is_reading<std::remove_cvref_t<T>>;

/// Several operands that form one argument: `call<aten::cat>(tensors(x, y), 1)`.
template <class... Items>
struct tensors_expression {
    std::tuple<Items...> items;
};
template <class... Items>
[[nodiscard]] constexpr tensors_expression<Items...> tensors(const Items&... items) {
    return {{items...}};
}

namespace detail {

template <class T>
struct made_in {
    static constexpr op_set<> value{};
};
template <auto Made>
struct made_in<symbol<Made>> {
    static constexpr auto value = Made;
};
template <class... Ts>
struct made_in<std::tuple<Ts...>> {
    static constexpr auto value = (op_set<>{} | ... | made_in<Ts>::value);
};
template <class... Ts>
struct made_in<tensors_expression<Ts...>> : made_in<std::tuple<Ts...>> {};
template <class T>
struct made_in<std::optional<T>> : made_in<T> {};

// The first fault of an expression, in the order of its text, or no_fault.
template <class T>
struct fault_in {
    using type = no_fault;
};
template <class Diagnosis>
struct fault_in<ill_formed<Diagnosis>> {
    using type = Diagnosis;
};
template <class... Faults>
struct first_of_faults {
    using type = no_fault;
};
template <class Fault, class... Faults>
struct first_of_faults<Fault, Faults...> {
    using type = Fault;
};
template <class... Faults>
struct first_of_faults<no_fault, Faults...> : first_of_faults<Faults...> {};
template <class... Ts>
struct fault_in<std::tuple<Ts...>> : first_of_faults<typename fault_in<Ts>::type...> {};
template <class... Ts>
struct fault_in<tensors_expression<Ts...>> : fault_in<std::tuple<Ts...>> {};
template <class T>
struct fault_in<std::optional<T>> : fault_in<T> {};

// The symbol of a result made from these operands, unless one of them is ill-formed.
template <auto Made, class... Operands>
constexpr auto symbol_of() {
    using fault = typename fault_in<std::tuple<Operands...>>::type;
    if constexpr (std::is_same_v<fault, no_fault>) {
        return symbol<(Made | ... | made_in<Operands>::value)>{};
    } else {
        return ill_formed<fault>{};
    }
}

template <class T>
inline constexpr bool holds_term = std::is_same_v<T, term>;
template <class... Ts>
inline constexpr bool holds_term<tensors_expression<Ts...>> = (holds_term<Ts> || ...);
template <class T>
inline constexpr bool holds_symbol = is_symbol<T>;
template <class... Ts>
inline constexpr bool holds_symbol<tensors_expression<Ts...>> = (holds_symbol<Ts> || ...);

// Converts an argument of a call to a member of the op's argument struct.
template <class T>
const T& as_argument(const T& argument) {
    return argument;
}
inline value as_argument(const term& argument) { return argument.value(); }
template <class... Ts>
auto as_argument(const tensors_expression<Ts...>& argument) {
    struct held {
        std::array<value, sizeof...(Ts)> values;
        operator list<value>() const { return list<value>(values); }
    };
    return std::apply([](const Ts&... items) { return held{{as_argument(items)...}}; }, argument.items);
}

// The type of an argument as a member of that struct, in the reading with symbols.
template <class T>
struct given_as {
    using type = T;
};
template <class T>
    requires is_symbol<T>
struct given_as<T> {
    using type = value;
};
template <>
struct given_as<term> {
    using type = value;
};
template <class... Ts>
struct given_as<tensors_expression<Ts...>> {
    using type = list<value>;
};

template <class T, class... Ts>
const term& first_term(const T& first, const Ts&... rest) {
    if constexpr (std::is_same_v<T, term>) {
        return first;
    } else if constexpr (holds_term<T>) {
        return std::apply([](const auto&... items) -> const term& { return first_term(items...); },
                          first.items);
    } else {
        return first_term(rest...);
    }
}

// Gives expressions access to an emitter's unchecked functions: their type lists the ops that they make.
struct expression_access {
    template <op_tag Op>
    static value make(emitter e, const args<Op>& a) {
        node* made = e.template add<Op>(a);
        return made == nullptr ? value{} : made->result();
    }
};

// A call with wildcards, defined by match/pattern_expression.hpp.
template <class Op>
struct pattern_call;

}  // namespace detail

/// A node of `Op` with these arguments, in the order of its schema: operands are expressions, other arguments
/// are C++ values, and std::nullopt is None. Omitted arguments at the end have the schema's defaults. It is a
/// function object, so it can be the whole rewrite of an op that only changes its name: `on<aten::exp> =
/// call<tosa::exp>`.
template <class Op>
struct call_t {
    template <class... Arguments>
    constexpr auto operator()(Arguments... arguments) const {
        if constexpr ((detail::holds_symbol<Arguments> || ...)) {
            using fault = call_fault<Op, typename detail::given_as<Arguments>::type...>;
            if constexpr (std::is_same_v<fault, no_fault>) {
                return detail::symbol_of<ops_in<Op>, Arguments...>();
            } else {
                return detail::symbol_of<op_set<>{}, Arguments..., ill_formed<fault>>();
            }
        } else if constexpr ((detail::holds_term<Arguments> || ...)) {
            using rule = std::conditional_t<inferable<Op>, no_fault, no_inference<Op>>;
            static_assert(results_are_inferred<rule>,
                          "emit: an op has no infer_results; see no_inference<Op>, declare it beside the op");
            const emitter e = detail::first_term(arguments...).owner();
            return term(e,
                        detail::expression_access::make<Op>(e, args<Op>{detail::as_argument(arguments)...}));
        } else {
            return detail::pattern_call<Op>::read(arguments...);
        }
    }
};
template <class Op>
inline constexpr call_t<Op> call{};

/// The return value of a rewrite that leaves its node unchanged.
struct unchanged_type {};
inline constexpr unchanged_type unchanged{};

namespace detail {

template <class F>
constexpr decltype(auto) branch(const F& f) {
    if constexpr (requires { f(); }) {
        return f();
    } else {
        return f;
    }
}
template <class F>
using branch_type = std::remove_cvref_t<decltype(branch(std::declval<const F&>()))>;

// A branch: its expression, void if there is none, and whether it may leave the node unchanged.
template <class T>
struct branch_of {
    using expression = T;
    static constexpr bool declines = false;
};
template <>
struct branch_of<void> {
    using expression = ill_formed<not_an_expression<void>>;
    static constexpr bool declines = false;
};
template <class T>
struct branch_of<std::optional<T>> {
    using expression = T;
    static constexpr bool declines = true;
};
template <>
struct branch_of<unchanged_type> {
    using expression = void;
    static constexpr bool declines = true;
};

template <class T>
inline constexpr bool is_ill_formed = !std::is_same_v<typename fault_in<T>::type, no_fault>;

// The common type of two expressions, in either reading. With symbols, a fault becomes a diagnosis.
template <class A, class B>
struct joined_expressions {
    static_assert(holds_symbol<A> || holds_symbol<B>,
                  "choose: a branch is not an expression; return one from it, or `unchanged`");
    using other = std::conditional_t<holds_symbol<A>, B, A>;
    using type = ill_formed<not_an_expression<other>>;
};
template <class A, class B>
    requires((is_ill_formed<A> || is_ill_formed<B>) && !std::is_same_v<A, B> && !std::is_void_v<A> &&
             !std::is_void_v<B>)
struct joined_expressions<A, B> {
    using type = ill_formed<typename fault_in<std::tuple<A, B>>::type>;
};
template <class A>
struct joined_expressions<A, A> : std::type_identity<A> {};
template <class A>
struct joined_expressions<A, void> : std::type_identity<A> {};
template <class B>
struct joined_expressions<void, B> : std::type_identity<B> {};
template <auto A, auto B>
    requires(!std::is_same_v<symbol<A>, symbol<B>>)
struct joined_expressions<symbol<A>, symbol<B>> : std::type_identity<symbol<A | B>> {};
template <class... As, class... Bs>
    requires(sizeof...(As) == sizeof...(Bs) && !std::is_same_v<std::tuple<As...>, std::tuple<Bs...>>)
struct joined_expressions<std::tuple<As...>, std::tuple<Bs...>>
    : std::type_identity<std::tuple<typename joined_expressions<As, Bs>::type...>> {};

// The type of a choice between two branches.
template <class A, class B>
struct joined_branches {
    using expression = typename joined_expressions<typename branch_of<A>::expression,
                                                   typename branch_of<B>::expression>::type;
    using type = std::conditional_t<branch_of<A>::declines || branch_of<B>::declines,
                                    std::optional<expression>, expression>;
};

template <class>
using value_of = value;

template <class To, class F>
constexpr To take_branch(const F& f) {
    if constexpr (is_ill_formed<To>) {
        return To();
    } else if constexpr (std::is_same_v<branch_type<F>, unchanged_type>) {
        return std::nullopt;
    } else {
        return branch(f);
    }
}

}  // namespace detail

/// Alternatives, one of which is chosen at run time. Each is an expression, or a callable without parameters
/// that returns one and is called only if chosen. The ops of all of them count as made by the rewrite.
///
///     choose(a.approximate == "tanh", [&] { return … tanh(…); }, [&] { return … erf(…); })
///     choose(is_floating(x.dtype()), [&] { return …; }, unchanged)
template <class Then, class Else>
constexpr auto choose(bool condition, const Then& then, const Else& otherwise) {
    using chosen =
        typename detail::joined_branches<detail::branch_type<Then>, detail::branch_type<Else>>::type;
    return condition ? detail::take_branch<chosen>(then) : detail::take_branch<chosen>(otherwise);
}
/// Chooses the first alternative whose condition is true, else the last.
template <class Then, class... Rest>
constexpr auto choose(bool condition, const Then& then, bool next, const Rest&... rest) {
    return choose(condition, then, [&] { return choose(next, rest...); });
}

/// Code that makes nodes, as part of an expression: calls `f(emit<List> e, value...)` with the values of the
/// terms; it may emit the ops of `List`. `f` returns a value, or an optional value if it may decline.
template <class List, class F, reading... Operands>
constexpr auto emitting(const F& f, const Operands&... operands) {
    using returned = std::invoke_result_t<const F&, emit<List>, detail::value_of<Operands>...>;
    if constexpr ((is_symbol<Operands> || ...)) {
        using made = decltype(detail::symbol_of<set_of<List>, Operands...>());
        return std::conditional_t<is_optional<returned>, std::optional<made>, made>{};
    } else {
        const emitter e = detail::first_term(operands...).owner();
        if constexpr (is_optional<returned>) {
            const returned v = f(emit<List>(e), operands.value()...);
            return v ? std::optional(term(e, *v)) : std::nullopt;
        } else {
            return term(e, f(emit<List>(e), operands.value()...));
        }
    }
}

/// Returns f(x, operand) if an optional operand is given, else x: `with_operand(y, a.bias, [](auto v, auto
/// bias) { return v + bias; })`.
template <reading X, class F>
constexpr auto with_operand(const X& x, const std::optional<value>& operand, const F& f) {
    return choose(
        operand.has_value(), [&] { return f(x, x.of(*operand)); }, x);
}

namespace detail {

inline value as_value(const term& x) { return x.value(); }
template <class... Ts>
auto as_value(const std::tuple<Ts...>& items) {
    return std::apply([](const Ts&... each) { return std::tuple(as_value(each)...); }, items);
}

}  // namespace detail

/// An expression, as part of code that makes nodes: calls `f` with terms of these values; it may make the ops
/// that `e` may emit. Returns values, in a std::tuple if there are several.
template <class List, class F, std::same_as<value>... Values>
auto evaluate(const emit<List>& e, const F& f, Values... operands) {
    using result = decltype(f((static_cast<void>(operands), operand_symbol{})...));
    using fault = typename detail::fault_in<result>::type;
    static_assert(calls_fit<fault>, "evaluate: a call does not fit its op; see the diagnosis, fix that call");
    if constexpr (std::is_same_v<fault, no_fault>) {
        emit<list_of_set<detail::made_in<result>::value>> checked(e);
        return detail::as_value(f(term(checked, operands)...));
    } else {
        return value();
    }
}

namespace detail {

template <class List, class... Parameters>
List ops_emitted_by(value (*)(emit<List>, Parameters...));

}  // namespace detail

/// A builder as part of an expression: `made_by<build::reshape>(x, shape)`. A builder is a function that
/// takes an `emit<List>` by value and further arguments, and returns a value; it may emit the ops of `List`.
template <auto Builder>
struct made_by_t {
    template <class... Arguments>
    constexpr auto operator()(const Arguments&... arguments) const {
        using list = decltype(detail::ops_emitted_by(Builder));
        if constexpr ((detail::holds_symbol<Arguments> || ...)) {
            return detail::symbol_of<set_of<list>, Arguments...>();
        } else {
            const emitter e = detail::first_term(arguments...).owner();
            return term(e, Builder(emit<list>(e), detail::as_argument(arguments)...));
        }
    }
};
template <auto Builder>
inline constexpr made_by_t<Builder> made_by{};

}  // namespace headrace

// ---- headrace/pass/rule_diagnoses.hpp ----

namespace headrace {

/// Diagnoses of rules, for compile errors. A rule's callable cannot be called with the operands of `Op`.
template <class Op>
struct not_callable_with {};
/// A rule returns `Given` expressions for an op with `Has` results.
template <class Op, std::size_t Given, std::size_t Has>
struct wrong_result_count {};
/// The compiler has already reported an error in a callable.
struct unreadable {};
/// A rewrite asks its match for a node whose name is not in the pattern (match/node_pattern.hpp).
template <fixed_string... Names>
struct pattern_names {};
template <fixed_string Name, class Names>
struct not_in_pattern {};
/// The rule of `Op` that has the diagnosis.
template <class Pass, class Op, class Diagnosis>
struct in_rewrite {};

// One trait per message, for the diagnosis alone or with its location.
template <class Diagnosis>
inline constexpr bool rule_takes_operands = true;
template <class Op>
inline constexpr bool rule_takes_operands<not_callable_with<Op>> = false;
template <class Pass, class Op, class Diagnosis>
inline constexpr bool rule_takes_operands<in_rewrite<Pass, Op, Diagnosis>> = rule_takes_operands<Diagnosis>;
template <class Diagnosis>
inline constexpr bool rule_gives_results = true;
template <class Op, std::size_t Given, std::size_t Has>
inline constexpr bool rule_gives_results<wrong_result_count<Op, Given, Has>> = false;
template <class T>
inline constexpr bool rule_gives_results<not_an_expression<T>> = false;
template <class Pass, class Op, class Diagnosis>
inline constexpr bool rule_gives_results<in_rewrite<Pass, Op, Diagnosis>> = rule_gives_results<Diagnosis>;
template <class Diagnosis>
inline constexpr bool node_is_in_pattern = true;
template <fixed_string Name, class Names>
inline constexpr bool node_is_in_pattern<not_in_pattern<Name, Names>> = false;
template <class Pass, class Op, class Diagnosis>
inline constexpr bool node_is_in_pattern<in_rewrite<Pass, Op, Diagnosis>> = node_is_in_pattern<Diagnosis>;
template <class Pass, class Op, class Diagnosis>
inline constexpr bool calls_fit<in_rewrite<Pass, Op, Diagnosis>> = calls_fit<Diagnosis>;

}  // namespace headrace

// ---- headrace/pass/rules.hpp ----

namespace headrace {

/// The policy of how operands enter a rule's expression and results leave it: unchanged. Other policies have
/// the same members; `made` is the set of ops that they make.
struct as_they_are {
    static constexpr op_set<> made{};
    static term operand(const term& x) { return x; }
    static term result(const term& y, std::uint32_t) { return y; }
};

/// One rewrite. `F` is a stateless callable. It takes the operands of a node of `Op` that are neither
/// optional nor lists, in order, and optionally the node's `args` after them. It may take fewer operands if
/// the next parameter is a `const args<Op>&`. It returns the replacing expression: a std::tuple of them if
/// the op has several results; `unchanged`, or a choice with it, to decline.
template <class Op, class F, class Policy = as_they_are>
struct rule {};

/// A list of rules, as a type.
template <class... Rules>
struct rule_list {};

namespace detail {

// Replaces rules whose fault an assertion has reported.
struct reported_rule {};

template <class... Ops>
struct rules_for {
    using fault =
        typename first_of_faults<std::conditional_t<op_tag<Ops>, no_fault, unknown_op<Ops>>...>::type;

    template <class F>
    constexpr auto operator=(F) const {  // NOLINT: it creates a rule
        static_assert(
            calls_known_ops<fault>,
            "rule: it is for something that is not an op; see unknown_op<T>, name ops of a dialect");
        static_assert(std::is_empty_v<F>, "rule: its callable has captures; make it capture nothing");
        if constexpr (calls_known_ops<fault> && std::is_empty_v<F>) {
            return rule_list<rule<Ops, F>...>{};
        } else {
            return rule_list<reported_rule>{};
        }
    }
};
template <class List>
struct rules_for_all;
template <class... Ops>
struct rules_for_all<ops<Ops...>> : rules_for<Ops...> {
    using rules_for<Ops...>::operator=;
};

}  // namespace detail

/// Starts the rewrite of each of these ops: `on<aten::log2> = [](auto x) { return log(x) * log2e; }`.
template <class... Ops>
inline constexpr detail::rules_for<Ops...> on{};
/// Starts the rewrite of each op of an ops<...> list.
template <class List>
inline constexpr detail::rules_for_all<List> on_each{};

template <class... As, class... Bs>
constexpr rule_list<As..., Bs...> operator+(rule_list<As...>, rule_list<Bs...>) {
    return {};
}

namespace detail {

// The same rule with another policy.
template <class Rule, class Policy>
struct rule_under;
template <class Op, class F, class NewPolicy, class Policy>
struct rule_under<rule<Op, F, Policy>, NewPolicy> {
    using type = rule<Op, F, NewPolicy>;
};
template <class Policy, class... Rules>
constexpr auto under(rule_list<Rules...>) {
    return rule_list<typename rule_under<Rules, Policy>::type...>{};
}

}  // namespace detail

/// The rewrites of a pass; each argument is one rule or several:
///
///     static auto rewrites() {
///         return rules(on<aten::silu> = [](auto x) { return x * sigmoid(x); },
///                      on<aten::exp> = call<tosa::exp>);
///     }
///
/// The ops that the pass targets, removes and produces follow from the type of the list.
template <class... Lists>
constexpr auto rules(Lists...) {
    return boost::mp11::mp_append<rule_list<>, Lists...>{};
}
/// Rules whose operands and results are converted by a policy.
template <class Policy, class... Lists>
constexpr auto rules_with(Lists... lists) {
    return detail::under<Policy>(rules(lists...));
}

namespace detail {

// The number of operands that a rule takes, and their offsets.
template <class Op>
inline constexpr std::size_t plain_operands = [] {
    std::size_t count = 0;
    for (const field_info& f : fields_of<Op>) count += f.kind == field_kind::tensor && !f.optional;
    return count;
}();
template <class Op>
inline constexpr auto operand_offsets = [] {
    std::array<std::uint16_t, plain_operands<Op> + 1> offsets{};
    std::size_t i = 0;
    for (const field_info& f : fields_of<Op>) {
        if (f.kind == field_kind::tensor && !f.optional) offsets[i++] = f.offset;
    }
    return offsets;
}();

template <class Reading, std::size_t>
using reading_at = Reading;
template <std::size_t I>
using symbol_at = reading_at<operand_symbol, I>;

// The parameters of a rule's callable: the number of operands, and whether the arguments follow. All operands
// come first; a callable that takes fewer shows it by the type of the next parameter. Compilers read its
// whole body for this, with symbols or with terms; code that runs a rule uses only terms.
struct rule_call {
    std::size_t operands = 0;
    bool arguments = false;
    bool found = false;
};
template <class Op, class F, class Reading, std::size_t... I>
constexpr rule_call try_call(std::index_sequence<I...>) {
    if constexpr (requires(const F& f) { f(std::declval<reading_at<Reading, I>>()...); }) {
        return {sizeof...(I), false, true};
    } else if constexpr (requires(const F& f, const args<Op>& a) {
                             f(std::declval<reading_at<Reading, I>>()..., a);
                         }) {
        return {sizeof...(I), true, true};
    } else if constexpr (sizeof...(I) > 1) {
        return try_call<Op, F, Reading>(std::make_index_sequence<sizeof...(I) - 1>{});
    } else {
        return {};
    }
}
template <class Op, class F, class Reading>
inline constexpr rule_call call_of_rule =
    try_call<Op, F, Reading>(std::make_index_sequence<plain_operands<Op>>{});

template <class Op, class F, class Reading, class... Readings>
constexpr auto apply_rule(const args<Op>& a, const Readings&... operands) {
    if constexpr (!call_of_rule<Op, F, Reading>.found) {
        return unchanged;  // pipelines report the fault
    } else if constexpr (call_of_rule<Op, F, Reading>.arguments) {
        // After an error in its body, clang no longer finds the callable.
        if constexpr (requires { F{}(operands..., a); }) {
            return F{}(operands..., a);
        } else {
            return ill_formed<unreadable>{};
        }
    } else if constexpr (requires { F{}(operands...); }) {
        return F{}(operands...);
    } else {
        return ill_formed<unreadable>{};
    }
}
template <class Op, class F, std::size_t... I>
auto read_rule(std::index_sequence<I...>)
    -> decltype(apply_rule<Op, F, operand_symbol>(std::declval<const args<Op>&>(), symbol_at<I>{}...));

// The return type of a rule called with symbols.
template <class Op, class F>
using rule_result =
    decltype(read_rule<Op, F>(std::make_index_sequence<call_of_rule<Op, F, operand_symbol>.operands>{}));

// Reads rules with symbols, with few templates between them and the pipeline: a compile error in the body of
// a callable then has few lines. First without the node's arguments, then with them.
template <class Rule>
struct operands_of_rule {
    using indices = std::index_sequence<>;
};
template <class Op, class F, class Policy>
struct operands_of_rule<rule<Op, F, Policy>> {
    using indices = std::make_index_sequence<plain_operands<Op>>;
};
template <class Rule, class Indices>
inline constexpr bool reads_alone = true;
template <class Op, class F, class Policy, std::size_t... I>
inline constexpr bool reads_alone<rule<Op, F, Policy>, std::index_sequence<I...>> =
    requires(const F& f) { f(std::declval<symbol_at<I>>()...); };
template <class Rule, class Indices>
struct reads_with_arguments : std::false_type {};
template <class Op, class F, class Policy, std::size_t... I>
struct reads_with_arguments<rule<Op, F, Policy>, std::index_sequence<I...>> {
    static constexpr bool value =
        requires(const F& f, const args<Op>& a) { f(std::declval<symbol_at<I>>()..., a); };
};
template <class List>
inline constexpr bool rules_read = true;
template <class... Rules>
inline constexpr bool rules_read<rule_list<Rules...>> =
    (std::conditional_t<reads_alone<Rules, typename operands_of_rule<Rules>::indices>, std::true_type,
                        reads_with_arguments<Rules, typename operands_of_rule<Rules>::indices>>::value &&
     ...);

// The expressions that a rule returns: their number, and their fault.
template <class T>
struct returned_expressions {
    static constexpr std::size_t count = 1;
    using fault = not_an_expression<T>;
};
template <class T>
    requires(is_symbol<T> || std::is_same_v<T, unchanged_type>)
struct returned_expressions<T> {
    static constexpr std::size_t count = 1;
    using fault = typename fault_in<T>::type;
};
template <class T>
struct returned_expressions<std::optional<T>> : returned_expressions<T> {};
template <class... Ts>
struct returned_expressions<std::tuple<Ts...>> {
    static constexpr std::size_t count = sizeof...(Ts);
    using fault = typename first_of_faults<typename returned_expressions<Ts>::fault...>::type;
};

template <class Op, class Result>
auto diagnose_result() {
    using returned = returned_expressions<Result>;
    if constexpr (!std::is_same_v<typename returned::fault, no_fault>) {
        return typename returned::fault{};
    } else if constexpr (Op::results == variadic_results || std::is_same_v<Result, unchanged_type> ||
                         returned::count == std::size_t{Op::results}) {
        return no_fault{};
    } else {
        return wrong_result_count<Op, returned::count, std::size_t{Op::results}>{};
    }
}

// True if a callable that could not be read has matching parameters, and so an error in its body: g++ still
// prefers it to a function that takes anything; clang has read it once and does not find it again.
struct not_viable {};
template <class F>
struct or_not_viable : F {
    using F::operator();
    template <class... Ts>
    not_viable operator()(const Ts&...) const;
};
template <class F, class... Arguments>
concept has_parameters = !requires(const or_not_viable<F>& f, const Arguments&... all) {
    { f(all...) } -> std::same_as<not_viable>;
};
template <class Op, class F, std::size_t... I>
constexpr bool has_error(std::index_sequence<I...> indices) {
    using read = rule<Op, F>;
    return reads_alone<read, decltype(indices)> || reads_with_arguments<read, decltype(indices)>::value ||
           has_parameters<F, symbol_at<I>...> || has_parameters<F, symbol_at<I>..., args<Op>>;
}

template <class Op, class F>
auto diagnose_rule() {
    if constexpr (!called_op_is_sound<field_fault<Op>>) {
        return field_fault<Op>{};
    } else if constexpr (!call_of_rule<Op, F, operand_symbol>.found) {
        constexpr bool is_read = has_error<Op, F>(typename operands_of_rule<rule<Op, F>>::indices{});
        return std::conditional_t<is_read, unreadable, not_callable_with<Op>>{};
    } else {
        return diagnose_result<Op, rule_result<Op, F>>();
    }
}

template <class Rule>
struct rule_facts;
template <class Op, class F, class Policy>
struct rule_facts<rule<Op, F, Policy>> {
    using targets = ops<Op>;
    // Makes the nodes of the expression; returns false if the rule declines.
    static bool run(emitter e, const node& n, value_list& out);
};
// The facts that follow from the type of the expression. Not needed for declared passes.
template <class Rule>
struct rule_effects;
template <class Op, class F, class Policy>
struct rule_effects<rule<Op, F, Policy>> {
    using result = rule_result<Op, F>;
    using op_type = Op;
    using fault = decltype(diagnose_rule<Op, F>());
    static constexpr bool may_decline = is_optional<result> || std::is_same_v<result, unchanged_type>;
    static constexpr auto made = Policy::made | made_in<result>::value;
};

template <>
struct rule_facts<reported_rule> {
    using targets = ops<>;
    static bool run(emitter, const node&, value_list&) { return false; }
};
template <>
struct rule_effects<reported_rule> {
    using op_type = void;
    using fault = unreadable;
    static constexpr bool may_decline = true;
    static constexpr op_set<> made{};
};
template <class Policy>
struct rule_under<reported_rule, Policy> {
    using type = reported_rule;
};

template <class Policy>
void append_term(value_list& out, const term& y) {
    out.push_back(Policy::result(y, static_cast<std::uint32_t>(out.size())).value());
}
template <class Policy, class... Ts>
void append_term(value_list& out, const std::tuple<Ts...>& ys) {
    std::apply([&](const Ts&... each) { (append_term<Policy>(out, each), ...); }, ys);
}
// Flattens the return value of a rule; returns false if it declined.
template <class Policy, class Returned>
bool take_result(const Returned& returned, value_list& out) {
    if constexpr (std::is_same_v<Returned, unchanged_type>) {
        return false;
    } else if constexpr (is_optional<Returned>) {
        if (returned) append_term<Policy>(out, *returned);
        return returned.has_value();
    } else {
        append_term<Policy>(out, returned);
        return true;
    }
}

template <class Op, class F, class Policy>
bool rule_facts<rule<Op, F, Policy>>::run(emitter e, const node& n, value_list& out) {
    static constexpr rule_call call = call_of_rule<Op, F, term>;
    const auto* bytes = static_cast<const std::byte*>(n.arguments);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        const auto operand = [&](std::size_t i) {
            return term(e, *reinterpret_cast<const value*>(bytes + operand_offsets<Op>[i]));
        };
        static_cast<void>(operand);
        return take_result<Policy>(apply_rule<Op, F, term>(args_of<Op>(n), Policy::operand(operand(I))...),
                                   out);
    }(std::make_index_sequence<call.operands>{});
}

template <class Op, class... Ops>
constexpr bool is_listed(ops<Ops...>) {
    return (__is_same(Op, Ops) || ...);
}
// Returns the rules for an op, in order.
template <class Op, class... Rules>
constexpr auto rules_on(rule_list<Rules...>) {
    return decltype((rule_list<>{} + ... +
                     std::conditional_t<is_listed<Op>(typename rule_facts<Rules>::targets{}),
                                        rule_list<Rules>, rule_list<>>{})){};
}
// Most passes have one rule per op, which overload resolution finds. It does not find patterns.
template <class Op, class F, class Policy>
rule<Op, F, Policy> rule_of(const std::type_identity<rule<Op, F, Policy>>&);
template <class Rule>
inline constexpr bool is_of_one_op = false;
template <class Op, class F, class Policy>
inline constexpr bool is_of_one_op<rule<Op, F, Policy>> = true;
template <class List>
struct rule_index;
template <class... Rules>
    requires(is_of_one_op<Rules> && ...)
struct rule_index<rule_list<Rules...>> : std::type_identity<Rules>... {};

template <class List, class Op>
constexpr auto find_rules() {
    if constexpr (requires(const rule_index<List>& index) { rule_of<Op>(index); }) {
        return rule_list<decltype(rule_of<Op>(std::declval<const rule_index<List>&>()))>{};
    } else {
        return rules_on<Op>(List{});
    }
}

template <class List>
struct list_facts;
template <class... Rules>
struct list_facts<rule_list<Rules...>> {
    using targets = joined<typename rule_facts<Rules>::targets...>;
};
template <class List>
struct list_effects;
template <class... Rules>
struct list_effects<rule_list<Rules...>> {
    static constexpr auto made = (op_set<>{} | ... | rule_effects<Rules>::made);
    // The fault of the first rule that has one.
    template <class Pass>
    using fault_of_pass = typename first_of_faults<
        std::conditional_t<std::is_same_v<typename rule_effects<Rules>::fault, no_fault>, no_fault,
                           in_rewrite<Pass, typename rule_effects<Rules>::op_type,
                                      typename rule_effects<Rules>::fault>>...>::type;
    using dialect_list = typename std::remove_const_t<decltype(made)>::dialect_list;
};
// The rules for one op together: the first that does not decline rewrites the node.
template <class List>
struct rules_together;
template <class... Rules>
struct rules_together<rule_list<Rules...>> {
    static constexpr bool any = sizeof...(Rules) != 0;
    static constexpr bool may_decline() { return (rule_effects<Rules>::may_decline && ...); }

    static bool run(emitter e, const node& n, value_list& out) {
        return ((rule_facts<Rules>::run(e, n, out) || e.failed()) || ...);
    }
};

template <class T>
inline constexpr bool is_rule_list = false;
template <class... Rules>
inline constexpr bool is_rule_list<rule_list<Rules...>> = true;

template <class P>
auto own_rewrites() {
    if constexpr (requires { requires is_rule_list<decltype(P::rewrites())>; }) {
        return P::rewrites();
    } else {
        return rule_list<>{};
    }
}
/// The rules of a pass.
template <class P>
using rules_of = decltype(own_rewrites<P>());

template <class P, class Op>
using rules_for_op = rules_together<decltype(find_rules<rules_of<P>, Op>())>;
template <class P, class Op>
concept has_rule = rules_for_op<P, Op>::any;

}  // namespace detail

}  // namespace headrace

// ---- headrace/pass/pass.hpp ----

namespace headrace {

/// Base of every pass. A pass is a stateless struct of handlers, one per op that it rewrites:
///
///     struct decompose_addmm : pass {
///         using targeted_ops = ops<aten::addmm>;
///         using produces = ops<aten::mm, aten::add_tensor>;
///         value operator()(const args<aten::addmm>& a, emit<produces>& e) const;
///     };
///
/// Rewrites that are expressions only need a list (pass/rules.hpp), from which targets and effects follow:
///
///     struct decompose_silu : pass {
///         static auto rewrites() { return rules(on<aten::silu> = [](auto x) { return x * sigmoid(x); }); }
///     };
///
/// A handler that returns `value` (or a std::tuple of values, or value_list) always rewrites its op; one that
/// returns a std::optional of these may decline. A family of ops can share a handler template whose first
/// parameter is the tag:
///
///     template <one_of<targeted_ops> Op>
///     value operator()(Op, const args<Op>& a, emit<produces>& e) const;
///
/// A pass over the whole graph has `result<std::size_t> operator()(graph&, pass_context&) const` instead,
/// which returns the number of rewritten nodes, and lists in `removes` the ops that are gone afterwards.
struct pass {};

/// Base of a pass that extends other passes: their targets are also its own.
template <class... Bases>
struct extends : Bases... {
    using base_passes = std::tuple<Bases...>*;
    using Bases::operator()...;
};

/// A list of passes or properties, with which passes state their order; see headrace::property.
template <class... Passes>
struct pass_list {
    static constexpr std::size_t size = sizeof...(Passes);
};

/// The declaration of a pass that is defined elsewhere, without its handlers: its lists, its flags, `removes`
/// (the ops that are gone after it), and `is_compiled` (whether headrace::compiled has its code and this
/// program links it). passes/declared_passes.hpp specializes it, derived from one of the bases below.
template <class P>
struct declared_pass {};

/// Matches passes with a declaration. Pipelines read everything from the declaration, whether or not the
/// definition is included: such passes may be incomplete types.
template <class P>
concept is_declared = requires { typename declared_pass<P>::removes; };

namespace detail {

// The type from which a pass's facts are read: its declaration if it has one.
template <class P>
using pass_facts = std::conditional_t<is_declared<P>, declared_pass<P>, P>;

}  // namespace detail

/// Matches passes: structs derived from headrace::pass that are defined, or declared as above.
template <class T>
concept pass_type =
    requires { sizeof(detail::pass_facts<T>); } && std::is_base_of_v<pass, detail::pass_facts<T>>;

/// Bases of declarations: for passes with handlers, and for passes over the whole graph.
struct declared_rewrites : pass {
    static constexpr bool is_compiled = links_compiled;
    static constexpr bool has_options = false;
};
struct declared_graph_pass : pass {
    static constexpr bool is_compiled = links_compiled;
    static constexpr bool has_options = false;
    result<std::size_t> operator()(graph& g, pass_context& context) const;  // never defined
};

namespace detail {

template <class T>
inline constexpr bool is_op_list = false;
template <class... Ops>
inline constexpr bool is_op_list<ops<Ops...>> = true;

// One trait per name under which passes list their targets.
template <class P>
auto own_targets() {
    if constexpr (requires { requires is_op_list<typename P::targets>; })
        return typename P::targets{};
    else
        return ops<>{};
}
template <class P>
auto own_targeted_ops() {
    if constexpr (requires { requires is_op_list<typename P::targeted_ops>; })
        return typename P::targeted_ops{};
    else
        return ops<>{};
}
template <class P>
auto own_target_ops() {
    if constexpr (requires { requires is_op_list<typename P::target_ops>; })
        return typename P::target_ops{};
    else
        return ops<>{};
}
template <class P>
auto own_supported_ops() {
    if constexpr (requires { requires is_op_list<typename P::supported_ops>; })
        return typename P::supported_ops{};
    else
        return ops<>{};
}
template <class P>
auto own_edge_ops() {
    if constexpr (requires { requires is_op_list<typename P::edge_ops>; })
        return typename P::edge_ops{};
    else
        return ops<>{};
}
template <class P>
auto own_aten_ops() {
    if constexpr (requires { requires is_op_list<typename P::aten_ops>; })
        return typename P::aten_ops{};
    else
        return ops<>{};
}

template <class P>
struct listed_targets;
template <class Bases>
struct targets_of_bases;
template <class... Bases>
struct targets_of_bases<std::tuple<Bases...>*> {
    using type = joined<typename listed_targets<Bases>::type...>;
};
template <class P>
auto base_targets() {
    if constexpr (requires { typename P::base_passes; }) {
        return typename targets_of_bases<typename P::base_passes>::type{};
    } else {
        return ops<>{};
    }
}
template <class P>
struct listed_targets {
    using type =
        joined<decltype(own_targeted_ops<P>()), decltype(own_targets<P>()), decltype(own_target_ops<P>()),
               decltype(own_supported_ops<P>()), decltype(own_edge_ops<P>()), decltype(own_aten_ops<P>()),
               decltype(base_targets<P>()), typename list_facts<rules_of<P>>::targets>;
};

template <class P>
auto own_produces() {
    if constexpr (requires { requires is_op_list<typename P::produces>; })
        return typename P::produces{};
    else
        return ops<>{};
}
template <class P>
auto own_removes() {
    if constexpr (requires { requires is_op_list<typename P::removes>; })
        return typename P::removes{};
    else
        return ops<>{};
}

}  // namespace detail

/// Matches passes over the whole graph.
template <class P>
concept graph_pass = pass_type<P> && requires(const detail::pass_facts<P>& p, graph& g, pass_context& c) {
    { p(g, c) } -> std::same_as<result<std::size_t>>;
};

namespace detail {

// The ops that the handlers of a pass may emit. Together with those of its rules, the pass produces them.
template <class P>
using declared_by = decltype(own_produces<P>());
template <class P>
inline constexpr const auto& made_by_rules = list_effects<rules_of<P>>::made;

template <class P>
auto find_produces() {
    if constexpr (std::is_same_v<rules_of<P>, rule_list<>>) {
        return declared_by<P>{};
    } else {
        return joined<declared_by<P>, list_of_set<made_by_rules<P>>>{};
    }
}

}  // namespace detail

/// The ops that a pass may emit: those that its expressions make, and those in `produces` for its handlers.
template <class P>
using produces_of = decltype(detail::find_produces<detail::pass_facts<P>>());

/// The ops that are gone after a pass over the whole graph; for other passes, signatures state them.
template <class P>
using removes_of = decltype(detail::own_removes<detail::pass_facts<P>>());

namespace detail {

// A pass over the whole graph with targets must also run for the ops that it promises to remove.
template <class P>
auto find_targets() {
    if constexpr (is_declared<P>) {
        return typename declared_pass<P>::targets{};
    } else {
        using listed = typename listed_targets<P>::type;
        if constexpr (listed::size == 0 || removes_of<P>::size == 0 || !graph_pass<P>) {
            return listed{};
        } else {
            return joined<listed, removes_of<P>>{};
        }
    }
}

}  // namespace detail

/// The ops that a pass targets: joined from `targeted_ops`, `targets`, `target_ops`, `supported_ops`,
/// `edge_ops` and `aten_ops`, whichever it has, and from the passes that it `extends`, without duplicates.
template <class P>
using targets_of = decltype(detail::find_targets<P>());

namespace detail {

template <class P, class Op>
concept handles_args = requires(const P& p, const args<Op>& a, emit<declared_by<P>>& e) { p(a, e); };
template <class P, class Op>
concept handles_tag = requires(const P& p, const args<Op>& a, emit<declared_by<P>>& e) { p(Op{}, a, e); };

template <class P, class Op>
auto call_handler(const P& p, const args<Op>& a, emit<declared_by<P>>& e) {
    if constexpr (handles_args<P, Op>) {
        return p(a, e);
    } else {
        return p(Op{}, a, e);
    }
}

template <class T>
inline constexpr bool is_replacement = std::is_same_v<T, value> || std::is_same_v<T, value_list>;
template <class... Ts>
inline constexpr bool is_replacement<std::tuple<Ts...>> = (std::is_same_v<Ts, value> && ...);

}  // namespace detail

/// Matches a pass and an op for which it has a rule or a handler.
template <class P, class Op>
concept handles = detail::has_rule<P, Op> || detail::handles_args<P, Op> || detail::handles_tag<P, Op>;

/// Matches passes whose should_run replaces the generated skip test: `bool should_run(const graph&, bool
/// has_targets) const`, which gets the result of that test.
template <class P>
concept replaces_skip_test = pass_type<P> && requires(const detail::pass_facts<P>& p, const graph& g) {
    { p.should_run(g, true) } -> std::same_as<bool>;
};

/// Matches passes that decide whether they run: `bool should_run(const graph&) const`, which is called only
/// if the graph has targets of the pass and so narrows the generated skip test, or a should_run that replaces
/// the test.
template <class P>
concept decides_itself =
    replaces_skip_test<P> || (pass_type<P> && requires(const detail::pass_facts<P>& p, const graph& g) {
        { p.should_run(g) } -> std::same_as<bool>;
    });

/// True if nodes are visited in execution order instead of op by op. Set `static constexpr bool
/// in_execution_order = true` in a pass whose handlers depend on rewrites of earlier nodes.
template <class P>
inline constexpr bool visits_in_execution_order = [] {
    if constexpr (requires { P::in_execution_order; }) {
        return P::in_execution_order;
    } else {
        return false;
    }
}();

/// Diagnoses that name the culprit in compile errors; see no_fault.
template <class Pass, class Op>
struct no_handler {};
template <class Pass, class Op, class Result>
struct wrong_result {};

template <class Diagnosis>
inline constexpr bool handlers_complete = true;
template <class Pass, class Op>
inline constexpr bool handlers_complete<no_handler<Pass, Op>> = false;
template <class Diagnosis>
inline constexpr bool results_are_values = false;
template <>
inline constexpr bool results_are_values<no_fault> = true;

namespace detail {

enum class handler_kind : std::uint8_t { none, wrong, rewrites, may_decline };

template <class P, class Op>
auto handler_result() {
    if constexpr (handles_args<P, Op>) {
        return std::type_identity<decltype(std::declval<const P&>()(
            std::declval<const args<Op>&>(), std::declval<emit<declared_by<P>>&>()))>{};
    } else {
        return std::type_identity<decltype(std::declval<const P&>()(
            Op{}, std::declval<const args<Op>&>(), std::declval<emit<declared_by<P>>&>()))>{};
    }
}
template <class P, class Op>
using handler_result_t = typename decltype(handler_result<P, Op>())::type;

template <class Result>
inline constexpr handler_kind kind_of_result =
    is_replacement<Result> ? handler_kind::rewrites
    : is_optional<Result> && is_replacement<typename unwrap_optional<Result>::type>
        ? handler_kind::may_decline
        : handler_kind::wrong;

template <class P, class Op>
constexpr handler_kind kind_of_handler() {
    if constexpr (has_rule<P, Op>) {
        return rules_for_op<P, Op>::may_decline() ? handler_kind::may_decline : handler_kind::rewrites;
    } else if constexpr (handles<P, Op>) {
        return kind_of_result<handler_result_t<P, Op>>;
    } else {
        return handler_kind::none;
    }
}

template <std::size_t N>
constexpr std::size_t position_of_kind(const handler_kind (&kinds)[N], handler_kind k) {
    for (std::size_t i = 0; i != N - 1; ++i) {
        if (kinds[i] == k) return i;
    }
    return N - 1;
}

template <class P, class Targets>
struct handler_table;
template <class P, class... Ops>
struct handler_table<P, ops<Ops...>> {
    // The last element ends the list.
    static constexpr handler_kind kinds[] = {kind_of_handler<P, Ops>()..., handler_kind::none};
    static constexpr std::size_t missing = position_of_kind(kinds, handler_kind::none);
    static constexpr std::size_t wrong = position_of_kind(kinds, handler_kind::wrong);

    static auto diagnose_missing() {
        if constexpr (missing == sizeof...(Ops)) {
            return no_fault{};
        } else {
            return no_handler<P, typename type_at<missing, ops<Ops...>>::type>{};
        }
    }
    static auto diagnose_result() {
        if constexpr (wrong == sizeof...(Ops)) {
            return no_fault{};
        } else {
            using op_type = typename type_at<wrong, ops<Ops...>>::type;
            return wrong_result<P, op_type, handler_result_t<P, op_type>>{};
        }
    }

    template <class Set>
    static constexpr void insert_removed(Set& set) {
        std::size_t i = 0;
        ((kinds[i++] == handler_kind::rewrites ? set.template insert<Ops>() : void()), ...);
        static_cast<void>(i);
    }
};

template <class Set, class... Ops>
constexpr void insert_all(Set& set, ops<Ops...>) {
    (set.template insert<Ops>(), ...);
}

template <class P>
inline constexpr bool always_runs = targets_of<P>::size == 0 || replaces_skip_test<P>;

// Whole-graph passes have no handlers to check; those of declared passes are checked where they are defined.
template <class P>
using table_of = handler_table<P, std::conditional_t<graph_pass<P> || is_declared<P>, ops<>, targets_of<P>>>;
template <class P>
using removable = std::conditional_t<graph_pass<P>, removes_of<P>, targets_of<P>>;

// Returns the ops that are gone after the pass. A pass that may decline to run removes nothing for certain.
template <class P, class Set>
constexpr Set removed_by() {
    Set set;
    if constexpr (is_declared<P>) {
        insert_all(set, removes_of<P>{});
    } else if constexpr (decides_itself<P>) {
        return set;
    } else if constexpr (graph_pass<P>) {
        insert_all(set, removes_of<P>{});
    } else {
        table_of<P>::insert_removed(set);
    }
    return set;
}

template <class List>
struct set_type_of_list;
template <class... Ops>
struct set_type_of_list<ops<Ops...>> {
    template <class... Ds>
    static op_set<Ds...> over(dialects<Ds...>);
    using type = decltype(over(dialects_of<Ops...>{}));
};
template <class List>
using set_type_of = typename set_type_of_list<List>::type;

}  // namespace detail

/// The effect of a pass on the set of ops of a graph, derived from its signatures. It does not report faults:
/// pipelines and apply_pass do, where the message is short.
template <pass_type P>
struct effects_of {
    using facts = detail::pass_facts<P>;
    using targets = targets_of<P>;
    /// The fault of the handlers, or no_fault.
    using missing_handler = decltype(detail::table_of<P>::diagnose_missing());
    using faulty_handler = decltype(detail::table_of<P>::diagnose_result());
    /// The fault of the rules, or no_fault.
    using faulty_rule = typename detail::list_effects<detail::rules_of<facts>>::template fault_of_pass<P>;

    /// False for a pass with a fault: pipelines ignore its effects, so that no second error follows.
    static constexpr bool sound =
        std::is_same_v<missing_handler, no_fault> && std::is_same_v<faulty_handler, no_fault> &&
        std::is_same_v<faulty_rule, no_fault>;
    /// True for a pass without targets, unless it declines, and for one that replaces the skip test.
    static constexpr bool always_runs = detail::always_runs<P>;

    // The types are explicit: with `auto`, each pass would instantiate its sets even if nothing reads them.
    static constexpr detail::set_type_of<targets> target_set = set_of<targets>;
    static constexpr auto produced_set = set_of<detail::declared_by<facts>> | detail::made_by_rules<facts>;
    static constexpr detail::set_type_of<detail::removable<P>> removed_set =
        detail::removed_by<P, detail::set_type_of<detail::removable<P>>>();
};

/// A pass's name: its `name` member, or the type's own.
template <class P>
constexpr std::string_view pass_name() {
    using facts = detail::pass_facts<P>;
    if constexpr (requires {
                      { facts::name } -> std::convertible_to<std::string_view>;
                  }) {
        return facts::name;
    } else {
        return type_name<P>;
    }
}

/// Returns a one-line summary of a pass, its `static constexpr std::string_view summary`: "silu(x) as x *
/// sigmoid(x)". Empty if it has none.
template <class P>
constexpr std::string_view pass_summary() {
    using facts = detail::pass_facts<P>;
    if constexpr (requires {
                      { facts::summary } -> std::convertible_to<std::string_view>;
                  }) {
        return facts::summary;
    } else {
        return {};
    }
}

}  // namespace headrace

// ---- headrace/pass/order.hpp ----

namespace headrace {

/// Base of properties. A property is a tag for a fact that holds for a graph between two passes; its
/// documentation states the fact.
///
///     struct functional : property {};  // nothing is written in place
///
/// A pass states its order with lists (pass_list<...>) of passes and properties:
///
/// - `requires_before`: each must be in the pipeline, before this pass; a property must still hold.
/// - `requires_after`: each must be in the pipeline, after this pass.
/// - `runs_after`, `runs_before`: as above, but only for those that are in the pipeline.
/// - `ensures`: the properties that hold after this pass; `invalidates`: those that no longer do.
///
/// For a pass that runs several times, it is enough that one of its runs is before (or after) the other pass.
/// `phase` names a struct with such lists that several passes share, in addition to their own. `from<...>`
/// may name properties that source programs have, and `to<...>` properties that must hold at the end.
///
/// A property with a set of ops `only` (`static constexpr auto only = every_op<tosa::dialect>`) need not be
/// ensured: it holds wherever the effects of earlier passes leave no other op. A pass that lists it in
/// `runs_after` is too early if the property does not hold before it but holds later.
struct property {};

/// Diagnoses of the order of passes, for compile errors.
template <class Pass, class Dependency>
struct unmet {};
template <class Pass, class Dependency>
struct misordered {};
template <class Pass, class Property, class InvalidatedBy>
struct invalidated {};
template <class Pass, class Property, class Op>
struct too_early {};
/// Replaces a pass in a diagnosis if `to<...>` of the pipeline requires a property.
struct end_of_pipeline {};
/// Replaces a pass in a diagnosis if `from<...>` of the pipeline states a property.
struct start_of_pipeline {};

namespace detail {

// The address identifies a pass or a property, so comparing two needs no template. The value, the length of
// its name, serves as a hash.
using order_id = const std::size_t*;
template <class T>
constexpr std::size_t length_of_name() {
    return sizeof(__PRETTY_FUNCTION__);
}
template <class T>
inline constexpr std::size_t identity_of = length_of_name<T>();

// Empty for a type that is not a list, which is a fault of the pass; see not_a_list.
template <class List>
struct listed_ids {
    static constexpr std::array<order_id, 0> value{};
};
template <class... Ts>
struct listed_ids<pass_list<Ts...>> {
    static constexpr std::array<order_id, sizeof...(Ts)> value{&identity_of<Ts>...};
};

enum class order_list : std::uint8_t {
    requires_before,
    runs_after,
    requires_after,
    runs_before,
    ensures,
    invalidates
};

}  // namespace detail

/// The order constraints of a pass or a phase, as data.
struct order_facts {
    using ids = std::span<const detail::order_id>;
    detail::order_id self = nullptr;
    const order_facts* phase = nullptr;  ///< its lists also apply to the pass
    ids requires_before{}, runs_after{}, requires_after{}, runs_before{}, ensures{}, invalidates{};

    /// False for a pass that may be anywhere, by its own lists and its phase's.
    [[nodiscard]] constexpr bool states_something() const {
        return !(requires_before.empty() && runs_after.empty() && requires_after.empty() &&
                 runs_before.empty() && ensures.empty() && invalidates.empty()) ||
               (phase != nullptr && phase->states_something());
    }
    [[nodiscard]] constexpr const ids& list(detail::order_list l) const {
        const ids* const all[] = {&requires_before, &runs_after, &requires_after,
                                  &runs_before,     &ensures,    &invalidates};
        return *all[static_cast<std::size_t>(l)];
    }
};

namespace detail {

template <class T>
constexpr order_facts make_order_facts();
template <class T>
inline constexpr order_facts own_order_facts = make_order_facts<T>();

template <class T>
constexpr order_facts make_order_facts() {
    order_facts f;
    f.self = &identity_of<T>;
    using facts = pass_facts<T>;
    if constexpr (requires { typename facts::requires_before; })
        f.requires_before = listed_ids<typename facts::requires_before>::value;
    if constexpr (requires { typename facts::runs_after; })
        f.runs_after = listed_ids<typename facts::runs_after>::value;
    if constexpr (requires { typename facts::requires_after; })
        f.requires_after = listed_ids<typename facts::requires_after>::value;
    if constexpr (requires { typename facts::runs_before; })
        f.runs_before = listed_ids<typename facts::runs_before>::value;
    if constexpr (requires { typename facts::ensures; })
        f.ensures = listed_ids<typename facts::ensures>::value;
    if constexpr (requires { typename facts::invalidates; })
        f.invalidates = listed_ids<typename facts::invalidates>::value;
    if constexpr (requires { typename facts::phase; }) f.phase = &own_order_facts<typename facts::phase>;
    return f;
}

// One of the lists of a pass or a phase itself, as a type, for diagnostics.
template <class T, order_list List>
auto pick_list() {
    if constexpr (List == order_list::requires_before && requires { typename T::requires_before; }) {
        return typename T::requires_before{};
    } else if constexpr (List == order_list::runs_after && requires { typename T::runs_after; }) {
        return typename T::runs_after{};
    } else if constexpr (List == order_list::requires_after && requires { typename T::requires_after; }) {
        return typename T::requires_after{};
    } else if constexpr (List == order_list::runs_before && requires { typename T::runs_before; }) {
        return typename T::runs_before{};
    } else if constexpr (List == order_list::ensures && requires { typename T::ensures; }) {
        return typename T::ensures{};
    } else if constexpr (List == order_list::invalidates && requires { typename T::invalidates; }) {
        return typename T::invalidates{};
    } else {
        return pass_list<>{};
    }
}
struct no_phase {};
template <class T>
auto find_phase() {
    if constexpr (requires { typename T::phase; }) {
        return std::type_identity<typename T::phase>{};
    } else {
        return std::type_identity<no_phase>{};
    }
}
template <class P>
using phase_of = typename decltype(find_phase<pass_facts<P>>())::type;

template <class... As, class... Bs>
pass_list<As..., Bs...> operator+(pass_list<As...>, pass_list<Bs...>);
/// The entries of a pass's list, followed by those of its phase.
template <class P, order_list List>
using order_list_of = decltype(decltype(pick_list<pass_facts<P>, List>()){} +
                               decltype(pick_list<phase_of<P>, List>()){});

}  // namespace detail

/// The order constraints of a pass.
template <class P>
inline constexpr const order_facts& order_facts_of = detail::own_order_facts<P>;

namespace detail {

enum class order_fault_kind : std::uint8_t { none, unmet, misordered, invalidated };

/// The fault of an order: entry `entry` in the `list` of the pass at `pass` is violated.
struct order_fault {
    order_fault_kind kind = order_fault_kind::none;
    std::size_t pass = 0;
    order_list list = order_list::requires_before;
    std::size_t entry = 0;
    std::size_t by = 0;  ///< the pass that invalidates a property
};

inline constexpr order_list wanting_lists[] = {order_list::requires_before, order_list::runs_after,
                                               order_list::requires_after, order_list::runs_before};

// Calls `f(id)` for each pass or property that the passes need. Lists of a phase are visited once for
// adjacent passes.
template <class F>
constexpr void for_each_wanted(std::span<const order_facts* const> passes, F&& f) {
    const order_facts* phase = nullptr;
    for (const order_facts* p : passes) {
        for (const order_list l : wanting_lists) {
            for (const order_id id : p->list(l)) f(id);
            if (p->phase == nullptr || p->phase == phase) continue;
            for (const order_id id : p->phase->list(l)) f(id);
        }
        phase = p->phase;
    }
}
/// Returns an upper bound of the number of passes and properties that are needed.
constexpr std::size_t count_wanted(std::span<const order_facts* const> passes) {
    std::size_t count = 0;
    for_each_wanted(passes, [&](order_id) { ++count; });
    return count;
}

/// Numbers identities in the order in which they are added. Lookup is by the length of their names: comparing
/// each with all others would be most of the proof's cost.
template <std::size_t Capacity>
class order_index {
public:
    [[nodiscard]] constexpr std::size_t size() const { return size_; }
    /// Returns the number of an identity, or size().
    [[nodiscard]] constexpr std::size_t find(order_id id) const {
        std::size_t k = buckets_[bucket_of(id)];
        while (k != 0 && ids_[k - 1] != id) k = next_[k - 1];
        return k == 0 ? size_ : k - 1;
    }
    /// Returns false if it was already present.
    constexpr bool add(order_id id) {
        if (find(id) != size_) return false;
        std::size_t& bucket = buckets_[bucket_of(id)];
        ids_[size_] = id;
        next_[size_] = bucket;
        bucket = ++size_;
        return true;
    }

private:
    static constexpr std::size_t buckets = 64;
    static constexpr std::size_t bucket_of(order_id id) { return *id % buckets; }

    std::array<order_id, Capacity + 1> ids_{};
    std::array<std::size_t, Capacity + 1> next_{};  ///< next entry in the bucket, counted from 1; 0 for none
    std::array<std::size_t, buckets> buckets_{};
    std::size_t size_ = 0;
};

/// Finds the first fault of an order; missing passes come before misplaced ones.
template <std::size_t Capacity>
class order_check {
public:
    constexpr explicit order_check(std::span<const order_facts* const> passes) : passes_(passes) {
        for_each_wanted(passes, [&](order_id id) { wanted_.add(id); });
        for (std::size_t i = 0; i != passes.size(); ++i) {
            for_provided(*passes[i], [&](state& s) { s.last_provider = i + 1; });
        }
    }

    [[nodiscard]] constexpr order_fault first() {
        for (std::size_t i = 0; i != passes_.size(); ++i) {
            const order_facts& p = *passes_[i];
            look_back(i, order_list::requires_before);
            look_back(i, order_list::runs_after);
            look_ahead(i, order_list::requires_after);
            look_ahead(i, order_list::runs_before);
            for_each(p, order_list::invalidates, [&](order_id id, std::size_t) {
                if (const std::size_t k = wanted_.find(id); k != wanted_.size() && states_[k].holds) {
                    states_[k].holds = false;
                    states_[k].invalidated_by = i + 1;
                }
            });
            for_provided(p, [&](state& s) { s.holds = true; });
        }
        return unmet_.kind != order_fault_kind::none ? unmet_ : misplaced_;
    }

private:
    // Positions count from 1; 0 means none.
    struct state {
        std::size_t last_provider = 0, invalidated_by = 0;
        bool holds = false;
    };
    // Calls `f(id, entry)` for the entries of a pass's list, then those of its phase.
    template <class F>
    static constexpr void for_each(const order_facts& p, order_list l, F&& f) {
        std::size_t entry = 0;
        for (const order_id id : p.list(l)) f(id, entry++);
        if (p.phase == nullptr) return;
        for (const order_id id : p.phase->list(l)) f(id, entry++);
    }
    template <class F>
    constexpr void for_provided(const order_facts& p, F&& f) {
        const auto provide = [&](order_id id, std::size_t) {
            if (const std::size_t k = wanted_.find(id); k != wanted_.size()) f(states_[k]);
        };
        provide(p.self, 0);
        for_each(p, order_list::ensures, provide);
    }

    constexpr void look_back(std::size_t i, order_list l) {
        for_each(*passes_[i], l, [&](order_id id, std::size_t entry) {
            const state& s = states_[wanted_.find(id)];
            if (s.holds) return;
            if (s.last_provider == 0) {
                if (l == order_list::requires_before) report(order_fault_kind::unmet, i, l, entry, 0);
            } else if (s.invalidated_by != 0) {
                report(order_fault_kind::invalidated, i, l, entry, s.invalidated_by - 1);
            } else {
                report(order_fault_kind::misordered, i, l, entry, 0);
            }
        });
    }
    constexpr void look_ahead(std::size_t i, order_list l) {
        for_each(*passes_[i], l, [&](order_id id, std::size_t entry) {
            const state& s = states_[wanted_.find(id)];
            if (s.last_provider > i + 1) return;
            if (s.last_provider != 0) {
                report(order_fault_kind::misordered, i, l, entry, 0);
            } else if (l == order_list::requires_after) {
                report(order_fault_kind::unmet, i, l, entry, 0);
            }
        });
    }
    constexpr void report(order_fault_kind kind, std::size_t i, order_list l, std::size_t entry,
                          std::size_t by) {
        order_fault& f = kind == order_fault_kind::unmet ? unmet_ : misplaced_;
        if (f.kind == order_fault_kind::none) f = {kind, i, l, entry, by};
    }

    std::span<const order_facts* const> passes_;
    order_index<Capacity> wanted_;
    std::array<state, Capacity + 1> states_{};  ///< of each needed pass or property
    order_fault unmet_{}, misplaced_{};
};

}  // namespace detail

}  // namespace headrace

// ---- headrace/pass/driver.hpp ----

namespace headrace {

namespace detail {

/// Matches graph passes that return node_counts.
template <class P>
concept counts_nodes = graph_pass<P> && requires(const P& p, graph& g, pass_context& c) {
    { p.run(g, c) } -> std::same_as<result<node_counts>>;
};

inline void append(value_list& out, value v) { out.push_back(v); }
inline void append(value_list& out, const value_list& items) {
    for (const value v : items) out.push_back(v);
}
template <class... Ts>
void append(value_list& out, const std::tuple<Ts...>& items) {
    std::apply([&](const auto&... v) { (out.push_back(v), ...); }, items);
}

/// `kept`: the handler returned the node's own results.
enum class outcome_kind : std::uint8_t { replaced, kept, declined, failed };

/// Runs the handler of `Op` and flattens its result.
template <class P, class Op>
outcome_kind replacements_for(const P& p, const args<Op>& a, emit<declared_by<P>>& e, value_list& out) {
    auto returned = call_handler<P, Op>(p, a, e);
    if (e.failed()) return outcome_kind::failed;
    if constexpr (is_optional<decltype(returned)>) {
        if (!returned) return outcome_kind::declined;
        append(out, *returned);
    } else {
        append(out, returned);
    }
    return outcome_kind::replaced;
}

/// A handler with erased types, so that drivers are compiled once instead of once per pass and target.
struct handler {
    const op_info* op;
    outcome_kind (*call)(const void* pass, emitter e, value_list& with);  // for the current node
};

template <class P, class Op>
outcome_kind call_erased(const void* pass, emitter any, value_list& with) {
    emit<declared_by<P>> e(any);
    return replacements_for<P, Op>(*static_cast<const P*>(pass), args_of<Op>(e.current()), e, with);
}
template <class Rules>
outcome_kind call_rules(const void*, emitter e, value_list& with) {
    const bool rewritten = Rules::run(e, e.current(), with);
    if (e.failed()) return outcome_kind::failed;
    return rewritten ? outcome_kind::replaced : outcome_kind::declined;
}
template <class P, class Op>
constexpr handler handler_for() {
    if constexpr (has_rule<P, Op>) {
        return {&info_of<Op>, &call_rules<rules_for_op<P, Op>>};
    } else {
        return {&info_of<Op>, &call_erased<P, Op>};
    }
}

template <class P, class Targets>
struct handlers_in;
template <class P, class... Ops>
struct handlers_in<P, ops<Ops...>> {
    static constexpr std::array<handler, sizeof...(Ops)> value{handler_for<P, Ops>()...};
};

/// The ops of a list, as data for code that is compiled once.
template <class List>
struct infos_in;
template <class... Ops>
struct infos_in<ops<Ops...>> {
    static constexpr std::array<const op_info*, sizeof...(Ops)> value{&info_of<Ops>...};
};

/// True if a graph or one of its regions has a node of one of these ops.
bool has_any_of(const graph& g, std::span<const op_info* const> ops);

class retracing_run;

/// The type-erased form of a pass, for the drivers.
struct erased_pass {
    const void* object;
    std::string_view name;
    std::span<const handler> handlers;
    bool in_execution_order;
    // Used only by interpreters, see export_pass.
    const handler* fallback = nullptr;  ///< for operators without a handler
    bool changes_metadata = false;      ///< values that depend on a changed type are inferred again
    result<void> (*submodule)(const void* pass, retracing_run& run, graph& region, node& holder,
                              pass_context& context) = nullptr;
};
template <class P>
erased_pass erase_type(const P& p) {
    return {&p, pass_name<P>(), handlers_in<P, targets_of<P>>::value, visits_in_execution_order<P>};
}

result<node_counts> run_handlers(const erased_pass& p, graph& g, pass_context& context, driver_kind driver);
/// Continues a run in a region of the visited node.
result<void> retrace_region(retracing_run& run, graph& region);

}  // namespace detail

/// Visits only nodes of the pass's targets, op by op or in execution order (visits_in_execution_order), and
/// rewrites them in place. Nodes that handlers add are not visited in the same run.
template <pass_type P>
class in_place_driver {
public:
    [[nodiscard]] static result<node_counts> run(const P& p, graph& g, pass_context& context) {
        return detail::run_handlers(detail::erase_type(p), g, context, driver_kind::in_place);
    }
};

/// Visits all nodes in execution order, like an interpreter. Nodes of target ops go to their handlers. Other
/// nodes are copied; those without `val` are dispatched in full, that is, inferred again. Use it for passes
/// that change metadata globally.
template <pass_type P>
class retracing_driver {
public:
    [[nodiscard]] static result<node_counts> run(const P& p, graph& g, pass_context& context) {
        return detail::run_handlers(detail::erase_type(p), g, context, driver_kind::retracing);
    }
};

}  // namespace headrace

// ---- headrace/ir/edits.hpp ----

namespace headrace {

/// Replaces `n` by a node of another op and erases `n`. The new node gets its results, with their metadata
/// and names, and its annotations.
void replace_node(node& n, const op_info& op, const void* arguments);

/// Erases a node if it is unused, and then its operands if they become unused. If `heir` is given, it
/// replaces all of them: their origins are joined to its own.
void erase_dead(graph& g, node& n, node* heir = nullptr);

/// Gives a result's name to a new value, unless that has one.
inline void hand_over_name(const result_slot& from, value to) {
    result_slot& slot = to.producer->results[to.result];
    if (slot.name.empty()) slot.name = from.name;
}

}  // namespace headrace

// ---- headrace/ir/edits_definition.hpp ----

namespace headrace {

HEADRACE_INLINE void replace_node(node& n, const op_info& op, const void* arguments) {
    graph& g = *n.owner;
    node& made = g.create(op, arguments, n.result_count, &n);
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        made.results[i] = n.results[i];
        g.replace_all_uses(n.result(i), made.result(i));
    }
    g.inherit_annotations(made, n);
    g.erase(n);
}

HEADRACE_INLINE void erase_dead(graph& g, node& n, node* heir) {
    const auto is_dead = [](const node& other) {
        return other.owner != nullptr && other.first_use == nullptr && !is<builtin::placeholder>(other) &&
               !is<builtin::output>(other);
    };
    pmr_vector<node*> pending;  // usually empty, and then free
    for (node* dead = &n; dead != nullptr;) {
        if (is_dead(*dead)) {
            if (heir != nullptr && !is<builtin::constant>(*dead)) g.join_origins(*heir, *dead);
            g.erase(*dead);
            for (const edge& e : dead->operand_edges()) {
                if (is_dead(*e.source)) pending.push_back(e.source);
            }
        }
        dead = pending.empty() ? nullptr : pending.back();
        if (dead != nullptr) pending.pop_back();
    }
}

}  // namespace headrace

// ---- headrace/pass/driver_definition.hpp ----

namespace headrace::detail {

/// Refuses replacements that do not match the results of `n`: there must be one for each used result, with
/// the same shape unless the shape may change.
inline result<void> check_replacements(const node& n, const value_list& with, bool shape_may_change) {
    if (with.size() != n.result_count) {
        return invalid({"the pass gave ", counted_text(with.size(), "result"), " for ", n.result_count});
    }
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        const bool used = is_used({const_cast<node*>(&n), i});
        if (!with[i]) {
            if (used) return unsupported({"result ", i, " is used, and has no lowering"});
            continue;
        }
        const auto& before = n.results[i].meta;
        const tensor_meta* after = meta_of(with[i]);
        if (!shape_may_change && before && after != nullptr && !(before->shape == after->shape)) {
            return invalid({"the pass changed the shape of result ", i});
        }
    }
    return {};
}

/// Erases unused nodes between `before` (or the first) and `n`, which a handler made in vain. Inputs and
/// outputs stay if `keep_interface`, that is, if the handler did not fail.
inline void erase_unused_between(graph& g, const node* before, node& n, bool keep_interface) {
    for (node* made = n.previous; made != before;) {
        node* previous = made->previous;
        const bool needed = keep_interface && (is<builtin::placeholder>(*made) || is<builtin::output>(*made));
        if (made->first_use == nullptr && !needed) g.erase(*made);
        made = previous;
    }
}

/// Rewrites one node by a handler, and counts the outcome.
class pass_run {
protected:
    pass_run(const erased_pass& p, graph& g, pass_context& context)
        : pass_(p), graph_(g), context_(context), made_(g, context) {}

    result<void> rewrite(node& n, const handler& h) {
        graph& g = *n.owner;
        const node* before = n.previous;
        value_list with;
        made_.begin(g, &n, &n);
        outcome_kind outcome = h.call(pass_.object, emitter(made_), with);
        if (outcome == outcome_kind::replaced) {
            const result<void> sound = check_replacements(n, with, pass_.changes_metadata);
            if (!sound) {
                const error& fault = sound.error();
                if (fault.kind == error_kind::invalid && context_.diagnostics().empty())
                    return fault.in(message_prefix(n) + std::pmr::string(pass_.name));
                context_.report(n, fault.message, fault.kind);
                outcome = outcome_kind::failed;
            }
        }
        if (outcome == outcome_kind::replaced) {
            for (std::uint32_t i = 0; i != n.result_count; ++i) {
                if (with[i]) replace_result(g, n.result(i), with[i]);
            }
            ++counts_.rewritten;
        } else if (outcome == outcome_kind::declined) {
            ++counts_.declined;
        } else if (outcome == outcome_kind::kept) {
            ++counts_.copied;
        }  // a failure has been reported; the node stays
        erase_unused_between(g, before, n, outcome == outcome_kind::replaced);
        if (outcome == outcome_kind::replaced) erase_replaced(g, n, with);
        return {};
    }

    /// Marks the users of `from`, whose type has changed.
    void mark_users(value from) {
        for (const edge& e : from.producer->uses()) {
            if (e.slot->result == from.result) stale_.push_back(e.target);
        }
    }

    const erased_pass& pass_;
    graph& graph_;
    pass_context& context_;
    emission made_;
    node_counts counts_;
    pmr_vector<const node*> stale_;  // to be inferred again when visited

private:
    void replace_result(graph& g, value from, value to) {
        if (pass_.changes_metadata) {
            const tensor_meta* was = meta_of(from);
            const tensor_meta* is_now = meta_of(to);
            if (was == nullptr || is_now == nullptr || !same_val(*was, *is_now)) mark_users(from);
        }
        // An input keeps its name: the new value after it is a different one.
        if (!is<builtin::placeholder>(*from.producer)) {
            hand_over_name(from.producer->results[from.result], to);
        }
        g.replace_all_uses(from, to);
    }

    static void erase_replaced(graph& g, node& n, const value_list& with) {
        if (is<builtin::placeholder>(n) || is<builtin::output>(n)) {
            g.erase(n);
        } else {
            erase_dead(g, n, with.size() == 1 && with[0] ? with[0].producer : nullptr);
        }
    }
};

class in_place_run : pass_run {
public:
    in_place_run(const erased_pass& p, graph& g, pass_context& context) : pass_run(p, g, context) {}

    result<node_counts> run() {
        if (pass_.in_execution_order) {
            if (result<void> status = run_in_order(graph_); !status) return std::move(status).error();
            return counts_;
        }
        // Nodes are collected first, so that nodes emitted by one handler are not visited for another target.
        pmr_vector<graph*> graphs;
        for_each_graph(graph_, [&](graph& sub) { graphs.push_back(&sub); });
        found_nodes found;
        for (const handler& h : pass_.handlers) {
            for (graph* sub : graphs) {
                for (node& n : sub->nodes_of(*h.op)) found.push_back({&n, &h});
            }
        }
        if (result<void> status = rewrite_all(found); !status) return std::move(status).error();
        return counts_;
    }

private:
    // A std::pair in a pmr container would take as long to compile as the rest of this file.
    struct found_node {
        node* target;
        const handler* by;
    };
    using found_nodes = pmr_vector<found_node>;

    result<void> rewrite_all(const found_nodes& found) {
        for (std::size_t i = 0; i != found.size(); ++i) {
            prefetch_to_rewrite(i, found.size(), [&](std::size_t at) { return found[at].target; });
            const found_node& f = found[i];
            if (f.target->owner == nullptr) continue;  // an earlier rewrite erased it
            HEADRACE_TRY(rewrite(*f.target, *f.by));
        }
        return {};
    }

    // Visits each graph before its regions, because handlers may change the signatures of regions.
    result<void> run_in_order(graph& g) {
        found_nodes found;
        for (node& n : g.nodes_alone()) {
            for (const handler& h : pass_.handlers) {
                if (h.op == n.op) found.push_back({&n, &h});
            }
        }
        HEADRACE_TRY(rewrite_all(found));
        for (graph* region : live_regions(g)) {
            HEADRACE_TRY(run_in_order(*region));
        }
        return {};
    }
};

/// The handlers of a pass by op: a lookup instead of a search for each node.
class handler_index {
public:
    explicit handler_index(std::span<const handler> handlers)
        : slots_(std::bit_ceil(2 * handlers.size() + 1)) {
        for (const handler& h : handlers) slots_[place_of(*h.op)] = &h;
    }
    [[nodiscard]] const handler* find(const op_info& op) const { return slots_[place_of(op)]; }

private:
    // Returns the slot with the op's handler, or the free slot where it would go.
    [[nodiscard]] std::size_t place_of(const op_info& op) const {
        return find_slot(slots_.size(), reinterpret_cast<std::uintptr_t>(&op) / sizeof(op_info),
                         [&](std::size_t at) { return slots_[at] == nullptr || slots_[at]->op == &op; });
    }

    pmr_vector<const handler*> slots_;  // a power of two in number, at most half in use
};

/// Visits every node in execution order. The new graph reuses the nodes of the old one, since both would be
/// in the same arena and the old one is dropped: a copied node is the node itself, with the current values as
/// operands. This takes a few nanoseconds; a real copy took 185.
class retracing_run : pass_run {
public:
    retracing_run(const erased_pass& p, graph& g, pass_context& context)
        : pass_run(p, g, context), inference_(g.arena()), handlers_(p.handlers) {}

    result<node_counts> run() {
        if (result<void> status = retrace(graph_); !status) return std::move(status).error();
        return counts_;
    }

    result<void> retrace(graph& g) {
        const bool inputs_first = handlers_.find(info_of<builtin::placeholder>) != nullptr;
        if (inputs_first) {
            // Inputs come in the order of the signature, which is their order of creation.
            pmr_vector<node*> inputs;
            for (node& n : g.inputs()) inputs.push_back(&n);
            for (node* n : inputs) {
                HEADRACE_TRY(visit(*n));
            }
        }
        const bool has_regions = !g.regions().empty();
        const bool visits_regions = has_regions && pass_.submodule != nullptr;
        for (node* n = g.first(); n != nullptr;) {
            node* next = n->next;  // nodes that handlers make come before `n` and are not visited
            if (!visits_regions && is_copied(*n)) {
                ++counts_.copied;
            } else if (!inputs_first || !is<builtin::placeholder>(*n)) {
                HEADRACE_TRY(visit(*n));
            }
            n = next;
        }
        if (!has_regions || visits_regions) return {};
        for (graph* region : live_regions(g)) {
            HEADRACE_TRY(retrace(*region));
        }
        return {};
    }

private:
    /// True for most nodes in most passes: the node is not a target, has all its `val`, and nothing that it
    /// depends on has changed.
    [[nodiscard]] bool is_copied(const node& n) const {
        return handlers_.find(*n.op) == nullptr && pass_.fallback == nullptr && stale_.empty() &&
               context_.copies_fast() && has_val(n);
    }
    [[nodiscard]] static bool has_val(const node& n) {
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            if (!n.results[i].meta) return false;
        }
        return true;
    }

    result<void> visit(node& n) {
        bool stale = erase_if(stale_, [&](const node* other) { return other == &n; }) != 0;
        if (pass_.submodule != nullptr) {
            HEADRACE_TRY(visit_regions(n, stale));
        }
        const bool builtin_op = is_of_dialect<builtin::dialect>(n);
        const bool missing = !has_val(n);
        const bool inferred = missing || (!builtin_op && (stale || !context_.copies_fast()));
        if (inferred) {
            HEADRACE_TRY(infer(n, missing || stale));
        }
        const handler* h = handlers_.find(*n.op);
        if (h == nullptr && !builtin_op) h = pass_.fallback;
        if (h != nullptr) return rewrite(n, *h);
        ++(inferred ? counts_.inferred : counts_.copied);
        return {};
    }

    /// Sets `stale` if a region now has results of other types.
    result<void> visit_regions(node& n, bool& stale) {
        result<void> status;
        for_each_region(n, [&](const field_info&, graph* region) {
            if (!status || region == nullptr) return;
            const pmr_vector<tensor_meta> before = output_metas(*region);
            status = pass_.submodule(pass_.object, *this, *region, n, context_);
            const pmr_vector<tensor_meta> after = output_metas(*region);
            stale = stale || !std::equal(before.begin(), before.end(), after.begin(), after.end(), same_val);
        });
        return status;
    }
    [[nodiscard]] static pmr_vector<tensor_meta> output_metas(const graph& g) {
        pmr_vector<tensor_meta> metas;
        for (const value v : g.outputs())
            metas.push_back(meta_of(v) == nullptr ? tensor_meta{} : *meta_of(v));
        return metas;
    }

    /// Without `store`, the inferred result is dropped: a pass such as narrow_int64 may know better.
    result<void> infer(node& n, bool store) {
        inference_.clear();
        if (result<void> inferred = context_.infer(n, inference_); !inferred) return inferred;
        if (inference_.results().size() != n.result_count) {
            return invalid({message_prefix(n), "inference gives ",
                            counted_text(inference_.results().size(), "result"), " for ", n.result_count});
        }
        for (std::uint32_t i = 0; store && i != n.result_count; ++i) {
            const auto& was = n.results[i].meta;
            const tensor_meta& is_now = inference_.results()[i];
            if (is_now.dtype == dtype::unknown) continue;  // the rule leaves it open
            if (pass_.changes_metadata && was && !(*was == is_now)) mark_users(n.result(i));
            if (!was || !(*was == is_now)) n.owner->set_meta(n.result(i), is_now);
        }
        return {};
    }

    inference inference_;
    handler_index handlers_;
};

HEADRACE_INLINE bool has_any_of(const graph& g, std::span<const op_info* const> ops) {
    return any_of(ops, [&](const op_info* op) {
        const std::span<const std::uint64_t> present = g.census().present(*op->dialect);
        return !present.empty() && (present[op->index / 64] >> op->index % 64 & 1) != 0;
    });
}

HEADRACE_INLINE result<node_counts> run_handlers(const erased_pass& p, graph& g, pass_context& context,
                                                 driver_kind driver) {
    if (driver == driver_kind::in_place) return in_place_run(p, g, context).run();
    return retracing_run(p, g, context).run();
}

HEADRACE_INLINE result<void> retrace_region(retracing_run& run, graph& region) { return run.retrace(region); }

}  // namespace headrace::detail

// ---- headrace/pass/pass_checks.hpp ----

namespace headrace {

/// Diagnoses, for compile errors; see no_fault. `Op` is `graph` for a pass over the whole graph.
template <class T>
struct not_a_pass {};
/// The pass is only declared as `struct Pass;`.
template <class Pass>
struct only_declared {};
template <class Pass, class Op>
struct handler_not_const {};
/// `Handler` is the type of the pass's only handler, which fits none of its targets.
template <class Pass, class Op, class Handler>
struct wrong_handler {};
/// A pass has handlers but no targets, so nothing would call them.
template <class Pass>
struct no_targets {};
/// The function `rewrites` of a pass returns something other than rules, or is not static.
template <class Pass, class Result>
struct no_rules {};
struct not_static {};
/// A member of a pass is a `T` instead of an `ops` or a `pass_list`.
template <class Pass, fixed_string Member, class T>
struct not_a_list {};

// One trait per message; each fails only for its own diagnosis. Each entry point repeats these assertions: a
// shared helper would lengthen the backtrace.
template <class Diagnosis>
inline constexpr bool is_a_pass = true;
template <class T>
inline constexpr bool is_a_pass<not_a_pass<T>> = false;
template <class Diagnosis>
inline constexpr bool is_defined = true;
template <class Pass>
inline constexpr bool is_defined<only_declared<Pass>> = false;
template <class Diagnosis>
inline constexpr bool handlers_are_const = true;
template <class Pass, class Op>
inline constexpr bool handlers_are_const<handler_not_const<Pass, Op>> = false;
template <class Diagnosis>
inline constexpr bool handlers_fit = true;
template <class Pass, class Op, class Handler>
inline constexpr bool handlers_fit<wrong_handler<Pass, Op, Handler>> = false;
template <class Diagnosis>
inline constexpr bool lists_are_lists = true;
template <class Pass, fixed_string Member, class T>
inline constexpr bool lists_are_lists<not_a_list<Pass, Member, T>> = false;
template <class Diagnosis>
inline constexpr bool rewrites_are_rules = true;
template <class Pass, class Result>
inline constexpr bool rewrites_are_rules<no_rules<Pass, Result>> = false;
template <class Diagnosis>
inline constexpr bool handlers_have_targets = true;
template <class Pass>
inline constexpr bool handlers_have_targets<no_targets<Pass>> = false;

namespace detail {

// Detects a call operator, overloaded or a template or not: the name is then ambiguous in a class that also
// derives from this one.
struct has_call_operator_too {
    void operator()();
};
template <class P>
struct call_probe : P, has_call_operator_too {};
template <class P>
inline constexpr bool has_handlers = [] {
    if constexpr (std::is_final_v<P>) {
        return requires { &P::operator(); };
    } else {
        return !requires { &call_probe<P>::operator(); };
    }
}();

template <class P, class Op>
concept handles_if_not_const = requires(P& p, const args<Op>& a, emit<declared_by<P>>& e) { p(a, e); } ||
                               requires(P& p, const args<Op>& a, emit<declared_by<P>>& e) { p(Op{}, a, e); };

template <class P, class... Ops>
constexpr bool handles_any(ops<Ops...>) {
    return (handles<P, Ops> || ...);
}

// Refines the diagnosis if a handler exists but does not take its arguments.
template <class P, class Op>
auto refine(no_handler<P, Op>) {
    if constexpr (handles_if_not_const<P, Op>) {
        return handler_not_const<P, Op>{};
    } else if constexpr (requires { &P::operator(); }) {
        if constexpr (handles_any<P>(targets_of<P>{})) {
            return no_handler<P, Op>{};
        } else {
            return wrong_handler<P, Op, decltype(&P::operator())>{};
        }
    } else {
        return no_handler<P, Op>{};
    }
}

template <class T>
inline constexpr bool is_pass_list = false;
template <class... Passes>
inline constexpr bool is_pass_list<pass_list<Passes...>> = true;

// Returns the first member that should be a list but is not one.
template <class P>
auto find_other_list() {
    if constexpr (requires { requires !is_op_list<typename P::targets>; }) {
        return not_a_list<P, "targets", typename P::targets>{};
    } else if constexpr (requires { requires !is_op_list<typename P::targeted_ops>; }) {
        return not_a_list<P, "targeted_ops", typename P::targeted_ops>{};
    } else if constexpr (requires { requires !is_op_list<typename P::target_ops>; }) {
        return not_a_list<P, "target_ops", typename P::target_ops>{};
    } else if constexpr (requires { requires !is_op_list<typename P::supported_ops>; }) {
        return not_a_list<P, "supported_ops", typename P::supported_ops>{};
    } else if constexpr (requires { requires !is_op_list<typename P::edge_ops>; }) {
        return not_a_list<P, "edge_ops", typename P::edge_ops>{};
    } else if constexpr (requires { requires !is_op_list<typename P::aten_ops>; }) {
        return not_a_list<P, "aten_ops", typename P::aten_ops>{};
    } else if constexpr (requires { requires !is_op_list<typename P::produces>; }) {
        return not_a_list<P, "produces", typename P::produces>{};
    } else if constexpr (requires { requires !is_op_list<typename P::removes>; }) {
        return not_a_list<P, "removes", typename P::removes>{};
    } else if constexpr (requires { requires !is_pass_list<typename P::requires_before>; }) {
        return not_a_list<P, "requires_before", typename P::requires_before>{};
    } else if constexpr (requires { requires !is_pass_list<typename P::requires_after>; }) {
        return not_a_list<P, "requires_after", typename P::requires_after>{};
    } else if constexpr (requires { requires !is_pass_list<typename P::runs_before>; }) {
        return not_a_list<P, "runs_before", typename P::runs_before>{};
    } else if constexpr (requires { requires !is_pass_list<typename P::runs_after>; }) {
        return not_a_list<P, "runs_after", typename P::runs_after>{};
    } else if constexpr (requires { requires !is_pass_list<typename P::ensures>; }) {
        return not_a_list<P, "ensures", typename P::ensures>{};
    } else if constexpr (requires { requires !is_pass_list<typename P::invalidates>; }) {
        return not_a_list<P, "invalidates", typename P::invalidates>{};
    } else {
        return no_fault{};
    }
}

// Returns a fault if the function `rewrites` does not return rules.
template <class P>
auto find_other_rewrites() {
    if constexpr (!std::is_same_v<rules_of<P>, rule_list<>>) {
        return no_fault{};
    } else if constexpr (requires { P::rewrites(); }) {
        using returned = decltype(P::rewrites());
        return std::conditional_t<is_rule_list<returned>, no_fault, no_rules<P, returned>>{};
    } else if constexpr (requires(P& p) { p.rewrites(); }) {
        return no_rules<P, not_static>{};
    } else {
        return no_fault{};
    }
}

// Returns the first op that the rules of a pass make and that has no inference. Ops of handlers are checked
// where they are emitted; a declared pass is checked where it is compiled.
template <class... Ops>
auto find_not_inferred(ops<Ops...>) {
    using dialect = builtin::dialect;
    return typename first_of_faults<
        std::conditional_t<inferable<Ops> || std::is_same_v<typename Ops::dialect_type, dialect>, no_fault,
                           no_inference<Ops>>...>::type{};
}
template <class P>
auto find_inference_fault() {
    if constexpr (is_declared<P> || !requires { sizeof(P); }) {
        return no_fault{};
    } else if constexpr (requires { typename P::made_by_expressions; }) {
        return find_not_inferred(typename P::made_by_expressions{});
    } else if constexpr (!std::is_same_v<rules_of<P>, rule_list<>>) {
        return find_not_inferred(list_of_set<made_by_rules<P>>{});
    } else {
        return no_fault{};
    }
}

template <class P>
auto find_pass_fault() {
    if constexpr (is_declared<P>) {
        return no_fault{};  // checked where it is compiled
    } else if constexpr (!requires { sizeof(P); }) {
        return only_declared<P>{};
    } else if constexpr (!pass_type<P>) {
        return not_a_pass<P>{};
    } else if constexpr (!std::is_same_v<decltype(find_other_list<P>()), no_fault>) {
        return find_other_list<P>();
    } else if constexpr (!std::is_same_v<decltype(find_other_rewrites<P>()), no_fault>) {
        return find_other_rewrites<P>();
    } else if constexpr (!std::is_same_v<typename effects_of<P>::faulty_rule, no_fault>) {
        return typename effects_of<P>::faulty_rule{};
    } else if constexpr (!std::is_same_v<typename effects_of<P>::missing_handler, no_fault>) {
        return detail::refine(typename effects_of<P>::missing_handler{});
    } else if constexpr (targets_of<P>::size != 0 || graph_pass<P> || !has_handlers<P>) {
        return no_fault{};
    } else if constexpr (requires(P& p, graph& g, pass_context& c) { p(g, c); }) {
        return handler_not_const<P, graph>{};
    } else {
        return no_targets<P>{};
    }
}
template <class P>
auto find_code_fault() {
    if constexpr (
        requires { sizeof(P); } || requires { requires declared_pass<P>::is_compiled; }) {
        return no_fault{};
    } else {
        return only_declared<P>{};
    }
}
template <class P>
auto find_faulty_handler() {
    if constexpr (!is_declared<P> && pass_type<P>) {
        return typename effects_of<P>::faulty_handler{};
    } else {
        return no_fault{};
    }
}

}  // namespace detail

/// The fault that keeps a pass from running, or no_fault: the type is not a pass or only declared, a target
/// has no fitting handler, or handlers have no targets.
template <class P>
using pass_fault = decltype(detail::find_pass_fault<P>());
/// The fault of a pass with neither a definition here nor code in headrace::compiled, or no_fault.
template <class P>
using code_fault_of = decltype(detail::find_code_fault<P>());
/// The handler whose result cannot replace a node, or no_fault.
template <class P>
using faulty_handler_of = decltype(detail::find_faulty_handler<P>());

/// The op that a pass's expressions make and that has no inference, or no_fault.
template <class P>
using inference_fault_of = decltype(detail::find_inference_fault<P>());

/// Matches passes without a fault; proofs rely on it.
template <class P>
concept sound_pass =
    std::is_same_v<pass_fault<P>, no_fault> && std::is_same_v<faulty_handler_of<P>, no_fault>;
/// Matches passes whose ops have inference, and those of them that can run.
template <class P>
concept has_inference = std::is_same_v<inference_fault_of<P>, no_fault>;
template <class P>
concept runnable_pass = sound_pass<P> && has_inference<P>;

}  // namespace headrace

// ---- headrace/pass/pipeline_checks.hpp ----

namespace headrace {

/// Diagnoses of pipelines, for compile errors. `Origin` is emitted_by<Pass> if a pass makes the op.
template <class Op, class LastPass, class... Origin>
struct survives {};
template <class Pass>
struct emitted_by {};
/// Up to max_survivors surviving ops.
template <class... Survivors>
struct survivors {};
inline constexpr std::size_t max_survivors = 20;
template <class Pass>
struct listed_twice {};
/// Replaces the pass in a diagnosis if none targets the op.
struct no_pass {};

template <class Diagnosis>
inline constexpr bool ends_in_legal_ops = false;
template <>
inline constexpr bool ends_in_legal_ops<no_fault> = true;
template <class Diagnosis>
inline constexpr bool listed_once = false;
template <>
inline constexpr bool listed_once<no_fault> = true;

// One trait per message about order; each fails only for its own diagnosis.
template <class Diagnosis>
inline constexpr bool dependencies_met = true;
template <class Pass, class Dependency>
inline constexpr bool dependencies_met<unmet<Pass, Dependency>> = false;
template <class Diagnosis>
inline constexpr bool order_kept = true;
template <class Pass, class Dependency>
inline constexpr bool order_kept<misordered<Pass, Dependency>> = false;
template <class Diagnosis>
inline constexpr bool properties_hold = true;
template <class Pass, class Property, class By>
inline constexpr bool properties_hold<invalidated<Pass, Property, By>> = false;
template <class Diagnosis>
inline constexpr bool ops_are_gone = true;
template <class Pass, class Property, class Op>
inline constexpr bool ops_are_gone<too_early<Pass, Property, Op>> = false;

namespace detail {

template <class List>
struct set_over;
template <class... Ds>
struct set_over<dialects<Ds...>> {
    using type = op_set<Ds...>;
};

// The dialects of lists of dialects or of ops, in order of first appearance. Passes have few different lists
// of dialects, so a fold instantiates few templates.
template <class List, class... Ds>
auto operator+(collected<List>, dialects<Ds...>)
    -> collected<typename merge_dialects<List, dialects<Ds...>>::type>;
template <class... Ds>
auto dialects_in(dialects<Ds...>) -> dialects<Ds...>;
template <class... Ops>
auto dialects_in(ops<Ops...>) -> dialects_of<Ops...>;
template <class Dialects, class... Lists>
using with_dialects_of =
    typename decltype((collected<Dialects>{} + ... + decltype(dialects_in(Lists{})){}))::type;

template <std::size_t I, class... Ps>
struct pass_at {
    using type = no_pass;
};
template <std::size_t I, class... Ps>
    requires(I < sizeof...(Ps))
struct pass_at<I, Ps...> {
    using type = typename decltype(detail::held_at<I>(
        indexed_types<std::make_index_sequence<sizeof...(Ps)>, Ps...>{}))::type;
};

template <class Op, class... Ps>
constexpr std::size_t last_targeting() {
    constexpr bool targets[] = {effects_of<Ps>::target_set.template contains<Op>()..., false};
    for (std::size_t i = sizeof...(Ps); i-- != 0;) {
        if (targets[i]) return i;
    }
    return sizeof...(Ps);
}

template <class P>
inline constexpr bool is_repeatable = false;
template <class P>
    requires requires { pass_facts<P>::repeatable; }
inline constexpr bool is_repeatable<P> = pass_facts<P>::repeatable;

// Returns the first diagnosis that is a fault. Types are taken apart only if there is one.
template <class... Diagnoses>
constexpr auto first_fault() {
    constexpr std::size_t at = [] {
        constexpr bool is_fault[] = {!__is_same(Diagnoses, no_fault)..., true};
        std::size_t i = 0;
        while (!is_fault[i]) ++i;
        return i;
    }();
    if constexpr (at == sizeof...(Diagnoses)) {
        return no_fault{};
    } else {
        return typename type_at<at, ops<Diagnoses...>>::type{};
    }
}

// The properties among the items of from<...> or to<...>.
template <class Item>
auto property_or_none() {
    if constexpr (std::is_base_of_v<property, Item>) {
        return pass_list<Item>{};
    } else {
        return pass_list<>{};
    }
}
template <class Boundary>
struct properties_in;
template <template <class...> class Boundary, class... Items>
struct properties_in<Boundary<Items...>> {
    static auto pick() {
        if constexpr ((std::is_base_of_v<property, Items> || ...)) {
            return (pass_list<>{} + ... + decltype(property_or_none<Items>()){});
        } else {
            return pass_list<>{};
        }
    }
    using type = decltype(pick());
};

// The ends of a pipeline as passes: one before the first pass ensures the properties of the source, and one
// after the last requires those at the end.
template <class Properties>
struct start_facts : start_of_pipeline {
    using ensures = Properties;
};
template <class Properties>
struct end_facts : end_of_pipeline {
    using requires_before = Properties;
};
template <class P>
struct named_pass {
    using type = P;
};
template <class Properties>
struct named_pass<start_facts<Properties>> {
    using type = start_of_pipeline;
};
template <class Properties>
struct named_pass<end_facts<Properties>> {
    using type = end_of_pipeline;
};

template <class... Ps>
struct pipeline_checks {
    static constexpr std::size_t size = sizeof...(Ps);
    using pass_fault = decltype(first_fault<headrace::pass_fault<Ps>...>());
    using faulty_handler = decltype(first_fault<faulty_handler_of<Ps>...>());

    static auto find_repetition() {
        constexpr std::size_t at = [] {
            constexpr order_id ids[] = {&identity_of<Ps>..., nullptr};
            constexpr bool repeatable[] = {is_repeatable<Ps>..., true};
            order_index<size> listed;
            std::size_t i = 0;
            while (i != size && (listed.add(ids[i]) || repeatable[i])) ++i;
            return i;
        }();
        if constexpr (at == size) {
            return no_fault{};
        } else {
            return listed_twice<typename pass_at<at, Ps...>::type>{};
        }
    }
    using repetition = decltype(find_repetition());
    static constexpr bool sound =
        __is_same(decltype(first_fault<pass_fault, faulty_handler, repetition>()), no_fault);
};

// Checks the order of passes, including the ends of the pipeline.
template <class... Ps>
struct order_checks {
    static constexpr std::array<const order_facts*, sizeof...(Ps)> facts{&order_facts_of<Ps>...};
    static constexpr order_fault fault = order_check<count_wanted(facts)>(facts).first();

    template <std::size_t I>
    using pass_named = typename named_pass<typename pass_at<I, Ps...>::type>::type;
    template <class... Ts>
    static auto entry_of(pass_list<Ts...>) -> typename type_at<fault.entry, ops<Ts...>>::type;

    static auto diagnose() {
        if constexpr (fault.kind == order_fault_kind::none) {
            return no_fault{};
        } else {
            using culprit = typename pass_at<fault.pass, Ps...>::type;
            using wanted = decltype(entry_of(order_list_of<culprit, fault.list>{}));
            if constexpr (fault.kind == order_fault_kind::unmet) {
                return unmet<pass_named<fault.pass>, wanted>{};
            } else if constexpr (fault.kind == order_fault_kind::misordered) {
                return misordered<pass_named<fault.pass>, wanted>{};
            } else {
                return invalidated<pass_named<fault.pass>, wanted, pass_named<fault.by>>{};
            }
        }
    }
    using diagnosis = decltype(diagnose());
};

}  // namespace detail

}  // namespace headrace

// ---- headrace/pass/statistics.hpp ----

namespace headrace {

/// Whether a pass ran, and why not.
enum class pass_status : std::uint8_t {
    ran,
    no_target,  ///< skipped: the graph has none of its targets
    declined,   ///< skipped: its own should_run returned false
    pruned      ///< no code was generated: it can never fire for the pipeline's source
};

[[nodiscard]] constexpr std::string_view name_of(pass_status s) {
    switch (s) {
        case pass_status::ran:
            return "ran";
        case pass_status::no_target:
            return "no target in the graph";
        case pass_status::declined:
            return "should_run returned false";
        case pass_status::pruned:
            return "can never fire for this source";
    }
    return "";
}

struct pass_record {
    std::string_view name;
    pass_status status = pass_status::pruned;
    node_counts nodes;
    std::uint64_t nanoseconds = 0;  ///< 0 without a clock, see run_options
};

/// One record per pass of the pipeline, in order.
using run_statistics = pmr_vector<pass_record>;

}  // namespace headrace

// ---- headrace/pass/pipeline_step.hpp ----

namespace headrace {

/// Options of a run. `clock` returns nanoseconds; `after_pass` is called after each pass that ran, and may
/// stop.
struct run_options {
    driver_kind driver = driver_kind::in_place;
    std::uint64_t (*clock)() = nullptr;
    void* observer = nullptr;
    result<void> (*after_pass)(void* observer, const pass_record& record, graph& g) = nullptr;
    bool skip = true;  ///< if false, run every pass, for measurements, like pass_context::force_passes
};

/// A pass of a pipeline: the data and functions that a run needs.
struct pipeline_step {
    std::string_view name;
    std::span<const std::uint64_t> targets;  ///< by the pipeline's dialects; empty if it has none
    bool replaces_skip_test = false;         ///< should_run is called even without targets
    bool (*should_run)(const graph& g, bool has_targets) = nullptr;  ///< null: it runs if it has targets
    /// Null for a pass that can never fire.
    result<node_counts> (*run)(graph& g, pass_context& context, driver_kind driver) = nullptr;
};

/// The passes of a pipeline, and the dialects of their targets.
struct pipeline_steps {
    std::span<const pipeline_step> steps;
    std::span<const dialect_info* const> dialects;

    /// The generated skip test: true if the graph, including nested regions, has a target of the pass.
    [[nodiscard]] bool has_targets(const pipeline_step& step, const graph& g) const {
        std::span<const std::uint64_t> words = step.targets;
        for (const dialect_info* d : dialects) {
            if (words.empty()) break;
            const std::size_t count = detail::words_for(d->op_count);
            std::uint64_t wanted = 0;
            for (const std::uint64_t w : words.first(count)) wanted |= w;
            if (wanted != 0) {
                const std::span<const std::uint64_t> present = g.census().present(*d);
                for (std::size_t w = 0; w != present.size(); ++w) {
                    if ((words[w] & present[w]) != 0) return true;
                }
            }
            words = words.subspan(count);
        }
        return false;
    }
    /// Decides whether a pass runs. Call it just before that: earlier passes may make its targets.
    [[nodiscard]] pass_status decide(const pipeline_step& step, const graph& g, const pass_context& context,
                                     const run_options& options) const {
        if (!options.skip || context.forces_passes()) return pass_status::ran;
        const bool present = step.targets.empty() || has_targets(step, g);
        if (!present && !step.replaces_skip_test) return pass_status::no_target;
        if (step.should_run == nullptr || step.should_run(g, present)) return pass_status::ran;
        return pass_status::declined;
    }

    [[nodiscard]] result<run_statistics> run(graph& g, pass_context& context,
                                             const run_options& options) const {
        run_statistics statistics(steps.size());
        for (std::size_t i = 0; i != steps.size(); ++i) {
            pass_record& record = statistics[i];
            record.name = steps[i].name;
            if (steps[i].run == nullptr) continue;
            record.status = decide(steps[i], g, context, options);
            if (record.status != pass_status::ran) continue;
            HEADRACE_TRY(run_pass(steps[i], g, context, options, record));
        }
        return statistics;
    }

private:
    static result<void> run_pass(const pipeline_step& step, graph& g, pass_context& context,
                                 const run_options& options, pass_record& record) {
        const std::uint64_t begin = options.clock == nullptr ? 0 : options.clock();
        HEADRACE_TRY(counts, step.run(g, context, options.driver));
        record.nodes = counts;
        g.tidy();
        if (options.clock != nullptr) record.nanoseconds = options.clock() - begin;
        if (options.after_pass == nullptr) return {};
        return options.after_pass(options.observer, record, g);
    }
};

}  // namespace headrace

// ---- headrace/pass/pipeline_run.hpp ----

namespace headrace::detail {

/// The checks at the two ends of a pipeline: true if an op may enter, and if it may leave.
struct pipeline_ends {
    bool (*may_enter)(const op_info& op);
    bool (*may_leave)(const op_info& op);
};

/// Runs the steps on a graph that the proof covers. The error names every node whose op may not enter, in
/// which case nothing has run, or every node that was refused or may not leave; the context's diagnostics
/// list all of them, too.
[[nodiscard]] result<run_statistics> run_between(const pipeline_ends& ends, const pipeline_steps& steps,
                                                 graph& g, pass_context& context, const run_options& options);

}  // namespace headrace::detail

// ---- headrace/ir/purity.hpp ----

namespace headrace {

/// True if a node of that op has an effect even if its results are unused: ops without results (assertions,
/// TOSA's variables) and ops that write in place.
[[nodiscard]] constexpr bool has_effects(const op_info& op) {
    return op.has(trait::no_results | trait::in_place);
}

/// True if a PyTorch op of that name writes in place, such as "aten.fill_.Scalar" or "aten.__iand__.Tensor",
/// but not "aten.__and__.Tensor".
[[nodiscard]] constexpr bool is_named_in_place(std::string_view target) {
    const std::size_t end = target.rfind('.');
    if (end == std::string_view::npos || end == 0) return false;
    if (target.find(".__i") != std::string_view::npos) return true;
    return target[end - 1] == '_' && target.find("__") == std::string_view::npos;
}

/// True if a node has an effect; a node that holds graphs has the effects of their nodes.
[[nodiscard]] inline bool has_effects(const node& n) {
    // An unknown op without results must have an effect.
    bool found = has_effects(*n.op);
    if (const auto* unknown = args_if<builtin::opaque>(n))
        found = n.result_count == 0 || is_named_in_place(unknown->target);
    for_each_region(n, [&](const field_info&, const graph* region) {
        if (region == nullptr) return;
        for (const node& inner : region->nodes()) {
            found = found || (!is<builtin::output>(inner) && has_effects(inner));
        }
    });
    return found;
}

/// True if the node is a function of its operands and arguments alone, and running it has no other observable
/// effect. False for all ops of a dialect that does not declare purity.
[[nodiscard]] inline bool is_pure(const node& n) {
    if (n.result_count == 0 || has_effects(*n.op)) return false;
    if (!n.op->dialect->is_pure || n.op->has(trait::impure)) return false;
    for (const field_info& f : *n.op) {
        if (f.kind == field_kind::region) return false;
    }
    return true;
}

}  // namespace headrace

// ---- headrace/pass/pipeline_run_definition.hpp ----

namespace headrace::detail {

/// Erases unused nodes: no result depends on them, so a pipeline need not support their ops.
inline void erase_unused(graph& g) {
    for (node* n = g.last(); n != nullptr;) {
        node* const previous = n->previous;
        const bool is_end = is<builtin::placeholder>(*n) || is<builtin::output>(*n);
        if (n->first_use == nullptr && !is_end && !has_effects(*n)) g.erase(*n);
        n = previous;
    }
}

inline bool is_about(const diagnostic& d, const node& n) {
    const auto* origin = n.find_annotation<provenance>();
    return d.node == origin_name(n) && d.op == (origin != nullptr ? origin->op_name : op_name(n));
}

/// True if all ops of a graph and its regions are allowed. Other nodes are reported, unless a pass has
/// refused them with its own reason, in a diagnostic from `known` on.
inline bool check_ops(graph& g, pass_context& context, bool (*is_allowed)(const op_info&), std::size_t known,
                      std::string_view reason) {
    const auto has_other = [&] {
        bool found = false;
        for_each_graph(g, [&](graph& sub) {
            for (const node& n : sub.nodes()) found = found || !is_allowed(*n.op);
        });
        return found;
    };
    if (!has_other()) return true;
    if (g.output() != nullptr) {
        for_each_graph(g, [](graph& sub) { erase_unused(sub); });
        if (!has_other()) return true;
    }
    const std::size_t refused = context.diagnostics().size();
    for_each_graph(g, [&](graph& sub) {
        for (const node& n : sub.nodes()) {
            bool is_known = is_allowed(*n.op);
            for (std::size_t i = known; i != refused && !is_known; ++i)
                is_known = is_about(context.diagnostics()[i], n);
            if (!is_known) context.report(n, reason);
        }
    });
    return false;
}

/// Returns all diagnostics from `known` on, as one error.
[[gnu::cold, gnu::noinline]] inline error joined_diagnostics(const pass_context& context, std::size_t known) {
    const auto& all = context.diagnostics();
    if (known == all.size()) known = 0;  // an earlier run has reported them
    error joined{all[known].kind, {}};
    for (std::size_t i = known; i != all.size(); ++i) {
        joined.message += i == known ? "the pipeline refuses the graph: " : "; ";
        joined.message += diagnostic_text(all[i]);
    }
    return joined;
}

HEADRACE_INLINE result<run_statistics> run_between(const pipeline_ends& ends, const pipeline_steps& steps,
                                                   graph& g, pass_context& context,
                                                   const run_options& options) {
    const std::size_t known = context.diagnostics().size();
    if (!check_ops(g, context, ends.may_enter, known,
                   "the pipeline is not proven for this op; add it to `from<...>`, or rewrite it before"))
        return joined_diagnostics(context, known);
    HEADRACE_TRY(statistics, steps.run(g, context, options));
    const bool is_legal =
        check_ops(g, context, ends.may_leave, known, "no pass of the pipeline has rewritten this op");
    if (!is_legal || context.diagnostics().size() != known) return joined_diagnostics(context, known);
    return statistics;
}

}  // namespace headrace::detail

// ---- headrace/pass/pass_base.hpp ----

namespace headrace {

/// Matches passes with a precondition on the graph: `result<void> require(const graph&) const`. Any kind of
/// pass may have one (`requires` is a keyword of C++).
template <class P>
concept has_requirement = requires(const P& p, const graph& g) {
    { p.require(g) } -> std::same_as<result<void>>;
};

/// Matches passes with a postcondition on the graph: `result<void> ensure(const graph&) const`.
template <class P>
concept has_guarantee = requires(const P& p, const graph& g) {
    { p.ensure(g) } -> std::same_as<result<void>>;
};

/// True if a pass has work: the generated skip test, which looks for its targets, as narrowed or replaced by
/// the pass's own should_run. Pipelines, managers, apply_pass and passes called as functions use it, unless
/// the context forces passes to run.
template <class P>
[[nodiscard]] bool is_due([[maybe_unused]] const P& p, [[maybe_unused]] const graph& g,
                          const pass_context& context) {
    if (context.forces_passes()) return true;
    [[maybe_unused]] bool present = true;
    if constexpr (targets_of<P>::size != 0)
        present = detail::has_any_of(g, detail::infos_in<targets_of<P>>::value);
    if constexpr (replaces_skip_test<P>) {
        return p.should_run(g, present);
    } else if constexpr (decides_itself<P>) {
        return present && p.should_run(g);
    } else {
        return present;
    }
}

namespace detail {

// Matches bases that call `require` and `ensure` themselves, so that drivers do not call them again.
template <class P>
concept checks_itself = requires { typename P::checks_itself; };

[[gnu::noinline]] inline error named_failure(std::string_view pass, error e) {
    return {e.kind, text_of({pass, ": ", std::move(e.message)})};
}

/// Calls `run()` between the pass's own checks; an error of a check has the pass's name.
template <class P, class Run>
auto run_checked(const P& p, graph& g, Run&& run) -> decltype(run()) {
    if constexpr (has_requirement<P>) {
        if (result<void> met = p.require(g); !met) return named_failure(pass_name<P>(), met.error());
    }
    auto done = run();
    if constexpr (has_guarantee<P>) {
        if (!done) return done;
        if (result<void> kept = p.ensure(g); !kept) return named_failure(pass_name<P>(), kept.error());
    }
    return done;
}

/// Runs only the checks of a pass that is called alone and is not due.
template <class P>
result<node_counts> run_checks_alone(const P& p, graph& g) {
    return run_checked(p, g, [] { return result<node_counts>(node_counts{}); });
}

}  // namespace detail

/// Base of a pass that is one function over the whole graph, with data in members:
///
///     struct replace_add : pass_base<replace_add> {
///         result<std::size_t> call(graph& g, pass_context& context) const;  // number of rewritten nodes
///         result<void> require(const graph& g) const;                       // optional
///         result<void> ensure(const graph& g) const;                        // optional
///     };
///
/// It can be called as a function, which asks should_run first; it runs in static pipelines if it is
/// default-constructible, and in pass managers. Like other passes over the whole graph it may have `targets`,
/// `produces` and `removes`.
template <class Derived>
struct pass_base : pass {
    using checks_itself = void;

    /// Runs the pass without asking should_run.
    result<node_counts> run(graph& g, pass_context& context) const {
        const auto& self = static_cast<const Derived&>(*this);
        const result<std::size_t> rewritten =
            detail::run_checked(self, g, [&] { return self.call(g, context); });
        if (!rewritten) return rewritten.error();
        return node_counts{.rewritten = rewritten.value()};
    }
    result<std::size_t> operator()(graph& g, pass_context& context) const {
        const auto& self = static_cast<const Derived&>(*this);
        const result<node_counts> counts =
            is_due(self, g, context) ? pass_base::run(g, context) : detail::run_checks_alone(self, g);
        if (!counts) return counts.error();
        return counts.value().rewritten;
    }
};

}  // namespace headrace

// ---- headrace/pass/run_pass.hpp ----

namespace headrace {

namespace detail {

// A pass with a fault does nothing: its user has reported the fault.
template <pass_type P>
result<node_counts> run_unchecked(const P& p, graph& g, pass_context& context, driver_kind driver) {
    if constexpr (counts_nodes<P>) {
        return p.run(g, context);
    } else if constexpr (graph_pass<P>) {
        result<std::size_t> rewritten = p(g, context);
        if (!rewritten) return std::move(rewritten).error();
        return node_counts{.rewritten = rewritten.value()};
    } else if constexpr (effects_of<P>::sound && has_inference<P>) {
        return run_handlers(erase_type(p), g, context, driver);
    } else {
        return node_counts{};
    }
}

}  // namespace detail

// Not inline, so that headrace::compiled can contain it.
template <class P>
result<node_counts> pass_code<P>::run(const P& p, graph& g, pass_context& context, driver_kind driver) {
    if constexpr (detail::checks_itself<P> || !(has_requirement<P> || has_guarantee<P>)) {
        return detail::run_unchecked(p, g, context, driver);
    } else {
        return detail::run_checked(p, g, [&] { return detail::run_unchecked(p, g, context, driver); });
    }
}
template <class P>
result<node_counts> pass_code<P>::run_default(graph& g, pass_context& context, driver_kind driver) {
    return run(P{}, g, context, driver);
}
template <class P>
bool pass_code<P>::should_run(const graph& g, bool has_targets) {
    if constexpr (replaces_skip_test<P>) {
        return P{}.should_run(g, has_targets);
    } else {
        return has_targets && P{}.should_run(g);
    }
}

}  // namespace headrace

// ---- headrace/pass/pipeline.hpp ----

namespace headrace {

/// The ops that may enter a pipeline (`from`), and those that may leave it (`to`): op tags, ops<...> lists,
/// dialects (all of their ops) and types with a static op_set `set`, in any combination. Placeholders,
/// constants and outputs are always allowed. Listed properties hold for programs that enter, and must hold
/// for those that leave.
template <class... Items>
struct from {};
template <class... Items>
struct to {};

namespace detail {

template <class Item>
constexpr auto set_of_item() {
    if constexpr (std::is_base_of_v<property, Item>) {
        return op_set<>{};
    } else if constexpr (op_tag<Item>) {
        return ops_in<Item>;
    } else if constexpr (requires { Item::set; }) {
        return Item::set;
    } else if constexpr (requires { Item::name_hashes; }) {
        return every_op<Item>;
    } else {
        return set_of<Item>;
    }
}

template <class Boundary>
struct boundary;
template <template <class...> class Boundary, class... Items>
struct boundary<Boundary<Items...>> {
    static constexpr auto set =
        (ops_in<builtin::placeholder, builtin::constant, builtin::output> | ... | set_of_item<Items>());
};

template <class Set>
struct effect_sets {
    Set targets{};
    Set removed{};
    Set produced{};
    Set gone_before{};            // ops excluded by the properties that it runs after
    bool targets_nothing = true;  // and so runs for any graph
};

template <class Set, class Allowed>
constexpr Set all_but(const Allowed& allowed) {
    using own = typename Set::dialect_list;
    using merged = typename merge_dialects<own, typename Allowed::dialect_list>::type;  // its own come first
    const auto rest = make_every_op(own{}).over(merged{}) - allowed.over(merged{});
    Set excluded;
    excluded.copy_words(0, rest.words().data(), Set::word_count);
    return excluded;
}
// The ops that the properties in a list exclude; computed once per list, not once per pass that has it.
template <class Set, class List>
inline constexpr Set excluded_by{};
template <class Set, class T>
    requires requires { T::only; }
inline constexpr Set excluded_by<Set, pass_list<T>> = all_but<Set>(T::only | every_op<builtin::dialect>);
template <class Set, class... Ts>
    requires(sizeof...(Ts) > 1)
inline constexpr Set excluded_by<Set, pass_list<Ts...>> = (Set() | ... | excluded_by<Set, pass_list<Ts>>);

template <class Set, class T>
constexpr Set excluded_before() {
    if constexpr (requires { typename T::runs_after; }) {
        return excluded_by<Set, typename T::runs_after>;
    } else {
        return Set();
    }
}

// Returns the first property in a list that excludes an op.
template <class Set, std::size_t Position, std::size_t Index, class... Ts>
auto find_property_without(pass_list<Ts...>) {
    constexpr std::size_t at = [] {
        Set op;
        op.insert_at(Set::first_word(Position), Index);
        const bool excludes[] = {!(excluded_by<Set, pass_list<Ts>> & op).empty()..., true};
        std::size_t i = 0;
        while (!excludes[i]) ++i;
        return i;
    }();
    return typename type_at<at, ops<Ts...>>::type{};
}
template <class Set, std::size_t Position, std::size_t Index, class List>
using property_without = decltype(find_property_without<Set, Position, Index>(List{}));

template <class Set>
constexpr std::pair<std::size_t, std::size_t> nth_op(Set set, std::size_t n) {
    for (std::size_t i = 0; i != n; ++i) {
        const auto at = set.first();
        Set taken;
        taken.insert_at(Set::first_word(at.first), at.second);
        set -= taken;
    }
    return set.first();
}

// Filled in over the pipeline's own dialects at once: a set per pass and list of dialects would instantiate
// more templates.
template <class Set, class P>
constexpr effect_sets<Set> effects_over() {
    effect_sets<Set> sets;
    if constexpr (!is_declared<P> && !sound_pass<P>) {
        sets.targets_nothing = false;  // it never runs, so no second error follows
    } else {
        insert_all(sets.targets, targets_of<P>{});
        insert_all(sets.produced, declared_by<pass_facts<P>>{});
        sets.produced |= made_by_rules<pass_facts<P>>.over(typename Set::dialect_list{});
        sets.removed = removed_by<P, Set>();
        sets.gone_before = excluded_before<Set, pass_facts<P>>() | excluded_before<Set, phase_of<P>>();
        sets.targets_nothing = always_runs<P>;
    }
    return sets;
}

/// The effects of all passes, applied to a source set.
template <class Set, std::size_t N>
struct flow {
    std::array<Set, N + 1> ops{};     ///< before pass i, and at the end
    std::array<bool, N + 1> fires{};  ///< true if pass i can ever have work
    Set supported{};                  ///< source ops that provably end up legal, in any combination
};

template <class Set, std::size_t N>
constexpr flow<Set, N> fold_effects(const std::array<effect_sets<Set>, N>& passes, const Set& source,
                                    const Set& legal) {
    flow<Set, N> f;
    f.ops[0] = source;
    for (std::size_t i = 0; i != N; ++i) {
        const effect_sets<Set>& p = passes[i];
        f.fires[i] = p.targets_nothing || p.targets.meets(f.ops[i]);
        f.ops[i + 1] = f.fires[i] ? f.ops[i].replaced(p.removed, p.produced) : f.ops[i];
    }
    // Backward: the ops that may be in the graph before pass i, in any combination, and still end up legal.
    // If an op that the pass emits cannot end up legal, nor can any op that makes it run; for a pass without
    // targets, no op can.
    f.supported = legal;
    for (std::size_t i = N; i-- != 0;) {
        const effect_sets<Set>& p = passes[i];
        if (p.produced <= f.supported) {
            f.supported |= p.removed;
        } else {
            f.supported -= p.targets_nothing ? f.supported : p.targets;
        }
    }
    f.supported &= source;
    return f;
}

/// Returns the first pass that runs before a property of the ops holds although it holds later, or N.
template <class Set, std::size_t N>
constexpr std::size_t find_too_early(const std::array<effect_sets<Set>, N>& passes, const flow<Set, N>& f) {
    for (std::size_t i = 0; i != N; ++i) {
        const Set& excluded = passes[i].gone_before;
        if (!f.ops[i].meets(excluded)) continue;
        for (std::size_t k = i + 1; k != N + 1; ++k) {
            if (!f.ops[k].meets(excluded)) return i;
        }
    }
    return N;
}

}  // namespace detail

/// A pipeline. `pipeline<from<...>, to<...>, Passes...>` applies the effects of the passes to the source ops
/// and checks, in this order, that every pass is valid, that none is listed twice unless it is `repeatable`,
/// that required passes and properties are present and in order, and that the ops that can leave are legal.
///
/// For a pipeline that is named in many places, define a struct, so that its name stays short: `struct
/// lower_float : pipeline<...> {};`
template <class From, class To, class... Passes>
class pipeline {
public:
    using pipeline_type = pipeline;
    using source = From;
    using legal = To;
    using passes = pass_list<Passes...>;
    static constexpr std::size_t size = sizeof...(Passes);
    /// The last pass that targets an op, or no_pass.
    template <op_tag Op>
    using last_pass_for = typename detail::pass_at<detail::last_targeting<Op, Passes...>(), Passes...>::type;

private:
    // Rules are read first: compile errors in them then have the fewest lines.
    using rules_are_read = std::integer_sequence<
        bool, detail::rules_read<detail::rules_of<detail::pass_facts<Passes>>>...>;

    using source_set_type = std::remove_const_t<decltype(detail::boundary<From>::set)>;
    using legal_set_type = std::remove_const_t<decltype(detail::boundary<To>::set)>;
    // The union of the dialects of all passes' ops; one union per list of sets, not one per pass.
    using universe = detail::with_dialects_of<
        detail::with_dialects_of<
            detail::with_dialects_of<
                detail::with_dialects_of<typename source_set_type::dialect_list, targets_of<Passes>...>,
                detail::declared_by<detail::pass_facts<Passes>>...>,
            typename detail::list_effects<detail::rules_of<detail::pass_facts<Passes>>>::dialect_list...>,
        typename legal_set_type::dialect_list>;
    using set_type = typename detail::set_over<universe>::type;

    static constexpr std::array<detail::effect_sets<set_type>, size> effects_{
        detail::effects_over<set_type, Passes>()...};
    static constexpr detail::flow<set_type, size> flow_ = detail::fold_effects<set_type, size>(
        effects_, detail::boundary<From>::set.over(universe{}), detail::boundary<To>::set.over(universe{}));

    using checks = detail::pipeline_checks<Passes...>;
    static_assert(is_a_pass<typename checks::pass_fault>,
                  "pass: a type is not one; see not_a_pass<T>, derive it from headrace::pass");
    static_assert(is_defined<typename checks::pass_fault>,
                  "pass: it is only declared; see only_declared<Pass>, include the header that defines it");
    static_assert(
        lists_are_lists<typename checks::pass_fault>,
        "pass: one of its lists is none; see not_a_list<Pass, Member, T>, write ops<…> or pass_list<…>");
    static_assert(rewrites_are_rules<typename checks::pass_fault>,
                  "pass: rewrites() gives no rules; see no_rules<Pass, Result>, return rules(…), from a "
                  "static function");
    static_assert(rule_takes_operands<typename checks::pass_fault>,
                  "rule: its callable does not take the operands; see not_callable_with<Op>, list them in "
                  "order");
    static_assert(calls_fit<typename checks::pass_fault>,
                  "rule: a call or a pattern's node does not fit its op; see the diagnosis, fix that");
    static_assert(node_is_in_pattern<typename checks::pass_fault>,
                  "match: the pattern has no node of that name; see not_in_pattern<Name, Names>, name one");
    static_assert(rule_gives_results<typename checks::pass_fault>,
                  "rule: it does not return an expression for each result; see the diagnosis, return those");
    static_assert(handlers_complete<typename checks::pass_fault>,
                  "pass: a target has no handler; see no_handler<Pass, Op>, add one");
    static_assert(handlers_are_const<typename checks::pass_fault>,
                  "pass: a handler is not const; see handler_not_const<Pass, Op>, make it const");
    static_assert(
        handlers_fit<typename checks::pass_fault>,
        "pass: a handler has the wrong parameters; see wrong_handler<Pass, Op, Handler>, take const "
        "args<Op>&, emit<…>&");
    static_assert(handlers_have_targets<typename checks::pass_fault>,
                  "pass: it has handlers but no targets; see no_targets<Pass>, list them in `targeted_ops`");
    static_assert(
        results_are_values<typename checks::faulty_handler>,
        "pass: a handler's result cannot replace a node; see wrong_result<Pass, Op, Result>, return values");
    static_assert(
        listed_once<typename checks::repetition>,
        "pipeline: a pass is listed twice; see listed_twice<Pass>, remove one or make it `repeatable`");
    using order =
        detail::order_checks<detail::start_facts<typename detail::properties_in<From>::type>, Passes...,
                             detail::end_facts<typename detail::properties_in<To>::type>>;
    static_assert(dependencies_met<typename order::diagnosis>,
                  "pipeline: a required pass is not in the list; see unmet<Pass, Dependency>, add it");
    static_assert(
        order_kept<typename order::diagnosis>,
        "pipeline: a required order is violated; see misordered<Pass, Dependency>, move one of them");
    static_assert(
        properties_hold<typename order::diagnosis>,
        "pipeline: a property no longer holds; see invalidated<Pass, Property, By>, move one of them");

    // After another fault, this would be a second error about it.
    static constexpr bool in_order_ = checks::sound && __is_same(typename order::diagnosis, no_fault);
    static auto diagnose_early() {
        constexpr std::size_t at = detail::find_too_early(effects_, flow_);
        if constexpr (!in_order_ || at == size) {
            return no_fault{};
        } else {
            using culprit = typename detail::pass_at<at, Passes...>::type;
            constexpr auto op = (flow_.ops[at] & effects_[at].gone_before).first();
            using needs = detail::order_list_of<culprit, detail::order_list::runs_after>;
            return too_early<culprit, detail::property_without<set_type, op.first, op.second, needs>,
                             typename op_at<set_type, op.first, op.second>::type>{};
        }
    }
    static_assert(ops_are_gone<decltype(diagnose_early())>,
                  "pipeline: a pass runs before ops are gone; see too_early<Pass, Property, Op>, move it");

    static constexpr auto illegal_ = flow_.ops[size] - detail::boundary<To>::set.over(universe{});

    // Returns the diagnosis of an op that can survive; it names the last pass that makes the op, if any.
    template <class Op>
    static auto diagnose_survivor() {
        constexpr std::size_t origin = [] {
            std::size_t i = size;
            while (i != 0 && !(flow_.fires[i - 1] && effects_[i - 1].produced.template contains<Op>())) --i;
            return i;
        }();
        if constexpr (origin == 0) {
            return survives<Op, last_pass_for<Op>>{};
        } else {
            using pass_type = typename detail::pass_at<origin - 1, Passes...>::type;
            return survives<Op, last_pass_for<Op>, emitted_by<pass_type>>{};
        }
    }
    template <std::size_t I>
    static auto diagnose_survivor_at() {
        constexpr auto at = detail::nth_op(illegal_, I);
        return diagnose_survivor<typename op_at<set_type, at.first, at.second>::type>();
    }
    template <std::size_t... I>
    static auto diagnose_survivors(std::index_sequence<I...>) {
        return survivors<decltype(diagnose_survivor_at<I>())...>{};
    }
    static auto diagnose_legality() {
        constexpr std::size_t count = std::min(illegal_.size(), max_survivors);
        if constexpr (!in_order_ || count == 0) {
            return no_fault{};
        } else if constexpr (count == 1) {
            return diagnose_survivor_at<0>();
        } else {
            return diagnose_survivors(std::make_index_sequence<count>{});
        }
    }
    static_assert(ends_in_legal_ops<decltype(diagnose_legality())>,
                  "pipeline: an op can survive it; see survives<Op, LastPassThatTargetsIt>, add a pass that "
                  "removes it");

public:
    /// Returns the ops that can be in the graph before pass `i`; for `i == size`, the ops that can leave.
    [[nodiscard]] static constexpr const set_type& ops_before(std::size_t i) { return flow_.ops[i]; }
    [[nodiscard]] static constexpr const set_type& ops_after() { return flow_.ops[size]; }
    /// The source ops that this pipeline provably lowers, for partitioners.
    static constexpr const set_type& supported = flow_.supported;
    /// False for a pass that can never fire for this source; it has no generated code.
    [[nodiscard]] static constexpr bool can_fire(std::size_t i) { return flow_.fires[i]; }
    static constexpr std::size_t dead_pass_count = [] {
        std::size_t count = 0;
        for (std::size_t i = 0; i != size; ++i) count += !flow_.fires[i];
        return count;
    }();
    static constexpr std::array<std::string_view, size> pass_names{pass_name<Passes>()...};

    /// Runs the passes on a graph that the proof covers. The error names each node whose op `from<…>` does
    /// not list, in which case nothing has run, or each node that a pass refused or whose op `to<…>` does not
    /// list. The context's diagnostics list these nodes one by one.
    [[nodiscard]] static result<run_statistics> run(graph& g, pass_context& context,
                                                    const run_options& options = {}) {
        static_assert(is_defined<code_fault>,
                      "pass: its code is not here; see only_declared<Pass>, include passes/definitions.hpp "
                      "or its header");
        static_assert(results_are_inferred<inference_fault>,
                      "emit: an op has no infer_results; see no_inference<Op>, declare it beside the op");
        return detail::run_between({&may_enter, &may_leave}, {steps_, infos_}, g, context, options);
    }
    /// Runs the passes on any graph, for callers that judge the result themselves: refused nodes are in the
    /// context's diagnostics, and `for_each_illegal` finds the other nodes that may not leave. Fails only if
    /// a pass could not continue.
    [[nodiscard]] static result<run_statistics> run_unchecked(graph& g, pass_context& context,
                                                              const run_options& options = {}) {
        static_assert(is_defined<code_fault>,
                      "pass: its code is not here; see only_declared<Pass>, include passes/definitions.hpp "
                      "or its header");
        static_assert(results_are_inferred<inference_fault>,
                      "emit: an op has no infer_results; see no_inference<Op>, declare it beside the op");
        return pipeline_steps{steps_, infos_}.run(g, context, options);
    }
    /// Returns the passes as data, for other ways to run them.
    [[nodiscard]] static constexpr pipeline_steps steps() {
        static_assert(is_defined<code_fault>,
                      "pass: its code is not here; see only_declared<Pass>, include passes/definitions.hpp "
                      "or its header");
        static_assert(results_are_inferred<inference_fault>,
                      "emit: an op has no infer_results; see no_inference<Op>, declare it beside the op");
        return {steps_, infos_};
    }

    /// True if `from<…>` lists the op; for may_leave, if `to<…>` does.
    [[nodiscard]] static bool may_enter(const op_info& op) {
        static constexpr auto source_set = detail::boundary<From>::set;
        return source_set.contains(op);
    }
    [[nodiscard]] static bool may_leave(const op_info& op) {
        static constexpr auto legal_set = detail::boundary<To>::set;
        return legal_set.contains(op);
    }
    /// Calls `f(node&)` for each node whose op may not leave the pipeline.
    template <class F>
    static void for_each_illegal(graph& g, F&& f) {
        for_each_graph(g, [&](graph& sub) {
            for (node& n : sub.nodes()) {
                if (!may_leave(*n.op)) f(n);
            }
        });
    }

private:
    // Faults that are reported only when the pipeline is run: a proof needs neither code nor inference.
    using code_fault = decltype(detail::first_fault<code_fault_of<Passes>...>());
    using inference_fault = decltype(detail::first_fault<inference_fault_of<Passes>...>());

    // A pass that can never fire has no code.
    template <std::size_t I, class P>
    static constexpr pipeline_step step_of() {
        pipeline_step step;
        step.name = pass_names[I];
        if constexpr (flow_.fires[I] && is_defined<code_fault_of<P>> && has_inference<P>) {
            if (targets_of<P>::size != 0) step.targets = targets_[I];
            step.replaces_skip_test = replaces_skip_test<P>;
            if constexpr (decides_itself<P>) step.should_run = &pass_code<P>::should_run;
            step.run = &pass_code<P>::run_default;
        }
        return step;
    }
    template <std::size_t... I>
    static constexpr std::array<pipeline_step, size> steps_of(std::index_sequence<I...>) {
        return {step_of<I, Passes>()...};
    }
    template <class... Ds>
    static constexpr std::array<const dialect_info*, sizeof...(Ds)> infos_of(dialects<Ds...>) {
        return {&info_of_dialect<Ds>...};
    }
    using words_type = std::remove_cvref_t<decltype(std::declval<set_type>().words())>;
    static constexpr std::array<words_type, size> targets_ = [] {
        std::array<words_type, size> words{};
        for (std::size_t i = 0; i != size; ++i) words[i] = effects_[i].targets.words();
        return words;
    }();
    static constexpr std::array<pipeline_step, size> steps_ = steps_of(std::make_index_sequence<size>{});
    static constexpr std::array<const dialect_info*, universe::size> infos_ = infos_of(universe{});
};

/// Runs one pass on a graph, without a pipeline, if it is due (see is_due); else only runs its checks.
template <class P>
[[nodiscard]] result<node_counts> apply_pass(const P& p, graph& g, pass_context& context,
                                             driver_kind driver = driver_kind::in_place) {
    static_assert(is_a_pass<pass_fault<P>>,
                  "pass: a type is not one; see not_a_pass<T>, derive it from headrace::pass");
    static_assert(
        lists_are_lists<pass_fault<P>>,
        "pass: one of its lists is none; see not_a_list<Pass, Member, T>, write ops<…> or pass_list<…>");
    static_assert(rewrites_are_rules<pass_fault<P>>,
                  "pass: rewrites() gives no rules; see no_rules<Pass, Result>, return rules(…), from a "
                  "static function");
    static_assert(rule_takes_operands<pass_fault<P>>,
                  "rule: its callable does not take the operands; see not_callable_with<Op>, list them in "
                  "order");
    static_assert(calls_fit<pass_fault<P>>,
                  "rule: a call or a pattern's node does not fit its op; see the diagnosis, fix that");
    static_assert(node_is_in_pattern<pass_fault<P>>,
                  "match: the pattern has no node of that name; see not_in_pattern<Name, Names>, name one");
    static_assert(rule_gives_results<pass_fault<P>>,
                  "rule: it does not return an expression for each result; see the diagnosis, return those");
    static_assert(handlers_complete<pass_fault<P>>,
                  "pass: a target has no handler; see no_handler<Pass, Op>, add one");
    static_assert(handlers_are_const<pass_fault<P>>,
                  "pass: a handler is not const; see handler_not_const<Pass, Op>, make it const");
    static_assert(
        handlers_fit<pass_fault<P>>,
        "pass: a handler has the wrong parameters; see wrong_handler<Pass, Op, Handler>, take const "
        "args<Op>&, emit<…>&");
    static_assert(handlers_have_targets<pass_fault<P>>,
                  "pass: it has handlers but no targets; see no_targets<Pass>, list them in `targeted_ops`");
    static_assert(
        results_are_values<faulty_handler_of<P>>,
        "pass: a handler's result cannot replace a node; see wrong_result<Pass, Op, Result>, return values");
    static_assert(results_are_inferred<inference_fault_of<P>>,
                  "emit: an op has no infer_results; see no_inference<Op>, declare it beside the op");
    if constexpr (runnable_pass<P>) {
        if (!is_due(p, g, context)) return detail::run_checks_alone(p, g);
        return pass_code<P>::run(p, g, context, driver);
    } else {
        return node_counts{};
    }
}

}  // namespace headrace

// ---- headrace/pass/algebra.hpp ----

namespace headrace {

/// Diagnosis: an edit names a pass that the pipeline does not have.
template <class Anchor, class Pipeline>
struct not_listed {};
template <class Diagnosis>
inline constexpr bool anchor_found = true;
template <class Anchor, class Pipeline>
inline constexpr bool anchor_found<not_listed<Anchor, Pipeline>> = false;

namespace detail {

template <class... Lists>
struct join_passes {
    using type = boost::mp11::mp_append<pass_list<>, Lists...>;
};

template <class From, class To, class Passes>
struct with_passes;
template <class From, class To, class... Passes>
struct with_passes<From, To, pass_list<Passes...>> {
    using type = pipeline<From, To, Passes...>;
};

// The result of an edit without an anchor: the unchanged pipeline, after one error. It is a separate class,
// so that the error is reported where the result is used, not inside the alias that computes it.
template <class Diagnosis, class Pipeline>
struct unedited : Pipeline {
    static_assert(
        anchor_found<Diagnosis>,
        "pipeline: an edit names a pass that is not in it; see not_listed<Pass, Pipeline>, name another");
};

// Replaces every occurrence of `Anchor` by `Instead`.
template <class Pipeline, class Anchor, class Instead, class Passes = typename Pipeline::passes>
struct edit;
template <class Pipeline, class Anchor, class Instead, class... Passes>
struct edit<Pipeline, Anchor, Instead, pass_list<Passes...>> {
    static auto pick() {
        if constexpr ((__is_same(Anchor, Passes) || ...)) {
            using edited = typename join_passes<
                std::conditional_t<__is_same(Anchor, Passes), Instead, pass_list<Passes>>...>::type;
            return with_passes<typename Pipeline::source, typename Pipeline::legal, edited>{};
        } else {
            return std::type_identity<unedited<not_listed<Anchor, Pipeline>, Pipeline>>{};
        }
    }
    using type = typename decltype(pick())::type;
};

}  // namespace detail

/// A pipeline of several concatenated pass_list<...>s.
template <class From, class To, class... Lists>
using pipeline_of =
    typename detail::with_passes<From, To, typename detail::join_passes<Lists...>::type>::type;

/// A, then B. The ops that may leave A must be ops that may enter B; the proof of the result checks this.
template <class A, class B>
using concatenate = typename detail::with_passes<
    typename A::source, typename B::legal,
    typename detail::join_passes<typename A::passes, typename B::passes>::type>::type;

template <class Pipeline, class Anchor, class... New>
using insert_before = typename detail::edit<Pipeline, Anchor, pass_list<New..., Anchor>>::type;

template <class Pipeline, class Anchor, class... New>
using insert_after = typename detail::edit<Pipeline, Anchor, pass_list<Anchor, New...>>::type;

template <class Pipeline, class Pass>
using remove_pass = typename detail::edit<Pipeline, Pass, pass_list<>>::type;

template <class Pipeline, class Pass, class... New>
using replace_pass = typename detail::edit<Pipeline, Pass, pass_list<New...>>::type;

/// The same passes for fewer source ops; passes that can no longer fire are pruned.
template <class Pipeline, class... Items>
using restrict_to =
    typename detail::with_passes<from<Items...>, typename Pipeline::legal, typename Pipeline::passes>::type;

}  // namespace headrace

// ---- headrace/pass/arithmetic.hpp ----

namespace headrace {

/// Matches numbers next to expressions. It constrains a template parameter instead of using `double`: clang
/// 16 rejects `int == int` if operators without a class parameter are candidates.
template <class T>
concept plain_number = !__is_class(T) && std::convertible_to<T, double>;

/// Returns a number next to an expression: a constant of its dtype that broadcasts with it.
[[nodiscard]] inline term constant_beside(const term& x, double number) { return x.constant(number); }
[[nodiscard]] inline operand_symbol constant_beside(const symbol_answers&, double) { return {}; }

// One line for a function.
// clang-format off

#define HEADRACE_BINARY(name, Op) \
    template <reading A, reading B> auto name(const A& a, const B& b) { return call<Op>(a, b); }          \
    template <reading A, plain_number N> auto name(const A& a, const N& b) {                              \
        return call<Op>(a, constant_beside(a, static_cast<double>(b)));                                   \
    }                                                                                                     \
    template <plain_number N, reading B> auto name(const N& a, const B& b) {                              \
        return call<Op>(constant_beside(b, static_cast<double>(a)), b);                                   \
    }
HEADRACE_BINARY(operator+, aten::add_tensor)
HEADRACE_BINARY(operator-, aten::sub_tensor)
HEADRACE_BINARY(operator*, aten::mul_tensor)
HEADRACE_BINARY(operator>, aten::gt_tensor)
HEADRACE_BINARY(operator>=, aten::ge_tensor)
HEADRACE_BINARY(operator==, aten::eq_tensor)
HEADRACE_BINARY(max, aten::maximum)
HEADRACE_BINARY(min, aten::minimum)
#undef HEADRACE_BINARY

template <reading X> auto operator-(const X& x) { return call<aten::neg>(x); }
template <reading X> auto operator!(const X& x) { return call<aten::logical_not>(x); }
template <reading X> auto abs(const X& x) { return call<aten::abs>(x); }
template <reading X> auto reciprocal(const X& x) { return call<aten::reciprocal>(x); }
template <reading X> auto rsqrt(const X& x) { return call<aten::rsqrt>(x); }
template <reading X> auto exp(const X& x) { return call<aten::exp>(x); }
template <reading X> auto log(const X& x) { return call<aten::log>(x); }
template <reading X> auto sin(const X& x) { return call<aten::sin>(x); }
template <reading X> auto cos(const X& x) { return call<aten::cos>(x); }
template <reading X> auto tanh(const X& x) { return call<aten::tanh>(x); }
template <reading X> auto sigmoid(const X& x) { return call<aten::sigmoid>(x); }
template <reading X> auto erf(const X& x) { return call<aten::erf>(x); }
template <reading X> auto floor(const X& x) { return call<aten::floor>(x); }
template <reading X> auto ceil(const X& x) { return call<aten::ceil>(x); }

template <reading A, reading B> auto operator<(const A& a, const B& b) { return b > a; }
template <reading A, plain_number N> auto operator<(const A& a, const N& b) { return b > a; }
template <plain_number N, reading B> auto operator<(const N& a, const B& b) { return b > a; }
template <reading A, reading B> auto operator<=(const A& a, const B& b) { return b >= a; }
template <reading A, plain_number N> auto operator<=(const A& a, const N& b) { return b >= a; }

template <reading A, reading B> auto operator/(const A& a, const B& b) { return a * reciprocal(b); }
template <reading A, plain_number N> auto operator/(const A& a, const N& b) { return a * (1 / double(b)); }
template <plain_number N, reading B> auto operator/(const N& a, const B& b) {
    return choose(a == 1, [&] { return reciprocal(b); }, [&] { return a * reciprocal(b); });
}

// For booleans. Operators && and || would suggest short-circuit evaluation.
template <reading A, reading B>
auto logical_and(const A& a, const B& b) { return call<aten::logical_and>(a, b); }
template <reading A, reading B>
auto logical_or(const A& a, const B& b) { return call<aten::logical_or>(a, b); }

template <reading C, reading A, reading B>
auto where(const C& c, const A& a, const B& b) { return call<aten::where_self>(c, a, b); }
template <reading C, reading B>
auto where(const C& c, double a, const B& b) { return where(c, constant_beside(b, a), b); }
template <reading C, reading A>
auto where(const C& c, const A& a, double b) { return where(c, a, constant_beside(a, b)); }

template <reading X>
auto clamp(const X& x, std::optional<scalar> min, std::optional<scalar> max) {
    return call<aten::clamp>(x, min, max);
}

// clang-format on

/// Returns x · factor, or x itself if the factor is 1.
template <reading X>
[[nodiscard]] auto scaled(const X& x, scalar factor) {
    return choose(factor.to_double() == 1, x, [&] { return x * x.constant(factor); });
}

/// Casts x to another dtype.
template <reading X>
[[nodiscard]] auto as(const X& x, dtype type) {
    return emitting<ops<aten::_to_copy>>(
        [type](emit<ops<aten::_to_copy>> e, value v) {
            return !v || e.dtype(v) == type ? v : e.make<aten::_to_copy>({.self = v, .dtype = type});
        },
        x);
}

/// Casts x to the dtype of the replaced result, at the end of a rewrite.
template <reading X>
[[nodiscard]] auto in_result_type(const X& x, std::uint32_t result = 0) {
    return as(x, x.result_meta(result).dtype);
}

/// Base of policies that round a result once to its own type, as PyTorch does for float16 and bfloat16. Its
/// functions are templates, so that only those in use are compiled.
struct rounded_once {
    static constexpr auto made = ops_in<aten::_to_copy>;
    static term result(const reading auto& y, std::uint32_t i) { return in_result_type(y, i); }
};
/// The policy of functions of real numbers, which are computed in float32.
struct in_float32 : rounded_once {
    static term operand(const reading auto& x) { return as(x, dtype::float32); }
};
/// Rules that compute in float32.
template <class... Lists>
constexpr auto real_rules(Lists... lists) {
    return rules_with<in_float32>(lists...);
}

/// Casts x to the dtype in which arithmetic is computed: float32 for real results, else the result's dtype.
template <reading X>
[[nodiscard]] auto in_wide_type(const X& x) {
    const dtype type = x.result_meta().dtype;
    return as(x, is_floating(type) ? dtype::float32 : type);
}
/// The policy of arithmetic on both real numbers and integers.
struct widely : rounded_once {
    static term operand(const reading auto& x) { return in_wide_type(x); }
};
/// Rules for both real numbers and integers.
template <class... Lists>
constexpr auto arithmetic_rules(Lists... lists) {
    return rules_with<widely>(lists...);
}

/// Exact for 0 and infinity, NaN below 0.
template <reading X>
[[nodiscard]] auto sqrt(const X& x) {
    return reciprocal(rsqrt(x));
}

/// c0 + c1·x + c2·x² + …, by Horner's rule.
template <reading X>
[[nodiscard]] auto polynomial(const X& x, double c0, double c1) {
    return x * c1 + c0;
}
template <reading X, class... Coefficients>
[[nodiscard]] auto polynomial(const X& x, double c0, double c1, Coefficients... rest) {
    return polynomial(x, c1, rest...) * x + c0;
}

/// Returns log(1 + x) without the rounding error of u = 1 + x, which the factor x / (u - 1) corrects (Kahan).
template <reading X>
[[nodiscard]] auto log1p(const X& x) {
    const auto u = x + 1;
    const auto log_u = log(u);
    const auto corrected = where(u == 1, x, log_u * x * reciprocal(u - 1));
    return where(abs(x) < 0.5, corrected, log_u);
}

/// Rounds toward zero.
template <reading X>
[[nodiscard]] auto trunc(const X& x) {
    return where(x < 0, ceil(x), floor(x));
}

/// True if the sign bit is set: 1 / -0 is -infinity.
template <reading X>
[[nodiscard]] auto is_negative(const X& x) {
    return logical_or(x < 0, reciprocal(x) < 0);
}

}  // namespace headrace

// ---- headrace/pass/audit.hpp ----

namespace headrace {

namespace detail {

template <class P, class Op, class... Targets>
constexpr bool handled_but_unlisted(ops<Targets...>) {
    if constexpr ((__is_same(Op, Targets) || ...)) {
        return false;
    } else {
        return handles_args<P, Op> || handles_tag<P, Op>;  // the ops of rules are always targets
    }
}

template <class P, class Dialect, class... Ops>
constexpr auto find_unlisted(ops<Ops...>) {
    op_set<Dialect> found;
    // An array instead of a fold: clang nests folds, and a dialect has more ops than its nesting limit.
    const bool visited[] = {
        (handled_but_unlisted<P, Ops>(targets_of<P>{}) && (found.template insert<Ops>(), true))..., true};
    static_cast<void>(visited);
    return found;
}

}  // namespace detail

/// The ops of a dialect for which a pass has a handler but no target, so that the handler never runs:
/// `static_assert(unlisted_handlers<decompose_addmm, aten::dialect>.empty());` Use it only in tests: it
/// checks the pass against every op of the dialect.
template <pass_type P, class Dialect>
inline constexpr auto unlisted_handlers = detail::find_unlisted<P, Dialect>(typename Dialect::all_ops{});

/// Records the ops that passes emit during its lifetime, so that a test can check that a pass declares no
/// more than that. An op in `produces` that no handler emits weakens the proof:
///
///     emission_record emitted(context);
///     ... apply_pass(my_pass{}, g, context) to a graph for each of its handlers ...
///     CHECK(emitted.never<my_pass>().empty());
class emission_record {
public:
    explicit emission_record(pass_context& context) : context_(context) {
        context.observe_emissions(
            [](void* self, const node& n) { static_cast<emission_record*>(self)->add(*n.op); }, this);
    }
    ~emission_record() { context_.observe_emissions(nullptr, nullptr); }
    emission_record(const emission_record&) = delete;
    emission_record& operator=(const emission_record&) = delete;

    [[nodiscard]] bool contains(const op_info& op) const {
        return any_of(emitted_, [&](const op_info* other) { return other == &op; });
    }
    /// Returns the names of the ops in the pass's `produces` that have not been emitted.
    template <pass_type P>
    [[nodiscard]] pmr_vector<std::string_view> never() const {
        return missing_of(detail::infos_in<detail::declared_by<detail::pass_facts<P>>>::value);
    }

private:
    void add(const op_info& op) {
        if (!contains(op)) emitted_.push_back(&op);
    }
    [[nodiscard]] pmr_vector<std::string_view> missing_of(std::span<const op_info* const> declared) const {
        pmr_vector<std::string_view> missing;
        for (const op_info* op : declared) {
            if (!contains(*op)) missing.push_back(op->name);
        }
        return missing;
    }

    pass_context& context_;
    pmr_vector<const op_info*> emitted_;
};

}  // namespace headrace

// ---- headrace/pass/description.hpp ----

namespace headrace {

/// The facts about one pass of a pipeline.
struct pass_description {
    std::string_view name;
    std::string_view summary;  ///< one line about its effect, or empty
    pmr_vector<std::string_view> targets;
    pmr_vector<std::string_view> removes;
    pmr_vector<std::string_view> produces;
    bool whole_graph = false;
    bool can_fire = false;                      ///< false: pruned from the generated code
    pmr_vector<std::string_view> before;  ///< the ops that may be in the graph before it
};

struct pipeline_description {
    pmr_vector<pass_description> passes;
    pmr_vector<std::string_view> source;
    pmr_vector<std::string_view> supported;
    pmr_vector<std::string_view> result;
};

namespace detail {

template <class Set>
pmr_vector<std::string_view> names_in(const Set& set) {
    pmr_vector<std::string_view> names;
    set.for_each([&](std::string_view name) { names.push_back(name); });
    return names;
}

template <class Pipeline, class... Passes>
pipeline_description describe_passes(pass_list<Passes...>) {
    pipeline_description d;
    std::size_t i = 0;
    const auto add = [&]<class P>() {
        using effects = effects_of<P>;
        d.passes.push_back({pass_name<P>(), pass_summary<P>(), names_in(effects::target_set),
                            names_in(effects::removed_set), names_in(effects::produced_set), graph_pass<P>,
                            Pipeline::can_fire(i), names_in(Pipeline::ops_before(i))});
        ++i;
    };
    (add.template operator()<Passes>(), ...);
    d.source = names_in(Pipeline::ops_before(0));
    d.supported = names_in(Pipeline::supported);
    d.result = names_in(Pipeline::ops_after());
    return d;
}

}  // namespace detail

template <class Pipeline>
[[nodiscard]] pipeline_description describe() {
    return detail::describe_passes<Pipeline>(typename Pipeline::passes{});
}

}  // namespace headrace

// ---- headrace/version.hpp ----

/// The only place that says the version: the build and the amalgamated header read it from this line.
#define HEADRACE_VERSION "0.1.0"

namespace headrace {

inline constexpr std::string_view version = HEADRACE_VERSION;

}  // namespace headrace

// ---- headrace/contract/diagnoses.hpp ----

namespace headrace {

/// The values of `lowers`, `fits` and `conforms` when the check fails. They are types other than bool, so
/// that the single error of static_assert, at the line of the check, names them.
template <class Pipeline, class... Survivors>
struct pipeline_does_not_lower {};
template <class Target, class Diagnosis>
struct target_does_not_take_model {};
template <class Model>
struct contract_has_no_lowered_part {};
template <class Model>
struct contract_has_no_core {};  ///< `headrace contract --core` writes one that has
template <class Diagnosis>
struct model_is_not_accepted {};

/// The parts of a diagnosis.
template <class Op, class LastPass, class... Origin>
struct survives;
struct no_pass;
template <std::size_t Count>
struct and_more {};

template <std::size_t Index, fixed_string Name>
struct at_node {};  ///< the operator at `nodes[Index]`, and the exported node that it comes from
template <std::size_t Count>
struct refused_nodes {};  ///< how many operators the target refuses
template <std::int64_t Size, std::int64_t Max>
struct above {};
template <target_feature Feature>
struct lacks {};
template <class Op, auto Limit, class Node, class... Details>
struct refused {};

enum class budget : std::uint8_t { memory, flash };
template <std::uint64_t Bytes>
struct needs_bytes {};
template <std::uint64_t Bytes>
struct has_bytes {};
template <budget Budget, class Needed, class Available>
struct over_budget {};

template <fixed_string Core>
struct has_figures_of {};
template <fixed_string Core>
struct board_has {};
template <class Contract, class Board>
struct differs_in_core {};

enum class contract_part : std::uint8_t { inputs, outputs };
enum class tensor_part : std::uint8_t { dtype, rank, shape, quantization };
template <contract_part Part, std::size_t Given, std::size_t Accepted>
struct differs_in_number {};
template <contract_part Part, std::size_t Index, tensor_part In>
struct differs {};
template <class... Ops>
struct not_accepted {};

namespace detail {

template <class Diagnosis>
using held = std::type_identity<Diagnosis>;

template <class... A, class... B>
held<ops<A..., B...>> operator+(held<ops<A...>>, held<ops<B...>>);

// Keeps the ops of a list for which `Keep` is true, in order.
template <template <class> class Keep, class... Ops>
auto filter_ops(ops<Ops...>)
    -> decltype((held<ops<>>{} + ... + held<std::conditional_t<Keep<Ops>::value, ops<Ops>, ops<>>>{}));

template <class Diagnosis, class Verdict>
constexpr auto verdict() {
    if constexpr (__is_same(Diagnosis, no_fault)) {
        return true;
    } else {
        return Verdict{};
    }
}

}  // namespace detail

}  // namespace headrace

// ---- headrace/target/tosa_legality.hpp ----

namespace headrace::tosa {

/// Limits of level 8K (TOSA 1.0, section 1.5).
namespace level_8k {
inline constexpr std::int64_t max_rank = 6;
inline constexpr std::int64_t max_kernel = 8192;
inline constexpr std::int64_t max_stride = 8192;
inline constexpr std::int64_t max_scale = 256;
inline constexpr std::int64_t max_log2_size = 31;     ///< tensors are smaller than 2^31 bytes
inline constexpr std::int64_t max_nesting = 256;      ///< depth of control-flow regions
inline constexpr std::int64_t max_tensor_list = 64;   ///< operands of CONCAT, CUSTOM, COND_IF, WHILE_LOOP
inline constexpr std::int64_t max_shape_length = 16;  ///< elements of a shape operand
}  // namespace level_8k

/// One combination of element types that TOSA 1.0 allows for an op (the tables of chapter 2): the types of
/// the tensor operands in order, without shape operands and with lists counted once; then the accumulator's,
/// if the op has one; then the results'. A target must have one of the profiles and all of the extensions.
/// The rows do not require target_feature fp16: in TOSA 1.0, FP16 belongs to PRO-FP.
struct legality_row {
    static constexpr std::size_t max_types = 7;

    std::uint16_t profiles;
    std::uint16_t extensions;
    std::array<dtype, max_types> types;  ///< unknown after the last one

    [[nodiscard]] constexpr bool allowed_on(const target_spec& target) const {
        return (target.features & profiles) != 0 && (target.features & extensions) == extensions;
    }
    [[nodiscard]] constexpr bool has_types(std::span<const dtype> signature) const {
        std::size_t count = 0;
        while (count != max_types && types[count] != dtype::unknown) ++count;
        if (count != signature.size()) return false;
        for (std::size_t i = 0; i != count; ++i) {
            if (types[i] != signature[i]) return false;
        }
        return true;
    }
};

namespace detail {

constexpr std::uint16_t bits(target_feature f) { return static_cast<std::uint16_t>(f); }

inline constexpr auto as_int = bits(target_feature::profile_int);
inline constexpr auto as_fp = bits(target_feature::profile_fp);
inline constexpr auto as_any = static_cast<std::uint16_t>(as_int | as_fp);
inline constexpr auto ext_int4 = bits(target_feature::int4);
inline constexpr auto ext_int16 = bits(target_feature::int16);
inline constexpr auto ext_bf16 = bits(target_feature::bf16);
inline constexpr auto ext_e4m3 = bits(target_feature::fp8e4m3);
inline constexpr auto ext_e5m2 = bits(target_feature::fp8e5m2);
inline constexpr auto ext_fft = bits(target_feature::fft);
inline constexpr auto ext_cf = bits(target_feature::control_flow);
inline constexpr auto ext_var = bits(target_feature::variable);

inline constexpr auto bl = dtype::boolean;
inline constexpr auto i4 = dtype::int4;
inline constexpr auto i8 = dtype::int8;
inline constexpr auto i16 = dtype::int16;
inline constexpr auto i32 = dtype::int32;
inline constexpr auto i48 = dtype::int48;
inline constexpr auto e4 = dtype::float8_e4m3;
inline constexpr auto e5 = dtype::float8_e5m2;
inline constexpr auto bf = dtype::bfloat16;
inline constexpr auto hf = dtype::float16;
inline constexpr auto fl = dtype::float32;

// A type and the features that it needs, for ops whose operands and results all have one type.
struct plain_type {
    std::uint16_t profiles;
    std::uint16_t extensions;
    dtype type;
};
inline constexpr plain_type floats[] = {{as_fp, 0, fl}, {as_fp, 0, hf}, {as_fp, ext_bf16, bf}};
inline constexpr plain_type floats_i32[] = {
    {as_fp, 0, fl}, {as_fp, 0, hf}, {as_fp, ext_bf16, bf}, {as_any, 0, i32}};
inline constexpr plain_type floats_int_i32[] = {
    {as_fp, 0, fl}, {as_fp, 0, hf}, {as_fp, ext_bf16, bf}, {as_int, 0, i32}};
inline constexpr plain_type floats_integers[] = {{as_fp, 0, fl},  {as_fp, 0, hf},   {as_fp, ext_bf16, bf},
                                                 {as_int, 0, i8}, {as_int, 0, i16}, {as_int, 0, i32}};
inline constexpr plain_type floats_integers_bool[] = {
    {as_fp, 0, fl},   {as_fp, 0, hf},   {as_fp, ext_bf16, bf}, {as_int, 0, i8},
    {as_int, 0, i16}, {as_int, 0, i32}, {as_any, 0, bl}};
inline constexpr plain_type narrow[] = {
    {as_fp, 0, fl}, {as_fp, 0, hf}, {as_fp, ext_bf16, bf}, {as_int, 0, i8}, {as_int, ext_int16, i16}};
inline constexpr plain_type narrow_fp8[] = {
    {as_fp, 0, fl},           {as_fp, 0, hf},        {as_fp, ext_bf16, bf}, {as_int, 0, i8},
    {as_int, ext_int16, i16}, {as_fp, ext_e4m3, e4}, {as_fp, ext_e5m2, e5}};
inline constexpr plain_type layout[] = {{as_fp, 0, fl},        {as_fp, 0, hf},        {as_fp, ext_bf16, bf},
                                        {as_int, 0, i8},       {as_int, 0, i16},      {as_int, 0, i32},
                                        {as_fp, ext_e4m3, e4}, {as_fp, ext_e5m2, e5}, {as_any, 0, bl}};
inline constexpr plain_type gathered[] = {{as_fp, 0, fl},        {as_fp, 0, hf},       {as_fp, ext_bf16, bf},
                                          {as_int, 0, i8},       {as_int, 0, i16},     {as_int, 0, i32},
                                          {as_fp, ext_e4m3, e4}, {as_fp, ext_e5m2, e5}};
inline constexpr plain_type layout_concat[] = {
    {as_fp, 0, fl},   {as_fp, 0, hf},        {as_fp, ext_bf16, bf}, {as_int, 0, i8}, {as_int, ext_int16, i16},
    {as_int, 0, i32}, {as_fp, ext_e4m3, e4}, {as_fp, ext_e5m2, e5}, {as_any, 0, bl}};
inline constexpr plain_type data_types[] = {
    {as_fp, 0, fl},           {as_fp, 0, hf},        {as_fp, ext_bf16, bf}, {as_any, 0, i8},
    {as_any, 0, i16},         {as_any, 0, i32},      {as_any, 0, bl},       {as_int, ext_int4, i4},
    {as_int, ext_int16, i48}, {as_fp, ext_e4m3, e4}, {as_fp, ext_e5m2, e5}};
inline constexpr plain_type integers[] = {{as_int, 0, i8}, {as_int, 0, i16}, {as_int, 0, i32}};
inline constexpr plain_type shifted[] = {{as_any, 0, i8}, {as_any, 0, i16}, {as_any, 0, i32}};
inline constexpr plain_type booleans[] = {{as_any, 0, bl}};
inline constexpr plain_type any_i32[] = {{as_any, 0, i32}};
inline constexpr plain_type int_i32[] = {{as_int, 0, i32}};
inline constexpr plain_type variables[] = {{as_fp, ext_var, fl}, {as_fp, ext_var, hf}, {as_int, ext_var, i8}};
inline constexpr plain_type fft_types[] = {{as_fp, ext_fft, fl}};

// Returns rows for ops with `Count` equal types.
template <std::size_t Count, std::size_t N>
constexpr std::array<legality_row, N> all_same(const plain_type (&types)[N]) {
    std::array<legality_row, N> rows{};
    for (std::size_t i = 0; i != N; ++i) {
        rows[i] = {types[i].profiles, types[i].extensions, {}};
        for (std::size_t k = 0; k != Count; ++k) rows[i].types[k] = types[i].type;
    }
    return rows;
}
// Returns rows with `Count` equal types, except for `type` at position `at`.
template <std::size_t Count, std::size_t N>
constexpr std::array<legality_row, N> same_but(const plain_type (&types)[N], std::size_t at, dtype type) {
    std::array<legality_row, N> rows = all_same<Count>(types);
    for (legality_row& row : rows) row.types[at] = type;
    return rows;
}

template <std::size_t Count, const auto& Types>
inline constexpr auto same_rows = all_same<Count>(Types);
template <std::size_t Count, const auto& Types, std::size_t At, dtype Type>
inline constexpr auto mixed_rows = same_but<Count>(Types, At, Type);

inline constexpr legality_row pool_rows[] = {
    {as_int, 0, {i8, i8, i8, i32, i8}},      {as_int, ext_int16, {i16, i16, i16, i32, i16}},
    {as_fp, 0, {hf, hf, hf, hf, hf}},        {as_fp, 0, {hf, hf, hf, fl, hf}},
    {as_fp, 0, {fl, fl, fl, fl, fl}},        {as_fp, ext_bf16, {bf, bf, bf, fl, bf}},
    {as_fp, ext_e4m3, {e4, e4, e4, hf, e4}}, {as_fp, ext_e5m2, {e5, e5, e5, hf, e5}}};
inline constexpr legality_row conv_rows[] = {{as_int, 0, {i8, i8, i32, i8, i8, i32, i32}},
                                             {as_int, ext_int4, {i8, i4, i32, i8, i4, i32, i32}},
                                             {as_int, ext_int16, {i16, i8, i48, i16, i8, i48, i48}},
                                             {as_fp, 0, {hf, hf, hf, hf, hf, hf, hf}},
                                             {as_fp, 0, {hf, hf, hf, hf, hf, fl, hf}},
                                             {as_fp, 0, {fl, fl, fl, fl, fl, fl, fl}},
                                             {as_fp, ext_bf16, {bf, bf, bf, bf, bf, fl, bf}},
                                             {as_fp, ext_e4m3, {e4, e4, hf, e4, e4, hf, hf}},
                                             {as_fp, ext_e5m2, {e5, e5, hf, e5, e5, hf, hf}}};
inline constexpr legality_row matmul_rows[] = {
    {as_int, 0, {i8, i8, i8, i8, i32}},      {as_int, ext_int16, {i16, i16, i16, i16, i48}},
    {as_fp, 0, {hf, hf, hf, hf, hf}},        {as_fp, 0, {hf, hf, hf, hf, fl}},
    {as_fp, 0, {fl, fl, fl, fl, fl}},        {as_fp, ext_bf16, {bf, bf, bf, bf, fl}},
    {as_fp, ext_e4m3, {e4, e4, e4, e4, hf}}, {as_fp, ext_e5m2, {e5, e5, e5, e5, hf}}};
inline constexpr legality_row mul_rows[] = {
    {as_int, 0, {i8, i8, i8, i32}}, {as_int, 0, {i16, i16, i8, i32}}, {as_any, 0, {i32, i32, i8, i32}},
    {as_fp, 0, {hf, hf, i8, hf}},   {as_fp, 0, {fl, fl, i8, fl}},     {as_fp, ext_bf16, {bf, bf, i8, bf}}};
inline constexpr legality_row table_rows[] = {{as_int, 0, {i8, i8, i8}},
                                              {as_int, ext_int16, {i16, i16, i32}}};
inline constexpr legality_row resize_rows[] = {
    {as_int, 0, {i8, i8}},  {as_int, ext_int16, {i16, i16}}, {as_fp, 0, {hf, hf}},       {as_fp, 0, {fl, fl}},
    {as_int, 0, {i8, i32}}, {as_int, ext_int16, {i16, i48}}, {as_fp, ext_bf16, {bf, bf}}};
inline constexpr legality_row cast_rows[] = {{as_int, 0, {bl, i8}},
                                             {as_int, 0, {bl, i16}},
                                             {as_int, 0, {bl, i32}},
                                             {as_int, 0, {i8, bl}},
                                             {as_int, 0, {i8, i16}},
                                             {as_int, 0, {i8, i32}},
                                             {as_int, 0, {i16, bl}},
                                             {as_int, 0, {i16, i8}},
                                             {as_int, 0, {i16, i32}},
                                             {as_int, 0, {i32, bl}},
                                             {as_int, 0, {i32, i8}},
                                             {as_int, 0, {i32, i16}},
                                             {as_fp, 0, {i8, hf}},
                                             {as_fp, 0, {i8, fl}},
                                             {as_fp, 0, {i16, hf}},
                                             {as_fp, 0, {i16, fl}},
                                             {as_fp, 0, {i32, hf}},
                                             {as_fp, 0, {i32, fl}},
                                             {as_fp, 0, {hf, i8}},
                                             {as_fp, 0, {hf, i16}},
                                             {as_fp, 0, {hf, i32}},
                                             {as_fp, 0, {hf, fl}},
                                             {as_fp, 0, {fl, i8}},
                                             {as_fp, 0, {fl, i16}},
                                             {as_fp, 0, {fl, i32}},
                                             {as_fp, 0, {fl, hf}},
                                             {as_fp, ext_bf16, {i8, bf}},
                                             {as_fp, ext_bf16, {i16, bf}},
                                             {as_fp, ext_bf16, {i32, bf}},
                                             {as_fp, ext_bf16, {bf, i8}},
                                             {as_fp, ext_bf16, {bf, i16}},
                                             {as_fp, ext_bf16, {bf, i32}},
                                             {as_fp, ext_bf16, {bf, fl}},
                                             {as_fp, ext_bf16, {fl, bf}},
                                             {as_fp, ext_e4m3, {e4, hf}},
                                             {as_fp, ext_e4m3, {e4, fl}},
                                             {as_fp, ext_e4m3, {hf, e4}},
                                             {as_fp, ext_e4m3, {fl, e4}},
                                             {as_fp, ext_e5m2, {e5, hf}},
                                             {as_fp, ext_e5m2, {e5, fl}},
                                             {as_fp, ext_e5m2, {hf, e5}},
                                             {as_fp, ext_e5m2, {fl, e5}},
                                             {as_fp, ext_e4m3 | ext_bf16, {e4, bf}},
                                             {as_fp, ext_e4m3 | ext_bf16, {bf, e4}},
                                             {as_fp, ext_e5m2 | ext_bf16, {e5, bf}},
                                             {as_fp, ext_e5m2 | ext_bf16, {bf, e5}}};

// Multipliers are INT32, or INT16 if scale32 is false; both are rows here.
inline constexpr auto rescale_rows = [] {
    constexpr dtype ends[] = {i8, i16, i32};
    std::array<legality_row, 24> rows{};
    std::size_t next = 0;
    for (const dtype multiplier : {i32, i16}) {
        for (const dtype from : {i8, i16, i32, i48}) {
            const std::uint16_t extension = from == i48 ? ext_int16 : std::uint16_t{0};
            for (const dtype to : ends) {
                rows[next++] = {as_int, extension, {from, multiplier, i8, from, to, to}};
            }
        }
    }
    return rows;
}();

using row_span = std::span<const legality_row>;

inline constexpr auto row_table = [] {
    std::array<row_span, dialect::size> spans{};
    const auto set = [&]<class... Ops>(ops<Ops...>, row_span rows) { ((spans[index_of<Ops>] = rows), ...); };
    // Explicit although empty: in a constant, g++ 12 does not read elements that were never assigned.
    set(ops<custom, cond_if, while_loop, const_shape>{}, row_span());
    set(ops<argmax>{}, mixed_rows<2, narrow_fp8, 1, i32>);
    set(ops<avg_pool2d>{}, pool_rows);
    set(ops<conv2d, conv3d, depthwise_conv2d, transpose_conv2d>{}, conv_rows);
    set(ops<matmul>{}, matmul_rows);
    set(ops<max_pool2d>{}, same_rows<2, narrow_fp8>);
    set(ops<fft2d>{}, same_rows<4, fft_types>);
    set(ops<rfft2d>{}, same_rows<3, fft_types>);
    set(ops<clamp>{}, same_rows<2, narrow>);
    set(ops<erf, sigmoid, tanh, ceil, cos, exp, floor, log, reciprocal, rsqrt, sin, reduce_product>{},
        same_rows<2, floats>);
    set(ops<add, sub>{}, same_rows<3, floats_i32>);
    set(ops<maximum, minimum>{}, same_rows<3, floats_int_i32>);
    set(ops<pow>{}, same_rows<3, floats>);
    set(ops<mul>{}, mul_rows);
    set(ops<arithmetic_right_shift, bitwise_and, bitwise_or, bitwise_xor>{}, same_rows<3, integers>);
    set(ops<logical_left_shift, logical_right_shift>{}, same_rows<3, shifted>);
    set(ops<intdiv>{}, same_rows<3, any_i32>);
    set(ops<logical_and, logical_or, logical_xor>{}, same_rows<3, booleans>);
    set(ops<logical_not, reduce_all, reduce_any>{}, same_rows<2, booleans>);
    set(ops<table>{}, table_rows);
    set(ops<abs, reduce_sum>{}, same_rows<2, floats_int_i32>);
    set(ops<bitwise_not>{}, same_rows<2, integers>);
    set(ops<clz>{}, same_rows<2, int_i32>);
    set(ops<negate>{}, same_rows<4, floats_integers>);
    set(ops<select>{}, mixed_rows<4, floats_integers_bool, 0, bl>);
    set(ops<equal, greater, greater_equal>{}, mixed_rows<3, floats_int_i32, 2, bl>);
    set(ops<reduce_max, reduce_min>{}, same_rows<2, floats_integers>);
    set(ops<concat>{}, same_rows<2, layout_concat>);
    set(ops<pad>{}, same_rows<3, layout>);
    set(ops<reshape, reverse, slice, tile, transpose>{}, same_rows<2, layout>);
    set(ops<gather>{}, mixed_rows<3, gathered, 1, i32>);
    set(ops<scatter>{}, mixed_rows<4, gathered, 1, i32>);
    set(ops<resize>{}, resize_rows);
    set(ops<cast>{}, cast_rows);
    set(ops<rescale>{}, rescale_rows);
    set(ops<const_>{}, same_rows<1, data_types>);
    set(ops<identity>{}, same_rows<2, data_types>);
    set(ops<variable, variable_write, variable_read>{}, same_rows<1, variables>);
    return spans;
}();

}  // namespace detail

/// Returns an op's type combinations; empty for any types: CUSTOM, COND_IF, WHILE_LOOP and CONST_SHAPE.
[[nodiscard]] constexpr std::span<const legality_row> rows_of(const op_info& op) {
    return detail::row_table[op.index];
}

/// Returns the row for an op with operands and results of these types, or null if TOSA 1.0 has none.
[[nodiscard]] constexpr const legality_row* find_row(const op_info& op, std::span<const dtype> signature) {
    for (const legality_row& row : rows_of(op)) {
        if (row.has_types(signature)) return &row;
    }
    return nullptr;
}

/// True if the target takes this op with these types, which are in the order of legality_row.
template <op_tag Op>
[[nodiscard]] constexpr bool is_legal(const target_spec& target, std::initializer_list<dtype> signature) {
    if (__is_same(Op, cond_if) || __is_same(Op, while_loop)) return target.has(target_feature::control_flow);
    if (rows_of(info_of<Op>).empty()) return true;
    const legality_row* row =
        find_row(info_of<Op>, std::span<const dtype>(std::data(signature), signature.size()));
    return row != nullptr && row->allowed_on(target);
}

}  // namespace headrace::tosa

// ---- headrace/target/op_facts.hpp ----

namespace headrace {

/// The attributes of an operator that rules depend on. Attributes that it does not have are empty or zero.
struct op_attributes {
    int_list kernel{};  ///< of a pooling; a convolution's is in its weight
    int_list stride{};
    int_list pad{};  ///< out_pad of TRANSPOSE_CONV2D
    int_list dilation{};
    int_list scale{};   ///< of RESIZE, empty if it is computed
    int_list offset{};  ///< of RESIZE, empty if it is computed
    std::int64_t axis = 0;
    headrace::dtype declared = dtype::unknown;  ///< acc_type, or the type of a VARIABLE
    resize_mode mode = resize_mode::unknown;
    bool round = false;  ///< of ARITHMETIC_RIGHT_SHIFT
    /// Constant zero points of the first operand, of a weight or second matrix, and of the result.
    std::int64_t input_zero = 0, second_zero = 0, output_zero = 0;
    bool input_unsigned = false, output_unsigned = false;  ///< of RESCALE

    /// For convolutions: the largest sum of absolute weights of an output channel, if that can be too large
    /// for a target; whether biases fit in 40 bits; for INT16, whether all users are RESCALEs.
    std::int64_t weight_sum = 0;
    bool bias_fits = true;
    bool only_rescaled = true;
    bool from_convolution = false;  ///< for RESCALE: its input comes from a convolution

    friend constexpr bool operator==(const op_attributes&, const op_attributes&) = default;
};

/// An operator of the tosa dialect, its tensors and its attributes.
struct op_facts {
    /// The maximum number of operands, and of results, that rules read: a list within level 8K, and the
    /// operand before it.
    static constexpr std::size_t max_tensors = tosa::level_8k::max_tensor_list + 1;

    const op_info* op = nullptr;
    std::array<const tensor_meta*, 2 * max_tensors> tensors{};  ///< operands, then results
    std::size_t operand_count = 0;                               ///< of those in `tensors`
    std::size_t result_count = 0;
    std::size_t list_length = 0;  ///< full length of the operand that is a list
    std::uint64_t constants = 0;  ///< bit i: operand i is a constant
    op_attributes attributes{};

    [[nodiscard]] constexpr const tensor_meta& operand(std::size_t i) const { return *tensors[i]; }
    [[nodiscard]] constexpr const tensor_meta& result(std::size_t i) const {
        return *tensors[operand_count + i];
    }
    [[nodiscard]] constexpr bool is_constant(std::size_t i) const {
        return i < 64 && (constants >> i & 1) != 0;
    }
    template <op_tag... Ops>
    [[nodiscard]] constexpr bool is() const {
        return ((op == &info_of<Ops>) || ...);
    }
};

/// True for convolutions, which have a weight, a bias, and sums of products.
[[nodiscard]] constexpr bool is_convolution(const op_info& op) {
    return op.has(trait::convolving);
}

}  // namespace headrace

// ---- headrace/target/u55_rules.hpp ----

namespace headrace {

/// The reason why Ethos-U55 cannot execute an operator.
enum class u55_limit : std::uint8_t {
    none,
    op,                      ///< the operator is not supported
    booleans,                ///< not for booleans
    floats,                  ///< not for floating-point numbers
    other_than_int8,         ///< only for INT8
    other_than_int32,        ///< only for INT32
    int32,                   ///< not for INT32
    fewer_bits,              ///< a CAST cannot narrow
    int48_source,            ///< the operand of a RESCALE is INT48 only if a convolution computes it
    int16_without_rescale,   ///< all users of an INT16 convolution must be RESCALEs
    computed_weight,         ///< weights and biases must be constants
    channels,                ///< at most 65536
    kernel_window,           ///< of a convolution: at most 64 rows and 4096 elements
    kernel_depth,            ///< of CONV3D: 1
    weight_sum,              ///< the absolute weights of a channel add up to at most 127 * 65536
    bias_bits,               ///< at most 40
    stride,                  ///< at most 3 if the window is padded, dilated or depthwise
    transposed_stride,       ///< of TRANSPOSE_CONV2D: 1 or 2, the same on both axes
    pool_window,             ///< at most 256 rows and 65536 elements, 8 x 8 for a padded average
    axis_size,               ///< at most 65536
    argmax,                  ///< along at most 127 channels of one image
    resize,                  ///< nearest, of one image, by 2, 4 or 8
    transpose,               ///< must be addressable by a few axes of at most 65536
    reverse_axis,            ///< must be the height or width of an image
    sum_extent,              ///< at most 65536 elements before and after the axis
    shift_without_rounding,  ///< ARITHMETIC_RIGHT_SHIFT must round
};

/// The subset of TOSA's integer profile that Ethos-U55 executes, according to the report of supported
/// operators of its compiler, Vela 5.1. Vela accepts some operators that it cannot compile; these rules
/// refuse them.
namespace u55 {

inline constexpr std::int64_t max_size = 65536;  ///< of an axis, for operators with such a limit

/// For convolutions; larger kernels are split (passes/u55/expand_windows.hpp).
inline constexpr std::int64_t max_kernel_height = 64;
inline constexpr std::int64_t max_kernel_taps = 4096;
inline constexpr std::int64_t max_weight_sum = 127 * 65536;  ///< of the absolute weights of an output channel
inline constexpr std::int64_t max_bias = std::int64_t{1} << 39;

/// For poolings.
inline constexpr std::int64_t max_pool_height = 256;
inline constexpr std::int64_t max_pool_taps = 65536;
inline constexpr std::int64_t max_padded_average = 8;  ///< side of a padded AVG_POOL2D's window

inline constexpr std::int64_t max_stride = 3;  ///< a longer stride must have neither padding nor dilation
inline constexpr std::int64_t max_argmax = 127;

using unsupported_ops =
    ops<tosa::fft2d, tosa::rfft2d, tosa::bitwise_and, tosa::bitwise_or, tosa::bitwise_xor, tosa::bitwise_not,
        tosa::intdiv, tosa::logical_and, tosa::logical_or, tosa::logical_xor, tosa::logical_not,
        tosa::logical_right_shift, tosa::select, tosa::equal, tosa::greater, tosa::greater_equal,
        tosa::reduce_all, tosa::reduce_any, tosa::reduce_product, tosa::gather, tosa::scatter, tosa::custom,
        tosa::cond_if, tosa::while_loop, tosa::variable, tosa::variable_write, tosa::variable_read>;

/// The window of a convolution, on its kernel's last two axes, and its limits.
struct convolution_window {
    std::int64_t height, width;   ///< of the kernel
    sizes pad, stride, dilation;  ///< of the two axes
    bool depthwise = false;

    [[nodiscard]] constexpr bool kernel_fits() const {
        return height <= max_kernel_height && height * width <= max_kernel_taps;
    }
    [[nodiscard]] constexpr bool stride_fits() const {
        const bool is_long = std::max(stride[0], stride[1]) > max_stride;
        const bool is_plain = std::ranges::all_of(pad, [](std::int64_t n) { return n == 0; }) &&
                              dilation[0] == 1 && dilation[1] == 1;
        return !is_long || (is_plain && !depthwise);
    }
};

/// The window of a pooling, and its limits.
struct pooling_window {
    sizes kernel, pad, stride;
    bool average = false;

    [[nodiscard]] constexpr bool is_padded() const {
        return std::ranges::any_of(pad, [](std::int64_t n) { return n != 0; });
    }
    [[nodiscard]] constexpr bool fits() const {
        if (is_padded() && std::max(stride[0], stride[1]) > max_stride) return false;
        if (average && is_padded()) return std::max(kernel[0], kernel[1]) <= max_padded_average;
        return kernel[0] <= max_pool_height && kernel[0] * kernel[1] <= max_pool_taps;
    }
};

/// True for strides of TRANSPOSE_CONV2D that are 1 or 2, and equal if both axes have more than one element.
[[nodiscard]] constexpr bool transposed_stride_fits(sizes stride, sizes input, sizes kernel) {
    const auto lies = [&](std::size_t axis) { return input[1 + axis] == 1 && kernel[axis] == 1; };
    const auto is = [&](std::int64_t y, std::int64_t x) { return stride[0] == y && stride[1] == x; };
    return is(1, 1) || is(2, 2) || (is(1, 2) && lies(0)) || (is(2, 1) && lies(1));
}

/// True if a TRANSPOSE can be executed. Its steps address few axes at a time; 32-bit elements are moved in
/// halves, which count as an axis.
[[nodiscard]] constexpr bool transpose_fits(dtype type, sizes shape) {
    const std::size_t rank = shape.size();
    if (type == dtype::int32 && rank > 4) return false;
    const std::int64_t whole = element_count(shape);
    for (std::size_t i = 0; i != rank; ++i) {
        if (shape[i] > max_size) return false;
        for (std::size_t k = i + 1; rank > 3 && k != rank; ++k) {
            if (whole / std::max<std::int64_t>(shape[i] * shape[k], 1) > max_size) return false;
        }
    }
    return true;
}

namespace detail {

template <class... Ops>
constexpr bool is_any_of(const op_facts& f, ops<Ops...>) {
    return f.is<Ops...>();
}

// Returns the height and width of a convolution's kernel, which are two axes of its weight.
constexpr sizes kernel_of(const op_facts& f) {
    const std::size_t first = f.is<tosa::depthwise_conv2d>() ? 0 : f.is<tosa::conv3d>() ? 2 : 1;
    return sizes(f.operand(1).shape).subspan(first, 2);
}

constexpr u55_limit violated_by_window(const op_facts& f) {
    const op_attributes& a = f.attributes;
    const sizes kernel = kernel_of(f);
    if (f.is<tosa::transpose_conv2d>()) {
        return transposed_stride_fits(a.stride, f.operand(0).shape, kernel) ? u55_limit::none
                                                                            : u55_limit::transposed_stride;
    }
    const bool is_volume = f.is<tosa::conv3d>();
    if (is_volume && f.operand(1).shape[1] != 1) return u55_limit::kernel_depth;
    const convolution_window window{kernel[0],
                                    kernel[1],
                                    sizes(a.pad).subspan(is_volume ? 2 : 0),
                                    sizes(a.stride).subspan(is_volume ? 1 : 0),
                                    sizes(a.dilation).subspan(is_volume ? 1 : 0),
                                    f.is<tosa::depthwise_conv2d>()};
    return window.stride_fits() ? u55_limit::none : u55_limit::stride;
}

constexpr u55_limit violated_by_convolution(const op_facts& f) {
    const op_attributes& a = f.attributes;
    if (const u55_limit window = violated_by_window(f); window != u55_limit::none) return window;
    if (!f.is_constant(1) || !f.is_constant(2)) return u55_limit::computed_weight;
    if (f.operand(0).shape.back() > max_size) return u55_limit::channels;
    const sizes kernel = kernel_of(f);
    if (!convolution_window{kernel[0], kernel[1], {}, {}, {}}.kernel_fits()) return u55_limit::kernel_window;
    if (a.weight_sum > max_weight_sum) return u55_limit::weight_sum;
    if (f.operand(0).dtype != dtype::int16) return u55_limit::none;
    if (!a.only_rescaled) return u55_limit::int16_without_rescale;
    return a.bias_fits ? u55_limit::none : u55_limit::bias_bits;
}

constexpr u55_limit violated_by_pooling(const op_facts& f) {
    const op_attributes& a = f.attributes;
    if (!pooling_window{a.kernel, a.pad, a.stride, f.is<tosa::avg_pool2d>()}.fits())
        return u55_limit::pool_window;
    const int_list& input = f.operand(0).shape;
    return std::max({input[1], input[2], input[3]}) > max_size ? u55_limit::axis_size : u55_limit::none;
}

constexpr u55_limit violated_by_argmax(const op_facts& f) {
    const int_list& input = f.operand(0).shape;
    const std::size_t last = input.size() - 1;
    if (f.operand(0).dtype != dtype::int8) return u55_limit::other_than_int8;
    const bool is_last = f.attributes.axis == static_cast<std::int64_t>(last);
    const bool folds = last < 3 || (last == 3 && input[0] == 1);
    const bool fits = is_last && folds && input[last] <= max_argmax &&
                      element_count(sizes(input).first(last)) <= max_size;
    return fits ? u55_limit::none : u55_limit::argmax;
}

constexpr u55_limit violated_by_matmul(const op_facts& f) {
    if (f.operand(0).dtype != dtype::int8) return u55_limit::other_than_int8;
    return std::max(f.operand(0).shape[2], f.operand(1).shape[2]) > max_size ? u55_limit::axis_size
                                                                              : u55_limit::none;
}

constexpr u55_limit violated_by_resize(const op_facts& f) {
    const op_attributes& a = f.attributes;
    const int_list& input = f.operand(0).shape;
    bool fits =
        a.mode == resize_mode::nearest && input[0] == 1 && a.scale.size() == 4 && a.offset.size() == 2;
    for (std::size_t i = 0; fits && i != 2; ++i) {
        const std::int64_t n = a.scale[2 * i];
        const std::int64_t d = a.scale[2 * i + 1];
        const std::int64_t factor = n / d;
        fits = n % d == 0 && (factor == 2 || factor == 4 || factor == 8) && 2 * a.offset[i] == d - n &&
               f.result(0).shape[1 + i] == factor * input[1 + i];
    }
    return fits ? u55_limit::none : u55_limit::resize;
}

constexpr u55_limit violated_by_reverse(const op_facts& f) {
    if (f.operand(0).dtype == dtype::int32) return u55_limit::int32;
    const std::size_t rank = f.operand(0).shape.size();
    const auto after = static_cast<std::int64_t>(rank) - f.attributes.axis;
    return rank <= 4 && (after == 2 || after == 3) ? u55_limit::none : u55_limit::reverse_axis;
}

constexpr u55_limit violated_by_sum(const op_facts& f) {
    const sizes input = f.operand(0).shape;
    const auto axis = static_cast<std::size_t>(f.attributes.axis);
    if (input[axis] > max_size) return u55_limit::axis_size;
    if (axis + 1 == input.size()) return u55_limit::none;
    const bool fits =
        element_count(input.first(axis)) <= max_size && element_count(input.subspan(axis + 1)) <= max_size;
    return fits ? u55_limit::none : u55_limit::sum_extent;
}

// Checks ops whose rules depend only on types.
constexpr u55_limit violated_by_types(const op_facts& f) {
    const dtype from = f.operand_count == 0 ? dtype::unknown : f.operand(0).dtype;
    const dtype to = f.result_count == 0 ? dtype::unknown : f.result(0).dtype;
    if (f.is<tosa::arithmetic_right_shift>()) {
        if (from != dtype::int32) return u55_limit::other_than_int32;
        return f.attributes.round ? u55_limit::none : u55_limit::shift_without_rounding;
    }
    if (f.is<tosa::logical_left_shift>() && from != dtype::int32) return u55_limit::other_than_int32;
    if (f.is<tosa::table>() && from != dtype::int8) return u55_limit::other_than_int8;
    if (f.is<tosa::reduce_max, tosa::reduce_min>() && from == dtype::int32) return u55_limit::int32;
    if (f.is<tosa::cast>() && from != dtype::unknown && traits_of(to).bits < traits_of(from).bits)
        return u55_limit::fewer_bits;
    if (f.is<tosa::rescale>() && from == dtype::int48 && !f.attributes.from_convolution)
        return u55_limit::int48_source;
    return u55_limit::none;
}

}  // namespace detail

/// Returns the first rule that an operator with known tensors violates.
[[nodiscard]] constexpr u55_limit violated(const op_facts& f) {
    if (detail::is_any_of(f, unsupported_ops{})) return u55_limit::op;
    for (std::size_t i = 0; i != f.operand_count + f.result_count; ++i) {
        if (is_boolean(f.tensors[i]->dtype)) return u55_limit::booleans;
        if (is_floating(f.tensors[i]->dtype)) return u55_limit::floats;
    }
    if (is_convolution(*f.op)) return detail::violated_by_convolution(f);
    if (f.op->has(trait::pooling)) return detail::violated_by_pooling(f);
    if (f.is<tosa::argmax>()) return detail::violated_by_argmax(f);
    if (f.is<tosa::matmul>()) return detail::violated_by_matmul(f);
    if (f.is<tosa::resize>()) return detail::violated_by_resize(f);
    if (f.is<tosa::transpose>()) {
        return transpose_fits(f.operand(0).dtype, f.operand(0).shape) ? u55_limit::none
                                                                      : u55_limit::transpose;
    }
    if (f.is<tosa::reverse>()) return detail::violated_by_reverse(f);
    if (f.is<tosa::reduce_sum>()) return detail::violated_by_sum(f);
    return detail::violated_by_types(f);
}

}  // namespace u55

}  // namespace headrace

// ---- headrace/target/u85_rules.hpp ----

namespace headrace {

/// The reason why Ethos-U85 cannot execute an operator within its profile, its extensions and level 8K.
enum class u85_limit : std::uint8_t {
    none,
    op,               ///< only its author knows what a CUSTOM does
    computed_weight,  ///< weights and biases of CONV3D and TRANSPOSE_CONV2D must be constants
};

/// The report of supported operators of Vela 5.1, the compiler of Ethos-U85, lists the integer profile at
/// level 8K with int16, int4, double rounding and, as an experiment, control flow, and excludes computed
/// weights.
namespace u85 {

[[nodiscard]] constexpr u85_limit violated(const op_facts& f) {
    if (f.is<tosa::custom>()) return u85_limit::op;
    const bool computed = !f.is_constant(1) || !f.is_constant(2);
    return f.is<tosa::conv3d, tosa::transpose_conv2d>() && computed ? u85_limit::computed_weight
                                                                    : u85_limit::none;
}

}  // namespace u85

}  // namespace headrace

// ---- headrace/contract/model_contract.hpp ----

namespace headrace {

/// An input or an output of a model. With a scale of 0 it is not quantized; otherwise its numbers are in
/// [lowest, highest] and mean (number - zero_point) * scale.
struct contract_tensor {
    std::string_view name;
    headrace::dtype dtype;
    int_list shape;
    double scale = 0;
    std::int64_t zero_point = 0;
    std::int64_t lowest = 0;
    std::int64_t highest = 0;
};

/// An operator of a lowered model. Its operands and then its results are `uses[first]` and what follows,
/// which are positions among the contract's `tensors`.
struct contract_node {
    const op_info* op;
    std::string_view name;  ///< of the exported node that it descends from
    std::uint32_t first;
    std::uint16_t operand_count;
    std::uint16_t result_count;
    std::uint64_t constants;   ///< bit i: operand i is a constant
    std::uint16_t attributes;  ///< position among the contract's `attributes`
    std::uint32_t list_length = 0;
};

/// In an `exported_ops` list, an op of no dialect that Headrace knows.
template <fixed_string Name>
struct foreign_op {};

/// Matches contracts of models. `headrace contract` writes them; by hand, `inputs`, `outputs` and
/// `exported_ops` are enough for `lowers` and `conforms`.
template <class T>
concept model_contract = requires {
    typename T::exported_ops;
    T::inputs.size();
    T::outputs.size();
};

/// Matches those with a lowered part, which `fits` compares with a tosa_target.
template <class T>
concept lowered_contract = model_contract<T> && requires {
    typename T::lowered_ops;
    T::nodes.size();
    T::peak_memory;
    T::flatbuffer_bytes;
};

/// Matches those with the figures of a C++ type on a core, which `fits` compares with a core_target.
template <class T>
concept core_contract = model_contract<T> && requires {
    T::on_device::core;
    T::on_device::arena_bytes;
    T::on_device::state_bytes;
    T::on_device::constant_bytes;
};

/// A TOSA target at level 8K: `struct board : tosa_target<"TOSA-1.0+INT"> {};` A struct derived from it may
/// add budgets in bytes, `memory` for activations and `flash` for the flatbuffer, and limits of its own, as
/// ethos_u55 does.
template <fixed_string Spelling>
struct tosa_target {
private:
    static constexpr auto parsed = parse_target(Spelling.view());
    static_assert(parsed.has_value(), "target: this is not a target; write one such as TOSA-1.0+INT");

public:
    static constexpr target_spec target = parsed ? *parsed : target_spec{};
};

/// A microcontroller that executes the C++ type which `headrace lower -o NAME.hpp --core` writes: `struct
/// board : core_target<"cortex-m4"> {};`. A struct derived from it may add budgets in bytes: `memory` for the
/// arena and the states, and the stack where the contract has it, and `flash` for the constants, and the code
/// where the contract has it.
template <fixed_string Core>
struct core_target {
    static constexpr std::string_view core = Core.view();
};

/// Arm's Ethos-U55, with the rules of target/u55_rules.hpp.
struct ethos_u55 : tosa_target<"TOSA-1.0+INT+int16+int4"> {
    [[nodiscard]] static constexpr u55_limit violated(const op_facts& f) { return u55::violated(f); }
};

/// Arm's Ethos-U85, with the rules of target/u85_rules.hpp.
struct ethos_u85 : tosa_target<"TOSA-1.0+INT+int16+int4+cf"> {
    [[nodiscard]] static constexpr u85_limit violated(const op_facts& f) { return u85::violated(f); }
};

}  // namespace headrace

// ---- headrace/target/tosa_rules.hpp ----

namespace headrace {

/// The types of an operator in the order of legality_row.
class tosa_signature {
public:
    explicit constexpr tosa_signature(const op_facts& f) {
        std::size_t operand = 0;
        for (const field_info& field : *f.op) {
            if (field.kind == field_kind::tensor) {
                add(f.operand(operand++).dtype);
            } else if (field.kind == field_kind::tensors) {
                if (operand < f.operand_count) add(f.operand(operand).dtype);
                operand = f.operand_count;
            }
        }
        if (f.attributes.declared != dtype::unknown) add(f.attributes.declared);
        for (std::size_t i = 0; i != f.result_count; ++i) add(f.result(i).dtype);
    }

    [[nodiscard]] constexpr std::span<const dtype> types() const { return {types_.data(), size_}; }

private:
    constexpr void add(dtype type) {
        if (type != dtype::shape && size_ != types_.size()) types_[size_++] = type;
    }

    std::array<dtype, tosa::legality_row::max_types> types_{};
    std::size_t size_ = 0;
};

/// The reason why a TOSA target does not take an operator with these types.
enum class type_limit : std::uint8_t {
    none,
    types,             ///< TOSA 1.0 has no such operator for these types
    profile,           ///< the target lacks the profile or an extension that the types need
    control_flow,      ///< the target lacks the extension cf
    computed_operand,  ///< a zero point, a shift, a table or the like is not a constant
};

struct type_fault {
    type_limit limit = type_limit::none;
    const tosa::legality_row* row = nullptr;  ///< for type_limit::profile: the features that are needed
    std::string_view operand{};               ///< for type_limit::computed_operand: its name
};

namespace detail {

// Returns an operand that must be a constant if the target lacks EXT-DYNAMIC, as all targets here do.
constexpr std::string_view computed_operand(const op_facts& f) {
    std::size_t operand = 0;
    for (const field_info& field : *f.op) {
        if (field.kind != field_kind::tensor) continue;
        const bool demanded = field.name.ends_with("_zp") || field.name == "shift" || field.name == "table" ||
                              field.name == "pad_const" || field.name == "multiplier";
        if (demanded && !f.is_constant(operand)) return field.name;
        ++operand;
    }
    return {};
}

}  // namespace detail

[[nodiscard]] constexpr type_fault type_fault_of(const op_facts& f, const target_spec& target) {
    if (f.is<tosa::cond_if, tosa::while_loop>() && !target.has(target_feature::control_flow))
        return {type_limit::control_flow};
    if (!tosa::rows_of(*f.op).empty()) {
        const tosa_signature signature(f);
        const tosa::legality_row* row = tosa::find_row(*f.op, signature.types());
        if (row == nullptr) return {type_limit::types};
        if (!row->allowed_on(target)) return {type_limit::profile, row};
    }
    const std::string_view computed = detail::computed_operand(f);
    return computed.empty() ? type_fault{} : type_fault{type_limit::computed_operand, nullptr, computed};
}

/// A zero point that an operator does not take. Values of 8 bits have one; unsigned ones of 16 bits have 0 or
/// 32768; all others have 0 (the ERROR_IFs of TOSA 1.0, 2.2, 2.5.11 and 2.12.2).
struct zero_fault {
    std::string_view operand{};  ///< empty: no fault
    std::int64_t zero = 0;
    dtype type = dtype::unknown;  ///< of the values with this zero point

    explicit constexpr operator bool() const { return !operand.empty(); }
};

namespace detail {

constexpr zero_fault zero_fault_of(std::string_view operand, std::int64_t zero, dtype type,
                                   bool is_unsigned = false) {
    constexpr std::int64_t middle = 32768;  // has the same bits as -32768
    const bool is_middle = is_unsigned && type == dtype::int16 && (zero == middle || zero == -middle);
    return zero == 0 || type == dtype::int8 || is_middle ? zero_fault{} : zero_fault{operand, zero, type};
}
constexpr zero_fault first_of(const zero_fault& a, const zero_fault& b) { return a ? a : b; }

}  // namespace detail

[[nodiscard]] constexpr zero_fault zero_fault_of(const op_facts& f) {
    using detail::first_of;
    const op_attributes& a = f.attributes;
    const auto of_operand = [&](std::string_view name, std::int64_t zero, std::size_t i) {
        return detail::zero_fault_of(name, zero, f.operand(i).dtype, i == 0 && a.input_unsigned);
    };
    if (is_convolution(*f.op))
        return first_of(of_operand("input_zp", a.input_zero, 0), of_operand("weight_zp", a.second_zero, 1));
    if (f.is<tosa::matmul>())
        return first_of(of_operand("a_zp", a.input_zero, 0), of_operand("b_zp", a.second_zero, 1));
    std::string_view input;
    for (const field_info& field : *f.op) {
        if (field.name == "output_zp")
            return first_of(of_operand(input, a.input_zero, 0),
                            detail::zero_fault_of("output_zp", a.output_zero, f.result(0).dtype,
                                                  a.output_unsigned));
        if (field.name.ends_with("_zp")) input = field.name;
    }
    return {};
}

/// Returns the type that a RESCALE with an unsigned side cannot have on its other side: INT32 and INT48 are
/// signed, and RESCALE does not convert between unsigned values and INT32 (TOSA 1.0, 2.12.2). Returns
/// `unknown` if there is no fault.
[[nodiscard]] constexpr dtype sign_fault_of(const op_facts& f) {
    if (!f.is<tosa::rescale>() || (!f.attributes.input_unsigned && !f.attributes.output_unsigned))
        return dtype::unknown;
    for (const dtype type : {f.operand(0).dtype, f.result(0).dtype}) {
        if (type == dtype::int32 || type == dtype::int48) return type;
    }
    return dtype::unknown;
}

/// The limit of level 8K (TOSA 1.0, section 1.5) that an operator exceeds.
enum class level_limit : std::uint8_t {
    none,
    shape_length,
    rank,
    empty_tensor,
    tensor_size,
    operands,
    kernel,
    stride,
    pad,
    out_pad,
    dilated_kernel,
    fft_size,
    scale,
};

struct level_fault {
    level_limit limit = level_limit::none;
    std::int64_t size = 0;
    std::int64_t max = 0;
    const tensor_meta* tensor = nullptr;  ///< for level_limit::empty_tensor

    explicit constexpr operator bool() const { return limit != level_limit::none; }
};

/// Returns the name of the size that exceeds a limit, for messages.
[[nodiscard]] constexpr std::string_view name_of(level_limit limit) {
    return detail::enumerator_name(
        limit, {"nothing", "shape length", "rank", "empty tensor", "tensor size", "number of operands",
                "kernel", "stride", "pad", "out_pad", "dilated kernel", "size", "scale"});
}

namespace detail {

constexpr level_fault fault_if_above(level_limit limit, std::int64_t size, std::int64_t max) {
    return size <= max ? level_fault{} : level_fault{limit, size, max};
}

constexpr level_fault level_fault_of(const tensor_meta& meta) {
    if (meta.dtype == dtype::shape)
        return fault_if_above(level_limit::shape_length, meta.elements(), tosa::level_8k::max_shape_length);
    if (const auto rank = static_cast<std::int64_t>(meta.rank()); rank > tosa::level_8k::max_rank)
        return {level_limit::rank, rank, tosa::level_8k::max_rank};
    for (const std::int64_t size : meta.shape) {
        if (size < 1) return {level_limit::empty_tensor, size, 1, &meta};
    }
    const auto elements = static_cast<std::uint64_t>(element_count(meta.shape));
    const std::uint64_t limit = (std::uint64_t{1} << tosa::level_8k::max_log2_size) - 1;
    const std::uint64_t bytes = elements > limit ? elements : storage_bytes(meta.dtype, elements);
    return fault_if_above(level_limit::tensor_size, static_cast<std::int64_t>(bytes),
                          static_cast<std::int64_t>(limit));
}

constexpr level_fault first_above(level_limit limit, sizes items, std::int64_t max) {
    for (const std::int64_t item : items) {
        if (const level_fault fault = fault_if_above(limit, item, max)) return fault;
    }
    return {};
}

// Checks a convolution's kernel, in elements of the input.
constexpr level_fault level_fault_of_kernel(const op_facts& f) {
    if (!is_convolution(*f.op)) return {};
    const std::size_t first = f.is<tosa::depthwise_conv2d>() ? 0 : 1;
    for (std::size_t i = 0; i != (f.is<tosa::conv3d>() ? 3 : 2); ++i) {
        const std::int64_t dilation = f.attributes.dilation.empty() ? 1 : f.attributes.dilation[i];
        const std::int64_t size = saturating_mul(f.operand(1).shape[first + i], dilation);
        if (const level_fault fault =
                fault_if_above(level_limit::dilated_kernel, size, tosa::level_8k::max_kernel))
            return fault;
    }
    return {};
}

constexpr level_fault level_fault_of_scale(const op_facts& f) {
    const int_list& scale = f.attributes.scale;
    for (std::size_t i = 0; i + 1 < scale.size(); i += 2) {
        const std::int64_t ratio = scale[i] / std::max<std::int64_t>(scale[i + 1], 1);
        if (const level_fault fault = fault_if_above(level_limit::scale, ratio, tosa::level_8k::max_scale))
            return fault;
    }
    return {};
}

}  // namespace detail

/// Returns the first limit of level 8K that an operator exceeds.
[[nodiscard]] constexpr level_fault level_fault_of(const op_facts& f) {
    using namespace tosa::level_8k;
    for (std::size_t i = 0; i != f.operand_count + f.result_count; ++i) {
        if (const level_fault fault = detail::level_fault_of(*f.tensors[i])) return fault;
    }
    const auto length = static_cast<std::int64_t>(f.list_length);
    const op_attributes& a = f.attributes;
    const level_limit pad = f.is<tosa::transpose_conv2d>() ? level_limit::out_pad : level_limit::pad;
    const std::int64_t fft_size =
        f.is<tosa::fft2d, tosa::rfft2d>() ? std::max(f.operand(0).shape[1], f.operand(0).shape[2]) : 0;
    const level_fault faults[] = {detail::fault_if_above(level_limit::operands, length, max_tensor_list),
                                  detail::first_above(level_limit::kernel, a.kernel, max_kernel),
                                  detail::first_above(level_limit::stride, a.stride, max_stride),
                                  detail::first_above(pad, a.pad, max_kernel),
                                  detail::level_fault_of_kernel(f),
                                  detail::fault_if_above(level_limit::fft_size, fft_size, max_kernel),
                                  detail::level_fault_of_scale(f)};
    for (const level_fault& fault : faults) {
        if (fault) return fault;
    }
    return {};
}

}  // namespace headrace

// ---- headrace/contract/fits.hpp ----

namespace headrace {

namespace detail {

/// The facts of an operator of a contract.
template <class Model>
constexpr op_facts facts_at(std::size_t i) {
    const contract_node& n = Model::nodes[i];
    op_facts f;
    f.op = n.op;
    f.operand_count = n.operand_count;
    f.result_count = n.result_count;
    for (std::size_t k = 0; k != f.operand_count + f.result_count; ++k)
        f.tensors[k] = &Model::tensors[Model::uses[n.first + k]];
    f.constants = n.constants;
    f.list_length = n.list_length;
    f.attributes = Model::attributes[n.attributes];
    return f;
}

// By a target's own rules; by none if it has no such rules.
template <class Target>
constexpr auto own_limit(const op_facts& f) {
    if constexpr (requires { Target::violated(f); }) {
        return Target::violated(f);
    } else {
        return type_limit::none;
    }
}

template <class Target>
constexpr bool is_refused(const op_facts& f) {
    const auto own = own_limit<Target>(f);
    if (own != decltype(own_limit<Target>(f)){}) return true;
    return type_fault_of(f, Target::target).limit != type_limit::none || level_fault_of(f);
}

/// Which operators a target refuses: the first, and how many.
struct refusals {
    std::size_t first = static_cast<std::size_t>(-1);
    std::size_t count = 0;
};

// A part of the operators at a time: compilers bound the steps of one constant expression.
inline constexpr std::size_t nodes_at_once = 32;
template <class Target, class Model, std::size_t Chunk>
inline constexpr refusals refusals_in = [] {
    refusals found;
    constexpr std::size_t begin = Chunk * nodes_at_once;
    for (std::size_t i = begin; i != Model::nodes.size() && i != begin + nodes_at_once; ++i) {
        if (!is_refused<Target>(facts_at<Model>(i))) continue;
        if (found.count++ == 0) found.first = i;
    }
    return found;
}();
template <class Target, class Model, std::size_t... Chunks>
constexpr refusals refusals_of(std::index_sequence<Chunks...>) {
    refusals all;
    constexpr refusals found[] = {refusals_in<Target, Model, Chunks>..., refusals{}};
    for (const refusals& part : found) {
        if (all.count == 0) all.first = part.first;
        all.count += part.count;
    }
    return all;
}

// Returns a feature that a row demands and the target lacks: an extension if one is missing, else a profile.
constexpr target_feature missing_feature(const tosa::legality_row& row, const target_spec& target) {
    for (const target_feature_name& n : target_feature_names) {
        if ((row.extensions & static_cast<std::uint16_t>(n.feature)) != 0 && !target.has(n.feature))
            return n.feature;
    }
    for (const target_feature_name& n : target_feature_names) {
        if ((row.profiles & static_cast<std::uint16_t>(n.feature)) != 0) return n.feature;
    }
    return target_feature::profile_int;
}

// The part of a node's name that an error shows.
template <class Model, std::size_t I>
inline constexpr std::size_t named_length = std::min<std::size_t>(Model::nodes[I].name.size(), 60);

template <class Target, class Model, std::size_t I, std::size_t Count>
auto diagnose_node() {
    constexpr op_facts f = facts_at<Model>(I);
    using op = typename type_at<f.op->index, tosa::dialect::all_ops>::type;
    using where = at_node<I, fixed_string<named_length<Model, I> + 1>(Model::nodes[I].name)>;
    using rest = refused_nodes<Count>;
    constexpr auto own = own_limit<Target>(f);
    constexpr type_fault types = type_fault_of(f, Target::target);
    constexpr level_fault level = level_fault_of(f);
    if constexpr (own != decltype(own_limit<Target>(f)){}) {
        return held<refused<op, own, where, rest>>{};
    } else if constexpr (types.limit == type_limit::profile) {
        constexpr target_feature missing = missing_feature(*types.row, Target::target);
        return held<refused<op, types.limit, where, lacks<missing>, rest>>{};
    } else if constexpr (types.limit != type_limit::none) {
        return held<refused<op, types.limit, where, rest>>{};
    } else {
        return held<refused<op, level.limit, where, above<level.size, level.max>, rest>>{};
    }
}

/// Bytes that a model needs of a budget: as operators of TOSA, and as a C++ type on a core.
template <class Model>
struct tosa_needs {
    static constexpr std::uint64_t memory = Model::peak_memory, flash = Model::flatbuffer_bytes;
};
template <class Figures>
struct core_needs {
    static constexpr std::uint64_t memory = [] {
        std::uint64_t bytes = Figures::arena_bytes + Figures::state_bytes;
        if constexpr (requires { Figures::stack_bytes; }) bytes += Figures::stack_bytes;
        return bytes;
    }();
    static constexpr std::uint64_t flash = [] {
        std::uint64_t bytes = Figures::constant_bytes;
        if constexpr (requires { Figures::code_bytes; }) bytes += Figures::code_bytes;
        return bytes;
    }();
};

template <class Limits, class Needs>
constexpr bool memory_is_short() {
    if constexpr (requires { Limits::memory; }) {
        return Needs::memory > static_cast<std::uint64_t>(Limits::memory);
    } else {
        return false;
    }
}
template <class Limits, class Needs>
constexpr bool flash_is_short() {
    if constexpr (requires { Limits::flash; }) {
        return Needs::flash > static_cast<std::uint64_t>(Limits::flash);
    } else {
        return false;
    }
}
template <class Limits, class Needs>
auto diagnose_budgets() {
    if constexpr (memory_is_short<Limits, Needs>()) {
        return held<over_budget<budget::memory, needs_bytes<Needs::memory>, has_bytes<Limits::memory>>>{};
    } else if constexpr (flash_is_short<Limits, Needs>()) {
        return held<over_budget<budget::flash, needs_bytes<Needs::flash>, has_bytes<Limits::flash>>>{};
    } else {
        return held<no_fault>{};
    }
}

template <class Target>
concept has_core = requires { Target::core; };

// The C++ type has a kernel for each operator: only the core and the budgets are left to ask.
template <class Target, class Model>
auto diagnose_core() {
    constexpr std::string_view mine = Target::core, its = Model::on_device::core;
    if constexpr (mine != its) {
        return held<differs_in_core<has_figures_of<fixed_string<its.size() + 1>(its)>,
                                    board_has<fixed_string<mine.size() + 1>(mine)>>>{};
    } else {
        return diagnose_budgets<Target, core_needs<typename Model::on_device>>();
    }
}

template <class Target, class Model>
auto diagnose_fit() {
    constexpr std::size_t chunks = (Model::nodes.size() + nodes_at_once - 1) / nodes_at_once;
    constexpr refusals found = refusals_of<Target, Model>(std::make_index_sequence<chunks>{});
    if constexpr (found.count != 0) {
        return diagnose_node<Target, Model, found.first, found.count>();
    } else {
        return diagnose_budgets<Target, tosa_needs<Model>>();
    }
}

}  // namespace detail

namespace detail {

template <class Target, class Model>
auto diagnose() {
    if constexpr (has_core<Target>) {
        return diagnose_core<Target, Model>();
    } else {
        return diagnose_fit<Target, Model>();
    }
}

template <class Target, class Model>
inline constexpr bool can_be_asked = has_core<Target> ? core_contract<Model> : lowered_contract<Model>;

}  // namespace detail

/// The diagnosis that `fits` fails with, or no_fault: to decide by instead of failing.
template <class Target, model_contract Model>
    requires detail::can_be_asked<Target, Model>
using misfit = typename decltype(detail::diagnose<Target, Model>())::type;

namespace detail {

template <class Target, class Model>
constexpr auto fitting_verdict() {
    if constexpr (can_be_asked<Target, Model>) {
        return verdict<misfit<Target, Model>, target_does_not_take_model<Target, misfit<Target, Model>>>();
    } else if constexpr (has_core<Target>) {
        return contract_has_no_core<Model>{};
    } else {
        return contract_has_no_lowered_part<Model>{};
    }
}
}  // namespace detail

/// True if a target takes every operator of a lowered model and has the memory for it. If not,
/// static_assert fails with one error that names the first operator, its position in `nodes`, the limit, and
/// how many are refused; or the budget. Figures are those of the contract's lowered part; for
/// a core_target, those of the C++ type on that core.
template <class Target, model_contract Model>
inline constexpr auto fits = detail::fitting_verdict<Target, Model>();

}  // namespace headrace

// ---- headrace/contract/conforms.hpp ----

namespace headrace {

namespace detail {

struct first_difference {
    std::size_t index = 0;
    tensor_part in = tensor_part::dtype;
    bool found = false;
};
template <class Given, class Accepted>
constexpr first_difference difference_between(const Given& given, const Accepted& accepted) {
    for (std::size_t i = 0; i != accepted.size() && i != given.size(); ++i) {
        const contract_tensor& g = given[i];
        const contract_tensor& a = accepted[i];
        if (g.dtype != a.dtype) return {i, tensor_part::dtype, true};
        if (g.shape.size() != a.shape.size()) return {i, tensor_part::rank, true};
        if (g.shape != a.shape) return {i, tensor_part::shape, true};
        if (a.scale != 0 && (g.scale != a.scale || g.zero_point != a.zero_point))
            return {i, tensor_part::quantization, true};
    }
    return {};
}

template <class Accepted>
struct lacks_acceptance {
    template <class Op, class... Ops>
    static constexpr bool is_missing(ops<Ops...>) {
        return !(__is_same(Op, Ops) || ...);
    }
    template <class Op>
    using of = std::bool_constant<is_missing<Op>(typename Accepted::lowered_ops{})>;
};
template <class Accepted, class Model>
auto strange_ops() {
    if constexpr (requires { typename Accepted::lowered_ops; }) {
        return decltype(filter_ops<lacks_acceptance<Accepted>::template of>(typename Model::lowered_ops{})){};
    } else {
        return held<ops<>>{};
    }
}
template <class... Ops>
held<not_accepted<Ops...>> diagnose_ops(ops<Ops...>);

template <class Accepted>
concept limits_lowered_part = requires { typename Accepted::lowered_ops; } ||
                              requires { Accepted::memory; } || requires { Accepted::flash; };

template <class Model, class Accepted>
auto diagnose_acceptance() {
    constexpr first_difference input = difference_between(Model::inputs, Accepted::inputs);
    constexpr first_difference output = difference_between(Model::outputs, Accepted::outputs);
    if constexpr (Model::inputs.size() != Accepted::inputs.size()) {
        return held<
            differs_in_number<contract_part::inputs, Model::inputs.size(), Accepted::inputs.size()>>{};
    } else if constexpr (Model::outputs.size() != Accepted::outputs.size()) {
        return held<
            differs_in_number<contract_part::outputs, Model::outputs.size(), Accepted::outputs.size()>>{};
    } else if constexpr (input.found) {
        return held<differs<contract_part::inputs, input.index, input.in>>{};
    } else if constexpr (output.found) {
        return held<differs<contract_part::outputs, output.index, output.in>>{};
    } else if constexpr (!limits_lowered_part<Accepted>) {
        return held<no_fault>{};
    } else if constexpr (!lowered_contract<Model>) {
        return held<contract_has_no_lowered_part<Model>>{};
    } else {
        using strange = typename decltype(strange_ops<Accepted, Model>())::type;
        if constexpr (strange::size != 0) {
            return decltype(diagnose_ops(strange{})){};
        } else {
            return diagnose_budgets<Accepted, tosa_needs<Model>>();
        }
    }
}

}  // namespace detail

/// The diagnosis with which `conforms` fails, or no_fault.
template <class Model, class Accepted>
using difference_from = typename decltype(detail::diagnose_acceptance<Model, Accepted>())::type;

namespace detail {

template <class Model, class Accepted>
constexpr auto acceptance_verdict() {
    return verdict<difference_from<Model, Accepted>,
                   model_is_not_accepted<difference_from<Model, Accepted>>>();
}

}  // namespace detail

/// `true` if a model has the inputs and outputs of another contract, no other operators, and keeps within the
/// contract's budgets; else static_assert fails with one error. Names are not compared. Quantization is
/// compared if the accepted tensor's scale is not 0; operators and each budget are compared only if the
/// accepted contract has `lowered_ops`, `memory` or `flash`.
template <class Model, class Accepted>
inline constexpr auto conforms = detail::acceptance_verdict<Model, Accepted>();

}  // namespace headrace

// ---- headrace/contract/lowers.hpp ----

namespace headrace {

namespace detail {

template <class Pipeline>
struct lacks_lowering {
    template <class Op>
    static constexpr bool find() {
        if constexpr (op_tag<Op>) {
            return !Pipeline::supported.template contains<Op>();
        } else {
            return true;
        }
    }
    template <class Op>
    using of = std::bool_constant<find<Op>()>;
};

template <class Pipeline, class Op>
auto survivor_of() {
    if constexpr (requires { typename Pipeline::template last_pass_for<Op>; }) {
        return held<survives<Op, typename Pipeline::template last_pass_for<Op>>>{};
    } else {
        return held<survives<Op, no_pass>>{};
    }
}

template <class Pipeline>
held<no_fault> diagnose_lowering(ops<>);
template <class Pipeline, class A>
auto diagnose_lowering(ops<A>)
    -> held<pipeline_does_not_lower<Pipeline, typename decltype(survivor_of<Pipeline, A>())::type>>;
template <class Pipeline, class A, class B>
auto diagnose_lowering(ops<A, B>)
    -> held<pipeline_does_not_lower<Pipeline, typename decltype(survivor_of<Pipeline, A>())::type,
                                    typename decltype(survivor_of<Pipeline, B>())::type>>;
template <class Pipeline, class A, class B, class... More>
    requires(sizeof...(More) != 0)
auto diagnose_lowering(ops<A, B, More...>) -> held<
    pipeline_does_not_lower<Pipeline, typename decltype(survivor_of<Pipeline, A>())::type,
                            typename decltype(survivor_of<Pipeline, B>())::type, and_more<sizeof...(More)>>>;

}  // namespace detail

/// The exported ops that a pipeline does not provably lower, as a list ops<...>.
template <class Pipeline, model_contract Model>
using ops_not_lowered = typename decltype(detail::filter_ops<detail::lacks_lowering<Pipeline>::template of>(
    typename Model::exported_ops{}))::type;

namespace detail {

template <class Pipeline, class Model>
constexpr auto lowering_verdict() {
    using diagnosis =
        typename decltype(diagnose_lowering<Pipeline>(ops_not_lowered<Pipeline, Model>{}))::type;
    return verdict<diagnosis, diagnosis>();
}
}  // namespace detail

/// `true` if a pipeline lowers every exported op of a model; else static_assert fails with one error that
/// names the ops, and for each the last pass that targets it.
template <class Pipeline, model_contract Model>
inline constexpr auto lowers = detail::lowering_verdict<Pipeline, Model>();

}  // namespace headrace

// ---- headrace/op/custom.hpp ----

namespace headrace {

/// Matches a dialect's own enumerations. A function next to the enumeration, found by argument-dependent
/// lookup, names the enumerators, which count from 0.
///
///     enum class activation : std::uint8_t { none, relu, relu6 };
///     constexpr std::string_view enumerator_names(activation) { return "none, relu, relu6"; }
template <class T>
concept own_enumeration = std::is_enum_v<T> && requires(T e) {
    { enumerator_names(e) } -> std::convertible_to<std::string_view>;
};

/// Matches aggregates whose members are integers, floating-point numbers, booleans, own enumerations, or such
/// structs:
///
///     struct window { std::int32_t height = 1, width = 1; activation then{}; };
///     constexpr std::string_view member_names(const window&) { return "height, width, then"; }
template <class T>
concept own_struct = std::is_class_v<T> && std::is_trivially_copyable_v<T> && requires(const T& s) {
    { member_names(s) } -> std::convertible_to<std::string_view>;
};

/// Matches integers other than std::int64_t, the type used by Headrace's own dialects.
template <class T>
concept sized_integer = std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, char> &&
                        !std::is_same_v<T, std::int64_t>;

/// Matches argument types that a dialect adds.
template <class T>
concept custom_argument = own_enumeration<T> || own_struct<T> || sized_integer<T>;

namespace detail::custom {

inline std::string_view skip_space(std::string_view text) {
    while (!text.empty() && (text[0] == ' ' || text[0] == '\n' || text[0] == '\t' || text[0] == '\r'))
        text.remove_prefix(1);
    return text;
}
inline bool accept(std::string_view& text, char c) {
    text = skip_space(text);
    if (text.empty() || text[0] != c) return false;
    text.remove_prefix(1);
    return true;
}
/// Takes a name or a number, or nothing, from the front of the text.
inline std::string_view take_word(std::string_view& text) {
    text = skip_space(text);
    std::size_t end = 0;
    const auto is_in_word = [](char c) { return is_identifier(c) || c == '+' || c == '-' || c == '.'; };
    while (end != text.size() && is_in_word(text[end])) ++end;
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end);
    return word;
}

template <own_enumeration T>
inline constexpr auto names_in = split_names<count_names(enumerator_names(T{}))>(enumerator_names(T{}));
template <own_struct T>
inline constexpr auto members_in = split_names<count_names(member_names(T{}))>(member_names(T{}));

template <class T, class... Ts, class F>
void for_each_member(const members<Ts...>& all, F&& f) {
    std::size_t i = 0;
    static_cast<void>(((f(i, *static_cast<Ts*>(const_cast<void*>(all.at[i]))), ++i), ...));
}
/// Calls `f(i, member)` for each member of an own struct.
template <class T, class F>
void visit_members(const T& s, F&& f) {
    constexpr std::size_t count = members_in<T>.size();
    static_assert(takes<T, count>() && !takes<T, count + 1>(),
                  "op: member_names lacks a member of the struct; name all, in their order");
    for_each_member<T>(members_of<count>(s), f);
}

template <class T>
inline constexpr bool is_plain = custom_argument<T> || std::is_same_v<T, bool> ||
                                 std::is_same_v<T, std::int64_t> || std::is_same_v<T, double>;

template <class Number>
void print_number(Number number, text_sink out) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, number).ptr;
    out.append(out.to, {text, static_cast<std::size_t>(end - text)});
}
template <class Number>
bool parse_number(std::string_view word, Number& number) {
    const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), number);
    return failed == std::errc() && end == word.data() + word.size() && !word.empty();
}

template <class T>
void print(const T& v, text_sink out) {
    static_assert(is_plain<T>,
                  "op: a member of an own struct is of no type for them; use integers, double, bool, "
                  "own enumerations and own structs");
    if constexpr (own_enumeration<T>) {
        const auto i = static_cast<std::uint64_t>(v);
        if (i >= names_in<T>.size()) return custom::print_number(i, out);
        out.append(out.to, names_in<T>[i]);
    } else if constexpr (own_struct<T>) {
        out.append(out.to, "[");
        visit_members(v, [&](std::size_t i, const auto& member) {
            if (i != 0) out.append(out.to, ", ");
            out.append(out.to, members_in<T>[i]);
            out.append(out.to, "=");
            custom::print(member, out);
        });
        out.append(out.to, "]");
    } else if constexpr (std::is_same_v<T, bool>) {
        out.append(out.to, v ? "true" : "false");
    } else {
        print_number(v, out);
    }
}

template <class T>
bool parse(std::string_view& text, T& v);

template <own_struct T>
bool parse_struct(std::string_view& text, T& s) {
    bool given[members_in<T>.size()]{};
    if (!accept(text, '[')) return false;
    if (accept(text, ']')) return true;
    std::size_t next = 0;
    do {
        std::size_t index = next++;
        std::string_view rest = text;
        const std::string_view name = take_word(rest);
        if (accept(rest, '=')) {
            text = rest;
            for (index = 0; index != members_in<T>.size() && members_in<T>[index] != name;) ++index;
        }
        if (index >= members_in<T>.size() || std::exchange(given[index], true)) return false;
        bool sound = false;
        visit_members(s, [&](std::size_t i, auto& member) {
            if (i == index) sound = custom::parse(text, member);
        });
        if (!sound) return false;
    } while (accept(text, ','));
    return accept(text, ']');
}

template <class T>
bool parse(std::string_view& text, T& v) {
    if constexpr (own_struct<T>) {
        return parse_struct(text, v);
    } else {
        const std::string_view word = take_word(text);
        if constexpr (own_enumeration<T>) {
            for (std::size_t i = 0; i != names_in<T>.size(); ++i) {
                if (names_in<T>[i] == word) return v = static_cast<T>(i), true;
            }
            return false;
        } else if constexpr (std::is_same_v<T, bool>) {
            v = word == "true";
            return v || word == "false";
        } else {
            return parse_number(word, v);
        }
    }
}

template <class T>
bool equal(const T& a, const T& b) {
    if constexpr (own_struct<T>) {
        bool same = true;
        constexpr std::size_t count = members_in<T>.size();
        const auto others = members_of<count>(b);
        visit_members(a, [&]<class Member>(std::size_t i, const Member& member) {
            same = same && custom::equal(member, *static_cast<const Member*>(others.at[i]));
        });
        return same;
    } else {
        return std::memcmp(&a, &b, sizeof a) == 0;  // NaN equals NaN, and -0.0 differs from 0.0
    }
}

template <class T>
void expect(text_sink out) {
    if constexpr (own_enumeration<T>) {
        out.append(out.to, "one of ");
        out.append(out.to, enumerator_names(T{}));
    } else if constexpr (own_struct<T>) {
        out.append(out.to, "members such as ");
        custom::print(T{}, out);
    } else {
        out.append(out.to, "an integer from ");
        print_number(std::numeric_limits<T>::min(), out);
        out.append(out.to, " to ");
        print_number(std::numeric_limits<T>::max(), out);
    }
}

template <custom_argument T>
inline constexpr custom_type functions_of{
    sizeof(T),
    [](const void* member, text_sink out) { custom::print(*static_cast<const T*>(member), out); },
    [](std::string_view text, void* member) {
        return custom::parse(text, *static_cast<T*>(member)) && skip_space(text).empty();
    },
    [](const void* a, const void* b) {
        return custom::equal(*static_cast<const T*>(a), *static_cast<const T*>(b));
    },
    [](text_sink out) { expect<T>(out); },
};

}  // namespace detail::custom

template <custom_argument T>
inline constexpr field_kind kind_of<T> = field_kind::custom;
template <custom_argument T>
inline constexpr const custom_type* custom_type_of<T> = &detail::custom::functions_of<T>;

}  // namespace headrace

// ---- headrace/base/name_table.hpp ----

namespace headrace {

/// A table from names to values. It does not own the names; values are stored contiguously in insertion
/// order. In a large table, a lookup fetches three cache lines (a slot, an entry and its name's text), and
/// std::unordered_map's fetches six. Boost has such tables, but not in 1.74.
template <class T>
class name_table {
public:
    explicit name_table(std::pmr::memory_resource* memory = std::pmr::get_default_resource())
        : entries_(memory), slots_(memory) {}

    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    void reserve(std::size_t count) {
        entries_.reserve(count);
        if (2 * count > slots_.size()) make_slots(2 * count);
    }

    /// Returns the value of that name, or null. The pointer is valid until another name is added.
    [[nodiscard]] T* find(std::string_view name) {
        if (slots_.empty()) return nullptr;
        const slot& s = slots_[place_of(name, hash_of(name))];
        return s.number == none ? nullptr : &entries_[s.number].value;
    }
    [[nodiscard]] const T* find(std::string_view name) const {
        return const_cast<name_table&>(*this).find(name);
    }
    /// Returns the value of that name, and whether it was added now.
    std::pair<T*, bool> try_emplace(std::string_view name, T value = {}) {
        if (2 * (entries_.size() + 1) > slots_.size()) make_slots(4 * (entries_.size() + 1));
        const std::uint32_t hash = hash_of(name);
        slot& s = slots_[place_of(name, hash)];
        if (s.number != none) return {&entries_[s.number].value, false};
        s = {hash, static_cast<std::uint32_t>(entries_.size())};
        return {&entries_.emplace_back(entry{name, std::move(value)}).value, true};
    }

private:
    static constexpr std::uint32_t none = static_cast<std::uint32_t>(-1);
    struct entry {
        std::string_view name;
        T value;
    };
    struct slot {
        std::uint32_t hash = 0;
        std::uint32_t number = none;
    };

    static std::uint32_t hash_of(std::string_view name) {
        return static_cast<std::uint32_t>(std::hash<std::string_view>()(name));
    }
    // Returns the slot that has that name, or the free slot where it would go.
    [[nodiscard]] std::size_t place_of(std::string_view name, std::uint32_t hash) const {
        return find_slot(slots_.size(), hash, [&](std::size_t at) {
            const slot& s = slots_[at];
            return s.number == none || (s.hash == hash && entries_[s.number].name == name);
        });
    }
    void make_slots(std::size_t least) {
        slots_.assign(std::bit_ceil(least), slot());
        for (std::uint32_t i = 0; i != entries_.size(); ++i) {
            const std::uint32_t hash = hash_of(entries_[i].name);
            slots_[place_of(entries_[i].name, hash)] = {hash, i};
        }
    }

    pmr_vector<entry> entries_;
    pmr_vector<slot> slots_;  // a power of two in number, at most half in use
};

}  // namespace headrace

// ---- headrace/ir/signature.hpp ----

namespace headrace {

/// Annotation of the output node: the exported name of each of its values, in order. It stays when passes
/// replace the node that computes an output, and with it the name of the value.
struct output_names {
    static constexpr bool inherited = false;
    list<std::string_view> names;
};

/// Annotation of a placeholder whose user provides real numbers: the input is real / scale, rounded half to
/// even, plus zero_point, clamped to [lowest, highest]. A scale of 0 means that it is not quantized.
struct interface_quantization {
    static constexpr bool inherited = false;
    double scale = 0;
    std::int64_t zero_point = 0;
    std::int64_t lowest = 0;
    std::int64_t highest = 0;
};

/// Annotation of the output node: the quantization of each of its values, in order.
struct output_quantizations {
    static constexpr bool inherited = false;
    list<interface_quantization> values;
};

/// Annotation of a placeholder: its elements are int8 in the graph and uint8, of the same bits, for its user.
struct unsigned_interface {
    static constexpr bool inherited = false;
};

/// Annotation of the output node: the indices of values that are int8 in the graph and uint8 for their user.
struct unsigned_outputs {
    static constexpr bool inherited = false;
    list<std::int64_t> positions;
};

/// Annotation of a placeholder, or of the output node for all its values: tensors of rank 4 are NHWC for
/// their user, not NCHW as exported.
struct channels_last_interface {
    static constexpr bool inherited = false;
    bool applied = false;  ///< the shapes are NHWC already
};

}  // namespace headrace

// ---- headrace/op/reflect.hpp ----

namespace headrace {

[[nodiscard]] constexpr bool holds_tensors(field_kind k) {
    return k == field_kind::tensor || k == field_kind::tensors || k == field_kind::optional_tensors;
}

namespace detail {

/// Calls `as(std::type_identity<T>)` with the type of a field of that kind.
template <class F>
decltype(auto) visit_kind(field_kind kind, F&& as) {
    switch (kind) {
        case field_kind::tensor:
            return as(std::type_identity<value>{});
        case field_kind::tensors:
            return as(std::type_identity<list<value>>{});
        case field_kind::optional_tensors:
            return as(std::type_identity<list<std::optional<value>>>{});
        case field_kind::integer:
            return as(std::type_identity<std::int64_t>{});
        case field_kind::integers:
            return as(std::type_identity<int_list>{});
        case field_kind::floating:
            return as(std::type_identity<double>{});
        case field_kind::floatings:
            return as(std::type_identity<list<double>>{});
        case field_kind::boolean:
            return as(std::type_identity<bool>{});
        case field_kind::number:
            return as(std::type_identity<scalar>{});
        case field_kind::text:
            return as(std::type_identity<std::string_view>{});
        case field_kind::element_type:
            return as(std::type_identity<dtype>{});
        case field_kind::format:
            return as(std::type_identity<memory_format>{});
        case field_kind::resize:
            return as(std::type_identity<resize_mode>{});
        case field_kind::nan:
            return as(std::type_identity<nan_mode>{});
        case field_kind::rounding:
            return as(std::type_identity<rounding_mode>{});
        case field_kind::region:
            return as(std::type_identity<graph*>{});
        case field_kind::data:
            return as(std::type_identity<tensor_data>{});
        case field_kind::texts:
            return as(std::type_identity<list<std::string_view>>{});
        case field_kind::custom:
            return as(std::type_identity<custom_member>{});
    }
    __builtin_unreachable();
}

/// Calls `call(const T&)`, or with std::optional<T>, for the member that a field describes.
template <class F>
decltype(auto) visit_field(const field_info& f, const void* arguments, F&& call) {
    const auto* at = static_cast<const std::byte*>(arguments) + f.offset;
    return visit_kind(f.kind, [&]<class T>(std::type_identity<T>) -> decltype(auto) {
        if constexpr (std::is_same_v<T, custom_member>) {
            const custom_member member{f.custom, const_cast<std::byte*>(at)};
            return call(member);
        } else {
            return f.optional ? call(*reinterpret_cast<const std::optional<T>*>(at))
                              : call(*reinterpret_cast<const T*>(at));
        }
    });
}

/// Calls `call(const T&)` with an item from field_info::item_in; half as many types as in visit_field.
template <class F>
decltype(auto) visit_item(const field_info& f, const void* item, F&& call) {
    return visit_kind(f.kind, [&]<class T>(std::type_identity<T>) -> decltype(auto) {
        if constexpr (std::is_same_v<T, custom_member>) {
            const custom_member member{f.custom, const_cast<void*>(item)};
            return call(member);
        } else {
            return call(*static_cast<const T*>(item));
        }
    });
}

class hasher {
public:
    void add(std::uint64_t bits) {
        // The finalizer of MurmurHash3: every bit of the state depends on every bit added.
        state_ ^= bits + 0x9e3779b97f4a7c15U + (state_ << 6) + (state_ >> 2);
        state_ = (state_ ^ (state_ >> 33)) * 0xff51afd7ed558ccdU;
        state_ ^= state_ >> 33;
    }
    void add(const value& v) {
        add_address(v.producer);
        add(std::uint64_t{v.result});
    }
    void add(double d) { add(d != d ? std::uint64_t{1} : std::bit_cast<std::uint64_t>(d)); }
    void add(bool b) { add(std::uint64_t{b}); }
    void add(std::int64_t i) { add(static_cast<std::uint64_t>(i)); }
    void add(const scalar& s) {
        add(static_cast<std::uint64_t>(s.kind()));
        if (s.is_floating())
            add(s.to_double());
        else
            add(s.to_int());
    }
    void add(std::string_view text) { add(hash_of(text)); }
    void add(graph* const& g) { add_address(g); }
    void add(const tensor_data& d) {
        add_address(d.bytes);
        add(d.strides);
    }
    void add(const custom_member& m) {
        m.type->print(m.at,
                      {this, [](void* to, std::string_view text) { static_cast<hasher*>(to)->add(text); }});
    }
    template <class T>
        requires std::is_enum_v<T>
    void add(T e) {
        add(static_cast<std::uint64_t>(e));
    }
    template <class T>
    void add(const std::optional<T>& o) {
        add(o.has_value());
        if (o) add(*o);
    }
    void add(const int_list& items) { add_all(items); }
    template <class T>
    void add(const list<T>& items) {
        add_all(items);
    }
    [[nodiscard]] std::uint64_t state() const { return state_; }

private:
    void add_address(const void* at) { add(std::uint64_t{reinterpret_cast<std::uintptr_t>(at)}); }
    template <class Items>
    void add_all(const Items& items) {
        add(std::uint64_t{items.size()});
        for (const auto& item : items) add(item);
    }
    std::uint64_t state_ = 0;
};

// NaN equals NaN, but -0.0 differs from 0.0, because they divide differently. There is no overload for
// double: compilers would check for every other type whether it converts.
template <class T>
bool same(const T& a, const T& b) {
    if constexpr (std::is_same_v<T, double>) {
        return (a != a && b != b) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
    } else if constexpr (std::is_same_v<T, scalar>) {
        return a.kind() == b.kind() &&
               (a.is_floating() ? same(a.to_double(), b.to_double()) : a.to_int() == b.to_int());
    } else {
        return a == b;
    }
}
template <class T>
bool same(const std::optional<T>& a, const std::optional<T>& b) {
    return a.has_value() == b.has_value() && (!a || same(*a, *b));
}
template <class T>
bool same(const list<T>& a, const list<T>& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i != a.size(); ++i) {
        if (!same(a[i], b[i])) return false;
    }
    return true;
}

template <class Name>
class printer {
public:
    printer(std::pmr::string& out, Name& name) : out_(out), name_(name) {}

    void put(const value& v) {
        if (v)
            out_ += name_(v);
        else
            out_ += "none";
    }
    void put(std::int64_t i) { out_ += number_text(i); }
    void put(bool b) { out_ += b ? "true" : "false"; }
    void put(double d) {
        char text[32];
        const auto end = std::to_chars(text, text + sizeof text, d).ptr;
        const std::string_view shortest(text, static_cast<std::size_t>(end - text));
        out_ += shortest;
        if (shortest.find_first_of(".en") == std::string_view::npos) out_ += ".0";  // 2.0 differs from 2
    }
    void put(const scalar& s) {
        if (s.is_floating()) {
            put(s.to_double());
        } else if (s.kind() == scalar::kind_type::boolean) {
            put(s.to_int() != 0);
        } else {
            put(s.to_int());
        }
    }
    void put(std::string_view text) {
        // In quotes, on one line, and of limited length.
        const bool is_cut = text.size() > max_printed_message;
        text = text.substr(0, max_printed_message);
        out_ += '"';
        for (std::size_t at = 0; at <= text.size();) {
            const std::size_t end = std::min(text.find_first_of("\"\\", at), text.size());
            headrace::detail::append_printable(out_, text.substr(at, end - at));
            if (end != text.size()) (out_ += '\\') += text[end];
            at = end + 1;
        }
        out_ += is_cut ? "...\"" : "\"";
    }
    void put(graph* const& g) {
        if (g == nullptr) {
            out_ += "none";
        } else if constexpr (requires { name_(static_cast<const graph*>(g)); }) {
            out_ += name_(static_cast<const graph*>(g));
        } else {
            out_ += "{...}";
        }
    }
    void put(const custom_member& m) {
        m.type->print(m.at, {&out_, [](void* to, std::string_view text) {
                                 *static_cast<std::pmr::string*>(to) += text;
                             }});
    }
    void put(const tensor_data& data) {
        out_ += data.strides.empty() ? "row-major" : "strides ";
        if (!data.strides.empty()) put(data.strides);
    }
    template <class T>
        requires std::is_enum_v<T>
    void put(T e) {
        out_ += name_of(e);
    }
    template <class T>
    void put(const std::optional<T>& o) {
        if (o)
            put(*o);
        else
            out_ += "none";
    }
    void put(const int_list& items) { put_all(items); }
    template <class T>
    void put(const list<T>& items) {
        put_all(items);
    }

private:
    template <class Items>
    void put_all(const Items& items) {
        out_ += '[';
        bool first = true;
        for (const auto& item : items) {
            if (!first) out_ += ", ";
            put(item);
            first = false;
        }
        out_ += ']';
    }
    std::pmr::string& out_;
    Name& name_;
};

}  // namespace detail

/// Appends one argument: `[1, 1]`. `name(value)` returns the text of a value, and `name(const graph*)`, if it
/// exists, that of a region.
template <class Name>
void print_field(std::pmr::string& out, const field_info& f, const void* arguments, Name&& name) {
    detail::printer<Name> to(out, name);
    const void* const item = f.item_in(arguments);
    if (item == nullptr) {
        out += "none";
    } else {
        detail::visit_item(f, item, [&](const auto& as) { to.put(as); });
    }
}

/// Appends the arguments of an op: `(input=%x, stride=[1, 1], bias=none)`; `name` is as for print_field.
template <class Name>
void print_arguments(std::pmr::string& out, const op_info& op, const void* arguments, Name&& name) {
    out += '(';
    for (const field_info& f : op) {
        if (&f != op.begin()) out += ", ";
        out += f.name;
        out += '=';
        print_field(out, f, arguments, name);
    }
    out += ')';
}

/// Returns `aten.conv2d.default(input=%x, …)`.
template <op_tag Op, class Name>
[[nodiscard]] std::pmr::string print(Op, const args<Op>& a, Name&& name) {
    std::pmr::string out(Op::name);
    print_arguments(out, info_of<Op>, &a, name);
    return out;
}

/// True if a member is equal in both structs. Values compare by identity, constants by address; NaN equals
/// NaN.
[[nodiscard]] inline bool equal_field(const field_info& f, const void* a, const void* b) {
    const void* const first = f.item_in(a);
    const void* const second = f.item_in(b);
    if (first == nullptr || second == nullptr) return first == second;
    return detail::visit_item(f, first, [&]<class T>(const T& item) {
        if constexpr (std::is_same_v<T, custom_member>) {
            return f.custom->equal(first, second);
        } else {
            return detail::same(item, *static_cast<const T*>(second));
        }
    });
}

/// True if all arguments are equal; used for common subexpressions and the dispatch cache.
[[nodiscard]] inline bool equal_arguments(const op_info& op, const void* a, const void* b) {
    for (const field_info& f : op) {
        if (!equal_field(f, a, b)) return false;
    }
    return true;
}

/// Returns a hash that agrees with equal_arguments, valid within one run: values hash by address.
[[nodiscard]] inline std::uint64_t hash_arguments(const op_info& op, const void* arguments) {
    detail::hasher h;
    h.add(op.name);
    for (const field_info& f : op) {
        const void* const item = f.item_in(arguments);
        if (f.optional) h.add(item != nullptr);
        if (item != nullptr) detail::visit_item(f, item, [&](const auto& as) { h.add(as); });
    }
    return h.state();
}

}  // namespace headrace

// ---- headrace/ir/listing.hpp ----

namespace headrace {

/// A unique, printable name for each value of a graph and its regions. Values keep their names; a value
/// without a name, or whose name is taken, gets one made of its op and a number.
class printed_names {
public:
    explicit printed_names(const graph& g);
    [[nodiscard]] std::string_view operator[](value v) const;
    /// Returns the index of a region among those of its graph, in order of creation.
    [[nodiscard]] std::size_t number_of(const graph& region) const;

private:
    struct names_of_graph {
        const graph* owner;
        std::size_t number;
        std::string_view** names;  // of each result, by the node's id; null for an erased node
    };

    // For std::qsort and std::bsearch: <algorithm> would cost much of a listing's compile time.
    static int order_by_address(const void* a, const void* b);
    [[nodiscard]] const names_of_graph* find(const graph* g) const;
    // Returns the regions in order of creation; a graph lists the last one first.
    [[nodiscard]] static pmr_vector<const graph*> regions_of(const graph& g);
    void claim_own(const graph& g, std::size_t number);
    void fill_missing(const graph& g);
    // Returns "conv2d" for "aten.conv2d.default".
    static std::pmr::string base_of(const op_info& op);
    // Makes `text` the name `as`, unless another value has it.
    bool claim(std::string_view text, std::string_view& as);
    std::string_view unused(std::string_view base);

    arena memory_{std::pmr::get_default_resource()};
    pmr_vector<names_of_graph> graphs_;  // sorted by their owners' addresses
    name_table<int> taken_;                    // by name, the last number that was appended
};

namespace detail {

// Returns the text of a value or a region in a listing.
class listed_names {
public:
    explicit listed_names(const printed_names& names) : names_(&names) {}

    std::pmr::string operator()(value v) const;
    // Returns the region's number: "#0".
    std::pmr::string operator()(const graph* region) const;

private:
    const printed_names* names_;
};

// Returns "%x, %w, stride=[2, 2]". Arguments equal to the schema's default are left out, except lists of
// tensors; tensors are positional until an argument before them is left out.
[[nodiscard]] std::pmr::string listed_arguments(const node& n, const listed_names& names);

}  // namespace detail

/// Returns one line for each node, in execution order:
///
///     %x: float32[1, 16, 8, 8] = input
///     %w: float32[4, 16, 3, 3] = constant
///     %y: float32[1, 4, 3, 3] = aten.conv2d.default(%x, %w, stride=[2, 2])
///     output %y
///
/// Arguments that equal the op's defaults are left out; a region follows the node that holds it.
[[nodiscard]] std::pmr::string listing(const graph& g);

}  // namespace headrace

// ---- headrace/ir/listing_definition.hpp ----

namespace headrace {

HEADRACE_INLINE printed_names::printed_names(const graph& g) {
    claim_own(g, 0);
    std::qsort(graphs_.data(), graphs_.size(), sizeof(names_of_graph), order_by_address);
    fill_missing(g);
}

HEADRACE_INLINE int printed_names::order_by_address(const void* a, const void* b) {
    const auto address = [](const void* names) {
        return reinterpret_cast<std::uintptr_t>(static_cast<const names_of_graph*>(names)->owner);
    };
    return (address(a) > address(b)) - (address(a) < address(b));
}

HEADRACE_INLINE std::string_view printed_names::operator[](value v) const {
    const names_of_graph* graph = v ? find(v.producer->owner) : nullptr;
    if (graph == nullptr || v.producer->id >= graph->owner->id_bound()) return "null";
    const std::string_view* results = graph->names[v.producer->id];
    return results != nullptr && v.result < v.producer->result_count ? results[v.result] : "null";
}

HEADRACE_INLINE std::size_t printed_names::number_of(const graph& region) const {
    const names_of_graph* names = find(&region);
    if (names != nullptr) return names->number;
    // The region belongs to a graph that is not listed here.
    std::size_t number = 0;
    for (const graph* other : regions_of(*region.parent())) {
        if (other == &region) break;
        ++number;
    }
    return number;
}

HEADRACE_INLINE const printed_names::names_of_graph* printed_names::find(const graph* g) const {
    const names_of_graph key{g, 0, nullptr};
    return static_cast<const names_of_graph*>(
        std::bsearch(&key, graphs_.data(), graphs_.size(), sizeof(names_of_graph), order_by_address));
}

HEADRACE_INLINE pmr_vector<const graph*> printed_names::regions_of(const graph& g) {
    pmr_vector<const graph*> regions;
    for (const graph& region : g.regions()) regions.push_back(&region);
    reverse(regions);
    return regions;
}

HEADRACE_INLINE void printed_names::claim_own(const graph& g, std::size_t number) {
    std::string_view** names = make_array<std::string_view*>(memory_, g.id_bound());
    graphs_.push_back({&g, number, names});
    for (const node& n : g.nodes()) {
        names[n.id] = make_array<std::string_view>(memory_, n.result_count);
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            const std::string_view own = n.results[i].name;
            if (!own.empty()) claim(printable(own), names[n.id][i]);
        }
    }
    std::size_t next = 0;
    for (const graph* region : regions_of(g)) claim_own(*region, next++);
}

HEADRACE_INLINE void printed_names::fill_missing(const graph& g) {
    std::string_view* const* names = find(&g)->names;
    for (const node& n : g.nodes()) {
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            std::string_view& name = names[n.id][i];
            const std::string_view own = n.results[i].name;
            if (name.empty()) name = unused(own.empty() ? base_of(*n.op) : printable(own));
        }
    }
    for (const graph* region : regions_of(g)) fill_missing(*region);
}

HEADRACE_INLINE std::pmr::string printed_names::base_of(const op_info& op) {
    std::string_view text = op.name.substr(op.name.find('.') + 1);
    std::pmr::string base(text.substr(0, text.find('.')));
    for (char& c : base) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return base;
}

HEADRACE_INLINE bool printed_names::claim(std::string_view text, std::string_view& as) {
    if (taken_.find(text) != nullptr) return false;
    as = {copy_array(memory_, text.data(), text.size()), text.size()};
    taken_.try_emplace(as);
    return true;
}

HEADRACE_INLINE std::string_view printed_names::unused(std::string_view base) {
    std::string_view name;
    if (claim(base, name)) return name;
    std::pmr::string numbered;
    do {
        numbered = base;
        (numbered += '_') += number_text(++*taken_.find(base));
    } while (!claim(numbered, name));
    return name;
}

namespace detail {

HEADRACE_INLINE std::pmr::string listed_names::operator()(value v) const {
    std::pmr::string name(1, '%');
    return name += (*names_)[v];
}

HEADRACE_INLINE std::pmr::string listed_names::operator()(const graph* region) const {
    if (region->parent() == nullptr) return "none";
    return text_of({"#", names_->number_of(*region)});
}

HEADRACE_INLINE std::pmr::string listed_arguments(const node& n, const listed_names& names) {
    std::pmr::string out;
    bool positional = true;
    for (const field_info& f : *n.op) {
        const bool is_list = f.kind == field_kind::tensors || f.kind == field_kind::optional_tensors;
        const bool shown = is_list || !equal_field(f, n.arguments, n.op->default_args);
        positional = positional && shown && holds_tensors(f.kind);
        if (!shown) continue;
        if (!out.empty()) out += ", ";
        if (!positional) (out += f.name) += '=';
        print_field(out, f, n.arguments, names);
    }
    return out;
}

[[nodiscard]] inline std::pmr::string node_line(const node& n, const printed_names& names) {
    const listed_names name(names);
    std::pmr::string out;
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        const value v{const_cast<node*>(&n), i};
        (((out += i == 0 ? "" : ", ") += name(v)) += ": ") += meta_text(meta_of(v));
    }
    if (n.result_count != 0) out += " = ";
    if (is<builtin::placeholder>(n)) return out += "input";
    if (is<builtin::constant>(n)) {
        out += "constant";
        if (args_of<builtin::constant>(n).data.strides.empty()) return out;
        out += ", ";
        print_field(out, n.op->fields[0], n.arguments, name);
        return out;
    }
    if (is<builtin::output>(n)) {
        const auto* exported = n.find_annotation<output_names>();
        out += "output";
        std::size_t i = 0;
        for (const value v : args_of<builtin::output>(n).values) {
            out += i == 0 ? " " : ", ";
            const bool named = exported != nullptr && i < exported->names.size();
            const std::pmr::string given = named ? printable(exported->names[i]) : std::pmr::string(names[v]);
            if (given != names[v]) (out += given) += '=';
            out += name(v);
            ++i;
        }
        return out;
    }
    if (const auto* opaque = args_if<builtin::opaque>(n)) {
        ((out += printable(opaque->target)) += '(') += opaque_arguments(*opaque, name);
        return out += ')';
    }
    ((out += n.op->name) += '(') += listed_arguments(n, name);
    return out += ')';
}

inline void list_graph(const graph& g, const printed_names& names, const std::pmr::string& indent,
                       std::pmr::string& out) {
    for (const node& n : g.nodes()) {
        ((out += indent) += node_line(n, names)) += '\n';
        for_each_region(n, [&](const field_info&, const graph* region) {
            if (region == nullptr || region->parent() != &g) return;
            (((out += indent) += "    ") += listed_names(names)(region)) += ":\n";
            list_graph(*region, names, text_of({indent, "        "}), out);
        });
    }
}

}  // namespace detail

HEADRACE_INLINE std::pmr::string listing(const graph& g) {
    const printed_names names(g);
    std::pmr::string out;
    detail::list_graph(g, names, "", out);
    return out;
}

}  // namespace headrace

// ---- headrace/match/pattern_expression.hpp ----

namespace headrace {

/// An input of a pattern, by position; the pattern's callable is called with these. As an operand it matches
/// any value, as another argument any literal; if it occurs twice, both must be equal.
template <std::size_t I>
struct wildcard {};

/// The maximum number of inputs of a pattern.
inline constexpr std::size_t max_wildcards = 32;

namespace detail {

template <fixed_string Text>
struct label {
    static constexpr std::string_view text = Text.view();
};
struct no_label {
    static constexpr std::string_view text{};
};

template <bool Commutative, bool AnyLiterals, class Label>
struct call_modifiers {};

}  // namespace detail

/// Expression: a node of that op.
template <class Op, class Modifiers, class... Arguments>
struct call_expression {
    std::tuple<Arguments...> arguments;
};
/// Expression: result I of a node with several results.
template <std::size_t I, class Call>
struct result_expression {
    Call call;
};
/// Expression: an argument by its name in the schema.
template <class Label, class T>
struct named_argument {
    T item;
};
/// Expression: a constant whose elements all equal one number.
struct filled_constant {
    scalar number;
};
/// The values that a pattern returns if there are several.
template <class... Items>
struct returned_values {
    std::tuple<Items...> items;
};

/// Any literal, in a pattern.
struct any_literal_type {};
inline constexpr any_literal_type any_literal{};
/// A constant with any elements, in a pattern.
struct any_constant_type {};
inline constexpr any_constant_type any_constant{};

namespace detail {

// A call with wildcards, as in a pattern: a node of `Op` whose operands are wildcards and calls, and whose
// literals are C++ values, any_literal or wildcards. Equal calls are one node, unless they are `named`
// differently.
template <class Op>
struct pattern_call {
    template <class... Arguments>
    static constexpr auto read(const Arguments&... arguments) {
        using plain = call_modifiers<false, false, no_label>;
        return call_expression<Op, plain, Arguments...>{{arguments...}};
    }
};

}  // namespace detail

template <std::size_t I>
inline constexpr bool is_reading<wildcard<I>> = true;
template <class Op, class Modifiers, class... Arguments>
inline constexpr bool is_reading<call_expression<Op, Modifiers, Arguments...>> = true;
template <std::size_t I, class Call>
inline constexpr bool is_reading<result_expression<I, Call>> = true;
template <>
inline constexpr bool is_reading<any_constant_type> = true;

/// Result `I` of a node with several results.
template <std::size_t I, class Call>
[[nodiscard]] constexpr result_expression<I, Call> result_at(const Call& c) {
    return {c};
}
/// An argument by name, after the positional ones: `call<aten::conv2d>(x, w, with<"groups">(2))`.
template <fixed_string Name, class T>
[[nodiscard]] constexpr named_argument<detail::label<Name>, std::decay_t<const T&>> with(const T& item) {
    return {item};
}
/// A constant whose elements all equal `number`. In a replacement it has the type of the first value that is
/// replaced, and a shape (1, …, 1) that broadcasts with it.
[[nodiscard]] constexpr filled_constant filled_with(scalar number) { return {number}; }
/// A number next to an operand in a pattern: `x * 0.5`.
template <reading X>
    requires(!requires(const X& x) { x.constant(0); })
[[nodiscard]] constexpr filled_constant constant_beside(const X&, double number) {
    return filled_with(number);
}
/// The return value of a pattern with several outputs.
template <class... Items>
[[nodiscard]] constexpr returned_values<Items...> returns(const Items&... items) {
    return {{items...}};
}

/// The first two operands may be swapped.
template <class Op, bool C, bool A, class L, class... Ts>
[[nodiscard]] constexpr auto commutative(
    const call_expression<Op, detail::call_modifiers<C, A, L>, Ts...>& c) {
    return call_expression<Op, detail::call_modifiers<true, A, L>, Ts...>{c.arguments};
}
/// Literals that are not given may have any value.
template <class Op, bool C, bool A, class L, class... Ts>
[[nodiscard]] constexpr auto any_literals(
    const call_expression<Op, detail::call_modifiers<C, A, L>, Ts...>& c) {
    return call_expression<Op, detail::call_modifiers<C, true, L>, Ts...>{c.arguments};
}
/// Names a call, so that a match finds the node: `m["sum"]`.
template <fixed_string Name, class Op, bool C, bool A, class L, class... Ts>
[[nodiscard]] constexpr auto named(const call_expression<Op, detail::call_modifiers<C, A, L>, Ts...>& c) {
    return call_expression<Op, detail::call_modifiers<C, A, detail::label<Name>>, Ts...>{c.arguments};
}

namespace detail {

template <class F, std::size_t... I>
constexpr bool takes_wildcards(std::index_sequence<I...>) {
    return std::is_invocable_v<const F&, wildcard<I>...>;
}
template <class F, std::size_t N = 1>
constexpr std::size_t count_inputs() {
    if constexpr (N > max_wildcards) {
        return 0;
    } else if constexpr (takes_wildcards<F>(std::make_index_sequence<N>{})) {
        return N;
    } else {
        return count_inputs<F, N + 1>();
    }
}
template <class F, std::size_t... I>
constexpr auto write_out(const F& f, std::index_sequence<I...>) {
    return f(wildcard<I>{}...);
}

}  // namespace detail

/// The number of inputs of a pattern's callable; 0 if it takes no wildcards.
template <class F>
inline constexpr std::size_t input_count = detail::count_inputs<F>();

/// Matches callables that take at least one wildcard and return an expression.
template <class F>
concept pattern_function = input_count<F>
!= 0;

/// Returns the expression of a pattern's callable.
template <pattern_function F>
[[nodiscard]] constexpr auto expression_of(const F& f) {
    return detail::write_out(f, std::make_index_sequence<input_count<F>>{});
}

}  // namespace headrace

// ---- headrace/match/node_match.hpp ----

namespace headrace {

/// Patterns of nodes, as types. The graph matcher (match/subgraph_matcher.hpp) finds any pattern in a graph,
/// like FX; these patterns are trees, read from the rewritten node to its operands. They cost a few
/// comparisons, compile fast, and give each node's arguments with their type.
template <fixed_string Name, class Ops, bool Optional, class... Operands>
struct node_pattern {
    static constexpr auto name = Name;
    using op_list = Ops;
};
/// A constant with any elements.
template <fixed_string Name>
struct constant_pattern {
    static constexpr auto name = Name;
    using op_list = ops<builtin::constant>;
};

/// A node of one of these ops: `node_of<"conv", tosa::conv2d, tosa::depthwise_conv2d>(x)`. The operands are
/// those that are neither optional nor lists, in order; operands that are left out, and all other arguments,
/// may be anything. If a wildcard occurs twice, it is the same value in both places.
template <fixed_string Name, op_tag... Ops, class... Operands>
[[nodiscard]] constexpr node_pattern<Name, ops<Ops...>, false, Operands...> node_of(Operands...) {
    return {};
}
/// A node of such an op, or directly the value of its first operand: `optional_node<"cast", tosa::cast>(x)`.
template <fixed_string Name, op_tag... Ops, class... Operands>
[[nodiscard]] constexpr node_pattern<Name, ops<Ops...>, true, Operands...> optional_node(Operands...) {
    return {};
}
template <fixed_string Name>
[[nodiscard]] constexpr constant_pattern<Name> constant_node() {
    return {};
}

/// The pattern of a node whose first operand comes from another node of the same op: `twice<tosa::clamp>` has
/// an "outer" and an "inner" node.
template <op_tag Op>
struct twice_t {
    constexpr auto operator()(auto x) const { return node_of<"outer", Op>(node_of<"inner", Op>(x)); }
};
template <op_tag Op>
inline constexpr twice_t<Op> twice{};

namespace detail {

// The named nodes of a pattern, in matching order.
template <class... Nodes>
struct node_patterns {
    static constexpr std::size_t size = sizeof...(Nodes);
};
template <class... As, class... Bs>
node_patterns<As..., Bs...> operator+(node_patterns<As...>, node_patterns<Bs...>);

template <class P>
struct nodes_in {
    using type = node_patterns<>;
};
template <fixed_string Name, class Ops, bool Optional, class... Operands>
struct nodes_in<node_pattern<Name, Ops, Optional, Operands...>> {
    using type = decltype((node_patterns<node_pattern<Name, Ops, Optional, Operands...>>{} + ... +
                           typename nodes_in<Operands>::type{}));
};
template <fixed_string Name>
struct nodes_in<constant_pattern<Name>> {
    using type = node_patterns<constant_pattern<Name>>;
};

constexpr std::size_t equal_at_both_ends(std::string_view a, std::string_view b) {
    const std::size_t shorter = std::min(a.size(), b.size());
    std::size_t front = 0;
    while (front != shorter && a[front] == b[front]) ++front;
    std::size_t back = 0;
    while (back != shorter && a[a.size() - 1 - back] == b[b.size() - 1 - back]) ++back;
    return front + back;
}
// Returns the index of the node of that name, or of the node with the most similar name.
template <class... Nodes>
constexpr std::size_t position_of_name(std::string_view name, node_patterns<Nodes...>) {
    constexpr std::array<std::string_view, sizeof...(Nodes)> names{Nodes::name.view()...};
    std::size_t best = 0;
    for (std::size_t i = 0; i != names.size(); ++i) {
        if (names[i] == name) return i;
        if (equal_at_both_ends(names[i], name) > equal_at_both_ends(names[best], name)) best = i;
    }
    return best;
}
template <class... Nodes>
constexpr bool has_name(std::string_view name, node_patterns<Nodes...>) {
    return ((Nodes::name.view() == name) || ...);
}
template <std::size_t I, class... Nodes>
auto node_at(node_patterns<Nodes...>) -> typename type_at<I, ops<Nodes...>>::type;
template <class... Nodes>
pattern_names<Nodes::name...> names_of(node_patterns<Nodes...>);

// An error in the body of a rewrite would list all templates that read the body. So if a rewrite, read with
// symbols, asks for a node that its pattern does not have, it still compiles, with the node of the most
// similar name. The missing name is recorded as the return type of this function, which stays undeduced as
// long as no name is missing; the pipeline that reads the rule reports it.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"
#endif
template <class Match>
struct missing_name {
    friend constexpr auto name_missing_in(missing_name<Match>);
};
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
template <class Match, class Diagnosis>
struct note_missing_name {
    friend constexpr auto name_missing_in(missing_name<Match>) { return Diagnosis{}; }
};
template <class Match>
constexpr auto fault_of_names() {
    if constexpr (requires { name_missing_in(missing_name<Match>{}); }) {
        return name_missing_in(missing_name<Match>{});
    } else {
        return no_fault{};
    }
}

}  // namespace detail

/// The nodes that a pattern has matched, by name, for the body of a rewrite and the functions below:
/// `get<"inner">(m).min_val`. `IsSymbol` is true while a pipeline reads the rewrite without running it.
template <class Pattern, class Rewrite, bool IsSymbol = false>
class node_match {
    using nodes = typename detail::nodes_in<Pattern>::type;
    template <fixed_string Name>
    static constexpr std::size_t position() {
        if constexpr (!detail::has_name(Name.view(), nodes{})) {
            using diagnosis = not_in_pattern<Name, decltype(detail::names_of(nodes{}))>;
            if constexpr (!IsSymbol) {
                // Symbols do not reach functions with an explicit return type; this reports the fault there.
                static_assert(
                    node_is_in_pattern<diagnosis>,
                    "match: the pattern has no node of that name; see not_in_pattern<Name, Names>, name one");
            } else if constexpr (!requires { name_missing_in(detail::missing_name<node_match>{}); }) {
                static_cast<void>(detail::note_missing_name<node_match, diagnosis>{});
            }
        }
        return detail::position_of_name(Name.view(), nodes{});
    }
    template <fixed_string Name>
    using ops_of = typename decltype(detail::node_at<position<Name>()>(nodes{}))::op_list;
    template <class Op>
    static args<Op> arguments(ops<Op>);

public:
    // Return types are deduced, so that reading a rewrite shows the names that it asks for.

    /// Returns the node of that name; null if it is optional and absent.
    template <fixed_string Name>
    [[nodiscard]] auto find() const {
        constexpr std::size_t at = position<Name>();
        return nodes_[at];
    }
    /// Returns the arguments of a node that has only one possible op, with their type.
    template <fixed_string Name>
    [[nodiscard]] const auto& get() const {
        using op_args = decltype(arguments(ops_of<Name>{}));
        return *static_cast<const op_args*>(find<Name>()->arguments);
    }
    /// True if the node's result has no other user, so that it is gone after the rewrite.
    template <fixed_string Name>
    [[nodiscard]] auto is_sole_use() const {
        return use_count({const_cast<node*>(find<Name>()), 0}) == 1;
    }

    /// Set by the matcher.
    std::array<const node*, nodes::size> nodes_{};
};

/// Free functions for generic code, to avoid the word `template`: the node of that name, its arguments, and
/// whether its result has no other user.
template <fixed_string Name, class Pattern, class Rewrite, bool IsSymbol>
[[nodiscard]] auto find(const node_match<Pattern, Rewrite, IsSymbol>& m) {
    return m.template find<Name>();
}
template <fixed_string Name, class Pattern, class Rewrite, bool IsSymbol>
[[nodiscard]] const auto& get(const node_match<Pattern, Rewrite, IsSymbol>& m) {
    return m.template get<Name>();
}
template <fixed_string Name, class Pattern, class Rewrite, bool IsSymbol>
[[nodiscard]] auto is_sole_use(const node_match<Pattern, Rewrite, IsSymbol>& m) {
    return m.template is_sole_use<Name>();
}

}  // namespace headrace

// ---- headrace/match/node_pattern.hpp ----

namespace headrace {

namespace detail {

// Matches a pattern against a node and its operands.
template <class Pattern, std::size_t Inputs>
class node_matcher {
public:
    std::array<const node*, nodes_in<Pattern>::type::size> found{};
    std::array<value, Inputs> inputs{};

    bool match(const node& n) {
        std::size_t next = 0;
        return match_node(Pattern{}, value{const_cast<node*>(&n), 0}, next);
    }

private:
    template <std::size_t I>
    bool match_node(wildcard<I>, value v, std::size_t&) {
        if (!inputs[I]) inputs[I] = v;
        return inputs[I] == v;
    }
    template <fixed_string Name>
    bool match_node(constant_pattern<Name>, value v, std::size_t& next) {
        found[next++] = v.producer;
        return is<builtin::constant>(*v.producer);
    }
    template <fixed_string Name, class... Ops, bool Optional, class... Operands>
    bool match_node(node_pattern<Name, ops<Ops...>, Optional, Operands...>, value v, std::size_t& next) {
        const std::size_t at = next++;
        [[maybe_unused]] const node_matcher before = *this;  // restores the bindings of an absent node
        if (v.result == 0 && (match_operands<Ops, Operands...>(*v.producer, next) || ...)) {
            found[at] = v.producer;
            return true;
        }
        if constexpr (Optional) {
            *this = before;
            next = at + 1;
            return match_first(v, next, Operands{}...);
        } else {
            return false;
        }
    }
    template <class First, class... Rest>
    bool match_first(value v, std::size_t& next, First first, Rest...) {
        const bool matched = match_node(first, v, next);
        next += (std::size_t{0} + ... + nodes_in<Rest>::type::size);
        return matched;
    }
    template <class Op, class... Operands>
    bool match_operands(const node& n, std::size_t& next) {
        if (!is<Op>(n)) return false;
        const auto* bytes = static_cast<const std::byte*>(n.arguments);
        std::size_t i = 0;
        const auto operand = [&] {
            return *reinterpret_cast<const value*>(bytes + operand_offsets<Op>[i++]);
        };
        static_cast<void>(operand);
        return (match_node(Operands{}, operand(), next) && ...);
    }
};

template <class P>
using pattern_of = decltype(expression_of(std::declval<const P&>()));

}  // namespace detail

/// The rule that rewrites nodes matching the pattern of `P` by `F`; see on_match.
template <class P, class F, class Policy = as_they_are>
struct match_rule {};

namespace detail {

// The symbolic match with which a rewrite is read.
template <class P, class F>
using match_symbol = node_match<pattern_of<P>, F, true>;

// Calls a rewrite with the values of the wildcards, and with the match if it takes one.
template <class F, class Match, class... Readings>
constexpr auto apply_to_match(const Match& found, const Readings&... inputs) {
    if constexpr (requires { F{}(inputs...); }) {
        return F{}(inputs...);
    } else if constexpr (requires { F{}(inputs..., found); }) {
        return F{}(inputs..., found);
    } else {
        return unchanged;  // pipelines report the fault
    }
}
template <class P, class F, std::size_t... I>
auto read_match(std::index_sequence<I...>)
    -> decltype(apply_to_match<F>(std::declval<const match_symbol<P, F>&>(), symbol_at<I>{}...));

// The type that a rewrite returns when called with symbols.
template <class P, class F>
using match_result = decltype(read_match<P, F>(std::make_index_sequence<input_count<P>>{}));

// See rules_read.
template <class P, class F, class Policy>
struct operands_of_rule<match_rule<P, F, Policy>> {
    using indices = std::make_index_sequence<input_count<P>>;
};
template <class P, class F, class Policy, std::size_t... I>
inline constexpr bool reads_alone<match_rule<P, F, Policy>, std::index_sequence<I...>> =
    requires(const F& f) { f(std::declval<symbol_at<I>>()...); };
template <class P, class F, class Policy, std::size_t... I>
struct reads_with_arguments<match_rule<P, F, Policy>, std::index_sequence<I...>> {
    static constexpr bool value =
        requires(const F& f, const match_symbol<P, F>& m) { f(std::declval<symbol_at<I>>()..., m); };
};

// Diagnoses a pattern's node with more operands than its op has.
template <class Op, std::size_t Given>
using arity_fault =
    std::conditional_t<Given <= plain_operands<Op>, no_fault, wrong_arity<Op, Given, plain_operands<Op>>>;
template <class P>
struct node_fault {
    using type = no_fault;
};
template <fixed_string Name, class... Ops, bool Optional, class... Operands>
struct node_fault<node_pattern<Name, ops<Ops...>, Optional, Operands...>>
    : first_of_faults<arity_fault<Ops, sizeof...(Operands)>..., typename node_fault<Operands>::type...> {};

template <class P, class F, std::size_t... I>
constexpr bool takes_match(std::index_sequence<I...> indices) {
    using read = match_rule<P, F>;
    return reads_alone<read, decltype(indices)> || reads_with_arguments<read, decltype(indices)>::value;
}
template <class P, class F, std::size_t... I>
constexpr bool has_error_in_match(std::index_sequence<I...>) {
    return has_parameters<F, symbol_at<I>...> || has_parameters<F, symbol_at<I>..., match_symbol<P, F>>;
}
// Diagnoses a rewrite by reading it with symbols.
template <class P, class F>
auto diagnose_match() {
    using root = typename type_at<0, typename pattern_of<P>::op_list>::type;
    using nodes = typename node_fault<pattern_of<P>>::type;
    using indices = std::make_index_sequence<input_count<P>>;
    if constexpr (!std::is_same_v<nodes, no_fault>) {
        return nodes{};
    } else if constexpr (!takes_match<P, F>(indices{})) {
        return std::conditional_t<has_error_in_match<P, F>(indices{}), unreadable, not_callable_with<root>>{};
    } else if constexpr (!std::is_same_v<decltype(diagnose_result<root, match_result<P, F>>()), no_fault>) {
        return diagnose_result<root, match_result<P, F>>();
    } else {
        return fault_of_names<match_symbol<P, F>>();
    }
}

template <class P, class F, class Policy>
struct rule_facts<match_rule<P, F, Policy>> {
    using targets = typename pattern_of<P>::op_list;
    static bool run(emitter e, const node& n, value_list& out);
};
template <class P, class F, class Policy>
struct rule_effects<match_rule<P, F, Policy>> {
    using op_type = typename type_at<0, typename pattern_of<P>::op_list>::type;
    using fault = decltype(diagnose_match<P, F>());
    static constexpr bool may_decline = true;  // other nodes of the op may not match
    static constexpr auto made = Policy::made | made_in<match_result<P, F>>::value;
};
template <class P, class F, class NewPolicy, class Policy>
struct rule_under<match_rule<P, F, Policy>, NewPolicy> {
    using type = match_rule<P, F, NewPolicy>;
};

template <class P, class F, class Policy>
bool rule_facts<match_rule<P, F, Policy>>::run(emitter e, const node& n, value_list& out) {
    constexpr std::size_t count = input_count<P>;
    node_matcher<pattern_of<P>, count> matcher;
    if (!matcher.match(n)) return false;
    const node_match<pattern_of<P>, F> found{matcher.found};
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return take_result<Policy>(apply_to_match<F>(found, Policy::operand(term(e, matcher.inputs[I]))...),
                                   out);
    }(std::make_index_sequence<count>{});
}

template <class P>
struct match_rules {
    template <class F>
    constexpr auto operator=(F) const {  // NOLINT: it creates a rule
        static_assert(std::is_empty_v<F>, "rule: its callable has captures; make it capture nothing");
        return std::conditional_t<std::is_empty_v<F>, rule_list<match_rule<P, F>>,
                                  rule_list<reported_rule>>{};
    }
};
// Replaces match_rules after an error.
struct no_match_rules {
    template <class F>
    constexpr rule_list<reported_rule> operator=(F) const {  // NOLINT: as above
        return {};
    }
};

template <class T>
inline constexpr bool is_node_pattern = false;
template <fixed_string Name, class... Ops, bool Optional, class... Operands>
inline constexpr bool is_node_pattern<node_pattern<Name, ops<Ops...>, Optional, Operands...>> =
    sizeof...(Ops) != 0;
template <class P>
inline constexpr bool writes_node_pattern = [] {
    if constexpr (pattern_function<P>) {
        return is_node_pattern<pattern_of<P>>;
    } else {
        return false;
    }
}();

}  // namespace detail

/// Starts the rewrite of a node together with nodes that lead to it, in a pass's list of rules:
///
///     on_match([](auto x) { return node_of<"outer", tosa::clamp>(node_of<"inner", tosa::clamp>(x)); }) =
///         [](auto x, const auto& m) { … get<"inner">(m).min_val … }
///
/// The pattern is a callable over wildcards. The rewrite takes the values of the wildcards and, optionally,
/// the match. If several rules match a node, the first that does not decline is used. Inner nodes may have
/// other users; see is_sole_use.
template <class P>
[[nodiscard]] constexpr auto on_match(P) {
    static_assert(detail::writes_node_pattern<P>,
                  "match: its pattern is no node of an op; return node_of<…>(…) of the parameters");
    return std::conditional_t<detail::writes_node_pattern<P>, detail::match_rules<P>,
                              detail::no_match_rules>{};
}

}  // namespace headrace

#endif
