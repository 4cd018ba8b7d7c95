// SPDX-License-Identifier: MIT
// Declares headrace::read_input_samples, which finds the samples of all inputs of a graph.
#ifndef HEADRACE_LOWERING_SAMPLES_READ_INPUT_SAMPLES_HPP
#define HEADRACE_LOWERING_SAMPLES_READ_INPUT_SAMPLES_HPP

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/lowering/samples/input_samples.hpp>

namespace headrace {

using samples_of_inputs = std::shared_ptr<std::deque<input_samples>>;
/// Takes the number of a sample, and of all samples, or 0 while a stream is read.
using progress_of_samples = std::function<void(std::size_t i, std::size_t count)>;

/// Finds the samples of each input: in a file, a directory, or a stream, which is read to its end. A single
/// stream has those of all inputs, array by array in the order of the inputs. `tell` may be empty.
[[nodiscard]] result<samples_of_inputs> read_input_samples(
    const graph& g, const std::vector<std::string>& files, const progress_of_samples& tell);

}  // namespace headrace

#endif
