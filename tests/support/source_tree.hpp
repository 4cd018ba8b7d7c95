// SPDX-License-Identifier: MIT
// Defines how tests find files of the source tree.
#ifndef HEADRACE_TESTS_SUPPORT_SOURCE_TREE_HPP
#define HEADRACE_TESTS_SUPPORT_SOURCE_TREE_HPP

#include <cstdlib>
#include <filesystem>

#include <catch2/catch.hpp>

namespace headrace::testing {

/// Returns the root of the source tree, which tests/CMakeLists.txt puts into the environment: paths that the
/// compiler knows may be relative to another build, if ccache shared the object.
[[nodiscard]] inline std::filesystem::path source_tree() {
    const char* root = std::getenv("HEADRACE_SOURCE");
    REQUIRE(root != nullptr);
    return root;
}
[[nodiscard]] inline std::filesystem::path fixtures() { return source_tree() / "tests/fixtures"; }

}  // namespace headrace::testing

#endif
