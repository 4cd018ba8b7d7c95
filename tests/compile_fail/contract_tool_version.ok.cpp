// SPDX-License-Identifier: MIT
// Defines a project whose Vela is newer than those that were tested with the model's files.
// EXPECT: model_does_not_run_on<
// EXPECT: outside_of_versions<headrace::tool::vela<6, 1>, headrace::from_version<5, 0>, headrace::to_version<5, 2>>

#include "../support/small_contract.hpp"

using namespace headrace;

struct kws : small_contract {
    struct needs {
        static constexpr tool_version tosa{1, 0};
        static constexpr version_range executorch{{1, 3}, {1, 5}}, vela{{5, 0}, {5, 2}};
    };
};
static_assert(runs_on<kws, tool::executorch<1, 5>, tool::vela<5, 2>, ethos_u55>);
