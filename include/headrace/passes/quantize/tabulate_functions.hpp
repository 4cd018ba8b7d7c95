// SPDX-License-Identifier: MIT
// Defines headrace::tabulate_functions.
#ifndef HEADRACE_PASSES_QUANTIZE_TABULATE_FUNCTIONS_HPP
#define HEADRACE_PASSES_QUANTIZE_TABULATE_FUNCTIONS_HPP

#include <algorithm>
#include <memory_resource>
#include <optional>
#include <utility>
#include <vector>

#include <headrace/passes/properties.hpp>
#include <headrace/passes/quantize/quantization.hpp>
#include <headrace/passes/quantize/rescaling.hpp>

namespace headrace {

/// A quantized function of one quantized tensor, element by element, is a TABLE (TOSA 1.0, 2.3.4): 256 codes
/// for INT8, 513 points, with linear interpolation between them, for INT16. The function may consist of any
/// number of elementwise ops, with intermediate quantization or not, with numbers as further operands, and
/// may read its operand several times. Its table is the function itself, applied to a constant of all codes,
/// which is folded next. Clamps alone are left: they cost less as CLAMP.
struct tabulate_functions : pass {
    using runs_after = pass_list<canonical_quantization, noops_removed, tensor_operands, unit_alpha>;
    using runs_before = pass_list<quantized_constants_folded>;
    using ensures = pass_list<functions_tabulated>;
    using invalidates = pass_list<quantized_constants_folded>;
    using targets = ops<quantized_decomposed::quantize_per_tensor>;
    using produces = joined<build::rescale_ops, build::reshape_ops, ops<tosa::table>>;
    static constexpr bool in_execution_order = true;

    using clamps =
        ops<aten::relu, aten::relu6, aten::hardtanh, aten::clamp, aten::clamp_min, aten::clamp_max>;
    using functions = joined<
        ops<aten::abs, aten::neg, aten::exp, aten::exp2, aten::expm1, aten::log, aten::log1p, aten::log2,
            aten::log10, aten::sqrt, aten::rsqrt, aten::reciprocal, aten::square, aten::sin, aten::cos,
            aten::tan, aten::asin, aten::acos, aten::atan, aten::sinh, aten::cosh, aten::tanh, aten::asinh,
            aten::acosh, aten::atanh, aten::sigmoid, aten::logit, aten::silu, aten::mish, aten::softplus,
            aten::log_sigmoid, aten::gelu, aten::elu, aten::selu, aten::celu, aten::hardsigmoid,
            aten::hardswish, aten::leaky_relu, aten::prelu, aten::_prelu_kernel, aten::threshold,
            aten::softshrink, aten::hardshrink, aten::deg2rad, aten::rad2deg, aten::signbit, aten::erf,
            aten::erfc, aten::erfinv, aten::ceil, aten::floor, aten::round, aten::round_decimals, aten::trunc,
            aten::frac, aten::sign, aten::sgn, aten::isnan, aten::isinf, aten::isfinite, aten::nan_to_num>,
        ops<aten::add_tensor, aten::sub_tensor, aten::rsub_scalar, aten::rsub_tensor, aten::mul_tensor,
            aten::div_tensor, aten::div_tensor_mode, aten::floor_divide, aten::remainder_tensor,
            aten::fmod_tensor, aten::fmax, aten::fmin, aten::hypot, aten::copysign_tensor, aten::logaddexp,
            aten::xlogy_tensor, aten::atan2, aten::pow_tensor_scalar, aten::pow_tensor_tensor,
            aten::pow_scalar, aten::maximum, aten::minimum, aten::clamp_tensor, aten::clamp_min_tensor,
            aten::clamp_max_tensor, aten::addcmul, aten::addcdiv, aten::lerp_scalar, aten::lerp_tensor,
            aten::where_self, aten::masked_fill_scalar, aten::eq_tensor, aten::ne_tensor, aten::lt_tensor,
            aten::le_tensor, aten::gt_tensor, aten::ge_tensor, aten::logical_and, aten::logical_or,
            aten::logical_xor, aten::logical_not, aten::_to_copy>>;

    std::optional<value> operator()(const args<quantized_decomposed::quantize_per_tensor>& a,
                                    emit<produces>& e) const {
        if (a.dtype != dtype::int8 && a.dtype != dtype::int16) return std::nullopt;
        function f(const_cast<node&>(e.current()), e.shape(a.input));
        if (!f.is_sound() || !f.is_worth_a_table() || e.dtype(f.source()) != a.dtype) return std::nullopt;
        return a.dtype == dtype::int8 ? table_of_8_bits(e, f) : table_of_16_bits(e, f);
    }

private:
    using quantize = quantized_decomposed::quantize_per_tensor;
    using dequantize = quantized_decomposed::dequantize_per_tensor;

    static bool is_table(value v) {
        const auto* table = match<tosa::table>(v);
        return table != nullptr && meta_of(v)->dtype == dtype::int8;
    }

    /// What lies between a quantize and the one tensor of codes that it depends on.
    class function {
    public:
        function(node& root, const int_list& shape) : shape_(shape) { sound_ = collect(root); }
        [[nodiscard]] bool is_sound() const { return sound_ && source_; }
        [[nodiscard]] bool is_worth_a_table() const { return computes_; }
        [[nodiscard]] value source() const { return source_; }

        /// The function of other codes in place of the source's, in tensors of that shape.
        value applied(emit<produces>& e, value codes, const shape_builder& shape) const {
            std::pmr::vector<std::pair<value, value>> made{{source_, codes}};
            const auto mapped = [&](value v) {
                for (const auto& [from, to] : made) {
                    if (from == v) return to;
                }
                return v;  // a number
            };
            for (const auto& [n, of_table] : nodes_) {
                if (of_table) {  // an earlier table is read at the codes by the clone of its own function
                    made.emplace_back(n->result(), read_table(e, *n, mapped(n->operand(0)), shape));
                    continue;
                }
                std::pmr::vector<value> operands;
                for (const edge& operand : n->operand_edges()) operands.push_back(mapped(*operand.slot));
                node* copy = e.clone(*n, operands, [&](tensor_meta& meta) {
                    meta = {meta.dtype, int_list(shape), {}};
                });
                if (copy == nullptr) return {};
                made.emplace_back(n->result(), copy->result());
            }
            return made.back().second;
        }

    private:
        static value read_table(emit<produces>& e, const node& table, value codes,
                                const shape_builder& shape) {
            return build::reshape(
                e, e.make<tosa::table>({.input1 = codes, .table = args_of<tosa::table>(table).table}), shape);
        }

        bool known(const node& n) const {
            return std::any_of(nodes_.begin(), nodes_.end(), [&](const auto& k) { return k.first == &n; });
        }
        // Operands first, so that `nodes_` can be cloned in their order.
        bool collect(node& n) {
            if (known(n)) return true;
            if (++visited_ > most_visited) return false;
            if (n.result_count != 1 || !n.results[0].meta || !(n.results[0].meta->shape == shape_))
                return false;
            if (const auto* a = args_if<dequantize>(n)) {
                if (!read(a->input)) return false;
            } else if (is<quantize>(n) || set_of<functions>.contains(*n.op) ||
                       set_of<clamps>.contains(*n.op)) {
                computes_ = computes_ || set_of<functions>.contains(*n.op);
                for (const edge& operand : n.operand_edges()) {
                    if (!is_number(*operand.slot) && !collect(*operand.source)) return false;
                }
            } else {
                return false;
            }
            nodes_.emplace_back(&n, false);
            return true;
        }
        // Codes: those of a quantize that is part of the function, of an earlier table, or of the source.
        bool read(value codes) {
            node& n = *codes.producer;
            if (is<quantize>(n)) {
                const std::size_t before = nodes_.size();
                const value source = source_;
                const bool computes = computes_;
                if (collect(n)) return true;
                nodes_.resize(before);
                source_ = source;
                computes_ = computes;
            }
            if (is_table(codes)) {
                if (known(n)) return true;
                if (!read(n.operand(0))) return false;
                nodes_.emplace_back(&n, true);
                return true;
            }
            if (source_ && source_ != codes) return false;
            source_ = codes;
            return true;
        }
        static bool is_number(value v) {
            return meta_of(v) != nullptr && meta_of(v)->elements() == 1 && is_constant(*v.producer);
        }
        static bool is_constant(const node& n, int nested = 0) {
            constexpr int most_computed = 8;
            if (is<builtin::constant>(n)) return true;
            if (nested == most_computed) return false;
            if (n.operand_count == 0) return set_of<ops<aten::full, aten::scalar_tensor>>.contains(*n.op);
            const bool computable =
                is<quantize>(n) || is<dequantize>(n) ||
                set_of<joined<functions, clamps, ops<aten::view, aten::reshape>>>.contains(*n.op);
            return computable &&
                   std::all_of(n.operand_edges().begin(), n.operand_edges().end(),
                               [&](const edge& e) { return is_constant(*e.source, nested + 1); });
        }

        static constexpr int most_visited = 1024;  // whatever a program claims

        int_list shape_;
        int visited_ = 0;
        value source_{};
        std::pmr::vector<std::pair<node*, bool>> nodes_;  // and whether the node is an earlier table
        bool computes_ = false;
        bool sound_ = false;
    };

    // Of the operand's rank, so that numbers broadcast with it.
    static shape_builder shape_of_codes(const emit<produces>& e, const function& f, std::int64_t count) {
        shape_builder shape = shape_builder::filled(std::max<std::size_t>(e.rank(f.source()), 1), 1);
        shape.back() = count;
        return shape;
    }

    static value table_of_8_bits(emit<produces>& e, const function& f) {
        constexpr std::int64_t count = 256;
        const shape_builder shape = shape_of_codes(e, f, count);
        std::pmr::vector<std::int8_t> codes;
        for (int c = -128; c != 128; ++c) codes.push_back(static_cast<std::int8_t>(c));
        const value all = e.constant<std::int8_t>(dtype::int8, shape, codes);
        const value table = build::reshape(e, f.applied(e, all, shape), shape_builder{count});
        return e.make<tosa::table>({.input1 = f.source(), .table = table});
    }

    // TABLE of INT16 gives INT32 with seven bits of fraction.
    static value table_of_16_bits(emit<produces>& e, const function& f) {
        constexpr std::int64_t count = 513;
        constexpr int step = 128;
        const shape_builder shape = shape_of_codes(e, f, count);
        std::pmr::vector<std::int32_t> codes;
        for (int i = 0; i != count; ++i) codes.push_back(-32768 + i * step);
        const value all = e.constant<std::int32_t>(dtype::int32, shape, codes);
        const value table = build::reshape(e, f.applied(e, all, shape), shape_builder{count});
        const value fine = e.make<tosa::table>({.input1 = f.source(), .table = table});
        return build::rescale(e, fine, 1.0 / step, {.to = dtype::int16, .reach = 32768.0 * step});
    }
};

}  // namespace headrace

#endif
