// SPDX-License-Identifier: MIT
// Tests the rules of streams: delays, first exact steps, states, and equality with the whole model.
#include "networks.hpp"

using namespace headrace;
using headrace::testing::require_stream;
using headrace::testing::stream_network;

namespace {

std::int64_t delay_of(const stream_summary& s) { return s.outputs[0].flow.delay; }

}  // namespace

TEST_CASE("a causal convolution keeps what its window spans beyond its stride", "[stream]") {
    stream_network n(2, 24);
    const value padded = n.add<aten::constant_pad_nd>({n.x(), {8, 0}});
    n.end(n.convolution(padded, 3, 3, 1, 0, 4));
    const stream_summary s = require_stream(n, 4);
    CHECK(delay_of(s) == 0);
    CHECK(s.first_exact_step() == 0);
    REQUIRE(s.states.size() == 1);
    CHECK(s.state_bytes == 2 * 8 * sizeof(float));
    CHECK(s.step_macs == s.least_macs);
}

TEST_CASE("padding on both sides becomes a delay", "[stream]") {
    stream_network n(1, 32);
    n.end(n.convolution(n.convolution(n.x(), 2, 5, 1, 2), 1, 3, 1, 1));
    const stream_summary s = require_stream(n, 2);
    CHECK(delay_of(s) == 3);
    CHECK(s.first_exact_step() == 2);
    CHECK(s.state_bytes == (4 + 2 * 2) * sizeof(float));
}

TEST_CASE("a window that was cropped to be causal has no delay", "[stream]") {
    stream_network n(1, 32);
    const value wide = n.convolution(n.x(), 2, 3, 1, 4, 2);
    n.end(n.add<aten::slice_tensor>({.self = wide, .dim = 2, .start = 0, .end = -4}));
    CHECK(delay_of(require_stream(n, 3)) == 0);
}

TEST_CASE("strides divide the rate", "[stream]") {
    stream_network n(1, 32);
    const value half = n.convolution(n.x(), 2, 4, 2, 1);
    n.end(n.add<aten::max_pool1d>({.self = half, .kernel_size = {2}}));
    const stream_summary s = require_stream(n, 8);
    CHECK(s.outputs[0].elements == 2);
}

TEST_CASE("branches of a residual wait for each other", "[stream]") {
    stream_network n(2, 24);
    const value same = n.convolution(n.x(), 2, 5, 1, 2);
    n.end(n.add<aten::add_tensor>({n.x(), same}));
    const stream_summary s = require_stream(n, 4);
    CHECK(delay_of(s) == 2);
    CHECK(s.states.size() == 1);  // both readers share it
    CHECK(s.state_bytes == 2 * 4 * sizeof(float));
}

TEST_CASE("a transposed convolution raises the rate", "[stream]") {
    stream_network n(2, 16);
    const value up = n.add<aten::conv_transpose1d>(
        {.input = n.x(), .weight = n.weights({2, 3, 4}), .stride = {2}, .padding = {1}});
    n.end(up);
    const stream_summary s = require_stream(n, 4);
    CHECK(s.outputs[0].elements == 8);
    CHECK(delay_of(s) == 1);
    CHECK(s.step_macs == s.least_macs);
    CHECK(s.state_bytes == 3 * 2 * sizeof(float));  // sums that the next step adds to
}

TEST_CASE("frames are windows or a split axis", "[stream]") {
    stream_network n(1, 32);
    const value frames = n.add<aten::unfold>({n.x(), 2, 8, 4});
    const value sums = n.add<aten::mean_dim>({.self = frames, .dim = int_list{-1}});
    n.end(sums);
    CHECK(require_stream(n, 8).outputs[0].elements == 2);

    stream_network split(1, 32);
    const value rows = split.add<aten::view>({split.x(), {1, 8, 4}});
    split.end(split.add<aten::linear>({rows, split.weights({3, 4})}));
    CHECK(require_stream(split, 8).outputs[0].elements == 2);
}

TEST_CASE("frames of padding that a function makes other than zero are exact after it", "[stream]") {
    stream_network n(1, 32);
    const value padded = n.add<aten::sigmoid>({n.add<aten::constant_pad_nd>({n.x(), {4, 0}})});
    const value rows = n.add<aten::view>({padded, {1, 9, 4}});
    n.end(n.add<aten::linear>({rows, n.weights({3, 4})}));
    CHECK(require_stream(n, 8).first_exact_step() == 0);

    stream_network odd(1, 29);
    const value three = odd.add<aten::sigmoid>({odd.add<aten::constant_pad_nd>({odd.x(), {3, 0}})});
    odd.end(odd.add<aten::linear>({odd.add<aten::view>({three, {1, 8, 4}}), odd.weights({3, 4})}));
    CHECK(require_stream(odd, 4).first_exact_step() == 1);
}

TEST_CASE("recurrences and sums hand their state on", "[stream]") {
    stream_network n(4, 20);
    const value rows = n.add<aten::permute>({n.x(), {0, 2, 1}});
    const value first = n.add<aten::zeros>({.size = {1, 1, 3}, .dtype = dtype::float32});
    const value params[]{n.weights({9, 4}), n.weights({9, 3}), n.weights({9}), n.weights({9})};
    const value out = n.add<aten::gru_input>({rows, first, params, true, 1, 0.0, false, false, true});
    n.end(n.add<aten::cumsum>({out, 1}));
    const stream_summary s = require_stream(n, 5);
    CHECK(s.states.size() == 2);
    CHECK(s.state_bytes == 2 * 3 * sizeof(float));
}

TEST_CASE("a recurrence after a delay begins with the whole model's first element", "[stream]") {
    stream_network n(4, 24);
    const value front = n.convolution(n.add<aten::sigmoid>({n.convolution(n.x(), 4, 5, 1, 2)}), 4, 3, 1, 1);
    const value rows = n.add<aten::permute>({front, {0, 2, 1}});
    const value first = n.weights({1, 1, 3});
    const value params[]{n.weights({9, 4}), n.weights({9, 3}), n.weights({9}), n.weights({9})};
    n.end(n.add<aten::gru_input>({rows, first, params, true, 1, 0.0, false, false, true}));
    const stream_summary s = require_stream(n, 4);
    CHECK(delay_of(s) == 4);  // 3 of the convolutions, and 1 to the next step
    CHECK(s.first_exact_step() == 1);
}

TEST_CASE("a sum after a delay begins with the whole model's first element", "[stream]") {
    stream_network n(2, 24);
    n.end(n.add<aten::cumsum>({n.convolution(n.x(), 2, 5, 1, 2), 2}));
    const stream_summary s = require_stream(n, 4);
    CHECK(delay_of(s) == 2);
    CHECK(s.first_exact_step() == 1);
}

TEST_CASE("the nearest element is repeated", "[stream]") {
    stream_network n(2, 16);
    const value half = n.convolution(n.x(), 3, 4, 2, 1);
    n.end(n.add<aten::upsample_nearest1d>({.self = half, .output_size = {16}}));
    const stream_summary s = require_stream(n, 4);
    CHECK(s.outputs[0].elements == 4);
    CHECK(delay_of(s) == 2);
}

TEST_CASE("lines between neighbours wait for the next one", "[stream]") {
    stream_network n(2, 16);
    n.end(n.add<aten::upsample_linear1d>({.self = n.x(), .output_size = {48}, .align_corners = false}));
    const stream_summary s = require_stream(n, 4);
    CHECK(s.outputs[0].elements == 12);
    CHECK(delay_of(s) == 3);
}

TEST_CASE("several inputs are streams of one time", "[stream]") {
    stream_network n(2, 16);
    const value y = n.input("y", 3, 32);
    n.end(n.add<aten::add_tensor>({n.convolution(n.x(), 3, 3, 1, 1), n.convolution(y, 3, 4, 2, 1)}));
    const stream_summary s = require_stream(n, {.axes = {{"x", 2}, {"y", 2}}, .step = 4});
    CHECK(s.inputs[1].step == 8);
    CHECK(s.outputs[0].elements == 4);
}

TEST_CASE("a mean over channels and time keeps a window of one channel", "[stream]") {
    stream_network n(3, 24);
    n.end(n.add<aten::mean_dim>({.self = n.x(), .dim = int_list{1, 2}}));
    CHECK(require_stream(n, 4, 24).state_bytes == 20 * sizeof(float));
}

TEST_CASE("a mean over all of the axis keeps a window if it is asked to", "[stream]") {
    stream_network n(2, 24);
    const value v = n.convolution(n.x(), 3, 5);  // 20 elements, delayed by 4
    n.end(n.add<aten::mean_dim>({.self = v, .dim = int_list{2}}));
    const stream_summary s = require_stream(n, 4, 20);
    CHECK(s.outputs[0].elements == 0);
    CHECK(s.first_exact_step() == 5);
}

TEST_CASE("any op is computed of the latest window of its size", "[stream]") {
    stream_network n(2, 16);
    const value weights = n.add<aten::softmax_int>({n.x(), 2});
    n.end(n.add<aten::flatten_using_ints>({.self = weights, .start_dim = 1}));
    CHECK(require_stream(n, 4, 16).state_bytes == 2 * 12 * sizeof(float));
}

TEST_CASE("states of quantized values are integers that begin with the zero point", "[stream]") {
    stream_network n(2, 24);
    const value q = n.quantized(n.x());
    const value padded = n.add<aten::constant_pad_nd>({q, {2, 0}});
    n.end(n.quantized(n.convolution(padded, 3, 3)));
    const stream_summary s = require_stream(n, 4);
    REQUIRE(s.states.size() == 1);
    CHECK(s.states[0].meta.dtype == dtype::int8);
    CHECK(s.state_bytes == 2 * 2);
    CHECK(s.first_exact_step() == 0);
}
