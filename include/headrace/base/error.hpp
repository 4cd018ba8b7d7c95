// SPDX-License-Identifier: MIT
// Defines headrace::error: errors are values everywhere below io/.
#ifndef HEADRACE_BASE_ERROR_HPP
#define HEADRACE_BASE_ERROR_HPP

#include <initializer_list>
#include <memory_resource>
#include <string>
#include <string_view>

#include <headrace/base/text.hpp>

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

#endif
