// SPDX-License-Identifier: MIT
// Defines headrace::decompose_sampling.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_SAMPLING_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_SAMPLING_HPP

#include <headrace/base/pmr_vector.hpp>
#include <headrace/pass/arithmetic.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

struct decompose_rounding;
/// Decomposes sampling an image at computed positions (PyTorch, torch.nn.functional.grid_sample): pixels are
/// rows of a table, from which each position gathers the nearest one, or its four neighbours weighted by
/// distance.
struct decompose_sampling : pass {
    using phase = decomposition;
    using runs_before = pass_list<decompose_rounding>;
    static constexpr std::string_view summary = "grid_sampler as weighted rows of a table of pixels";

    static auto rewrites() {
        return real_rules(on_each<ops<aten::grid_sampler, aten::grid_sampler_2d>> = [](auto image, auto grid,
                                                                                        const auto& a) {
            constexpr std::int64_t max_pixels = 1 << 24;  // float32 has no more exact integers
            return choose(
                image.rank() != 4, [&] { return image.unsupported("only images are sampled"); },
                a.interpolation_mode > 1,
                [&] { return image.unsupported("only the modes bilinear and nearest are lowered"); },
                element_count(image.shape()) > max_pixels,
                [&] { return image.unsupported("the image has more pixels than float32 has integers"); },
                [&] { return sampled(image, grid, a); });
        });
    }

private:
    static auto sampled(const auto& image, const auto& grid, const auto& a) {
        const sizes s = image.shape();
        const auto rows = call<aten::permute>(image, int_list{0, 2, 3, 1});
        const auto table = call<aten::reshape>(rows, int_list{s[0] * s[2] * s[3], s[1]});
        pmr_vector<float> starts;
        for (std::int64_t n = 0; n != s[0]; ++n) starts.push_back(static_cast<float>(n * s[2] * s[3]));
        const auto first = image.tensor(dtype::float32, shape_builder{s[0], 1, 1}, starts);
        const auto x = position(call<aten::select_int>(grid, -1, 0), s[3], a);
        const auto y = position(call<aten::select_int>(grid, -1, 1), s[2], a);
        const auto pixel = [&](const auto& at_x, const auto& at_y, const auto& weight) {
            const auto index = first + clamped(at_y, s[2]) * static_cast<double>(s[3]) + clamped(at_x, s[3]);
            const auto row = call<aten::embedding>(table, as(index, dtype::int32));
            const auto kept = choose(a.padding_mode != 0, weight, [&] {
                return weight * as(logical_and(is_inside(at_x, s[3]), is_inside(at_y, s[2])), dtype::float32);
            });
            return row * call<aten::unsqueeze>(kept, -1);
        };
        const auto nearest = [&] { return pixel(rounded(x), rounded(y), x * 0.0 + 1.0); };
        const auto linear = [&] {
            const auto left = floor(x);
            const auto top = floor(y);
            const auto right = left + 1;
            const auto bottom = top + 1;
            return pixel(left, top, (right - x) * (bottom - y)) +
                pixel(right, top, (x - left) * (bottom - y)) + pixel(left, bottom, (right - x) * (y - top)) +
                pixel(right, bottom, (x - left) * (y - top));
        };
        return call<aten::permute>(choose(a.interpolation_mode == 1, nearest, linear), int_list{0, 3, 1, 2});
    }

    // Maps [-1, 1] to positions between pixels, rounding in the same order as PyTorch.
    static auto position(const auto& g, std::int64_t size, const auto& a) {
        const auto n = static_cast<double>(size);
        const double low = a.align_corners ? 0 : -0.5;
        const double span = a.align_corners ? n - 1 : n;
        const auto place = choose(
            a.align_corners, [&] { return (g + 1) * 0.5 * (n - 1); },
            [&] { return ((g + 1) * n - 1) * 0.5; });
        const auto reflected = [&] {
            const auto distance = abs(place - low);
            const auto rest = distance - floor(distance * (0.5 / span)) * (2 * span);
            return span - abs(rest - span) + low;
        };
        return choose(
            a.padding_mode == 0, place, a.padding_mode == 2 && span != 0,
            [&] { return clamped(reflected(), size); }, [&] { return clamped(place, size); });
    }
    static auto clamped(const auto& x, std::int64_t size) {
        return clamp(x, scalar(0.0), scalar(static_cast<double>(size - 1)));
    }
    static auto is_inside(const auto& x, std::int64_t size) {
        return logical_and(x >= 0, x <= static_cast<double>(size - 1));
    }
    static auto rounded(const auto& x) { return call<aten::round>(x); }
};
HEADRACE_COMPILED_PASS(decompose_sampling);

}  // namespace headrace

#endif
