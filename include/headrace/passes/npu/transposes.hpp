// SPDX-License-Identifier: MIT
// Defines headrace::transpose_before_matmul and headrace::copy_before_planes, which give transposes the
// forms that Vela computes fastest.
#ifndef HEADRACE_PASSES_NPU_TRANSPOSES_HPP
#define HEADRACE_PASSES_NPU_TRANSPOSES_HPP

#include <optional>

#include <headrace/passes/npu/preferring.hpp>
#include <headrace/passes/support/permuting.hpp>

namespace headrace {

struct copy_before_planes;

/// Separates the transpose of a MATMUL's second matrices from moves of other axes, such as those of attention
/// heads, which the keys need besides. An Ethos-U85 reads the second matrices transposed, so Vela puts a
/// TRANSPOSE before each MATMUL, and cancels it with an inverse one. It cannot do so if the TRANSPOSE also
/// moves other axes, so such a TRANSPOSE is split in two.
struct transpose_before_matmul : tuned_for<&target_preferences::reads_matrices_transposed> {
    using runs_before = pass_list<copy_before_planes>;
    static constexpr std::string_view summary =
        "transposes the second matrices of a MATMUL by themselves, after their other axes";

    static auto rewrites() { return rules(on<tosa::matmul> = code<of_transposed>()); }

private:
    using made = joined<build::permute_ops, ops<tosa::matmul>>;
    static std::optional<value> of_transposed(emit<made> e, args<tosa::matmul> a) {
        const auto matrices = has_one_use(a.b) ? before_transpose(a.b, e) : std::nullopt;
        if (!matrices) return std::nullopt;
        a.b = build::transpose(e, *matrices, shape_builder{0, 2, 1});
        return e.make<tosa::matmul>(a);
    }

    // Returns [N, W, C] for a value that is transposed to [N, C, W] together with other axes, or through
    // RESHAPEs. W is the outermost of the axes moved.
    static std::optional<value> before_transpose(value v, emit<made> e) {
        const shape_builder shape(e.shape(v));
        while (const auto* split = match<tosa::reshape>(v)) {
            v = split->input1;
            if (!has_one_use(v)) return std::nullopt;
        }
        const auto* moved = match<tosa::transpose>(v);
        if (moved == nullptr || shape_builder(moved->perms) == shape_builder{0, 2, 1}) return std::nullopt;
        const auto merged = build::merge_axes(e.shape(moved->input1), moved->perms);
        if (merged.perms != shape_builder{1, 0} || merged.shape[0] != shape[2]) return std::nullopt;
        const value rows = build::reshape(e, moved->input1, shape_builder{shape[2], shape[0], shape[1]});
        return build::permute(e, rows, shape_builder{1, 0, 2});
    }
};
HEADRACE_COMPILED_PASS(transpose_before_matmul);

/// Copies an image, by a pooling of single pixels, before a TRANSPOSE writes it plane by plane: for networks
/// that return an image with many channels as NCHW. Otherwise Vela fuses the TRANSPOSE into the convolution
/// before it, which then reads its weights again for every few planes; the pooling has no weights.
struct copy_before_planes : tuned_for<&target_preferences::slow_planes> {
    static constexpr std::string_view summary =
        "copies what a CONV2D gives by a MAX_POOL2D before a TRANSPOSE takes it apart by channels";

    static auto rewrites() { return rules(on<tosa::transpose> = code<of_copy>()); }

private:
    using made = joined<build::permute_ops, ops<tosa::max_pool2d>>;
    static std::optional<value> of_copy(emit<made> e, const args<tosa::transpose>& a) {
        const shape_builder shape(e.shape(a.input1));
        const auto moved = build::merge_axes(shape, a.perms);
        if (moved.perms != shape_builder{1, 0} || e.dtype(a.input1) != dtype::int8) return std::nullopt;
        const value computed = convolution_before(a.input1);
        if (!computed || meta_of(computed) == nullptr) return std::nullopt;
        const shape_builder image(e.shape(computed));
        if (image[0] != 1 || image[3] != moved.shape[1] ||
            !planes_gain_by_copy(preferences_of(e.target()), image)) {
            return std::nullopt;
        }
        const value copied = build::copy_by_pooling(e, build::reshape(e, a.input1, image));
        return build::transpose(e, build::reshape(e, copied, shape), a.perms);
    }

    // True if copying an image [1, H, W, C] on the chip before it is written plane by plane takes fewer
    // cycles than having the convolution that computes it write the planes. By Vela's estimates for
    // ethos-u85-256 of 300 sizes, the two break even at about C = 3 √(H W).
    static bool planes_gain_by_copy(const target_preferences& target, sizes image) {
        const auto planes = static_cast<double>(image[3]);
        const double pixels = static_cast<double>(image[1]) * static_cast<double>(image[2]);
        const bool fits = element_count(image) <= target.on_chip_bytes;
        return fits && planes * planes * static_cast<double>(target.slow_planes) > 100 * pixels;
    }
    // Returns the result of a convolution that has no other user, before ops that Vela fuses into it.
    static value convolution_before(value v) {
        const auto is_fused = [](const node& n) {
            return fused_into_convolutions.contains(*n.op) || is<tosa::reshape>(n);
        };
        while (has_one_use(v) && is_fused(*v.producer)) v = v.producer->operand(0);
        return has_one_use(v) && is<tosa::conv2d>(*v.producer) ? v : value{};
    }
};
HEADRACE_COMPILED_PASS(copy_before_planes);

}  // namespace headrace

#endif
