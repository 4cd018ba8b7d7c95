// SPDX-License-Identifier: MIT
// A program like `headrace` for a dialect of one's own: an NPU that computes convolutions with their
// activation, and sums of two tensors. It prints, reads, verifies and transforms graphs of the dialect.
#include <headrace/infer/aten.hpp>
#include <headrace/lowering/opt_main.hpp>
#include <headrace/match/node_pattern.hpp>
#include <headrace/pass/pipeline.hpp>

//! [npu]
namespace npu {

using namespace headrace;

struct dialect;

/// max(conv2d(input, weight, bias), 0) where `relu`, without padding.
struct conv : op<dialect, "npu.conv", "input, weight, bias, stride, relu"> {
    struct args {
        value input, weight, bias;
        int_list stride{1, 1};
        bool relu = false;
    };
};
/// The sum of two tensors of one shape: the hardware does not broadcast.
struct sum : op<dialect, "npu.sum", "a, b, relu"> {
    struct args {
        value a, b;
        bool relu = false;
    };
};
struct dialect : dialect_of<"npu", conv, sum> {};

inline result<void> infer_results(conv, const args<conv>& a, inference& out) {
    return infer_op<aten::conv2d>({.input = a.input, .weight = a.weight, .bias = a.bias, .stride = a.stride},
                                  out);
}
inline result<void> infer_results(sum, const args<sum>& a, inference& out) {
    const tensor_meta& first = out.of(a.a);
    if (!(first == out.of(a.b))) return invalid("npu.sum: the operands differ in type or shape");
    out.add(first);
    return boost::outcome_v2::success();
}

/// Convolutions and sums become the NPU's where it has them.
struct to_npu : pass {
    static constexpr std::string_view summary = "convolutions and sums to the NPU's";
    using targeted_ops = ops<aten::conv2d, aten::add_tensor>;
    using produces = ops<conv, sum>;

    std::optional<value> operator()(const args<aten::conv2d>& a, emit<produces>& e) const {
        const bool is_plain = a.padding == int_list{0, 0} && a.dilation == int_list{1, 1} && a.groups == 1;
        if (!is_plain || !a.bias) return std::nullopt;
        return e.make<conv>({.input = a.input, .weight = a.weight, .bias = *a.bias, .stride = a.stride});
    }
    std::optional<value> operator()(const args<aten::add_tensor>& a, emit<produces>& e) const {
        if (!(e.meta(a.self) == e.meta(a.other)) || !(a.alpha == scalar(1))) return std::nullopt;
        return e.make<sum>({.a = a.self, .b = a.other});
    }
};

//! [match]
/// An activation behind a node of the NPU is computed by it.
struct fuse_relu : pass {
    using runs_after = pass_list<to_npu>;
    static constexpr std::string_view summary = "ReLU into the node before it";
    static auto rewrites() {
        return rules(
            on_match([](auto x, auto w, auto b) {
                return node_of<"relu", aten::relu>(node_of<"inner", conv>(x, w, b));
            }) =
                [](auto x, auto w, auto b, const auto& m) {
                    const args<conv>& inner = m.template get<"inner">();
                    return choose(
                        m.template is_sole_use<"inner">(),
                        [&] { return call<conv>(x, w, b, inner.stride, true); }, unchanged);
                },
            on_match(
                [](auto a, auto b) { return node_of<"relu", aten::relu>(node_of<"inner", sum>(a, b)); }) =
                [](auto a, auto b, const auto& m) {
                    return choose(
                        m.template is_sole_use<"inner">(), [&] { return call<sum>(a, b, true); }, unchanged);
                });
    }
};
//! [match]

using passes = pass_list<to_npu, fuse_relu>;

}  // namespace npu

int main(int argc, char** argv) {
    return headrace::opt_main<headrace::dialects<npu::dialect>, npu::passes>(argc, argv);
}
//! [npu]
