// SPDX-License-Identifier: MIT
// Declares headrace::pass_code, the code of a pass, which is compiled where it is used or, with
// headrace::compiled, only once.
#ifndef HEADRACE_PASS_PASS_CODE_HPP
#define HEADRACE_PASS_PASS_CODE_HPP

#include <cstddef>
#include <cstdint>

#include <headrace/base/result.hpp>

namespace headrace {

class graph;
class pass_context;

/// The effect of one pass on the nodes of a graph.
struct node_counts {
    std::size_t rewritten = 0;  ///< handlers that returned a replacement
    std::size_t declined = 0;   ///< handlers that left their node unchanged
    std::size_t copied = 0;     ///< nodes taken over unchanged; retracing only
    std::size_t inferred = 0;   ///< nodes whose `val` was inferred again; retracing only
};

/// The driver that runs a pass's handlers. Both drivers use the same handlers.
enum class driver_kind : std::uint8_t { in_place, retracing };

/// The code of a pass: its handlers with a driver. pass/run_pass.hpp defines it.
template <class P>
struct pass_code {
    static result<node_counts> run(const P& p, graph& g, pass_context& context, driver_kind driver);
    /// For passes that pipelines default-construct; the type may be incomplete at the call.
    static result<node_counts> run_default(graph& g, pass_context& context, driver_kind driver);
    /// Calls the pass's own should_run; `has_targets` is the result of the generated skip test.
    static bool should_run(const graph& g, bool has_targets);
};

}  // namespace headrace

/// Follows each pass in headrace::compiled, so that a program that links it does not compile the pass's code
/// again. The library itself redefines it in compiled/pass_codes.hpp. Header-only, it is a redundant
/// declaration, and lists of passes include the definitions of their passes: HEADRACE_DEFINES_PASSES asks for
/// that.
#ifdef HEADRACE_COMPILED
#define HEADRACE_COMPILED_PASS(P) extern template struct pass_code<P>
#else
#define HEADRACE_COMPILED_PASS(P) \
    template <class>              \
    struct pass_code
#define HEADRACE_DEFINES_PASSES
#endif

#endif
