// SPDX-License-Identifier: MIT
// Defines headrace::widen_unsigned.
#ifndef HEADRACE_PASSES_NORMALIZE_WIDEN_UNSIGNED_HPP
#define HEADRACE_PASSES_NORMALIZE_WIDEN_UNSIGNED_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/ir/operand_fields.hpp>
#include <headrace/op/op_query.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/casting.hpp>
#include <headrace/passes/support/narrowing.hpp>

namespace headrace {

/// TOSA 1.0 computes with signed integers only. uint8 arithmetic becomes int32 arithmetic between casts; its
/// low eight bits are the same. Ops that only compare or select by size read bytes as int8 with the top bit
/// inverted, which have the same order; masks become booleans. Ops that move elements, or work on single
/// bits, are left unchanged, as are casts.
struct widen_unsigned : pass {
    using runs_after = pass_list<functional, canonical_variants, canonical_casts, canonical_fills,
        noops_removed, tensor_operands>;
    using runs_before = pass_list<functions_tabulated>;
    using ensures = pass_list<unsigned_widened>;
    static constexpr std::string_view summary = "arithmetic of uint8 as that of int32, cut to its low bits";
    using produces = ops<aten::_to_copy, aten::bitwise_xor_tensor>;

    [[nodiscard]] bool should_run(const graph& g) const { return holds_unsigned_bytes(g); }

    result<std::size_t> operator()(graph& g, pass_context& context) const {
        return change_nodes(g, [&](node& n) { return computes_with_bytes(n) && widen(n, context); });
    }

private:
    static constexpr auto moves = set_where<aten::dialect,
        trait::moving | trait::gathering | trait::nearest | trait::copying | trait::gives_number>;
    static constexpr auto by_order =
        set_where<aten::dialect, trait::reduction | trait::pooling, trait::on_reals> |
        set_where<aten::dialect, trait::binary, trait::commutative, trait::on_reals>;

    // True if its results combine elements of several operands of one dtype.
    static bool joins(const node& n) {
        return n.op->has(trait::joining | trait::padding) || is<aten::where_self>(n) ||
            is<aten::select_scatter>(n) || is<aten::slice_scatter>(n) || is<aten::scatter_src>(n) ||
            is<aten::index_copy>(n) || is<aten::masked_fill_tensor>(n);
    }
    static bool works_on_single_bits(const node& n) {
        return is<aten::bitwise_and_tensor>(n) || is<aten::bitwise_or_tensor>(n) ||
            is<aten::bitwise_xor_tensor>(n) || is<aten::bitwise_not>(n);
    }
    static bool moves_elements(const node& n) {
        if (const auto* a = args_if<aten::index_put>(n)) return !a->accumulate;
        return moves.contains(*n.op) || joins(n) || is<aten::scatter_value>(n) ||
            is<aten::masked_fill_scalar>(n);
    }

    static bool are_bytes(const node& n) {
        return std::all_of(n.operand_edges().begin(), n.operand_edges().end(),
            [](const edge& e) { return is_unsigned_bytes(*e.slot); });
    }
    static bool is_mask_field(std::string_view field) {
        return field == "condition" || field == "mask" || field == "indices";
    }

    static bool computes_with_bytes(const node& n) {
        if (!is_of_dialect<aten::dialect>(n) || n.result_count == 0 || n.op->has(trait::casting) ||
            is<aten::_to_copy>(n))
            return false;
        const auto operands = n.operand_edges();
        const bool reads = std::any_of(
            operands.begin(), operands.end(), [](const edge& e) { return is_unsigned_bytes(*e.slot); });
        const bool gives = has_result_of(n, dtype::uint8);
        return (reads || gives) && !keeps_bytes(n, gives);
    }
    // True if its results' bytes are its operands' bytes, regardless of their meaning.
    static bool keeps_bytes(const node& n, bool gives) {
        if (!gives) return false;
        if (works_on_single_bits(n)) return are_bytes(n);
        if (!moves_elements(n)) return false;
        const auto fields = operand_fields(n);
        for (std::size_t i = 0; i != n.operand_count; ++i) {
            const bool is_bytes = is_unsigned_bytes(n.operand(i));
            if (is_bytes && is_mask_field(fields[i])) return false;
            const tensor_meta* meta = meta_of(n.operand(i));
            const bool is_index = meta != nullptr && (is_boolean(meta->dtype) || fields[i] == "index");
            if (!is_bytes && !is_index && joins(n)) return false;
        }
        return true;
    }

    // How a node reads bytes: as the numbers they represent, or as other numbers in the same order.
    enum class reading { numbers, ordered };

    static bool widen(node& n, pass_context& context) {
        graph& g = *n.owner;
        const bool has_xor =
            build::allows<tosa::bitwise_xor>(g.target(), {dtype::int8, dtype::int8, dtype::int8});
        // A reduction that returns floats computes with the actual numbers.
        const bool selects = by_order.contains(*n.op) && are_bytes(n) &&
            (has_result_of(n, dtype::uint8) || n.op->has(trait::locating));
        const reading as = selects && has_xor ? reading::ordered : reading::numbers;
        const dtype wide = as == reading::ordered ? dtype::int8
            : has_result_of(n, dtype::int16)      ? dtype::int16
                                                  : dtype::int32;
        emission made(g, &n, &n, context);
        emit<produces> e(made);
        const auto fields = operand_fields(n);
        for (std::size_t i = 0; i != n.operand_count; ++i) {
            const value v = n.operand(i);
            if (!is_unsigned_bytes(v)) continue;
            const dtype to = is_mask_field(fields[i]) ? dtype::boolean : wide;
            const value read = cast(e, as == reading::ordered ? inverted(e, v) : v, to);
            if (read) g.set_operand(n.operands[i], read);
        }
        replace_dtype(n, dtype::uint8, wide);
        return give_bytes(n, as, context);
    }

    // Sets the results to their new dtypes, and converts them back to the old ones for their readers.
    static bool give_bytes(node& n, reading as, pass_context& context) {
        graph& g = *n.owner;
        inference inferred(g.arena());
        const inference_rule rule = find_rule<aten::dialect>(*n.op);
        const result<void> done = rule != nullptr ? rule(n.arguments, inferred) : result<void>();
        if (!done || inferred.results().size() != n.result_count) {
            context.report(n,
                done ? std::string_view("what it makes of bytes is not known")
                     : std::string_view(done.error().message));
            return false;
        }
        emission made(g, &n, n.next, context);
        emit<produces> e(made);
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            const value given = n.result(i);
            const dtype before = e.dtype(given);
            g.set_meta(given, inferred.results()[i]);
            if (before == e.dtype(given) || given.producer->first_use == nullptr) continue;
            const value low = cast(e, given, before);
            const value back = as == reading::ordered && before == dtype::uint8 ? inverted(e, low) : low;
            if (back) g.replace_all_uses(given, back, low.producer);
        }
        return true;
    }

    static value cast(emit<produces> e, value v, dtype to) {
        return e.make<aten::_to_copy>({.self = v, .dtype = to});
    }
    // Inverts the top bit: as int8, the bytes are then in the same order as before as uint8.
    static value inverted(emit<produces> e, value v) {
        return e.make<aten::bitwise_xor_tensor>(v, e.splat(128, dtype::uint8, e.rank(v)));
    }
};
HEADRACE_COMPILED_PASS(widen_unsigned);

}  // namespace headrace

#endif
