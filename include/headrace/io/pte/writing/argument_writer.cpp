// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pte/writing/argument_writer.hpp.

#include <headrace/io/pte/writing/argument_writer.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/io/pte/format.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::pte {

result<argument_writer::index> argument_writer::write(const node& n, const field_info& f) const {
    switch (f.kind) {
        case field_kind::tensor: {
            const std::optional<value> v = read<value>(n, f);
            return v && *v ? tensor_(*v) : result<index>(values_.null());
        }
        case field_kind::tensors:
            return list_of(*read<list<value>>(n, f));
        case field_kind::optional_tensors:
            return optional_list_of(*read<list<std::optional<value>>>(n, f));
        case field_kind::integer:
            return optional<std::int64_t>(n, f, [&](std::int64_t i) { return values_.integer(i); });
        case field_kind::integers:
            return optional<int_list>(n, f, [&](const int_list& i) { return values_.integers(i); });
        case field_kind::floating:
            return optional<double>(n, f, [&](double d) { return values_.floating(d); });
        case field_kind::floatings:
            return optional<list<double>>(n, f, [&](const auto& d) { return values_.floatings(d); });
        case field_kind::boolean:
            return optional<bool>(n, f, [&](bool b) { return values_.boolean(b); });
        case field_kind::number:
            return optional<scalar>(n, f, [&](const scalar& s) { return number(s, f); });
        case field_kind::text:
            return optional<std::string_view>(n, f, [&](std::string_view s) { return values_.text(s); });
        case field_kind::element_type:
            return optional<dtype>(
                n, f, [&](dtype t) { return values_.integer(scalar_type_of(t).value_or(-1)); });
        case field_kind::format:  // all tensors are contiguous
            return values_.null();
        default:
            return invalid({message_prefix(n), "no kernel takes an argument such as ", f.name});
    }
}

template <class T>
std::optional<T> argument_writer::read(const node& n, const field_info& f) {
    const std::byte* const at = static_cast<const std::byte*>(n.arguments) + f.offset;
    if (f.optional) return *reinterpret_cast<const std::optional<T>*>(at);
    return *reinterpret_cast<const T*>(at);
}

argument_writer::index argument_writer::number(const scalar& s, const field_info& f) const {
    const bool is_factor = f.name == "alpha" || f.name == "beta";
    if (s.kind() == scalar::kind_type::boolean && !is_factor) return values_.boolean(s.to_int() != 0);
    return s.is_floating() ? values_.floating(s.to_double()) : values_.integer(s.to_int());
}

result<argument_writer::index> argument_writer::list_of(const list<value>& items) const {
    std::vector<index> indices;
    for (const value v : items) {
        HEADRACE_TRY(item, tensor_(v));
        indices.push_back(item);
    }
    return values_.tensors(indices);
}

result<argument_writer::index> argument_writer::optional_list_of(
    const list<std::optional<value>>& items) const {
    std::vector<index> indices;
    for (const auto& v : items) {
        if (!v) {
            indices.push_back(-1);
            continue;
        }
        HEADRACE_TRY(item, tensor_(*v));
        indices.push_back(item);
    }
    return values_.optional_tensors(indices);
}

}  // namespace headrace::pte
