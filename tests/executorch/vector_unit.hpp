// SPDX-License-Identifier: MIT
// Declares the runtime's side of the backend in examples/own_backend.cpp.
#ifndef HEADRACE_TESTS_EXECUTORCH_VECTOR_UNIT_HPP
#define HEADRACE_TESTS_EXECUTORCH_VECTOR_UNIT_HPP

/// Registers the backend "vector_unit"; returns whether the runtime has accepted it.
[[nodiscard]] bool register_vector_unit();

#endif
