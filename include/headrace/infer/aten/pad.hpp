// SPDX-License-Identifier: MIT
// Defines the shape rules of the padding of aten.
#ifndef HEADRACE_INFER_ATEN_PAD_HPP
#define HEADRACE_INFER_ATEN_PAD_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <headrace/base/text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/preconditions.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {

namespace aten {

using reflection_pad_ops = ops<reflection_pad1d, reflection_pad2d, reflection_pad3d>;
using replication_pad_ops = ops<replication_pad1d, replication_pad2d, replication_pad3d>;

}  // namespace aten

namespace detail {

/// Adds `pad` to the sizes: pairs of counts before and after, the last axis first.
inline result<void> infer_padded(inference& out, const tensor_meta& self, sizes pad) {
    if (pad.size() % 2 != 0 || pad.size() / 2 > self.rank()) {
        return invalid({"padding ", shape_text(pad), " does not fit ", shape_text(self.shape)});
    }
    if (self.rank() > shape_builder::capacity) return rank_too_large();
    shape_builder shape(self.shape);
    for (std::size_t i = 0; i != pad.size() / 2; ++i) {
        std::int64_t& size = shape[self.rank() - 1 - i];
        // A negative padding crops.
        HEADRACE_TRY(require_at_least("padding", std::min(pad[2 * i], pad[2 * i + 1]), -size));
        size = saturating_add(size, saturating_add(pad[2 * i], pad[2 * i + 1]));
    }
    return add_result(out, self.dtype, shape);
}

/// Padding with elements of self, of which there must be at least one. A reflection may reach every element
/// except the edge; circular padding may wrap once around the elements left by negative amounts.
enum class pad_source : unsigned char { edge, reflection, circle };
inline result<void> infer_padded_from(inference& out, const tensor_meta& self, sizes pad, pad_source source) {
    const std::size_t count = pad.size() / 2;
    if (count == 0 || count > 3) return invalid({"padding ", shape_text(pad), " must be of 1 to 3 axes"});
    HEADRACE_TRY(require_rank("self", self.shape, count + 1, count + 2));
    const sizes padded = sizes(self.shape).last(count);
    if (source != pad_source::circle) {
        HEADRACE_TRY(require_nonempty("self", padded));
    }
    for (std::size_t i = 0; i != 2 * count && source != pad_source::edge; ++i) {
        const std::int64_t size = self.shape[self.rank() - 1 - i / 2];
        const std::int64_t kept = source == pad_source::reflection
            ? size - 1
            : saturating_add(size, std::min<std::int64_t>(pad[i ^ 1U], 0));
        if (pad[i] > kept) {
            return invalid({"padding ", shape_text(pad),
                source == pad_source::reflection ? " reflects more than " : " goes around more than ",
                shape_text(self.shape)});
        }
    }
    HEADRACE_TRY(infer_padded(out, self, pad));
    return require_nonempty("the result", sizes(out.results().back().shape).last(count));
}

}  // namespace detail

template <one_of<ops<aten::constant_pad_nd>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_padded(out, inference::of(a.self), a.pad);
}
template <one_of<ops<aten::pad>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    if (a.mode == "constant") return detail::infer_padded(out, self, a.pad);
    if (a.mode == "replicate") return detail::infer_padded_from(out, self, a.pad, detail::pad_source::edge);
    if (a.mode == "reflect")
        return detail::infer_padded_from(out, self, a.pad, detail::pad_source::reflection);
    if (a.mode == "circular") return detail::infer_padded_from(out, self, a.pad, detail::pad_source::circle);
    return invalid("mode must be constant, reflect, replicate or circular");
}
template <one_of<aten::replication_pad_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_count("padding", a.padding.size(), 2 * spatial_rank<Op>));
    return detail::infer_padded_from(out, inference::of(a.self), a.padding, detail::pad_source::edge);
}
template <one_of<aten::reflection_pad_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_count("padding", a.padding.size(), 2 * spatial_rank<Op>));
    return detail::infer_padded_from(out, inference::of(a.self), a.padding, detail::pad_source::reflection);
}

}  // namespace headrace

#endif
