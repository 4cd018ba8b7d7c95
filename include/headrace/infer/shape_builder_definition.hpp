// SPDX-License-Identifier: MIT
// Defines the functions of infer/shape_builder.hpp.
#ifndef HEADRACE_INFER_SHAPE_BUILDER_DEFINITION_HPP
#define HEADRACE_INFER_SHAPE_BUILDER_DEFINITION_HPP

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string>
#include <string_view>

#include <headrace/base/compiled.hpp>
#include <headrace/base/result.hpp>
#include <headrace/base/sizes.hpp>
#include <headrace/base/text.hpp>
#include <headrace/infer/inference.hpp>

namespace headrace {

HEADRACE_INLINE error rank_too_large() { return unsupported({"rank is above ", shape_builder::capacity}); }

HEADRACE_INLINE result<void> add_result(inference& out, dtype type, const shape_builder& shape) {
    constexpr std::int64_t largest = std::int64_t{1} << 58;  // 16 bytes each: the bytes fit in 63 bits
    if (shape.overflowed()) return rank_too_large();
    if (type == dtype::unknown) return invalid("these dtypes do not promote to a common one");
    if (type == dtype::shape) return invalid("no tensor has the type shape");
    std::int64_t count = 1;
    for (const std::int64_t size : shape) {
        if (size < 0) return invalid({"shape ", shape_text(shape), " has a negative size"});
        if (size != 0) count = saturating_mul(count, size);
    }
    if (count > largest) return unsupported({"shape ", shape_text(shape), " is too large"});
    out.add(type, sizes(shape));
    return {};
}

HEADRACE_INLINE result<void> add_result(inference& out, const tensor_meta& meta) {
    return add_result(out, meta.dtype, meta);
}
// Not inline, unlike the overload: each rule would contain a copy of a shape.
[[gnu::noinline]] HEADRACE_INLINE result<void> add_result(
    inference& out, dtype type, const tensor_meta& like) {
    return add_result(out, type, shape_builder(like.shape));
}

HEADRACE_INLINE result<void> require_rank(
    std::string_view what, sizes shape, std::size_t least, std::size_t most) {
    if (shape.size() >= least && shape.size() <= most) return {};
    std::pmr::string text(what);
    text += text_of({" ", shape_text(shape), " must have rank ", least});
    if (most != least) text += most == SIZE_MAX ? " or more" : text_of({" to ", most});
    return invalid(text);
}

HEADRACE_INLINE result<void> require_rank(std::string_view what, sizes shape, std::size_t rank) {
    return require_rank(what, shape, rank, rank);
}

HEADRACE_INLINE result<shape_builder> broadcast(sizes a, sizes b) {
    if (a.size() < b.size()) return broadcast(b, a);
    shape_builder shape(a);
    const std::size_t lead = a.size() - b.size();
    for (std::size_t i = lead; i < shape.size(); ++i) {
        const std::int64_t other = b[i - lead];
        if (shape[i] == 1) {
            shape[i] = other;
        } else if (other != 1 && other != shape[i]) {
            return invalid({"cannot broadcast ", shape_text(a), " with ", shape_text(b)});
        }
    }
    return shape;
}

HEADRACE_INLINE result<shape_builder> expanded_shape(sizes from, sizes to) {
    const auto refuse = [&] { return invalid({"cannot expand ", shape_text(from), " to ", shape_text(to)}); };
    if (to.size() < from.size()) return refuse();
    shape_builder shape(to);
    const std::size_t lead = to.size() - from.size();
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (i < lead) {
            if (shape[i] < 0) return refuse();
        } else if (shape[i] == -1) {
            shape[i] = from[i - lead];
        } else if (from[i - lead] != 1 && from[i - lead] != shape[i]) {
            return refuse();
        }
    }
    return shape;
}

HEADRACE_INLINE result<shape_builder> viewed_shape(sizes from, sizes to) {
    const auto refuse = [&] { return invalid({"cannot view ", shape_text(from), " as ", shape_text(to)}); };
    const std::int64_t count = element_count(from);
    shape_builder shape(to);
    std::int64_t known = 1;
    std::int64_t* inferred = nullptr;
    for (std::int64_t& size : shape) {
        if (size != -1) {
            known = saturating_mul(known, size);
        } else if (inferred == nullptr) {
            inferred = &size;
        } else {
            return refuse();
        }
    }
    if (inferred != nullptr) {
        if (known <= 0 || count % known != 0) return refuse();
        *inferred = count / known;
    } else if (known != count) {
        return refuse();
    }
    return shape;
}

HEADRACE_INLINE result<std::size_t> axis_of(std::int64_t axis, std::size_t rank) {
    if (rank > shape_builder::capacity) return rank_too_large();
    if (const auto found = normalized_axis(axis, rank)) return *found;
    return invalid({"axis ", axis, " is out of range for rank ", rank});
}

HEADRACE_INLINE result<axis_set> axes_of(sizes axes, std::size_t rank, no_axes empty) {
    if (rank > shape_builder::capacity) return rank_too_large();
    if (axes.empty() && empty == no_axes::all) return axis_set::all(rank);
    axis_set set;
    for (const std::int64_t axis : axes) {
        HEADRACE_TRY(found, axis_of(axis, rank));
        if (set.contains(found)) return invalid({"axis ", axis, " is named twice"});
        set.insert(found);
    }
    return set;
}

HEADRACE_INLINE result<shape_builder> permutation_of(sizes axes, std::size_t rank) {
    if (axes.size() != rank) {
        return invalid({"permutation ", shape_text(axes), " does not have rank ", rank});
    }
    HEADRACE_TRY(axes_of(axes, rank, no_axes::none));
    shape_builder order(axes);
    for (std::int64_t& axis : order) axis = axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
    return order;
}

HEADRACE_INLINE result<shape_builder> list_for(std::string_view what, sizes items, std::size_t count) {
    if (items.size() == count) return shape_builder(items);
    if (items.size() == 1) return shape_builder::filled(count, items[0]);
    return invalid({what, " ", shape_text(items), " must have 1 or ", count, " elements"});
}

}  // namespace headrace

#endif
