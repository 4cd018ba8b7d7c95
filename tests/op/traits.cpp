// SPDX-License-Identifier: MIT
// Tests traits: the declared facts of an op, and the lists that follow from them. tests/dialect/schemas.py
// compares the traits of PyTorch's ops with PyTorch's schemas.

#include <catch2/catch.hpp>

#include <string>
#include <string_view>
#include <type_traits>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/op/op_query.hpp>

using namespace headrace;

namespace {

namespace scaling {

struct dialect;
struct scale : op<dialect, "scaling.scale", "self, factor", trait::unary, trait::like_self> {
    struct args {
        value self;
        double factor;
    };
};
struct scale_inplace : op<dialect, "scaling.scale_", "self, factor", in_place_of<scale>> {
    struct args {
        value self;
        double factor;
    };
};
struct stretch : op<dialect, "scaling.stretch", "input, factor", synonym_of<scale>> {
    struct args {
        value input;
        double factor;
    };
};
struct halves : op<dialect, "scaling.halves", "self", 2, trait::splitting, trait::aliasing> {
    struct args {
        value self;
    };
};
struct check : op<dialect, "scaling.check", "self", 0> {
    struct args {
        value self;
    };
};
struct plain : op<dialect, "scaling.plain", "self"> {
    struct args {
        value self;
    };
};
struct dialect : dialect_of<"scaling", scale, scale_inplace, stretch, halves, check, plain> {};

}  // namespace scaling

// A declaration has the number of results and traits, in any order.
static_assert(scaling::scale::results == 1 && scaling::halves::results == 2 && scaling::check::results == 0);
static_assert(has_trait<scaling::scale>(trait::unary) && has_trait<scaling::scale>(trait::elementwise));
static_assert(!has_trait<scaling::scale>(trait::binary) && !has_trait<scaling::plain>(trait::elementwise));
static_assert(has_trait<scaling::check>(trait::no_results) && !has_trait<scaling::plain>(trait::no_results));
static_assert(scaling::plain::trait_bits == 0);

// Variants know their bases; traits are not inherited.
static_assert(std::is_same_v<base_of<scaling::scale_inplace>, scaling::scale>);
static_assert(std::is_same_v<base_of<scaling::stretch>, scaling::scale>);
static_assert(std::is_void_v<base_of<scaling::scale>>);
static_assert(op_variant<scaling::stretch> && !op_variant<scaling::scale>);
static_assert(
    has_trait<scaling::scale_inplace>(trait::in_place) && !has_trait<scaling::stretch>(trait::in_place));
static_assert(!has_trait<scaling::scale_inplace>(trait::unary));

// Lists and sets.
static_assert(std::is_same_v<ops_where<scaling::dialect, trait::variant>,
    ops<scaling::scale_inplace, scaling::stretch>>);
static_assert(std::is_same_v<bases_of<ops_where<scaling::dialect, trait::variant>>,
    ops<scaling::scale, scaling::scale>>);
static_assert(std::is_same_v<ops_where<scaling::dialect, trait::splitting | trait::unary>,
    ops<scaling::scale, scaling::halves>>);
static_assert(
    std::is_same_v<ops_where<scaling::dialect, trait::splitting, trait::aliasing>, ops<scaling::halves>>);
static_assert(std::is_same_v<ops_where<scaling::dialect, trait::splitting, trait::unary>, ops<>>);
static_assert(
    set_where<scaling::dialect, trait::variant> == ops_in<scaling::scale_inplace, scaling::stretch>);
static_assert(op_where<scaling::scale, scaling::dialect, trait::unary> &&
    !op_where<scaling::scale, aten::dialect, trait::unary>);

// A list and a set of the same query have the same ops, in every dialect.
static_assert(set_of<ops_where<aten::dialect, trait::in_place>> == set_where<aten::dialect, trait::in_place>);
static_assert(
    set_of<ops_where<tosa::dialect, trait::elementwise>> == set_where<tosa::dialect, trait::elementwise>);

}  // namespace

TEST_CASE("at run time an op answers for its traits") {
    CHECK(info_of<scaling::scale>.has(trait::unary));
    CHECK(info_of<scaling::scale>.has(trait::binary | trait::unary));
    CHECK_FALSE(info_of<scaling::scale>.has(trait::binary | trait::ternary));
    CHECK(&info_of<scaling::scale_inplace>.functional() == &info_of<scaling::scale>);
    CHECK(&info_of<scaling::stretch>.functional() == &info_of<scaling::scale>);
    CHECK(&info_of<scaling::scale>.functional() == &info_of<scaling::scale>);
    CHECK(info_of<scaling::plain>.base == nullptr);
}

TEST_CASE("the arguments of a variant are read as those of its base") {
    const value v{nullptr, 7};
    const args<scaling::scale> a = convert_args<scaling::scale, scaling::stretch>({.input = v, .factor = 3});
    CHECK(a.self == v);
    CHECK(a.factor == 3);
}

TEST_CASE("a variant is no variant of a variant, and computes what its base computes") {
    for (const op_info* op : op_table<aten::dialect>) {
        INFO(std::string(op->name));
        CHECK(op->has(trait::variant) == (op->base != nullptr));
        if (op->base == nullptr) continue;
        CHECK(op->base->base == nullptr);
        CHECK(op->base->results == op->results);
        CHECK(op->base->args_size == op->args_size);
        CHECK_FALSE(op->base->has(trait::in_place));
    }
}

TEST_CASE("traits that exclude each other do not meet") {
    const trait moves[] = {trait::forwarding, trait::reshaping, trait::permuting, trait::broadcasting,
        trait::slicing, trait::splitting, trait::joining, trait::repeating, trait::reversing, trait::padding,
        trait::unary, trait::binary, trait::ternary, trait::reduction};
    const trait dtypes[] = {trait::int_to_float, trait::predicate, trait::like_self};
    const auto check = [&](const op_info& op) {
        INFO(std::string(op.name));
        const auto count = [&](const auto& traits) {
            int held = 0;
            for (const trait t : traits) held += op.has(t);
            return held;
        };
        CHECK(count(moves) <= 1);
        CHECK(count(dtypes) <= 1);
        if (op.has(trait::splitting)) CHECK(op.results != 1);
        if (op.has(trait::int_to_float | trait::predicate)) CHECK(op.has(trait::elementwise));
        if (op.has(trait::may_copy)) CHECK(op.has(trait::aliasing));
        if (op.has(trait::aliasing)) CHECK_FALSE(op.has(trait::in_place | trait::elementwise));
    };
    for (const op_info* op : op_table<aten::dialect>) check(*op);
    for (const op_info* op : op_table<tosa::dialect>) check(*op);
}

TEST_CASE("traits that narrow others stand with them") {
    const auto check = [](const op_info& op) {
        INFO(std::string(op.name));
        if (op.has(trait::transposed)) CHECK(op.has(trait::convolving));
        if (op.has(trait::nearest)) CHECK(op.has(trait::resampling));
        if (op.has(trait::comparing)) CHECK(op.has(trait::predicate));
        if (op.has(trait::spatial))
            CHECK(op.has(trait::convolving | trait::pooling | trait::padding | trait::resampling));
        if (op.has(trait::copying)) CHECK_FALSE(op.has(trait::aliasing));
    };
    for (const op_info* op : op_table<aten::dialect>) check(*op);
    for (const op_info* op : op_table<tosa::dialect>) check(*op);
}

TEST_CASE("ops for a number of axes have that number in PyTorch's names") {
    for (const op_info* op : op_table<aten::dialect>) {
        INFO(std::string(op->name));
        const auto named = [&](std::string_view axes) {
            return op->name.find(axes) != std::string_view::npos;
        };
        const std::size_t rank = spatial_rank_in(op->traits);
        if (rank != 0) CHECK(named(rank == 1 ? "1d" : rank == 2 ? "2d" : "3d"));
        if (op->has(trait::pooling) || named("conv1d") || named("conv2d") || named("conv3d"))
            CHECK(rank != 0);
        CHECK(op->has(trait::pooling) == named("_pool"));
        CHECK(op->has(trait::resampling) == named("upsample_"));
        CHECK(op->has(trait::nearest) == named("nearest"));
        CHECK(op->has(trait::convolving) == named(".conv"));
    }
    static_assert(spatial_rank<aten::conv1d> == 1 && spatial_rank<aten::replication_pad3d> == 3);
    static_assert(spatial_rank<aten::convolution> == 0);
}

TEST_CASE("quantizing and dequantizing ops come in pairs") {
    using quantized_decomposed::dialect;
    CHECK(set_where<dialect, trait::quantizing>.size() == set_where<dialect, trait::dequantizing>.size());
    for (const op_info* op : op_table<dialect>) {
        INFO(std::string(op->name));
        CHECK(op->has(trait::quantizing) == op->name.starts_with("quantized_decomposed.quantize_"));
        CHECK(op->has(trait::dequantizing) == op->name.starts_with("quantized_decomposed.dequantize_"));
    }
}

TEST_CASE("elementwise ops take as many tensors as their trait says") {
    for (const op_info* op : op_table<aten::dialect>) {
        INFO(std::string(op->name));
        int tensors = 0;
        for (const field_info& f : *op) tensors += f.kind == field_kind::tensor;
        if (op->has(trait::unary)) CHECK(tensors == 1);
        if (op->has(trait::binary)) CHECK(tensors == 2);
        if (op->has(trait::ternary)) CHECK(tensors == 3);
        if (op->has(trait::commutative)) CHECK(op->has(trait::binary));
    }
}

TEST_CASE("TOSA's broadcasting operators are its elementwise ones of two and three operands") {
    // The specification's sections 2.4, 2.6 and 2.7 define them; the flatbuffer numbers them without a gap.
    for (const op_info* op : op_table<tosa::dialect>) {
        INFO(std::string(op->name));
        const bool in_sections = (op->index >= index_of<tosa::add> && op->index <= index_of<tosa::sub>) ||
            (op->index >= index_of<tosa::select> && op->index <= index_of<tosa::greater_equal>);
        CHECK(op->has(trait::binary | trait::ternary) == in_sections);
    }
}
