// SPDX-License-Identifier: MIT
// Defines the passes that lower parts of tensors and what joins them: slices, splits, joins, padding, flips.
#ifndef HEADRACE_PASSES_LEGALIZE_SLICING_HPP
#define HEADRACE_PASSES_LEGALIZE_SLICING_HPP

#include <algorithm>

#include <headrace/passes/decompose/expressions.hpp>
#include <headrace/passes/legalize/promoting.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Lowers ops that select part of an axis to SLICE (TOSA 1.0, 2.9.6). Steps become a reshape to [n, step], of
/// which one column is kept.
struct legalize_slices : pass_in<legalization> {
    static constexpr std::string_view summary = "slice, narrow and select to SLICE";

    static auto rewrites() {
        return rules(
            on<aten::slice_tensor> =
                [](auto x, const auto& a) {
                    const slice_range range = clamped_slice(a.start, a.end, x.size(a.dim));
                    return part(x, a.dim, range.start, range.count(a.step), a.step);
                },
            on<aten::narrow> = [](auto x, const auto& a) { return part(x, a.dim, a.start, a.length); },
            on<aten::select_int> =
                [](auto x, const auto& a) {
                    return code<build::reshape>(part(x, a.dim, a.index, 1), x.result_meta().shape);
                });
    }

private:
    // Slices an axis; a negative `start` counts from the end.
    static auto part(
        const auto& x, std::int64_t dim, std::int64_t start, std::int64_t count, std::int64_t step = 1) {
        return refuse_if(x.result_meta().elements() == 0, x,
            "a slice without elements: TOSA has no empty tensors; drop it from the model", [&] {
                const std::int64_t first = start < 0 ? start + x.size(dim) : start;
                return code<build::strided_slice>(x, x.axis(dim), first, count, step);
            });
    }
};
HEADRACE_COMPILED_PASS(legalize_slices);

/// Lowers ops that split an axis into several tensors to one SLICE for each (TOSA 1.0, 2.9.6). The sizes of
/// the parts are those of the results.
struct legalize_splits : pass_in<legalization> {
    static constexpr std::string_view summary = "split, chunk and unbind to SLICE";

    static auto rewrites() {
        return rules(
            on<aten::split_tensor, aten::split_sizes, aten::split_with_sizes, aten::unsafe_split_tensor,
                aten::unsafe_split_with_sizes, aten::chunk, aten::tensor_split_sections,
                aten::tensor_split_indices, aten::unbind_int> = code<made>([](emit<made> e, const auto& a) {
                std::uint32_t i = 0;
                return build::split(e, a, [&](std::size_t axis, std::int64_t start, std::int64_t size) {
                    const value part = build::slice(e, a.self, axis, start, size);
                    return build::reshape(e, part, e.result_meta(i++).shape);
                });
            }));
    }

private:
    using made = joined<build::slice_ops, build::reshape_ops>;
};
HEADRACE_COMPILED_PASS(legalize_splits);

/// Lowers cat to CONCAT (TOSA 1.0, 2.9.1), in the dtype to which PyTorch promotes the tensors. Tensors
/// without elements are left out, including the empty tensors of rank 1 that torch.cat accepts with any
/// others.
struct legalize_concat : pass_in<legalization> {
    static constexpr std::string_view summary = "cat to CONCAT";

    static auto rewrites() {
        return rules(on<aten::cat, aten::concat> = code<made>([](emit<made> e, const auto& a) {
            const dtype type = narrowed(e.result_meta().dtype);
            pmr_vector<value> parts;
            for (const value v : a.tensors) {
                if (e.meta(v).elements() != 0) parts.push_back(build::widen(e, v, type));
            }
            if (!parts.empty())
                return build::concat(e, parts, build::axis_in(e, a.dim, e.result_meta().rank()));
            return e.unsupported(
                "it joins only empty tensors: TOSA has no empty tensors; drop it from the model");
        }));
    }

private:
    using made = joined<build::concat_ops, build::widen_ops>;
};
HEADRACE_COMPILED_PASS(legalize_concat);

/// Lowers flip to REVERSE, one axis at a time (TOSA 1.0, 2.9.5).
struct legalize_flip : pass_in<legalization> {
    static constexpr std::string_view summary = "flip to REVERSE";

    using made = build::reverse_ops;
    static auto rewrites() {
        return rules(on<aten::flip> = code<made>([](emit<made> e, const auto& a) {
            const auto axes = axes_of(a.dims, e.rank(a.self), no_axes::none);
            if (!axes) return e.fail(axes.error());
            value v = a.self;
            for (std::size_t i = 0; i != e.rank(a.self); ++i) {
                if (axes.value().contains(i)) v = build::reverse(e, v, i);
            }
            return v;
        }));
    }
};
HEADRACE_COMPILED_PASS(legalize_flip);

/// Lowers padding (torch.nn.functional.pad): constant padding with PAD (TOSA 1.0, 2.9.2), other modes by
/// joining parts of the tensor to it, axis by axis: its mirror image without the border (reflect), its border
/// repeated (replicate), or its other end (circular). Negative amounts crop; the other side still reflects or
/// replicates the whole tensor.
struct legalize_pad : pass_in<legalization> {
    static constexpr std::string_view summary =
        "padding to PAD, or to joins of slices, borders and mirror images";

    static auto rewrites() {
        return rules(on<aten::constant_pad_nd> = code<made>(
                         [](emit<made> e, const auto& a) { return constant(e, a.self, a.pad, a.value); }),
            on<aten::pad> = code<padded>(),
            on<aten::reflection_pad1d, aten::reflection_pad2d, aten::reflection_pad3d> = code<made>(
                [](emit<made> e, const auto& a) { return each_axis(e, a.self, a.padding, reflected); }),
            on<aten::replication_pad1d, aten::replication_pad2d, aten::replication_pad3d> = code<made>(
                [](emit<made> e, const auto& a) { return each_axis(e, a.self, a.padding, replicated); }));
    }

private:
    using made =
        joined<build::slice_ops, build::pad_ops, build::concat_ops, build::reverse_ops, ops<tosa::tile>>;
    static value padded(emit<made> e, const args<aten::pad>& a) {
        if (a.mode == "constant") return constant(e, a.self, a.pad, scalar(a.value.value_or(0.0)));
        if (a.mode == "reflect") return each_axis(e, a.self, a.pad, reflected);
        if (a.mode == "replicate") return each_axis(e, a.self, a.pad, replicated);
        if (a.mode == "circular") return each_axis(e, a.self, a.pad, circular);
        return e.unsupported({"padding mode ", a.mode, " is not one of PyTorch's"});
    }
    struct amounts {
        std::int64_t before, after;
    };
    static std::int64_t gain(std::int64_t amount) { return std::max<std::int64_t>(amount, 0); }
    static value cropped(emit<made> e, value v, std::size_t axis, amounts by) {
        const std::int64_t start = gain(-by.before);
        const std::int64_t left = e.shape(v)[axis] - start - gain(-by.after);
        return left > 0 ? build::slice(e, v, axis, start, left) : refuse_empty(e);
    }
    static value refuse_empty(emitter e) {
        return e.unsupported(
            "padding from or to an empty tensor: TOSA has no empty tensors; drop it from the model");
    }

    // Calls `pad(e, v, axis, amounts)` for each axis; the list starts with the last axis.
    static value each_axis(emit<made> e, value v, sizes padding, const auto& pad) {
        const std::size_t rank = e.rank(v);
        if (e.result_meta().elements() == 0 || e.meta(v).elements() == 0) return refuse_empty(e);
        for (std::size_t i = 0; i + 1 < padding.size() && i / 2 < rank && v; i += 2) {
            v = pad(e, v, rank - 1 - i / 2, amounts{padding[i], padding[i + 1]});
        }
        return v;
    }

    static value constant(emit<made> e, value v, sizes padding, scalar with) {
        shape_builder counts = shape_builder::filled(2 * e.rank(v), 0);
        bool grows = false;
        v = each_axis(e, v, padding, [&](emit<made>, value x, std::size_t axis, amounts by) {
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
    static value reflected(emit<made> e, value v, std::size_t axis, amounts by) {
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
    static value replicated(emit<made> e, value v, std::size_t axis, amounts by) {
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
    static value circular(emit<made> e, value whole, std::size_t axis, amounts by) {
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
