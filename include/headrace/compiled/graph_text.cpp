// SPDX-License-Identifier: MIT
// Graphs as text are compiled here.
#include <headrace/io/graph_text_definition.hpp>
#include <headrace/io/opaque_definition.hpp>
