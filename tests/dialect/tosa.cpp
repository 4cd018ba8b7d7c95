// SPDX-License-Identifier: MIT
// Tests dialect/tosa.hpp and target/tosa_legality.hpp: the numbering of operators, and the types that targets
// take.
#include <headrace/target/tosa_legality.hpp>

#include <set>
#include <string>

#include <catch2/catch.hpp>

#include <headrace/op/op_set.hpp>

using namespace headrace;

namespace {

constexpr target_spec fp = *parse_target("TOSA-1.0+FP");
constexpr target_spec integer = *parse_target("TOSA-1.0+INT");
constexpr target_spec integer16 = *parse_target("TOSA-1.0+INT+int16");

constexpr auto i8 = dtype::int8;
constexpr auto i16 = dtype::int16;
constexpr auto i32 = dtype::int32;
constexpr auto i48 = dtype::int48;
constexpr auto f32 = dtype::float32;
constexpr auto f16 = dtype::float16;
constexpr auto bf16 = dtype::bfloat16;

// The numbers are those of the flatbuffer.
static_assert(tosa::dialect::size == 75);
static_assert(tosa::number_of(info_of<tosa::argmax>) == 1);
static_assert(tosa::number_of(info_of<tosa::add>) == 15);
static_assert(tosa::number_of(info_of<tosa::rescale>) == 66);
static_assert(tosa::number_of(info_of<tosa::const_>) == 67);
static_assert(tosa::number_of(info_of<tosa::const_shape>) == 75);
static_assert(set_of<tosa::v1_0::ops> == every_op<tosa::dialect>);

// Profiles.
static_assert(tosa::is_legal<tosa::add>(fp, {f32, f32, f32}));
static_assert(!tosa::is_legal<tosa::add>(integer, {f32, f32, f32}));
static_assert(tosa::is_legal<tosa::add>(fp, {i32, i32, i32}));
static_assert(!tosa::is_legal<tosa::add>(integer, {i8, i8, i8}));
static_assert(tosa::is_legal<tosa::maximum>(integer, {i32, i32, i32}));
static_assert(!tosa::is_legal<tosa::maximum>(fp, {i32, i32, i32}));
static_assert(tosa::is_legal<tosa::add>(fp, {f16, f16, f16}));

// Extensions.
static_assert(!tosa::is_legal<tosa::exp>(fp, {bf16, bf16}));
static_assert(tosa::is_legal<tosa::exp>(fp.with(target_feature::bf16), {bf16, bf16}));
static_assert(!tosa::is_legal<tosa::conv2d>(integer, {i16, i8, i48, i16, i8, i48, i48}));
static_assert(tosa::is_legal<tosa::conv2d>(integer16, {i16, i8, i48, i16, i8, i48, i48}));
static_assert(!tosa::is_legal<tosa::concat>(integer, {i16, i16}));
static_assert(tosa::is_legal<tosa::concat>(integer16, {i16, i16}));
static_assert(tosa::is_legal<tosa::reshape>(integer, {i16, i16}));
static_assert(!tosa::is_legal<tosa::rfft2d>(fp, {f32, f32, f32}));
static_assert(tosa::is_legal<tosa::rfft2d>(fp.with(target_feature::fft), {f32, f32, f32}));
static_assert(!tosa::is_legal<tosa::cond_if>(fp, {}));
static_assert(tosa::is_legal<tosa::cond_if>(fp.with(target_feature::control_flow), {}));

// Mixed types.
static_assert(tosa::is_legal<tosa::mul>(integer, {i8, i8, i8, i32}));
static_assert(!tosa::is_legal<tosa::mul>(integer, {i8, i8, i8, i8}));
static_assert(tosa::is_legal<tosa::rescale>(integer, {i8, i32, i8, i8, i32, i32}));
static_assert(tosa::is_legal<tosa::rescale>(integer16, {i48, i16, i8, i48, i16, i16}));
static_assert(!tosa::is_legal<tosa::cast>(fp, {dtype::boolean, f32}));
static_assert(tosa::is_legal<tosa::cast>(integer, {dtype::boolean, i32}));
static_assert(tosa::is_legal<tosa::equal>(fp, {f32, f32, dtype::boolean}));
static_assert(tosa::is_legal<tosa::const_>(fp, {i8}));

}  // namespace

TEST_CASE("tosa ops have rows, except those that take any types", "[tosa]") {
    std::set<std::string> without;
    for (const op_info* op : op_table<tosa::dialect>) {
        if (tosa::rows_of(*op).empty()) without.insert(std::string(op->name));
    }
    CHECK(without ==
        std::set<std::string>{"tosa.COND_IF", "tosa.CONST_SHAPE", "tosa.CUSTOM", "tosa.WHILE_LOOP"});
}

TEST_CASE("tosa rows have as many types as the op has", "[tosa]") {
    for (const op_info* op : op_table<tosa::dialect>) {
        std::size_t operands = 0;
        for (const field_info& f : *op)
            operands += f.kind == field_kind::tensor || f.kind == field_kind::tensors;
        for (const tosa::legality_row& row : tosa::rows_of(*op)) {
            std::size_t types = 0;
            while (types != row.types.size() && row.types[types] != dtype::unknown) ++types;
            INFO(op->name);
            const bool shapes = op->name == "tosa.RESHAPE" || op->name == "tosa.SLICE" ||
                op->name == "tosa.TILE" || op->name == "tosa.PAD" || op->name == "tosa.RESIZE";
            if (op->name == "tosa.VARIABLE" || op->name == "tosa.VARIABLE_WRITE") {
                CHECK(types == 1);
            } else if (!shapes) {
                CHECK(types ==
                    operands + (op->find("acc_type") != nullptr) + static_cast<std::size_t>(op->results));
            }
        }
    }
}
