// SPDX-License-Identifier: MIT
// Defines the functions of headrace/stream/arguments.hpp.

#include <headrace/stream/arguments.hpp>

namespace headrace::streams {

namespace {

// Returns the address of an argument of that kind, or null.
const void* argument(const node& n, std::string_view name, field_kind kind) {
    const field_info* const field = n.op->find(name);
    return field == nullptr || field->kind != kind ? nullptr : field->item_in(n.arguments);
}

}  // namespace

std::optional<std::int64_t> integer_argument(const node& n, std::string_view name) {
    const void* const at = argument(n, name, field_kind::integer);
    if (at == nullptr) return std::nullopt;
    return *static_cast<const std::int64_t*>(at);
}

std::vector<std::int64_t> integers_argument(const node& n, std::string_view name) {
    if (const auto one = integer_argument(n, name)) return {*one};
    const void* const at = argument(n, name, field_kind::integers);
    if (at == nullptr) return {};
    const auto& items = *static_cast<const int_list*>(at);
    return {items.begin(), items.end()};
}

std::vector<double> reals_argument(const node& n, std::string_view name) {
    if (const void* const one = argument(n, name, field_kind::floating))
        return {*static_cast<const double*>(one)};
    const void* const at = argument(n, name, field_kind::floatings);
    if (at == nullptr) return {};
    const auto& items = *static_cast<const list<double>*>(at);
    return {items.begin(), items.end()};
}

bool boolean_argument(const node& n, std::string_view name) {
    const void* const at = argument(n, name, field_kind::boolean);
    return at != nullptr && *static_cast<const bool*>(at);
}

}  // namespace headrace::streams
