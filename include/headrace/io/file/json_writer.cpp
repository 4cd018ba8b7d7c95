// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/file/json_writer.hpp.

#include <headrace/io/file/json_writer.hpp>

#include <string>
#include <string_view>
#include <utility>

#include <headrace/base/utf8.hpp>

namespace headrace {

void append_json(std::string& out, std::string_view text) {
    static constexpr char digits[] = "0123456789abcdef";
    const bool sound = is_utf8(text);
    out += '"';
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            (out += '\\') += c;
        } else if (byte < 0x20) {
            ((out += "\\u00") += digits[byte / 16]) += digits[byte % 16];
        } else {
            out += byte >= 0x80 && !sound ? '?' : c;
        }
    }
    out += '"';
}

void json_writer::key(std::string_view name) {
    separate();
    append_json(out_, name);
    out_ += style_ == json_style::compact ? ":" : ": ";
    after_key_ = true;
}

void json_writer::begin_object(std::string_view name) {
    key(name);
    begin_object();
}

void json_writer::begin_array(std::string_view name) {
    key(name);
    begin_array();
}

void json_writer::scalar(std::string_view text) {
    separate();
    out_ += text;
}

void json_writer::begin(char bracket) {
    separate();
    out_ += bracket;
    ++depth_;
    empty_ = true;
}

void json_writer::end(char bracket) {
    --depth_;
    if (!empty_) new_line();
    out_ += bracket;
    empty_ = false;
}

void json_writer::separate() {
    if (std::exchange(after_key_, false) || depth_ == 0) return;
    if (!std::exchange(empty_, false)) out_ += ',';
    new_line();
}

}  // namespace headrace
