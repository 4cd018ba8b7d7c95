// SPDX-License-Identifier: MIT
// Defines headrace::io_description: the inputs and outputs of a lowered model, as data and as JSON.
#ifndef HEADRACE_IO_SIGNATURE_IO_DESCRIPTION_HPP
#define HEADRACE_IO_SIGNATURE_IO_DESCRIPTION_HPP

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/base/dtype.hpp>
#include <headrace/io/file/json_writer.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/signature.hpp>

namespace headrace {

/// The numbers that a device's integers stand for: an integer q of channel c is `(q - zero_points[c]) *
/// scales[c]`. Lists have one element, or one for each channel.
struct io_device_numbers {
    std::vector<double> scales;
    std::vector<double> zero_points;  ///< need not be whole
    std::int64_t axis = 0;            ///< of the channels, in the tensor as exported

    friend bool operator==(const io_device_numbers&, const io_device_numbers&) = default;
};

/// The facts about a tensor that a caller needs to pass it or to read it.
struct io_tensor {
    std::string name;  ///< its name in the exported program
    headrace::dtype dtype = headrace::dtype::unknown;
    std::vector<std::int64_t> shape{};
    std::optional<signature_quantization> quantization{};  ///< if the integers stand for real numbers
    std::optional<io_device_numbers> device{};             ///< if the caller passes a device's integers
    headrace::dtype exported = headrace::dtype::unknown;   ///< the type in the exported program, if different
    bool channels_last = false;                            ///< NHWC here, NCHW as exported
    std::string state{};  ///< state whose old value comes in or whose new value goes out; empty: none
};

/// All inputs and outputs, in the order of the flatbuffer's or the method's.
struct io_description {
    std::vector<io_tensor> inputs{};
    std::vector<io_tensor> outputs{};
};

/// Descriptions by the names of methods.
using method_descriptions = std::map<std::string, io_description, std::less<>>;

[[nodiscard]] io_description describe_io(const graph& g);

/// Returns TOSA's name of a type (TOSA 1.0, section 1.9): FP32, INT8, BOOL.
[[nodiscard]] std::string tosa_type_name(dtype t);

/// Returns the type of that TOSA name; unknown if there is none.
[[nodiscard]] dtype dtype_of_tosa_name(std::string_view name);

/// Returns the JSON that `headrace lower --io` writes, without a final newline.
[[nodiscard]] std::string io_json(const io_description& io, json_style style = json_style::indented);
/// Returns the JSON for several methods: an object `methods` with such a description for each name.
[[nodiscard]] std::string io_json(
    const method_descriptions& methods, json_style style = json_style::indented);

}  // namespace headrace

#endif
