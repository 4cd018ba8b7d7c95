// SPDX-License-Identifier: MIT
// Tests interpreters: the passes of ExportPass's own documentation, as export_pass and, for passes with
// handlers, in both drivers. Each graph is executed before and after.

#include <catch2/catch.hpp>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/eval/evaluator.hpp>
#include <headrace/fx/export_pass.hpp>
#include <headrace/fx/pass_manager.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/infer/higher_order.hpp>
#include <headrace/infer/verify.hpp>
#include <headrace/ir/listing.hpp>

#include "../support/pass_test.hpp"
#include "../support/same_graph.hpp"

using namespace headrace;

namespace {

result<void> infer(const node& n, inference& out) {
    const inference_rule rule = find_rule<aten::dialect, higher_order::dialect>(*n.op);
    if (rule == nullptr) return invalid(message_prefix(n) + "no rule");
    return rule(n.arguments, out);
}

std::vector<tensor> random_inputs(const graph& g) {
    std::mt19937 random(3);
    std::vector<tensor> inputs;
    for (const node& n : g.inputs()) inputs.push_back(random_tensor(random, *n.results[0].meta));
    return inputs;
}

// --- the document's passes, each with what a static pipeline has for it ------------------------------------

struct replace_in_place_relu_with_out_of_place_relu
    : export_pass<replace_in_place_relu_with_out_of_place_relu> {
    using targets = ops<aten::relu_inplace>;
    using removes = targets;
    using produces = ops<aten::relu>;
    value call_operator(const args<aten::relu_inplace>& a, const node_metadata& meta) {
        return super().call_operator<aten::relu>({a.self}, meta);
    }
};
struct relu_handlers : pass {
    using targets = ops<aten::relu_inplace>;
    using produces = ops<aten::relu>;
    value operator()(const args<aten::relu_inplace>& a, emit<produces>& e) const {
        return e.make<aten::relu>(a.self);
    }
};

struct replace_add_with_mul_sub : export_pass<replace_add_with_mul_sub> {
    using targets = ops<aten::add_tensor>;
    value call_operator(const args<aten::add_tensor>& a, const node_metadata& meta) {
        const value product = super().call_operator<aten::mul_tensor>({a.self, a.other}, meta);
        return super().call_operator<aten::sub_tensor>({product, a.other}, meta);
    }
};
struct mul_sub_handlers : pass {
    using targets = ops<aten::add_tensor>;
    using produces = ops<aten::mul_tensor, aten::sub_tensor>;
    value operator()(const args<aten::add_tensor>& a, emit<produces>& e) const {
        const value product = e.make<aten::mul_tensor>(a.self, a.other);
        return e.make<aten::sub_tensor>(product, a.other);
    }
};

struct remove_detach : export_pass<remove_detach> {
    using targets = ops<aten::detach, aten::detach_copy>;
    template <one_of<targets> Op>
    value call_operator(Op, const args<Op>& a, const node_metadata&) {
        return a.self;
    }
};
struct detach_handlers : pass {
    using targets = ops<aten::detach, aten::detach_copy>;
    template <one_of<targets> Op>
    value operator()(Op, const args<Op>& a, emit<ops<>>&) const {
        return a.self;
    }
};

template <class Op>
struct tensor_form;
template <>
struct tensor_form<aten::add_scalar> : std::type_identity<aten::add_tensor> {};
template <>
struct tensor_form<aten::mul_scalar> : std::type_identity<aten::mul_tensor> {};

struct scalar_to_tensor : export_pass<scalar_to_tensor> {
    using targets = ops<aten::add_scalar, aten::mul_scalar>;
    template <one_of<targets> Op>
    value call_operator(Op, const args<Op>& a, const node_metadata& meta) {
        const value other = super().splat(a.other, super().dtype(a.self), 0);
        return super().template call_operator<typename tensor_form<Op>::type>({a.self, other}, meta);
    }
};
struct scalar_handlers : pass {
    using targets = ops<aten::add_scalar, aten::mul_scalar>;
    using produces = ops<aten::add_tensor, aten::mul_tensor>;
    template <one_of<targets> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        return e.template make<typename tensor_form<Op>::type>(
            {a.self, e.splat(a.other, e.dtype(a.self), 0)});
    }
};

void build_all(program& p) {
    const value x = p.input(dtype::float32, {2, 3});
    const value y = p.input(dtype::float32, {2, 3});
    const value sum = p.make<aten::add_tensor>({x, p.make<aten::detach>({y})});
    const value scaled = p.make<aten::mul_scalar>({p.make<aten::relu_inplace>({sum}), 3});
    p.output(p.make<aten::add_scalar>({p.make<aten::detach_copy>({scaled}), 0.5}));
    p.finish();
}

// Edits the graph before it interprets it, like an override of ExportPass.call: inserts a relu_ without
// `val`, which is a target, and a neg without `val`, which is not, before the outputs.
struct bend_outputs : export_pass<bend_outputs> {
    using targets = ops<aten::relu_inplace>;
    bool should_run(const graph&, bool) const { return true; }  // `call` creates the targets
    result<void> call(graph& g, pass_context&) {
        node& out = *g.output();
        const value bent = g.create<aten::relu_inplace>({.self = out.operand(0)}, &out).result();
        const value turned = g.create<aten::neg>({.self = bent}, &out).result();
        g.set_operand(out.operands[0], turned);
        return {};
    }
    value call_operator(const args<aten::relu_inplace>& a, const node_metadata& meta) {
        return super().call_operator<aten::relu>({a.self}, meta);
    }
};
struct refuse_before : export_pass<refuse_before> {
    result<void> call(graph&, pass_context&) { return invalid("not this graph"); }
};
// Its own `run` continues with the interpreter's.
struct counts_runs : export_pass<counts_runs> {
    using targets = ops<aten::relu_inplace>;
    result<node_counts> run(graph& g, pass_context& context) const {
        ++runs;
        return export_pass::run(g, context);
    }
    value call_operator(const args<aten::relu_inplace>& a, const node_metadata& meta) {
        return super().call_operator<aten::relu>({a.self}, meta);
    }
    static inline int runs = 0;
};

// Runs an interpreter, and its handlers in both drivers: all give the same graph.
template <class Interpreter, class Handlers>
void check_same(graph& g) {
    std::vector<program> others(2);
    for (program& p : others) build_all(p);
    pass_context context(&infer);
    Interpreter interpreter;
    REQUIRE(interpreter(g, context));
    CHECK(apply_pass(Handlers{}, others[0].g, context, driver_kind::in_place));
    CHECK(apply_pass(Handlers{}, others[1].g, context, driver_kind::retracing));
    CHECK(difference(g, others[0].g) == "");
    CHECK(difference(g, others[1].g) == "");
    CHECK(context.diagnostics().empty());
    CHECK(verify(g));
}

// --- others ------------------------------------------------------------------------------------------------

/// Visits every operator at run time: replaces one op by another, and counts.
struct replace_ops : export_pass<replace_ops> {
    replace_ops(const op_info& a, const op_info& b) : from(&a), to(&b) {}
    value_list call_operator(const operator_call& call, const node_metadata& meta) {
        ++seen;
        if (&call.op() != from) return super().call_operator(call, meta);
        operator_call other = call;
        other.set_op(*to);
        return super().call_operator(other, meta);
    }
    const op_info* from;
    const op_info* to;
    std::size_t seen = 0;
};

/// Changes the dtype of an input: values that depend on it are inferred again.
struct use_float16 : export_pass<use_float16> {
    value placeholder(std::string_view name, const tensor_meta& val, const node_metadata& meta) {
        return super().placeholder(name, {dtype::float16, val.shape, val.dim_order}, meta);
    }
    value get_attr(std::string_view, const tensor_data&, const tensor_meta& val, const node_metadata&) {
        return super().splat(1, dtype::float16, val.shape);
    }
};
/// Inserts an op after each input and before each output.
struct clamp_interface : export_pass<clamp_interface> {
    value placeholder(std::string_view name, const tensor_meta& val, const node_metadata& meta) {
        return super().call_operator<aten::relu>({super().placeholder(name, val, meta)}, meta);
    }
    void output(std::span<const value> values, const node_metadata& meta) {
        pmr_vector<value> clamped;
        for (const value v : values) clamped.push_back(super().call_operator<aten::relu>({v}, meta));
        super().output(clamped, meta);
    }
};

struct note {
    static constexpr bool inherited = true;
    std::int64_t number;
};
struct annotate_relu : export_pass<annotate_relu> {
    using targets = ops<aten::relu>;
    value call_operator(const args<aten::relu>& a, const node_metadata& meta) {
        const value v = super().call_operator<aten::relu>(a, meta);
        return super().set_val(super().annotate(v, note{42}), {dtype::float32, {2, 3}, order});
    }
    static constexpr std::int64_t axes[] = {1, 0};
    list<std::int64_t> order{axes, 2};
};

struct refuse_relu : export_pass<refuse_relu> {
    using targets = ops<aten::relu>;
    value call_operator(const args<aten::relu>&, const node_metadata&) {
        return super().unsupported("relu is refused");
    }
    result<void> require(const graph& g) const {
        return g.census().count(info_of<aten::relu>) != 0 ? result<void>() : result<void>(invalid("no relu"));
    }
};

void build_relu(program& p) {
    const value x = p.input(dtype::float32, {2, 3});
    p.output(p.make<aten::relu>({p.make<aten::neg>({x})}));
    p.finish();
}

/// Does not visit regions.
struct outer_only : export_pass<outer_only> {
    using targets = ops<aten::relu>;
    value call_operator(const args<aten::relu>& a, const node_metadata& meta) {
        return super().call_operator<aten::neg>({a.self}, meta);
    }
    void submodule(graph&, const node_metadata&) {}
};
struct inner_too : export_pass<inner_too> {
    using targets = ops<aten::relu>;
    value call_operator(const args<aten::relu>& a, const node_metadata& meta) {
        return super().call_operator<aten::neg>({a.self}, meta);
    }
};
void build_cond(program& p) {
    const value condition = p.input(dtype::boolean, {});
    const value x = p.input(dtype::float32, {4});
    graph* branches[2];
    for (graph*& branch : branches) {
        branch = &p.g.create_region();
        const value in = branch->create<builtin::placeholder>({}).result();
        branch->set_meta(in, {dtype::float32, {4}, {}});
        const value relu = branch->create<aten::relu>({in}).result();
        branch->set_meta(relu, {dtype::float32, {4}, {}});
        branch->create<builtin::output>({.values = {&relu, 1}});
    }
    const value operand = p.make<aten::relu>({x});
    p.output(p.make<higher_order::cond>({condition, branches[0], branches[1], {&operand, 1}}));
    p.finish();
}

}  // namespace

TEST_CASE("one node becomes another, several, or none, as in ExportPass's documentation") {
    program p;
    build_all(p);
    const std::vector<tensor> inputs = random_inputs(p.g);
    const auto before = run_graph(p.g, inputs);
    REQUIRE(before);

    SECTION("one to one") {
        check_same<replace_in_place_relu_with_out_of_place_relu, relu_handlers>(p.g);
        CHECK(p.g.census().count(info_of<aten::relu>) == 1);
        CHECK(p.g.census().count(info_of<aten::relu_inplace>) == 0);
    }
    SECTION("removal") {
        check_same<remove_detach, detach_handlers>(p.g);
        CHECK(p.g.census().count(info_of<aten::detach>) == 0);
        CHECK(p.g.census().count(info_of<aten::detach_copy>) == 0);
    }
    SECTION("scalar to tensor") {
        check_same<scalar_to_tensor, scalar_handlers>(p.g);
        CHECK(p.g.census().count(info_of<builtin::constant>) == 2);
    }
    const auto after = run_graph(p.g, inputs);
    REQUIRE(after);
    CHECK(tensor_difference(before.value()[0], after.value()[0], 0) == "");
}

TEST_CASE("x + y becomes x * y - y") {
    program p;
    const value x = p.input(dtype::float32, {2, 3});
    const value y = p.input(dtype::float32, {2, 3});
    p.output(p.make<aten::add_tensor>({x, y}));
    p.finish();
    pass_context context;
    const auto counts = replace_add_with_mul_sub().run(p.g, context);
    REQUIRE(counts);
    CHECK(counts.value().rewritten == 1);
    CHECK(counts.value().copied == 3);
    const std::vector<tensor> inputs = random_inputs(p.g);
    const auto after = run_graph(p.g, inputs);
    REQUIRE(after);
    for (std::int64_t i = 0; i != 6; ++i) {
        const double a = inputs[0].real(i);
        const double b = inputs[1].real(i);
        CHECK(after.value()[0].real(i) == Approx(a * b - b).margin(1e-6));
    }
    program q;
    build_all(q);
    check_same<replace_add_with_mul_sub, mul_sub_handlers>(q.g);
}

TEST_CASE(
    "metadata is carried over: val by inference, names, provenance and the module stack by inheritance") {
    program p;
    const value x = p.input(dtype::float32, {2, 1});
    const value y = p.input(dtype::float32, {3});
    const value sum = p.make<aten::add_tensor>({x, y});
    p.g.set_name(sum, "add");
    p.g.annotate(*sum.producer, provenance{"add", "aten.add.Tensor"});
    p.g.annotate(*sum.producer, module_stack{"L['self'].block"});
    p.output(sum);
    p.finish();
    pass_context context;
    REQUIRE(replace_add_with_mul_sub()(p.g, context));
    node& difference_node = *p.g.outputs()[0].producer;
    node& product = *difference_node.operand(0).producer;
    for (node* n : {&difference_node, &product}) {
        CHECK(meta_of(n->result())->shape == int_list{2, 3});
        CHECK(node_metadata(*n).stack() == "L['self'].block");
        CHECK(node_metadata(*n).origin() == "add");
    }
    CHECK(difference_node.name() == "add");
}

TEST_CASE("a pass sees every operator, and can hold state") {
    program p;
    build_all(p);
    pass_context context(&infer);
    replace_ops add_to_div(info_of<aten::add_tensor>, info_of<aten::div_tensor>);
    const auto rewritten = add_to_div(p.g, context);
    REQUIRE(rewritten);
    CHECK(rewritten.value() == 1);
    CHECK(add_to_div.seen == 6);
    CHECK(p.g.census().count(info_of<aten::div_tensor>) == 1);
    CHECK(verify(p.g));
    // A constant interpreter is copied for the run.
    const replace_ops constant(info_of<aten::div_tensor>, info_of<aten::mul_tensor>);
    REQUIRE(constant(p.g, context));
    CHECK(constant.seen == 0);
    CHECK(p.g.census().count(info_of<aten::mul_tensor>) == 1);
}

TEST_CASE("arguments are found and set by name") {
    program p;
    build_all(p);
    node& scaled = *p.g.nodes_of(info_of<aten::mul_scalar>).begin();
    operator_call call(scaled);
    REQUIRE(call.find<scalar>("other") != nullptr);
    CHECK(call.find<scalar>("other")->to_int() == 3);
    CHECK(call.find<std::int64_t>("other") == nullptr);
    CHECK_FALSE(call.changed());
    CHECK(call.set("other", scalar(4)));
    CHECK_FALSE(call.set("alpha", scalar(4)));
    CHECK(call.args_if<aten::mul_scalar>()->other.to_int() == 4);
    CHECK(args_of<aten::mul_scalar>(scaled).other.to_int() == 3);
    call.set_op(info_of<aten::add_scalar>);
    CHECK(call.args_if<aten::mul_scalar>() == nullptr);
    CHECK(call.args_if<aten::add_scalar>()->other.to_int() == 4);
    CHECK(call.args_if<aten::add_scalar>()->alpha.to_int() == 1);
}

TEST_CASE("a changed type reaches what depends on it") {
    program p;
    const value x = p.input(dtype::float32, {2, 3});
    const value one = p.constant<float>(dtype::float32, {3}, {1, 1, 1});
    p.g.set_name(x, "x");
    p.g.set_name(one, "one");
    p.output(p.make<aten::relu>({p.make<aten::add_tensor>({x, one})}));
    p.output(x);
    p.finish();
    pass_context context(&infer);
    const auto counts = use_float16().run(p.g, context);
    REQUIRE(counts);
    CHECK(counts.value().rewritten == 2);
    CHECK(counts.value().inferred == 2);
    for (const value v : p.g.outputs()) CHECK(meta_of(v)->dtype == dtype::float16);
    CHECK(p.g.inputs().begin()->name() == "x");
    CHECK(verify(p.g));
    CHECK(run_graph(p.g, random_inputs(p.g)));
}

TEST_CASE("inputs and outputs are hooks, too") {
    program p;
    const value x = p.input(dtype::float32, {2, 3});
    const value y = p.input(dtype::float32, {2, 3});
    p.g.set_name(x, "x");
    p.output(p.make<aten::sub_tensor>({x, y}));
    p.finish();
    pass_context context;
    REQUIRE(clamp_interface()(p.g, context));
    CHECK(p.g.census().count(info_of<builtin::placeholder>) == 2);
    CHECK(p.g.census().count(info_of<builtin::output>) == 1);
    CHECK(p.g.census().count(info_of<aten::relu>) == 3);
    CHECK(p.g.inputs().begin()->name() == "x");
    CHECK(verify(p.g));
    const auto results = run_graph(p.g, random_inputs(p.g));
    REQUIRE(results);
    for (std::int64_t i = 0; i != 6; ++i) CHECK(results.value()[0].real(i) >= 0);
}

TEST_CASE("metadata alone is changed") {
    program p;
    build_relu(p);
    pass_context context(&infer);
    REQUIRE(annotate_relu()(p.g, context));
    const node& relu = *p.g.outputs()[0].producer;
    REQUIRE(relu.find_annotation<note>() != nullptr);
    CHECK(relu.find_annotation<note>()->number == 42);
    CHECK(relu.results[0].meta->dim_order == list<std::int64_t>(annotate_relu::axes, 2));
    CHECK(p.g.size() == 4);
}

TEST_CASE("an interpreter refuses nodes, and checks what it needs") {
    program p;
    build_relu(p);
    pass_context context;
    REQUIRE(refuse_relu()(p.g, context));
    REQUIRE(context.diagnostics().size() == 1);
    CHECK(context.diagnostics()[0].reason == "relu is refused");
    CHECK(p.g.size() == 4);
    program none;
    build_all(none);
    CHECK(refuse_relu()(none.g, context).error().message == "refuse_relu: no relu");
}

TEST_CASE("regions are submodules, which a hook may leave alone") {
    program both, outer;
    build_cond(both);
    build_cond(outer);
    pass_context context(&infer);
    const auto all = inner_too().run(both.g, context);
    REQUIRE(all);
    CHECK(all.value().rewritten == 3);
    const auto some = outer_only().run(outer.g, context);
    REQUIRE(some);
    CHECK(some.value().rewritten == 1);
    CHECK(verify(both.g));
}

TEST_CASE("interpreters run in static pipelines and in pass managers") {
    using pipeline_type = pipeline<from<aten::relu_inplace>, to<aten::relu>,
        replace_in_place_relu_with_out_of_place_relu>;  // its `removes` is trusted
    program p, q;
    build_all(p);
    build_all(q);
    pass_context context(&infer);
    REQUIRE(pipeline_type::run_unchecked(p.g, context));  // the graph also has other ops
    pass_manager manager({replace_in_place_relu_with_out_of_place_relu{}, remove_detach{}, remove_detach{}});
    const auto done = manager(q.g, context);
    REQUIRE(done);
    CHECK(done.value()[0].nodes.copied == q.g.size() + 1);  // except the relu and two removed nodes
    CHECK(done.value()[2].status == pass_status::no_target);
    CHECK(p.g.census().count(info_of<aten::relu>) == 1);
    CHECK(q.g.census().count(info_of<aten::detach>) == 0);
    pass_registry registry(pass_list<remove_detach, relu_handlers>{});
    CHECK(registry.find("remove_detach") != nullptr);
}

TEST_CASE(
    "a hook before the traversal edits the graph: called, in pipelines and in managers", "[export_pass]") {
    using alone = pipeline<from<aten::add_tensor>, to<aten::dialect>, bend_outputs>;
    const auto check = [](auto&& run) {
        program p;
        const value x = p.input(dtype::float32, {2, 3});
        p.output(p.make<aten::add_tensor>({x, x}));
        p.finish();
        pass_context context(&infer);
        run(p.g, context);
        const node& turned = *p.g.outputs()[0].producer;
        REQUIRE(is<aten::neg>(turned));
        REQUIRE(is<aten::relu>(*turned.operand(0).producer));
        for (const node& n : p.g.nodes()) {
            INFO(n.op->name);
            CHECK((n.result_count == 0 || n.results[0].meta));
        }
        CHECK(meta_of(p.g.outputs()[0])->shape == int_list{2, 3});
    };
    check([](graph& g, pass_context& c) { REQUIRE(bend_outputs()(g, c).value() == 1); });
    check([](graph& g, pass_context& c) { REQUIRE(apply_pass(bend_outputs{}, g, c)); });
    check([](graph& g, pass_context& c) { REQUIRE(alone::run(g, c)); });
    check([](graph& g, pass_context& c) { REQUIRE(pass_manager({bend_outputs{}})(g, c)); });

    program p;
    p.output(p.input(dtype::float32, {2}));
    p.finish();
    pass_context context(&infer);
    const auto refused = refuse_before()(p.g, context);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message == "not this graph");
}

TEST_CASE("an interpreter with a run of its own may go on with the base's", "[export_pass]") {
    program p;
    p.output(p.make<aten::relu_inplace>({p.input(dtype::float32, {2})}));
    p.finish();
    pass_context context(&infer);
    CHECK(apply_pass(counts_runs{}, p.g, context).value().rewritten == 1);
    CHECK(counts_runs::runs == 1);
}
