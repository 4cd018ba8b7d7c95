// SPDX-License-Identifier: MIT
// Defines how C programs get the description of a model's inputs and outputs.
#ifndef HEADRACE_IO_EMBED_EMBEDDED_TENSORS_HPP
#define HEADRACE_IO_EMBED_EMBEDDED_TENSORS_HPP

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/base/dtype.hpp>
#include <headrace/base/result.hpp>
#include <headrace/io/signature/io_description.hpp>
#include <headrace/io/vela/output.hpp>

namespace headrace {

namespace embed {

/// An input or output with the types that C programs use for it.
struct embedded_tensor {
    std::string name;
    std::string dtype;
    std::vector<std::int32_t> shape{};
    std::uint64_t bytes = 0;
    std::uint64_t arena_offset = 0;
    double scale = 0;
    std::int32_t zero_point = 0;
    std::int32_t lowest = 0;
    std::int32_t highest = 0;
};

[[nodiscard]] result<embedded_tensor> embedded(const io_tensor& from);
[[nodiscard]] result<std::vector<embedded_tensor>> embedded(const std::vector<io_tensor>& tensors);

// Vela identifies the tensors by position alone: their sizes tell whether the two files belong together.
[[nodiscard]] result<void> place(
    std::vector<embedded_tensor>& tensors, const std::vector<arena_tensor>& places);

// Each header defines them, so that it needs no other file; only the first one that is included takes effect.
inline constexpr std::string_view c_io_types = R"(#ifndef HEADRACE_IO_TYPES
#define HEADRACE_IO_TYPES
struct headrace_tensor {
    const char* name;      /* as the model was exported */
    const char* dtype;     /* TOSA's name: "INT8", "FP32" */
    const int32_t* shape;  /* row-major; null without dimensions */
    uint32_t rank;
    uint32_t arena_offset; /* of a model for the NPU: where its bytes lie in the arena */
    size_t bytes;
    float scale;           /* real = (integer - zero_point) * scale; 0: it holds no quantized reals */
    int32_t zero_point, qmin, qmax;
    double exact_scale;    /* scale with all its digits */
};
struct headrace_io {
    const struct headrace_tensor* inputs;
    size_t input_count;
    const struct headrace_tensor* outputs;
    size_t output_count;
};
#endif
)";

[[nodiscard]] std::string tensor_table(
    const std::string& prefix, const std::vector<embedded_tensor>& tensors);

}  // namespace embed

/// Fails if the tables of a 32-bit C program cannot hold the description.
[[nodiscard]] result<void> check_embeddable(const io_description& io);

}  // namespace headrace

#endif
