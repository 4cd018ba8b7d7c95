// SPDX-License-Identifier: MIT
// A dialect with an argument that is an enum, a pass with captures, and a listing: the core's single header has all of
// what they need.
#include "headrace.hpp"

namespace own {

enum class rounding : std::uint8_t { nearest, down };
constexpr std::string_view enumerator_names(rounding) { return "nearest, down"; }

struct dialect;
struct round_to : headrace::op<dialect, "own.round_to.default", "self, mode", headrace::trait::unary> {
    struct args {
        headrace::value self;
        own::rounding mode = rounding::nearest;
    };
};
struct dialect : headrace::dialect_of<"own", round_to> {};

template <std::same_as<round_to> Op>
headrace::result<void> infer_results(Op, const headrace::args<Op>& a, headrace::inference& out) {
    out.add(out.of(a.self));
    return {};
}

}  // namespace own

using namespace headrace;

// clamp(relu(x)) is clamp(x) with a bound of at least 0.
struct fuse_relu : pass {
    static auto rewrites() {
        return rules(on_match([](auto x) {
            return node_of<"limit", aten::clamp>(node_of<"relu", aten::relu>(x));
        }) = [](auto x, const auto& m) {
            const args<aten::clamp>& limit = get<"limit">(m);
            const auto both = [&] { return clamp(x, 0, limit.max); };
            return choose(!limit.min && is_sole_use<"relu">(m), both, unchanged);
        });
    }
};
static_assert(effects_of<fuse_relu>::target_set == ops_in<aten::clamp>);

int main() {
    graph g;
    node& x = g.create<builtin::placeholder>({});
    g.set_meta(x.result(), {dtype::float32, {2, 3}, {}});
    node& y = g.create<own::round_to>({.self = x.result(), .mode = own::rounding::down});
    g.set_meta(y.result(), {dtype::float32, {2, 3}, {}});
    const value out = y.result();
    g.create<builtin::output>({.values = {&out, 1}});
    return listing(g).find("mode=down") == std::pmr::string::npos;
}
