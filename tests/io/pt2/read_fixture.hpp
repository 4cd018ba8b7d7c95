// SPDX-License-Identifier: MIT
// Defines headrace::testing::read_fixture, the program of a fixture.
#ifndef HEADRACE_TESTS_IO_PT2_READ_FIXTURE_HPP
#define HEADRACE_TESTS_IO_PT2_READ_FIXTURE_HPP

#include <string_view>
#include <utility>

#include <catch2/catch.hpp>

#include <headrace/io/pt2/pt2.hpp>

#include "../../support/source_tree.hpp"

namespace headrace::testing {

inline headrace::program read_fixture(std::string_view name) {
    auto read = read_pt2(fixtures() / name / "model.pt2");
    if (!read) FAIL(read.error().message);
    return std::move(read).value();
}

}  // namespace headrace::testing

#endif
