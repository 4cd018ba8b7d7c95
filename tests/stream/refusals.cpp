// SPDX-License-Identifier: MIT
// Tests what the refusals of streams say: the op, and the way out.
#include "networks.hpp"

using headrace::testing::stream_network;
using namespace headrace;

namespace {

std::string refusal(
    stream_network& n, std::int64_t step = 4, std::int64_t window = 0, std::int64_t axis = 2) {
    const auto made = n.stream(step, window, axis);
    REQUIRE(!made);
    return std::string(made.error().message);
}

}  // namespace

TEST_CASE("ops over all of the stream are refused with the way out", "[stream]") {
    using Catch::Matchers::Contains;
    {
        stream_network n(2, 24);
        n.end(n.add<aten::mean_dim>({.self = n.x(), .dim = int_list{2}}));
        CHECK_THAT(refusal(n), Contains("aten.mean.dim") && Contains("--window 24"));
    }
    {
        stream_network n(2, 24);
        n.end(n.add<aten::softmax_int>({n.x(), -1}));
        CHECK_THAT(refusal(n), Contains("needs all elements") && Contains("--window 24"));
        stream_network other(2, 24);
        other.end(other.add<aten::softmax_int>({other.x(), -1}));
        CHECK_THAT(refusal(other, 4, 10), Contains("cannot have 10"));
    }
    {
        stream_network n(2, 24);
        n.end(n.add<aten::flip>({n.x(), {2}}));
        CHECK_THAT(refusal(n), Contains("reverses"));
    }
    {
        stream_network n(2, 24);
        n.end(n.add<aten::linear>({n.x(), n.weights({3, 24})}));
        CHECK_THAT(refusal(n), Contains("sums over all of the axis"));
    }
    {
        stream_network n(2, 24);
        n.end(n.add<aten::add_tensor>({n.x(), n.weights({24})}));
        CHECK_THAT(refusal(n), Contains("a number for each element"));
    }
}

TEST_CASE("what remembers elements that the whole model does not have is refused", "[stream]") {
    stream_network n(2, 24);
    const value pooled = n.add<aten::max_pool1d>(
        {.self = n.convolution(n.x(), 2, 3, 1, 1), .kernel_size = {3}, .stride = {1}, .padding = {1}});
    n.end(n.add<aten::cumsum>({pooled, 2}));
    CHECK_THAT(refusal(n), Catch::Matchers::Contains("pad that layer on the left alone"));
}

TEST_CASE("a resampling that counts by another scale than the ratio of sizes is refused", "[stream]") {
    stream_network n(2, 24);
    n.end(n.add<aten::upsample_nearest1d>({.self = n.x(), .output_size = {48}, .scales = 2.01}));
    CHECK_THAT(refusal(n), Catch::Matchers::Contains("use a whole factor"));
    stream_network other(2, 24);
    other.end(
        other.add<aten::upsample_linear1d>({.self = other.x(), .output_size = {48}, .align_corners = true}));
    CHECK_THAT(refusal(other), Catch::Matchers::Contains("without align_corners"));
}

TEST_CASE("a step that strides do not divide is refused with the multiple", "[stream]") {
    stream_network n(2, 24);
    n.end(n.convolution(n.convolution(n.x(), 2, 3, 2), 2, 3, 3));
    CHECK_THAT(refusal(n, 4), Catch::Matchers::Contains("multiple of 6"));
}

TEST_CASE("an input or axis that is not there is refused", "[stream]") {
    stream_network n(2, 24);
    n.end(n.add<aten::relu>({n.x()}));
    CHECK_THAT(refusal(n, 4, 0, 3), Catch::Matchers::Contains("no axis 3"));
    CHECK_THAT(refusal(n, 4, 0, 0), Catch::Matchers::Contains("several steps"));
}

TEST_CASE("a model that keeps a state of the stream is refused, any other state stays", "[stream]") {
    stream_network n(2, 24);
    const value count = n.weights({1});
    n.g().set_name(count, "count");
    const value next = n.add<aten::add_scalar>({count, 1});
    n.g().create<builtin::output>({.values = {n.add<aten::mul_tensor>({n.x(), count}), next}});
    n.program().user_outputs = 1;
    n.program().mutations.push_back({mutation::kind_type::buffer, "count", 1, "count"});
    const auto made = n.stream(4);
    REQUIRE(made);
    CHECK(n.program().mutations.size() == 1);

    stream_network other(2, 24);
    const value last = other.weights({1, 2, 24});
    other.g().set_name(last, "last");
    other.g().create<builtin::output>({.values = {other.add<aten::relu>({other.x()}), other.x()}});
    other.program().user_outputs = 1;
    other.program().mutations.push_back({mutation::kind_type::buffer, "last", 1, "last"});
    CHECK_THAT(refusal(other), Catch::Matchers::Contains("keeps a state of the stream"));
}

TEST_CASE("what a window of the stream scales is equal once the window is full", "[stream]") {
    stream_network n(2, 24);
    const value mean = n.add<aten::mean_dim>({.self = n.x(), .dim = int_list{2}, .keepdim = true});
    n.end(n.add<aten::mul_tensor>({n.x(), mean}));
    const auto made = n.stream(4, 24);
    REQUIRE(made);
    CHECK(made.value().outputs[0].flow.exact == 20);
    const auto check = n.check(made.value());
    REQUIRE(check);
    CHECK(check.value().skipped == 1);
}
