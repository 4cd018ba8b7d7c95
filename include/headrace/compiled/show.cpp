// SPDX-License-Identifier: MIT
// What shows graphs to people is compiled here.
#include <headrace/lowering/model_summary_definition.hpp>
#include <headrace/lowering/short_listing_definition.hpp>
