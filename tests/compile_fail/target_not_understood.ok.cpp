// SPDX-License-Identifier: MIT
// Defines a target with an extension that TOSA does not have.
// EXPECT: target: this is not a target

#include <headrace/contract/model_contract.hpp>

using namespace headrace;

struct board : tosa_target<"TOSA-1.0+INT+int4"> {};
