// SPDX-License-Identifier: MIT
// Defines the toy dialect for tests of the core: a few ops, each of which has a particular property.
#ifndef HEADRACE_TESTS_SUPPORT_TOY_HPP
#define HEADRACE_TESTS_SUPPORT_TOY_HPP

#include <headrace/infer/inference.hpp>
#include <headrace/op/op.hpp>

namespace headrace::toy {

struct dialect;

struct conv2d : op<dialect, "toy.conv2d.default", "input, weight, bias, stride, groups"> {
    struct args {
        value input, weight;
        std::optional<value> bias{};
        int_list stride{1, 1};
        std::int64_t groups = 1;
    };
};
struct relu : op<dialect, "toy.relu.default", "self"> {
    struct args {
        value self;
    };
};
struct relu6 : op<dialect, "toy.relu6.default", "self"> {
    struct args {
        value self;
    };
};
struct neg : op<dialect, "toy.neg.default", "self"> {
    struct args {
        value self;
    };
};
struct identity : op<dialect, "toy.identity.default", "self"> {
    struct args {
        value self;
    };
};
struct clamp : op<dialect, "toy.clamp.default", "self, min, max"> {
    struct args {
        value self;
        scalar min = 0;
        std::optional<scalar> max{};
    };
};
struct add : op<dialect, "toy.add.default", "self, other"> {
    struct args {
        value self, other;
    };
};
struct cat : op<dialect, "toy.cat.default", "tensors, dim"> {
    struct args {
        list<value> tensors;
        std::int64_t dim = 0;
    };
};
/// Has two results.
struct min_max : op<dialect, "toy.min_max.default", "self", 2> {
    struct args {
        value self;
    };
};
/// Has `count` results.
struct split : op<dialect, "toy.split.default", "self, count", variadic_results> {
    struct args {
        value self;
        std::int64_t count = 1;
    };
};
struct sum : op<dialect, "toy.sum.default", "self"> {
    struct args {
        value self;
    };
};
/// Holds a graph.
struct call : op<dialect, "toy.call.default", "body, operands", variadic_results> {
    struct args {
        graph* body = nullptr;
        list<value> operands;
    };
};
/// Every type of member without tensors, and optional forms.
struct attributes : op<dialect, "toy.attributes.default",
                        "self, axes, factors, mode, maybe_axes, type, keep, ratio, maybe, indices"> {
    struct args {
        value self;
        int_list axes;
        list<double> factors;
        std::string_view mode = "none";
        std::optional<int_list> maybe_axes{};
        dtype type = dtype::float32;
        bool keep = true;
        double ratio = 0.5;
        std::optional<std::int64_t> maybe{};
        list<std::optional<value>> indices{};
    };
};

struct dialect : dialect_of<"toy", conv2d, relu, relu6, neg, identity, clamp, add, cat, min_max, split, sum,
                     call, attributes> {};

}  // namespace headrace::toy

namespace headrace {

template <
    one_of<ops<toy::relu, toy::relu6, toy::neg, toy::identity, toy::clamp, toy::add, toy::attributes>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    out.add(out.of(a.self));
    return {};
}
inline result<void> infer_results(toy::min_max, const args<toy::min_max>& a, inference& out) {
    out.add(out.of(a.self));
    out.add(out.of(a.self));
    return {};
}
inline result<void> infer_results(toy::split, const args<toy::split>& a, inference& out) {
    for (std::int64_t i = 0; i != a.count; ++i) out.add(out.of(a.self));
    return {};
}
inline result<void> infer_results(toy::sum, const args<toy::sum>& a, inference& out) {
    out.add(out.of(a.self).dtype, {1});
    return {};
}
inline result<void> infer_results(toy::cat, const args<toy::cat>& a, inference& out) {
    if (a.tensors.empty()) return unsupported("cat of no tensors");
    out.add(out.of(a.tensors[0]));
    return {};
}

}  // namespace headrace

#endif
