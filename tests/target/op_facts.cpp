// SPDX-License-Identifier: MIT
// Tests the rules of targets at compile time, and that a node's facts agree with its contract.
#include <catch2/catch.hpp>

#include <headrace/infer/tosa.hpp>
#include <headrace/target/node_facts.hpp>
#include <headrace/target/tosa_rules.hpp>
#include <headrace/target/u55_verify.hpp>
#include <headrace/target/u85_rules.hpp>

using namespace headrace;

namespace {

constexpr tensor_meta meta_of_shape(dtype type, int_list shape) { return {type, shape, {}}; }

template <op_tag Op>
constexpr op_facts facts(std::initializer_list<const tensor_meta*> operands, const tensor_meta& result,
    const op_attributes& attributes = {}, std::uint64_t constants = 0) {
    op_facts f{.op = &info_of<Op>, .constants = constants, .attributes = attributes};
    for (const tensor_meta* t : operands) f.tensors[f.operand_count++] = t;
    f.tensors[f.operand_count + f.result_count++] = &result;
    return f;
}

constexpr tensor_meta image = meta_of_shape(dtype::int8, {1, 16, 16, 4});
constexpr tensor_meta weight = meta_of_shape(dtype::int8, {2, 3, 3, 4});
constexpr tensor_meta tall = meta_of_shape(dtype::int8, {2, 65, 3, 4});
constexpr tensor_meta bias = meta_of_shape(dtype::int32, {2});
constexpr tensor_meta zero = meta_of_shape(dtype::int8, {1});
constexpr tensor_meta sums = meta_of_shape(dtype::int32, {1, 14, 14, 2});
constexpr op_attributes plain{
    .stride = {1, 1}, .pad = {0, 0, 0, 0}, .dilation = {1, 1}, .declared = dtype::int32};
constexpr op_attributes long_padded{
    .stride = {4, 4}, .pad = {1, 0, 0, 0}, .dilation = {1, 1}, .declared = dtype::int32};

constexpr op_facts convolution(const tensor_meta& w, const op_attributes& a, std::uint64_t constants = 0x1e) {
    return facts<tosa::conv2d>({&image, &w, &bias, &zero, &zero}, sums, a, constants);
}
static_assert(u55::violated(convolution(weight, plain)) == u55_limit::none);
static_assert(u55::violated(convolution(tall, plain)) == u55_limit::kernel_window);
static_assert(u55::violated(convolution(weight, long_padded)) == u55_limit::stride);
static_assert(u55::violated(convolution(weight, plain, 0x1c)) == u55_limit::computed_weight);

constexpr op_attributes heavy = [] {
    op_attributes a = plain;
    a.weight_sum = u55::max_weight_sum + 1;
    return a;
}();
static_assert(u55::violated(convolution(weight, heavy)) == u55_limit::weight_sum);

// Ethos-U85 takes computed weights, except in transposed convolutions.
constexpr op_facts transposed(std::uint64_t constants) {
    return facts<tosa::transpose_conv2d>({&image, &weight, &bias, &zero, &zero}, sums, plain, constants);
}
static_assert(u85::violated(convolution(tall, plain, 0x18)) == u85_limit::none);
static_assert(u85::violated(transposed(0x1e)) == u85_limit::none);
static_assert(u85::violated(transposed(0x1c)) == u85_limit::computed_weight);
static_assert(u85::violated(transposed(0x1a)) == u85_limit::computed_weight);
static_assert(u85::violated(facts<tosa::custom>({&image}, image)) == u85_limit::op);

// Types and constants.
constexpr target_spec integers = *parse_target("TOSA-1.0+INT");
constexpr target_spec floats = *parse_target("TOSA-1.0+FP");
static_assert(type_fault_of(convolution(weight, plain), integers).limit == type_limit::none);
static_assert(type_fault_of(convolution(weight, plain), floats).limit == type_limit::profile);
static_assert(type_fault_of(convolution(sums, plain), integers).limit == type_limit::types);
static_assert(type_fault_of(convolution(weight, plain, 0x0e), integers).operand == "weight_zp");
static_assert(type_fault_of(facts<tosa::cond_if>({&zero}, zero), integers).limit == type_limit::control_flow);

// Zero points: of INT8 and, for unsigned INT16, the middle.
constexpr tensor_meta of_8 = meta_of_shape(dtype::int8, {4});
constexpr tensor_meta of_16 = meta_of_shape(dtype::int16, {4});
constexpr tensor_meta of_32 = meta_of_shape(dtype::int32, {4});
constexpr zero_fault zero_of_rescale(const tensor_meta& from, const tensor_meta& to, const op_attributes& a) {
    return zero_fault_of(facts<tosa::rescale>({&from}, to, a));
}
static_assert(!zero_of_rescale(of_8, of_8, {.input_zero = 5, .output_zero = -5}));
static_assert(zero_of_rescale(of_16, of_8, {.input_zero = 5}).operand == "input_zp");
static_assert(zero_of_rescale(of_8, of_16, {.output_zero = 5}).type == dtype::int16);
static_assert(zero_of_rescale(of_32, of_8, {.input_zero = 5}).zero == 5);
static_assert(!zero_of_rescale(of_16, of_8, {.input_zero = -32768, .input_unsigned = true}));
static_assert(zero_of_rescale(of_16, of_8, {.input_zero = 5, .input_unsigned = true}));
static_assert(zero_of_rescale(of_16, of_8, {.input_zero = -32768}));
static_assert(zero_fault_of(facts<tosa::negate>({&of_16}, of_16, {.input_zero = 1})).operand == "input1_zp");
constexpr op_facts product = facts<tosa::matmul>({&of_16, &of_16}, of_32, {.second_zero = 1});
static_assert(zero_fault_of(product).operand == "b_zp");
constexpr op_facts averaged = facts<tosa::avg_pool2d>({&of_16}, of_16, {.output_zero = 1});
static_assert(zero_fault_of(averaged).operand == "output_zp");
static_assert(!zero_fault_of(convolution(weight, {.input_zero = 1, .second_zero = 2})));
static_assert(!zero_fault_of(facts<tosa::add>({&of_16, &of_16}, of_16, {.input_zero = 1})));

// INT32 and INT48 are signed.
constexpr dtype sign_of_rescale(const tensor_meta& from, const tensor_meta& to, const op_attributes& a) {
    return sign_fault_of(facts<tosa::rescale>({&from}, to, a));
}
static_assert(sign_of_rescale(of_8, of_16, {.input_unsigned = true}) == dtype::unknown);
static_assert(sign_of_rescale(of_8, of_32, {.input_unsigned = true}) == dtype::int32);
static_assert(sign_of_rescale(of_32, of_8, {.output_unsigned = true}) == dtype::int32);
static_assert(sign_of_rescale(of_8, of_32, {}) == dtype::unknown);

// Level 8K: the max that it allows, and one more.
constexpr level_limit level_of(const op_facts& f) { return level_fault_of(f).limit; }
constexpr op_facts pooled(int_list kernel, int_list stride, int_list pad) {
    return facts<tosa::max_pool2d>({&image}, image, {.kernel = kernel, .stride = stride, .pad = pad});
}
static_assert(level_of(pooled({8192, 8192}, {8192, 8192}, {8192, 0, 0, 0})) == level_limit::none);
static_assert(level_of(pooled({1, 8193}, {1, 1}, {0, 0, 0, 0})) == level_limit::kernel);
static_assert(level_of(pooled({1, 1}, {8193, 1}, {0, 0, 0, 0})) == level_limit::stride);
static_assert(level_of(pooled({1, 1}, {1, 1}, {0, 8193, 0, 0})) == level_limit::pad);
constexpr op_facts moved(const tensor_meta& t) { return facts<tosa::identity>({&t}, t); }
constexpr std::int64_t whole = std::int64_t{1} << 31;
constexpr tensor_meta largest = meta_of_shape(dtype::int8, {whole - 1});
constexpr tensor_meta too_large = meta_of_shape(dtype::int8, {whole});
constexpr tensor_meta too_large_int16 = meta_of_shape(dtype::int16, {whole / 2});
constexpr tensor_meta empty = meta_of_shape(dtype::int8, {2, 0});
constexpr std::int64_t seven[] = {1, 1, 1, 1, 1, 1, 1};
constexpr tensor_meta of_seven_axes = meta_of_shape(dtype::int8, int_list(sizes(seven)));
static_assert(level_of(moved(largest)) == level_limit::none);
static_assert(level_of(moved(too_large)) == level_limit::tensor_size);
static_assert(level_of(moved(too_large_int16)) == level_limit::tensor_size);
static_assert(level_of(moved(empty)) == level_limit::empty_tensor);
static_assert(level_of(moved(of_seven_axes)) == level_limit::rank);
constexpr op_attributes dilated = [] {
    op_attributes a = plain;
    a.dilation = {1, 2731};
    return a;
}();
static_assert(level_of(convolution(weight, dilated)) == level_limit::dilated_kernel);
static_assert(level_fault_of(convolution(weight, dilated)).size == 8193);
static_assert(
    level_of(facts<tosa::resize>({&image}, image, {.scale = {256, 1, 256, 1}})) == level_limit::none);
static_assert(
    level_of(facts<tosa::resize>({&image}, image, {.scale = {256, 1, 257, 1}})) == level_limit::scale);

struct sample {
    graph g;

    value input(const tensor_meta& meta) {
        const value v = g.create<builtin::placeholder>({}).result();
        g.set_meta(v, meta);
        return v;
    }
    value constant(const tensor_meta& meta, std::uint8_t byte) {
        return create_constant(g, meta, nullptr, [&](std::span<std::byte> data) {
            for (std::byte& b : data) b = std::byte{byte};
        });
    }
    template <op_tag Op>
    node& make(const args<Op>& a) {
        inference inferred(g.arena());
        REQUIRE(infer_op<Op>(a, inferred));
        node& n = g.create(info_of<Op>, &a, inferred.results().size());
        for (std::uint32_t i = 0; i != n.result_count; ++i) g.set_meta(n.result(i), inferred.results()[i]);
        return n;
    }
};

}  // namespace

TEST_CASE("a node's facts are those that its contract is written from") {
    sample s;
    node& n = s.make<tosa::conv2d>({.input = s.input(image),
        .weight = s.constant(weight, 1),
        .bias = s.constant(bias, 0),
        .input_zp = s.constant(zero, 0),
        .weight_zp = s.constant(zero, 0),
        .pad = {0, 0, 0, 0},
        .stride = {1, 1},
        .dilation = {1, 1},
        .acc_type = dtype::int32});
    const op_facts got = facts_of(n);
    const op_facts wanted = convolution(weight, plain);
    CHECK(got.op == wanted.op);
    CHECK(got.operand_count == wanted.operand_count);
    CHECK(got.result_count == wanted.result_count);
    for (std::size_t i = 0; i != got.operand_count + got.result_count; ++i)
        CHECK(*got.tensors[i] == *wanted.tensors[i]);
    CHECK(got.constants == wanted.constants);
    CHECK(got.attributes == wanted.attributes);
}

TEST_CASE("facts that lie in weights and neighbours") {
    sample s;
    const tensor_meta wide_image = meta_of_shape(dtype::int16, {1, 8, 8, 1032});
    const tensor_meta wide_weight = meta_of_shape(dtype::int8, {2, 8, 8, 1032});
    const tensor_meta wide_bias = meta_of_shape(dtype::int48, {2});
    const tensor_meta wide_zero = meta_of_shape(dtype::int16, {1});
    node& n = s.make<tosa::conv2d>({.input = s.input(wide_image),
        .weight = s.constant(wide_weight, 0x7f),
        .bias = s.constant(wide_bias, 0x7f),
        .input_zp = s.constant(wide_zero, 0),
        .weight_zp = s.constant(zero, 0),
        .pad = {0, 0, 0, 0},
        .stride = {1, 1},
        .dilation = {1, 1},
        .acc_type = dtype::int48});
    const op_attributes a = facts_of(n).attributes;
    CHECK(a.weight_sum == 127 * 8 * 8 * 1032);
    CHECK_FALSE(a.bias_fits);
    CHECK(a.only_rescaled);
    s.make<tosa::identity>({n.result()});
    CHECK_FALSE(facts_of(n).attributes.only_rescaled);
    CHECK(u55::violated(facts_of(n)) == u55_limit::weight_sum);
    CHECK(u55::restriction(n) ==
        "Ethos-U55 has no CONV2D whose absolute weights add up to more than 127 * 65536");
}

TEST_CASE("a list of operands is counted whole, and looked at as far as level 8K goes") {
    sample s;
    const std::vector<value> many(70, s.input(zero));
    const op_facts f = facts_of(s.make<tosa::concat>({.input1 = many, .axis = 0}));
    CHECK(f.list_length == 70);
    CHECK(f.operand_count == op_facts::max_tensors);
    CHECK(level_fault_of(f).limit == level_limit::operands);
    const std::vector<value> few(64, s.input(zero));
    CHECK_FALSE(level_fault_of(facts_of(s.make<tosa::concat>({.input1 = few, .axis = 0}))));
}
