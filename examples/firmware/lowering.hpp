// SPDX-License-Identifier: MIT
// The graph that the firmware lowers and the pipeline that it lowers it with: two passes of its own, three of
// Headrace.
#ifndef HEADRACE_EXAMPLES_FIRMWARE_LOWERING_HPP
#define HEADRACE_EXAMPLES_FIRMWARE_LOWERING_HPP

//! [passes]
#include <headrace/infer/aten.hpp>
#include <headrace/infer/tosa.hpp>
#include <headrace/pass/algebra.hpp>
#include <headrace/passes/legalize/elementwise.hpp>

namespace firmware {

using namespace headrace;

/// silu(x) = x · sigmoid(x)
struct decompose_silu : pass {
    using targeted_ops = ops<aten::silu>;
    using produces = ops<aten::sigmoid, aten::mul_tensor>;
    value operator()(const args<aten::silu>& a, emit<produces>& e) const {
        return e.make<aten::mul_tensor>(a.self, e.make<aten::sigmoid>(a.self));
    }
};

/// hardswish(x) = x · clamp(x / 6 + 1 / 2, 0, 1)
struct decompose_hardswish : pass {
    using targeted_ops = ops<aten::hardswish>;
    using produces = ops<aten::mul_tensor, aten::add_tensor, aten::clamp>;
    value operator()(const args<aten::hardswish>& a, emit<produces>& e) const {
        const auto number = [&](double n) { return e.splat(n, e.dtype(a.self), e.rank(a.self)); };
        // In braces and statements: compilers evaluate a call's arguments in different orders, and the bytes
        // would differ.
        const value sixth = e.make<aten::mul_tensor>({.self = a.self, .other = number(1.0 / 6)});
        const value line = e.make<aten::add_tensor>({.self = sixth, .other = number(0.5)});
        return e.make<aten::mul_tensor>(a.self, e.make<aten::clamp>({.self = line, .min = 0, .max = 1}));
    }
};
//! [passes]

//! [pipeline]
using activations =
    from<aten::silu, aten::hardswish, aten::add_tensor, aten::mul_tensor, aten::clamp, aten::sigmoid>;
//! [pipeline]

#ifndef FIRMWARE_PASSES
//! [pipeline]
struct lower : pipeline<activations, to<tosa::dialect>, decompose_silu, decompose_hardswish, legalize_clamp,
                   legalize_unary, legalize_binary> {};
//! [pipeline]
#else
// What each pass adds to flash: the first so many of them, into whatever that leaves.
template <std::size_t Count, class... Passes>
using first_of = decltype([]<std::size_t... I>(std::index_sequence<I...>) {
    using all = std::tuple<Passes...>;
    return std::type_identity<
        pipeline<activations, to<tosa::dialect, aten::dialect>, std::tuple_element_t<I, all>...>>();
}(std::make_index_sequence<Count>()))::type;
struct lower : first_of<FIRMWARE_PASSES, decompose_silu, decompose_hardswish, legalize_clamp, legalize_unary,
                   legalize_binary> {};
#endif

/// clamp(silu(x) + hardswish(x) · scale, 0, 6) over an image of 8 x 8 with 16 channels.
inline void build(graph& g) {
    const auto meta_of_shape = [](std::initializer_list<std::int64_t> shape) {
        return tensor_meta{dtype::float32, int_list(shape), {}};
    };
    const auto make = [&g]<class Op>(Op, const args<Op>& a) {
        const value v = g.create<Op>(a).result();
        g.set_meta(v, *meta_of(a.self));  // elementwise: the result is as its operand
        return v;
    };
    const value x = g.create<builtin::placeholder>({}).result();
    g.set_meta(x, meta_of_shape({1, 16, 8, 8}));
    g.set_name(x, "x");
    const value scale =
        create_constant(g, meta_of_shape({1, 16, 1, 1}), nullptr, [](std::span<std::byte> data) {
            for (std::size_t i = 0; i != data.size() / sizeof(float); ++i) {
                const float channel = 0.25F * static_cast<float>(i);
                std::memcpy(&data[i * sizeof(float)], &channel, sizeof(float));
            }
        });
    const value scaled =
        make(aten::mul_tensor{}, {.self = make(aten::hardswish{}, {.self = x}), .other = scale});
    const value sum = make(aten::add_tensor{}, {.self = make(aten::silu{}, {.self = x}), .other = scaled});
    const value y = make(aten::clamp{}, {.self = sum, .min = 0, .max = 6});
    g.set_name(y, "y");
    g.create<builtin::output>({.values = {&y, 1}});
}

//! [pipeline]
}  // namespace firmware
//! [pipeline]

#endif
