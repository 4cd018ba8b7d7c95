// SPDX-License-Identifier: MIT
// Defines a pipeline after which an op can be left: its only handler may decline.
// EXPECT: pipeline: an op can survive it
// EXPECT: survives<headrace::toy::relu, lower_relu>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relu : pass {
    using targets = ops<toy::relu>;
    using produces = ops<toy::clamp>;
    std::optional<value> operator()(const args<toy::relu>& a, emit<produces>& e) const {
        return e.make<toy::clamp>({.self = a.self});
    }
};

struct lowering : pipeline<from<toy::relu>, to<toy::clamp>, lower_relu> {};
