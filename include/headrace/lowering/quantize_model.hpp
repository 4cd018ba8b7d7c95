// SPDX-License-Identifier: MIT
// Declares headrace::quantize_model, which quantizes an exported program, calibrated on samples from files.
#ifndef HEADRACE_LOWERING_QUANTIZE_MODEL_HPP
#define HEADRACE_LOWERING_QUANTIZE_MODEL_HPP

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/io/program.hpp>
#include <headrace/lowering/device/device_input.hpp>
#include <headrace/quantization/search_quantization.hpp>

namespace headrace {

struct quantization_options {
    /// For each input, in order, a .npy file or a directory of them, which are read in the order of their
    /// names, or a pipe of such files one after another. A file has one sample, of the input's shape, or
    /// several, along the first axis or along an additional axis in front. A single pipe, or "-", which is
    /// standard input, gives a file for each input in turn.
    std::vector<std::string> samples{};
    /// Inputs that become the integers of a device; their samples are such integers.
    std::vector<device_input> device_inputs{};
    quantization_config config{};
    /// Seconds for which other configurations are tried in addition to this one; see search_quantization.
    std::optional<double> search_for{};
    /// For that search: the share of the elements, from 0 to 1, that may get 16 bits; see mix_precision.
    double int16_share = 0;
    /// File for what is observed of the samples, for a quantization elsewhere; empty: none. See
    /// statistics_writer.
    std::string observe{};
    /// Such files, instead of samples: with those of consecutive parts of the samples, in order, the result
    /// is that of all samples.
    std::vector<std::string> statistics{};
    parallel_for in_parallel = run_serially;
    /// Called before sample i of `count` is executed, from any thread, and with a count of 0 when sample i
    /// has arrived on a pipe; may be empty.
    std::function<void(std::size_t i, std::size_t count)> progress{};
};

/// A summary of the quantization, and the configurations that were tried if the options ask for a search.
struct model_quantization : quantization_summary {
    quantization_search search{};
};

/// Finds the samples, which are read when they are needed. An error names a file whose shape or dtype does
/// not fit its input; that of a sample one whose numbers are not finite.
[[nodiscard]] result<sample_source> read_samples(const graph& g, const std::vector<std::string>& files);

/// Quantizes the program in place; buffers that it writes keep their type and first value (see
/// quantized_states). Refuses a model that is already quantized, has no float32 input, or has
/// nothing to quantize.
[[nodiscard]] result<model_quantization> quantize_model(program& p, const quantization_options& options);

/// Gives the nodes of a graph the unique names and the origins that they have once write_pt2 has written it
/// and read_pt2 has read it again. A quantizer's nodes share those of the nodes that they were made for, or
/// have none.
void name_as_written(graph& g);

}  // namespace headrace

#endif
