// SPDX-License-Identifier: MIT
// Defines what the passes over quantized programs share: reading a value of real numbers as integers, and
// quantizing one, through whatever only moves elements.
#ifndef HEADRACE_PASSES_QUANTIZE_DEQUANTIZED_HPP
#define HEADRACE_PASSES_QUANTIZE_DEQUANTIZED_HPP

#include <cmath>
#include <memory_resource>
#include <optional>
#include <utility>
#include <vector>

#include <headrace/infer/aten_elementwise.hpp>
#include <headrace/infer/aten_join.hpp>
#include <headrace/infer/aten_view.hpp>
#include <headrace/infer/quantized_decomposed.hpp>
#include <headrace/passes/quantize/quantization.hpp>
#include <headrace/passes/quantize/rescaling.hpp>
#include <headrace/passes/support/permuting.hpp>

namespace headrace {

/// Ops whose results consist of elements of their operands, in the form that programs have after the
/// decompositions. They do the same to codes as to real numbers, where all operands share one quantization.
using selecting_ops =
    ops<aten::view, aten::_unsafe_view, aten::reshape, aten::flatten_using_ints, aten::unflatten_int,
        aten::squeeze, aten::squeeze_dim, aten::squeeze_dims, aten::unsqueeze, aten::permute,
        aten::transpose_int, aten::t, aten::movedim_int, aten::movedim_intlist, aten::expand,
        aten::broadcast_to, aten::repeat, aten::tile, aten::flip, aten::slice_tensor, aten::narrow,
        aten::select_int, aten::split_tensor, aten::split_sizes, aten::split_with_sizes,
        aten::unsafe_split_tensor, aten::unsafe_split_with_sizes, aten::chunk, aten::tensor_split_sections,
        aten::tensor_split_indices, aten::unbind_int, aten::index_select, aten::embedding, aten::gather,
        aten::index_tensor, aten::_unsafe_index_tensor, aten::cat, aten::where_self, aten::index_put,
        aten::_unsafe_index_put, aten::scatter_src, aten::index_copy, aten::reflection_pad1d,
        aten::reflection_pad2d, aten::reflection_pad3d, aten::replication_pad1d, aten::replication_pad2d,
        aten::replication_pad3d, aten::upsample_nearest1d, aten::upsample_nearest1d_vec,
        aten::upsample_nearest2d, aten::upsample_nearest2d_vec, aten::_upsample_nearest_exact1d,
        aten::_upsample_nearest_exact1d_vec, aten::_upsample_nearest_exact2d,
        aten::_upsample_nearest_exact2d_vec, aten::amax, aten::amin, aten::max, aten::min, aten::aminmax,
        aten::max_pool2d, tosa::transpose, tosa::reshape>;

/// What reading and quantizing make, clones of what is there aside.
using requantize_ops =
    joined<build::rescale_ops, build::transpose_ops,
           ops<aten::clamp, aten::constant_pad_nd, aten::full, quantized_decomposed::quantize_per_tensor>>;

/// What making real numbers of codes makes.
using dequantize_ops =
    ops<quantized_decomposed::dequantize_per_tensor, quantized_decomposed::dequantize_per_channel>;

namespace detail {

[[nodiscard]] inline bool is_selecting(const node& n) {
    if (const auto* a = args_if<aten::index_put>(n)) return !a->accumulate;
    if (const auto* a = args_if<aten::_unsafe_index_put>(n)) return !a->accumulate;
    return set_of<selecting_ops>.contains(*n.op);
}

/// The padding of a constant_pad_nd or a `pad` with a constant.
struct constant_padding {
    value self;
    int_list pad;
    double with;
};
[[nodiscard]] inline std::optional<constant_padding> match_constant_pad(value v) {
    if (const auto* a = match<aten::constant_pad_nd>(v))
        return constant_padding{a->self, a->pad, a->value.to_double()};
    const auto* a = match<aten::pad>(v);
    if (a == nullptr || a->mode != "constant") return std::nullopt;
    return constant_padding{a->self, a->pad, a->value.value_or(0)};
}
/// Other paddings select.
[[nodiscard]] inline bool is_selecting_pad(const node& n) {
    const auto* a = args_if<aten::pad>(n);
    return a != nullptr && a->mode != "constant";
}

[[nodiscard]] inline bool is_real(value v) { return meta_of(v) != nullptr && is_floating(meta_of(v)->dtype); }

/// Where an axis is after an op that moves elements of one operand, if it is still an axis of its own, and
/// the part of it that remains.
struct moved_axis {
    std::size_t axis;
    std::int64_t first = 0;  ///< of the indices that remain
};
[[nodiscard]] inline std::optional<moved_axis> axis_after(const node& n, std::size_t axis) {
    const tensor_meta& before = *meta_of(n.operand(0));
    const tensor_meta& after = *n.results[0].meta;
    const auto permuted = [&](sizes perms) -> std::optional<moved_axis> {
        for (std::size_t i = 0; i != perms.size(); ++i) {
            if (normalized_axis(perms[i], perms.size()) == axis) return moved_axis{i};
        }
        return std::nullopt;
    };
    if (const auto* a = args_if<aten::permute>(n)) return permuted(a->dims);
    if (const auto* a = args_if<tosa::transpose>(n)) return permuted(a->perms);
    if (is<aten::t>(n)) return moved_axis{before.rank() < 2 ? axis : 1 - axis};
    if (const auto* a = args_if<aten::transpose_int>(n)) {
        const auto x = normalized_axis(a->dim0, before.rank());
        const auto y = normalized_axis(a->dim1, before.rank());
        return moved_axis{x == axis ? *y : y == axis ? *x : axis};
    }
    if (const auto* a = args_if<aten::slice_tensor>(n)) {
        if (normalized_axis(a->dim, before.rank()) != axis) return moved_axis{axis};
        if (a->step != 1) return std::nullopt;
        return moved_axis{axis, clamped_slice(a->start, a->end, before.shape[axis]).start};
    }
    static constexpr auto reshapes = set_of<
        ops<aten::view, aten::_unsafe_view, aten::reshape, aten::unsqueeze, aten::squeeze, aten::squeeze_dim,
            aten::squeeze_dims, aten::flatten_using_ints, aten::unflatten_int, tosa::reshape>>;
    if (!reshapes.contains(*n.op)) return std::nullopt;
    // The axis of the same size that has as many elements before it.
    const auto leading = [](const int_list& shape, std::size_t count) {
        std::int64_t elements = 1;
        for (std::size_t i = 0; i != count; ++i) elements *= shape[i];
        return elements;
    };
    for (std::size_t i = 0; i != after.rank(); ++i) {
        if (after.shape[i] == before.shape[axis] && leading(after.shape, i) == leading(before.shape, axis))
            return moved_axis{i};
    }
    return std::nullopt;
}

}  // namespace detail

/// A clone of a node that selects, on codes in place of real numbers.
template <class E>
value on_codes(E& e, value v, const std::pmr::vector<value>& operands) {
    const headrace::dtype reals = e.dtype(v);
    headrace::dtype codes = reals;
    for (std::size_t i = 0; i != operands.size(); ++i) {
        if (detail::is_real(v.producer->operand(i))) codes = e.dtype(operands[i]);
    }
    node* made = e.clone(*v.producer, operands, [&](tensor_meta& meta) {
        if (meta.dtype == reals) meta.dtype = codes;
    });
    return made == nullptr ? value{} : made->result(v.result);
}

/// The code next to a number; nothing for NaN.
[[nodiscard]] inline std::optional<std::int64_t> nearest_code(const quantization& q, double number) {
    const double code = number / q.scale() + static_cast<double>(q.zero_point());
    if (std::isnan(code)) return std::nullopt;
    if (code <= static_cast<double>(q.lowest)) return q.lowest;
    if (code >= static_cast<double>(q.highest)) return q.highest;
    return static_cast<std::int64_t>(std::nearbyint(code));
}
/// A number as a code of that quantization, if it has one: it lies on the grid, or beyond all codes.
[[nodiscard]] inline std::optional<std::int64_t> exact_code(const quantization& q, double number) {
    constexpr double tolerance = 1e-4;
    const auto nearest = nearest_code(q, number);
    if (!nearest) return std::nullopt;
    const double code = number / q.scale() + static_cast<double>(q.zero_point());
    const bool is_beyond = code < static_cast<double>(q.lowest) || code > static_cast<double>(q.highest);
    return is_beyond || std::abs(code - static_cast<double>(*nearest)) < tolerance ? nearest : std::nullopt;
}

/// Reads a dequantize and, where the target has no floats, a cast from integers, whose scale is 1.
template <class E>
std::optional<dequantized> direct_codes(const E& e, value v) {
    if (auto direct = match_dequantize(v)) return direct;
    const auto* a = match<aten::_to_copy>(v);
    if (a == nullptr || e.target().has(target_feature::profile_fp) || !is_integral(e.dtype(a->self)) ||
        !is_floating(e.dtype(v)))
        return std::nullopt;
    const auto [lowest, highest] = range_of(e.dtype(a->self));
    return dequantized{a->self, quantization::per_tensor(1, 0, lowest, highest)};
}

/// How many ops reading and quantizing go past at most: programs may nest without end.
inline constexpr int most_nested = 256;

/// Reads a value of real numbers as codes: of a dequantize, or of ops that select elements of one. Nothing
/// for values that are computed, and for selections from several quantizations.
template <class E>
class dequantizer {
public:
    explicit dequantizer(E& e) : e_(e) {}

    std::optional<dequantized> operator()(value v) {
        for (const auto& [known, codes] : known_) {
            if (known == v) return codes;
        }
        if (!detail::is_real(v) || depth_ == most_nested) return std::nullopt;
        ++depth_;
        auto codes = read(v);
        --depth_;
        known_.emplace_back(v, codes);
        return codes;
    }

private:
    std::optional<dequantized> read(value v) {
        if (auto direct = direct_codes(e_, v)) return direct;
        if (const auto pad = detail::match_constant_pad(v)) return padded(*pad);
        if (const auto* a = match<aten::clamp>(v)) return clamped(*a);
        const node& n = *v.producer;
        if (!detail::is_selecting(n) && !detail::is_selecting_pad(n)) return std::nullopt;
        std::pmr::vector<value> operands;
        std::optional<quantization> shared;
        for (const edge& operand : n.operand_edges()) {
            operands.push_back(*operand.slot);
            if (!detail::is_real(operands.back())) continue;
            auto inner = (*this)(operands.back());
            if (!inner || (shared && !(*shared == inner->parameters))) return std::nullopt;
            operands.back() = inner->codes;
            shared = std::move(inner->parameters);
        }
        if (!shared || (shared->axis && !move_channels(*shared, n, v))) return std::nullopt;
        return dequantized{on_codes(e_, v, operands), std::move(*shared)};
    }

    std::optional<dequantized> padded(const detail::constant_padding& pad) {
        auto inner = (*this)(pad.self);
        if (!inner || !inner->parameters.is_per_tensor()) return std::nullopt;
        const auto with = exact_code(inner->parameters, pad.with);
        if (!with) return std::nullopt;
        inner->codes =
            e_.template make<aten::constant_pad_nd>({.self = inner->codes, .pad = pad.pad, .value = *with});
        return inner;
    }

    std::optional<dequantized> clamped(const args<aten::clamp>& a) {
        auto inner = (*this)(a.self);
        if (!inner || !inner->parameters.is_per_tensor() || e_.dtype(inner->codes) == dtype::int48)
            return std::nullopt;
        const auto lies_between = [&](const std::optional<scalar>& bound) {
            return bound && !exact_code(inner->parameters, bound->to_double());
        };
        if (lies_between(a.min) || lies_between(a.max)) {
            constexpr double room = 1 << 30;
            if (inner->parameters.reach() > room) return std::nullopt;
            inner = finer(*inner);
        }
        quantization& q = inner->parameters;
        const auto least = a.min ? nearest_code(q, a.min->to_double()) : q.lowest;
        const auto most = a.max ? nearest_code(q, a.max->to_double()) : q.highest;
        if (!least || !most) return std::nullopt;
        inner->codes = e_.template make<aten::clamp>(
            {.self = inner->codes, .min = scalar(*least), .max = scalar(*most)});
        q.lowest = *least;
        q.highest = *most;
        return inner;
    }

    // Codes of 32 bits, as fine as they have room for: nearly every bound is on their grid.
    dequantized finer(const dequantized& d) {
        constexpr int most_bits = 19;
        const quantization& q = d.parameters;
        const int bits = std::min(most_bits, 29 - std::ilogb(std::max(q.reach(), 1.0)));
        if (bits <= 0) return d;
        const double factor = std::ldexp(1.0, bits);
        const auto most = static_cast<std::int64_t>(q.reach() * factor);
        return {build::rescale(e_, d.codes, factor, {.input_zero = q.zero_point(), .reach = q.reach()}),
                quantization::per_tensor(q.scale() / factor, 0, -most, most)};
    }

    // The channels of one operand as those of the result, where they still are an axis.
    bool move_channels(quantization& q, const node& n, value v) {
        const auto moved = detail::axis_after(n, *q.axis);
        if (!moved || n.operand_count != 1) return false;
        const auto first = static_cast<std::ptrdiff_t>(moved->first);
        const auto count = static_cast<std::ptrdiff_t>(e_.shape(v)[moved->axis]);
        q.axis = moved->axis;
        q.scales = {q.scales.begin() + first, q.scales.begin() + first + count};
        q.zero_points = {q.zero_points.begin() + first, q.zero_points.begin() + first + count};
        return true;
    }

    E& e_;
    std::pmr::vector<std::pair<value, std::optional<dequantized>>> known_;
    int depth_ = 0;
};

template <class E>
std::optional<dequantized> as_dequantized(E& e, value v) {
    return dequantizer<E>(e)(v);
}

/// Codes as a value of real numbers again, for what follows to read: a dequantize, per tensor or, where
/// `axis` is given, per channel.
template <class E>
value dequantize(E& e, const dequantized& d) {
    const quantization& q = d.parameters;
    const dtype result = e.result_meta().dtype;
    const auto reals = is_floating(result) && result != dtype::float32 ? std::optional(result) : std::nullopt;
    if (q.is_per_tensor()) {
        return e.template make<quantized_decomposed::dequantize_per_tensor>({.input = d.codes,
                                                                             .scale = q.scale(),
                                                                             .zero_point = q.zero_point(),
                                                                             .quant_min = q.lowest,
                                                                             .quant_max = q.highest,
                                                                             .dtype = e.dtype(d.codes),
                                                                             .out_dtype = reals});
    }
    const auto channels = static_cast<std::int64_t>(q.scales.size());
    return e.template make<quantized_decomposed::dequantize_per_channel>(
        {.input = d.codes,
         .scales = e.template constant<double>(dtype::float64, std::array{channels}, q.scales),
         .zero_points = e.template constant<std::int64_t>(dtype::int64, std::array{channels}, q.zero_points),
         .axis = static_cast<std::int64_t>(*q.axis),
         .quant_min = q.lowest,
         .quant_max = q.highest,
         .dtype = e.dtype(d.codes),
         .out_dtype = reals});
}

/// Codes of one quantization, which may be per channel, as codes of another, per tensor, by RESCALE.
template <class E>
value rescale_codes(E& e, const dequantized& d, const quantization& to, dtype type) {
    const quantization& from = d.parameters;
    std::pmr::vector<double> factors;
    for (const double s : from.scales) factors.push_back(s / to.scale());
    for (const std::int64_t z : from.zero_points) {
        if (z != from.zero_points.front())
            return e.unsupported("zero points that differ between channels; make them equal");
    }
    const std::size_t rank = e.rank(d.codes);
    value v = d.codes;
    shape_builder last;  // RESCALE's channels are the last axis
    if (from.axis) {
        for (std::size_t i = 0; i != rank; ++i) {
            if (i != *from.axis) last.push_back(static_cast<std::int64_t>(i));
        }
        last.push_back(static_cast<std::int64_t>(*from.axis));
        v = build::transpose(e, v, last);
    }
    v = build::rescale(e, v, factors,
                       {.input_zero = from.zero_points.front(),
                        .output_zero = to.zero_point(),
                        .to = type,
                        .reach = from.reach()});
    return from.axis ? build::transpose(e, v, build::inverse(last)) : v;
}

/// The same within the new quantization's range, where that is narrower than the type's.
template <class E>
value requantize(E& e, const dequantized& d, const quantization& to, dtype type) {
    if (d.parameters == to && e.dtype(d.codes) == type) return d.codes;
    const value v = rescale_codes(e, d, to, type);
    const auto [lowest, highest] = range_of(type);
    if (type == dtype::int32 || (to.lowest <= lowest && to.highest >= highest)) return v;
    return e.template make<aten::clamp>({.self = v, .min = scalar(to.lowest), .max = scalar(to.highest)});
}

/// Do all readers of a node's results quantize them with these parameters? Not known, so no, where readers
/// are still to come, as in the retracing driver.
[[nodiscard]] inline bool is_read_in(const node& n, const quantization& q) {
    if (n.first_use == nullptr) return false;
    for (const edge& use : n.uses()) {
        const auto* a = args_if<quantized_decomposed::quantize_per_tensor>(*use.target);
        if (a == nullptr || !q.is_per_tensor() || a->scale != q.scale() || a->zero_point != q.zero_point())
            return false;
    }
    return true;
}

/// Quantizes a value of real numbers. As rounding keeps the order of numbers, it goes past what selects
/// elements and past clamps, up to a dequantize, with which it becomes a RESCALE, or to constants. Where it
/// meets anything else it stays a quantize.
template <class E>
class quantizer {
public:
    quantizer(E& e, const quantization& to, dtype type) : e_(e), to_(to), type_(type) {}

    /// Can a quantize of that value be anything else than that?
    [[nodiscard]] bool goes_past(value v) const {
        const node& n = *v.producer;
        return direct_codes(e_, v) || constant_reals(v) || is<aten::full>(n) || is<aten::clamp>(n) ||
               detail::match_constant_pad(v) || detail::is_selecting(n) || detail::is_selecting_pad(n);
    }

    value operator()(value v) {
        for (const auto& [known, codes] : known_) {
            if (known == v) return codes;
        }
        ++depth_;
        const value codes = depth_ > most_nested ? as_it_is(v) : quantized(v);
        --depth_;
        known_.emplace_back(v, codes);
        return codes;
    }

private:
    value quantized(value v) {
        if (auto d = direct_codes(e_, v)) return requantize(e_, *d, to_, type_);
        if (auto numbers = constant_reals(v)) return constant(v, *numbers);
        if (const auto* a = match<aten::full>(v)) {
            return e_.template make<aten::full>({.size = a->size,
                                                 .fill_value = scalar(to_.code_of(a->fill_value.to_double())),
                                                 .dtype = type_});
        }
        if (const auto* a = match<aten::clamp>(v)) {
            const value codes = (*this)(a->self);
            return e_.template make<aten::clamp>(
                {.self = codes,
                 .min = scalar(a->min ? to_.code_of(a->min->to_double()) : to_.lowest),
                 .max = scalar(a->max ? to_.code_of(a->max->to_double()) : to_.highest)});
        }
        if (const auto pad = detail::match_constant_pad(v)) {
            const value codes = (*this)(pad->self);
            return e_.template make<aten::constant_pad_nd>(
                {.self = codes, .pad = pad->pad, .value = scalar(to_.code_of(pad->with))});
        }
        const node& n = *v.producer;
        if (detail::is_selecting(n) || detail::is_selecting_pad(n)) {
            std::pmr::vector<value> operands;
            for (const edge& operand : n.operand_edges()) {
                const value x = *operand.slot;
                operands.push_back(detail::is_real(x) ? (*this)(x) : x);
            }
            return on_codes(e_, v, operands);
        }
        return as_it_is(v);
    }

    value as_it_is(value v) {
        return e_.template make<quantized_decomposed::quantize_per_tensor>({.input = v,
                                                                            .scale = to_.scale(),
                                                                            .zero_point = to_.zero_point(),
                                                                            .quant_min = to_.lowest,
                                                                            .quant_max = to_.highest,
                                                                            .dtype = type_});
    }

    value constant(value v, const std::pmr::vector<double>& numbers) {
        return e_.constant({type_, e_.shape(v), {}}, [&](std::span<std::byte> data) {
            const std::size_t width = traits_of(type_).bits / 8U;
            for (std::size_t i = 0; i != numbers.size(); ++i)
                detail::store_element(to_.code_of(numbers[i]), type_, &data[i * width]);
        });
    }

    E& e_;
    const quantization& to_;
    dtype type_;
    std::pmr::vector<std::pair<value, value>> known_;
    int depth_ = 0;
};

}  // namespace headrace

#endif
