// SPDX-License-Identifier: MIT
// Tests out-variants: their names, their arguments, and how they are found.
#include <catch2/catch.hpp>

#include <set>

#include <headrace/dialect/memory.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/memory/out_variant.hpp>

using namespace headrace;

TEST_CASE("out-variants have PyTorch's names") {
    STATIC_REQUIRE(out::variant<aten::relu>::name == "aten.relu.out");
    STATIC_REQUIRE(out::variant<aten::add_tensor>::name == "aten.add.out");
    STATIC_REQUIRE(out::variant<aten::softmax_int>::name == "aten.softmax.int_out");
    STATIC_REQUIRE(out::variant<aten::max_dim>::name == "aten.max.dim_max");
    STATIC_REQUIRE(
        out::variant<dim_order_ops::_clone_dim_order>::name == "dim_order_ops._clone_dim_order.out");
    STATIC_REQUIRE(out::variant<quantized_decomposed::quantize_per_tensor_tensor>::name ==
        "quantized_decomposed.quantize_per_tensor.Tensor_out");
    STATIC_REQUIRE(out::variant<tosa::add>::name == "tosa.ADD.out");
}

TEST_CASE("an out-variant has its op's arguments, and out") {
    for (const op_info* variant : op_table<out::dialect>) {
        INFO(variant->name);
        const op_info& functional = out::functional_of(*variant);
        CHECK(out::variant_of(functional) == variant);
        CHECK(variant->results == functional.results);
        REQUIRE(variant->field_count == functional.field_count + 1);
        for (std::size_t i = 0; i != functional.field_count; ++i) {
            CHECK(variant->fields[i].name == functional.fields[i].name);
            CHECK(variant->fields[i].offset == functional.fields[i].offset);
        }
        const field_info& last = variant->fields[functional.field_count];
        CHECK(last.name == "out");
        CHECK(last.offset >= functional.args_size);
        CHECK(last.kind == (functional.results == 1 ? field_kind::tensor : field_kind::tensors));
    }
}

TEST_CASE("names of out-variants are no functional op's") {
    std::set<std::string_view> names;
    for (const op_info* op : op_table<aten::dialect>) names.insert(op->name);
    for (const op_info* variant : op_table<out::dialect>) CHECK(names.insert(variant->name).second);
    CHECK(out::variant_of(info_of<aten::conv2d>) == nullptr);
    CHECK(out::variant_of(info_of<aten::relu_inplace>) == nullptr);
    CHECK(&out::functional_of(info_of<aten::conv2d>) == &info_of<aten::conv2d>);
}

TEST_CASE("an out-variant is an op like others") {
    graph g;
    const value x = g.create<builtin::placeholder>({}).result();
    g.set_name(x, "x");
    const value buffer = g.create<memory::alloc>({.size = {2}, .dtype = dtype::float32}).result();
    node& sum = g.create<out::variant<aten::add_tensor>>(
        {.functional = {.self = x, .other = x, .alpha = 2}, .out = buffer});
    CHECK(sum.operand_count == 3);
    CHECK(is<out::variant<aten::add_tensor>>(sum));
    CHECK(args_of<out::variant<aten::add_tensor>>(sum).functional.self == x);
    CHECK(listing(g) ==
        "%x: ? = input\n"
        "%alloc: ? = memory.alloc(size=[2], dtype=float32)\n"
        "%add: ? = aten.add.out(%x, %x, alpha=2, out=%alloc)\n");
}
