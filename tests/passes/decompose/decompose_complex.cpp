// SPDX-License-Identifier: MIT
// Tests decompose_complex: Fourier transforms against sums of their definition, and the arithmetic of complex
// numbers against std::complex. The kernels of these ops run the pass itself.
#define HEADRACE_DEFINES_PASSES  // this file runs it alone

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <optional>
#include <span>
#include <vector>

#include <catch2/catch.hpp>

#include <headrace/base/target_text.hpp>
#include <headrace/eval/complex_pairs.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/passes/decompose/complex.hpp>
#include <headrace/run/signature_tensors.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

using number = std::complex<double>;
using numbers_of = std::vector<number>;

/// Numbers without a pattern, from -1 to 1.
double noise(std::size_t i) { return std::sin(12.9898 * static_cast<double>(i) + 0.7); }

numbers_of noise_of(std::size_t count) {
    numbers_of all;
    for (std::size_t i = 0; i != count; ++i) all.emplace_back(noise(2 * i), noise(2 * i + 1));
    return all;
}
tensor pairs_of(extents shape, const numbers_of& all) {
    std::vector<double> flat;
    for (const number z : all) flat.insert(flat.end(), {z.real(), z.imag()});
    shape.push_back(2);
    return tensor::of(dtype::float32, shape, flat);
}
tensor reals_of(const extents& shape) {
    std::vector<double> all;
    for (std::int64_t i = 0; i != eval::elements_in(shape); ++i)
        all.push_back(noise(static_cast<std::size_t>(i)));
    return tensor::of(dtype::float32, shape, all);
}

/// Transforms by the definition.
numbers_of transformed(const numbers_of& x, bool forward, double scale) {
    numbers_of result;
    for (std::size_t k = 0; k != x.size(); ++k) {
        number sum = 0;
        for (std::size_t t = 0; t != x.size(); ++t) {
            const double turns = static_cast<double>(k * t % x.size()) / static_cast<double>(x.size());
            sum += x[t] * std::polar(1.0, (forward ? -2 : 2) * std::numbers::pi * turns);
        }
        result.push_back(scale * sum);
    }
    return result;
}

/// True if numbers differ by no more than float32 loses in sums of numbers as large as the largest result.
bool is_close(const tensor& expected, const tensor& given) {
    double largest = 1;
    double difference = 0;
    for (std::int64_t i = 0; i != expected.size(); ++i) {
        largest = std::max(largest, std::abs(expected.real(i)));
        difference = std::max(difference, std::abs(expected.real(i) - given.real(i)));
    }
    return difference <= 1e-5 * largest;
}

/// Returns how the only output of the program differs from the expected numbers, after the pass in both
/// drivers, with transforms in one step, in two, and as products of matrices.
template <class Build>
std::pmr::string fault(const Build& build, const std::vector<tensor>& inputs, const tensor& expected) {
    enum class way : std::uint8_t { one_step, two_steps, products };
    for (const way computed : {way::one_step, way::two_steps, way::products}) {
        const auto targeted = [&](program& p) {
            if (computed == way::two_steps) p.g.set_target(*parse_target("TOSA-1.0+FP"));
            build(p);
            if (computed != way::products) return;
            for_each_node(p.g, [&](node& n) {
                if (!is<aten::abs>(n)) p.g.annotate(n, transforms_as_products{});
            });
        };
        if (std::pmr::string changed = compare_runs<decompose_complex>(targeted, inputs, 1e-3);
            !changed.empty())
            return changed;
        program p;
        const graph& g = lowered<decompose_complex>(p, targeted);
        for (const node& n : g.nodes())
            if (is_of_complex_numbers(n)) return "complex numbers are left";
        const auto results = run_graph(g, inputs);
        if (!results) return results.error().message;
        if (results.value()[0].shape() != expected.shape()) return "another shape";
        if (!is_close(expected, results.value()[0])) return "other numbers";
    }
    return {};
}

value constant_of(program& p, const tensor_meta& meta, const tensor& t) {
    return create_constant(
        p.g, meta, nullptr, [&](std::span<std::byte> to) { std::ranges::copy(t.bytes(), to.begin()); });
}
value as_complex(program& p, const int_list& shape) {
    shape_builder pairs(shape);
    pairs.push_back(2);
    return p.make<aten::view_as_complex>({p.input(dtype::float32, int_list(pairs))});
}
void output_pairs(program& p, value z) { p.output(p.make<aten::view_as_real>({z})); }

// Arguments after the given ones keep their defaults.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

}  // namespace

TEST_CASE("transforms of complex numbers, of any length") {
    for (const std::size_t n : {1U, 2U, 3U, 5U, 8U, 17U, 150U, 256U}) {
        INFO(n);
        const auto size = static_cast<std::int64_t>(n);
        const numbers_of x = noise_of(n);
        CHECK(
            fault(
                [&](program& p) { output_pairs(p, p.make<aten::fft_fft>({.self = as_complex(p, {size})})); },
                {pairs_of({size}, x)}, pairs_of({size}, transformed(x, true, 1))) == "");
        const auto inverse = [&](program& p) {
            output_pairs(p, p.make<aten::fft_ifft>({.self = as_complex(p, {size}), .norm = "ortho"}));
        };
        CHECK(fault(inverse, {pairs_of({size}, x)},
                  pairs_of({size}, transformed(x, false, 1 / std::sqrt(static_cast<double>(n))))) == "");
    }
}

TEST_CASE("half spectra, and back") {
    for (const std::size_t n : {1U, 2U, 3U, 7U, 12U, 31U, 160U, 512U}) {
        INFO(n);
        const auto size = static_cast<std::int64_t>(n);
        const tensor x = reals_of({size});
        numbers_of signal;
        for (std::int64_t i = 0; i != size; ++i) signal.emplace_back(x.real(i), 0);
        const numbers_of whole = transformed(signal, true, 1);
        const numbers_of half(whole.begin(), whole.begin() + size / 2 + 1);
        CHECK(fault(
                  [&](program& p) {
                      output_pairs(p, p.make<aten::fft_rfft>({.self = p.input(dtype::float32, {size})}));
                  },
                  {x}, pairs_of({size / 2 + 1}, half)) == "");
        CHECK(fault(
                  [&](program& p) {
                      output_pairs(p, p.make<aten::fft_fft>({.self = p.input(dtype::float32, {size})}));
                  },
                  {x}, pairs_of({size}, whole)) == "");
        CHECK(fault(
                  [&](program& p) {
                      p.output(p.make<aten::fft_irfft>({.self = as_complex(p, {size / 2 + 1}), .n = size}));
                  },
                  {pairs_of({size / 2 + 1}, half)}, x) == "");
        CHECK(fault(
                  [&](program& p) {
                      p.output(p.make<aten::_fft_c2r>({as_complex(p, {size / 2 + 1}), {0}, 2, size}));
                  },
                  {pairs_of({size / 2 + 1}, half)}, x) == "");
    }
}

TEST_CASE("transforms along other axes, padded, cut and of several axes") {
    const tensor x = reals_of({3, 6, 2});
    const auto real = [](program& p) { return p.input(dtype::float32, {3, 6, 2}); };
    CHECK_THAT(
        [&](program& p) {
            output_pairs(p, p.make<aten::fft_rfft>({real(p), 4, 1, "forward"}));
        },
        computes_the_same<decompose_complex>());
    CHECK_THAT(
        [&](program& p) {
            output_pairs(p, p.make<aten::fft_fft>({real(p), 5, 0}));
        },
        computes_the_same<decompose_complex>());
    CHECK_THAT([&](program& p) { output_pairs(p, p.make<aten::fft_fft2>({.self = real(p)})); },
        computes_the_same<decompose_complex>());
    CHECK_THAT([&](program& p) { output_pairs(p, p.make<aten::fft_rfftn>({.self = real(p)})); },
        computes_the_same<decompose_complex>());
    CHECK_THAT([&](program& p) { p.output(p.make<aten::fft_irfftn>({.self = real(p)})); },
        computes_the_same<decompose_complex>());
    CHECK_THAT(
        [&](program& p) {
            p.output(p.make<aten::fft_hfft>({.self = as_complex(p, {3, 4})}));
        },
        computes_the_same<decompose_complex>());
    CHECK_THAT([&](program& p) { output_pairs(p, p.make<aten::fft_ihfft>({.self = real(p)})); },
        computes_the_same<decompose_complex>());
    CHECK_THAT(
        [&](program& p) {
            output_pairs(p, p.make<aten::_fft_c2c>({as_complex(p, {3, 4}), {0, 1}, 1, true}));
        },
        computes_the_same<decompose_complex>());
    // Twice the transform of two axes by one each is that of both.
    const auto twice = [&](program& p) {
        const value columns = p.make<aten::fft_fft>({.self = real(p), .dim = 0});
        output_pairs(p, p.make<aten::fft_fft>({.self = columns, .dim = 1}));
    };
    program p;
    graph& g = lowered<decompose_complex>(p, twice);
    const auto expected = run_graph(g, std::vector{x});
    REQUIRE(expected);
    CHECK(fault(
              [&](program& q) {
                  output_pairs(q, q.make<aten::fft_fftn>({real(q), std::nullopt, int_list{0, 1}}));
              },
              {x}, expected.value()[0]) == "");
}

namespace {

constexpr std::int64_t samples = 96;

/// Returns the spectra of frames by the definition: [frequencies, frames] as pairs.
tensor spectra_of(
    const tensor& x, std::int64_t n, std::int64_t hop, const std::vector<double>& window, bool whole) {
    const std::int64_t frames = (samples - n) / hop + 1;
    const std::int64_t rows = whole ? n : n / 2 + 1;
    numbers_of all(static_cast<std::size_t>(rows * frames));
    for (std::int64_t f = 0; f != frames; ++f) {
        numbers_of frame;
        for (std::int64_t i = 0; i != n; ++i)
            frame.emplace_back(x.real(f * hop + i) * window[static_cast<std::size_t>(i)], 0);
        const numbers_of spectrum = transformed(frame, true, 1);
        for (std::int64_t k = 0; k != rows; ++k)
            all[static_cast<std::size_t>(k * frames + f)] = spectrum[static_cast<std::size_t>(k)];
    }
    return pairs_of({rows, frames}, all);
}
std::vector<double> hann(std::int64_t n) {
    std::vector<double> window;
    for (std::int64_t i = 0; i != n; ++i) {
        const double turns = static_cast<double>(i) / static_cast<double>(n);
        window.push_back(0.5 - 0.5 * std::cos(2 * std::numbers::pi * turns));
    }
    return window;
}
value constant_window(program& p, const std::vector<double>& window) {
    const tensor t = tensor::of(dtype::float32, {static_cast<std::int64_t>(window.size())}, window);
    return constant_of(p, {dtype::float32, {t.size()}, {}}, t);
}

}  // namespace

TEST_CASE("spectra of frames: hops that divide a frame, or not, and windows") {
    const tensor x = reals_of({samples});
    struct sizes_of_frames {
        std::int64_t n, hop;
    };
    for (const auto [n, hop] :
        {sizes_of_frames{16, 8}, {16, 6}, {15, 4}, {32, 32}, {96, 1}, {40, 1}, {64, 16}, {1, 1}}) {
        INFO(n << " " << hop);
        for (const bool whole : {false, true}) {
            const auto build = [&](program& p) {
                const value signal = p.input(dtype::float32, {samples});
                output_pairs(p,
                    p.make<aten::stft>({.self = signal,
                        .n_fft = n,
                        .hop_length = hop,
                        .window = constant_window(p, hann(n)),
                        .onesided = !whole,
                        .return_complex = true}));
            };
            CHECK(fault(build, {x}, spectra_of(x, n, hop, hann(n), whole)) == "");
        }
        // Likewise of frames that the program cuts itself.
        const auto cut = [&](program& p) {
            const value signal = p.input(dtype::float32, {samples});
            const value frames = p.make<aten::unfold>({signal, 0, n, hop});
            const value windowed = p.make<aten::mul_tensor>({frames, constant_window(p, hann(n))});
            const value spectra = p.make<aten::_fft_r2c>({windowed, {1}, 0, true});
            output_pairs(p, p.make<aten::transpose_int>({spectra, 0, 1}));
        };
        CHECK(fault(cut, {x}, spectra_of(x, n, hop, hann(n), false)) == "");
    }
}

TEST_CASE("a signal from its spectra, padded, cut and with a computed window") {
    const tensor x = reals_of({samples});
    const auto there_and_back = [](bool constant, std::optional<std::int64_t> length, bool normalized) {
        return [=](program& p) {
            const value signal = p.input(dtype::float32, {samples});
            const value window = constant ? constant_window(p, hann(16)) : p.make<aten::hann_window>({16});
            const value spectra = p.make<aten::stft_center>({.self = signal,
                .n_fft = 16,
                .hop_length = 4,
                .window = window,
                .normalized = normalized,
                .return_complex = true});
            p.output(p.make<aten::istft>({.self = spectra,
                .n_fft = 16,
                .hop_length = 4,
                .window = window,
                .normalized = normalized,
                .length = length}));
        };
    };
    CHECK(fault(there_and_back(true, std::nullopt, false), {x}, x) == "");
    CHECK(fault(there_and_back(true, samples, true), {x}, x) == "");
    CHECK(fault(there_and_back(false, samples, false), {x}, x) == "");
    const auto uncovered = [](program& p) {
        p.output(p.make<aten::istft>({.self = as_complex(p, {9, 4}),
            .n_fft = 16,
            .hop_length = 16,
            .window = constant_window(p, hann(16)),
            .center = false}));
    };
    CHECK_THAT(uncovered, is_refused_by<decompose_complex>("no window covers"));
}

TEST_CASE("arithmetic of complex numbers") {
    const numbers_of a = noise_of(6);
    numbers_of b = noise_of(9);
    b.erase(b.begin(), b.begin() + 3);
    const auto check = [&](const auto& make, const auto& expected) {
        numbers_of wanted;
        for (std::size_t i = 0; i != a.size(); ++i) wanted.push_back(expected(a[i], b[i]));
        const auto build = [&](program& p) {
            const value x = as_complex(p, {2, 3});
            output_pairs(p, make(p, x, as_complex(p, {2, 3})));
        };
        CHECK(fault(build, {pairs_of({2, 3}, a), pairs_of({2, 3}, b)}, pairs_of({2, 3}, wanted)) == "");
    };
    check(
        [](program& p, value x, value y) {
            return p.make<aten::add_tensor>({x, y, 2});
        },
        [](number x, number y) { return x + 2.0 * y; });
    check(
        [](program& p, value x, value y) {
            return p.make<aten::sub_tensor>({x, y});
        },
        [](number x, number y) { return x - y; });
    check(
        [](program& p, value x, value y) {
            return p.make<aten::rsub_tensor>({x, y, 3});
        },
        [](number x, number y) { return y - 3.0 * x; });
    check(
        [](program& p, value x, value y) {
            return p.make<aten::mul_tensor>({x, y});
        },
        [](number x, number y) { return x * y; });
    check(
        [](program& p, value x, value y) {
            return p.make<aten::div_tensor>({x, y});
        },
        [](number x, number y) { return x / y; });
    check(
        [](program& p, value x, value) {
            return p.make<aten::add_scalar>({x, 1.5});
        },
        [](number x, number) { return x + 1.5; });
    check(
        [](program& p, value x, value) {
            return p.make<aten::sub_scalar>({x, 1.5, 2});
        },
        [](number x, number) { return x - 3.0; });
    check(
        [](program& p, value x, value) {
            return p.make<aten::rsub_scalar>({x, 1.5});
        },
        [](number x, number) { return 1.5 - x; });
    check(
        [](program& p, value x, value) {
            return p.make<aten::mul_scalar>({x, -2});
        },
        [](number x, number) { return -2.0 * x; });
    check(
        [](program& p, value x, value) {
            return p.make<aten::div_scalar>({x, 4});
        },
        [](number x, number) { return x / 4.0; });
    check(
        [](program& p, value x, value) {
            return p.make<aten::pow_tensor_scalar>({x, -3});
        },
        [](number x, number) { return 1.0 / (x * x * x); });
    check([](program& p, value x, value) { return p.make<aten::square>({x}); },
        [](number x, number) { return x * x; });
    check([](program& p, value x, value) { return p.make<aten::reciprocal>({x}); },
        [](number x, number) { return 1.0 / x; });
    check([](program& p, value x, value) { return p.make<aten::exp>({x}); },
        [](number x, number) { return std::exp(x); });
    check([](program& p, value x, value) { return p.make<aten::sgn>({x}); },
        [](number x, number) { return x / std::abs(x); });
    check([](program& p, value x, value) { return p.make<aten::neg>({x}); },
        [](number x, number) { return -x; });
    check(
        [](program& p, value x, value y) {
            const value turned = p.make<aten::resolve_conj>({p.make<aten::_conj>({x})});
            return p.make<aten::mul_tensor>({turned, p.make<aten::conj_physical>({y})});
        },
        [](number x, number y) { return std::conj(x) * std::conj(y); });
    // A real factor has no imaginary part to multiply with.
    check(
        [](program& p, value x, value y) {
            return p.make<aten::mul_tensor>({x, p.make<aten::real>({y})});
        },
        [](number x, number y) { return x * y.real(); });
    check(
        [](program& p, value x, value y) {
            return p.make<aten::add_tensor>({p.make<aten::imag>({y}), x});
        },
        [](number x, number y) { return x + y.imag(); });
    check(
        [](program& p, value x, value y) {
            const value size = p.make<aten::abs>({x});
            return p.make<aten::polar>({size, p.make<aten::angle>({y})});
        },
        [](number x, number y) { return std::polar(std::abs(x), std::arg(y)); });
    check(
        [](program& p, value x, value y) {
            const value mask = p.make<aten::gt_scalar>({p.make<aten::real>({y}), 0});
            return p.make<aten::masked_fill_scalar>({x, mask, 0.5});
        },
        [](number x, number y) { return y.real() > 0 ? 0.5 : x; });
    check(
        [](program& p, value x, value y) {
            return p.make<aten::complex>({p.make<aten::imag>({x}), p.make<aten::real>({y})});
        },
        [](number x, number y) { return number(x.imag(), y.real()); });
    check(
        [](program& p, value x, value y) {
            const value same = p.make<aten::eq_tensor>({x, y});
            const value other = p.make<aten::ne_tensor>({x, x});
            const value both = p.make<aten::logical_or>({same, other});
            return p.make<aten::where_self>({both, x, p.make<aten::zeros_like>({.self = y})});
        },
        [](number, number) { return number(); });
}

TEST_CASE("ops that move, add up and multiply matrices of complex numbers") {
    const auto z = [](program& p) { return as_complex(p, {3, 4}); };
    const auto is_kept = [&](const auto& make) {
        CHECK_THAT([&](program& p) { output_pairs(p, make(p)); }, computes_the_same<decompose_complex>());
    };
    is_kept([&](program& p) { return p.make<aten::permute>({z(p), {1, 0}}); });
    is_kept([&](program& p) { return p.make<aten::cat>({{z(p), p.input(dtype::float32, {2, 4})}, 0}); });
    is_kept([&](program& p) { return p.make<aten::constant_pad_nd>({z(p), {1, 2}}); });
    is_kept([&](program& p) { return p.make<aten::sum_dim_intlist>({z(p), int_list{1}}); });
    is_kept([&](program& p) { return p.make<aten::mean>({z(p)}); });
    is_kept([&](program& p) { return p.make<aten::fft_fftshift>({z(p)}); });
    is_kept([&](program& p) { return p.make<aten::expand>({z(p), {2, 3, 4}}); });
    is_kept([&](program& p) { return p.make<aten::roll>({z(p), {1}, {1}}); });
    is_kept([&](program& p) { return p.make<aten::mm>({z(p), as_complex(p, {4, 5})}); });
    is_kept([&](program& p) { return p.make<aten::outer>({as_complex(p, {2}), as_complex(p, {5})}); });
    is_kept([&](program& p) {
        const value operands[] = {z(p), as_complex(p, {5, 4})};
        return p.make<aten::einsum>({"ij,kj->ik", operands});
    });
    is_kept([&](program& p) {
        return p.make<aten::_to_copy>({.self = p.input(dtype::float32, {3, 4}), .dtype = dtype::complex64});
    });
    is_kept([&](program& p) {
        return p.make<aten::_to_copy>({.self = p.input(dtype::int32, {3, 4}), .dtype = dtype::complex64});
    });
    CHECK_THAT([&](program& p) { p.output(p.make<aten::imag>({p.make<aten::zeros_like>({.self = z(p)})})); },
        computes_the_same<decompose_complex>());
}

TEST_CASE("magnitudes without squares, for quantized numbers") {
    const tensor pairs = reals_of({40, 2});
    const auto build = [](program& p) {
        const value size = p.make<aten::abs>({as_complex(p, {40})});
        p.output(size);
        p.g.annotate(*size.producer, transforms_as_products{});
    };
    program p;
    const graph& g = lowered<decompose_complex>(p, build);
    CHECK(count_of<aten::sqrt>(g) == 0);
    const auto given = run_graph(g, std::vector{pairs});
    REQUIRE(given);
    for (std::int64_t i = 0; i != 40; ++i) {
        const double size = std::abs(number(pairs.real(2 * i), pairs.real(2 * i + 1)));
        CHECK(std::abs(given.value()[0].real(i) - size) <= 1.6e-4 * size);
    }
}

TEST_CASE("readers of a complex input see its shape, not that of its parts") {
    const numbers_of x = noise_of(6);
    const auto build = [](program& p) {
        const value z = p.input(dtype::complex64, {6});
        p.output(p.make<aten::fft_fft>({.self = z}));
        p.output(p.make<aten::mul_tensor>({p.make<aten::view_as_real>({z}), p.input(dtype::float32, {})}));
    };
    program p;
    const graph& g = lowered<decompose_complex>(p, build);
    const auto given = run_graph(g, std::vector{pairs_of({6}, x), reals_of({})});
    REQUIRE(given);
    CHECK(tensor_difference(pairs_of({6}, transformed(x, true, 1)), given.value()[0], 1e-5) == "");
    CHECK(given.value()[1].shape() == extents{6, 2});
}

TEST_CASE("a single frame, whatever the distance to the next one") {
    CHECK_THAT(
        [](program& p) {
            const value signal = p.input(dtype::float32, {20});
            p.output(p.make<aten::stft>({.self = signal, .n_fft = 16, .hop_length = INT64_MAX}));
            p.output(p.make<aten::stft>({.self = signal, .n_fft = 16, .hop_length = 5}));
        },
        computes_the_same<decompose_complex>());
}

TEST_CASE("products of matrices take the place of layers where a transform asks for them") {
    const auto build = [](program& p) {
        const value spectra = p.make<aten::stft>({.self = p.input(dtype::float32, {64}), .n_fft = 16});
        p.output(spectra);
        p.g.annotate(*spectra.producer, transforms_as_products{});
    };
    program p;
    const graph& g = lowered<decompose_complex>(p, build);
    CHECK(count_of<aten::mm>(g) == 2);
    CHECK(count_of<aten::convolution>(g) == 0);
}

TEST_CASE("complex inputs, outputs and constants are pairs, along a last axis of two") {
    const tensor z = from_pairs(reals_of({3, 2}), dtype::complex64);
    const auto build = [&](program& p) {
        const value x = p.input(dtype::complex64, {3});
        p.output(x);
        p.output(p.make<aten::add_tensor>({x, constant_of(p, {dtype::complex64, {3}, {}}, z)}));
    };
    program p;
    const graph& g = lowered<decompose_complex>(p, build);
    const node& input = *g.inputs().begin();
    CHECK(*input.results[0].meta == tensor_meta{dtype::float32, {3, 2}, {}});
    const auto given = run_graph(g, inputs_for(g, std::vector{z}));
    REQUIRE(given);
    CHECK(std::ranges::equal(given.value()[0].bytes(), z.bytes()));
    CHECK(given.value()[1].shape() == extents{3, 2});
    CHECK(given.value()[1].real(3) == 2 * as_pairs(z).real(3));
}

TEST_CASE("the square of a magnitude needs no root") {
    const auto build = [](program& p) {
        const value power = p.make<aten::pow_tensor_scalar>({p.make<aten::abs>({as_complex(p, {5})}), 2});
        p.output(power);
    };
    CHECK_THAT(build, computes_the_same<decompose_complex>());
    CHECK(count_after<aten::sqrt, decompose_complex>(build) == 0);
}

TEST_CASE("a long transform is computed in two steps where a target computes floats one by one") {
    const auto build = [](program& p) {
        p.g.set_target(*parse_target("TOSA-1.0+FP"));
        output_pairs(p, p.make<aten::fft_rfft>({.self = p.input(dtype::float32, {512})}));
    };
    program p;
    const graph& g = lowered<decompose_complex>(p, build);
    std::int64_t elements = 0;
    for (const node& n : g.nodes_of(info_of<builtin::constant>)) elements += n.results[0].meta->elements();
    CHECK(elements < 512 * 8);  // a single matrix would have 512 · 514
}

TEST_CASE("what has no rule for complex numbers is refused by name") {
    CHECK_THAT([](program& p) { output_pairs(p, p.make<aten::sin>({as_complex(p, {3})})); },
        is_refused_by<decompose_complex>("this op has no lowering; compute with their real"));
    CHECK_THAT(
        [](program& p) {
            output_pairs(p, p.make<aten::pow_tensor_scalar>({as_complex(p, {3}), 0.5}));
        },
        is_refused_by<decompose_complex>("must be whole"));
    CHECK_THAT(
        [](program& p) {
            output_pairs(p, p.make<aten::constant_pad_nd>({as_complex(p, {3}), {1, 1}, 2}));
        },
        is_refused_by<decompose_complex>("a number other than 0"));
    CHECK_THAT(
        [](program& p) {
            p.output(p.make<aten::_to_copy>({.self = as_complex(p, {3}), .dtype = dtype::boolean}));
        },
        is_refused_by<decompose_complex>("as booleans"));
    CHECK_THAT(
        [](program& p) {
            output_pairs(p, p.make<aten::fft_fft>({.self = p.input(dtype::float32, {20011})}));
        },
        is_refused_by<decompose_complex>("above the limit"));
    CHECK_THAT([](program& p) { p.output(p.make<aten::relu>({p.input(dtype::float32, {3})})); },
        is_left_alone_by<decompose_complex>());
}
