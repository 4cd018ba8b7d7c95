// SPDX-License-Identifier: MIT
// The writer of contracts is compiled here.
#include <headrace/contract/contract_text.hpp>
#include <headrace/contract/contract_text_definition.hpp>
