// SPDX-License-Identifier: MIT
// Defines headrace::u85::violated, the restrictions of Ethos-U85 compared with TOSA 1.0's integer profile.
#ifndef HEADRACE_TARGET_U85_RULES_HPP
#define HEADRACE_TARGET_U85_RULES_HPP

#include <cstdint>

#include <headrace/target/op_facts.hpp>

namespace headrace {

/// The reason why Ethos-U85 cannot execute an operator within its profile, its extensions and level 8K.
enum class u85_limit : std::uint8_t {
    none,
    op,               ///< only its author knows what a CUSTOM does
    computed_weight,  ///< weights and biases of CONV3D and TRANSPOSE_CONV2D must be constants
};

/// The report of supported operators of Vela 5.2, the compiler of Ethos-U85, lists the integer profile at
/// level 8K with int16, int4, double rounding and, as an experiment, control flow, and excludes computed
/// weights.
namespace u85 {

[[nodiscard]] constexpr u85_limit violated(const op_facts& f) {
    if (f.is<tosa::custom>()) return u85_limit::op;
    const bool computed = !f.is_constant(1) || !f.is_constant(2);
    return f.is<tosa::conv3d, tosa::transpose_conv2d>() && computed ? u85_limit::computed_weight
                                                                    : u85_limit::none;
}

}  // namespace u85

}  // namespace headrace

#endif
