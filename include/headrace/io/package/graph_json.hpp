// SPDX-License-Identifier: MIT
// Includes headrace::graph_json and headrace::read_graph_json, the textual form of graphs in packages.
#ifndef HEADRACE_IO_PACKAGE_GRAPH_JSON_HPP
#define HEADRACE_IO_PACKAGE_GRAPH_JSON_HPP

#include <headrace/io/package/graph_json_reader.hpp>
#include <headrace/io/package/graph_json_writer.hpp>

#endif
