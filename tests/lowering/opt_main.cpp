// SPDX-License-Identifier: MIT
// Tests of programs for other dialects: what they read, transform and refuse.

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <headrace/lowering/opt_main.hpp>

using namespace headrace;

namespace {

namespace own {
struct dialect;
/// Twice its operand, of at most two dimensions.
struct twice : op<dialect, "own.twice", "x"> {
    struct args {
        value x;
    };
};
struct same : op<dialect, "own.same", "x"> {
    struct args {
        value x;
    };
};
struct dialect : dialect_of<"own", twice, same> {};

result<void> infer_results(twice, const args<twice>& a, inference& out) {
    if (out.of(a.x).rank() > 2) return invalid("own.twice: more than two dimensions");
    out.add(out.of(a.x));
    return boost::outcome_v2::success();
}

struct drop_same : pass {
    using targeted_ops = ops<same>;
    using produces = ops<>;
    value operator()(const args<same>& a, emit<produces>&) const { return a.x; }
};
struct refuse_twice : pass {
    using targeted_ops = ops<twice>;
    using produces = ops<>;
    value operator()(const args<twice>&, emit<produces>& e) const { return e.unsupported("it is refused"); }
};
}  // namespace own

struct folder {
    std::filesystem::path path;
    folder() {
        char name[] = "/tmp/headrace_opt_main_XXXXXX";
        REQUIRE(::mkdtemp(name) != nullptr);
        path = name;
    }
    folder(const folder&) = delete;
    folder& operator=(const folder&) = delete;
    ~folder() { std::filesystem::remove_all(path); }
    std::string write(const char* name, const std::string& text) const {
        std::ofstream(path / name) << text;
        return (path / name).string();
    }
};

int run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "own_opt");
    std::vector<char*> argv;
    for (std::string& a : arguments) argv.push_back(a.data());
    return opt_main<dialects<own::dialect>, pass_list<own::drop_same, own::refuse_twice>>(
        static_cast<int>(argv.size()), argv.data());
}

}  // namespace

TEST_CASE("a program for another dialect transforms its graphs", "[opt_main]") {
    const folder at;
    const std::string model = at.write("x.hr", R"(headrace 1
%x: float32[2, 3] = input
%y: float32[2, 3] = own.same(%x)
%z: ? = own.twice(%y)
output %z
)");
    const std::string out = (at.path / "y.hr").string();
    CHECK(run({"opt", model, "--passes", "drop_same", "-o", out}) == 0);
    std::ostringstream text;
    text << std::ifstream(out).rdbuf();
    CHECK(text.str() == R"(headrace 1

%x: float32[2, 3] = input
%z: float32[2, 3] = own.twice(%x)
output %z
)");
    CHECK(run({"show", out, "-o", (at.path / "z.hr").string()}) == 0);
    CHECK(run({"opt", model, "--all", "-o", out}) == 1);  // a node is refused
    CHECK(run({"opt", model, "--passes", "drop_same", "-o", "/no/such/folder/y.hr"}) == 2);
    CHECK(run({"run", model}) != 0);  // nothing computes these ops
}

TEST_CASE("a program for another dialect refuses what is broken", "[opt_main]") {
    const folder at;
    const auto show = [&](const std::string& nodes) {
        const std::string model = at.write("x.hr", "headrace 1\n%x: int8[2, 3, 4] = input\n" + nodes);
        return run({"show", model, "-o", (at.path / "y.hr").string()});
    };
    CHECK(show("output %x") == 0);
    CHECK(show("%y: int8[2, 3, 4] = own.twice(%x)\noutput %y") == 3);  // its own rule
    CHECK(show("%y: int8[2, 3, 5] = aten.relu.default(%x)\noutput %y") == 3);
    CHECK(show("%y: ? = own.same(%x)\noutput %y") == 3);  // no rule gives its type
    CHECK(show("%y: ? = own.other(%x)\noutput %y") == 3);
    CHECK(run({}) == 2);
    CHECK(run({"show"}) == 2);
    CHECK(run({"show", "x.hr", "--all"}) == 2);
    CHECK(run({"opt", "x.hr"}) == 2);
    CHECK(run({"opt", "x.hr", "--passes", "drop_sam"}) == 2);
    CHECK(run({"opt", (at.path / "none.hr").string(), "--all"}) == 3);
    CHECK(run({"run", "x.hr", "-o", "y.hr"}) == 2);
}
