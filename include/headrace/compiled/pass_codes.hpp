// SPDX-License-Identifier: MIT
// Defines headrace::detail::pass_codes, with which headrace::compiled compiles the passes of a list. Include
// it before any pass.
#ifndef HEADRACE_COMPILED_PASS_CODES_HPP
#define HEADRACE_COMPILED_PASS_CODES_HPP

#include <tuple>

#include <headrace/pass/order.hpp>
#include <headrace/pass/pass_code.hpp>
#include <headrace/pass/run_pass.hpp>

// Here the passes are compiled, whatever pass_code.hpp said.
#undef HEADRACE_COMPILED_PASS
#define HEADRACE_COMPILED_PASS(P) \
    template <class>              \
    struct pass_code

namespace headrace::detail {

// A table of pointers to the code of passes makes the compiler generate it, without a second list of them.
template <class List>
struct pass_codes;
template <class... Passes>
struct pass_codes<pass_list<Passes...>> {
    static const std::tuple<decltype(&pass_code<Passes>::run)...> all;
};
template <class... Passes>
const std::tuple<decltype(&pass_code<Passes>::run)...> pass_codes<pass_list<Passes...>>::all{
    &pass_code<Passes>::run...};

}  // namespace headrace::detail

#endif
