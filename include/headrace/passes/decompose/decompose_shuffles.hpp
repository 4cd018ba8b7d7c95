// SPDX-License-Identifier: MIT
// Defines headrace::decompose_shuffles.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_SHUFFLES_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_SHUFFLES_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// The ops that move blocks of channels are a view, a permutation and a view (PyTorch, torch.nn.PixelShuffle,
/// PixelUnshuffle and ChannelShuffle). Leading axes are one batch, so that rank 6 is enough.
struct decompose_shuffles : pass {
    using phase = decomposition;
    using targets = ops<aten::pixel_shuffle, aten::pixel_unshuffle, aten::channel_shuffle>;
    using produces = ops<aten::reshape, aten::permute>;

    value operator()(const args<aten::pixel_shuffle>& a, emit<produces>& e) const {
        const std::int64_t r = a.upscale_factor;
        const image s = image_of(e.shape(a.self));
        if (r < 1 || s.channels % (r * r) != 0)
            return e.unsupported("the square of the factor must divide the channels");
        return moved(e, a.self, shape_builder{s.batch, s.channels / (r * r), r, r, s.height, s.width},
                     shape_builder{0, 1, 4, 2, 5, 3});
    }
    value operator()(const args<aten::pixel_unshuffle>& a, emit<produces>& e) const {
        const std::int64_t r = a.downscale_factor;
        const image s = image_of(e.shape(a.self));
        if (r < 1 || s.height % r != 0 || s.width % r != 0)
            return e.unsupported("the factor must divide height and width");
        return moved(e, a.self, shape_builder{s.batch, s.channels, s.height / r, r, s.width / r, r},
                     shape_builder{0, 1, 3, 5, 2, 4});
    }
    value operator()(const args<aten::channel_shuffle>& a, emit<produces>& e) const {
        const sizes s(e.shape(a.self));
        if (s.size() < 2 || a.groups < 1 || s[1] % a.groups != 0)
            return e.unsupported("the groups must divide the channels");
        return moved(e, a.self, shape_builder{s[0], a.groups, s[1] / a.groups, element_count(s.subspan(2))},
                     shape_builder{0, 2, 1, 3});
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
    static value moved(emit<produces>& e, value v, sizes split, sizes order) {
        v = e.make<aten::reshape>({.self = v, .shape = int_list(split)});
        v = e.make<aten::permute>({.self = v, .dims = int_list(order)});
        return e.make<aten::reshape>({.self = v, .shape = e.result_meta().shape});
    }
};

}  // namespace headrace

#endif
