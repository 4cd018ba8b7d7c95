// SPDX-License-Identifier: MIT
// Tests the lowerings of data movement: slices, splits, joins, paddings, reversals, permutations and copies.
#include <algorithm>

#include <catch2/catch.hpp>

#include <headrace/passes/legalize/shape.hpp>
#include <headrace/passes/legalize/slicing.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;

template <class Pass>
constexpr bool removes_its_targets = effects_of<Pass>::removed_set == effects_of<Pass>::target_set;
static_assert(removes_its_targets<legalize_slices>);
static_assert(removes_its_targets<legalize_splits>);
static_assert(removes_its_targets<legalize_concat>);
static_assert(removes_its_targets<legalize_pad>);
static_assert(removes_its_targets<legalize_flip>);
static_assert(removes_its_targets<legalize_permutes>);
static_assert(removes_its_targets<legalize_expand>);

/// One op with one input.
template <class Pass, class Op>
std::pmr::string compare(std::initializer_list<std::int64_t> shape, args<Op> a, dtype type = fp32) {
    return compare_runs<Pass>([&](program& p) {
        args<Op> b = a;
        if constexpr (requires { b.self; }) b.self = p.input(type, shape);
        node& n = p.make_node<Op>(b);
        for (std::uint32_t i = 0; i != n.result_count; ++i) p.output(n.result(i));
    });
}

}  // namespace

TEST_CASE("slices of any start, end and step") {
    for (const std::int64_t size : {1, 2, 5, 7, 12}) {
        for (const std::int64_t step : {1, 2, 3, 5, 20}) {
            for (const std::int64_t start : {-20, -3, -1, 0, 1, 4}) {
                for (const std::int64_t end : {-2, 3, 6, 100}) {
                    if (clamped_slice(start, end, size).count(step) == 0) continue;
                    CAPTURE(size, step, start, end);
                    CHECK(compare<legalize_slices, aten::slice_tensor>({2, size, 3},
                              {.self = {}, .dim = 1, .start = start, .end = end, .step = step}) == "");
                }
            }
        }
    }
    CHECK(compare<legalize_slices, aten::slice_tensor>({7}, {.self = {}, .dim = -1, .step = 3}) == "");
    CHECK(compare<legalize_slices, aten::slice_tensor>(
              {1, 2, 1, 3, 2, 5}, {.self = {}, .dim = 5, .step = 2}) == "");
}

TEST_CASE("a slice without elements is refused") {
    CHECK_THAT(
        [](program& p) {
            p.output(p.make<aten::slice_tensor>({.self = p.input(fp32, {4}), .start = 3, .end = 2}));
        },
        is_refused_by<legalize_slices>("a slice without elements"));
}

TEST_CASE("select and narrow") {
    CHECK(compare<legalize_slices, aten::select_int>({2, 3, 4}, {.self = {}, .dim = -2, .index = -1}) == "");
    CHECK(compare<legalize_slices, aten::select_int>(
              {4}, {.self = {}, .dim = 0, .index = 2}, dtype::boolean) == "");
    CHECK(compare<legalize_slices, aten::narrow>({2, 5}, {.self = {}, .dim = 1, .start = -3, .length = 2}) ==
        "");
}

TEST_CASE("splits") {
    CHECK(
        compare<legalize_splits, aten::split_tensor>({2, 7}, {.self = {}, .split_size = 3, .dim = 1}) == "");
    CHECK(compare<legalize_splits, aten::split_with_sizes>({7, 2}, {.self = {}, .split_sizes = {1, 4, 2}}) ==
        "");
    CHECK(compare<legalize_splits, aten::chunk>({2, 10}, {.self = {}, .chunks = 4, .dim = -1}) == "");
    CHECK(compare<legalize_splits, aten::tensor_split_sections>({10}, {.self = {}, .sections = 3}) == "");
    CHECK(compare<legalize_splits, aten::tensor_split_indices>({10}, {.self = {}, .indices = {2, 5}}) == "");
    CHECK(compare<legalize_splits, aten::unbind_int>({2, 3, 4}, {.self = {}, .dim = 1}) == "");
}

TEST_CASE("cat skips what is empty and promotes") {
    CHECK(compare_runs<legalize_concat>([](program& p) {
        const value parts[] = {p.input(fp32, {0}), p.input(fp32, {2, 3}), p.input(dtype::int32, {2, 1})};
        p.output(p.make<aten::cat>({.tensors = list<value>(parts, 3), .dim = -1}));
    }) == "");
    CHECK_THAT(
        [](program& p) {
            std::vector<value> parts(150, p.input(fp32, {1, 2}));
            p.output(p.make<aten::cat>({.tensors = list<value>(parts)}));
        },
        computes_the_same<legalize_concat>());
}

TEST_CASE("paddings of every mode") {
    for (const std::string_view mode : {"constant", "reflect", "replicate", "circular"}) {
        for (const int_list& pad : {int_list{1, 2}, int_list{2, 0, 1, 3}, int_list{-1, 2, 0, -2},
                 int_list{3, -1, 2, 2}, int_list{0, 0}}) {
            CAPTURE(mode, shape_text(pad));
            // Only "constant" can pad any axis; the other modes pad all except one or two.
            const bool is_line = mode != "constant" && pad.size() == 2;
            const args<aten::pad> a{.self = {}, .pad = pad, .mode = mode};
            CHECK((is_line ? compare<legalize_pad, aten::pad>({3, 5, 6}, a)
                           : compare<legalize_pad, aten::pad>({2, 3, 5, 6}, a)) == "");
        }
    }
    CHECK(compare<legalize_pad, aten::pad>({3}, {.self = {}, .pad = {1, 2}, .value = 2.5}) == "");
    CHECK(compare<legalize_pad, aten::constant_pad_nd>(
              {2, 3}, {.self = {}, .pad = {-1, 1, 2, -1}, .value = 7}, dtype::int32) == "");
    CHECK(compare<legalize_pad, aten::constant_pad_nd>(
              {2, 3}, {.self = {}, .pad = {1, 1}, .value = 1}, dtype::boolean) == "");
    CHECK(compare<legalize_pad, aten::reflection_pad2d>(
              {1, 2, 4, 5}, {.self = {}, .padding = {1, 2, 3, 0}}) == "");
    CHECK(compare<legalize_pad, aten::replication_pad1d>({2, 4}, {.self = {}, .padding = {3, 1}}) == "");
}

// PyTorch crops first, then wraps around the rest (_pad_circular_symint).
TEST_CASE("a circular padding that crops") {
    program p;
    p.output(p.make<aten::pad>({.self = p.input(fp32, {1, 4}), .pad = {-1, 2}, .mode = "circular"}));
    p.finish();
    pass_context context;
    REQUIRE(run_pass<legalize_pad>(p.g, context) == "");
    const tensor inputs[] = {tensor::of(fp32, {1, 4}, std::vector<double>{0, 1, 2, 3})};
    const auto results = run_graph(p.g, inputs);
    REQUIRE(results);
    CHECK(results.value()[0].to<double>() == std::vector<double>{1, 2, 3, 1, 2});
}

TEST_CASE("flip") {
    CHECK(compare<legalize_flip, aten::flip>({2, 3, 4}, {.self = {}, .dims = {0, -1}}) == "");
    CHECK(compare<legalize_flip, aten::flip>({1, 3}, {.self = {}, .dims = {0}}) == "");
}

TEST_CASE("permutations") {
    CHECK(compare<legalize_permutes, aten::permute>({2, 3, 4}, {.self = {}, .dims = {2, 0, -2}}) == "");
    CHECK(compare<legalize_permutes, aten::transpose_int>(
              {2, 3, 4, 5}, {.self = {}, .dim0 = 1, .dim1 = -1}) == "");
    CHECK(compare<legalize_permutes, aten::t>({2, 3}, {}) == "");
    CHECK(compare<legalize_permutes, aten::t>({3}, {}) == "");
    CHECK(compare<legalize_permutes, aten::movedim_int>(
              {2, 3, 4}, {.self = {}, .source = 0, .destination = -1}) == "");
    CHECK(compare<legalize_permutes, aten::movedim_intlist>(
              {2, 3, 4, 5}, {.self = {}, .source = {3, 0}, .destination = {0, 2}}) == "");
    SECTION("ranks above TOSA's") {
        const std::int64_t dims[] = {0, 3, 4, 1, 2, 6, 5};
        CHECK(compare<legalize_permutes, aten::permute>(
                  {2, 3, 2, 2, 3, 2, 2}, {.self = {}, .dims = int_list(sizes(dims))}) == "");
        const std::int64_t ones[] = {7, 0, 1, 3, 2, 5, 4, 6};
        CHECK(compare<legalize_permutes, aten::permute>(
                  {2, 3, 1, 2, 1, 2, 3, 2}, {.self = {}, .dims = int_list(sizes(ones))}) == "");
    }
    SECTION("only axes of size 1 move") {
        program p;
        p.output(p.make<aten::permute>({.self = p.input(fp32, {1, 3, 1, 4}), .dims = {1, 0, 3, 2}}));
        p.finish();
        pass_context context;
        REQUIRE(run_pass<legalize_permutes>(p.g, context) == "");
        CHECK(count_of<tosa::transpose>(p.g) == 0);
        CHECK(count_of<tosa::reshape>(p.g) == 1);
    }
}

TEST_CASE("copies") {
    CHECK(compare<legalize_expand, aten::expand>({3, 1}, {.self = {}, .size = {2, -1, 4}}) == "");
    CHECK(compare<legalize_expand, aten::expand>({}, {.self = {}, .size = {2, 2}}) == "");
    CHECK(compare<legalize_expand, aten::repeat>({2, 3}, {.self = {}, .repeats = {2, 1, 3}}) == "");
    CHECK(compare<legalize_expand, aten::repeat>({2}, {.self = {}, .repeats = {1}}, dtype::boolean) == "");
    CHECK(compare<legalize_expand, aten::tile>({2, 3}, {.self = {}, .dims = {2}}) == "");
}
