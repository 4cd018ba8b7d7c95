// SPDX-License-Identifier: MIT
// Defines headrace::lowers, headrace::fits, headrace::conforms and headrace::runs_on, which check a model's
// contract: the types and constants that `headrace contract` writes.
#ifndef HEADRACE_CONTRACT_CONTRACT_HPP
#define HEADRACE_CONTRACT_CONTRACT_HPP

#include <headrace/contract/conforms.hpp>
#include <headrace/contract/fits.hpp>
#include <headrace/contract/lowers.hpp>
#include <headrace/contract/runs_on.hpp>

#endif
