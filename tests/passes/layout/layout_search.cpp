// SPDX-License-Identifier: MIT
// Tests that layouts are chosen for a whole graph: random graphs compute the same, and known graphs need no
// more transposes than necessary.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <catch2/catch.hpp>

#include <headrace/eval/fold.hpp>
#include <headrace/passes/fold/fold_constants.hpp>
#include <headrace/passes/fold/redundancies.hpp>
#include <headrace/passes/layout/choose_layouts.hpp>

#include "../../support/drawn_cases.hpp"
#include "../../support/quantized_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;

/// Makes programs of ops that change layouts, ops that accept any layout, and ops that require one.
class random_program {
public:
    explicit random_program(unsigned seed) : random_(seed) {}

    void operator()(program& p) {
        const int inputs = pick(1, 2);
        for (int i = 0; i != inputs; ++i) values_.push_back(p.input(fp32, int_list(random_shape())));
        const int steps = pick(3, 14);
        for (int i = 0; i != steps; ++i) step(p);
        const int outputs = pick(1, 2);
        for (int i = 0; i != outputs; ++i)
            p.output(values_[values_.size() - 1 - static_cast<std::size_t>(i)]);
    }

private:
    int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
    shape_builder random_shape() {
        constexpr std::int64_t extents[] = {1, 2, 2, 3, 4, 6};
        shape_builder shape;
        const int rank = pick(2, 4);
        for (int i = 0; i != rank; ++i) shape.push_back(extents[pick(0, 5)]);
        return shape;
    }
    static const int_list& shape_of(value v) { return meta_of(v)->shape; }
    value some() { return values_[static_cast<std::size_t>(pick(0, static_cast<int>(values_.size()) - 1))]; }
    value recent() {
        const int last = static_cast<int>(values_.size()) - 1;
        return values_[static_cast<std::size_t>(pick(std::max(0, last - 2), last))];
    }
    value constant(program& p, const shape_builder& shape) {
        return create_constant(p.g, {fp32, int_list(shape), {}}, nullptr, [&](std::span<std::byte> data) {
            for (std::size_t at = 0; at != data.size(); at += sizeof(float)) {
                const auto number = static_cast<float>(pick(-8, 8));
                std::memcpy(data.data() + at, &number, sizeof number);
            }
        });
    }
    static value transpose(program& p, value v, const shape_builder& perms) {
        return p.make<tosa::transpose>({.input1 = v, .perms = int_list(perms)});
    }
    static value reshape(program& p, value v, const shape_builder& shape) {
        const value to = p.make<tosa::const_shape>({.values = int_list(shape)});
        return p.make<tosa::reshape>({.input1 = v, .shape = to});
    }
    value zero(program& p) { return p.constant<float>(fp32, {1}, {0.0F}); }

    void step(program& p) {
        const value v = recent();
        switch (pick(0, 18)) {
            case 0:
            case 1:
            case 2:
                transposed(p, v);
                break;
            case 3:
            case 4:
                reshaped(p, v);
                break;
            case 5:
                values_.push_back(p.make<tosa::abs>({.input1 = v}));
                break;
            case 6:
            case 7:
                binary(p, v);
                break;
            case 8:
                reduced(p, v);
                break;
            case 9:
                concatenated(p, v);
                break;
            case 10:
                sliced(p, v);
                break;
            case 11:
                padded(p, v);
                break;
            case 12:
                tiled(p, v);
                break;
            case 13:
            case 14:
                convolved(p, v);
                break;
            case 15:
                multiplied(p, v);
                break;
            case 16:
            case 17:
                rescaled(p, v);
                break;
            default:
                pooled(p, v);
                break;
        }
    }
    void transposed(program& p, value v) {
        shape_builder perms;
        for (std::size_t i = 0; i != shape_of(v).size(); ++i) perms.push_back(static_cast<std::int64_t>(i));
        std::shuffle(perms.begin(), perms.end(), random_);
        values_.push_back(transpose(p, v, perms));
    }
    void reshaped(program& p, value v) {
        shape_builder factors;
        for (std::int64_t size : shape_of(v)) {
            for (const std::int64_t prime : {2, 3}) {
                for (; size % prime == 0; size /= prime) factors.push_back(prime);
            }
            if (size != 1) factors.push_back(size);
        }
        shape_builder shape;
        for (const std::int64_t factor : factors) {
            if (shape.empty() || (shape.size() < 4 && pick(0, 1) == 0)) {
                shape.push_back(factor);
            } else {
                shape.back() *= factor;
            }
        }
        while (shape.size() < 2 || (shape.size() < 4 && pick(0, 2) == 0))
            shape.insert(static_cast<std::size_t>(pick(0, static_cast<int>(shape.size()))), 1);
        values_.push_back(reshape(p, v, shape));
    }
    void binary(program& p, value v) {
        value other{};
        for (int i = 0; i != 4 && !other; ++i) {
            const value candidate = some();
            if (shape_of(candidate).size() != shape_of(v).size()) continue;
            bool fits = true;
            for (std::size_t d = 0; d != shape_of(v).size(); ++d) {
                const std::int64_t a = shape_of(v)[d];
                const std::int64_t b = shape_of(candidate)[d];
                fits = fits && (a == b || a == 1 || b == 1);
            }
            if (fits) other = candidate;
        }
        if (!other) {
            shape_builder shape(shape_of(v));
            for (std::int64_t& size : shape) size = pick(0, 1) == 0 ? 1 : size;
            other = constant(p, shape);
        }
        if (pick(0, 1) == 0) {
            values_.push_back(p.make<tosa::sub>({.input1 = v, .input2 = other}));
        } else {
            values_.push_back(p.make<tosa::maximum>({.input1 = other, .input2 = v}));
        }
    }
    std::int64_t some_axis(value v) { return pick(0, static_cast<int>(shape_of(v).size()) - 1); }
    void reduced(program& p, value v) {
        const std::int64_t axis = some_axis(v);
        switch (pick(0, 3)) {
            case 0:
                values_.push_back(p.make<tosa::reduce_max>({.input = v, .axis = axis}));
                break;
            case 3:
                values_.push_back(p.make<tosa::reduce_sum>({.input = v, .axis = axis}));
                break;
            case 1:
                values_.push_back(p.make<tosa::reverse>({.input1 = v, .axis = axis}));
                break;
            default: {
                const value index = p.make<tosa::argmax>({.input = v, .axis = axis});
                values_.push_back(p.make<tosa::cast>({.input = index, .output_type = fp32}));
            }
        }
    }
    void concatenated(program& p, value v) {
        const std::int64_t axis = some_axis(v);
        value other = v;
        for (int i = 0; i != 4; ++i) {
            const value candidate = some();
            if (shape_of(candidate) == shape_of(v)) other = candidate;
        }
        values_.push_back(p.make<tosa::concat>({.input1 = {v, other}, .axis = axis}));
        if (meta_of(values_.back())->elements() > 4000) values_.pop_back();
    }
    void sliced(program& p, value v) {
        shape_builder start;
        shape_builder size;
        for (const std::int64_t extent : shape_of(v)) {
            const std::int64_t from = pick(0, 2) != 0 ? 0 : pick(0, static_cast<int>(extent) - 1);
            start.push_back(from);
            size.push_back(extent - from);
        }
        values_.push_back(p.make<tosa::slice>({.input1 = v,
            .start = p.make<tosa::const_shape>({.values = int_list(start)}),
            .size = p.make<tosa::const_shape>({.values = int_list(size)})}));
    }
    void padded(program& p, value v) {
        if (meta_of(v)->elements() > 1000) return;
        shape_builder amounts;
        for (std::size_t d = 0; d != 2 * shape_of(v).size(); ++d) amounts.push_back(pick(0, 3) == 0 ? 1 : 0);
        values_.push_back(p.make<tosa::pad>({.input1 = v,
            .padding = p.make<tosa::const_shape>({.values = int_list(amounts)}),
            .pad_const = p.constant<float>(fp32, {1}, {-2.0F})}));
    }
    void tiled(program& p, value v) {
        if (meta_of(v)->elements() > 1000) return;
        shape_builder multiples;
        for (std::size_t d = 0; d != shape_of(v).size(); ++d) multiples.push_back(pick(0, 3) == 0 ? 2 : 1);
        values_.push_back(p.make<tosa::tile>(
            {.input1 = v, .multiples = p.make<tosa::const_shape>({.values = int_list(multiples)})}));
    }
    value as_image(program& p, value v) {
        while (shape_of(v).size() < 4) {
            shape_builder shape(shape_of(v));
            shape.insert(0, 1);
            v = reshape(p, v, shape);
        }
        return v;
    }
    void convolved(program& p, value v) {
        if (meta_of(v)->elements() > 1000) return;
        const bool by_axes = pick(0, 1) == 0 && shape_of(v).size() == 4;  // like PyTorch's images
        value image = as_image(p, v);
        if (by_axes) image = transpose(p, image, {0, 2, 3, 1});
        const std::int64_t channels = shape_of(image)[3];
        const std::int64_t kernel = pick(0, 1) == 0 ? 1 : 3;
        const int_list pad = kernel == 1 ? int_list{0, 0, 0, 0} : int_list{1, 1, 1, 1};
        value made{};
        if (pick(0, 2) == 0) {
            made = p.make<tosa::depthwise_conv2d>({.input = image,
                .weight = constant(p, {kernel, kernel, channels, 1}),
                .bias = constant(p, {channels}),
                .input_zp = zero(p),
                .weight_zp = zero(p),
                .pad = pad,
                .stride = {1, 1},
                .dilation = {1, 1},
                .acc_type = fp32});
        } else {
            const std::int64_t out = pick(0, 1) == 0 ? 4 : 6;
            made = p.make<tosa::conv2d>({.input = image,
                .weight = constant(p, {out, kernel, kernel, channels}),
                .bias = constant(p, {out}),
                .input_zp = zero(p),
                .weight_zp = zero(p),
                .pad = pad,
                .stride = {1, 1},
                .dilation = {1, 1},
                .acc_type = fp32});
        }
        values_.push_back(by_axes ? transpose(p, made, {0, 3, 1, 2}) : made);
    }
    void multiplied(program& p, value v) {
        if (meta_of(v)->elements() > 500) return;
        shape_builder shape(shape_of(v));
        while (shape.size() > 3) {
            shape[1] *= shape[0];
            shape.erase(0);
        }
        while (shape.size() < 3) shape.insert(0, 1);
        value a = reshape(p, v, shape);
        if (pick(0, 2) == 0) {  // as heads that lie side by side
            std::swap(shape[0], shape[1]);
            a = transpose(p, a, {1, 0, 2});
        }
        const value b = pick(0, 1) == 0 ? transpose(p, a, {0, 2, 1}) : constant(p, {shape[0], shape[2], 6});
        values_.push_back(
            p.make<tosa::matmul>({.a = a, .b = b, .a_zp = zero(p), .b_zp = zero(p), .output_type = fp32}));
    }
    // Through quantized values: a RESCALE, half of the time with a multiplier for each index of the last
    // axis, and a TABLE.
    void rescaled(program& p, value v) {
        const std::int64_t last = shape_of(v)[shape_of(v).size() - 1];
        const bool per_channel = pick(0, 1) == 0;
        std::vector<std::int64_t> multipliers;
        for (std::int64_t i = 0; i != (per_channel ? last : 1); ++i) multipliers.push_back((i % 3 + 2) << 28);
        const auto count = static_cast<std::int64_t>(multipliers.size());
        const std::vector<std::int64_t> shifts(multipliers.size(), 30);
        value codes = p.make<tosa::cast>({.input = v, .output_type = dtype::int8});
        codes = p.make<tosa::rescale>({.input = codes,
            .multiplier = integer_constant(p, dtype::int32, {count}, multipliers),
            .shift = integer_constant(p, dtype::int8, {count}, shifts),
            .input_zp = integer_constant(p, dtype::int8, {1}, {1}),
            .output_zp = integer_constant(p, dtype::int8, {1}, {-2}),
            .per_channel = per_channel});
        std::vector<std::int64_t> entries;
        for (std::int64_t i = 0; i != 256; ++i) entries.push_back(i * 37 % 19 - 9);
        codes =
            p.make<tosa::table>({.input1 = codes, .table = integer_constant(p, dtype::int8, {256}, entries)});
        values_.push_back(p.make<tosa::cast>({.input = codes, .output_type = fp32}));
    }
    void pooled(program& p, value v) {
        const value image = as_image(p, v);
        const int_list kernel{std::min<std::int64_t>(2, shape_of(image)[1]), 1};
        values_.push_back(p.make<tosa::max_pool2d>(
            {.input = image, .kernel = kernel, .stride = {1, 1}, .pad = {0, 0, 0, 0}}));
    }

    std::mt19937 random_;
    std::vector<value> values_;
};

}  // namespace

TEST_CASE("random graphs compute the same in the layouts that are chosen, and move fewer bytes") {
    const unsigned graphs = testing::drawn_cases(3000);
    std::size_t improved = 0;
    for (unsigned seed = 0; seed != graphs; ++seed) {
        CAPTURE(seed);
        const auto build = [&](program& p) { random_program{seed}(p); };
        REQUIRE_THAT(build, computes_the_same<may_rewrite<choose_layouts>>().within(1e-4));
        program p;
        build(p);
        p.finish();
        pass_context context({.evaluator = &eval::folding});
        REQUIRE(remove_dead_code{}(p.g, context));
        // Two costs are minimized, and one of the results is taken.
        const auto costs = [&] {
            return std::pair(
                layout_search(p.g).cost(), layout_search(p.g, layout_search::matrices::whole).cost());
        };
        const auto [apart, whole] = costs();
        const std::size_t moves = choose_layouts{}(p.g, context).value();
        REQUIRE(fold_constants{}(p.g, context));
        const auto [apart_now, whole_now] = costs();
        const auto gain = static_cast<std::int64_t>(moves);
        REQUIRE((apart_now <= apart - gain || whole_now <= whole - gain));
        improved += moves != 0;
    }
    CHECK(improved > graphs / 10);
}

TEST_CASE("a search without proposals left improves what is near alone") {
    // `distance` functions are between two transposes that cancel.
    const auto costs = [](int distance) {
        program p;
        value v = p.make<tosa::transpose>({.input1 = p.input(fp32, {2, 3, 4}), .perms = {1, 2, 0}});
        for (int i = 0; i != distance; ++i) v = p.make<tosa::exp>({.input1 = v});
        p.output(p.make<tosa::transpose>({.input1 = v, .perms = {2, 0, 1}}));
        p.finish();
        const auto improved = [&](std::size_t proposals) {
            layout_search search(p.g, proposals);
            search.run();
            return search.cost();
        };
        return std::array{layout_search(p.g).cost(), improved(0), improved(SIZE_MAX)};
    };
    const auto [near, near_without, near_with] = costs(4);
    CHECK(near > 0);
    CHECK(near_without == 0);
    CHECK(near_with == 0);
    const auto [far, far_without, far_with] = costs(100);
    CHECK(far_without == far);
    CHECK(far_with == 0);
}
