// SPDX-License-Identifier: MIT
// The writer of PyTorch's archives is compiled here.
#include <headrace/io/pt2_writer_definition.hpp>
