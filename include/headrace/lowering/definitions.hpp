// SPDX-License-Identifier: MIT
// Includes the definitions of everything that lowering/ declares. Include it in exactly one translation unit
// of a program. It is slow to compile: larger programs spread the definitions over several translation units.
#ifndef HEADRACE_LOWERING_DEFINITIONS_HPP
#define HEADRACE_LOWERING_DEFINITIONS_HPP

#include <headrace/lowering/delegation_definition.hpp>
#include <headrace/lowering/execution_definition.hpp>
#include <headrace/lowering/executorch_pipeline_definition.hpp>
#include <headrace/lowering/lower_definition.hpp>
#include <headrace/lowering/lower_package_definition.hpp>
#include <headrace/lowering/lower_pte_definition.hpp>
#include <headrace/lowering/models_definition.hpp>
#include <headrace/lowering/standard_pipeline_definition.hpp>

#endif
