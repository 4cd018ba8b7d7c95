// SPDX-License-Identifier: MIT
// Defines headrace::json_cursor, which walks over JSON text without copying it, and headrace::json_parser,
// which passes pieces of that text to simdjson.
#ifndef HEADRACE_IO_FILE_JSON_HPP
#define HEADRACE_IO_FILE_JSON_HPP

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <simdjson.h>

#include <headrace/base/error.hpp>

namespace headrace {

/// The exception that leaves a reader in io/ from deep inside; no public function lets it escape.
struct failure {
    error what;
};

[[noreturn]] inline void fail_malformed(std::string message) { throw failure{malformed(std::move(message))}; }
[[noreturn]] inline void fail_unsupported(std::string message) {
    throw failure{unsupported(std::move(message))};
}

/// Returns text in quotes, cut to a length that suits a message.
[[nodiscard]] std::string in_quotes(std::string_view text);

/// A position in JSON text. An exported program's JSON is mostly metadata that is never read: a tree of all
/// of it would take fourteen times its size. So a cursor walks over the outer levels, and only the pieces
/// that matter are parsed.
class json_cursor {
public:
    explicit json_cursor(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

    /// Calls `f(key)` for each member of the object here; `f` must take the member's value from this cursor.
    /// Keys are as written, without their quotes: see json_parser::text.
    template <class F>
    void members(F&& f) {
        open('{', "an object");
        if (closes('}')) return;
        do {
            space();
            const std::string_view key = string();
            space();
            if (at_ == end_ || *at_++ != ':') broken("':'");
            f(key.substr(1, key.size() - 2));
        } while (goes_on('}'));
    }

    /// Calls `f()` for each element of the array here; `f` must take it from this cursor.
    template <class F>
    void elements(F&& f) {
        open('[', "an array");
        if (closes(']')) return;
        do f();
        while (goes_on(']'));
    }

    /// Moves past the value here and returns its text. Its brackets and quotes are balanced; other faults in
    /// it are found when it is parsed.
    std::string_view skip();

    /// Fails unless only white space is left.
    void finish();

private:
    [[noreturn]] static void broken(const char* expected) {
        fail_malformed(std::string("broken JSON: ") + expected + " is missing");
    }
    void space() {
        while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
    }
    void open(char bracket, const char* what);
    bool closes(char bracket);
    bool goes_on(char bracket);
    const char* end_of_scalar(const char* at) const;
    const char* end_of_string(const char* first) const;
    const char* find_quote(const char* at) const;

    std::string_view string();
    // The lowest byte of the result that is not zero is where the lowest such byte is.
    static constexpr std::uint64_t has_byte(std::uint64_t eight, char c) {
        constexpr std::uint64_t ones = 0x0101010101010101U;
        const std::uint64_t zeroed = eight ^ (ones * static_cast<unsigned char>(c));
        return (zeroed - ones) & ~zeroed & (ones << 7U);
    }

    const char* at_;
    const char* end_;
};

/// Text followed by the readable bytes that simdjson requires: in place if the mapping extends far enough.
class padded_text {
public:
    padded_text(std::span<const std::byte> text, std::span<const std::byte> around);
    padded_text(const padded_text&) = delete;
    padded_text& operator=(const padded_text&) = delete;

    [[nodiscard]] std::string_view view() const { return view_; }

private:
    simdjson::padded_string copy_;
    std::string_view view_;
};

/// Parses pieces of padded text, one after the other: each result is valid until the next.
class json_parser {
public:
    explicit json_parser(std::pmr::memory_resource* arena);

    [[nodiscard]] simdjson::dom::element parse(std::string_view piece);
    [[nodiscard]] simdjson::dom::object parse_object(std::string_view piece);

    /// Returns the text of a key that a cursor returned as written; it is in the arena if it had to be
    /// decoded.
    [[nodiscard]] std::string_view text(std::string_view raw);

private:
    static constexpr std::size_t deepest = 64;

    std::pmr::memory_resource* arena_;
    simdjson::dom::parser parser_;
};

/// Returns a member of an object as a given type, or fails with a message that names it.
template <class T, class Parent>
[[nodiscard]] T json_get(const Parent& parent, std::string_view key) {
    T found{};
    if (parent[key].get(found)) fail_malformed(in_quotes(key) + " is missing, or of the wrong type");
    return found;
}

}  // namespace headrace

#endif
