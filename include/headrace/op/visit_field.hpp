// SPDX-License-Identifier: MIT
// Defines headrace::detail::visit_field, which calls a function with an argument of its own type.
#ifndef HEADRACE_OP_VISIT_FIELD_HPP
#define HEADRACE_OP_VISIT_FIELD_HPP

#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include <headrace/base/dtype.hpp>
#include <headrace/base/lists.hpp>
#include <headrace/op/fields.hpp>
#include <headrace/op/value.hpp>

namespace headrace {

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
    return visit_kind(f.kind, [&]<class T>(std::type_identity<T>) -> decltype(auto) {
        if constexpr (std::is_same_v<T, custom_member>) {
            const custom_member member{f.custom, const_cast<void*>(f.item_in(arguments))};
            return call(member);
        } else {
            return f.optional ? call(member_at<std::optional<T>>(arguments, f))
                              : call(member_at<T>(arguments, f));
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

}  // namespace detail

}  // namespace headrace

#endif
