// SPDX-License-Identifier: MIT
// Defines headrace::select_moves, which makes kernels of operators that move or compare integers.
#ifndef HEADRACE_PASSES_CORTEX_M_MOVES_HPP
#define HEADRACE_PASSES_CORTEX_M_MOVES_HPP

#include <algorithm>
#include <optional>

#include <headrace/infer/aten.hpp>
#include <headrace/infer/cortex_m.hpp>
#include <headrace/match/node_pattern.hpp>
#include <headrace/passes/cortex_m/broadcasting.hpp>
#include <headrace/passes/support/permuting.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Makes the kernels of CMSIS-NN, or the runtime's own ones, of operators that move elements, compare them,
/// or combine truth values: they are the same for all integers.
struct select_moves : pass {
    static constexpr std::string_view summary = "operators that move integers as the runtime's kernels";

    static auto rewrites() {
        return rules(
            on<tosa::reshape> = code<made>([](emit<made> e, const args<tosa::reshape>& a) {
                return cortex_m::view(e, a.input1, e.result_meta().shape);
            }),
            on<tosa::identity> = [](auto x) { return x; },
            on<tosa::concat> = code<made>([](emit<made> e, const args<tosa::concat>& a) {
                return a.input1.size() == 1 ? a.input1[0]
                                            : e.make<aten::cat>({.tensors = a.input1, .dim = a.axis});
            }),
            on<tosa::transpose> = code<transposed>(), on<tosa::slice> = code<sliced>(),
            on<tosa::pad> = code<padded>(), on<tosa::tile> = code<tiled>(),
            on<tosa::reverse> = code<made>([](emit<made> e, const args<tosa::reverse>& a) {
                return e.make<aten::flip>({.self = a.input1, .dims = {a.axis}});
            }),
            on<tosa::gather> = code<gathered>(), on<tosa::argmax> = code<located>(),
            on<tosa::reduce_min> = code<made>([](emit<made> e, const args<tosa::reduce_min>& a) {
                return e.make<aten::amin>({.self = a.input, .dim = {a.axis}, .keepdim = true});
            }),
            on<tosa::maximum, tosa::minimum> = code<made>(
                [](auto op, emit<made> e, const auto& a) { return extremum(op, e, a.input1, a.input2); }),
            on<tosa::select> = code<selected>(),
            on<tosa::logical_and> = [](auto x, auto y) { return call<aten::logical_and>(x, y); },
            on<tosa::logical_or> = [](auto x, auto y) { return call<aten::logical_or>(x, y); },
            on<tosa::logical_xor> = [](auto x, auto y) { return call<aten::logical_xor>(x, y); },
            on<tosa::logical_not> = [](auto x) { return call<aten::logical_not>(x); },
            on<tosa::equal> = [](auto x, auto y) { return call<aten::eq_tensor>(x, y); },
            on<tosa::greater> = [](auto x, auto y) { return call<aten::gt_tensor>(x, y); },
            on<tosa::greater_equal> = [](auto x, auto y) { return call<aten::ge_tensor>(x, y); });
    }

private:
    using made = joined<cortex_m::image_ops, cortex_m::broadcast_ops,
        ops<aten::cat, aten::slice_tensor, aten::permute, aten::flip, aten::index_select, aten::argmax,
            aten::_to_copy, aten::amin, aten::where_self, cortex_m::transpose, cortex_m::maximum,
            cortex_m::minimum>>;

    // The kernel of CMSIS-NN has up to four axes of int8; axes that stay together are one.
    static value transposed(emit<made> e, const args<tosa::transpose>& a) {
        constexpr std::size_t max_rank = 4;
        const auto [shape, perms] = build::merge_axes(e.shape(a.input1), a.perms);
        const shape_builder to(e.result_meta().shape);
        if (build::is_identity(perms)) return cortex_m::view(e, a.input1, to);
        const value image = cortex_m::view(e, a.input1, shape);
        const bool is_kernel = e.dtype(a.input1) == dtype::int8 && shape.size() <= max_rank;
        const value moved = is_kernel ? e.make<cortex_m::transpose>({.input = image, .perm = int_list(perms)})
                                      : e.make<aten::permute>({.self = image, .dims = int_list(perms)});
        return cortex_m::view(e, moved, to);
    }

    static std::optional<value> sliced(emit<made> e, const args<tosa::slice>& a) {
        const auto* const start = match<tosa::const_shape>(a.start);
        if (start == nullptr) return std::nullopt;
        value v = a.input1;
        for (std::size_t i = 0; i != start->values.size(); ++i)
            v = cortex_m::slice(e, v, i, start->values[i], e.result_meta().shape[i]);
        return v;
    }
    static std::optional<value> padded(emit<made> e, const args<tosa::pad>& a) {
        const auto* const padding = match<tosa::const_shape>(a.padding);
        const auto number = constant_integer(a.pad_const);
        if (padding == nullptr || !number) return std::nullopt;
        pmr_vector<std::int64_t> pad;  // last axis first
        for (std::size_t i = padding->values.size(); i != 0; i -= 2) {
            pad.push_back(padding->values[i - 2]);
            pad.push_back(padding->values[i - 1]);
        }
        return e.make<aten::constant_pad_nd>(
            {.self = a.input1, .pad = int_list(pad), .value = scalar(*number)});
    }
    // A tensor that is repeated along axes of size 1 is expanded; other axes are joined to themselves.
    static std::optional<value> tiled(emit<made> e, const args<tosa::tile>& a) {
        const auto* const multiples = match<tosa::const_shape>(a.multiples);
        if (multiples == nullptr) return std::nullopt;
        const shape_builder from(e.shape(a.input1));
        shape_builder split, wide;
        for (std::size_t i = 0; i != from.size(); ++i) {
            if (multiples->values[i] != 1) {
                split.push_back(1);
                wide.push_back(multiples->values[i]);
            }
            if (multiples->values[i] != 1 && from[i] == 1) continue;
            split.push_back(from[i]);
            wide.push_back(from[i]);
        }
        const value parts = cortex_m::view(e, a.input1, split);
        return cortex_m::view(
            e, e.make<aten::expand>({.self = parts, .size = int_list(wide)}), e.result_meta().shape);
    }
    static std::optional<value> gathered(emit<made> e, const args<tosa::gather>& a) {
        const shape_builder values(e.shape(a.values));
        if (values[0] != 1) return std::nullopt;
        const value rows = cortex_m::view(e, a.values, shape_builder{values[1], values[2]});
        const value indices = cortex_m::view(e, a.indices, shape_builder{e.shape(a.indices)[1]});
        const value taken = e.make<aten::index_select>({.self = rows, .dim = 0, .index = indices});
        return cortex_m::view(e, taken, e.result_meta().shape);
    }
    static value located(emit<made> e, const args<tosa::argmax>& a) {
        const value at = e.make<aten::argmax>({.self = a.input, .dim = a.axis});
        return e.make<aten::_to_copy>({.self = at, .dtype = e.result_meta().dtype});
    }
    template <class Op>
    static std::optional<value> extremum(Op, emit<made> e, value x, value y) {
        using kernel =
            std::conditional_t<std::is_same_v<Op, tosa::maximum>, cortex_m::maximum, cortex_m::minimum>;
        if (e.dtype(x) != dtype::int8) return std::nullopt;
        const auto operands = cortex_m::broadcast(e, x, y, false);
        if (!operands) return std::nullopt;
        const shape_builder flat{element_count(e.shape(operands->first))};
        const value v = e.make<kernel>({.self = cortex_m::view(e, operands->first, flat),
            .other = cortex_m::view(e, operands->second, flat)});
        return cortex_m::view(e, v, e.result_meta().shape);
    }
    static std::optional<value> selected(emit<made> e, const args<tosa::select>& a) {
        const dtype type = e.result_meta().dtype;
        if (type != dtype::int8 && type != dtype::boolean) return std::nullopt;
        return e.make<aten::where_self>({.condition = a.input1, .self = a.input2, .other = a.input3});
    }
};

}  // namespace headrace

#endif
