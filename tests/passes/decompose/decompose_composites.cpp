// SPDX-License-Identifier: MIT
// Tests the decompositions of composite functions against numbers from PyTorch 2.15: their kernels run the
// decompositions, so comparing results before and after would prove nothing.
#define HEADRACE_DEFINES_PASSES  // this file runs them one by one

#include <array>
#include <limits>
#include <optional>
#include <vector>

#include <catch2/catch.hpp>

#include <headrace/passes/decompose/activations.hpp>
#include <headrace/passes/decompose/arithmetic.hpp>
#include <headrace/passes/decompose/comparisons.hpp>
#include <headrace/passes/decompose/convolution.hpp>
#include <headrace/passes/decompose/indexing.hpp>
#include <headrace/passes/decompose/losses.hpp>
#include <headrace/passes/decompose/matmul.hpp>
#include <headrace/passes/decompose/normalization.hpp>
#include <headrace/passes/decompose/norms.hpp>
#include <headrace/passes/decompose/pooling.hpp>
#include <headrace/passes/decompose/powers.hpp>
#include <headrace/passes/decompose/products.hpp>
#include <headrace/passes/decompose/rearrangements.hpp>
#include <headrace/passes/decompose/recurrent.hpp>
#include <headrace/passes/decompose/resampling.hpp>
#include <headrace/passes/decompose/scans.hpp>
#include <headrace/passes/decompose/scatter.hpp>
#include <headrace/passes/decompose/searches.hpp>
#include <headrace/passes/decompose/sorting.hpp>
#include <headrace/passes/decompose/special.hpp>
#include <headrace/passes/decompose/statistics.hpp>
#include <headrace/passes/decompose/tables.hpp>
#include <headrace/passes/decompose/trigonometric.hpp>
#include <headrace/passes/npu/convolution_groups.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan_ = std::numeric_limits<double>::quiet_NaN();
using numbers = std::vector<double>;

tensor floats(const extents& shape, const numbers& n) { return tensor::of(dtype::float32, shape, n); }
tensor integers(const extents& shape, const numbers& n) { return tensor::of(dtype::int64, shape, n); }
tensor flags(const extents& shape, const numbers& n) { return tensor::of(dtype::boolean, shape, n); }

const tensor x = floats({2, 3}, {0.5, -1.25, 2, 1.5, 0.25, -0.75});
const tensor y = floats({2, 3}, {-0.5, 0.75, 1, 2.5, -1, 0.5});
const tensor p = floats({2, 3}, {0.25, 0.5, 0.875, 0.125, 0.75, 0.5});
const tensor q = floats({2, 3}, {0.5, 0.25, 1, 0, 0.5, 0.75});
const tensor weight = floats({3}, {1, 2, 3});

/// Describes how the results of `Op` after the pass differ from the numbers; empty if they do not.
/// `make(values)` returns its arguments.
template <class Pass, op_tag Op, class Make>
std::pmr::string fault(std::vector<tensor> inputs, const Make& make, const std::vector<numbers>& expected) {
    const auto build = [&](program& prog) {
        std::vector<value> values;
        for (const tensor& t : inputs) values.push_back(prog.input(t.type(), int_list(sizes(t.shape()))));
        node& n = prog.make_node<Op>(make(values));
        for (std::uint32_t i = 0; i != expected.size(); ++i) prog.output(n.result(i));
    };
    if (std::pmr::string changed = compare_runs<Pass>(build, inputs); !changed.empty()) return changed;
    program prog;
    const graph& g = lowered<Pass>(prog, build);
    const auto results = run_graph(g, inputs);
    if (!results) return results.error().message;
    for (std::size_t i = 0; i != expected.size(); ++i) {
        const tensor& t = results.value()[i];
        const tensor wanted = tensor::of(dtype::float64, t.shape(), expected[i]);
        if (static_cast<std::size_t>(t.size()) != expected[i].size()) return "another number of elements";
        const std::pmr::string difference = tensor_difference(wanted, t, 2e-6);
        if (!difference.empty()) return difference;
    }
    return {};
}
template <class Pass, op_tag Op, class Make>
void gives(std::vector<tensor> inputs, const Make& make, const std::vector<numbers>& expected) {
    INFO(Op::name);
    CHECK(fault<Pass, Op>(std::move(inputs), make, expected) == "");
}
// Arguments after the given ones keep their defaults.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/// Checks an op whose arguments begin with its operands, in order, and the given further ones.
template <class Pass, op_tag Op, class... More>
void gives_numbers(std::vector<tensor> inputs, numbers expected, More... more) {
    const auto make = [&](const std::vector<value>& v) {
        if constexpr (requires(value a) { args<Op>{a, a, a, more...}; }) {
            if (v.size() == 3) return args<Op>{v[0], v[1], v[2], more...};
        }
        if constexpr (requires(value a) { args<Op>{a, a, more...}; }) {
            if (v.size() == 2) return args<Op>{v[0], v[1], more...};
        }
        if constexpr (requires(value a) { args<Op>{a, more...}; }) {
            if (v.size() == 1) return args<Op>{v[0], more...};
        }
        return args<Op>{};
    };
    gives<Pass, Op>(std::move(inputs), make, {std::move(expected)});
}

}  // namespace

TEST_CASE("losses of elements") {
    using P = decompose_losses;
    constexpr std::int64_t none = 0, mean = 1, sum = 2;
    gives_numbers<P, aten::mse_loss>({x, y}, {1.6875}, mean);
    gives_numbers<P, aten::l1_loss>({x, y}, {1, 2, 1, 1, 1.25, 1.25}, none);
    gives_numbers<P, aten::smooth_l1_loss>({x, y}, {6}, sum, 0.5);
    gives_numbers<P, aten::huber_loss>({x, y}, {0.65625}, mean, 0.75);
    gives_numbers<P, aten::soft_margin_loss>({x, floats({2, 3}, {-1, 1, 1, 1, -1, 1})}, {0.7945262}, mean);
    gives_numbers<P, aten::binary_cross_entropy>({p, q}, {0.5545556}, std::nullopt, mean);
    gives<P, aten::binary_cross_entropy_with_logits>({x, q, weight},
        [](const auto& v) {
            return args<aten::binary_cross_entropy_with_logits>{
                .self = v[0], .target = v[1], .pos_weight = v[2]};
        },
        {{1.2316287}});
    gives_numbers<P, aten::kl_div>({x, q}, {-2.7554822}, sum, false);
    gives_numbers<P, aten::poisson_nll_loss>(
        {x, floats({2, 3}, {0, 2, 3, 1, 4, 0.5})}, {2.5850856}, true, true, 1e-8, mean);
    const tensor sides = floats({2, 3}, {1, -1, 1, -1, 1, -1});
    gives_numbers<P, aten::margin_ranking_loss>({x, y, sides}, {1.75}, 3.0, mean);
    gives_numbers<P, aten::hinge_embedding_loss>({x, sides}, {1.125}, 1.0, mean);
    gives_numbers<P, aten::cosine_embedding_loss>({x, y, floats({2}, {1, -1})}, {0.7113266}, 0.0, mean);
    const tensor m = integers({3}, {1, 7, -5});
    const tensor n = integers({3}, {-1, 1, -1});
    gives_numbers<P, aten::l1_loss>({m, integers({3}, {3, 16777217, -4})}, {2, 16777210, 1}, none);
    gives_numbers<P, aten::l1_loss>({m, integers({3}, {3, 16777217, -4})}, {16777213}, sum);
    gives_numbers<P, aten::hinge_embedding_loss>({m, n}, {1, 7, 7}, 2.9, none);
    const tensor half = floats({2, 3}, {0.25, -0.625, 1, 0.75, 0.125, -0.375});
    gives_numbers<P, aten::triplet_margin_loss>({x, y, half}, {2.213625}, 1.0, 2.0, 1e-6, true, mean);
}

TEST_CASE("losses of classes") {
    using P = decompose_class_losses;
    const tensor t = integers({2}, {2, 0});
    gives_numbers<P, aten::nll_loss_nd>({x, t}, {-1.75});
    gives_numbers<P, aten::nll_loss_nd>(
        {x, integers({2}, {2, 1}), weight}, {-2}, std::int64_t{1}, std::int64_t{1});
    gives_numbers<P, aten::cross_entropy_loss>({x, t}, {0.2816473});
    gives_numbers<P, aten::cross_entropy_loss>(
        {x, t, weight}, {0.6226377}, std::int64_t{1}, std::int64_t{-100}, 0.25);
    gives_numbers<P, aten::cross_entropy_loss>({x, q}, {2.3477147});
    const tensor named = integers({2, 3}, {2, 0, -1, 1, -1, 2});
    gives_numbers<P, aten::multilabel_margin_loss>({x, named}, {0, 0.75}, std::int64_t{0});
    gives_numbers<P, aten::multilabel_margin_loss>({x, named}, {0.375});
    gives_numbers<P, aten::multilabel_margin_loss>({x, named}, {0.75}, std::int64_t{2});
    gives_numbers<P, aten::multi_margin_loss>({x, integers({2}, {0, 1})}, {1.8854166}, scalar(2), scalar(1));
    gives<P, aten::nll_loss_forward>({x, t},
        [](const auto& v) {
            return args<aten::nll_loss_forward>{v[0], v[1], std::nullopt, 1, -100};
        },
        {{-1.75}, {2}});
}

TEST_CASE("distances and norms") {
    using P = decompose_distances;
    gives_numbers<P, aten::pairwise_distance>({x, y}, {2.4494898, 2.0310092});
    gives_numbers<P, aten::cdist>({x, y}, {4, 3.75, 4.25, 3.5}, 1.0);
    gives_numbers<P, aten::cdist>({x, y}, {2.4494898, 2.5124688, 2.7041636, 2.0310097});
    gives_numbers<P, aten::cdist>({x, y}, {2.4494898, 2.5124688, 2.7041636, 2.0310097}, 2.0, std::int64_t{1});
    gives_numbers<P, aten::pdist>(
        {floats({4, 3}, {0.5, -1.25, 2, 1.5, 0.25, -0.75, -0.5, 0.75, 1, 2.5, -1, 0.5})},
        {3.2882366, 2.4494898, 2.5124688, 2.7041636, 2.0310097, 3.5089171});
    gives_numbers<P, aten::dist>({x, y}, {2.4610634}, scalar(3));
    gives_numbers<P, aten::isclose>(
        {floats({3}, {1, 2, nan_}), floats({3}, {1.000001, 2.1, nan_})}, {1, 0, 0});
    gives_numbers<P, aten::renorm>(
        {x}, {0.4147807, -1.0369517, 1.6591227, 1.5, 0.25, -0.75}, scalar(2), std::int64_t{0}, scalar(2));
    gives_numbers<P, aten::renorm>(
        {x}, {0.375, -1.25, 1.0909091, 1.125, 0.25, -0.4090909}, scalar(1), std::int64_t{1}, scalar(1.5));
    gives_numbers<P, aten::linalg_norm>({x}, {2.75}, scalar(1));
    gives_numbers<P, aten::linalg_matrix_norm>({x}, {3.75}, scalar(infinity));
    gives_numbers<P, aten::linalg_matrix_norm_str_ord>({x}, {2.9474565});
}

TEST_CASE("diagonals made and taken") {
    using P = decompose_diagonals;
    gives_numbers<P, aten::diag_embed>({x},
        {0, 0.5, 0, 0, 0, 1.5, 0, 0, 0, 0, -1.25, 0, 0, 0, 0.25, 0, 0, 0, 0, 2, 0, 0, 0, -0.75, 0, 0, 0, 0, 0,
            0, 0, 0},
        std::int64_t{1}, std::int64_t{0}, std::int64_t{2});
    gives_numbers<P, aten::diag>({floats({2}, {1, 2})}, {0, 0, 0, 1, 0, 0, 0, 2, 0}, std::int64_t{-1});
    gives_numbers<P, aten::diag>({x}, {0.5, 0.25});
    gives_numbers<P, aten::diagonal_scatter>(
        {floats({2, 3}, {0, 0, 0, 0, 0, 0}), floats({2}, {5, 6})}, {0, 5, 0, 0, 0, 6}, std::int64_t{1});
    gives_numbers<P, aten::trace>({x}, {0.75});
    gives_numbers<P, aten::atleast_3d>({floats({2}, {1, 2})}, {1, 2});
    const auto both = [](auto op, const auto& v) { return args<decltype(op)>{list<value>(v)}; };
    gives<P, aten::block_diag>({x, floats({2}, {7, 8})},
        [&](const auto& v) { return both(aten::block_diag{}, v); },
        {{0.5, -1.25, 2, 0, 0, 1.5, 0.25, -0.75, 0, 0, 0, 0, 0, 7, 8}});
    gives<P, aten::block_diag>({x, integers({2}, {7, 8})},
        [&](const auto& v) { return both(aten::block_diag{}, v); },
        {{0.5, -1.25, 2, 0, 0, 1.5, 0.25, -0.75, 0, 0, 0, 0, 0, 7, 8}});
    gives<P, aten::cartesian_prod>({floats({2}, {1, 2}), floats({3}, {3, 4, 5})},
        [&](const auto& v) { return both(aten::cartesian_prod{}, v); },
        {{1, 3, 1, 4, 1, 5, 2, 3, 2, 4, 2, 5}});
}

TEST_CASE("products") {
    using P = decompose_products;
    gives_numbers<P, aten::inner>({x, y}, {0.8125, 3.5, -1.3125, 3.125});
    gives_numbers<P, aten::tensordot>(
        {x, y}, {3.5, -1.125, 1.25, 1.25, -1.1875, -1.125, -2.875, 2.25, 1.625}, int_list{0}, int_list{0});
    gives_numbers<P, aten::kron>(
        {floats({2}, {1, 2}), x}, {0.5, -1.25, 2, 1, -2.5, 4, 1.5, 0.25, -0.75, 3, 0.5, -1.5});
    gives_numbers<P, aten::linalg_cross>({x, y}, {-2.75, -1.5, -0.25, -0.625, -2.625, -2.125});
    numbers tenths;
    for (int i = 0; i != 18; ++i) tenths.push_back(i / 10.0);
    gives_numbers<P, aten::bilinear>({x, y, floats({2, 3, 3}, tenths)}, {1.375, 2.78125, -0.75, 1.05});
    gives_numbers<P, aten::linalg_vander>({floats({3}, {2, -1, 0.5})}, {1, 2, 4, 1, -1, 1, 1, 0.5, 0.25});
    gives_numbers<P, aten::vander>(
        {integers({2}, {2, -1})}, {8, 4, 2, 1, -1, 1, -1, 1}, std::optional<std::int64_t>(4));
    gives_numbers<P, aten::vander>(
        {floats({2}, {2, -1})}, {1, 2, 4, 1, -1, 1}, std::optional<std::int64_t>(3), true);
    gives_numbers<P, aten::cov>({x}, {2.6458335, -0.7395834, -0.7395834, 1.2708333});
    gives_numbers<P, aten::corrcoef>({floats({2, 3}, {1, 2, 4, 3, -1, 0})}, {1, -0.5765566, -0.5765566, 1});
    gives_numbers<P, aten::linalg_matrix_power>(
        {floats({2, 2}, {1, 2, 0.5, -1})}, {2, 4, 1, -2}, std::int64_t{3});
    gives<P, aten::linalg_multi_dot>({floats({1, 2}, {1, 2}), x, floats({3}, {1, 0, 1})},
        [](const auto& v) { return args<aten::linalg_multi_dot>{list<value>(v)}; }, {{4.0}});
}

TEST_CASE("searches and selections") {
    using P = decompose_searches;
    const tensor limits = floats({3}, {-1, 0, 1});
    const tensor tried = floats({5}, {-2, 0, 0.5, 9, nan_});
    gives_numbers<P, aten::isin_tensor_tensor>(
        {integers({4}, {1, 5, 3, 0}), integers({2}, {3, 1})}, {1, 0, 1, 0});
    gives_numbers<P, aten::bucketize_tensor>({tried, limits}, {0, 1, 2, 3, 3});
    gives_numbers<P, aten::bucketize_tensor>({tried, limits}, {0, 2, 2, 3, 3}, false, true);
    gives_numbers<P, aten::searchsorted_tensor>({limits, tried}, {0, 1, 2, 3, 3});
    gives_numbers<P, aten::take>({x, integers({3}, {0, -1, 4})}, {0.5, -0.75, 0.25});
    gives_numbers<P, aten::take_along_dim>({x, integers({2, 1}, {2, 0})}, {2, 1.5}, std::int64_t{1});
    gives_numbers<P, aten::max_unpool2d>(
        {floats({1, 1, 2}, {5, 7}), tensor::of(dtype::int64, {1, 1, 2}, numbers{3, 0})}, {7, 0, 0, 5},
        int_list{2, 2});
    gives_numbers<P, aten::masked_scatter>({x, flags({3}, {1, 0, 1}), y}, {-0.5, -1.25, 0.75, 1, 0.25, 2.5});
}

TEST_CASE("splits along the axis that the name says") {
    using P = decompose_searches;
    gives<P, aten::hsplit_int>({floats({2, 4}, {0, 1, 2, 3, 4, 5, 6, 7})},
        [](const auto& v) {
            return args<aten::hsplit_int>{v[0], 2};
        },
        {{0, 1, 4, 5}, {2, 3, 6, 7}});
    gives<P, aten::vsplit_array>({x},
        [](const auto& v) {
            return args<aten::vsplit_array>{v[0], {1}};
        },
        {{0.5, -1.25, 2}, {1.5, 0.25, -0.75}});
}

TEST_CASE("running extrema and ranks") {
    using P = decompose_extrema;
    const auto along = [](auto op, std::int64_t dim) {
        return [dim](const auto& v) { return args<decltype(op)>{v[0], dim}; };
    };
    gives<P, aten::cummax>({floats({6}, {1, 3, 3, 2, nan_, 5})}, along(aten::cummax{}, 0),
        {{1, 3, 3, 3, nan_, nan_}, {0, 1, 2, 2, 4, 4}});
    gives<P, aten::cummin>(
        {integers({5}, {3, 1, 2, 1, 0})}, along(aten::cummin{}, 0), {{3, 1, 1, 1, 0}, {0, 1, 1, 3, 4}});
    gives_numbers<P, aten::logcumsumexp>(
        {floats({4}, {100, 1, -200, 101})}, {100, 100, 100, 101.3132629}, std::int64_t{0});
    gives<P, aten::kthvalue>({floats({4}, {4, 1, 3, 2})},
        [](const auto& v) {
            return args<aten::kthvalue>{v[0], 2};
        },
        {{2}, {3}});
    const tensor rows = floats({2, 4}, {4, 1, 3, 2, 1, nan_, 0, 7});
    gives<P, aten::median_dim>({rows}, along(aten::median_dim{}, 1), {{2, nan_}, {3, 1}});
    gives<P, aten::nanmedian_dim>({rows}, along(aten::nanmedian_dim{}, 1), {{2, 1}, {3, 0}});
    gives_numbers<P, aten::median>({x}, {0.25});
}

TEST_CASE("quantiles lie between two ranks, and NaN is the largest number or none") {
    using P = decompose_quantiles;
    const tensor rows = floats({2, 4}, {4, 1, 3, 2, 1, nan_, 0, 7});
    const auto at = [](std::string_view interpolation) {
        return [=](const auto& v) {
            return args<aten::nanquantile_scalar>{v[0], 0.3, 1, false, interpolation};
        };
    };
    gives<P, aten::nanquantile_scalar>({rows}, at("linear"), {{1.9, 0.6}});
    gives<P, aten::nanquantile_scalar>({rows}, at("lower"), {{1, 0}});
    gives<P, aten::nanquantile_scalar>({rows}, at("higher"), {{2, 1}});
    gives<P, aten::nanquantile_scalar>({rows}, at("midpoint"), {{1.5, 0.5}});
    gives<P, aten::nanquantile_scalar>({rows}, at("nearest"), {{2, 1}});
    gives_numbers<P, aten::quantile_scalar>({rows}, {1.9, nan_}, 0.3, std::optional<std::int64_t>(1));
    gives_numbers<P, aten::quantile_scalar>({x}, {1.75}, 0.9);
    const tensor both = floats({2}, {0.25, 0.75});
    gives_numbers<P, aten::quantile>(
        {x, both}, {-0.375, -0.25, 1.25, 0.875}, std::optional<std::int64_t>(1), true);
    gives_numbers<P, aten::nanquantile>(
        {rows, both}, {1.75, 1, 0.75, 3.25, 3.25, 1, 2.25, 5.75}, std::optional<std::int64_t>(0));
    gives_numbers<P, aten::quantile_scalar>({floats({}, {3})}, {3}, 0.5);
}

TEST_CASE("gradients by numbers and by coordinates") {
    using P = decompose_gradients;
    const tensor rows = floats({2, 4}, {1, 4, 9, 16, 0, 2, 1, 5});
    const numbers down{-1, -2, -8, -11, -1, -2, -8, -11};
    const numbers along{3, 4, 6, 7, 2, 0.5, 1.5, 4};
    gives<P, aten::gradient_scalarint>(
        {rows}, [](const auto& v) { return args<aten::gradient_scalarint>{v[0]}; }, {down, along});
    gives<P, aten::gradient_scalarint>({rows},
        [](const auto& v) {
            return args<aten::gradient_scalarint>{v[0], scalar(2.0), -1, 2};
        },
        {{1, 2, 3, 4, 1.75, 0.25, 0.75, 3.25}});
    gives<P, aten::gradient_array>({rows},
        [](const auto& v) {
            return args<aten::gradient_array>{v[0], {1, 0}};
        },
        {along, down});
    const std::array twice{2.0, 0.5};  // a list does not own its elements
    const list<double> each(twice);
    gives<P, aten::gradient_scalarrayint>({rows},
        [=](const auto& v) {
            return args<aten::gradient_scalarrayint>{v[0], each};
        },
        {{-0.5, -1, -4, -5.5, -0.5, -1, -4, -5.5}, {6, 8, 12, 14, 4, 1, 3, 8}});
    const tensor coordinates = floats({4}, {0, 1, 3, 7});
    const auto at = [](std::int64_t edge_order) {
        return [=](const auto& v) {
            return args<aten::gradient_tensorarray>{v[0], list<value>(&v[1], 1), {1}, edge_order};
        };
    };
    gives<P, aten::gradient_tensorarray>(
        {rows, coordinates}, at(1), {{3, 2.8333333, 2.25, 1.75, 2, 1.1666667, 0, 1}});
    gives<P, aten::gradient_tensorarray>(
        {rows, integers({4}, {0, 1, 3, 7})}, at(1), {{3, 2.8333333, 2.25, 1.75, 2, 1.1666667, 0, 1}});
    gives<P, aten::gradient_tensorarray>(
        {rows, coordinates}, at(2), {{3.1666667, 2.8333333, 2.25, 1.25, 2.8333333, 1.1666667, 0, 2}});
}

TEST_CASE("reductions by index") {
    using P = decompose_scatter_reduction;
    const auto make = [](std::string_view reduce, bool include_self, std::int64_t dim = 0) {
        return [=](const auto& v) {
            return args<aten::scatter_reduce_two>{v[0], dim, v[1], v[2], reduce, include_self};
        };
    };
    const std::vector<tensor> line{
        floats({3}, {1, 2, 3}), integers({4}, {0, 0, 2, 2}), floats({4}, {5, -1, 0, 1})};
    gives<P, aten::scatter_reduce_two>(line, make("amax", true), {{5, 2, 3}});
    gives<P, aten::scatter_reduce_two>(line, make("mean", false), {{2, 2, 0.5}});
    gives<P, aten::scatter_reduce_two>(line, make("sum", true), {{5, 2, 4}});
    gives<P, aten::scatter_reduce_two>({integers({2, 3}, {1, 2, 3, 4, 5, 6}), integers({2, 2}, {0, 0, 2, 1}),
                                           integers({2, 2}, {3, -1, 2, 7})},
        make("prod", true, 1), {{-3, 2, 3, 4, 35, 12}});
    // An index with fewer rows than the operand, and a source with more rows than indices.
    const std::vector<tensor> few{tensor::of(dtype::int32, {2, 3}, numbers{1, 2, 3, 4, 5, 6}),
        integers({1, 3}, {0, 0, 2}), tensor::of(dtype::int32, {2, 3}, numbers{7, -4, 9, 1, 1, 1})};
    gives<P, aten::scatter_reduce_two>(few, make("mean", true, 1), {{1, 2, 6, 4, 5, 6}});
    gives<P, aten::scatter_reduce_two>(few, make("amin", true, 1), {{-4, 2, 3, 4, 5, 6}});
    gives<P, aten::scatter_reduce_two>(few, make("sum", false, 1), {{3, 2, 9, 4, 5, 6}});
    const auto along = [](std::string_view reduce, std::int64_t dim) {
        return [=](const auto& v) { return args<aten::index_reduce>{v[0], dim, v[1], v[2], reduce, true}; };
    };
    gives<P, aten::index_reduce>(
        {x, integers({3}, {0, 2, 0}), y}, along("prod", 1), {{-0.25, -1.25, 1.5, 1.875, 0.25, 0.75}});
    gives<P, aten::index_reduce>(
        {x, integers({2}, {1, 1}), y}, along("amin", 0), {{0.5, -1.25, 2, -0.5, -1, -0.75}});
    gives<P, aten::scatter_src_reduce>({x, integers({1, 3}, {0, 0, 2}), y},
        [](const auto& v) {
            return args<aten::scatter_src_reduce>{v[0], 1, v[1], v[2], "multiply"};
        },
        {{-0.1875, -1.25, 2, 1.5, 0.25, -0.75}});
}

TEST_CASE("bags of embeddings") {
    using P = decompose_bags;
    const std::vector<tensor> bags{
        floats({3, 2}, {1, 2, 3, 4, 5, -6}), integers({4}, {0, 2, 1, 1}), integers({3}, {0, 1, 1})};
    const auto make = [](std::int64_t mode, std::optional<std::int64_t> padding = std::nullopt) {
        return [=](const auto& v) {
            return args<aten::embedding_bag_padding_idx>{
                v[0], v[1], v[2], false, mode, false, std::nullopt, false, padding};
        };
    };
    gives<P, aten::embedding_bag_padding_idx>(bags, make(1), {{1, 2, 0, 0, 3.6666667, 0.6666667}});
    gives<P, aten::embedding_bag_padding_idx>(bags, make(2), {{1, 2, 0, 0, 5, 4}});
    gives<P, aten::embedding_bag_padding_idx>(
        {bags[0], bags[1], integers({2}, {0, 2})}, make(1, 2), {{1, 2, 3, 4}});
    const tensor narrow_indices = tensor::of(dtype::int32, {4}, numbers{0, 2, 1, 1});
    gives<P, aten::embedding_bag_padding_idx>(
        {bags[0], narrow_indices, tensor::of(dtype::int32, {1}, numbers{0})}, make(0), {{12, 4}});
}

TEST_CASE("tables") {
    using P = decompose_tables;
    const auto none = [](auto a) { return [a](const auto&) { return a; }; };
    gives<P, aten::hann_window>(
        {}, none(args<aten::hann_window>{5}), {{0, 0.3454915, 0.9045085, 0.9045085, 0.3454915}});
    gives<P, aten::hamming_window_periodic>(
        {}, none(args<aten::hamming_window_periodic>{4, false}), {{0.08, 0.77, 0.77, 0.08}});
    gives<P, aten::kaiser_window_beta>({}, none(args<aten::kaiser_window_beta>{4, false, 3.0}),
        {{0.2048847, 0.8712419, 0.8712419, 0.2048847}});
    gives<P, aten::bartlett_window>({}, none(args<aten::bartlett_window>{5}), {{0, 0.4, 0.8, 0.8, 0.4}});
    gives<P, aten::blackman_window>({}, none(args<aten::blackman_window>{4}), {{0, 0.34, 1, 0.34}});
    gives<P, aten::logspace>({}, none(args<aten::logspace>{0, 2, 3, 2.0}), {{1, 2, 4}});
    gives<P, aten::tril_indices>({}, none(args<aten::tril_indices>{2, 3}), {{0, 1, 1, 0, 0, 1}});
    gives<P, aten::triu_indices>({}, none(args<aten::triu_indices>{2, 3, 1}), {{0, 0, 1, 1, 2, 2}});
    const tensor theta = floats({1, 2, 3}, {1, 0.5, 0, 0, 2, -1});
    gives_numbers<P, aten::affine_grid_generator>(
        {theta}, {-0.75, -2, 0.25, -2, -0.25, 0, 0.75, 0}, int_list{1, 1, 2, 2}, false);
    gives_numbers<P, aten::affine_grid_generator>(
        {theta}, {-1.5, -3, 0.5, -3, -0.5, 1, 1.5, 1}, int_list{1, 1, 2, 2}, true);
    const auto random = [](program& prog) { prog.output(prog.make<aten::randn>({int_list{2}})); };
    CHECK_THAT(random, is_refused_by<P>("random numbers"));
    const auto drawn = [](program& prog) {
        prog.output(prog.make<aten::bernoulli>({prog.input(dtype::float32, {2})}));
    };
    CHECK_THAT(drawn, is_refused_by<P>("random numbers"));
}

TEST_CASE("special functions") {
    using P = decompose_special;
    gives_numbers<P, aten::sinc>({floats({3}, {0, 0.5, -1.5})}, {1, 0.6366197, -0.2122066});
    gives_numbers<P, aten::special_ndtr>({floats({3}, {-1, 0, 2})}, {0.1586553, 0.5, 0.9772499});
    gives_numbers<P, aten::float_power_tensor_tensor>(
        {floats({2}, {1.5, 2}), integers({2}, {2, -1})}, {2.25, 0.5});
    gives_numbers<P, aten::float_power_tensor_scalar>({integers({2}, {4, 9})}, {2, 3}, scalar(0.5));
    gives<P, aten::float_power_scalar>({floats({2}, {2, -1})},
        [](const auto& v) {
            return args<aten::float_power_scalar>{scalar(2), v[0]};
        },
        {{4, 0.5}});
    gives_numbers<P, aten::fft_fftshift>({x}, {-0.75, 1.5, 0.25, 2, 0.5, -1.25});
    gives_numbers<P, aten::fft_ifftshift>({x}, {-1.25, 2, 0.5, 0.25, -0.75, 1.5}, std::optional(int_list{1}));
    gives_numbers<P, aten::angle>({floats({3}, {-1, 2, nan_})}, {3.1415927, 0, nan_});
    gives_numbers<P, aten::heaviside>({floats({3}, {-1, 0, 2}), floats({}, {0.5})}, {0, 0.5, 1});
    gives_numbers<P, aten::logaddexp2>({floats({2}, {1, 100}), floats({2}, {2, 100})}, {2.5849624, 101});
    gives_numbers<P, aten::special_entr>({floats({3}, {0.5, 0, -1})}, {0.3465736, 0, -infinity});
    gives_numbers<P, aten::isposinf>({floats({3}, {infinity, -infinity, 1})}, {1, 0, 0});
    gives_numbers<P, aten::count_nonzero>({floats({2, 3}, {1, 0, 2, 0, 0, 3})}, {2, 1}, std::int64_t{1});
    gives_numbers<P, aten::nanmean>({floats({2, 3}, {1, nan_, 2, 4, 0, 3})}, {1.5, 2.3333333}, int_list{1});
    gives_numbers<P, aten::trapezoid_dx>({x}, {0, 0.625});
    gives_numbers<P, aten::cumulative_trapezoid_dx>({x}, {-0.375, 0, 0.875, 0.625});
}

TEST_CASE("resampling with antialiasing and beyond RESIZE") {
    using P = decompose_bicubic;
    const tensor line = floats({1, 1, 1, 5}, {0, 1, 4, 9, 16});
    gives_numbers<P, aten::_upsample_bilinear2d_aa>(
        {line}, {0.4285714, 4.4444447, 12.999999}, int_list{1, 3}, false);
    gives_numbers<P, aten::_upsample_bicubic2d_aa>(
        {line}, {0.169231, 4.1953487, 13.338459}, int_list{1, 3}, false);
    numbers many;
    for (int i = 0; i != 40; ++i) many.push_back(i);
    const tensor wide = floats({1, 1, 1, 40}, many);
    gives_numbers<P, aten::upsample_nearest2d>({wide}, {0}, int_list{1, 1});
    gives_numbers<P, aten::_upsample_nearest_exact2d>({wide}, {10, 30}, int_list{1, 2});
    gives_numbers<P, aten::upsample_bilinear2d>({wide}, {9.5, 29.5}, int_list{1, 2}, false);
}

TEST_CASE("einsum with a diagonal, and with an axis that is repeated") {
    numbers counted;
    for (int i = 0; i != 12; ++i) counted.push_back(i);
    const auto make = [](std::string_view equation) {
        return [=](const auto& v) { return args<aten::einsum>{equation, list<value>(v)}; };
    };
    const auto first = [&](std::size_t n) {
        return numbers(counted.begin(), counted.begin() + static_cast<std::ptrdiff_t>(n));
    };
    gives<decompose_einsum, aten::einsum>({floats({3, 3}, first(9))}, make("ii->i"), {{0, 4, 8}});
    gives<decompose_einsum, aten::einsum>(
        {floats({2, 2, 3}, counted), floats({3, 2}, first(6))}, make("iij,jk->ik"), {{10, 13, 64, 94}});
    gives<decompose_einsum, aten::einsum>(
        {floats({1, 3}, {1, 2, 3}), floats({2, 3}, first(6))}, make("bi,bi->b"), {{8, 26}});
}
