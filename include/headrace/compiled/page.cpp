// SPDX-License-Identifier: MIT
// What a page shows of a lowering is compiled here.
#include <headrace/lowering/graph_history_definition.hpp>
#include <headrace/lowering/page_data_definition.hpp>
