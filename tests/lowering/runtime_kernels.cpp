// SPDX-License-Identifier: MIT
// Tests cases that ExecuTorch's kernels refuse, or compute differently than PyTorch: lowering avoids both,
// and execution behaves like the runtime.

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/dialect/executorch.hpp>
#include <headrace/infer/executorch.hpp>
#include <headrace/lowering/executorch_pipeline.hpp>
#include <headrace/run/execution.hpp>

#include "../support/program.hpp"

using namespace headrace;

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

using numbers = std::vector<double>;

bool are_same(const numbers& a, const numbers& b) {
    const auto same = [](double x, double y) {
        return std::isnan(x) ? std::isnan(y) : x == y || std::abs(x - y) <= 1e-5 * (1 + std::abs(x));
    };
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), same);
}

/// A program of one input and one output, lowered to kernels and executed.
struct lowered {
    std::vector<std::string> kernels{};
    std::string refusal{};
    numbers got{};

    [[nodiscard]] bool calls(std::string_view name) const { return std::ranges::count(kernels, name) != 0; }
};
lowered lower(dtype type, const int_list& shape, const numbers& given,
    const std::function<value(testing::program&, value)>& build) {
    testing::program p;
    p.output(build(p, p.input(type, shape)));
    p.finish();
    REQUIRE(p.fault.empty());
    pass_context context(standard_functions);
    REQUIRE(run_executorch_pipeline(p.g, context));
    lowered made;
    for (const diagnostic& d : context.diagnostics()) made.refusal = std::string(d.reason);
    if (!made.refusal.empty()) return made;
    for (const node& n : p.g.nodes()) {
        made.kernels.emplace_back(n.op->name);
        CHECK(executorch::kernel_refusal(n).empty());
    }
    const std::vector inputs{tensor::of(type, extents(shape.begin(), shape.end()), given)};
    const auto outputs = execute(p.g, inputs);
    REQUIRE(outputs);
    made.got = outputs.value()[0].to<double>();
    return made;
}

/// Executes one kernel.
template <class Kernel>
numbers execute_kernel(dtype type, const int_list& shape, const numbers& given,
    const std::function<args<Kernel>(value)>& arguments, const tensor_meta& made, std::uint32_t results = 1) {
    graph g;
    const value x = g.create<builtin::placeholder>({}).result();
    g.set_meta(x, {type, shape, {}});
    const args<Kernel> a = arguments(x);
    node& n = g.create(info_of<Kernel>, &a, results);
    g.set_meta(n.result(0), made);
    for (std::uint32_t i = 1; i < results; ++i) g.set_meta(n.result(i), {dtype::int64, made.shape, {}});
    const value outputs[] = {n.result(0)};
    g.create<builtin::output>({.values = list<value>(outputs)});
    const std::vector inputs{tensor::of(type, extents(shape.begin(), shape.end()), given)};
    const auto done = execute(g, inputs);
    if (!done) {
        INFO(std::string(done.error().message));
        return {};
    }
    return done.value()[0].to<double>();
}

}  // namespace

TEST_CASE("executorch: arguments that kernels refuse are fitted to them", "[executorch]") {
    const numbers six{1, 2, 3, 4, 5, 6};
    const auto rolled = lower(dtype::float32, {2, 3}, six,
        [](testing::program& p, value x) { return p.make<aten::roll>({.self = x, .shifts = {2}}); });
    CHECK(are_same(rolled.got, {5, 6, 1, 2, 3, 4}));
    CHECK(rolled.calls("aten::roll.out"));
    const auto narrowed = lower(dtype::float32, {2, 3}, six, [](testing::program& p, value x) {
        return p.make<aten::narrow>({x, 1, -2, 2});
    });
    CHECK(are_same(narrowed.got, {2, 3, 5, 6}));
    const auto padded = lower(dtype::float32, {2, 3}, six, [](testing::program& p, value x) {
        return p.make<aten::constant_pad_nd>({.self = x, .pad = {-1, 2, 1, -1}, .value = 9});
    });
    CHECK(are_same(padded.got, {9, 9, 9, 9, 2, 3, 9, 9}));
    const auto cropped = lower(dtype::float32, {2, 3}, six, [](testing::program& p, value x) {
        return p.make<aten::constant_pad_nd>({.self = x, .pad = {-1, 0}});
    });
    CHECK(are_same(cropped.got, {2, 3, 5, 6}));
    CHECK_FALSE(cropped.calls("aten::constant_pad_nd.out"));
    const auto pooled = lower(dtype::float32, {1, 2, 3}, six, [](testing::program& p, value x) {
        return p.make<aten::_adaptive_avg_pool2d>({x, {1}});
    });
    CHECK(are_same(pooled.got, {3.5}));
    const auto soft = lower(dtype::float32, {2}, {0, 0}, [](testing::program& p, value x) {
        return p.make<aten::_softmax>({x, 0, true});
    });
    CHECK(are_same(soft.got, {0.5, 0.5}));
    const auto expanded = lower(dtype::float32, {1}, {7}, [](testing::program& p, value x) {
        return p.make<aten::expand>({.self = x, .size = {2}, .implicit = true});
    });
    CHECK(are_same(expanded.got, {7, 7}));
    const auto projected = lower(dtype::float32, {2, 3}, six, [](testing::program& p, value x) {
        const value weight = p.constant<float>(dtype::float32, {3}, {1, 0, -1});
        return p.make<aten::linear>({.input = x, .weight = weight});
    });
    CHECK(are_same(projected.got, {-2, -2}));
    const auto found = lower(dtype::float32, {1, 6}, {1, 3, 2, 2, 5, 4}, [](testing::program& p, value x) {
        return value{&p.make_node<aten::max_pool1d_with_indices>({.self = x, .kernel_size = {2}}), 1};
    });
    CHECK(are_same(found.got, {1, 2, 4}));
    const auto promoted = lower(dtype::int32, {2}, {1, 2},
        [](testing::program& p, value x) { return p.make<aten::add_scalar>({.self = x, .other = 0.5}); });
    CHECK(are_same(promoted.got, {1.5, 2.5}));
}

TEST_CASE("executorch: what is drawn is certain at probabilities 0 and 1", "[executorch]") {
    const auto drawn = lower(dtype::float32, {4}, {0, 1, 1, 0},
        [](testing::program& p, value x) { return p.make<aten::bernoulli>({x}); });
    CHECK(are_same(drawn.got, {0, 1, 1, 0}));
    CHECK(drawn.calls("aten::rand.out"));
    const auto always = lower(dtype::float32, {2}, {0, 0}, [](testing::program& p, value x) {
        return p.make<aten::bernoulli_p>({x, 1.0});
    });
    CHECK(are_same(always.got, {1, 1}));
}

TEST_CASE("executorch: a tensor of rank 0 has neither axes nor windows", "[executorch]") {
    const auto summed = lower(dtype::float32, {}, {3}, [](testing::program& p, value x) {
        return p.make<aten::cumsum>({.self = x, .dim = 0, .dtype = dtype::int64});
    });
    CHECK(are_same(summed.got, {3}));
    const auto unfolded = lower(dtype::float32, {}, {3}, [](testing::program& p, value x) {
        return p.make<aten::unfold>({x, 0, 1, 1});
    });
    CHECK(are_same(unfolded.got, {3}));
    const auto rolled = lower(dtype::float32, {}, {3},
        [](testing::program& p, value x) { return p.make<aten::roll>({.self = x, .shifts = {2}}); });
    CHECK(are_same(rolled.got, {3}));
}

TEST_CASE("executorch: what has no elements is not computed", "[executorch]") {
    const auto nothing = lower(dtype::float32, {2, 3}, {1, 2, 3, 4, 5, 6}, [](testing::program& p, value x) {
        return p.make<aten::narrow>({x, 0, 1, 0});
    });
    CHECK(nothing.got.empty());
    CHECK_FALSE(nothing.calls("aten::narrow_copy.out"));
}

TEST_CASE("executorch: a range of one step is its start, as in PyTorch", "[executorch]") {
    for (const std::int64_t steps : {1, 2, 5}) {
        const auto range = lower(dtype::float32, {1}, {1}, [&](testing::program& p, value x) {
            return p.make<aten::mul_tensor>(
                {x, p.make<aten::linspace>({.start = 2, .end = 6, .steps = steps})});
        });
        const numbers five{2, 3, 4, 5, 6};
        CHECK(are_same(range.got, steps == 1 ? numbers{2} : steps == 2 ? numbers{2, 6} : five));
    }
}

TEST_CASE("executorch: where a kernel is wrong, lowering gives PyTorch's numbers", "[executorch]") {
    const auto rest = lower(dtype::int64, {4}, {-5, 5, -3, 0}, [](testing::program& p, value x) {
        return p.make<aten::remainder_scalar>({x, 3});
    });
    CHECK(are_same(rest.got, {1, 2, 0, 0}));
    CHECK_FALSE(rest.calls("aten::remainder.Scalar_out"));
    const auto sign = lower(dtype::float32, {3}, {no_number, -infinity, 2},
        [](testing::program& p, value x) { return p.make<aten::sign>({x}); });
    CHECK(are_same(sign.got, {0, -1, 1}));
    const auto most = lower(dtype::float32, {1, 1, 2, 4}, {1, no_number, 5, infinity, 3, 2, 6, -infinity},
        [](testing::program& p, value x) {
            return p.make<aten::max_pool2d>({.self = x, .kernel_size = {2, 2}});
        });
    CHECK(are_same(most.got, {no_number, infinity}));
    const auto floored = lower(dtype::float32, {4}, {0, -1, no_number, 7}, [](testing::program& p, value x) {
        const value zeros = p.constant<float>(dtype::float32, {4}, {0, 0, 0, 2});
        return p.make<aten::floor_divide>({x, zeros});
    });
    CHECK(are_same(floored.got, {no_number, -infinity, no_number, 3}));
    const auto shifted = lower(dtype::int32, {2}, {-5, 5}, [](testing::program& p, value x) {
        return p.make<aten::bitwise_right_shift_tensor_scalar>({x, 70});
    });
    CHECK(are_same(shifted.got, {-1, 0}));
    const auto varied = lower(dtype::float32, {1, 2}, {1, 3}, [](testing::program& p, value x) {
        return p.make<aten::var_correction>({.self = x, .dim = int_list{1}, .correction = 2});
    });
    CHECK(are_same(varied.got, {infinity}));
}

TEST_CASE("executorch: execution does what the kernels do", "[executorch]") {
    using remainder = executorch::kernel<aten::remainder_scalar, "aten::remainder.Scalar_out">;
    const auto divided_by_3 = [](value x) { return args<remainder>{x, 3}; };
    const tensor_meta two{dtype::int64, {2}, {}};
    CHECK(are_same(execute_kernel<remainder>(dtype::int64, {2}, {-5, 5}, divided_by_3, two), {-2, 2}));
    using sign = executorch::kernel<aten::sign, "aten::sign.out">;
    const auto alone = [](value x) { return args<sign>{x}; };
    const tensor_meta reals{dtype::float32, {2}, {}};
    CHECK(
        are_same(execute_kernel<sign>(dtype::float32, {2}, {no_number, -2}, alone, reals), {no_number, -1}));
    using max_pool = executorch::kernel<aten::max_pool2d_with_indices, "aten::max_pool2d_with_indices.out",
        executorch::kernel_types::numbers>;
    const auto pooled = [](value x) { return args<max_pool>{.self = x, .kernel_size = {1, 2}}; };
    const tensor_meta row{dtype::float32, {1, 1, 2}, {}};
    // A NaN that comes first stays.
    CHECK(are_same(
        execute_kernel<max_pool>(dtype::float32, {1, 1, 4}, {1, no_number, no_number, 1}, pooled, row, 2),
        {1, no_number}));
    using floor_divide = executorch::kernel<aten::div_scalar_mode, "aten::div.Scalar_mode_out">;
    const auto by_zero = [](value x) { return args<floor_divide>{x, 0, "floor"}; };
    CHECK(are_same(
        execute_kernel<floor_divide>(dtype::float32, {2}, {0, -1}, by_zero, reals), {infinity, -infinity}));
    using narrow = executorch::kernel<aten::narrow_copy, "aten::narrow_copy.out">;
    const auto from_end = [](value x) { return args<narrow>{x, 0, -2, 2}; };
    CHECK(execute_kernel<narrow>(dtype::float32, {4}, {1, 2, 3, 4}, from_end, reals).empty());
}

TEST_CASE("executorch: bicubic sampling is PyTorch's", "[executorch]") {
    // PyTorch 2.15: grid_sample(arange(1, 13).view(1, 1, 3, 4), grid, "bicubic", padding, align_corners).
    const struct {
        std::int64_t padding;
        bool aligned;
        numbers expected;
    } cases[] = {{0, true, {7.668477535247803, 4.966142654418945, 9.077533721923828, 6.5}},
        {0, false, {5.60197114944458, 4.437312602996826, 0.6972678303718567, 6.5}},
        {1, true, {6.670344829559326, 4.767998218536377, 11.809253692626953, 6.5}},
        {1, false, {7.073378562927246, 4.127999782562256, 12.450377464294434, 6.5}},
        {2, true, {6.7780632972717285, 4.479997158050537, 11.820503234863281, 6.5}},
        {2, false, {7.026129245758057, 4.127999782562256, 12.750003814697266, 6.5}}};
    for (const auto& c : cases) {
        const auto sampled = lower(dtype::float32, {1, 1, 3, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
            [&](testing::program& p, value x) {
                const value grid = p.constant<float>(
                    dtype::float32, {1, 2, 2, 2}, {-0.9F, 0.3F, 0.2F, -0.4F, 1.2F, 0.9F, 0, 0});
                return p.make<aten::grid_sampler>({x, grid, 2, c.padding, c.aligned});
            });
        CHECK(sampled.calls("aten::grid_sampler_2d.out"));
        CHECK(are_same(sampled.got, c.expected));
    }
}
