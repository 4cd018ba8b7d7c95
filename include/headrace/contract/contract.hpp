// SPDX-License-Identifier: MIT
// Defines headrace::lowers, headrace::fits and headrace::conforms, which check the contract of a model: what
// `headrace contract` knows of it, as types and constants.
#ifndef HEADRACE_CONTRACT_CONTRACT_HPP
#define HEADRACE_CONTRACT_CONTRACT_HPP

#include <headrace/contract/conforms.hpp>
#include <headrace/contract/fits.hpp>
#include <headrace/contract/lowers.hpp>

#endif
