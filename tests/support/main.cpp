// SPDX-License-Identifier: MIT
// The main function of every folder's tests.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
