// SPDX-License-Identifier: MIT
// Defines headrace::pt2::argument_writer, which writes a node's arguments in torch.export's schema.
#ifndef HEADRACE_IO_PT2_WRITING_ARGUMENT_WRITER_HPP
#define HEADRACE_IO_PT2_WRITING_ARGUMENT_WRITER_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <headrace/base/error.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/io/file/json_writer.hpp>
#include <headrace/ir/listing.hpp>

namespace headrace::pt2 {

/// Returns the number of a dtype in the schema's ScalarType.
[[nodiscard]] std::optional<std::int64_t> number_of(dtype type);

/// The state that writers of graphs share: the JSON so far, the names of values, and the first failure.
class argument_writer {
protected:
    explicit argument_writer(const graph& g) : names_(g) {}

    void fail(const node& n, std::string_view reason) {
        if (!failure_) failure_ = unsupported(message_prefix(n) + std::pmr::string(reason));
    }
    [[nodiscard]] std::string_view name(value v) const { return names_[v]; }

    void write_tensor(value v);

    // Writes the device of every tensor: the graph knows no other.
    void write_device();

    template <class T>
    static const T& field_at(const node& n, const field_info& f) {
        return detail::member_at<T>(static_cast<const void*>(n.arguments), f);
    }
    // Calls f(value) with the value of a member, or f(nullptr) if it is optional and empty.
    template <class T, class F>
    static void with_member(const node& n, const field_info& field, F&& f) {
        if (!field.optional) return f(field_at<T>(n, field));
        const auto& held = field_at<std::optional<T>>(n, field);
        held ? f(*held) : f(nullptr);
    }

    /// Writes an argument, whose value `write` writes. Its kind is 1 if it is positional, 2 if it is named.
    template <class Write>
    void write_named(std::string_view argument, bool by_name, Write&& write) {
        w_.begin_object();
        w_.member("name", argument);
        w_.begin_object("arg");
        write();
        w_.end_object();
        w_.member("kind", by_name ? 2 : 1);
        w_.end_object();
    }
    void write_argument(const node& n, const field_info& f, bool& by_name);
    [[nodiscard]] static bool is_empty(const node& n, const field_info& f);
    void write_member(const node& n, const field_info& f);

    struct unwritable_member {};
    template <class F>
    static void visit(const node& n, const field_info& f, F&& call) {
        switch (f.kind) {
            case field_kind::tensor:
                return with_member<value>(n, f, call);
            case field_kind::tensors:
                return call(field_at<list<value>>(n, f));
            case field_kind::optional_tensors:
                return call(field_at<list<std::optional<value>>>(n, f));
            case field_kind::integer:
                return with_member<std::int64_t>(n, f, call);
            case field_kind::integers:
                return with_member<int_list>(n, f, call);
            case field_kind::floating:
                return with_member<double>(n, f, call);
            case field_kind::floatings:
                return with_member<list<double>>(n, f, call);
            case field_kind::boolean:
                return with_member<bool>(n, f, call);
            case field_kind::number:
                return with_member<scalar>(n, f, call);
            case field_kind::text:
                return with_member<std::string_view>(n, f, call);
            case field_kind::element_type:
                return with_member<dtype>(n, f, call);
            case field_kind::format:
                return with_member<memory_format>(n, f, call);
            case field_kind::texts:
                return with_member<list<std::string_view>>(n, f, call);
            default:
                return call(unwritable_member{});
        }
    }

    void write_value(value v) { write_tensor(v); }
    void write_value(const list<value>& items);
    void write_value(const list<std::optional<value>>& items);
    void write_value(std::int64_t v) { w_.member("as_int", v); }
    void write_value(const int_list& items) { w_.member("as_ints", items); }
    void write_value(bool v) { w_.member("as_bool", v); }
    void write_value(std::string_view v) { w_.member("as_string", v); }
    void write_value(double v);
    void write_value(const list<double>& items);
    void write_number(double v);
    void write_value(const list<std::string_view>& items);
    void write_value(const scalar& v);
    void write_value(dtype v) { w_.member("as_scalar_type", number_of(v).value_or(0)); }
    void write_value(memory_format v) { w_.member("as_memory_format", static_cast<std::int64_t>(v)); }

    printed_names names_;
    json_writer w_{json_style::compact};
    std::optional<error> failure_;
};

}  // namespace headrace::pt2

#endif
