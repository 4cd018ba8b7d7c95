// SPDX-License-Identifier: MIT
// Defines headrace::tabulate_functions.
#ifndef HEADRACE_PASSES_QUANTIZE_TABULATE_FUNCTIONS_HPP
#define HEADRACE_PASSES_QUANTIZE_TABULATE_FUNCTIONS_HPP

#include <algorithm>

#include <headrace/op/op_query.hpp>
#include <headrace/passes/quantize/quantization.hpp>
#include <headrace/passes/quantize/rescaling.hpp>

namespace headrace {

/// Turns a quantized elementwise function of one quantized tensor into a TABLE (TOSA 1.0, 2.3.4): 256
/// integers for INT8; for INT16, 513 points with linear interpolation. The function may consist of any number
/// of elementwise ops, with or without intermediate quantization, may have numbers as further operands, and
/// may read its operand several times. Its table is the function itself, applied to a constant of all
/// integers, which is folded next. Functions of clamps only are left: they cost less as CLAMP.
struct tabulate_functions : pass {
    using runs_after = pass_list<canonical_quantization, noops_removed, tensor_operands, unit_alpha>;
    using runs_before = pass_list<quantized_constants_folded>;
    using ensures = pass_list<functions_tabulated>;
    using invalidates = pass_list<quantized_constants_folded>;
    static constexpr std::string_view summary = "q(f(dq(x))) = table[x], for any elementwise function f";
    using quantize = quantized_decomposed::quantize_per_tensor;
    using dequantize = quantized_decomposed::dequantize_per_tensor;
    static constexpr bool in_execution_order = true;

    using clamps =
        ops<aten::relu, aten::relu6, aten::hardtanh, aten::clamp, aten::clamp_min, aten::clamp_max>;
    // A prelu's weight may have several elements, and a cast reads another dtype.
    static constexpr auto functions = (set_where<aten::dialect, trait::elementwise> -
                                          set_where<aten::dialect, trait::on_bits> - set_of<clamps>) |
        ops_in<aten::prelu, aten::_prelu_kernel, aten::_to_copy>;

    static auto rewrites() { return rules(on<quantize> = code<tabulated>()); }

private:
    using made = joined<build::reshape_ops, ops<tosa::table, tosa::rescale>>;

    static std::optional<value> tabulated(emit<made> e, const args<quantize>& a) {
        if (a.dtype != dtype::int8 && a.dtype != dtype::int16) return std::nullopt;
        const function f(a.input);
        if (!f.is_worth_a_table() || e.dtype(f.source()) != a.dtype) return std::nullopt;
        if (a.dtype == dtype::int8)
            return e.make<tosa::table>(f.source(), table_of(e, f, dtype::int8, -128, 1, 256));
        if (f.is_square() || f.is_computed_better(e.target())) return std::nullopt;
        // TABLE of INT16 returns INT32 with seven fractional bits.
        constexpr int step = 128;
        const value table = table_of(e, f, dtype::int32, -32768, step, 513);
        return build::rescale(e, e.make<tosa::table>(f.source(), table), 1.0 / step, {.to = dtype::int16});
    }

    /// The nodes between a quantize and the only integer tensor that it depends on.
    class function {
    public:
        explicit function(value result) : shape_(meta_of(result)->shape) {
            is_sound_ = !is_number(result) && collect(*result.producer) && source_;
        }
        [[nodiscard]] bool is_worth_a_table() const { return is_sound_ && computes_; }
        [[nodiscard]] value source() const { return source_; }
        /// True for x · x, which a MUL computes exactly: a TABLE of INT16 has straight lines, all of them
        /// above the parabola.
        [[nodiscard]] bool is_square() const {
            const node* sole = nullptr;
            for (const node* n : nodes_) {
                if (!functions.contains(*n->op)) continue;
                if (sole != nullptr) return false;
                sole = n;
            }
            return sole != nullptr && is<aten::mul_tensor>(*sole) && !is_number(sole->operand(0)) &&
                !is_number(sole->operand(1));
        }

        /// True if INT32 holds the function: a logarithm, whose table would be far off at quiet numbers, or
        /// arithmetic for Ethos-U55, which has no TABLE of INT16.
        [[nodiscard]] bool is_computed_better(const target_spec& target) const {
            if (target.has(target_feature::profile_fp)) return false;
            bool has_logarithm = false;
            for (const node* n : nodes_) {
                if (!functions.contains(*n->op)) continue;
                const bool is_logarithm = is<aten::log>(*n) || is<aten::log2>(*n) || is<aten::log10>(*n);
                const bool is_arithmetic = is<aten::mul_tensor>(*n) || is<aten::add_tensor>(*n) ||
                    is<aten::sub_tensor>(*n) || is<aten::neg>(*n);
                if (!is_logarithm && !is_arithmetic) return false;
                has_logarithm = has_logarithm || is_logarithm;
            }
            return has_logarithm || target.has(target_feature::u55);
        }

        /// Applies the quantized function to `integers` in place of its source, in tensors of that shape.
        value applied(emit<made> e, value integers, const shape_builder& shape) const {
            pmr_vector<std::pair<value, value>> copies{{source_, integers}};
            const auto mapped = [&](value v) {
                for (const auto& [from, to] : copies) {
                    if (from == v) return to;
                }
                return v;  // a number
            };
            const auto copied = [&](const node& n) {
                pmr_vector<value> operands;
                for (const edge& operand : n.operand_edges()) operands.push_back(mapped(*operand.slot));
                if (is<tosa::table>(n))  // an earlier one, read with the shape of its own function's result
                    return build::reshape(e, e.make<tosa::table>(operands[0], operands[1]), shape);
                node* copy = e.clone(n, operands, [&](tensor_meta& meta) {
                    meta = {meta.dtype, int_list(shape), {}};
                });
                return copy == nullptr ? value{} : copy->result();
            };
            for (node* n : nodes_) copies.emplace_back(n->result(), copied(*n));
            return copied(e.current());
        }

    private:
        [[nodiscard]] bool is_known(const node& n) const {
            return std::ranges::find(nodes_, &n) != nodes_.end();
        }
        // Collects operands first, so that `nodes_` can be cloned in order.
        bool collect(node& n) {
            constexpr int max_visited = 1024;  // a limit for any program
            if (is_known(n)) return true;
            if (++visited_ > max_visited || n.result_count != 1 || !n.results[0].meta ||
                !(n.results[0].meta->shape == shape_))
                return false;
            if (const auto* a = args_if<dequantize>(n)) {
                if (!read(a->input)) return false;
            } else if (is<quantize>(n) || (functions | set_of<clamps>).contains(*n.op)) {
                if (!keeps_its_rules(n)) return false;
                computes_ = computes_ || functions.contains(*n.op);
                bool varies = false;
                for (const edge& operand : n.operand_edges()) {
                    if (is_number(*operand.slot)) continue;
                    varies = true;
                    if (!collect(*operand.source)) return false;
                }
                if (!varies) return false;  // a number computed in more steps than is_constant follows
            } else {
                return false;
            }
            nodes_.push_back(&n);
            return true;
        }
        // A number remains one, so that it cannot determine the result's shape; nor may prelu's weight vary.
        static bool keeps_its_rules(const node& n) {
            if (n.op->has(trait::like_self) && is_number(n.operand(0))) return false;
            return !is<aten::prelu>(n) || is_number(n.operand(1));
        }
        // Reads integers: of a quantize that is part of the function, of an earlier table, or of the source.
        bool read(value integers) {
            node& n = *integers.producer;
            if (is<quantize>(n)) {
                const std::size_t before = nodes_.size();
                const value source = source_;
                const bool computes = computes_;
                if (collect(n)) return true;
                nodes_.resize(before);
                source_ = source;
                computes_ = computes;
            }
            if (is<tosa::table>(n) && meta_of(integers)->dtype == dtype::int8) {
                if (is_known(n)) return true;
                if (!read(n.operand(0))) return false;
                nodes_.push_back(&n);
                return true;
            }
            if (source_ && source_ != integers) return false;
            source_ = integers;
            return true;
        }
        static bool is_number(value v) {
            return meta_of(v) != nullptr && meta_of(v)->elements() == 1 && is_constant(*v.producer);
        }
        static bool is_constant(const node& n, int nested = 0) {
            constexpr trait computable =
                trait::elementwise | trait::reshaping | trait::quantizing | trait::dequantizing;
            if (is<builtin::constant>(n)) return true;
            if (nested == 8) return false;
            if (n.operand_count == 0) return n.op->has(trait::gives_number);
            return (n.op->has(computable) || functions.contains(*n.op)) &&
                std::ranges::all_of(
                    n.operand_edges(), [&](const edge& e) { return is_constant(*e.source, nested + 1); });
        }

        int_list shape_;
        int visited_ = 0;
        value source_{};
        pmr_vector<node*> nodes_;
        bool computes_ = false;
        bool is_sound_ = false;
    };

    // Applies the function to `count` integers from `first` on. They have its operand's rank, so that numbers
    // broadcast with them.
    static value table_of(emit<made> e, const function& f, dtype type, std::int64_t first, std::int64_t step,
        std::int64_t count) {
        shape_builder shape = shape_builder::filled(std::max<std::size_t>(e.rank(f.source()), 1), 1);
        shape.back() = count;
        const value all = e.constant_of(
            type, shape, [&](std::size_t i) { return first + step * static_cast<std::int64_t>(i); });
        return build::reshape(e, f.applied(e, all, shape), shape_builder{count});
    }
};
HEADRACE_COMPILED_PASS(tabulate_functions);

}  // namespace headrace

#endif
