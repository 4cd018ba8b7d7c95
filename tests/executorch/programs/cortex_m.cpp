// SPDX-License-Identifier: MIT
// Writes programs of random kernels for Cortex-M that cortex_m_programs.py executes in ExecuTorch's runtime:
//
//     headrace_cortex_m_programs FOLDER CORE CASES [OP]
//
// CORE is scalar, dsp or mve. Each op is written CASES times, alone and in chains with others. The results
// that are expected are those of Headrace's kernels for the graph before it is written.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/dialect/cortex_m.hpp>
#include <headrace/dialect/memory.hpp>
#include <headrace/eval/evaluator.hpp>
#include <headrace/infer/cortex_m.hpp>
#include <headrace/io/pte/emitter.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/finish/finish.hpp>
#include <headrace/run/execution.hpp>

#include "../cortex_m_scratch.hpp"
#include "program_folder.hpp"

using namespace headrace;
using cortex_m_scratch::core_kind;
using extents = eval::extents;

namespace {

/// Thrown by an op that does not accept the arguments that were drawn.
struct refused {};

/// True for ops over images.
template <class Op>
constexpr bool is_windowed = requires(const args<Op>& a) { a.stride; };

class sample_program {
public:
    sample_program(unsigned seed, core_kind core) : random_(seed), core_(core) {}

    graph g;
    std::vector<tensor> inputs;
    std::vector<value> results;

    /// Makes outputs of all results that nothing reads.
    void finish() {
        std::vector<value> outputs;
        for (const value v : results) {
            if (use_count(v) == 0) outputs.push_back(v);
        }
        g.create<builtin::output>({.values = list<value>(outputs)});
    }

    // --- arguments ---------------------------------------------------------------------

    std::int64_t any(std::int64_t lowest, std::int64_t highest) {
        return lowest +
            static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(highest - lowest + 1));
    }
    bool one_in(std::int64_t n) { return any(1, n) == 1; }
    template <class T>
    T pick(std::initializer_list<T> items) {
        return items.begin()[any(0, std::ssize(items) - 1)];
    }
    std::int64_t zero_point() { return any(-128, 127); }
    int_list two(std::int64_t a, std::int64_t b) { return g.own(int_list{a, b}); }

    /// A factor near `about`, as the kernels take it.
    struct factor {
        std::int64_t multiplier, shift;
    };
    factor near(double about) {
        int shift = 0;
        const double mantissa = std::frexp(about * (0.5 + static_cast<double>(any(0, 1000)) / 1000), &shift);
        return {static_cast<std::int64_t>(mantissa * 0x1p31), std::clamp(shift, -31, 30)};
    }
    /// The factor of a sum of products of int8.
    factor near_sum(std::int64_t products) { return near(0.02 / std::sqrt(static_cast<double>(products))); }

    struct bounds {
        std::int64_t lowest, highest;
    };
    bounds activation() {
        const std::int64_t lowest = one_in(2) ? -128 : any(-100, 20);
        return {lowest, one_in(2) ? 127 : any(lowest, 127)};
    }

    // --- tensors -----------------------------------------------------------------------

    tensor drawn(dtype type, const extents& shape) {
        std::vector<double> numbers(static_cast<std::size_t>(eval::elements_in(shape)));
        const std::int64_t style = any(0, 3);
        for (double& x : numbers) {
            const double code = style == 0 ? pick({-128., 127., 0.}) : static_cast<double>(any(-128, 127));
            x = type == dtype::float32 ? code / (style == 1 ? 16 : 37)
                : type == dtype::int32 ? static_cast<double>(any(-3000, 3000))
                : type == dtype::int16 ? code * 251
                                       : code;
        }
        return tensor::of(type, shape, numbers);
    }
    value input(const extents& shape, dtype type = dtype::int8) {
        const value v = g.create<builtin::placeholder>({}).result();
        g.set_meta(v, {type, int_list(shape), {}});
        inputs.push_back(drawn(type, shape));
        return v;
    }
    /// A result of that many axes, or an input.
    value known(const extents& shape) {
        std::vector<value> fitting;
        for (const value v : results) {
            const bool is_int8 = meta_of(v)->dtype == dtype::int8;
            if (is_int8 && meta_of(v)->rank() == shape.size()) fitting.push_back(v);
        }
        if (fitting.empty() || one_in(4)) return input(shape);
        return fitting[static_cast<std::size_t>(any(0, std::ssize(fitting) - 1))];
    }
    extents shape(std::size_t rank) {
        extents sizes;
        while (sizes.size() != rank) sizes.push_back(any(1, 6));
        return sizes;
    }
    /// Returns an image for an op, of which those with logical NCHW take only one channel or one pixel here:
    /// others would have to be channels_last in memory.
    value image(bool nhwc, std::int64_t batch = 2) {
        const std::int64_t n = any(1, batch), h = any(1, 9), w = any(1, 9);
        const std::int64_t c = pick<std::int64_t>({1, 2, 3, 4, 8, 17, 20});
        if (nhwc) return known({n, h, w, c});
        return one_in(2) ? input({n, 1, h, w}) : input({n, c, 1, 1});
    }
    value constant(const tensor& t) {
        return create_constant(g, {t.type(), int_list(t.shape()), {}}, nullptr,
            [&](std::span<std::byte> data) { std::ranges::copy(t.bytes(), data.begin()); });
    }
    value weight(const extents& shape) { return constant(drawn(dtype::int8, shape)); }
    std::optional<value> bias(std::int64_t channels, bool is_needed = false) {
        if (!is_needed && one_in(3)) return std::nullopt;
        return constant(drawn(dtype::int32, {channels}));
    }
    value scratch(std::int64_t bytes) {
        node& n = g.create<memory::alloc>({.size = g.own(int_list{bytes}), .dtype = dtype::uint8});
        g.set_meta(n.result(), {dtype::uint8, args_of<memory::alloc>(n).size, {}});
        return n.result();
    }

    /// True for images whose elements are in one order with channels first and last.
    static bool is_any_order(const tensor_meta& m) {
        return m.shape[1] == 1 || (m.shape[2] == 1 && m.shape[3] == 1);
    }
    template <class Op>
    void make(const args<Op>& a) {
        node& n = g.create<Op>(a);
        inference inferred(g.arena());
        if (!infer_node(n, inferred)) throw refused();
        const tensor_meta& made = inferred.results()[0];
        const bool is_ordered = cortex_m::is_nhwc<Op> || !is_windowed<Op> || is_any_order(made);
        if (!is_ordered) throw refused();
        g.set_meta(n.result(), made);
        results.push_back(n.result());
    }

    [[nodiscard]] core_kind core() const { return core_; }

private:
    std::mt19937 random_;
    core_kind core_;
};

// --- ops -------------------------------------------------------------------------------

void quantize(sample_program& p) {
    const dtype type = p.pick({dtype::int8, dtype::int8, dtype::int16});
    const std::int64_t half = type == dtype::int8 ? 128 : 32768;
    p.make<cortex_m::quantize_per_tensor>(
        {p.input(p.shape(3), dtype::float32), 0.01 * static_cast<double>(p.any(1, 30)),
            p.any(-half, half - 1), p.one_in(2) ? -half : -half + 1, half - 1, type});
}
void dequantize(sample_program& p) {
    const dtype type = p.pick({dtype::int8, dtype::int8, dtype::int16});
    const std::int64_t half = type == dtype::int8 ? 128 : 32768;
    const value x = type == dtype::int8 ? p.known({2, 3, 4}) : p.input({2, 3, 4}, type);
    p.make<cortex_m::dequantize_per_tensor>(
        {x, 0.003 * static_cast<double>(p.any(1, 99)), p.any(-half, half - 1), -half, half - 1, type});
}

/// Equal shapes, or a number for each channel, where these are innermost in memory: the kernels broadcast along
/// the memory.
std::array<value, 2> pair_of(sample_program& p) {
    if (p.one_in(4)) {
        const bool has_pixels = p.one_in(2);
        const std::int64_t channels = has_pixels ? 1 : p.any(1, 6);
        const value x = has_pixels ? p.input({p.any(1, 3), 1, p.any(1, 5), p.any(1, 5)})
                                   : p.input({p.any(1, 4), channels, 1, 1});
        const value row = p.input({1, channels, 1, 1});
        return p.one_in(2) ? std::array{x, row} : std::array{row, x};
    }
    const value x = p.known(p.shape(static_cast<std::size_t>(p.any(1, 5))));
    return {x, p.input(extents(meta_of(x)->shape.begin(), meta_of(x)->shape.end()))};
}
void add(sample_program& p) {
    const auto [x, y] = pair_of(p);
    const auto a = p.near(0.4), b = p.near(0.4), to = p.near(0x1p-19);
    const auto [lowest, highest] = p.activation();
    const std::int64_t sign = p.one_in(3) ? -1 : 1;
    p.make<cortex_m::quantized_add>({x, p.zero_point(), a.multiplier, a.shift, y, p.zero_point(),
        sign * b.multiplier, b.shift, p.zero_point(), to.multiplier, to.shift, lowest, highest});
}
void multiply(sample_program& p) {
    const auto [x, y] = pair_of(p);
    const auto to = p.near(0.02);
    p.make<cortex_m::quantized_mul>(
        {x, p.zero_point(), y, p.zero_point(), p.zero_point(), to.multiplier, to.shift});
}
void divide(sample_program& p) {
    const dtype type = p.pick({dtype::int8, dtype::int16});
    const extents shape = p.shape(3);
    p.make<cortex_m::quantized_div>({p.input(shape, type), p.zero_point(), p.input(shape, type),
        p.zero_point(), p.zero_point(), 0.3 * static_cast<double>(p.any(1, 99))});
}
template <class Op>
void extremum(sample_program& p) {
    const value x = p.known(p.shape(static_cast<std::size_t>(p.any(0, 4))));
    extents other(meta_of(x)->shape.begin(), meta_of(x)->shape.end());
    for (std::int64_t& size : other) {
        if (p.one_in(3)) size = 1;
    }
    if (meta_of(x)->rank() > 4) throw refused();
    p.make<Op>({x, p.input(other)});
}
void activation(sample_program& p) {
    p.make<cortex_m::quantized_activation>(
        {p.known(p.shape(static_cast<std::size_t>(p.any(1, 4)))), p.weight({256})});
}
void softmax(sample_program& p) {
    const value x = p.known(p.shape(static_cast<std::size_t>(p.any(1, 4))));
    const auto to = p.near(std::ldexp(static_cast<double>(p.any(1, 200)) / 1000, 26));
    const auto rank = static_cast<std::int64_t>(meta_of(x)->rank());
    p.make<cortex_m::softmax>({x, p.one_in(2) ? -1 : rank - 1, p.zero_point(), -128, to.multiplier, to.shift,
        -static_cast<std::int64_t>(31 * std::ldexp(1., 26 - static_cast<int>(to.shift)))});
}

void linear(sample_program& p) {
    const value x = p.known(p.shape(static_cast<std::size_t>(p.any(1, 4))));
    const std::int64_t depth = meta_of(x)->shape.back(), features = p.any(1, 9);
    const auto to = p.near_sum(depth);
    const auto [lowest, highest] = p.activation();
    const bool has_sums = p.core() == core_kind::mve;
    p.make<cortex_m::quantized_linear>(
        {x, p.weight({features, depth}), has_sums ? std::nullopt : p.bias(features),
            has_sums ? std::optional(p.constant(p.drawn(dtype::int32, {1, features}))) : std::nullopt,
            -p.zero_point(), p.one_in(3) ? p.zero_point() : 0, p.zero_point(),
            p.g.own(int_list{to.multiplier}), p.g.own(int_list{to.shift}), highest, lowest});
}
void batch_matmul(sample_program& p) {
    const value x = p.known(p.shape(3));
    const std::int64_t columns = p.any(1, 6);
    const int_list s = meta_of(x)->shape;
    const auto to = p.near_sum(s[2]);
    p.make<cortex_m::quantized_batch_matmul>(
        {x, -p.zero_point(), p.input({s[0], columns, s[2]}), -p.zero_point(), p.zero_point(), to.multiplier,
            to.shift, p.scratch(p.core() == core_kind::mve ? 4 * columns : 0)});
}

// --- windows ---------------------------------------------------------------------------

struct drawn_windows {
    std::array<std::int64_t, 2> kernel, stride, padding, dilation;
};
drawn_windows windows(sample_program& p) {
    drawn_windows w{};
    const bool is_point = p.one_in(4);
    for (std::size_t i = 0; i != 2; ++i) {
        w.kernel[i] = is_point ? 1 : p.any(1, 5);
        w.stride[i] = p.one_in(2) ? 1 : p.any(1, 3);
        w.padding[i] = p.one_in(2) ? 0 : p.any(0, w.kernel[i] - 1);
        w.dilation[i] = p.one_in(4) && w.kernel[i] != 1 ? 2 : 1;
    }
    return w;
}

/// Fills in what all convolutions have. Weights have their output channels at `channel_axis`.
template <class Op>
void convolve(sample_program& p, args<Op>& a, const drawn_windows& w, std::int64_t channels,
    std::int64_t products, bool needs_bias) {
    std::vector<double> multipliers, shifts;
    for (std::int64_t i = 0; i != channels; ++i) {
        const auto to = p.near_sum(products);
        multipliers.push_back(static_cast<double>(to.multiplier));
        shifts.push_back(static_cast<double>(to.shift));
    }
    const auto [lowest, highest] = p.activation();
    a.bias = p.bias(channels, needs_bias);
    a.stride = p.two(w.stride[0], w.stride[1]);
    a.padding = p.two(w.padding[0], w.padding[1]);
    a.dilation = p.two(w.dilation[0], w.dilation[1]);
    a.input_offset = -p.zero_point();
    a.output_offset = p.zero_point();
    a.requantize_multipliers = p.constant(tensor::of(dtype::int32, {channels}, multipliers));
    a.requantize_shifts = p.constant(tensor::of(dtype::int32, {channels}, shifts));
    a.activation_min = lowest;
    a.activation_max = highest;
}
cortex_m_scratch::convolution sizes_of(
    const int_list& image, bool nhwc, const drawn_windows& w, std::int64_t out, std::int64_t depth) {
    return {nhwc ? image[1] : image[2], nhwc ? image[2] : image[3], nhwc ? image[3] : image[1], out,
        w.kernel[0], w.kernel[1], depth, w.stride[0], w.stride[1], w.padding[0], w.padding[1], w.dilation[0],
        w.dilation[1]};
}

template <class Op, bool Nhwc>
void conv2d(sample_program& p) {
    args<Op> a{};
    a.input = p.image(Nhwc);
    const drawn_windows w = windows(p);
    const int_list image = meta_of(a.input)->shape;
    const std::int64_t channels = image[Nhwc ? 3 : 1];
    const std::int64_t groups = channels % 2 == 0 && p.one_in(3) ? (p.one_in(2) ? 2 : channels) : 1;
    const std::int64_t out = groups * p.any(1, 4), depth = channels / groups;
    const auto sizes = sizes_of(image, Nhwc, w, out, depth);
    // Helium's kernel for rows computes these wrongly; see examples/docs/cortex_m.md.
    if (p.core() == core_kind::mve && sizes.is_row() && (w.stride[1] != 1 || w.padding[1] > 1))
        throw refused();
    a.weight = p.weight({out, w.kernel[0], w.kernel[1], depth});
    convolve<Op>(p, a, w, out, w.kernel[0] * w.kernel[1] * depth, groups != 1);
    a.scratch = p.scratch(cortex_m_scratch::of_conv2d(p.core(), sizes));
    p.make<Op>(a);
}
template <class Op, bool Nhwc>
void depthwise(sample_program& p) {
    args<Op> a{};
    a.input = p.image(Nhwc, 1);
    const drawn_windows w = windows(p);
    const int_list image = meta_of(a.input)->shape;
    a.depth_multiplier = p.one_in(2) ? 1 : p.any(1, 4);
    const std::int64_t out = image[Nhwc ? 3 : 1] * a.depth_multiplier;
    a.weight = p.weight({1, w.kernel[0], w.kernel[1], out});
    convolve<Op>(p, a, w, out, w.kernel[0] * w.kernel[1], false);
    a.scratch = p.scratch(
        cortex_m_scratch::of_depthwise(p.core(), sizes_of(image, Nhwc, w, out, out), a.depth_multiplier));
    p.make<Op>(a);
}
template <class Op, bool Nhwc>
void transpose_conv2d(sample_program& p) {
    args<Op> a{};
    a.input = p.image(Nhwc);
    drawn_windows w = windows(p);
    w.dilation = {1, 1};
    const int_list image = meta_of(a.input)->shape;
    const std::int64_t out = p.any(1, 5), depth = image[Nhwc ? 3 : 1];
    const auto sizes = sizes_of(image, Nhwc, w, out, depth);
    // The kernel computes these wrongly; see examples/docs/cortex_m.md.
    const bool is_right = cortex_m_scratch::reverses(sizes) ||
        (w.padding[0] % w.stride[0] == 0 && (w.stride[1] <= w.kernel[1] || w.stride[1] <= w.stride[0]));
    if (!is_right) throw refused();
    a.weight = p.weight({out, w.kernel[0], w.kernel[1], depth});
    a.output_padding = p.two(p.any(0, w.stride[0] - 1), p.any(0, w.stride[1] - 1));
    convolve<Op>(p, a, w, out, w.kernel[0] * w.kernel[1] * depth, false);
    a.scratch = p.scratch(cortex_m_scratch::of_transpose_conv2d(p.core(), sizes));
    a.output_scratch = p.scratch(cortex_m_scratch::of_reversed_weight(sizes));
    p.make<Op>(a);
}

template <class Op>
args<Op> pooling(sample_program& p, bool nhwc) {
    args<Op> a{};
    a.input = p.image(nhwc);
    const drawn_windows w = windows(p);
    a.kernel_size = p.two(w.kernel[0], w.kernel[1]);
    a.stride = p.two(w.stride[0], w.stride[1]);
    // At most half a window, as PyTorch takes it.
    a.padding = p.two(std::min(w.padding[0], w.kernel[0] / 2), std::min(w.padding[1], w.kernel[1] / 2));
    return a;
}
template <class Op, bool Nhwc>
void avg_pool2d(sample_program& p) {
    args<Op> a = pooling<Op>(p, Nhwc);
    a.ceil_mode = p.one_in(3);
    a.zero_point = p.zero_point();
    const std::int64_t channels = meta_of(a.input)->shape[Nhwc ? 3 : 1];
    a.scratch = p.scratch(p.core() == core_kind::dsp ? 4 * channels : 0);
    p.make<Op>(a);
}
template <class Op, bool Nhwc>
void max_pool2d(sample_program& p) {
    args<Op> a = pooling<Op>(p, Nhwc);
    a.dilation = p.two(1, 1);
    a.input_zero_point = a.output_zero_point = p.zero_point();
    const auto [lowest, highest] = p.activation();
    a.activation_min = lowest;
    a.activation_max = highest;
    p.make<Op>(a);
}

// --- moves -----------------------------------------------------------------------------

void pad(sample_program& p) {
    const value x = p.known(p.shape(static_cast<std::size_t>(p.any(1, 4))));
    const int_list s = meta_of(x)->shape;
    std::vector<std::int64_t> before(4), after(4);
    for (std::size_t i = 4 - std::min<std::size_t>(s.size(), 4); i != 4; ++i) {
        before[i] = p.any(0, 2);
        after[i] = p.any(0, 2);
    }
    // A contiguous tensor that the kernel takes for channels_last gets other lists, and another layout.
    if (s.size() == 4 && (s[1] == 1 || (s[2] == 1 && s[3] == 1))) throw refused();
    p.make<cortex_m::pad>({x, p.g.own(int_list(before)), p.g.own(int_list(after)), p.zero_point()});
}
void transpose(sample_program& p) {
    const value x = p.known(p.shape(static_cast<std::size_t>(p.any(1, 4))));
    std::vector<std::int64_t> order;
    for (std::size_t i = 0; i != meta_of(x)->rank(); ++i) order.push_back(static_cast<std::int64_t>(i));
    for (std::size_t i = order.size(); i > 1; --i)
        std::swap(order[i - 1], order[static_cast<std::size_t>(p.any(0, static_cast<std::int64_t>(i) - 1))]);
    if (order.size() > 1 && std::ranges::is_sorted(order)) throw refused();  // no node is needed
    p.make<cortex_m::transpose>({x, p.g.own(int_list(order))});
}

struct op_maker {
    const op_info* op;
    void (*make)(sample_program& p);
};
using namespace cortex_m;
const op_maker makers[] = {{&info_of<quantize_per_tensor>, &quantize},
    {&info_of<dequantize_per_tensor>, &dequantize}, {&info_of<quantized_add>, &add},
    {&info_of<quantized_mul>, &multiply}, {&info_of<quantized_div>, &divide},
    {&info_of<minimum>, &extremum<minimum>}, {&info_of<maximum>, &extremum<maximum>},
    {&info_of<quantized_activation>, &activation}, {&info_of<cortex_m::softmax>, &::softmax},
    {&info_of<quantized_linear>, &linear}, {&info_of<quantized_batch_matmul>, &batch_matmul},
    {&info_of<quantized_conv2d>, &conv2d<quantized_conv2d, false>},
    {&info_of<quantized_conv2d_nhwc>, &conv2d<quantized_conv2d_nhwc, true>},
    {&info_of<quantized_depthwise_conv2d>, &depthwise<quantized_depthwise_conv2d, false>},
    {&info_of<quantized_depthwise_conv2d_nhwc>, &depthwise<quantized_depthwise_conv2d_nhwc, true>},
    {&info_of<quantized_transpose_conv2d>, &transpose_conv2d<quantized_transpose_conv2d, false>},
    {&info_of<quantized_transpose_conv2d_nhwc>, &transpose_conv2d<quantized_transpose_conv2d_nhwc, true>},
    {&info_of<quantized_avg_pool2d>, &avg_pool2d<quantized_avg_pool2d, false>},
    {&info_of<quantized_avg_pool2d_nhwc>, &avg_pool2d<quantized_avg_pool2d_nhwc, true>},
    {&info_of<quantized_max_pool2d>, &max_pool2d<quantized_max_pool2d, false>},
    {&info_of<quantized_max_pool2d_nhwc>, &max_pool2d<quantized_max_pool2d_nhwc, true>},
    {&info_of<cortex_m::pad>, &::pad}, {&info_of<cortex_m::transpose>, &::transpose}};
static_assert(std::size(makers) == cortex_m::dialect::size);

/// True if the program was written.
bool write(program_folder& folder, sample_program& p) {
    p.finish();
    pass_context context;
    if (!sort_topologically{}(p.g, context)) return false;
    const auto expected = execute(p.g, p.inputs);
    if (!expected) {
        std::cerr << std::string_view(expected.error().message) << '\n';
        return false;
    }
    const pte_method method{"forward", &p.g};
    const auto file = emit_pte(std::span(&method, 1));
    if (!file) std::cerr << std::string_view(file.error().message) << '\n';
    return file && folder.write(file.value(), listing(p.g), p.inputs, expected.value());
}

/// Draws programs until there are as many with an op as are wanted: one op, or up to eight.
void write_cases(program_folder& folder, core_kind core, const op_maker& wanted, std::size_t cases) {
    const std::size_t end = folder.count() + cases;
    for (unsigned seed = 1; folder.count() != end && seed != 100 * cases; ++seed) {
        sample_program p(seed, core);
        try {
            const bool is_chain = folder.count() % 2 != 0;
            wanted.make(p);
            for (std::int64_t left = is_chain ? p.any(1, 7) : 0; left != 0; --left)
                makers[p.any(0, std::ssize(makers) - 1)].make(p);
        } catch (const refused&) {
            continue;
        }
        write(folder, p);
    }
    if (folder.count() != end) std::cerr << wanted.op->name << ": too few programs\n";
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    const std::map<std::string, core_kind> cores{
        {"scalar", core_kind::scalar}, {"dsp", core_kind::dsp}, {"mve", core_kind::mve}};
    if (words.size() < 3 || !cores.contains(words[1])) {
        std::cerr << "usage: FOLDER scalar|dsp|mve CASES [OP]\n";
        return 2;
    }
    program_folder folder(words[0]);
    for (const op_maker& m : makers) {
        if (words.size() < 4 || m.op->name == words[3])
            write_cases(folder, cores.at(words[1]), m, std::strtoul(words[2].c_str(), nullptr, 10));
    }
    std::cout << folder.count() << " programs\n";
}
