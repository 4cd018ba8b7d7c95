// SPDX-License-Identifier: MIT
// Defines headrace::eval::evaluate_decomposed.

#include <headrace/eval/composite.hpp>

#include <cstdint>
#include <utility>
#include <vector>

#include <boost/mp11/algorithm.hpp>

#include <headrace/eval/complex_pairs.hpp>
#include <headrace/eval/iterate.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/unknown_op.hpp>
#include <headrace/pass/run_pass.hpp>
#include <headrace/passes/decompose/decompose.hpp>
#include <headrace/passes/normalize/normalize.hpp>

namespace headrace::eval {

namespace detail {

// Fills a graph with a copy of this node alone, with its operands as inputs. Its outputs are the results of
// known type, whose indices are returned.
inline std::vector<std::size_t> copy_alone(
    const node& n, evaluation& e, graph& g, std::vector<tensor>& inputs) {
    node& copy = g.create(n.op->functional(), n.arguments, n.result_count);  // a synonym has equal arguments
    for (std::size_t i = 0; i != n.operand_count; ++i) {
        node& input = g.create<builtin::placeholder>({}, &copy);
        g.set_meta(input.result(), *meta_of(n.operand(i)));
        g.set_operand(copy.operands[i], input.result());
        const tensor& given = e.input(n.operand(i));
        inputs.push_back(is_complex(given.type()) ? as_pairs(given) : given);
    }
    std::vector<value> outputs;
    std::vector<std::size_t> given;
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        if (!e.is_known(i)) continue;
        const extents shape = e.output_shape(i);
        g.set_meta(copy.result(i), {e.output_type(i), int_list(sizes(shape)), {}});
        outputs.push_back(copy.result(i));
        given.push_back(i);
    }
    g.create<builtin::output>({.values = list<value>(outputs)});
    return given;
}

inline bool fits_in_memory(const node& n) {
    constexpr std::int64_t most = std::int64_t{1} << 31;
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        const tensor_meta* const meta = n.results[i].meta;
        if (meta != nullptr && meta->checked_elements().value_or(INT64_MAX) > most) return false;
    }
    return true;
}

using evaluated_passes =
    boost::mp11::mp_push_back<boost::mp11::mp_push_front<composite_passes, decompose_complex>,
        decompose_bicubic>;

template <class... Passes>
result<void> decompose(graph& g, pass_context& context, pass_list<Passes...>) {
    result<void> done;
    const auto run = [&]<class P>(std::type_identity<P>) {
        if (!done) return;
        const auto counts = pass_code<P>::run_default(g, context, driver_kind::in_place);
        if (!counts) done = counts.error();
    };
    (run(std::type_identity<Passes>{}), ...);
    return done;
}

}  // namespace detail

void evaluate_decomposed(evaluation& e) {
    const node& n = e.current_node();
    graph g;
    std::vector<tensor> inputs;
    const std::vector<std::size_t> given = detail::copy_alone(n, e, g, inputs);
    pass_context context;
    const auto done = detail::decompose(g, context, detail::evaluated_passes{});
    if (!done) return e.fail(done.error());
    if (!context.diagnostics().empty())
        return e.fail(unsupported({message_prefix(n), context.diagnostics()[0].reason}));
    // Complex results are computed by the same op, of real numbers.
    const bool of_complex = is_of_complex_numbers(n);
    for (const node& left : g.nodes()) {
        const bool is_same = left.op == &n.op->functional();
        if (is_same && is_of_complex_numbers(left) == of_complex)
            return e.fail("no pass decomposes this op with these arguments");
        if (!detail::fits_in_memory(left))
            return e.fail("the ops that it consists of have results of more than 2^31 elements");
    }
    const auto results = run_graph(g, inputs, e.state());
    if (!results) return e.fail(results.error());
    // A result may be a constant of the graph, which is destroyed before the result is read.
    for (std::size_t i = 0; i != given.size(); ++i) {
        const tensor& t = results.value()[i];
        const dtype type = e.output_type(given[i]);
        e.set_output(given[i], is_complex(type) ? from_pairs(t, type) : duplicate(t));
    }
}

}  // namespace headrace::eval
