// SPDX-License-Identifier: MIT
// The TOSA reader and writer and the Graphviz writer are compiled here.
#include <headrace/io/dot_definition.hpp>
#include <headrace/io/tosa_emitter_definition.hpp>
#include <headrace/io/tosa_reader_definition.hpp>
#include <headrace/io/tosa_stream_definition.hpp>
