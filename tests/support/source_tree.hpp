// SPDX-License-Identifier: MIT
// Defines where tests find files of the source tree.
#ifndef HEADRACE_TESTS_SUPPORT_SOURCE_TREE_HPP
#define HEADRACE_TESTS_SUPPORT_SOURCE_TREE_HPP

#include <cstdlib>
#include <filesystem>

#include <catch2/catch.hpp>

namespace headrace::testing {

/// The root of the source tree, which tests/CMakeLists.txt puts into the environment: the paths that the
/// compiler knows may be relative to a build that ccache has shared.
[[nodiscard]] inline std::filesystem::path source_tree() {
    const char* root = std::getenv("HEADRACE_SOURCE");
    REQUIRE(root != nullptr);
    return root;
}
[[nodiscard]] inline std::filesystem::path fixtures() { return source_tree() / "tests/fixtures"; }

}  // namespace headrace::testing

#endif
