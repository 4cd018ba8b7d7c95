// SPDX-License-Identifier: MIT
// The writer and the reader of .pte files, and what lowers to them, are compiled here.
#include <headrace/io/pte_emitter_definition.hpp>
#include <headrace/io/pte_reader_definition.hpp>
#include <headrace/lowering/lower_pte_definition.hpp>
