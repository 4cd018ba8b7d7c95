// SPDX-License-Identifier: MIT
// Defines headrace::decompose_repeats.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_REPEATS_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_REPEATS_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Copies along new axes: repeat_interleave(x, r) is x[…, None] expanded to r copies and viewed as one axis;
/// meshgrid expands each vector along the axes of the others.
struct decompose_repeats : pass {
    using phase = decomposition;
    using targets = ops<aten::repeat_interleave_self_int, aten::meshgrid_indexing>;
    using produces = ops<aten::reshape, aten::expand>;

    value operator()(const args<aten::repeat_interleave_self_int>& a, emit<produces>& e) const {
        const std::size_t rank = e.rank(a.self);
        const std::size_t axis = a.dim ? build::axis_in(e, *a.dim, rank) : 0;
        const build::three_axes k = a.dim && rank != 0 ? build::around(e.shape(a.self), axis)
                                                       : build::three_axes{1, e.meta(a.self).elements(), 1};
        const value apart =
            e.make<aten::reshape>({.self = a.self, .shape = int_list{k.before, k.size, 1, k.after}});
        const value copies =
            e.make<aten::expand>({.self = apart, .size = int_list{k.before, k.size, a.repeats, k.after}});
        return e.make<aten::reshape>({.self = copies, .shape = e.result_meta().shape});
    }
    value_list operator()(const args<aten::meshgrid_indexing>& a, emit<produces>& e) const {
        const std::size_t rank = a.tensors.size();
        value_list grids;
        for (std::size_t i = 0; i != rank; ++i) {
            const bool swapped = a.indexing == "xy" && rank > 1 && i < 2;
            shape_builder shape = shape_builder::filled(rank, 1);
            shape[swapped ? 1 - i : i] = e.meta(a.tensors[i]).elements();
            const value line = e.make<aten::reshape>({.self = a.tensors[i], .shape = int_list(shape)});
            grids.push_back(e.make<aten::expand>(
                {.self = line, .size = e.result_meta(static_cast<std::uint32_t>(i)).shape}));
        }
        return grids;
    }
};

}  // namespace headrace

#endif
