// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/tosa/emitter.hpp, once for all programs that link headrace::compiled.

#include <headrace/io/tosa/emitter.hpp>

#include <headrace/io/tosa/emitter_definition.hpp>
