// SPDX-License-Identifier: MIT
// A pass as an interpreter: it visits each node and returns its replacement. All other nodes are copied.
#include <cstdio>

//! [interpreter]
#include <headrace/fx/export_pass.hpp>
#include <headrace/infer/aten.hpp>
//! [interpreter]
#include <headrace/infer/graph_builder.hpp>
#include <headrace/ir/listing.hpp>

//! [interpreter]
using namespace headrace;

/// x + y becomes x * y - y: two nodes in place of one.
struct replace_add_with_mul_sub : export_pass<replace_add_with_mul_sub> {
    using targeted_ops = ops<aten::add_tensor>;
    value call_operator(const args<aten::add_tensor>& a, const node_metadata& meta) {
        const value product = super().call_operator<aten::mul_tensor>({a.self, a.other}, meta);
        return super().call_operator<aten::sub_tensor>({product, a.other}, meta);
    }
};

/// For inference, detach is the identity: the node is removed.
struct remove_detach : export_pass<remove_detach> {
    using targeted_ops = ops<aten::detach, aten::detach_copy>;
    template <one_of<targeted_ops> Op>
    value call_operator(Op, const args<Op>& a, const node_metadata&) {
        return a.self;
    }
};

//! [interpreter]

/// Inputs become float16, and so does everything that depends on them.
struct use_float16 : export_pass<use_float16> {
    value placeholder(std::string_view name, const tensor_meta& val, const node_metadata& meta) {
        return super().placeholder(name, {dtype::float16, val.shape, val.dim_order}, meta);
    }
};

result<void> infer(const node& n, inference& out) {
    return find_rule<aten::dialect>(*n.op)(n.arguments, out);
}

int main() {
    graph g;
    graph_builder b(g);
    const value x = b.input("x", {2, 3});
    const value y = b.make<aten::detach>({b.input("y", {3})});
    b.output({b.make<aten::relu>({b.make<aten::add_tensor>({x, y})})});

    pass_context context(&infer);
    const auto run = [&](auto interpreter) {
        const node_counts done = interpreter.run(g, context).value();
        std::printf(
            "%zu rewritten, %zu copied, %zu inferred again\n", done.rewritten, done.copied, done.inferred);
    };
    run(replace_add_with_mul_sub());
    run(remove_detach());
    run(use_float16());
    std::printf("%s", listing(g).c_str());
}
