// SPDX-License-Identifier: MIT
// Defines headrace::decompose_rearrangements.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_REARRANGEMENTS_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_REARRANGEMENTS_HPP

#include <memory_resource>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// What PyTorch has from NumPy and writes with other moves: mT and numpy_T are permutations; hstack, vstack,
/// dstack and column_stack join along an axis that every tensor is first given; fliplr, flipud and rot90 are
/// flips and transpositions; broadcast_tensors expands; diff subtracts a tensor from itself, one further on.
struct decompose_rearrangements : pass {
    using phase = decomposition;
    using stacks = ops<aten::hstack, aten::vstack, aten::dstack, aten::column_stack>;
    using targets = joined<stacks, ops<aten::m_t, aten::numpy_t, aten::ravel, aten::fliplr, aten::flipud,
                                       aten::rot90, aten::broadcast_tensors, aten::diff>>;
    using produces = ops<aten::permute, aten::reshape, aten::cat, aten::flip, aten::expand, aten::narrow,
                         aten::sub_tensor, aten::ne_tensor>;

    value operator()(const args<aten::m_t>& a, emit<produces>& e) const {
        shape_builder order = in_order(e.rank(a.self));
        if (order.size() > 1) std::swap(order[order.size() - 2], order.back());
        return e.make<aten::permute>({.self = a.self, .dims = int_list(order)});
    }
    value operator()(const args<aten::numpy_t>& a, emit<produces>& e) const {
        shape_builder order = in_order(e.rank(a.self));
        std::reverse(order.begin(), order.end());
        return e.make<aten::permute>({.self = a.self, .dims = int_list(order)});
    }
    value operator()(const args<aten::ravel>& a, emit<produces>& e) const {
        return e.make<aten::reshape>({.self = a.self, .shape = e.result_meta().shape});
    }
    template <one_of<stacks> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        std::pmr::vector<value> parts;
        for (const value v : a.tensors) {
            parts.push_back(e.make<aten::reshape>(
                {.self = v, .shape = int_list(aten::stacked_shape<Op>(sizes(e.shape(v))))}));
        }
        return e.make<aten::cat>(
            {.tensors = list<value>(parts), .dim = aten::stacked_axis<Op>(e.result_meta().rank())});
    }
    value operator()(const args<aten::fliplr>& a, emit<produces>& e) const {
        return e.make<aten::flip>({.self = a.self, .dims = {1}});
    }
    value operator()(const args<aten::flipud>& a, emit<produces>& e) const {
        return e.make<aten::flip>({.self = a.self, .dims = {0}});
    }
    /// A quarter turn flips the second axis of the plane and swaps both; half a turn flips both.
    value operator()(const args<aten::rot90>& a, emit<produces>& e) const {
        const std::int64_t turns = (a.k % 4 + 4) % 4;
        const std::size_t first = build::axis_in(e, a.dims[0], e.rank(a.self));
        const std::size_t second = build::axis_in(e, a.dims[1], e.rank(a.self));
        if (e.failed() || turns == 0) return a.self;
        if (turns == 2) return e.make<aten::flip>({.self = a.self, .dims = a.dims});
        shape_builder order = in_order(e.rank(a.self));
        std::swap(order[first], order[second]);
        const value flipped = e.make<aten::flip>({.self = a.self, .dims = {a.dims[turns == 1 ? 1 : 0]}});
        return e.make<aten::permute>({.self = flipped, .dims = int_list(order)});
    }
    value_list operator()(const args<aten::broadcast_tensors>& a, emit<produces>& e) const {
        value_list expanded;
        for (std::uint32_t i = 0; i != a.tensors.size(); ++i)
            expanded.push_back(e.make<aten::expand>({.self = a.tensors[i], .size = e.result_meta(i).shape}));
        return expanded;
    }
    /// Of booleans the difference is whether they differ.
    value operator()(const args<aten::diff>& a, emit<produces>& e) const {
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(a.self));
        if (e.failed()) return {};
        const auto dim = static_cast<std::int64_t>(axis);
        value v = a.self;
        if (a.prepend || a.append) {
            std::pmr::vector<value> parts;
            if (a.prepend) parts.push_back(*a.prepend);
            parts.push_back(v);
            if (a.append) parts.push_back(*a.append);
            v = e.make<aten::cat>({.tensors = list<value>(parts), .dim = dim});
        }
        for (std::int64_t n = 0; n < a.n && v; ++n) {
            const std::int64_t left = e.shape(v)[axis] - 1;
            if (left < 1) return e.unsupported("no differences are left: TOSA has no empty tensors");
            const value now = e.make<aten::narrow>({.self = v, .dim = dim, .start = 0, .length = left});
            const value next = e.make<aten::narrow>({.self = v, .dim = dim, .start = 1, .length = left});
            v = is_boolean(e.dtype(v)) ? e.make<aten::ne_tensor>(next, now)
                                       : e.make<aten::sub_tensor>(next, now);
        }
        return v;
    }

private:
    static shape_builder in_order(std::size_t rank) {
        shape_builder order;
        for (std::size_t i = 0; i != rank; ++i) order.push_back(static_cast<std::int64_t>(i));
        return order;
    }
};

}  // namespace headrace

#endif
