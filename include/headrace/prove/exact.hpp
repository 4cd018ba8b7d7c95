// SPDX-License-Identifier: MIT
// Declares headrace::prove::find_overflow, which checks a node's numbers for given operands.
#ifndef HEADRACE_PROVE_EXACT_HPP
#define HEADRACE_PROVE_EXACT_HPP

#include <cstdint>
#include <optional>
#include <span>

#include <headrace/eval/tensor.hpp>
#include <headrace/infer/ranges/interval.hpp>
#include <headrace/ir/node.hpp>
#include <headrace/prove/claim.hpp>

namespace headrace::prove {

/// A number that does not fit.
struct overflow {
    claim_kind kind = claim_kind::accumulator;
    bound reached = 0;
    interval allowed{};
    std::int64_t element = 0;  ///< of the operand for casts and scales, else of the result
};

/// Computes a TOSA node's numbers of that kind without wrapping, and returns the one that exceeds its limits
/// by most; nothing if all fit.
[[nodiscard]] std::optional<overflow> find_overflow(
    const node& n, claim_kind kind, std::span<const eval::tensor> operands);

}  // namespace headrace::prove

#endif
