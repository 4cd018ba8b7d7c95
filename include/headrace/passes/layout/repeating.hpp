// SPDX-License-Identifier: MIT
// Defines headrace::broadcast_repeats, which lets operators broadcast what a TILE repeats.
#ifndef HEADRACE_PASSES_LAYOUT_REPEATING_HPP
#define HEADRACE_PASSES_LAYOUT_REPEATING_HPP

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/infer/tosa.hpp>
#include <headrace/op/op_query.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/build.hpp>

namespace headrace {

/// Removes TILEs that make operands as large as the result: elementwise operators of several operands repeat
/// axes of size 1 by themselves. A function of one tensor is computed before the TILE, so on fewer elements.
/// Example: a quantized `expand_as` before a product.
struct broadcast_repeats : pass {
    using runs_after = pass_list<tosa_only>;
    using runs_before = pass_list<layouts_chosen>;
    static constexpr std::string_view summary =
        "drops TILEs that elementwise ops would broadcast, or computes functions before them";
    static constexpr bool in_execution_order = true;

    static auto rewrites() {
        return rules(
            on_each<of_one> = code<made>([](emit<made> e, const auto&) { return computed_before(e); }),
            on_each<of_several> = code<made>([](emit<made> e, const auto&) { return broadcasting(e); }));
    }

private:
    using of_one = ops_where<tosa::dialect, trait::unary>;
    using of_several = ops_where<tosa::dialect, trait::binary | trait::ternary>;
    using made = ops<tosa::tile>;

    // Returns the TILE that makes a value, if it repeats only axes of size 1.
    static const args<tosa::tile>* repeat_of(emit<made> e, value v) {
        const auto* tile = match<tosa::tile>(v);
        if (tile == nullptr || e.rank(v) == 0) return nullptr;
        const sizes from = e.shape(tile->input1), to = e.shape(v);
        for (std::size_t d = 0; d != from.size(); ++d) {
            if (from[d] != to[d] && from[d] != 1) return nullptr;
        }
        return tile;
    }

    static std::optional<value> computed_before(emit<made> e) {
        const node& n = e.current();
        const value v = n.operand(0);
        const auto* tile = repeat_of(e, v);
        if (tile == nullptr || !has_one_use(v) || !gains_before(e, v)) return std::nullopt;
        const auto* rescale = args_if<tosa::rescale>(n);
        const bool by_channel = rescale != nullptr && rescale->per_channel;
        if (by_channel && e.shape(tile->input1).back() != e.shape(v).back()) return std::nullopt;
        pmr_vector<value> operands{tile->input1};
        for (std::size_t i = 1; i != n.operand_count; ++i) operands.push_back(n.operand(i));
        node* const once = e.clone(
            n, operands, [&](tensor_meta& meta) { meta.shape = e.owner().own(e.shape(tile->input1)); });
        if (once == nullptr) return std::nullopt;
        return e.make<tosa::tile>({.input1 = once->result(), .multiples = tile->multiples});
    }

    // True if a TILE takes `type` wherever it takes `other`: each profile has TILEs of booleans and of its
    // own numbers.
    static bool may_repeat(dtype type, dtype other) {
        const bool is_number = is_floating(type) || is_signed_integral(type);
        const bool is_like_other = is_floating(type) == is_floating(other) && !is_boolean(other);
        return is_boolean(type) || (is_number && is_like_other);
    }
    // True if repeating the result moves no more bytes than repeating `v`, or becomes a broadcast.
    static bool gains_before(emit<made> e, value v) {
        const dtype type = e.result_meta().dtype;
        const auto broadcasts = [](const edge& use) { return set_of<of_several>.contains(*use.target->op); };
        return may_repeat(type, e.dtype(v)) &&
            (traits_of(type).bits <= traits_of(e.dtype(v)).bits ||
                std::ranges::all_of(e.current().uses(), broadcasts));
    }

    static std::optional<value> broadcasting(emit<made> e) {
        const node& n = e.current();
        const std::size_t count = n.op->has(trait::ternary) ? 3 : 2;
        pmr_vector<value> operands(n.operand_count);
        for (std::size_t i = 0; i != n.operand_count; ++i) operands[i] = n.operand(i);
        bool changed = false;
        for (std::size_t i = 0; i != count; ++i) {
            const auto* tile = repeat_of(e, operands[i]);
            if (tile == nullptr) continue;
            const value repeated = std::exchange(operands[i], tile->input1);
            const bool is_covered = covers(e, std::span(operands).first(count));
            if (!is_covered) operands[i] = repeated;
            changed = changed || is_covered;
        }
        if (!changed) return std::nullopt;
        node* const copy = e.clone(n, operands, [](tensor_meta&) {});
        return copy == nullptr ? std::nullopt : std::optional(copy->result());
    }
    // True if the operands broadcast to the shape of the result.
    static bool covers(emit<made> e, std::span<const value> operands) {
        const sizes result = e.result_meta().shape;
        for (std::size_t d = 0; d != result.size(); ++d) {
            const auto has_axis = [&](value v) { return e.shape(v)[d] == result[d]; };
            if (std::ranges::none_of(operands, has_axis)) return false;
        }
        return true;
    }
};
HEADRACE_COMPILED_PASS(broadcast_repeats);

}  // namespace headrace

#endif
