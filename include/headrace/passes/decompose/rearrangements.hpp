// SPDX-License-Identifier: MIT
// Defines the decompositions of rearrangements of elements.
#ifndef HEADRACE_PASSES_DECOMPOSE_REARRANGEMENTS_HPP
#define HEADRACE_PASSES_DECOMPOSE_REARRANGEMENTS_HPP

#include <headrace/infer/aten/join.hpp>
#include <headrace/passes/decompose/expressions.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

struct decompose_rearrangements : pass_in<decomposition> {
    static constexpr std::string_view summary =
        "mT, rot90, diagonal, hstack, diff and other NumPy forms as permute, flip, cat, sub";

    using stacks = ops<aten::hstack, aten::vstack, aten::dstack, aten::column_stack>;

    static auto rewrites() {
        return rules(
            on_each<stacks> =
                code<made>([]<class Op>(Op, emit<made> e, const args<Op>& a) { return stacked<Op>(e, a); }),
            on<aten::broadcast_tensors> = code<broadcast_to_results>(), on<aten::diff> = code<differences>(),
            on<aten::ravel> = [](auto x) { return call<aten::reshape>(x, x.result_meta().shape); },
            on<aten::fliplr> = [](auto x) { return call<aten::flip>(x, int_list{1}); },
            on<aten::flipud> = [](auto x) { return call<aten::flip>(x, int_list{0}); },
            on<aten::numpy_t> =
                [](auto x) {
                    shape_builder order = build::axes_in_order(x.rank());
                    std::reverse(order.begin(), order.end());
                    return call<aten::permute>(x, order);
                },
            // Element i of the diagonal is i rows and columns further: every (columns + 1)-th element.
            on<aten::diagonal> =
                [](auto x, const auto& a) {
                    const std::int64_t columns = x.size(a.dim2);
                    const std::int64_t length = x.result_meta().shape.back();
                    shape_builder flat(sizes(x.result_meta().shape).first(x.rank() - 2));
                    flat.push_back(saturating_mul(x.size(a.dim1), columns));
                    const auto rows =
                        call<aten::movedim_intlist>(x, int_list{a.dim1, a.dim2}, int_list{-2, -1});
                    return refuse_if(length == 0, x, "none is left: TOSA has no empty tensors", [&] {
                        const std::int64_t begin = a.offset < 0 ? -a.offset * columns : a.offset;
                        const std::int64_t end = begin + (length - 1) * (columns + 1) + 1;
                        return call<aten::slice_tensor>(
                            call<aten::reshape>(rows, flat), -1, begin, end, columns + 1);
                    });
                },
            on<aten::m_t> = [](auto x) { return swapped(x, x.rank() - 2, x.rank() - 1); },
            // A quarter turn flips the second axis of the plane and swaps both; half a turn flips both.
            on<aten::rot90> =
                [](auto x, const auto& a) {
                    const std::int64_t turns = (a.k % 4 + 4) % 4;
                    const std::size_t first = x.axis(a.dims[0]);
                    const std::size_t second = x.axis(a.dims[1]);
                    const int_list flipped{a.dims[turns == 1 ? 1 : 0]};
                    return choose(
                        turns == 0, x, turns == 2, [&] { return call<aten::flip>(x, a.dims); },
                        [&] { return swapped(call<aten::flip>(x, flipped), first, second); });
                });
    }

private:
    using made = ops<aten::reshape, aten::cat, aten::expand, aten::narrow, aten::sub_tensor, aten::ne_tensor>;
    // Reshapes each tensor to have the stacking axis, and concatenates them along it.
    template <class Op>
    static value stacked(emit<made> e, const args<Op>& a) {
        value_list parts;
        for (const value v : a.tensors) {
            const shape_builder shape = aten::stacked_shape<Op>(sizes(e.shape(v)));
            parts.push_back(e.make<aten::reshape>({.self = v, .shape = int_list(shape)}));
        }
        return e.make<aten::cat>({.tensors = parts, .dim = aten::stacked_axis<Op>(e.result_meta().rank())});
    }
    static value_list broadcast_to_results(emit<made> e, const args<aten::broadcast_tensors>& a) {
        value_list expanded;
        for (std::uint32_t i = 0; i != a.tensors.size(); ++i)
            expanded.push_back(e.make<aten::expand>({.self = a.tensors[i], .size = e.result_meta(i).shape}));
        return expanded;
    }
    // Returns the differences of neighbouring elements; for booleans, whether they differ.
    static value differences(emit<made> e, const args<aten::diff>& a) {
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(a.self));
        if (e.failed()) return {};
        value_list parts;
        if (a.prepend) parts.push_back(*a.prepend);
        parts.push_back(a.self);
        if (a.append) parts.push_back(*a.append);
        value v = parts.size() == 1 ? a.self : cat(e, parts, axis);
        for (std::int64_t n = 0; n < a.n && v; ++n) {
            const std::int64_t left = e.shape(v)[axis] - 1;
            if (left < 1) return e.unsupported("no differences are left: TOSA has no empty tensors");
            const value now = narrow(e, v, axis, 0, left);
            const value next = narrow(e, v, axis, 1, left);
            v = is_boolean(e.dtype(v)) ? e.make<aten::ne_tensor>(next, now)
                                       : e.make<aten::sub_tensor>(next, now);
        }
        return v;
    }
    static auto swapped(const auto& x, std::size_t first, std::size_t second) {
        shape_builder order = build::axes_in_order(x.rank());
        if (first < order.size() && second < order.size()) std::swap(order[first], order[second]);
        return call<aten::permute>(x, order);
    }
};
HEADRACE_COMPILED_PASS(decompose_rearrangements);

struct decompose_stack : pass_in<decomposition> {
    static constexpr std::string_view summary = "stack(x, y) as cat(x[None], y[None]) along the new axis";

    static auto rewrites() {
        using made = ops<aten::unsqueeze, aten::cat>;
        return rules(on<aten::stack> = code<made>([](emit<made> e, const auto& a) {
            value_list parts;
            for (const value v : a.tensors)
                parts.push_back(e.make<aten::unsqueeze>({.self = v, .dim = a.dim}));
            return e.make<aten::cat>({.tensors = parts, .dim = a.dim});
        }));
    }
};
HEADRACE_COMPILED_PASS(decompose_stack);

struct decompose_roll : pass_in<decomposition> {
    static constexpr std::string_view summary =
        "roll(x, s) as cat(x[-s:], x[:-s]), axis by axis, or of the flat tensor";

    static auto rewrites() { return rules(on<aten::roll> = code<rolled_along_all>()); }

private:
    static value rolled_along_all(
        emit<ops<aten::narrow, aten::cat, aten::reshape>> e, const args<aten::roll>& a) {
        value v = a.self;
        if (a.dims.empty() && a.shifts.size() == 1) {
            v = e.make<aten::reshape>({.self = v, .shape = int_list{e.meta(v).elements()}});
            return e.make<aten::reshape>(
                {.self = rolled(e, v, 0, a.shifts[0]), .shape = e.result_meta().shape});
        }
        if (a.dims.size() != a.shifts.size()) return e.unsupported("roll needs as many axes as shifts");
        for (std::size_t i = 0; i != a.dims.size() && e.rank(v) != 0; ++i)
            v = rolled(e, v, build::axis_in(e, a.dims[i], e.rank(v)), a.shifts[i]);
        return v;
    }
    static value rolled(emit<ops<aten::narrow, aten::cat>> e, value v, std::size_t axis, std::int64_t shift) {
        const std::int64_t size = e.shape(v)[axis];
        const std::int64_t tail = size == 0 ? 0 : (shift % size + size) % size;
        if (tail == 0) return v;
        const value parts[] = {narrow(e, v, axis, size - tail, tail), narrow(e, v, axis, 0, size - tail)};
        return cat(e, parts, axis);
    }
};
HEADRACE_COMPILED_PASS(decompose_roll);

/// Decomposes ops that move blocks of channels (PyTorch, torch.nn.PixelShuffle, PixelUnshuffle and
/// ChannelShuffle). Leading axes are joined into one batch, so that rank 6 is enough.
struct decompose_shuffles : pass_in<decomposition> {
    static constexpr std::string_view summary =
        "pixel_shuffle, pixel_unshuffle, channel_shuffle as view, permute, view";

    static auto rewrites() {
        return rules(
            on<aten::pixel_shuffle> =
                [](auto x, const auto& a) {
                    const image s = image_of(x.shape());
                    const std::int64_t r = a.upscale_factor;
                    return refuse_if(r < 1 || s.channels % (r * r) != 0, x,
                        "the square of the factor must divide the channels", [&] {
                            return moved(x, {s.batch, s.channels / (r * r), r, r, s.height, s.width},
                                {0, 1, 4, 2, 5, 3});
                        });
                },
            on<aten::pixel_unshuffle> =
                [](auto x, const auto& a) {
                    const image s = image_of(x.shape());
                    const std::int64_t r = a.downscale_factor;
                    return refuse_if(r < 1 || s.height % r != 0 || s.width % r != 0, x,
                        "the factor must divide height and width", [&] {
                            return moved(x, {s.batch, s.channels, s.height / r, r, s.width / r, r},
                                {0, 1, 3, 5, 2, 4});
                        });
                },
            on<aten::channel_shuffle> =
                [](auto x, const auto& a) {
                    const sizes s = x.shape();
                    return refuse_if(s.size() < 2 || a.groups < 1 || s[1] % a.groups != 0, x,
                        "the groups must divide the channels", [&] {
                            return moved(x, {s[0], a.groups, s[1] / a.groups, element_count(s.subspan(2))},
                                {0, 2, 1, 3});
                        });
                });
    }

private:
    struct image {
        std::int64_t batch = 1, channels = 1, height = 1, width = 1;
    };
    static image image_of(sizes s) {
        if (s.size() < 3) return {};
        const std::size_t lead = s.size() - 3;
        return {element_count(s.first(lead)), s[lead], s[lead + 1], s[lead + 2]};
    }
    static auto moved(const auto& x, const int_list& split, const int_list& order) {
        const auto blocks = call<aten::permute>(call<aten::reshape>(x, split), order);
        return call<aten::reshape>(blocks, x.result_meta().shape);
    }
};
HEADRACE_COMPILED_PASS(decompose_shuffles);

}  // namespace headrace

#endif
