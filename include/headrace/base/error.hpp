// SPDX-License-Identifier: MIT
// Defines headrace::error and headrace::result: errors are values everywhere below io/.
#ifndef HEADRACE_BASE_ERROR_HPP
#define HEADRACE_BASE_ERROR_HPP

#include <memory_resource>
#include <string>
#include <string_view>

#include <boost/outcome/basic_result.hpp>
#include <boost/outcome/config.hpp>
#include <boost/outcome/policy/terminate.hpp>
#include <boost/outcome/try.hpp>

namespace headrace {

/// What went wrong, in the words of who can mend it. The program maps kinds to exit statuses.
enum class error_kind : unsigned char {
    unsupported,  ///< the model is sound, but cannot be lowered to this target
    malformed,    ///< the input breaks its own format
    unwritable,   ///< an output cannot be written where it was asked for
    invalid       ///< the graph breaks an invariant: a bug in a pass, or in the caller
};

struct error {
    error_kind kind = error_kind::invalid;
    std::pmr::string message;  ///< one line, lower-case start, no final period

    /// The same, with where it happened: "where: message".
    [[nodiscard]] error in(std::string_view where) const {
        std::pmr::string longer(where);
        return {kind, (longer += ": ") += message};
    }
};

template <class T>
using result = boost::outcome_v2::basic_result<T, error, boost::outcome_v2::policy::terminate>;

[[nodiscard]] inline error unsupported(std::string_view message) {
    return {error_kind::unsupported, std::pmr::string(message)};
}
[[nodiscard]] inline error malformed(std::string_view message) {
    return {error_kind::malformed, std::pmr::string(message)};
}
[[nodiscard]] inline error unwritable(std::string_view message) {
    return {error_kind::unwritable, std::pmr::string(message)};
}
[[nodiscard]] inline error invalid(std::string_view message) {
    return {error_kind::invalid, std::pmr::string(message)};
}

}  // namespace headrace

#endif
