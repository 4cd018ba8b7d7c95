// SPDX-License-Identifier: MIT
// Declares headrace::samples::op_programs, which draws programs of one op.
#ifndef HEADRACE_SHOW_OP_PROGRAMS_HPP
#define HEADRACE_SHOW_OP_PROGRAMS_HPP

#include <array>
#include <cstddef>
#include <optional>
#include <random>
#include <string_view>

#include <headrace/base/dtype.hpp>
#include <headrace/base/target_spec.hpp>
#include <headrace/io/program.hpp>
#include <headrace/op/op.hpp>
#include <headrace/show/sample_arguments.hpp>

namespace headrace {

/// The elements of an op's first operand. `quantized` is float32 that `headrace quantize` has made int8.
struct element_class {
    std::string_view name;
    dtype type;
    bool is_quantized = false;

    /// Returns the target that `headrace lower` would choose, except INT for quantized ops, and bfloat16 for
    /// its class.
    [[nodiscard]] std::optional<target_spec> target() const;
};
inline constexpr std::array<element_class, 7> element_classes{{{"float32", dtype::float32},
    {"float16", dtype::float16}, {"bfloat16", dtype::bfloat16}, {"quantized", dtype::float32, true},
    {"int32", dtype::int32}, {"int64", dtype::int64}, {"bool", dtype::boolean}}};
/// Ranks below this one are probed.
inline constexpr std::size_t probed_ranks = 7;

namespace samples {

/// Draws arguments that the inference rule of an op accepts, with a first operand of given elements and rank,
/// the same ones on every machine. The op must outlive it. Ops without a tensor operand are classified by
/// their result.
class op_programs {
public:
    op_programs(const op_info& op, const element_class& elements, std::size_t rank);

    /// Draws the next arguments; none once the tries are used up.
    [[nodiscard]] std::optional<arguments> next();
    /// Returns the program that computes the op with these arguments; none if the op is to be quantized, and
    /// nothing in it is.
    [[nodiscard]] std::optional<program> make(const arguments& all) const;

private:
    [[nodiscard]] arguments for_inference(arguments all) const;
    [[nodiscard]] bool begins_with_operand(const arguments& all) const;
    [[nodiscard]] bool is_meant(const program& p) const;

    const op_info& op_;
    element_class elements_;
    std::size_t rank_;
    std::mt19937 random_;
    small_arguments small_;
    bool has_shapes_;
    int tries_;
};

}  // namespace samples
}  // namespace headrace

#endif
