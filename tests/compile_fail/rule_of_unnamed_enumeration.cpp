// SPDX-License-Identifier: MIT
// Rewrites an op with an enumeration that does not name its enumerators.
// EXPECT: op: an enumeration in args has no enumerator_names
// EXPECT: unnamed_enumeration<mine::function, mine::curve>

#include <headrace/op/custom.hpp>
#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

namespace mine {
enum class curve : std::uint8_t { neg, relu };
constexpr std::string_view enumerator_name(curve) { return "neg, relu"; }

struct dialect;
struct function : op<dialect, "mine.function", "self, by"> {
    struct args {
        value self;
        curve by{};
    };
};
struct dialect : dialect_of<"mine", function> {};
}  // namespace mine

struct lower_function : pass {
    static auto rewrites() {
        return rules(on<mine::function> = [](auto x) { return call<toy::neg>(x); });
    }
};

struct lowering : pipeline<from<mine::function>, to<toy::dialect>, lower_function> {};
