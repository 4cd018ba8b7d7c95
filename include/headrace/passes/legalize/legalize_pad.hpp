// SPDX-License-Identifier: MIT
// Defines headrace::legalize_pad.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_PAD_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_PAD_HPP

#include <algorithm>
#include <memory_resource>
#include <string>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Lowers padding (torch.nn.functional.pad): constant padding with PAD (TOSA 1.0, 2.9.2), other modes by
/// joining parts of the tensor to it, axis by axis: its mirror image without the border (reflect), its border
/// repeated (replicate), or its other end (circular). Negative amounts crop; the other side still reflects or
/// replicates the whole tensor.
struct legalize_pad : pass {
    using phase = legalization;
    static constexpr std::string_view summary =
        "padding to PAD, or to joins of slices, borders and mirror images";
    using reflections = ops<aten::reflection_pad1d, aten::reflection_pad2d, aten::reflection_pad3d>;
    using replications = ops<aten::replication_pad1d, aten::replication_pad2d, aten::replication_pad3d>;
    using targeted_ops = joined<ops<aten::constant_pad_nd, aten::pad>, reflections, replications>;
    using produces =
        joined<build::slice_ops, build::pad_ops, build::concat_ops, build::reverse_ops, ops<tosa::tile>>;

    value operator()(const args<aten::constant_pad_nd>& a, emit<produces>& e) const {
        return constant(e, a.self, a.pad, a.value);
    }
    value operator()(const args<aten::pad>& a, emit<produces>& e) const {
        if (a.mode == "constant") return constant(e, a.self, a.pad, scalar(a.value.value_or(0.0)));
        if (a.mode == "reflect") return each_axis(e, a.self, a.pad, reflected);
        if (a.mode == "replicate") return each_axis(e, a.self, a.pad, replicated);
        if (a.mode == "circular") return each_axis(e, a.self, a.pad, circular);
        return e.unsupported({"padding mode ", a.mode, " is not one of PyTorch's"});
    }
    template <one_of<reflections> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        return each_axis(e, a.self, a.padding, reflected);
    }
    template <one_of<replications> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        return each_axis(e, a.self, a.padding, replicated);
    }

private:
    struct amounts {
        std::int64_t before, after;
    };
    static std::int64_t gain(std::int64_t amount) { return std::max<std::int64_t>(amount, 0); }
    static value cropped(emit<produces>& e, value v, std::size_t axis, amounts by) {
        const std::int64_t start = gain(-by.before);
        const std::int64_t left = e.shape(v)[axis] - start - gain(-by.after);
        return left > 0 ? build::slice(e, v, axis, start, left) : refuse_empty(e);
    }
    static value refuse_empty(emitter& e) {
        return e.unsupported(
            "padding from or to an empty tensor: TOSA has no empty tensors; drop it from the model");
    }

    /// Calls `pad(e, v, axis, amounts)` for each axis; the list starts with the last axis.
    static value each_axis(emit<produces>& e, value v, sizes padding, const auto& pad) {
        const std::size_t rank = e.rank(v);
        if (e.result_meta().elements() == 0 || e.meta(v).elements() == 0) return refuse_empty(e);
        for (std::size_t i = 0; i + 1 < padding.size() && i / 2 < rank && v; i += 2) {
            v = pad(e, v, rank - 1 - i / 2, amounts{padding[i], padding[i + 1]});
        }
        return v;
    }

    static value constant(emit<produces>& e, value v, sizes padding, scalar with) {
        shape_builder counts = shape_builder::filled(2 * e.rank(v), 0);
        bool grows = false;
        v = each_axis(e, v, padding, [&](emit<produces>&, value x, std::size_t axis, amounts by) {
            counts[2 * axis] = gain(by.before);
            counts[2 * axis + 1] = gain(by.after);
            grows = grows || by.before > 0 || by.after > 0;
            return cropped(e, x, axis, by);
        });
        if (!grows) return v;
        return e.make<tosa::pad>({.input1 = v,
            .padding = build::const_shape(e, counts),
            .pad_const = e.splat(with, e.dtype(v), 1)});
    }
    static value reflected(emit<produces>& e, value v, std::size_t axis, amounts by) {
        const std::int64_t size = e.shape(v)[axis];
        if (by.before >= size || by.after >= size) {
            return e.unsupported("a reflection must be smaller than the axis that it mirrors");
        }
        pmr_vector<value> parts{v};
        const auto mirror = [&](std::int64_t start, std::int64_t count) {
            return build::reverse(e, build::slice(e, v, axis, start, count), axis);
        };
        if (by.before > 0) parts.insert(parts.begin(), mirror(1, by.before));
        if (by.after > 0) parts.push_back(mirror(size - 1 - by.after, by.after));
        return cropped(e, build::concat(e, parts, axis), axis, by);
    }
    static value replicated(emit<produces>& e, value v, std::size_t axis, amounts by) {
        pmr_vector<value> parts{v};
        const auto border = [&](std::int64_t at, std::int64_t count) {
            const value one = build::slice(e, v, axis, at, 1);
            if (count == 1) return one;
            shape_builder multiples = shape_builder::filled(e.rank(v), 1);
            multiples[axis] = count;
            return e.make<tosa::tile>({.input1 = one, .multiples = build::const_shape(e, multiples)});
        };
        if (by.before > 0) parts.insert(parts.begin(), border(0, by.before));
        if (by.after > 0) parts.push_back(border(e.shape(v)[axis] - 1, by.after));
        return cropped(e, build::concat(e, parts, axis), axis, by);
    }
    static value circular(emit<produces>& e, value whole, std::size_t axis, amounts by) {
        const value v = cropped(e, whole, axis, by);
        const std::int64_t size = e.shape(v)[axis];
        if (by.before > size || by.after > size) {
            return e.unsupported("a circular padding must not be larger than the axis that it wraps around");
        }
        pmr_vector<value> parts{v};
        if (by.before > 0) parts.insert(parts.begin(), build::slice(e, v, axis, size - by.before, by.before));
        if (by.after > 0) parts.push_back(build::slice(e, v, axis, 0, by.after));
        return build::concat(e, parts, axis);
    }
};
HEADRACE_COMPILED_PASS(legalize_pad);

}  // namespace headrace

#endif
