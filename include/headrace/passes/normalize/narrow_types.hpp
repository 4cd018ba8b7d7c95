// SPDX-License-Identifier: MIT
// Defines the passes after which types are TOSA's: no uint8, no int64, no float64.
#ifndef HEADRACE_PASSES_NORMALIZE_NARROW_TYPES_HPP
#define HEADRACE_PASSES_NORMALIZE_NARROW_TYPES_HPP

#include <cstring>
#include <limits>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/ir/signature.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/casting.hpp>
#include <headrace/passes/support/constants.hpp>
#include <headrace/passes/support/narrowing.hpp>

namespace headrace {

/// TOSA's integers carry no signedness (1.0, 1.9): uint8 is stored as int8 with the same bits, which ops that
/// only move elements handle as they are. A cast from uint8 is a RESCALE with an unsigned input to INT16,
/// since its result must not be INT32, followed by further casts; without the integer profile, 256 is added
/// to numbers that look negative. A cast to uint8 takes the low bits. Annotations tell the caller of the
/// graph.
struct store_unsigned : pass {
    using runs_after = pass_list<unsigned_widened, quantization_lowered>;
    using runs_before = pass_list<narrow_types>;
    using ensures = pass_list<signed_types>;
    static constexpr std::string_view summary = "uint8 as int8 of the same bits; casts of it as RESCALE";
    using produces = ops<aten::_to_copy, aten::add_tensor, aten::gt_tensor, aten::where_self, tosa::rescale>;

    [[nodiscard]] bool should_run(const graph& g) const { return holds_unsigned_bytes(g); }

    result<std::size_t> operator()(graph& g, pass_context& context) const {
        pmr_vector<conversion> casts;
        annotate_signature(g);
        std::size_t count = 0;
        for_each_graph(g, [&](graph& sub) {
            for (node& n : sub.nodes()) {
                if (const auto found = conversion_of(n)) casts.push_back(*found);
            }
            for (node& n : sub.nodes()) count += store(n);
        });
        for (const conversion& c : casts) convert(c, context);
        return count;
    }

private:
    struct conversion {
        node* which;
        dtype from, to;
    };
    static std::optional<conversion> conversion_of(node& n) {
        if (!is<aten::_to_copy>(n) && !is<tosa::cast>(n)) return std::nullopt;
        const tensor_meta* from = meta_of(n.operand(0));
        const tensor_meta* to = meta_of(n.result());
        if (from == nullptr || to == nullptr) return std::nullopt;
        if (from->dtype != dtype::uint8 && to->dtype != dtype::uint8) return std::nullopt;
        return conversion{&n, from->dtype, to->dtype};
    }

    static void annotate_signature(graph& g) {
        for (node& n : g.inputs()) {
            if (is_unsigned_bytes(n.result())) g.annotate(n, unsigned_input{});
        }
        if (g.output() == nullptr) return;
        pmr_vector<std::int64_t> positions;
        for (std::int64_t i = 0; const value v : g.outputs()) {
            if (is_unsigned_bytes(v)) positions.push_back(i);
            ++i;
        }
        if (!positions.empty())
            g.annotate(*g.output(), unsigned_outputs{g.own(list<std::int64_t>(positions))});
    }

    static bool store(node& n) {
        const bool changed = has_result_of(n, dtype::uint8);
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            if (is_unsigned_bytes(n.result(i))) set_dtype(n.result(i), dtype::int8);
        }
        replace_dtype(n, dtype::uint8, dtype::int8);
        for (const field_info& f : *n.op) {
            if (!changed || f.kind != field_kind::number || f.optional) continue;
            store_number(*reinterpret_cast<scalar*>(static_cast<std::byte*>(n.arguments) + f.offset));
        }
        return changed;
    }
    // A pad or a fill writes the int8 number with the same low bits; 0 if no integer holds the number.
    static void store_number(scalar& number) {
        constexpr double limit = 0x1p63;
        const double x = number.to_double();
        const bool fits = x >= -limit && x < limit;
        const std::int64_t cut = fits ? static_cast<std::int64_t>(x) : 0;
        const std::int64_t whole = number.is_floating() ? cut : number.to_int();
        const std::uint64_t low = static_cast<std::uint64_t>(whole) & 255U;
        number = scalar(static_cast<std::int64_t>(low) - (low < 128 ? 0 : 256));
    }

    static void convert(const conversion& c, pass_context& context) {
        node& n = *c.which;
        graph& g = *n.owner;
        emission made(g, &n, &n, context);
        emit<produces> e(made);
        value v = n.operand(0);
        if (c.from == dtype::uint8 && c.to != dtype::uint8 && c.to != dtype::int8 && !is_boolean(c.to))
            v = unsigned_number(e, v);
        // Takes the low bits of an integer.
        if (c.to == dtype::uint8 && is_floating(c.from)) v = cast(e, v, dtype::int32);
        v = cast(e, v, c.to == dtype::uint8 ? dtype::int8 : c.to);
        if (!v) return;
        g.replace_all_uses(n.result(), v);
        g.erase(n);
    }
    static value cast(emit<produces> e, value v, dtype to) {
        return !v || e.dtype(v) == to ? v : e.make<aten::_to_copy>({.self = v, .dtype = to});
    }

    // Converts bytes to the numbers they represent, in a dtype that holds them.
    static value unsigned_number(emit<produces> e, value bytes) {
        constexpr int shift = 30;
        if (e.target().features == 0 || e.target().has(target_feature::profile_int)) {
            return e.make<tosa::rescale>({.input = bytes,
                .multiplier = e.splat(1 << shift, dtype::int32, 1),
                .shift = e.splat(shift, dtype::int8, 1),
                .input_zp = build::zero_point(e, dtype::int8),
                .output_zp = build::zero_point(e, dtype::int16),
                .input_unsigned = true});
        }
        const std::size_t rank = e.rank(bytes);
        const auto number = [&](double x) { return e.splat(x, dtype::float32, rank); };
        const value real = cast(e, bytes, dtype::float32);
        return e.make<aten::where_self>(e.make<aten::gt_tensor>(number(0), real),
            e.make<aten::add_tensor>({.self = real, .other = number(256)}), real);
    }
};
HEADRACE_COMPILED_PASS(store_unsigned);

/// TOSA 1.0 has neither INT64 nor FP64: every int64 value, constant and dtype argument becomes int32, and
/// constants of float64, which come from Python numbers, become float32, as do ops that move their elements.
/// A constant with an element that does not fit is refused, unless it is only a limit of a maximum or
/// minimum. Runs after decompose, which depends on PyTorch's dtypes for promotion, and before legalize.
struct narrow_int64 : pass {
    using runs_after = pass_list<quantization_lowered>;
    using ensures = pass_list<narrow_types>;
    static constexpr std::string_view summary = "int64 as int32, and float64 constants as float32";

    result<std::size_t> operator()(graph& g, pass_context& context) const {
        return change_nodes(g,
            [&](node& n) { return is<builtin::constant>(n) ? narrow_constant(n, context) : narrow_node(n); });
    }

private:
    static bool narrow_node(node& n) {
        bool changed = false;
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            const tensor_meta* meta = n.results[i].meta;
            if (meta == nullptr || (meta->dtype != dtype::int64 && !moves_narrowed(n))) continue;
            set_dtype(n.result(i), meta->dtype == dtype::int64 ? dtype::int32 : dtype::float32);
            changed = true;
        }
        // Operands do not change, so edges need no update.
        replace_dtype(n, dtype::int64, dtype::int32);
        return changed;
    }

    // True if the node moves elements that were float64 and are now float32.
    static bool moves_narrowed(const node& n) {
        if (!n.op->has(trait::rearranging) || n.results[0].meta->dtype != dtype::float64) return false;
        const tensor_meta* const from = meta_of(n.operand(0));
        return from != nullptr && from->dtype == dtype::float32;
    }

    static bool narrow_constant(node& n, pass_context& context) {
        const tensor_meta* meta = meta_of(n.result());
        if (meta == nullptr || (meta->dtype != dtype::int64 && meta->dtype != dtype::float64)) return false;
        const tensor_data& data = args_of<builtin::constant>(n).data;
        const value made = meta->dtype == dtype::int64
            ? convert<std::int64_t, std::int32_t>(n, *meta, data, context)
            : convert<double, float>(n, *meta, data, context);
        if (!made) return false;
        made.producer->results[0].name = n.results[0].name;
        made.producer->annotations = n.annotations;
        n.owner->replace_all_uses(n.result(), made);
        n.owner->erase(n);
        return true;
    }

    template <class From, class To>
    static value convert(node& n, const tensor_meta& meta, const tensor_data& data, pass_context& context) {
        constexpr bool integral = std::is_integral_v<From>;
        pmr_vector<To> elements;
        bool fits = true;
        for_each_element(data, meta, [&](const std::byte* at) {
            From element;
            std::memcpy(&element, at, sizeof element);
            if constexpr (integral) {
                const From nearest =
                    std::clamp<From>(element, std::numeric_limits<To>::min(), std::numeric_limits<To>::max());
                fits = fits && nearest == element;
                element = nearest;
            }
            elements.push_back(static_cast<To>(element));
        });
        if (!fits && !only_limits(n)) {
            context.report(n, "constant: an element does not fit in 32 bits, and TOSA 1.0 has no INT64");
            return {};
        }
        const dtype type = integral ? dtype::int32 : dtype::float32;
        const tensor_meta narrow{type, meta.shape, meta.dim_order};
        return create_constant(*n.owner, narrow, &n, [&](std::span<std::byte> bytes) {
            if (!elements.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size());
        });
    }

    // True if the constant is read as a limit only: saturation does not change the result of these ops.
    static bool only_limits(const node& n) {
        return std::all_of(n.uses().begin(), n.uses().end(),
            [](const edge& e) { return is<aten::maximum>(*e.target) || is<aten::minimum>(*e.target); });
    }
};
HEADRACE_COMPILED_PASS(narrow_int64);

}  // namespace headrace

#endif
