// SPDX-License-Identifier: MIT
// Defines headrace::opt_main, a program that prints, transforms, lowers, executes and plans graphs of
// user-defined dialects.
#ifndef HEADRACE_OPT_OPT_MAIN_HPP
#define HEADRACE_OPT_OPT_MAIN_HPP

#include <string_view>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/result.hpp>
#include <headrace/eval/evaluation.hpp>
#include <headrace/fx/pass_manager.hpp>
#include <headrace/infer/verify.hpp>
#include <headrace/io/text/graph_text.hpp>
#include <headrace/partition/operator_support.hpp>
#include <headrace/run/execution.hpp>
#include <headrace/run/models.hpp>

namespace headrace {

/// A static pipeline for `PROGRAM lower`, as a value.
struct opt_pipeline {
    std::string_view name;
    pmr_vector<any_pass> passes;
    pmr_vector<const node*> (*illegal_nodes)(graph& g);  ///< nodes whose ops may not be left after it
    bool (*supports)(const node& n);                     ///< true if the passes provably lower its op
};

/// The user-defined dialects, passes and pipelines of opt_main.
struct opt_program {
    op_finder find_op;
    own_operators operators;
    result<void> (*verify_node)(const graph& g, const node& n);  ///< the verifiers of the user-defined ops
    pass_context::node_inference infer;                          ///< for any op, Headrace's as well
    pass_registry passes{};
    pmr_vector<opt_pipeline> pipelines{};
};

/// Runs `PROGRAM COMMAND FILE`:
///
///     show FILE [-o FILE.hr]                            prints a graph, or writes it as text
///     opt FILE [--passes a,b | --all] [-o FILE.hr]      the graph after those passes
///     lower FILE [--pipeline NAME] [-o FILE.hr]         the graph after the (first) pipeline
///     run FILE [--in FILE.npy …] [--out FILE.npy …]     its outputs
///     plan FILE                                         places in memory for its values
///
/// `opt` and `lower` take `--verify`: the graph is executed after each pass, with `--in` or random numbers of
/// a fixed seed, and a pass that changes the outputs is named. `plan` takes it, too, and executes in the
/// plan's memory. `opt` and `lower` also take `--ir FOLDER`, which writes the graph before the passes and
/// after each that changed it, as texts `FOLDER/000_input.hr` and so on; `--ir-around a,b` keeps only the
/// texts before and after those passes. With `--reproducer FILE.hr`, the graph before a failing pass is kept
/// with the passes from there on, and `opt FILE.hr` runs them again. `opt --assume a,b` names properties that
/// hold already, for passes that require them; `--retrace` visits every node. `lower --partition` replaces
/// the parts that the pipeline takes by calls of lowered graphs, and names the nodes that stay. `--help`
/// prints all of this. Returns the exit status: 0; 1 if a node is refused, or may not be left after the
/// pipeline; 2 for bad usage, or an output that cannot be written; 3 for a file that is unreadable or
/// malformed, or a pass that fails.
[[nodiscard]] int run_opt_program(const opt_program& program, int argc, char** argv);

namespace detail {

template <class... Dialects>
result<void> infer_own_or_any(const node& n, inference& out) {
    const inference_rule rule = find_rule<Dialects...>(*n.op);
    return rule != nullptr ? rule(n.arguments, out) : infer_node(n, out);
}

template <class T>
struct passes_among {
    using type = typename T::passes;
};
template <class... Ps>
struct passes_among<pass_list<Ps...>> {
    using type = pass_list<Ps...>;
};

template <class... Ps>
pmr_vector<any_pass> objects_of(pass_list<Ps...>) {
    return {any_pass(Ps{})...};
}

template <class Pipeline>
pmr_vector<const node*> illegal_nodes(graph& g) {
    pmr_vector<const node*> found;
    Pipeline::for_each_illegal(g, [&](node& n) { found.push_back(&n); });
    return found;
}

template <class Pipeline>
bool supports(const node& n) {
    return all_ops_in(Pipeline::supported, n);
}

/// Adds a source: passes of a pass_list can be chosen; a pipeline can also be run.
template <class Source>
void add_to(opt_program& program) {
    const typename passes_among<Source>::type list{};
    for (any_pass& p : objects_of(list)) program.passes.add(std::move(p));
    if constexpr (requires { typename Source::pipeline_type; })
        program.pipelines.push_back(
            {type_name<Source>, objects_of(list), &illegal_nodes<Source>, &supports<Source>});
}

template <class List>
struct own_dialects;
template <class... Dialects>
struct own_dialects<dialects<Dialects...>> {
    template <class... Sources>
    static opt_program program() {
        opt_program made{&find_op<Dialects...>, operators_of<Dialects...>, &verify_by_op<Dialects...>,
            &infer_own_or_any<Dialects...>};
        (add_to<Sources>(made), ...);
        return made;
    }
};

}  // namespace detail

/// The main function of a program like `headrace` for user-defined dialects, passes and pipelines. Its files
/// are graphs as text (io/text/graph_text.hpp) or in a format of headrace::read_model:
///
///     int main(int argc, char** argv) {
///         return headrace::opt_main<headrace::dialects<npu::dialect>, npu::lowering>(argc, argv);
///     }
///
/// Each of `Sources` is a pipeline or a pass_list. Inference rules, verifiers and kernels of the dialects
/// must have been included; every graph is verified after reading and after each pass.
template <class Dialects, class... Sources>
int opt_main(int argc, char** argv) {
    return run_opt_program(detail::own_dialects<Dialects>::template program<Sources...>(), argc, argv);
}

}  // namespace headrace

#endif
