// SPDX-License-Identifier: MIT
// Defines headrace::prove::claim, a statement that a number of a graph fits where it has to.
#ifndef HEADRACE_PROVE_CLAIM_HPP
#define HEADRACE_PROVE_CLAIM_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <headrace/infer/ranges/interval.hpp>
#include <headrace/ir/node.hpp>

namespace headrace::prove {

/// A number that TOSA 1.0 requires to fit.
enum class claim_kind : std::uint8_t {
    accumulator,   ///< sums of convolutions, matrix products, poolings and REDUCE_SUM, and all partial sums
    arithmetic,    ///< results of ADD, SUB, MUL, ABS, NEGATE, INTDIV and RESIZE
    scale_input,   ///< what apply_scale takes: [-2^(shift-1), 2^(shift-1)), or int48
    scale_result,  ///< what it gives, and that with the output's zero point
    scale_factor,  ///< multipliers are not negative, shifts are in [2, 62]
    table_slope,   ///< differences of neighbours in a TABLE of int16
    shift_amount,  ///< of shifts, below the bits of the operand
    divisor,       ///< of INTDIV: not 0
    cast,          ///< the operand of a CAST to an integer
    index          ///< of GATHER and SCATTER
};
inline constexpr std::size_t claim_kind_count = static_cast<std::size_t>(claim_kind::index) + 1;

/// Returns the name of one or of several numbers of a kind: "accumulator", "accumulators".
[[nodiscard]] constexpr std::string_view name_of(claim_kind kind, bool several = false) {
    constexpr std::string_view names[claim_kind_count][2] = {{"accumulator", "accumulators"},
        {"arithmetic result", "arithmetic results"}, {"operand of a scale", "operands of scales"},
        {"scaled result", "scaled results"}, {"scale factor", "scale factors"},
        {"table slope", "table slopes"}, {"shift amount", "shift amounts"}, {"divisor", "divisors"},
        {"cast", "casts"}, {"index", "indices"}};
    return names[static_cast<std::size_t>(kind)][several ? 1 : 0];
}

/// A bound of one node's numbers of a kind: those of the channel that is nearest to its limit.
struct claim {
    const node* where = nullptr;
    claim_kind kind = claim_kind::accumulator;
    interval computed{};
    interval allowed{};
    std::size_t channel = 0;
    bool assumed = false;  ///< an input, which its user has to keep within `allowed`

    [[nodiscard]] constexpr bool holds() const { return assumed || allowed.contains(computed); }
};

/// Returns the least n such that [-2^n, 2^n - 1] contains the interval; 128 if none up to 127 does.
[[nodiscard]] constexpr int bits_for(const interval& i) {
    bound power = 1;
    for (int n = 0; n != 128; ++n, power *= 2) {
        if (-power <= i.low && i.high <= power - 1) return n;
    }
    return 128;
}
/// Returns by how far an interval is from its limits: 1 at a limit, more outside, less within.
[[nodiscard]] constexpr bound fullness(const interval& computed, const interval& allowed) {
    const bound middle = (allowed.low + allowed.high) / 2;
    const bound half = (allowed.high - allowed.low) / 2;
    const bound out = std::max(computed.high - middle, middle - computed.low);
    return half > 0 ? out / half : out > 0 ? interval::unlimited : bound{1};
}

/// True if a claim is nearer to its limits than another, or fails where the other holds.
[[nodiscard]] constexpr bool is_fuller(const claim& a, const claim& b) {
    if (a.holds() != b.holds()) return b.holds();
    return fullness(a.computed, a.allowed) > fullness(b.computed, b.allowed);
}

}  // namespace headrace::prove

#endif
