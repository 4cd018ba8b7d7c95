// SPDX-License-Identifier: MIT
// Defines headrace::npu_fusion, which groups the operators of a TOSA graph as an NPU computes them.
#ifndef HEADRACE_SHOW_NPU_FUSION_HPP
#define HEADRACE_SHOW_NPU_FUSION_HPP

#include <bit>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/passes/npu/preferring.hpp>
#include <headrace/passes/support/constants.hpp>
#include <headrace/target/npu.hpp>

namespace headrace {

namespace detail {

// True for operators whose result is a part of a tensor that exists, or consists of such.
[[nodiscard]] inline bool moves_no_elements(const node& n) {
    return n.op->has(trait::reshaping) || n.op->has(trait::slicing) || n.op->has(trait::joining);
}

[[nodiscard]] inline const tensor_meta* meta_of_result(const node& n) {
    return n.result_count == 0 ? nullptr : n.results[0].meta;
}

[[nodiscard]] inline value result_of(const node& n) { return {const_cast<node*>(&n), 0}; }

// True if the value is an argument of the program, or computed from constants alone.
[[nodiscard]] inline bool is_constant(value v) {
    const node& n = *v.producer;
    if (is<builtin::constant>(n) || is<tosa::const_>(n) || is<tosa::const_shape>(n)) return true;
    const bool passes_on = is<tosa::reshape>(n) || is<tosa::transpose>(n) || is<tosa::rescale>(n);
    return passes_on && is_constant(n.operand(0));
}

// Returns the node that computes a value, before RESHAPEs, which only name its axes.
[[nodiscard]] inline const node& source_of(value v) {
    while (is<tosa::reshape>(*v.producer) && has_one_use(v)) v = v.producer->operand(0);
    return *v.producer;
}

/// An operator that an NPU computes: the TOSA operator, those fused before it, and those fused after it.
struct fused_operator {
    const node* head = nullptr;
    std::vector<const node*> before{};  ///< RESCALEs that widen operands
    std::vector<const node*> after{};   ///< RESCALE, CLAMP, TABLE, TRANSPOSE, and elementwise operators
    const node* copied = nullptr;       ///< the operand of a CONCAT, if the head is one

    [[nodiscard]] const node& last() const { return after.empty() ? *head : *after.back(); }
};

[[nodiscard]] inline bool is_computed_elementwise(const node& n) {
    return n.op->has(trait::elementwise) && !fused_into_convolutions.contains(*n.op);
}

// True for a RESCALE from 8 or 16 bits to 32.
[[nodiscard]] inline bool widens(const node& n) {
    if (!is<tosa::rescale>(n)) return false;
    const tensor_meta* before = meta_of(n.operand(0));
    const tensor_meta* after = meta_of_result(n);
    return before != nullptr && after != nullptr && traits_of(before->dtype).bits < 32 &&
        traits_of(after->dtype).bits == 32;
}

// Returns the only element of a constant; 0 if it is none.
[[nodiscard]] inline std::int64_t number_of_constant(value v) {
    const auto* constant = match<tosa::const_>(v);
    const tensor_meta* meta = meta_of(v);
    const auto numbers =
        constant == nullptr || meta == nullptr ? std::nullopt : integers_of(constant->data, *meta);
    return numbers && numbers->size() == 1 ? numbers->front() : 0;
}

// True for a RESCALE that multiplies by a power of two, more than one.
[[nodiscard]] inline bool adds_fraction(const args<tosa::rescale>& a) {
    const std::int64_t multiplier = number_of_constant(a.multiplier);
    return multiplier > 0 && std::has_single_bit(static_cast<std::uint64_t>(multiplier)) &&
        std::countr_zero(static_cast<std::uint64_t>(multiplier)) > number_of_constant(a.shift);
}

/// Groups the operators of a graph as Vela does.
class npu_fusion {
public:
    npu_fusion(const graph& g, const npu& target) : target_(target) {
        for (const node& n : g.nodes()) {
            if (is<tosa::concat>(n)) add_copies(n);
            if (!taken_.contains(&n)) add(n);
        }
    }
    [[nodiscard]] const std::vector<fused_operator>& operators() const { return operators_; }

private:
    [[nodiscard]] static bool is_free(const node& n) {
        return n.result_count == 0 || is_constant(result_of(n)) || is<builtin::placeholder>(n) ||
            is<builtin::output>(n) || moves_no_elements(n) || n.first_use == nullptr;
    }
    static const node* sole_user(const node& n) {
        return n.result_count == 1 && has_one_use(result_of(n)) ? n.first_use->target : nullptr;
    }
    static const node* sole_reader(const node& n) {
        const node* user = sole_user(n);
        while (user != nullptr && is<tosa::reshape>(*user)) user = sole_user(*user);
        return user;
    }
    // True if an elementwise operator computes with 8 or 16 bits, as all operands are widened for it alone,
    // and not all of them by bits of fraction.
    static bool is_narrow(const node& n) {
        const std::uint32_t operands = is<tosa::mul>(n) ? 2 : n.operand_count;
        bool are_fractions = true;
        for (std::uint32_t i = 0; i != operands; ++i) {
            const node& source = source_of(n.operand(i));
            if (!widens(source)) return false;
            are_fractions = are_fractions && adds_fraction(args_of<tosa::rescale>(source));
        }
        return !are_fractions;
    }
    static bool is_absorbed(const node& n) {
        const node* user = widens(n) ? sole_reader(n) : nullptr;
        if (user == nullptr) return false;
        return is<tosa::reduce_sum>(*user) || (is_computed_elementwise(*user) && is_narrow(*user));
    }

    // Operands of a CONCAT are copied if nothing writes them there.
    void add_copies(const node& n) {
        for (std::uint32_t i = 0; i != n.operand_count; ++i) {
            const value v = n.operand(i);
            if (!has_one_use(v) || is_constant(v) || is<builtin::placeholder>(*v.producer) ||
                moves_no_elements(*v.producer)) {
                operators_.push_back({.head = &n, .copied = v.producer});
            }
        }
    }

    void add(const node& n) {
        if (is_free(n) || is_absorbed(n)) return;
        fused_operator all{.head = &n};
        for (std::uint32_t i = 0; i != n.operand_count; ++i) {
            const node& operand = source_of(n.operand(i));
            if (is_absorbed(operand)) all.before.push_back(&operand);
        }
        bool is_wide = is_computed_elementwise(n) && !is_narrow(n);
        const node* last = &n;
        // Vela gives the results of transposed convolutions as INT32.
        while (const node* user = is<tosa::transpose_conv2d>(n) ? nullptr : sole_user(*last)) {
            const bool is_first = user->operand(0).producer == last;
            const bool acts = fused_into_convolutions.contains(*user->op) && is_first && !widens(*user) &&
                !(is_wide && is<tosa::rescale>(*user) && !target_.chains);
            const bool moves = target_.fuses_moves && is<tosa::transpose>(*user);
            const bool chains =
                target_.chains && is_computed_elementwise(*user) && !is_constant(result_of(*user));
            if (!acts && !moves && !chains) break;
            if (chains) is_wide = !is_narrow(*user);
            all.after.push_back(user);
            taken_.insert(user);
            last = user;
        }
        operators_.push_back(std::move(all));
    }

    const npu& target_;
    std::vector<fused_operator> operators_{};
    std::unordered_set<const node*> taken_{};
};

}  // namespace detail

}  // namespace headrace

#endif
