// SPDX-License-Identifier: MIT
// Tests the lowerings of indexing: gather, index_select, embedding, x[indices], scatter, index_put, one_hot.
#include <limits>
#include <numeric>

#include <catch2/catch.hpp>

#include <headrace/passes/legalize/gather_scatter.hpp>
#include <headrace/passes/legalize/tensor_indices.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;
constexpr dtype i32 = dtype::int32;
using shape_list = std::initializer_list<std::int64_t>;

template <class Pass>
constexpr bool removes_its_targets = effects_of<Pass>::removed_set == effects_of<Pass>::target_set;
static_assert(removes_its_targets<legalize_gather> && removes_its_targets<legalize_scatter>);
static_assert(removes_its_targets<legalize_index> && removes_its_targets<legalize_index_put>);
static_assert(removes_its_targets<legalize_one_hot>);

/// Returns distinct integers in [low, high), one for each element of the shape.
tensor different(extents shape, std::int64_t low, std::int64_t high, unsigned seed = 3) {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(high - low));
    std::iota(numbers.begin(), numbers.end(), low);
    std::shuffle(numbers.begin(), numbers.end(), std::mt19937(seed));
    numbers.resize(static_cast<std::size_t>(eval::elements_in(shape)));
    return tensor::of(i32, std::move(shape), numbers);
}
tensor any_of(extents shape, std::int64_t low, std::int64_t high) {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(eval::elements_in(shape)));
    std::mt19937 random(5);
    for (auto& n : numbers) n = std::uniform_int_distribution<std::int64_t>(low, high - 1)(random);
    return tensor::of(i32, std::move(shape), numbers);
}
tensor floats(extents shape) {
    std::mt19937 random(9);
    const tensor_meta meta{fp32, int_list(sizes(shape)), {}};
    return random_tensor(random, meta);
}

/// x[indices], with the indices as inputs of those shapes; {-1} means None.
std::pmr::string compare_index(shape_list shape, std::vector<std::optional<extents>> indices) {
    std::vector<tensor> inputs{floats(shape)};
    for (std::size_t i = 0; i != indices.size(); ++i) {
        const std::int64_t size = std::data(shape)[i];
        if (indices[i]) inputs.push_back(any_of(*indices[i], -size, size));
    }
    return compare_runs<legalize_index>(
        [&](program& p) {
            const value x = p.input(fp32, shape);
            std::vector<std::optional<value>> given;
            for (const auto& index : indices) {
                given.push_back(std::nullopt);
                if (!index) continue;
                given.back() = p.input(i32, {});
                p.g.set_meta(*given.back(), {i32, int_list(sizes(*index)), {}});
            }
            p.output(p.make<aten::index_tensor>(
                {.self = x, .indices = list<std::optional<value>>(given.data(), given.size())}));
        },
        inputs);
}

}  // namespace

TEST_CASE("index_select and embedding") {
    for (const std::int64_t dim : {0, 1, -1}) {
        CHECK_THAT(
            [&](program& p) {
                const value x = p.input(fp32, {3, 4, 5});
                p.output(p.make<aten::index_select>({.self = x, .dim = dim, .index = p.input(i32, {7})}));
            },
            computes_the_same<legalize_gather>().for_inputs({floats({3, 4, 5}), any_of({7}, 0, 3)}));
    }
    CHECK_THAT(
        [&](program& p) {
            const value x = p.input(dtype::boolean, {3, 4});
            p.output(p.make<aten::index_select>(
                {.self = x, .dim = 1, .index = p.constant<std::int32_t>(i32, {2}, {3, 0})}));
        },
        computes_the_same<legalize_gather>());
    CHECK_THAT(
        [&](program& p) {
            const value w = p.input(fp32, {6, 4});
            p.output(p.make<aten::embedding>({.weight = w, .indices = p.input(i32, {2, 3})}));
        },
        computes_the_same<legalize_gather>().for_inputs({floats({6, 4}), any_of({2, 3}, 0, 6)}));
}

TEST_CASE("gather along any axis, of part of the others") {
    for (const std::int64_t dim : {0, 1, 2}) {
        for (const shape_list shape :
            {shape_list{3, 4, 5}, shape_list{2, 2, 2}, shape_list{1, 4, 5}, shape_list{3, 1, 2}}) {
            CAPTURE(dim, shape_text(sizes(std::data(shape), 3)));
            CHECK_THAT(
                [&](program& p) {
                    const value x = p.input(fp32, {3, 4, 5});
                    p.output(p.make<aten::gather>({.self = x, .dim = dim, .index = p.input(i32, shape)}));
                },
                computes_the_same<legalize_gather>().for_inputs({floats({3, 4, 5}), any_of(shape, 0, 3)}));
        }
    }
    CHECK_THAT(
        [&](program& p) {
            const value x = p.input(fp32, {});
            p.output(p.make<aten::gather>({.self = x, .dim = 0, .index = p.input(i32, {})}));
        },
        computes_the_same<legalize_gather>().for_inputs({floats({}), any_of({}, 0, 1)}));
}

TEST_CASE("x[indices]") {
    CHECK(compare_index({5}, {extents{3}}) == "");
    CHECK(compare_index({5}, {extents{2, 3, 2}}) == "");
    CHECK(compare_index({5, 4}, {extents{}}) == "");
    CHECK(compare_index({3, 4, 5}, {extents{2}, extents{2}}) == "");
    CHECK(compare_index({3, 4, 5}, {extents{2, 1}, extents{3}, extents{1, 1}}) == "");
    CHECK(compare_index({3, 4, 5}, {std::nullopt, extents{2, 3}}) == "");
    CHECK(compare_index({3, 4, 5, 2}, {std::nullopt, extents{4}, extents{1}, std::nullopt}) == "");
    CHECK(compare_index({3, 4, 5}, {extents{2}, std::nullopt, extents{2}}) == "");
    CHECK(compare_index({2, 3, 4, 5}, {std::nullopt, extents{2}, std::nullopt, extents{3, 1}}) == "");
}

TEST_CASE("scatter and index_copy") {
    CHECK_THAT(
        [](program& p) {
            const value x = p.input(fp32, {3, 5});
            const value index = p.input(i32, {2, 3});
            p.output(p.make<aten::scatter_src>(
                {.self = x, .dim = 1, .index = index, .src = p.input(fp32, {3, 4})}));
        },
        computes_the_same<legalize_scatter>().for_inputs(
            {floats({3, 5}), tensor::of(i32, {2, 3}, std::vector<int>{0, 4, 2, 1, 3, 0}), floats({3, 4})}));
    CHECK_THAT(
        [](program& p) {
            const value x = p.input(fp32, {5, 2, 3});
            p.output(p.make<aten::scatter_value>(
                {.self = x, .dim = 0, .index = p.input(i32, {2, 1, 2}), .value = 2.5}));
        },
        computes_the_same<legalize_scatter>().for_inputs(
            {floats({5, 2, 3}), tensor::of(i32, {2, 1, 2}, std::vector<int>{0, 4, 3, 1})}));
    for (const std::int64_t dim : {0, 1, 2}) {
        CHECK_THAT(
            [&](program& p) {
                const value x = p.input(fp32, {4, 4, 4});
                const value index = p.input(i32, {3});
                const value source = p.make<aten::narrow>({.self = x, .dim = dim, .start = 1, .length = 3});
                p.output(p.make<aten::index_copy>({.self = x, .dim = dim, .index = index, .source = source}));
            },
            computes_the_same<legalize_scatter>().for_inputs({floats({4, 4, 4}), different({3}, 0, 4)}));
    }
}

TEST_CASE("adding at indices that repeat") {
    const auto add = [](std::int64_t dim, dtype type) {
        return compare_runs<legalize_scatter>([=](program& p) {
            const value x = p.input(type, {4, 3, 2});
            const value index = p.constant<std::int32_t>(i32, {3}, {1, 0, 1});
            const value part = p.make<aten::index_select>({.self = x, .dim = dim, .index = index});
            p.output(
                p.make<aten::index_add>({.self = x, .dim = dim, .index = index, .source = part, .alpha = 2}));
        });
    };
    for (const dtype type : {fp32, i32}) {
        CHECK(add(0, type) == "");
        CHECK(add(1, type) == "");
        CHECK(add(2, type) == "");
    }
    for (const shape_list shape : {shape_list{3, 4, 5}, shape_list{2, 6, 3}}) {
        for (const std::int64_t dim : {0, 1, 2}) {
            CHECK_THAT(
                [&](program& p) {
                    const value x = p.input(fp32, {3, 4, 5});
                    const value index = p.input(i32, {2, 3, 3});
                    p.output(p.make<aten::scatter_add>(
                        {.self = x, .dim = dim, .index = index, .src = p.input(fp32, shape)}));
                },
                computes_the_same<legalize_scatter>().for_inputs(
                    {floats({3, 4, 5}), any_of({2, 3, 3}, 0, 3), floats(shape)}));
        }
    }
}

TEST_CASE("numbers are indexed as the one element of an axis") {
    const auto number = [](program& p, dtype type, bool is_list) {
        return is_list ? p.input(type, {1}) : p.input(type, {});
    };
    for (const auto& [self, index, source] :
        {std::array{false, true, false}, {true, false, true}, {false, false, true}}) {
        CAPTURE(self, index, source);
        const auto written = [=](program& p) {
            const value x = number(p, fp32, self);
            const value at = number(p, i32, index);
            const value from = number(p, fp32, source);
            p.output(p.make<aten::scatter_src>({.self = x, .dim = 0, .index = at, .src = from}));
            p.output(p.make<aten::scatter_add>({.self = x, .dim = 0, .index = at, .src = from}));
        };
        const auto one = [](bool is_list) { return is_list ? extents{1} : extents{}; };
        CHECK_THAT(written,
            computes_the_same<legalize_scatter>().for_inputs(
                {floats(one(self)), any_of(one(index), 0, 1), floats(one(source))}));
        CHECK_THAT(
            [=](program& p) {
                const value x = number(p, fp32, self);
                p.output(p.make<aten::gather>({.self = x, .dim = 0, .index = number(p, i32, index)}));
            },
            computes_the_same<legalize_gather>().for_inputs({floats(one(self)), any_of(one(index), 0, 1)}));
    }
}

TEST_CASE("an infinity is added to its own row alone") {
    const double infinity = std::numeric_limits<double>::infinity();
    CHECK_THAT(
        [](program& p) {
            const value x = p.input(fp32, {3});
            p.output(p.make<aten::index_add>(
                {.self = x, .dim = 0, .index = p.input(i32, {2}), .source = p.input(fp32, {2})}));
        },
        computes_the_same<legalize_scatter>().for_inputs(
            {floats({3}), tensor::of(i32, {2}, std::vector<int>{1, 1}),
                tensor::of(fp32, {2}, std::vector<double>{infinity, 1})}));
}

TEST_CASE("index_put") {
    const auto put = [](bool accumulate, bool first, bool last, std::initializer_list<std::int64_t> values) {
        std::vector<tensor> inputs{floats({5, 3, 4})};
        if (first) inputs.push_back(different({2}, 0, 5));
        if (last) inputs.push_back(different({2}, -4, 0));
        inputs.push_back(floats(values));
        return compare_runs<legalize_index_put>(
            [=](program& p) {
                const value x = p.input(fp32, {5, 3, 4});
                std::optional<value> indices[3];
                if (first) indices[0] = p.input(i32, {2});
                if (last) indices[2] = p.input(i32, {2});
                const value v = p.input(fp32, values);
                p.output(p.make<aten::index_put>({.self = x,
                    .indices = list<std::optional<value>>(indices, 3),
                    .values = v,
                    .accumulate = accumulate}));
            },
            inputs);
    };
    for (const bool accumulate : {false, true}) {
        CHECK(put(accumulate, true, false, {2, 3, 4}) == "");
        CHECK(put(accumulate, true, false, {4}) == "");
        CHECK(put(accumulate, false, true, {5, 3, 2}) == "");
        CHECK(put(accumulate, true, true, {2, 3}) == "");
        CHECK(put(accumulate, true, true, {}) == "");
    }
}

TEST_CASE("index_put with constants") {
    const auto put = [](std::initializer_list<std::int32_t> rows, bool accumulate) {
        return [=](program& p) {
            const value x = p.input(fp32, {4, 2});
            const std::optional<value> indices[] = {p.constant<std::int32_t>(i32, {3}, rows)};
            const value v = p.input(fp32, {3, 2});
            p.output(p.make<aten::index_put>({.self = x,
                .indices = list<std::optional<value>>(indices, 1),
                .values = v,
                .accumulate = accumulate}));
        };
    };
    CHECK_THAT(put({0, 2, -1}, false), computes_the_same<legalize_index_put>());
    CHECK_THAT(put({0, 2, -1}, true), computes_the_same<legalize_index_put>());
    CHECK_THAT(put({0, 3, -1}, true), computes_the_same<legalize_index_put>());
    CHECK_THAT(put({0, 3, -1}, false), is_refused_by<legalize_index_put>("an index is named twice"));
}

TEST_CASE("index_put with a mask") {
    for (const bool accumulate : {false, true}) {
        CHECK_THAT(
            [=](program& p) {
                const value x = p.input(fp32, {4, 3});
                const std::optional<value> indices[] = {p.input(dtype::boolean, {4, 3})};
                const value v = p.input(fp32, {});
                p.output(p.make<aten::index_put>({.self = x,
                    .indices = list<std::optional<value>>(indices, 1),
                    .values = v,
                    .accumulate = accumulate}));
            },
            computes_the_same<legalize_index_put>());
        CHECK_THAT(
            [=](program& p) {
                const value x = p.input(fp32, {4, 3});
                const std::optional<value> indices[] = {p.input(dtype::boolean, {4})};
                const value v = p.input(fp32, {1, 3});
                p.output(p.make<aten::index_put>({.self = x,
                    .indices = list<std::optional<value>>(indices, 1),
                    .values = v,
                    .accumulate = accumulate}));
            },
            computes_the_same<legalize_index_put>());
        CHECK_THAT(
            [=](program& p) {
                const value x = p.input(fp32, {4, 3});
                const std::optional<value> indices[] = {
                    p.constant<std::uint8_t>(dtype::boolean, {4}, {1, 0, 1, 0})};
                const value v = p.input(fp32, {2, 3});
                p.output(p.make<aten::index_put>({.self = x,
                    .indices = list<std::optional<value>>(indices, 1),
                    .values = v,
                    .accumulate = accumulate}));
            },
            computes_the_same<legalize_index_put>());
    }
}

TEST_CASE("index_put with more values than a constant mask selects is refused") {
    CHECK_THAT(
        [](program& p) {
            const value x = p.input(fp32, {4});
            const std::optional<value> indices[] = {
                p.constant<std::uint8_t>(dtype::boolean, {4}, {0, 1, 0, 0})};
            p.output(p.make<aten::index_put>({.self = x,
                .indices = list<std::optional<value>>(indices, 1),
                .values = p.input(fp32, {3})}));
        },
        is_refused_by<legalize_index_put>("values [3] do not broadcast to [1]"));
}

TEST_CASE("booleans are numbers in GATHER and SCATTER, and booleans again") {
    constexpr dtype boolean = dtype::boolean;
    for (const char* target : {"TOSA-1.0+FP", "TOSA-1.0+INT"}) {
        CAPTURE(target);
        const auto with_indices = [&](auto&& use) {
            return [=](program& p) {
                p.g.set_target(*parse_target(target));
                const value x = p.input(boolean, {4, 2});
                p.output(use(p, x, p.constant<std::int32_t>(i32, {2}, {3, 1})));
            };
        };
        CHECK_THAT(with_indices([](program& p, value x, value index) {
            const std::optional<value> indices[] = {index};
            return p.make<aten::index_tensor>({.self = x, .indices = list<std::optional<value>>(indices, 1)});
        }),
            computes_the_same<legalize_index>());
        CHECK_THAT(with_indices([](program& p, value x, value index) {
            const value source = p.input(boolean, {2, 2});
            return p.make<aten::index_copy>({.self = x, .dim = 0, .index = index, .source = source});
        }),
            computes_the_same<legalize_scatter>());
        CHECK_THAT(with_indices([](program& p, value x, value index) {
            const std::optional<value> indices[] = {index};
            return p.make<aten::index_put>({.self = x,
                .indices = list<std::optional<value>>(indices, 1),
                .values = p.input(boolean, {2, 2})});
        }),
            computes_the_same<legalize_index_put>());
    }
}

TEST_CASE("index_put with integers that may count from the end") {
    CHECK_THAT(
        [](program& p) {
            p.g.set_target(*parse_target("TOSA-1.0+INT"));
            const value x = p.input(i32, {5, 2});
            const std::optional<value> indices[] = {p.input(i32, {2})};
            p.output(p.make<aten::index_put>({.self = x,
                .indices = list<std::optional<value>>(indices, 1),
                .values = p.input(i32, {2, 2})}));
        },
        computes_the_same<legalize_index_put>().for_inputs(
            {any_of({5, 2}, -9, 9), tensor::of(i32, {2}, std::vector<int>{-1, 2}), any_of({2, 2}, -9, 9)}));
}

TEST_CASE("one_hot") {
    CHECK_THAT(
        [](program& p) {
            p.output(p.make<aten::one_hot>({.self = p.input(i32, {2, 3}), .num_classes = 5}));
        },
        computes_the_same<legalize_one_hot>().for_inputs({any_of({2, 3}, 0, 5)}));
}
