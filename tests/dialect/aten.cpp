// SPDX-License-Identifier: MIT
// Tests of the dialects that PyTorch and ExecuTorch define. schemas.py compares every op with PyTorch's own schemas.

#include <catch2/catch.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/cortex_m.hpp>
#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>

using namespace headrace;

namespace {

static_assert(op_table<aten::dialect>.size() > 200);

// conv2d: tensors, one of them optional, and lists with defaults.
static_assert(info_of<aten::conv2d>.field_count == 7);
static_assert(info_of<aten::conv2d>.find("bias")->kind == field_kind::tensor);
static_assert(info_of<aten::conv2d>.find("bias")->optional);
static_assert(!info_of<aten::conv2d>.find("weight")->optional);
static_assert(info_of<aten::conv2d>.find("padding")->kind == field_kind::integers);
static_assert(info_of<aten::conv2d_padding>.find("padding")->kind == field_kind::text);
static_assert(default_args<aten::conv2d>.stride == int_list{1, 1});
static_assert(default_args<aten::conv2d>.padding == int_list{0, 0});
static_assert(default_args<aten::conv2d>.groups == 1);
static_assert(!default_args<aten::conv2d>.bias);

// A stride that is left out is empty, which means the kernel's size.
static_assert(default_args<aten::max_pool2d>.stride.empty());
static_assert(default_args<aten::avg_pool2d>.count_include_pad);

// Scalars keep the type with which they were written.
static_assert(default_args<aten::add_tensor>.alpha == scalar{1});
static_assert(default_args<aten::celu>.alpha == scalar{1.0});
static_assert(default_args<aten::hardtanh>.min_val == scalar{-1});

// Members with the name of one of our types.
static_assert(std::is_same_v<decltype(args<aten::softmax_int>::dtype), std::optional<dtype>>);
static_assert(std::is_same_v<decltype(args<aten::scaled_dot_product_attention>::value), value>);
static_assert(std::is_same_v<decltype(args<aten::masked_fill_scalar>::value), scalar>);
static_assert(default_args<aten::contiguous>.memory_format == memory_format::contiguous);

static_assert(default_args<aten::layer_norm>.eps == 1e-5);
static_assert(default_args<aten::gelu>.approximate == "none");
static_assert(default_args<aten::sum_dim_intlist>.keepdim == false);
static_assert(info_of<aten::index_tensor>.find("indices")->kind == field_kind::optional_tensors);
static_assert(info_of<aten::full>.find("layout") == nullptr);
static_assert(info_of<aten::full>.find("pin_memory") == nullptr);

static_assert(aten::relu::results == 1);
static_assert(aten::max_dim::results == 2);
static_assert(aten::lstm_input::results == 3);
static_assert(aten::split_tensor::results == variadic_results);
static_assert(aten::_assert_tensor_metadata::results == 0);

static_assert(aten::add_inplace_tensor::name == "aten.add_.Tensor");
static_assert(aten::rshift_scalar::name == "aten.__rshift__.Scalar");
static_assert(aten::_softmax::name == "aten._softmax.default");

static_assert(info_of<quantized_decomposed::quantize_per_tensor>.find("scale")->kind == field_kind::floating);
static_assert(
    info_of<quantized_decomposed::quantize_per_tensor_tensor>.find("scale")->kind == field_kind::tensor);
static_assert(info_of<quantized_decomposed::dequantize_per_channel>.find("zero_points")->optional);
static_assert(info_of<higher_order::cond>.find("true_graph")->kind == field_kind::region);
static_assert(info_of<cortex_m::quantized_transpose_conv2d>.field_count == 15);

}  // namespace

TEST_CASE("an op is found by its name in any of several dialects") {
    const auto find = find_op<aten::dialect, quantized_decomposed::dialect, dim_order_ops::dialect>;
    CHECK(find("aten.conv2d.default") == &info_of<aten::conv2d>);
    CHECK(find("aten.add_.Tensor") == &info_of<aten::add_inplace_tensor>);
    CHECK(find("dim_order_ops._to_dim_order_copy.default") == &info_of<dim_order_ops::_to_dim_order_copy>);
    CHECK(find("quantized_decomposed.quantize_per_tensor.default") ==
        &info_of<quantized_decomposed::quantize_per_tensor>);
    CHECK(find("aten.conv2d") == nullptr);
    CHECK(find("cortex_m.pad.default") == nullptr);
    CHECK(find("") == nullptr);
}

TEMPLATE_TEST_CASE("the table of a dialect is consistent", "", aten::dialect, quantized_decomposed::dialect,
    dim_order_ops::dialect, cortex_m::dialect, higher_order::dialect) {
    std::vector<std::string_view> ops;
    for (const op_info* op : op_table<TestType>) {
        CAPTURE(std::string(op->name));
        const std::string_view name = op->name;
        ops.push_back(name);
        CHECK(name.substr(0, name.find('.')) == TestType::name);
        CHECK(op->dialect == &info_of_dialect<TestType>);
        CHECK(op == op_table<TestType>[op->index]);
        CHECK(op == find_op<TestType>(name));

        std::vector<std::string_view> fields;
        for (const field_info& field : *op) {
            CAPTURE(std::string(field.name));
            CHECK_FALSE(field.name.empty());
            CHECK(field.name.find(' ') == std::string_view::npos);
            CHECK(field.offset < op->args_size);
            fields.push_back(field.name);
        }
        std::sort(fields.begin(), fields.end());
        CHECK(std::adjacent_find(fields.begin(), fields.end()) == fields.end());
    }
    std::sort(ops.begin(), ops.end());
    CHECK(std::adjacent_find(ops.begin(), ops.end()) == ops.end());
}
