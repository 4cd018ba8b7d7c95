// SPDX-License-Identifier: MIT
// Defines headrace::copy_before_planes.
#ifndef HEADRACE_PASSES_NPU_COPY_BEFORE_PLANES_HPP
#define HEADRACE_PASSES_NPU_COPY_BEFORE_PLANES_HPP

#include <optional>

#include <headrace/passes/npu/image_cost.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/permuting.hpp>
#include <headrace/target/preferences.hpp>

namespace headrace {

/// Writes planes by a pooling of single pixels, for networks that return an image with many channels as NCHW.
/// Otherwise Vela fuses the TRANSPOSE into the convolution before it, which then reads its weights again for
/// every few planes; the pooling has no weights.
struct copy_before_planes : pass {
    using phase = tuning;
    static constexpr std::string_view summary =
        "copies what a CONV2D gives by a MAX_POOL2D before a TRANSPOSE takes it apart by channels";

    using targeted_ops = ops<tosa::transpose>;
    using produces = joined<build::permute_ops, ops<tosa::max_pool2d>>;

    [[nodiscard]] bool should_run(const graph& g) const {
        return preferences_of(g.target()).slow_planes != 0;
    }

    std::optional<value> operator()(const args<tosa::transpose>& a, emit<produces>& e) const {
        const shape_builder shape(e.shape(a.input1));
        const auto moved = build::merge_axes(shape, a.perms);
        if (moved.perms != shape_builder{1, 0} || e.dtype(a.input1) != dtype::int8) return std::nullopt;
        const auto* convolution = convolution_before(a.input1);
        if (convolution == nullptr) return std::nullopt;
        const auto& meta = convolution->results[0].meta;
        if (!meta) return std::nullopt;
        const shape_builder image(sizes(meta->shape));
        if (image[0] != 1 || image[3] != moved.shape[1] ||
            !planes_gain_by_copy(preferences_of(e.target()), image)) {
            return std::nullopt;
        }
        const value copied = e.make<tosa::max_pool2d>({.input = build::reshape(e, a.input1, image),
            .kernel = {1, 1},
            .stride = {1, 1},
            .pad = {0, 0, 0, 0}});
        return build::transpose(e, build::reshape(e, copied, shape), a.perms);
    }

private:
    // Returns a convolution whose result has no other user, after ops that Vela fuses into it.
    static const node* convolution_before(value v) {
        while (has_one_use(v)) {
            const node& n = *v.producer;
            if (is<tosa::conv2d>(n)) return &n;
            if (!is<tosa::rescale>(n) && !is<tosa::clamp>(n) && !is<tosa::table>(n) && !is<tosa::reshape>(n))
                return nullptr;
            v = n.operand(0);
        }
        return nullptr;
    }
};
HEADRACE_COMPILED_PASS(copy_before_planes);

}  // namespace headrace

#endif
