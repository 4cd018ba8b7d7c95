// SPDX-License-Identifier: MIT
// Declares headrace::pass_code, how a pass runs, which is compiled where it is used or, with
// headrace::compiled, once for all.
#ifndef HEADRACE_PASS_PASS_CODE_HPP
#define HEADRACE_PASS_PASS_CODE_HPP

#include <cstddef>
#include <cstdint>

#include <headrace/base/result.hpp>

namespace headrace {

class graph;
class pass_context;

/// What one pass did to the nodes of a graph.
struct node_counts {
    std::size_t rewritten = 0;  ///< handlers that gave a replacement
    std::size_t declined = 0;   ///< handlers that left their node as it was
    std::size_t copied = 0;     ///< nodes taken over as they were; retracing only
    std::size_t inferred = 0;   ///< nodes whose `val` was inferred again; retracing only
};

/// Does this program link headrace::compiled?
#ifdef HEADRACE_COMPILED
inline constexpr bool links_compiled = true;
#else
inline constexpr bool links_compiled = false;
#endif

/// Which driver runs a pass's handlers. Both are generated from the same handlers.
enum class driver_kind : std::uint8_t { in_place, retracing };

/// The code of a pass: its handlers behind a driver. pass/run_pass.hpp defines it.
template <class P>
struct pass_code {
    static result<node_counts> run(const P& p, graph& g, pass_context& context, driver_kind driver);
    /// Of a pass that pipelines make, without arguments; its type may be incomplete where it is called.
    static result<node_counts> run_default(graph& g, pass_context& context, driver_kind driver);
    /// What the pass's own should_run says, of a pass that has one; `has_targets` is what the generated skip
    /// test found.
    static bool should_run(const graph& g, bool has_targets);
};

}  // namespace headrace

/// Stands behind each pass that headrace::compiled holds: a program that links it does not compile its code
/// again. The library itself redefines it in compiled/pass_codes.hpp. Header-only it declares again what is
/// declared.
#ifdef HEADRACE_COMPILED
#define HEADRACE_COMPILED_CODE(P) extern template struct pass_code<P>
#else
#define HEADRACE_COMPILED_CODE(P) \
    template <class>              \
    struct pass_code
#endif

/// The same of a standard pass, which passes/declared_passes.hpp declares.
#ifdef HEADRACE_COMPILED
#define HEADRACE_COMPILED_PASS(P) \
    HEADRACE_COMPILED_CODE(P);    \
    static_assert(is_declared<P>, "pass: it is not declared; run tests/checks/declared_passes.py")
#else
#define HEADRACE_COMPILED_PASS(P) HEADRACE_COMPILED_CODE(P)
#endif

#endif
