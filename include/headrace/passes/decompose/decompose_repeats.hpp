// SPDX-License-Identifier: MIT
// Defines headrace::decompose_repeats.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_REPEATS_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_REPEATS_HPP

#include <headrace/pass/arithmetic.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/constants.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

struct decompose_repeats : pass {
    using phase = decomposition;
    static constexpr std::string_view summary =
        "repeat_interleave as x[…, None] expanded, or as constant indices; meshgrid as expands";

    using targeted_ops = ops<aten::meshgrid_indexing>;
    using produces = ops<aten::reshape, aten::expand>;

    static auto rewrites() {
        return rules(
            on<aten::repeat_interleave_self_int> =
                [](auto x, const auto& a) {
                    build::three_axes k{1, x.meta().elements(), 1};  // the tensor as one axis
                    if (a.dim && x.rank() != 0) k = build::around(x.shape(), x.axis(*a.dim));
                    const auto apart = call<aten::reshape>(x, int_list{k.before, k.size, 1, k.after});
                    const auto copies =
                        call<aten::expand>(apart, int_list{k.before, k.size, a.repeats, k.after});
                    return call<aten::reshape>(copies, x.result_meta().shape);
                },
            on<aten::repeat_interleave_tensor> =
                [](auto repeats, const auto& a) {
                    return code<ops<>>(
                        [&](emit<ops<>> e, value v) { return positions_of(e, v, *a.output_size); }, repeats);
                });
    }
    /// Each vector is expanded along the axes of the others.
    value_list operator()(const args<aten::meshgrid_indexing>& a, emit<produces>& e) const {
        const std::size_t rank = a.tensors.size();
        value_list grids;
        for (std::uint32_t i = 0; i != rank; ++i) {
            const bool swapped = a.indexing == "xy" && rank > 1 && i < 2;
            shape_builder shape = shape_builder::filled(rank, 1);
            shape[swapped ? 1 - i : i] = e.meta(a.tensors[i]).elements();
            const value line = e.make<aten::reshape>({.self = a.tensors[i], .shape = int_list(shape)});
            grids.push_back(e.make<aten::expand>({.self = line, .size = e.result_meta(i).shape}));
        }
        return grids;
    }

private:
    // Returns the position of each element, repeated as often as the constant `repeats` says.
    static value positions_of(emitter e, value repeats, std::int64_t size) {
        const auto counts = constant_integers(repeats);
        if (!counts)
            return e.unsupported("repetitions that are computed: only constant ones are known in advance");
        if (!e.may_compute(size, dtype::int64)) return {};
        pmr_vector<std::int64_t> positions;
        for (std::size_t i = 0; i != counts->size(); ++i) {
            const auto left = size - static_cast<std::int64_t>(positions.size());
            if ((*counts)[i] < 0 || (*counts)[i] > left)
                return e.unsupported("its repetitions do not make output_size");
            positions.insert(
                positions.end(), static_cast<std::size_t>((*counts)[i]), static_cast<std::int64_t>(i));
        }
        if (static_cast<std::int64_t>(positions.size()) != size)
            return e.unsupported("its repetitions do not make output_size");
        return e.constant_of(
            e.dtype(repeats), shape_builder{size}, [&](std::size_t i) { return scalar(positions[i]); });
    }
};
HEADRACE_COMPILED_PASS(decompose_repeats);

}  // namespace headrace

#endif
