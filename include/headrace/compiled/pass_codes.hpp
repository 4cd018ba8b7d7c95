// SPDX-License-Identifier: MIT
// Defines headrace::detail::pass_codes, with which headrace::compiled compiles the passes of a list. Include
// it before any pass.
#ifndef HEADRACE_COMPILED_PASS_CODES_HPP
#define HEADRACE_COMPILED_PASS_CODES_HPP

#include <tuple>

#include <headrace/pass/pass.hpp>
#include <headrace/pass/pass_code.hpp>
#include <headrace/pass/run_pass.hpp>

// Here the passes are defined and compiled, whatever pass_code.hpp said.
#undef HEADRACE_COMPILED_PASS
#define HEADRACE_COMPILED_PASS(P) \
    template <class>              \
    struct pass_code
#define HEADRACE_DEFINES_PASSES

namespace headrace {

namespace detail {

// A table of pointers to the code of passes makes the compiler generate it, without a second list of them.
template <class P>
constexpr auto code_of() {
    using code = pass_code<P>;
    if constexpr (decides_itself<P>) {
        return std::tuple(&code::run, &code::run_default, &code::should_run);
    } else {
        return std::tuple(&code::run, &code::run_default);
    }
}
template <class List>
struct pass_codes;
template <class... Passes>
struct pass_codes<pass_list<Passes...>> {
    static const std::tuple<decltype(code_of<Passes>())...> all;
};
template <class... Passes>
const std::tuple<decltype(code_of<Passes>())...> pass_codes<pass_list<Passes...>>::all{code_of<Passes>()...};

}  // namespace detail

}  // namespace headrace

#endif
