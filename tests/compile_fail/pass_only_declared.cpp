// SPDX-License-Identifier: MIT
// Defines a pipeline with a pass whose header is not included.
// EXPECT: pass: it is only declared
// EXPECT: only_declared<lower_relu>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relu;

struct lowering : pipeline<from<toy::relu>, to<toy::relu>, lower_relu> {};
