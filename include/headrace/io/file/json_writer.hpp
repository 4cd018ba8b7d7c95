// SPDX-License-Identifier: MIT
// Defines headrace::json_writer, which writes JSON text from front to back.
#ifndef HEADRACE_IO_FILE_JSON_WRITER_HPP
#define HEADRACE_IO_FILE_JSON_WRITER_HPP

#include <cmath>
#include <concepts>
#include <cstddef>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <headrace/base/strings.hpp>

namespace headrace {

/// Appends text as a JSON string. If it is not UTF-8, its bytes above 0x7f become question marks.
void append_json(std::string& out, std::string_view text);

/// How json_writer lays its text out.
enum class json_style : unsigned char {
    compact,  ///< without spaces, on one line
    indented  ///< each member and element on a line of its own, one space deeper per level
};

/// Writes JSON: `w.begin_object(); w.member("name", "x"); w.end_object();`. Members keep their order. Calls
/// that are not properly nested give text that is not JSON.
class json_writer {
public:
    explicit json_writer(json_style style = json_style::indented) : style_(style) {}

    void begin_object() { begin('{'); }
    void end_object() { end('}'); }
    void begin_array() { begin('['); }
    void end_array() { end(']'); }

    /// Writes the key of a member; its value, object or array comes next.
    void key(std::string_view name);
    void begin_object(std::string_view name);
    void begin_array(std::string_view name);

    /// Writes a string, a number, a boolean, null (`nullptr`), or a range of these. Numbers that are not
    /// finite become null.
    template <class T>
    void value(const T& v) {
        if constexpr (std::is_same_v<T, std::nullptr_t>) {
            scalar("null");
        } else if constexpr (std::convertible_to<const T&, std::string_view>) {
            separate();
            append_json(out_, v);
        } else if constexpr (std::is_same_v<T, bool>) {
            scalar(v ? "true" : "false");
        } else if constexpr (std::integral<T>) {
            scalar(join_text(v));
        } else if constexpr (std::is_same_v<T, double>) {
            scalar(std::isfinite(v) ? with_point(shortest_text(v)) : "null");
        } else {
            static_assert(std::ranges::range<T>, "json_writer: a value of a kind that JSON does not have");
            begin_array();
            for (const auto& item : v) value(item);
            end_array();
        }
    }
    template <class T>
    void member(std::string_view name, const T& v) {
        key(name);
        value(v);
    }
    /// Writes JSON text as it is.
    void raw(std::string_view json) { scalar(json); }

    [[nodiscard]] const std::string& text() const& { return out_; }
    [[nodiscard]] std::string text() && { return std::move(out_); }

private:
    static std::string with_point(std::string number) {
        return number.find_first_of(".e") == std::string::npos ? number + ".0" : number;
    }
    void scalar(std::string_view text);
    void begin(char bracket);
    void end(char bracket);
    // Writes the separator between two members or elements; nothing between a key and its value.
    void separate();
    void new_line() {
        if (style_ == json_style::indented) (out_ += '\n').append(depth_, ' ');
    }

    std::string out_;
    json_style style_;
    std::size_t depth_ = 0;
    bool empty_ = true;  // the innermost object or array, so far
    bool after_key_ = false;
};

}  // namespace headrace

#endif
