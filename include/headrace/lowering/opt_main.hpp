// SPDX-License-Identifier: MIT
// Defines headrace::opt_main, a program that prints, transforms and executes graphs of a dialect of one's
// own.
#ifndef HEADRACE_LOWERING_OPT_MAIN_HPP
#define HEADRACE_LOWERING_OPT_MAIN_HPP

#include <headrace/infer/verify.hpp>
#include <headrace/io/graph_text.hpp>
#include <headrace/lowering/execution.hpp>
#include <headrace/lowering/models.hpp>
#include <headrace/pass/pass_manager.hpp>

namespace headrace {

/// What opt_main knows of the dialects and passes that are not Headrace's.
struct opt_program {
    op_finder find_op;
    inference_rule (*rule_of)(const op_info& op);
    pass_context::node_inference infer;  ///< of any op, Headrace's as well
    pass_registry passes;
};

/// Runs `PROGRAM show FILE`, `PROGRAM opt FILE --passes a,b` (or `--all`) and `PROGRAM run FILE`, each with
/// `-o FILE.hr`, of `run` without. Returns the exit status: 0; 1 if a pass refuses a node; 2 for bad usage,
/// or an output that cannot be written; 3 for a file that is unreadable or malformed, or a pass that fails.
[[nodiscard]] int run_opt_program(const opt_program& program, int argc, char** argv);

namespace detail {

template <class... Dialects>
result<void> infer_own_or_any(const node& n, inference& out) {
    const inference_rule rule = find_rule<Dialects...>(*n.op);
    return rule != nullptr ? rule(n.arguments, out) : infer_node(n, out);
}

template <class List>
struct own_dialects;
template <class... Dialects>
struct own_dialects<dialects<Dialects...>> {
    template <class Passes>
    static opt_program program() {
        return {&find_op<Dialects...>, &find_rule<Dialects...>, &infer_own_or_any<Dialects...>,
                pass_registry(Passes{})};
    }
};

}  // namespace detail

/// The main function of a program like `headrace` for dialects and passes of one's own, whose files are
/// graphs as text (io/graph_text.hpp) or what headrace::read_model reads:
///
///     int main(int argc, char** argv) {
///         return headrace::opt_main<headrace::dialects<npu::dialect>, npu::pipeline::passes>(argc, argv);
///     }
///
/// `Passes` is a pass_list. Inference rules of the dialects must have been included; every graph is verified
/// by them when it was read and after each pass.
template <class Dialects, class Passes>
int opt_main(int argc, char** argv) {
    return run_opt_program(detail::own_dialects<Dialects>::template program<Passes>(), argc, argv);
}

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/lowering/opt_main_definition.hpp>
#endif

#endif
