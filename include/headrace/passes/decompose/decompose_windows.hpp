// SPDX-License-Identifier: MIT
// Defines headrace::decompose_windows.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_WINDOWS_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_WINDOWS_HPP

#include <headrace/base/pmr_vector.hpp>
#include <headrace/infer/window.hpp>
#include <headrace/pass/arithmetic.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Decomposes unfold. Windows that tile the axis are a view; overlapping ones are gathered by index, all at
/// once. The window's axis then moves to the end.
struct decompose_windows : pass {
    using phase = decomposition;
    static constexpr std::string_view summary = "unfold(x, d, size, step)[…, u, …, c] as x[…, u·step + c, …]";

    static auto rewrites() {
        return rules(on<aten::unfold> = [](auto x, const auto& a) {
            const std::size_t axis = x.axis(a.dimension);
            const char* misfit = "windows must not be empty, must step by at least 1, and fit in the axis";
            const bool fits = a.step >= 1 && a.size >= 1 && a.size <= x.size(a.dimension);
            return choose(
                x.rank() == 0, [&] { return x.unsupported("unfold of a tensor of rank 0; use reshape"); },
                !fits, [&] { return x.unsupported(misfit); },
                [&] { return windows_of(x, static_cast<std::int64_t>(axis), a); });
        });
    }

private:
    static auto windows_of(const auto& x, std::int64_t axis, const args<aten::unfold>& a) {
        const std::int64_t sides[] = {(x.size(axis) - a.size) / a.step + 1, a.size};
        const std::int64_t count = saturating_mul(sides[0], sides[1]);
        const auto by_index = [&] {
            pmr_vector<std::int32_t> index;
            const std::int64_t computed = x.may_compute(count, dtype::int32) ? count : 0;
            for (std::int64_t i = 0; i != computed; ++i)
                index.push_back(static_cast<std::int32_t>(i / a.size * a.step + i % a.size));
            return call<aten::index_select>(x, axis, x.tensor(dtype::int32, sizes(&count, 1), index));
        };
        const auto taken = choose(
            a.size == a.step, [&] { return call<aten::narrow>(x, axis, 0, count); }, by_index);
        const auto split =
            call<aten::reshape>(taken, build::with_axes(x.shape(), static_cast<std::size_t>(axis), 1, sides));
        return call<aten::movedim_int>(split, axis + 1, -1);
    }
};
HEADRACE_COMPILED_PASS(decompose_windows);

}  // namespace headrace

#endif
