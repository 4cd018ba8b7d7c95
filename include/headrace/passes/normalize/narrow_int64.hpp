// SPDX-License-Identifier: MIT
// Defines headrace::narrow_int64.
#ifndef HEADRACE_PASSES_NORMALIZE_NARROW_INT64_HPP
#define HEADRACE_PASSES_NORMALIZE_NARROW_INT64_HPP

#include <algorithm>
#include <cstring>
#include <limits>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/constants.hpp>
#include <headrace/passes/support/narrowing.hpp>

namespace headrace {

/// TOSA 1.0 has neither INT64 nor FP64: every int64 value, constant and dtype argument becomes int32, and
/// constants of float64, which come from Python numbers, become float32, as do ops that move their elements.
/// A constant with an element that does not fit is refused, unless it is only a limit of a maximum or
/// minimum. Runs after decompose, which depends on PyTorch's dtypes for promotion, and before legalize.
struct narrow_int64 : pass {
    using runs_after = pass_list<quantization_lowered>;
    using ensures = pass_list<narrow_types>;
    static constexpr std::string_view summary = "int64 as int32, and float64 constants as float32";

    result<std::size_t> operator()(graph& g, pass_context& context) const {
        std::size_t count = 0;
        for_each_graph(g, [&](graph& sub) {
            const auto nodes = sub.nodes();
            for (auto at = nodes.begin(); at != nodes.end();) {
                node& n = *at++;  // which may be erased
                count += is<builtin::constant>(n) ? narrow_constant(sub, n, context) : narrow_node(n);
            }
        });
        return count;
    }

private:
    static bool narrow_node(node& n) {
        bool changed = false;
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            const tensor_meta* meta = n.results[i].meta;
            if (meta == nullptr || (meta->dtype != dtype::int64 && !moves_narrowed(n))) continue;
            const dtype narrow = meta->dtype == dtype::int64 ? dtype::int32 : dtype::float32;
            n.owner->set_meta(n.result(i), {narrow, meta->shape, meta->dim_order});
            changed = true;
        }
        // Operands do not change, so edges need no update.
        auto* arguments = static_cast<std::byte*>(n.arguments);
        for (const field_info& f : *n.op) {
            if (f.kind != field_kind::element_type) continue;
            if (f.optional) {
                auto& type = *reinterpret_cast<std::optional<dtype>*>(arguments + f.offset);
                if (type) type = narrowed(*type);
            } else {
                auto& type = *reinterpret_cast<dtype*>(arguments + f.offset);
                type = narrowed(type);
            }
        }
        return changed;
    }

    // True if the node moves elements that were float64 and are now float32.
    static bool moves_narrowed(const node& n) {
        if (!n.op->has(trait::rearranging) || n.results[0].meta->dtype != dtype::float64) return false;
        const tensor_meta* const from = meta_of(n.operand(0));
        return from != nullptr && from->dtype == dtype::float32;
    }

    static bool narrow_constant(graph& g, node& n, pass_context& context) {
        const tensor_meta* meta = meta_of(n.result());
        if (meta == nullptr || (meta->dtype != dtype::int64 && meta->dtype != dtype::float64)) return false;
        const tensor_data& data = args_of<builtin::constant>(n).data;
        const value made = meta->dtype == dtype::int64
            ? convert<std::int64_t, std::int32_t>(g, n, *meta, data, context)
            : convert<double, float>(g, n, *meta, data, context);
        if (!made) return false;
        made.producer->results[0].name = n.results[0].name;
        made.producer->annotations = n.annotations;
        g.replace_all_uses(n.result(), made);
        g.erase(n);
        return true;
    }

    template <class From, class To>
    static value convert(
        graph& g, node& n, const tensor_meta& meta, const tensor_data& data, pass_context& context) {
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
        return create_constant(g, {type, meta.shape, meta.dim_order}, &n, [&](std::span<std::byte> bytes) {
            if (!elements.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size());
        });
    }

    // True if the constant is read as a limit only: saturation does not change the result of these ops.
    static bool only_limits(const node& n) {
        for (const edge& e : n.uses()) {
            if (!is<aten::maximum>(*e.target) && !is<aten::minimum>(*e.target)) return false;
        }
        return true;
    }
};
HEADRACE_COMPILED_PASS(narrow_int64);

}  // namespace headrace

#endif
