// SPDX-License-Identifier: MIT
// Defines headrace::expand_moves.
#ifndef HEADRACE_PASSES_U55_EXPAND_MOVES_HPP
#define HEADRACE_PASSES_U55_EXPAND_MOVES_HPP

#include <algorithm>
#include <memory_resource>
#include <optional>
#include <vector>

#include <headrace/passes/support/permuting.hpp>
#include <headrace/passes/support/slicing.hpp>
#include <headrace/passes/u55/for_u55.hpp>
#include <headrace/target/u55_verify.hpp>

namespace headrace {

/// REVERSE of any axis as that of an image's width, and of INT32 element by element; TRANSPOSE of more
/// elements, or of more axes, than Ethos-U55 can address, as several of fewer.
struct expand_moves : pass, for_u55 {
    static constexpr std::string_view summary =
        "REVERSE and large TRANSPOSEs as several that Ethos-U55 can address";
    using targets = ops<tosa::reverse, tosa::transpose>;
    using produces = joined<build::permute_ops, build::slice_ops, build::concat_ops, build::reverse_ops>;

    std::optional<value> operator()(const args<tosa::reverse>& a, emit<produces>& e) const {
        if (u55::restriction(e.current()).empty()) return std::nullopt;
        const shape_builder shape(e.shape(a.input1));
        const auto axis = static_cast<std::size_t>(a.axis);
        const std::int64_t size = shape[axis];
        if (size == 1) return a.input1;
        const build::three_axes around = build::around(shape, axis);
        const value image =
            build::reshape(e, a.input1, shape_builder{around.before, around.size, around.after});
        if (e.dtype(image) != dtype::int32) return build::reshape(e, build::reverse(e, image, 1), shape);
        constexpr std::int64_t most = 256;
        if (size > most) return std::nullopt;
        std::pmr::vector<value> elements;
        for (std::int64_t i = size; i-- != 0;) elements.push_back(build::slice(e, image, 1, i, 1));
        return build::reshape(e, build::concat(e, elements, 1), shape);
    }

    std::optional<value> operator()(const args<tosa::transpose>& a, emit<produces>& e) const {
        if (u55::transpose_fits(e.dtype(a.input1), e.shape(a.input1))) return std::nullopt;
        const auto [shape, perms] = build::merge_axes(e.shape(a.input1), a.perms);
        const value moved = transposed(e, build::reshape(e, a.input1, shape), perms);
        return build::reshape(e, moved, e.result_meta().shape);
    }

private:
    // Of merged axes. Those of too many axes are moved to their places one after another; what then still
    // is too large is moved in parts.
    static value transposed(emit<produces>& e, value v, const shape_builder& perms) {
        if (!v || build::is_identity(perms)) return v;
        const shape_builder shape(e.shape(v));
        if (u55::transpose_fits(e.dtype(v), shape)) return build::transpose(e, v, perms);
        if (perms.size() > 3) return one_by_one(e, v, perms);
        // Two neighbours change places, or three axes do; the longest axis is cut.
        const auto longest =
            static_cast<std::size_t>(std::max_element(shape.begin(), shape.end()) - shape.begin());
        std::size_t to = 0;
        while (perms[to] != static_cast<std::int64_t>(longest)) ++to;
        std::pmr::vector<value> parts;
        for (std::int64_t at = 0; at < shape[longest]; at += u55::most_size) {
            const std::int64_t count = std::min(u55::most_size, shape[longest] - at);
            parts.push_back(transposed(e, build::slice(e, v, longest, at, count), perms));
        }
        return build::concat(e, parts, to);
    }
    // The axis that belongs in front changes places with those before it; then the rest behind it likewise.
    static value one_by_one(emit<produces>& e, value v, const shape_builder& perms) {
        shape_builder order;  // of the axes as they lie now
        for (std::size_t i = 0; i != perms.size(); ++i) order.push_back(static_cast<std::int64_t>(i));
        shape_builder shape(e.shape(v));
        for (std::size_t i = 0; v && i != perms.size(); ++i) {
            std::size_t from = i;
            while (order[from] != perms[i]) ++from;
            if (from == i) continue;
            const std::int64_t before = element_count(sizes(shape).first(i));
            const std::int64_t passed = element_count(sizes(shape).subspan(i, from - i));
            const std::int64_t size = shape[from];
            const std::int64_t after = element_count(sizes(shape).subspan(from + 1));
            v = swapped(e, build::reshape(e, v, shape_builder{before, passed, size, after}));
            const std::int64_t axis = order[from];
            for (std::size_t k = from; k != i; --k) {
                order[k] = order[k - 1];
                shape[k] = shape[k - 1];
            }
            order[i] = axis;
            shape[i] = size;
        }
        return build::reshape(e, v, shape);
    }
    // [a, b, c, d] to [a, c, b, d].
    static value swapped(emit<produces>& e, value v) {
        static constexpr std::int64_t perms[] = {0, 2, 1, 3};
        const shape_builder shape(e.shape(v));
        if (u55::transpose_fits(e.dtype(v), shape)) return build::transpose(e, v, perms);
        const build::merged_permutation merged = build::merge_axes(shape, perms);
        if (merged.perms.size() <= 3)
            return build::reshape(e, transposed(e, build::reshape(e, v, merged.shape), merged.perms),
                                  build::permuted(shape, perms));
        // Halves of the first axis, or else of the longest.
        const auto longest =
            static_cast<std::size_t>(std::max_element(shape.begin(), shape.end()) - shape.begin());
        const std::size_t to = longest == 1 ? 2 : longest == 2 ? 1 : longest;
        const std::int64_t half = shape[longest] / 2;
        return build::concat(e,
                             std::array{swapped(e, build::slice(e, v, longest, 0, half)),
                                        swapped(e, build::slice(e, v, longest, half, shape[longest] - half))},
                             to);
    }
};

}  // namespace headrace

#endif
