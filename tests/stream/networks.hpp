// SPDX-License-Identifier: MIT
// Defines headrace::testing::stream_network, with which tests of streams build programs and check their steps.
#ifndef HEADRACE_TESTS_STREAM_NETWORKS_HPP
#define HEADRACE_TESTS_STREAM_NETWORKS_HPP

#include <catch2/catch.hpp>

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/strings.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/io/program.hpp>
#include <headrace/partition/extract.hpp>
#include <headrace/run/execution.hpp>
#include <headrace/stream/check_stream.hpp>

namespace headrace::testing {

/// A program whose first input is "x" with shape [1, channels, length].
class stream_network {
public:
    stream_network(std::int64_t channels, std::int64_t length, std::uint32_t seed = 1) : random_(seed) {
        p_.graph = std::make_unique<graph>();
        x_ = input("x", channels, length);
    }

    value input(std::string_view name, std::int64_t channels, std::int64_t length) {
        const value made = g().create<builtin::placeholder>({}).result();
        g().set_meta(made, {dtype::float32, {1, channels, length}, {}});
        g().set_name(made, name);
        return made;
    }

    [[nodiscard]] graph& g() { return *p_.graph; }
    [[nodiscard]] headrace::program& program() { return p_; }
    [[nodiscard]] value x() const { return x_; }
    [[nodiscard]] std::mt19937& random() { return random_; }
    [[nodiscard]] static sizes shape(value v) { return meta_of(v)->shape; }

    template <op_tag Op>
    value add(const args<Op>& a) {
        node& n = g().create<Op>(a);
        inference made(g().arena());
        const result<void> inferred = infer_node(n, made);
        INFO(Op::name);
        if (!inferred) FAIL(inferred.error().message);
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            g().set_meta(n.result(i), made.results()[i]);
            g().set_name(n.result(i), join_text("v", n.id, "_", i));
        }
        return n.result();
    }

    /// Eighths, so that sums of products are exact in float32.
    value weights(std::initializer_list<std::int64_t> shape) {
        std::uniform_int_distribution<int> eighths(-4, 4);
        std::vector<double> numbers(
            static_cast<std::size_t>(eval::elements_in({std::data(shape), shape.size()})));
        for (double& w : numbers) w = eighths(random_) / 8.0;
        const tensor t = tensor::of(dtype::float32, shape, numbers);
        const value made = create_constant(g(), {dtype::float32, int_list(shape), {}}, nullptr,
            [&](std::span<std::byte> data) { std::ranges::copy(t.bytes(), data.begin()); });
        g().set_name(made, join_text("w", made.producer->id));
        return made;
    }

    value convolution(value v, std::int64_t channels, std::int64_t kernel, std::int64_t stride = 1,
        std::int64_t padding = 0, std::int64_t dilation = 1) {
        return add<aten::conv1d>({.input = v,
            .weight = weights({channels, shape(v)[1], kernel}),
            .bias = weights({channels}),
            .stride = {stride},
            .padding = {padding},
            .dilation = {dilation}});
    }
    value quantized(value v) {
        const value q =
            add<quantized_decomposed::quantize_per_tensor>({v, 1.0 / 8, 3, -128, 127, dtype::int8});
        return add<quantized_decomposed::dequantize_per_tensor>({q, 1.0 / 8, 3, -128, 127, dtype::int8});
    }

    void end(value v) {
        g().create<builtin::output>({.values = {v}});
        p_.user_outputs = 1;
    }

    /// Makes the program one of a step; the whole model is kept.
    result<stream_summary> stream(std::int64_t step, std::int64_t window = 0, std::int64_t axis = 2) {
        return stream({.axes = {{"x", axis}}, .step = step, .window = window});
    }
    result<stream_summary> stream(const stream_options& options) {
        copy_graph(g(), whole_);
        return make_stream(p_, options);
    }
    result<stream_check> check(const stream_summary& summary, std::uint32_t seed = 1) {
        return check_stream(whole_, p_, summary, {.seed = seed});
    }

private:
    headrace::program p_;
    graph whole_;
    value x_{};
    std::mt19937 random_;
};

/// Requires that steps give what the whole model gives, and returns the summary.
inline stream_summary require_stream(stream_network& n, const stream_options& options) {
    auto made = n.stream(options);
    if (!made) FAIL(made.error().message);
    const auto check = n.check(made.value());
    if (!check) FAIL(check.error().message);
    INFO(check.value().where);
    REQUIRE(check.value().agrees());
    REQUIRE(check.value().compared > 0);
    return std::move(made).value();
}

inline stream_summary require_stream(stream_network& n, std::int64_t step, std::int64_t window = 0) {
    return require_stream(n, {.axes = {{"x", 2}}, .step = step, .window = window});
}

}  // namespace headrace::testing

#endif
