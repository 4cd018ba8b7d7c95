// SPDX-License-Identifier: MIT
// Defines headrace::decompose_shuffles.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_SHUFFLES_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_SHUFFLES_HPP

#include <headrace/infer/shape_builder.hpp>
#include <headrace/pass/arithmetic.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Decomposes ops that move blocks of channels (PyTorch, torch.nn.PixelShuffle, PixelUnshuffle and
/// ChannelShuffle). Leading axes are joined into one batch, so that rank 6 is enough.
struct decompose_shuffles : pass {
    using phase = decomposition;
    static constexpr std::string_view summary =
        "pixel_shuffle, pixel_unshuffle, channel_shuffle as view, permute, view";

    static auto rewrites() {
        return rules(
            on<aten::pixel_shuffle> =
                [](auto x, const auto& a) {
                    const image s = image_of(x.shape());
                    const std::int64_t r = a.upscale_factor;
                    return choose(
                        r < 1 || s.channels % (r * r) != 0,
                        [&] { return x.unsupported("the square of the factor must divide the channels"); },
                        [&] {
                            return moved(x, {s.batch, s.channels / (r * r), r, r, s.height, s.width},
                                {0, 1, 4, 2, 5, 3});
                        });
                },
            on<aten::pixel_unshuffle> =
                [](auto x, const auto& a) {
                    const image s = image_of(x.shape());
                    const std::int64_t r = a.downscale_factor;
                    return choose(
                        r < 1 || s.height % r != 0 || s.width % r != 0,
                        [&] { return x.unsupported("the factor must divide height and width"); },
                        [&] {
                            return moved(x, {s.batch, s.channels, s.height / r, r, s.width / r, r},
                                {0, 1, 3, 5, 2, 4});
                        });
                },
            on<aten::channel_shuffle> =
                [](auto x, const auto& a) {
                    const sizes s = x.shape();
                    return choose(
                        s.size() < 2 || a.groups < 1 || s[1] % a.groups != 0,
                        [&] { return x.unsupported("the groups must divide the channels"); },
                        [&] {
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
