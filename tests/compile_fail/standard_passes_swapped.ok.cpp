// SPDX-License-Identifier: MIT
// Defines a pipeline that canonicalizes variants of ops before in-place writes are made functional.
// EXPECT: pipeline: a required order is violated
// EXPECT: misordered<headrace::canonicalize_variants, headrace::functional>

#include <headrace/pass/pipeline.hpp>

#include <headrace/passes/normalize/functionalize.hpp>
#include <headrace/passes/normalize/variants.hpp>

using namespace headrace;

struct normalize
    : pipeline<from<aten::relu_inplace>, to<aten::dialect>, functionalize, canonicalize_variants> {};
